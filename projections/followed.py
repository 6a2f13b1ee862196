"""A stream that is being recorded, held in memory, so that a call costs what is new in it.

A request mostly repeats the one before it and goes on. Then nothing of what is repeated is read,
hashed or compared again: the caller knows how many messages are the same to the byte, and this
module what the last request was made of. Where anything else happened (a result was cleared, the
beginning was cut, another process wrote), the whole request is read against the whole view, with
``observe``.

What is planned is not yet so: ``Plan.drafts`` have to be appended at ``Plan.version`` first, and
``appended`` told of it.
"""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from eventlog.events import Event, ModelCalled, ToolsDeclared
from eventlog.jsonvalue import Json
from eventlog.messages import SYSTEM_ROLES
from eventlog.recorded import Draft, RecordedEvent, StreamKey
from projections import digests, forms, manifest, proof, runs
from projections.asked import MESSAGES as MESSAGES
from projections.asked import Asked as Asked
from projections.changes import entry_key, entry_kind, item_kind, new_item
from projections.context import DECISIONS, ITEM_TYPES
from projections.dialects import RequestEntry
from projections.dialects import dialect as dialect_of
from projections.edited import server_edited
from projections.expanding import Expanded, following
from projections.known import tools_position
from projections.last_request import Last, Tail, Tools, closed, grown, hashed, wired
from projections.live import Live
from projections.manifest import Piece
from projections.observe import continued, draft_at, observe
from projections.parts import parted
from projections.remembered import Remembered
from projections.runs import ItemPositions

_FIRST = {"openai_chat": "", "openai_responses": "instructions", "anthropic": "system"}
"""By dialect: the field that stands before the conversation as an entry of its own."""


_CHANGING = {*ITEM_TYPES, *DECISIONS, "model_called"} - {"item_pinned", "item_unpinned"}
"""Events after which a context is another one, or was asked for."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to append before a request goes out."""

    kind: Literal["call", "branch", "side"]
    version: int
    """Of the stream, at which it has to be appended."""
    drafts: tuple[Draft, ...] = ()
    """What the request changes, and the call at the end; none for a side call."""
    tail: Tail | None = None

    @property
    def position(self) -> int:
        """Of the call."""
        return self.version + len(self.drafts)


class Followed:
    """One stream, as it stands in the log."""

    def __init__(self, live: Live, key: StreamKey) -> None:
        self.key = key
        self._live = live
        self._clear()

    def _clear(self) -> None:
        self.version = 0
        self._remembered = Remembered()
        self._salts: dict[int, bytes] = {}
        self._last: Last | None = None

    @property
    def items(self) -> int:
        """How many items stand."""
        return len(self._remembered.view)

    # -- what was appended ----------------------------------------------------------------------

    def catch_up(self) -> bool:
        """Read what stands in the log by now; whether any of it is more than a note.

        Raises CriticalUnknown.
        """
        log = self._live.log
        if not log.exists(self.key):
            return False
        events = list(log.read(self.key, self.version))
        if self.version and any(event.type == "redacted" for event in events):
            self._clear()
            events = list(log.read(self.key))
        if events:
            self._salts |= log.salts(self.key, [event.position for event in events])
        for event in events:
            self._take(event)
        return any(event.type in _CHANGING for event in events)

    def shares(self, asked: Asked) -> bool:
        """Whether something of the conversation stands in the request, system prompts apart.

        Raises InputRefused for a body that is no request.
        """
        request = proof.request_of(asked.dialect, asked.body)
        items = parted(self._remembered.items(self._remembered.view.standing()))
        known = {entry_key(item_kind(i), i.message) for i in items if i.role not in SYSTEM_ROLES}
        return any(
            entry_key(entry_kind(entry), entry.message) in known
            for entry in request.entries
            if entry.role not in SYSTEM_ROLES
        )

    def followed(self, *drafts: Draft) -> None:
        """Take in what was appended behind everything else; each draft has its salt."""
        for draft in drafts:
            at = self.version + 1
            assert draft.salt is not None
            self._salts[at] = draft.salt
            self._take(draft_at(draft.event, self.key, at))

    def appended(self, plan: Plan) -> None:
        """Take in what was planned, now that it stands in the log."""
        last, tail = self._last, plan.tail
        if tail is None:
            self.followed(*plan.drafts)
            return
        *changes, call = plan.drafts
        self.followed(*changes)
        assert call.salt is not None
        assert isinstance(call.event, ModelCalled)
        self._salts[plan.position], self.version = call.salt, plan.position
        self._last = grown(last, tail)
        sent = self._sent(last, tail, plan.position)
        self._remembered.called(plan.position, sent, tail.tools.at, call.event.model)

    def _take(self, event: RecordedEvent) -> None:
        self._remembered.take_recorded(event)
        self.version = event.position
        if self._last is None:
            return
        is_item = event.type in ITEM_TYPES
        if is_item and event.data.get("after") is None:
            self._last.behind.append(event.position)
        elif is_item or event.type in _CHANGING:
            self._last = None

    def _sent(self, last: Last | None, tail: Tail, call: int) -> Expanded:
        """The manifest of the call, with the forms that it shares with the one before."""
        assert self._last is not None
        before = self._remembered.last
        found = following(before, self._last.entries, tail.shapes, call)
        if before is None or last is None or not tail.start:
            return found
        shared = before.forms
        if last.entries is not self._last.entries:
            shared = {n: form for n, form in shared.items() if n < tail.begins}
        shared.update(found.forms)
        return Expanded(found.entries, shared)

    # -- what is planned ------------------------------------------------------------------------

    def plan(
        self, asked: Asked, *, belongs: bool = False, said: Sequence[Sequence[str]] = ()
    ) -> Plan:
        """What to append before the request goes out.

        ``belongs``: it is a call of this conversation, whatever it holds. ``said``: lines of what
        was answered beside it. Raises InputRefused for a body that is no request.
        """
        return self.going_on(asked) or self._anew(asked, belongs, said)

    def going_on(self, asked: Asked) -> Plan | None:
        """The same where it begins as the last request did and nothing but its end is new; None
        where it does not."""
        last = self._last
        if last is None or not asked.kept or last.dialect != asked.dialect:
            return None
        if not forms.identical(last.first, asked.fields.get(_FIRST[asked.dialect])):
            return None
        start = asked.kept + last.lead
        if start > len(last.entries):
            return None
        fresh = _entries(asked)
        standing = [piece for entry in last.entries[start:] for piece in entry]
        items = self._remembered.preview(standing, {})
        behind = parted(self._remembered.items((origin, 0) for origin in last.behind))
        standing += [Piece(runs.origin(item.id), part=item.part) for item in behind]
        items += behind
        known = continued(items, fresh)
        if known is None:
            return None
        new: list[Event] = []
        declared = self._declared(asked, last.tools, new)
        brought = self.version + len(new) + 1
        new += [new_item(asked.dialect, entry, None) for entry in fresh[known:]]
        pieces = [*standing]
        pieces += [Piece(brought + n) for n in range(len(fresh) - known)]
        drafts, made = self._drafted(new)
        items += self._remembered.preview(pieces[known:], made)
        entries = digests.grouped(fresh, pieces)
        own = {at: draft.salt or b"" for at, draft in zip(made, drafts, strict=True)}
        salts = ChainMap(own, self._salts)
        try:
            hashes = proof.hashes_of(fresh, entries, salts)
            tools = hashed(asked, declared, last.tools, salts)
        except KeyError:  # some of it was erased
            return None
        begins = last.places[start]
        tail = Tail(
            asked.dialect,
            last.first,
            last.lead,
            tools,
            start,
            begins,
            entries,
            hashes,
            proof.shapes_of(items, fresh, begins),
            wired(asked, last.wire),
        )
        return self._called(asked, tail, last, drafts)

    def _anew(self, asked: Asked, belongs: bool, said: Sequence[Sequence[str]]) -> Plan:
        """The whole request against the whole view."""
        request = proof.request_of(asked.dialect, asked.body, belongs=belongs, said=said)
        seen = observe(self._remembered.known(self.version), request)
        if seen.kind == "side":
            return Plan("side", self.version)
        drafts, made = self._drafted(seen.events)
        entries = digests.grouped(request.entries, seen.pieces)
        fresh = {at: draft.salt for at, draft in zip(made, drafts, strict=True)}
        wanted = proof.needed(entries, seen.tools)
        salts = {p: salt for p in wanted if (salt := fresh.get(p) or self._salts.get(p))}
        compacted = self._remembered.compacted or any(
            draft.event.type == "context_compacted" for draft in drafts
        )
        follows = proof.follows(self._remembered.calls, compacted=compacted)
        ground = proof.Ground(
            items=self._remembered.preview(seen.pieces, made),
            salts=salts,
            positions=self._positions(made),
            previous=self._remembered.last if follows else None,
        )
        own, wire = os.urandom(16), wired(asked, None)
        proved = proof.call(request, seen.pieces, seen.tools, own, ground, closed(asked, wire, own))
        tail = None
        if proved.hashes is not None:
            tools_hash = digests.NO_TOOLS
            if seen.tools is not None:
                tools_hash = digests.value_hash(salts[seen.tools], request.tools)
            tail = Tail(
                asked.dialect,
                asked.fields.get(_FIRST[asked.dialect]),
                len(proved.entries) - len(asked.messages),
                Tools(request.tools, seen.tools, tools_hash),
                0,
                0,
                proved.entries,
                proved.hashes,
                proved.shapes,
                wire,
            )
        call = Draft(proved.event, salt=own)
        return Plan(seen.kind, self.version, (*drafts, call), tail)

    def _called(self, asked: Asked, tail: Tail, last: Last, drafts: Sequence[Draft]) -> Plan:
        """The call of a request that shares its beginning with the last one."""
        before = self._remembered.last
        assert before is not None
        own = os.urandom(16)
        parameters = dialect_of(asked.dialect).parameters(asked.fields)
        hashes = [*last.hashes[: tail.start], *tail.hashes]
        own_hash = digests.value_hash(own, parameters)
        at = [self.version + n for n in range(1, len(drafts) + 1)]
        positions = self._positions(dict(zip(at, drafts, strict=True)))
        shapes = tail.shapes
        stands = proof.follows(self._remembered.calls, compacted=self._remembered.compacted)
        if stands:
            behind = last.entries[tail.start :]
            stored = manifest.encode(tail.entries, behind, positions, shared=tail.start)
            if behind:
                kept = last.places[manifest.kept(stored)]
                shapes = proof.changed(shapes, before, tail.begins, kept)
        else:
            entries = [*last.entries[: tail.start], *tail.entries]
            stored = manifest.encode(entries, None, positions)
            older = {n: form.shape for n, form in before.forms.items() if n < tail.begins}
            shapes = older | shapes
        event = ModelCalled(
            model=str(asked.fields.get("model", "")),
            dialect=asked.dialect,
            tools=tail.tools.at,
            server_edited=server_edited(asked.dialect, parameters, asked.messages),
            parameters=Json(parameters),
            request_digest=digests.request_digest(hashes, tail.tools.hash, own_hash),
            wire_digest=closed(asked, tail.wire, own),
            forms=proof.json_forms(shapes),
            forms_stand=stands,
            manifest=stored,
        )
        return Plan("call", self.version, (*drafts, Draft(event, salt=own)), tail)

    # -- parts of it ----------------------------------------------------------------------------

    def _drafted(self, new: Sequence[Event]) -> tuple[list[Draft], dict[int, RecordedEvent]]:
        """The events with salts of their own, and as if they stood in the log."""
        drafts = [Draft(event, salt=os.urandom(16)) for event in new]
        made = {}
        for at, event in enumerate(new, self.version + 1):
            made[at] = draft_at(event, self.key, at)
        return drafts, made

    def _declared(self, asked: Asked, last: Tools, new: list[Event]) -> int | None:
        """Where the tools of a request are declared: maybe by an event that is new."""
        tools = asked.fields.get("tools")
        if tools is last.value or forms.identical(tools, last.value):
            return last.at
        position = tools_position(self._remembered.tools, tools)
        if position != -1:
            return position
        new.append(ToolsDeclared(dialect=asked.dialect, definitions=Json(tools)))
        return self.version + len(new)

    def _positions(self, made: Mapping[int, RecordedEvent | Draft]) -> ItemPositions:
        fresh = [
            at
            for at, each in made.items()
            if (each.event.type if isinstance(each, Draft) else each.type) in ITEM_TYPES
        ]

        def positions(low: int, high: int) -> list[int]:
            known = self._remembered.positions(low, high)
            return known + [at for at in fresh if low <= at <= high]

        return positions


def _entries(asked: Asked) -> tuple[RequestEntry, ...]:
    """The entries of what is new in a request."""
    name = MESSAGES[asked.dialect]
    found = dialect_of(asked.dialect).from_request({name: list(asked.messages[asked.kept :])})
    return tuple(entry.behind(asked.kept) for entry in found)
