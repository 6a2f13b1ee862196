"""A state as a value: its context, and its JSON there and back."""

from __future__ import annotations

import pytest
from agent_events import LOG, answered, placed, said
from hypothesis import given, settings
from pydantic import ValidationError

from eventlog import events
from eventlog.errors import EventInvalid
from eventlog.recorded import RecordedEvent
from projections.agent_state.folding import fold
from projections.agent_state.state import AgentState, StartedCall
from projections.context import fold as fold_view
from projections.materialize import materialize, needed


def state_of(*said: events.Event) -> AgentState:
    return of_log(placed(said))


def of_log(log: list[RecordedEvent]) -> AgentState:
    view = fold_view(log)
    by_position = {event.position: event for event in log}
    assert needed(view.standing()) <= by_position.keys()
    items = materialize(view.standing(), by_position, view.pins)
    return fold(log).state.with_context(items)


class TestJson:
    """A state that cannot be written, or comes back another, is no state to go on with."""

    @settings(max_examples=200)
    @given(LOG)
    def test_any_state_comes_back_equal(self, said: list[events.Event]) -> None:
        state = state_of(*said)
        text = state.model_dump_json()
        assert text.isascii()
        assert AgentState.model_validate_json(text) == state
        assert AgentState.model_validate_json(state.model_dump_json(indent=2).encode()) == state
        assert AgentState.model_validate(state.model_dump()) == state

    def test_a_lone_surrogate_and_a_message_as_deep_as_may_be_come_back(self) -> None:
        nested: object = "\ud83d"
        for _ in range(97):
            nested = [nested]
        state = state_of(said("user", nested))
        assert AgentState.model_validate_json(state.model_dump_json()) == state

    @pytest.mark.parametrize("text", ["", "{", '{"position": NaN}', "[" * 100_000])
    def test_what_is_no_json_is_refused(self, text: str) -> None:
        with pytest.raises(EventInvalid):
            AgentState.model_validate_json(text)

    @pytest.mark.parametrize(
        "text",
        ["[]", '{"mood": 1}', '{"context": [{"item": "x"}]}', '{"permissions": {"mode": "yes"}}'],
    )
    def test_what_is_no_state_is_refused(self, text: str) -> None:
        with pytest.raises(ValidationError):
            AgentState.model_validate_json(text)

    def test_it_cannot_be_changed(self) -> None:
        with pytest.raises(ValidationError):
            AgentState().position = 3  # type: ignore[misc]


class TestContext:
    """What the model would be shown: as the view has it, with who said it."""

    def test_each_message_has_its_item_source_and_label(self) -> None:
        state = state_of(
            said("system", "S"),
            said("user", "remember", source="memory", label="note"),
            said("assistant", None, calls=["call_1"]),
            answered("call_1", "x" * 50),
            events.PlaceholderSubstituted(item="4", content="[cleared]"),
            events.ItemPinned(item="2"),
        )
        assert [(m.item, m.source, m.label, m.name, m.is_pinned) for m in state.context] == [
            ("1", "injected", "", "", False),
            ("2", "memory", "note", "", True),
            ("3", "model", "", "", False),
            ("4", "tool", "", "shell", False),
        ]
        assert state.context[3].message.value["content"] == "[cleared]"
        assert state.summary == ""

    def test_the_summary_is_what_the_compactions_that_stand_wrote(self) -> None:
        def compacted(text: str, *covered: str, label: str = "") -> events.ContextCompacted:
            message = {"role": "user", "content": text}
            new = events.NewMessage(dialect="openai_chat", message=message, label=label)
            return events.ContextCompacted(covered=covered, messages=(new,))

        log = [said("user", "a"), said("user", "b"), compacted("first", "1"), said("user", "c")]
        assert state_of(*log).summary == "first"
        log.append(compacted("second", "2", label="summary"))
        assert state_of(*log).summary == "first\n\nsecond"
        assert [m.label for m in state_of(*log).context] == ["summary", "summary", ""]
        log.append(compacted("third", "3.0", "5.0"))
        assert state_of(*log).summary == "third"
        log.append(events.DecisionUndone(target=6))
        assert state_of(*log).summary == "first\n\nsecond"

    def test_a_message_that_was_brought_in_as_a_summary_is_one(self) -> None:
        state = state_of(said("user", "what was", source="injected", label="summary"))
        assert state.summary == "what was"

    def test_of_the_started_calls_those_stay_that_are_open_in_it(self) -> None:
        calls = tuple(StartedCall(tool_call_id=each, name="shell") for each in ("a", "b", "gone"))
        state = AgentState(started_calls=calls)
        log = placed([said("assistant", None, calls=["a", "b"]), answered("a")])
        view = fold_view(log)
        items = materialize(view.standing(), {event.position: event for event in log})
        assert [call.tool_call_id for call in state.with_context(items).started_calls] == ["b"]
