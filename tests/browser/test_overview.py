"""The overview, and what every view shares: colours that can be read, a page without scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from demo_log import demo_log
from playwright.sync_api import Page, expect
from reported import demo_report, reported
from running import run
from small_log import small_log

from cli.report.page import style_text


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of the bundled session."""
    return demo_report(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def overview(page: Page, demo: str) -> Page:
    page.goto(demo)
    page.wait_for_selector("html.ready")
    return page


class TestTheRiver:
    def test_arrows_go_from_call_to_call_and_enter_opens_one(self, overview: Page) -> None:
        river = overview.get_by_role("slider")
        river.focus()
        river.press("Home")
        river.press("ArrowRight")
        expect(overview.locator(".readout")).to_contain_text("c2: 4 items, ≈1,598 tokens")
        expect(river).to_have_attribute("aria-valuenow", "2")
        river.press("End")
        river.press("Enter")
        expect(overview.locator(".callname")).to_have_text("c44")

    def test_a_click_opens_the_call_under_it(self, overview: Page) -> None:
        box = overview.get_by_role("slider").bounding_box()
        assert box is not None
        overview.mouse.move(box["x"] + box["width"] - 10, box["y"] + 100)
        expect(overview.locator(".readout")).to_contain_text("c44: 36 items")
        overview.mouse.down()
        overview.mouse.up()
        expect(overview.locator(".callname")).to_have_text("c44")

    def test_what_was_billed_and_not_recorded_stands_above_what_was(
        self, overview: Page, tmp_path: Path
    ) -> None:
        expect(overview.locator(".legend").first).to_contain_text("billed, not recorded")
        told = run("audit", "last", "--json", "--db", demo_log(tmp_path)).stdout
        calls = json.loads(told)["data"]["calls"]
        most = max(call["billed"] for call in calls)
        river = overview.get_by_role("slider")
        assert f"and {most:,} with what was billed and not recorded" in (
            river.get_attribute("aria-label") or ""
        )
        river.focus()
        river.press("End")
        missing = calls[-1]["billed"] - calls[-1]["tokens"]
        assert missing > 0
        expect(overview.locator(".readout")).to_contain_text(f"{missing:,} billed, not recorded")
        band = overview.locator(".river .unrecorded").bounding_box()
        below = overview.locator(".river .band.result").bounding_box()
        assert band is not None
        assert below is not None
        assert band["height"] > below["height"]
        assert band["y"] < below["y"]

    def test_cliffs_are_estimates_of_what_is_recorded_and_clearings_have_names(
        self, overview: Page
    ) -> None:
        names = overview.locator(".river .cliffname")
        expect(names).to_have_text(["k1 ≈14.5k → ≈924", "✂ 8 cleared", "✂ 8 cleared"])
        card = overview.locator(".card", has_text="clearings (2)")
        expect(card).to_contain_text("≈14.5k → ≈924agent's count: 35.1k71 items folded")
        expect(card).to_contain_text("8 items cleared")
        river = overview.get_by_role("slider")
        river.focus()
        river.press("Home")
        for _ in range(15):
            river.press("ArrowRight")
        expect(overview.locator(".readout")).to_contain_text("✂ 8 items cleared here")

    def test_lower_bounds_say_that_they_are(self, overview: Page) -> None:
        expect(overview.locator(".figures")).to_contain_text("output ≥ 11.2k")
        expect(overview.locator(".figures")).to_contain_text("≥ $1.23cost")
        expect(overview.locator(".figures")).to_contain_text("1compaction16 placeholders")

    def test_what_became_of_everything_is_what_the_audit_says(self, overview: Page) -> None:
        card = overview.locator(".card", has_text="What became of everything")
        row = card.get_by_role("row", name="summarised")
        expect(row).to_contain_text("71≈23.8k–by k1 (auto); 2 of them given to no call")

    def test_breaks_of_the_prefix_are_marked_below_it(self, overview: Page) -> None:
        expect(overview.locator(".river .broke")).to_have_count(3)
        expect(overview.locator(".figures")).to_contain_text("3prefix breaks")


class TestFindings:
    def test_they_are_those_of_the_audit_rule_by_rule(self, overview: Page, tmp_path: Path) -> None:
        told = run("audit", "last", "--json", "--db", demo_log(tmp_path)).stdout
        found = json.loads(told)["data"]["findings"]
        more = overview.locator(".rule .more:visible")
        for left in range(more.count(), 0, -1):
            more.first.click()
            expect(more).to_have_count(left - 1)
        shown = overview.locator(".findings li > span:first-child").all_text_contents()
        assert sorted(shown) == sorted(each["message"] for each in found)
        expect(overview.locator(".rule h3").first).to_contain_text("broken rules")
        expect(overview.locator(".fold-finding > summary")).to_have_text(
            [
                "181 literals lost by k1: 30 came up again",
                "44 literals lost by 77, 117: 2 came up again",
            ]
        )
        overview.locator(".findings").get_by_role("link", name="7-8").first.click()
        expect(overview.locator(".row.target .id")).to_have_text("7")

    def test_paper_has_them_all(self, overview: Page) -> None:
        visible = overview.locator(".findings li").count()
        overview.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(overview.locator(".findings li")).to_have_count(23)
        overview.evaluate("dispatchEvent(new Event('afterprint'))")
        expect(overview.locator(".findings li")).to_have_count(visible)


class TestTwoSessions:
    def test_a_fork_leads_to_what_it_goes_on_from(self, page: Page, tmp_path: Path) -> None:
        page.goto(f"{reported(small_log(tmp_path), tmp_path)}#2/overview")
        page.wait_for_selector("html.ready")
        about = page.locator(".card", has_text="About this session")
        expect(about).to_contain_text("goes on fromann/bot/refunds-0001 at event 13")
        about.get_by_role("link", name="open it").click()
        expect(page.locator(".key")).to_have_text("refunds-0001")
        page.get_by_label("session", exact=True).select_option(label="Refunds · retry")
        page.wait_for_url("**#2/overview")
        page.evaluate("location.hash = '#9/c1'")
        expect(page.locator("#note")).to_have_text("there is no session 9 here")
        page.wait_for_url("**#2/overview")


class TestEveryView:
    def test_headings_go_down_one_by_one(self, overview: Page) -> None:
        for hash in ("#overview", "#c29"):
            overview.evaluate("(hash) => { location.hash = hash; }", hash)
            overview.wait_for_timeout(50)
            levels = overview.locator("h1, h2, h3, h4").evaluate_all(
                "(all) => all.map((each) => Number(each.tagName[1]))"
            )
            assert levels[0] == 1
            assert all(after <= before + 1 for before, after in pairwise(levels)), (hash, levels)

    def test_colours_change_for_as_long_as_the_page_is_open(self, overview: Page) -> None:
        colour = "getComputedStyle(document.body).backgroundColor"
        light = overview.evaluate(colour)
        button = overview.get_by_role("button", name="colours: auto")
        button.click()
        overview.get_by_role("button", name="colours: light").click()
        assert overview.evaluate(colour) != light
        overview.get_by_role("button", name="colours: dark").click()
        assert overview.evaluate(colour) == light

    def test_without_scripts_it_says_what_it_is_and_what_was_found(
        self, new_page: Callable[..., Page], demo: str
    ) -> None:
        page = new_page(java_script_enabled=False)
        page.goto(demo)
        text = page.locator("noscript").inner_text()
        page.close()  # nothing can be waited for in it
        assert "44 calls (44 partial), 0 failed" in text
        assert "! broken_rules: “Use httpie, not curl" in text
        assert "an audit finds 23:" in text


# -- colours --------------------------------------------------------------------------------------

GROUNDS = ("ground", "card", "hover", "mark")
TEXTS = ("ink", "dim", "link", "bad", "warn", "good", "cliff", "sum")
ON_MARKED = ("ink", "dim")


def schemes() -> Iterator[tuple[str, dict[str, str]]]:
    """The colours of each scheme: the light ones, and both places of the dark ones."""
    for rule in re.finditer(r"(:root[^{},]*)\{([^{}]*--ground: #[^{}]*)\}", style_text()):
        colours = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{3,6})\b", rule[2]))
        if set(TEXTS) <= set(colours):
            yield rule[1].strip(), colours


def luminance(colour: str) -> float:
    """Of an sRGB colour, as WCAG 2 defines it."""
    digits = colour[1:] if len(colour) == 7 else "".join(each * 2 for each in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class TestContrast:
    def test_every_text_can_be_read_on_every_ground_in_every_scheme(self) -> None:
        found = list(schemes())
        assert len(found) == 3
        assert found[1][1] == found[2][1]
        low = [
            f"{scheme} {text} on {ground}: {contrast(colours[text], colours[ground]):.2f}"
            for scheme, colours in found
            for ground in GROUNDS
            for text in (ON_MARKED if ground == "mark" else TEXTS)
            if contrast(colours[text], colours[ground]) < 4.5
        ]
        assert low == []
