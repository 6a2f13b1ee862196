"""No vector is kept that would win, or lose, every comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from projections.memory.embedding import TextKind, VectorsRefused, embedded


class Given:
    """An embedder that gives what it was given."""

    name, dimension, floor = "given/3", 3, 0.0

    def __init__(self, vectors: Any) -> None:
        self.vectors = vectors
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], kind: TextKind) -> Sequence[Sequence[float]]:
        self.asked += texts
        vectors: Sequence[Sequence[float]] = self.vectors
        return vectors


@pytest.mark.parametrize(
    ("vectors", "told"),
    [
        ([], "0 for 1 texts"),
        ([[1, 0, 0], [1, 0, 0]], "2 for 1 texts"),
        ([[1, 0]], "2 numbers instead of 3"),
        ([[1, 0, 0, 0]], "4 numbers instead of 3"),
        ([[1, 0, math.nan]], "not finite"),
        ([[1, 0, math.inf]], "not finite"),
        ([[1.7e308, 1.7e308, 1.7e308]], "not finite, or too large"),
        ([[1, 0, "x"]], "no number"),
        ([[1, 0, None]], "no number"),
        ([None], "no number"),
        ([b"8 bytes!" * 3], "no number"),
        ([[1, 0, 10**400]], "no number"),
    ],
)
def test_what_was_not_asked_for_is_refused(vectors: Any, told: str) -> None:
    with pytest.raises(VectorsRefused, match=f"'given/3' gave vectors .* {told}"):
        embedded(Given(vectors), ["a text"], "query")


def test_vectors_are_brought_to_length_one() -> None:
    long, nothing = embedded(Given([[3, 0, 4], [0, 0, 0]]), ["a", "b"], "passage")
    assert long.tolist() == pytest.approx([0.6, 0, 0.8])
    assert nothing.tolist() == [0, 0, 0]


def test_a_blank_text_is_not_sent() -> None:
    embedder = Given([[1, 0, 0]])
    found = embedded(embedder, ["", "a", " \n"], "passage")
    assert [each.tolist() for each in found] == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert embedder.asked == ["a"]
    assert embedded(embedder, ["", " "], "query")[0].tolist() == [0, 0, 0]
    assert embedder.asked == ["a"]
