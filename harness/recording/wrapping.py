"""A client of a provider, recorded in place."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar

from eventlog.errors import InputRefused
from eventlog.recorded import StreamKey
from harness.recording.complaints import OnError
from harness.recording.recorder import Recorder
from harness.recording.sessions import session_key
from harness.recording.transport import AsyncRecordingTransport, RecordingTransport
from projections import Live

Client = TypeVar("Client")

_ELSEWHERE = {
    *("AnthropicBedrock", "AsyncAnthropicBedrock", "AnthropicVertex", "AsyncAnthropicVertex"),
}
"""Clients that ask models in another form and at other addresses than Anthropic's own."""


def is_recorded(clients: Iterable[object], recorder: Recorder, *, awaited: bool) -> bool:
    """Whether one of these is a client that is recorded into the recorder's log already.

    ``awaited``: of those that are awaited, else of those that wait.
    """
    made = AsyncRecordingTransport if awaited else RecordingTransport
    inner = (getattr(getattr(each, "_client", None), "_transport", None) for each in clients)
    return any(isinstance(i, made) and i.recorder.path == recorder.path for i in inner)


def wrap(
    client: Client,
    log: Live | Recorder | str | os.PathLike[str],
    *,
    session: StreamKey | str | None = None,
    on_error: OnError = "warn",
) -> Client:
    """Record every call of an OpenAI, AsyncOpenAI, Anthropic or AsyncAnthropic client.

    The same client comes back and behaves as before; copies made with ``with_options`` are recorded
    too. Chat completions, responses and Anthropic's messages are; everything else passes. ``log``
    is a path, an open log, or a recorder that several clients share. ``session`` is that of all its
    calls; without it, and without a header ``X-Ctxlog-Session``, conversations are told apart by
    what they share: a name is certain. A client that is recorded so already comes back as it is.

    Behind ``ctxlog record`` or ``ctxlog proxy`` with the same log each call would be recorded
    twice: use one of them.

    Raises InputRefused for what is no such client (those of Bedrock and Vertex ask in another form)
    or is recorded otherwise, and what opening the log raises.
    """
    http = getattr(client, "_client", None)
    inner = getattr(http, "_transport", None)
    if http is None or inner is None:
        raise InputRefused(f"{type(client).__name__} is no client of openai or anthropic")
    if any(each.__name__ in _ELSEWHERE for each in type(client).__mro__):
        raise InputRefused(f"the calls of {type(client).__name__} have a form that is not recorded")
    if isinstance(inner, RecordingTransport | AsyncRecordingTransport):
        if not isinstance(inner.recorder, Recorder):
            raise InputRefused("the client is a conversation's own; make another one for this")
        if not _is_same(inner.recorder, log, session, on_error):
            raise InputRefused(
                f"the client is recorded already, into {inner.recorder.live.log.path}"
                f"{_as(inner.recorder.session)}; make another one for this"
            )
        return client
    recorder = (
        log if isinstance(log, Recorder) else Recorder(log, session=session, on_error=on_error)
    )
    made: Any = AsyncRecordingTransport if hasattr(http, "aclose") else RecordingTransport
    http._transport = made(inner, recorder)
    for pattern, mounted in http._mounts.items():
        if mounted is not None:
            http._mounts[pattern] = made(mounted, recorder)
    return client


def _is_same(
    recorder: Recorder,
    log: Live | Recorder | str | os.PathLike[str],
    session: StreamKey | str | None,
    on_error: OnError,
) -> bool:
    """Whether a recorder does what is asked for."""
    if isinstance(log, Recorder):
        return log is recorder
    path = log.log.path if isinstance(log, Live) else log
    key = None if session is None else session_key(session)
    is_there = os.path.abspath(path) == os.path.abspath(recorder.live.log.path)
    return is_there and (key, on_error) == (recorder.session, recorder.on_error)


def _as(session: StreamKey | None) -> str:
    return f" as {session}" if session is not None else ""
