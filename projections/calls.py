"""Calls, recorded before they are sent.

What a request changes in the context, and the call with its manifest and digest, are one append: a
process that is killed between the append and the answer leaves a call without an outcome, never a
request that nobody knows of.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from eventlog.errors import WrongExpectedVersion
from eventlog.recorded import Draft, RecordedEvent, StreamKey
from projections import digests, forms, proof, runs
from projections.context import ITEM_TYPES, View
from projections.expanding import Expanded
from projections.items import Item
from projections.live import Live
from projections.manifest import Piece
from projections.materialize import materialize, needed, referenced
from projections.observe import Earlier, Known, Observation, Request, draft_at, observe
from projections.proof import request_of
from projections.sent import Requests


@dataclass(frozen=True, slots=True)
class Recorded:
    """A call that was appended before its request goes out."""

    position: int
    """Of the ModelCalled; 0 for a side call, of which nothing was appended."""
    kind: Literal["call", "branch", "side"]


class Calls:
    """The calls of a log: recorded before they are sent, rebuilt afterwards."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.requests = Requests(live)

    # -- recording ------------------------------------------------------------------------------

    def record(
        self, stream: StreamKey, dialect: str, body: Mapping[str, Any], *, wire: bytes | None = None
    ) -> Recorded:
        """Append what a request changes and the call itself, in one append, before it is sent.

        ``wire`` is the body as it goes out; its salted digest stands beside the request's own.
        Tried again when another writer was faster. Raises InputRefused for a body that is no
        request.
        """
        while True:
            version = self.live.log.version(stream)
            try:
                return self._record(stream, version, dialect, body, wire)
            except WrongExpectedVersion:
                continue

    def _record(
        self,
        stream: StreamKey,
        version: int,
        dialect: str,
        body: Mapping[str, Any],
        wire: bytes | None,
    ) -> Recorded:
        request = request_of(dialect, body)
        observation = observe(self.known(stream, version), request)
        if observation.kind == "side":
            return Recorded(0, "side")
        drafts = [Draft(event, salt=os.urandom(16)) for event in observation.events]
        position = version + len(drafts) + 1
        call = self._call(stream, request, observation, drafts, position, wire)
        self.live.log.append(stream, *drafts, call, expected_version=version)
        return Recorded(position, observation.kind)

    def known(self, stream: StreamKey, version: int) -> Known:
        """All that ``observe`` may look at, at a version of the stream."""
        log = self.live.log
        if not version:
            return Known(0, View(), [])
        view = self.live.view(stream, version)
        tools = [
            (e.position, forms.canonical(e.data["definitions"]))
            for e in log.read(stream, to=version, types=["tools_declared"])
        ]
        last = self._last_call(stream, version)
        return Known(
            version=version,
            view=view,
            items=self.live.materialize(stream, view.standing()),
            calls=lambda: self._earlier(stream, version),
            tools=tools,
            tools_in_force=last.data.get("tools") if last is not None else None,
            model=last.data.get("model", "") if last is not None else "",
            renditions=lambda item: self._renditions(stream, version, item),
            sent=lambda call: self.requests.items(stream, call.pieces),
        )

    def _last_call(self, stream: StreamKey, version: int) -> RecordedEvent | None:
        number = self.live.views.count(stream, "model_called", version)
        position = self.live.views.numbered(stream, "model_called", number)
        return self.live.log.at(stream, [position])[position] if position else None

    def _earlier(self, stream: StreamKey, version: int) -> list[Earlier]:
        calls = list(self.live.log.read(stream, to=version, types=["model_called"]))
        return [
            Earlier(call.position, expanded.entries, len(expanded.entries))
            for call, expanded in self.requests.all_expanded(stream, calls)
        ]

    def _renditions(
        self, stream: StreamKey, version: int, item: runs.Origin
    ) -> list[tuple[int, Item]]:
        """What stood before the present rendition, undos taken into account, the newest first."""
        chain: list[tuple[int, Item]] = []
        current = self.live.view(stream, version).items.get(item, 0)
        while current:
            before = self.live.view(stream, current - 1).items.get(item, 0)
            chain.append((before, self.requests.items(stream, [Piece(item, before)])[0]))
            current = before
        return chain

    def _call(
        self,
        stream: StreamKey,
        request: Request,
        observation: Observation,
        drafts: Sequence[Draft],
        position: int,
        wire: bytes | None,
    ) -> Draft:
        version = position - len(drafts) - 1
        entries = digests.grouped(request.entries, observation.pieces)
        made = {version + 1 + n: draft for n, draft in enumerate(drafts)}
        known = [p for p in proof.needed(entries, observation.tools) if p not in made]
        salts = self.live.log.salts(stream, known) if known else {}
        ground = proof.Ground(
            items=self._items(stream, observation, made),
            salts=salts | {at: draft.salt or b"" for at, draft in made.items()},
            positions=self._positions(stream, version, made),
            previous=self._previous(stream, version, drafts),
        )
        own = os.urandom(16)
        digest = sha256(wire + own).hexdigest() if wire is not None else None
        proved = proof.call(request, observation.pieces, observation.tools, own, ground, digest)
        return Draft(proved.event, salt=own)

    def _positions(
        self, stream: StreamKey, version: int, made: Mapping[int, Draft]
    ) -> runs.ItemPositions:
        fresh = [at for at, draft in made.items() if draft.event.type in ITEM_TYPES]

        def positions(low: int, high: int) -> list[int]:
            old = self.live.views.positions(stream, low, min(high, version)) if version else []
            return old + [p for p in fresh if low <= p <= high]

        return positions

    def _previous(
        self, stream: StreamKey, version: int, drafts: Sequence[Draft]
    ) -> Expanded | None:
        last = self._last_call(stream, version) if version else None
        if last is None or last.data.get("manifest") is None:
            return None
        compacted = any(draft.event.type == "context_compacted" for draft in drafts)
        if not proof.follows(self.live.number(stream, last), compacted=compacted):
            return None
        since = self.live.log.read(stream, last.position, version, types=["context_compacted"])
        return self.requests.expanded(stream, last) if next(since, None) is None else None

    def _items(
        self, stream: StreamKey, observation: Observation, made: Mapping[int, Draft]
    ) -> list[Item]:
        standing = [piece.standing for piece in observation.pieces]
        at = [p for p in needed(standing) if p not in made]
        events = self.live.log.at(stream, at) if at else {}
        events |= {p: draft_at(d.event, stream, p) for p, d in made.items()}
        more = referenced(standing, events)
        if more:
            events |= self.live.log.at(stream, more)
        return materialize(standing, events)
