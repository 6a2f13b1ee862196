"""A client that is recorded: what it waits for, and what a session takes on disk.

Time is that of the recorder alone, for one turn (a request with an answer and a result more than
the last one): before the request goes out, which ends with one flush to disk, and after the answer.
The flush is the disk's, so it is also measured without, and beside one commit of the same bytes to
a table of a plain file.

Space is of a session whose calls each bring an answer with a call and its result. At every tenth
call the older results are cleared, at the middle everything but the last turns is replaced by a
summary. Beside it stands the JSON of every request. An empty log has a size of its own, most of it
the text of the views that plain SQL reads.
"""

from __future__ import annotations

import json
import sqlite3
import statistics
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from bench.harness import Row, folder, messages
from harness.exchange.outcomes import outcome_of
from harness.recording import Recorder
from projections import open_log

TURNS = 60


def run(rounds: int) -> list[Row]:
    rows: list[Row] = []
    turns = max(TURNS, 6 * rounds)
    for history, aim in ((1_000, 1.0), (10_000, 3.0)):
        rows += _overhead(history, turns, aim, flushed=False)
        rows += _overhead(history, turns, None, flushed=True)
    for calls in (50, 100, 200, 300):
        rows += _space(calls)
    for how in list(ECHOES)[1:]:
        rows += _space(100, how)[2:3]
    return rows


def answer(number: int, text: str) -> dict[str, Any]:
    """A completion as an API returns it."""
    call = {"name": "run", "arguments": json.dumps({"command": text[:60]})}
    said = {
        "role": "assistant",
        "content": text,
        "refusal": None,
        "annotations": [],
        "tool_calls": [{"id": f"call_{number}", "type": "function", "function": call}],
    }
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": number,
        "model": "m-2026",
        "choices": [{"index": 0, "message": said, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050},
    }


def body(context: list[dict[str, Any]]) -> bytes:
    """A request as a client writes it."""
    whole = {"messages": context, "model": "m", "tools": TOOLS}
    return json.dumps(whole, separators=(",", ":"), ensure_ascii=False).encode()


TOOLS = [
    {"type": "function", "function": {"name": f"tool_{n}", "parameters": {"type": "object"}}}
    for n in range(12)
]


# -- time -----------------------------------------------------------------------------------------


def _overhead(size: int, turns: int, aim: float | None, *, flushed: bool) -> list[Row]:
    context = history(size)
    texts = messages(2 * turns, seed=7)
    before: list[float] = []
    after: list[float] = []
    commits: list[float] = []
    with folder() as place, closing(_raw(place / "raw.db")) as raw:
        recorder = Recorder(place / "log.db", session="bench")
        if not flushed:
            log = recorder.live.log
            log.append = partial(log.append, durable=False)  # type: ignore[method-assign]
        for number in range(turns):
            sent = body(context)
            began = time.perf_counter()
            call = recorder.begin("openai_chat", sent)
            before.append(time.perf_counter() - began)
            given = answer(number, str(texts[2 * number]["content"]))
            outcome = outcome_of("openai_chat", given, 200)
            began = time.perf_counter()
            call.ended(outcome)
            after.append(time.perf_counter() - began)
            said = given["choices"][0]["message"]
            result = str(texts[2 * number + 1]["content"])
            context += [said, {"role": "tool", "tool_call_id": f"call_{number}", "content": result}]
            began = time.perf_counter()
            raw.execute("insert into t (payload) values (?)", (result + json.dumps(said),))
            commits.append(time.perf_counter() - began)
        assert not recorder.missed
        recorder.close()
    name = f"a call after {size:,} messages"
    kind = "" if flushed else ", without the flush"
    rows = []
    for what, times in (("before it goes out", before[1:]), ("after its answer", after[1:])):
        rows.append(Row(f"{name}: {what}{kind}", statistics.median(times) * 1e3, "ms", aim=aim))
        rows.append(Row(f"{name}: {what}{kind}, p99", _p99(times) * 1e3, "ms"))
    if flushed:
        rows.append(Row(f"{name}: one commit alone", statistics.median(commits) * 1e3, "ms"))
    return rows


def _p99(times: list[float]) -> float:
    return sorted(times)[min(len(times) - 1, round(0.99 * len(times)))]


def _raw(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("pragma journal_mode=wal").fetchone()
    connection.execute("pragma synchronous=full")
    connection.execute("create table t (id integer primary key, payload text not null)")
    return connection


def history(count: int) -> list[dict[str, Any]]:
    """Messages that a provider takes: each result behind its call."""
    found: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    for number, made in enumerate(messages(count - 1)):
        role = ("assistant", "user")[number % 2]
        found.append({"role": role, "content": made["content"]})
    return found


# -- space ----------------------------------------------------------------------------------------


ECHOES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "as it came": lambda said: said,
    "as model_dump() gives it": lambda said: {
        **said, "audio": None, "function_call": None,
        "tool_calls": [{**call, "index": n} for n, call in enumerate(said["tool_calls"])],
    },
    "without what is null": lambda said: {k: v for k, v in said.items() if v is not None},
    "as the agent's own": lambda said: {k: said[k] for k in ("role", "content", "tool_calls")},
}  # fmt: skip
"""How clients send an answer back."""


def _space(calls: int, how: str = "as it came") -> list[Row]:
    context = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Fix it."}]
    texts = messages(2 * calls, seed=3)
    fresh = whole = len(body(context))
    with folder() as place:
        recorder = Recorder(place / "log.db", session="bench")
        empty = place / "empty.db"
        open_log(empty).close()
        empty_size = empty.stat().st_size
        for number in range(calls):
            sent = body(context)
            whole += len(sent)
            call = recorder.begin("openai_chat", sent)
            given = answer(number, str(texts[2 * number]["content"]))
            call.ended(outcome_of("openai_chat", given, 200))
            said = given["choices"][0]["message"]
            result = str(texts[2 * number + 1]["content"])
            new = [said, {"role": "tool", "tool_call_id": f"call_{number}", "content": result}]
            fresh += len(json.dumps(new, ensure_ascii=False).encode())
            context = [*context, ECHOES[how](new[0]), new[1]]
            if number % 10 == 9:
                context = [*map(_cleared, context[:-6]), *context[-6:]]
            if number == calls // 2:
                said = {"role": "user", "content": "So far: " + "it was fixed here. " * 80}
                fresh += len(json.dumps(said).encode())
                context = [context[0], said, *context[-6:]]
        assert not recorder.missed
        recorder.close()
        with closing(sqlite3.connect(place / "log.db")) as found:
            found.execute("pragma wal_checkpoint(truncate)")
            found.execute("vacuum")
            used = (place / "log.db").stat().st_size
            manifests = found.execute(
                "select sum(length(payload -> '$.manifest')"
                " + coalesce(length(payload -> '$.forms'), 0))"
                " from events where type = 'model_called'"
            ).fetchone()[0]
            beside = found.execute(
                "select sum(length(payload)) from events"
                " where type in ('model_called', 'model_responded')"
            ).fetchone()[0]
    name = f"{calls} calls, a clearing at every tenth, one compaction"
    if how != "as it came":
        name = f"{name}, answers sent back {how}"
    return [
        Row(f"{name}: on disk per byte that is new", used / fresh, "x", aim=1.65),
        Row(f"{name}: the same, beyond an empty log", (used - empty_size) / fresh, "x"),
        Row(f"{name}: manifests and forms per byte that is new", manifests / fresh, "x", aim=0.01),
        Row(f"{name}: a call besides messages", beside / calls, "bytes", aim=1024),
        Row(f"{name}: every request as JSON", whole / fresh, "x"),
    ]


def _cleared(message: dict[str, Any]) -> dict[str, Any]:
    if message["role"] != "tool":
        return message
    return {**message, "content": "[cleared]"}
