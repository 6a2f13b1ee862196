"""The request of one call after the other, each made from where it differs from the one before.

A request mostly repeats the one before it and goes on. So what is asked of a request is kept for
each beginning of it: the hash so far, how much was erased, what stands in a context that holds it.
A call then costs what is new in it, and what it no longer holds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from eventlog.errors import IntegrityFault
from eventlog.recorded import StreamKey
from projections import digests
from projections.dialects.entries import RequestEntry
from projections.expanding import Expanded, stated
from projections.forms import identical
from projections.items import Item
from projections.live import Live
from projections.manifest import Piece, SentAs
from projections.parts import group_at, part_of
from projections.runs import Standing
from projections.sent import absent, entry_of
from projections.verdicts import erased_in, has_blob


class Row(NamedTuple):
    """One entry of a request."""

    entry: SentAs
    shapes: tuple[Mapping[str, Any], ...]
    """The form of each piece."""
    is_erased_form: bool
    found: tuple[Item | None, ...]
    """The item that each piece names; None where there is none."""
    items: tuple[Item, ...]
    """The same, in the parts that were sent; none where one is not there."""
    sent: tuple[RequestEntry, ...] = ()
    hash: bytes | None = None
    fault: str = ""
    """Why it cannot be rebuilt."""


class _Known(NamedTuple):
    """Of a beginning of a request."""

    state: Any
    """Its entries, hashed."""
    pieces: int = 0
    erased: int = 0
    sealed: int = 0
    erased_forms: int = 0


class Walked:
    """The request of the call that was taken last."""

    def __init__(self, live: Live, stream: StreamKey, salts: Mapping[int, bytes]) -> None:
        self._live, self._stream, self._salts = live, stream, salts
        self.rows: list[Row] = []
        self.stood: list[Standing] = []
        """The items that were sent, in their renditions."""
        self._pieces: list[Piece] = []
        self._items: list[Item | None] = []
        self._groups: list[tuple[int, int]] = []
        """Where an item begins among the pieces, and how many stood before it."""
        self._known = [_Known(sha256(digests.DOMAIN))]
        self._hashes: list[bytes] = []
        self._holes: list[int] = []
        """Entries that have no hash."""
        self._faults: list[int] = []
        """Entries that cannot be rebuilt."""
        self._last: Expanded | None = None

    # -- taking the next one --------------------------------------------------------------------

    def take(self, expanded: Expanded, before: Expanded | None, said: _Said) -> tuple[int, int]:
        """The next request. How many rows, and how many of what stood, are the same as before.

        ``before`` is what the manifest is a difference from, and ``said`` what it says.
        """
        shared = self._shared(expanded, before, said)
        dropped = self.rows[shared:]
        pieces = self._known[shared].pieces
        del self.rows[shared:], self._known[shared + 1 :], self._hashes[shared:]
        del self._pieces[pieces:], self._items[pieces:]
        for places in (self._holes, self._faults):
            while places and places[-1] >= shared:
                places.pop()
        for row in self._made(expanded, shared, pieces, dropped):
            self._add(row)
        self._last = expanded
        return shared, self._stand(pieces)

    def _shared(self, expanded: Expanded, before: Expanded | None, said: _Said) -> int:
        """How many entries are the same, in the same form."""
        last = self._last
        if last is None:
            return 0
        if before is last and said.forms_stand:
            shared = min(said.kept, len(self.rows))
            return min([shared, *(self._row_of(number) for number in said.numbers)])
        shared = common(last.entries, expanded.entries)
        for number in {*last.forms, *expanded.forms}:
            old, new = last.forms.get(number), expanded.forms.get(number)
            if (
                old is None
                or new is None
                or old.is_erased != new.is_erased
                or not identical(old.shape, new.shape)
            ):
                shared = min(shared, self._row_of(number))
        return shared

    def _row_of(self, piece: int) -> int:
        return bisect_right(self._known, piece, key=lambda known: known.pieces) - 1

    def _made(
        self, expanded: Expanded, shared: int, first: int, dropped: Iterable[Row]
    ) -> Iterable[Row]:
        """The rows behind those that are shared; one that only moved is not made again."""
        known = {row.entry: row for row in dropped}
        whole = {
            piece.standing: item
            for row in known.values()
            for piece, item in zip(row.entry, row.found, strict=True)
        }
        new = expanded.entries[shared:]
        self._find([piece.standing for entry in new for piece in entry], whole)
        for entry in new:
            found = [expanded.forms.get(first + n) for n in range(len(entry))]
            first += len(entry)
            shapes = tuple(form.shape if form is not None else {} for form in found)
            is_erased = any(form is not None and form.is_erased for form in found)
            row = known.get(entry)
            if row is None or not identical(row.shapes, shapes) or row.is_erased_form != is_erased:
                row = self._row(entry, shapes, is_erased, whole)
            yield row

    def _find(self, pieces: Sequence[Standing], whole: dict[Standing, Item | None]) -> None:
        new = [standing for standing in dict.fromkeys(pieces) if standing not in whole]
        made = self._live.materialize(self._stream, new) if new else []
        if len(made) == len(new):
            whole.update(zip(new, made, strict=True))
            return
        for standing in new:
            whole[standing] = next(iter(self._live.materialize(self._stream, [standing])), None)

    def _row(
        self,
        entry: SentAs,
        shapes: tuple[Mapping[str, Any], ...],
        is_erased: bool,
        whole: Mapping[Standing, Item | None],
    ) -> Row:
        found = tuple(whole[piece.standing] for piece in entry)
        there = [item for item in found if item is not None]
        if len(there) < len(found):
            return Row(entry, shapes, is_erased, found, (), fault="absent")
        items = tuple(map(part_of, there, entry))
        try:
            sent = tuple(map(entry_of, items, shapes, entry))
            value = digests.sent_value(sent, entry)
        except IntegrityFault as error:
            return Row(entry, shapes, is_erased, found, items, fault=str(error))
        hashed = None
        if digests.positions([entry]) <= self._salts.keys():
            hashed = digests.entry_hash(entry, value, self._salts)
        return Row(entry, shapes, is_erased, found, items, sent, hashed)

    def _add(self, row: Row) -> None:
        last, at = self._known[-1], len(self.rows)
        state = last.state.copy()
        if row.hash is not None:
            state.update(row.hash)
        else:
            self._holes.append(at)
        if row.fault:
            self._faults.append(at)
        self.rows.append(row)
        self._hashes.append(row.hash or b"")
        self._pieces += row.entry
        self._items += row.items or [None] * len(row.entry)
        self._known.append(
            _Known(
                state,
                last.pieces + len(row.entry),
                last.erased + erased_in(row.items),
                last.sealed + sum(map(has_blob, row.items)),
                last.erased_forms + row.is_erased_form,
            )
        )

    def _stand(self, first: int) -> int:
        """What stands, from the item on in which the ``first`` piece may lie."""
        while self._groups and self._groups[-1][0] >= first:
            self._groups.pop()
        at, size = self._groups.pop() if self._groups else (0, 0)
        del self.stood[size:]
        while at < len(self._pieces):
            self._groups.append((at, len(self.stood)))
            found, pieces = group_at(self._pieces, self._items, at)
            self.stood += found
            at += pieces
        return size

    # -- what is known of it --------------------------------------------------------------------

    @property
    def erased(self) -> int:
        """How many of its items were erased."""
        return self._known[-1].erased

    @property
    def is_sealed(self) -> bool:
        """Whether an encrypted summary stands in it."""
        return self._known[-1].sealed > 0

    @property
    def has_erased_forms(self) -> bool:
        """Whether the form in which something was sent went with an earlier call."""
        return self._known[-1].erased_forms > 0

    @property
    def unsalted(self) -> set[int]:
        """The positions of its events that have no salt."""
        found = digests.positions(self.rows[at].entry for at in self._holes)
        return {position for position in found if position not in self._salts}

    def fault(self, call: int) -> str:
        """Why the request of a call cannot be rebuilt; nothing where it can."""
        faults = [self.rows[at] for at in self._faults]
        for row in faults:
            for piece, item in zip(row.entry, row.found, strict=True):
                if item is None:
                    return absent(call, piece)
        return faults[0].fault if faults else ""

    def digest(self, tools: bytes, parameters: bytes, kept: Mapping[int, bytes]) -> str | None:
        """Its digest; None where an entry has no hash. ``kept`` are those that redactions kept."""
        there = {at: value for at, value in kept.items() if at < len(self.rows)}
        if not there.keys() >= set(self._holes):
            return None
        first = min(there, default=len(self.rows))
        hashes = self._hashes[first:]
        for at, value in there.items():
            hashes[at - first] = value
        state = self._known[first].state.copy()
        state.update(b"".join([*hashes, tools, parameters]))
        return str(state.hexdigest())


class _Said(NamedTuple):
    """What a stored manifest says of the one that it is a difference from."""

    kept: int
    """Entries that stand."""
    forms_stand: bool
    numbers: Sequence[int]
    """Pieces of which another form is said."""


def said(call: Mapping[str, Any], kept: int) -> _Said:
    """Of a call whose manifest takes over so many entries."""
    named = [number for number, _ in stated(call)]
    return _Said(kept, bool(call.get("forms_stand")), named)


def common(one: Sequence[Any], other: Sequence[Any], known: int = 0) -> int:
    """How many entries two lists have in common at their front; ``known`` of them are known."""
    low, high = known, min(len(one), len(other))
    step = max(high - low, 1)
    while low < high:
        end = min(low + step, high)
        if one[low:end] == other[low:end]:
            low = end
        elif step == 1:
            return low
        else:
            high, step = end, max(1, (end - low) // 2)
    return low
