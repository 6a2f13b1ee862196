"""A session on disk whose tools are called, and whose log takes what they record."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eventlog import StreamKey
from eventlog.events import Event, SessionStarted, ToolResultRecorded
from harness.tools import Context, Toolbox, ToolOutcome, run
from projections import open_log
from projections.agent_state import AgentState, FollowedState
from projections.live import Live

KEY = StreamKey("ann", "coder", "s1")


class ToolSession:
    """Calls tools one by one; what comes of a call is one append."""

    def __init__(self, live: Live, box: Toolbox) -> None:
        self._live, self.box = live, box
        self._ids = itertools.count(1)
        if live.log.version(KEY) == 0:
            live.append(KEY, SessionStarted())
        self._followed = FollowedState(live, KEY)

    @property
    def state(self) -> AgentState:
        return self._followed.current()

    def append(self, *events: Event) -> None:
        self._live.append(KEY, *events)

    def call(self, name: str, **arguments: object) -> ToolOutcome:
        found = self.box.find(name, self.box.groups)
        assert found is not None
        call_id = f"t{next(self._ids)}"
        outcome = run(found, call_id, json.dumps(arguments), Context(self.state, call_id))
        result = ToolResultRecorded(
            tool_call_id=call_id,
            name=name,
            dialect="openai_chat",
            is_error=outcome.is_error,
            content=outcome.content,
        )
        self.append(*outcome.events, result)
        return outcome

    def said(self, name: str, **arguments: object) -> str:
        """The result of a call that succeeds."""
        outcome = self.call(name, **arguments)
        assert not outcome.is_error, outcome.content
        return outcome.content

    def fault(self, name: str, **arguments: object) -> str:
        """The result of a call that does not."""
        outcome = self.call(name, **arguments)
        assert outcome.is_error, outcome.content
        return outcome.content


@contextmanager
def session(folder: Path, box: Toolbox) -> Iterator[ToolSession]:
    """The session of a folder: a new one, or the one that is there."""
    with open_log(folder / "session.db") as live:
        yield ToolSession(live, box)
