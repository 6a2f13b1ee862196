"""Two rankings made one: by words, and of both by reciprocal rank."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

K = 60
"""Of reciprocal rank fusion: a rank r counts 1 / (K + r). G. V. Cormack, C. L. A. Clarke and
S. Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods",
SIGIR 2009, pages 758-759."""

K1, B = 1.2, 0.75
"""Of BM25, the usual ones: S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework:
BM25 and Beyond", Foundations and Trends in Information Retrieval 3 (4), 2009."""

OFTEN = 50
"""Memories that may hold a word, whatever share of all they are."""

POSTINGS = 10_000
"""Rows that are read for the words of a query, its rarest word aside."""

SCALE = 1_000_000
"""Scores are compared in millionths."""

LEAST = 0.1
"""A memory that holds less than this of what the words of a question weigh does not belong to it. A
question in another language shares a word with some memory by chance, and would name it first."""

SPAN = 12
"""Words that are weighed for that."""

WORDS = 64
"""Words of a query, the rarest ones."""


def chosen(found: Mapping[str, int], memories: int) -> list[tuple[str, int]]:
    """Of the words of a query, by how many memories hold them, those that are looked for.

    A word that most memories hold tells none from another. What is rare comes first, and what is
    left of the room is for the others: in 100,000 memories a word of every tenth is not read.
    """
    words: list[tuple[str, int]] = []
    room = POSTINGS
    for word, count in sorted(found.items(), key=lambda item: (item[1], item[0]))[:WORDS]:
        if count > OFTEN and 2 * count > memories:
            break
        if words and count > room:
            break
        words.append((word, count))
        room -= count
    return words


def rarity(count: int, memories: int) -> float:
    """What a word weighs that so many of so many memories hold."""
    return math.log1p((memories - count + 0.5) / (count + 0.5))


Number = TypeVar("Number")


def weight_of(counts: Iterable[int], memories: int) -> float:
    """What the words of a question weigh: the rarest ones, those that no memory holds among them.

    In a long message most words are about something else than the memory that it needs.
    """
    return sum(rarity(count, memories) for count in sorted(counts)[:SPAN])


def share(length: Number, mean: float) -> Number:
    """What a word counts in a text of so many words. BM25 for a word that stands there once: how
    often it does says little in a text of a few sentences, and is not kept."""
    counted: Any = length  # one number, or an array of them
    found: Number = (K1 + 1) / (1 + K1 * (1 - B + B * counted / mean))
    return found


def fused(*rankings: Sequence[int]) -> dict[int, float]:
    """Every row that a ranking names, with the sum of what its ranks count; in no order."""
    found: dict[int, float] = {}
    for rows in rankings:
        for rank, row in enumerate(rows, K + 1):
            found[row] = found.get(row, 0.0) + 1 / rank
    return found
