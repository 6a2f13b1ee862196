"""Which memories belong to a question: by what they mean and by the words that they hold.

Vectors and words each rank the memories that are asked for, and the two rankings are made one by
reciprocal rank. Often each side names another one first: then cosine and share of the question's
words, added up, decide, and between equal ones weight, then the newer, then the higher id. So the
same log gives the same answer on every machine. What does not stand is never recalled.

Words and vectors are kept with the log (``index``); the columns that filters need, and the vectors,
are held in memory and moved on by what is new. An embedder that cannot answer breaks nothing: then
words alone speak, and the answer says so (``Found.fault``).
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterator
from typing import NamedTuple

from eventlog.connection import translated
from eventlog.errors import CtxlogError, DamagedLog
from projections.live import Live
from projections.memory import index
from projections.memory.columns import Wanted, ranked
from projections.memory.embedding import Embedder, embedded, named
from projections.memory.fusing import fused
from projections.memory.lifecycle import LifePolicy
from projections.memory.loaded import Embedded, Loaded, Progress
from projections.memory.memory import Memory
from projections.memory.stream import memory_stream
from projections.memory.table import read
from projections.memory.words import READ, words

__all__ = ["Embedded", "Found", "Recall", "Recalled", "Wanted"]

DEPTH = 30
"""Memories that each side names, or four times as many as are asked for."""


class Recalled(NamedTuple):
    """A memory that belongs to a question."""

    memory: Memory
    score: float
    """Of the fusion: 1 / 61 for the first of one ranking, twice that for the first of both."""
    similarity: float | None
    """The cosine, where the vectors named it."""
    by: tuple[str, ...]
    """Which rankings named it: ``vector``, ``words``."""


class Found(list[Recalled]):
    """An answer, the best first."""

    def __init__(self, embedder: str, dimension: int, fault: CtxlogError | None) -> None:
        super().__init__()
        self.embedder, self.dimension = embedder, dimension
        self.fault = fault
        """Why the vectors said nothing, and words alone spoke; None: both did."""


class Recall:
    """Recall for one person, from one log, with one embedder; threads may share it."""

    def __init__(
        self,
        live: Live,
        user: str,
        embedder: Embedder,
        policy: LifePolicy | None = None,
        *,
        numpy: bool | None = None,
    ) -> None:
        """``numpy``: whether to multiply with it; None: where it is there and worth it. The answers
        are the same. Raises EventInvalid for what is no name of a person."""
        self.embedder = embedder
        self.policy = policy or LifePolicy()
        self._path = live.log.path
        self._loaded = Loaded(live.log, memory_stream(user), numpy=numpy)
        self._mutex = threading.RLock()

    def catch_up(self, progress: Progress | None = None) -> None:
        """Have the words and a vector of every memory that stands; a question does it too.

        Vectors are made in batches, each of which is kept: whoever is stopped goes on from there.
        Raises VectorsRefused, what the embedder raises, and what a damaged log raises.
        """
        with self._mutex, translated(self._path):
            try:
                self._loaded.bring_up()
            except DamagedLog:
                self._loaded.make_anew()
                self._loaded.bring_up()
            self._loaded.embed(self.embedder, progress)

    def find(self, query: str, wanted: Wanted, now: int) -> Found:
        """The memories that belong to a text, the best first. ``now``: microseconds since 1970.

        Memories that have no vector yet are embedded first. Where there is no memory, or nothing is
        asked, no embedder is. Whatever is wrong with the embedder, and with what it gives, is told
        in ``Found.fault``. Raises what a damaged log raises.
        """
        with self._mutex:
            try:
                return self._found(query, wanted, now)
            except DamagedLog:
                self._loaded.make_anew()  # what is derived can be; if it is not that, it is told
                return self._found(query, wanted, now)

    def _found(self, query: str, wanted: Wanted, now: int) -> Found:
        loaded = self._loaded
        with translated(self._path):
            loaded.bring_up()
        if not loaded.columns.indexed or not query.strip():
            return Found("", 0, None)
        name, dimension, floor, vector, fault = "", 0, 1.0, None, None
        try:
            name, dimension, floor = named(self.embedder)
            loaded.embed(self.embedder)
            (vector,) = embedded(self.embedder, [query[:READ]], "query")
        except DamagedLog:
            raise
        except CtxlogError as error:
            fault = error
        found = Found(name, dimension, fault)
        with translated(self._path):
            found += self._ranked(query, vector, floor, wanted, now)
        return found

    def _ranked(
        self, query: str, vector: array[float] | None, floor: float, wanted: Wanted, now: int
    ) -> Iterator[Recalled]:
        loaded, columns = self._loaded, self._loaded.columns
        only = None
        if wanted.session:
            only = index.from_session(loaded.kept.query, loaded.stream, wanted.session)
        allowed = columns.allowed(wanted, now, self.policy, only)
        most = max(DEPTH, 4 * wanted.top)
        similar: dict[int, float] = {}
        if vector is not None:
            near = loaded.vectors.nearest(vector, allowed, floor, most, columns.order)
            similar = {row: similarity for similarity, row in near}
        held = loaded.postings.best(words(query), allowed, most)

        def order(row: int) -> tuple[float, ...]:
            return -similar.get(row, 0.0) - held.get(row, 0.0), *columns.order(row)

        fusion = [(score, row) for row, score in fused(list(similar), list(held)).items()]
        best = ranked(fusion, wanted.top, order)
        memories = self._memories([columns.ids[row] for _, row in best])
        for score, row in best:
            memory = memories.get(columns.ids[row])
            if memory is not None and memory.stands:  # another process writes meanwhile
                by = ("vector",) * (row in similar) + ("words",) * (row in held)
                yield Recalled(memory, score, similar.get(row), by)

    def _memories(self, ids: list[int]) -> dict[int, Memory]:
        loaded = self._loaded
        marks = ", ".join("?" * len(ids))
        rows = loaded.kept.query(
            f"select id, state from memories where stream = ? and id in ({marks})",
            (loaded.stream, *ids),
        )
        return {id: read(state) for id, state in rows.fetchall()}
