"""The biggest contributors, as they are seen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from cli.report.report import report
from eventlog import Json, StreamKey
from eventlog.events import MessageAppended, ModelCalled, ToolResultRecorded, ToolsDeclared
from projections import open_log

KEY = StreamKey("ann", "bot", "reading")
TEXT = "def allocate(cents, parts): return [cents // parts] * parts\n" * 20
TOOL = {"type": "function", "function": {"name": "mcp__files__read", "description": "d" * 400}}


def asks(name: str) -> MessageAppended:
    function = {"name": "mcp__files__read", "arguments": '{"path": "shop/money.py"}'}
    call = {"id": name, "type": "function", "function": function}
    return MessageAppended.model_validate(
        {
            "dialect": "openai_chat",
            "source": "model",
            "message": {"role": "assistant", "content": "I read.", "tool_calls": [call]},
        }
    )


@pytest.fixture
def address(tmp_path: Path) -> str:
    """A session whose tool reads one file twice: once before the first of three calls."""
    call = ModelCalled(model="m", dialect="openai_chat", tools=1)
    with open_log(tmp_path / "reading.db") as live:
        for name, more in (("one", [call]), ("two", [call, call])):
            if name == "one":
                live.append(KEY, ToolsDeclared(dialect="openai_chat", definitions=Json([TOOL])))
            result = ToolResultRecorded(tool_call_id=name, dialect="openai_chat", content=TEXT)
            live.append(KEY, asks(name), result, *more)
        file = tmp_path / "reading.html"
        file.write_text(report(live, [KEY], {str(KEY): "reading"}).html(), encoding="utf-8")
    return f"{file.as_uri()}#tokens"


def rows(page: Page, title: str) -> list[str]:
    """What the rows of a table say."""
    table = page.get_by_role("heading", name=title, exact=True).locator("..")
    return table.locator("tbody tr, summary").all_inner_texts()


def test_each_measure_counts_what_it_says_and_shares_are_of_its_whole(
    page: Page, address: str
) -> None:
    page.goto(address)
    whole = page.locator(".told b").first
    sums = {}
    for measure in ("sent over all calls", "all that came in, once each", "in the context at call"):
        page.get_by_role("button", name=measure).click()
        cells = page.locator(".weighed").first.locator("td[title$='tokens, estimated']")
        told = [cell.get_attribute("title") or "" for cell in cells.all()]
        each = [int(title.split()[0].replace(",", "")) for title in told]
        assert whole.inner_text() == f"≈{sum(each):,} tokens"
        sums[measure] = sum(each)
    sent, came, last = sums.values()
    assert came == last
    page.get_by_label("the call").fill("1")
    page.get_by_label("the call").press("Enter")
    first = int(re.sub(r"\D", "", whole.inner_text()))
    assert sent == first + 2 * last


def test_a_file_that_was_read_twice_and_its_server_stand_there(page: Page, address: str) -> None:
    page.goto(address)
    [server] = rows(page, "By MCP server")
    assert server.split()[0] == "files"
    [file] = rows(page, "The same file again")
    assert "shop/money.py" in file.replace("\n", "")
    assert "2×" in file
    [again] = rows(page, "The same text again")
    assert "2 items" in again


def test_an_item_opens_to_its_text_and_leads_to_the_transcript(page: Page, address: str) -> None:
    page.goto(address)
    item = page.get_by_role("heading", name="By item").locator("..").locator("li").first
    item.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(item.locator("pre")).to_contain_text("return [cents // parts] * parts")
    item.get_by_role("link", name="3", exact=True).click()
    expect(page).to_have_url(re.compile("#3$"))
