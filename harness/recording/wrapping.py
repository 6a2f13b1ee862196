"""A client of a provider, recorded in place."""

from __future__ import annotations

import os
from typing import Any, TypeVar

from eventlog.errors import InputRefused
from eventlog.recorded import StreamKey
from harness.recording.recorder import OnError, Recorder
from harness.recording.transport import AsyncRecordingTransport, RecordingTransport
from projections import Live

Client = TypeVar("Client")

_ELSEWHERE = {
    *("AnthropicBedrock", "AsyncAnthropicBedrock", "AnthropicVertex", "AsyncAnthropicVertex"),
}
"""Clients that ask models in another form and at other addresses than Anthropic's own."""


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
    what they share.

    Raises InputRefused for what is no such client (those of Bedrock and Vertex ask in another form)
    or is recorded already, and what opening the log raises.
    """
    http = getattr(client, "_client", None)
    inner = getattr(http, "_transport", None)
    if http is None or inner is None:
        raise InputRefused(f"{type(client).__name__} is no client of openai or anthropic")
    if any(each.__name__ in _ELSEWHERE for each in type(client).__mro__):
        raise InputRefused(f"the calls of {type(client).__name__} have a form that is not recorded")
    if isinstance(inner, RecordingTransport | AsyncRecordingTransport):
        raise InputRefused("the client is recorded already")
    recorder = (
        log if isinstance(log, Recorder) else Recorder(log, session=session, on_error=on_error)
    )
    made: Any = AsyncRecordingTransport if hasattr(http, "aclose") else RecordingTransport
    http._transport = made(inner, recorder)
    for pattern, mounted in http._mounts.items():
        if mounted is not None:
            http._mounts[pattern] = made(mounted, recorder)
    return client
