"""A server in this process, and one who asks it."""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from small_log import KEY, said

from cli.report.served_log import ServedLog
from cli.report.server import Server, Shown
from eventlog import StreamKey
from projections import open_log

PATIENCE = 60


class Got(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


class Client:
    """One that knows the address."""

    def __init__(self, url: str) -> None:
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]{32})/", url)
        assert found is not None, url
        self.port, self.token = int(found[1]), found[2]

    def ask(self, path: str, method: str = "GET", **headers: str) -> Got:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as line:
            line.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            answer = line.getresponse()
            return Got(answer.status, dict(answer.getheaders()), answer.read())

    def get(self, name: str, **headers: str) -> Got:
        return self.ask(f"/{self.token}/{name}", **headers)

    def raw(self, request: str) -> bytes:
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as line:
            line.sendall(request.replace("TOKEN", self.token).encode())
            found = b""
            while piece := line.recv(65536):
                found += piece
            return found


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
LONG = "The key of the vault is 8217-4411. " * 20


@contextmanager
def served(db: Path, *keys: StreamKey, **shown: Any) -> Iterator[Client]:
    with (
        open_log(db, read_only=True) as live,
        closing(Server(ServedLog(live, keys), shown=Shown(**shown))) as server,
    ):
        server.start()
        yield Client(server.url)


def append(db: Path, *texts: str) -> None:
    with open_log(db, durability="normal") as live:
        live.append(KEY, *(said("user", text) for text in texts))
