"""A transport of httpx that records what a model is asked, in front of another one.

It works on what goes over the wire, so everything that a client can do is recorded in one place:
parsed answers, streams, raw responses, retries. Works with httpx2 and with httpx, which share these
interfaces.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from typing import Any

from anyio import to_thread

from eventlog.recorded import StreamKey
from harness.recording.recorder import RecordedCall, Recorder, session_key
from harness.recording.sessions import current
from harness.recording.wire import SESSION_HEADER, Answering, dialect_of, said


class RecordingTransport:
    """In front of the transport of a client that waits."""

    def __init__(self, inner: Any, recorder: Recorder) -> None:
        self.inner = inner
        self.recorder = recorder

    def handle_request(self, request: Any) -> Any:
        """Send a request; where it asks a model, it is in the log before."""
        begin = _begin(self.recorder, request)
        if begin is None:
            return self.inner.handle_request(request)
        call = begin()
        try:
            response = self.inner.handle_request(request)
        except BaseException as error:
            call.failed(said(error))
            raise
        response.stream = _stream(_Stream, response, call)
        return response

    def close(self) -> None:
        """Close the transport behind it."""
        self.inner.close()

    def __enter__(self) -> RecordingTransport:
        self.inner.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.inner.__exit__(*error)


class AsyncRecordingTransport:
    """In front of the transport of a client that is awaited."""

    def __init__(self, inner: Any, recorder: Recorder) -> None:
        self.inner = inner
        self.recorder = recorder

    async def handle_async_request(self, request: Any) -> Any:
        """Send a request; where it asks a model, it is in the log before."""
        begin = _begin(self.recorder, request)
        if begin is None:
            return await self.inner.handle_async_request(request)
        call = await to_thread.run_sync(begin)
        try:
            response = await self.inner.handle_async_request(request)
        except BaseException as error:
            call.failed(said(error))
            raise
        response.stream = _stream(_AsyncStream, response, call)
        return response

    async def aclose(self) -> None:
        """Close the transport behind it."""
        await self.inner.aclose()

    async def __aenter__(self) -> AsyncRecordingTransport:
        await self.inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.inner.__aexit__(*error)


def _begin(recorder: Recorder, request: Any) -> Callable[[], RecordedCall] | None:
    """What records the request; None where it asks no model."""
    named = request.headers.get(SESSION_HEADER)
    if named is not None:
        del request.headers[SESSION_HEADER]
    dialect = dialect_of(request.method, request.url.path)
    if dialect is None:
        return None
    session: StreamKey | None = session_key(named) if named else current()
    body: bytes = request.read()
    return lambda: recorder.begin(dialect, body, session)


def _stream(made: type[Any], response: Any, call: RecordedCall) -> Any:
    kind, headers = type(response), response.headers

    def decode(body: bytes) -> str:
        return str(kind(200, headers=headers, content=body).text)

    answering = Answering(call, response.status_code, decode)
    library = kind.__module__.partition(".")[0]
    stream = _of_library(made.__name__, library)(response.stream, answering)
    answering.watch(stream)
    return stream


@cache
def _of_library(name: str, library: str) -> Any:
    """A stream of ours as one of httpx or httpx2, which each take only their own."""
    module = sys.modules[library]
    if name == _Stream.__name__:
        return type(name, (_Stream, module.SyncByteStream), {})
    return type(name, (_AsyncStream, module.AsyncByteStream), {})


class _Stream:
    """A body that is told of as it is read."""

    def __init__(self, inner: Any, answering: Answering) -> None:
        self._inner, self._answering = inner, answering

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._inner:
                self._answering.take(chunk)
                yield chunk
        except GeneratorExit:
            raise
        except BaseException as error:
            self._answering.ended(error)
            raise
        self._answering.ended()

    def close(self) -> None:
        """Nobody reads on."""
        self._inner.close()
        self._answering.ended()


class _AsyncStream:
    """The same, awaited."""

    def __init__(self, inner: Any, answering: Answering) -> None:
        self._inner, self._answering = inner, answering

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._inner:
                self._answering.take(chunk)
                yield chunk
        except GeneratorExit:
            raise
        except BaseException as error:
            self._answering.ended(error)
            raise
        self._answering.ended()

    async def aclose(self) -> None:
        """Nobody reads on."""
        try:
            await self._inner.aclose()
        finally:
            self._answering.ended()
