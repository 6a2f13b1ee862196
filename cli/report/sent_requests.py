"""The bodies of recorded calls, each written on from the one before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from cli.report.pieces import Pieces, comma_of, numbers_of
from eventlog.errors import IntegrityFault
from eventlog.recorded import RecordedEvent, StreamKey
from projections.asked import MESSAGES
from projections.dialects import DialectModule, RequestEntry, dialect
from projections.judging import Walk
from projections.live import Live
from projections.walked import Row
from projections.wire import STYLES, Written, as_sent, whole_of


class _Kept(NamedTuple):
    """Of a beginning of a request."""

    number: int
    """The piece of its last entry; -1 where that is none of its messages."""
    apart: int = 0
    """How many of its entries are none of its messages."""
    strange: int = 0
    """How many of them cannot be written by themselves."""
    messages: int = 0
    group: int | None = None
    """The group of its last message."""


class SentRequests(Walk):
    """A walk over the recorded calls of a stream that gives the body of each."""

    def __init__(
        self, live: Live, stream: StreamKey, wanted: Mapping[int, RecordedEvent], pieces: Pieces
    ) -> None:
        super().__init__(live, stream, wanted)
        self._pieces = pieces
        self._proving = Written()
        self._dialect, self._style = "", 0
        self._begun: list[_Kept] = []
        self._entries: list[int] = []
        """The pieces of its messages."""
        self._apart: list[Row] = []
        self._made: dict[tuple[int, str, int, bool], tuple[Row, int]] = {}
        """The piece of a row, by its ``id``, which is its own as long as it is held here."""

    def taken(self, call: RecordedEvent, shared: int) -> None:
        """What is not shared has to be written again."""
        if call.data["dialect"] != self._dialect:
            self._dialect, shared = call.data["dialect"], 0
        self._proving.cut(shared)
        self._cut(shared)

    def _cut(self, shared: int) -> None:
        del self._begun[shared:]
        last = self._begun[-1] if self._begun else _Kept(-1)
        del self._entries[last.messages :], self._apart[last.apart :]

    def body(self, call: RecordedEvent) -> tuple[list[int], bool]:
        """The pieces of the call that was taken last, and whether its bytes are proved.

        Raises IntegrityFault where it cannot be rebuilt.
        """
        fault = self.request.fault(call.position)
        if fault:
            raise IntegrityFault(fault)
        tools = self.declared(call.data.get("tools")).value
        self._pieces.know(tools)
        provider, name = dialect(call.data["dialect"]), MESSAGES[call.data["dialect"]]
        salt = self.salts.get(call.position)
        style = None
        if salt is not None and call.data.get("wire_digest") is not None:
            style = self._proving.style_of(call.data, salt, self.request.rows, tools)
        self._restyle(STYLES.index(style) if style is not None else 0)
        lone = self._lone()
        sent = [entry for row in lone for entry in row.sent]
        body = provider.to_request(sent, tools, call.data.get("parameters") or {})
        if body.get(name) != []:
            return self._whole(provider, call, tools, salt)
        if len(lone) < len(self.request.rows):
            body[name] = [None]  # a list that holds something; what it holds is in the pieces
        found = whole_of(body, call.data)
        entries = self._written(provider, name)
        numbers = numbers_of(self._pieces, found, self._style, name, entries)
        if self._begun and self._begun[-1].strange:
            return self._whole(provider, call, tools, salt)
        return numbers, style is not None

    def _whole(
        self, provider: DialectModule, call: RecordedEvent, tools: Any, salt: bytes | None
    ) -> tuple[list[int], bool]:
        """The same of a request that is no list of messages, each in an entry of its own."""
        sent = [entry for row in self.request.rows for entry in row.sent]
        body = provider.to_request(sent, tools, call.data.get("parameters") or {})
        whole = whole_of(body, call.data)
        written, same = as_sent(whole, call.data, salt)
        styles = (n for n, style in enumerate(STYLES) if style.text(whole).encode() == written)
        return numbers_of(self._pieces, whole, next(styles)), same

    def _restyle(self, style: int) -> None:
        if style != self._style:
            self._style = style
            self._cut(0)

    def _lone(self) -> list[Row]:
        """The rows that are none of its messages."""
        new = self.request.rows[len(self._begun) :]
        return self._apart + [row for row in new if _is_apart(row)]

    def _written(self, provider: DialectModule, name: str) -> Iterator[int]:
        """The pieces of its messages, those of the rows that are new taken in."""
        for row in self.request.rows[len(self._begun) :]:
            last = self._begun[-1] if self._begun else _Kept(-1)
            self._begun.append(self._next(provider, name, row, last))
        yield from self._entries

    def _next(self, provider: DialectModule, name: str, row: Row, last: _Kept) -> _Kept:
        if _is_apart(row):
            self._apart.append(row)
            return last._replace(number=-1, apart=last.apart + 1)
        first = row.sent[0].group
        joins = first is not None and first == last.group
        number = self._number(provider, name, row, is_first=not self._entries)
        self._entries.append(number)
        return last._replace(
            number=number,
            strange=last.strange + (joins or number < 0),
            messages=last.messages + 1,
            group=row.sent[-1].group,
        )

    def _number(self, provider: DialectModule, name: str, row: Row, *, is_first: bool) -> int:
        """The piece of a row; -1 where it is not one message."""
        asked = (id(row), self._dialect, self._style, is_first)
        found = self._made.get(asked)
        if found is None:
            messages, number = _messages(provider, name, row.sent), -1
            if len(messages) == 1:
                front = "" if is_first else comma_of(self._style)
                key = (row.entry, self._pieces.key(messages[0]))
                number = self._pieces.of_value(front, messages[0], self._style, key)
            found = self._made[asked] = (row, number)
        return found[1]


def _is_apart(row: Row) -> bool:
    return all(entry.place != "messages" for entry in row.sent)


def _messages(provider: DialectModule, name: str, sent: tuple[RequestEntry, ...]) -> list[Any]:
    if any(entry.place != "messages" for entry in sent):
        return []
    return list(provider.to_request(sent)[name])
