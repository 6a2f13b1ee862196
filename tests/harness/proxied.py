"""A proxy in front of a server on loopback, and what it wrote into its log."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_server import ModelServer
from openai import OpenAI

from eventlog.events import MessageAppended, ModelCalled, ModelFailed, ModelResponded
from eventlog.integrity import verify
from harness.recording import Recorder
from harness.recording.proxy import Proxy
from harness.recording.upstreams import Address, Upstream, Upstreams
from projections import open_log
from projections.audit.auditing import audit


@dataclass
class Proxied:
    """A proxy, and the file that it records into."""

    proxy: Proxy
    db: Path
    clients: contextlib.ExitStack

    def client(self, **settings: Any) -> OpenAI:
        """The real client, without retries unless a test wants them."""
        given = {"api_key": "sk-test-1234567", "max_retries": 0, **settings}
        return self.clients.enter_context(OpenAI(**given, base_url=self.proxy.openai_url))

    def raw(self, data: bytes, timeout: float = 5) -> bytes:
        """What comes back for these bytes, until the connection ends or is silent for long."""
        with socket.create_connection((self.proxy.host, self.proxy.port), timeout) as sock:
            sock.sendall(data)
            return received(sock)

    @property
    def host(self) -> str:
        """As it stands in a request."""
        return f"{self.proxy.host}:{self.proxy.port}"


def received(sock: socket.socket) -> bytes:
    """Everything until the end of a connection."""
    found = b""
    while True:
        piece = sock.recv(1 << 16)
        if not piece:
            return found
        found += piece


@contextlib.contextmanager
def proxied(
    server: ModelServer | str, folder: Path, session: str | None = None, **settings: Any
) -> Iterator[Proxied]:
    """In front of a server, or of an address."""
    url = server if isinstance(server, str) else server.url
    db = folder / "proxy.db"
    upstreams = Upstreams(
        Upstream("openai", Address.of(url)),
        Upstream("anthropic", Address.of(url.removesuffix("/v1"))),
    )
    with (
        contextlib.closing(Recorder(db, session=session)) as recorder,
        Proxy(recorder, upstreams, **settings) as proxy,
        contextlib.ExitStack() as clients,
    ):
        yield Proxied(proxy, db, clients)


def wait_for(condition: Any) -> None:
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


@dataclass
class Recorded:
    """What a log says of its calls."""

    sessions: list[str]
    verdicts: list[str]
    answers: list[Any]
    failures: list[ModelFailed]
    open: int
    """Calls without an end."""


def recorded(db: Path) -> Recorded:
    """All calls of a log, which verifies."""
    found = Recorded([], [], [], [], 0)
    with open_log(db) as live:
        assert verify(live.log).problems == ()
        for stream in live.log.streams():
            found.sessions.append(stream.key.session)
            found.verdicts += [row.verdict for row in audit(live, stream.key).calls]
            events = [each.event for each in live.log.read(stream.key)]
            found.answers += [
                e.message.value
                for e in events
                if isinstance(e, MessageAppended) and e.source == "model" and e.call
            ]
            found.failures += [e for e in events if isinstance(e, ModelFailed)]
            called = sum(isinstance(e, ModelCalled) for e in events)
            ended = sum(isinstance(e, ModelResponded | ModelFailed) for e in events)
            found.open += called - ended
    return found
