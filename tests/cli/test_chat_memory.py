"""A chat that remembers: what is told, what can be typed, and what the model is shown of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chatting import Talk, opened, talk
from model_server import ModelServer, serving
from remembered import received, shown
from running import run
from scripted import following

from cli.chat.slash import complete
from cli.options import Settings
from projections import Live


@pytest.fixture
def live(tmp_path: Path) -> Any:
    with opened(tmp_path) as log:
        yield log


@pytest.fixture
def server() -> Any:
    with serving(following(lambda text, rounds: "Fine.")) as model:
        yield model


def said(capsys: pytest.CaptureFixture[str]) -> str:
    out, err = capsys.readouterr()
    return out + err


class TestRemembering:
    def test_what_is_said_in_one_session_is_shown_in_the_next(
        self, live: Live, server: ModelServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        first = talk(live, server, "Remember: I indent with tabs", memory=True)
        told = said(capsys)
        assert "✎ remembered m1, preference: I indent with tabs" in told
        talk(live, server, "Write a function", memory=True)
        assert "I indent with tabs" in shown(received(server))
        assert "✎ the model is shown" in said(capsys)
        assert first.chat.memory.get(1).stands

    def test_without_it_nothing_is_learned_and_nothing_shown(
        self, live: Live, server: ModelServer
    ) -> None:
        over = talk(live, server, "Remember: I indent with tabs")
        assert not live.log.exists(over.chat.memory.key)
        over.chat.memory.add("We deploy on Fridays")
        talk(live, server, "When do we deploy?")
        assert shown(received(server)) == ""

    def test_leaving_leaves_a_summary(
        self, live: Live, server: ModelServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        over = talk(live, server, "We decided to use PostgreSQL for orders.", memory=True)
        kinds = [each.kind for each in over.chat.memory.all()]
        assert "session_summary" in kinds
        assert "session summary: Decisions: We decided" in said(capsys)

    def test_the_config_turns_it_on_and_the_command_line_off(
        self, live: Live, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cli.memory_config.config", lambda: _config(tmp_path, "chat = true"))
        assert talk(live, server).chat.remembers
        assert not talk(live, server, memory=False).chat.remembers
        monkeypatch.setattr("cli.memory_config.config", lambda: _config(tmp_path, "chat = 1"))
        with pytest.raises(Exception, match="neither true nor false"):
            talk(live, server)

    def test_it_is_that_of_whom_the_session_belongs_to(
        self, live: Live, server: ModelServer
    ) -> None:
        over = talk(live, server, "/remember I deploy", session="ada/chat/x", memory=True)
        assert str(over.chat.memory.key) == "ada/_/memory"
        assert [each.text for each in over.chat.memory.all()] == ["I deploy"]


def _config(folder: Path, line: str) -> Any:
    from cli.config import config

    path = folder / "config.toml"
    path.write_text(f"[memory]\n{line}\n")
    return config(path)


class TestCommands:
    def test_remember_is_at_once_and_shown_to_the_model(
        self, live: Live, server: ModelServer
    ) -> None:
        over = talk(live, server, "/remember Our port is 8081", "Which port?", memory=True)
        (memory,) = [each for each in over.chat.memory.all() if each.kind != "session_summary"]
        by = f"typed with /remember in {over.chat.conversation.key}"
        assert (memory.is_explicit, memory.importance, memory.by) == (True, 1.0, by)
        assert memory.sources == (), "no event of the session holds it"
        told = run("memory", "show", memory.name, "--db", live.log.path).stdout
        assert "a person said so, typed with /remember in local/chat" in told
        assert "no event: typed with /remember in local/chat" in told
        assert "Our port is 8081" in shown(received(server))
        assert shown(received(server)).count("8081") == 1

    def test_recall_is_made_behind_a_remember_too_and_shows_every_preference(
        self, live: Live, server: ModelServer
    ) -> None:
        options = ("--kind", "preference", "--subject", "indentation", "--db", live.log.path)
        run("memory", "add", "Indents with tabs", *options)
        run("memory", "add", "We deploy to the staging port", "--db", live.log.path)
        talk(live, server, "/remember I like tea", "When do we deploy to the port?", memory=True)
        said = shown(received(server))
        for text in ("Indents with tabs", "I like tea", "We deploy to the staging port"):
            assert said.count(text) == 1

    def test_remember_works_where_the_chat_has_no_memory(
        self, live: Live, server: ModelServer
    ) -> None:
        over = talk(live, server, "/remember Our port is 8081", "Which port?")
        assert [each.text for each in over.chat.memory.all()] == ["Our port is 8081"]
        assert shown(received(server)) == ""

    def test_forget_takes_it_from_the_next_call(
        self, live: Live, server: ModelServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        over = talk(
            *(live, server, "/remember Our port is 8081", "One", "/forget m1", "Two"),
            "/forget m1",
            memory=True,
        )
        assert "8081" in shown(received(server, 0))
        assert b"8081" not in server.bodies[-1]
        told = said(capsys)
        assert "not shown to the model any more: m1" in told
        assert "memory restore m1 brings it back" in told
        assert "was forgotten already: m1 fact" in told
        assert over.chat.memory.get(1).standing == "forgotten"

    def test_who_asks_the_model_to_forget_a_memory_is_told_what_does(
        self, live: Live, server: ModelServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lines = ["/remember I like tea", "Forget that I like tea", "Forget that I like coffee"]
        over = talk(live, server, *lines, memory=True)
        told = said(capsys)
        assert told.count("/forget m1 forgets it: I like tea") == 1
        kinds = [each.kind for each in over.chat.memory.all()]
        assert kinds.count("preference") == 1

    def test_what_takes_the_place_of_a_memory_is_shown_in_its_place_once(
        self, live: Live, server: ModelServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lines = ["/remember I indent with tabs", "One", "/remember I indent with spaces", "Two"]
        over = talk(live, server, *lines, memory=True)
        assert b"tabs" not in server.bodies[-1]
        assert shown(received(server)).count("spaces") == 1
        assert "not shown to the model any more: m1; the model is shown m" in said(capsys)
        assert over.chat.memory.get(1).standing == "superseded"

    def test_what_an_earlier_chat_showed_is_told_and_leaves_without_a_memory(
        self, live: Live, server: ModelServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        named: Any = {"session": "ada/chat/x"}
        talk(live, server, "/remember Our port is 8081", "One", memory=True, **named)
        capsys.readouterr()
        talk(live, server, "/memories", "/forget m1", "Two", **named)
        told = said(capsys)
        assert "shown to the model here: m1" in told
        assert "not shown to the model any more: m1" in told
        assert "memory restore m1 --user ada brings it back" in told
        assert b"8081" not in server.bodies[-1]

    def test_forget_tells_what_else_came_from_the_same_words(
        self, live: Live, server: ModelServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lines = ["Remember that we deploy on Fridays. Remember that our port is 8081", "/forget m1"]
        talk(live, server, *lines, memory=True)
        assert "m2 came from the same words and stays: our port is 8081" in said(capsys)

    def test_memories_tells_what_is_shown_and_what_there_is(
        self, live: Live, server: ModelServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lines = ["/remember Our port is 8081", "/memories", "/memories port", "/memories zebra"]
        talk(live, server, *lines, memory=True)
        told = said(capsys)
        assert "shown to the model here: m1" in told
        assert told.count("Our port is 8081") == 3
        assert "no memory is related to that" in told
        capsys.readouterr()
        talk(live, server, "/memories")
        assert "this chat shows none to the model (--memory)" in said(capsys)

    def test_recall_shows_more_of_them_to_the_model(
        self, live: Live, server: ModelServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        lines = ["Hello", "/memories recall port", "/memories recall port", "Which port?"]
        over = talk(live, server, *lines, memory=True)
        over.chat.memory.add("Our port is 8081")
        talk(live, server, *lines, memory=True)
        assert "8081" in shown(received(server))
        assert "nothing else that is remembered is related" in said(capsys)

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            ("/remember", "what is to be remembered?"),
            ("/forget", "which memory?"),
            ("/forget m99", "there is no memory m99"),
            ("/memories recall", "what are they to be about?"),
            ("/memories recall x", "begin it with --memory"),
        ],
    )
    def test_what_cannot_be_done_is_told(
        self,
        live: Live,
        server: ModelServer,
        capsys: pytest.CaptureFixture[str],
        line: str,
        why: str,
    ) -> None:
        talk(live, server, line)
        assert why in said(capsys)

    def test_names_of_memories_are_completed(self, live: Live, server: ModelServer) -> None:
        over = talk(live, server, "/remember Our port is 8081", "/remember Our host is alpha")
        assert complete(over.chat, "/forget m") == ["/forget m2", "/forget m1"]
        assert "/memories recall" in complete(over.chat, "/memories r")

    def test_undo_undoes_what_a_person_decided(self, live: Live, server: ModelServer) -> None:
        lines = ["/remember Our port is 8081", "One", "/forget m1", "Two", "/undo", "Three"]
        talk(live, server, *lines, memory=True)
        assert b"8081" not in server.bodies[-1]


class TestJson:
    def test_each_happening_is_a_line(
        self, live: Live, server: ModelServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        settings = Settings(command="chat", as_json=True)
        lines = ["Remember: I indent with tabs", "/forget m1", "Go on"]
        found: Talk = talk(live, server, *lines, interactive=False, settings=settings, memory=True)
        assert found.code == 0
        out = capsys.readouterr().out
        data = [json.loads(line)["data"] for line in out.splitlines()]
        changed = [each for each in data if each["happening"] == "memories_changed"]
        assert changed[0]["memories"][0]["name"] == "m1"
        assert changed[0]["memories"][0]["text"] == "I indent with tabs"
        talk(live, server, "/remember Our port is 8081", settings=settings, memory=True)
