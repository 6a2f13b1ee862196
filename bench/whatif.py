"""What-ifs and comparisons: ten strategies without a model, on 1,000 and on 10,000 messages.

The session is a synthetic one of tool calls: a human turn, then rounds of one to three calls with
their results. Reading the recording from the log is not part of it; it is done once for all
strategies. As in the command, what was read is out of the garbage collector's sight.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.harness import Row, folder, messages
from eventlog import StreamKey
from eventlog.events import Event, MessageAppended, ModelCalled, ModelResponded, ToolResultRecorded
from projections import open_log
from projections.compare import compare
from projections.recording import Recording, recording
from projections.strategies import parse
from projections.tokens import counter
from projections.whatif import Runner

KEY = StreamKey("bench", "agent", "session")
SPECS = (
    *("none", "truncate:turns=20", "cut:limit=2000", "clear:keep=3", "window:tokens=50000"),
    *("budget", "prune", "dedup", "mask:n=10,polling=5", "protect"),
)


def run(rounds: int) -> list[Row]:
    rows: list[Row] = []
    seconds: dict[int, float] = {}
    with folder() as place:
        for count, aim in ((1_000, 0.25), (10_000, 2.5)):
            session(place / f"{count}.db", count)
            recorded = _recorded(place / f"{count}.db")
            gc.collect()
            gc.freeze()
            alone = _median(partial(_whatifs, recorded), min(rounds, 9))
            whole = _median(partial(compare, [recorded], SPECS, counter()), min(rounds, 5))
            seconds[count] = alone
            name = f"{len(SPECS)} what-ifs, {count:,} messages"
            rows.append(Row(name, alone, "s", aim=aim))
            row = Row(f"compare, {count:,} messages", whole, "s", alone, "what-ifs")
            rows.append(row._replace(ratio=whole / alone, aim=4))
    growth = seconds[10_000] / seconds[1_000]
    rows.append(Row("what-ifs, growth for ten times the messages", growth, "x", aim=13))
    return rows


def _whatifs(session: Recording) -> None:
    for spec in SPECS:
        Runner(session, parse(spec), counter()).run()


def _median(work: Callable[[], object], rounds: int) -> float:
    spent = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        spent.append(time.perf_counter() - began)
    return statistics.median(spent)


def session(path: Path, count: int, *, whole: bool = False) -> None:
    """A log with one session of so many messages; ``whole``: no text is cut."""
    most, least = (None, None) if whole else (2000, 300)
    choose = random.Random(7)
    texts = [message["content"][:most] for message in messages(500)]
    made: list[Event] = []
    written = number = 0
    while written < count:
        made.append(_said("user", choose.choice(texts)))
        written += 1
        for _ in range(choose.randint(2, 8)):
            made.append(ModelCalled(model="m", dialect="openai_chat"))
            at = len(made)
            names = [f"call_{number + n}" for n in range(choose.randint(1, 3))]
            number += len(names)
            calls = [
                {"id": n, "type": "function", "function": {"name": "run", "arguments": "{}"}}
                for n in names
            ]
            message = {"role": "assistant", "content": choose.choice(texts)[:least]}
            message["tool_calls"] = calls  # type: ignore[assignment]
            made.append(
                MessageAppended(dialect="openai_chat", source="model", call=at, message=message)
            )
            made.append(ModelResponded(call=at))
            for name in names:
                made.append(
                    ToolResultRecorded(
                        tool_call_id=name,
                        name="run",
                        dialect="openai_chat",
                        content=choose.choice(texts),
                    )
                )
            written += 1 + len(names)
    with open_log(path, durability="normal") as live:
        for start in range(0, len(made), 1000):
            live.append(KEY, *made[start : start + 1000])


def _recorded(path: Path) -> Recording:
    with open_log(path) as live:
        return recording(live.log.read(KEY), counter())


def _said(role: str, text: str) -> MessageAppended:
    return MessageAppended(
        dialect="openai_chat", source="human", message={"role": role, "content": text}
    )
