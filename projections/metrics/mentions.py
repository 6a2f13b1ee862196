"""Which of a set of literals a text mentions, each as a whole word.

One pass over the words of a text, whatever the number of literals: a literal is looked for only
where all its words stand, and found by the rarest of them. ``177120`` does not mention ``77120``,
``/repo/src/a.py`` mentions ``src/a.py``; runs of white space are equal.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from projections.items import Item

MANY = 8
"""Candidates in one text above which its pairs of neighbouring words are looked at first."""

_WORD = re.compile(r"\w+", re.ASCII)
_NOTHING: frozenset[int] = frozenset()


def texts(item: Item) -> list[str]:
    """What can be read in an item: what was said, what tools were given, what they returned.

    Strings in a call's arguments are taken out of their JSON, where a quote is escaped.
    """
    found: list[str] = []
    for part in item.parts:
        if part.kind == "call":
            found.extend(leaves(part.text))
        elif part.kind in ("text", "result"):
            found.append(part.text)
    return found


def leaves(arguments: str) -> list[str]:
    """The strings and numbers in a call's arguments; the whole where it is no JSON."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return [arguments]
    return list(_leaves(value))


def _leaves(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, dict):
            stack.extend(reversed(each.values()))
        elif isinstance(each, list):
            stack.extend(reversed(each))
        elif isinstance(each, str):
            yield each
        elif isinstance(each, int | float) and not isinstance(each, bool):
            yield str(each)


class Mentions:
    """An index of literals; they are named by their places in it."""

    def __init__(self, literals: Sequence[str]) -> None:
        self.literals = [" ".join(literal.split()) for literal in literals]
        listed = [_WORD.findall(literal) for literal in self.literals]
        self._words = [frozenset(words) for words in listed]
        self._pairs: dict[int, frozenset[tuple[str, str]]] = {}
        """Of those that were asked for: most never are."""
        shared = Counter(word for words in self._words for word in words)
        self._by_word: dict[str, list[int]] = {}
        self._same: dict[frozenset[int], frozenset[int]] = {}
        """Each set once: most items mention nothing, or the same as others."""
        self._wordless: list[int] = []
        for place, words in enumerate(self._words):
            if words:
                rarest = min(words, key=lambda word: (shared[word], -len(word), word))
                self._by_word.setdefault(rarest, []).append(place)
            elif self.literals[place]:
                self._wordless.append(place)

    def inside(self, given: Iterable[str]) -> frozenset[int]:
        """The literals that stand in one of the texts."""
        found: set[int] = set()
        for text in given:
            listed = _WORD.findall(text)
            words = set(listed)
            candidates = [
                place
                for word in self._by_word.keys() & words
                for place in self._by_word[word]
                if self._words[place] <= words
            ]
            if not candidates and not self._wordless:
                continue
            if len(candidates) > MANY:
                pairs = set(pairwise(listed))
                candidates = [place for place in candidates if self._paired(place) <= pairs]
            flat = " ".join(text.split())
            wanted = [p for p in candidates if p not in found]
            if len(wanted) > MANY:
                worded = Words(flat)
                found.update(p for p in wanted if worded.first(self.literals[p]) is not None)
                wanted = []
            for place in (*wanted, *self._wordless):
                if place not in found and _stands(self.literals[place], flat):
                    found.add(place)
        if not found:
            return _NOTHING
        same = frozenset(found)
        return self._same.setdefault(same, same)

    def _paired(self, place: int) -> frozenset[tuple[str, str]]:
        """The neighbouring words of a literal."""
        found = self._pairs.get(place)
        if found is None:
            found = frozenset(pairwise(_WORD.findall(self.literals[place])))
            self._pairs[place] = found
        return found


class Words:
    """A text by its words: any number of literals are found in it without a walk for each."""

    def __init__(self, text: str) -> None:
        """``text`` with runs of white space as one space, as in the literals."""
        self._text = text
        self._starts: list[int] = []
        self._numbers: dict[str, list[int]] = {}
        """By word, which words of the text are it, counted from 0."""
        for number, match in enumerate(_WORD.finditer(text)):
            self._starts.append(match.start())
            self._numbers.setdefault(match.group(), []).append(number)

    def first(self, literal: str) -> int | None:
        """The number of the first word of a literal where it first stands, as a whole word.

        None where it does not, and for one without a word.
        """
        rarest: Sequence[int] | None = None
        before = 0
        """Words of the literal in front of that one."""
        listed = list(_WORD.finditer(literal))
        for number, match in enumerate(listed):
            numbers = self._numbers.get(match.group(), ())
            if rarest is None or len(numbers) < len(rarest):
                rarest, before = numbers, number
        for number in rarest or ():
            if number < before:
                continue
            at = self._starts[number - before] - listed[0].start()
            if at < 0 or not self._text.startswith(literal, at):
                continue
            if not (_cuts_word(self._text, at) or _cuts_word(self._text, at + len(literal))):
                return number - before
        return None

    @staticmethod
    def ends(text: str) -> list[int]:
        """Where each word of a text ends, whatever its white space."""
        return [match.end() for match in _WORD.finditer(text)]


def _stands(needle: str, text: str) -> bool:
    at = text.find(needle)
    while at >= 0:
        end = at + len(needle)
        if not (_cuts_word(text, at) or _cuts_word(text, end)):
            return True
        at = text.find(needle, at + 1)
    return False


def _cuts_word(text: str, at: int) -> bool:
    return bool(0 < at < len(text) and _WORD.fullmatch(text[at - 1 : at + 1]))
