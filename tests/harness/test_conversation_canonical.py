"""A server may answer what OpenAI's chat does not take back. Then the session says how it is sent,
before it is: nothing of a session of our own is read off its requests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from conversing import LOOK, InOrder, holds, said, told, types, writer
from model_server import Answer, Sse, chunk, completion, serving

from eventlog.events import MessageAppended
from eventlog.jsonvalue import Json
from harness.conversation import Conversation
from harness.conversation.canonical import REASON, revisions
from harness.conversation.happenings import Ended
from harness.state_documents import export_state, import_state
from harness.tools.tool import Tool, tool
from projections import Live, open_log
from projections.dialects import dialect

HALF = "a\ud800b"
"""Half of a surrogate pair: JSON can write it, UTF-8 cannot."""


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "talk.db") as opened:
        yield opened


def halves(n: int) -> str:
    """Say what no request can hold."""
    return f"{n} " + HALF * n


HALVES: Tool = tool(halves, has_effects=False)


def answer(*calls: Mapping[str, Any], finish: str = "tool_calls", **delta: Any) -> Sse:
    if calls:
        delta["tool_calls"] = [dict(call) for call in calls]
    return Sse((chunk(role="assistant", **delta), chunk(finish=finish)))


def call(number: int = 0, name: Any = "look", arguments: Any = '{"n":1}', **given: Any) -> Any:
    """A call as it should be, but for what is given."""
    whole = {"index": number, "id": f"call_{number}", "type": "function"}
    return {**whole, "function": {"name": name, "arguments": arguments}, **given}


def without(field: str) -> dict[str, Any]:
    return {key: value for key, value in call().items() if key != field}


def talked(live: Live, *answers: Answer, turns: int = 3, **settings: Any) -> list[dict[str, Any]]:
    """A conversation with these answers first; what it was asked. Each call is proved after each
    turn, and what this process knows is what the log holds."""
    answering = InOrder(*answers, said("fine"))
    with serving(answering) as server:
        talk = Conversation(
            live, server.client(), "m", session="s", **{"tools": [LOOK, HALVES], **settings}
        )
        for number in range(turns):
            assert told(talk.say(f"turn {number}"))[-1] == Ended("answered")
            holds(talk)
            nothing_was_inferred(talk)
        again = Conversation(live, server.client(), "m", session="s", tools=[LOOK, HALVES])
        assert again.ask("and once more") == "fine"
        holds(again)
        nothing_was_inferred(again)
    return answering.asked


def nothing_was_inferred(talk: Conversation) -> None:
    events = talk.live.log.read(talk.key)
    assert [(e.position, e.type) for e in events if e.data.get("inferred")] == []


def reasons(live: Live, key: Any) -> list[str]:
    return [e.data["reason"] for e in live.log.read(key, types=["message_revised"])]


def key_of(live: Live) -> Any:
    (key,) = [each.key for each in live.log.streams() if each.key.session == "s"]
    return key


def ids(request: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The ids of the calls of a request, and those of its results."""
    made = [c["id"] for m in request["messages"] for c in m.get("tool_calls") or ()]
    return made, [m["tool_call_id"] for m in request["messages"] if m["role"] == "tool"]


class TestACallThatIsNotAsItShouldBe:
    @pytest.mark.parametrize(
        "given",
        [
            without("type"),
            {"id": "a", "function": {"name": "look", "arguments": '{"n":1}'}},
            {**call(), "index": -1, "type": None},
            call(arguments={"n": 1}),
            call(name=None),
            call(name="lo\0ok\x1b[31m", id="c\0 1"),
            call(name=HALF),
            call(id=HALF),
            call(arguments='{"n": "' + HALF + '"}'),
        ],
        ids=["type", "index", "null", "object", "nameless", "control", "half", "half-id", "text"],
    )
    def test_is_revised_once_before_it_is_sent_back(self, live: Live, given: Any) -> None:
        asked = talked(live, answer(given))
        assert dialect("openai_chat").validate(asked[-1]) == []
        assert set(reasons(live, key_of(live))) == {REASON}
        assert len(reasons(live, key_of(live))) <= 2  # one more where its result has to follow
        made, answered = ids(asked[-1])
        assert made == answered
        assert len(made) == 1

    @pytest.mark.parametrize("given", ["", None, 7], ids=["empty", "null", "a number"])
    def test_gets_an_id_where_it_has_none_and_its_result_the_same(
        self, live: Live, given: Any
    ) -> None:
        asked = talked(live, answer(call(id=given)), answer(call(id=given)))
        made, answered = ids(asked[-1])
        assert made == answered
        assert len(set(made)) == 2
        assert all(made)
        assert asked[-1]["messages"][2]["role"] == "tool"

    def test_has_its_id_before_its_tool_runs(self, live: Live, tmp_path: Path) -> None:
        write = writer(tmp_path / "written")
        calls = answer(call(0, "write", id=""), call(1, "write", '{"n":2}', id=""))
        talked(live, calls, tools=[write])
        key = key_of(live)
        began = [e.data["tool_call_id"] for e in live.log.read(key, types=["tool_call_started"])]
        ended = [e.data["tool_call_id"] for e in live.log.read(key, types=["tool_result_recorded"])]
        assert sorted(began) == sorted(ended)
        assert len(set(began)) == 2
        assert all(began)
        assert sorted((tmp_path / "written").read_text()) == ["\n", "\n", "1", "2"]

    def test_gets_one_of_its_own_beside_others_without_one(self, live: Live) -> None:
        asked = talked(live, answer(call(0, id=""), call(1, id=None), call(2, id="")))
        made, answered = ids(asked[-1])
        assert sorted(made) == sorted(answered)
        assert len(set(made)) == 3

    def test_leaves_what_fits_alone(self, live: Live) -> None:
        talked(live, answer(call()), said("plain"))
        assert "message_revised" not in types(live, key_of(live))
        assert "repair_applied" not in types(live, key_of(live))


class TestHalfOfASurrogatePair:
    def test_in_an_answer_is_sent_as_the_mark_for_what_cannot_be_read(self, live: Live) -> None:
        asked = talked(live, answer(content=HALF, finish="stop"))
        assert asked[-1]["messages"][1]["content"] == "a\ufffdb"
        (item,) = [i for i in live.items(key_of(live)) if i.text == "a\ufffdb"]
        (first,) = live.log.read(key_of(live), int(item.id) - 1, int(item.id))
        assert first.data["message"]["content"] == HALF

    def test_in_a_result_is_replaced_whether_or_not_the_result_is_cut(self, live: Live) -> None:
        results = [call(0, "halves", '{"n": 3}'), call(1, "halves", '{"n": 300}')]
        talked(live, answer(*results), strategy="cut:limit=80")
        assert len(reasons(live, key_of(live))) == 2

    def test_in_a_summary_is_replaced_and_the_summary_goes_on(self, live: Live) -> None:
        def answering(asked: dict[str, Any]) -> Answer:
            return said("fine") if asked.get("stream") else completion(f"They spoke of {HALF}.")

        with serving(answering) as server:
            talk = Conversation(
                live, server.client(), "m", session="s", strategy="compact:keep_turns=1"
            )
            for number in range(4):
                talk.ask(f"turn {number}: " + "a word or two " * 60)
                holds(talk)
            nothing_was_inferred(talk)
            assert "context_compacted" in types(live, talk.key)

    def test_of_what_a_program_or_a_person_says_is_replaced(self, live: Live) -> None:
        with serving(InOrder(said("fine"))) as server:
            talk = Conversation(live, server.client(), "m", session="s", system=f"Be {HALF}.")
            talk.inject(HALF, "reminder")
            talk.ask(HALF)
            talk.ask("again")
            holds(talk)
            nothing_was_inferred(talk)
        assert len(reasons(live, talk.key)) == 3

    def test_that_came_in_with_a_state_is_replaced(self, live: Live) -> None:
        with serving(InOrder(said("fine"))) as server:
            talk = Conversation(live, server.client(), "m", session="first")
            talk.ask("hello")
            talk.inject(HALF, "reminder")
            document = json.loads(json.dumps(export_state(live, talk.key)))
            import_state(live, document, talk.key._replace(session="s"))
            again = Conversation(live, server.client(), "m", session="s")
            assert again.ask("go on") == "fine"
            holds(again)
            nothing_was_inferred(again)


class TestARevision:
    def test_is_taken_anew_after_it_was_undone(self, live: Live) -> None:
        with serving(InOrder(answer(without("type")), said("fine"))) as server:
            talk = Conversation(live, server.client(), "m", session="s", tools=[LOOK])
            talk.ask("go")
            (revised,) = live.log.read(talk.key, types=["message_revised"])
            talk.undo(revised.position)
            talk.ask("again")
            holds(talk)
            nothing_was_inferred(talk)
            assert len(reasons(live, talk.key)) == 2

    @pytest.mark.parametrize("turn", ["", "and again"])
    def test_of_an_id_that_is_undone_has_no_tool_run_again(
        self, live: Live, tmp_path: Path, turn: str
    ) -> None:
        write, nameless = writer(tmp_path / "written"), {"name": "write", "arguments": '{"n":1}'}
        calls = answer(call(0, id="", function=nameless), call(1, id=None, function=nameless))
        with serving(InOrder(calls, said("fine"))) as server:
            talk = Conversation(live, server.client(), "m", session="s", tools=[write])
            talk.ask("go")
            (revised,) = live.log.read(talk.key, types=["message_revised"])
            talk.undo(revised.position)
            told(talk.say(turn) if turn else talk.go_on())
            if turn:
                holds(talk)
            nothing_was_inferred(talk)
        assert (tmp_path / "written").read_text() == "1\n1\n"

    def test_stands_although_the_process_ended_before_the_tool_ran(self, live: Live) -> None:
        with serving(InOrder(answer(call(id=None)), said("fine"))) as server:
            talk = Conversation(live, server.client(), "m", session="s", tools=[LOOK])
            happenings = talk.say("go")
            while not talk.open_calls():
                next(happenings)
            happenings.close()
            again = Conversation(live, server.client(), "m", session="s", tools=[LOOK])
            assert again.ask("and now") == "fine"
            holds(again)
            nothing_was_inferred(again)

    def test_is_not_made_of_what_is_sent_as_it_stands(self, live: Live) -> None:
        talked(live, answer(call()))
        items = live.items(key_of(live))
        assert revisions(items, dialect("openai_chat").render(items)["messages"]) == []


class TestAnotherDialectInBetween:
    def test_is_translated_before_the_next_call(self, live: Live) -> None:
        picture = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
        content = [{"type": "text", "text": "see"}, {"type": "image", "source": picture}]
        with serving(InOrder(said("fine"))) as server:
            talk = Conversation(live, server.client(), "m", session="s")
            talk.ask("hello")
            message = Json({"role": "user", "content": content})
            live.append(
                talk.key, MessageAppended(dialect="anthropic", source="injected", message=message)
            )
            talk.refresh()
            assert talk.ask("what is it?") == "fine"
            holds(talk)
            nothing_was_inferred(talk)
