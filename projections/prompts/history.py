"""The prompts and tools of a session one after the other, each with the calls that had it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from projections.prompts.difference import Pair, Tool, tool_changes
from projections.prompts.in_force import InForce, Prompt, Told, Tools


@dataclass(slots=True)
class PromptSpan:
    """One prompt, and where it was in force. Two items with the same text are one."""

    prompt: Prompt
    calls: list[int] = field(default_factory=list)
    """By number; none where it was rendered and shown to no model yet."""
    renditions: list[str] = field(default_factory=list)
    before: Prompt | None = None
    """Of the same template and role, or of the same item: what it came after."""

    @property
    def change(self) -> Pair:
        """What it changed."""
        return Pair(self.before, self.prompt)


@dataclass(slots=True)
class ToolsSpan:
    """One set of tools, and where it was in force."""

    tools: Tools
    calls: list[int] = field(default_factory=list)
    changes: tuple[Tool, ...] = ()
    """Against the set that was in force before it first was."""


class History(NamedTuple):
    """What a session was told."""

    prompts: list[PromptSpan]
    """In the order in which they were first shown."""
    tools: list[ToolsSpan]
    calls: int
    without_prompt: list[int]
    """Calls in which no prompt is known to have stood."""
    without_tools: list[int]
    """Calls of whose tools nobody knows."""


def history(told: Told) -> History:
    """The prompts and tools of a session, as its calls had them."""
    spans: dict[tuple[str, ...], PromptSpan] = {}
    last: dict[tuple[str, ...], Prompt] = {}
    for call in told.calls:
        for prompt in call.prompts:
            span = _add(spans, last, prompt)
            if call.call not in span.calls[-1:]:  # the same text may stand in it twice
                span.calls.append(call.call)
    for prompt in told.unused:
        _add(spans, last, prompt)
    return History(
        prompts=list(spans.values()),
        tools=_tools(told.calls),
        calls=len(told.calls),
        without_prompt=[call.call for call in told.calls if not call.prompts],
        without_tools=[call.call for call in told.calls if not call.tools.is_known],
    )


def _slots(prompt: Prompt) -> Iterable[tuple[str, ...]]:
    if prompt.event is not None:  # of one template a system text and a human one can stand
        yield prompt.template, prompt.role, prompt.item.role
    yield (prompt.item.id,)


def _add(
    spans: dict[tuple[str, ...], PromptSpan], last: dict[tuple[str, ...], Prompt], prompt: Prompt
) -> PromptSpan:
    span = spans.get(prompt.key)
    if span is None:
        before = next((last[slot] for slot in _slots(prompt) if slot in last), None)
        span = spans[prompt.key] = PromptSpan(prompt, before=before)
    if prompt.item.rendition not in span.renditions:
        span.renditions.append(prompt.item.rendition)
    last.update(dict.fromkeys(_slots(prompt), prompt))
    return span


def _tools(calls: Sequence[InForce]) -> list[ToolsSpan]:
    found: dict[int | None, ToolsSpan] = {}
    before: Tools | None = None
    for call in calls:
        if not call.tools.is_known:
            continue
        span = found.get(call.tools.position)
        if span is None:
            changes = tuple(tool_changes(before, call.tools)) if before is not None else ()
            span = found[call.tools.position] = ToolsSpan(call.tools, changes=changes)
        span.calls.append(call.call)
        before = call.tools
    return list(found.values())
