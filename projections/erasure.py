"""From items to the events that must be erased.

Redacting an item erases every event that carries a rendition of it: the one that brought it in, the
placeholders and the revisions, also those in forks. Other copies (``copies``) are listed, and
erased only when that is asked for. A text that a pattern or a detector found is looked for by its
bytes: there every event that holds it is a target. A memory is erased like an item of the stream
in which it stands.

An erased message that stood in a manifest makes its call ``erased``, never ``broken``: the
hashes of the entries are kept with the redaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eventlog.errors import InputRefused, ItemNotFound, PositionNotFound, SourceForgotten
from eventlog.events import MemoryForgotten
from eventlog.recorded import RecordedEvent, StreamKey
from eventlog.redaction import RedactionResult, Target, redact
from eventlog.scrub import ScrubResult, scrub
from eventlog.skeleton import Holds
from projections import copies
from projections.affected import AffectedCall, calls_showing
from projections.carriers import Carriers
from projections.copies import Common, Copy
from projections.findings import NEVER, Finding
from projections.findings import carried as in_fields
from projections.live import Live
from projections.memory.copies import calls_given, of_memories, perhaps, scope
from projections.memory.standing_again import standing_again
from projections.memory.stream import is_memory_stream, memory_name
from projections.quotes import texts_in
from projections.searchable import carried
from projections.sent import Requests
from projections.tokens import Counter, count_item

BY = "redaction"
"""Who forgets a memory that would stand again."""


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """What a redaction would do. Nothing was changed."""

    stream: StreamKey
    items: tuple[str, ...]
    targets: tuple[Target, ...]
    """The events that carry the items, by the streams that own them; those not erased yet."""
    copies: tuple[Copy, ...]
    common: Common
    """What looks like quotes and is none, since it stands elsewhere anyway."""
    calls: tuple[AffectedCall, ...]
    """Calls that saw one of the items."""
    sources: tuple[StreamKey, ...]
    """Imported streams whose import key could prove a guess of what is erased."""
    perhaps: tuple[Target, ...] = ()
    """What was learned of a session as a whole that holds something of it: it may hold some too."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """What a redaction did."""

    redaction: RedactionResult
    scrub: ScrubResult
    forgotten: tuple[StreamKey, ...]


def plan(
    live: Live,
    stream: StreamKey | str,
    items: Sequence[str],
    *,
    positions: Sequence[int] = (),
    everywhere: bool = False,
    quotes: bool = True,
) -> ErasurePlan:
    """What has to be erased with these items, and where else their text stands.

    ``items`` are memories where the stream is that of a person's memories. ``positions`` are events
    that carry no item (a title, tool definitions, an unknown record). Quotes are looked for in the
    session, its forks, its sub-agents and what is remembered of its user, or ``everywhere``;
    without ``quotes`` nowhere.

    Raises StreamNotFound, ItemNotFound, PositionNotFound, InputRefused.
    """
    key = live.log.stream(stream).key
    carriers = Carriers(live)
    carrying: dict[Target, tuple[str, RecordedEvent]] = {}
    for item in items:
        for event in carriers.renditions(key, item):
            carrying.setdefault(Target(event.stream, event.position), (item, event))
    for position in positions:
        event = _plain_event(live, carriers, key, position)
        carrying.setdefault(Target(event.stream, event.position), ("", event))
    found = copies.references(carriers, key, items, carrying)
    found += of_memories(live, carriers, carrying, found)
    found += copies.sharing(live, carrying)
    may = perhaps(live, carriers, {*carrying, *(copy.target for copy in found)})
    common = Common()
    if quotes:
        every = [info.key for info in live.log.streams()]
        where = every if everywhere else scope(live, key, carrying)
        quoting, common = copies.quoting(live, carrying, where)
        found += quoting
    saw = calls_given if is_memory_stream(key) else calls_showing
    return ErasurePlan(
        stream=key,
        items=tuple(items),
        targets=tuple(target for target, (_, event) in carrying.items() if not event.erased),
        copies=_in_order(live, found),
        common=common,
        calls=tuple(saw(live, key, items)),
        sources=tuple(_sources(live, carrying)),
        perhaps=tuple(each for each in may if each not in {copy.target for copy in found}),
    )


def _in_order(live: Live, found: Iterable[Copy]) -> tuple[Copy, ...]:
    """Each event once, by the first that it is a copy of."""
    once: dict[Target, Copy] = {}
    for copy in found:
        once.setdefault(copy.target, copy)
    order = {info.key: at for at, info in enumerate(live.log.streams())}
    return tuple(sorted(once.values(), key=lambda copy: (order[copy.stream], copy.position)))


def _plain_event(live: Live, carriers: Carriers, stream: StreamKey, position: int) -> RecordedEvent:
    if not 1 <= position <= live.log.version(stream):
        hint = f"it ends at {live.log.version(stream)}"
        raise PositionNotFound(str(stream), f"position {position}", hint)
    owner = carriers.owner(stream, position)
    event = live.log.at(owner.key, [position])[position]
    if event.type in NEVER:
        raise InputRefused(f"{stream} position {position} is a {event.type} event: it has no text")
    return event


def _sources(live: Live, targets: Iterable[Target]) -> Iterable[StreamKey]:
    for stream in dict.fromkeys(target.stream for target in targets):
        try:
            if live.log.import_key(stream) is not None:
                yield stream
        except SourceForgotten:
            continue


def text_tokens(live: Live, event: RecordedEvent, counting: Counter) -> int:
    """Of all the text that an event holds, which goes with it: of its items, else of its fields."""
    standing = carried(event)
    if standing:
        made = live.materialize(event.stream, standing)
        return sum(count_item(counting, item) for item in made)
    return sum(counting.count(text) for _, value in in_fields(event) for text in texts_in(value))


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
    holds: Holds | None = None,
) -> Erasure:
    """Erase what a plan names, in one append to its stream, and scrub the file.

    A memory that gave way to an erased one does not stand again: where the log alone would not say
    so any more, it is forgotten before.

    ``with_copies`` erases the copies of the plan too (take those out that are to stay).
    ``forget_source`` drops the import keys of ``plan.sources``, whose sources are refused later.
    ``needles`` are looked for in the bytes of the file afterwards. ``holds`` says of a text that it
    holds what is to go: then it goes from labels and other fields that nothing computes with too.

    Raises what ``redact`` and ``scrub`` raise. What was erased stays erased when the scrub fails,
    which the next open then finishes.
    """
    targets = list(plan.targets)
    if with_copies:
        targets += [copy.target for copy in plan.copies]
    if entry_hashes is None:
        entry_hashes = _entry_hashes(live, targets)
    _forget_what_gave_way(live, targets)
    redaction = redact(
        live.log,
        targets,
        stream=plan.stream,
        item=", ".join(plan.items),
        reason=reason,
        by=by,
        entry_hashes=entry_hashes,
        holds=holds,
    )
    forgotten = plan.sources if forget_source else ()
    for stream in forgotten:
        live.log.forget_source(stream)
    return Erasure(redaction, scrub(live.log, needles), forgotten)


def _forget_what_gave_way(live: Live, targets: Sequence[Target]) -> None:
    for key, again in standing_again(live, targets).items():
        forgotten = [
            MemoryForgotten(
                memory=memory,
                reason=f"{memory_name(winner)}, to which it had given way, was erased",
                by=BY,
            )
            for memory, winner in again.items()
        ]
        live.append(key, *forgotten)


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
    live: Live, findings: Iterable[Finding], *, elsewhere: Iterable[Finding] = ()
) -> list[ErasurePlan]:
    """A plan for each stream in which something was found.

    A finding names every event that holds it, so nothing is looked for as a quote. ``elsewhere``
    are findings that are to be copies: those in sessions that were not asked for.
    """
    by_stream: dict[StreamKey, list[Finding]] = {}
    for finding in findings:
        by_stream.setdefault(finding.stream, []).append(finding)
    carriers = Carriers(live)
    made = []
    for stream, found in by_stream.items():
        items: dict[str, None] = {}
        positions: dict[int, None] = {}
        for finding in found:
            if finding.item and _is_there(carriers, stream, finding.item):
                items[finding.item] = None
            else:
                positions[finding.position] = None
        made.append(plan(live, stream, list(items), positions=list(positions), quotes=False))
    if made:
        more = [Copy(f.stream, f.position, "", "match", f.preview) for f in elsewhere]
        made[0] = replace(made[0], copies=_in_order(live, [*made[0].copies, *more]))
    seen = {target for each in made for target in each.targets}
    for at, each in enumerate(made):
        made[at] = replace(each, copies=tuple(c for c in each.copies if c.target not in seen))
        seen |= {copy.target for copy in each.copies}
    for at, each in enumerate(made):
        made[at] = replace(each, perhaps=tuple(t for t in each.perhaps if t not in seen))
        seen |= {*each.perhaps}
    return made


def _is_there(carriers: Carriers, stream: StreamKey, item: str) -> bool:
    """Whether an item exists: a placeholder may name one that does not."""
    try:
        carriers.origin(stream, item)
    except (InputRefused, ItemNotFound):
        return False
    return True
