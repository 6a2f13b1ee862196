"""The texts of a page, each once: long ones stand in a table, in chunks that are decoded when
somebody looks.

A chunk is a JSON list of strings, deflated, as base64: what a browser takes apart by itself.
"""

from __future__ import annotations

import base64
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from cli.report.model import Text, TextsData
from eventlog.jsonvalue import dumps

SHORT = 200
"""Characters under which a text stands where it is used."""

CHUNK = 256_000
"""Characters of a chunk; one text alone may be longer."""

BUDGET = 12_000_000
"""Bytes of a file that its texts may take unless all of them are asked for; the rest of it is for
everything else."""

_CUTS = (65_536, 32_768, 16_384, 8_192, 4_096, 2_048, 1_024)
"""Characters that are kept of each end, until what is left fits."""


@dataclass(frozen=True, slots=True)
class Packed:
    """The table as it stands in a page."""

    data: TextsData
    chunks: list[str]


@dataclass(slots=True)
class Texts:
    """The table in the making."""

    all: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, text: str) -> int:
        """The number of a text."""
        number = self._numbers.setdefault(text, len(self.all))
        if number == len(self.all):
            self.all.append(text)
        return number

    def put(self, text: str) -> Text:
        """A text as it is named where it is used: itself where it is short, else its number."""
        return text if len(text) < SHORT else self.add(text)

    def packed(self, mask: Callable[[str], str], budget: int | None = BUDGET) -> Packed:
        """All of them, masked; so much of each that it fits the budget, in bytes."""
        whole = [mask(text) for text in self.all]
        lengths = [len(text) for text in whole]
        starts, chunks = _chunks(whole)
        cut: dict[int, int] = {}
        if budget is not None and sum(map(len, chunks)) > budget:
            density = sum(map(len, chunks)) / max(sum(lengths), 1)
            for end in _CUTS:
                left = sum(min(length, 2 * end) for length in lengths)
                if left * density > budget and end != _CUTS[-1]:
                    continue
                cut = {n: size - 2 * end for n, size in enumerate(lengths) if size > 2 * end}
                some = [t[:end] + t[-end:] if n in cut else t for n, t in enumerate(whole)]
                starts, chunks = _chunks(some)
                if sum(map(len, chunks)) <= budget:
                    break
        return Packed(TextsData(lengths=lengths, chunks=starts, cut=cut), chunks)


def _chunks(texts: Sequence[str]) -> tuple[list[int], list[str]]:
    starts, chunks = [], []
    for first, group in _groups(texts):
        starts.append(first)
        # Base64 is what a browser reads everywhere.
        packed = zlib.compress(dumps(group).encode(), 6)
        chunks.append(base64.b64encode(packed).decode())
    return starts, chunks


def _groups(texts: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    first, size = 0, 0
    for number, text in enumerate(texts):
        if size and size + len(text) > CHUNK:
            yield first, list(texts[first:number])
            first, size = number, 0
        size += len(text)
    if first < len(texts):
        yield first, list(texts[first:])


def chunk_of(data: TextsData, number: int) -> int:
    """The chunk in which a text stands."""
    return bisect_right(data.chunks, number) - 1
