"""A session of OpenAI's Agents SDK that stands in the log.

    from harness.adapters.agents import LogSession

    recorder = Recorder("calls.db")
    set_default_openai_client(wrap(AsyncOpenAI(), recorder))
    await Runner.run(agent, "Fix the failing test.", session=LogSession("monday", recorder))

The session gives the SDK back what it added, like any other. What is popped or cleared leaves the
context by an event and stays in the log; so what ``OpenAIResponsesCompactionSession`` puts in the
place of a conversation takes nothing away.

One stream holds both the conversation and its calls. What the SDK adds and a recorded call has
brought in already, an answer mostly, is the same item; what the SDK added first, a question or the
result of a tool, the call finds standing there. For that both need the same ``Recorder``.

Source: openai-agents 0.24.0, ``agents.memory``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from agents import SessionABC, SessionSettings, TResponseInputItem
from agents.memory.session_settings import resolve_session_limit
from anyio import to_thread

from eventlog.events import Event
from eventlog.recorded import StreamKey
from harness.adapters.agents_items import Keeping
from harness.adapters.agents_spans import entered, follow
from harness.recording.recorder import Recorder, opened
from harness.recording.sessions import session_key
from projections import Live


class LogSession(SessionABC):
    """The conversation of ``session_id``: a name, or ``user/agent/session``.

    ``log`` is the recorder that records the calls of the agents' client, too. A path or an open log
    stands for the recorder that is open for it in this process, or for a new one. What cannot be
    kept within five seconds is an error, for the SDK would go on without it.
    """

    def __init__(
        self,
        session_id: StreamKey | str,
        log: Live | Recorder | str | os.PathLike[str],
        *,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.key = session_key(session_id)
        self.session_id = str(session_id)
        self.session_settings = session_settings or SessionSettings()
        self.recorder = log if isinstance(log, Recorder) else opened(log)
        self._keeping = Keeping(self.recorder.live.log, self.key)
        follow()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """What the conversation holds; the last ``limit`` of it."""
        found: list[Any] = []
        await self._write(self._keeping.read, found)
        wanted = resolve_session_limit(limit, self.session_settings)
        if wanted is None:
            return found
        return found[-wanted:] if wanted > 0 else []

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Go on with these."""
        if items:
            await self._write(self._keeping.added, [dict(item) for item in deepcopy(items)])

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item back. It leaves the context and stays in the log."""
        popped: list[Any] = []
        await self._write(self._keeping.popped, popped)
        return popped[-1] if popped else None

    async def clear_session(self) -> None:
        """Begin anew. What was said leaves the context and stays in the log."""
        await self._write(self._keeping.cleared)

    async def _write(self, plan: Callable[..., Sequence[Event]], *given: Any) -> None:
        began = entered(self.key)

        def work() -> None:
            self.recorder.write(self.key, lambda stream: plan(stream.followed, *given), began)
            self._keeping.done()

        await to_thread.run_sync(work)
