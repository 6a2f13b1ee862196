"""Texts that are looked for as they are, whatever form they stand in. Pure.

A pattern that found a secret in one text would not find it in base64 or inside JSON that was
written into a log line; the secret itself is found there. Texts of less than eight characters are
not looked for so: they stand inside other words. Any number of them costs one walk over a text, or
two: what is fifteen characters long holds a piece of eight that begins at a multiple of eight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from eventlog.needles import forms

LEAST = 8
"""Characters of the shortest text that is looked for."""

_FEW = 24
"""Forms up to which one search for each is quicker than a walk."""

_HEAD = 64
"""Characters of a form that are searched for: longer ones have to be made ready at every search."""


class Literals:
    """Some texts in all their forms (see ``eventlog.needles``)."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._forms: dict[bytes, str] = {}
        for text in texts:
            if len(text) >= LEAST:
                for form in forms(text):
                    self._forms.setdefault(form, text)
        self._text = {
            form.decode("utf-8", "surrogatepass"): text for form, text in self._forms.items()
        }
        long = [form for form in self._text if len(form) >= 2 * LEAST - 1]
        short = [form for form in self._text if len(form) < 2 * LEAST - 1]
        self._searches = [_search_for(long, LEAST), _search_for(short, 1)]

    def __bool__(self) -> bool:
        return bool(self._forms)

    def first_in(self, text: str) -> str:
        """One of the texts that stands in another, as it was given; empty when none does."""
        return next((given for _, _, given in self.spans_in(text)), "")

    def spans_in(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where each of the texts stands in another, in any form, and the text as it was given.

        In no order, and spans may overlap.
        """
        for search in self._searches:
            for start, form in search.found_in(text):
                yield start, start + len(form), self._text[form]

    def first_in_bytes(self, data: bytes) -> str:
        """The same for a binary part."""
        return next((given for form, given in self._forms.items() if form in data), "")


def _search_for(written: Sequence[str], step: int) -> _OneByOne | _Walk:
    return _OneByOne(written) if len(written) <= _FEW else _Walk(written, step)


class _OneByOne:
    """A search for each of some forms."""

    def __init__(self, written: Iterable[str]) -> None:
        self._heads = [(form[:_HEAD], form) for form in written]

    def found_in(self, text: str) -> Iterator[tuple[int, str]]:
        for head, form in self._heads:
            at = text.find(head)
            while at >= 0:
                if text.startswith(form, at):
                    yield at, form
                at = text.find(head, at + 1)


class _Walk:
    """A walk over a text, which looks at a piece of it at every step."""

    def __init__(self, written: Iterable[str], step: int) -> None:
        self._step = step
        self._by_piece: dict[str, list[tuple[int, str]]] = {}
        for form in written:
            for first in range(step):
                # Of the pieces that one walk may meet, one is enough: the one of the most letters.
                places = range(first, len(form) - LEAST + 1, step)
                at = max(places, key=lambda p: len(set(form[p : p + LEAST])))
                self._by_piece.setdefault(form[at : at + LEAST], []).append((at, form))

    def found_in(self, text: str) -> Iterator[tuple[int, str]]:
        known = self._by_piece
        for place in range(0, len(text) - LEAST + 1, self._step):
            if (piece := text[place : place + LEAST]) in known:
                for at, form in known[piece]:
                    if at <= place and text.startswith(form, place - at):
                        yield place - at, form
