"""The verdicts on many calls of a stream, in one walk.

What ``verdicts.judge`` reads anew for each call is carried from call to call: the expanded
manifest, the fold, the items, the hash of each entry. So a call costs what changed since the last
one, and a comparison of numbers for what did not.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from eventlog.errors import CriticalUnknown, IntegrityFault
from eventlog.recorded import RecordedEvent, StreamKey
from projections import digests, manifest
from projections.context import DECISIONS, ITEM_TYPES, REFOLDING, View
from projections.expanding import Expanded, expand
from projections.judging_folded import judge_folded
from projections.live import Live
from projections.runs import Standing
from projections.verdicts import Seen, Verdict, is_edited, is_erased_of, judge, missing, of_seen
from projections.walked import Walked, common, said


def judge_all(live: Live, stream: StreamKey, calls: Sequence[RecordedEvent]) -> list[Verdict]:
    """The verdicts of some calls of a stream, in their order; those of ``judge``."""
    recorded = {c.position: c for c in calls if c.data.get("manifest") is not None}
    found = dict(Walk(live, stream, recorded).verdicts()) if recorded else {}
    folded = {c.position for c in calls} - recorded.keys()
    if folded:
        found.update(judge_folded(live, stream, folded))
    return [found.get(c.position) or judge(live, stream, c) for c in calls]


class Tools(NamedTuple):
    """The tools of a call."""

    value: Any
    hash: bytes | None
    is_erased: bool


class Walk:
    """The recorded calls of a stream, in their order."""

    def __init__(self, live: Live, stream: StreamKey, wanted: Mapping[int, RecordedEvent]) -> None:
        self.live, self.stream, self.wanted = live, stream, wanted
        self.end = max(wanted)
        headers = live.log.headers(stream, to=self.end)
        self.places = [h.position for h in headers if h.type in ITEM_TYPES]
        self.salts = live.log.salts(stream, [h.position for h in headers])
        answers = live.log.read(stream, min(wanted), types=["model_responded", "model_failed"])
        self.answered = {event.data["call"]: event for event in answers}
        self.request = Walked(live, stream, self.salts)
        self.tools: dict[int, Tools] = {}
        self.kept: dict[int, dict[int, bytes]] | None = None
        self._agree = 0
        """How many of those that were sent and of those that stood were the same at the last."""

    def verdicts(self) -> Iterator[tuple[int, Verdict]]:
        """Of each wanted call."""
        folds = Folds(self.live, self.stream)
        before: Expanded | None = None
        for call in self.live.log.read(self.stream, to=self.end, types=["model_called"]):
            expanded = expand(call, before, self._between)
            if expanded is None:
                continue
            if call.position in self.wanted:
                kept = manifest.kept(call.data["manifest"])
                shared, stood = self.request.take(expanded, before, said(call.data, kept))
                self.taken(call, shared)
                self._agree = min(self._agree, stood, folds.move(call.position))
                yield call.position, self.verdict(call, folds.standing)
            before = expanded

    def taken(self, call: RecordedEvent, shared: int) -> None:
        """A request was taken; so many of its rows are those of the one before."""

    def _between(self, low: int, high: int) -> list[int]:
        return self.places[bisect_left(self.places, low) : bisect_right(self.places, high)]

    # -- one call -------------------------------------------------------------------------------

    def verdict(self, call: RecordedEvent, folded: list[Standing] | CriticalUnknown) -> Verdict:
        """Of the call whose request was taken last."""
        unknown = call.position not in self.answered
        fault = self.request.fault(call.position)
        if fault:
            self._agree = 0
            return Verdict("broken", unknown, fault)
        try:
            tools = self.declared(call.data.get("tools"))
        except IntegrityFault as error:
            return Verdict("broken", unknown, str(error))
        request = self.request
        stood: Sequence[Standing] = request.stood
        if isinstance(folded, list):
            self._agree = _agreeing(stood, folded, self._agree)
        digest = self._digest(call, tools.hash)
        seen = Seen(
            digest=digest,
            pieces=stood,
            folded=folded,
            erased=request.erased,
            missing=missing(call, tools.is_erased, request.has_erased_forms),
            is_sealed=request.is_sealed,
            is_edited=is_edited(call, self.answered.get(call.position)),
            lost=self._lost(call) if digest is None else None,
            agree=self._agree,
        )
        return of_seen(call, seen, unknown)

    def _lost(self, call: RecordedEvent) -> int | None:
        needed = self.request.unsalted | {call.position}
        if call.data.get("tools") is not None:
            needed.add(call.data["tools"])
        return min((at for at in needed if at not in self.salts), default=None)

    def _digest(self, call: RecordedEvent, tools: bytes | None) -> str | None:
        request = self.request
        is_erased = call.erased or request.has_erased_forms or request.erased
        salt = self.salts.get(call.position)
        if tools is None or salt is None:
            return None
        own = digests.value_hash(salt, call.data.get("parameters") or {})
        return request.digest(tools, own, self._kept(call.position) if is_erased else {})

    def declared(self, position: int | None) -> Tools:
        """The tools that were declared at a position. Raises IntegrityFault where none were."""
        if position is None:
            return Tools(None, digests.NO_TOOLS, False)
        if position not in self.tools:
            event = self.live.log.at(self.stream, [position]).get(position)
            if event is None or event.type != "tools_declared":
                raise IntegrityFault(f"there are no tools at position {position}")
            salt = self.salts.get(position)
            value = event.data["definitions"]
            hashed = digests.value_hash(salt, value) if salt is not None else None
            self.tools[position] = Tools(value, hashed, event.erased)
        return self.tools[position]

    def _kept(self, position: int) -> Mapping[int, bytes]:
        """The hashes that redactions kept of a call's entries, by their numbers."""
        if self.kept is None:
            self.kept = {}
            prefix = f"{self.stream}@"
            for event in self.live.log.read_types("redacted"):
                for target in event.data["targets"]:
                    for name, value in (target.get("entry_hashes") or {}).items():
                        call, _, number = name.removeprefix(prefix).rpartition("/")
                        if name.startswith(prefix) and call.isdecimal():
                            kept = self.kept.setdefault(int(call), {})
                            kept[int(number)] = bytes.fromhex(value)
        return self.kept.get(position, {})


def _agreeing(stood: Sequence[Standing], folded: Sequence[Standing], known: int) -> int:
    """How many at the front of what was sent are what stands; ``known`` of them are known."""
    at, end = common(stood, folded, known), min(len(stood), len(folded))
    while at < end and is_erased_of(stood[at], folded[at]):
        at = common(stood, folded, at + 1)
    return at


class Folds:
    """What stands at one position after the other."""

    def __init__(self, live: Live, stream: StreamKey) -> None:
        self._live, self._stream = live, stream
        self._view: View | None = None
        self._at = 0
        self.standing: list[Standing] | CriticalUnknown = []

    def move(self, position: int) -> int:
        """To a later position. How many at the front are the same as before."""
        old = self.standing
        found: list[Standing] | CriticalUnknown
        try:
            found = self._moved(position)
        except CriticalUnknown as error:
            self._view = None
            found = error
        self._at, self.standing = position, found
        if not isinstance(old, list) or not isinstance(found, list):
            return 0
        return self._same if found is old else common(old, found)

    def _moved(self, position: int) -> list[Standing]:
        view, standing = self._view, self.standing
        if view is None or not isinstance(standing, list):
            return self._anew(position)
        self._same = len(standing)
        is_grown = True
        for event in self._live.log.read(self._stream, self._at, position):
            if event.type in REFOLDING:
                return self._anew(position)
            is_plain = not view.waiting and '"after":' not in event.payload
            view.evolve(event)
            if event.type in ITEM_TYPES and is_plain and is_grown:
                standing.append((event.position, 0))
            elif event.type in ITEM_TYPES or event.type in DECISIONS:
                is_grown = False
        return standing if is_grown else view.standing()

    def _anew(self, position: int) -> list[Standing]:
        self._view = self._live.view(self._stream, position)
        return self._view.standing()
