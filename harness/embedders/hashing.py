"""The embedder that needs nothing: words and their parts, hashed into a vector.

It knows no meaning, only what is written alike, and gives the same vector on every machine: the
hash is CRC-32, which no setting of the interpreter changes. It is that of ``strategies.hashing``
with what memories gain from, by the labelled set: four times the dimensions, no words that say
nothing, and parts of words beside the whole ones, so that ``logging`` is near ``logger`` and
``回答`` near ``答``. A word that comes again counts less each time. It knows no translation.

``NAME`` has a version: whoever changes what a vector is made of counts it up, and vectors that are
kept are made anew.
"""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from harness.embedders.base import TextKind
from projections.strategies.hashing import unit

DIMENSIONS = 512
NAME = f"hashing/1, {DIMENSIONS} dimensions"
FLOOR = 0.15
"""Measured: docs/memory-retrieval.md."""

READ = 4_000
"""Characters of a text that are looked at."""

_LONGEST = 64
"""Characters of a word."""
_PART = 4
"""Characters of a part of a word; its ends count as one each."""
_OF_A_SIGN = 0.5
"""What one character counts of a run without blanks; a pair counts 1, as a word does."""

_CHINESE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_RUN = re.compile(f"[{_CHINESE}]+|[^\\W_{_CHINESE}]+")
_FIRST_CHINESE = re.compile(f"[{_CHINESE}]")

_SILENT = frozenset(
    re.findall(
        r"\w+",
        """
        a about after all am an and any are as at be been before being but by can could did do does
        doing for from get had has have having he her here hers him his how i if in into is it its
        just let like me more most my no nor not now of off on once only or other our out over
        please same she should so some such than that the their them then there these they this
        those through to too until up us very was we were what when where which while who whom
        whose why will with would you your
        的 了 是 在 我 你 他 她 们 和 与 也 就 都 着 把 被 让 给 对 吗 呢 吧
        我们 你们 他们 什么 怎么 怎样 如何 哪个 哪些 哪里
        这个 那个 这些 那些 可以 应该 为什 么样 多少 是什 么时
        """,
    )
)
"""Words, and pairs of characters, that say nothing of what a text is about."""

_Parts = tuple[tuple[str, float], ...]


class HashingEmbedder:
    """Deterministic; reads nothing but the text."""

    @property
    def name(self) -> str:
        """``hashing/1, 512 dimensions``."""
        return NAME

    @property
    def dimension(self) -> int:
        """512."""
        return DIMENSIONS

    @property
    def floor(self) -> float:
        """What two texts have at least where they share a word that says something."""
        return FLOOR

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[tuple[float, ...]]:
        """A unit vector for each text; a query is read as a passage is."""
        return [_vector(text) for text in texts]


def _vector(text: str) -> tuple[float, ...]:
    counts: defaultdict[str, float] = defaultdict(float)
    for run in _RUN.findall(unicodedata.normalize("NFKC", text[:READ]).casefold()):
        for part, counted in _parts(run[:_LONGEST]) if run.isascii() else _found(run):
            counts[part] += counted
    vector = [0.0] * DIMENSIONS
    for part, counted in counts.items():
        slot, sign = _place(part)
        vector[slot] += sign * math.sqrt(counted)
    return unit(vector)


def _found(run: str) -> Iterator[tuple[str, float]]:
    """The parts of a run of letters that are not ASCII."""
    if not _FIRST_CHINESE.match(run):
        yield from _parts(run[:_LONGEST])
        return
    pairs = [first + second for first, second in pairwise(run)] or [run]
    heard = [at for at, pair in enumerate(pairs) if pair not in _SILENT]
    yield from ((pairs[at], 1.0) for at in heard)
    signs = {at + place for at in heard for place in range(len(pairs[at]))}
    yield from ((f"{run[at]}.", _OF_A_SIGN) for at in sorted(signs) if run[at] not in _SILENT)


@lru_cache(maxsize=16_384)
def _parts(word: str) -> _Parts:
    """A word, and its parts, which together count as much as it does."""
    if word in _SILENT:
        return ()
    if word.isdigit():
        return ((word, 1.0),)
    held = f"<{word}>"
    parts = [f"{held[at : at + _PART]}." for at in range(len(held) - _PART + 1)]
    return ((word, 1.0), *((part, 1 / len(parts)) for part in parts))


@lru_cache(maxsize=65_536)
def _place(part: str) -> tuple[int, float]:
    """Where in a vector a part counts, and whether up or down."""
    hashed = zlib.crc32(part.encode("utf-8", "surrogatepass"))
    return hashed % DIMENSIONS, 1.0 if hashed & 0x80000000 else -1.0
