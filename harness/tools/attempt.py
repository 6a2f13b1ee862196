"""One tool call in a thread of its own.

A thread cannot be stopped. What takes too long, or does not listen when it is told to stop, is left
alone: its outcome is given without it, and what it records afterwards is refused.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from eventlog.events import Event
from harness.tools.arguments import read_json
from harness.tools.context import Context
from harness.tools.results import text_of, text_of_error
from harness.tools.tool import Tool

_LOOK = 0.05
"""Seconds between two looks of a coroutine at whether it should stop."""

TIMED_OUT = "timed out after {seconds:g} s; it was left alone, and may go on in the background"
INTERRUPTED = "interrupted while it ran: nobody knows how far it came"
NOT_BEGUN = "interrupted before it began: it was not run"


@dataclass(frozen=True)
class ToolOutcome:
    """What came of a tool call, and what it recorded."""

    tool_call_id: str
    name: str
    content: str
    is_error: bool = False
    duration_ms: int = 0
    events: tuple[Event, ...] = ()
    """They go into the same append as the result."""
    is_interrupted: bool = False
    """A person interrupted it, before or while it ran."""


@dataclass(frozen=True)
class _Answer:
    content: str
    is_error: bool
    ended: float
    is_interrupted: bool = False


class Attempt:
    """A call, before, while and after it runs."""

    def __init__(
        self,
        tool: Tool,
        call_id: str,
        arguments: str,
        context: Callable[[], Context],
        done: Callable[[], object],
    ) -> None:
        self._tool, self._call_id, self._arguments = tool, call_id, arguments
        self._make_context, self._done = context, done
        self._context: Context | None = None
        self._begun = 0.0
        self._answer: _Answer | None = None
        self._outcome: ToolOutcome | None = None
        self.is_given = False
        """Whether its outcome was handed over."""

    def begin(self) -> None:
        """Let it run. Raises what the making of its context raises; then it did not begin."""
        context = self._make_context()
        self._begun = time.monotonic()
        self._context = context
        inherited = contextvars.copy_context()
        thread = threading.Thread(
            target=lambda: inherited.run(self._work, context),
            name=f"tool {self._tool.name}",
            daemon=True,
        )
        try:
            thread.start()
        except RuntimeError as error:  # no more threads
            self._finish(text_of_error(error), is_error=True)

    @property
    def is_begun(self) -> bool:
        """Whether it runs, or ran."""
        return self._context is not None

    @property
    def is_done(self) -> bool:
        """Whether it came to its end."""
        return self._answer is not None

    @property
    def is_over_time(self) -> bool:
        """Whether it runs longer than its tool may."""
        limit = self._tool.timeout
        return limit is not None and self._context is not None and self._left(limit) <= 0

    def _left(self, limit: float) -> float:
        return self._begun + limit - time.monotonic()

    @property
    def seconds_left(self) -> float:
        """Until it is over its time."""
        limit = self._tool.timeout
        return max(0.0, self._left(limit)) if limit is not None else 1e9

    def stop(self) -> None:
        """Tell it to stop."""
        if self._context is not None:
            self._context.cancelled.set()

    def outcome(self) -> ToolOutcome:
        """What came of it until now: where it did not end, that is said, and it is left alone."""
        if self._outcome is None:
            self._outcome = self._end()
        return self._outcome

    def _end(self) -> ToolOutcome:
        context, answer = self._context, self._answer
        if context is None:
            return ToolOutcome(
                self._call_id, self._tool.name, NOT_BEGUN, is_error=True, is_interrupted=True
            )
        is_over_time = answer is None and self.is_over_time
        context.cancelled.set()
        events = context.close()
        if answer is None:
            said = TIMED_OUT.format(seconds=self._tool.timeout) if is_over_time else INTERRUPTED
            answer = _Answer(said, True, time.monotonic(), not is_over_time)
        return ToolOutcome(
            self._call_id,
            self._tool.name,
            answer.content,
            answer.is_error,
            round((answer.ended - self._begun) * 1000),
            events,
            answer.is_interrupted,
        )

    def _finish(self, content: str, is_error: bool, is_interrupted: bool = False) -> None:
        self._answer = _Answer(content, is_error, time.monotonic(), is_interrupted)
        self._done()

    def _work(self, context: Context) -> None:
        """In the thread: nothing that happens to a tool is raised, not even ``SystemExit``."""
        try:
            value = self._tool.call(read_json(self._arguments), context)
            if inspect.isawaitable(value):
                value = asyncio.run(_awaited(value, context.cancelled))
            content, is_error = text_of(value, self._tool.returns_nothing), False
        except BaseException as error:
            content, is_error = text_of_error(error), True
            if isinstance(error, asyncio.CancelledError) and context.cancelled.is_set():
                content = INTERRUPTED
        self._finish(content, is_error, is_error and context.cancelled.is_set())


async def _awaited(value: Awaitable[object], cancelled: threading.Event) -> object:
    """The result of a coroutine, which is cancelled when the call should stop."""
    running = asyncio.ensure_future(value)
    while not running.done():
        await asyncio.wait({running}, timeout=_LOOK)
        if cancelled.is_set():
            running.cancel()
    return running.result()
