"""One connection of a client to the proxy: request after request, each passed on and back."""

from __future__ import annotations

import http.client
import io
import json
import socket
import struct
import time
import warnings
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from eventlog.errors import EventInvalid, InputRefused
from eventlog.recorded import StreamKey
from harness.exchange.sent_keys import keys_of
from harness.recording.codings import Unpacking, accepted
from harness.recording.complaints import RecordingWarning
from harness.recording.heads import BrokenHead, Lines, Response
from harness.recording.incoming import (
    HEAD_BYTES,
    HEAD_SECONDS,
    IDLE,
    MOST_BODY,
    Incoming,
    Refused,
)
from harness.recording.passed import PassedCall
from harness.recording.passing import CutOff, Passing
from harness.recording.sessions import session_key
from harness.recording.sockets import ClientGone, Patient, Spent, Watched, close, is_idle, send
from harness.recording.upstreams import Upstream
from harness.recording.wire import SESSION_HEADER, plain_headers, plain_url

if TYPE_CHECKING:
    from harness.recording.proxy import Proxy

SILENT_PROVIDER = 3600.0
"""Seconds without a byte of an answer; clients have shorter limits of their own."""

_LONGEST_LINE = 65536
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_TYPES = {401: "authentication_error", 403: "permission_error", 413: "request_too_large"}


class Handler(BaseHTTPRequestHandler):
    """Answers one client. A connection to a provider lives as long as that of its client."""

    server: Any
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        """Read with limits."""
        super().setup()
        self.rfile.close()
        self._raw = Patient(self.connection)
        self.rfile: io.BufferedReader = io.BufferedReader(self._raw)
        self._lines: dict[Upstream, socket.socket] = {}
        self._expects = False
        self._api = "openai"

    def finish(self) -> None:
        """The client is gone."""
        for line in self._lines.values():
            close(line)
        super().finish()

    @property
    def proxy(self) -> Proxy:
        """Which it belongs to."""
        found: Proxy = self.server.proxy
        return found

    def handle_one_request(self) -> None:
        """The next request of the client; nothing that it sends gets further than here."""
        self.close_connection, self._expects, self.command = True, False, ""
        try:
            incoming = self._incoming()
            if incoming is not None:
                self._pass_on(incoming)
        except Refused as refused:
            self._refuse(refused)
        except OSError:  # the client went away, or was silent
            self.close_connection = True
        except Exception as error:
            warnings.warn(f"a request was not passed on: {error!r}", RecordingWarning, stacklevel=1)
            self._refuse(Refused(500, "the proxy failed"))
        if self.proxy.is_stopping:
            self.close_connection = True

    # -- the request ----------------------------------------------------------------------------

    def _incoming(self) -> Incoming | None:
        """The next request up to its body; None where none comes. Raises Refused, OSError."""
        self._raw.allow(IDLE)
        if not self.rfile.peek(1):
            return None
        self._raw.allow(HEAD_SECONDS, HEAD_BYTES)
        try:
            line = self._first_line()
            if line is None:
                return None
            self.raw_requestline = line
            if not self._parsed():
                return None
        except BrokenHead as fault:
            raise Refused(400, str(fault)) from None
        except Spent:
            raise Refused(431, "the headers are too long") from None
        except TimeoutError:
            raise Refused(408, "the request did not come to its end") from None
        if self._raw.is_over:  # in the middle of the headers
            return None
        self._api = self.proxy.upstreams.of(self.path.partition("?")[0], self.headers).api
        self.proxy.guard.check(self.headers)
        return Incoming(self.command, self.path, self.headers, self.rfile, self._raw)

    def _parsed(self) -> bool:
        whole: Any = self.rfile
        lines: Any = Lines(whole)
        self.rfile = lines
        try:
            return self.parse_request()
        finally:
            self.rfile = whole

    def _first_line(self) -> bytes | None:
        line = self.rfile.readline(_LONGEST_LINE + 1)
        if line in (b"\r\n", b"\n"):  # one is let pass, as HTTP asks for
            line = self.rfile.readline(_LONGEST_LINE + 1)
        if len(line) > _LONGEST_LINE:
            raise Refused(414, "the first line is too long")
        if not line.endswith(b"\n"):
            return None
        if len(line.split()) != 3:
            raise Refused(400, "the first line is no request")
        return line

    def handle_expect_100(self) -> bool:
        """The client waits before it sends the body; it is told when somebody reads it."""
        self._expects = True
        return True

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the parser of HTTP refuses."""
        raise Refused(int(code), (message or HTTPStatus(code).phrase).lower())

    def _session(self, incoming: Incoming) -> StreamKey | None:
        named = incoming.headers.get(SESSION_HEADER)
        if named is None:
            return None
        try:
            return session_key(named.encode("latin-1").decode())
        except (InputRefused, EventInvalid, UnicodeError) as fault:
            raise Refused(400, f"{SESSION_HEADER}: {fault}") from None

    # -- on its way -----------------------------------------------------------------------------

    def _pass_on(self, incoming: Incoming) -> None:
        upstream = self.proxy.upstreams.of(incoming.path, incoming.headers)
        session = self._session(incoming)
        dialect = upstream.dialect(incoming.method, incoming.path)
        if (incoming.length or 0) > MOST_BODY and dialect is not None:
            incoming.body()  # refuses, before a client that asks first has sent it
        if self._expects and incoming.has_body:
            send(self.connection, _CONTINUE)
        if dialect is None:
            self._exchange(upstream, incoming, None, None)
            return
        body = incoming.body()
        passed = self.proxy.begin(
            dialect,
            _plain(body, incoming),
            session,
            url=plain_url(upstream.whole(incoming.target)),
            headers=plain_headers(incoming.headers),
            keys=keys_of(incoming.headers.items(), incoming.target.partition("?")[2]),
        )
        try:
            self._exchange(upstream, incoming, body, passed)
        except BaseException as fault:
            passed.ended(fault.__cause__ if isinstance(fault, Refused) else fault)
            raise
        finally:
            passed.ended()
            self.proxy.ended(passed)

    def _exchange(
        self, upstream: Upstream, incoming: Incoming, body: bytes | None, passed: PassedCall | None
    ) -> None:
        """Ask the provider, and pass its answer on. Raises Refused as long as nothing went back."""
        closes = self.close_connection
        self.close_connection = True
        passing: Passing | None = None
        line: socket.socket | None = None
        try:
            line = self._line(upstream)
            self._ask(line, upstream, incoming, body)
            response = self._response(line, incoming.method)
            passing = Passing(
                response,
                self.connection,
                method=incoming.method,
                is_old=self.request_version == "HTTP/1.0",
                closes=closes or self.proxy.is_stopping or not incoming.is_read,
            )
            if passed is not None:
                passed.answers(response.status, response.headers.get("content-encoding", ""))
                passing.run(passed.take, passed.ended)
            else:
                passing.run(lambda piece: False, lambda: None)
            self.close_connection = passing.closes
            if not response.will_close:
                self._lines[upstream], line = line, None
        except (ClientGone, Refused):
            raise
        except (OSError, http.client.HTTPException, ValueError) as error:
            if passing is not None and passing.is_begun:
                self._cut_off()
                raise CutOff(error) from error
            is_late = isinstance(error, TimeoutError)
            told = f"no answer from {upstream.url}: {_why(error)}"
            raise Refused(504 if is_late else 502, told) from error
        finally:
            if line is not None:
                close(line)

    def _line(self, upstream: Upstream) -> socket.socket:
        kept = self._lines.pop(upstream, None)
        if kept is not None:
            if is_idle(kept):
                return kept
            close(kept)
        return upstream.connect()

    def _ask(
        self, line: socket.socket, upstream: Upstream, incoming: Incoming, body: bytes | None
    ) -> None:
        """Send the request: with its body where that was read, else as it comes."""
        query = incoming.target[len(incoming.path) :]
        lines = [f"{incoming.method} {upstream.target(incoming.path)}{query} HTTP/1.1"]
        lines.append(f"Host: {upstream.address.authority}")
        for name, value in incoming.kept_headers():
            if body is not None and name.lower() == "accept-encoding":
                value = accepted(value)
            lines.append(f"{name}: {value}")
        lines += [f"{name}: {value}" for name, value in upstream.headers.items()]
        is_chunked = body is None and incoming.length is None
        if is_chunked:
            lines.append("Transfer-Encoding: chunked")
        elif body is not None or "content-length" in incoming.headers:
            length = len(body) if body is not None else incoming.length
            lines.append(f"Content-Length: {length}")
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        try:
            send(line, head + (body or b""))
            if body is None:
                for piece in incoming.pieces():
                    send(line, b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
                if is_chunked:
                    send(line, b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            pass  # it may have said why before it went

    def _response(self, line: socket.socket, method: str) -> http.client.HTTPResponse:
        watched: Any = Watched(line, self.connection, SILENT_PROVIDER)
        response = Response(watched, method=method)
        response.begin()
        return response

    # -- refusals -------------------------------------------------------------------------------

    def _refuse(self, refused: Refused) -> None:
        """An error in the form of the API that was asked, and the end of the connection."""
        self.close_connection = True
        kind = _TYPES.get(refused.status)
        kind = kind or ("api_error" if refused.status >= 500 else "invalid_request_error")
        error = {"message": f"ctxlog proxy: {refused.message}", "type": kind}
        body: dict[str, Any] = {"type": "error", "error": error}
        if self._api == "openai":
            body = {"error": {**error, "param": None, "code": None}}
        data = json.dumps(body).encode()
        status = HTTPStatus(refused.status)
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n"
        )
        with suppress(OSError):
            send(self.connection, head.encode() + (b"" if self.command == "HEAD" else data))
            self._drain()

    def _drain(self) -> None:
        """Read what the client still sends for a moment: closed at once, it would see no answer."""
        self.connection.shutdown(socket.SHUT_WR)
        until = time.monotonic() + 2
        while (left := until - time.monotonic()) > 0:
            self.connection.settimeout(left)
            if not self.connection.recv(1 << 16):
                return

    def _cut_off(self) -> None:
        """End the connection so that the client sees that the answer was not whole."""
        linger = struct.pack("ii", 1, 0)
        with suppress(OSError):
            if self.request_version == "HTTP/1.0":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr."""


def _why(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error or type(error).__name__)


def _plain(body: bytes, incoming: Incoming) -> bytes:
    """A body as it is recorded. One in a coding that cannot be undone stays, and is no request."""
    try:
        return Unpacking(incoming.headers.get("content-encoding", ""), MOST_BODY).take(body)
    except InputRefused:
        return body
