"""The nearest vectors are the same with numpy and without it, and on every machine."""

from __future__ import annotations

import random
import sys
from array import array

import pytest

from projections.memory.products import Vectors
from projections.strategies.hashing import unit

pytest.importorskip("numpy")

DIMENSION = 48


def vector(choose: random.Random) -> array[float]:
    return array("f", unit([choose.gauss(0, 1) for _ in range(DIMENSION)]))


def both(rows: list[array[float] | None]) -> tuple[Vectors, Vectors]:
    made = Vectors(DIMENSION, numpy=True), Vectors(DIMENSION, numpy=False)
    for vectors in made:
        vectors.make_room(len(rows))
        for row, numbers in enumerate(rows):
            if numbers is not None:
                vectors.put(row, numbers)
    return made


def order(row: int) -> tuple[float, int, int]:
    return (row % 3, -row, 0)


@pytest.mark.parametrize("seed", range(4))
def test_both_ways_give_the_same(seed: int) -> None:
    choose = random.Random(seed)
    rows: list[array[float] | None] = [vector(choose) for _ in range(300)]
    for row in range(0, 300, 7):  # some are equal, some nearly so, some are not there
        rows[row] = rows[(row * 3 + 1) % 300]
        near = array("f", rows[row] or vector(choose))
        near[0] += 1e-7
        rows[(row + 2) % 300] = near
        rows[(row + 5) % 300] = None
    allowed = bytearray(choose.random() < 0.7 for _ in rows)
    fast, plain = both(rows)
    for floor in (-1.0, 0.0, 0.1):
        for most in (1, 5, 500):
            query = vector(choose) if most > 1 else rows[choose.choice([1, 8, 15])]
            query = query or vector(choose)
            for mask in (None, allowed):
                found = fast.nearest(query, mask, floor, most, order)
                assert found == plain.nearest(query, mask, floor, most, order)
                assert all(similarity >= floor for similarity, _ in found)
                assert all(rows[row] is not None for _, row in found)
                assert mask is None or all(mask[row] for _, row in found)


@pytest.mark.parametrize("numpy", [True, False])
def test_equal_ones_are_put_in_order_though_there_are_more_than_asked_for(numpy: bool) -> None:
    same = vector(random.Random(1))
    vectors = Vectors(DIMENSION, numpy=numpy)
    vectors.make_room(100)
    for row in range(100):
        vectors.put(row, same)
    found = vectors.nearest(same, None, 0.5, 4, order)
    assert [row for _, row in found] == [99, 96, 93, 90]


@pytest.mark.parametrize("numpy", [True, False])
def test_what_says_nothing_is_near_to_nothing(numpy: bool) -> None:
    nothing = array("f", bytes(4 * DIMENSION))
    vectors = Vectors(DIMENSION, numpy=numpy)
    vectors.make_room(3)
    vectors.put(0, vector(random.Random(1)))
    vectors.put(1, nothing)
    assert vectors.nearest(nothing, None, -1.0, 5, order) == []
    assert [row for _, row in vectors.nearest(vector(random.Random(2)), None, -1, 5, order)] == [0]
    vectors.put(0, nothing)
    assert vectors.nearest(vector(random.Random(2)), None, -1.0, 5, order) == []


def test_rows_come_one_by_one_and_others_load_numpy_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choose = random.Random(3)
    rows = [vector(choose) for _ in range(60)]
    _, plain = both(list(rows))
    growing = Vectors(DIMENSION)
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, "numpy")
        for row, numbers in enumerate(rows[:20]):
            growing.make_room(row + 1)
            growing.put(row, numbers)
        assert growing.nearest(rows[7], None, 0.9, 3, order) == [(1.0, 7)]
    for row, numbers in enumerate(rows[20:], 20):
        growing.make_room(row + 1)
        growing.put(row, numbers)
        assert (1.0, 7) in growing.nearest(rows[7], None, 0.9, 3, order)
    assert len(growing) == 60
    assert growing.nearest(rows[0], None, -1, 60, order) == plain.nearest(
        rows[0], None, -1, 60, order
    )
