"""Request bodies as pieces of JSON text that they share, and the hash of each body.

A body mostly is the one before it with something new near its end. So a body is told as runs of
numbered pieces, and hashed on from where it differs from the one before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from projections.walked import common
from projections.wire import STYLES

Piece = tuple[str | int | tuple[int, int], ...]
"""Text of a body: JSON as it stands; the number of a long text, which stands there as JSON writes
it between its quotes in the first of ``wire.STYLES``; or the style and the number.

In the place of a piece its number may stand again: it is the same piece."""

LONG = 200
"""Characters of a string from which on it is one of the long texts."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_MARK = "@text"


class Pieces:
    """The pieces so far.

    A container that was made known is looked at once and never again: whoever makes it known says
    that it never changes.
    """

    def __init__(self, add: Callable[[str], int]) -> None:
        self._add = add
        self.pieces: list[Piece | int] = []
        self.texts: list[bytes] = []
        """Each as it stands in a body."""
        self._written: dict[Any, int] = {}
        self._known: dict[int, Any] = {}
        """By its ``id``, which is its own as long as it is held here."""

    def know(self, value: Any) -> None:
        """A value that never changes, with all that is in it."""
        if isinstance(value, dict | list) and id(value) not in self._known:
            self._known[id(value)] = value
            for inner in value.values() if isinstance(value, dict) else value:
                self.know(inner)

    def key(self, value: Any) -> Any:
        """Equal for values that JSON writes alike, and cheap for those that are known."""
        kind = type(value)
        if kind is str:
            return value
        if kind is dict or kind is list:
            if id(value) in self._known:
                return id(value)  # no other key is an int
            if kind is dict:
                return ("{", *value, *map(self.key, value.values()))
            return ("[", *map(self.key, value))
        if kind is tuple:
            return ("[", *map(self.key, value))
        return (kind, repr(value))  # 1, 1.0 and True are equal, and so are 0.0 and -0.0

    def of_text(self, text: str) -> int:
        """The piece that is this text."""
        found = self._written.get(text)
        if found is None:
            found = self._written[text] = self._new((text,), text.encode())
        return found

    def of_value(self, front: str, value: Any, style: int = 0, key: Any = None) -> int:
        """The piece that is a value as a client writes it, with a text in front.

        The key of one value is the same each time, so that it is the same piece. Values that are
        alike may have keys of their own: then each is a piece that follows on the one before it.
        """
        asked = (front, style, self.key(value) if key is None else key)
        found = self._written.get(asked)
        if found is None:
            piece, text = self._made(front, value, style)
            found = self._written[asked] = self._new(piece, text.encode())
        return found

    def again(self, number: int) -> int:
        """The same piece under a new number, the next one."""
        first = self.pieces[number]
        return self._new(first if isinstance(first, int) else number, self.texts[number])

    def _new(self, piece: Piece | int, text: bytes) -> int:
        self.pieces.append(piece)
        self.texts.append(text)
        return len(self.pieces) - 1

    def _made(self, front: str, value: Any, style: int) -> tuple[Piece, str]:
        written = STYLES[style].text
        text = front + written(value)
        long: list[str] = []
        mark = _MARK
        short = written(_shortened(value, mark, long))
        if not long:
            return (text,), text
        while short.count(mark) != len(long):  # somebody says the mark
            mark, long = mark + "@", []
            short = written(_shortened(value, mark, long))
        between = re.split(f"{mark}[0-9]+", short)
        found: list[str | int | tuple[int, int]] = [front + between[0]]
        for each, behind in zip(long, between[1:], strict=True):
            number = self._add(each)
            found += [(style, number) if style else number, behind]
        return tuple(found), text


def _shortened(value: Any, mark: str, long: list[str]) -> Any:
    """The value with a mark for each of its long texts, which are added to ``long``.

    One with half a character in it stays: not everything that holds texts can hold that.
    """
    if isinstance(value, str):
        if len(value) < LONG or (not value.isascii() and _SURROGATE.search(value)):
            return value
        long.append(value)
        return f"{mark}{len(long)}"
    if isinstance(value, dict):
        return {name: _shortened(inner, mark, long) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_shortened(inner, mark, long) for inner in value]
    return value


def numbers_of(
    pieces: Pieces,
    body: Mapping[str, Any],
    style: int = 0,
    listed: str = "",
    entries: Iterable[int] = (),
) -> list[int]:
    """The pieces of a body: one for each field, and what stands between them.

    ``listed`` is the field whose value is a list of the ``entries``, which are pieces with a comma
    in front of each but the first; they are asked for in their turn.
    """
    text = STYLES[style].text
    colon = ": " if STYLES[style].blanks else ":"
    found: list[int] = []
    front = "{"
    for name, value in body.items():
        front += text(name) + colon
        if name == listed:
            found += [pieces.of_text(front + "["), *entries]
            front = "]" + comma_of(style)
        else:
            found.append(pieces.of_value(front, value, style))
            front = comma_of(style)
    return [*found, pieces.of_text(front.removesuffix(comma_of(style)) + "}")]


def comma_of(style: int) -> str:
    """What stands between two values."""
    return ", " if STYLES[style].blanks else ","


class Written(NamedTuple):
    """A body."""

    runs: tuple[tuple[int, int], ...]
    bytes: int
    sha256: str


MOST_RUNS = 32
"""Of a body. One that is changed here and there in each call would have as many as it has pieces;
so neighbours are given new numbers, one behind the other."""


class _Run(NamedTuple):
    at: int
    """The place of its first piece in the body."""
    first: int
    """The number of that."""


class Chain:
    """The body that was written last."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._numbers: list[int] = []
        self._states = [sha256()]
        self._sizes = [0]
        self._runs: list[_Run] = []
        self._renumbered: dict[int, int] = {}

    def write(self, numbers: Sequence[int]) -> Written:
        """The body of these pieces."""
        kept = common(self._numbers, numbers)
        del self._numbers[kept:], self._states[kept + 1 :], self._sizes[kept + 1 :]
        while self._runs and self._runs[-1].at >= kept:
            self._runs.pop()
        for at in range(kept, len(numbers)):
            self._add(at, numbers[at])
        self._join()
        ends = [*(run.at for run in self._runs[1:]), len(numbers)]
        runs = tuple((run.first, end - run.at) for run, end in zip(self._runs, ends, strict=True))
        return Written(runs, self._sizes[-1], self._states[-1].hexdigest())

    def _add(self, at: int, piece: int) -> None:
        number = self._renumbered.get(piece, piece)
        last = self._runs[-1] if self._runs else None
        if last is None or number != last.first + at - last.at:
            self._runs.append(_Run(at, number))
        text = self._pieces.texts[piece]
        state = self._states[-1].copy()
        state.update(text)
        self._numbers.append(piece)
        self._states.append(state)
        self._sizes.append(self._sizes[-1] + len(text))

    def _join(self) -> None:
        """Make one of the two neighbours that are the shortest, as long as there are too many.

        The last run is left alone: what ends a body stands behind what is new in the next one.
        """
        while len(self._runs) > MOST_RUNS:
            starts = [run.at for run in self._runs]
            widths = [end - start for start, end in zip(starts, starts[2:], strict=False)]
            n = min(range(len(widths)), key=widths.__getitem__)
            start, end = starts[n], starts[n + 2]
            again = [self._pieces.again(self._numbers[at]) for at in range(start, end)]
            self._renumbered.update(zip(self._numbers[start:end], again, strict=True))
            self._runs[n : n + 2] = [_Run(start, again[0])]
