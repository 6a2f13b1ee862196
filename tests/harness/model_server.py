"""An OpenAI-compatible server on loopback, whose answers a test decides."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from openai import OpenAI

from harness.endpoint import Endpoint


@dataclass(frozen=True)
class Sse:
    """A stream of server-sent events; a number among them is a pause in seconds."""

    events: tuple[Any, ...]
    done: bool = True
    """Whether it ends with ``[DONE]``."""
    named: bool = False
    """Whether each event has a name, its type."""
    status: int = 200

    def pieces(self) -> Iterator[bytes | float]:
        for event in self.events:
            if isinstance(event, float):
                yield event
                continue
            name = f"event: {event['type']}\n" if self.named else ""
            yield f"{name}data: {json.dumps(event)}\n\n".encode()
        if self.done:
            yield b"data: [DONE]\n\n"


Answer = dict[str, Any] | tuple[int, Any] | bytes | Sse | Callable[[BaseHTTPRequestHandler], None]
"""A chat completion, a status with a body, bytes that are sent as they are, a
stream, or what sends it."""


def completion(text: str | None = "a summary", *, finish: str = "stop", **message: Any) -> Any:
    """A chat completion as a server gives it."""
    said = {"role": "assistant", "content": text, **message}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m-2026",
        "choices": [{"index": 0, "finish_reason": finish, "message": said}],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 40},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
    }


def chunk(**delta: Any) -> dict[str, Any]:
    """A piece of a streamed completion: what is new in its first choice."""
    finish = delta.pop("finish", None)
    index = delta.pop("choice", 0)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m-2026",
        "choices": [{"index": index, "delta": delta, "finish_reason": finish}],
    }


class ModelServer(ThreadingHTTPServer):
    """Keeps the requests that it was sent."""

    request_queue_size = 128

    def __init__(
        self,
        answer: Callable[[dict[str, Any]], Answer],
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.headers = headers or {}
        self.requests: list[dict[str, Any]] = []
        self.bodies: list[bytes] = []
        self.keys: list[str] = []
        self.received: list[Mapping[str, str]] = []
        """The headers of each request."""
        self.seen: list[tuple[str, str, Message]] = []
        """Method, path and headers of each request."""
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        """The base address of the API."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def client(self, **settings: Any) -> OpenAI:
        """The real client, without retries unless a test wants them."""
        return OpenAI(
            **{"api_key": "sk-test-1234567", "max_retries": 0, **settings}, base_url=self.url
        )

    def endpoint(self, **settings: Any) -> Endpoint:
        """A model here."""
        return Endpoint(self.client(), "m", **settings)


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        request = json.loads(body)
        with self.server.lock:
            self.server.seen.append((self.command, self.path, self.headers))
            self.server.requests.append(request)
            self.server.bodies.append(body)
            self.server.keys.append(self.headers.get("authorization", ""))
            self.server.received.append({k.lower(): v for k, v in self.headers.items()})
        answer = self.server.answer(request)
        if isinstance(answer, Sse):
            self._stream(answer)
            return
        if callable(answer):
            with contextlib.suppress(ConnectionError):
                answer(self)
            return
        status, content = answer if isinstance(answer, tuple) else (200, answer)
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for header in {"content-type": "application/json", **self.server.headers}.items():
            self.send_header(*header)
        self.send_header("connection", "close")  # a test need not close its client
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(data)

    def _stream(self, answer: Sse) -> None:
        self.send_response(answer.status)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            for piece in answer.pieces():
                if isinstance(piece, float):
                    time.sleep(piece)
                else:
                    self.wfile.write(piece)
                    self.wfile.flush()
        self.close_connection = True

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.seen.append((self.command, self.path, self.headers))
        data = b'{"object": "list", "data": []}'
        self.send_response(200)
        self.send_header("connection", "close")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr."""


@contextlib.contextmanager
def serving(
    answer: Callable[[dict[str, Any]], Answer] = lambda request: completion(),
    headers: Mapping[str, str] | None = None,
) -> Iterator[ModelServer]:
    """A server for as long as the block lasts."""
    server = ModelServer(answer, headers)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def chunks(text: str = "a summary", size: int = 3) -> list[bytes]:
    """The events of a streamed chat completion."""
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    deltas: list[dict[str, Any]] = [{"role": "assistant"}, *({"content": part} for part in parts)]
    found = [_chunk({"index": 0, "delta": delta, "finish_reason": None}) for delta in deltas]
    found.append(_chunk({"index": 0, "delta": {}, "finish_reason": "stop"}))
    return [*found, b"data: [DONE]\n\n"]


def _chunk(choice: dict[str, Any]) -> bytes:
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m-2026",
        "choices": [choice],
    }
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def streamed(
    events: Iterable[bytes], headers: Mapping[str, str] | None = None, *, is_whole: bool = True
) -> Callable[[BaseHTTPRequestHandler], None]:
    """An answer that is sent event by event, as they come; one that is not whole breaks off."""

    def send(to: BaseHTTPRequestHandler) -> None:
        to.send_response(200)
        for header in {"content-type": "text/event-stream", **(headers or {})}.items():
            to.send_header(*header)
        to.send_header("transfer-encoding", "chunked")
        to.end_headers()
        for event in events:
            to.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        if is_whole:
            to.wfile.write(b"0\r\n\r\n")
        else:
            to.close_connection = True

    return send


def nowhere() -> str:
    """The address of a server that there is not."""
    server = ModelServer(lambda request: {})
    server.server_close()
    return server.url
