"""A session, made ready to be replayed many times: its items, its calls, its turns, in order.

What an agent's own strategy did to the context (substitutions, compactions, their undos, repairs)
is left out; what happened in the conversation (messages, results, revisions, tools, pins, rewinds,
task types, calls) is kept. Items and their token counts are made once, so that ten strategies over
one session pay for them once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from eventlog.jsonvalue import dumps
from eventlog.recorded import RecordedEvent
from projections import materialize
from projections.clocks import time_of
from projections.context import DECISIONS, ITEM_TYPES
from projections.force import NOTHING, Force, in_force
from projections.items import Item
from projections.runs import FRONT, Origin, origin
from projections.seen import Counted, Seen, seen_steps
from projections.tokens import Counter, count_item

KEPT = frozenset(
    {
        "message_appended",
        "tool_result_recorded",
        "message_revised",
        "tools_declared",
        "item_pinned",
        "item_unpinned",
        "task_classified",
        "session_rewound",
        "model_called",
    }
)
"""Events that are steps of a replay."""

StepKind = Literal["item", "revise", "pin", "unpin", "task", "call", "tools", "rewind"]


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened."""

    kind: StepKind
    position: int
    origin: Origin = 0
    item: Item | None = None
    tokens: int = 0
    text: str = ""
    """The task type, or the model of a call."""
    to: int = 0
    """Where a rewind goes; of a call the declaration of its tools, 0 where it has none."""
    is_first: bool = False
    """Whether an item came in in front of everything."""
    when: str = ""
    """Of a call when it was made; a label, empty where no clock says."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gave: what later-reference metrics look at."""

    position: int
    items: tuple[Item, ...]
    usage: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Recording:
    """The steps of one session, and the answers of its calls."""

    steps: tuple[Step, ...]
    answers: Mapping[int, Answer]
    """By the position of the call."""
    counter: str
    seen: tuple[Seen | Step, ...] = ()
    """What really became of the context, decisions included; a step where it just went on."""
    force: Force = NOTHING
    """What is in force of it at the end."""
    takers: Mapping[int, RecordedEvent] = field(default_factory=dict)
    """The events that keep something out then, by position."""
    key: str = ""
    """The stream's."""


def recording(events: Iterable[RecordedEvent], counting: Counter) -> Recording:
    """Read a stream, from its first position on; each event once. Raises CriticalUnknown.

    What is kept of an event is what becomes of it here: a session is held in memory once, as items.
    """
    key, steps, answered = "", list[Step](), dict[int, Mapping[str, Any] | None]()
    items: dict[Origin, Counted] = {}
    light: list[RecordedEvent] = []
    for event in events:
        key = key or str(event.stream)
        light.append(event if event.type in DECISIONS else _light(event))
        if event.type == "model_responded":
            answered[event.data["call"]] = event.data.get("usage")
        elif event.type in KEPT:
            step = _step(event, items, counting)
            if step is not None:
                steps.append(step)
    undone = _undone(light)
    seen = seen_steps(light, {step.position: step for step in steps}, counting)
    steps = [s for s in steps if s.position not in undone or s.kind not in ("revise", "rewind")]
    answers = _answers(steps, answered)
    force = in_force(light)
    taking = {*force.taken.values(), *force.gone.values()}
    takers = {event.position: event for event in light if event.position in taking}
    return Recording(tuple(steps), answers, counting.name, tuple(seen), force, takers, key)


def _light(event: RecordedEvent) -> RecordedEvent:
    """The event without its text: what a fold reads of one that takes no decision."""
    payload = {}
    if event.type in ITEM_TYPES:
        kept = ((name, event.data.get(name)) for name in ("after", "tool_call_id"))
        payload = {name: value for name, value in kept if value is not None}
    return event.without_text(dumps(payload))


def _undone(events: Sequence[RecordedEvent]) -> set[int]:
    """Revisions and rewinds that an undo in force took back."""
    undone: set[int] = set()
    for event in reversed(events):
        if event.type == "decision_undone" and event.position not in undone:
            undone.add(event.data.get("target", 0))
    return undone


def _step(event: RecordedEvent, items: dict[Origin, Counted], counting: Counter) -> Step | None:
    at, data = event.position, event.data
    match event.type:
        case "message_appended" | "tool_result_recorded":
            item = materialize.original(at, {at: event})
            assert item is not None
            items[at] = item, count_item(counting, item)
            return Step("item", at, at, *items[at], is_first=data.get("after") == FRONT)
        case "message_revised":
            revised = items.get(origin(data["item"]))
            if revised is None:
                return None
            item = materialize.rendered(revised[0], at, {at: event})
            return Step("revise", at, origin(data["item"]), item, count_item(counting, item))
        case "item_pinned":
            return Step("pin", at, origin(data["item"]))
        case "item_unpinned":
            return Step("unpin", at, origin(data["item"]))
        case "task_classified":
            return Step("task", at, text=data["task_type"])
        case "tools_declared":
            return Step("tools", at, tokens=counting.count(str(data["definitions"])))
        case "model_called":
            tools = data.get("tools") or 0
            when = time_of(event)
            return Step("call", at, text=data.get("model", ""), to=tools, when=when)
        case "session_rewound":
            return Step("rewind", at, to=data["to"])
    return None


def _answers(
    steps: Sequence[Step], answered: Mapping[int, Mapping[str, Any] | None]
) -> dict[int, Answer]:
    said: dict[int, list[Item]] = {}
    for step in steps:
        if step.kind == "item" and step.item is not None and step.item.call is not None:
            said.setdefault(step.item.call, []).append(step.item)
    calls = (step.position for step in steps if step.kind == "call")
    return {at: Answer(at, tuple(said.get(at, ())), answered.get(at)) for at in calls}
