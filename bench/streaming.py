"""What a recorded client adds to the first token of a stream.

A client of OpenAI asks a server on this machine with long histories, directly, recorded, and
recorded without the flush to disk, one after the other in every round; each has a conversation of
its own that grows by two messages a round. The server answers at once, in another process.

The client needs a hundred times as long to write such a request as we to record it, so two of its
calls differ by more than what is added. That is therefore also taken by itself, in the same calls:
the time between what the client hands over and what reaches the network, and back, up to the first
piece of the answer.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from openai import OpenAI

from bench.harness import Row, folder
from bench.proxy import process
from bench.recording import TOOLS, history
from harness import wrap
from harness.recording import Recorder

ROUNDS = {1_000: 40, 10_000: 12}
"""By history: rounds at least."""


class _Model(BaseHTTPRequestHandler):
    """Reads a request and streams a short answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        left = int(self.headers["content-length"])
        while left:
            left -= len(self.rfile.read(min(left, 1 << 20)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in (_event("an "), _event("answer"), _event("", "stop"), b"data: [DONE]\n\n"):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        pass


def _event(text: str, reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": reason}
    chunk = {"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def serve() -> None:
    """A model in a process of its own, as a provider is."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    print(server.server_address[1], flush=True)
    server.serve_forever()


class _Clock:
    """What lies between two places of a client: its own side, and that of the network."""

    def __init__(self) -> None:
        self.wall = self.processor = 0.0

    def begin(self) -> None:
        """The next call."""
        self.wall = self.processor = 0.0

    def at(self, place: str) -> None:
        """The call has come there: in at the front, out at the back, and the same on its way back;
        what passes in between is counted."""
        sign = -1.0 if place in ("front in", "back in") else 1.0
        self.wall += sign * time.perf_counter()
        self.processor += sign * time.thread_time()


class _Timed(httpx2.BaseTransport):
    """A transport that says when a request enters it, and when the answer leaves it."""

    def __init__(self, inner: httpx2.BaseTransport, enters: str, leaves: str, clock: _Clock):
        self._inner, self._enters, self._leaves, self._clock = inner, enters, leaves, clock

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self._clock.at(self._enters)
        response = self._inner.handle_request(request)
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Body(response.stream, lambda: self._clock.at(self._leaves))
        return response

    def close(self) -> None:
        self._inner.close()


class _Body(httpx2.SyncByteStream):
    def __init__(self, inner: httpx2.SyncByteStream, came: Callable[[], None]) -> None:
        self._inner, self._came = inner, came

    def __iter__(self) -> Iterator[bytes]:
        pieces = iter(self._inner)
        for number, piece in enumerate(pieces):
            if not number:
                self._came()
            yield piece

    def close(self) -> None:
        self._inner.close()


class _Spent(NamedTuple):
    whole: float
    """From the call to the first piece in the agent's hands."""
    own: float = 0.0
    """Of that, in our hands."""
    processor: float = 0.0
    """Of the processor, in our hands: that does not grow where other programs run."""


def _asking(client: OpenAI, count: int, recorder: Recorder | None = None) -> Callable[[], _Spent]:
    """The next call of a conversation, which grows with each."""
    said: list[Any] = history(count)
    clock = _Clock()
    if recorder is not None:
        http: Any = client._client
        http._transport = _Timed(http._transport, "back out", "back in", clock)
        wrap(client, recorder)
        http._transport = _Timed(http._transport, "front in", "front out", clock)

    def ask() -> _Spent:
        clock.begin()
        began = time.perf_counter()
        stream = client.chat.completions.create(model="m", messages=said, tools=TOOLS, stream=True)
        pieces = iter(stream)
        first = next(pieces)
        spent = _Spent(time.perf_counter() - began, clock.wall, clock.processor)
        found = [first, *pieces]
        text = "".join(piece.choices[0].delta.content or "" for piece in found)
        assert text == "an answer"
        said.append({"role": "assistant", "content": text})
        said.append({"role": "user", "content": f"question {len(said)}"})
        return spent

    return ask


def _added(count: int, rounds: int, port: int, place: Path) -> list[Row]:
    def client() -> OpenAI:
        return OpenAI(api_key="k", base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)

    recorders = {name: Recorder(place / f"{count}-{name}.db", session="bench") for name in _KINDS}
    log = recorders["without the flush"].live.log
    log.append = partial(log.append, durable=False)  # type: ignore[method-assign]
    asking = {"direct": _asking(client(), count)}
    for name, recorder in recorders.items():
        asking[name] = _asking(client(), count, recorder)
    spent: dict[str, list[_Spent]] = {name: [] for name in asking}
    for number in range(rounds + 2):
        for name, ask in asking.items():
            each = ask()
            if number >= 2:  # the first call reads all of the history
                spent[name].append(each)
    rows = []
    for name, recorder in recorders.items():
        with closing(recorder):
            assert not recorder.missed
        added = [
            (ours.whole - base.whole) * 1e3
            for ours, base in zip(spent[name], spent["direct"], strict=True)
        ]
        own = [each.own * 1e3 for each in spent[name]]
        base = statistics.median(each.whole for each in spent["direct"]) * 1e3
        what = f"the first token after {count:,} messages, {name}"
        aim = _AIMS[count] if name == "without the flush" else None
        rows.append(Row(f"{what}: added by us", statistics.median(own), "ms", aim=aim))
        rows.append(Row(f"{what}: added by us, p99", _p99(own), "ms"))
        worked = statistics.median(each.processor * 1e3 for each in spent[name])
        rows.append(Row(f"{what}: added by us, of the processor", worked, "ms"))
        rows.append(
            Row(f"{what}: more than direct", statistics.median(added), "ms", base, "direct")
        )
    return rows


def _p99(times: list[float]) -> float:
    return sorted(times)[round(0.99 * (len(times) - 1))]


_KINDS = ("recorded", "without the flush")
_AIMS = {1_000: 1.0, 10_000: 3.0}


def run(rounds: int) -> list[Row]:
    own = (sys.executable, "-c", "from bench.streaming import serve; serve()")
    with folder() as place, process(*own) as port:
        return [
            row
            for count, least in ROUNDS.items()
            for row in _added(count, max(least, rounds), port, place)
        ]
