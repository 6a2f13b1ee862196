"""What a resume clears and keeps: each rule, and what goes wrong without it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from agent_events import LOG, busy, placed
from hypothesis import given
from pydantic import BaseModel

from eventlog import events
from projections.agent_state import folding
from projections.agent_state.folding import fold
from projections.agent_state.resuming import RULES, Fate, at_rest, resumption
from projections.agent_state.state import AgentState

INTERRUPTED = fold(placed(busy())).state
"""In the midst of an answer, when the process is killed."""


def resumed(rules: dict[str, Fate] | None = None) -> AgentState:
    """The state of a session that was killed and taken up again, by these rules."""
    with pytest.MonkeyPatch.context() as patch:
        if rules is not None:
            patch.setattr(folding, "at_rest", lambda state: at_rest(state, rules))
        return fold(placed([*busy(), resumption(INTERRUPTED)])).state


def without(*names: str) -> dict[str, Fate]:
    """The rules without some: what was cleared is left over, what was kept is lost."""
    other: dict[Fate, Fate] = {"cleared": "kept", "kept": "cleared"}
    return {name: other[fate] if name in names else fate for name, fate in RULES.items()}


OUTPUT = ("reply.output_schema", "reply.output_value", "reply.has_output")


class TestTheThreeLeftovers:
    """Each was once left over by a state that came back whole, and only whole."""

    def test_the_next_answer_is_not_held_to_the_schema_of_the_last_one(self) -> None:
        reply = resumed().reply
        assert reply.output_schema is None
        assert (reply.has_output, reply.output_value) == (False, None)

    def test_the_next_answer_has_all_its_calls_again(self) -> None:
        assert INTERRUPTED.reply.iteration == 1
        assert resumed().reply.iteration == 0

    def test_the_tools_that_were_activated_are_active(self) -> None:
        assert resumed().tools.groups == ("files", "shell")

    @pytest.mark.parametrize(
        ("test", "rules"),
        [
            ("test_the_next_answer_is_not_held_to_the_schema_of_the_last_one", OUTPUT),
            ("test_the_next_answer_has_all_its_calls_again", ("reply.iteration",)),
            ("test_the_tools_that_were_activated_are_active", ("tools.groups",)),
        ],
    )
    def test_each_of_these_needs_its_own_rule_and_no_other(
        self, monkeypatch: pytest.MonkeyPatch, test: str, rules: tuple[str, ...]
    ) -> None:
        others = tuple(name for name in RULES if name not in rules)
        monkeypatch.setattr(folding, "at_rest", lambda state: at_rest(state, without(*others)))
        getattr(self, test)()
        for rule in rules:
            dropped = without(rule)
            monkeypatch.setattr(
                folding, "at_rest", lambda state, dropped=dropped: at_rest(state, dropped)
            )
            with pytest.raises(AssertionError):
                getattr(self, test)()


def leaves(value: BaseModel, prefix: str = "") -> Iterator[tuple[str, object]]:
    """The parts of a state as the rules name them."""
    for name in type(value).model_fields:
        part = getattr(value, name)
        if isinstance(part, BaseModel):
            yield from leaves(part, f"{prefix}{name}.")
        else:
            yield prefix + name, part


class TestRules:
    """A part that nobody decided about would be kept by accident."""

    def test_every_part_that_events_set_has_one(self) -> None:
        of_the_view = {"session_id", "position", "summary", "context"}
        assert {name for name, _ in leaves(AgentState())} - of_the_view == set(RULES)

    @pytest.mark.parametrize("name", RULES)
    def test_each_one_is_applied_to_something_that_is_there(self, name: str) -> None:
        before, after, fresh = (
            dict(leaves(state))[name] for state in (INTERRUPTED, resumed(), AgentState())
        )
        if name == "permissions.mode":
            assert before == after
            return
        assert before != fresh, "the example has nothing there"
        assert after == (before if RULES[name] == "kept" else fresh)

    @given(LOG)
    def test_a_resume_folds_to_the_state_at_rest_whatever_the_event_names(
        self, said: list[events.Event]
    ) -> None:
        before = fold(placed(said)).state
        after = fold(placed([*said, events.SessionResumed(kept=("reply.iteration",))])).state
        assert after == at_rest(before).model_copy(update={"position": len(said) + 1})
        assert at_rest(after) == after


class TestResumption:
    """What a resume did stands in the log, for whoever asks why an answer is free of its schema."""

    def test_it_names_what_was_there(self) -> None:
        event = resumption(INTERRUPTED)
        assert event.cleared == (
            "reply.output_schema",
            "reply.output_value",
            "reply.iteration: 1",
            "reply.is_under_way: r1",
        )
        assert event.kept == (
            "permissions.mode: ask",
            "permissions.allow: 1",
            "permissions.deny: 1",
            "permissions.ask: 1",
            "tools.groups: files, shell",
            "tools.files: 1",
            "tasks: 2, 2 open",
            "middleware: memory",
            "started_calls: shell",
        )

    def test_of_what_was_nothing_it_says_nothing(self) -> None:
        event = resumption(resumed())
        assert event.cleared == ()
        assert resumption(AgentState()) == events.SessionResumed(kept=("permissions.mode: ask",))

    def test_a_long_list_is_counted(self) -> None:
        groups = tuple(f"g{n}" * 50 for n in range(30))
        state = AgentState(tools={"groups": groups})  # type: ignore[arg-type]
        (line,) = [line for line in resumption(state).kept if line.startswith("tools")]
        assert line.endswith("and 22 more")
        assert len(line) < 800
