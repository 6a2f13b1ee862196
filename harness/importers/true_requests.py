"""A stream whose file holds the requests themselves: what the model saw, and what changed between.

Each request goes through ``observe``, as a recorded one does, against a view folded from the file's
own events at the positions that they have in the log. So a call of an import has a manifest and a
digest, and can be proved.

    stream.add(unit)                                  what is in the conversation
    seen = stream.see(request, dress)                 what the request changes
    stream.add(Unit(stamps, [*seen.changes, seen.call(slot, origin), ...]))

Everything of the stream has to come through ``add``, in the order of the file. A unit that stands
in the log already keeps its events, positions and salts, and nothing of it is made again. What was
erased there has no salt: a call that holds it names the redacted rendition and has no digest, and
no new event brings the text back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from eventlog import EventLog, messages
from eventlog.events import (
    Event,
    MessageRevised,
    ModelCalled,
    Origin,
    PlaceholderSubstituted,
)
from eventlog.jsonvalue import Json
from harness.importers.stream_writer import StreamWriter
from harness.importers.units import Planned, Slot, Unit
from projections import digests, proof, runs
from projections.expanding import following
from projections.items import Item
from projections.manifest import Piece, SentAs
from projections.observe import Observation, Request, observe
from projections.remembered import Remembered

Dress = Callable[[Event], Event]
"""Puts on an event that was read off a request what the importer knows of it: where it came from,
whose words it holds."""

ERASED = "[redacted]"


class TrueRequests:
    """One stream of a file."""

    def __init__(self, log: EventLog, writer: StreamWriter) -> None:
        self._log = log
        self._writer = writer
        self._remembered = Remembered()
        self._salts: dict[int, bytes | None] = {}
        """By position, as far as they were needed; None for what was erased."""
        self._unit: Unit | None = None
        self._folded = 0

    def add(self, unit: Unit) -> None:
        """Take a unit, and take what it does into the view."""
        self._unit, self._folded = unit, 0
        self._writer.place(unit)
        self._fold(len(unit.events))

    def see(self, request: Request, dress: Dress) -> Seen:
        """Read a request against what stands now. The unit with its changes must be added next."""
        return Seen(self, request, dress, self._writer.next - 1)

    def items(self) -> list[Item]:
        """What stands now."""
        return self._remembered.items(self._remembered.view.standing())

    # -- for what was seen ----------------------------------------------------------------------

    def observed(self, request: Request, version: int) -> Observation:
        """The request against the view."""
        return observe(self._remembered.known(version), request)

    def fold_through(self, planned: Planned) -> None:
        """Take the unit that is being added into the view, up to one of its events."""
        if self._unit is not None:
            self._fold(next(n for n, p in enumerate(self._unit.events, 1) if p is planned))

    def _fold(self, end: int) -> None:
        assert self._unit is not None
        while self._folded < end:
            planned = self._unit.events[self._folded]
            self._folded += 1
            at = planned.slot.position
            if planned.salt is not None:
                self._salts[at] = planned.salt
            if isinstance(planned, PlannedCall):
                seen = planned.seen
                planned.ground = self._ground(seen.pieces)
                request, last = seen.request, self._remembered.last
                entries = digests.grouped(request.entries, seen.pieces)
                shapes = proof.shapes_of(planned.ground.items, request.entries)
                sent = following(last, entries, shapes, at)
                self._remembered.called(at, sent, seen.tools, request.model)
            elif isinstance(planned, _Change):
                self._remembered.take(planned.seen.event(planned.index), at)
            else:
                self._remembered.take(planned.build(), at)

    def _ground(self, pieces: Sequence[Piece]) -> proof.Ground:
        known = self._remembered
        follows = proof.follows(known.calls, compacted=known.compacted)
        return proof.Ground(
            items=known.preview(pieces, {}),
            salts={},
            positions=known.positions,
            previous=known.last if follows else None,
        )

    def salts(self, positions: Collection[int]) -> dict[int, bytes]:
        """The salts of events of the stream; what was erased has none."""
        missing = [at for at in positions if at not in self._salts]
        if missing:
            found = self._log.salts(self._writer.key, missing)
            self._salts.update((at, found.get(at)) for at in missing)
        return {at: salt for at in positions if (salt := self._salts[at]) is not None}

    def has_all(self, positions: Iterable[int]) -> bool:
        """Whether nothing at these positions was erased."""
        wanted = set(positions)
        return wanted <= self.salts(wanted).keys()

    def is_erased(self, item: str) -> bool:
        """Whether the text of an item was erased."""
        at = runs.position_of(runs.origin(item))
        return not self.salts([at])

    def item(self, name: str) -> Item:
        """An item as it came in."""
        return self._remembered.items([(runs.origin(name), 0)])[0]


class Seen:
    """A request that was read: what it changed, and the call that it was."""

    def __init__(self, stream: TrueRequests, request: Request, dress: Dress, version: int) -> None:
        self.request = request
        self._stream, self._dress, self._version = stream, dress, version
        self._observation = stream.observed(request, version)
        self.changes: list[Planned] = [
            _Change(Slot(), partial(self._safe, index), seen=self, index=index)
            for index in range(len(self._observation.events))
        ]
        """What has to be appended before the call, in one unit and in this order."""

    def fold_through(self, planned: PlannedCall) -> None:
        """Take everything up to the call into the view."""
        self._stream.fold_through(planned)

    @property
    def kind(self) -> Literal["call", "branch", "side"]:
        """A side call is no part of the conversation, and no call of the stream."""
        return self._observation.kind

    @property
    def pieces(self) -> Sequence[Piece]:
        """One for each entry of the request."""
        return self._settled().pieces

    @property
    def tools(self) -> int | None:
        """The position of the tools in force."""
        return self._settled().tools

    def event(self, index: int) -> Event:
        """One of the changes, as the file tells it."""
        return self._dress(self._settled().events[index])

    def call(
        self,
        slot: Slot,
        origin: Origin,
        server_edited: tuple[str, ...] = (),
        *,
        is_whole: bool = True,
    ) -> PlannedCall:
        """The call, to be appended behind the changes.

        A request that is not whole gets no digest: what is proved would not be what was sent.
        """
        planned = PlannedCall(slot, lambda: planned.made(), seen=self, origin=origin)
        planned.server_edited, planned.is_whole = server_edited, is_whole
        return planned

    def _safe(self, index: int) -> Event:
        """A change as it is appended: without text of an item that was erased since."""
        event = self.event(index)
        if not isinstance(event, PlaceholderSubstituted | MessageRevised):
            return event
        if not self._stream.is_erased(event.item):
            return event
        if isinstance(event, PlaceholderSubstituted):
            return event.model_copy(update={"content": ERASED})
        item = self._stream.item(event.item)
        message = messages.with_content(item.dialect, {"role": item.role}, ERASED)
        return event.model_copy(update={"message": Json(message), "patch": None})

    def made(self, ground: proof.Ground, own: bytes) -> ModelCalled:
        """The call's event."""
        pieces, tools = self.pieces, self.tools
        entries: list[SentAs] = [(piece,) for piece in pieces]
        wanted = proof.needed(entries, tools)
        salts = self._stream.salts(wanted)
        gone = wanted - salts.keys()
        before = ground.previous
        if before is not None and not self._stream.has_all(f.call for f in before.forms.values()):
            before = None
        if gone:
            pieces = [
                piece._replace(redacted=True) if digests.positions([(piece,)]) & gone else piece
                for piece in pieces
            ]
        on = proof.Ground(
            items=ground.items,
            salts=salts,
            positions=ground.positions,
            previous=None if gone else before,
            has_erased=bool(gone),
        )
        return proof.call(self.request, pieces, tools, own, on).event

    def _settled(self) -> Observation:
        """With the positions that the changes have got: a known one may stand behind others."""
        first = self.changes[0].slot.position if self.changes else 0
        if first and first - 1 != self._version:
            self._version = first - 1
            self._observation = self._stream.observed(self.request, self._version)
        return self._observation


@dataclass(slots=True)
class _Change(Planned):
    """An event that was read off a request."""

    seen: Seen = field(kw_only=True)
    index: int = field(kw_only=True)


@dataclass(slots=True)
class PlannedCall(Planned):
    """A call whose request the file holds."""

    seen: Seen = field(kw_only=True)
    origin: Origin = field(kw_only=True)
    is_whole: bool = True
    """Whether the file, and so the log, holds all of the request."""
    server_edited: tuple[str, ...] = ()
    """What of the request the provider completed or edited itself."""
    ground: proof.Ground | None = None
    """What it rests on, once everything before it is in the view."""

    def made(self) -> Event:
        """The event; only made where it is new."""
        if self.ground is None:
            self.seen.fold_through(self)
        assert self.ground is not None
        assert self.salt is not None
        event = self.seen.made(self.ground, self.salt)
        edited = dict.fromkeys((*event.server_edited, *self.server_edited))
        update: dict[str, Any] = {"origin": self.origin, "server_edited": tuple(edited)}
        if not self.is_whole:
            update["request_digest"] = None
        return event.model_copy(update=update)
