"""The comparison of strategies in the page: the table, the curves, and the way into a lane."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
from demo_log import demo_log
from running import data, run

if TYPE_CHECKING:
    from playwright.sync_api import Page

SPECS = ("truncate:turns=2", "clear:keep=3", "cut:limit=300")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_log(tmp_path_factory.mktemp("compare"))


@pytest.fixture(scope="module")
def file(demo: Path) -> Path:
    path = demo.parent / "report.html"
    options = [each for spec in SPECS for each in ("--compare", spec)]
    result = run("report", "last", "-o", path, *options, "--db", demo)
    assert result.exit_code == 0, result.output
    return path


def opened(page: Page, file: Path, place: str) -> None:
    page.goto(f"file://{file}#{place}")
    page.wait_for_selector("html.ready")


def names(page: Page) -> list[str]:
    return page.locator(".matrix tbody th a").all_inner_texts()


class TestTable:
    """A table that cannot be read by what matters is read by what stands first."""

    def test_a_column_sorts_the_rows_both_ways(self, page: Page, file: Path, demo: Path) -> None:
        opened(page, file, "compare")
        page.locator(".matrix").wait_for()
        assert names(page) == ["observed", *SPECS]
        typed = [each for spec in SPECS for each in ("-s", spec)]
        rows = data("compare", "last", *typed, "--db", demo)["strategies"]
        by_tokens = [row["strategy"] for row in sorted(rows, key=lambda r: r["tokens"]["value"])]
        head = page.locator(".matrix").get_by_role("columnheader", name="tokens", exact=True)
        head.get_by_role("button").click()
        assert names(page) == by_tokens
        assert head.get_attribute("aria-sort") == "ascending"
        head.get_by_role("button").press("Enter")
        assert head.get_attribute("aria-sort") == "descending"
        assert names(page)[0] == by_tokens[-1]

    def test_percent_and_count_are_of_one_base_and_so_are_the_curves(
        self, page: Page, file: Path, demo: Path
    ) -> None:
        opened(page, file, "compare")
        typed = [each for spec in SPECS for each in ("-s", spec)]
        told = data("compare", "last", *typed, "--db", demo)
        (held,) = told["calibration"]
        base = held["factor"] * held["unrecorded"]
        sums = [
            (row["cumulative"] * held["factor"] + row["calls"] * base) for row in told["strategies"]
        ]
        cells = page.locator(".matrix td[data-title='tokens']").all_inner_texts()
        for row, sum_, cell in zip(told["strategies"], sums, cells, strict=True):
            assert abs(sum_ / sums[0] - row["tokens"]["value"]) < 0.001
            assert cell.split() == [f"{100 * row['tokens']['value']:.0f}%", f"≈{sum_ / 1e6:.1f}M"]
        chosen = page.locator(".controls select").first.locator("option:checked")
        assert chosen.inner_text() == "as billed, like the table"
        assert f"and {round(base):,} a call for what is not recorded" in (
            page.locator(".notes").first.inner_text()
        )

    def test_what_a_column_means_can_be_read_without_a_pointer(
        self, page: Page, file: Path
    ) -> None:
        opened(page, file, "compare")
        page.get_by_text("what the columns mean").click()
        page.get_by_text("of what must not get lost, what stands verbatim at the end").wait_for()

    def test_it_says_that_these_are_what_ifs(self, page: Page, file: Path) -> None:
        opened(page, file, "compare")
        page.get_by_text("what-ifs keep the recorded messages").wait_for()


class TestLanes:
    """Numbers that cannot be looked behind are believed or not, and neither is good."""

    def test_a_strategy_leads_to_what_it_would_have_shown(self, page: Page, file: Path) -> None:
        opened(page, file, "compare")
        page.locator(".readings").get_by_role("link", name="see c44").nth(2).click()
        page.locator(".slider-bar").wait_for()
        assert page.url.endswith("#c44~2")
        chosen = page.get_by_role("combobox", name="whose contexts")
        assert chosen.locator("option:checked").inner_text() == "clear:keep=3"
        inspector = page.locator(".inspector")
        assert "would have given it" in inspector.inner_text()
        assert "record" not in inspector.inner_text()  # that is said of the call itself
        cleared = page.locator(".inspector .inside li", has_text="[The result of").first
        name = cleared.locator("a.id").inner_text()
        cleared.locator("a.id").click()
        page.wait_for_url(f"**#{name}~2")
        row = page.locator(".long .row.changed.open")
        assert row.locator("a.id").inner_text() == name
        assert row.locator(".tag.changed").inner_text() == "cleared"
        assert "cleared by clear: all but the last 3" in (
            row.locator(".gutter").get_attribute("aria-label") or ""
        )
        row.get_by_role("heading", name="as the model saw it").wait_for()
        assert row.locator("pre").first.inner_text().startswith("[The result of")
        assert page.locator(".callname").inner_text() == "c44"

    def test_the_keyboard_moves_over_the_calls(self, page: Page, file: Path) -> None:
        opened(page, file, "compare")
        picture = page.get_by_role("slider", name="tokens of each call")
        picture.focus()
        before = page.locator(".readings tbody tr").all_inner_texts()
        picture.press("Home")
        picture.press("ArrowRight")
        assert page.locator(".readings thead th").first.inner_text() == "at c2"
        assert page.locator(".readings tbody tr").all_inner_texts() != before
        picture.press("Enter")
        page.wait_for_url("**#c2")


def test_without_strategies_the_page_says_how(page: Page, demo: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    assert run("report", "last", "-o", path, "--db", demo).exit_code == 0
    opened(page, path, "compare")
    page.get_by_text("--compare truncate:turns=5").wait_for()
