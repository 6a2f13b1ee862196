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

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from eventlog.recorded import StreamKey
from harness.exchange.sent_keys import keys_of
from harness.recording.calls import BegunCall, CallRecorder
from harness.recording.codings import Unpacking, readable
from harness.recording.sessions import Began, here, is_covered, session_key
from harness.recording.wire import (
    MOST_BYTES,
    SESSION_HEADER,
    Answering,
    dialect_of,
    plain_headers,
    plain_url,
    said,
)


class RecordingTransport:
    """In front of the transport of a client that waits."""

    def __init__(self, inner: Any, recorder: CallRecorder) -> None:
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
        return _watched(_Stream, response, call)

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

    def __init__(self, inner: Any, recorder: CallRecorder) -> None:
        self.inner = inner
        self.recorder = recorder

    async def handle_async_request(self, request: Any) -> Any:
        """Send a request; where it asks a model, it is in the log before."""
        begin = _begin(self.recorder, request)
        if begin is None:
            return await self.inner.handle_async_request(request)
        call = await begun(begin)
        try:
            response = await self.inner.handle_async_request(request)
        except BaseException as error:
            call.failed(said(error))
            raise
        return _watched(_AsyncStream, response, call)

    async def aclose(self) -> None:
        """Close the transport behind it."""
        await self.inner.aclose()

    async def __aenter__(self) -> AsyncRecordingTransport:
        await self.inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.inner.__aexit__(*error)


def _begin(recorder: CallRecorder, request: Any) -> Callable[[], BegunCall] | None:
    """What records the request; None where it asks no model, or cannot be read."""
    named = request.headers.get(SESSION_HEADER)
    if named is not None:
        del request.headers[SESSION_HEADER]
    dialect = dialect_of(request.method, request.url.path)
    if dialect is None or is_covered(recorder):
        return None
    around, outer = here()
    try:
        session: StreamKey | None = session_key(named) if named else around
        body: bytes = request.read()
        url, headers = plain_url(str(request.url)), plain_headers(request.headers)
        query, user = request.url.query.decode("ascii", "replace"), request.url.userinfo.decode()
        keys = keys_of(request.headers.items(), query, user)
    except Exception as error:
        recorder.cannot(error)
        return None
    if session != around:
        outer = Began(around)
    return lambda: recorder.begin(dialect, body, session, outer, url, headers, keys)


async def begun(begin: Callable[[], BegunCall]) -> BegunCall:
    """A call that a thread records, since it waits for the disk. Who is cancelled meanwhile sends
    nothing, and the log says so."""
    made: list[BegunCall] = []
    is_cancelled = False

    def work() -> BegunCall:
        call = begin()
        made.append(call)
        if is_cancelled:
            call.failed(_UNSENT)
        return call

    try:
        return await to_thread.run_sync(work, limiter=_limiter())
    except BaseException:
        is_cancelled = True
        for call in made:
            call.failed(_UNSENT)
        raise


_UNSENT = "cancelled before it was sent"
_LIMITER: RunVar[CapacityLimiter] = RunVar("ctxlog_recording")


def _limiter() -> CapacityLimiter:
    """Threads of our own: those that all share may be taken by what waits for this very call."""
    try:
        return _LIMITER.get()
    except LookupError:
        made = CapacityLimiter(_THREADS)
        _LIMITER.set(made)
        return made


_THREADS = 4
"""At once in one loop; what they do is done one after the other anyway."""


def _watched(made: type[Any], response: Any, call: BegunCall) -> Any:
    try:
        response.stream = _stream(made, response, call)
    except Exception as error:  # of a transport that is not httpx's: its answer passes as it is
        call.failed(f"the answer cannot be read: {said(error)}")
    return response


def _stream(made: type[Any], response: Any, call: BegunCall) -> Any:
    coding = _readable(response.headers.get("content-encoding", ""))

    def decode(body: bytes) -> str:
        return Unpacking(coding, MOST_BYTES).take(body).decode("utf-8", "replace")

    answering = Answering(call, response.status_code, decode)
    library = type(response).__module__.partition(".")[0]
    stream = _of_library(made.__name__, library)(response.stream, answering)
    answering.watch(stream)
    return stream


def _readable(coding: str) -> str:
    """Without what is the name of no coding: some servers put a character set there, and a client
    reads on as if nothing was said."""
    names = (name.strip() for name in coding.split(","))
    known = readable() | {"br", "zstd", "compress", "x-compress"}
    return ",".join(name for name in names if name.lower() in known)


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
        try:
            self._inner.close()
        finally:
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
