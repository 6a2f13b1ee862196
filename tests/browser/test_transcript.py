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

    def test_seen_and_not_seen_are_everything(self, page: Page, demo: str) -> None:
        at(page, f"{demo}#c35")
        told = page.get_by_role("group").get_by_role("status")
        only(page, "seen")
        expect(told).to_have_text("15 of 111")
        only(page, "unseen")
        expect(told).to_have_text("96 of 111")  # the 3 that are no items among them


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
            "(all) => all.filter((each) => each.getBoundingClientRect().height < 32)"
            ".map((each) => each.textContent)"
        )
        assert small == []
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()


class TestPaper:
    def test_all_rows_are_on_it_and_no_controls(
        self, new_page: Callable[..., Page], demo: str
    ) -> None:
        page = new_page(dark=True)
        at(page, f"{demo}#c1")
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(page.locator(".row")).to_have_count(108)
        expect(page.locator(".row").last).to_be_visible()
        expect(page.locator(".slider-bar .river")).to_be_visible()
        expect(page.locator("input[type=range]")).to_be_hidden()
        colour = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(colour) == "rgb(255, 255, 255)"
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.emulate_media(media="screen")
        assert page.locator(".row").count() < 108
        assert page.evaluate(colour) != "rgb(255, 255, 255)"
