"""Prompts from templates, a model's window, and other agents as tools of a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from model_server import ModelServer, completion, serving
from scripted import Reply, following, streamed

from eventlog.errors import InputRefused
from eventlog.events import PromptRendered
from harness import Conversation, SubAgent, tool
from harness.conversation.happenings import CallFailed, Ended, ToolEnded
from projections import Live, open_log
from projections.judging import judge_all
from projections.prompts.parsing import parse
from projections.sessions import list_sessions, session_stats

REVIEW = parse(
    """
version: 3
reviewer:
  description: Reads code, and says what is wrong with it.
  system: You review {language}. Be brief.
writer:
  system: You write {language}.
""",
    "team",
)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "agent.db") as found:
        yield found


def verdicts(live: Live, conversation: Conversation) -> set[str]:
    calls = list(live.log.read(conversation.key, types=["model_called"]))
    return {verdict.name for verdict in judge_all(live, conversation.key, calls)}


def told(live: Live, conversation: Conversation) -> list[PromptRendered]:
    events = live.log.read(conversation.key, types=["prompt_rendered"])
    return [e.event for e in events if isinstance(e.event, PromptRendered)]


class TestAPromptOfATemplate:
    """Without the event nobody could say which prompt file a call was made with."""

    @pytest.fixture
    def server(self) -> Iterator[ModelServer]:
        with serving(following(lambda said, rounds: "fine")) as found:
            yield found

    def test_stands_in_the_context_and_says_what_it_was_made_of(
        self, live: Live, server: ModelServer
    ) -> None:
        prompt = REVIEW["reviewer"].render(language="Python")
        conversation = Conversation(live, server.client(), "m", session="s", system=prompt)
        conversation.ask("look")
        assert server.requests[0]["messages"][0]["content"] == "You review Python. Be brief."
        [event] = told(live, conversation)
        assert (event.item, event.template, event.role, event.version) == (
            *("2", "team", "reviewer", "3"),
        )
        assert verdicts(live, conversation) == {"exact"}

    def test_that_changes_revises_the_item_and_is_told_again(
        self, live: Live, server: ModelServer
    ) -> None:
        first, second = (REVIEW["reviewer"].render(language=name) for name in ("Python", "Rust"))
        conversation = Conversation(live, server.client(), "m", session="s", system=first)
        conversation.ask("look")
        conversation.prompt(first)  # it is that already
        conversation.prompt(second)
        conversation.ask("look again")
        assert [each.item for each in told(live, conversation)] == ["2", "2"]
        sent = [each["messages"][0]["content"] for each in server.requests]
        assert sent == ["You review Python. Be brief.", "You review Rust. Be brief."]
        assert verdicts(live, conversation) == {"exact"}
        taken_up = Conversation(live, server.client(), "m", session="s", system=second)
        assert len(told(live, taken_up)) == 2

    def test_with_the_same_text_of_another_template_is_told(
        self, live: Live, server: ModelServer
    ) -> None:
        conversation = Conversation(
            live, server.client(), "m", session="s", system="You review C. Be brief."
        )
        assert told(live, conversation) == []
        conversation.prompt(REVIEW["reviewer"].render(language="C"))
        assert len(told(live, conversation)) == 1
        assert len(list(live.log.read(conversation.key, types=["message_revised"]))) == 0

    def test_is_put_in_front_of_a_session_without_one(
        self, live: Live, server: ModelServer
    ) -> None:
        conversation = Conversation(live, server.client(), "m", session="s")
        conversation.ask("look")
        conversation.prompt("Be brief.")
        conversation.ask("look again")
        roles = [each["role"] for each in server.requests[-1]["messages"]]
        assert roles == ["system", "user", "assistant", "user"]
        assert verdicts(live, conversation) == {"exact"}


class TestAModelsWindow:
    """Compaction first, truncation where that fails; and never a loop."""

    def conversation(self, live: Live, server: ModelServer, **settings: Any) -> Conversation:
        given = {"session": "s", "strategy": "none", "most_calls": 4, **settings}
        return Conversation(live, server.client(), "m", **given)

    def test_that_would_be_overrun_brings_the_context_down_before_the_call(
        self, live: Live
    ) -> None:
        with serving(following(lambda said, rounds: "so it is. " * 40)) as server:
            conversation = self.conversation(live, server, window=700)
            for number in range(8):
                list(conversation.say(f"question {number} " + "and why? " * 20))
            sent = [each for each in server.requests if each.get("stream")]
        assert max(len(str(each["messages"])) for each in sent) < 700 * 4
        kinds = {event.type for event in live.log.read(conversation.key)}
        assert "context_compacted" in kinds
        assert verdicts(live, conversation) == {"exact"}

    def test_has_to_hold_the_definitions_of_tools_as_well(self, live: Live) -> None:
        @tool(name="wide", description="what it does. " * 100, has_effects=False)
        def wide(name: str) -> str:
            return name

        with serving(following(lambda said, rounds: "so it is. " * 20)) as server:
            conversation = self.conversation(live, server, window=1_000, tools=[wide])
            assert conversation.tokens > 300
            for number in range(8):
                list(conversation.say(f"question {number} " + "and why? " * 20))
            sent = [each for each in server.requests if each.get("stream")]
        assert max(len(str([each["messages"], each["tools"]])) for each in sent) < 1_000 * 4

    @pytest.mark.parametrize("summarizer_works", [True, False])
    def test_that_the_model_itself_knows_is_kept_after_its_refusal(
        self, live: Live, summarizer_works: bool
    ) -> None:
        def answer(request: dict[str, Any]) -> Any:
            if not request.get("stream"):
                return completion("short") if summarizer_works else (500, {"error": "down"})
            if len(str(request["messages"])) > 2_000:
                said = "This model's maximum context length is 500 tokens"
                return 400, {"error": {"message": said, "code": "context_length_exceeded"}}
            return streamed("so it is. " * 20)

        with serving(answer) as server:
            conversation = self.conversation(live, server)
            ends: list[Ended] = []
            failures: list[CallFailed] = []
            for number in range(12):
                for each in conversation.say(f"question {number} " + "and why? " * 20):
                    ends += [each] if isinstance(each, Ended) else []
                    failures += [each] if isinstance(each, CallFailed) else []
        assert {each.outcome for each in ends} == {"answered"}
        assert failures
        assert all(each.is_tried_again for each in failures)
        compactions = [e.data for e in live.log.read(conversation.key, types=["context_compacted"])]
        assert any(each.get("summarizer") for each in compactions) == summarizer_works
        assert verdicts(live, conversation) == {"exact"}

    def test_that_nothing_fits_into_ends_the_reply(self, live: Live) -> None:
        said = {"error": {"message": "prompt is too long", "type": "invalid_request_error"}}
        with serving(lambda request: (400, said)) as server:
            conversation = self.conversation(live, server)
            events = list(conversation.say("a question " * 400))
            assert len(server.requests) < 5
        assert isinstance(events[-1], Ended)
        assert events[-1].outcome == "failed"
        assert "too long" in events[-1].detail


@tool(has_effects=False)
def look(name: Annotated[str, "what to look at"]) -> str:
    """Look at a thing."""
    return f"{name} is there"


class TestAnotherAgentAsATool:
    """Its session is its own; where it came from stands in the log."""

    def script(self, said: str, rounds: int) -> Reply:
        if said.startswith("review"):
            return [("reviewer", {"task": "task: look at a.py"})] if rounds == 0 else "it is fine"
        return [("look", {"name": "a.py"})] if rounds == 0 else "a.py is there, and right"

    def test_answers_in_a_session_that_names_where_it_began(self, live: Live) -> None:
        role = SubAgent(REVIEW["reviewer"], (look,), variables={"language": "Python"})
        with serving(following(self.script)) as server:
            conversation = Conversation(
                live, server.client(), "m", session="s", tools=[role], strategy="none"
            )
            happened = list(conversation.say("review a.py"))
            described = server.requests[0]["tools"][0]["function"]
        assert described["description"] == "Reads code, and says what is wrong with it."
        [ended] = [each for each in happened if isinstance(each, ToolEnded)]
        assert ended.content == "a.py is there, and right"
        child, own = sorted(list_sessions(live), key=lambda each: each.key, reverse=True)
        assert own.key == "local/chat/s"
        assert (child.parent_session, child.provenance) == ("local/chat/s", "exact")
        assert child.title == "task: look at a.py"
        started = next(iter(live.log.read(child.key, types=["session_started"])))
        assert started.data["parent_call"] == ended.tool_call_id

    def test_that_fails_is_an_error_of_the_tool(self, live: Live) -> None:
        role = SubAgent(REVIEW["reviewer"], variables={"language": "Python"})

        def answer(request: dict[str, Any]) -> Any:
            if "tools" not in request:
                return 400, {"error": {"message": "no such model"}}
            return following(self.script)(request)

        with serving(answer) as server:
            conversation = Conversation(live, server.client(), "m", session="s", tools=[role])
            happened = list(conversation.say("review a.py"))
        [ended] = [each for each in happened if isinstance(each, ToolEnded)]
        assert ended.is_error
        assert "no such model" in ended.content
        assert happened[-1] == Ended("answered")

    def test_without_a_description_is_refused(self, live: Live) -> None:
        with serving() as server, pytest.raises(InputRefused, match="no description"):
            Conversation(live, server.client(), "m", tools=[SubAgent(REVIEW["writer"])])


class TestATitle:
    def test_is_asked_for_after_six_turns_and_only_when_wanted(self, live: Live) -> None:
        def answer(request: dict[str, Any]) -> Any:
            if not request.get("stream"):
                return completion("Questions about rain")
            return streamed("it rains")

        with serving(answer) as server:
            for name, wanted in (("a", True), ("b", False)):
                conversation = Conversation(
                    live, server.client(), "m", session=name, strategy="none", retitle=wanted
                )
                titles = []
                for number in range(7):
                    conversation.ask(f"does it rain in town {number}?")
                    titles.append(session_stats(live, conversation.key).title)
                last = "Questions about rain" if wanted else "does it rain in town 0?"
                assert titles[5:] == [last] * 2
                assert titles[4] == "does it rain in town 0?"
            assert sum(not each.get("stream") for each in server.requests) == 1
