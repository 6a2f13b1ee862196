"""The transcript, as it is seen: at each call exactly what the model saw is marked as seen."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from demo_log import demo_log
from playwright.sync_api import Page, expect
from reported import demo_report
from running import data

SEEN = ".row.seen, .row.changed"
ALL = "(nodes) => nodes.map((node) => node.textContent)"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of the bundled session."""
    return demo_report(tmp_path_factory.mktemp("demo"))


def at(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("html.ready")


def only(page: Page, what: str) -> None:
    """Filter, so that the list is short enough to be in the document whole."""
    page.get_by_label("what is shown").select_option(what)


def row(page: Page, name: str) -> str:
    return f'.row:has(a.id[href$="#{name}"])'


class TestAsSeenAtACall:
    @pytest.mark.parametrize("call", ["c16", "c29", "c35"])
    def test_what_is_marked_as_seen_is_what_the_log_says_the_model_saw(
        self, call: str, page: Page, demo: str, tmp_path: Path
    ) -> None:
        shown = data("show", f"last@{call}", "--context", "--db", demo_log(tmp_path))["items"]
        at(page, f"{demo}#{call}")
        only(page, "seen")
        expect(page.get_by_role("group").get_by_role("status")).to_have_text(f"{len(shown)} of 111")
        page.set_viewport_size({"width": 1280, "height": 2000})
        page.evaluate("scrollTo(0, 0)")
        expect(page.locator(SEEN)).to_have_count(len(shown))
        names = page.locator(f":is({SEEN}) .line a.id").evaluate_all(ALL)
        assert names == [item["item"] for item in shown]
        in_place = page.locator(".row.changed .line a.id").evaluate_all(ALL)
        assert in_place == [i["item"] for i in shown if i["item"] != i["rendition"]]

    def test_a_step_moves_neither_the_list_nor_the_focus_and_marks_the_new_answer(
        self, page: Page, demo: str
    ) -> None:
        at(page, f"{demo}#c28")
        slider = page.get_by_role("slider", name="as seen at call")
        slider.focus()
        before = page.evaluate("scrollY")
        assert page.locator(row(page, "145")).get_attribute("class") == "row result seen"
        page.keyboard.press("ArrowRight")
        expect(page.locator(row(page, "145"))).to_have_class(re.compile("^row result summarised"))
        expect(page.locator(row(page, "150.0"))).to_have_class(re.compile("^row summary seen"))
        expect(page.locator(row(page, "152"))).to_have_class(re.compile("^row assistant answer"))
        gutter = page.locator(f"{row(page, '145')} .gutter")
        assert gutter.get_attribute("aria-label") == (
            "not seen: a summary stood for it (summarised by k1: auto)"
        )
        assert page.evaluate("scrollY") == before
        assert page.evaluate("document.activeElement.type") == "range"
        assert slider.get_attribute("aria-valuetext") == "call c29 of 44"
        page.wait_for_url("**#c29")

    def test_a_row_that_has_the_focus_keeps_it_when_it_is_drawn_anew(
        self, page: Page, demo: str
    ) -> None:
        at(page, f"{demo}#149")
        page.keyboard.press("[")
        for _ in range(20):
            page.keyboard.press("[")
        expect(page.locator(row(page, "149"))).to_have_class(
            re.compile("^row result later open cursor target")
        )
        assert page.evaluate(
            "document.activeElement.closest('.row').querySelector('.id').textContent"
        ) == ("149")

    def test_the_river_is_dragged_from_call_to_call(self, page: Page, demo: str) -> None:
        at(page, f"{demo}#c1")
        box = page.locator(".slider-bar .river").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 50)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 12, box["y"] + 50, steps=3)
        page.mouse.up()
        expect(page.locator(".callname")).to_have_text("c44")
        page.mouse.move(box["x"] + 60, box["y"] + 50)
        expect(page.locator(".callname")).to_have_text("c44")


class TestFilter:
    def test_by_who_and_by_words_and_off_again(self, page: Page, demo: str) -> None:
        at(page, f"{demo}#transcript")
        told = page.get_by_role("group").get_by_role("status")
        page.get_by_label("by whom").select_option("people")
        expect(told).to_have_text("8 of 111")
        page.get_by_label("filter by words").fill("FINANCE")
        expect(page.locator(".row .line a.id")).to_have_text(["51", "102", "199", "220"])
        page.get_by_role("button", name="show all").click()
        expect(told).to_have_text("")

    @pytest.mark.parametrize(("call", "first", "count"), [("c16", "7", 8), ("c35", "3", 71)])
    def test_what_it_did_not_see_is_neither_its_answer_nor_what_came_later(
        self, call: str, first: str, count: int, page: Page, demo: str
    ) -> None:
        at(page, f"{demo}#{call}")
        only(page, "unseen")
        expect(page.get_by_role("group").get_by_role("status")).to_have_text(f"{count} of 111")
        expect(page.locator(".row.later, .row.answer, .row.seen, .divider")).to_have_count(0)
        hit = page.locator(".row").first
        expect(hit.locator("a.id")).to_have_text(first)
        top = hit.bounding_box()
        bar = page.locator(".slider-bar").bounding_box()
        assert top is not None
        assert bar is not None
        assert bar["y"] + bar["height"] <= top["y"] < 400


STATES = {
    "seen": "context", "changed": "placeholder", "summarised": "folded", "gone": "left",
}  # fmt: skip


class TestAtAGlance:
    def test_the_bar_counts_as_the_log_does(self, page: Page, demo: str, tmp_path: Path) -> None:
        log = demo_log(tmp_path)
        at(page, f"{demo}#c1")
        for call in ("c16", "c29", "c44"):
            told = data("log", f"last@{call}", "--db", log)["rows"]
            items = [r for r in told if r["tokens"] is not None and r["type"] != "model_called"]
            page.evaluate("(hash) => { location.hash = hash; }", call)
            expect(page.locator(".callname")).to_have_text(call)
            for ours, theirs in STATES.items():
                count = len([row for row in items if row["state"] == theirs])
                expect(page.locator(f".tally .{ours} b")).to_have_text(str(count))

    def test_each_state_shows_its_items_and_the_bar_says_so(self, page: Page, demo: str) -> None:
        at(page, f"{demo}#c35")
        folded = page.get_by_role("button", name="only 71 items not seen: a summary stood for it")
        expect(folded).to_have_text(re.compile("^Σ71≈23.8kk1$"))
        folded.click()
        expect(folded).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".row").first.locator(".gutter")).to_have_text("Σ")
        chip = page.get_by_role("button", name="take the filter off")
        expect(chip).to_have_text("Σ summarised 71 of 111 ✕")
        page.keyboard.press("]")
        expect(page.locator(".tally button.later")).to_have_text(re.compile("^·19later"))
        chip.click()
        expect(chip).to_be_hidden()
        expect(folded).to_have_attribute("aria-pressed", "false")

    def test_the_call_stays_below_the_bar_where_the_page_is_short(
        self, page: Page, demo: str
    ) -> None:
        at(page, f"{demo}#c16")
        page.locator(".tally .changed").click()
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        page.wait_for_timeout(100)
        top = page.locator(".inspector h2").bounding_box()
        bar = page.locator(".slider-bar").bounding_box()
        assert top is not None
        assert bar is not None
        assert top["y"] >= bar["y"] + bar["height"]

    def test_a_line_begins_with_what_a_tool_said(self, page: Page, demo: str) -> None:
        at(page, f"{demo}#12")
        expect(page.locator(f"{row(page, '12')} .line .say")).to_have_text(
            re.compile('^…/shop/refunds.py"""Refunds: a quote first, then money. A quote says')
        )
        expect(page.locator(f"{row(page, '22')} .say")).to_have_text(re.compile("^id │ placed_at"))


class TestPlaces:
    def test_an_item_is_opened_in_view_and_marked(self, page: Page, demo: str) -> None:
        at(page, f"{demo}#150.0")
        target = page.locator(row(page, "150.0"))
        expect(target).to_have_class("row summary seen open cursor target")
        expect(target.locator("pre")).to_contain_text("continued from a previous conversation")
        assert page.evaluate(
            "document.activeElement.closest('.row').getBoundingClientRect().top"
            " >= document.querySelector('.sticky').getBoundingClientRect().bottom"
        )

    def test_another_rendition_shows_what_was_seen_and_what_came(
        self, page: Page, demo: str
    ) -> None:
        at(page, f"{demo}#c16")
        only(page, "seen")
        name = page.locator(".row.changed .line a.id").first.text_content()
        page.locator(".row.changed .item").first.click()
        opened = page.locator(f"{row(page, str(name))} .full")
        expect(opened).to_contain_text("as the model saw it")
        expect(opened).to_contain_text("as it came")

    @pytest.mark.parametrize("lost", ["c99", "k7", "9999", "__proto__", "constructor", "%E0%A4%A"])
    def test_an_unknown_place_is_said_and_changes_nothing(
        self, lost: str, page: Page, demo: str
    ) -> None:
        at(page, f"{demo}#c17")
        page.evaluate("(hash) => { location.hash = hash; }", lost)
        expect(page.locator("#note")).to_contain_text("there is no")
        expect(page.locator(".callname")).to_have_text("c17")
        page.wait_for_url("**#c17")

    def test_back_and_forward_go_from_place_to_place(self, page: Page, demo: str) -> None:
        at(page, f"{demo}#overview")
        page.get_by_role("link", name="c37").first.click()
        expect(page.locator(".callname")).to_have_text("c37")
        page.locator(".inspector").get_by_role("link", name="c36").first.click()
        expect(page.locator(".callname")).to_have_text("c36")
        page.go_back()
        expect(page.locator(".callname")).to_have_text("c37")
        page.go_back()
        expect(page.get_by_role("heading", name="The context, call by call")).to_be_visible()
        page.go_forward()
        expect(page.locator(".callname")).to_have_text("c37")


class TestAPhone:
    @pytest.mark.parametrize("page", [{"width": 420, "height": 860}], indirect=True)
    def test_nothing_is_wider_than_it_and_a_tap_opens_the_call(self, page: Page, demo: str) -> None:
        at(page, f"{demo}#overview")
        views = page.locator("#tabs a").evaluate_all("(all) => all.map((each) => each.hash)")
        assert "#transcript" in views
        for hash in [*views, "#c35", "#150.0", "#k1"]:
            page.evaluate("(hash) => { location.hash = hash; }", hash)
            page.wait_for_timeout(50)
            assert page.evaluate("document.documentElement.scrollWidth") <= 420, hash
        page.evaluate("location.hash = '#c35'")
        panel = page.get_by_role("complementary", name="the chosen call")
        expect(panel).to_be_hidden()
        page.locator(".callname").click()
        expect(panel).to_contain_text("Call c35")
        small = page.locator(".as-seen button, #top button, .filter select").evaluate_all(
            "(all) => all.filter((each) => each.offsetHeight && each.offsetHeight < 32)"
            ".map((each) => each.textContent)"
        )
        assert small == []
        box = panel.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] == 860
        page.get_by_role("button", name="close").click()
        expect(panel).to_be_hidden()
        page.locator(".callname").click()
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()

    @pytest.mark.parametrize("page", [{"width": 420, "height": 860}], indirect=True)
    def test_the_tab_of_the_view_is_in_view(self, page: Page, demo: str) -> None:
        for view in ("integrity", "overview"):
            at(page, f"{demo}#{view}")
            box = page.locator("#tabs [aria-current]").bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 420


class TestPaper:
    def test_all_rows_are_on_it_and_no_controls(
        self, new_page: Callable[..., Page], demo: str
    ) -> None:
        page = new_page(dark=True)
        at(page, f"{demo}#c29")
        place = "(node) => Math.round(node.getBoundingClientRect().top)"
        before = page.locator(row(page, "150.0")).evaluate(place)
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        expect(page.locator(".row")).to_have_count(108)
        expect(page.locator(".row").last).to_be_visible()
        expect(page.locator(".slider-bar .river")).to_be_visible()
        expect(page.locator("input[type=range]")).to_be_hidden()
        expect(page.locator(".inspector")).to_contain_text("What stood in it")
        expect(page.get_by_text("not seen: a summary stood for it", exact=True)).to_be_visible()
        colour = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(colour) == "rgb(255, 255, 255)"
        page.emulate_media(media="screen")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator(".row").count() < 108
        assert page.locator(row(page, "150.0")).evaluate(place) == before
        assert page.evaluate(colour) != "rgb(255, 255, 255)"
        expect(page.locator(".signs[open]")).to_have_count(0)

    def test_the_call_is_on_it_also_where_the_panel_was_closed(
        self, new_page: Callable[..., Page], demo: str
    ) -> None:
        page = new_page(width=420)
        at(page, f"{demo}#c29")
        expect(page.locator(".inspector")).to_be_hidden()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        expect(page.locator(".inspector")).to_contain_text("Call c29")
        above = (
            "([one, other]) => one.getBoundingClientRect().top < other.getBoundingClientRect().top"
        )
        nodes = [page.locator(each).element_handle() for each in (".inspector", ".middle")]
        assert page.evaluate(above, nodes)
        page.emulate_media(media="screen")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        expect(page.locator(".inspector")).to_be_hidden()
