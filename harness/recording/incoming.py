"""A request as it comes in to the proxy, refused before anything is done where it is none to take.

A browser can be made to talk to a server on this machine: by a name that turns to its address
(Host), or by a page of somebody else (Origin). Lengths that two readers could read in two ways are
refused, since another request can be hidden in them; so is a path that climbs.
"""

from __future__ import annotations

import hmac
import io
import re
import time
from collections.abc import Iterator
from email.message import Message
from urllib.parse import unquote

from harness.recording.sockets import ClientGone, Patient, Spent

TOKEN_HEADER = "X-Ctxlog-Token"
"""A request header that holds the proxy's token; it is not sent on."""

OURS = "x-ctxlog-"
"""Headers that begin so are meant for us alone."""

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

IDLE = 75.0
"""Seconds that a connection is kept without a request."""

HEAD_SECONDS, HEAD_BYTES = 30.0, 256 << 10
"""For the first line and the headers of a request."""

SILENCE, BODY_SECONDS = 30.0, 900.0
"""Seconds without a byte of a body, and for all of it."""

MOST_BODY = 64 << 20
"""Bytes of a body that asks a model: it is kept in memory until it is recorded."""

_HOP_BY_HOP = {
    *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"),
    *("te", "trailer", "transfer-encoding", "upgrade"),
}
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,12})[ \t]*(?:;[^\r\n]*)?\r\n")
_LENGTH = re.compile(r"[0-9]{1,15}")
_LINE = 4096


class Refused(Exception):
    """What is said to a client instead of an answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Guard:
    """Who may ask."""

    def __init__(self, names: frozenset[str], token: str | None) -> None:
        self.names = names
        """What ``Host`` may be; where there is a token, it may be anything."""
        self._token = token

    def check(self, headers: Message) -> None:
        """Raises Refused."""
        hosts = headers.get_all("host", [])
        if len(hosts) != 1:
            raise Refused(400, "a request names one Host")
        host = hosts[0].strip().lower()
        own = {f"http://{name}" for name in self.names}
        if any(origin.lower() not in own for origin in headers.get_all("origin", [])):
            raise Refused(403, "requests of web pages are not taken (Origin)")
        if self._token is None:
            if host not in self.names:
                raise Refused(403, f"this proxy is not {host[:80]!r} (Host)")
        else:
            given = headers.get(TOKEN_HEADER, "").removeprefix("Bearer ").strip()
            if not hmac.compare_digest(given.encode("latin-1", "replace"), self._token.encode()):
                raise Refused(401, f"the header {TOKEN_HEADER} has to hold the proxy's token")


class Incoming:
    """A request whose headers were read."""

    def __init__(
        self, method: str, target: str, headers: Message, rfile: io.BufferedIOBase, raw: Patient
    ) -> None:
        """Raises Refused."""
        self.method, self.target, self.headers = method, target, headers
        self._rfile, self._raw = rfile, raw
        if method not in METHODS:
            raise Refused(501, f"there is no {method[:20]!r} here")
        self.path = _path(target)
        if headers.defects or any(_is_odd(v) for pair in headers.items() for v in pair):
            raise Refused(400, "a header is broken")
        self.length = self._length()
        """Bytes of the body; None where it comes in chunks."""
        self.is_read = False
        """Whether all of the body was taken."""

    @property
    def has_body(self) -> bool:
        """Whether anything follows the headers."""
        return self.length != 0

    def kept_headers(self) -> list[tuple[str, str]]:
        """The headers that are sent on as they are, in their order."""
        named = ",".join(self.headers.get_all("connection", [])).lower()
        left = {*_HOP_BY_HOP, *(part.strip() for part in named.split(","))}
        left |= {"host", "content-length", "expect"}
        return [
            (name, value)
            for name, value in self.headers.items()
            if name.lower() not in left and not name.lower().startswith(OURS)
        ]

    def body(self) -> bytes:
        """The whole body of a request that asks a model. Raises Refused, ClientGone."""
        if (self.length or 0) > MOST_BODY:
            raise Refused(413, _TOO_LARGE)
        found = bytearray()
        for piece in self.pieces():
            found += piece
            if len(found) > MOST_BODY:
                raise Refused(413, _TOO_LARGE)
        return bytes(found)

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes. Raises Refused, ClientGone."""
        try:
            yield from self._pieces(time.monotonic() + BODY_SECONDS)
        except TimeoutError:
            raise Refused(408, "the body did not come to its end") from None
        except OSError as error:
            raise ClientGone("the client went away in the middle of its request") from error
        self.is_read = True

    def _pieces(self, until: float) -> Iterator[bytes]:
        if self.length is not None:
            yield from self._taken(self.length, until)
            return
        while True:
            found = _SIZE.fullmatch(self._line(until))
            if found is None:
                raise Refused(400, "a chunk of the body has no length")
            size = int(found[1], 16)
            if not size:
                break
            yield from self._taken(size, until)
            if self._line(until) != b"\r\n":
                raise Refused(400, "a chunk of the body is longer than it says")
        for _ in range(64):  # trailers, which nobody waits for
            if self._line(until) == b"\r\n":
                return
        raise Refused(400, "the body has too many trailers")

    def _taken(self, size: int, until: float) -> Iterator[bytes]:
        while size:
            self._raw.allow(min(SILENCE, until - time.monotonic()))
            piece = self._rfile.read1(min(size, 1 << 16))
            if not piece:
                raise ClientGone("the client went away in the middle of its request")
            size -= len(piece)
            yield piece

    def _line(self, until: float) -> bytes:
        self._raw.allow(min(SILENCE, until - time.monotonic()), _LINE)
        try:
            return self._rfile.readline(_LINE)
        except Spent:
            raise Refused(400, "a line between the chunks of the body is too long") from None

    def _length(self) -> int | None:
        codings = self.headers.get_all("transfer-encoding", [])
        lengths = self.headers.get_all("content-length", [])
        if codings:
            if lengths or [coding.strip().lower() for coding in codings] != ["chunked"]:
                raise Refused(400, "the length of the body is said in two ways")
            return None
        if not lengths:
            return 0
        if len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0].strip()):
            raise Refused(400, "the length of the body is no number")
        return int(lengths[0])


_TOO_LARGE = f"a request of a model has at most {MOST_BODY >> 20} MiB"


def _path(target: str) -> str:
    """The path of a target. Raises Refused for one that is not simply here."""
    if not target.startswith("/"):
        raise Refused(400, "this is no proxy for other addresses: a target begins with /")
    if not target.isascii() or not target.isprintable() or set('\\#"<>^`{|} ') & set(target):
        raise Refused(400, "the target holds a character that none may hold")
    path = target.partition("?")[0]
    plain = unquote(unquote(path)).replace("\\", "/")
    if any(part.partition(";")[0] in (".", "..") for part in plain.split("/")):
        raise Refused(400, "the target climbs out of its path")
    return path


def _is_odd(text: str) -> bool:
    return any(sign in text for sign in "\r\n\0")
