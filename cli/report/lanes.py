"""The lanes of a report: what each strategy would have made of the session at every call.

``compare`` runs them; here somebody looks on. So the page shows the numbers of ``compare``, and the
contexts that ``replay --strategy`` shows of each call.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from cli.comparing import compare_data, comparison
from cli.models_whatif import CompareData
from cli.prices import Asked
from cli.report.contexts import Contexts
from cli.report.model import Category, CurvesData, LaneData, LaneMove, RowData, SessionData
from cli.report.session import Reading, category_of
from cli.report.texts import Texts
from cli.saying import preview, who
from cli.summaries import Summaries
from eventlog.jsonvalue import dumps
from projections.comparison import Comparison
from projections.items import Item
from projections.metrics.measure import Measured
from projections.metrics.taken import NO_CHANGE
from projections.prefix_requests import Part
from projections.recording import Recording
from projections.runs import Origin, position_of
from projections.strategies.window import Entry, Window
from projections.whatif import Change, Observer, WhatIf

_DIGITS = 5
"""Of what a call costs; a page draws it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be compared."""

    specs: Sequence[str]
    summaries: Summaries
    prices: Asked | None = None
    progress: Callable[[int, int], None] | None = None
    """Told (runs done, runs in all)."""


@dataclass(frozen=True, slots=True)
class _Own:
    """A rendition that only a lane has."""

    item: Item
    tokens: int
    origin: Origin
    position: int
    """Of the moment at which it was decided on."""


@dataclass(slots=True)
class Look:
    """Looks on at one run, and notes the context of each call."""

    numbers: Mapping[str, int]
    """The rows of the session, by rendition."""
    categories: dict[str, Category]
    """Of these; those of the lane come in."""
    tools: Sequence[int]
    """Tokens of the tools of each call."""
    run: WhatIf | None = None
    own: dict[str, _Own] = field(default_factory=dict)
    contexts: Contexts = field(init=False)
    _origins: list[Origin] = field(default_factory=list)
    """Of the last call, in their order, and by origin what stood."""
    _orders: list[float] = field(default_factory=list)
    _stood: dict[Origin, tuple[int, Item]] = field(default_factory=dict)
    _labels: dict[int, str] = field(default_factory=dict)
    """By the id of an item that is kept in ``own``."""
    _made: dict[tuple[Origin, str], str] = field(default_factory=dict)
    """By what it is of and what it says."""
    _decided: dict[Origin, int] = field(default_factory=dict)
    _changes: int = 0

    def __post_init__(self) -> None:
        self.contexts = Contexts(self.categories.__getitem__)

    def __call__(self, run: WhatIf, window: Window, touched: Mapping[Origin, None]) -> None:
        """A call is made with what stands."""
        self.run = run
        for change in islice(run.changes, self._changes, None):
            for name in (*change.items, *change.messages):
                self._decided[name] = change.position
        self._changes = len(run.changes)
        place = self._place(window, touched)
        entries = [*islice(reversed(window.entries.values()), len(window) - place)][::-1]
        for origin in self._origins[place:]:
            del self._stood[origin]
        del self._origins[place:], self._orders[place:]
        tail: list[Part] = []
        for at, entry in enumerate(entries, place):
            self._stood[entry.origin] = at, entry.item
            self._origins.append(entry.origin)
            self._orders.append(entry.order)
            tail.append((self._label(entry), entry.tokens))
        self.contexts.hear(place, tail, self.tools[len(run.calls) - 1])

    def _place(self, window: Window, touched: Mapping[Origin, None]) -> int:
        """How many entries of the call before stand at the front as they did."""
        place = len(self._origins)
        for origin in touched:
            stood, entry = self._stood.get(origin), window.entries.get(origin)
            if stood is None and entry is not None:  # what is new may stand in front of the rest
                place = min(place, bisect_left(self._orders, entry.order))
            elif stood is not None and (entry is None or entry.item is not stood[1]):
                place = min(place, stood[0])
        return place

    def _label(self, entry: Entry) -> str:
        item = entry.item
        if item is entry.original and item.rendition in self.numbers:
            return item.rendition
        found = self._labels.get(id(item))
        if found is None:
            # The same placeholder comes again, made anew: after a rewind, or out of a chain.
            key = entry.origin, f"{item.form} {dumps(item.message)}"
            found = self._made.get(key)
            if found is None:
                found = self._made[key] = f"{item.id}~{len(self.own)}"
                at = self._decided.get(entry.origin, position_of(entry.origin))
                self.own[found] = _Own(item, entry.tokens, entry.origin, at)
                self.categories[found] = category_of(item)
            if self.own[found].item is item:
                self._labels[id(item)] = found
        return found


@dataclass(slots=True)
class Lanes:
    """The lanes of all sessions of a report."""

    data: CompareData
    """The table over all of them."""
    specs: Sequence[str]
    _comparison: Comparison
    _looks: Mapping[tuple[str, int], Look]

    def put(self, data: SessionData, read: Reading, texts: Texts) -> None:
        """Give a session its lanes."""
        key = read.subject.recording.key
        place = self._comparison.sessions.index(key)
        rows = self._comparison.rows
        data.observed = _curves(rows[0].sessions[place])
        for number, (spec, row) in enumerate(zip(self.specs, rows[1:], strict=True), 1):
            look = self._looks[key, number]
            data.lanes.append(_lane(spec, look, data, read, texts, _curves(row.sessions[place])))


def lanes(readings: Sequence[Reading], wanted: Wanted) -> Lanes:
    """Run all strategies over sessions that were read. Raises InputRefused."""
    looks: dict[tuple[str, int], Look] = {}
    of = {read.subject.recording.key: read for read in readings}

    def looking(recording: Recording, place: int) -> Observer | None:
        if not place:  # how it really was is known
            return None
        looks[recording.key, place] = _look(of[recording.key])
        return looks[recording.key, place]

    found = comparison(
        [read.subject.recording for read in of.values()],
        wanted.specs,
        wanted.summaries,
        prices=wanted.prices,
        progress=wanted.progress,
        looking=looking,
    )
    return Lanes(compare_data(found, wanted.specs, wanted.summaries), wanted.specs, found, looks)


def _look(read: Reading) -> Look:
    steps = read.subject.recording.steps
    tools = {step.position: step.tokens for step in steps if step.kind == "tools"}
    return Look(
        numbers=read.numbers,
        categories={item.rendition: category_of(item) for item in read.renditions},
        tools=[tools.get(step.to, 0) for step in steps if step.kind == "call"],
    )


def _curves(measured: Measured) -> CurvesData:
    return CurvesData(
        tokens=list(measured.tokens.curve),
        cached=list(measured.cached),
        unrecorded=measured.calibration.unrecorded,
        spent=[
            [float(f"{each:.{_DIGITS}g}") for each in table] if table is not None else None
            for table in measured.spending
        ],
    )


def _lane(
    spec: str,
    look: Look,
    data: SessionData,
    read: Reading,
    texts: Texts,
    curves: CurvesData,
) -> LaneData:
    first = len(data.rows)
    numbers = {**look.numbers, **{name: first + n for n, name in enumerate(look.own)}}
    return LaneData(
        name=spec,
        rows=[_row(own, look.numbers, data.rows, texts) for own in look.own.values()],
        contexts=look.contexts.numbered(numbers),
        moves=_moves(look.run.changes if look.run is not None else (), len(data.calls), read),
        curves=curves,
    )


def _row(own: _Own, numbers: Mapping[str, int], rows: Sequence[RowData], texts: Texts) -> RowData:
    item = own.item
    original = numbers.get(item.id)
    known = rows[original] if original is not None else None
    return RowData(
        r=item.rendition,
        original=original,
        position=own.position,
        who=known.who if known is not None else who(item),
        category=category_of(item),
        form=item.form,
        tokens=own.tokens,
        preview=preview(item),
        parts=[(p.kind, p.name, texts.put(p.text), p.is_error) for p in item.parts],
        label=item.label,
        is_error=item.is_error,
        pinned=known.pinned if known is not None else False,
    )


def _moves(changes: Sequence[Change], calls: int, read: Reading) -> list[list[LaneMove]]:
    """What was decided before each call; what one strategy does then for one reason is one."""
    found: list[list[LaneMove]] = [[] for _ in range(calls)]
    grouped: dict[tuple[int, str, str, str], list[Change]] = {}
    for number, change in enumerate(changes):
        if change.kind in NO_CHANGE or change.call >= calls:
            continue
        by = " · ".join(filter(None, (change.strategy, change.rung)))
        # A summary stands for what it covers alone.
        reason = change.reason if not change.messages else f"{change.reason}\0{number}"
        grouped.setdefault((change.call, change.kind, by, reason), []).append(change)
    for (call, kind, by, _), of in grouped.items():
        items = [origin for change in of for origin in change.items]
        found[call].append(
            LaneMove(
                kind=kind,
                by=by,
                reason=of[0].reason,
                items=list(read.subject.runs(items)),
                count=len(items),
                brought=[str(name) for change in of for name in change.messages],
                unseen=list(read.subject.runs(o for change in of for o in change.unseen)),
                before=sum(change.before for change in of),
                after=sum(change.after for change in of),
            )
        )
    return found
