"""The audit of 1,000 and of 10,000 calls, by all rules: how it grows, and what memory it takes.

The session is one of tool calls with everything that an audit looks at: a human turn in ten calls,
results that are cleared in passes, a compaction in a hundred calls with a summary that keeps some
ids, ids that later calls use again, a bill for each call, a rewind in fifty. In ``folded`` no
request was recorded, as in imported sessions; in ``recorded`` each one was, with its digest. One
in which each of 4,000 steps begins with a rule of its own. And a log of a thousand sessions of
eight calls.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.harness import Row, folder, messages
from eventlog import StreamKey
from eventlog.events import (
    ContextCompacted,
    Event,
    MessageAppended,
    ModelCalled,
    ModelResponded,
    NewMessage,
    PlaceholderSubstituted,
    SessionRewound,
    ToolResultRecorded,
)
from eventlog.jsonvalue import Json
from eventlog.values import Usage
from harness.recording.bodies import Bodies
from projections import open_log
from projections.audit.auditing import audit
from projections.followed import Asked, Followed

KEY = StreamKey("bench", "agent", "audited")

_CHILD = """
import gc, json, sys, tracemalloc
from bench.audit import KEY
from projections import open_log
from projections.audit.auditing import audit
from projections.recording import recording
from projections.tokens import counter

with open_log(sys.argv[2]) as live:  # once before it counts: what is loaded late, and kept
    audit(live, KEY)
with open_log(sys.argv[1]) as live:
    session = recording(live.log.read(KEY), counter())
    items = [step.item for step in session.steps if step.item is not None]
    text = sum(len(item.text.encode()) for item in items)
    del session, items
    gc.collect()
    tracemalloc.start()
    started = tracemalloc.get_traced_memory()[0]
    audit(live, KEY)
    peak = tracemalloc.get_traced_memory()[1] - started
print(json.dumps([text, peak]))
"""


def run(rounds: int) -> list[Row]:
    rows: list[Row] = []
    with folder() as place:
        for kind, aim in (("folded", 15.0), ("recorded", 12.0)):
            seconds: dict[int, float] = {}
            for calls in (1_000, 10_000):
                path = place / f"{kind}-{calls}.db"
                session(path, calls, recorded=kind == "recorded")
                seconds[calls] = _seconds(path, min(rounds, 3))
            rows.append(Row(f"audit, 10,000 {kind} calls", seconds[10_000], "s", aim=aim))
            growth = seconds[10_000] / seconds[1_000]
            rows.append(Row(f"audit, growth for ten times the {kind} calls", growth, "x", aim=13))
        cleared: dict[int, float] = {}
        for calls in (1_000, 10_000):
            path = place / f"cleared-{calls}.db"
            _cleared(path, calls)
            cleared[calls] = _seconds(path, 1)
        what = "calls that each clear a result"
        rows.append(Row(f"audit, 10,000 {what}", cleared[10_000], "s", aim=25))
        growth = cleared[10_000] / cleared[1_000]
        rows.append(Row(f"audit, growth for ten times the {what}", growth, "x", aim=13))
        ruled: dict[int, float] = {}
        for steps in (1_000, 4_000):
            path = place / f"ruled-{steps}.db"
            _ruled(path, steps)
            ruled[steps] = _seconds(path, 1)
        rows.append(Row("audit, 4,000 rules and actions", ruled[4_000], "s", aim=25))
        growth = ruled[4_000] / ruled[1_000]
        rows.append(Row("audit, growth for four times the rules and actions", growth, "x", aim=5.5))
        spent = {count: _many(place / f"many-{count}.db", count) for count in (100, 1_000)}
        rows.append(Row("audit of 1,000 small sessions", spent[1_000], "s", aim=10))
        growth = spent[1_000] / spent[100]
        rows.append(Row("audit, growth for ten times the sessions", growth, "x", aim=13))
        text, peak = _memory(place / "folded-10000.db", place / "folded-1000.db")
        row = Row("peak memory of an audit, 10,000 calls", peak / 1e6, "MB", text / 1e6, "text")
        rows.append(row._replace(aim=180))
    return rows


def _seconds(path: Path, rounds: int) -> float:
    spent = []
    for _ in range(rounds):
        with open_log(path) as live:
            began = time.process_time()  # what it computes: it waits for nothing
            audit(live, KEY)
            spent.append(time.process_time() - began)
    return statistics.median(spent)


def _many(path: Path, sessions: int) -> float:
    """All sessions of a log, each of eight calls and a compaction."""
    with open_log(path, durability="normal") as live:
        for number in range(sessions):
            made = _Made(800)
            for call in range(7):
                made.call(call)
            made.compact(7)
            made.call(7)
            live.append(StreamKey("bench", "agent", f"s{number:05}"), *made.taken())
    with open_log(path) as live:
        began = time.process_time()
        for info in live.log.streams():
            audit(live, info.key)
        return time.process_time() - began


def _memory(path: Path, first: Path) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(path), str(first)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    text, peak = json.loads(done.stdout)
    return text, peak


def session(path: Path, calls: int, *, recorded: bool, size: int = 3_000) -> None:
    """A log with one session of so many calls; no text is longer than ``size``."""
    made = _Made(size)
    with open_log(path, durability="normal") as live:
        if recorded:
            _recorded(live, made, calls)
            return
        for number in range(calls):
            made.call(number)
            if len(made.events) > 2_000:
                live.append(KEY, *made.taken())
        live.append(KEY, *made.taken())


def _recorded(live: Any, made: _Made, calls: int) -> None:
    """The same as requests of a client, each with a manifest and a digest."""
    followed, bodies = Followed(live, KEY), Bodies("openai_chat")
    context: list[dict[str, Any]] = [{"role": "system", "content": "Use httpie, not curl."}]
    for number in range(calls):
        if number % 10 == 0:
            context.append({"role": "user", "content": made.text(f"ORD-{number:05}")})
        if number % 100 == 99:
            kept = f"So far: ORD-{number - 9:05}, and {number} calls."
            context = [context[0], {"role": "user", "content": kept}]
        body = bodies.read(json.dumps({"model": "m", "messages": context}).encode())
        followed.catch_up()
        plan = followed.plan(
            Asked(
                "openai_chat", body.fields, body.messages, body.raw, body.kept, body.same, body.end
            )
        )
        live.append(KEY, *plan.drafts, expected_version=plan.version)
        followed.appended(plan)
        bodies.take(body)
        answer = {"role": "assistant", "content": f"I look at ORD-{number // 3:05}."}
        said = MessageAppended(
            dialect="openai_chat", source="model", call=plan.position, message=answer
        )
        live.append(KEY, said, ModelResponded(call=plan.position, usage=Usage(input=9_000)))
        context.append(answer)


def _cleared(path: Path, calls: int) -> None:
    """Each call clears the result of the third before it, and nothing is ever compacted."""
    made = _Made(3_000)
    results: list[int] = []
    with open_log(path, durability="normal") as live:
        for number in range(calls):
            at = made.add(ModelCalled(model="m", dialect="openai_chat"))
            name = f"call_{number}"
            made.add(_said("assistant", "", at, name, f"cat src/app{number - 5}/main.py"))
            printed = made.text(f"src/app{number}/main.py ORD-{number:05}")
            result = ToolResultRecorded(
                tool_call_id=name, name="bash", dialect="openai_chat", content=printed
            )
            results.append(made.add(result))
            if number >= 3:
                item = str(results[number - 3])
                made.add(PlaceholderSubstituted(item=item, content="[cleared]", inferred=True))
            if len(made.events) > 2_000:
                live.append(KEY, *made.taken())
        live.append(KEY, *made.taken())


def _ruled(path: Path, steps: int) -> None:
    """Steps of a rule, a command, what it printed and an answer; compacted every 500."""
    made = _Made(3_000)
    with open_log(path, durability="normal") as live:
        for step in range(steps):
            made.add(_said("user", f"do step {step} on src/f{step}.py, never touch db/{step}.sql"))
            made.act(f"t{step}", f"cat src/f{step}.py")
            made.answer(f"Done with step {step}.")
            if step % 500 == 499:
                made.compact(step)
            if len(made.events) > 2_000:
                live.append(KEY, *made.taken())
        live.append(KEY, *made.taken())


def _said(
    role: str, text: str, call: int | None = None, tool: str = "", command: str = ""
) -> Event:
    message: dict[str, Any] = {"role": role, "content": text}
    if tool:
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        message["tool_calls"] = [{"id": tool, "type": "function", "function": function}]
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    return MessageAppended.model_validate(
        {"dialect": "openai_chat", "source": source, "call": call, "message": message}
    )


class _Made:
    """Events in the making, with the positions that they will have."""

    def __init__(self, size: int) -> None:
        self.events: list[Event] = []
        self._choose = random.Random(11)
        self._texts = [message["content"][:size] for message in messages(400)]
        self._at = 0
        self._live: list[int] = []
        """Items that stand, the system prompt not among them."""
        self._results: list[int] = []
        """Of those, results that were not cleared."""
        self.add(_said("system", "You mend refunds. Use httpie, not curl."))
        self._live = []

    def text(self, literal: str) -> str:
        return f"{literal} {self._choose.choice(self._texts)}"

    def taken(self) -> list[Event]:
        events, self.events = self.events, []
        return events

    def add(self, event: Event) -> int:
        self.events.append(event)
        self._at += 1
        if isinstance(event, MessageAppended | ToolResultRecorded):
            self._live.append(self._at)
        return self._at

    def answer(self, text: str) -> None:
        """A call that is answered in words."""
        at = self.add(ModelCalled(model="m", dialect="openai_chat"))
        self.add(_said("assistant", text, at))

    def act(self, name: str, command: str) -> None:
        """A call that runs a command, and what it printed."""
        at = self.add(ModelCalled(model="m", dialect="openai_chat"))
        self.add(_said("assistant", "", at, name, command))
        printed = self.text(name)
        self.add(
            ToolResultRecorded(
                tool_call_id=name, name="bash", dialect="openai_chat", content=printed
            )
        )

    def call(self, number: int) -> None:
        if number % 10 == 0:
            self.add(_said("user", self.text(f"ORD-{number:05}")))
        at = self.add(ModelCalled(model="m", dialect="openai_chat"))
        name = f"call_{number}"
        again = f"ORD-{self._choose.randrange(number + 1) // 10 * 10:05}"
        self.add(_said("assistant", f"I look at {again}.", at, name, f"http :8123/{name}"))
        self.add(ModelResponded(call=at, usage=Usage(input=500 * len(self._live), output=40)))
        result = ToolResultRecorded(
            tool_call_id=name,
            name="bash",
            dialect="openai_chat",
            content=self.text(f"src/app{number}/main.py"),
        )
        self._results.append(self.add(result))
        if number % 50 == 49:
            self.add(_said("user", "a slip"))
            self._live.pop()
            self.add(SessionRewound(to=self._at - 1))
        if number % 20 == 19:
            for item in self._results[:-3]:
                self.add(PlaceholderSubstituted(item=str(item), content="[cleared]", reason="old"))
            self._results = self._results[-3:]
        if number % 100 == 99:
            self.compact(number)

    def compact(self, number: int) -> None:
        summary = {"role": "user", "content": f"So far: ORD-{number - 9:05} and {number} calls."}
        new = NewMessage(dialect="openai_chat", message=Json(summary), label="summary")
        covered = tuple(map(str, self._live))
        self.add(ContextCompacted(covered=covered, messages=(new,), trigger="auto"))
        self._live, self._results = [], []
