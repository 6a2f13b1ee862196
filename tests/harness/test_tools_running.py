"""Running tool calls: whatever a tool does, its call has one outcome, and nothing is raised."""

from __future__ import annotations

import asyncio
import linecache
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from types import FrameType
from typing import Any

import pytest
from pydantic import BaseModel

from eventlog.agent import MiddlewareStateSet, Task, TasksSet
from eventlog.errors import InputRefused
from harness.errors import ToolFailed
from harness.tools import Context, Pending, Tool, ToolOutcome, run, run_all, tool
from harness.tools import attempt as attempt_module
from harness.tools import running as running_module
from harness.tools.attempt import INTERRUPTED, NOT_BEGUN
from harness.tools.results import MOST
from harness.tools.running import AT_ONCE
from projections.agent_state import AgentState


def once(given: Tool | Callable[..., object], arguments: str = "{}") -> ToolOutcome:
    made = given if isinstance(given, Tool) else tool(given, name="it")
    return run(made, "t1", arguments, Context(AgentState(), "t1"))


def pending(given: Tool, call_id: str, arguments: str = "{}") -> Pending:
    return Pending(given, call_id, arguments, AgentState)


@dataclass
class Point:
    x: int


class Model(BaseModel):
    when: datetime


class Loud(str):
    def __str__(self) -> str:
        return "something else"


class TestResults:
    """What stands in the context is what the tool gave back, or says why it does not."""

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("as it is\r\n", "as it is\r\n"),
            (Loud("plain"), "plain"),
            ("\ud800 \x00 \u202e", "\ud800 \x00 \u202e"),
            ({"a": [1, "é", None]}, '{"a": [1, "é", null]}'),
            ([{"\udfff": "\ud800"}], '[{"\udfff": "\ud800"}]'),
            (Point(3), '{"x": 3}'),
            (Model(when=datetime(2020, 1, 1, tzinfo=UTC)), '{"when": "2020-01-01T00:00:00Z"}'),
            ({3}, "[3]"),
            (float("inf"), "Infinity"),
            (10**50, "1" + "0" * 50),
            (None, "null"),
            (b"", "0 bytes"),
            (b"\x89PNG" + b"x" * 2000, "2,004 bytes, which begin 89 50 4e 47" + " 78" * 12),
        ],
    )
    def test_a_string_stands_as_it_is_and_all_else_is_json(self, value: Any, text: str) -> None:
        outcome = once(lambda: value)
        assert (outcome.content, outcome.is_error) == (text, False)

    def test_what_gives_nothing_back_is_done(self) -> None:
        def quiet() -> None: ...

        assert once(quiet).content == "done"

    @pytest.mark.parametrize("kind", ["cycle", "object", "endless", "deep", "digits"])
    def test_what_cannot_be_told_says_that_the_tool_ran(self, kind: str) -> None:
        cycle: list[Any] = []
        cycle.append(cycle)
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        values = {
            "cycle": cycle,
            "object": object(),
            "endless": iter(int, 1),
            "deep": deep,
            "digits": 10**5000,
        }
        outcome = once(lambda: values[kind])
        assert outcome.is_error
        assert outcome.content.startswith("the tool ran, and its result cannot be told: ")
        while deep:  # one after the other: not all in one destructor
            deep = deep.pop()

    def test_over_a_million_characters_the_rest_is_counted(self) -> None:
        content = once(lambda: "é" * (MOST + 1_234)).content
        assert content == "é" * MOST + "\n[1,234 more characters were left out here]"
        assert once(lambda: "é" * MOST).content == "é" * MOST


class Strange(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no message")


class TestExceptions:
    """A model can do something about an error; about a traceback it cannot."""

    @pytest.mark.parametrize(
        ("error", "text"),
        [
            (ValueError("bad\nvalue \ud800"), "ValueError: bad\nvalue \ud800"),
            (KeyError("k"), "KeyError: 'k'"),
            (AssertionError(), "AssertionError"),
            (SystemExit(3), "SystemExit: 3"),
            (KeyboardInterrupt(), "KeyboardInterrupt"),
            (GeneratorExit(), "GeneratorExit"),
            (asyncio.CancelledError(), "CancelledError"),
            (Strange(), "Strange"),
            (ToolFailed("do this instead"), "do this instead"),
        ],
    )
    def test_each_is_a_result(self, error: BaseException, text: str) -> None:
        def fail() -> None:
            raise error

        outcome = once(fail)
        assert (outcome.content, outcome.is_error, outcome.is_interrupted) == (text, True, False)

    def test_endless_recursion_is_one(self) -> None:
        def again() -> None:
            again()

        assert once(again).content.startswith("RecursionError: ")

    def test_what_a_tool_prints_is_no_part_of_its_result(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def loud() -> str:
            sys.stdout.write("printed")
            return "given"

        assert once(loud).content == "given"
        assert capsys.readouterr().out == "printed"


NOTE = MiddlewareStateSet(name="n")


class TestRecording:
    """What a tool records and its result are one append: a crash leaves both or neither."""

    def test_the_outcome_carries_it_also_of_a_tool_that_fails(self) -> None:
        def fail(context: Context) -> None:
            context.record(NOTE)
            raise ValueError("late")

        outcome = once(fail)
        assert (outcome.is_error, outcome.events) == (True, (NOTE,))

    def test_what_is_recorded_after_the_outcome_is_refused(self) -> None:
        given, faults = threading.Event(), []
        ended = threading.Event()

        def slow(context: Context) -> None:
            given.wait(60)
            try:
                context.record(NOTE)
            except InputRefused as error:
                faults.append(str(error))
            ended.set()

        outcome = once(tool(slow, timeout=0.05))
        assert outcome.content == (
            "timed out after 0.05 s; it was left alone, and may go on in the background"
        )
        assert (outcome.is_error, outcome.is_interrupted, outcome.events) == (True, False, ())
        given.set()
        assert ended.wait(60)
        assert faults == ["the outcome of this tool call was given; nothing is added"]


class TestTime:
    """A tool that hangs must not hang the conversation."""

    def test_a_tool_that_looks_is_told_that_its_time_is_over(self) -> None:
        told = threading.Event()

        def listens(context: Context) -> None:
            if context.cancelled.wait(60):
                told.set()

        assert once(tool(listens, timeout=0.05)).content.startswith("timed out after 0.05 s")
        assert told.wait(60)

    def test_a_coroutine_is_cancelled(self) -> None:
        ended = threading.Event()

        async def waits() -> None:
            try:
                await asyncio.sleep(600)
            finally:
                ended.set()

        assert once(tool(waits, timeout=0.05)).content.startswith("timed out after 0.05 s")
        assert ended.wait(60)


class TestTogether:
    """Calls of one answer: what changes something runs in order, what does not runs at once."""

    def test_calls_without_effects_run_beside_each_other(self) -> None:
        barrier = threading.Barrier(AT_ONCE, timeout=60)  # nobody passes it alone
        meet = tool(lambda: barrier.wait() * 0, name="meet", has_effects=False)
        calls = [pending(meet, f"t{i}") for i in range(AT_ONCE)]
        outcomes = list(run_all(calls, threading.Event()))
        assert {outcome.content for outcome in outcomes} == {"0"}
        assert {outcome.tool_call_id for outcome in outcomes} == {f"t{i}" for i in range(AT_ONCE)}

    def test_an_outcome_is_given_before_the_others_are_there(self) -> None:
        taken = threading.Event()
        first = tool(lambda: taken.wait(60), name="first", has_effects=False)
        second = tool(lambda: True, name="second", has_effects=False)
        outcomes = run_all([pending(first, "1"), pending(second, "2")], threading.Event())
        assert next(outcomes).tool_call_id == "2"
        taken.set()
        assert next(outcomes).content == "true"

    def test_one_with_effects_runs_alone_and_in_its_place(self) -> None:
        lock, active, seen = threading.Lock(), [0], []

        def note(name: str) -> str:
            with lock:
                active[0] += 1
                seen.append((name, active[0]))
            threading.Event().wait(0.01)
            with lock:
                active[0] -= 1
            return name

        write = tool(note, name="write")
        look = tool(note, name="look", has_effects=False)
        order = [look, look, write, write, look, write]
        calls = [pending(t, str(i), f'{{"name": "{t.name}{i}"}}') for i, t in enumerate(order)]
        outcomes = [outcome.content for outcome in run_all(calls, threading.Event())]
        assert [name for name, _ in seen[2:]] == ["write2", "write3", "look4", "write5"]
        assert [count for _, count in seen[2:]] == [1, 1, 1, 1]
        assert outcomes[2:] == ["write2", "write3", "look4", "write5"]

    def test_what_one_records_is_known_to_the_next_and_each_is_told_before_it_begins(self) -> None:
        tasks: list[Task] = []
        log: list[str] = []

        def add(context: Context) -> str:
            task = Task(id=str(len(context.state.tasks) + 1), title="t")
            context.record(TasksSet(tasks=(*context.state.tasks, task)))
            log.append(f"runs {context.tool_call_id}")
            return f"{len(context.state.tasks)} before"

        def state() -> AgentState:
            return AgentState(tasks=tuple(tasks))

        calls = [Pending(tool(add), f"t{i}", "{}", state) for i in range(3)]
        said = []
        for outcome in run_all(
            calls, threading.Event(), lambda call: log.append(f"starts {call.call_id}")
        ):
            [event] = outcome.events
            assert isinstance(event, TasksSet)
            tasks[:] = event.tasks
            log.append(f"recorded {outcome.tool_call_id}")
            said.append(outcome.content)
        assert said == ["0 before", "1 before", "2 before"]
        assert log == [f"{what} t{i}" for i in range(3) for what in ("starts", "runs", "recorded")]

    def test_a_thousand_calls_have_a_thousand_outcomes_a_few_at_a_time(self) -> None:
        lock, active, most = threading.Lock(), [0], [0]

        def count() -> int:
            with lock:
                active[0] += 1
                most[0] = max(most[0], active[0])
            threading.Event().wait(0.001)
            with lock:
                active[0] -= 1
            return 1

        look = tool(count, has_effects=False)
        outcomes = list(run_all([pending(look, str(i)) for i in range(1_000)], threading.Event()))
        assert len({outcome.tool_call_id for outcome in outcomes}) == 1_000
        assert all(outcome.content == "1" for outcome in outcomes)
        assert most[0] <= AT_ONCE

    def test_what_starting_raises_ends_it_and_stops_what_runs(self) -> None:
        stopped, runs = threading.Event(), threading.Event()

        def waits(context: Context) -> None:
            runs.set()
            if context.cancelled.wait(60):
                stopped.set()

        def starting(call: Pending) -> None:
            if call.call_id == "2":
                assert runs.wait(60)
                raise InputRefused("another process was faster")

        look = tool(waits, has_effects=False)
        with pytest.raises(InputRefused, match="was faster"):
            list(run_all([pending(look, "1"), pending(look, "2")], threading.Event(), starting))
        assert stopped.wait(60)


class Striking:
    """Interrupts the main thread at the line number ``at`` that it runs of this part."""

    FILES = (running_module.__file__, attempt_module.__file__)

    def __init__(self) -> None:
        self.at = self.lines = 0

    def trace(self, frame: FrameType, event: str, arg: object) -> Any:
        file = frame.f_code.co_filename
        if file not in self.FILES:
            return None
        if event == "line" and linecache.getline(file, frame.f_lineno).strip() != "yield outcome":
            self.lines += 1
            if self.lines == self.at:
                raise KeyboardInterrupt
        return self.trace


def stops(context: Context) -> str:
    """Interrupts the main thread, and ends when it is told to."""
    signal.raise_signal(signal.SIGINT)
    assert context.cancelled.wait(60)
    raise ToolFailed("told to stop")


class TestInterrupted:
    """Ctrl-C in a tool: every call of the answer has a result, and nothing runs on unnoticed."""

    def test_it_is_no_exception_and_the_rest_is_not_run(self) -> None:
        cancelled = threading.Event()
        ran = []
        calls = [pending(tool(stops), "1"), pending(tool(lambda: ran.append(1), name="no"), "2")]
        first, second = run_all(calls, cancelled)
        assert (first.content, first.is_error, first.is_interrupted) == ("told to stop", True, True)
        assert (second.content, second.is_error, second.is_interrupted) == (NOT_BEGUN, True, True)
        assert cancelled.is_set()
        assert not ran

    def test_what_does_not_listen_is_left_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(running_module, "GRACE", 0.1)
        over = threading.Event()

        def deaf() -> None:
            signal.raise_signal(signal.SIGINT)
            over.wait(60)

        outcome = once(deaf)
        over.set()
        assert (outcome.content, outcome.is_interrupted) == (INTERRUPTED, True)

    def test_a_second_time_nothing_is_waited_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(running_module, "GRACE", 600.0)
        over = threading.Event()

        def deaf(context: Context) -> None:
            signal.raise_signal(signal.SIGINT)
            context.cancelled.wait(60)
            signal.raise_signal(signal.SIGINT)
            over.wait(60)

        outcome = once(deaf)
        over.set()
        assert (outcome.content, outcome.is_interrupted) == (INTERRUPTED, True)

    def test_a_coroutine_is_interrupted(self) -> None:
        async def waits() -> None:
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(600)

        outcome = once(waits)
        assert (outcome.content, outcome.is_interrupted) == (INTERRUPTED, True)

    def test_what_comes_to_its_end_all_the_same_counts(self) -> None:
        def finishes(context: Context) -> str:
            signal.raise_signal(signal.SIGINT)
            context.cancelled.wait(60)
            return "finished"

        outcome = once(finishes)
        assert (outcome.content, outcome.is_error) == ("finished", False)
        assert not outcome.is_interrupted

    def test_who_is_interrupted_between_two_outcomes_goes_on_asking(self) -> None:
        cancelled = threading.Event()
        look = tool(lambda: 1, name="look")
        outcomes = run_all([pending(look, str(i)) for i in range(3)], cancelled)
        assert next(outcomes).content == "1"
        cancelled.set()
        assert [outcome.content for outcome in outcomes] == [NOT_BEGUN, NOT_BEGUN]

    def test_it_can_strike_anywhere_and_no_outcome_comes_twice(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """At every line in turn that the main thread runs here, but the one that gives an outcome:
        between the mark in front of it and itself, Python looks at no signals. Where it is raised
        all the same, that is before the first call began or behind the last outcome."""
        monkeypatch.setattr(running_module, "GRACE", 0.02)

        def note(context: Context) -> int:
            context.record(NOTE)
            return 1

        tools = [tool(note, name=f"t{i}", has_effects=i > 1) for i in range(4)]
        calls = [pending(each, str(i)) for i, each in enumerate(tools)]
        struck = Striking()
        while struck.at <= struck.lines:
            struck.at, struck.lines = struck.at + 1, 0
            given: list[ToolOutcome] = []
            outcomes = run_all(calls, threading.Event())
            escaped = False
            sys.settrace(struck.trace)
            try:
                for outcome in outcomes:
                    given.append(outcome)
            except KeyboardInterrupt:
                escaped = True
            finally:
                sys.settrace(None)
            ids = [outcome.tool_call_id for outcome in given]
            assert len(ids) == len(set(ids))
            assert sorted(ids) == ["0", "1", "2", "3"] or (escaped and not ids)
            assert all(outcome.events == (NOTE,) for outcome in given if not outcome.is_error)
        assert struck.at > 100
