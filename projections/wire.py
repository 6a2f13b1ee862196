"""The bytes of a request as they went over the wire, written again and proved.

What a log holds of a request is JSON; its bytes are lost where its client wrote that JSON in a way
of its own. There are few ways, so each is tried until the bytes have the digest that was recorded
of them. Where none has it, the request is the same JSON and not the same bytes, and that is said.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

from eventlog.jsonvalue import utf8_clean
from projections.asked import MESSAGES
from projections.dialects import RequestEntry, dialect


class Style(NamedTuple):
    """How a client writes JSON."""

    blanks: bool = False
    """A blank behind each comma and colon."""
    ascii: bool = False
    """Nothing but ASCII."""
    escaped: tuple[tuple[str, str], ...] = ()
    """What it escapes beyond that."""

    def text(self, value: Any) -> str:
        """A value as it writes it."""
        separators = (", ", ": ") if self.blanks else (",", ":")
        found = json.dumps(value, ensure_ascii=self.ascii, separators=separators)
        for char, escape in self.escaped:
            found = found.replace(char, escape)
        return utf8_clean(found)


_HTML = tuple((char, f"\\u{ord(char):04x}") for char in "<>&\u2028\u2029")

STYLES = (
    Style(),  # JavaScript, Rust, httpx, the clients of OpenAI and Anthropic
    Style(blanks=True, ascii=True),  # Python's json and requests
    Style(ascii=True),
    Style(blanks=True),
    Style(escaped=_HTML),  # Go
    Style(ascii=True, escaped=(("/", "\\/"),)),  # PHP
)
"""The ways that are known, the commonest first."""


def ordered(body: Mapping[str, Any], places: Mapping[str, int] | None) -> dict[str, Any]:
    """A body with its fields where they stood; as it is where nobody wrote that down."""
    if places is None:
        return dict(body)
    names = [name for name in body if name not in places]
    for name, at in sorted(places.items(), key=lambda each: each[1]):
        if name in body:
            names.insert(at, name)
    return {name: body[name] for name in names}


def whole_of(body: Mapping[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
    """The body that a recorded call had, with its fields where they stood; without a list of
    messages where it had none."""
    places, name = call.get("places"), MESSAGES[call["dialect"]]
    if places is not None and name not in places and body.get(name) == []:
        body = {field: value for field, value in body.items() if field != name}
    return ordered(body, places)


def as_sent(
    whole: Mapping[str, Any], call: Mapping[str, Any], salt: bytes | None
) -> tuple[bytes, bool]:
    """The bytes of a recorded call's body, and whether they are proved to be those that were sent.

    ``whole`` is the body with its fields where they stood, ``call`` what its ModelCalled holds and
    ``salt`` its own.
    """
    recorded = call.get("wire_digest")
    if recorded is not None and salt is not None:
        for style in STYLES:
            written = style.text(whole).encode()
            if sha256(written + salt).hexdigest() == recorded:
                return written, True
    return STYLES[0].text(whole).encode(), False


class Sent(Protocol):
    """An entry of a request."""

    @property
    def sent(self) -> Sequence[RequestEntry]:
        """What went into one message, or into one field."""


class Written:
    """The bytes of one request after the other, each written on from the one before it.

    Messages that stand at the front of both are neither written nor hashed again.
    """

    def __init__(self) -> None:
        self._ways = [_Way(style) for style in STYLES]
        self._apart: list[int] = []
        """The entries that are none of its messages."""
        self._looked_at = 0

    def cut(self, kept: int) -> None:
        """Of the last request only so many entries stand in the next one."""
        for way in self._ways:
            del way.states[kept + 1 :]
        self._looked_at = min(self._looked_at, kept)
        while self._apart and self._apart[-1] >= kept:
            self._apart.pop()

    def style_of(
        self,
        call: Mapping[str, Any],
        salt: bytes,
        entries: Sequence[Sent],
        tools: Any,
    ) -> Style | None:
        """The way in which the request of a call is what was sent; None where no known one is."""
        provider, name = dialect(call["dialect"]), MESSAGES[call["dialect"]]
        for at in range(self._looked_at, len(entries)):
            if entries[at].sent[0].place != "messages":
                self._apart.append(at)
        self._looked_at = len(entries)
        lone = [entry for at in self._apart for entry in entries[at].sent]
        whole = {**provider.to_request(lone, tools, call.get("parameters") or {})}
        body = whole_of(whole, call)
        listed = body.get(name) == []

        def message(each: Sent) -> Any:
            return provider.to_request(each.sent)[name][0]

        for way in self._ways:
            state = way.listed(body, name, entries, message) if listed else way.whole(body)
            state.update(salt)
            if state.hexdigest() == call["wire_digest"]:
                self._ways.remove(way)
                self._ways.insert(0, way)  # one client wrote them all
                return way.style
        return None


class _Way:
    """A request as one client writes it."""

    def __init__(self, style: Style) -> None:
        self.style = style
        self.states: list[Any] = []
        """Its hash before its first message, and behind each of its entries."""
        self._front: str | None = None

    def whole(self, body: Mapping[str, Any]) -> Any:
        """The hash of a body that has no list of messages."""
        self._front = None
        return sha256(self.style.text(body).encode())

    def listed(
        self,
        body: Mapping[str, Any],
        name: str,
        entries: Sequence[Sent],
        message: Callable[[Sent], Any],
    ) -> Any:
        """The hash of a body whose messages are these."""
        text = self.style.text
        comma, colon = (", ", ": ") if self.style.blanks else (",", ":")
        fields = [f"{text(field)}{colon}{text(value)}{comma}" for field, value in body.items()]
        at = list(body).index(name)
        front = "{" + "".join(fields[:at]) + text(name) + colon + "["
        back = "".join([comma, *fields[at + 1 :]]).removesuffix(comma)
        if front != self._front:
            self._front, self.states = front, [sha256(front.encode())]
        states = self.states
        for each in entries[len(states) - 1 :]:
            if each.sent[0].place != "messages":
                states.append(states[-1])
                continue
            state = states[-1].copy()
            begun = "" if states[-1] is states[0] else comma
            state.update((begun + text(message(each))).encode())
            states.append(state)
        end = states[-1].copy()
        end.update(f"]{back}}}".encode())
        return end
