"""Decisions as people name them, and the events that undo and rewind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from cli.changing import Make, says
from cli.models_reasons import ChangeData
from cli.naming import place, session_key, typed_name
from cli.occurrences import in_pass, name_of
from cli.paths import current_program
from cli.pins import last_of_each
from cli.saying import noun
from eventlog import StreamKey
from eventlog.errors import InputRefused, PositionNotFound
from eventlog.events import (
    DecisionUndone,
    Event,
    SessionRewound,
)
from projections import Live
from projections.context import UNDOABLE
from projections.force import decisions_in_force, out_of_force, pass_of
from projections.items import RECOVERED
from projections.ownership import is_observed, owner_at
from projections.runs import origin

LAST = "last"

_DECISION = re.compile(r"@?(?:(?P<k>k[1-9]\d*)|(?:[1-9]\d*(?:\.\d+)?@)?(?P<at>[1-9]\d{0,17}))")


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision of a session; position 0 for the last one in force."""

    stream: StreamKey
    position: int
    with_pass: bool = False
    """All substitutions that were decided together with it."""


def decision_of(live: Live, session: str, typed: str | None, with_pass: bool = False) -> Decision:
    """``S``, ``S last``, ``S k1``, ``S 12``, ``S 8@12``, ``S@k1``, ``S@12``.

    Raises StreamNotFound, Ambiguous, PositionNotFound, ItemNotFound, InputRefused.
    """
    if typed is None:
        named = place(live, session)
        if named.kind == "now":
            return Decision(named.stream, 0, True)
        if named.kind in ("call", "before_compaction"):
            raise InputRefused("which decision? name a compaction (k1) or the event's position")
        return Decision(named.stream, named.position, with_pass)
    stream = session_key(live, session)
    if typed == LAST:
        return Decision(stream, 0, True)
    found = _DECISION.fullmatch(typed)
    if found is None:
        raise InputRefused(f"{typed[:60]!r} is no decision such as k1, 12, 8@12 or {LAST}")
    at = live.position(stream, "k", int(found["k"][1:17])) if found["k"] else int(found["at"])
    return Decision(stream, at, with_pass)


def undoing(live: Live, decision: Decision, reason: str = "") -> Make:
    """The event that undoes a decision.

    Making it raises PositionNotFound, and InputRefused for what is no decision, or not in force.
    """

    from harness.conversation.translating import check_undoable

    def make(first: int) -> Sequence[Event]:
        history = live.history(decision.stream)
        event = None
        if not decision.position:
            event = next(decisions_in_force(history), None)
            if event is None:
                raise InputRefused(f"{decision.stream} has no decision in force to be undone")
        elif decision.position <= len(history):
            event = history[decision.position - 1]
        if event is None:
            hint = f"it ends at {len(history)}"
            at = f"position {decision.position}"
            raise PositionNotFound(str(decision.stream), at, hint)
        at_ = event.position
        check_undoable(event)
        if event.type not in UNDOABLE:
            what = noun(event, lambda what: name_of(live, decision.stream, what))
            hint = f"; unpin takes it back: item {event.data['item']}" if what == "a pin" else ""
            raise InputRefused(
                f"event {at_} is {what}, which is no decision that can be undone{hint}"
            )
        gone = out_of_force(history)
        if at_ in gone:
            raise InputRefused(
                f"event {at_} is not in force since {gone[at_]}: undo {gone[at_]} takes that back"
            )
        pass_id = pass_of(event)
        if pass_id and decision.with_pass:
            return [DecisionUndone(pass_id=pass_id, reason=reason)]
        return [DecisionUndone(target=at_, reason=reason)]

    return make


def passmates(live: Live, decision: Decision) -> int:
    """How many substitutions of the same pass there are, when only one of them is undone."""
    if not decision.position or decision.with_pass:
        return 0
    event = live.log.at(decision.stream, [decision.position]).get(decision.position)
    pass_id = pass_of(event) if event is not None else ""
    return max(len(list(in_pass(live, decision.stream, pass_id))) - 1, 0)


def last_taken(live: Live, decision: Decision, done: ChangeData) -> list[str]:
    """Which decision was the last one, where none was named, and how the one before it is undone.

    ``done`` is what was, or would be, done about it.
    """
    if decision.position:
        return []
    stream = decision.stream
    found = list(islice(decisions_in_force(live.history(stream, done.version)), 2))
    told = [says(event, lambda what: name_of(live, stream, what)) for event in found]
    names = [name_of(live, stream, event.position) or str(event.position) for event in found]
    whose = [_whose(live, stream, event.position) for event in found]
    is_or_was = "is" if done.dry_run else "was"
    notes = [f"the last decision in force {is_or_was} {names[0]}, {whose[0]}{told[0]}"]
    written = str(stream) if done.dry_run else done.key
    session = typed_name(live, written)
    later = _put_back(live, stream, found[0].position, done.version)
    if later:
        line = f"rewind {session}@{later - 1}"
        notes.append(
            f"the message {later} that recover put in later is no decision: "
            f"{current_program()} {line} takes it back"
        )
    notes += [
        f"the {what} of {item} with event {position}, which is later, is no decision: "
        f"{current_program()} {back} {session} {item} takes it back"
        for what, item, position, back in _pinned_since(
            live, stream, found[0].position, done.version
        )
    ]
    if len(found) > 1:
        line = f"undo {session} {names[1]}" + (" --pass" if pass_of(found[1]) else "")
        notes.append(f"the decision before it, {whose[1]}{told[1]}: {current_program()} {line}")
    return notes


def _whose(live: Live, stream: StreamKey, position: int) -> str:
    """That a decision is the agent's own, which a fork of its session shares."""
    return (
        "the agent's own: " if is_observed(live.log, owner_at(live.log, stream, position)) else ""
    )


def _pinned_since(
    live: Live, stream: StreamKey, after: int, version: int
) -> Iterator[tuple[str, str, int, str]]:
    """The pins and unpins behind a position that hold: what, of which item, where, and the
    command that takes it back."""
    pins = live.view(stream, version).pins
    for what, back in (("pin", "unpin"), ("unpin", "pin")):
        last = last_of_each(live, stream, version, f"item_{what}ned")
        for item, event in last.items():
            if event.position > after and (origin(item) in pins) == (what == "pin"):
                yield what, item, event.position, back


def _put_back(live: Live, stream: StreamKey, after: int, until: int) -> int:
    """The first message behind a position with which originals were put back; 0 without one."""
    standing = live.view(stream, until).items
    kinds, label = ["message_appended"], f'"{RECOVERED}"'
    for event in live.log.read(stream, after, until, types=kinds, containing=label):
        if event.data.get("label") == RECOVERED and event.position in standing:
            return event.position
    return 0


def rewinding(live: Live, stream: StreamKey, to: int, reason: str = "") -> Make:
    """The event that makes the context what it was after a position; none at the end."""

    def make(first: int) -> Sequence[Event]:
        if to == live.log.version(stream):
            return []
        return [SessionRewound(to=to, reason=reason)]

    return make
