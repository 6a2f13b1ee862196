"""Which memories hold the words of a question, the best first.

The rows of a word are read from the index when it is first asked for, and held: a common word is
read once, a rare one is short. A new memory is added to those that are held.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from typing import Any

from projections.memory import arrays, index
from projections.memory.columns import Columns, ranked
from projections.memory.fusing import LEAST, SCALE, chosen, rarity, share, weight_of
from projections.memory.products import PLACES
from projections.memory.table import Query

HELD = 2_000_000
"""Rows that are held, of four bytes each."""


class Postings:
    """The words of one person's memories."""

    def __init__(self, query: Query, stream: int, columns: Columns) -> None:
        self._query, self._stream, self._columns = query, stream, columns
        self._rows: dict[str, array[int]] = {}
        self._held = 0
        self._weights: tuple[tuple[int, int, int], Any] = ((0, 0, 0), None)

    def add(self, memory: int, row: int) -> None:
        """Take in a memory that is new."""
        for word in index.words_of(self._query, self._stream, memory) if self._rows else ():
            if word in self._rows:
                self._rows[word].append(row)

    def forget(self) -> None:
        """A memory holds other words than it did, or stands no more."""
        self._rows.clear()
        self._held = 0
        self._weights = ((0, 0, 0), None)

    def best(self, asked: Iterable[str], allowed: bytearray, most: int) -> dict[int, float]:
        """The rows that hold words, up to so many, the best first, with the share that each holds
        of what the words weigh. ``allowed``: a byte a row."""
        words = list(dict.fromkeys(asked))
        memories = self._columns.indexed
        if not memories or not words:
            return {}
        new = [word for word in words if word not in self._rows]
        counts = dict.fromkeys(words, 0)
        counts |= index.frequencies(self._query, self._stream, new) if new else {}
        counts |= {word: len(self._rows[word]) for word in words if word in self._rows}
        held = {word: count for word, count in counts.items() if count}
        terms = [
            (rarity(count, memories), self._of(word)) for word, count in chosen(held, memories)
        ]
        if not terms:
            return {}
        whole = weight_of(counts.values(), memories)
        mean = self._columns.total / memories
        np = arrays.loaded() if sum(len(rows) for _, rows in terms) > 100 else None
        if np is not None:
            found, shares = self._best_numpy(np, terms, whole, mean, allowed, most)
        else:
            found, shares = self._best_plain(terms, whole, mean, allowed)
        best = ranked(found, most, self._columns.order)
        return {row: min(1.0, round(shares[row], PLACES)) for _, row in best}

    def _best_plain(
        self,
        terms: list[tuple[float, array[int]]],
        whole: float,
        mean: float,
        allowed: bytearray,
    ) -> tuple[list[tuple[float, int]], dict[int, float]]:
        scores: dict[int, float] = {}
        for weight, rows in terms:
            for row in rows:
                if allowed[row]:
                    scores[row] = scores.get(row, 0.0) + weight
        shares = {row: score / whole for row, score in scores.items() if score / whole >= LEAST}
        lengths = self._columns.lengths
        found: list[tuple[float, int]] = [
            (math.floor(scores[row] * share(lengths[row], mean) * SCALE + 0.5), row)
            for row in shares
        ]
        return found, shares

    def _of(self, word: str) -> array[int]:
        rows = self._rows.get(word)
        if rows is None:
            known = self._columns.rows
            held = index.holding(self._query, self._stream, word)
            rows = array("i", [known[id] for id in held if id in known])
            if self._held + len(rows) > HELD:
                self.forget()
            self._rows[word] = rows
            self._held += len(rows)
        return rows

    def _best_numpy(
        self,
        np: Any,
        terms: list[tuple[float, array[int]]],
        whole: float,
        mean: float,
        allowed: bytearray,
        most: int,
    ) -> tuple[list[tuple[float, int]], dict[int, float]]:
        counts = [len(held) for _, held in terms]
        held = np.concatenate([np.frombuffer(held, dtype=np.intc) for _, held in terms])
        weights = np.repeat([weight for weight, _ in terms], counts)
        # It adds up in this order, so the sums are those of plain Python.
        scores = np.bincount(held, weights, minlength=len(self._columns))
        if 0 in allowed:
            scores *= np.frombuffer(allowed, dtype=np.uint8)
        shares = scores / whole
        rows = np.flatnonzero(shares >= LEAST)
        values = np.floor(scores[rows] * self._all_weights(np, mean)[rows] * SCALE + 0.5)
        if len(rows) > most:
            least = np.partition(values, len(values) - most)[len(values) - most]
            kept = values >= least
            rows, values = rows[kept], values[kept]
        if len(rows) > 2 * most:
            # As ``Columns.order`` says; the last key counts most.
            columns = self._columns
            keys = [np.frombuffer(columns.ids, dtype=np.int64)[rows]]
            keys.append(np.frombuffer(columns.remembered, dtype=np.int64)[rows])
            keys.append(np.frombuffer(columns.weights, dtype=np.float64)[rows])
            first = np.lexsort((*keys, values))[::-1][:most]
            rows, values = rows[first], values[first]
        found = list(zip(values.tolist(), rows.tolist(), strict=True))
        return found, dict(zip(rows.tolist(), shares[rows].tolist(), strict=True))

    def _all_weights(self, np: Any, mean: float) -> Any:
        """What a word counts in each row."""
        columns = self._columns
        of = (len(columns), columns.indexed, columns.total)
        if self._weights[0] != of:
            lengths = np.frombuffer(columns.lengths, dtype=np.intc)
            self._weights = (of, share(lengths, mean))
        return self._weights[1]
