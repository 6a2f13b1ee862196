"""Pieces of secrets that stand where a text was shortened. Pure.

A secret that is cut is of no known shape any more, and is not the text that was found: so what is
looked for here is any eight characters of it in a row. In a long text that would also find what
only looks alike; it is for short ones, which were made of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from eventlog.needles import forms
from projections.findings import masked
from projections.literals import LEAST

_PLAIN = re.compile(
    r"\w*://(?:[\w.-]+/(?:services/)?)?|//[^\s:]*/:_authToken=|AccountKey="
    r"|-----[A-Z ]+-----|BEGIN [A-Z ]+"
)
"""What stands in secrets and is none itself."""

_WORDS = re.compile(r"[a-z]+(?:_[a-z]+)*")
"""The whole of a text that says a kind of something, and was not shortened."""


class Fragments:
    """The pieces of some secrets, in all their forms (see ``eventlog.needles``)."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._pieces: dict[str, str] = {}
        for secret in sorted(secrets):
            for form in forms(secret):
                self._add(form.decode("utf-8", "surrogatepass"), secret)

    def mask(self, text: str) -> str:
        """The text without them."""
        pieces = self._pieces
        if not pieces or len(text) < LEAST or _WORDS.fullmatch(text):
            return text
        parts: list[str] = []
        behind = at = 0
        while at <= len(text) - LEAST:
            secret = pieces.get(text[at : at + LEAST])
            if secret is None:
                at += 1
                continue
            start = at
            while at <= len(text) - LEAST and text[at : at + LEAST] in pieces:
                at += 1
            end = at + LEAST - 1
            whole = masked(secret)
            begins = secret.startswith(text[start : start + LEAST])
            shown = whole if begins else whole[whole.index("… (") :]
            parts += (text[behind:start], shown)
            behind = at = end
        return "".join((*parts, text[behind:])) if parts else text

    def _add(self, form: str, secret: str) -> None:
        plain = [found.span() for found in _PLAIN.finditer(form)]
        for at in range(len(form) - LEAST + 1):
            if not any(start <= at and at + LEAST <= end for start, end in plain):
                self._pieces.setdefault(form[at : at + LEAST], secret)
