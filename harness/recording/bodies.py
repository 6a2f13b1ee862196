"""The bodies of a conversation's requests, each read against the one before it.

Each request repeats the whole conversation. Reading it whole would cost the history at every call;
so bytes that are those of the last body are not read again, only compared, and reading begins with
the first message that differs.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import Any

from eventlog.errors import EventInvalid, InputRefused
from eventlog.jsonvalue import MAX_DEPTH, depth, loads, value_at, value_fault
from projections.followed import MESSAGES

_SPACE = re.compile(r"[ \t\n\r]*")
_CHUNK = 4096
_LARGEST = 1 << 17
"""Bytes that are compared at once: what is copied for it stays in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a request, taken apart."""

    raw: bytes
    front: dict[str, Any]
    """The fields before the list of messages."""
    back: dict[str, Any]
    """The fields behind it; all of them where there is no such list."""
    messages: list[Any]
    """All of them; those that are kept of the last body are the same objects."""
    ends: array[int]
    """Where each message ends, in bytes; empty where nobody knows."""
    kept: int = 0
    """How many messages stand at its front that the last body had there, to the byte."""
    same: int = 0
    """How many bytes at its front are those of the last body."""
    is_listed: bool = True
    """Whether there is a list of messages."""

    @property
    def fields(self) -> dict[str, Any]:
        """Everything but the list of messages."""
        return {**self.front, **self.back}

    @property
    def end(self) -> int:
        """Where the last message ends, in bytes; 0 where nobody knows."""
        return self.ends[-1] if self.ends else 0


@dataclass(slots=True)
class _Read:
    """A body as far as it was read."""

    front: dict[str, Any] = field(default_factory=dict)
    messages: list[Any] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    """Where each message ends, in characters of what was read."""
    back: dict[str, Any] = field(default_factory=dict)
    is_listed: bool = True


class Bodies:
    """Reads the bodies of one conversation, each against the last that was taken."""

    def __init__(self, dialect: str) -> None:
        self._field = MESSAGES[dialect]
        self.last = Body(b"", {}, {}, [], array("q"))
        self._begun = b""
        """A body that was seen to begin with all of the last one's messages."""

    def take(self, body: Body) -> None:
        """The next bodies are read against this one."""
        self.last, self._begun = body, b""

    def settle(self) -> None:
        """Forget of the last body what stands behind its messages: then a body that goes on from
        there begins with it. That is a copy, so it is made when nobody waits."""
        last = self.last
        if len(last.raw) != last.end:
            self.last = replace(last, raw=last.raw[: last.end])

    def goes_on(self, raw: bytes) -> bool:
        """Whether all messages of the last body stand at the front of this one."""
        self.settle()
        if not self.last.raw or not raw.startswith(self.last.raw):
            return False
        self._begun = raw
        return True

    def in_common(self, raw: bytes) -> int:
        """How many bytes the last body has in common with this one at its front."""
        return common_prefix(self.last.raw, raw)

    def read(self, raw: bytes) -> Body:
        """A body. Raises InputRefused for one that is no JSON object, and for one that is nested
        too deep."""
        last = self.last
        same = last.end if raw is self._begun else common_prefix(last.raw, raw)
        kept = bisect_right(last.ends, same)
        start = last.ends[kept - 1] if kept else 0
        text = _decoded(raw, start)
        found = self._scanned(text, kept) if text is not None else None
        if found is None and kept:
            kept = start = 0
            text = _decoded(raw, 0)
            found = self._scanned(text, 0) if text is not None else None
        if found is None or text is None:
            found, ends = self._slowly(raw), array("q")
        else:
            ends = last.ends[:kept] + array("q", _offsets(text, found.ends, start))
        messages = last.messages[:kept] + found.messages
        return Body(raw, found.front, found.back, messages, ends, kept, same, found.is_listed)

    def _scanned(self, text: str, kept: int) -> _Read | None:
        """What stands behind the messages that are kept, or the whole; None where it is unusual,
        and any reader of JSON has to say what it is."""
        reader = _Reader(text)
        found = _Read(front=self.last.front if kept else {})
        try:
            if kept:
                reader.messages(found)
            elif not reader.opened(found.front, self._field):
                return None
            else:
                reader.messages(found, is_first=True)
            reader.fields(found.back)
        except (EventInvalid, _Unusual):
            return None
        twice = found.back.keys() & found.front.keys() or self._field in found.back
        too_deep = depth([found.front, found.messages, found.back]) > MAX_DEPTH
        return None if twice or too_deep else found

    def _slowly(self, raw: bytes) -> _Read:
        try:
            value = loads(raw)
        except EventInvalid as fault:
            raise InputRefused(f"the body is {fault}") from None
        if not isinstance(value, dict):
            raise InputRefused("the body is no JSON object")
        if depth(value) > MAX_DEPTH:
            raise InputRefused(f"the body is nested more than {MAX_DEPTH} deep")
        if found := value_fault(value, raw):
            raise InputRefused(f"the body {found}")
        given = value.get(self._field)
        if not isinstance(given, list):
            return _Read(back=value, is_listed=False)
        names = list(value)
        before = names.index(self._field)
        front = {name: value[name] for name in names[:before]}
        back = {name: value[name] for name in names[before + 1 :]}
        return _Read(front, given, [], back)


class _Unusual(Exception):
    """What is read here does not stand there."""


class _Reader:
    """Reads one JSON object from front to back, the list of messages one by one."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def opened(self, into: dict[str, Any], name: str) -> bool:
        """The fields up to the list of that name; False where there is no such list."""
        self._take("{")
        while True:
            key = self._key()
            if key == name:
                return self._peek() == "["
            if key in into:
                raise _Unusual
            into[key] = self._value()
            if self._peek() != ",":
                return False
            self._at += 1

    def messages(self, into: _Read, *, is_first: bool = False) -> None:
        """The list of messages from here to its end, which is taken too."""
        if is_first:
            self._take("[")
            if self._peek() == "]":
                self._at += 1
                return
        else:
            if self._peek() == "]":
                self._at += 1
                return
            self._take(",")
        while True:
            into.messages.append(self._value())
            into.ends.append(self._at)
            if self._peek() == "]":
                self._at += 1
                return
            self._take(",")

    def fields(self, into: dict[str, Any]) -> None:
        """The fields from here to the end of the object, which is the end of the text."""
        while self._peek() == ",":
            self._at += 1
            key = self._key()
            if key in into:
                raise _Unusual
            into[key] = self._value()
        self._take("}")
        if self._peek():
            raise _Unusual

    def _key(self) -> str:
        key = self._value()
        if not isinstance(key, str):
            raise _Unusual
        self._take(":")
        return key

    def _value(self) -> Any:
        self._peek()
        value, self._at = value_at(self._text, self._at)
        return value

    def _take(self, expected: str) -> None:
        if self._peek() != expected:
            raise _Unusual
        self._at += 1

    def _peek(self) -> str:
        """The next character that is no white space; nothing at the end."""
        found = _SPACE.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._text[self._at : self._at + 1]


def common_prefix(one: bytes, other: bytes) -> int:
    """How many bytes two bodies have in common at their front."""
    low, high = 0, min(len(one), len(other))
    step = _CHUNK
    while low < high:  # doubling steps: what is compared is near to what is common
        end = min(low + step, high)
        if one[low:end] == other[low:end]:
            low, step = end, min(step * 2, _LARGEST)
        elif step == 1:
            return low
        else:
            high, step = end, max(1, (end - low) // 2)
    return low


def _decoded(raw: bytes, start: int) -> str | None:
    try:
        return raw[start:].decode()
    except UnicodeDecodeError:
        return None


def _offsets(text: str, ends: list[int], start: int) -> list[int]:
    """Places in a text as places in its bytes."""
    if text.isascii():
        return [start + end for end in ends]
    found, at, place = [], 0, start
    for end in ends:
        place += len(text[at:end].encode())
        found.append(place)
        at = end
    return found
