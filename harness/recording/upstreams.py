"""The providers behind the proxy: one configured address for each API, and never another.

A request says which API it speaks, by its path and by the headers that Anthropic's clients send;
where it goes was said before. Nothing is redirected, and certificates are verified.
"""

from __future__ import annotations

import base64
import http.client
import re
import socket
from dataclasses import dataclass
from email.message import Message
from functools import cache
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from eventlog.errors import InputRefused
from eventlog.messages import Dialect
from harness.recording.wire import dialect_of

Api = Literal["openai", "anthropic"]

CONNECTING = 15.0
"""Seconds to reach a provider."""

_DIALECTS: dict[Api, tuple[Dialect, ...]] = {
    "openai": ("openai_chat", "openai_responses"),
    "anthropic": ("anthropic",),
}


@dataclass(frozen=True, slots=True)
class Address:
    """An address of HTTP, taken apart."""

    scheme: str
    host: str
    port: int
    path: str
    authority: str
    """Host and port as they were written."""

    @classmethod
    def of(cls, url: str) -> Address:
        """Raises InputRefused for what is no address, and for one that holds a secret."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            host = port = None
        if not host or parts.scheme not in ("http", "https") or not _is_plain(url):
            # What stands before an @ may be a password, however broken the rest is.
            shown = "this" if "@" in url else repr(url.partition("?")[0])
            raise InputRefused(
                f"{shown} is no address of a provider, such as https://api.openai.com/v1"
            )
        if parts.username is not None or parts.password is not None:
            raise InputRefused("the address of a provider holds a name or a password")
        if parts.query or parts.fragment:
            raise InputRefused("the address of a provider ends with its path, no ? and no #")
        port = port or (443 if parts.scheme == "https" else 80)
        return cls(parts.scheme, host, port, parts.path.rstrip("/"), parts.netloc)


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where the requests of one API go."""

    api: Api
    address: Address
    via: str | None = None
    """A proxy of HTTP on the way there."""

    def __post_init__(self) -> None:
        """Raises InputRefused for a proxy that cannot be used."""
        if self.via is not None:
            _proxy(self.via)

    @property
    def url(self) -> str:
        """Its address, for a person."""
        return f"{self.address.scheme}://{self.address.authority}{self.address.path}"

    def target(self, path: str) -> str:
        """What is asked for there. OpenAI's base address ends with its version, Anthropic's does
        not."""
        if self.via is not None and self.address.scheme == "http":
            return self.whole(path)
        return self.address.path + self._below(path) or "/"

    def whole(self, path: str) -> str:
        """The same as a whole address."""
        return self.url + self._below(path)

    def _below(self, path: str) -> str:
        if self.api == "openai" and (path == "/v1" or path.startswith("/v1/")):
            return path[len("/v1") :]
        return path

    def dialect(self, method: str, path: str) -> Dialect | None:
        """In which dialect a request asks a model; None for one that asks none."""
        found = dialect_of(method, path)
        return found if found in _DIALECTS[self.api] else None

    def connect(self) -> socket.socket:
        """A connection to it. Raises OSError, and HTTPException where a proxy refuses."""
        at = self.address
        host, port = at.host, at.port
        headers: dict[str, str] = {}
        if self.via is not None:
            host, port, headers = _proxy(self.via)
        made: http.client.HTTPConnection
        if at.scheme == "https":
            made = http.client.HTTPSConnection(host, port, timeout=CONNECTING, context=_trust())
            if self.via is not None:
                made.set_tunnel(at.host, at.port, headers)
        else:
            made = http.client.HTTPConnection(host, port, timeout=CONNECTING)
        made.connect()
        found: socket.socket = made.sock
        return found

    @property
    def headers(self) -> dict[str, str]:
        """What is sent to it beside the headers of a request."""
        if self.via is None or self.address.scheme != "http":
            return {}
        return _proxy(self.via)[2]


class Upstreams:
    """One for each API."""

    def __init__(self, openai: Upstream, anthropic: Upstream) -> None:
        self.openai, self.anthropic = openai, anthropic

    def of(self, path: str, headers: Message) -> Upstream:
        """The one that a request is for."""
        is_anthropic = _OF_ANTHROPIC.match(path) is not None
        if is_anthropic or any(name in headers for name in ("anthropic-version", "x-api-key")):
            return self.anthropic
        return self.openai


_OF_ANTHROPIC = re.compile(r"/(?:v1/messages|v1/complete|api)(?:/|$)")


def _is_plain(url: str) -> bool:
    return url.isascii() and url.isprintable() and not set(' "<>\\^`{|}') & set(url)


@cache
def _trust() -> Any:
    """Certificates that are trusted: those that the clients of the providers trust too."""
    import httpx2

    return httpx2.create_ssl_context()


def _proxy(url: str) -> tuple[str, int, dict[str, str]]:
    """A proxy's host and port, and what it is to be told. Raises InputRefused for one that
    cannot be used."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme != "http":
        raise InputRefused("the proxy of the environment cannot be used: it is no http:// address")
    headers = {}
    if parts.username is not None:
        secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Proxy-Authorization"] = "Basic " + base64.b64encode(secret.encode()).decode()
    return host, port or 80, headers
