"""Compactions and integrity as a person sees them, of the bundled session and of a small one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from cli.report.report import report
from eventlog.events import ContextCompacted, MessageAppended, ModelCalled, NewMessage
from harness.importers import import_path
from projections import Live, open_log

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "cli" / "demo" / "refund-rounding.jsonl"
SMALL = "ann/bot/small"


def written(live: Live, folder: Path) -> str:
    """The page of the only session of a log."""
    (info,) = live.log.streams()
    path = folder / "report.html"
    path.write_text(report(live, [info.key], {str(info.key): info.key.session[:8]}).html())
    return path.as_uri()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("demo")
    with open_log(folder / "d.db") as live:
        import_path(live.log, DEMO)
        return written(live, folder)


def said(role: str, text: str) -> MessageAppended:
    message = {"role": role, "content": text}
    source = "human" if role == "user" else "model"
    return MessageAppended.model_validate(
        {"dialect": "openai_chat", "source": source, "message": message}
    )


@pytest.fixture
def small(tmp_path: Path) -> str:
    """Two compactions around messages that stay, and one that drops."""
    summary = NewMessage.model_validate(
        {"dialect": "openai_chat", "message": {"role": "user", "content": "In short: <b>a</b>."}}
    )
    with open_log(tmp_path / "s.db") as live:
        live.append(SMALL, *(said("user", f"The order is ORD-{n}.") for n in range(1000, 1012)))
        live.append(SMALL, ModelCalled(model="m", dialect="openai_chat"))
        live.append(SMALL, ContextCompacted(covered=("1-2",), messages=(summary,)))
        live.append(SMALL, said("assistant", "It is so."), said("user", "Yes."))
        live.append(SMALL, ContextCompacted(covered=("3",)))
        return written(live, tmp_path)


def test_a_compaction_shows_what_left_what_came_and_what_was_lost(demo: str, page: Page) -> None:
    page.goto(f"{demo}#compactions")
    row = page.get_by_role("table", name="compactions").get_by_role("row").nth(1)
    expect(row).to_contain_text(re.compile(r"k1.*c28 → c29.*auto.*~14k → ~924.*35k.*71.*181.*30"))
    row.get_by_role("link", name="k1").click()
    expect(page.get_by_text("35,133 before it, of its whole request")).to_be_visible()
    expect(page.locator(".came")).to_contain_text("This session is being continued from a previous")
    expect(page.locator(".left-out .krow")).to_have_count(10)
    page.get_by_role("button", name="show 61 more").click()
    expect(page.locator(".left-out .krow")).to_have_count(71)
    page.locator(".left-out .line").first.click()
    expect(page.locator(".left-out .full").first).to_contain_text("tests/test_refund.py is red")
    lost = page.get_by_role("row", name="id ORD-77120")
    expect(lost).to_contain_text("a person said it in 187")
    expect(page.locator(".literals")).to_contain_text("ctxlog recover 8f31c0a9 --lost k1 --all")
    lost.get_by_role("link", name="187").click()
    expect(page.locator(".row.open .id")).to_have_text("187")


def test_what_was_cleared_opens_with_both_texts(demo: str, page: Page) -> None:
    page.goto(f"{demo}#compactions")
    page.get_by_role("button", name="▸ 77").press("Enter")
    box = page.locator(".clearing")
    expect(box).to_contain_text("What it changed (8 items)")
    box.locator(".line").first.click()
    expect(box.locator(".full")).to_contain_text("[Old tool result content cleared]")
    expect(box.locator(".full")).to_contain_text("as it stands since (7@77)")
    page.get_by_role("button", name="items").click()
    expect(page.get_by_role("button", name="▾ 77")).to_be_visible()


def test_what_stays_is_one_line_and_keys_lead_from_one_to_the_next(
    small: str, new_page: Callable[..., Page]
) -> None:
    page = new_page(width=420)
    page.goto(f"{small}#k1")
    expect(page.locator(".came")).to_contain_text("In short: <b>a</b>.")
    stay = page.locator("details.stay")
    expect(stay.locator("summary")).to_have_text(re.compile("= 10 items stay, ~[0-9]+ tokens"))
    stay.locator("summary").click()
    expect(stay.locator(".pair")).to_have_count(10)
    expect(page.locator(".literals")).to_contain_text("ORD-1000")
    page.keyboard.press("}")
    expect(page.locator("h2", has_text="k2")).to_be_visible()
    expect(page.get_by_text("nothing: what left was dropped")).to_be_visible()
    expect(page.locator(".krow.gone")).to_contain_text("ORD-1002")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_integrity_tells_the_head_and_each_call_with_its_letter(demo: str, page: Page) -> None:
    page.goto(f"{demo}#integrity")
    expect(page.locator(".strip .cell")).to_have_text(["P"] * 44)
    expect(page.get_by_text("It holds.")).to_be_visible()
    command = page.locator(".commands code").first
    expect(command).to_have_text(re.compile(r"^ctxlog verify 8f31c0a9 --head [0-9a-f]{64}$"))
    expect(page.locator(".head-digest")).to_have_text(command.inner_text().split()[-1])
    expect(page.get_by_text("refund-rounding.jsonl")).to_be_visible()
    page.locator(".strip .cell").nth(28).click()
    expect(page.locator(".callname")).to_have_text("c29")
