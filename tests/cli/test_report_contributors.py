"""What the tokens of a session went to, as a page is told, against what the calls themselves sum up
to."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import data
from small_log import KEY, called, said, small_log

from cli.prefixes import prefix_table
from cli.report.contributors import ContributorsData, stays
from cli.report.model import CATEGORIES, ContextData, SessionData
from cli.report.session import read, session_data
from cli.report.texts import Texts
from eventlog import Json, StreamKey
from eventlog.events import MessageAppended, ToolResultRecorded, ToolsDeclared
from projections import Live, open_log
from projections.audit.auditing import audit
from projections.memory.past import Pasts

LONG = "def allocate(cents, parts): return [cents // parts] * parts\n" * 9


def told(live: Live, key: StreamKey) -> SessionData:
    return session_data(read(live, key, Pasts(live)), Texts(), "s")


def sent_by_category(page: SessionData) -> list[int]:
    """What every row and every declaration of tools weighs over all calls."""
    sums = dict.fromkeys(CATEGORIES, 0)
    for row, times in zip(page.rows, page.contributors.times, strict=True):
        sums[row.category] += row.tokens * times
    for each in page.contributors.declarations:
        sums["tools"] += each.tokens * sum(count for _, count in each.calls)
    return list(sums.values())


def asks(call: str, path: str) -> MessageAppended:
    arguments = f'{{"path": "{path}", "limit": {len(call)}}}'
    function = {"name": "mcp__files__read", "arguments": arguments}
    asked = {"id": call, "type": "function", "function": function}
    return MessageAppended.model_validate(
        {
            "dialect": "openai_chat",
            "source": "model",
            "message": {"role": "assistant", "content": "I read.", "tool_calls": [asked]},
        }
    )


def gave(call: str, text: str) -> ToolResultRecorded:
    return ToolResultRecorded(tool_call_id=call, dialect="openai_chat", content=text)


@pytest.fixture
def reading(tmp_path: Path) -> SessionData:
    """A session that reads one file twice and another one once, with tools declared twice."""
    key = StreamKey("ann", "bot", "reading")
    tool = {"type": "function", "function": {"name": "mcp__files__read", "description": "Read it"}}
    search = {"type": "web_search"}
    with open_log(tmp_path / "reading.db") as live:
        live.append(
            key,
            ToolsDeclared(dialect="openai_chat", definitions=Json([tool])),  # 1
            said("user", "What does allocate do?"),  # 2
            asks("one", "shop/money.py"),  # 3
            gave("one", LONG),  # 4
            called().model_copy(update={"tools": 1}),  # 5: c1
            asks("two", "shop/money.py"),  # 6
            gave("two", LONG),  # 7
            ToolsDeclared(dialect="openai_chat", definitions=Json([tool, search])),  # 8
            called().model_copy(update={"tools": 8}),  # 9: c2
            asks("other", "shop/refunds.py"),  # 10
            gave("other", "nothing"),  # 11
            called().model_copy(update={"tools": 8}),  # 12: c3
        )
        return told(live, key)


class TestSums:
    """Without this the page would say where the tokens went, and they would not be those of the
    calls."""

    def test_by_category_they_are_what_all_calls_were_given(self, tmp_path: Path) -> None:
        with open_log(small_log(tmp_path)) as live:
            page = told(live, KEY)
        calls = [call.context.tokens for call in page.calls]
        assert sent_by_category(page) == [sum(each) for each in zip(*calls, strict=True)]
        assert sum(map(sum, calls)) > 0

    def test_they_are_the_tokens_of_the_prefix_table_and_of_the_coverage(
        self, tmp_path: Path
    ) -> None:
        with open_log(small_log(tmp_path)) as live:
            page = told(live, KEY)
            table = prefix_table(live, KEY, None)
            coverage = audit(live, KEY).coverage
        assert sum(sent_by_category(page)) == table.tokens
        assert sum(row.tokens for row in page.rows if row.original is None) == coverage.tokens

    def test_declared_tools_count_in_the_calls_that_sent_them(self, reading: SessionData) -> None:
        first, second = reading.contributors.declarations
        assert (first.calls, second.calls) == ([(1, 1)], [(2, 2)])
        sent = [call.context.tokens[CATEGORIES.index("tools")] for call in reading.calls]
        assert sent == [first.tokens, second.tokens, second.tokens]
        assert [name for name, _ in second.tools] == ["mcp__files__read", "web_search"]
        assert sum(size for _, size in second.tools) == second.tokens
        calls = [call.context.tokens for call in reading.calls]
        assert sent_by_category(reading) == [sum(each) for each in zip(*calls, strict=True)]

    def test_the_sums_of_the_prefix_are_those_of_the_command(self, tmp_path: Path) -> None:
        path = small_log(tmp_path)
        with open_log(path) as live:
            page = told(live, KEY)
        asked = data("diff", "refunds-0001", "--prefix", "--db", path)
        assert page.prefix is not None
        assert page.prefix.model_dump() == {k: v for k, v in asked.items() if k != "rows"}


class TestGroups:
    """Without this nobody sees that one file was paid for again and again."""

    def test_results_stand_by_their_tool_and_by_the_file_that_its_arguments_name(
        self, reading: SessionData
    ) -> None:
        names = [row.r for row in reading.rows]
        found = reading.contributors
        [tool] = found.tools
        assert (tool.name, [names[n] for n in tool.rows]) == ("mcp__files__read", ["4", "7", "11"])
        [file] = found.files
        assert (file.path, file.tool) == ("shop/money.py", "mcp__files__read")
        assert [names[n] for n in file.rows] == ["4", "7"]

    def test_a_text_that_came_twice_is_waste_only_where_both_copies_stood(
        self, reading: SessionData
    ) -> None:
        [one] = reading.contributors.repeated
        assert [reading.rows[n].r for n in one.rows] == ["4", "7"]
        assert (one.stood, one.calls) == (5, 3)
        assert one.tokens == -(-len(LONG) // 4)

    def test_a_session_without_a_call_sent_nothing(self, tmp_path: Path) -> None:
        key = StreamKey("ann", "bot", "silent")
        with open_log(tmp_path / "silent.db") as live:
            live.append(key, said("user", "Is anybody there?"))
            page = told(live, key)
        assert page.contributors == ContributorsData(times=[0])
        assert page.prefix is None


def test_an_item_that_moves_leaves_its_place_and_stands_no_longer_than_it_did() -> None:
    contexts = [
        ContextData(add=[(0, 3)], tokens=[]),
        ContextData(keep=1, add=[(2, 1), (1, 1)], tokens=[]),
        ContextData(keep=2, tokens=[]),
    ]
    found = sorted(stays(contexts))
    assert found == [(0, 1, 4), (1, 1, 2), (1, 2, 3), (2, 1, 2), (2, 2, 4)]


def test_a_result_names_the_part_that_asked_for_it(reading: SessionData) -> None:
    results = [row for row in reading.rows if row.category == "result"]
    assert len(results) == 3
    for result in results:
        assert result.of is not None
        row, part = result.of
        kind, name, _, _ = reading.rows[row].parts[part]
        assert (kind, name) == ("call", "mcp__files__read")
        assert reading.rows[row].position < result.position
