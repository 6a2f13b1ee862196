"""Which of many vectors are nearest to one, with numpy or without it: the same answer.

Single precision finds who may be among the nearest; their cosines are then computed in double
precision, in which products of two numbers of single precision are exact, and rounded. So the order
does not depend on how a library adds up.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from array import array
from collections.abc import Callable, Iterable
from operator import mul
from typing import Any, NamedTuple

PLACES = 6
"""Decimal places of a cosine."""

WORTH_IT = 400_000
"""Numbers to multiply from which on numpy, which takes a tenth of a second to load, is loaded."""

_SLACK = 4e-6
"""What single precision may be wrong by, for unit vectors, and then some."""

_CHUNK = 4_096


class Near(NamedTuple):
    """A row and how near it is."""

    row: int
    similarity: float


class Vectors:
    """Vectors of one dimension in rows, as they come; a row without one is all zeros."""

    def __init__(self, dimension: int, *, numpy: bool | None = None) -> None:
        """``numpy``: whether to use it; None: where it is there and worth it."""
        self.dimension = dimension
        self._numbers = array("f")
        self._empty: set[int] = set()
        self._numpy = numpy

    def __len__(self) -> int:
        return len(self._numbers) // self.dimension

    def add(self, vectors: Iterable[array[float] | None]) -> None:
        """Append rows; None: it has no vector yet."""
        nothing = array("f", bytes(4 * self.dimension))
        for row, vector in enumerate(vectors, len(self)):
            if vector is None or not any(vector):
                self._empty.add(row)
            self._numbers.extend(nothing if vector is None else vector)

    def put(self, row: int, vector: array[float]) -> None:
        """Set a row."""
        start = row * self.dimension
        self._numbers[start : start + self.dimension] = vector
        if any(vector):
            self._empty.discard(row)
        else:
            self._empty.add(row)

    def nearest(
        self,
        query: array[float],
        allowed: bytearray | None,
        floor: float,
        most: int,
        order: Callable[[int], Any],
    ) -> list[Near]:
        """Up to ``most`` rows, the nearest first, ``order`` deciding between equally near ones.

        ``allowed``: a byte a row, other than zero where it may be among them; None: every one may.
        Rows below the floor are not, nor is one without a vector.
        """
        if most <= 0 or not any(query):
            return []
        numpy = self._library()
        found = (
            self._nearest_plain(query, allowed, floor)
            if numpy is None
            else self._nearest_numpy(numpy, query, allowed, floor, most)
        )
        found.sort(key=lambda near: (-near.similarity, order(near.row)))
        return found[:most]

    def _library(self) -> Any:
        if self._numpy is False:
            return None
        if self._numpy is None and "numpy" not in sys.modules and len(self._numbers) < WORTH_IT:
            return None
        return _numpy()

    def _nearest_plain(
        self, query: array[float], allowed: bytearray | None, floor: float
    ) -> list[Near]:
        numbers, size, found = self._numbers, self.dimension, []
        for row in range(len(self)):
            if row in self._empty or (allowed is not None and not allowed[row]):
                continue
            vector = numbers[row * size : (row + 1) * size]
            similarity = round(sum(map(mul, vector, query)), PLACES)
            if similarity >= floor:
                found.append(Near(row, similarity))
        return found

    def _nearest_numpy(
        self, np: Any, query: array[float], allowed: bytearray | None, floor: float, most: int
    ) -> list[Near]:
        matrix = np.frombuffer(self._numbers, dtype=np.float32).reshape(-1, self.dimension)
        wanted = np.frombuffer(query, dtype=np.float32)
        about = matrix @ wanted
        if allowed is not None:
            about[np.frombuffer(allowed, dtype=np.uint8) == 0] = -2.0
        if floor <= _SLACK and self._empty:  # else they are below it
            about[list(self._empty)] = -2.0
        rows = np.flatnonzero(about >= max(floor, -1.0) - _SLACK)
        if len(rows) > most:
            among = about[rows]
            least = np.partition(among, len(among) - most)[len(among) - most]
            # Twice: the least of them may be too high, and who is to be found too low.
            rows = rows[among >= least - 2 * _SLACK]
        exactly = wanted.astype(np.float64)
        found: list[Near] = []
        for start in range(0, len(rows), _CHUNK):
            part = rows[start : start + _CHUNK]
            values = (matrix[part].astype(np.float64) @ exactly).tolist()
            near = (Near(r, round(v, PLACES)) for r, v in zip(part.tolist(), values, strict=True))
            found += (each for each in near if each.similarity >= floor)
        return found


def _numpy() -> Any:
    if importlib.util.find_spec("numpy") is None:
        return None
    return importlib.import_module("numpy")
