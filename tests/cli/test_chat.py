"""A chat with a real client and a real server: what is typed, what is shown, what the log holds."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chatting import Typed, opened, talk
from model_server import Answer, ModelServer, serving
from running import run
from scripted import Reply, following

from cli.chat.lines import whole
from cli.chat.places import place_of
from cli.chat.resumed import greeting
from cli.door import INTERRUPTED, UPSTREAM
from cli.options import Settings
from eventlog import StreamKey
from eventlog.errors import InputRefused, StreamNotFound
from eventlog.events import MessageAppended, SessionStarted
from eventlog.jsonvalue import Json
from harness.agent_sessions import Sessions
from harness.conversation import Conversation
from projections import Live
from projections.sessions import list_sessions


def script(said: str, rounds: int) -> Reply:
    """What the model does follows from what was said to it."""
    if rounds == 0 and said.startswith("run "):
        return [("shell", {"command": said.removeprefix("run ")})]
    if rounds == 0 and said == "plan":
        return [("plan", {"tasks": ["read", "write", "test"]})]
    if rounds == 1 and said == "plan":
        return [("update_task", {"id": "1", "status": "done"})]
    if said == "evil":
        return "red \x1b[31mtext \x1b]0;owned\x07 \u202egnol"
    return f"you said: {said}"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(following(script)) as found:
        yield found


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "CTXLOG_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    with opened(tmp_path) as found:
        yield found


Captured = pytest.CaptureFixture[str]


class TestTalking:
    """Each line is a message, and the answer is what stands on stdout."""

    def test_the_answer_is_shown_and_both_stand_in_the_log(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        done = talk(live, server, "hello", session="notes")
        assert "you said: hello\n" in capsys.readouterr().out
        assert done.texts == ["hello", "you said: hello"]
        assert done.code == 0
        assert done.typed.history == ["hello"]

    def test_the_prompt_says_how_full_the_context_is(self, live: Live, server: ModelServer) -> None:
        done = talk(live, server, "hello" * 500, window=2_000)
        assert done.typed.prompts[0].startswith("≈292/2.0k █░░░░")  # the tools of the planner
        assert done.typed.prompts[1].startswith("≈1.6k/2.0k ████░")

    def test_an_answer_cannot_move_the_terminal(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        done = talk(live, server, "evil")
        shown = capsys.readouterr().out
        assert "red \\u{1b}[31mtext \\u{1b}]0;owned\\u{7} \\u{202e}gnol" in shown
        assert done.texts[1] == "red \x1b[31mtext \x1b]0;owned\x07 \u202egnol"

    def test_what_was_said_elsewhere_cannot_move_it_from_the_input_line(
        self, live: Live, server: ModelServer
    ) -> None:
        """A fork of an imported session may hold anything that a person is said to have typed."""
        done = talk(live, server, "a \u009b31m b", "/rewind")
        assert done.typed.begun[2] == "a \\u{9b}31m b"

    def test_two_slashes_begin_a_message_with_one(self, live: Live, server: ModelServer) -> None:
        assert talk(live, server, "//etc/hosts").texts[0] == "/etc/hosts"

    def test_what_is_no_command_is_told_and_not_sent(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        done = talk(live, server, "/contxt", "hello")
        assert "/contxt is no command; is /context meant?" in capsys.readouterr().err
        assert done.texts[0] == "hello"

    def test_a_model_that_fails_is_told_and_the_chat_goes_on(
        self, live: Live, capsys: Captured
    ) -> None:
        answers: list[Answer] = [(400, {"error": {"message": "no such model"}})]

        def answer(request: dict[str, Any]) -> Answer:
            return answers.pop() if answers else following(script)(request)

        with serving(answer) as server:
            done = talk(live, server, "one", "two")
        assert "✗ no such model (status 400)" in capsys.readouterr().err
        assert done.texts == ["one", "two", "you said: two"]

    def test_ctrl_c_at_the_prompt_clears_the_line_and_twice_leaves(
        self, live: Live, server: ModelServer
    ) -> None:
        struck = KeyboardInterrupt()
        done = talk(live, server, struck, "hello", struck, struck, "never read")
        assert done.texts == ["hello", "you said: hello"]
        assert done.code == 0

    def test_a_session_in_which_nothing_was_said_is_not_listed(
        self, live: Live, server: ModelServer
    ) -> None:
        talk(live, server, "/help")
        assert list_sessions(live) == []
        talk(live, server, session="named")
        assert [row.key for row in list_sessions(live)] == ["local/chat/named"]


class TestPipes:
    """Without a person there is nobody to ask, and the answer alone goes to stdout."""

    def test_each_line_is_a_message(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        done = talk(live, server, "one", "two", interactive=False)
        assert capsys.readouterr().out == "you said: one\nyou said: two\n"
        assert done.code == 0

    def test_what_needs_to_be_allowed_is_denied(
        self, live: Live, server: ModelServer, tmp_path: Path, capsys: Captured
    ) -> None:
        talk(live, server, "run touch made", interactive=False, tools=("shell",))
        assert not (tmp_path / "made").exists()
        assert "there is nobody to ask" in capsys.readouterr().err

    def test_a_failure_ends_it_with_the_code_of_a_model(self, live: Live, capsys: Captured) -> None:
        settings = Settings(command="chat", quiet=True)
        with serving(lambda request: (400, {"error": {"message": "no"}})) as server:
            done = talk(live, server, "one", "two", interactive=False, settings=settings)
            assert len(server.requests) == 1
        assert done.code == UPSTREAM
        assert capsys.readouterr().err == "✗ no (status 400)\n"  # a fault is no note

    def test_json_tells_all_that_happens_a_line_each(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        settings = Settings(command="chat", as_json=True)
        talk(
            live,
            server,
            "run echo hi",
            "/context",
            interactive=False,
            settings=settings,
            tools=("shell",),
        )
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert {(line["ctxlog"], line["command"]) for line in lines} == {(1, "chat")}
        kinds = [line["data"]["happening"] for line in lines]
        assert list(dict.fromkeys(kinds)) == [
            "calling",
            "answered",
            "tool_ended",
            "piece",
            "ended",
            "command",
        ]
        said = "".join(x["data"]["text"] for x in lines if x["data"]["happening"] == "piece")
        assert said == "you said: run echo hi"

    def test_a_block_is_one_message(self) -> None:
        more = iter(["  two", 'three"""', "four"])
        assert whole('"""one', lambda: next(more, None)) == "one\n  two\nthree"
        assert next(more) == "four"
        assert whole('"""all of it"""', lambda: None) == "all of it"
        assert whole('"""', iter(["a\\", None]).__next__) == "a\\"

    def test_what_runs_without_a_question_is_told(self, live: Live, server: ModelServer) -> None:
        args = ("chat", "once", "-p", "hello", "-m", "m", "--base-url", server.url)
        first = run(*args, "--db", live.log.path, "--permissions", "allow", "--tools", "shell")
        again = run(*args, "--db", live.log.path, "--permissions", "allow", "--tools", "shell")
        assert "nothing is asked: every tool may run" in first.stderr
        assert "nothing is asked: every tool may run" in again.stderr
        assert "nothing is asked" not in run(*args, "--db", live.log.path).stderr

    def test_one_message_by_the_command_line(self, live: Live, server: ModelServer) -> None:
        args = ("chat", "once", "-p", "hello", "-m", "m", "--base-url", server.url)
        result = run(*args, "--db", live.log.path)
        assert (result.exit_code, result.stdout) == (0, "you said: hello\n")
        result = run(*args, "--db", live.log.path, "--json")
        began = json.loads(result.stdout.splitlines()[0])["data"]
        assert began == {"happening": "began", "session": "local/chat/once", "is_new": False}


class TestWithoutAModel:
    """What is missing is said, with how to get it, before anything is written."""

    @pytest.mark.parametrize(
        ("args", "missing"),
        [((), "which model?"), (("--model", "m"), "no key for the model 'm'")],
    )
    def test_it_says_how_to_get_one(
        self, tmp_path: Path, args: tuple[str, ...], missing: str
    ) -> None:
        result = run(
            *("chat", *args, "--db", tmp_path / "new.db"),
            OPENAI_API_KEY="",
            OPENAI_BASE_URL="",
            CTXLOG_MODEL="",
            HOME=str(tmp_path),
        )
        assert result.exit_code == 2
        assert missing in result.stderr
        assert "--base-url http://127.0.0.1:8080/v1" in result.stderr
        assert not (tmp_path / "new.db").exists()

    @pytest.mark.parametrize(
        ("args", "told"),
        [
            (("--tools", "web"), "there are no tools called 'web'"),
            (("--permissions", "yes"), "'yes' is not one of 'ask', 'allow', 'deny', 'read-only'"),
            (("--allow", "shell("), "is not a rule"),
            (("--system", "@nowhere"), "nowhere is no file"),
            (("--system", "x", "--prompt", "y"), "either --system or --prompt"),
            (("--prompt", "nowhere"), "no prompt 'nowhere'"),
            (("--strategy", "nothing"), "nothing"),
            (("--root", "nowhere"), "nowhere cannot be the folder of tools"),
            (("a@12",), "names a place"),
            (("a/b",), "is no name of a session"),
            (("last",), "the log has none yet"),
        ],
    )
    def test_what_cannot_be_taken_is_one_line(
        self, tmp_path: Path, server: ModelServer, args: tuple[str, ...], told: str
    ) -> None:
        model = ("-m", "m", "--base-url", server.url, "-p", "hello")
        result = run("chat", *args, *model, "--db", tmp_path / "new.db", HOME=str(tmp_path))
        assert result.exit_code in (2, 3)
        assert told in result.stderr
        assert server.requests == []


class TestSessions:
    """A chat goes on where it was, whatever was in between."""

    def test_a_name_is_a_new_session_once_and_the_same_one_then(
        self, live: Live, server: ModelServer
    ) -> None:
        talk(live, server, "one", session="notes")
        done = talk(live, server, "two", session="notes")
        assert done.texts == ["one", "you said: one", "two", "you said: two"]
        assert place_of(live, "last").key == StreamKey("local", "chat", "notes")

    def test_what_another_program_writes_is_forked_first(
        self, live: Live, server: ModelServer
    ) -> None:
        key = StreamKey("local", "agent", "theirs")
        message = Json({"role": "user", "content": "theirs"})
        live.append(
            key,
            SessionStarted(ownership="observed"),
            MessageAppended(dialect="openai_chat", source="human", message=message),
        )
        done = talk(live, server, "mine", session="theirs")
        assert done.chat.place.forked_from == key
        assert done.texts == ["theirs", "mine", "you said: mine"]
        assert live.log.version(key) == 2

    def test_a_fork_in_which_nothing_was_said_is_not_listed(
        self, live: Live, server: ModelServer
    ) -> None:
        message = Json({"role": "user", "content": "theirs"})
        live.append(
            "local/agent/theirs",
            SessionStarted(ownership="observed"),
            MessageAppended(dialect="openai_chat", source="human", message=message),
        )
        talk(live, server, "/context", session="theirs")
        assert [row.key for row in list_sessions(live)] == ["local/agent/theirs"]

    def test_last_of_an_empty_log_is_no_session(self, live: Live) -> None:
        with pytest.raises(StreamNotFound):
            place_of(live, "last")

    def test_a_deleted_session_is_there_again_and_a_purged_one_is_not(
        self, live: Live, server: ModelServer
    ) -> None:
        talk(live, server, "one", session="notes")
        Sessions(live).delete("notes")
        assert talk(live, server, session="notes").texts == ["one", "you said: one"]
        assert [row.key for row in list_sessions(live)] == ["local/chat/notes"]
        Sessions(live).purge("notes", confirm="notes")
        with pytest.raises(InputRefused, match="was purged"):
            place_of(live, "local/chat/notes")

    def test_tasks_and_rules_are_there_again_and_tools_when_they_are_named(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        """What a log says cannot put files and commands within reach."""
        talk(
            live, server, "plan", "/permissions allow shell(ls)", session="notes", tools=("shell",)
        )
        capsys.readouterr()
        done = talk(live, server, "/tasks", "run ls", session="notes")
        assert "✓ 1 done   read" in capsys.readouterr().out
        assert "there is no tool 'shell'" in done.texts[-2]
        lines = "\n".join(greeting(done.chat))
        assert "3 tasks, 1 done" in lines
        assert "it had the tools shell: --tools shell gives them back" in lines
        assert done.chat.conversation.state.tools.groups == ("shell",)
        done = talk(live, server, "/tools", answers=("y",), session="notes", tools=("shell",))
        assert "! allowed without asking: shell(ls)" in "\n".join(greeting(done.chat))

    def test_a_log_that_another_process_went_on_with(
        self, live: Live, server: ModelServer, tmp_path: Path, capsys: Captured
    ) -> None:
        """Nothing is lost: what came is shown, and what was typed can be sent again."""

        def elsewhere(typed: Typed) -> str:
            with opened(tmp_path) as other:
                Conversation(other, server.client(), "m", session="notes").ask("from elsewhere")
            return "mine"

        done = talk(live, server, "one", elsewhere, "mine", session="notes")
        told = capsys.readouterr()
        assert "another process went on with this session: 7 events came" in told.out
        assert "  12  user: from elsewhere\n  15  assistant: you said: from els" in told.out
        assert "it stands in the input line again" in told.err
        assert done.typed.begun[2] == "mine"
        assert done.texts[-3:] == ["you said: from elsewhere", "mine", "you said: mine"]

    def test_one_that_went_on_while_the_model_answered(
        self, live: Live, tmp_path: Path, capsys: Captured
    ) -> None:
        """The answer was paid for, and stands behind what came meanwhile."""
        came: list[int] = []

        def answer(request: dict[str, Any]) -> Answer:
            if request["messages"][-1]["content"] == "two" and not came:
                with opened(tmp_path) as other:
                    message = Json({"role": "user", "content": "from elsewhere"})
                    said = MessageAppended(dialect="openai_chat", source="human", message=message)
                    came.append(other.append("local/chat/notes", said).first)
            return following(script)(request)

        with serving(answer) as server:
            done = talk(live, server, "one", "two", "three", session="notes")
        told = capsys.readouterr()
        assert "another process went on with this session: 1 event came" in told.out
        assert f"  {came[0]}  user: from elsewhere\n" in told.out
        assert done.typed.begun == ["", "", "", ""]
        assert done.texts[2:] == [
            "two",
            "from elsewhere",
            "you said: two",
            "three",
            "you said: three",
        ]


class TestPermissions:
    """A person is asked about what changes something, and the answer can become a rule."""

    def asked(
        self,
        live: Live,
        server: ModelServer,
        *answers: str | BaseException,
        said: str = "run touch a",
    ) -> Any:
        return talk(live, server, said, said, answers=answers, tools=("shell",), session="notes")

    def test_yes_runs_it_once(
        self, live: Live, server: ModelServer, tmp_path: Path, capsys: Captured
    ) -> None:
        done = self.asked(live, server, "what?", "y", "n")
        assert len(done.typed.questions) == 3
        assert "'what?' is no answer: y, n, a or v" in capsys.readouterr().err
        assert (tmp_path / "a").exists()

    def test_no_is_told_to_the_model(self, live: Live, server: ModelServer, tmp_path: Path) -> None:
        self.asked(live, server, "n", "n")
        assert not (tmp_path / "a").exists()
        assert "not allowed" in server.requests[1]["messages"][-1]["content"]

    def test_always_is_a_rule_of_the_session(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        done = self.asked(live, server, "a")
        assert done.chat.conversation.state.permissions.allow == ("shell(touch a)",)
        assert "allowed from here on: shell(touch a)" in capsys.readouterr().err
        again = talk(live, server, "run touch a", answers=("y",), session="notes", tools=("shell",))
        assert len(again.typed.questions) == 1  # when it began, and not about the call
        assert "keep that?" in again.typed.questions[0]

    def test_never_is_one_too(self, live: Live, server: ModelServer, tmp_path: Path) -> None:
        done = self.asked(live, server, "v")
        assert done.chat.conversation.state.permissions.deny == ("shell(touch a)",)
        assert not (tmp_path / "a").exists()

    def test_what_is_more_than_one_command_is_never_allowed_for_good(
        self, live: Live, server: ModelServer
    ) -> None:
        done = self.asked(live, server, "a", "n", "n", said="run touch a; touch b")
        assert "[a]lways" not in done.typed.questions[0]

    def test_ctrl_d_at_a_question_is_no(
        self, live: Live, server: ModelServer, tmp_path: Path
    ) -> None:
        self.asked(live, server, EOFError(), "n")
        assert not (tmp_path / "a").exists()

    def test_ctrl_c_at_a_question_leaves_a_session_that_resumes(
        self, live: Live, server: ModelServer, tmp_path: Path
    ) -> None:
        done = talk(
            live,
            server,
            "run touch a",
            "/continue",
            answers=(KeyboardInterrupt(),),
            tools=("shell",),
        )
        assert not (tmp_path / "a").exists()
        assert done.texts[-1] == "you said: run touch a"
        assert "interrupted" in done.texts[-2]

    def test_rules_of_the_command_line_are_added_to_those_that_hold(
        self, live: Live, server: ModelServer
    ) -> None:
        from cli.chat.asked import Rules

        talk(live, server, session="notes", rules=Rules("read-only", ("shell(ls*)",)))
        done = talk(live, server, session="notes", rules=Rules(None, (), ("shell(rm*)",)))
        held = done.chat.conversation.state.permissions
        assert (held.mode, held.allow, held.deny) == ("read_only", ("shell(ls*)",), ("shell(rm*)",))


class TestInterrupting:
    """Ctrl-C while a model is asked: a real signal, at the moment that the server chooses."""

    def test_while_an_answer_streams(self, live: Live, capsys: Captured) -> None:
        def answer(request: dict[str, Any]) -> Answer:
            if len(request["messages"]) == 1:
                os.kill(os.getpid(), signal.SIGINT)
            return following(script)(request)

        with serving(answer) as server:
            done = talk(live, server, "one", "two", session="notes")
        told = capsys.readouterr().err
        assert "interrupted; the session goes on from here" in told
        assert "/continue" in told
        assert done.texts == ["one", "two", "you said: two"]
        assert done.code == 0

    def test_over_a_pipe_it_ends(self, live: Live) -> None:
        def answer(request: dict[str, Any]) -> Answer:
            os.kill(os.getpid(), signal.SIGINT)
            return following(script)(request)

        with serving(answer) as server:
            done = talk(live, server, "one", "two", interactive=False)
        assert done.code == INTERRUPTED
        assert done.texts == ["one"]

    def test_during_a_compaction_the_text_stands_in_the_input_line_again(
        self, live: Live, capsys: Captured
    ) -> None:
        """The message was not recorded yet, and is not lost."""
        struck: list[int] = []

        def answer(request: dict[str, Any]) -> Answer:
            if not request.get("stream") and not struck:
                struck.append(1)
                os.kill(os.getpid(), signal.SIGINT)
            return following(script)(request)

        with serving(answer) as server:
            said = ("one " * 80, "two", "three")
            settings = {"strategy": "compact:keep_turns=1", "session": "notes"}
            done = talk(live, server, *said, "three", **settings)
        assert struck
        assert done.typed.begun[2] == "two"
        assert "it stands in the input line again" in capsys.readouterr().err
        assert "two" not in done.texts
        assert done.texts[-1] == "you said: three"

    def test_a_cut_off_answer_is_finished_when_asked(self, live: Live, capsys: Captured) -> None:
        with serving(lambda request: (400, {"error": {"message": "no"}})) as server:
            talk(live, server, "one", session="notes")
        with serving(following(script)) as server:
            done = talk(live, server, session="notes")
            lines = list(greeting(done.chat))
            assert server.requests == []
            assert "! its last answer was cut off: /continue lets it go on" in lines
            done = talk(live, server, "/continue", "/continue", session="notes")
        assert done.texts == ["one", "you said: one"]
        assert "nothing to go on with" in capsys.readouterr().err
