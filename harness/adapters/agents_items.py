"""What the Agents SDK keeps of a conversation, as events of its stream.

The context is what a model was shown; what the SDK keeps is another list. It may show less than it
keeps (a limit, a filter), or more (an answer that a guardrail stopped). So what it keeps is told by
notes of its own, ``SessionStored``, which name items and parts of items; what they say is in the
items, once.

What the SDK takes away and puts back in the next moment was never gone: so
``OpenAIResponsesCompactionSession`` puts a shorter conversation in the place of a long one. Then
the events that took it away are undone, and one compaction says what left and what came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

from agents.models.fake_id import FAKE_RESPONSES_ID

from eventlog import EventLog, messages
from eventlog.events import (
    ContextCompacted,
    DecidedBy,
    DecisionUndone,
    Event,
    MessageRevised,
    NewMessage,
    SessionStored,
)
from eventlog.jsonvalue import Json
from eventlog.messages import SYSTEM_ROLES, Dialect
from eventlog.recorded import StreamKey
from projections import forms, runs
from projections.changes import new_item
from projections.dialects import openai_chat, openai_responses
from projections.followed import Followed
from projections.items import Item
from projections.known_context import BLOBS
from projections.runs import Origin

_DIALECT: Dialect = "openai_responses"
_BY = DecidedBy(name="agents-sdk")


class Kept(NamedTuple):
    """One item of the SDK's: an item of the log, or one of several that an answer is made of."""

    item: Origin
    part: int | None = None

    def __str__(self) -> str:
        return str(self.item) if self.part is None else f"{self.item}/{self.part}"


def _kept(entry: str) -> Kept:
    item, _, part = entry.partition("/")
    return Kept(runs.origin(item), int(part) if part else None)


@dataclass(frozen=True, slots=True)
class _Taken:
    """What was taken away last, as long as nothing else has happened."""

    version: int
    decisions: tuple[int, ...]
    stored: list[Kept]
    """What was kept before."""
    standing: list[Origin]
    """What stood in the context before."""


class Keeping:
    """The notes of one stream. What it is asked for is planned on the stream as it stands."""

    def __init__(self, log: EventLog, key: StreamKey) -> None:
        self._log, self._key = log, key
        self._seen = 0
        self._stored: list[Kept] = []
        self._is_chat = False
        """Whether the model is asked in OpenAI's chat: then what is added stands there so, too."""
        self._taken: _Taken | None = None
        self._planned: _Taken | None = None

    def done(self) -> None:
        """What was planned last stands in the log, or there was nothing to append."""
        self._taken, self._planned = self._planned, None

    # -- what is kept ---------------------------------------------------------------------------

    def read(self, followed: Followed, into: list[dict[str, Any]]) -> list[Event]:
        """Everything, as it was added. What was erased since is left out, with its other half."""
        self._planned = None
        stored = self._current(followed)
        natives = _Natives(followed)
        found = [natives.of(each) for each in stored]
        gone = {natives.call_of(each) for each in stored if natives.is_erased(each)} - {""}
        into[:] = [deepcopy(dict(n)) for n in found if n is not None and _call_id(n) not in gone]
        return []

    def _current(self, followed: Followed) -> list[Kept]:
        if followed.version < self._seen:
            self._seen, self._stored = 0, []
        if followed.version > self._seen:
            read = self._log.read(self._key, self._seen, types=["session_stored", "model_called"])
            for event in read:
                if event.type == "model_called":
                    self._is_chat = event.data["dialect"] == openai_chat.NAME
                else:
                    self._take(event.data["items"])
            self._seen = followed.version
        return self._stored

    def _take(self, entries: Sequence[str]) -> None:
        stands = int(entries[0][1:]) if entries and entries[0].startswith("=") else 0
        fresh = entries[1:] if stands else entries
        self._stored = [*self._stored[:stands], *map(_kept, fresh)]

    # -- what happens ---------------------------------------------------------------------------

    def added(self, followed: Followed, given: Sequence[Mapping[str, Any]]) -> list[Event]:
        """The SDK goes on with these."""
        stored = list(self._current(followed))
        taken, self._planned = self._taken, None
        if taken is not None and taken.version == followed.version:
            plan = self._put_back(followed, taken, stored, given)
            if plan is not None:
                return plan
        known = _Natives(followed)
        have = set(stored)
        items = followed.originals(
            item for item, _ in followed.standing if not known.is_system(item)
        )
        candidates = [each for item in items for each in known.pieces(item) if each not in have]
        found = _matched(given, candidates, known)
        events: list[Event] = []
        names = []
        for native, each in zip(given, found, strict=True):
            if each is None:
                events.append(self._new(native))
                each = Kept(followed.version + len(events))
            names.append(each)
        return [*events, _stored(len(stored), names)]

    def popped(self, followed: Followed, into: list[dict[str, Any]]) -> list[Event]:
        """The SDK takes its last item back; ``into``: what that was."""
        stored = list(self._current(followed))
        self._planned = self._taken
        known = _Natives(followed)
        into.clear()
        while stored and not into:
            last = stored.pop()
            native = known.of(last)
            if native is not None:
                into.append(deepcopy(dict(native)))
        if not into:
            return []
        before = list(self._stored)
        standing = dict(followed.standing)
        gone = list(dict.fromkeys(each.item for each in before[len(stored) :]))
        whole = [o for o in gone if o in standing and all(each.item != o for each in stored)]
        events: list[Event] = []
        for item in gone:
            if item in standing and item not in whole:
                left = [known.of(each) for each in stored if each.item == item]
                message = Json({"items": [dict(native) for native in left if native is not None]})
                events.append(MessageRevised(item=str(item), message=message, reason="pop_item"))
        if whole:
            events.append(_covering(whole, standing, "pop_item"))
        return self._taking(followed, before, events, _stored(len(stored), ()))

    def cleared(self, followed: Followed) -> list[Event]:
        """The SDK begins anew."""
        before = list(self._current(followed))
        self._planned = self._taken
        known, have = _Natives(followed), {each.item for each in before}
        standing = {o: r for o, r in followed.standing if o in have or not known.is_system(o)}
        if not before and not standing:
            return []
        events: list[Event] = []
        if standing:
            events.append(_covering(list(standing), dict(followed.standing), "clear_session"))
        return self._taking(followed, before, events, SessionStored(items=()))

    def _taking(
        self, followed: Followed, before: list[Kept], events: list[Event], note: SessionStored
    ) -> list[Event]:
        standing = [origin for origin, _ in followed.standing]
        decisions = tuple(followed.version + n for n in range(1, len(events) + 1))
        last = self._taken
        if last is not None and last.version == followed.version:
            before, standing = last.stored, last.standing
            decisions = (*last.decisions, *decisions)
        version = followed.version + len(events) + 1
        self._planned = _Taken(version, decisions, before, standing)
        return [*events, note]

    def _new(self, native: Mapping[str, Any]) -> Event:
        [entry] = openai_responses.from_request({"input": [dict(native)]})
        if self._is_chat:
            kind: Any = entry.kind if entry.kind == "tool_result" else "message"
            item = Item("1", "1", kind, _DIALECT, entry.role, native)
            said = openai_chat.render([item])["messages"]
            if len(said) == 1 and said[0] != native:
                [entry] = openai_chat.from_request({"messages": said})
                return new_item("openai_chat", entry, None)
        return new_item(_DIALECT, entry, None)

    def _put_back(
        self,
        followed: Followed,
        taken: _Taken,
        stored: list[Kept],
        given: Sequence[Mapping[str, Any]],
    ) -> list[Event] | None:
        """What says of all that was taken away and of what came in its place what became of it;
        None where nothing of it came back and nothing stands for it."""
        known = _Natives(followed)
        standing = {origin for origin, _ in followed.standing}
        gone = [origin for origin in taken.standing if origin not in standing]
        removed = [each for each in taken.stored if each.item in gone]
        found = _matched(given, removed, known)
        whole = {
            origin
            for origin in {each.item for each in removed}
            if {each for each in removed if each.item == origin} <= {e for e in found if e}
        }
        found = [each if each is not None and each.item in whole else None for each in found]
        is_summary = any(native.get("type") in BLOBS for native in given)
        if not gone or not (is_summary or any(found)):
            return None
        events: list[Event] = [
            DecisionUndone(target=at, reason="put back at once") for at in taken.decisions
        ]
        covered = [origin for origin in gone if origin not in whole]
        fresh = [native for native, each in zip(given, found, strict=True) if each is None]
        at = followed.version + len(events) + 1
        if not covered:
            names = []
            for native, each in zip(given, found, strict=True):
                if each is None:
                    events.append(self._new(native))
                    each = Kept(followed.version + len(events))
                names.append(each)
            return [*events, _stored(len(stored), names)]
        numbers = iter(range(len(fresh)))
        names = [each or Kept(f"{at}.{next(numbers)}") for each in found]
        wanted = list(dict.fromkeys(each.item for each in names))
        events.append(
            ContextCompacted(
                covered=tuple(map(str, covered)),
                messages=tuple(_message(native) for native in fresh),
                layout=_layout(taken.standing, covered, wanted, at),
                trigger="clear_session, add_items",
                by=_BY,
                opaque=any(native.get("encrypted_content") for native in fresh),
            )
        )
        return [*events, _stored(len(stored), names)]


class _Natives:
    """Items of the log as the SDK has them: an answer of several parts is several items."""

    def __init__(self, followed: Followed) -> None:
        self._followed = followed
        self._known: dict[Origin, tuple[Item, list[Mapping[str, Any]]]] = {}

    def _look(self, origin: Origin) -> tuple[Item, list[Mapping[str, Any]]]:
        known = self._known.get(origin)
        if known is None:
            [item] = self._followed.originals([origin])
            known = self._known[origin] = (item, _natives(item))
        return known

    def of(self, kept: Kept) -> Mapping[str, Any] | None:
        item, natives = self._look(kept.item)
        number = kept.part or 0
        return None if item.form == "redacted" or number >= len(natives) else natives[number]

    def pieces(self, item: Item) -> list[Kept]:
        origin = runs.origin(item.id)
        natives = self._look(origin)[1]
        if len(natives) < 2:
            return [Kept(origin)] if natives else []
        return [Kept(origin, number) for number in range(len(natives))]

    def is_system(self, origin: Origin) -> bool:
        """Whether it is the agent's, and not of the conversation, unless the SDK keeps it."""
        return self._look(origin)[0].role in SYSTEM_ROLES

    def is_erased(self, kept: Kept) -> bool:
        return self._look(kept.item)[0].form == "redacted"

    def call_of(self, kept: Kept) -> str:
        """The tool call that an erased item made or answered."""
        item = self._look(kept.item)[0]
        ids = (*item.call_ids, *item.result_ids)
        return ids[0] if len(ids) == 1 else ""


def _natives(item: Item) -> list[Mapping[str, Any]]:
    if item.form == "redacted":
        return []
    if item.dialect != _DIALECT:
        return [_spoken(native) for native in openai_responses.render([item])["input"]]
    several = item.message.get("items")
    return list(several) if isinstance(several, list) else [item.message]


def _spoken(native: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a model said in another dialect, as the SDK itself has it then."""
    content = native.get("content")
    if native.get("role") != "assistant" or not isinstance(content, list):
        return native
    blocks = [{"annotations": [], **block} for block in content]
    return {"id": FAKE_RESPONSES_ID, **native, "status": "completed", "content": blocks}


def _matched(
    given: Sequence[Mapping[str, Any]], candidates: Sequence[Kept], known: _Natives
) -> list[Kept | None]:
    """For each of what was given, in order, the candidate that it is; each once."""
    left = list(candidates)
    found: list[Kept | None] = []
    for native in given:
        same = next(_alike(native, left, known), None)
        found.append(same)
        if same is not None:
            left = left[left.index(same) + 1 :]
    return found


def _alike(
    native: Mapping[str, Any], candidates: Iterable[Kept], known: _Natives
) -> Iterator[Kept]:
    pairs = [(each, other) for each in candidates if (other := known.of(each)) is not None]
    key = forms.key(native)
    yield from (each for each, other in pairs if forms.key(other) == key)
    said = _said(native)
    yield from (each for each, other in pairs if said[1] and _said(other) == said)


def _said(native: Mapping[str, Any]) -> tuple[str, list[tuple[str, ...]]]:
    """Who says what, whatever ids the provider gave it, and in however many blocks."""
    parts = messages.parts(_DIALECT, native)
    said: list[tuple[str, ...]] = [
        (p.kind, p.text.strip(), p.id, p.name) for p in parts if p.kind != "thinking"
    ]
    return messages.role(_DIALECT, native), said


def _call_id(native: Mapping[str, Any]) -> str:
    call = native.get("call_id")
    return call if isinstance(call, str) else ""


def _message(native: Mapping[str, Any]) -> NewMessage:
    return NewMessage(dialect=_DIALECT, message=Json(dict(native)))


def _stored(stands: int, fresh: Iterable[Kept]) -> SessionStored:
    front = (f"={stands}",) if stands else ()
    return SessionStored(items=(*front, *map(str, fresh)))


def _covering(gone: Iterable[Origin], standing: Mapping[Origin, int], why: str) -> ContextCompacted:
    covered = tuple(runs.label(origin, standing[origin]) for origin in gone)
    return ContextCompacted(covered=covered, trigger=why, by=_BY)


def _layout(
    before: Sequence[Origin], covered: Sequence[Origin], wanted: Sequence[Origin], at: int
) -> tuple[str, ...] | None:
    """The context after a compaction at that position; None where it comes out by itself."""
    new = [origin for origin in wanted if str(origin).startswith(f"{at}.")]
    gone, moved = set(covered), set(wanted)
    others = [origin for origin in before if origin not in gone and origin not in moved]
    itself: list[Origin] = []
    for origin in before:
        if origin not in gone:
            itself.append(origin)
        elif new and new[0] not in itself:
            itself += new
    laid = [*others, *wanted]
    if itself == laid:
        return None
    names = {origin: f"m{number}" for number, origin in enumerate(new)}
    return tuple(names.get(origin, str(origin)) for origin in laid)
