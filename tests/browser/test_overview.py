"""The overview, and what every view shares: colours that can be read, a page without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from demo_log import demo_log
from playwright.sync_api import Page, expect
from reported import demo_report
from running import data

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
        expect(overview.locator(".readout")).to_contain_text("c2: 3 items, ~1,584 tokens")
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

    def test_breaks_of_the_prefix_are_marked_below_it(self, overview: Page) -> None:
        expect(overview.locator(".river .broke")).to_have_count(3)
        expect(overview.locator(".figures")).to_contain_text("3prefix breaks")


class TestFindings:
    def test_they_are_those_of_the_audit_rule_by_rule(self, overview: Page, tmp_path: Path) -> None:
        found = data("audit", "last", "--db", demo_log(tmp_path))["findings"]
        for button in overview.locator(".rule .more:visible").all()[::-1]:
            button.click()
        shown = overview.locator(".findings li > span:first-child").all_text_contents()
        assert sorted(shown) == sorted(each["message"] for each in found)
        expect(overview.locator(".rule h3").first).to_contain_text("broken rules")

    def test_paper_has_them_all(self, overview: Page) -> None:
        visible = overview.locator(".findings li").count()
        overview.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(overview.locator(".findings li")).to_have_count(23)
        overview.evaluate("dispatchEvent(new Event('afterprint'))")
        expect(overview.locator(".findings li")).to_have_count(visible)


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
