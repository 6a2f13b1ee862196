"""The process of a live conversation dies at any moment: what it told of stands in the log, the
context can be sent, and the conversation is finished by another process.

Whoever is killed here waits at the place where it is killed, so nothing depends on time.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from conversing import LOOK, LOW, Asked, context, holds, scripted, told, types, writer
from model_server import ModelServer, Sse, serving

from harness.conversation import Conversation
from harness.conversation.happenings import Ended, Piece, ToolEnded
from harness.conversation.permitting import STARTED, UNKNOWN
from harness.tools.permissions import Judgement
from harness.tools.tool import Tool
from projections import Live, open_log

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
LAST = 6
"""Turns of the conversation; it is killed in one of them."""


@contextmanager
def talking(folder: Path, server: ModelServer, where: str = "", last: int = LAST) -> Iterator[Any]:
    """The process, which is killed at the end at the latest."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{HERE}", "HOME": str(folder)}
    script = str(HERE / "killed_talker.py")
    child = subprocess.Popen(
        [sys.executable, script, str(folder), server.url, "1", str(last), where],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def killed_at(folder: Path, server: ModelServer, where: str) -> list[dict[str, Any]]:
    """Let a process talk until it waits at that place, and kill it; what it told of."""
    with talking(folder, server, where) as child:
        lines: list[dict[str, Any]] = []
        for line in child.stdout:
            lines.append(json.loads(line))
            if lines[-1].get("stopped") == where:
                break
        else:
            pytest.fail(child.stderr.read().decode())
        os.kill(child.pid, signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
    return lines[:-1]


def killed_when(
    folder: Path,
    server: ModelServer,
    held: Held,
    told_first: Callable[[list[dict[str, Any]]], bool] = lambda lines: True,
) -> list[dict[str, Any]]:
    """The same where the server holds its answer, and the process told what is waited for."""
    with talking(folder, server) as child:
        lines = [json.loads(child.stdout.readline())]
        while not told_first(lines):
            lines.append(json.loads(child.stdout.readline()))
        assert held.holds.wait(60)
        os.kill(child.pid, signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        return lines + [json.loads(line) for line in child.stdout]


class Held:
    """A server that holds one of its answers: half of it is sent, or nothing, and no end."""

    def __init__(self, which: Callable[[Asked], bool]) -> None:
        self.holds, self.go = threading.Event(), threading.Event()
        self._which = which

    def __call__(self, asked: Asked) -> Any:
        if self.holds.is_set() or not self._which(asked):
            return scripted(asked)
        answer = scripted(asked)

        def half(to: BaseHTTPRequestHandler) -> None:
            if isinstance(answer, Sse):
                to.send_response(200)
                to.send_header("content-type", "text/event-stream")
                to.end_headers()
                pieces = list(answer.pieces())
                for piece in pieces[: len(pieces) // 2]:
                    assert isinstance(piece, bytes)
                    to.wfile.write(piece)
                to.wfile.flush()
            self.holds.set()
            self.go.wait()
            to.close_connection = True

        return half


@contextmanager
def holding(which: Callable[[Asked], bool]) -> Iterator[tuple[ModelServer, Held]]:
    held = Held(which)
    with serving(held) as server:
        try:
            yield server, held
        finally:
            held.go.set()


def goes_on(
    folder: Path,
    server: ModelServer,
    last: int = LAST,
    then: Callable[[Conversation], object] = lambda talk: told(talk.go_on()),
    **settings: Any,
) -> list[tuple[str, str]]:
    """Open the log of a killed process, finish what was under way, and all turns; the context."""
    with Conversation(
        folder / "talk.db", server.client(), "m", session="s", strategy=LOW,
        **{"tools": [LOOK, writer(folder / "written")], **settings},
    ) as talk:  # fmt: skip
        then(talk)
        holds_up(talk)
        said = sum(1 for each in talk.live.log.read(talk.key) if each.data.get("source") == "human")
        for n in range(said + 1, last + 1):
            happened = told(talk.say(f"turn {n}: look, write"))
            assert happened[-1] == Ended("answered")
        holds_up(talk)
        return plain(talk.live, talk)


def holds_up(talk: Conversation) -> None:
    """It can be sent, and every call is proved; one that nobody saw the end of may be there."""
    calls = types(talk.live, talk.key)
    ends = calls.count("model_responded") + calls.count("model_failed")
    holds(talk, unknown=calls.count("model_called") - ends)
    assert not talk.open_calls()


def plain(live: Live, talk: Conversation) -> list[tuple[str, str]]:
    """The context. That a session was taken up again is an event, so later items have other
    numbers, and a placeholder names its item by number."""
    return [
        (each["role"], re.sub(r"item \d+ of", "item N of", json.dumps(each)))
        for each in context(live, talk.key)
    ]


def are_there(folder: Path, told_of: list[Mapping[str, Any]]) -> None:
    """Everything that the process told of stands in the log, where it said."""
    kinds = {"Calling": "model_called", "Answered": "message_appended"}
    kinds |= {"ToolEnded": "tool_result_recorded"}
    with open_log(folder / "talk.db") as live:
        (stream,) = live.log.streams()
        events = list(live.log.read(stream.key))
        assert [event.position for event in events] == list(range(1, len(events) + 1))
        for each in told_of:
            assert each["version"] <= len(events)
            if each["kind"] in kinds:
                event = events[each["position"] - 1]
                assert event.type == kinds[each["kind"]]
            if each["kind"] == "Answered" and each["text"]:
                assert event.data["message"]["content"] == each["text"]
            if each["kind"] == "ToolEnded":
                assert event.data["content"] == each["content"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """The context at the end of a conversation that nobody killed."""
    folder = tmp_path_factory.mktemp("whole")
    with serving(scripted) as server:
        found = goes_on(folder, server, system="Be brief.")
    assert sum("summary-of-earlier" in text for _, text in found) == 1
    assert any("item N of" in text for _, text in found)
    return found


class TestBetweenTwoSteps:
    """The conversation that goes on is the one that would have been."""

    def test_behind_a_result_and_before_the_next_call(
        self, tmp_path: Path, whole: list[tuple[str, str]]
    ) -> None:
        with serving(scripted) as server:
            told_of = killed_at(tmp_path, server, "ToolEnded 5")
            are_there(tmp_path, told_of)
            asked = len(server.requests)

            def then(talk: Conversation) -> None:
                happened = told(talk.go_on())
                assert [type(each).__name__ for each in happened if not isinstance(each, Piece)][
                    :3
                ] == ["Calling", "Answered", "ToolCalled"]
                assert happened[-1] == Ended("answered")

            assert goes_on(tmp_path, server, then=then) == whole
            assert len(server.requests) > asked
        assert (tmp_path / "written").read_text() == "1\n2\n3\n4\n5\n6\n"

    def test_behind_an_answer_and_before_the_next_message(
        self, tmp_path: Path, whole: list[tuple[str, str]]
    ) -> None:
        with serving(scripted) as server:
            told_of = killed_at(tmp_path, server, "Ended 5")
            are_there(tmp_path, told_of)

            def then(talk: Conversation) -> None:
                assert told(talk.go_on()) == []

            assert goes_on(tmp_path, server, then=then) == whole
        assert (tmp_path / "written").read_text() == "1\n2\n3\n4\n5\n6\n"


def test_inside_a_stream_the_call_has_no_end_and_is_made_again(
    tmp_path: Path, whole: list[tuple[str, str]]
) -> None:
    def which(asked: Asked) -> bool:
        last = asked["messages"][-1]
        return last["role"] == "tool" and last["content"] == "wrote 5"

    with holding(which) as (server, held):
        told_of = killed_when(
            tmp_path,
            server,
            held,
            lambda lines: (
                lines[-1]["kind"] == "Piece" and any(e.get("content") == "wrote 5" for e in lines)
            ),
        )
        are_there(tmp_path, told_of)
        with open_log(tmp_path / "talk.db") as live:
            (stream,) = live.log.streams()
            assert types(live, stream.key)[-1] == "model_called"
            holds(live, stream.key, unknown=1)
        assert goes_on(tmp_path, server) == whole


def test_inside_a_compaction_nothing_of_its_turn_stands(
    tmp_path: Path, whole: list[tuple[str, str]]
) -> None:
    with holding(lambda asked: not asked.get("stream")) as (server, held):
        told_of = killed_when(tmp_path, server, held)
        are_there(tmp_path, told_of)
        with open_log(tmp_path / "talk.db") as live:
            (stream,) = live.log.streams()
            assert types(live, stream.key)[-1] == "reply_ended"
            assert "context_compacted" not in types(live, stream.key)
            holds(live, stream.key)
        assert goes_on(tmp_path, server) == whole


class TestInsideATool:
    """What a tool did before it was killed nobody knows."""

    def killed(self, folder: Path, server: ModelServer) -> None:
        are_there(folder, killed_at(folder, server, "write 5"))
        assert (folder / "written").read_text() == "1\n2\n3\n4\n5"
        with open_log(folder / "talk.db") as live:
            (stream,) = live.log.streams()
            assert types(live, stream.key)[-1] == "tool_call_started"
            holds(live, stream.key)

    def copied(self, folder: Path, to: Path) -> Path:
        """The log as it was when it was found, beside what the tool had written."""
        to.mkdir()
        for name in ("talk.db", "written"):
            (to / name).write_bytes((folder / name).read_bytes())
        return to

    def test_one_with_effects_is_not_run_again_without_asking(self, tmp_path: Path) -> None:
        asked: list[tuple[str, Any, Judgement]] = []

        def denies(tool: Tool, arguments: Mapping[str, Any], why: Judgement) -> bool:
            asked.append((tool.name, dict(arguments), why))
            return False

        def allows(tool: Tool, arguments: Mapping[str, Any], why: Judgement) -> bool:
            return not denies(tool, arguments, why)

        results: list[str] = []

        def then(talk: Conversation) -> None:
            happened = told(talk.go_on())
            (ran,) = [each for each in happened if isinstance(each, ToolEnded)]
            results.append(ran.content)
            assert happened[-1] == Ended("answered")

        with serving(scripted) as server:
            self.killed(tmp_path, server)
            names = ("alone", "denied", "allowed", "other")
            alone, denied, allowed, other = (
                self.copied(tmp_path, tmp_path / name) for name in names
            )
            goes_on(alone, server, 5, then)
            assert asked == []
            goes_on(denied, server, 5, then, approve=denies)
            goes_on(allowed, server, 5, then, approve=allows)
            said_instead = goes_on(other, server, 6, lambda talk: told(talk.say("turn 6")))
        assert asked == [("write", {"n": 5}, Judgement("ask", STARTED))] * 2
        assert results == [UNKNOWN, UNKNOWN, "wrote 5"]
        assert (alone / "written").read_text() == "1\n2\n3\n4\n5"
        assert (denied / "written").read_text() == "1\n2\n3\n4\n5"
        assert (allowed / "written").read_text() == "1\n2\n3\n4\n55\n"
        assert any("no result was recorded" in text.lower() for _, text in said_instead)
        assert (other / "written").read_text() == "1\n2\n3\n4\n5"

    def test_one_without_effects_is_run_again(
        self, tmp_path: Path, whole: list[tuple[str, str]]
    ) -> None:
        with serving(scripted) as server:
            are_there(tmp_path, killed_at(tmp_path, server, "look 5"))
            assert goes_on(tmp_path, server) == whole


@pytest.mark.slow
@pytest.mark.parametrize("number", range(30))
def test_whenever_it_dies_it_is_finished(number: int, tmp_path: Path) -> None:
    choose = random.Random(number)
    with serving(scripted) as server, talking(tmp_path, server, last=20) as child:
        first = child.stdout.readline()
        time.sleep(choose.random() * 2.5)
        child.kill()
        told_of = [json.loads(line) for line in (first, *child.stdout)]
        assert child.stderr.read() == b""
        are_there(tmp_path, told_of)
        found = goes_on(tmp_path, server, last=20)
    assert "answer to turn 20" in found[-1][1]
    lines = (tmp_path / "written").read_text().split()
    assert len(lines) in (19, 20)  # one may have been begun, and was not run again
