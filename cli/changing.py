"""Changing a session: what would change, then the append, at the version that was looked at.

Into a session that another program writes nothing is written that changes its context: it is
forked first, and that is said. When another process appended meanwhile the change is worked out
anew, and made only where it is still the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cli.forks import fork_key
from cli.models_reasons import ChangeData, OutgrownData, ShiftData, SizeData, WrittenData
from cli.naming import short_names
from cli.occurrences import name_of
from cli.output import Output
from cli.paths import current_program
from cli.saying import NameAt, preview, said, trigger_words
from cli.shown_memories import not_to_stay
from cli.style import ranges, typed
from cli.style import tokens as about
from cli.timeline import SUBSTITUTED
from cli.windows import item_data, tool_names
from eventlog import RecordedEvent, StreamKey
from eventlog.errors import InputRefused, WrongExpectedVersion
from eventlog.events import Event
from projections import Live, tokens
from projections.context import ITEM_TYPES, UNDOABLE
from projections.force import pass_of
from projections.foreseen import Foreseen, foreseen
from projections.items import RECOVERED, Item
from projections.memory.stream import check_session
from projections.outgrown import outgrown
from projections.overriding import overriding
from projections.ownership import is_observed
from projections.runs import Standing, label

TRIES = 8
"""Appends that are tried when other processes write to the same session."""

_MOST_UNDOS = 4
"""Undos that somebody types."""

Make = Callable[[int], Sequence[Event]]
"""From the position at which the first of them will stand to the events, for the session as it is
now. Raises where there is nothing to do."""


@dataclass(frozen=True, slots=True)
class Changing:
    """How a session is to be changed."""

    stream: StreamKey
    make: Make
    reason: str = ""
    """Of the fork, where one is needed."""
    name: str = ""
    """The session id of that fork."""
    dry_run: bool = False
    expected: int | None = None
    """The version at which alone it may be done."""
    is_note: bool = False
    """It changes no context, so it may be written into any session."""
    may_differ: bool = False
    """It is still what was asked for when other events came in meanwhile."""


def change(live: Live, asked: Changing) -> ChangeData:
    """Do it, or with ``dry_run`` say what would be done.

    Raises WrongExpectedVersion where the session is not at the expected version, or other processes
    are always faster; InputRefused where another process changed what was looked at, and where a
    fork would be made in which nothing stands otherwise.
    """
    check_session(asked.stream)
    forks = not asked.is_note and is_observed(live.log, asked.stream)
    first: Sequence[Event] | None = None
    lost: WrongExpectedVersion | None = None
    for _ in range(TRIES):
        version = live.log.version(asked.stream)
        if asked.expected is not None and version != asked.expected:
            raise WrongExpectedVersion(str(asked.stream), asked.expected, version)
        events = asked.make(version + 1 + forks)
        if first is not None and not asked.may_differ and list(events) != list(first):
            raise InputRefused(
                f"another process changed {asked.stream} just now: look again, then try again"
            )
        first = events
        written = asked.stream
        if forks and events:  # where there is nothing to write no fork is made, and none named
            written = fork_key(live, asked.stream, asked.name)
        data = _foretold(live, asked, version, written, events)
        if asked.dry_run or not events:
            return data
        try:
            _append(live, asked, version, written, events)
        except WrongExpectedVersion as error:
            if asked.expected is not None:
                raise
            lost = error
            continue
        return data
    assert lost is not None
    raise lost


def show_change(out: Output, data: ChangeData) -> None:
    """The answer of a command that changed a session, and what there is to note."""
    from cli.render_change import render_change

    out.show(data, render_change(data, out.style, current_program()))
    for note in data.notes:
        out.note(note)


def _append(
    live: Live, asked: Changing, version: int, written: StreamKey, events: Sequence[Event]
) -> None:
    if written == asked.stream:
        live.append(written, *events, expected_version=version)
        return
    # One transaction: what is stopped in between leaves no fork without the change it was made for.
    live.log.fork(written, asked.stream, version, *events, reason=asked.reason)


def _foretold(
    live: Live, asked: Changing, version: int, written: StreamKey, events: Sequence[Event]
) -> ChangeData:
    forks = written != asked.stream
    found = foreseen(live, asked.stream, version + 1 + forks, events)
    if forks and _is_idle(found):
        then = " first, then this in its fork"
        raise InputRefused(
            _idle(asked, found, "that would change nothing, so no fork is made", then)
        )
    sizes = _Sizes(found)
    name = typed(_name(live, written, forks))

    def called(what: int | str) -> str | None:
        return name_of(live, asked.stream, what)

    before, after = sizes.size(found.before.standing()), sizes.size(found.after.standing())
    larger = outgrown(live, asked.stream, after.tokens) if after.tokens > before.tokens else None
    beyond = OutgrownData(ref=f"k{larger.number}", tokens=larger.tokens) if larger else None
    return ChangeData(
        key=str(written),
        forked_from=str(asked.stream) if forks else None,
        forked_at=version if forks else None,
        dry_run=asked.dry_run,
        version=version,
        events=[
            WrittenData(position=e.position, type=e.type, says=says(e, called))
            for e in found.events
        ],
        before=before,
        after=after,
        back=sizes.shifts(found, lambda before, after: before is None),
        gone=sizes.shifts(found, lambda before, after: after is None),
        changed=sizes.shifts(found, lambda before, after: before is not None is not after),
        undo=[] if asked.dry_run else _back(found.events, name, version),
        outgrown=beyond,
        notes=[*_notes(asked, forks, found, beyond, after.tokens), *_memories(asked, found)],
    )


def _notes(
    asked: Changing, forks: bool, found: Foreseen, beyond: OutgrownData | None, size: int
) -> list[str]:
    would = "would stand" if asked.dry_run else "stands"
    notes = ["no fork was needed, so --name was not used"] if asked.name and not forks else []
    if _is_idle(found):
        notes.append(_idle(asked, found, f"nothing {would} otherwise", ""))
    gone = [item for item in found.before.items if item not in found.after.items]
    pinned = [str(item) for item in gone if item in found.before.pins]
    if pinned:
        leave = "is pinned and leaves" if len(pinned) == 1 else "are pinned and leave"
        notes.append(f"{ranges(pinned)} {leave} the context with this")
    if beyond is not None:
        notes.append(
            f"{about(size)} tokens are {more_than(beyond)}: a model may refuse them, or the agent "
            "compact them at once"
        )
    return notes


def _memories(asked: Changing, found: Foreseen) -> list[str]:
    """What comes back of memories and does not stay."""
    new = dict.fromkeys(found.after.standing())
    for each in found.before.standing():
        new.pop(each, None)
    if not new:
        return []
    return list(not_to_stay(found.live, asked.stream, (label(*each) for each in new)))


def _is_idle(found: Foreseen) -> bool:
    """Whether something is undone, and all stands as it did."""
    undoes = any(event.type == "decision_undone" for event in found.events)
    return undoes and found.before.standing() == found.after.standing()


def _idle(asked: Changing, found: Foreseen, said: str, then: str) -> str:
    """Why an undo changes nothing, and what to undo before it."""
    live, stream = found.live, asked.stream
    history = live.history(stream)
    targets = {event.data.get("target") for event in found.events} - {0, None}
    passes = {event.data.get("pass_id") for event in found.events} - {"", None}
    undone = [e.position for e in history if e.position in targets or pass_of(e) in passes]
    later = overriding([*history, *found.events], undone)
    if not later:
        return f"{said}: what was decided had changed nothing that stands"
    names = [name_of(live, stream, position) or str(position) for position in later[:_MOST_UNDOS]]
    name = typed(_name(live, stream, is_new=False))
    line = f"{current_program()} undo {name} {names[0]}"
    more = " …" if len(later) > len(names) else ""
    return f"{said}, since {', '.join(names)}{more} came later, about the same items: {line}{then}"


def more_than(beyond: OutgrownData) -> str:
    """What a context that grew is larger than."""
    return f"more than the {about(beyond.tokens)} that {beyond.ref} compacted"


def _back(events: Sequence[RecordedEvent], name: str, version: int) -> list[str]:
    """What to type, in this order, to take it back: what was decided in one pass goes together.

    Messages are no decision, and of many decisions nobody types the undos: the session is rewound.
    """
    for kind, command in (("item_pinned", "unpin"), ("item_unpinned", "pin")):
        items = [str(event.data["item"]) for event in events if event.type == kind]
        if items:
            return [" ".join([command, name, *items])]
    lines: dict[str, str] = {}
    for event in reversed(events):
        if event.type in UNDOABLE:
            pass_id = str(event.data.get("pass_id") or "") if event.type == SUBSTITUTED else ""
            line = f"undo {name} {event.position}" + (" --pass" if pass_id else "")
            lines.setdefault(pass_id or str(event.position), line)
    if len(lines) > _MOST_UNDOS or any(event.type in ITEM_TYPES for event in events):
        return [f"rewind {name}@{version}"]
    return list(lines.values())


def says(event: RecordedEvent, called: NameAt) -> str:
    """What an event does to the context, in a few words."""
    if event.type == "message_appended" and event.data.get("label") == RECOVERED:
        return "a message with what had left"
    if event.type != "context_compacted":
        return said(event, called)
    by = (event.data.get("by") or {}).get("name", "")
    trigger = trigger_words(str(event.data.get("trigger") or ""))
    return "compacted" + (f" by {by}" if by else "") + (f" ({trigger})" if trigger else "")


def _name(live: Live, key: StreamKey, is_new: bool) -> str:
    """What can be typed for a session, also for one that does not exist yet."""
    return short_names(live, [str(key)])[str(key)]


class _Sizes:
    """Tokens of the items before and after; each is looked up once."""

    def __init__(self, found: Foreseen) -> None:
        self.counter = tokens.counter()
        before, after = found.before.standing(), found.after.standing()
        wanted = list(dict.fromkeys([*before, *after]))
        made = found.items(wanted)
        # What names no item of the stream is left out of the list, so they are found by name.
        self.items = {(item.id, item.rendition): item for item in made}
        self.names = tool_names(made)
        self.tokens = {k: tokens.count_item(self.counter, i) for k, i in self.items.items()}

    def _key(self, standing: Standing) -> tuple[str, str]:
        name = str(standing[0])
        label = f"{name}@{standing[1]}" if standing[1] else name
        if (name, label) in self.items:
            return name, label
        return name, f"{name}@redacted"

    def size(self, standing: Sequence[Standing]) -> SizeData:
        """Items and tokens of a context."""
        return SizeData(
            items=len(standing), tokens=sum(self.tokens.get(self._key(s), 0) for s in standing)
        )

    def shifts(
        self, found: Foreseen, wanted: Callable[[int | None, int | None], bool]
    ) -> list[ShiftData]:
        """What stands otherwise, in the order of the context."""
        before, after = found.before.items, found.after.items
        shifted = []
        for item in dict.fromkeys([*before, *after]):
            one, other = before.get(item), after.get(item)
            if one == other or not wanted(one, other):
                continue
            keys = [self._key((item, r)) if r is not None else None for r in (one, other)]
            there = (self.items.get(key) for key in reversed(keys) if key is not None)
            shown = next((made for made in there if made is not None), None)
            if shown is not None:
                shifted.append(self._shift(shown, keys))
        return shifted

    def _shift(self, shown: Item, keys: Sequence[tuple[str, str] | None]) -> ShiftData:
        before, after = keys
        return ShiftData(
            item=shown.id,
            who=item_data(shown, self.counter, self.names).who,
            preview=preview(shown),
            before=before[1] if before else None,
            after=after[1] if after else None,
            before_tokens=self.tokens.get(before, 0) if before else 0,
            after_tokens=self.tokens.get(after, 0) if after else 0,
        )
