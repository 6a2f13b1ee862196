"""What every measurement shares: interleaved rounds, medians, one table.

A module of this folder with ``run(rounds: int) -> list[Row]`` is a measurement. What is compared is
timed in the same round, one after the other, so that a slow moment of the machine hits both; the
ratio is the median over the rounds of each round's own ratio, and the absolute numbers are medians.
"""

from __future__ import annotations

import os
import platform
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

MIN_ROUNDS = 9


class Row(NamedTuple):
    """One line of the table."""

    name: str
    value: float
    unit: str = "µs"
    base: float | None = None
    """The same work without us, in the same unit."""
    against: str = ""
    ratio: float | None = None
    aim: float | None = None
    """The ratio, or without one the value, that it should not be over."""

    @property
    def reached(self) -> bool | None:
        """Whether the aim is reached; None without one."""
        if self.aim is None:
            return None
        return (self.value if self.ratio is None else self.ratio) <= self.aim


def interleaved(
    cases: Mapping[str, Callable[[], float | None]], rounds: int
) -> dict[str, list[float]]:
    """Seconds of each case in each round, after one round that is not counted.

    A case that returns a number has timed itself; otherwise the whole call is taken.
    """
    times: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            began = time.perf_counter()
            own = case()
            spent = time.perf_counter() - began if own is None else own
            if number:
                times[name].append(spent)
    return times


def compared(
    name: str,
    times: Mapping[str, list[float]],
    *,
    ours: str = "ctxlog",
    base: str = "raw sqlite3",
    per: int = 1,
    aim: float | None = None,
) -> Row:
    """The row of a comparison, for one of ``per`` operations that each time holds."""
    ratios = [a / b for a, b in zip(times[ours], times[base], strict=True)]
    return Row(
        name,
        statistics.median(times[ours]) / per * 1e6,
        "µs",
        statistics.median(times[base]) / per * 1e6,
        base,
        statistics.median(ratios),
        aim,
    )


@contextmanager
def folder() -> Iterator[Path]:
    """An empty folder on the disk of this checkout: a temporary one may lie in memory."""
    place = Path(__file__).parents[1] / ".benchmarks"
    place.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as name:
        yield Path(name)


def messages(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Chat messages of realistic sizes: log-normal, median 700 bytes; one in eight is not ASCII."""
    choose = random.Random(seed)
    words = [
        "".join(choose.choices("etaoinshrdlu" * 6 + "_(){}.=\n\"'", k=choose.randint(2, 9)))
        for _ in range(400)
    ]
    found: list[dict[str, Any]] = []
    for number in range(count):
        size = min(200_000, round(choose.lognormvariate(6.55, 1.3)))
        text = ""
        while len(text) < size:
            text += " ".join(choose.choices(words, k=40)) + " "
        text = text[:size]
        if number % 8 == 7:
            text = "→ 不要动" + text
        if number % 3 == 2:
            found.append({"role": "tool", "tool_call_id": f"call_{number}", "content": text})
        else:
            found.append({"role": ("user", "assistant")[number % 3], "content": text})
    return found


def machine() -> str:
    """What the numbers were measured on."""
    cores = os.cpu_count()
    return (
        f"{platform.system()} {platform.machine()}, {cores} cores, "
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )


def table(rows: list[Row]) -> str:
    """The rows as aligned text."""
    width = max((len(row.name) for row in rows), default=0)
    lines = []
    for row in rows:
        line = f"{row.name:<{width}}  {row.value:>10,.2f} {row.unit:<3}"
        if row.base is not None:
            line += f"  {row.base:>10,.2f} {row.unit} {row.against}"
        if row.ratio is not None:
            line += f"  x {row.ratio:.2f}"
        if row.aim is not None:
            line += f"  (aim {row.aim:g}: {'reached' if row.reached else 'NOT reached'})"
        lines.append(line)
    return "\n".join(lines)
