"""One row a call: what of its request a provider's cache could have had, and what broke it.

A provider charges little for the tokens that a request has in common with an earlier one from the
first byte on. So each request is held against the one before it *of the same model and tools*, from
whose beginning alone a cache can serve. Where a manifest was recorded, the request is what was
sent; else it is the context as folded, in the run that every comparison has as its baseline
(``observed``).

Tokens here are estimates of the counter, over what was recorded; only ``billed`` and ``held`` are
what the provider said. The two agree: over the unbroken calls of a real session the provider read
88 to 100 % of what it could, and most of the rest came after its cache had run out.

A row costs what changed since the call before, not what stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from eventlog.recorded import RecordedEvent
from projections.clocks import time_of
from projections.metrics.model import ratio
from projections.metrics.prefix import seconds
from projections.observed import observed
from projections.prefix_causes import BEHIND, Cause, Decided, Decisions
from projections.prefix_requests import AsSent, Folded, Part, Request, common, reordered, sizes
from projections.recording import Recording, recording
from projections.runs import Origin
from projections.strategies.window import Window
from projections.tokens import Counter
from projections.usage import UsageTotals, usage_totals
from projections.whatif import WhatIf

_MOST = 4
"""Requests of other models or tools that are remembered: a session goes to and fro between few."""

LEAST_MISSED = 2_000
SHARE_MISSED = 0.05
"""What a bill may lack before it contradicts: the thresholds of Pydantic AI's cache health."""

Heard = Callable[[int, Sequence[Part], int], None]
"""Is told of each call how many entries of the request before stand at its front, what follows,
and the tokens of its tools."""

Key = tuple[str, int]
"""The model, and where the tools were declared: a cache serves no other."""


@dataclass(frozen=True, slots=True)
class PrefixRow:
    """One call, held against the request whose prefix it could have had from a cache."""

    call: int
    """Its number, as in ``c12``."""
    position: int
    """Of its ``ModelCalled``."""
    kind: Literal["as_sent", "as_folded"]
    """What the row rests on."""
    model: str
    against: int | None
    """The call it is held against: the one before it of the same model and tools, else simply the
    one before. None for the first."""
    seconds: float | None
    """Since that call, by the source's clock, else by ours where this was recorded as it happened;
    None where no clock says."""
    items: int
    tokens: int
    """Of the request, tool definitions included. Estimated, as all that follows."""
    reusable: int
    """Tokens from the beginning on that both requests have in common."""
    rewritten: int
    """Tokens behind the break that stood in the request before too: nothing new, and yet sent as
    new."""
    lost: int
    """Tokens of the request before that a cache holds and that cannot be read: all behind the
    break."""
    break_at: str | None
    """The rendition in the request before that does not stand at its place any more. None where
    nothing broke, and where the cause lies in front of all items."""
    now_at: str | None
    """The rendition that stands there now; None where the request ends there."""
    cause: Cause | None
    """None where nothing broke."""
    by: tuple[Decided, ...]
    """The decisions that caused it."""
    billed: UsageTotals | None
    """As the provider said: ``input`` uncached, ``cached`` read from its cache, ``cache_write``.
    None where nothing was recorded."""
    held: int | None
    """What was billed for the whole prompt of ``against``: what a cache can hold of it, in the
    provider's own tokens."""

    @property
    def missed(self) -> int | None:
        """Billed tokens that the log says could have been read from a cache, and were not.

        Only where nothing broke: then all of the request before could be. What a cache kept of a
        broken one depends on where the agent set its breakpoints, which is not recorded.
        """
        if self.billed is None or not self.held or self.is_broken:
            return None
        if self.billed.cached is None:
            return None
        return max(0, self.held - self.billed.cached)

    @property
    def contradicts(self) -> bool:
        """Whether the bill says that something broke which the log does not know of.

        Time ran out, the provider forgot, or the request was not what was recorded.
        """
        missed = self.missed or 0
        return missed > LEAST_MISSED and missed > SHARE_MISSED * (self.held or 0)

    @property
    def share(self) -> float | None:
        """The part of the request that could be reused; None for an empty one."""
        return ratio(self.reusable, self.tokens)

    @property
    def is_broken(self) -> bool:
        """Whether it did not begin with the whole of the request before."""
        return self.cause is not None


def prefix_rows(
    events: Iterable[RecordedEvent], counting: Counter, *, ttl: float | None = None
) -> list[PrefixRow]:
    """A row for each call of a stream, read from its first position on. Raises CriticalUnknown.

    ``ttl`` is the life of the cache in seconds; None: it never ends.
    """
    noted = Noted()
    return rows_of(recording(noted.of(events), counting), noted, counting, ttl=ttl)


def rows_of(
    made: Recording,
    noted: Noted,
    counting: Counter,
    *,
    ttl: float | None = None,
    heard: Heard | None = None,
) -> list[PrefixRow]:
    """The same of what was read already, with ``noted`` looking on."""
    walk = _Walk(made, noted, counting, ttl, heard)
    observed(made, walk)
    return walk.rows


# -- what is read of the events -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Called:
    position: int
    model: str
    tools: int
    when: str
    data: Mapping[str, Any]

    @property
    def key(self) -> Key:
        """The cache that could serve it."""
        return self.model, self.tools

    @property
    def was_sent(self) -> bool:
        """Whether it is known what was sent."""
        return self.data.get("manifest") is not None


@dataclass(slots=True)
class Noted:
    """What a recording leaves out and a row needs."""

    calls: list[_Called] = field(default_factory=list)
    decisions: Decisions = field(default_factory=Decisions)

    def of(self, events: Iterable[RecordedEvent]) -> Iterator[RecordedEvent]:
        """The events, looked at while they pass."""
        for event in events:
            self.decisions.note(event)
            if event.type == "model_called":
                data = event.data
                self.calls.append(
                    _Called(
                        event.position,
                        str(data.get("model", "")),
                        data.get("tools") or 0,
                        time_of(event),
                        data,
                    )
                )
            yield event


# -- the walk -------------------------------------------------------------------------------------


class _Held(NamedTuple):
    """The request that another one is held against."""

    call: int
    position: int
    when: str
    size: int
    """All its tokens."""
    front: int
    """Of these in front of the place where the two part."""
    place: int
    labels: Sequence[str]
    """Its items, up to the place at least."""
    old: Sequence[str]
    """Those behind the place."""
    new: Sequence[Part]
    """What stands behind that place now."""
    cause: Cause | None = None
    """What lies in front of all items."""


def _parts(request: Request) -> list[Part]:
    return list(zip(request.labels, sizes(request.sums), strict=True))


class _Walk:
    """The observer of the run: makes a row of each call."""

    def __init__(
        self,
        made: Recording,
        noted: Noted,
        counting: Counter,
        ttl: float | None,
        heard: Heard | None,
    ) -> None:
        self._heard = heard
        self.rows: list[PrefixRow] = []
        self._noted, self._ttl = noted, ttl
        self._causes = noted.decisions.over(made.seen)
        self._tools = {step.position: step.tokens for step in made.steps if step.kind == "tools"}
        self._answers = made.answers
        self._last = Request()
        self._key: Key | None = None
        self._others: dict[Key, Request] = {}
        self._folded = Folded()
        self._sent = AsSent(made, noted.decisions.events, counting)

    def __call__(self, run: WhatIf, window: Window, touched: Mapping[Origin, None]) -> None:
        """A call is made with what stands."""
        call = self._noted.calls[len(self.rows)]
        if call.key != self._key:
            self._last.orders = dict(self._sent.orders) if self._sent.is_last else {}
        if not call.was_sent:
            place, tail = self._folded.called(self._last, window, touched)
            self._sent.is_last = False
        else:
            place, tail = self._sent.called(call.data)
            self._folded.index = None
        same = common(self._last.labels, place, tail)
        if self._sent.is_last and self._sent.reordered is not None:
            same = min(same, self._sent.reordered - place)
        gone = self._last.labels[place + same :]
        self._called(call, place + same, tail[same:])
        if not call.was_sent:
            self._folded.stands(self._last, place + same, gone)

    def _called(self, call: _Called, place: int, tail: Sequence[Part]) -> None:
        """Make the row, of a request that differs from the last one from a place on."""
        if self._heard is not None:
            self._heard(place, tail, self._tools.get(call.tools, 0))
        found = self._held(call, place, tail)
        gap = seconds(found.when, call.when) if found.call else None
        if found.front and self._ttl is not None and gap is not None and gap > self._ttl:
            whole = [*found.labels[: found.place], *found.old]
            found = found._replace(cause="ttl", front=0, old=whole, new=_parts(self._last))
        cause: Cause | None = found.cause
        by: tuple[Decided, ...] = ()
        if cause == "tools" and call.tools:
            by = (self._noted.decisions.decided(call.tools, "tools_declared"),)
        elif cause is None and found.old:
            labels = [label for label, _ in found.new]
            if found.old[0] in labels[:1]:
                cause = "field_order"
            else:
                cause, by = self._causes.of(found.position, call.position, found.old[0], labels)
        behind, is_item = set(found.old), cause is not None and cause not in BEHIND
        last = self._last
        last.call, last.position, last.when = len(self.rows) + 1, call.position, call.when
        last.tools, self._key = self._tools.get(call.tools, 0), call.key
        before = self._billed(found.position)
        self.rows.append(
            PrefixRow(
                call=last.call,
                position=call.position,
                kind="as_sent" if call.was_sent else "as_folded",
                model=call.model,
                against=found.call or None,
                seconds=gap,
                items=len(last.labels),
                tokens=last.tokens,
                reusable=found.front,
                rewritten=sum(size for label, size in found.new if label in behind),
                lost=found.size - found.front,
                break_at=found.old[0] if is_item else None,
                now_at=found.new[0][0] if is_item and found.new else None,
                cause=cause,
                by=by,
                billed=self._billed(call.position),
                held=before.prompt if before is not None else None,
            )
        )

    def _held(self, call: _Called, place: int, tail: Sequence[Part]) -> _Held:
        """The request that this one is held against, and where they part."""
        last, key = self._last, call.key
        if key == self._key or self._key is None:
            front, size, old = last.up_to(place), last.tokens, last.labels[place:]
            at = last.call, last.position, last.when
            last.goes_on(place, tail)
            return _Held(*at, size, front, place, last.labels, old, tail)
        before = last.copy()
        self._others[self._key] = before
        held = self._others.pop(key, None)
        while len(self._others) > _MOST:
            del self._others[next(iter(self._others))]
        last.goes_on(place, tail)
        parts = _parts(last)
        cause: Cause | None = None
        if held is None:
            held, place, front = before, 0, 0
            cause = "model" if key[0] != self._key[0] else "tools"
        else:
            place = common(held.labels, 0, parts)
            other = reordered(held.orders, self._sent.orders if call.was_sent else {})
            place = place if other is None else min(place, other)
            front = held.up_to(place)
        at, old = (held.call, held.position, held.when), held.labels[place:]
        return _Held(*at, held.tokens, front, place, held.labels, old, parts[place:], cause)

    def _billed(self, position: int) -> UsageTotals | None:
        answer = self._answers.get(position)
        billed = usage_totals(answer.usage if answer is not None else None)
        return billed if billed.prompt else None
