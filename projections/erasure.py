"""From items to the events that must be erased, and where else their text stands.

Redacting an item erases every event that carries a rendition of it: the one that brought it in, the
placeholders and the revisions, also those in forks. Other copies are listed, and erased only when
that is asked for:

reference   summaries of compactions that covered it, and what was made of those
blob        events that share a binary part with it
quote       events that hold a line of it, word for word (``quotes``)

An erased message that stood in a manifest makes its call ``erased``, never ``broken``: the
hashes of the entries are kept with the redaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from eventlog.errors import InputRefused, ItemNotFound, PositionNotFound, SourceForgotten
from eventlog.recorded import RecordedEvent, StreamInfo, StreamKey
from eventlog.redaction import RedactionResult, Target, redact
from eventlog.scrub import ScrubResult, scrub
from projections import runs
from projections.affected import AffectedCall, calls_showing
from projections.context import ITEM_TYPES
from projections.findings import Finding, carried
from projections.live import Live
from projections.quotes import Quotes, texts_in
from projections.sent import Requests
from projections.sessions import session_states

How = Literal["reference", "blob", "quote"]

_ITEM = re.compile(r"[1-9]\d*(\.\d+)?", re.ASCII)
_RENDERING = ("message_revised", "placeholder_substituted")
_NEVER = frozenset({"redacted", "session_forked"})


class Copy(NamedTuple):
    """Another event that holds text of an item, or something made of it."""

    stream: StreamKey
    position: int
    item: str
    """The item that it is a copy of; empty when what is erased is no item."""
    how: How
    shown: str = ""
    """Of a quote, its beginning."""

    @property
    def target(self) -> Target:
        """The event, to be erased."""
        return Target(self.stream, self.position)


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """What a redaction would do. Nothing was changed."""

    stream: StreamKey
    items: tuple[str, ...]
    targets: tuple[Target, ...]
    """The events that carry the items, by the streams that own them; those not erased yet."""
    copies: tuple[Copy, ...]
    calls: tuple[AffectedCall, ...]
    """Calls that saw one of the items."""
    sources: tuple[StreamKey, ...]
    """Imported streams whose import key could prove a guess of what is erased."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """What a redaction did."""

    redaction: RedactionResult
    scrub: ScrubResult
    forgotten: tuple[StreamKey, ...]


class _Planner:
    def __init__(self, live: Live) -> None:
        self.log = live.log
        self._infos = {info.key: info for info in live.log.streams()}

    def owner(self, stream: StreamKey, position: int) -> StreamInfo:
        info = self._infos[stream]
        while info.parent is not None and position <= info.base:
            info = self._infos[info.parent]
        return info

    def holders(self, owner: StreamKey, position: int) -> list[StreamInfo]:
        """The streams in which that position is the same event."""
        found = [self._infos[owner]]
        for info in found:
            found += [
                child
                for child in self._infos.values()
                if child.parent == info.key and child.base >= position
            ]
        return found

    def origin(self, stream: StreamKey, item: str) -> RecordedEvent:
        if not _ITEM.fullmatch(item):
            raise InputRefused(f"{item!r} is not an item such as 12 or 57.0")
        at = runs.position_of(runs.origin(item))
        event = self.log.at(stream, [at]).get(at)
        if event is None or not _brings_in(event, item):
            raise ItemNotFound(str(stream), item)
        return event

    def renditions(self, stream: StreamKey, item: str) -> list[RecordedEvent]:
        """The events that carry the item, each with the stream that owns it."""
        origin = self.origin(stream, item)
        owner = self.owner(stream, origin.position)
        found = list(self.log.at(owner.key, [origin.position]).values())
        for info in self.holders(owner.key, origin.position):
            for event in self.own(info, _RENDERING, f'"item":"{item}"'):
                if event.data.get("item") == item:
                    found.append(event)
        return found

    def own(
        self, info: StreamInfo, types: Sequence[str], containing: str = ""
    ) -> Iterable[RecordedEvent]:
        return self.log.read(info.key, after=info.base, types=types, containing=containing)

    def made_of(self, stream: StreamKey, item: str) -> list[tuple[RecordedEvent, list[str]]]:
        """The compactions with messages that were made of an item, and the items they brought."""
        at = runs.position_of(runs.origin(item))
        owner = self.owner(stream, at)
        found = []
        for info in self.holders(owner.key, at):
            for event in self.own(info, ("context_compacted",)):
                data = event.data
                shown = (data.get("summarizer") or {}).get("shown", ())
                brought = [f"{event.position}.{n}" for n in range(len(data.get("messages", ())))]
                if brought and names(item, [*data.get("covered", ()), *shown], event.position):
                    found.append((event, brought))
        return found

    def family(self, stream: StreamKey, states: Iterable[tuple[str, str]]) -> list[StreamKey]:
        """The streams that are linked with one: forks and sub-agents, both ways."""
        links: dict[StreamKey, set[StreamKey]] = {}
        pairs = [(i.key, i.parent) for i in self._infos.values() if i.parent is not None]
        by_name = {str(key): key for key in self._infos}
        pairs += [(by_name[a], by_name[b]) for a, b in states if a in by_name and b in by_name]
        for one, other in pairs:
            links.setdefault(one, set()).add(other)
            links.setdefault(other, set()).add(one)
        found = [stream]
        for key in found:
            found += sorted(links.get(key, set()) - set(found))
        return found


def _brings_in(event: RecordedEvent, item: str) -> bool:
    _, dot, number = item.partition(".")
    if not dot:
        return event.type in ITEM_TYPES
    field = {"context_compacted": "messages", "repair_applied": "inserted"}.get(event.type)
    return field is not None and int(number) < len(event.data.get(field, ()))


def names(item: str, entries: Iterable[str], end: int) -> bool:
    """Whether entries name an item, by itself or in a run."""
    origin = runs.origin(item)
    for entry in entries:
        if runs.is_run(entry):
            low, high = runs.bounds(entry, end)
            if isinstance(origin, int) and low <= origin <= high:
                return True
        elif runs.standing(entry.partition("/")[0])[0] == origin:
            return True
    return False


def plan(
    live: Live,
    stream: StreamKey | str,
    items: Sequence[str],
    *,
    positions: Sequence[int] = (),
    everywhere: bool = False,
) -> ErasurePlan:
    """What has to be erased with these items, and where else their text stands.

    ``positions`` are events that carry no item (a title, tool definitions, an unknown record).
    Quotes are looked for in the session, its forks and its sub-agents, or ``everywhere``.

    Raises StreamNotFound, ItemNotFound, PositionNotFound, InputRefused.
    """
    key = live.log.stream(stream).key
    planner = _Planner(live)
    carriers: dict[Target, tuple[str, RecordedEvent]] = {}
    for item in items:
        for event in planner.renditions(key, item):
            carriers.setdefault(Target(event.stream, event.position), (item, event))
    for position in positions:
        event = _plain_event(live, planner, key, position)
        carriers.setdefault(Target(event.stream, event.position), ("", event))
    return ErasurePlan(
        stream=key,
        items=tuple(items),
        targets=tuple(target for target, (_, event) in carriers.items() if not event.erased),
        copies=tuple(_copies(live, planner, key, items, carriers, everywhere)),
        calls=tuple(calls_showing(live, key, items)),
        sources=tuple(_sources(live, carriers)),
    )


def _plain_event(live: Live, planner: _Planner, stream: StreamKey, position: int) -> RecordedEvent:
    if not 1 <= position <= live.log.version(stream):
        hint = f"it ends at {live.log.version(stream)}"
        raise PositionNotFound(str(stream), f"position {position}", hint)
    owner = planner.owner(stream, position)
    event = live.log.at(owner.key, [position])[position]
    if event.type in _NEVER:
        raise InputRefused(f"{stream} position {position} is a {event.type} event: it has no text")
    return event


def _sources(live: Live, targets: Iterable[Target]) -> Iterable[StreamKey]:
    for stream in dict.fromkeys(target.stream for target in targets):
        try:
            if live.log.import_key(stream) is not None:
                yield stream
        except SourceForgotten:
            continue


# -- copies -------------------------------------------------------------------------------------


def _copies(
    live: Live,
    planner: _Planner,
    stream: StreamKey,
    items: Sequence[str],
    carriers: Mapping[Target, tuple[str, RecordedEvent]],
    everywhere: bool,
) -> list[Copy]:
    found: dict[Target, Copy] = {}

    def add(event: RecordedEvent, item: str, how: How, shown: str = "") -> None:
        target = Target(event.stream, event.position)
        if target not in carriers and not event.erased and event.type not in _NEVER:
            found.setdefault(target, Copy(*target, item, how, shown))

    for item in items:
        made = [(stream, item)]
        for holder, name in made:
            for event, brought in planner.made_of(holder, name):
                add(event, item, "reference")
                for summary in brought:
                    if (event.stream, summary) not in made:
                        made.append((event.stream, summary))
                        for rendition in planner.renditions(event.stream, summary):
                            add(rendition, item, "reference")
    for target, (item, _) in carriers.items():
        for event in _sharing_blobs(live, target):
            add(event, item, "blob")
    if everywhere:
        scope = [info.key for info in live.log.streams()]
    else:
        linked = [(s.key, s.parent) for s in session_states(live, deleted=True) if s.parent]
        scope = planner.family(stream, linked)
    quotes = [
        (item, Quotes(_texts_of(item, event)))
        for item, event in carriers.values()
        if not event.erased and not _is_placeholder(event)
    ]
    for key in scope if quotes else ():
        for event in live.log.read(key, after=live.log.stream(key).base):
            if event.erased or Target(event.stream, event.position) in carriers:
                continue
            for item, known in quotes:
                shown = next(filter(None, map(known.first_in, _texts(event))), "")
                if shown:
                    add(event, item, "quote", shown[:60])
                    break
    order = {key: at for at, key in enumerate(i.key for i in live.log.streams())}
    return sorted(found.values(), key=lambda copy: (order[copy.stream], copy.position))


def _is_placeholder(event: RecordedEvent) -> bool:
    """Whether its text stands for another and says nothing itself, so that it is no quote."""
    kind = event.data.get("kind", "cleared")
    return event.type == "placeholder_substituted" and kind != "cut"


def _texts_of(item: str, event: RecordedEvent) -> list[str]:
    """The texts that an event holds of an item; all that it holds where no item is meant."""
    return [
        t for name, value in carried(event) if name == item or not item for t in texts_in(value)
    ]


def _texts(event: RecordedEvent) -> list[str]:
    return [text for _, value in carried(event) for text in texts_in(value)]


def _sharing_blobs(live: Live, target: Target) -> list[RecordedEvent]:
    rows = live.log.query(
        "select distinct s.user, s.agent, s.session, e.position from blob_references mine "
        "join blob_references r on r.address = mine.address "
        "join events e on e.sequence = r.sequence join streams s on s.row = e.stream "
        "where mine.sequence = (select sequence from events where stream = ? and position = ?)",
        (live.log.stream(target.stream).row, target.position),
    ).fetchall()
    found: list[RecordedEvent] = []
    for user, agent, session, position in rows:
        found += live.log.at(StreamKey(user, agent, session), [position]).values()
    return found


# -- doing it -----------------------------------------------------------------------------------


def apply(
    live: Live,
    plan: ErasurePlan,
    *,
    reason: str = "",
    by: str = "",
    with_copies: bool = False,
    forget_source: bool = False,
    entry_hashes: Mapping[Target, Mapping[str, Any]] | None = None,
    needles: Sequence[str] = (),
) -> Erasure:
    """Erase what a plan names, in one append to its stream, and scrub the file.

    ``with_copies`` erases the copies of the plan too (take those out that are to stay).
    ``forget_source`` drops the import keys of ``plan.sources``, whose sources are refused later.
    ``needles`` are looked for in the bytes of the file afterwards.

    Raises what ``redact`` and ``scrub`` raise. What was erased stays erased when the scrub fails,
    which the next open then finishes.
    """
    targets = list(plan.targets)
    if with_copies:
        targets += [copy.target for copy in plan.copies]
    if entry_hashes is None:
        entry_hashes = _entry_hashes(live, targets)
    redaction = redact(
        live.log,
        targets,
        stream=plan.stream,
        item=", ".join(plan.items),
        reason=reason,
        by=by,
        entry_hashes=entry_hashes,
    )
    forgotten = plan.sources if forget_source else ()
    for stream in forgotten:
        live.log.forget_source(stream)
    return Erasure(redaction, scrub(live.log, needles), forgotten)


def _entry_hashes(live: Live, targets: Sequence[Target]) -> dict[Target, Mapping[str, Any]]:
    """The entry hashes of all calls that saw something of the targets, each kept once."""
    found: dict[Target, Mapping[str, Any]] = {}
    for stream in dict.fromkeys(target.stream for target in targets):
        mine = [target for target in targets if target.stream == stream]
        hashes = Requests(live).affected(stream, [target.position for target in mine])
        if hashes:
            found[mine[0]] = hashes
    return found


def plans(
    live: Live, findings: Iterable[Finding], *, everywhere: bool = False
) -> list[ErasurePlan]:
    """A plan for each stream in which something was found."""
    by_stream: dict[StreamKey, list[Finding]] = {}
    for finding in findings:
        by_stream.setdefault(finding.stream, []).append(finding)
    return [
        plan(
            live,
            stream,
            list(dict.fromkeys(f.item for f in found if f.item)),
            positions=list(dict.fromkeys(f.position for f in found if not f.item)),
            everywhere=everywhere,
        )
        for stream, found in by_stream.items()
    ]
