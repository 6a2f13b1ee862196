"""What a tool function may ask for beside its arguments.

A parameter that is annotated ``Context`` is filled in when the tool is called and is no part of its
schema. What a tool records goes into the same append as its result: a crash leaves both or neither.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from eventlog.agent import PermissionMode, Task
from eventlog.errors import InputRefused
from eventlog.events import Event


class Permissions(Protocol):
    """What tools may do, as ``PermissionsSet`` says it."""

    @property
    def mode(self) -> PermissionMode:
        """What is done where no rule speaks."""

    @property
    def allow(self) -> tuple[str, ...]:
        """The rules that allow."""

    @property
    def deny(self) -> tuple[str, ...]:
        """The rules that deny."""

    @property
    def ask(self) -> tuple[str, ...]:
        """The rules that have a person asked."""


class SeenFile(Protocol):
    """A file as it was when a tool read or wrote it, as ``FileSeen`` says it."""

    @property
    def size(self) -> int:
        """In bytes."""

    @property
    def modified_ns(self) -> int:
        """Its time of modification, in nanoseconds since 1970."""


class ActiveTools(Protocol):
    """What is known of tools."""

    @property
    def groups(self) -> tuple[str, ...]:
        """The active groups."""

    def file(self, path: str) -> SeenFile | None:
        """What is known of a file, by the path that ``FileSeen`` names."""


class ToolState(Protocol):
    """What tools see of an agent's state."""

    @property
    def permissions(self) -> Permissions:
        """What tools may do."""

    @property
    def tools(self) -> ActiveTools:
        """The active groups, and the files that were seen."""

    @property
    def tasks(self) -> Sequence[Task]:
        """What is to be done."""


class _Recorded:
    """The events of one call, until its outcome is given."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._closed: tuple[Event, ...] | None = None

    def add(self, event: Event) -> None:
        with self._lock:
            if self._closed is not None:
                raise InputRefused("the outcome of this tool call was given; nothing is added")
            self._events.append(event)

    def close(self) -> tuple[Event, ...]:
        with self._lock:
            if self._closed is None:
                self._closed = tuple(self._events)
            return self._closed


@dataclass(frozen=True)
class Context:
    """One tool call, as its function sees it."""

    state: ToolState
    """As it was when the call began."""
    tool_call_id: str = ""
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set when the tool should stop: its person interrupted it, or its time is over."""
    _recorded: _Recorded = field(default_factory=_Recorded, repr=False, compare=False)

    def record(self, event: Event) -> None:
        """Have an event appended together with the result of this call.

        Raises InputRefused when the outcome was given already: the call took too long, say.
        """
        self._recorded.add(event)

    def close(self) -> tuple[Event, ...]:
        """What was recorded; nothing can be recorded any more."""
        return self._recorded.close()
