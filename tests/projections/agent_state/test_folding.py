"""The fold of an agent's state, one event at a time."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from agent_events import (
    LOG,
    answered,
    busy,
    called,
    placed,
    said,
    seen,
    started,
    tasks,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import events
from eventlog.errors import CriticalUnknown
from eventlog.recorded import RecordedEvent
from projections.agent_state.folding import (
    NOT_REWOUND,
    READ,
    FileLimits,
    StateFolding,
    fold,
    initial,
)
from projections.agent_state.state import AgentState
from projections.context import REFOLDING, effective

TIGHT = FileLimits(entries=2, total_bytes=100)


def after(*said: events.Event, limits: FileLimits | None = None) -> AgentState:
    return fold(placed(said), limits).state


def in_one_go(log: Sequence[RecordedEvent], limits: FileLimits) -> AgentState:
    """The state by the rule alone: what is in force, and what no rewind takes back, in order."""
    in_force, _ = effective([e for e in log if e.type not in NOT_REWOUND])
    standing = [event for event in log if event.type in NOT_REWOUND]
    folding = StateFolding(limits)
    for event in sorted([*in_force, *standing], key=lambda event: event.position):
        folding.evolve(event)
    folding.position, folding.session_id = log[-1].position, log[-1].stream.session
    return folding.state


class TestAnyLog:
    """A live conversation moves its state on event by event; whoever opens the log folds it anew.
    Where the two differ, a resume is wrong and nobody sees why."""

    @settings(max_examples=300)
    @given(LOG)
    def test_each_step_is_as_folded_in_one_go(self, said: list[events.Event]) -> None:
        log, folding = placed(said), initial(TIGHT)
        for number, event in enumerate(log, 1):
            folding.evolve(event)
            assert folding.state == in_one_go(log[:number], TIGHT)

    @settings(max_examples=100)
    @given(LOG, st.integers(0, 40))
    def test_a_prefix_and_the_rest_are_the_whole(self, said: list[events.Event], at: int) -> None:
        log = placed(said)
        folding = fold(log[:at])
        for event in log[at:]:
            folding.evolve(event)
        assert folding.state == fold(log).state

    @settings(max_examples=100)
    @given(LOG)
    def test_only_what_is_said_to_be_read_matters(self, said: list[events.Event]) -> None:
        log = placed(said)
        some = fold(event for event in log if event.type in READ)
        some.position, some.session_id = log[-1].position, log[-1].stream.session
        assert some.state == fold(log).state


class TestReply:
    """Whoever goes on in the midst of an answer has to know what it owes."""

    def test_it_begins_with_its_schema_and_counts_the_calls(self) -> None:
        reply = after(
            called(),
            events.ReplyStarted(reply_id="r1", output_schema={"type": "object"}),
            called(),
            called(),
        ).reply
        assert (reply.reply_id, reply.iteration, reply.is_under_way) == ("r1", 2, True)
        assert reply.output_schema is not None
        assert reply.output_schema.value == {"type": "object"}

    def test_its_output_stays_when_it_ends_and_goes_when_the_next_begins(self) -> None:
        began = events.ReplyStarted(reply_id="r1")
        produced = events.OutputProduced(reply_id="r1", value={"ok": 1})
        ended = events.ReplyEnded(reply_id="r1")
        reply = after(began, produced, ended, called()).reply
        assert reply.output_value is not None
        assert reply.output_value.value == {"ok": 1}
        assert (reply.is_under_way, reply.iteration) == (False, 0)
        assert not after(began, produced, events.ReplyStarted(reply_id="r2")).reply.has_output

    def test_an_output_of_null_is_an_output(self) -> None:
        reply = after(
            events.ReplyStarted(reply_id="r1"), events.OutputProduced(reply_id="r1", value=None)
        ).reply
        assert (reply.has_output, reply.output_value) == (True, None)

    def test_what_is_said_of_another_reply_changes_nothing(self) -> None:
        reply = after(
            events.ReplyStarted(reply_id="r2"),
            events.OutputProduced(reply_id="r1", value=1),
            events.ReplyEnded(reply_id="r1"),
        ).reply
        assert (reply.has_output, reply.is_under_way) == (False, True)


class TestFiles:
    """A cache without limits grows with the session; one that forgets the newest is useless."""

    def test_the_least_recently_used_leaves_first(self) -> None:
        said = [seen("/a"), seen("/b"), seen("/a", how="written"), seen("/c")]
        files = after(*said, limits=TIGHT).tools.files
        assert [(file.path, file.how) for file in files] == [("/a", "written"), ("/c", "read")]

    def test_so_does_what_is_more_than_the_bytes_together(self) -> None:
        files = after(seen("/a", 50), seen("/b", 51), limits=TIGHT).tools.files
        assert [file.path for file in files] == ["/b"]

    def test_a_file_larger_than_the_limit_drives_no_other_out(self) -> None:
        files = after(seen("/a", 50), seen("/b", 101), limits=TIGHT).tools.files
        assert [file.path for file in files] == ["/a"]

    def test_what_was_known_of_it_leaves_when_it_has_grown_over_the_limit(self) -> None:
        assert after(seen("/a", 50), seen("/a", 101), limits=TIGHT).tools.files == ()

    def test_it_is_known_by_its_path(self) -> None:
        tools = after(seen("/a", 7, tool_call_id="call_9", is_whole=False)).tools
        found = tools.file("/a")
        assert found is not None
        assert (found.size, found.tool_call_id, found.is_whole) == (7, "call_9", False)
        assert tools.file("/b") is None


class TestMiddleware:
    def test_each_keeps_its_own_until_it_keeps_nothing(self) -> None:
        kept = events.MiddlewareStateSet(name="a", state={"n": 1})
        other = events.MiddlewareStateSet(name="b", state=[2])
        gone = events.MiddlewareStateSet(name="a", state=None)
        assert {n: j.value for n, j in after(kept, other).middleware.items()} == {
            "a": {"n": 1},
            "b": [2],
        }
        assert list(after(kept, other, gone).middleware) == ["b"]


class TestStartedCalls:
    """A command that ran before a kill would run a second time if nobody knew that it had."""

    def test_a_call_without_a_result_is_one(self) -> None:
        calls = after(started("call_1"), started("call_2"), answered("call_1")).started_calls
        assert [call.tool_call_id for call in calls] == ["call_2"]

    def test_a_result_that_a_repair_put_in_answers_it_too(self) -> None:
        repaired = events.RepairApplied(rule="unanswered_call", call_ids=("call_1",))
        assert after(started("call_1"), repaired).started_calls == ()

    def test_an_id_that_is_used_again_is_another_call(self) -> None:
        said = [started("call_1"), answered("call_1"), started("call_1")]
        assert [call.tool_call_id for call in after(*said).started_calls] == ["call_1"]

    def test_a_rewind_does_not_make_it_not_have_run(self) -> None:
        said = [called(), started("call_1"), answered("call_1"), events.SessionRewound(to=1)]
        assert [call.tool_call_id for call in after(*said).started_calls] == ["call_1"]

    def test_a_call_that_was_answered_before_the_place_gone_back_to_stays_answered(self) -> None:
        said = [started("call_1"), answered("call_1"), called(), events.SessionRewound(to=2)]
        assert after(*said).started_calls == ()


class TestRewind:
    """After going back a person expects the tasks of then, and the permissions of now."""

    def test_what_the_conversation_brought_about_goes_back_with_it(self) -> None:
        said = [
            tasks("look"),
            events.ToolGroupsSet(groups=("files",)),
            events.MiddlewareStateSet(name="m", state=1),
            seen("/a"),
        ]
        then = after(*said)
        later = [
            tasks("look", "mend"),
            events.ToolGroupsSet(groups=()),
            events.MiddlewareStateSet(name="m", state=2),
            seen("/b"),
            events.ReplyStarted(reply_id="r1"),
        ]
        back = after(*said, *later, events.SessionRewound(to=4))
        assert back == then.model_copy(update={"position": 10})

    def test_what_a_person_allowed_or_forbade_does_not(self) -> None:
        said = [
            events.PermissionsSet(mode="allow"),
            events.PermissionsSet(mode="ask", deny=("shell(rm *)",)),
            events.SessionRewound(to=1),
        ]
        permissions = after(*said).permissions
        assert (permissions.mode, permissions.deny) == ("ask", ("shell(rm *)",))

    def test_an_undone_rewind_has_never_been(self) -> None:
        said = [tasks("look"), tasks("mend"), events.SessionRewound(to=1)]
        assert [task.title for task in after(*said).tasks] == ["look"]
        undone = after(*said, events.DecisionUndone(target=3))
        assert [task.title for task in undone.tasks] == ["mend"]
        again = after(*said, events.DecisionUndone(target=3), events.DecisionUndone(target=4))
        assert [task.title for task in again.tasks] == ["look"]

    def test_a_rewind_that_goes_nowhere_changes_nothing(self) -> None:
        assert after(tasks("look"), events.SessionRewound(to=9)).tasks[0].title == "look"

    def test_a_thousand_of_them_cost_a_thousand_steps(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Folding anew at each of them would be quadratic."""

        def refused(folding: StateFolding) -> AgentState:
            raise AssertionError("a rewind folded the stream anew")

        monkeypatch.setattr(StateFolding, "_refolded", refused)
        said: list[events.Event] = []
        for number in range(1000):
            said += [tasks(f"{number}"), tasks("wrong")]
            said.append(events.SessionRewound(to=len(said) - 1))
        assert [task.title for task in after(*said).tasks] == ["999"]


class TestErased:
    """What was erased may have been a rule: nothing becomes allowed by it."""

    @pytest.mark.parametrize(
        ("mode", "left"), [("allow", "ask"), ("read_only", "ask"), ("ask", "ask"), ("deny", "deny")]
    )
    def test_erased_permissions_allow_nothing_unasked(self, mode: str, left: str) -> None:
        event = events.PermissionsSet.model_validate({"mode": mode, "deny": ("shell(rm *)",)})
        (erased,) = placed([event])
        erased.erased, erased.payload, erased._event = True, f'{{"mode":"{mode}"}}', None
        assert fold([erased]).state.permissions.mode == left

    def test_an_erased_file_is_not_known(self) -> None:
        (erased,) = placed([seen("[redacted]")])
        erased.erased = True
        assert fold([erased]).state.tools.files == ()


class TestUnknown:
    def test_an_unknown_type_is_passed_over_and_a_critical_one_refused(self) -> None:
        log = placed([tasks("look"), tasks("mend")])
        log[1].type = "mood_set"
        assert [task.title for task in fold(log).state.tasks] == ["look"]
        log[1].critical = True
        with pytest.raises(CriticalUnknown, match="mood_set"):
            fold(log)


def test_every_event_of_the_agent_is_folded_or_said_to_say_nothing() -> None:
    """An event that is added and forgotten here would be lost on a resume."""
    elsewhere = {
        "permission_decided": "one call was judged; the next one is judged by the rules",
        "prompt_rendered": "the prompts in force are folded by themselves",
    }
    from eventlog import agent

    own = {
        cls.model_fields["type"].default
        for cls in vars(agent).values()
        if isinstance(cls, type) and issubclass(cls, events.EventBase) and cls != events.EventBase
    }
    assert own == (own & READ) | elsewhere.keys()
    assert REFOLDING <= READ


def test_a_busy_session_holds_something_of_everything() -> None:
    state = after(*busy(), said("assistant", "more"))
    assert state.position == 16
    assert all(
        (
            state.session_id == "work",
            state.reply.has_output,
            state.reply.output_schema,
            state.reply.iteration == 1,
            state.permissions.deny,
            state.tools.groups,
            state.tools.files,
            state.tasks,
            state.middleware,
            [call.tool_call_id for call in state.started_calls] == ["call_2"],
        )
    )
