"""The verdicts on many calls of a stream, in one walk.

What ``verdicts.judge`` reads anew for each call is carried from call to call: the expanded
manifest, the fold, the items, the hash of each entry. So a call costs what changed since the last
one, and a comparison of numbers for what did not.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from eventlog.errors import CriticalUnknown, CtxlogError, IntegrityFault
from eventlog.recorded import RecordedEvent, StreamKey
from projections import digests
from projections.context import ITEM_TYPES, REFOLDING, View
from projections.expanding import Expanded, expand
from projections.items import Item
from projections.judging_folded import judge_folded
from projections.live import Live
from projections.manifest import Piece, SentAs
from projections.parts import part_of, stood
from projections.runs import Standing
from projections.sent import entry_of
from projections.verdicts import Seen, Verdict, has_blob, is_edited, judge, missing, of_seen


def judge_all(live: Live, stream: StreamKey, calls: Sequence[RecordedEvent]) -> list[Verdict]:
    """The verdicts of some calls of a stream, in their order; those of ``judge``."""
    recorded = {c.position: c for c in calls if c.data.get("manifest") is not None}
    found = dict(_Walk(live, stream, recorded).verdicts()) if recorded else {}
    folded = {c.position for c in calls} - recorded.keys()
    if folded:
        found.update(judge_folded(live, stream, folded))
    return [found.get(c.position) or judge(live, stream, c) for c in calls]


class _Known(NamedTuple):
    """An item that was sent, and what is asked of it at every call."""

    item: Item
    is_erased: bool
    is_sealed: bool


class _Hashed(NamedTuple):
    forms: tuple[Any, ...]
    hash: bytes | None


class _Tools(NamedTuple):
    hash: bytes | None
    is_erased: bool


class _Walk:
    def __init__(self, live: Live, stream: StreamKey, wanted: Mapping[int, RecordedEvent]) -> None:
        self.live, self.stream, self.wanted = live, stream, wanted
        self.end = max(wanted)
        headers = live.log.headers(stream, to=self.end)
        self.places = [h.position for h in headers if h.type in ITEM_TYPES]
        self.salts = live.log.salts(stream, [h.position for h in headers])
        answers = live.log.read(stream, min(wanted), types=["model_responded", "model_failed"])
        self.answered = {event.data["call"]: event for event in answers}
        self.items: dict[Standing, _Known] = {}
        self.hashes: dict[SentAs, _Hashed] = {}
        self.tools: dict[int, _Tools] = {}
        self.kept: dict[int, dict[str, str]] | None = None

    def verdicts(self) -> Iterator[tuple[int, Verdict]]:
        """Of each wanted call; without those that take a closer look."""
        folds = self._folds()
        before: Expanded | None = None
        for call in self.live.log.read(self.stream, to=self.end, types=["model_called"]):
            expanded = expand(call, before, self._between)
            before = expanded or before
            if expanded is not None and call.position in self.wanted:
                folded = next(folds)
                seen = self._seen(call, expanded, folded)
                if seen is not None:
                    unknown = call.position not in self.answered
                    yield call.position, of_seen(call, seen, unknown)

    def _between(self, low: int, high: int) -> list[int]:
        return self.places[bisect_left(self.places, low) : bisect_right(self.places, high)]

    def _folds(self) -> Iterator[list[Standing] | CriticalUnknown]:
        """What stands at each wanted call."""
        view: View | None = None
        at = 0
        for position in sorted(self.wanted):
            try:
                if view is not None:
                    view = self._moved(view, at, position)
                if view is None:
                    view = self.live.view(self.stream, position)
                yield view.standing()
            except CriticalUnknown as error:
                view = None
                yield error
            at = position

    def _moved(self, view: View, at: int, position: int) -> View | None:
        """The view some events later; None where they change what earlier ones mean."""
        for event in self.live.log.read(self.stream, at, position):
            if event.type in REFOLDING:
                return None
            view.evolve(event)
        return view

    # -- one call -------------------------------------------------------------------------------

    def _seen(
        self,
        call: RecordedEvent,
        expanded: Expanded,
        folded: list[Standing] | CriticalUnknown,
    ) -> Seen | None:
        named = [piece for entry in expanded.entries for piece in entry]
        if not self._take([piece.standing for piece in named]):
            return None
        known = [self._known(piece) for piece in named]
        pieces = stood(named, [each.item for each in known])
        erased = sum(each.is_erased for each in known)
        try:
            tools = self._declared(call.data.get("tools"))
            digest = self._digest(call, expanded, known, tools.hash)
        except CtxlogError:
            return None
        return Seen(
            digest=digest,
            pieces=pieces,
            folded=folded,
            erased=erased,
            missing=missing(call, tools.is_erased, expanded.has_erased),
            is_sealed=any(each.is_sealed for each in known),
            is_edited=is_edited(call, self.answered.get(call.position)),
        )

    def _known(self, piece: Piece) -> _Known:
        found = self.items[piece.standing]
        return found if piece.part is None else found._replace(item=part_of(found.item, piece))

    def _take(self, pieces: Sequence[Standing]) -> bool:
        """Hold the items that were sent, and no others; False where one is not there."""
        new = [standing for standing in dict.fromkeys(pieces) if standing not in self.items]
        made = self.live.materialize(self.stream, new) if new else []
        if len(made) != len(new):
            return False
        held = {s: self.items[s] for s in pieces if s in self.items}
        for standing, item in zip(new, made, strict=True):
            held[standing] = _Known(item, item.form == "redacted", has_blob(item))
        self.items = held
        return True

    def _digest(
        self,
        call: RecordedEvent,
        expanded: Expanded,
        known: Sequence[_Known],
        tools: bytes | None,
    ) -> str | None:
        entries = expanded.entries
        is_erased = call.erased or expanded.has_erased or any(each.is_erased for each in known)
        kept = self._kept(call.position) if is_erased else {}
        hashed: dict[SentAs, _Hashed] = {}
        hashes: list[bytes] = []
        first = 0
        for number, entry in enumerate(entries):
            items = known[first : first + len(entry)]
            shaped = tuple(expanded.form(first + n) for n in range(len(entry)))
            first += len(entry)
            found = self.hashes.get(entry)
            if found is None or found.forms != shaped:
                found = _Hashed(shaped, self._hash(entry, items, shaped))
            hashed[entry] = found
            if str(number) in kept:
                hashes.append(bytes.fromhex(kept[str(number)]))
            elif found.hash is not None:
                hashes.append(found.hash)
        self.hashes = hashed
        salt = self.salts.get(call.position)
        if len(hashes) != len(entries) or tools is None or salt is None:
            return None
        own = digests.value_hash(salt, call.data.get("parameters") or {})
        return digests.request_digest(hashes, tools, own)

    def _hash(self, entry: SentAs, known: Sequence[_Known], shaped: Sequence[Any]) -> bytes | None:
        if not digests.positions([entry]) <= self.salts.keys():
            return None
        rebuilt = [entry_of(each.item, form) for each, form in zip(known, shaped, strict=True)]
        (value,) = digests.sent_values(rebuilt)
        return digests.entry_hash(entry, value, self.salts)

    def _declared(self, position: int | None) -> _Tools:
        if position is None:
            return _Tools(digests.NO_TOOLS, False)
        if position not in self.tools:
            event = self.live.log.at(self.stream, [position]).get(position)
            if event is None or event.type != "tools_declared":
                raise IntegrityFault(f"there are no tools at position {position}")
            salt = self.salts.get(position)
            value = event.data["definitions"]
            hashed = digests.value_hash(salt, value) if salt is not None else None
            self.tools[position] = _Tools(hashed, event.erased)
        return self.tools[position]

    def _kept(self, position: int) -> Mapping[str, str]:
        """The hashes that redactions kept of a call's entries, by their numbers."""
        if self.kept is None:
            self.kept = {}
            prefix = f"{self.stream}@"
            for event in self.live.log.read_types("redacted"):
                for target in event.data["targets"]:
                    for name, value in (target.get("entry_hashes") or {}).items():
                        call, _, number = name.removeprefix(prefix).rpartition("/")
                        if name.startswith(prefix) and call.isdecimal():
                            self.kept.setdefault(int(call), {})[number] = value
        return self.kept.get(position, {})
