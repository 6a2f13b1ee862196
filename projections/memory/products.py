"""Which of many vectors are nearest to one, with numpy or without it: the same answer.

Single precision finds who may be among the nearest; their cosines are then computed in double
precision, in which products of two numbers of single precision are exact, and rounded. So the order
does not depend on how a library adds up.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from operator import mul
from typing import Any

from projections.memory import arrays
from projections.memory.columns import ranked

PLACES = 6
"""Decimal places of a cosine."""

WORTH_IT = 400_000
"""Numbers to multiply from which on numpy, which takes a tenth of a second to load, is loaded."""

_SLACK = 1e-5
"""What single precision may be wrong by, for unit vectors, and then some."""

_CHUNK = 4_096


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

    def make_room(self, rows: int) -> None:
        """Have so many rows at least; new ones have no vector yet."""
        if rows > len(self):
            self._empty.update(range(len(self), rows))
            nothing = array("f", [0.0]) * (self.dimension * (rows - len(self)))
            if self._numbers:
                self._numbers.extend(nothing)
            else:
                self._numbers = nothing

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
        order: Callable[[int], tuple[float, ...]],
    ) -> list[tuple[float, int]]:
        """Up to ``most`` cosines with their rows, the nearest first; ``order`` decides between
        equal ones.

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
        return ranked(found, most, order)

    def _library(self) -> Any:
        if self._numpy is False:
            return None
        if self._numpy is None and len(self._numbers) < WORTH_IT:
            return arrays.loaded()
        return arrays.load()

    def _nearest_plain(
        self, query: array[float], allowed: bytearray | None, floor: float
    ) -> list[tuple[float, int]]:
        numbers, size = self._numbers, self.dimension
        found: list[tuple[float, int]] = []
        for row in range(len(self)):
            if row in self._empty or (allowed is not None and not allowed[row]):
                continue
            vector = numbers[row * size : (row + 1) * size]
            similarity = round(sum(map(mul, vector, query)), PLACES)
            if similarity >= floor:
                found.append((similarity, row))
        return found

    def _nearest_numpy(
        self, np: Any, query: array[float], allowed: bytearray | None, floor: float, most: int
    ) -> list[tuple[float, int]]:
        matrix = np.frombuffer(self._numbers, dtype=np.float32).reshape(-1, self.dimension)
        wanted = np.frombuffer(query, dtype=np.float32)
        about = matrix @ wanted
        if allowed is not None and 0 in allowed:
            about[np.frombuffer(allowed, dtype=np.uint8) == 0] = -2.0
        if floor <= _SLACK and self._empty:  # else they are below it
            about[list(self._empty)] = -2.0
        least = max(floor, -1.0)
        if len(about) > most:
            # The last of them may be too high by the slack, and who comes before it too low.
            last = np.partition(about, len(about) - most)[len(about) - most]
            least = max(least, float(last) - _SLACK)
        rows = np.flatnonzero(about >= least - _SLACK)
        exactly = wanted.astype(np.float64)
        found: list[tuple[float, int]] = []
        for start in range(0, len(rows), _CHUNK):
            part = rows[start : start + _CHUNK]
            values = (matrix[part].astype(np.float64) @ exactly).tolist()
            near = [(round(v, PLACES), r) for v, r in zip(values, part.tolist(), strict=True)]
            found += [pair for pair in near if pair[0] >= floor]
        return found
