"""A client of a conversation's own, whose requests stand in its session before they go out."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from eventlog.errors import InputRefused
from harness.conversation.sending import Sending
from harness.recording.transport import RecordingTransport

if TYPE_CHECKING:
    from openai import OpenAI


def own_client(client: OpenAI, sending: Sending) -> OpenAI:
    """The client with a transport of its own in front of its connections; the given one stays.

    Where the given one is recorded with ``wrap`` already, that is left out here: the call would
    stand in two sessions. Raises InputRefused for a client that is not OpenAI's, or is awaited.
    """
    http: Any = getattr(client, "_client", None)
    if http is None or not hasattr(client, "chat") or hasattr(http, "aclose"):
        raise InputRefused(f"a conversation needs an openai.OpenAI, not {type(client).__name__}")
    own = copy.copy(http)
    own._transport = _in_front(http._transport, sending)
    own._mounts = {
        pattern: None if mounted is None else _in_front(mounted, sending)
        for pattern, mounted in http._mounts.items()
    }
    return client.with_options(http_client=own)


class _Borrowed(RecordingTransport):
    """In front of connections that are the given client's to close: a client of openai closes its
    own when nobody holds it any more, and others may be reading from them."""

    def close(self) -> None:
        """Nothing: they stay open."""

    def __enter__(self) -> _Borrowed:
        return self

    def __exit__(self, *error: Any) -> None:
        """They stay open."""


def _in_front(transport: Any, sending: Sending) -> Any:
    inner = transport.inner if isinstance(transport, RecordingTransport) else transport
    return _Borrowed(inner, sending)
