"""The events of an agent's own state: its replies, tools, permissions, tasks and prompts.

They are facts that a session which is gone on with needs, and no part of the context: what the
model sees of them stands in messages.
"""

from __future__ import annotations

from typing import Literal

from eventlog.jsonvalue import Json
from eventlog.values import EventBase, ItemId, JsonObject, Value

PermissionMode = Literal["ask", "allow", "deny", "read_only"]
"""What is done where no rule speaks. What has no effects is allowed, but by ``deny``; of the rest a
person is asked, or it is allowed, or (``read_only``) denied."""

TaskStatus = Literal["pending", "in_progress", "done", "dropped"]


class Task(Value):
    """One thing that is to be done."""

    id: str
    title: str
    status: TaskStatus = "pending"
    note: str = ""


class ReplyStarted(EventBase):
    """The agent began to answer: calls of a model and of tools follow, until ``ReplyEnded``."""

    type: Literal["reply_started"] = "reply_started"
    reply_id: str
    output_schema: JsonObject | None = None
    """The JSON schema that the answer has to follow."""


class OutputProduced(EventBase):
    """The agent gave the structured output that was asked for."""

    type: Literal["output_produced"] = "output_produced"
    reply_id: str
    value: Json


class ReplyEnded(EventBase):
    """The agent's answer came to its end, this way or that."""

    type: Literal["reply_ended"] = "reply_ended"
    reply_id: str
    outcome: Literal["answered", "interrupted", "failed", "exhausted"] = "answered"
    """``exhausted``: as many calls were made as one reply may take."""
    detail: str = ""


class PermissionsSet(EventBase):
    """What tools may do from here on: all of it, not a change."""

    type: Literal["permissions_set"] = "permissions_set"
    mode: PermissionMode = "ask"
    allow: tuple[str, ...] = ()
    """Rules such as ``shell(git status *)``; of those that match, deny is before ask, before
    allow."""
    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()


class PermissionDecided(EventBase):
    """Whether a tool call may run, and who said so."""

    type: Literal["permission_decided"] = "permission_decided"
    tool_call_id: str
    name: str
    verdict: Literal["allowed", "denied"]
    by: str = ""
    """``human``, ``mode ask``, or the rule: ``allow shell(git *)``."""


class ToolCallStarted(EventBase):
    """A tool call is about to run. Without a result behind it nobody knows what it did."""

    type: Literal["tool_call_started"] = "tool_call_started"
    tool_call_id: str
    name: str
    has_effects: bool = True
    """Whether running it a second time may do harm."""


class ToolGroupsSet(EventBase):
    """The groups of tools that are active from here on: all of them, not a change."""

    type: Literal["tool_groups_set"] = "tool_groups_set"
    groups: tuple[str, ...]


class FileSeen(EventBase):
    """A file is known as it was then, since a tool read it, or wrote it."""

    type: Literal["file_seen"] = "file_seen"
    path: str
    how: Literal["read", "written"] = "read"
    size: int
    """In bytes."""
    modified_ns: int
    """Its time of modification, in nanoseconds since 1970."""
    tool_call_id: str = ""
    """Of the call whose result holds what was read."""
    is_whole: bool = True
    """Whether all of it was read."""


class TasksSet(EventBase):
    """The list of tasks from here on: all of it, not a change."""

    type: Literal["tasks_set"] = "tasks_set"
    tasks: tuple[Task, ...]
    by: str = ""


class MiddlewareStateSet(EventBase):
    """What a middleware keeps in the session from here on."""

    type: Literal["middleware_state_set"] = "middleware_state_set"
    name: str
    state: Json | None = None
    """Nothing: it keeps nothing any more."""


class PromptRendered(EventBase):
    """A prompt template was filled in, and its text is an item of this session."""

    type: Literal["prompt_rendered"] = "prompt_rendered"
    item: ItemId
    """The item that carries the text: appended, or revised, in the same append."""
    template: str
    role: str = ""
    version: str = ""
    """As the template names it."""
    template_text: str = ""
    """The template's own text."""
    variables: JsonObject | None = None
    salt: str
    """Hexadecimal; in front of what is digested."""
    template_digest: str
    """SHA-256 of the salt and the template's text."""
    rendered_digest: str
    """SHA-256 of the salt and the text that came of it."""
