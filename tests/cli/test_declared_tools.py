"""B37, tools declared in the middle of a session: after every compaction they are in force."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import recorded_calls
from running import run
from small_log import said
from specs_made import EVERY

from cli.naming import place
from cli.replays import replay
from cli.summaries import Summaries
from cli.whatifs import replay_under
from eventlog import StreamKey
from eventlog.events import (
    ContextCompacted,
    Event,
    ModelCalled,
    NewMessage,
    ToolResultRecorded,
    ToolsDeclared,
)
from eventlog.jsonvalue import Json
from projections import Live, open_log
from projections.dialects import dialect as provider
from projections.strategies import parse

KEY = StreamKey("local", "agent", "deferred")
LONG = "word " * 200


def tool(name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


FEW, MORE = [tool("find_tools")], [tool("find_tools"), tool("deferred")]


def declared(tools: list[dict[str, Any]]) -> ToolsDeclared:
    return ToolsDeclared(dialect="openai_chat", definitions=Json(tools))


def called(tools: int | None) -> ModelCalled:
    return ModelCalled(model="m", dialect="openai_chat", tools=tools)


def result(call_id: str) -> ToolResultRecorded:
    return ToolResultRecorded(
        tool_call_id=call_id, name="bash", dialect="openai_chat", content=LONG
    )


def compacted(*covered: str) -> ContextCompacted:
    summary = Json({"role": "user", "content": "Summary: it goes on."})
    new = NewMessage(dialect="openai_chat", message=summary, label="summary")
    return ContextCompacted(covered=covered, messages=(new,))


EVENTS: tuple[Event, ...] = (
    said("system", "You help."),  # 1
    declared(FEW),  # 2
    said("user", LONG),  # 3
    called(2),  # 4: c1
    said("assistant", "I look for a tool.", call=4, tool="a"),  # 5
    result("a"),  # 6
    declared(MORE),  # 7
    called(7),  # 8: c2
    said("assistant", "I use it.", call=8, tool="b"),  # 9
    result("b"),  # 10
    compacted("3", "5", "6", "9", "10"),  # 11
    said("user", "go on"),  # 12
    called(7),  # 13: c3
    said("assistant", "done", call=13),  # 14
    said("user", "and now?"),  # 15
)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db") as opened:
        opened.append(KEY, *EVENTS)
        yield opened


def tools(live: Live, where: str, spec: str = "") -> Any:
    """The tools of the request at a place, as it was or as a strategy would have made it."""
    found = place(live, f"deferred@{where}")
    if not spec:
        return replay(live, found, "")[0].request.get("tools")
    summaries = Summaries(live, "extractive")
    return replay_under(live, found, "", parse(spec), summaries)[0].request.get("tools")


class TestDeclaredTools:
    """B37: the model calls a deferred tool with wrong arguments, since nobody shows it any more."""

    def test_a_call_has_the_tools_that_it_named(self, live: Live) -> None:
        assert [tools(live, f"c{n}") for n in (1, 2, 3)] == [FEW, MORE, MORE]

    def test_they_are_in_force_behind_a_recorded_compaction(self, live: Live) -> None:
        assert tools(live, "11") == tools(live, "15") == MORE

    @pytest.mark.parametrize("where", ["c3", "15"])
    def test_they_are_in_force_whatever_a_strategy_takes_away(self, live: Live, where: str) -> None:
        for spec in EVERY:
            assert tools(live, where, spec) == MORE, spec

    def test_what_was_declared_since_the_last_call_is_in_force(self, live: Live) -> None:
        latest = [*MORE, tool("latest")]
        live.append(KEY, declared(latest), compacted("12", "14"), said("user", "with it"))
        assert tools(live, "15") == MORE
        assert tools(live, "18") == latest
        assert tools(live, "18", "window:tokens=60") == latest

    def test_a_call_that_goes_back_to_fewer_tools_has_fewer_behind_it(self, live: Live) -> None:
        live.append(KEY, called(2), said("assistant", "fewer", call=16))
        assert tools(live, "17") == FEW


class TestWhatIsNoListOfTools:
    """A file declares anything as its tools: it is left out, told, and stops nothing."""

    ODD: tuple[Any, ...] = (7.5, 0, True, "a" * 40, {"a": None}, [[{"type": "tool_use"}]], [None])

    @pytest.fixture
    def database(self, tmp_path: Path) -> Path:
        found = tmp_path / "log.db"
        with open_log(found) as opened:
            for number, given in enumerate(self.ODD):
                for dialect in ("openai_chat", "anthropic"):
                    opened.append(
                        StreamKey("local", "agent", f"odd-{number}-{dialect}"),
                        ToolsDeclared(dialect=dialect, definitions=Json(given)),
                        said("user", "hello"),
                        said("assistant", "good day"),
                    )
            opened.append(KEY, *EVENTS)
        return found

    def test_an_export_of_all_has_every_session(self, database: Path) -> None:
        result = run("--db", database, "export", "--all", "--format", "openai")
        assert result.exit_code == 0, result.output
        bodies = [json.loads(line) for line in result.stdout.splitlines()]
        assert len(bodies) == 2 * len(self.ODD) + 1
        assert [body["tools"] for body in bodies if "tools" in body] == [MORE]
        assert result.stderr.count("what is no object") == 2 * len(self.ODD)

    @pytest.mark.parametrize("form", ["openai", "responses", "anthropic"])
    def test_a_request_goes_without_it_and_says_so(self, database: Path, form: str) -> None:
        for number in range(len(self.ODD)):
            where = f"odd-{number}-anthropic"
            result = run("--db", database, "replay", where, "--format", form)
            assert "internal error" not in result.output
            assert "tools" not in json.loads(result.stdout)
            assert "what is no object" in result.stderr

    def test_what_was_sent_stays_as_it_was_sent(self) -> None:
        for odd in self.ODD:
            made = provider("anthropic").to_request([], odd, {"model": "m"})
            assert made["tools"] == odd


class TestMessagesAlone:
    """Without it a request of which only the messages are known looks like the whole of it."""

    def test_a_replay_says_what_of_its_request_was_recorded(self, tmp_path: Path) -> None:
        key, bare = StreamKey("a", "b", "c"), {"messages": [{"role": "user", "content": "a"}]}
        with open_log(tmp_path / "log.db") as live:
            recorded_calls.record(live, key, "openai_chat", bare)
            recorded_calls.record(live, key, "openai_chat", {"model": "m", **bare})
        alone, whole = (run("replay", f"c@c{n}", "--db", tmp_path / "log.db") for n in (1, 2))
        told = "recorded of this request: its messages; its tools and parameters were not recorded"
        assert told in alone.stderr
        assert whole.stderr == ""
