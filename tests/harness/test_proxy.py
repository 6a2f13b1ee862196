"""The recording proxy: what passes is what was sent, and what asks a model is recorded."""

from __future__ import annotations

import gzip
import json
import select
import socket
import ssl
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email.message import Message
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from shutil import which
from typing import Any

import brotli
import httpx2
import openai
import pytest
import zstandard
from model_server import ModelServer, chunks, completion, nowhere, serving, streamed
from proxied import Proxied, proxied, received, recorded, wait_for

from eventlog.errors import InputRefused
from harness.recording import Recorder, passed, upstreams
from harness.recording.passing import EndOfStream
from harness.recording.upstreams import Address, Upstream

ASK: Any = [{"role": "user", "content": "hello"}]
BODY = json.dumps({"model": "m", "messages": ASK}).encode()


def request(
    to: Proxied, body: bytes = BODY, *headers: str, path: str = "/v1/chat/completions"
) -> bytes:
    lines = [f"POST {path} HTTP/1.1", f"Host: {to.host}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


class TestPassing:
    """An agent that behaves otherwise behind the proxy is not the one that was to be recorded."""

    def test_a_conversation_is_recorded_exactly(self, tmp_path: Path) -> None:
        with serving() as server, proxied(server, tmp_path) as to:
            messages = list(ASK)
            for number in range(5):
                answer = to.client().chat.completions.create(model="m", messages=messages)
                messages.append(answer.choices[0].message.model_dump())
                messages.append({"role": "user", "content": f"go on {number}"})
            tally = to.proxy.tally
        assert (tally.calls, len(tally.sessions), tally.failed, tally.missed) == (5, 1, 0, 0)
        found = recorded(to.db)
        assert found.verdicts == ["exact"] * 5
        assert len(found.sessions) == 1

    def test_bodies_headers_and_errors_pass_as_they_are(self, tmp_path: Path) -> None:
        error = {"error": {"message": "slow down", "type": "rate_limit_error", "code": "x"}}
        with (
            serving(lambda _: (429, error), {"x-request-id": "r-1", "retry-after": "7"}) as server,
            proxied(server, tmp_path) as to,
        ):
            odd = b'{ "model":"m",\n "messages" : [ {"role":"user","content":"h\\u0065llo"} ] }'
            direct = httpx2.post(f"{server.url}/chat/completions", content=odd)
            through = httpx2.post(f"{to.proxy.openai_url}/chat/completions?a=b%20c", content=odd)
            assert server.bodies == [odd, odd]
            assert server.seen[1][1] == "/v1/chat/completions?a=b%20c"
        assert (through.status_code, through.content) == (429, direct.content)
        own = {"date", "server", "connection"}
        assert [h for h in through.headers.items() if h[0] not in own] == [
            h for h in direct.headers.items() if h[0] not in own
        ]
        (failure,) = recorded(to.db).failures
        assert (failure.status, failure.error) == (429, "rate_limit_error: slow down")

    def test_what_asks_no_model_passes_unrecorded(self, tmp_path: Path) -> None:
        with serving() as server, proxied(server, tmp_path) as to:
            assert httpx2.get(f"{to.proxy.openai_url}/models").json()["object"] == "list"
            assert httpx2.head(f"{to.proxy.openai_url}/models").headers["content-length"] == "30"
            for path in ("/embeddings", "/threads/t1/messages"):
                sent = httpx2.post(f"{to.proxy.openai_url}{path}", json={"input": "x"})
                assert sent.status_code == 200
            assert [seen[1] for seen in server.seen][:2] == ["/v1/models"] * 2
            assert to.proxy.tally.calls == 0
        assert recorded(to.db).sessions == []

    def test_each_api_goes_to_its_own_provider(self, tmp_path: Path) -> None:
        reply = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content":
            [{"type": "text", "text": "hi"}], "stop_reason": "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 3, "output_tokens": 2},
        }  # fmt: skip
        with serving(lambda _: reply) as server, proxied(server, tmp_path) as to:
            body = {"model": "claude", "max_tokens": 9, "messages": ASK}
            headers = {"x-api-key": "sk-ant-1", "anthropic-version": "2023-06-01"}
            url = f"{to.proxy.anthropic_url}/v1/messages?beta=true"
            assert httpx2.post(url, json=body, headers=headers).json() == reply
            count = f"{to.proxy.anthropic_url}/v1/messages/count_tokens"
            assert httpx2.post(count, json=body, headers=headers).status_code == 200
            of = to.proxy.upstreams.of
            for path, api in (
                ("/v1/messages", "anthropic"), ("/api/hello", "anthropic"),
                ("/v1/models", "openai"), ("/v1/responses", "openai"),
                ("/chat/completions", "openai"), ("/v1/messagesx", "openai"),
            ):  # fmt: skip
                assert of(path, Message()).api == api
            assert to.proxy.tally.calls == 1
        found = recorded(to.db)
        assert found.verdicts == ["exact"]
        assert found.answers[0]["content"] == reply["content"]

    def test_a_base_address_without_a_version_keeps_its_path(self, tmp_path: Path) -> None:
        with serving() as server, proxied(server.url + "/team", tmp_path) as to:
            to.client().chat.completions.create(model="m", messages=ASK)
            assert server.seen[0][1] == "/v1/team/chat/completions"
            assert server.seen[0][2]["host"] == server.url.split("/")[2]

    def test_connections_are_kept_on_both_sides(self, tmp_path: Path) -> None:
        ports: list[int] = []
        with serving(lambda _: watch) as server, proxied(server, tmp_path) as to:

            def watch(handler: BaseHTTPRequestHandler) -> None:
                ports.append(handler.client_address[1])
                streamed([json.dumps(completion()).encode()])(handler)

            client = to.client()
            for _ in range(3):
                client.chat.completions.create(model="m", messages=ASK)
        assert len(set(ports)) == 1

    @pytest.mark.parametrize("coding", ["gzip", "deflate", "raw deflate", "br", "zstd", "identity"])
    @pytest.mark.parametrize("is_stream", [True, False])
    def test_compression_passes_as_it_is_and_is_read_for_the_record(
        self, coding: str, is_stream: bool, tmp_path: Path
    ) -> None:
        events = chunks("squeezed") if is_stream else [json.dumps(completion("squeezed")).encode()]
        sent = list(squeezed(events, coding))
        headers = {"content-encoding": coding.removeprefix("raw ")}
        if not is_stream:
            headers["content-type"] = "application/json"
        with (
            serving(lambda _: streamed(sent, headers)) as server,
            proxied(server, tmp_path) as to,
            httpx2.stream("POST", f"{to.proxy.openai_url}/chat/completions", content=BODY) as got,
        ):
            assert b"".join(got.iter_raw()) == b"".join(sent)
        found = recorded(to.db)
        assert found.answers[0]["content"] == "squeezed"
        assert found.verdicts == ["exact"]

    def test_a_model_is_never_asked_for_what_cannot_be_read(self, tmp_path: Path) -> None:
        with serving() as server, proxied(server, tmp_path) as to:
            headers = {"accept-encoding": "gzip, deflate, x-secret;q=0.5"}
            for path in ("chat/completions", "embeddings"):
                httpx2.post(f"{to.proxy.openai_url}/{path}", content=BODY, headers=headers)
            asked = [seen[2]["accept-encoding"] for seen in server.seen]
        assert asked == ["gzip, deflate", headers["accept-encoding"]]

    def test_nor_for_brotli_and_zstd_where_their_libraries_are_missing(
        self, tmp_path: Path, without_libraries: None
    ) -> None:
        sent = brotli.compress(json.dumps(completion()).encode())
        with (
            serving(lambda _: sent, {"content-encoding": "br"}) as server,
            proxied(server, tmp_path) as to,
            httpx2.stream(
                "POST",
                f"{to.proxy.openai_url}/chat/completions",
                content=BODY,
                headers={"accept-encoding": "br, zstd, gzip"},
            ) as got,
        ):
            assert b"".join(got.iter_raw()) == sent, "a server that sends it all the same"
            assert server.seen[0][2]["accept-encoding"] == "gzip"
        (failure,) = recorded(to.db).failures
        assert "the coding 'br', which cannot be undone here" in failure.error

    @pytest.mark.parametrize(
        ("coding", "pack"),
        [("gzip", gzip.compress), ("br", brotli.compress), ("zstd", zstandard.compress)],
    )
    def test_an_answer_that_unpacks_to_too_much_passes_and_is_told(
        self, coding: str, pack: Callable[[bytes], bytes], tmp_path: Path
    ) -> None:
        bomb = pack(b"\0" * (80 << 20))
        with (
            serving(lambda _: bomb, {"content-encoding": coding}) as server,
            proxied(server, tmp_path) as to,
            httpx2.stream("POST", f"{to.proxy.openai_url}/chat/completions", content=BODY) as got,
        ):
            assert b"".join(got.iter_raw()) == bomb
        (failure,) = recorded(to.db).failures
        assert "more than is kept" in failure.error

    def test_of_an_answer_that_is_too_long_nothing_is_kept(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(passed, "MOST_BYTES", 100_000)
        with (
            serving(lambda _: streamed([b"no event " * 1000] * 100)) as server,
            proxied(server, tmp_path) as to,
            httpx2.stream("POST", f"{to.proxy.openai_url}/chat/completions", content=BODY) as got,
        ):
            assert len(got.read()) == 900_000
        (failure,) = recorded(to.db).failures
        assert "more than is kept" in failure.error
        assert failure.detail is None

    def test_a_squeezed_request_is_recorded_as_what_it_says(self, tmp_path: Path) -> None:
        with Raw() as server, proxied(server.url, tmp_path) as to:
            squeezed_body = gzip.compress(BODY)
            sent = httpx2.post(
                f"{to.proxy.openai_url}/chat/completions",
                content=squeezed_body,
                headers={"content-encoding": "gzip"},
            )
            assert sent.status_code == 200
            assert server.bodies == [squeezed_body]
            assert to.proxy.tally.missed == 0
        assert recorded(to.db).verdicts == ["exact"]

    def test_a_body_that_no_log_can_hold_passes_and_is_counted(self, tmp_path: Path) -> None:
        with Raw() as server, proxied(server.url, tmp_path) as to:
            url = f"{to.proxy.openai_url}/chat/completions"
            with pytest.warns(RuntimeWarning, match="not recorded"):
                sent = httpx2.post(url, content=b"no json")
            assert sent.status_code == 200
            assert server.bodies == [b"no json"]
            assert (to.proxy.tally.calls, to.proxy.tally.missed) == (1, 1)


def squeezed(events: list[bytes], coding: str) -> Iterator[bytes]:
    """Pieces of which each can be read when it comes."""
    match coding:
        case "identity":
            yield from events
        case "br":
            brotli_packer = brotli.Compressor()
            for event in events:
                yield brotli_packer.process(event) + brotli_packer.flush()
            yield brotli_packer.finish()
        case "zstd":
            yield zstandard.compress(events[0])  # a frame of its own
            frame = zstandard.ZstdCompressor().compressobj()
            for event in events[1:]:
                yield frame.compress(event) + frame.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
            yield frame.flush()
        case _:
            wbits = {"gzip": 31, "deflate": 15, "raw deflate": -15}[coding]
            packer = zlib.compressobj(wbits=wbits)
            for event in events:
                yield packer.compress(event) + packer.flush(zlib.Z_SYNC_FLUSH)
            yield packer.flush()


class Raw:
    """A server that takes any body."""

    def __enter__(self) -> Any:
        self.bodies: list[bytes] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.bodies.append(self.rfile.read(int(self.headers["content-length"])))
                data = json.dumps(completion()).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ModelServer(lambda _: {})
        self.server.RequestHandlerClass = Handler
        self.url = self.server.url
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.shutdown()
        self.server.server_close()


class TestStreams:
    """A token that waits for the next one is what people feel first."""

    def test_the_first_piece_comes_before_the_last_is_sent(self, tmp_path: Path) -> None:
        seen = threading.Event()

        def events() -> Iterator[bytes]:
            first, *rest = chunks()
            yield first
            assert seen.wait(10)
            yield from rest

        with serving(lambda _: streamed(events())) as server, proxied(server, tmp_path) as to:
            stream = to.client().chat.completions.create(model="m", messages=ASK, stream=True)
            next(stream)
            seen.set()
            assert "".join(c.choices[0].delta.content or "" for c in stream) == "a summary"
        assert recorded(to.db).answers[0]["content"] == "a summary"

    def test_eight_at_once_are_kept_apart(self, tmp_path: Path) -> None:
        barrier = threading.Barrier(8, timeout=10)

        def answer(asked: dict[str, Any]) -> Any:
            barrier.wait()
            return streamed(chunks("said to " + asked["messages"][0]["content"]))

        with serving(answer) as server, proxied(server, tmp_path) as to:
            got: dict[str, str] = {}

            def ask(name: str) -> None:
                messages: Any = [{"role": "user", "content": name}]
                stream = to.client().chat.completions.create(
                    model="m", messages=messages, stream=True,
                    extra_headers={"X-Ctxlog-Session": name},
                )  # fmt: skip
                got[name] = "".join(c.choices[0].delta.content or "" for c in stream)

            threads = [threading.Thread(target=ask, args=(f"agent-{n}",)) for n in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            names = {f"agent-{n}" for n in range(8)}
            assert got == {name: f"said to {name}" for name in names}
            assert all("x-ctxlog-session" not in seen[2] for seen in server.seen)
        found = recorded(to.db)
        assert set(found.sessions) == names
        assert found.verdicts == ["exact"] * 8

    def test_the_end_is_recorded_before_the_client_can_know_it(self, tmp_path: Path) -> None:
        """Else its next request, on another connection, would find the call open and fork."""
        with serving(lambda _: streamed(chunks())) as server, proxied(server, tmp_path) as to:
            messages = list(ASK)
            for number in range(12):
                sent = json.dumps({"model": "m", "messages": messages, "stream": True}).encode()
                with socket.create_connection((to.proxy.host, to.proxy.port), 5) as sock:
                    sock.sendall(request(to, sent))
                    got = b""
                    while b"data: [DONE]" not in got:
                        got += sock.recv(1 << 16)
                    messages.append({"role": "assistant", "content": "a summary"})
                    messages.append({"role": "user", "content": f"go on {number}"})
            assert len(to.proxy.tally.sessions) == 1
        assert recorded(to.db).verdicts == ["exact"] * 12

    @pytest.mark.parametrize("size", [1, 3, 40, 5000])
    def test_the_last_event_is_found_wherever_it_is_cut(self, size: int) -> None:
        long = json.dumps({"type": "response.completed", "response": "x" * 3000}).encode()
        for ends, last in (
            (True, b"data: [DONE]\n\n"),
            (True, b"event: message_stop\ndata: {}\n\n"),
            (True, b"event: response.completed\r\ndata: " + long + b"\r\n\r\n"),
            (False, b'data: {"x": "event: message_stop\\n\\n"}\n\n'),
            (False, b"event: message_stop\ndata: {}\n"),
            (False, b"event: message_delta\ndata: {}\n\n"),
        ):
            text = b"event: ping\ndata: {}\n\n" + last
            end = EndOfStream()
            found = [end.take(text[at : at + size]) for at in range(0, len(text), size)]
            assert found[-1] is ends, last
            assert not any(found[:-1])


@contextmanager
def spoken(answer: bytes) -> Iterator[str]:
    """The address of a server that says these bytes to one request."""

    def serve() -> None:
        with suppress(OSError):
            sock, _ = listener.accept()
            with sock:
                sock.recv(1 << 16)
                sock.sendall(answer)
                sock.shutdown(socket.SHUT_WR)
                sock.recv(1 << 16)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        thread.join(60)


class TestBreakingOff:
    """A call that ended badly is recorded as one, and the other side learns of it."""

    def test_a_client_that_goes_away_ends_the_call(self, tmp_path: Path) -> None:
        waiting = threading.Event()

        def events() -> Iterator[bytes]:
            yield from chunks()[:2]
            waiting.wait(10)
            yield from [b": nobody reads this\n\n"] * 1000

        with serving(lambda _: streamed(events())) as server, proxied(server, tmp_path) as to:
            stream = to.client().chat.completions.create(model="m", messages=ASK, stream=True)
            next(stream)
            stream.close()
            wait_for(lambda: to.proxy.tally.failed)
            waiting.set()
        (failure,) = recorded(to.db).failures
        assert "went away" in failure.error
        assert failure.detail is not None  # what had come until then

    def test_a_client_that_does_not_wait_for_the_first_byte(self, tmp_path: Path) -> None:
        waiting = threading.Event()

        def slow(asked: Any) -> Any:
            waiting.wait(10)
            return completion()

        with serving(slow) as server, proxied(server, tmp_path) as to:
            with pytest.raises(openai.APITimeoutError):
                to.client(timeout=0.2).chat.completions.create(model="m", messages=ASK)
            wait_for(lambda: to.proxy.tally.failed)
            waiting.set()
        assert "the client went away" in recorded(to.db).failures[0].error

    def test_a_retry_after_it_goes_on_in_the_same_session(self, tmp_path: Path) -> None:
        waiting, count = threading.Event(), []

        def slow_once(asked: Any) -> Any:
            count.append(1)
            if len(count) == 1:
                waiting.wait(10)
            return completion()

        with serving(slow_once) as server, proxied(server, tmp_path) as to:
            to.client(timeout=0.3, max_retries=2).chat.completions.create(model="m", messages=ASK)
            waiting.set()
            assert len(to.proxy.tally.sessions) == 1
        found = recorded(to.db)
        assert (len(found.failures), len(found.answers)) == (1, 1)

    @pytest.mark.parametrize("cut", ["in a stream", "in a body", "before the first byte"])
    def test_a_provider_that_breaks_off(self, cut: str, tmp_path: Path) -> None:
        def send(to: BaseHTTPRequestHandler) -> None:
            if cut == "in a stream":
                streamed(chunks()[:3], is_whole=False)(to)
            elif cut == "in a body":
                to.send_response(200)
                to.send_header("content-length", "9999")
                to.end_headers()
                to.wfile.write(b'{"id": "half')
            to.close_connection = True

        with serving(lambda _: send) as server, proxied(server, tmp_path) as to:
            client = to.client()
            if cut == "before the first byte":
                with pytest.raises(openai.InternalServerError, match="no answer from"):
                    client.chat.completions.create(model="m", messages=ASK)
            else:
                answer = to.raw(request(to))
                assert status(answer) == 200
                assert not answer.endswith(b"0\r\n\r\n")
                assert b"half" in answer or b"delta" in answer
            assert to.proxy.tally.failed == 1
        found = recorded(to.db)
        assert found.open == 0
        assert len(found.failures) == 1

    @pytest.mark.parametrize(
        ("head", "why"),
        [
            (b"Content-Length: 2\r\nContent-Length: 3", "said in two ways"),
            (b"Content-Length: -2", "no number"),
            (b"Content-Length: 1_0", "no number"),
            (b"X-A: b\rSet-Cookie: c=d\r\nContent-Length: 2", "header"),
            (b"X-A: b\0\r\nContent-Length: 2", "header"),
            (b"no header\r\nContent-Length: 2", "header"),
            (b"Transfer-Encoding: gzip, chunked", "transfer coding"),
        ],
    )
    def test_an_answer_that_could_be_read_in_two_ways(
        self, head: bytes, why: str, tmp_path: Path
    ) -> None:
        with (
            spoken(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n{}") as url,
            proxied(url, tmp_path) as to,
        ):
            answer = to.raw(request(to))
        assert status(answer) == 502
        assert b"set-cookie" not in answer.lower()
        assert why in recorded(to.db).failures[0].error

    def test_what_is_told_before_an_answer_is_no_answer(self, tmp_path: Path) -> None:
        data = json.dumps(completion("ok")).encode()
        early = b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        with spoken(early + head % len(data) + data) as url, proxied(url, tmp_path) as to:
            answer = httpx2.post(f"{to.proxy.openai_url}/chat/completions", content=BODY)
        assert answer.status_code == 200
        assert "link" not in answer.headers
        assert [a["content"] for a in recorded(to.db).answers] == ["ok"]

    @pytest.mark.parametrize("api", ["openai", "anthropic"])
    def test_a_provider_that_is_not_there(self, api: str, tmp_path: Path) -> None:
        with proxied(nowhere(), tmp_path) as to:
            path = "/v1/chat/completions" if api == "openai" else "/v1/messages"
            answer = httpx2.post(f"{to.proxy.url}{path}", content=BODY)
        assert answer.status_code == 502
        error = answer.json()["error"]
        assert error["type"] == "api_error"
        assert "Connection refused" in error["message"]
        assert (answer.json().get("type") == "error") is (api == "anthropic")
        assert "ConnectionRefused" in recorded(to.db).failures[0].error

    def test_no_redirect_is_followed(self, tmp_path: Path) -> None:
        def away(to: BaseHTTPRequestHandler) -> None:
            to.send_response(307)
            to.send_header("location", "http://127.0.0.1:1/steal")
            to.send_header("content-length", "0")
            to.end_headers()

        with serving(lambda _: away) as server, proxied(server, tmp_path) as to:
            answer = httpx2.post(f"{to.proxy.openai_url}/chat/completions", content=BODY)
            assert answer.status_code == 307
            assert len(server.seen) == 1

    def test_a_proxy_that_is_closed_ends_the_calls_on_their_way(self, tmp_path: Path) -> None:
        waiting = threading.Event()

        def slow(asked: Any) -> Any:
            waiting.wait(20)
            return completion()

        with serving(slow) as server:
            with proxied(server, tmp_path) as to:
                sock = socket.create_connection((to.proxy.host, to.proxy.port), 5)
                sock.sendall(request(to))
                wait_for(lambda: server.requests)
            waiting.set()
            sock.close()
        assert "the proxy was stopped" in recorded(to.db).failures[0].error

    def test_a_call_that_is_being_recorded_then_gets_its_end(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An agent that is killed leaves one behind: its disk may be slow."""
        begun, begin = threading.Event(), Recorder.begin

        def slow(recorder: Recorder, *given: Any, **named: Any) -> Any:
            call = begin(recorder, *given, **named)
            begun.set()
            wait_for(lambda: to.proxy.is_stopping)
            time.sleep(0.3)
            return call

        monkeypatch.setattr(Recorder, "begin", slow)
        with (
            serving() as server,
            proxied(server, tmp_path) as to,
            socket.create_connection((to.proxy.host, to.proxy.port), 5) as sock,
        ):
            sock.sendall(request(to))
            assert begun.wait(60)
        found = recorded(to.db)
        assert found.open == 0
        assert len(found.verdicts) == 1

    def test_nothing_goes_through_one_that_is_being_closed(self, tmp_path: Path) -> None:
        with serving() as server, proxied(server, tmp_path) as to:
            to.proxy.is_stopping = True
            assert status(to.raw(request(to))) == 503
            assert server.seen == []


class TestKeys:
    """A key in a log is a key in every copy of it."""

    def test_neither_keys_nor_cookies_are_in_the_files(self, tmp_path: Path) -> None:
        headers = {
            "authorization": "Bearer sk-SECRET-1", "x-api-key": "SECRET-2",
            "cookie": "session=SECRET-3", "openai-organization": "SECRET-4",
            "x-ctxlog-token": "SECRET-5", "proxy-authorization": "SECRET-6",
        }  # fmt: skip
        with (
            serving(headers={"set-cookie": "a=SECRET-7"}) as server,
            proxied(server, tmp_path, token="SECRET-5") as to,
        ):
            url = f"{to.proxy.openai_url}/chat/completions"
            assert httpx2.post(url, content=BODY, headers=headers).status_code == 200
            seen = server.seen[0][2]
            assert seen["authorization"] == "Bearer sk-SECRET-1"
            assert seen["cookie"] == "session=SECRET-3"
            assert "x-ctxlog-token" not in seen
            assert "proxy-authorization" not in seen
            files = list(tmp_path.iterdir())
            assert any(file.name.endswith("-wal") for file in files)
            assert not [file for file in files if b"SECRET" in file.read_bytes()]
        assert not [file for file in tmp_path.iterdir() if b"SECRET" in file.read_bytes()]


class TestAddresses:
    """Where a session is sent is said by whoever runs the proxy, and by nobody else."""

    @pytest.mark.parametrize(
        "url",
        ["", "api.openai.com", "ftp://x/", "http://", "http://a:b@x/", "http://x/?a", "http://x/#a",
         "http://x:99999/", "http://x y/", "http://x/\n", "http://[::1"],
    )  # fmt: skip
    def test_what_is_none_is_refused(self, url: str) -> None:
        with pytest.raises(InputRefused):
            Address.of(url)

    def test_a_proxy_before_itself_is_refused(self, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        with (
            pytest.raises(InputRefused, match="this proxy itself"),
            proxied(f"http://localhost:{port}/v1", tmp_path, port=port),
        ):
            pass

    @pytest.mark.parametrize("token", [None, "", "a\nb", "ü"])
    def test_an_open_address_needs_a_token(self, token: str | None, tmp_path: Path) -> None:
        with (
            serving() as server,
            pytest.raises(InputRefused, match="token"),
            proxied(server, tmp_path, host="0.0.0.0", token=token),
        ):
            pass


class TestWays:
    """Certificates that nobody checks, or a proxy that is passed by, send a session to anybody."""

    def test_a_certificate_is_verified(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if which("openssl") is None:
            pytest.skip("openssl is not installed")
        key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        names = ["-subj", "/CN=model", "-addext", "subjectAltName=IP:127.0.0.1"]
        files = ["-keyout", str(key), "-out", str(cert)]
        subprocess.run([*command, *names, *files], check=True, capture_output=True)
        with serving(lambda _: streamed(chunks())) as server:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(cert, key)
            server.socket = context.wrap_socket(server.socket, server_side=True)
            url = server.url.replace("http:", "https:")
            for trusted, code in ((None, 502), (cert, 200), (cert, 200)):
                upstreams._trust.cache_clear()
                if trusted is not None:
                    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
                with proxied(url, tmp_path) as to:
                    for _ in range(2):
                        sent = httpx2.post(f"{to.proxy.openai_url}/chat/completions", content=BODY)
                        assert sent.status_code == code
                        if code == 502:
                            assert "certificate" in sent.json()["error"]["message"].lower()
            upstreams._trust.cache_clear()
            named = url.replace("127.0.0.1", "localhost")  # for which the certificate is not
            with proxied(named, tmp_path) as to:
                sent = httpx2.post(f"{to.proxy.openai_url}/chat/completions", content=BODY)
                assert sent.status_code == 502
            upstreams._trust.cache_clear()
            assert len(server.seen) == 4

    def test_a_proxy_on_the_way_is_asked(self, tmp_path: Path) -> None:
        with serving() as way, proxied("http://provider.example/v1", tmp_path) as to:
            address = way.url.removesuffix("/v1").replace("://", "://ann:se%20cret@")
            to.proxy.upstreams.openai = Upstream(
                "openai", Address.of("http://provider.example/v1"), address
            )
            to.client().chat.completions.create(model="m", messages=ASK)
            (seen,) = way.seen
            assert seen[1] == "http://provider.example/v1/chat/completions"
            assert seen[2]["host"] == "provider.example"
            assert seen[2]["proxy-authorization"] == "Basic YW5uOnNlIGNyZXQ="

    def test_a_proxy_that_refuses_is_told(self, tmp_path: Path) -> None:
        with (
            socket.create_server(("127.0.0.1", 0)) as way,
            proxied("https://provider.example/v1", tmp_path) as to,
        ):
            to.proxy.upstreams.openai = Upstream(
                "openai",
                Address.of("https://provider.example/v1"),
                f"http://127.0.0.1:{way.getsockname()[1]}",
            )
            asked: list[bytes] = []

            def refuse() -> None:
                with way.accept()[0] as sock:
                    asked.append(sock.recv(1000))
                    sock.sendall(b"HTTP/1.1 407 Who are you\r\n\r\n")

            thread = threading.Thread(target=refuse)
            thread.start()
            answer = to.raw(request(to))
            thread.join()
        assert asked[0].startswith(b"CONNECT provider.example:443 ")
        assert status(answer) == 502
        assert b"407" in answer

    @pytest.mark.parametrize("way", ["socks5://x", "https://x", "http://", "http://x:99999"])
    def test_a_proxy_that_cannot_be_used_is_refused(self, way: str) -> None:
        with pytest.raises(InputRefused, match="proxy of the environment"):
            Upstream("openai", Address.of("https://provider.example/v1"), way)


class TestManyConnections:
    """What a broken client opens and leaves does not stop the others."""

    def test_the_next_client_is_served(self, tmp_path: Path) -> None:
        with serving() as server, proxied(server, tmp_path) as to:
            held = [socket.create_connection((to.proxy.host, to.proxy.port), 5) for _ in range(300)]
            poll = select.poll()
            for sock in held:
                poll.register(sock, select.POLLIN)
            wait_for(lambda: len(poll.poll(0)) == 300 - 256)
            told = {number for number, _ in poll.poll(0)}
            for sock in held:
                if sock.fileno() in told:
                    assert received(sock).startswith(b"HTTP/1.1 503 ")
                sock.close()
            wait_for(lambda: status(to.raw(request(to, BODY, "Connection: close"))) == 200)


class TestPlaces:
    """It listens where it was told to, also under an address of IPv6."""

    @pytest.mark.parametrize("host", ["localhost", "::1"])
    def test_it_tells_an_address_that_can_be_used(self, host: str, tmp_path: Path) -> None:
        try:
            socket.create_server((host, 0), family=_family(host)).close()
        except OSError:
            pytest.skip(f"there is no {host} here")
        with serving() as server, proxied(server, tmp_path, host=host) as to:
            assert to.client().chat.completions.create(model="m", messages=ASK).choices


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
