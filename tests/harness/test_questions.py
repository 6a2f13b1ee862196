"""Questions about a context: asked once, kept, and never an exception for what a model says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, completion, serving

from eventlog import EventLog, StreamKey
from eventlog.events import MessageAppended
from eventlog.outputs import Outputs
from harness.errors import Unreachable
from harness.questions import MOST, NOT_TAKEN, Questions

KEY = StreamKey("ann", "coder", "s1")
CONTEXT = [{"role": "user", "content": "ORD-1 is late"}, {"role": "assistant", "content": "ok"}]


@pytest.fixture
def log(log: EventLog) -> EventLog:
    message = {"role": "user", "content": "x"}
    log.append(KEY, MessageAppended(dialect="openai_chat", source="human", message=message))
    return log


def questions(server: ModelServer, log: EventLog, told: list[str] | None = None) -> Questions:
    waiting = told.append if told is not None else lambda text: None
    return Questions(server.endpoint(), Outputs(log), KEY, waiting)


def test_the_question_is_the_last_message_and_there_are_no_tools(log: EventLog) -> None:
    with serving(lambda r: completion("ORD-1")) as server:
        answer = questions(server, log).ask(CONTEXT, "which order?")
    assert (answer.text, answer.fault) == ("ORD-1", "")
    [request] = server.requests
    assert request["messages"] == [*CONTEXT, {"role": "user", "content": "which order?"}]
    assert request["max_tokens"] == MOST
    assert "tools" not in request


def test_the_same_is_asked_once_and_a_second_time_apart(log: EventLog) -> None:
    numbers = iter(range(9))
    told: list[str] = []
    with serving(lambda r: completion(f"answer {next(numbers)}")) as server:
        for _ in range(2):
            asking = questions(server, log, told)
            assert asking.ask(CONTEXT, "q", about="the left").text == "answer 0"
            assert asking.ask(CONTEXT, "q", 2).text == "answer 1"
        assert asking.ask(CONTEXT, "another q").text == "answer 2"
        assert asking.ask(CONTEXT[:1], "q").text == "answer 3"
    assert len(asking.asked) == 2
    assert told[:2] == ["asking m about the left", "asking m about a context"]
    assert len(told) == 4


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (completion(""), "it gave no text"),
        (completion(None, refusal="I won't"), "refused: I won't"),
        (completion("the beg", finish="length"), "cut off"),
        (
            completion(
                None,
                tool_calls=[
                    {"id": "1", "type": "function", "function": {"name": "ls", "arguments": ""}}
                ],
            ),
            "it called a tool: ls",
        ),
        ((400, {"error": {"message": "too long"}}), f"{NOT_TAKEN}too long (status 400)"),
    ],
)
def test_what_is_no_answer_says_why(log: EventLog, answer: Any, fault: str) -> None:
    with serving(lambda r: answer) as server:
        assert questions(server, log).ask(CONTEXT, "q").fault == fault


def test_a_dead_model_is_an_error(log: EventLog) -> None:
    with serving(lambda r: (500, {})) as server, pytest.raises(Unreachable):
        questions(server, log).ask(CONTEXT, "q")


def test_what_cannot_be_kept_is_used_and_counted(log: EventLog, tmp_path: Path) -> None:
    with serving() as server, EventLog(log.path, lock_timeout=0.05) as busy:
        asking = questions(server, busy)
        with log.writing():
            assert asking.ask(CONTEXT, "q").text == "a summary"
        assert asking.unkept == 1
        with EventLog(log.path, read_only=True) as reading:
            asking = questions(server, reading)
            assert asking.ask(CONTEXT, "q").text == "a summary"
        assert asking.unkept == 1
