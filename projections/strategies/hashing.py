"""The embedder that needs nothing: words and pairs of Chinese characters, hashed into a vector.

It knows no meaning, only shared words, and gives the same vector on every machine: the hash is
CRC-32, which no setting of the interpreter changes. A better one is injected where there is one.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import mul

DIMENSIONS = 128
READ = 4_000
"""Characters of a text that are looked at: of a long result its beginning tells what it is."""

_WORD = re.compile(r"[^\W_]+")
_HAN = re.compile(r"[\u3400-\u9fff]+")


def words(text: str) -> Iterator[str]:
    """The words of a text in lower case; a run of Chinese characters gives its pairs."""
    found_words = _WORD.findall(text.lower())
    if text.isascii():
        yield from found_words
        return
    for found in found_words:
        if found.isascii() or not _HAN.search(found):
            yield found
        else:
            yield from _pairs(found)


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for first, second in pairwise(run):
        yield first + second


def embed(text: str) -> tuple[float, ...]:
    """A unit vector of a text; all zeros when there is no word in it."""
    vector = [0.0] * DIMENSIONS
    for word, times in Counter(words(text[:READ])).items():
        slot, sign = _place(word)
        vector[slot] += sign * times
    return unit(vector)


@lru_cache(maxsize=65_536)
def _place(word: str) -> tuple[int, float]:
    """Where in a vector a word counts, and whether up or down."""
    hashed = zlib.crc32(word.encode("utf-8", "surrogatepass"))
    return hashed % DIMENSIONS, 1.0 if hashed & 0x80000000 else -1.0


def unit(vector: Sequence[float]) -> tuple[float, ...]:
    """The vector at length one, so that a product is a cosine."""
    length = math.sqrt(sum(map(mul, vector, vector)))
    return tuple(value / length for value in vector) if length else tuple(vector)


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """Of two unit vectors."""
    return float(sum(map(mul, first, second)))
