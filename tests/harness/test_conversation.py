"""A live conversation, over a real client and a real server: what it does, the log says."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from model_server import ModelServer, Sse, serving
from pydantic import BaseModel
from scripted import Call, Reply, following, streamed

from eventlog.errors import InputRefused, WrongExpectedVersion
from eventlog.events import ContextCompacted, PlaceholderSubstituted
from harness.conversation import Conversation
from harness.conversation.happenings import (
    Answered,
    Changed,
    Ended,
    Happening,
    Piece,
    ToolCalled,
    ToolEnded,
)
from harness.errors import ReplyFailed
from harness.tools.tool import tool
from harness.tools.toolbox import toolbox
from projections import Live, open_log
from projections.dialects import dialect
from projections.judging import judge_all
from projections.legality import check
from projections.sessions import session_stats

LAYERS = "cut:limit=80 | clear:keep=2 | compact:keep_turns=3"
TURNS = 40


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "agent.db") as found:
        yield found


def script(said: str, rounds: int) -> Reply:
    """Forty turns of work on files: what is done in a turn follows from its number."""
    number = int(said.split()[1].rstrip(":"))
    name = f"notes/{number % 7}.txt"
    note = {"path": name, "content": f"note {number}\n" * 30}
    work: dict[int, list[list[Call]]] = {
        0: [[("read_file", {"path": name})] if number > 34 else [], [("write_file", note)]],
        1: [[("shell", {"command": f"seq {number} {number + 60}"})]],
        2: [[("read_file", {"path": "big.txt"}), ("list_files", {"path": "."})]],
        3: [],
        4: [
            [("plan", {"tasks": [f"task {number}", "another"]})],
            [("shell", {"command": "false"})],
        ],
    }
    steps = [step for step in work[number % 5] if step]
    return steps[rounds] if rounds < len(steps) else f"turn {number} is done"


def verdicts(live: Live, conversation: Conversation) -> list[str]:
    calls = list(live.log.read(conversation.key, types=["model_called"]))
    return [verdict.name for verdict in judge_all(live, conversation.key, calls)]


def is_what_the_log_shows(live: Live, conversation: Conversation) -> bool:
    held = [(item.id, dict(item.message)) for item in conversation.items()]
    return held == [(item.id, dict(item.message)) for item in live.items(conversation.key)]


class TestFortyTurns:
    """The must of a live conversation: every decision is an event, every call is proved."""

    def test_every_decision_stands_in_the_log_and_every_call_is_exact(
        self, live: Live, tmp_path: Path
    ) -> None:
        root = tmp_path / "work"
        root.mkdir()
        (root / "big.txt").write_text("".join(f"line {n} of a large file\n" for n in range(300)))
        told: list[Happening] = []
        with serving(following(script)) as server:
            conversation = Conversation(
                live,
                server.client(),
                "m",
                session="forty",
                system="You work on files.",
                strategy=LAYERS,
                tools=toolbox("files,shell", root),
            )
            for number in range(TURNS):
                told += conversation.say(f"turn {number}: go on")
                assert is_what_the_log_shows(live, conversation), number
            requests = [each for each in server.requests if each.get("stream")]
        key = conversation.key
        found = Counter(event.type for event in live.log.read(key))
        ends = [each for each in told if isinstance(each, Ended)]
        assert [each.outcome for each in ends] == ["answered"] * TURNS
        assert len(requests) == found["model_called"] == found["model_responded"] > 2 * TURNS
        assert set(verdicts(live, conversation)) == {"exact"}
        assert session_stats(live, key).provenance == "exact"
        calls = live.log.read(key, types=["model_called"])
        assert {call.data["strategy"] for call in calls} == {conversation.charge.spec}
        # What was told while it happened is what the log holds, of each kind.
        changes = Counter(
            change.kind for each in told if isinstance(each, Changed) for change in each.changes
        )
        events = [event.event for event in live.log.read(key)]
        placeholders = [e for e in events if isinstance(e, PlaceholderSubstituted)]
        assert Counter(each.kind for each in placeholders) == {
            kind: changes[kind] for kind in ("cut", "cleared")
        }
        compactions = [e for e in events if isinstance(e, ContextCompacted)]
        assert len(compactions) == changes["summarised"] == TURNS - 3
        assert not any(e.inferred for e in (*placeholders, *compactions))
        assert all(e.summarizer is not None and e.summarizer.usage for e in compactions)
        assert min(changes["cut"], changes["cleared"]) > 10
        # Results are stored whole, and the tools' other traces with them.
        results = [e.data for e in live.log.read(key, types=["tool_result_recorded"])]
        assert any("line 299 of a large file" in each["content"] for each in results)
        assert (
            sum(each.get("is_error", False) for each in results) == 8
        )  # one command in five turns fails
        state = conversation.state
        wanted = [task.title for task in state.tasks if task.status == "pending"]
        assert sorted(wanted) == ["another", "task 39"]
        assert len(state.tools.files) == 8
        # And no provider would have refused what was sent.
        assert not [fault for each in requests for fault in dialect("openai_chat").validate(each)]
        assert not check(conversation.items())


@tool(has_effects=False)
def look(name: Annotated[str, "what to look at"]) -> str:
    """Look at a thing."""
    return f"{name} is there"


def looking(said: str, rounds: int) -> Reply:
    return [("look", {"name": said})] if rounds == 0 and "look" in said else f"you said: {said}"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(following(looking)) as found:
        yield found


def begun(live: Live, server: ModelServer, session: str = "s", **settings: Any) -> Conversation:
    given = {"session": session, "tools": [look], **settings}
    return Conversation(live, server.client(), "m", **given)


class TestAReply:
    def test_is_told_as_it_happens_and_stands_in_the_log_by_then(
        self, live: Live, server: ModelServer
    ) -> None:
        conversation = begun(live, server)
        kinds = []
        for each in conversation.say("look here"):
            kinds.append(type(each).__name__)
            if isinstance(each, Answered | ToolEnded):
                at = live.log.at(conversation.key, [each.position])[each.position]
                assert at.type in ("message_appended", "tool_result_recorded")
        assert [k for n, k in enumerate(kinds) if k != "Piece" or kinds[n - 1] != "Piece"] == [
            *("Calling", "Answered", "ToolCalled", "ToolEnded"),
            *("Calling", "Piece", "Answered", "Ended"),
        ]

    def test_pieces_are_what_was_answered(self, live: Live, server: ModelServer) -> None:
        told = list(begun(live, server).say("hello there"))
        pieces = "".join(each.text for each in told if isinstance(each, Piece))
        [answer] = [each.text for each in told if isinstance(each, Answered)]
        assert pieces == answer == "you said: hello there"

    def test_of_a_program_carries_its_source_and_its_label(
        self, live: Live, server: ModelServer
    ) -> None:
        conversation = begun(live, server)
        list(conversation.say("the build is red", source="injected", label="ci"))
        position = conversation.inject("the build is green", "ci")
        last = conversation.items()[-1]
        assert (last.id, last.source, last.label) == (str(position), "injected", "ci")
        assert not any(item.is_human for item in conversation.items())

    def test_ends_when_too_many_calls_were_made(self, live: Live) -> None:
        with serving(following(lambda said, rounds: [("look", {"name": "x"})])) as server:
            conversation = begun(live, server, most_calls=3)
            with pytest.raises(ReplyFailed, match="exhausted: 3 calls"):
                conversation.ask("look")
            assert len(server.requests) == 3
        assert not conversation.open_calls()

    def test_of_an_unknown_tool_tells_the_model_which_there_are(self, live: Live) -> None:
        calls = following(lambda s, rounds: [("lok", {})] if rounds == 0 else "sorry")
        with serving(calls) as server:
            told = list(begun(live, server).say("go"))
        [ended] = [each for each in told if isinstance(each, ToolEnded)]
        assert ended.is_error
        assert "look" in ended.content


class Verdicts(BaseModel):
    passed: bool
    notes: list[str] = []


class TestStructuredOutput:
    def test_is_validated_recorded_and_asked_for_again(self, live: Live) -> None:
        answers = iter(["no JSON", '{"passed": "perhaps"}', '{"passed": true}'])
        with serving(following(lambda said, rounds: next(answers))) as server:
            conversation = begun(live, server)
            told = list(conversation.say("does it pass?", output=Verdicts))
            formats = [each["response_format"]["json_schema"]["name"] for each in server.requests]
        assert formats == ["Verdicts"] * 3
        assert told[-1] == Ended("answered")
        assert conversation.state.reply.output_value is not None
        assert conversation.state.reply.output_value.value == {"passed": True}
        labels = [item.label for item in conversation.items()]
        assert labels.count("output-refused") == 2

    def test_is_given_as_the_model_that_was_asked_for(self, live: Live) -> None:
        with serving(following(lambda said, rounds: '{"passed": true, "notes": ["a"]}')) as server:
            found = begun(live, server).ask_for("does it pass?", Verdicts)
        assert found == Verdicts(passed=True, notes=["a"])

    def test_is_asked_for_again_where_a_reply_is_finished_that_was_cut_off(
        self, live: Live
    ) -> None:
        with serving(following(lambda said, rounds: '{"passed": true}')) as server:
            conversation = begun(live, server)
            conversation.ask_for("does it pass?", Verdicts)
            started = list(live.log.read(conversation.key, types=["reply_started"]))[-1]
            conversation.rewind(started.position)
            assert list(conversation.go_on(output=Verdicts))[-1] == Ended("answered")
        assert conversation.state.reply.output_value is not None

    def test_that_never_comes_ends_the_reply(self, live: Live) -> None:
        with serving(following(lambda said, rounds: "no JSON")) as server:
            told = list(begun(live, server).say("does it pass?", output=Verdicts))
        assert isinstance(told[-1], Ended)
        assert told[-1].outcome == "failed"


class TestASharedClient:
    """An agent has one client and many sessions; what one of them leaves must not end another."""

    def test_goes_on_when_a_conversation_that_used_it_is_gone(
        self, live: Live, server: ModelServer
    ) -> None:
        client = server.client()
        stays = Conversation(live, client, "m", session="stays")
        gone = Conversation(live, client, "m", session="gone")
        gone.ask("hello")
        reply = stays.say("a long answer " * 40)
        pieces = [next(reply) for _ in range(3)]
        gone.close()
        del gone
        gc.collect()
        ended = [*pieces, *reply][-1]
        assert ended == Ended("answered")
        assert client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}]
        ).choices


class TestGoingOn:
    """The same session with another model, other tools or another prompt keeps its history."""

    def test_in_another_process_has_the_same_context(
        self, live: Live, server: ModelServer, tmp_path: Path
    ) -> None:
        first = begun(live, server, system="be brief")
        first.ask("look here")
        with open_log(tmp_path / "agent.db") as other:
            second = Conversation(other, server.client(), "m2", session="s", system="be long")
            assert second.ask("and again").startswith("you said")
            sent = server.requests[-1]
        assert sent["model"] == "m2"
        assert "tools" not in sent
        assert [each["role"] for each in sent["messages"]] == [
            *("system", "user", "assistant", "tool", "assistant", "user"),
        ]
        assert sent["messages"][0]["content"] == "be long"
        assert set(verdicts(live, second)) == {"exact"}

    def test_with_the_same_prompt_changes_nothing(self, live: Live, server: ModelServer) -> None:
        begun(live, server, system="be brief")
        begun(live, server, system="be brief")
        kinds = [event.type for event in live.log.read("local/chat/s")]
        assert kinds.count("message_appended") == 1
        assert "message_revised" not in kinds
        assert kinds.count("session_resumed") == 1

    def test_of_a_session_that_another_program_writes_is_refused(
        self, live: Live, server: ModelServer
    ) -> None:
        from harness import wrap

        client = wrap(server.client(), live, session="local/chat/seen")
        client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}], stream=True
        ).close()
        with pytest.raises(InputRefused, match="fork it"):
            begun(live, server, "seen")

    def test_after_another_process_appended_is_refused_and_recovers(
        self, live: Live, server: ModelServer
    ) -> None:
        one = begun(live, server)
        other = begun(live, server)  # it takes the session up, which the first has not seen
        with pytest.raises(WrongExpectedVersion):
            one.ask("mine")
        assert one.refresh() == 0  # what came was read when it was refused
        other.ask("theirs")
        with pytest.raises(WrongExpectedVersion):
            one.ask("mine")
        assert one.ask("mine") == "you said: mine"
        said = [item.text for item in live.items(one.key) if item.is_human]
        assert said == ["theirs", "mine"]


class TestRepairs:
    def test_a_result_is_that_of_the_last_call_of_its_id_also_where_an_earlier_one_has_none(
        self, live: Live
    ) -> None:
        """A server that numbers its calls anew, and a session that went back to before a result."""

        @tool(has_effects=False)
        def number(n: int) -> str:
            """Say a number."""
            return f"it is {n}"

        answers = iter([[("number", {"n": 1})], "one", [("number", {"n": 2})], "two", "the end"])
        with serving(lambda request: streamed(next(answers), "again")) as server:
            conversation = begun(live, server, tools=[number], strategy="none")
            conversation.ask("hello")
            [result] = live.log.read(conversation.key, types=["tool_result_recorded"])
            conversation.rewind(result.position - 1)
            for _ in conversation.say("once more"):
                assert is_what_the_log_shows(live, conversation)
            sent = server.requests[-1]["messages"]
        told = {each["tool_call_id"]: each["content"] for each in sent if each["role"] == "tool"}
        assert list(told.values()) == ["no result was recorded", "it is 2"]
        assert set(verdicts(live, conversation)) == {"exact"}

    def test_a_call_id_that_a_server_gives_again_is_renamed_and_what_was_cut_stays_cut(
        self, live: Live
    ) -> None:
        @tool(has_effects=False)
        def read() -> str:
            """Read much."""
            return "".join(f"line {number}\n" for number in range(200))

        def answer(request: dict[str, Any]) -> Sse:
            last = request["messages"][-1]
            return streamed("done" if last["role"] == "tool" else [("read", {})], "again")

        with serving(answer) as server:
            conversation = begun(live, server, tools=[read], strategy="cut:limit=40 | clear:keep=2")
            for number in range(6):
                conversation.ask(f"go on {number}")
                assert is_what_the_log_shows(live, conversation)
            sent = [str(request["messages"]) for request in server.requests]
        assert not any("line 100" in each for each in sent)
        assert set(verdicts(live, conversation)) == {"exact"}
        events = [event.event for event in live.log.read(conversation.key)]
        assert any(event.type == "repair_applied" for event in events)
        assert not any(getattr(event, "inferred", False) for event in events)

    def test_a_call_that_was_never_answered_is_closed_once_and_recorded(
        self, live: Live, server: ModelServer
    ) -> None:
        conversation = begun(live, server)
        for each in conversation.say("look here"):
            if isinstance(each, ToolCalled):
                break  # as if the process had ended: nobody reads on
        del each
        assert set(verdicts(live, conversation)) <= {"exact", "outcome_unknown"}
        assert conversation.ask("and now?") == "you said: and now?"
        assert set(verdicts(live, conversation)) == {"exact"}
