"""What the proxy refuses: pages of a browser, requests that two readers read in two ways, and what
has no end. Each is answered, or ended, soon, in the form of an error of the API, and the next
client is served."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from model_server import ModelServer, serving
from proxied import Proxied, proxied, received, recorded

from harness.recording import incoming, proxying

BODY = b'{"model": "m", "messages": [{"role": "user", "content": "hello"}]}'
CHAT = "/v1/chat/completions"


@contextmanager
def listening(folder: Path, **settings: str) -> Iterator[tuple[Proxied, ModelServer]]:
    with serving() as server, proxied(server, folder, **settings) as to:
        yield to, server


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def head(to: Proxied, *lines: str, host: str | None = None) -> bytes:
    first, *rest = lines
    named = [f"Host: {host or to.host}", "Connection: close"]
    return "\r\n".join([first, *named, *rest, "", ""]).encode("latin-1")


def asks(to: Proxied, *headers: str, host: str | None = None) -> bytes:
    return (
        head(to, f"POST {CHAT} HTTP/1.1", f"Content-Length: {len(BODY)}", *headers, host=host)
        + BODY
    )


class TestBrowsers:
    """A page of somebody else must not spend a key, nor write into a log."""

    @pytest.mark.parametrize(
        "host", ["evil.example", "127.0.0.1", "evil.example:{port}", "", "a b"]
    )
    def test_another_host_is_refused(self, host: str, tmp_path: Path) -> None:
        with listening(tmp_path) as (to, server):
            answer = to.raw(asks(to, host=host.replace("{port}", str(to.proxy.port)) or "\t"))
            assert status(answer) == 403
            assert (
                json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"]["type"] == "permission_error"
            )
            assert server.seen == []

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
    def test_names_of_this_machine_are_taken(self, host: str, tmp_path: Path) -> None:
        with listening(tmp_path) as (to, _):
            assert status(to.raw(asks(to, host=f"{host}:{to.proxy.port}"))) == 200

    @pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1", ""])
    def test_another_origin_is_refused(self, origin: str, tmp_path: Path) -> None:
        with listening(tmp_path) as (to, server):
            assert status(to.raw(asks(to, f"Origin: {origin}"))) == 403
            assert status(to.raw(asks(to, f"Origin: http://{to.host}"))) == 200
            assert len(server.seen) == 1

    def test_no_host_and_two_hosts_are_refused(self, tmp_path: Path) -> None:
        with listening(tmp_path) as (to, _):
            assert status(to.raw(b"GET /v1/models HTTP/1.1\r\n\r\n")) == 400
            assert status(to.raw(head(to, "GET /v1/models HTTP/1.1", f"Host: {to.host}"))) == 400


class TestTokens:
    """Beyond this machine nobody is let in without one."""

    @pytest.mark.parametrize(
        ("header", "code"),
        [("", 401), ("X-Ctxlog-Token: wrong", 401), ("X-Ctxlog-Token: tok", 401),
         ("Authorization: Bearer token-1", 401), ("X-Ctxlog-Token: t\xf6ken-1", 401),
         ("X-Ctxlog-Token: token-1", 200), ("x-ctxlog-token: Bearer token-1", 200)],
    )  # fmt: skip
    def test_only_who_holds_it_is_let_in(self, header: str, code: int, tmp_path: Path) -> None:
        with listening(tmp_path, host="0.0.0.0", token="token-1") as (to, server):
            with socket.create_connection(("127.0.0.1", to.proxy.port), 5) as sock:
                sock.sendall(asks(to, *filter(None, [header]), host="somebody.example:1"))
                assert status(received(sock)) == code
            assert len(server.seen) == (code == 200)


ODD = [
    (b"\r\n\r\n", {400, None}),
    (b"GET\r\n\r\n", {400}),
    (b"GET /v1/models\r\n", {400}),  # HTTP/0.9
    (b"GET /v1/models HTTP/1.1 x\r\n\r\n", {400}),
    (b"GET /v1/models HTTP/2.0\r\nHost: HOST\r\n\r\n", {505}),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {505}),
    (b"GET /v1/models FTP/1.1\r\nHost: HOST\r\n\r\n", {400}),
    (b"CONNECT evil.example:443 HTTP/1.1\r\nHost: HOST\r\n\r\n", {501}),
    (b"TRACE /v1/models HTTP/1.1\r\nHost: HOST\r\n\r\n", {501}),
    (b"__class__ /v1/models HTTP/1.1\r\nHost: HOST\r\n\r\n", {501}),
    (b"GET http://evil.example/ HTTP/1.1\r\nHost: HOST\r\n\r\n", {400}),
    (b"GET evil.example HTTP/1.1\r\nHost: HOST\r\n\r\n", {400}),
    (b"GET * HTTP/1.1\r\nHost: HOST\r\n\r\n", {400}),
    (b"GET /v1/../admin HTTP/1.1\r\nHost: HOST\r\n\r\n", {400}),
    (b"GET /v1/%2e%2e/admin HTTP/1.1\r\nHost: HOST\r\n\r\n", {400}),
    (b"GET /v1/%252e%252e%252fadmin HTTP/1.1\r\nHost: HOST\r\n\r\n", {400}),
    (b"GET /v1/..%5cadmin HTTP/1.1\r\nHost: HOST\r\n\r\n", {400}),
    (b"GET /v1/..;/admin HTTP/1.1\r\nHost: HOST\r\n\r\n", {400}),
    (b"GET /v1\\admin HTTP/1.1\r\nHost: HOST\r\n\r\n", {400}),
    (b"GET /v1/\xc3\xa4 HTTP/1.1\r\nHost: HOST\r\n\r\n", {400}),
    (b"GET /v1/\x01 HTTP/1.1\r\nHost: HOST\r\n\r\n", {400}),
    (b"GET /v1/models#x HTTP/1.1\r\nHost: HOST\r\n\r\n", {400}),
    (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: HOST\r\n\r\n", {414}),
    (b"GET /v1/models HTTP/1.1\r\nHost: HOST\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", {431}),
    (b"GET /v1/models HTTP/1.1\r\nHost: HOST\r\n" + b"X: y\r\n" * 200 + b"\r\n", {431}),
    (b"GET /v1/models HTTP/1.1\r\nHost: HOST\r\n" + (b"X: " + b"a" * 60_000 + b"\r\n") * 9, {431}),
    (b"GET /v1/models HTTP/1.1\r\nHost: HOST\r\nbroken\r\n\r\n", {400}),
    (b"GET /v1/models HTTP/1.1\r\nHost: HOST\r\nX : y\r\n\r\n", {400}),
    (b"GET /v1/models HTTP/1.1\r\nHost: HOST\r\nX: a\r\n b\r\n\r\n", {400}),
    (b"GET /v1/models HTTP/1.1\r\nHost: HOST\r\nX: a\0b\r\n\r\n", {400}),
    (b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nContent-Length: x\r\n\r\n", {400}),
    (b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nContent-Length: -1\r\n\r\n", {400}),
    (b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nContent-Length: +1\r\n\r\n{", {400}),
    (b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1_0\r\n\r\n{", {400}),
    (
        b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        {400},
    ),
    (b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1, 1\r\n\r\n{", {400}),
    (
        b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n{}",
        {400},
    ),
    (b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", {400}),
    (b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", {400}),
    (b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", {400}),
    (b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}x\r\n", {400}),
    (
        b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 9000,
        {400},
    ),
    (b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nContent-Length: 99999999999\r\n\r\n{", {413}),
    (
        b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nExpect: 100-continue\r\n"
        b"Content-Length: 99999999\r\n\r\n",
        {413},
    ),
    (
        b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nX-Ctxlog-Session: \r\nContent-Length: 2\r\n\r\n{}",
        {400},
    ),
    (b"GET /v1/models HTTP/1.1\r\nHost: HOST\r\nX: a\rContent-Length: 5\r\n\r\n", {400}),
    (b"GET /v1/models HTTP/1.1\r\nHost: HOST\r\nX: a\0b\r\n\r\n", {400}),
    (b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nContent-Le", {None}),
    (b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nContent-Length: 50\r\n\r\n{", {None}),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", {400, None}),  # TLS
    (b"\0" * 1000, {400, None}),
]


class TestOddRequests:
    """They come from scanners, broken clients and smugglers; none may hang or hide another."""

    @pytest.mark.parametrize(("data", "codes"), ODD, ids=range(len(ODD)))
    def test_it_is_refused_and_goes_no_further(
        self, data: bytes, codes: set[int | None], tmp_path: Path
    ) -> None:
        with listening(tmp_path) as (to, server):
            data = data.replace(b"HOST", to.host.encode()).replace(b"CHAT", CHAT.encode())
            with socket.create_connection((to.proxy.host, to.proxy.port), 5) as sock:
                sock.sendall(data)
                if None in codes:
                    sock.shutdown(socket.SHUT_WR)
                answer = received(sock)
            assert (status(answer) if answer else None) in codes
            if answer:
                assert "error" in json.loads(answer.split(b"\r\n\r\n", 1)[1])
            assert server.seen == []
            assert status(to.raw(asks(to))) == 200
        assert recorded(to.db).verdicts == ["exact"]

    def test_a_body_over_the_limit_is_refused_in_chunks_too(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(incoming, "MOST_BODY", 1000)
        with listening(tmp_path) as (to, server):
            data = head(to, f"POST {CHAT} HTTP/1.1", "Transfer-Encoding: chunked")
            answer = to.raw(
                data + b"300\r\n" + b"x" * 0x300 + b"\r\n300\r\n" + b"x" * 0x300 + b"\r\n"
            )
            assert status(answer) == 413
            assert server.seen == []

    def test_requests_one_behind_the_other_are_answered_in_order(self, tmp_path: Path) -> None:
        with listening(tmp_path) as (to, server):
            first = asks(to).replace(b"Connection: close\r\n", b"")
            other = head(to, "GET /v1/models HTTP/1.1")
            answer = to.raw(first + first.replace(b"hello", b"howdy") + other)
            assert [r["messages"][0]["content"] for r in server.requests] == ["hello", "howdy"]
        assert answer.count(b"HTTP/1.1 200 OK") == 3
        assert answer.endswith(b'"data": []}')

    def test_a_body_in_chunks_is_recorded_whole(self, tmp_path: Path) -> None:
        with listening(tmp_path) as (to, server):
            data = head(to, f"POST {CHAT} HTTP/1.1", "Transfer-Encoding: chunked")
            for piece in (BODY[:7], BODY[7:]):
                data += b"%x;name=value\r\n%b\r\n" % (len(piece), piece)
            assert status(to.raw(data + b"0\r\nTrailer: x\r\n\r\n")) == 200
            assert server.bodies == [BODY]

    def test_a_client_that_asks_before_it_sends_is_told_to(self, tmp_path: Path) -> None:
        with (
            listening(tmp_path) as (to, server),
            socket.create_connection((to.proxy.host, to.proxy.port), 5) as sock,
        ):
            sock.sendall(asks(to, "Expect: 100-continue").removesuffix(BODY))
            assert sock.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
            sock.sendall(BODY)
            assert status(received(sock)) == 200
            assert "expect" not in server.seen[0][2]

    def test_an_old_client_gets_the_end_of_the_connection(self, tmp_path: Path) -> None:
        with listening(tmp_path) as (to, _):
            data = head(to, f"POST {CHAT} HTTP/1.0", f"Content-Length: {len(BODY)}") + BODY
            answer = to.raw(data)
            assert status(answer) == 200
            assert b"chunked" not in answer


class TestSilence:
    """A connection that says nothing holds a thread; it may not do so for long."""

    @pytest.mark.parametrize(
        ("sent", "code"),
        [(b"", None), (b"POST CHAT HT", 408), (b"POST CHAT HTTP/1.1\r\nHost: HO", 408),
         (b"POST CHAT HTTP/1.1\r\nHost: HOST\r\nContent-Length: 9\r\n\r\n{", 408)],
    )  # fmt: skip
    def test_a_silent_client_is_let_go(
        self, sent: bytes, code: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(proxying, "IDLE", 0.2)
        monkeypatch.setattr(proxying, "HEAD_SECONDS", 0.2)
        monkeypatch.setattr(incoming, "SILENCE", 0.2)
        with listening(tmp_path) as (to, _):
            sent = sent.replace(b"HOST", to.host.encode()).replace(b"CHAT", CHAT.encode())
            answer = to.raw(sent)
            assert (status(answer) if answer else None) == code

    def test_one_that_drips_is_let_go_too(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(proxying, "HEAD_SECONDS", 0.4)
        with (
            listening(tmp_path) as (to, _),
            socket.create_connection((to.proxy.host, to.proxy.port), 5) as sock,
        ):
            stop = threading.Event()

            def drip() -> None:
                for byte in b"GET /v1/models HTTP/1.1\r\nX: " + b"a" * 1000:
                    if stop.wait(0.05):
                        return
                    sock.sendall(bytes([byte]))

            began = time.monotonic()
            thread = threading.Thread(target=drip)
            thread.start()
            assert status(received(sock)) == 408
            assert time.monotonic() - began < 30
            stop.set()
            thread.join()

    def test_a_silent_provider_is_let_go(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(proxying, "SILENT_PROVIDER", 0.3)
        with socket.create_server(("127.0.0.1", 0)) as mute:
            url = f"http://127.0.0.1:{mute.getsockname()[1]}/v1"
            with proxied(url, tmp_path) as to:
                assert status(to.raw(asks(to))) == 504
        assert recorded(to.db).failures[0].error == "TimeoutError: the provider was silent"
