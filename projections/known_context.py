"""What is known of a session's context, in a few marks: a system prompt, summaries, tools, tasks.

A whole view at every call would cost the context; the verdict on a call needs only which *marked*
items stand: system prompts, and summaries, apart from them those that the provider keeps encrypted.
So only what marks, covers or drops them is kept, with the undos and rewinds that may bring them
back, and an undo or a rewind replays these few marks, not the stream. The rules are those of
``context.View``.

Tools are no item. A model that calls one was told of it, so where a stream holds a tool call or a
result, and no definitions, a part of its requests was never recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from eventlog import messages
from eventlog.messages import SYSTEM_ROLES
from eventlog.recorded import RecordedEvent
from projections import runs

READ = frozenset(
    {
        "message_appended",
        "context_compacted",
        "repair_applied",
        "decision_undone",
        "session_rewound",
        "tool_result_recorded",
        "tools_declared",
        "tasks_set",
    }
)
"""Events that ``KnownContext.evolve`` looks into."""

CLOSED = ("done", "dropped")
"""The states of a task in which nothing is to be done any more."""

MarkKind = Literal["system", "opaque", "summary"]

BLOBS = frozenset({"compaction", "compaction_summary", "context_compaction"})
"""Items of OpenAI's Responses that hold an encrypted summary."""


class Step(BaseModel):
    """One event that changed which marked items stand."""

    position: int
    kind: Literal["plain", "decision", "undo", "rewind"]
    added: dict[str, MarkKind] = {}
    removed: list[str] = []
    target: int = 0
    tasks: tuple[int, int] | None = None
    """Of a list of tasks that was set: how many, and how many of them are open."""


class KnownContext(BaseModel):
    """The marked items that stand now, and the steps that led there. Changed in place."""

    standing: dict[str, MarkKind] = {}
    steps: list[Step] = []
    tasks: tuple[int, int] = (0, 0)
    """The list of tasks now: how many, and how many of them are open. It goes back with a rewind,
    as in ``agent_state``."""
    uses_tools: bool = False
    """Whether a tool was ever called, or gave a result."""
    declares_tools: bool = False
    """Whether any definitions of tools were recorded."""

    @property
    def has_system(self) -> bool:
        """Whether a system or developer message stands."""
        return "system" in self.standing.values()

    @property
    def is_opaque(self) -> bool:
        """Whether a compaction stands whose content only the provider can read."""
        return "opaque" in self.standing.values()

    @property
    def lacks_tools(self) -> bool:
        """Whether tools were used of which no definitions are known."""
        return self.uses_tools and not self.declares_tools

    def evolve(self, event: RecordedEvent) -> None:
        """Take in the next event of the stream."""
        kind, data, position = event.type, event.data, event.position
        self.uses_tools = self.uses_tools or uses_tool(event)
        self.declares_tools = self.declares_tools or kind == "tools_declared"
        if kind == "message_appended":
            mark = mark_of(data)
            if mark is not None:
                self._take(Step(position=position, kind="plain", added={str(position): mark}))
        elif kind == "context_compacted":
            self._compacted(position, data)
        elif kind == "repair_applied":
            dropped = [str(item) for item in data.get("dropped", ())]
            self._take(Step(position=position, kind="plain", removed=self._known(dropped)))
        elif kind == "tasks_set":
            states = [task.get("status", "pending") for task in data.get("tasks", ())]
            is_open = sum(state not in CLOSED for state in states)
            self._take(Step(position=position, kind="plain", tasks=(len(states), is_open)))
        elif kind == "decision_undone" and data.get("target"):
            self._replay(Step(position=position, kind="undo", target=data["target"]))
        elif kind == "session_rewound":
            self._replay(Step(position=position, kind="rewind", target=data.get("to", 0)))

    def _compacted(self, position: int, data: Mapping[str, Any]) -> None:
        brought = data.get("messages", ())
        marked: dict[str, MarkKind] = {}
        for number, new in enumerate(brought):
            mark = "opaque" if data.get("opaque") else mark_of(new) or _summary(new)
            if mark is not None:
                marked[f"{position}.{number}"] = mark
        if data.get("opaque") and not brought:
            marked[f"{position}.0"] = "opaque"
        layout = data.get("layout")
        if layout is None:
            removed = self._known(data.get("covered", ()))
        else:
            kept = set(self._known(entry for entry in layout if not entry.startswith("m")))
            removed = [item for item in self._all() if item not in kept]
            numbers = {entry[1:] for entry in layout if entry.startswith("m")}
            if brought:
                marked = {i: m for i, m in marked.items() if i.partition(".")[2] in numbers}
        self._take(Step(position=position, kind="decision", added=marked, removed=removed))

    def _all(self) -> dict[str, None]:
        return {item: None for step in self.steps for item in step.added}

    def _known(self, entries: Iterable[str]) -> list[str]:
        """The marked items that the entries name."""
        marked = self._all()
        found: list[str] = []
        for entry in entries:
            if runs.is_run(entry):
                low, high = runs.bounds(entry, 2**63)
                found += [i for i in marked if "." not in i and low <= int(i) <= high]
            else:
                item = entry.partition("@")[0]
                if item in marked:
                    found.append(item)
        return found

    def _take(self, step: Step) -> None:
        if step.added or step.removed or step.tasks is not None:
            self.steps.append(step)
            self._apply(step)

    def _replay(self, step: Step) -> None:
        self.steps.append(step)
        self.standing, self.tasks = {}, (0, 0)
        for each in _in_force(self.steps):
            self._apply(each)

    def _apply(self, step: Step) -> None:
        for item in step.removed:
            self.standing.pop(item, None)
        self.standing.update(step.added)
        if step.tasks is not None:
            self.tasks = step.tasks


def _in_force(steps: Sequence[Step]) -> list[Step]:
    """The steps that no undo and no rewind took away: one pass from the end, as in ``context``."""
    found: list[Step] = []
    undone: set[int] = set()
    at = len(steps) - 1
    while at >= 0:
        step = steps[at]
        at -= 1
        if step.kind != "plain" and step.position in undone:
            continue
        if step.kind == "undo":
            if step.target < step.position:
                undone.add(step.target)
        elif step.kind == "rewind":
            while step.target < step.position and at >= 0 and steps[at].position > step.target:
                at -= 1
        else:
            found.append(step)
    return found[::-1]


def holds_blob(message: Mapping[str, Any]) -> bool:
    """Whether an encrypted compaction of a provider stands in it; hostile shapes beside it do not
    hide it."""
    items = message.get("items")
    return any(
        isinstance(block, Mapping)
        and isinstance(block.get("type"), str)
        and block["type"] in BLOBS
        and "encrypted_content" in block
        for block in [message, *(items if isinstance(items, list) else ())]
    )


def uses_tool(event: RecordedEvent) -> bool:
    """Whether an event brings in a tool call, or the result of one; hostile shapes do not."""
    if event.type != "message_appended":
        return event.type == "tool_result_recorded"
    try:
        parts = messages.parts(event.data["dialect"], event.data["message"])
    except (AttributeError, KeyError, TypeError):
        return False
    return any(part.kind in ("call", "result") for part in parts)


def _summary(new: Mapping[str, Any]) -> MarkKind | None:
    """The mark of what a compaction put in, where that is no message of anybody."""
    told = new.get("source", "injected") == "injected" and new.get("label", "") in ("", "summary")
    return "summary" if told else None


def mark_of(new: Mapping[str, Any]) -> MarkKind | None:
    """The mark of a stored message; hostile shapes have none."""
    try:
        message = new["message"]
        if holds_blob(message):
            return "opaque"
        return "system" if messages.role(new["dialect"], message) in SYSTEM_ROLES else None
    except (AttributeError, KeyError, TypeError):
        return None
