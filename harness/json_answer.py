"""What an OpenAI-compatible endpoint answers, read as plain JSON: a server may send anything, of
any size, at any pace. What goes wrong is a typed fault without the key."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from harness.errors import RequestRejected, Unreachable, UpstreamFault

if TYPE_CHECKING:
    from openai import OpenAI

_REJECTED = (400, 409, 413, 422)

MOST_BYTES = 16 << 20
"""Of an answer: a thousand tokens are some thousand bytes, a vector some ten thousand."""


class Streamed(Protocol):
    """An answer that is read piece by piece."""

    def iter_bytes(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Its bytes."""


class JsonAnswers:
    """Answers of one model through one client."""

    def __init__(self, client: OpenAI, model: str, patience: float | None = None) -> None:
        """``patience``: seconds for a whole answer at most; the client's own hold in any case."""
        self._client = client
        self._model = model
        self._patience = patience

    @property
    def url(self) -> str:
        """Where the model is."""
        return str(self._client.base_url).rstrip("/")

    def read(self, asking: Callable[[], AbstractContextManager[Streamed]]) -> object:
        """The answer to a request that ``asking`` sends. Raises Unreachable, RequestRejected."""
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        try:
            body = self._body(asking)
        except UpstreamFault:
            raise
        except APIStatusError as error:
            kind = RequestRejected if error.status_code in _REJECTED else Unreachable
            raise self.fault(error, kind) from None
        except APITimeoutError:
            raise self.fault("no answer in time") from None
        except APIConnectionError as error:
            why = f"no connection ({error.__cause__ or error}); is the server running?"
            raise self.fault(why) from None
        except Exception as error:  # whatever the client, a proxy or a certificate brings up
            raise self.fault(f"{type(error).__name__}: {error}") from None
        try:
            answer: object = json.loads(self._hidden(body.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            why = "what it answered is no JSON; is this the address of an API (…/v1)?"
            raise self.fault(why) from None
        return answer

    def fault(self, error: object, kind: type[UpstreamFault] = Unreachable) -> UpstreamFault:
        """A fault of this model, on one line."""
        detail = " ".join(_said(error).split()) or type(error).__name__
        return kind(self._model, self.url, self._hidden(detail)[:300])

    def _body(self, asking: Callable[[], AbstractContextManager[Streamed]]) -> bytes:
        """What it sends, up to a size, and up to a time where there is one."""
        own = self._client.timeout
        known = (each for each in (own, self._patience) if isinstance(each, int | float))
        patience = min(known, default=math.inf)
        started, body = time.monotonic(), bytearray()
        with asking() as response:
            for piece in response.iter_bytes():  # of any size: a full one may never come
                body += piece
                if len(body) > MOST_BYTES:
                    raise self.fault(f"its answer is over {MOST_BYTES >> 20} MB")
                if time.monotonic() - started > patience:
                    raise self.fault("no answer in time")
        return bytes(body)

    def _hidden(self, text: str) -> str:
        """Without the key: a server may answer with what it was sent."""
        key = self._client.api_key
        return text.replace(key, "…") if isinstance(key, str) and len(key) > 7 else text


def _said(error: object) -> str:
    """What the endpoint itself said, where it said something that is meant to be read."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, Mapping) else None
    if isinstance(message, str) and message.strip():
        return f"{message} (status {getattr(error, 'status_code', '?')})"
    return str(error)
