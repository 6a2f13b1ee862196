"""An answer passed on to the client, piece by piece as it comes.

The end of a recorded answer is in the log before the client can know that it is the end: it may
send its next request at once, on another connection, and that has to find this call closed. So what
tells the end (the last byte, the closing chunk, the last event of a stream) waits for the record.
"""

from __future__ import annotations

import http.client
import re
import socket
from collections.abc import Callable, Iterator

from harness.recording.sockets import ClientGone, send

READING = 1 << 16
"""Bytes that are passed on at once at most."""

_LEFT_OUT = {
    *("connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer"),
    *("transfer-encoding", "upgrade", "content-length"),
}


class CutOff(ConnectionError):
    """The provider stopped in the middle of its answer."""

    def __init__(self, fault: Exception | None = None) -> None:
        what = "was silent" if isinstance(fault, TimeoutError) else "went away"
        super().__init__(f"the provider {what} in the middle of its answer")


class Passing:
    """The answer to one request, on its way to the client."""

    def __init__(
        self,
        response: http.client.HTTPResponse,
        client: socket.socket,
        *,
        method: str,
        is_old: bool,
        closes: bool,
    ) -> None:
        self._response, self._client = response, client
        has_none = method == "HEAD" or response.status in (204, 304)
        self._length = 0 if has_none else response.length
        self._is_chunked = self._length is None and not is_old
        self.closes = closes or (self._length is None and is_old)
        """Whether the connection to the client ends with it."""
        self.is_begun = False
        """Whether the client got something of it."""

    def head(self) -> bytes:
        """Its first line and its headers."""
        response = self._response
        named = ",".join(response.headers.get_all("connection", [])).lower()
        left_out = _LEFT_OUT | {part.strip() for part in named.split(",")}
        lines = [f"HTTP/1.1 {response.status} {_line(response.reason)}"]
        lines += [
            f"{name}: {_line(value)}"
            for name, value in response.headers.items()
            if name.lower() not in left_out
        ]
        length = response.headers.get("content-length")
        if self._is_chunked:
            lines.append("Transfer-Encoding: chunked")
        elif length is not None and not response.chunked and response.status != 204:
            lines.append(f"Content-Length: {_line(length)}")
        if self.closes:
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")

    def run(self, take: Callable[[bytes], bool], ended: Callable[[], None]) -> None:
        """Pass all of it on; ``take`` is told each piece, and says whether the answer ends with it,
        ``ended`` is called before the client can know. Raises CutOff, HTTPException, OSError."""
        head, left = self.head(), self._length
        for piece in self._pieces():
            if left is not None:
                left -= len(piece)
            if take(piece) or left == 0:
                ended()
            self._send(head + (_chunk(piece) if self._is_chunked else piece))
            head = b""
        ended()
        self._send(head + (b"0\r\n\r\n" if self._is_chunked else b""))

    def _send(self, data: bytes) -> None:
        self.is_begun = True
        try:
            send(self._client, data)
        except OSError as error:
            raise ClientGone("the client went away in the middle of the answer") from error

    def _pieces(self) -> Iterator[bytes]:
        left = self._length
        if left == 0:
            return
        if left is None:
            while piece := self._response.read1(READING):
                yield piece
            return
        while left > 0:
            piece = self._response.read1(min(left, READING))
            if not piece:
                raise CutOff
            left -= len(piece)
            yield piece


class EndOfStream:
    """Finds the last event of a stream of server-sent events."""

    def __init__(self) -> None:
        self._tail = b"\n"
        self._is_last = False
        """Whether the event that is being read is the last."""

    def take(self, text: bytes) -> bool:
        """Whether the stream ends with these bytes."""
        seen = self._tail + text
        if not self._is_last:
            found = _LAST.search(seen)
            if found is not None:
                self._is_last, seen = True, seen[found.end() - 1 :]
        self._tail = seen[-_LONGEST:]
        return self._is_last and _EMPTY_LINE.search(seen) is not None


_LAST = re.compile(
    rb"[\r\n](?:data: ?\[DONE\]"
    rb"|event: ?(?:message_stop|error|response\.(?:completed|failed|incomplete)))[\r\n]"
)
_LONGEST = 40
"""Bytes of the lines that it looks for."""

_EMPTY_LINE = re.compile(rb"\n\n|\r\r|\r\n\r\n")


def _chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def _line(text: str) -> str:
    """A header in one line, whatever stood there."""
    return re.sub(r"[\r\n\0]+\s*", " ", text)
