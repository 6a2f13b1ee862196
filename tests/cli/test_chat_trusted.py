"""What a session allows, when a chat takes it up: its log may come from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chatting import Talk, opened, talk
from click.testing import Result
from model_server import ModelServer, serving
from running import run
from scripted import Reply, following

from cli.chat.asked import Rules
from eventlog.errors import InputRefused
from eventlog.events import PermissionsSet, SessionStarted
from projections import Live
from projections.agent_state import agent_state

Captured = pytest.CaptureFixture[str]

KEY = "local/chat/s"
DENIED = ("shell(rm *)",)
EVERY_TOOL = PermissionsSet(mode="allow", deny=DENIED)
EVERY_RULE = PermissionsSet(mode="ask", allow=("*",), deny=DENIED)
FROM_ELSEWHERE = pytest.mark.parametrize("given", [EVERY_TOOL, EVERY_RULE], ids=["mode", "rule"])


def script(said: str, rounds: int) -> Reply:
    if rounds == 0 and said == "run it":
        return [("shell", {"command": "touch ran"})]
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


def held(live: Live) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    found = agent_state(live, KEY).permissions
    return found.mode, found.allow, found.deny


class TestWhereNobodyCanBeAsked:
    """A script goes on with a log that somebody sent, and the model runs what it likes."""

    def said(self, live: Live, server: ModelServer, *more: str) -> Result:
        where = ("--db", live.log.path, "-m", "m", "--base-url", server.url)
        return run("chat", "s", "-p", "run it", "--tools", "shell", *where, *more)

    @FROM_ELSEWHERE
    @pytest.mark.parametrize("more", [(), ("-q",), ("--json",), ("--deny", "shell(ls)")])
    def test_it_does_not_hold_and_one_line_says_so(
        self,
        live: Live,
        server: ModelServer,
        tmp_path: Path,
        given: PermissionsSet,
        more: tuple[str, ...],
    ) -> None:
        live.append(KEY, SessionStarted(), given)
        result = self.said(live, server, *more)
        assert result.exit_code == 0
        assert not (tmp_path / "ran").exists()
        lines = (result.stdout if "--json" in more else result.stderr).splitlines()
        assert sum("run without asking, which does not hold here" in line for line in lines) == 1
        if "--json" in more:
            assert json.loads(lines[0])["data"]["happening"] == "began"
        mode, allow, deny = held(live)
        assert (mode, allow, deny[:1]) == ("ask", (), DENIED)
        assert "does not hold" not in self.said(live, server).stderr  # it was told once

    @FROM_ELSEWHERE
    @pytest.mark.parametrize("mode", ["deny", "read-only", "ask"])
    def test_a_mode_that_is_typed_holds_for_its_rules_too(
        self, live: Live, server: ModelServer, tmp_path: Path, given: PermissionsSet, mode: str
    ) -> None:
        live.append(KEY, SessionStarted(), given)
        assert self.said(live, server, "--permissions", mode).exit_code == 0
        assert not (tmp_path / "ran").exists()
        assert held(live) == (mode.replace("-", "_"), (), DENIED)

    @pytest.mark.parametrize(
        "more",
        [("--permissions", "allow"), ("--allow", "shell(touch *)")],
    )
    def test_what_is_typed_holds(
        self, live: Live, server: ModelServer, tmp_path: Path, more: tuple[str, ...]
    ) -> None:
        live.append(KEY, SessionStarted(), EVERY_RULE)
        self.said(live, server, *more)
        assert (tmp_path / "ran").exists()
        mode, allow, _ = held(live)
        assert (mode, allow) in [("allow", ()), ("ask", ("shell(touch *)",))]
        again = self.said(live, server, *more)
        assert "does not hold" not in again.stderr

    def test_without_tools_nothing_is_said_and_nothing_is_changed(
        self, live: Live, server: ModelServer
    ) -> None:
        live.append(KEY, SessionStarted(), EVERY_RULE)
        where = ("--db", live.log.path, "-m", "m", "--base-url", server.url)
        assert "does not hold" not in run("chat", "s", "-p", "hi", *where).stderr
        assert held(live) == ("ask", ("*",), DENIED)

    def test_a_document_that_was_brought_in_runs_nothing(
        self, live: Live, server: ModelServer, tmp_path: Path
    ) -> None:
        state = {"permissions": {"mode": "ask", "allow": ["*"]}}
        (tmp_path / "st.json").write_text(json.dumps({"ctxlog_state": 1, "state": state}))
        trusting = ("--trust-permissions", "--name", "s", "--db", live.log.path)
        assert run("state", "import", tmp_path / "st.json", *trusting).exit_code == 0
        self.said(live, server, "--permissions", "deny")
        assert not (tmp_path / "ran").exists()


class TestWhereAPersonIsAsked:
    def taken_up(self, live: Live, server: ModelServer, *lines: str, **more: Any) -> Talk:
        return talk(live, server, *lines, session="s", tools=("shell",), **more)

    @FROM_ELSEWHERE
    @pytest.mark.parametrize("answer", ["n", "", "yes please", EOFError()])
    def test_all_but_a_yes_sets_it_aside(
        self,
        live: Live,
        server: ModelServer,
        tmp_path: Path,
        capsys: Captured,
        given: PermissionsSet,
        answer: str | BaseException,
    ) -> None:
        live.append(KEY, SessionStarted(), given)
        done = self.taken_up(live, server, "run it", answers=(answer, "n"))
        shown = capsys.readouterr().out
        assert "this session lets run without asking" in shown
        assert ("every tool" if given is EVERY_TOOL else "    *\n") in shown
        assert len(done.typed.questions) == 2  # and about the call
        assert not (tmp_path / "ran").exists()
        assert held(live) == ("ask", (), DENIED)

    @FROM_ELSEWHERE
    def test_a_yes_keeps_it(
        self, live: Live, server: ModelServer, tmp_path: Path, given: PermissionsSet
    ) -> None:
        live.append(KEY, SessionStarted(), given)
        done = self.taken_up(live, server, "/fork other", "run it", answers=("y",))
        assert len(done.typed.questions) == 1  # the fork goes on as it is
        assert (tmp_path / "ran").exists()
        assert held(live) == (given.mode, given.allow, DENIED)

    def test_a_fork_takes_what_was_answered_along(
        self, live: Live, server: ModelServer, tmp_path: Path
    ) -> None:
        live.append(KEY, SessionStarted(), EVERY_RULE)
        done = self.taken_up(live, server, "/fork other", "run it", answers=("n", "n"))
        assert done.chat.conversation.key.session == "other"
        assert not (tmp_path / "ran").exists()

    def test_ctrl_c_leaves_all_as_it_was(self, live: Live, server: ModelServer) -> None:
        version = live.append(KEY, SessionStarted(), EVERY_RULE).last
        with pytest.raises(KeyboardInterrupt):
            self.taken_up(live, server, answers=(KeyboardInterrupt(),))
        assert live.log.version(KEY) == version

    def test_no_byte_of_a_rule_acts_and_none_is_left_out(
        self, live: Live, server: ModelServer, capsys: Captured
    ) -> None:
        rules = ("shell(\x1b[2Jx \u202e*)", f"shell({'y ' * 200}*)", *(f"r{n}" for n in range(30)))
        live.append(KEY, SessionStarted(), PermissionsSet(allow=rules))
        self.taken_up(live, server, answers=("n",))
        shown = capsys.readouterr().out
        assert "\x1b[2J" not in shown
        assert "\u202e" not in shown
        assert "y *)" in shown
        assert "and 12 more rules" in shown

    @pytest.mark.parametrize("rules", [("*",), ("*", "shell(ls)")])
    def test_a_mode_that_is_typed_asks_nothing(
        self, live: Live, server: ModelServer, rules: tuple[str, ...]
    ) -> None:
        live.append(KEY, SessionStarted(), PermissionsSet(mode="ask", allow=rules))
        done = self.taken_up(live, server, rules=Rules("ask", ("shell(ls)",)))
        assert done.typed.questions == []
        assert held(live) == ("ask", ("shell(ls)",), ())


@pytest.mark.parametrize("rule", ["shell(", "\x00", "shell(a\nb)", "x" * 2_000])
@pytest.mark.parametrize("option", ["--allow", "--deny"])
def test_a_rule_that_is_none_is_refused_in_one_line(tmp_path: Path, option: str, rule: str) -> None:
    result = run("chat", "s", "-m", "m", "--db", tmp_path / "no.db", option, rule, "-p", "hi")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "no.db").exists()
    with pytest.raises(InputRefused):
        Rules(allow=(rule,))
