"""A chat that is taken up again: with which model and strategy, and what else goes on with it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chatting import Typed, opened, talk
from model_server import Answer, ModelServer, nowhere, serving
from running import process, run
from scripted import following

from cli.chat.resumed import greeting
from cli.door import FINDINGS, NOT_FOUND, UPSTREAM
from cli.underway import RECENT, open_since
from eventlog import StreamKey
from eventlog.errors import InputRefused
from eventlog.events import (
    MessageAppended,
    ModelCalled,
    ModelResponded,
    SessionStarted,
    ToolCallStarted,
)
from eventlog.jsonvalue import Json
from projections import Live

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(following(lambda said, rounds: f"you said: {said}")) as found:
        yield found


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "CTXLOG_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    with opened(tmp_path) as found:
        yield found


def models(server: ModelServer) -> list[str]:
    return [request["model"] for request in server.requests]


class TestModels:
    """What a session used last is used again: option, session, environment, config."""

    def test_the_model_of_the_last_call_answers_again(
        self, live: Live, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        talk(live, server, "one", "/model small", "two", session="s", model="large")
        monkeypatch.setenv("CTXLOG_MODEL", "usual")
        done = talk(live, server, "three", session="s", model=None)
        talk(live, server, "four", session="s", model="given")
        talk(live, server, "five", session="new", model=None)
        assert models(server) == ["large", "small", "small", "given", "usual"]
        assert "as before, not usual" in " ".join(greeting(done.chat))

    def test_a_name_that_no_model_has_is_not_kept(self, live: Live, server: ModelServer) -> None:
        talk(live, server, "one", session="s", model="right")
        with serving(lambda request: (404, {"error": {"message": "no such model"}})) as other:
            talk(live, other, "two", session="s", model="slip")
        talk(live, server, "three", session="s", model=None)
        assert models(server)[-1] == "right"

    def test_a_fork_has_that_of_its_parent(self, live: Live, server: ModelServer) -> None:
        talk(live, server, "one", session="s", model="large")
        version = live.log.version("local/chat/s")
        live.log.fork("local/chat/f", "local/chat/s", version, reason="")
        assert talk(live, server, session="f", model=None).chat.model.endpoint.model == "large"

    def test_what_another_program_called_says_nothing(
        self, live: Live, server: ModelServer
    ) -> None:
        message = Json({"role": "user", "content": "theirs"})
        said = Json({"role": "assistant", "content": "yes"})
        live.append(
            "local/agent/theirs",
            SessionStarted(ownership="observed"),
            MessageAppended(dialect="openai_chat", source="human", message=message),
            ModelCalled(model="theirs", dialect="openai_chat"),
            ModelResponded(call=3),
            MessageAppended(dialect="openai_chat", source="model", message=said),
        )
        with pytest.raises(InputRefused, match="which model"):
            talk(live, server, session="theirs", model=None)

    def test_over_a_pipe_it_is_told_where_another_is_named(
        self, live: Live, server: ModelServer
    ) -> None:
        args = ("chat", "s", "-p", "hello", "--base-url", server.url, "--db", live.log.path)
        assert "which model?" in run(*args, CTXLOG_MODEL="").stderr
        run(*args, "-m", "large")
        assert "before" not in run(*args, CTXLOG_MODEL="").stderr
        told = run(*args, CTXLOG_MODEL="usual").stderr
        assert "large answers, as before, not usual (--model names another)" in told
        assert models(server) == ["large"] * 3


class TestStrategies:
    """The strategy of the last call decides again, and no file is run for it."""

    def test_that_of_the_last_call_decides_again(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        talk(live, server, "one", session="s", strategy="cut:limit=9000")
        done = talk(live, server, "/strategy", session="s")
        assert "cut:limit=9000" in capsys.readouterr().err
        assert "strategy as before: cut:limit=9000" in "\n".join(greeting(done.chat))
        usual = talk(live, server, "one", session="other")
        assert "strategy" not in "\n".join(greeting(usual.chat))

    def test_one_that_cannot_be_had_is_told(self, live: Live, server: ModelServer) -> None:
        talk(live, server, "one", session="s")
        live.append(
            "local/chat/s",
            ModelCalled(model="m", dialect="openai_chat", strategy="evil.py:Strategy"),
        )
        last = live.log.version("local/chat/s")
        said = Json({"role": "assistant", "content": "yes"})
        live.append(
            "local/chat/s",
            ModelResponded(call=last),
            MessageAppended(dialect="openai_chat", source="model", message=said),
        )
        Path("evil.py").write_text("raise SystemExit(9)")
        done = talk(live, server, session="s")
        told = " ".join(greeting(done.chat))
        assert "its strategy was evil.py:Strategy, which --strategy has to name" in told
        assert max(map(len, greeting(done.chat))) <= 80


class TestTwoAtOnce:
    """Over a pipe there is nobody to look at what another process did: one line says how it is."""

    def test_an_answer_that_stands_behind_what_came_meanwhile(
        self, live: Live, tmp_path: Path, capsys: Captured
    ) -> None:
        def answer(request: dict[str, Any]) -> Answer:
            if request["messages"][-1]["content"] == "slow":
                with opened(tmp_path) as other:
                    talk(other, server, "fast", interactive=False, session="s")
            return following(lambda said, rounds: f"you said: {said}")(request)

        with serving(answer) as server:
            talk(live, server, session="s")
            capsys.readouterr()
            done = talk(live, server, "slow", "never", interactive=False, session="s")
        told = capsys.readouterr()
        assert told.out == "you said: fast\nyou said: slow\n"
        assert "the answer was recorded behind what it wrote" in " ".join(told.err.split())
        assert "version" not in told.err
        assert done.code == FINDINGS
        assert done.texts == ["slow", "fast", "you said: fast", "you said: slow"]

    def test_what_was_not_said_is_told_too(
        self, live: Live, server: ModelServer, tmp_path: Path, capsys: Captured
    ) -> None:
        def elsewhere(typed: Typed) -> str:
            with opened(tmp_path) as other:
                talk(other, server, "fast", interactive=False, session="s")
            return "slow"

        talk(live, server, session="s")
        done = talk(live, server, elsewhere, interactive=False, session="s")
        assert "so nothing was said: say it again" in " ".join(capsys.readouterr().err.split())
        assert done.code == FINDINGS
        assert "slow" not in done.texts


class TestOneMessage:
    """``-p`` says one thing; what is piped in goes behind it, and nothing is not sent."""

    def args(self, live: Live, server: ModelServer, text: str) -> tuple[str, ...]:
        model = ("-m", "m", "--base-url", server.url, "--db", live.log.path)
        return ("chat", "s", "-p", text, *model)

    @pytest.mark.parametrize(
        ("text", "given", "said"),
        [
            ("review this", "- a\n+ b\n", "review this\n\n- a\n+ b"),
            ("review this", "", "review this"),
            ("review this", " \n", "review this"),
            ("", "/etc/hosts is here\n", "/etc/hosts is here"),
        ],
    )
    def test_what_is_piped_in_stands_behind_the_text(
        self, live: Live, server: ModelServer, text: str, given: str, said: str
    ) -> None:
        result = run(*self.args(live, server, text), input=given)
        assert result.exit_code == 0
        assert server.requests[0]["messages"][-1]["content"] == said

    def test_a_real_pipe_is_read_to_its_end_and_dev_null_is_not(
        self, live: Live, server: ModelServer, tmp_path: Path
    ) -> None:
        args = self.args(live, server, "review this")
        assert process(*args, home=tmp_path, input=b"+ b\n").returncode == 0
        assert process(*args, home=tmp_path, stdin=subprocess.DEVNULL).returncode == 0
        said = [request["messages"][-1]["content"] for request in server.requests]
        assert said == ["review this\n\n+ b", "review this"]

    @pytest.mark.parametrize(
        ("text", "given", "told"),
        [
            ("", b"", "there is nothing to say"),
            (" \n\t", b"\n", "there is nothing to say"),
            ("look", b"\xff\xfe", "standard input is no UTF-8"),
        ],
    )
    def test_what_says_nothing_or_is_no_text_is_refused(
        self, tmp_path: Path, server: ModelServer, text: str, given: bytes, told: str
    ) -> None:
        path = tmp_path / "new.db"
        model = ("-m", "m", "--base-url", server.url, "--db", path)
        result = run("chat", "s", "-p", text, *model, input=given)
        assert (result.exit_code, server.requests) == (2, [])
        assert told in result.stderr
        assert not path.exists()

    def test_a_command_stays_one(self, live: Live, server: ModelServer) -> None:
        result = run(*self.args(live, server, "/tasks"), input="piped")
        assert (result.exit_code, server.requests) == (0, [])
        assert "no tasks" in result.stderr


class TestContinuing:
    """An answer that failed is finished, and its message is not said a second time."""

    @pytest.mark.usefixtures("impatient")
    def test_a_failure_says_how_the_answer_is_finished(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        args = ("chat", "s", "-m", "m", "--db", live.log.path)
        failed = run(*args, "-p", "hi", "--base-url", nowhere())
        assert failed.exit_code == UPSTREAM
        assert "chat s --continue finishes the answer" in " ".join(failed.stderr.split())
        done = run(*args, "--continue", "--base-url", server.url)
        assert (done.exit_code, done.stdout) == (0, "you said: hi\n")
        again = run(*args, "--continue", "--base-url", server.url)
        assert (again.exit_code, again.stdout) == (0, "")
        assert "nothing to go on with" in again.stderr
        assert [item.text for item in live.items("local/chat/s")] == ["hi", "you said: hi"]

    def test_in_a_chat_the_command_is_named(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        with serving(lambda request: (400, {"error": {"message": "no"}})) as other:
            talk(live, other, "hi", session="s")
        assert "/continue lets the model go on with its answer" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("args", "code", "told"),
        [
            (("--continue",), 2, "--continue goes with a session"),
            (("s", "-p", "x", "--continue"), 2, "--continue goes with a session"),
            (("nosuch", "--continue"), 3, "no session 'nosuch'"),
        ],
    )
    def test_it_takes_a_session_that_there_is(
        self, live: Live, server: ModelServer, args: tuple[str, ...], code: int, told: str
    ) -> None:
        talk(live, server, "one", session="s")
        model = ("-m", "m", "--base-url", server.url, "--db", live.log.path)
        result = run("chat", *args, *model)
        assert result.exit_code == code
        assert told in result.stderr
        assert len(server.requests) == 1


class TestSomebodyElse:
    """Whoever may still be answering is not answered for without a word."""

    def test_an_open_call_of_another_process_is_told(
        self, live: Live, server: ModelServer, tmp_path: Path, capsys: Captured
    ) -> None:
        looked: list[str] = []

        def answer(request: dict[str, Any]) -> Answer:
            if not looked:
                with opened(tmp_path) as other:
                    done = talk(other, server, session="s")
                    looked.extend(greeting(done.chat))
                    assert open_since(other, done.chat.conversation.key) is not None
            return following(lambda said, rounds: f"you said: {said}")(request)

        with serving(answer) as slow:
            talk(live, slow, "hi", session="s")
        assert "! another process may still be answering: a call" in "\n".join(looked)
        assert not any("was cut off" in line for line in looked)
        assert open_since(live, StreamKey("local", "chat", "s")) is None

    def test_one_that_was_killed_long_ago_is_not(self, live: Live, server: ModelServer) -> None:
        talk(live, server, "hi", session="s")
        key = StreamKey("local", "chat", "s")
        call = ModelCalled(model="m", dialect="openai_chat")
        started = ToolCallStarted(tool_call_id="a", name="shell", has_effects=True)
        last = live.append(key, call, ModelResponded(call=live.log.version(key) + 1), started).last
        began = live.log.at(key, [last])[last].recorded_at / 1e6
        assert open_since(live, key, began + 5) == 5
        assert open_since(live, key, began + RECENT + 1) is None
        assert open_since(live, StreamKey("local", "chat", "s"), began - 5) == 0

    def test_what_it_wrote_does_not_invite_a_second_answer(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        def elsewhere(typed: Typed) -> str:
            message = Json({"role": "user", "content": "from elsewhere"})
            live.append(
                "local/chat/s",
                MessageAppended(dialect="openai_chat", source="human", message=message),
                ModelCalled(model="m", dialect="openai_chat"),
            )
            return "mine"

        talk(live, server, elsewhere, session="s")
        told = " ".join(capsys.readouterr().err.split())
        assert "another process may still be answering" in told
        assert "if not, /continue finishes the answer" in told
        assert "/continue lets" not in told


class TestSlips:
    """What cannot work is told where it was typed."""

    def test_a_rule_about_no_tool_is_told(self, live: Live, server: ModelServer) -> None:
        args = ("chat", "s", "-p", "hi", "-m", "m", "--base-url", server.url, "--db", live.log.path)
        rules = ("--allow", "nosuch(x)", "--deny", "update_task", "--allow", "shell(ls)")
        told = run(*args, *rules).stderr
        assert "! nosuch(x) is about no tool that is here; there are plan, update_task" in told
        assert "! shell(ls) is about no tool" in told
        assert "! update_task" not in told
        assert "about no tool" not in run(*args, "--tools", "shell", "--allow", "sh*l").stderr

    def test_an_address_without_its_path_is_asked_about(self, live: Live, capsys: Captured) -> None:
        def answer(request: dict[str, Any]) -> Answer:
            return (404, {"error": {"message": "Not Found"}})

        with serving(answer) as server:
            talk(live, server, "hi", base_url=server.url.removesuffix("/v1"))
            assert "most end in /v1: --base-url names it" in " ".join(
                capsys.readouterr().err.split()
            )
            talk(live, server, "hi")
        assert "most end in /v1" not in capsys.readouterr().err

    def test_a_mode_that_there_is_not_is_told_in_our_words(self, server: ModelServer) -> None:
        told = run("chat", "--permissions", "bogus", "-m", "m", "--base-url", server.url).stderr
        assert "'--permissions': 'bogus' is not one of" in told

    @pytest.mark.usefixtures("impatient")
    def test_a_pipe_that_stops_says_at_which_line(self, live: Live, server: ModelServer) -> None:
        args = ("chat", "s", "-m", "m", "--db", live.log.path, "--base-url")
        failed = run(*args, nowhere(), input='\n"""one\ntwo"""\nthree\n')
        assert failed.exit_code == UPSTREAM
        assert "! stopped at line 2 of the input: nothing behind it was sent\n" in failed.stderr
        refused = run(*args, server.url, input="one\n/nosuch\nthree\n")
        assert refused.exit_code == 2
        assert "  this is line 2 of the input; nothing behind it was sent\n" in refused.stderr
        missing = run(*args, server.url, input="/forget m77\nfour\n")
        assert missing.exit_code == NOT_FOUND
        assert "there is no memory m77" in missing.stderr
        assert [request["messages"][-1]["content"] for request in server.requests] == ["one"]
