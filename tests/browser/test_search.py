"""Search in the page: in every text of the file, literally, in any case, with the hits marked."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect
from reported import reported
from small_log import KEY, answered, called, said

from eventlog.events import SessionStarted, ToolResultRecorded
from projections import open_log

MIDDLE = f"{'far ' * 4_000}a needle (x*y) in it {'away ' * 4_000}"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A session with a text of which only head and tail are shown until it is asked for."""
    folder = tmp_path_factory.mktemp("search")
    result = ToolResultRecorded(
        tool_call_id="call_1", name="bash", dialect="openai_chat", content=MIDDLE
    )
    with open_log(folder / "search.db") as live:
        live.append(
            KEY,
            SessionStarted(title="Search"),
            said("user", "\u5728\u54ea\u91cc\uff1f A NEEDLE (X*Y), please."),
            called(),
            said("assistant", "I look.", call=3, tool="call_1"),
            answered(3, 9),
            result,
            said("user", "x" * 150 + "y"),
        )
    return reported(folder / "search.db", folder, KEY)


@pytest.fixture
def box(page: Page, address: str) -> Page:
    page.goto(address)
    page.wait_for_selector("html.ready")
    page.keyboard.press("/")
    expect(page.get_by_role("dialog", name="search")).to_be_visible()
    return page


def hits(page: Page) -> list[str]:
    expect(page.locator(".search p[role=status]")).to_have_text(
        re.compile("^(in .* places?|nowhere)$")
    )
    return page.locator(".hits .id").all_text_contents()


class TestSearch:
    def test_long_texts_are_looked_through_and_the_hit_is_shown_where_it_is(
        self, box: Page
    ) -> None:
        box.keyboard.type("a needle (x*y)")
        assert hits(box) == ["2", "6"]
        expect(box.locator(".hits mark")).to_have_text(["A NEEDLE (X*Y)", "a needle (x*y)"])
        box.keyboard.press("ArrowDown")
        box.keyboard.press("ArrowDown")
        box.keyboard.press("Enter")
        row = box.locator(".row.open.target")
        expect(row.locator(".id")).to_have_text("6")
        expect(row.locator("pre mark")).to_have_text("a needle (x*y)")
        expect(row.get_by_role("button", name="more characters")).to_have_count(2)
        row.get_by_role("button", name="more characters").first.click()
        expect(row.locator("pre")).to_have_text(MIDDLE)

    def test_other_scripts_and_nothing(self, box: Page) -> None:
        box.keyboard.insert_text("\u54ea\u91cc")
        assert hits(box) == ["2"]
        box.get_by_label("search for").fill("y.y")
        assert hits(box) == []
        box.get_by_label("search for").fill("XXY")
        assert hits(box) == ["7"]

    def test_it_opens_again_with_control_k_from_a_view(self, box: Page) -> None:
        box.keyboard.press("Escape")
        expect(box.get_by_role("dialog", name="search")).to_be_hidden()
        box.keyboard.press("Control+k")
        expect(box.get_by_label("search for")).to_be_focused()
