"""One call, as it is seen: what is new in it, what left, and how well it is known."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect
from reported import demo_report


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of the bundled session."""
    return demo_report(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def inspector(page: Page, demo: str) -> Locator:
    """Beside the transcript, at the call behind the compaction."""
    page.goto(f"{demo}#c29")
    page.wait_for_selector("html.ready")
    return page.get_by_role("complementary", name="the chosen call")


class TestACall:
    def test_it_says_what_it_is_and_how_well_it_is_known(self, inspector: Locator) -> None:
        expect(inspector.get_by_role("heading", level=2)).to_have_text("Call c29partial")
        expect(inspector).to_contain_text("a part of the request was never recorded")
        expect(inspector).to_contain_text("system: not recorded")
        expect(inspector.locator(".facts")).to_contain_text("read from cache14,203")

    def test_it_tells_what_came_and_what_left_and_by_which_decision(
        self, inspector: Locator
    ) -> None:
        changes = inspector.locator(".changes")
        expect(changes).to_contain_text("+ 1 item came")
        expect(changes).to_contain_text("− 71 items summarised by k1 (14k → 924 tokens) auto")
        expect(changes).to_contain_text("the prefix of c28 broke: compaction at 3 by k1")
        inspector.get_by_text(re.compile("^left since c28")).click()
        inspector.get_by_text(re.compile("^left since c28")).click()
        expect(inspector.locator(".since.minus")).to_have_count(69)
        inspector.locator(".since.minus + a").first.click()
        expect(inspector.page.locator(".row.target .id")).to_have_text("3")

    def test_new_items_and_those_in_another_form_are_marked(self, inspector: Locator) -> None:
        inspector.page.evaluate("location.hash = '#c16'")
        expect(inspector.get_by_role("heading", level=2)).to_contain_text("Call c16")
        expect(inspector.get_by_role("img", name="in another form")).to_have_count(8)
        expect(inspector.get_by_role("img", name="new")).not_to_have_count(0)

    def test_a_section_stays_open_from_call_to_call_and_keeps_the_focus(
        self, inspector: Locator
    ) -> None:
        summary = inspector.get_by_text(re.compile(r"^messages \("))
        summary.click()
        expect(inspector.locator(".inside").first).to_be_hidden()
        inspector.page.keyboard.press("]")
        expect(inspector.get_by_role("heading", level=2)).to_contain_text("Call c30")
        expect(inspector.locator("details").first).not_to_have_attribute("open", "")
        assert inspector.page.evaluate("document.activeElement.tagName") == "SUMMARY"

    def test_the_name_of_the_call_hides_it_and_shows_it_again(self, inspector: Locator) -> None:
        name = inspector.page.get_by_role("button", name="c29")
        expect(name).to_have_attribute("aria-expanded", "true")
        name.click()
        expect(inspector).to_be_hidden()
        name.click()
        expect(inspector).to_contain_text("Call c29")
