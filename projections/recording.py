"""A session, made ready to be replayed many times: its items, its calls, its turns, in order.

What an agent's own strategy did to the context (substitutions, compactions, their undos, repairs)
is left out; what happened in the conversation (messages, results, revisions, tools, pins, rewinds,
task types, calls) is kept. Items and their token counts are made once, so that ten strategies over
one session pay for them once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from eventlog.recorded import RecordedEvent
from projections import materialize
from projections.items import Item
from projections.runs import Origin, origin
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
        "decision_undone",
        "model_called",
        "model_responded",
    }
)
"""Events that a replay reads."""

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
    when: str = ""
    """Of a call the source's clock, as it wrote it; a label."""


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
    seen: tuple[Seen, ...] = ()
    """What really became of the context, decisions included."""
    key: str = ""
    """The stream's."""


def recording(events: Iterable[RecordedEvent], counting: Counter) -> Recording:
    """Read a stream, from its first position on. Raises CriticalUnknown."""
    whole = list(events)
    sequence = [event for event in whole if event.type in KEPT]
    undone = _undone(sequence)
    known = {event.position: event for event in sequence}
    steps: list[Step] = []
    answers: dict[int, Answer] = {}
    for event in sequence:
        if event.position not in undone:
            step = _step(event, known, counting)
            if step is not None:
                steps.append(step)
    _answers(sequence, steps, answers)
    originals: dict[Origin, Counted] = {
        s.position: (s.item, s.tokens) for s in steps if s.kind == "item" and s.item
    }
    seen = tuple(seen_steps(whole, originals, counting))
    key = str(whole[0].stream) if whole else ""
    return Recording(tuple(steps), answers, counting.name, seen, key)


def _undone(sequence: Sequence[RecordedEvent]) -> set[int]:
    """Revisions and rewinds that an undo in force took back."""
    undone: set[int] = set()
    for event in reversed(sequence):
        if event.type == "decision_undone" and event.position not in undone:
            undone.add(event.data.get("target", 0))
    return undone


def _step(
    event: RecordedEvent, known: Mapping[int, RecordedEvent], counting: Counter
) -> Step | None:
    at, data = event.position, event.data
    match event.type:
        case "message_appended" | "tool_result_recorded":
            item = materialize.original(at, known)
            assert item is not None
            return Step("item", at, at, item, count_item(counting, item))
        case "message_revised":
            item = materialize.original(origin(data["item"]), known)
            if item is None:
                return None
            item = materialize.rendered(item, at, known)
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
            when = event.occurred_at or ""
            return Step("call", at, text=data.get("model", ""), to=tools, when=when)
        case "session_rewound":
            return Step("rewind", at, to=data["to"])
    return None


def _answers(
    sequence: Sequence[RecordedEvent], steps: Sequence[Step], answers: dict[int, Answer]
) -> None:
    said: dict[int, list[Item]] = {}
    for step in steps:
        if step.kind == "item" and step.item is not None and step.item.call is not None:
            said.setdefault(step.item.call, []).append(step.item)
    usage = {
        event.data["call"]: event.data.get("usage")
        for event in sequence
        if event.type == "model_responded"
    }
    for step in steps:
        if step.kind == "call":
            at = step.position
            answers[at] = Answer(at, tuple(said.get(at, ())), usage.get(at))
