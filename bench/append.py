"""Appends against a plain insert of the same JSON at the same settings, and bytes on disk.

The limit is a table of an integer key and a text, WAL, the same ``synchronous``: what a program
that only wants to keep its messages would write. It has no ids, no chain, no triggers, no unique
keys. Both start from a dict: making the event, with its check, is part of ours. A round is the
median of its operations, since a single slow flush of the disk would be the whole mean.
"""

from __future__ import annotations

import json
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import cycle
from pathlib import Path
from typing import Any

from bench.harness import Row, compared, folder, interleaved, messages
from eventlog import EventLog, StreamKey
from eventlog.connection import Durability
from eventlog.events import MessageAppended

KEY = StreamKey("bench", "agent", "session")
Payload = dict[str, Any]


def run(rounds: int) -> list[Row]:
    payloads = [
        {"dialect": "openai_chat", "source": "human", "message": message}
        for message in messages(3000)
    ]
    return [
        _row("append 1, synchronous=full", payloads, rounds, "full", 1, 100, aim=1.15),
        _row("append 1, synchronous=normal", payloads, rounds, "normal", 1, 300, aim=4),
        _row("append 100, synchronous=full", payloads, rounds, "full", 100, 10, aim=2.5),
        _row("append 100, synchronous=normal", payloads, rounds, "normal", 100, 10, aim=2.5),
        _disk(payloads),
    ]


def _raw(path: Path, durability: Durability) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("pragma journal_mode=wal").fetchone()
    connection.execute(f"pragma synchronous={durability}")
    connection.execute("create table messages (id integer primary key, payload text not null)")
    return connection


def _insert(connection: sqlite3.Connection, batch: list[Payload]) -> None:
    statement = "insert into messages (payload) values (?)"
    if len(batch) == 1:
        connection.execute(statement, (json.dumps(batch[0]),))
        return
    connection.execute("begin immediate")
    connection.executemany(statement, [(json.dumps(payload),) for payload in batch])
    connection.execute("commit")


def _row(
    name: str,
    payloads: list[Payload],
    rounds: int,
    durability: Durability,
    batch: int,
    repeat: int,
    aim: float | None = None,
) -> Row:
    with (
        folder() as place,
        EventLog(place / "log.db", durability=durability) as log,
        closing(_raw(place / "raw.db", durability)) as raw,
    ):

        def timed(append: Callable[[list[Payload]], object]) -> Callable[[], float]:
            source: Iterator[Payload] = cycle(payloads)

            def case() -> float:
                spent = []
                for _ in range(repeat):
                    chosen = [next(source) for _ in range(batch)]
                    spent.append(_time(append, chosen))
                return statistics.median(spent)

            return case

        def ours(chosen: list[Payload]) -> None:
            log.append(KEY, *[MessageAppended(**payload) for payload in chosen])

        cases = {"ctxlog": timed(ours), "raw sqlite3": timed(lambda b: _insert(raw, b))}
        times = interleaved(cases, rounds)
    return compared(name, times, per=batch, aim=aim)


def _time(work: Callable[[list[Payload]], object], chosen: list[Payload]) -> float:
    began = time.perf_counter()
    work(chosen)
    return time.perf_counter() - began


def _disk(payloads: list[Payload]) -> Row:
    size = sum(len(json.dumps(payload, ensure_ascii=False).encode()) for payload in payloads)
    with folder() as place:
        with EventLog(place / "log.db", durability="normal") as log:
            for payload in payloads:
                log.append(KEY, MessageAppended(**payload))
        with closing(_raw(place / "raw.db", "normal")) as raw:
            for payload in payloads:
                _insert(raw, [payload])
        ours, base = ((place / name).stat().st_size for name in ("log.db", "raw.db"))
    return Row("bytes on disk for each byte of JSON", ours / size, "B", base / size, "raw sqlite3")
