"""An exchange with a provider as it passes: which requests ask a model, and what came back.

Nothing here changes what passes. Keys stand in headers, of which nothing is kept but the name of
the session that a caller put there, and which version of its API the provider was asked for.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

from eventlog.messages import Dialect
from harness.exchange.outcomes import Failure, outcome_of
from harness.exchange.withheld import address
from harness.recording.calls import BegunCall

SESSION_HEADER = "X-Ctxlog-Session"
"""A request header that names the session; it is not sent on."""

_PATHS: dict[str, Dialect] = {
    "/chat/completions": "openai_chat",
    "/responses": "openai_responses",
    "/messages": "anthropic",
}

MOST_BYTES = 64 << 20
"""Of an answer that is kept to be read. Of a longer one it is told that it was too long."""


def dialect_of(method: str, path: str) -> Dialect | None:
    """In which dialect a request asks a model; None for one that asks none."""
    if method.upper() != "POST" or "/threads/" in path:  # OpenAI's threads have messages, too
        return None
    found = (dialect for end, dialect in _PATHS.items() if path.rstrip("/").endswith(end))
    return next(found, None)


HEADERS = ("anthropic-version", "anthropic-beta", "openai-beta")
"""Request headers that change what the model is given, and hold no key."""

_QUERY = ("api-version", "beta")
"""What of a query says which API is asked; anything else could be a key."""


@lru_cache(maxsize=256)
def plain_url(url: str) -> str:
    """An address without what could be a secret in it."""
    query = url.partition("#")[0].partition("?")[2]
    kept = [(name, value) for name, value in parse_qsl(query) if name in _QUERY]
    return address(url) + ("?" + urlencode(kept) if kept else "")


def plain_headers(headers: Any) -> dict[str, str]:
    """Those that are kept, of a mapping that does not care about case."""
    found = {name: headers.get(name) for name in HEADERS}
    return {name: str(value) for name, value in found.items() if value is not None}


class Answering:
    """What comes back to a recorded call, chunk by chunk."""

    def __init__(self, call: BegunCall, status: int, decode: Callable[[bytes], str]) -> None:
        self._call = call
        self._status = status
        self._decode = decode
        self._chunks: list[bytes] = []
        self._size = 0

    def take(self, chunk: bytes) -> None:
        """The next piece of the body, as it came over the wire."""
        self._size += len(chunk)
        if self._size <= MOST_BYTES:
            self._chunks.append(chunk)
        else:
            self._chunks.clear()

    def forget(self) -> None:
        """What came until now is too much to be kept."""
        self._chunks.clear()

    def ended(self, fault: BaseException | None = None) -> None:
        """Nothing more comes, or nobody waits for it."""
        try:
            self._ended(fault)
        except Exception as error:  # never the agent's
            self._call.failed(f"the answer cannot be read: {said(error)}", self._status)

    def _ended(self, fault: BaseException | None) -> None:
        if self._size > MOST_BYTES:
            too_long = f"the answer is longer than {MOST_BYTES:,} bytes and was not kept"
            self._call.failed(too_long, self._status)
            return
        try:
            body: Any = self._decode(b"".join(self._chunks))
        except Exception as error:  # whatever a decoder makes of a body that was cut off
            body, fault = "", fault or error
        self._chunks = []
        outcome = outcome_of(self._call.dialect, body, self._status)
        if outcome.answer is None and fault is not None:
            failure = outcome.failure or Failure("", self._status)
            self._call.ended(replace(outcome, failure=replace(failure, error=said(fault))))
        elif outcome.answer is None and not body:
            # A client that asks again reads nothing of the error.
            is_error = self._status >= 400
            why = f"HTTP {self._status}" if is_error else "the answer was not read"
            self._call.failed(why, self._status)
        else:
            self._call.ended(outcome)

    def watch(self, stream: object) -> None:
        """End the call when a stream is dropped that nobody closed."""
        weakref.finalize(stream, self.ended)


def said(fault: BaseException) -> str:
    """A fault in one line."""
    text = str(fault)
    name = type(fault).__name__
    return f"{name}: {text}" if text else name
