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
    """Vectors of one dimension in rows, as they come; a row without one is all zeros.

    With numpy they are kept in an array of its own: it asks for memory in large pages, which makes
    the product of a hundred thousand a third quicker.
    """

    def __init__(self, dimension: int, *, numpy: bool | None = None) -> None:
        """``numpy``: whether to use it; None: where it is there and worth it."""
        self.dimension = dimension
        self._rows = 0
        self._numbers = array("f")
        self._matrix: Any = None
        """Instead of the numbers, with some room for further rows."""
        self._empty: set[int] = set()
        self._numpy = numpy

    def __len__(self) -> int:
        return self._rows

    def make_room(self, rows: int) -> None:
        """Have so many rows at least; new ones have no vector yet."""
        if rows <= self._rows:
            return
        self._empty.update(range(self._rows, rows))
        np = self._library(rows)
        if np is not None:
            self._move(np, rows)
        else:
            nothing = array("f", [0.0]) * (self.dimension * (rows - self._rows))
            if self._numbers:
                self._numbers.extend(nothing)
            else:
                self._numbers = nothing
        self._rows = rows

    def put(self, row: int, vector: array[float]) -> None:
        """Set a row."""
        if self._matrix is not None:
            self._matrix[row] = vector
        else:
            start = row * self.dimension
            self._numbers[start : start + self.dimension] = vector
        if any(vector):
            self._empty.discard(row)
        else:
            self._empty.add(row)

    def _library(self, rows: int) -> Any:
        """numpy, where it is to be used for so many rows."""
        if self._numpy is False:
            return None
        if self._numpy is None and self._matrix is None and rows * self.dimension < WORTH_IT:
            return arrays.loaded()
        return arrays.load()

    def _move(self, np: Any, rows: int) -> None:
        """Keep the numbers in an array of numpy with room for so many rows."""
        old = self._matrix
        if old is not None and len(old) >= rows:
            return
        if old is None:
            old = np.frombuffer(self._numbers, dtype=np.float32) if self._numbers else np.zeros(0)
            old = old.reshape(-1, self.dimension)
        room = rows + rows // 8 if self._rows else rows
        self._matrix = np.empty((room, self.dimension), dtype=np.float32)
        self._matrix[: self._rows] = old[: self._rows]
        self._matrix[self._rows :] = 0.0
        del old
        self._numbers = array("f")

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
        np = self._library(self._rows)
        if np is not None:
            if self._matrix is None:
                self._move(np, self._rows)
            found = self._nearest_numpy(np, query, allowed, floor, most)
        else:
            found = self._nearest_plain(query, allowed, floor)
        return ranked(found, most, order)

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
        matrix = self._matrix[: self._rows]
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
            # No product of a library that starts threads for it: there are few.
            values = (matrix[part].astype(np.float64) * exactly).sum(axis=1).tolist()
            near = [(round(v, PLACES), r) for v, r in zip(values, part.tolist(), strict=True)]
            found += [pair for pair in near if pair[0] >= floor]
        return found
