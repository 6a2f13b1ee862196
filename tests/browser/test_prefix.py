"""Prefix and cache, as it is seen: what the bars show is what the log says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from cli.report.report import report
from eventlog import Draft, Json, StreamKey
from eventlog.events import (
    MessageAppended,
    MessageRevised,
    ModelCalled,
    ModelResponded,
    ToolsDeclared,
    Usage,
)
from projections import Live, open_log
from projections.prefixes import PrefixRow, prefix_rows
from projections.tokens import counter

TOOL = {"type": "function", "function": {"name": "bash", "description": "Run it. " * 20}}
KEY = StreamKey("ann", "bot", "talk")


def said(text: str) -> MessageAppended:
    message = {"role": "user", "content": text}
    return MessageAppended(dialect="openai_chat", source="human", message=message)


def called(live: Live, minute: int, model: str, cached: int) -> None:
    """A call that is billed for 40,000 tokens, so many of them read from a cache."""
    when = f"2026-09-20T14:{minute:02}:00Z"
    call = Draft(ModelCalled(model=model, dialect="openai_chat", tools=1), occurred_at=when)
    at = live.append(KEY, call).last
    usage = Usage(input=9, cached=cached, cache_write=40_000 - cached - 9, output=5)
    live.append(KEY, ModelResponded(call=at, usage=usage))


@pytest.fixture
def made(tmp_path: Path) -> tuple[str, list[PrefixRow]]:
    """A page, and the rows that it is about: the second of five items is revised, two models take
    turns, and the last bill does not fit."""
    with open_log(tmp_path / "talk.db") as live:
        live.append(KEY, ToolsDeclared(dialect="openai_chat", definitions=Json([TOOL])))
        first = live.append(KEY, *(said(f"message {n} " * 40) for n in range(5))).last
        called(live, 0, "large", 0)
        live.append(KEY, said("more " * 40))
        called(live, 1, "large", 39_990)
        live.append(
            KEY, MessageRevised(item=str(first - 3), patch={"content": "in other words " * 30})
        )
        called(live, 2, "large", 3_000)
        called(live, 3, "small", 0)
        called(live, 24, "large", 1_000)
        file = tmp_path / "talk.html"
        file.write_text(report(live, [KEY], {str(KEY): "talk"}).html(), encoding="utf-8")
        rows = prefix_rows(live.log.read(KEY), counter())
    return f"{file.as_uri()}#prefix", rows


def bar(page: Page, call: int) -> dict[str, int]:
    """The tokens of a bar by what it says of them."""
    label = page.get_by_role("img", name=re.compile(rf"^c{call}, ")).get_attribute("aria-label")
    assert label is not None
    found = re.findall(r"([\d,]+) ([a-z ]+)", label.partition(": ")[2])
    return {name: int(count.replace(",", "")) for count, name in found}


class TestBars:
    """Without this a picture says one thing and the figures beside it another."""

    def test_what_is_the_same_and_what_is_sent_again_is_what_the_log_says(
        self, page: Page, made: tuple[str, list[PrefixRow]]
    ) -> None:
        address, rows = made
        page.goto(address)
        for row in rows:
            found = bar(page, row.call)
            assert found.get("the same", 0) == row.reusable
            assert found.get("sent again", 0) == row.rewritten
            assert sum(found.values()) == row.tokens
        assert rows[2].rewritten
        assert bar(page, 3)["in another form"]

    def test_a_break_is_told_in_words_and_leads_to_its_item(
        self, page: Page, made: tuple[str, list[PrefixRow]]
    ) -> None:
        page.goto(made[0])
        calls = page.get_by_role("list", name="calls and their prefixes")
        row = calls.get_by_role("listitem").nth(2)
        expect(row).to_contain_text("revision 12 at 3 → 3@12")
        row.get_by_role("link", name="3@12").click()
        expect(page).to_have_url(re.compile("#3@12$"))
        expect(page.get_by_text("as the model saw it (3@12")).to_be_visible()


def test_breaks_can_be_looked_at_alone_and_a_bill_that_does_not_fit_is_named(
    page: Page, made: tuple[str, list[PrefixRow]]
) -> None:
    page.goto(made[0])
    entries = page.get_by_role("list", name="calls and their prefixes").get_by_role("listitem")
    choice = page.get_by_label("show")
    choice.select_option("broken")
    expect(entries.get_by_role("link", name=re.compile(r"^c\d+$"))).to_have_text(["c3", "c4"])
    choice.select_option("by model")
    expect(entries).to_have_count(1)
    expect(entries).to_contain_text("another model, small")
    choice.select_option("doubted")
    expect(entries).to_have_count(1)
    expect(entries).to_contain_text("not read: 39.0k of 40.0k billed for c3")
    expect(entries).to_contain_text("held against c3, not the one before")
    expect(entries).to_contain_text("22 min")
