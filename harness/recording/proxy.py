"""A proxy between an agent and its model that records each call: no line of the agent changes.

    with Proxy(recorder, upstreams) as proxy:
        run_agent(OPENAI_BASE_URL=proxy.openai_url, ANTHROPIC_BASE_URL=proxy.anthropic_url)
    proxy.tally

It listens on this machine, passes everything on to the provider that was configured and back as it
is, and records what asks a model; of the headers it keeps nothing. What goes wrong with the record
never breaks a call.
"""

from __future__ import annotations

import sys
import threading
import time
import warnings
from dataclasses import dataclass
from typing import Any

from eventlog.errors import InputRefused
from eventlog.messages import Dialect
from eventlog.recorded import StreamKey
from harness.recording.complaints import RecordingWarning
from harness.recording.incoming import Guard, Refused
from harness.recording.listener import LOOPBACK, Listener, names_of
from harness.recording.passed import PassedCall
from harness.recording.proxying import Handler
from harness.recording.recorder import RecordedCall, Recorder
from harness.recording.upstreams import Upstreams

GRACE = 2.0
"""Seconds that calls have to end when the proxy is closed."""


class ProxyStopped(ConnectionError):
    """The proxy was closed before the answer ended."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What went through a proxy."""

    calls: int
    sessions: tuple[StreamKey, ...]
    """In the order of their first calls."""
    failed: int
    """Calls that brought no answer."""
    missed: int
    """Calls that are not in the log."""
    is_lost: bool
    """The file of the log was moved, deleted or replaced meanwhile: none of them is in it."""


class Proxy:
    """Listens from its making on, and answers from ``start`` on."""

    def __init__(
        self,
        recorder: Recorder,
        upstreams: Upstreams,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
    ) -> None:
        """Raises InputRefused for an open address without a token, and for an upstream that is
        this proxy itself; OSError where it cannot listen."""
        if host not in LOOPBACK and not token:
            raise InputRefused(f"a proxy on {host} can be reached by others: it needs a token")
        if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
            raise InputRefused("the token holds a character that no header can hold")
        self.recorder, self.upstreams = recorder, upstreams
        self._server = _Server(self, host, port)
        self.host, self.port = host, int(self._server.server_address[1])
        for upstream in (upstreams.openai, upstreams.anthropic):
            at = upstream.address
            if at.port == self.port and at.host in (*LOOPBACK, host):
                self._server.server_close()
                raise InputRefused(f"{upstream.url} is this proxy itself")
        self.guard = Guard(names_of((host, *LOOPBACK), self.port), token)
        self.is_stopping = False
        self._shown_host = f"[{host}]" if ":" in host else host
        self._thread: threading.Thread | None = None
        self._open: set[PassedCall] = set()
        self._beginning = 0
        """Calls that are being recorded before they go on."""
        self._ended = threading.Condition()
        self._calls = self._failed = 0
        self._keys: dict[StreamKey, None] = {}
        self._unplaced: list[RecordedCall] = []

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{self._shown_host}:{self.port}"

    @property
    def openai_url(self) -> str:
        """The base address for clients of OpenAI."""
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        """The base address for clients of Anthropic."""
        return self.url

    def start(self) -> None:
        """Answer, in threads of its own."""
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="ctxlog-proxy", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop, and let the calls that are on their way end for a moment; the recorder stays
        open."""
        with self._ended:
            self.is_stopping = True
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()
        until = time.monotonic() + GRACE
        with self._ended:
            self._ended.wait_for(
                lambda: not self._open and not self._beginning, max(until - time.monotonic(), 0)
            )
            left = list(self._open)
        for passed in left:
            passed.ended(ProxyStopped("the proxy was stopped"))
            self.ended(passed)

    def __enter__(self) -> Proxy:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- its calls ------------------------------------------------------------------------------

    def begin(
        self, dialect: Dialect, body: bytes, session: StreamKey | None, **sent: Any
    ) -> PassedCall:
        """A call goes through: it is recorded. Raises Refused while the proxy is being closed."""
        with self._ended:
            if self.is_stopping:
                raise Refused(503, "the proxy is being stopped")
            self._beginning += 1
        try:
            passed = PassedCall(self.recorder.begin(dialect, body, session, **sent))
            with self._ended:
                self._calls += 1
                self._open.add(passed)
                self._placed(passed.call)
        finally:
            with self._ended:
                self._beginning -= 1
                self._ended.notify_all()
        return passed

    def ended(self, passed: PassedCall) -> None:
        """It is over."""
        with self._ended:
            if passed in self._open:
                self._open.discard(passed)
                self._failed += not passed.call.is_answered
                self._ended.notify_all()

    def _placed(self, call: RecordedCall) -> None:
        if call.stream is not None:
            self._keys.setdefault(call.stream.key)
        else:
            self._unplaced.append(call)

    @property
    def tally(self) -> Tally:
        """What went through until now."""
        with self._ended:
            waiting, self._unplaced = self._unplaced, []
            for call in waiting:
                self._placed(call)
            if not self.recorder.live.log.is_in_place:
                return Tally(self._calls, (), self._failed, self._calls, is_lost=True)
            missed = self.recorder.missed + self.recorder.waiting
            return Tally(self._calls, tuple(self._keys), self._failed, missed, is_lost=False)


class _Server(Listener):
    def __init__(self, proxy: Proxy, host: str, port: int) -> None:
        self.proxy = proxy
        super().__init__(host, port, Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that could not even be begun; its client sees it end."""
        error = sys.exception()
        warnings.warn(f"a client was not served: {error!r}", RecordingWarning, stacklevel=1)
