"""One person's memories as recall holds them: columns and vectors in memory, moved on by what is
new, so that a question costs neither a fold nor a pass over the tables."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import NamedTuple

from eventlog.derived import Stamp
from eventlog.errors import Busy, ReadOnlyLog
from eventlog.log import EventLog
from eventlog.recorded import StreamKey
from projections.memory import index
from projections.memory.columns import Columns
from projections.memory.embedding import Embedder, embedded, named
from projections.memory.index import RecallIndex, Vector
from projections.memory.kept import Kept, KeptInFile, KeptInMemory, erased
from projections.memory.postings import Postings
from projections.memory.products import Vectors
from projections.memory.table import MemoryTable
from projections.memory.words import READ, found_by

BATCH = 128
"""Texts that an embedder is given at once; what it gave is kept before the next."""


class Embedded(NamedTuple):
    """How far the vectors of an embedder are."""

    done: int
    of: int


Progress = Callable[[Embedded], None]


class Loaded:
    """The memories of one stream, with the vectors of one embedder at a time."""

    def __init__(self, log: EventLog, key: StreamKey, *, numpy: bool | None = None) -> None:
        self._log, self._key, self._numpy = log, key, numpy
        self.kept: Kept = KeptInFile(log)
        self._was_busy = False
        self.stream = 0
        self._erasures = 0
        """How many events were erased when the tables were brought up."""
        self._forget()

    def _forget(self) -> None:
        self.columns = Columns()
        self.postings = Postings(self.kept.query, 0, self.columns)
        self._seen = -1
        """The sequence up to which the columns are right; -1: nothing was read yet."""
        self._forget_vectors()

    def _forget_vectors(self) -> None:
        self.vectors = Vectors(1, numpy=self._numpy)
        self._embedder: tuple[str, int] | None = None
        self._held: list[str] = []
        """Of which rendition the vector of each row is."""
        self._missing: set[int] = set()
        """Memories that stand and have no vector of their rendition."""

    # -- columns --------------------------------------------------------------------------------

    def bring_up(self) -> None:
        """Take in what the log holds now; in memory, where somebody else holds the lock.

        Raises what a damaged log raises.
        """
        erasures = erased(self._log)  # before the end is asked for: what follows is looked at anew
        end = self._log.last_sequence()
        if end == self._seen and self.kept.is_there():
            return
        if self._was_busy:
            self._was_busy, self.kept = False, KeptInFile(self._log)
            self._forget()
        try:
            self.kept.bring_up()
        except (ReadOnlyLog, Busy) as error:
            # It is searched all the same, in memory: what somebody else writes to, for this time.
            self._was_busy, self.kept = isinstance(error, Busy), KeptInMemory(self._log)
            self._forget()
            self.kept.bring_up()
        self._erasures = erasures
        stream = index.row_of(self._log, str(self._key))
        if stream != self.stream:  # its first memory came
            self.stream = stream
            self._forget()
        if self._seen >= 0:
            self._move_on()
        if self._seen < 0:
            self.postings = Postings(self.kept.query, self.stream, self.columns)
            for entry in index.entries(self.kept.query, self.stream):
                self.columns.put(entry)
        self._seen = end

    def make_anew(self) -> None:
        """Drop the tables: they could not be read. Raises Busy."""
        if self._log.read_only:
            self.kept = KeptInMemory(self._log, alone=True)
        else:
            for table in (MemoryTable(self._log), RecallIndex.of(self._log)):
                with self._log.writing() as db:
                    stamp = Stamp(table)
                    stamp.reset(db)
                    stamp.store(db)
            self.kept = KeptInFile(self._log)
        self._forget()

    def _move_on(self) -> None:
        """Read anew what events since then have changed."""
        events = self._log.read_all(self._seen, MemoryTable.reads)
        changed = index.changed(events).get(str(self._key), set())
        if changed is None:  # something was erased
            self._forget()
            return
        query, columns = self.kept.query, self.columns
        ids = [memory.id for memory in index.now(query, self.stream, changed)]
        for entry in index.entries(query, self.stream, ids):
            before = columns.rows.get(entry.id)
            if before is not None or entry.stands:
                is_same = before is not None and columns.has_words_of(entry)
                row = columns.put(entry)
                if before is None:
                    self.postings.add(entry.id, row)
                elif not is_same:
                    self.postings.forget()
                if self._embedder is not None:
                    self._look_at(row)

    # -- vectors --------------------------------------------------------------------------------

    def embed(self, embedder: Embedder, progress: Progress | None = None) -> None:
        """Have a vector of every memory that stands, in batches that are kept one by one.

        Raises VectorsRefused, and what the embedder raises; what was kept by then stays.
        """
        of = named(embedder)[:2]
        if self._embedder != of:
            self._load(*of)
        done = 0
        while self._missing:
            batch = sorted(self._missing)[:BATCH]
            made = self._made(embedder, set(batch))
            if not self.kept.keep(self.stream, *of, made, self._erasures):
                self.bring_up()  # something was erased, or the tables were: read anew
                if self._embedder != of:
                    self._load(*of)
                continue
            for vector in made:
                self._take(vector.memory, vector.rendition, vector.numbers)
            self._missing.difference_update(batch)
            done += len(batch)
            if progress is not None:
                progress(Embedded(done, done + len(self._missing)))

    def _made(self, embedder: Embedder, batch: set[int]) -> list[Vector]:
        found = index.now(self.kept.query, self.stream, batch)
        memories = [memory for memory in found if memory.stands and memory.id in batch]
        texts = [found_by(memory)[:READ] for memory in memories]
        numbers = embedded(embedder, texts, "passage")
        return [
            Vector(memory.id, memory.rendition, vector)
            for memory, vector in zip(memories, numbers, strict=True)
        ]

    def _load(self, name: str, dimension: int) -> None:
        """Take the vectors that are kept of an embedder."""
        self._forget_vectors()
        self._embedder = (name, dimension)
        self.vectors = Vectors(dimension, numpy=self._numpy)
        if isinstance(self.kept, KeptInMemory):
            self.kept.take_over(self.stream, name, dimension)
        self.vectors.make_room(len(self.columns))
        self._held = [""] * len(self.columns)
        for vector in index.vectors(self.kept.query, self.stream, name, dimension):
            self._take(vector.memory, vector.rendition, vector.numbers)
        for row in range(len(self.columns)):
            self._look_at(row)

    def _take(self, memory: int, rendition: str, numbers: array[float]) -> None:
        row = self.columns.rows.get(memory)
        if row is not None:
            self.vectors.put(row, numbers)
            self._held[row] = rendition

    def _look_at(self, row: int) -> None:
        """Whether a memory lacks its vector."""
        if row == len(self._held):
            self.vectors.make_room(row + 1)
            self._held.append("")
        columns = self.columns
        if columns.stands(row) and columns.renditions[row] != self._held[row]:
            self._missing.add(columns.ids[row])
        else:
            self._missing.discard(columns.ids[row])
