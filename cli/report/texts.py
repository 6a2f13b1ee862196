"""The texts of a page, each once: long ones stand in a table, whoever shows them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from cli.report.chunks import Chunks, chunked
from cli.report.model import Text, TextsData
from cli.report.pieces import LONG

_CUTS = (65_536, 32_768, 16_384, 8_192, 4_096, 2_048, 1_024)
"""Characters that are kept of each end, until what is left fits."""


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
        return text if len(text) < LONG else self.add(text)

    def packed(
        self, mask: Callable[[str], str], short: Callable[[str], str], shortened: Collection[int]
    ) -> Packed:
        """All of them, masked; ``short`` is for those that were shortened before they came here."""
        whole = [(short if n in shortened else mask)(text) for n, text in enumerate(self.all)]
        return Packed(whole, chunked(whole))


@dataclass(slots=True)
class Packed:
    """The table as it stands in a page."""

    whole: list[str]
    chunks: Chunks
    cut: dict[int, int] = field(default_factory=dict)
    """How many characters in the middle of a text are left out."""

    @property
    def data(self) -> TextsData:
        """The table, without its texts."""
        lengths = [len(text) for text in self.whole]
        return TextsData(lengths=lengths, chunks=self.chunks.firsts, cut=self.cut)

    def cut_to(self, budget: int) -> None:
        """Leave out the middle of the longest texts, until they fit into so many bytes; the last
        thousand characters of each end always stay."""
        lengths = [len(text) for text in self.whole]
        density = self.chunks.size / max(sum(lengths), 1)
        for end in _CUTS if self.chunks.size > budget else ():
            left = sum(min(length, 2 * end) for length in lengths)
            if left * density > budget and end != _CUTS[-1]:
                continue
            self.cut = {n: size - 2 * end for n, size in enumerate(lengths) if size > 2 * end}
            self.chunks = chunked(
                [t[:end] + t[-end:] if n in self.cut else t for n, t in enumerate(self.whole)]
            )
            if self.chunks.size <= budget:
                return
