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
from typing import Any, Literal, cast

from eventlog.errors import WrongExpectedVersion
from eventlog.events import ModelCalled
from eventlog.jsonvalue import Json
from eventlog.messages import Dialect
from eventlog.recorded import Draft, RecordedEvent, StreamKey
from eventlog.values import ManifestEntry
from projections import digests, forms, manifest, runs
from projections.context import View
from projections.dialects import dialect as dialect_of
from projections.items import Item
from projections.live import Live
from projections.manifest import Piece, SentAs
from projections.materialize import materialize, needed, referenced
from projections.observe import Earlier, Known, Observation, Request, draft_at, observe
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
        provider = dialect_of(dialect)
        entries = provider.from_request(body)
        request = Request(
            dialect=cast(Dialect, dialect),
            model=str(body.get("model", "")),
            entries=entries,
            tools=body.get("tools"),
            parameters=provider.parameters(body),
        )
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
            Earlier(call.position, tuple(piece for entry in entries for piece in entry))
            for call, entries in self.requests.all_expanded(stream, calls)
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
        salts = (
            self.live.log.salts(stream, [p for p in digests.positions(entries) if p not in made])
            if version
            else {}
        )
        salts |= {at: draft.salt or b"" for at, draft in made.items()}
        own = os.urandom(16)
        hashes = [
            digests.entry_hash(pieces, sent, salts)
            for (pieces, sent) in zip(entries, digests.sent_values(request.entries), strict=True)
        ]
        tools_salt = b""
        if observation.tools is not None:
            given = made.get(observation.tools)
            known = self.live.log.salts(stream, [observation.tools]) if given is None else {}
            tools_salt = given.salt or b"" if given else known.get(observation.tools, b"")
        tools_hash = digests.NO_TOOLS
        if request.tools is not None:
            tools_hash = digests.value_hash(tools_salt, request.tools)
        own_hash = digests.value_hash(own, dict(request.parameters))
        digest = digests.request_digest(hashes, tools_hash, own_hash)
        event = ModelCalled(
            model=request.model,
            dialect=request.dialect,
            tools=observation.tools,
            parameters=Json(dict(request.parameters)),
            request_digest=digest,
            wire_digest=sha256(own + wire).hexdigest() if wire is not None else None,
            forms=self._forms(stream, request, observation, made),
            manifest=self._stored(stream, version, entries, observation, drafts),
        )
        return Draft(event, salt=own)

    def _stored(
        self,
        stream: StreamKey,
        version: int,
        entries: list[SentAs],
        observation: Observation,
        drafts: Sequence[Draft],
    ) -> tuple[ManifestEntry, ...]:
        fresh = [
            version + 1 + n
            for n, draft in enumerate(drafts)
            if draft.event.type in ("message_appended", "tool_result_recorded")
        ]

        def positions(low: int, high: int) -> list[int]:
            old = self.live.views.positions(stream, low, min(high, version)) if version else []
            return old + [p for p in fresh if low <= p <= high]

        previous = None
        last = self._last_call(stream, version) if version else None
        compacted = any(d.event.type == "context_compacted" for d in drafts)
        if last is not None and not compacted and last.data.get("manifest") is not None:
            number = self.live.number(stream, last)
            since = self.live.log.read(stream, last.position, version, types=["context_compacted"])
            if number % manifest.WHOLE_EVERY and next(since, None) is None:
                previous = self.requests.expanded(stream, last)
        return manifest.encode(entries, previous, positions)

    def _forms(
        self,
        stream: StreamKey,
        request: Request,
        observation: Observation,
        made: Mapping[int, Draft],
    ) -> Json | None:
        standing = [piece.standing for piece in observation.pieces]
        at = [p for p in needed(standing) if p not in made]
        events = self.live.log.at(stream, at) if at else {}
        events |= {p: draft_at(d.event, stream, p) for p, d in made.items()}
        more = referenced(standing, events)
        if more:
            events |= self.live.log.at(stream, more)
        items = materialize(standing, events)
        found: dict[str, Any] = {}
        for number, (item, entry) in enumerate(zip(items, request.entries, strict=True)):
            form: dict[str, Any] = {}
            if not forms.identical(item.message, entry.message):
                changes = forms.form(dict(item.message), dict(entry.message))
                if changes:
                    form["changes"] = changes
            if entry.kind == "system":
                form["kind"] = entry.kind
            if entry.place != "messages":
                form["place"] = entry.place
            if entry.group is not None:
                form["group"] = [entry.group, list(entry.blocks), dict(entry.frame or {})]
            if entry.role != item.role:
                form["role"] = entry.role
            if form:
                found[str(number)] = form
        return Json(found) if found else None
