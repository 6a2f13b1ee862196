"""What has to stand in a text before a pattern can match in it. Pure.

Most texts hold nothing that a detector of secrets would find, and forty patterns over every line
are slow to say so. From each pattern is derived what every match of it contains: words, of which
one stands in it (``AKIA`` or ``ASIA``), and runs of characters of tokens in its outline
(``:`` and thirty-five of them). A text without these is passed over, and nothing is lost: a pattern
of which nothing can be derived is always tried. No knowledge of any one pattern is kept here, so
another version of a detector cannot be passed over by what was known of the last.

Derived from the tree into which Python's own parser turns a pattern.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_MOST = 16
"""Words, of which one has to stand in a match: more are not worth looking for."""

_LONGEST = 128
"""Characters of a run that is looked for."""

_LEAST_RUN = 8
_COMMON_RUN = b"a" * 20
"""Most texts have no run of this length: so longer ones are not looked for in them."""

# In patterns that ignore case, these match ASCII letters too.
_LIKE_ASCII = {"\u212a": b"k", "\u017f": b"s", "\u0130": b"i", "\u0131": b"i"}
_TOKEN = frozenset((string.ascii_letters + string.digits + "_-").encode())
_OUTLINE = bytes(ord("a") if c in _TOKEN or c > 127 else c for c in range(256))
_REST = bytes(range(0x80, 0xC0))
"""Bytes that continue a character of UTF-8: an outline has one byte a character."""

EXACT, FOLDED, OUTLINE = range(3)
"""The views of a text: its bytes, those in lower case, and these with "a" for every character that
a token may hold, and for every one outside ASCII."""

Words = frozenset[bytes]
Needs = tuple[int, tuple[bytes, ...]]
"""A view, and the words of which one has to stand in it."""

_COMMON: Needs = (OUTLINE, (_COMMON_RUN,))

_Plan = dict[str, list[list[int]]]
"""Of each pattern of a detector the numbers of its needs."""

_NOTHING: Words = frozenset({b""})


def views(text: str) -> tuple[bytes, bytes, bytes]:
    """The three views of a text."""
    data = text.encode("utf-8", "surrogatepass")
    folded = data.lower()
    if len(data) != len(text):
        for character, letter in _LIKE_ASCII.items():
            folded = folded.replace(character.encode(), letter)
        return data, folded, folded.translate(_OUTLINE, _REST)
    return data, folded, folded.translate(_OUTLINE)


class Sieve:
    """Some detectors by name, each with its patterns; None for one that is always tried."""

    def __init__(self, patterns: Mapping[str, Iterable[re.Pattern[str]] | None]) -> None:
        numbers: dict[Needs, int] = {_COMMON: 0}
        self._patterns: _Plan = {}
        for name, some in patterns.items():
            needs = [needed(pattern) for pattern in some] if some is not None else [()]
            self._patterns[name] = [
                [numbers.setdefault(each, len(numbers)) for each in one] for one in needs
            ]
        self._needs = list(numbers)
        # Most short texts have no common run: what needs one is not even gone through for them.
        self._without_run: _Plan = {}
        for name, known in self._patterns.items():
            if others := [one for one in known if 0 not in one]:
                self._without_run[name] = others

    def may_match(self, text: str, names: Iterable[str] | None = None) -> tuple[str, ...]:
        """Those of some detectors, or of all, that can find anything in a text, in their order."""
        seen = views(text)
        plan = self._patterns if _COMMON_RUN in seen[OUTLINE] else self._without_run
        if names is not None:
            plan = {name: plan[name] for name in names if name in plan}
        holds: list[bool | None] = [None] * len(self._needs)
        return tuple(name for name, some in plan.items() if self._any_may_match(some, seen, holds))

    def _any_may_match(
        self, patterns: list[list[int]], seen: Sequence[bytes], holds: list[bool | None]
    ) -> bool:
        for needs in patterns:
            for number in needs:
                known = holds[number]
                if known is None:
                    view, words = self._needs[number]
                    data = seen[view]
                    for word in words:  # a loop, since every line of a session may come by
                        if word in data:
                            known = True
                            break
                    holds[number] = known = known or False
                if not known:
                    break
            else:
                return True
        return False


def needed(pattern: re.Pattern[str]) -> tuple[Needs, ...]:
    """All that stands in whatever a pattern matches; nothing where that cannot be told."""
    with contextlib.suppress(ImportError, AttributeError, re.error, RecursionError):
        tree = importlib.import_module("re._parser").parse(pattern.pattern, pattern.flags)
        words = FOLDED if pattern.flags & re.IGNORECASE else EXACT
        runs = _telling(_Reader(OUTLINE).needs(tree), _is_run)
        found = [(words, each) for each in _telling(_Reader(words).needs(tree), _is_word)]
        found += [(OUTLINE, each) for each in runs]
        if any(all(_COMMON_RUN in run for run in each) for each in runs):
            found.insert(0, (OUTLINE, frozenset({_COMMON_RUN})))
        return tuple((view, tuple(sorted(each))) for view, each in found)
    return ()


def _is_word(word: bytes) -> bool:
    """Whether it is worth looking for: more than a letter."""
    return len(word) > 1 or (len(word) == 1 and word[0] not in _TOKEN)


def _is_run(outline: bytes) -> bool:
    return b"a" * _LEAST_RUN in outline


def _telling(needs: Iterable[Words], tells: Callable[[bytes], bool]) -> list[Words]:
    """Those that say something, without what another of them says too."""
    shortest = dict.fromkeys(
        frozenset(word for word in words if not any(o in word for o in words if o != word))
        for words in needs
    )
    some = [words for words in shortest if all(map(tells, words))]
    return [words for words in some if not any(_implies(o, words) for o in some if o != words)]


def _implies(words: Words, others: Words) -> bool:
    """Whether one of the others stands in a text wherever one of the words does."""
    return all(any(other in word for other in others) for word in words)


@dataclass(frozen=True, slots=True)
class _Part:
    """What a part of a pattern matches."""

    whole: Words | None
    """All texts that it can match, where they are few."""
    first: Words = _NOTHING
    """Otherwise, how what it matches begins, and ends."""
    last: Words = _NOTHING
    needs: tuple[Words, ...] = ()
    """Each a set of words of which one stands in it."""


_UNKNOWN = _Part(None)


class _Reader:
    """Reads the tree of a pattern, as one view of a text shows what it matches."""

    def __init__(self, view: int) -> None:
        self._view = view

    def needs(self, tree: Any) -> tuple[Words, ...]:
        part = self._sequence(tree)
        return part.needs if part.whole is None else (part.whole,)

    def _sequence(self, nodes: Iterable[tuple[Any, Any]]) -> _Part:
        run, first = _NOTHING, None
        needs: list[Words] = []
        for operation, argument in nodes:
            part = self._part(str(operation), argument)
            begins = part.first if part.whole is None else part.whole
            joined = _joined(run, begins)
            if part.whole is not None and joined is not None:
                run = joined
                continue
            ended = run if joined is None else joined
            first = ended if first is None else first
            needs += [ended, *part.needs]
            run = part.last if part.whole is None else part.whole
        if first is None:
            return _Part(run)
        return _Part(None, first, run, (*needs, run))

    def _part(self, operation: str, argument: Any) -> _Part:
        if operation == "LITERAL":
            character = self._seen(argument)
            return _UNKNOWN if character is None else _Part(frozenset({character}))
        if operation == "IN":
            return self._any_of(argument)
        if operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._repeated(*argument)
        if operation == "SUBPATTERN":
            _, added, removed, inner = argument
            return _UNKNOWN if added or removed else self._sequence(inner)
        if operation == "ATOMIC_GROUP":
            return self._sequence(argument)
        if operation == "BRANCH":
            return _either([self._sequence(each) for each in argument[1]])
        if operation in ("AT", "ASSERT", "ASSERT_NOT"):
            return _Part(_NOTHING)  # no character is matched, and what stands around it meets
        return _UNKNOWN

    def _seen(self, code: int) -> bytes | None:
        """A character as the view shows it; None where that depends."""
        if code < 128:
            byte = bytes((code,))
            if self._view == EXACT:
                return byte
            return byte.lower() if self._view == FOLDED else byte.translate(_OUTLINE)
        if self._view == EXACT:
            return chr(code).encode("utf-8", "surrogatepass")
        return b"a" if self._view == OUTLINE else None

    def _any_of(self, members: Iterable[tuple[Any, Any]]) -> _Part:
        found: set[bytes | None] = set()
        for operation, argument in members:
            kind = str(operation)
            if kind == "LITERAL":
                found.add(self._seen(argument))
            elif kind == "RANGE" and argument[1] - argument[0] < 256:
                found |= {self._seen(code) for code in range(argument[0], argument[1] + 1)}
            elif kind == "CATEGORY" and self._view == OUTLINE and _is_token(str(argument)):
                found.add(b"a")
            else:
                return _UNKNOWN
        some = frozenset(character for character in found if character is not None)
        return _Part(some) if len(some) == len(found) <= _MOST else _UNKNOWN

    def _repeated(self, least: int, most: int, inner: Any) -> _Part:
        if least == 0:
            return _UNKNOWN
        part = self._sequence(inner)
        if part.whole is None:
            return _Part(None, part.first, part.last, part.needs)
        times: Words | None = _NOTHING
        for _ in range(min(least, _LONGEST)):
            times = _joined(times, part.whole) if times is not None else None
        if times is None:
            return _Part(None, part.whole, part.whole, (part.whole,))
        if least == most <= _LONGEST:
            return _Part(times)
        return _Part(None, times, times, (times,))


def _is_token(category: str) -> bool:
    return category in ("CATEGORY_DIGIT", "CATEGORY_WORD")


def _joined(before: Words, behind: Words) -> Words | None:
    """Each of some words with each of others behind it; None when these are too many."""
    if len(before) * len(behind) > _MOST:
        return None
    return frozenset(one + other for one in before for other in behind)


def _either(parts: Sequence[_Part]) -> _Part:
    if all(part.whole is not None for part in parts):
        union = _union(part.whole for part in parts if part.whole is not None)
        return _UNKNOWN if union is None else _Part(union)
    needs = [part.needs if part.whole is None else (part.whole,) for part in parts]
    longest = [
        max(some, key=lambda words: min(map(len, words)), default=_NOTHING) for some in needs
    ]
    return _Part(
        None,
        first=_union(part.first if part.whole is None else part.whole for part in parts)
        or _NOTHING,
        last=_union(part.last if part.whole is None else part.whole for part in parts) or _NOTHING,
        needs=(_union(longest) or _NOTHING,),
    )


def _union(some: Iterable[Words]) -> Words | None:
    """All words of some sets; None when these are too many."""
    union = frozenset[bytes]().union(*some)
    return union if len(union) <= _MOST else None
