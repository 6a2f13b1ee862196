"""What tests of recall are made with: a log with memories, and embedders that can be watched."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from eventlog.clock import now_us
from harness.errors import Unreachable
from harness.memory import UserMemory
from projections import open_log
from projections.live import Live
from projections.memory.embedding import TextKind
from projections.memory.recall import Found, Recall, Wanted
from projections.strategies import hashing

USER = "ada"


class Hashing:
    """The embedder that needs nothing, which tells what it was asked."""

    floor = 0.2
    dimension = hashing.DIMENSIONS

    def __init__(self, name: str = "hashing/1") -> None:
        self.name = name
        self.passages: list[str] = []
        self.batches: list[int] = []
        self.is_down = False
        self.calls_left = 1_000_000

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[Sequence[float]]:
        self.calls_left -= 1
        if self.is_down or self.calls_left < 0:
            raise Unreachable(self.name, "http://127.0.0.1:9/v1", "no connection")
        if kind == "passage":
            self.passages += texts
            self.batches.append(len(texts))
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> Sequence[float]:
        return hashing.embed(text)


class Scattered(Hashing):
    """A vector that says nothing of the text, but is always the same, and of another dimension."""

    floor = -1.0
    dimension = 24

    def vector(self, text: str) -> Sequence[float]:
        seed = zlib.crc32(text.encode())
        return hashing.unit([math.sin(seed * (n + 1)) for n in range(self.dimension)])


class Person:
    """A person's memories in a log, and their recall."""

    def __init__(self, path: Path, *, read_only: bool = False, user: str = USER) -> None:
        self.path = path
        self.live: Live = open_log(path, durability="normal", read_only=read_only)
        self.memory = UserMemory(self.live, user)
        self.user = user
        self.embedder = Hashing()
        self.recall = Recall(self.live, user, self.embedder)

    def add(self, *texts: str) -> list[int]:
        return [self.memory.add(text) for text in texts]

    def find(self, query: str, wanted: Wanted | None = None, now: int | None = None) -> Found:
        return self.recall.find(query, wanted or Wanted(), now_us() if now is None else now)

    def ids(self, query: str, wanted: Wanted | None = None, now: int | None = None) -> list[int]:
        return [each.memory.id for each in self.find(query, wanted, now)]

    def stamp(self) -> int:
        """How far the index in the file is."""
        query = "select sequence from derived where name = 'recall'"
        return int(self.live.log.query(query).fetchone()[0])

    def anew(self, embedder: Hashing | None = None) -> Recall:
        """Recall as a process that just began holds it."""
        return Recall(self.live, self.user, embedder or Hashing())


def said(found: Found) -> list[tuple[int, float, float | None, tuple[str, ...]]]:
    """An answer in numbers."""
    return [(each.memory.id, each.score, each.similarity, each.by) for each in found]


def iso(time: int) -> str:
    """A time as a source writes it."""
    return datetime.fromtimestamp(time / 1e6, UTC).isoformat()
