"""Texts that are looked for as they are, whatever form they stand in.

A pattern that found a secret in one text would not find it in base64 or inside JSON that was
written into a log line; the secret itself is found there. Texts of less than eight characters are
not looked for so: they stand inside other words. Any number of them costs one walk over a text.
"""

from __future__ import annotations

from collections.abc import Iterable

from eventlog.needles import forms

LEAST = 8
"""Characters of the shortest text that is looked for."""

_FEW = 64
"""Forms up to which one search for each is quicker than a walk."""


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
        self._by_start: dict[str, list[str]] = {}
        for written in self._text:
            self._by_start.setdefault(written[:LEAST], []).append(written)

    def __bool__(self) -> bool:
        return bool(self._forms)

    def first_in(self, text: str) -> str:
        """The first of the texts that stands in one, as it was given; empty when none does."""
        if len(self._text) <= _FEW:
            return next((given for form, given in self._text.items() if form in text), "")
        for at in range(len(text) - LEAST + 1):
            for form in self._by_start.get(text[at : at + LEAST], ()):
                if text.startswith(form, at):
                    return self._text[form]
        return ""

    def first_in_bytes(self, data: bytes) -> str:
        """The same for a binary part."""
        return next((given for form, given in self._forms.items() if form in data), "")
