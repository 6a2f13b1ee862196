"""What an agent's state is: one frozen value, and its JSON there and back.

It holds nothing that the events of the session do not say. What stands in the context comes from
the view, everything else from ``folding``.

pydantic's own writer and reader of JSON refuse lone surrogates, which tools do return and models do
write; here ``model_dump_json`` and ``model_validate_json`` take them as escapes, and any other text
as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Self

from eventlog import messages
from eventlog.agent import PermissionMode, Task
from eventlog.jsonvalue import Json, loads
from eventlog.messages import Dialect
from eventlog.values import ItemId, JsonObject, Source, Value
from projections.items import Item

SUMMARY = "summary"
"""The label of a message that stands for what a compaction took out of the context."""


class ContextMessage(Value):
    """One message of the context as folded, in the rendition that is in force."""

    item: ItemId
    dialect: Dialect
    source: Source | Literal["tool"]
    """``tool``: what a tool gave back, in its dialect's own form."""
    label: str = ""
    """``summary`` where a compaction wrote it."""
    name: str = ""
    """Of a tool result: the tool."""
    is_error: bool = False
    """Of a tool result: whether it was recorded as an error."""
    is_pinned: bool = False
    message: JsonObject

    @property
    def text(self) -> str:
        """What a person, the model or a tool said in it."""
        return messages.text(self.dialect, self.message.peek)

    @property
    def is_summary(self) -> bool:
        """Whether it stands for what a compaction took out of the context."""
        return self.label == SUMMARY and self.source == "injected"


class Reply(Value):
    """The answer that the agent is giving, or gave last."""

    reply_id: str = ""
    """Empty before the first one."""
    iteration: int = 0
    """Calls of the model since it began. One that is made again counts again."""
    output_schema: JsonObject | None = None
    """The JSON schema that its output has to follow."""
    has_output: bool = False
    """Whether the output was produced: it may be ``null``."""
    output_value: Json | None = None
    is_under_way: bool = False


class Permissions(Value):
    """What tools may do."""

    mode: PermissionMode = "ask"
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()


class SeenFile(Value):
    """A file as it was when a tool last read or wrote it.

    What was read stands in the result of the call. Whether that still stands in the context, and in
    its original rendition, is for the view to say.
    """

    path: str
    size: int
    """In bytes."""
    modified_ns: int
    """Its time of modification, in nanoseconds since 1970."""
    tool_call_id: str = ""
    how: Literal["read", "written"] = "read"
    is_whole: bool = True


class Tools(Value):
    """What the agent's tools know."""

    groups: tuple[str, ...] = ()
    """The groups that are active."""
    files: tuple[SeenFile, ...] = ()
    """The files that are known, the least recently used first, within the limits of the fold."""

    def file(self, path: str) -> SeenFile | None:
        """What is known of a file."""
        return next((file for file in self.files if file.path == path), None)


class StartedCall(Value):
    """A tool call that began to run and has no result: nobody knows what it did."""

    tool_call_id: str
    name: str
    has_effects: bool = True
    """Whether running it a second time may do harm."""


class AgentState(Value):
    """Everything that going on with a session takes, after one position of it."""

    session_id: str = ""
    position: int = 0
    """The version of the stream that this is the state of."""
    summary: str = ""
    """The text of the summaries that stand in the context; empty where there is none."""
    context: tuple[ContextMessage, ...] = ()
    reply: Reply = Reply()
    permissions: Permissions = Permissions()
    tools: Tools = Tools()
    tasks: tuple[Task, ...] = ()
    middleware: Mapping[str, Json] = {}
    """What each middleware keeps, by its name."""
    started_calls: tuple[StartedCall, ...] = ()
    """Of the calls that stand open in the context, those that began to run."""

    def with_context(self, items: Iterable[Item]) -> AgentState:
        """The same state with a context; of the started calls only those stay that are open in
        it."""
        held = list(items)
        context = tuple(map(_message, held))
        said = (each.text for each in context if each.is_summary)
        started = self.started_calls
        if started:
            open_calls = _open(held)
            started = tuple(call for call in started if call.tool_call_id in open_calls)
        return self.model_copy(
            update={
                "context": context,
                "summary": "\n\n".join(text for text in said if text),
                "started_calls": started,
            }
        )

    def model_dump_json(self, *, indent: int | None = None, **options: Any) -> str:
        """JSON text in ASCII; takes what ``model_dump`` takes."""
        separators = (",", ":") if indent is None else None
        return json.dumps(self.model_dump(**options), indent=indent, separators=separators)

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """From JSON text. Raises EventInvalid for what is not JSON, and pydantic's
        ValidationError for what is no state."""
        text = json_data if isinstance(json_data, str) else bytes(json_data)
        return cls.model_validate(loads(text), **options)


def _message(item: Item) -> ContextMessage:
    is_result = item.kind == "tool_result" and bool(item.result_ids)
    source = "injected" if item.source == "tool" else item.source  # revised into another message
    return ContextMessage.model_construct(
        item=item.id,
        dialect=item.dialect,
        source="tool" if is_result else source,
        label="" if is_result else SUMMARY if item.is_summary else item.label,
        name=item.tool_name if is_result else "",
        is_error=item.is_error and is_result,
        is_pinned=item.pinned,
        message=Json.adopt(item.message),
    )


def _open(items: Iterable[Item]) -> set[str]:
    """The ids of the calls that no result answers; ids may repeat."""
    waiting: dict[str, int] = {}
    for item in items:
        for call in item.call_ids:
            waiting[call] = waiting.get(call, 0) + 1
        for call in item.result_ids:
            waiting[call] = waiting.get(call, 0) - 1
    return {call for call, count in waiting.items() if count > 0}
