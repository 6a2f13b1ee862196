"""How a recorder that was started again knows where a conversation stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eventlog.events import MessageAppended, ModelCalled, ModelFailed, ModelResponded, SessionTitled
from eventlog.recorded import StreamKey
from projections import Live, last_answers, open_log
from projections.erasure import apply, plan


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db") as opened:
        yield opened


def key(session: str, agent: str = "recorded") -> StreamKey:
    return StreamKey("local", agent, session)


def said(text: str, call: int) -> MessageAppended:
    message = {"role": "assistant", "content": text}
    return MessageAppended(dialect="openai_chat", source="model", call=call, message=message)


def answer(live: Live, stream: StreamKey, text: str) -> int:
    """A call and its answer; where the answer stands."""
    call = live.append(stream, ModelCalled(model="m", dialect="openai_chat")).last
    return live.append(stream, said(text, call), ModelResponded(call=call)).first


def found(live: Live) -> list[tuple[str, str]]:
    each = last_answers.last_answers(live, "local", "recorded")
    return [(last.stream.session, last.message["content"]) for last in each]


def test_the_last_of_each_session_and_the_newest_session_first(live: Live) -> None:
    for session in ("one", "other"):
        for number in range(3):
            answer(live, key(session), f"{session} {number}")
    answer(live, key("one"), "one 3")
    answer(live, key("imported", "claude-code"), "of another agent")
    assert found(live) == [("other", "other 2"), ("one", "one 3")]


def test_what_came_behind_it_hides_it_not(live: Live) -> None:
    answer(live, key("s"), "the last")
    for _ in range(3):
        call = live.append(key("s"), ModelCalled(model="m", dialect="openai_chat")).last
        live.append(key("s"), ModelFailed(call=call, error="overloaded"))
    live.append(key("s"), SessionTitled(title="A title"))
    (last,) = last_answers.last_answers(live, "local", "recorded")
    assert (last.call, last.dialect) == (1, "openai_chat")
    assert last.message == {"role": "assistant", "content": "the last"}


def test_a_fork_has_answers_of_its_own(live: Live) -> None:
    answer(live, key("s"), "first")
    live.log.fork(key("s~2"), key("s"), 3)
    assert found(live) == [("s", "first")]
    answer(live, key("s~2"), "beside")
    assert found(live) == [("s~2", "beside"), ("s", "first")]


def test_an_erased_one_is_none(live: Live) -> None:
    at = answer(live, key("s"), "a secret")
    apply(live, plan(live, key("s"), [str(at)]))
    assert found(live) == []


def test_only_those_begun_last_are_looked_at(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        answer(live, key(f"n{number}"), str(number))
    monkeypatch.setattr(last_answers, "SESSIONS", 2)
    assert found(live) == [("n4", "4"), ("n3", "3")]
    monkeypatch.setattr(last_answers, "_AMONG", 1)
    assert found(live) == [("n4", "4")]
