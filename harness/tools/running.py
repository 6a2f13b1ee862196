"""Running the tool calls of an answer: whatever happens, each has an outcome, nothing is raised.

Calls that change nothing run beside each other. One with effects runs alone, when all before it are
done and their outcomes were taken: so what a call records is known to those behind it, and the
order in which a model wrote its calls holds wherever it could be seen.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from harness.tools.attempt import Attempt, ToolOutcome
from harness.tools.context import Context as Context
from harness.tools.context import ToolState
from harness.tools.tool import Tool

AT_ONCE = 16
"""Calls without effects that run beside each other."""
GRACE = 3.0
"""Seconds that calls have to end after they were told to stop."""
_LOOK = 0.05
"""Seconds between two looks at whether somebody interrupted."""


@dataclass(frozen=True)
class Pending:
    """A tool call that is to be run."""

    tool: Tool
    call_id: str
    arguments: str
    """As the model wrote them."""
    state: Callable[[], ToolState]
    """Asked when the call begins: what earlier ones recorded is in it."""


def refused(call_id: str, name: str, content: str) -> ToolOutcome:
    """The outcome of a call that is not run: it was denied, or there is no such tool."""
    return ToolOutcome(call_id, name, content, is_error=True)


def runs_alone(tool: Tool) -> bool:
    """Whether its calls wait for all before them, and those behind wait for it."""
    return tool.has_effects or tool.in_order


def run(tool: Tool, call_id: str, arguments: str, context: Context) -> ToolOutcome:
    """Run one call and wait for it.

    Exceptions, a time that is over, and an interruption (Ctrl-C, or ``context.cancelled`` set) are
    outcomes. ``context`` serves for one call.
    """
    changed = threading.Event()
    attempt = Attempt(tool, call_id, arguments, lambda: context, changed.set)
    [outcome] = _outcomes([[attempt]], changed, context.cancelled)
    return outcome


def run_all(
    calls: Sequence[Pending],
    cancelled: threading.Event,
    starting: Callable[[Pending], None] = lambda call: None,
) -> Iterator[ToolOutcome]:
    """Run the calls of one answer; each outcome is given as soon as it is there.

    A call is told to ``starting`` before it begins, in the thread that asks for outcomes; what that
    raises ends all of it. An interruption (Ctrl-C) while outcomes are waited for sets ``cancelled``
    and is not raised: what runs is told to stop, has three seconds for it, and every call has an
    outcome. Who is interrupted between two outcomes sets ``cancelled`` and goes on asking.
    """
    changed = threading.Event()

    def attempt(call: Pending) -> Attempt:
        def context() -> Context:
            starting(call)
            return Context(call.state(), call.call_id)

        return Attempt(call.tool, call.call_id, call.arguments, context, changed.set)

    groups = [[attempt(call) for call in together] for together in _in_order(calls)]
    return _outcomes(groups, changed, cancelled)


def _in_order(calls: Sequence[Pending]) -> Iterator[list[Pending]]:
    """The calls that may run beside each other, one group after the other."""
    together: list[Pending] = []
    for call in calls:
        if runs_alone(call.tool):
            yield from ([together] if together else [])
            yield [call]
            together = []
        else:
            together.append(call)
    yield from ([together] if together else [])


def _outcomes(
    groups: list[list[Attempt]], changed: threading.Event, cancelled: threading.Event
) -> Iterator[ToolOutcome]:
    """What becomes of groups of calls: those of one run beside each other, one group after the
    other. What runs is told to stop when nobody asks any more. An interruption can strike anywhere
    in here, and no outcome is lost or given twice."""
    until: float | None = None
    try:
        while groups:
            try:
                while groups:
                    changed.clear()
                    groups[0] = attempts = [each for each in groups[0] if not each.is_given]
                    if not attempts:
                        del groups[0]
                        continue
                    if cancelled.is_set() and until is None:
                        _stop(attempts)
                        until = time.monotonic() + GRACE
                    ended = _begin_and_look(attempts, until)
                    if ended is not None:
                        outcome = ended.outcome()
                        ended.is_given = True
                        yield outcome
                    else:
                        soonest = min(each.seconds_left for each in _running(attempts))
                        changed.wait(min(soonest, _LOOK))
            except KeyboardInterrupt:
                if cancelled.is_set():
                    until = 0.0  # a second time: at once
                cancelled.set()
    finally:
        for attempts in groups[:1]:
            _stop(attempts)


def _begin_and_look(attempts: Sequence[Attempt], until: float | None) -> Attempt | None:
    """A call that came to its end, or whose end is not waited for; none yet."""
    running = _running(attempts)
    if until is None:
        for attempt in attempts[len(running) : AT_ONCE]:
            attempt.begin()
            running.append(attempt)
    for attempt in running:
        if attempt.is_done:
            return attempt
    is_late = until is not None and time.monotonic() >= until
    for attempt in running:
        if is_late or attempt.is_over_time:
            return attempt
    is_rest = until is not None and not running
    return attempts[0] if is_rest else None


def _running(attempts: Sequence[Attempt]) -> list[Attempt]:
    """They are begun in their order, so those that run stand in front."""
    return list(takewhile(lambda attempt: attempt.is_begun, attempts))


def _stop(attempts: Sequence[Attempt]) -> None:
    for attempt in attempts:
        attempt.stop()
