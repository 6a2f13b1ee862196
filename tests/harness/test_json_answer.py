"""What an endpoint answers as JSON; how it fails stands in ``test_endpoint``, of its first user."""

from __future__ import annotations

import time
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from model_server import Answer, ModelServer, serving

from harness.errors import RequestRejected, Unreachable
from harness.json_answer import JsonAnswers


def read(server: ModelServer, patience: float | None = None, **settings: Any) -> object:
    client = server.client(**settings)
    asking = client.embeddings.with_streaming_response
    return JsonAnswers(client, "m", patience).read(
        lambda: asking.create(model="m", input=["a"], encoding_format="float")
    )


@pytest.mark.parametrize(
    ("body", "expected"), [(b"7", 7), (b'{"a": [1]}', {"a": [1]}), (b"null", None)]
)
def test_an_answer_is_what_stands_there(body: bytes, expected: object) -> None:
    with serving(lambda request: body) as server:
        assert read(server) == expected


@pytest.mark.parametrize("body", [b"", b"<html>", b"[" * 200_000, b"9" * 5_000, b"\xff"])
def test_what_is_no_json_is_told(body: bytes) -> None:
    with serving(lambda request: body) as server, pytest.raises(Unreachable, match="no JSON"):
        read(server)


def test_the_key_is_in_no_answer() -> None:
    with serving(lambda request: {"said": "your key is sk-test-1234567"}) as server:
        assert read(server) == {"said": "your key is …"}


@pytest.mark.parametrize("settings", [{"timeout": 0.3}, {"patience": 0.3, "timeout": 60.0}])
def test_a_server_that_sends_byte_after_byte_is_not_waited_for(settings: dict[str, float]) -> None:
    """Each byte comes in time, and the answer never ends."""
    ended: list[bool] = []

    def drip(to: BaseHTTPRequestHandler) -> None:
        to.send_response(200)
        to.send_header("content-length", "100000")
        to.end_headers()
        while not ended:
            to.wfile.write(b" ")
            to.wfile.flush()
            time.sleep(0.02)

    answer: Answer = drip
    with serving(lambda request: answer) as server:
        with pytest.raises(Unreachable, match="no answer in time"):
            read(server, **settings)
        ended.append(True)


def test_a_fault_is_one_short_line_that_names_the_model_and_its_address() -> None:
    said = {"error": {"message": "too\nlong\r\n" + "x" * 5_000}}
    with serving(lambda request: (413, said)) as server:
        with pytest.raises(RequestRejected) as caught:
            read(server)
        assert (caught.value.model, caught.value.url) == ("m", server.url)
    assert str(caught.value).startswith(f"m at {server.url}: too long xxx")
    assert "\n" not in str(caught.value)
    assert len(caught.value.detail) == 300
