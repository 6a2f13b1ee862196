"""What a person types to search, and whether a text holds it. Pure.

    word          a whole word, whatever its case
    ORD-77120     any other sign stands for itself: so do ids, paths and options
    "order id"    a phrase; a line break in it is a blank like another
    word*         words that begin so; *word, and *word* for a part of a word
    订单           in scripts without blanks between words: anywhere

Several words: all of them. Nothing is an operator and nothing can be wrong: a quote or a star that
has no partner, or stands inside a word, stands for itself.

A word is a run of letters and digits. ``tokens`` gives what an index is filled with, the words of a
text, and of scripts without blanks each character; ``Term.tokens`` what a text that holds
the term must have among them. Both come from one pattern, so the index never passes over a text
that ``Query.found_in`` finds. Everything is compared casefolded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

LONGEST = 32
"""Characters of a word that an index holds: longer ones are found by their beginning."""

_DENSE = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u303c\u3040-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"  # Hangul, compatibility, half width
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Scripts in which words are not set apart, or not found apart: Chinese, Japanese, Korean …"""

_WORD = rf"[^\W_{_DENSE}]"
_RUNS = re.compile(rf"[{_DENSE}]+|{_WORD}+")
_ASCII_RUNS = re.compile("[a-z0-9]+")
_IS_DENSE = re.compile(rf"[{_DENSE}]")
_IS_WORD = re.compile(_WORD)
_FIRST_DENSE = "\u0e00"
_TYPED = re.compile(r'(\*?)"([^"]*)"(\*?)(?=\s|$)|(\S+)')


def fold(text: str) -> str:
    """The form in which texts are compared."""
    return text if text.isascii() and text.islower() else text.casefold()


def tokens(text: str) -> set[str]:
    """The tokens that an index holds of a text."""
    folded = fold(text)
    if folded.isascii():
        return {run[:LONGEST] for run in _ASCII_RUNS.findall(folded)}
    found: set[str] = set()
    for run in set(_RUNS.findall(folded)):
        if run[0] >= _FIRST_DENSE and _IS_DENSE.match(run):
            found.update(run)
        else:
            found.add(run[:LONGEST])
    return found


class Token(NamedTuple):
    """A token that a text must have."""

    text: str
    is_prefix: bool
    """A token that begins so will do."""


@dataclass(frozen=True)
class Term:
    """One thing that is looked for."""

    typed: str
    """As it was typed, without quotes and stars."""
    any_before: bool
    """Letters may stand directly in front of it."""
    any_behind: bool

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What finds it in a folded text."""
        words = fold(self.typed).split()
        literal = r"\s+".join(map(re.escape, words))
        front = "" if self.any_before or not _IS_WORD.match(words[0]) else f"(?<!{_WORD})"
        back = "" if self.any_behind or not _IS_WORD.match(words[-1][-1]) else f"(?!{_WORD})"
        return re.compile(front + literal + back)

    @property
    def is_whole(self) -> bool:
        """A part of a longer word is not found: with stars more would be."""
        return self.pattern != Term(self.typed, True, True).pattern

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """What a text that holds it has among its tokens; none where that says nothing."""
        folded = " ".join(fold(self.typed).split())
        found: list[Token] = []
        for match in _RUNS.finditer(folded):
            run = match[0]
            first, last = match.start() == 0, match.end() == len(folded)
            if _IS_DENSE.match(run):
                found += [Token(char, False) for char in run]
            elif not (first and self.any_before):
                part = last and self.any_behind and len(run) < LONGEST
                found.append(Token(run[:LONGEST], part))
        return tuple(dict.fromkeys(found))

    @cached_property
    def part(self) -> str:
        """Its longest run of letters and digits: a part of a word of every text that holds it."""
        runs = _RUNS.findall(fold(self.typed))
        return max((run for run in runs if not _IS_DENSE.match(run)), key=len, default="")

    @cached_property
    def ascii_piece(self) -> str:
        """Its longest run of ASCII letters and digits: no escape of JSON changes those."""
        return max(_ASCII_RUNS.findall(fold(self.typed)), key=len, default="")


@dataclass(frozen=True)
class Query:
    """Everything that is looked for."""

    terms: tuple[Term, ...]

    @property
    def tokens(self) -> tuple[Token, ...]:
        """What an event that holds all of it has among its tokens."""
        return tuple(dict.fromkeys(token for term in self.terms for token in term.tokens))

    @property
    def ascii_piece(self) -> str:
        """The longest piece of its terms."""
        return max((term.ascii_piece for term in self.terms), key=len, default="")

    def best(self, texts: Sequence[str]) -> int | None:
        """Which of some texts holds most of it, the first of those; None if a term is missing.

        Each term stands in one of the texts, not all of them in one.
        """
        missing = set(self.terms)
        best, most = None, 0
        for number, text in enumerate(texts):
            folded = fold(text)
            here = [term for term in self.terms if term.pattern.search(folded) is not None]
            missing.difference_update(here)
            if len(here) > most:
                best, most = number, len(here)
            if most == len(self.terms):
                return best
        return None if missing else best

    def first_in(self, text: str) -> tuple[int, int] | None:
        """Where its first term that a text holds stands there first, in the text's characters."""
        folded = fold(text)
        for term in self.terms:
            match = term.pattern.search(folded)
            if match is not None:
                return _unfolded(text, folded, [match.span()])[0]
        return None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Every place where a term stands in a text, in order; they may overlap."""
        folded = fold(text)
        found = [m.span() for term in self.terms for m in term.pattern.finditer(folded)]
        return sorted(_unfolded(text, folded, found))


def _unfolded(text: str, folded: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places in a folded text as places in the text itself: of ``ß`` two characters were made."""
    if len(folded) == len(text):
        return spans
    places = [at for at, char in enumerate(text) for _ in fold(char)]
    return [(places[start], places[end - 1] + 1) for start, end in spans]


def parse(text: str) -> Query:
    """The query that a person typed; without terms where there is nothing to look for."""
    found: dict[Term, None] = {}
    for match in _TYPED.finditer(text):
        front, phrase, back, word = match.groups()
        if word is not None:
            front, back = word[:1], word[-1:]
            starred = word.strip("*")
            if starred:
                phrase = word[front == "*" : len(word) - (back == "*")]
            else:  # nothing but stars
                phrase, front, back = word, "", ""
        if phrase.split():
            found[Term(phrase, front == "*", back == "*")] = None
    return Query(tuple(found))
