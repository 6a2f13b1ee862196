"""Contexts: read, kept up to date by an append, and rebuilt at any call.

The limit of a read is the same rows, selected and decoded with ``json.loads``; of a whole session
the same with orjson. A window of 200 items is kept by compactions without messages, and the log
behind it grows a thousandfold: what an append and the context after it cost must not.
"""

from __future__ import annotations

import gc
import json
import sqlite3
import statistics
import time
from contextlib import closing
from pathlib import Path

import orjson

from bench.harness import Row, compared, folder, interleaved, messages
from eventlog import StreamKey
from eventlog.events import ContextCompacted, Event, MessageAppended, ModelCalled
from projections import Live, open_log

KEY = StreamKey("bench", "agent", "session")
WINDOW = 200
SHORT = [{"role": m["role"], "content": m["content"][:300]} for m in messages(1000, seed=2)]
MIXED = messages(1000, seed=3)


def run(rounds: int) -> list[Row]:
    rows = []
    with folder() as place:
        rows += _growth(place, rounds)
        with _windowed(place / "hundred.db", 100_000, MIXED) as live:
            rows.append(_read(live, rounds))
            rows.append(_at_a_call(live, rounds))
            rows.append(_whole(live, rounds))
        with open_log(place / "plain.db", durability="normal") as live:
            for start in range(0, 100_000, 1000):
                texts = (MIXED[(start + n) % len(MIXED)] for n in range(1000))
                live.append(KEY, *map(_said, texts))
            rows.append(_all_messages(live, rounds))
    return rows


def _said(message: dict[str, str]) -> MessageAppended:
    return MessageAppended(dialect="openai_chat", source="human", message=message)


def _windowed(path: Path, count: int, texts: list[dict[str, str]]) -> Live:
    """A log of ``count`` events in which every 200 items fold away, with a call in every ten."""
    live = open_log(path, durability="normal")
    written = 0
    while written < count:
        batch: list[Event] = []
        for number in range(min(1000, count - written)):
            if number % 10 == 9:
                batch.append(ModelCalled(model="m", dialect="openai_chat"))
            else:
                batch.append(_said(texts[(written + number) % len(texts)]))
        live.append(KEY, *batch)
        written += len(batch)
        _fold(live)
    return live


def _fold(live: Live) -> None:
    items = list(live.view(KEY).items)
    if len(items) > WINDOW:
        live.append(KEY, ContextCompacted(covered=(f"{items[0]}-{items[-WINDOW - 1]}",)))


def _growth(place: Path, rounds: int) -> list[Row]:
    """Append one message and take the whole context, in logs of very different lengths."""
    counts = {"1k": 1_000, "100k": 100_000, "1M": 1_000_000}
    logs = {name: _windowed(place / f"{name}.db", count, SHORT) for name, count in counts.items()}

    def turn(live: Live) -> float:
        spent = []
        for number in range(60):
            event = _said(SHORT[number])
            began = time.perf_counter()
            live.append(KEY, event)
            live.messages(KEY)
            spent.append(time.perf_counter() - began)
        _fold(live)
        return statistics.median(spent)

    times = interleaved({name: lambda live=live: turn(live) for name, live in logs.items()}, rounds)
    for live in logs.values():
        live.close()
    return [
        compared(
            f"append and context of 200 items, {name} events", times, ours=name, base="1k", aim=1.2
        )
        for name in ("100k", "1M")
    ]


def _rows_of(live: Live, positions: list[int]) -> list[object]:
    marks = ",".join("?" * len(positions))
    rows = live.log.query(
        f"select payload from events where stream = 1 and position in ({marks})", positions
    ).fetchall()
    return [json.loads(row[0])["message"] for row in rows]


def _read(live: Live, rounds: int) -> Row:
    positions = [int(label) for label in live.view(KEY).labels()]
    cases = {
        "ctxlog": lambda: _median(lambda: live.messages(KEY)),
        "same rows": lambda: _median(lambda: _rows_of(live, positions)),
    }
    times = interleaved(cases, rounds)
    return compared("context of 200 items, read", times, base="same rows", aim=1.3)


def _at_a_call(live: Live, rounds: int) -> Row:
    """The context at calls all over a stream of 100,000 events."""
    places = [live.position(KEY, "c", number) for number in range(500, 9500, 900)]
    wanted = {at: [int(label) for label in live.view(KEY, at).labels()] for at in places}
    cases = {
        "ctxlog": lambda: _each([lambda at=at: live.messages(KEY, at) for at in places]),
        "same rows": lambda: _each([lambda at=at: _rows_of(live, wanted[at]) for at in places]),
    }
    times = interleaved(cases, rounds)
    return compared(
        "context at a call in 100k events", times, base="same rows", per=len(places), aim=2
    )


def _whole(live: Live, rounds: int) -> Row:
    """Every event of the session, decoded."""

    def ours() -> None:
        gc.collect()
        assert sum(1 for event in live.log.read(KEY) if event.data) > 100_000

    def base() -> None:
        gc.collect()
        with closing(sqlite3.connect(live.log.path)) as db:
            rows = db.execute("select payload from events where stream = 1 order by position")
            assert sum(1 for row in rows if orjson.loads(row[0])) > 100_000

    times = interleaved({"ctxlog": ours, "select + orjson": base}, rounds)
    name = "every event of 100k, with its place"
    return compared(name, times, base="select + orjson", aim=1.5)


def _all_messages(live: Live, rounds: int) -> Row:
    """The messages of a session that was never compacted: what a process that starts loads."""

    def ours() -> None:
        gc.collect()
        assert len(live.messages(KEY)) == 100_000

    def base() -> None:
        gc.collect()
        with closing(sqlite3.connect(live.log.path)) as db:
            rows = db.execute("select payload from events where stream = 1 order by position")
            assert len([orjson.loads(row[0])["message"] for row in rows]) == 100_000

    times = interleaved({"ctxlog": ours, "select + orjson": base}, rounds)
    return compared("messages of a session of 100k", times, base="select + orjson", aim=1.5)


def _median(work: object) -> float:
    spent = []
    for _ in range(20):
        began = time.perf_counter()
        work()  # type: ignore[operator]
        spent.append(time.perf_counter() - began)
    return statistics.median(spent)


def _each(works: list[object]) -> float:
    began = time.perf_counter()
    for work in works:
        work()  # type: ignore[operator]
    return time.perf_counter() - began
