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
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eventlog.events import Event, ModelCalled, SessionForked, ToolsDeclared
from eventlog.jsonvalue import Json
from eventlog.messages import SYSTEM_ROLES
from eventlog.recorded import Draft, RecordedEvent, StreamKey
from projections import digests, forms, manifest, proof, runs
from projections.asked import MESSAGES as MESSAGES
from projections.asked import Asked as Asked
from projections.changes import entry_key, entry_kind, item_kind, new_item
from projections.context import DECISIONS, ITEM_TYPES
from projections.dialects import dialect as dialect_of
from projections.edited import server_edited
from projections.expanding import Expanded, following
from projections.items import Item
from projections.known import tools_position
from projections.last_request import Last, Tail, Tools, closed, digested, grown, hashed, wired
from projections.live import Live
from projections.manifest import Piece
from projections.observe import continued, draft_at, observe
from projections.parts import parted
from projections.plan import Plan as Plan
from projections.remembered import Remembered
from projections.runs import ItemPositions, Origin, Standing

_FIRST = {"openai_chat": "", "openai_responses": "instructions", "anthropic": "system"}
"""By dialect: the field that stands before the conversation as an entry of its own."""


_CHANGING = {*ITEM_TYPES, *DECISIONS, "model_called"} - {"item_pinned", "item_unpinned"}
"""Events after which a context is another one, or was asked for."""


class Followed:
    """One stream, as it stands in the log."""

    def __init__(self, live: Live, key: StreamKey) -> None:
        self.key = key
        self._live = live
        self._clear()

    @classmethod
    def forked(cls, live: Live, parent: StreamKey, key: StreamKey, at: int) -> Followed:
        """A fork of a stream as it begins, though it does not stand in the log yet."""
        found = cls(live, parent)
        found.catch_up(at)
        found.key = key
        event = SessionForked(parent=str(parent), at=at, ownership="observed")
        found._take(draft_at(event, key, at + 1))
        return found

    def _clear(self) -> None:
        self.version = 0
        self._remembered = Remembered()
        self._salts: dict[int, bytes] = {}
        self._last: Last | None = None

    @property
    def items(self) -> int:
        """How many items stand."""
        return len(self._remembered.view)

    @property
    def standing(self) -> list[Standing]:
        """What stands in the context now."""
        return self._remembered.view.standing()

    def originals(self, items: Iterable[Origin]) -> list[Item]:
        """Items as they came in, whether they stand or not."""
        return self._remembered.items((item, 0) for item in items)

    def is_single(self) -> bool:
        """Whether all that stands is one request with its answer, and nothing was compacted."""
        if self._live.views.count(self.key, "context_compacted", self.version):
            return False
        items = self._remembered.items(self._remembered.view.standing())
        return all(item.call is None for item in items[:-1])

    # -- what was appended ----------------------------------------------------------------------

    def catch_up(self, to: int | None = None) -> bool:
        """Read what stands in the log by now, or up to a position; whether any of it is more than a
        note.

        Raises CriticalUnknown.
        """
        log = self._live.log
        if not log.exists(self.key):
            return False
        events = list(log.read(self.key, self.version, to))
        if self.version and any(event.type == "redacted" for event in events):
            self._clear()
            events = list(log.read(self.key, to=to))
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
        for draft, event in zip(changes, plan.made, strict=True):
            assert draft.salt is not None
            self._salts[event.position] = draft.salt
            self._take(event)
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
        if not forms.identical(last.first, _first(asked)):
            return None
        start = asked.kept + last.lead
        if start > len(last.entries):
            return None
        fresh = asked.fresh
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
        partial = self._remembered.partial
        new += [new_item(asked.dialect, entry, None, partial) for entry in fresh[known:]]
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
            digested(last, start, hashes),
            proof.shapes_of(items, fresh, begins),
            wired(asked, last.wire),
        )
        return self._called(asked, tail, last, drafts, made)

    def _anew(self, asked: Asked, belongs: bool, said: Sequence[Sequence[str]]) -> Plan:
        """The whole request against the whole view."""
        request = proof.request_of(asked.dialect, asked.body, belongs=belongs, said=said)
        start, front = self._front(asked)
        seen = observe(self._remembered.known(self.version, front), request)
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
        known, before, last = proof.NO_FRONT, self._remembered.last, self._last
        if last is not None and before is not None and entries[:start] == last.entries[:start]:
            shapes = {n: form.shape for n, form in before.forms.items() if n < len(front)}
            known = proof.Front(len(front), last.hashes[:start], shapes)
        ground = proof.Ground(
            items=self._remembered.preview(seen.pieces[known.pieces :], made),
            salts=salts,
            positions=self._positions(made),
            previous=before if follows else None,
            front=known,
        )
        own, wire = os.urandom(16), wired(asked, None)
        sent = asked.sent(request.parameters)
        whole = closed(asked, wire, own) if asked.is_wire else None
        proved = proof.call(request, seen.pieces, seen.tools, own, ground, whole, sent)
        tail = None
        if proved.hashes is not None:
            tools_hash = digests.NO_TOOLS
            if seen.tools is not None:
                tools_hash = digests.value_hash(salts[seen.tools], request.tools)
            tail = Tail(
                asked.dialect,
                _first(asked),
                len(proved.entries) - len(asked.messages),
                Tools(request.tools, seen.tools, tools_hash),
                0,
                0,
                proved.entries,
                proved.hashes,
                digests.begun(proved.hashes),
                proved.shapes,
                wire,
            )
        call = Draft(_proved(proved.event, asked), salt=own)
        return Plan(seen.kind, self.version, (*drafts, call), tuple(made.values()), tail)

    def _front(self, asked: Asked) -> tuple[int, list[Piece]]:
        """The entries at the front of a request that are those of the last one, to the byte: how
        many, and their pieces. Those stand at the front of the view, too."""
        last = self._last
        if last is None or not asked.kept or last.dialect != asked.dialect:
            return 0, []
        if not forms.identical(last.first, _first(asked)):
            return 0, []
        start = min(asked.kept + last.lead, len(last.entries))
        return start, [piece for entry in last.entries[:start] for piece in entry]

    def _called(
        self,
        asked: Asked,
        tail: Tail,
        last: Last,
        drafts: Sequence[Draft],
        made: Mapping[int, RecordedEvent],
    ) -> Plan:
        """The call of a request that shares its beginning with the last one."""
        before = self._remembered.last
        assert before is not None
        own = os.urandom(16)
        parameters = dialect_of(asked.dialect).parameters(asked.fields)
        own_hash = digests.value_hash(own, parameters)
        positions = self._positions(made)
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
            request_digest=digests.ended(tail.digest, tail.tools.hash, own_hash),
            wire_digest=closed(asked, tail.wire, own) if asked.is_wire else None,
            forms=proof.json_forms(shapes),
            forms_stand=stands,
            manifest=stored,
            **asked.sent(parameters),
        )
        drafted = (*drafts, Draft(_proved(event, asked), salt=own))
        return Plan("call", self.version, drafted, tuple(made.values()), tail)

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

    def _positions(self, made: Mapping[int, RecordedEvent]) -> ItemPositions:
        fresh = [at for at, event in made.items() if event.type in ITEM_TYPES]

        def positions(low: int, high: int) -> list[int]:
            known = self._remembered.positions(low, high)
            return known + [at for at in fresh if low <= at <= high]

        return positions


def _first(asked: Asked) -> dict[str, Any]:
    """What stands before the conversation; a null is not nothing."""
    name = _FIRST[asked.dialect]
    return {name: asked.fields[name]} if name in asked.fields else {}


def _proved(event: ModelCalled, asked: Asked) -> ModelCalled:
    """Without digests where something of the request is left out: it is not what was sent."""
    if asked.is_whole:
        return event
    return event.model_copy(update={"request_digest": None, "wire_digest": None})
