"""The report page over the live log, on this machine alone.

Whoever may read the log gets its address, which holds a random token: other people, and other
programs that run a web page, do not know it. What comes without it is told nothing. A page that
somebody else made cannot ask for ours either: it would have to come under another name (``Host``)
or say where it is from (``Origin``). The server only reads.
"""

from __future__ import annotations

import hmac
import re
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from pydantic import BaseModel

from cli.door import message
from cli.naming import short_names
from cli.prices import Asked
from cli.report.lanes import Wanted
from cli.report.made import Made, Makings
from cli.report.page import page, policy, script_text, style_text
from cli.report.report import Report, report
from cli.report.served_log import ServedLog
from cli.report.served_model import Pulse
from cli.summaries import EXTRACTIVE, Summaries
from eventlog import StreamKey
from eventlog.catching_up import picture
from eventlog.errors import CtxlogError, StreamNotFound
from harness.recording.incoming import Guard, Refused
from harness.recording.listener import Listener, names_of
from projections import open_log

HOST = "127.0.0.1"

CONNECT = "'self'"
"""What the page may ask of a network: its own server."""

SILENCE = 60.0
"""Seconds after which a connection without a request is closed."""

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_NAME = re.compile(r"[a-z]*(?:-[0-9a-f]{1,64})?")
_NUMBER = re.compile(r"[0-9]{1,12}")
_SMALL = 1_000
"""Bytes that are not worth packing."""


class Answer(Exception):
    """What is said to a client, raised from wherever that is known."""

    def __init__(
        self, status: int, body: bytes = b"", kind: str = "application/json", **headers: str
    ) -> None:
        super().__init__(status)
        self.status, self.body, self.kind = status, body, kind
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a session; see ``report``."""

    full: bool = False
    with_secrets: bool = False
    specs: Sequence[str] = ()
    """Strategies that are compared; no model is asked for summaries."""
    prices: Asked | None = None


class Server:
    """Listens from its making on, and answers from ``start`` on."""

    def __init__(self, log: ServedLog, port: int = 0, shown: Shown | None = None) -> None:
        """Raises OSError where it cannot listen."""
        self.log, self.shown = log, shown or Shown()
        self.token = secrets.token_urlsafe(24)
        self.makings = Makings(log.state, self._made)
        self._server = _Listener(self, port)
        self.port = int(self._server.server_port)
        self.guard = Guard(names_of((HOST, "localhost"), self.port), None)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="ctxlog-serve", daemon=True
        )
        self._page = page("ctxlog", [("live", "{}")], connect=CONNECT).encode()

    @property
    def url(self) -> str:
        """Its address, with the token."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    def start(self) -> None:
        """Answer, in threads of its own."""
        self._thread.start()

    def close(self) -> None:
        """Stop; what is being answered ends with the process."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    # -- what is asked for ----------------------------------------------------------------------

    def answer(self, name: str, asked: Mapping[str, str], *, packed: bool) -> Answer:
        """The answer to a request that may ask. Raises Answer where there is none."""
        kind, _, rest = name.partition("-")
        if not name:
            return _packed(self._page, packed, kind="text/html; charset=utf-8")
        if kind == "chunk" and rest:
            chunk = self.makings.chunk(rest)
            if chunk is None:
                raise Answer(404)
            return Answer(200, chunk.encode(), "text/plain")
        if kind in ("session", "compare") and _NUMBER.fullmatch(rest):
            self.log.check()
            made = self.makings.newest(self.log.key(int(rest)))
            if kind == "session":
                return _session(made, asked.get("not", ""), packed)
            return _packed(made.compared.encode() or b"null", packed)
        known: dict[str, Callable[[], BaseModel]] = {
            "head": self.log.head,
            "pulse": lambda: self._pulse(asked.get("session", "")),
            "sessions": lambda: self.log.listed(_number(asked, "skip"), asked.get("find", "")),
        }
        if name not in known:
            raise Answer(404)
        return _packed(known[name]().model_dump_json().encode(), packed)

    def _pulse(self, number: str) -> Pulse:
        """What is new; where the log cannot be read, why. Raises StreamNotFound."""
        try:
            return self.log.pulse(int(number) if _NUMBER.fullmatch(number) else None)
        except StreamNotFound:
            raise
        except (CtxlogError, OSError) as fault:
            return Pulse(fault=message(fault))

    def _made(self, key: StreamKey) -> tuple[str, Report]:
        """Read a session, all of it as it is at one moment."""
        path: Path = self.log.live.log.path
        with open_log(path, read_only=True, create=False) as live, picture(live.log):
            state = ServedLog(live, [key]).state(key)
            names = short_names(live, [str(key)])
            shown, comparing = self.shown, None
            if shown.specs:
                comparing = Wanted(shown.specs, Summaries(live, EXTRACTIVE), shown.prices)
            return state, report(
                live,
                [key],
                names,
                full=shown.full,
                with_secrets=shown.with_secrets,
                comparing=comparing,
            )


class _Listener(Listener):
    def __init__(self, server: Server, port: int) -> None:
        self.server = server
        super().__init__(HOST, port, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke; its client sees it end."""


class _Handler(BaseHTTPRequestHandler):
    """Answers one client."""

    server: Any
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = SILENCE

    def do_GET(self) -> None:
        """Answer."""
        try:
            found = self._answer()
        except Answer as answer:
            found = answer
        except Refused:
            found = Answer(404)
        except StreamNotFound:
            found = Answer(404)
        except Exception as fault:  # of the log, of the system, or ours: the page says so
            found = Answer(503, Pulse(fault=message(fault)).model_dump_json().encode())
        self._send(found)

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET

    def _answer(self) -> Answer:
        own: Server = self.server.server
        own.guard.check(self.headers)
        path, _, query = self.path.partition("?")
        given, slash, name = path.removeprefix("/").partition("/")
        if not hmac.compare_digest(given.encode("latin-1", "replace"), own.token.encode()):
            raise Answer(404)
        if self.command not in ("GET", "HEAD"):
            raise Answer(405, Allow="GET, HEAD")
        if not slash:
            raise Answer(308, Location=f"/{own.token}/")
        if not _NAME.fullmatch(name):
            raise Answer(404)
        asked = {
            key: values[-1] for key, values in parse_qs(query[:2000], max_num_fields=8).items()
        }
        codings = self.headers.get("accept-encoding", "").lower()
        return own.answer(
            name, asked, packed=bool(re.search(r"\bgzip\b(?!;q=0(\.0*)?\b)", codings))
        )

    def _send(self, answer: Answer) -> None:
        self.send_response_only(answer.status)
        headers = dict(_HEADERS)
        if answer.kind.startswith("text/html"):
            own = policy(script_text(), style_text(), CONNECT)
            headers["Content-Security-Policy"] = f"{own}; frame-ancestors 'none'"
        if answer.body:
            headers["Content-Type"] = answer.kind
        if answer.status != 204:
            headers["Content-Length"] = str(len(answer.body))
        if answer.status >= 400:  # a body may follow, which nobody reads
            self.close_connection, headers["Connection"] = True, "close"
        for header, value in {**headers, **answer.headers}.items():
            self.send_header(header, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is no request; nothing is said of why."""
        self.close_connection = True
        self.command = self.command or "GET"
        self._send(Answer(int(code), Connection="close"))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is written of what is asked for."""


def _session(made: Made, known: str, packed: bool) -> Answer:
    """A session; without its data for who has that already."""
    if made.state == known:
        return Answer(204, X_State=made.state)
    if packed:
        return Answer(200, made.packed, Content_Encoding="gzip", X_State=made.state)
    return Answer(200, made.text.encode(), X_State=made.state)


def _packed(body: bytes, packed: bool, kind: str = "application/json") -> Answer:
    if not packed or len(body) < _SMALL:
        return Answer(200, body, kind)
    import gzip

    return Answer(200, gzip.compress(body, 1), kind, Content_Encoding="gzip")


def _number(asked: Mapping[str, str], name: str) -> int:
    found = asked.get(name, "0")
    return int(found) if _NUMBER.fullmatch(found) else 0
