"""The keyboard: every control without a mouse, and no key taken from who types."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from reported import demo_report

FOCUSED = (
    "document.activeElement.closest('.row, .divider')?.querySelector('.id, .name').textContent"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of the bundled session."""
    return demo_report(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def demo(page: Page, address: str) -> Page:
    """At its call c17."""
    page.goto(f"{address}#c17")
    page.wait_for_selector("html.ready")
    return page


class TestKeys:
    def test_calls_and_compactions(self, demo: Page) -> None:
        name = demo.locator(".callname")
        demo.keyboard.press("]")
        expect(name).to_have_text("c18")
        demo.keyboard.press("[")
        demo.keyboard.press("[")
        expect(name).to_have_text("c16")
        demo.keyboard.press("}")
        expect(name).to_have_text("c29")
        assert demo.evaluate(FOCUSED) == "k1"
        demo.keyboard.press("}")
        expect(demo.locator("#note")).to_have_text("no compaction follows")
        demo.keyboard.press("{")
        expect(demo.locator("#note")).to_have_text("no compaction before")
        demo.evaluate("location.hash = '#c40'")
        expect(name).to_have_text("c40")
        demo.keyboard.press("{")
        expect(name).to_have_text("c29")

    def test_items(self, demo: Page) -> None:
        demo.keyboard.press("Home")
        assert demo.evaluate(FOCUSED) == "3"
        demo.keyboard.press("j")
        demo.keyboard.press("ArrowDown")
        demo.keyboard.press("k")
        first = demo.evaluate(FOCUSED)
        demo.keyboard.press("Enter")
        expect(demo.locator(".row.open .id")).to_have_text(first)
        demo.keyboard.press("Escape")
        expect(demo.locator(".row.open")).to_have_count(0)
        assert demo.evaluate(FOCUSED) == first
        demo.keyboard.press("End")
        assert demo.evaluate(FOCUSED) == "229"

    def test_views(self, demo: Page) -> None:
        for key, view in (("1", "overview"), ("2", "transcript")):
            demo.keyboard.press(key)
            expect(demo.locator("#view")).to_have_class(f"view {view}")
        demo.keyboard.press("g")
        demo.keyboard.press("o")
        expect(demo.locator("#view")).to_have_class("view overview")

    def test_help_lists_them_and_closes(self, demo: Page) -> None:
        demo.keyboard.press("?")
        box = demo.get_by_role("dialog", name="keys")
        expect(box).to_contain_text("the next item, the one before")
        expect(box).to_contain_text("t transcript")
        demo.keyboard.press("j")
        demo.keyboard.press("Escape")
        expect(box).to_be_hidden()
        expect(demo.locator(".row.cursor")).to_have_count(0)

    def test_no_key_is_taken_from_a_field_or_from_one_that_is_held(self, demo: Page) -> None:
        words = demo.get_by_label("filter by words")
        words.focus()
        demo.keyboard.type("j[2?/g")
        expect(words).to_have_value("j[2?/g")
        expect(demo.locator(".callname")).to_have_text("c17")
        words.fill("")
        words.blur()
        for held in ("Control+]", "Alt+]", "Meta+1"):
            demo.keyboard.press(held)
        expect(demo.locator(".callname")).to_have_text("c17")

    def test_one_stop_for_the_whole_list_and_one_for_all_prompts(self, demo: Page) -> None:
        stops = "(all) => all.filter((each) => each.tabIndex === 0).length"
        assert demo.locator(".long .item").evaluate_all(stops) == 1
        assert demo.locator(".prompts button").evaluate_all(stops) == 1
        demo.locator(".prompts button[tabindex='0']").focus()
        demo.keyboard.press("Home")
        demo.keyboard.press("ArrowDown")
        demo.keyboard.press("Enter")
        assert demo.evaluate(FOCUSED) == "51"
