"""Ctrl-C, or a caller that stops reading, at any moment of a reply: nothing stays open, what had
come of an answer is kept, every call is proved, and the next message is answered.

The signals are real, and sent from the place that a test is about: from the model's server while it
answers, from within a tool, from the callback that is asked, or at a line of our own code.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from conversing import LOOK, LOW, Asked, called, holds, is_closed, said, scripted, told, types
from conversing import writer as writing_to
from model_server import ModelServer, Sse, serving

from eventlog.events import Event, ModelFailed, ReplyEnded, ToolResultRecorded
from harness.conversation import Conversation
from harness.conversation.happenings import Ended, Happening, Piece
from harness.conversation.reply import INTERRUPTED, NOT_RUN
from harness.tools.attempt import INTERRUPTED as STOPPED
from harness.tools.context import Context
from harness.tools.permissions import Judgement
from harness.tools.tool import Tool, tool
from projections import Live, open_log

ROOT = str(Path(__file__).parents[2])


def strike() -> None:
    """Ctrl-C, as a terminal sends it."""
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "talk.db") as opened:
        yield opened


def begun(live: Live, server: ModelServer, name: str = "s", **settings: Any) -> Conversation:
    return Conversation(
        live, server.client(), "m", session=name, system="Be brief.", strategy=LOW, **settings
    )


def is_interrupted(
    talk: Conversation, text: str, heard: Callable[[Happening], object] = lambda each: None
) -> None:
    with pytest.raises(KeyboardInterrupt):
        list(map(heard, talk.say(text)))
    assert is_closed(talk)
    holds(talk)
    assert types(talk.live, talk.key)[-1] == "reply_ended"


def goes_on(talk: Conversation, text: str = "turn 9") -> None:
    assert told(talk.say(text))[-1] == Ended("answered")
    assert is_closed(talk)
    holds(talk)


def events(talk: Conversation, kind: type[Event]) -> list[Any]:
    found = [each.event for each in talk.live.log.read(talk.key)]
    return [each for each in found if isinstance(each, kind)]


def half(answer: Sse, then: Callable[[], object]) -> Callable[[BaseHTTPRequestHandler], None]:
    """An answer of which half is sent; the client has to go away before it ends."""

    def send(to: BaseHTTPRequestHandler) -> None:
        to.send_response(200)
        to.send_header("content-type", "text/event-stream")
        to.end_headers()
        pieces = [piece for piece in answer.pieces() if isinstance(piece, bytes)]
        to.wfile.write(b"".join(pieces[: len(pieces) // 2]))
        to.wfile.flush()
        then()
        to.connection.settimeout(60)
        to.rfile.read(1)  # until the client has gone
        to.close_connection = True

    return send


class TestCtrlC:
    @pytest.mark.parametrize("calls", [False, True])
    def test_in_a_stream_keeps_what_had_come(self, calls: bool, live: Live, tmp_path: Path) -> None:
        read = threading.Event()
        answered = said("one two three four five")
        if calls:
            two = (("a", "write", {"n": 1}), ("b", "write", {"n": 2}))
            answered = called(*two, text="one")

        def answer(asked: Asked) -> Any:
            if asked["messages"][-1]["content"] != "turn 1":
                return scripted(asked)
            return half(answered, lambda: read.wait(60) and strike())

        with serving(answer) as server:
            talk = begun(live, server, tools=[writing_to(tmp_path / "written")])

            def heard(each: Happening) -> None:
                if isinstance(each, Piece):
                    read.set()

            is_interrupted(talk, "turn 1", heard)
            (failed,) = events(talk, ModelFailed)
            assert failed.partial.message.value["content"].startswith("one")
            assert [item.text for item in talk.items()] == ["Be brief.", "turn 1"]
            assert not (tmp_path / "written").exists()
            goes_on(talk)

    def test_before_the_first_byte(self, live: Live) -> None:
        def silent(to: BaseHTTPRequestHandler) -> None:
            strike()
            to.connection.settimeout(60)
            to.rfile.read(1)
            to.close_connection = True

        def answer(asked: Asked) -> Any:
            return silent if asked["messages"][-1]["content"] == "turn 1" else scripted(asked)

        with serving(answer) as server:
            talk = begun(live, server)
            is_interrupted(talk, "turn 1")
            assert [each.error for each in events(talk, ModelFailed)] == ["KeyboardInterrupt"]
            goes_on(talk)

    def test_in_a_tool_that_listens_and_in_one_that_does_not(self, live: Live) -> None:
        release = threading.Event()

        def listens(n: int, context: Context) -> str:
            """Stop when told to."""
            strike()
            context.cancelled.wait(60)
            return "stopped in time"

        def deaf(n: int) -> str:
            """Never stop."""
            strike()
            strike()
            release.wait(60)
            return "too late"

        try:
            with serving(scripted) as server:
                talk = begun(live, server, tools=[listens, deaf])
                is_interrupted(talk, "turn 1: listens")
                is_interrupted(talk, "turn 2: deaf")
                assert [r.content for r in events(talk, ToolResultRecorded)] == [
                    "stopped in time",
                    STOPPED,
                ]
                goes_on(talk)
        finally:
            release.set()

    def test_in_a_batch_of_tools_each_call_has_its_own_end(self, live: Live) -> None:
        both = threading.Barrier(2)

        def ready(n: int) -> str:
            """Is done before the others."""
            return f"ready {n}"

        def waits(n: int, context: Context) -> str:
            """Beside another one."""
            if both.wait(60) == 0:
                strike()
            context.cancelled.wait(60)
            raise InterruptedError

        def never(n: int) -> str:
            """Comes behind them."""
            raise AssertionError

        def answer(asked: Asked) -> Any:
            if asked["messages"][-1]["content"] != "turn 1":
                return scripted(asked)
            names = ("ready", "waits", "waits", "never", "ready")
            return called(*((f"c{n}", name, {"n": n}) for n, name in enumerate(names)))

        with serving(answer) as server:
            tools = [tool(each, has_effects=each is never) for each in (ready, waits, never)]
            talk = begun(live, server, tools=tools)
            is_interrupted(talk, "turn 1")
            results = {r.tool_call_id: r.content for r in events(talk, ToolResultRecorded)}
            assert results["c0"] == "ready 0"
            assert "InterruptedError" in results["c1"]
            assert "InterruptedError" in results["c2"]
            assert results["c3"] == results["c4"] == NOT_RUN
            goes_on(talk)

    def test_in_a_summary_nothing_of_the_message_stands(self, live: Live) -> None:
        struck: list[bool] = []

        def silent(to: BaseHTTPRequestHandler) -> None:
            struck.append(True)
            strike()
            to.connection.settimeout(60)
            to.rfile.read(1)
            to.close_connection = True

        def answer(asked: Asked) -> Any:
            return scripted(asked) if asked.get("stream") or struck else silent

        with serving(answer) as server:
            talk = begun(live, server, tools=[LOOK])
            for n in (1, 2, 3):
                goes_on(talk, f"turn {n}: look")
            version = talk.version
            with pytest.raises(KeyboardInterrupt):
                told(talk.say("turn 4"))
            assert (talk.version, live.log.version(talk.key)) == (version, version)
            holds(talk)
            goes_on(talk, "turn 4")
            assert "context_compacted" in types(live, talk.key)

    def test_while_a_person_is_asked(self, live: Live, tmp_path: Path) -> None:
        def asks(of: Tool, arguments: Mapping[str, Any], why: Judgement) -> bool:
            strike()
            return True

        with serving(scripted) as server:
            written = tmp_path / "written"
            talk = begun(live, server, tools=[writing_to(written)], approve=asks)
            is_interrupted(talk, "turn 1: write")
            assert [r.content for r in events(talk, ToolResultRecorded)] == [NOT_RUN]
            assert not written.exists()
            goes_on(talk)


# -- a caller that stops reading ------------------------------------------------------------------


def batch(asked: Asked) -> Any:
    """A turn with a batch of tools, one that is alone, and an answer; summaries are written."""
    last = asked["messages"][-1]
    if asked.get("stream") and last["content"] == "turn 5":
        return called(*((f"c{n}", "look", {"n": n}) for n in range(3)), ("w", "write", {"n": 5}))
    if asked.get("stream") and last.get("tool_call_id") in ("c0", "c1", "c2", "w"):
        return said("All of it is done.")
    return scripted(asked)


def test_a_caller_may_stop_reading_at_any_point(live: Live, tmp_path: Path) -> None:
    with serving(batch) as server:

        def ready(name: str) -> Conversation:
            talk = begun(live, server, name, tools=[LOOK, writing_to(tmp_path / name)])
            for n in (1, 2, 3):
                told(talk.say(f"turn {n}: look" if n == 1 else f"turn {n}"))
            return talk

        happened = told(ready("whole").say("turn 5"))
        kinds = {type(each).__name__ for each in happened}
        assert kinds >= {"Changed", "Calling", "Piece", "Answered", "ToolCalled", "ToolEnded"}
        for point in range(len(happened) + 1):
            talk = ready(f"at {point}")
            reply = talk.say("turn 5")
            read = [next(reply) for _ in range(point)]
            assert [type(each) for each in read] == [type(each) for each in happened[:point]]
            reply.close()
            assert not point or is_closed(talk)
            holds(talk)
            results = [each.content for each in events(talk, ToolResultRecorded)][1:]
            ran = [line for line in results if line not in (INTERRUPTED, NOT_RUN)]
            ends = sum(type(each).__name__ == "ToolEnded" for each in read)
            assert len(ran) - ends in (0, 1)  # it is recorded before it is told
            failed = events(talk, ModelFailed)
            if point and isinstance(happened[point - 1], Piece):
                text = "".join(each.text for each in read if isinstance(each, Piece))
                kept = [one.partial.message.value["content"] for one in failed]
                kept = kept or [talk.items()[-1].text]  # all of it had come
                assert [each[: len(text)] for each in kept] == [text]
            goes_on(talk)


def test_another_message_closes_a_reply_that_nobody_read_to_its_end(live: Live) -> None:
    """Also one that is still held, as the frames of a traceback hold it."""
    with serving(scripted) as server:
        for point in range(1, 12):
            talk = begun(live, server, f"at {point}", tools=[LOOK])
            earlier = talk.say("turn 1: look, look")
            for _ in range(point):
                next(earlier)
            if point % 2:
                goes_on(talk, "turn 2: look")
            else:
                told(talk.go_on())
                assert is_closed(talk)
            assert list(earlier) == []
            holds(talk)
            ends = [each.outcome for each in events(talk, ReplyEnded)]
            assert ends == ["interrupted", "answered"]


def test_a_tool_says_nothing_in_the_conversation_that_runs_it(live: Live) -> None:
    def talks(n: int) -> str:
        """Talk where it must not."""
        return talk.ask("turn 7")

    with serving(scripted) as server:
        talk = begun(live, server, tools=[talks])
        goes_on(talk, "turn 1: talks")
        (result,) = events(talk, ToolResultRecorded)
        assert result.is_error
        assert "a reply of this conversation runs" in result.content
        goes_on(talk)


# -- at any line of ours --------------------------------------------------------------------------


class Strikes:
    """Sends the signal when a line of our own code is reached, counted over those of some files;
    and again when so many more were."""

    def __init__(self, files: tuple[str, ...], *lines: int) -> None:
        self._files, self._at = files, list(lines)
        self.lines = 0

    def __enter__(self) -> Strikes:
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(self._before)

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        is_ours = name.startswith(ROOT) and any(part in name for part in self._files)
        return self._reached if is_ours else None

    def _reached(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.lines += 1
            if self._at and self.lines == self._at[0]:
                del self._at[0]
                self.lines = 0
                signal.raise_signal(signal.SIGINT)
        return self._reached


WRITERS = ("harness/conversation/", "harness/tools/running", "eventlog/log.py", "eventlog/writing")
WRITERS += ("harness/recording/transport", "projections/followed", "eventlog/connection")


def struck(live: Live, server: ModelServer, written: Path, name: str, *lines: int) -> int:
    """Interrupt a reply with two tools at these lines, and go on; how many lines it has."""
    with server.client(max_retries=2) as client:
        talk = Conversation(
            live, client, "m", session=name, strategy=LOW, tools=[LOOK, writing_to(written)]
        )
        for n in (1, 2, 3):
            told(talk.say(f"turn {n}"))
        with Strikes(WRITERS, *lines) as strikes:
            try:
                told(talk.say("turn 5: look, write"))
            except KeyboardInterrupt:
                assert lines
        if len(lines) == 1:
            assert is_closed(talk)
        goes_on(talk, "turn 9: look")
    return strikes.lines


# One that strikes in a finalizer Python tells of, and does not raise.
UNRAISED = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@UNRAISED
def test_at_any_line_of_ours(live: Live, tmp_path: Path) -> None:
    with serving(scripted) as server:
        lines = struck(live, server, tmp_path / "w", "whole")
        choose = random.Random(1)
        for number, line in enumerate(sorted(choose.sample(range(1, lines), 12))):
            struck(live, server, tmp_path / "w", f"once {number}", line)
        for number in range(6):
            line, later = choose.randrange(1, lines), choose.choice([1, 5, 20, 80, 300])
            struck(live, server, tmp_path / "w", f"twice {number}", line, later)


@UNRAISED
@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_at_many_lines_of_ours(part: int, live: Live, tmp_path: Path) -> None:
    with serving(scripted) as server:
        lines = struck(live, server, tmp_path / "w", "whole")
        choose = random.Random(part)
        for line in range(1 + part * 9, lines, 72):
            struck(live, server, tmp_path / "w", f"once {line}", line)
            if line % 2:
                later = choose.choice([1, 5, 20, 80, 300])
                struck(live, server, tmp_path / "w", f"twice {line}", line, later)
