"""What the recording proxy adds to a call, to the first token of a stream, and to eight at once.

Each is measured four ways, one after the other in every round: straight to a server on this
machine, through the proxy with what asks no model (nothing is recorded), through it recorded, and
through one that records without waiting for the disk. The server answers at once, so what is left
is what we add. Connections are kept, as clients keep them.
"""

from __future__ import annotations

import http.client
import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.harness import Row, folder, interleaved, messages

CALLS, STREAMS, EVENTS = 40, 8, 50
HISTORY = 100
"""Messages that each conversation begins with; it grows by two a call."""

_MESSAGE = {"role": "assistant", "content": "an answer"}
_ANSWER = json.dumps(
    {"id": "x", "object": "chat.completion", "model": "m",
     "choices": [{"index": 0, "finish_reason": "stop", "message": _MESSAGE}]}
).encode()  # fmt: skip
_EVENT = b"data: " + json.dumps(
    {"id": "x", "object": "chat.completion.chunk", "model": "m",
     "choices": [{"index": 0, "delta": {"content": "token "}, "finish_reason": None}]}
).encode() + b"\n\n"  # fmt: skip
PAUSE = 0.01
"""Seconds between the events of a stream."""


class _Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        if b'"stream": true' not in asked[-40:]:
            self.send_header("content-length", str(len(_ANSWER)))
            self.end_headers()
            self.wfile.write(_ANSWER)
            return
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in (*([_EVENT] * EVENTS), b"data: [DONE]\n\n"):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            time.sleep(PAUSE)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        pass


def serve() -> None:
    """A model in a process of its own, as a provider is."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    print(server.server_address[1], flush=True)
    server.serve_forever()


def unflushed() -> None:
    """The proxy, but no append waits for the disk."""
    from cli.main import run as main
    from eventlog.log import EventLog

    append = EventLog.append

    def appended(self: EventLog, *given: Any, **named: Any) -> Any:
        return append(self, *given, **{**named, "durable": False})

    EventLog.append = appended  # type: ignore[method-assign]
    main()


@contextmanager
def process(*command: str) -> Iterator[int]:
    """A process whose first line ends with its port."""
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        yield int(running.stdout.readline().split(" -> ")[0].rpartition(":")[2])
    finally:
        running.terminate()
        running.wait()


class _Conversation:
    """Requests of one conversation, each with the answer to the last and a question more."""

    def __init__(self, number: int, said: str, **fields: bool) -> None:
        self._messages, self._said, self._fields = messages(HISTORY, number), said, fields

    def next(self) -> bytes:
        """The body of the next."""
        body = json.dumps({"model": "m", "messages": self._messages, **self._fields}).encode()
        question = {"role": "user", "content": f"question {len(self._messages)}"}
        self._messages += [{"role": "assistant", "content": self._said}, question]
        return body


def _calls(port: int, path: str) -> Callable[[], float]:
    talk = _Conversation(1, "an answer")
    connection = http.client.HTTPConnection("127.0.0.1", port)

    def run() -> float:
        times = []
        for _ in range(CALLS):
            body = talk.next()
            began = time.perf_counter()
            connection.request("POST", path, body)
            connection.getresponse().read()
            times.append(time.perf_counter() - began)
        return statistics.median(times)

    return run


def _first(port: int, path: str) -> Callable[[], float]:
    talk = _Conversation(2, "token " * EVENTS, stream=True)
    connection = http.client.HTTPConnection("127.0.0.1", port)

    def run() -> float:
        times = []
        for _ in range(5):
            body = talk.next()
            began = time.perf_counter()
            connection.request("POST", path, body)
            response = connection.getresponse()
            response.read1(10)
            times.append(time.perf_counter() - began)
            response.read()
        return statistics.median(times)

    return run


def _parallel(port: int, path: str) -> Callable[[], None]:
    talks = [_Conversation(3 + n, "token " * EVENTS, stream=True) for n in range(STREAMS)]

    def ask(number: int) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
            name = {"X-Ctxlog-Session": f"stream-{number}"}
            connection.request("POST", path, talks[number].next(), name)
            connection.getresponse().read()

    def run() -> None:
        threads = [threading.Thread(target=ask, args=(n,)) for n in range(STREAMS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return run


_AIMS = {"a call through the proxy": 0.6, "the first token through it": 1.4}


def run(rounds: int) -> list[Row]:
    def proxy(*command: str, db: Path, model: int) -> AbstractContextManager[int]:
        to = ("--upstream", f"http://127.0.0.1:{model}/v1", "--db", str(db))
        return process(sys.executable, *command, "proxy", "-q", *to)

    def code(name: str) -> tuple[str, str]:
        return "-c", f"from bench.proxy import {name}; {name}()"

    with (
        folder() as place,
        process(sys.executable, *code("serve")) as model,
        proxy("-m", "cli.main", db=place / "log.db", model=model) as flushed,
        proxy(*code("unflushed"), db=place / "other.db", model=model) as unflushed,
    ):
        ways = {
            "direct": (model, "/v1/chat/completions"),
            "nothing recorded": (flushed, "/v1/embeddings"),
            "recorded": (flushed, "/v1/chat/completions"),
            "recorded without the flush": (unflushed, "/v1/chat/completions"),
        }
        rows = []
        measured: list[tuple[str, Callable[[int, str], Callable[[], float | None]]]] = [
            ("a call through the proxy", _calls),
            ("the first token through it", _first),
            (f"{STREAMS} streams at once through it", _parallel),
        ]
        for name, made in measured:
            times = interleaved({way: made(*to) for way, to in ways.items()}, rounds)
            base = statistics.median(times["direct"]) * 1e3
            for way in list(ways)[1:]:
                added = [a - b for a, b in zip(times[way], times["direct"], strict=True)]
                aim = None if way == "recorded" else _AIMS.get(name)
                value = statistics.median(added) * 1e3
                rows.append(Row(f"added to {name}, {way}", value, "ms", base, "direct", aim=aim))
    return rows
