"""The course of a session: its events, folded into interactions."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_events import LOG, placed, said
from hypothesis import given
from told import INJECTED, call, course, fixing, human, model, result, tasks

from eventlog import StreamKey, events
from eventlog.errors import CriticalUnknown
from eventlog.recorded import RecordedEvent
from eventlog.redaction import Target, redact
from projections import open_log
from projections.context import REFOLDING
from projections.memory.course import READ, CourseFold, course_of

KEY = StreamKey("local", "agent", "work")


class TestInteractions:
    """A message of a person, and all that came of it."""

    def test_one_begins_with_what_a_person_says(self) -> None:
        found = course(model("hello"), *fixing(), human("Thanks!"), model("Welcome.")).interactions
        assert [(each.number, each.request) for each in found] == [
            (1, ""),
            (2, "Why do the tests fail?"),
            (3, "Thanks!"),
        ]
        assert found[1].answer.startswith("The root cause")
        assert [source.positions for source in found[1].sources] == [(2, 3, 4, 5)]

    def test_a_call_has_its_subject_and_what_came_of_it(self) -> None:
        found = course(*fixing(), call("c2", "ls"), call("c3", "rm x"), result("c2", "a b")).pending
        assert [(tool.name, tool.subject) for tool in found] == [("shell", "rm x")]
        tools = course(*fixing()).interactions[0].tools
        assert [(t.outcome, t.error, t.position, t.answered) for t in tools] == [
            ("error", "ValueError: bad row", 2, 3)
        ]

    def test_ids_that_repeat_are_answered_in_their_order(self) -> None:
        events_ = [
            human("go"),
            call("c", "a"),
            call("c", "b"),
            result("c", "ok"),
            result("c", "ok"),
        ]
        assert [tool.answered for tool in course(*events_).interactions[0].tools] == [4, 5]

    def test_what_a_command_prints_can_be_an_error_and_what_was_read_cannot(self) -> None:
        printed = course(human("go"), call("c", "make"), result("c", "error: no such file"))
        assert printed.interactions[0].errors == ("error: no such file",)
        read = said("assistant", None, calls=["c"])
        found = course(human("go"), read, result("c", "error: no such file")).interactions[0]
        assert found.errors == ()

    def test_what_is_said_next_tells_how_it_was_taken(self) -> None:
        taken = course(human("a"), human("Thanks!"), human("That's wrong"), human("b"))
        assert [each.feedback for each in taken.interactions] == ["positive", "negative", "", ""]

    def test_tasks_are_finished_where_they_are(self) -> None:
        found = course(
            tasks(look="done"),
            human("go"),
            tasks(look="done", mend="in_progress", paint="pending"),
            tasks(look="done", mend="done", paint="dropped"),
            tasks(look="done", mend="done", paint="dropped"),
        )
        assert [(each.done, each.dropped) for each in found.interactions] == [
            (("mend",), ("paint",))
        ]
        assert [task.status for task in found.tasks] == ["done", "done", "dropped"]

    @pytest.mark.parametrize("dialect", ["anthropic", "openai_responses"])
    def test_any_dialect_is_read(self, dialect: str) -> None:
        arguments = {"command": "make"}
        calling = {
            "anthropic": {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c", "name": "sh", "input": arguments}],
            },
            "openai_responses": {
                "items": [
                    {"type": "function_call", "call_id": "c", "name": "sh"}
                    | {"arguments": '{"command": "make"}'}
                ]
            },
        }[dialect]
        answering = {
            "anthropic": {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c", "content": "error: no file"}
                ],
            },
            "openai_responses": {
                "type": "function_call_output",
                "call_id": "c",
                "output": "error: no file",
            },
        }[dialect]
        found = course(
            human("go"),
            events.MessageAppended.model_validate(
                {"dialect": dialect, "source": "model", "message": calling}
            ),
            events.MessageAppended.model_validate(
                {"dialect": dialect, "source": "human", "message": answering}
            ),
        )
        assert [(each.request, each.errors) for each in found.interactions] == [
            ("go", ("error: no file",))
        ]


class TestWhoSaid:
    """Only what is recorded as said by a person counts as said by one."""

    @pytest.mark.parametrize("source", ["memory", "retrieval", "injected", "model"])
    def test_what_is_put_in_was_said_by_nobody(self, source: str) -> None:
        found = course(human("go"), said("user", INJECTED, source=source), model("done"))
        signs = [sign.kind for each in found.interactions for _, sign in each.signs()]
        assert not set(signs) & {"remember", "preference", "basics"}

    def test_nor_was_what_a_tool_gives_back(self) -> None:
        found = course(human("go"), call("c", "cat a"), result("c", INJECTED)).interactions[0]
        assert [sign for said in found.said for sign in said.signs] == []

    def test_nor_was_anything_in_the_session_of_a_sub_agent(self) -> None:
        start = events.SessionStarted(parent_session="local/agent/a", parent_call="c1")
        found = course(start, human(INJECTED), model("done"))
        assert found.is_subagent
        assert [said.by for said in found.interactions[0].said] == ["task", "model"]
        assert [sign for said in found.interactions[0].said for sign in said.signs] == []

    def test_of_what_was_revised_only_what_stands_in_both_counts(self) -> None:
        both = human("I prefer tabs. Always use pytest.")
        revised = events.MessageRevised(
            item="1", message={"role": "user", "content": f"I prefer tabs.\n{INJECTED}"}
        )
        found = course(both, revised).interactions[0]
        assert [sign.text for said in found.said for sign in said.signs] == ["I prefer tabs"]
        undone = course(both, revised, events.DecisionUndone(target=2)).interactions[0]
        assert len([sign for said in undone.said for sign in said.signs]) == 2


class TestGoingBack:
    """What was rewound away is in it no more."""

    def test_a_rewind_takes_it_away_and_its_undo_brings_it_back(self) -> None:
        begun = [human("a"), model("b"), human("I prefer tabs"), model("c")]
        back = [*begun, events.SessionRewound(to=2), human("d")]
        assert [each.request for each in course(*back).interactions] == ["a", "d"]
        undone = [*begun, events.SessionRewound(to=2), events.DecisionUndone(target=5)]
        assert [each.request for each in course(*undone).interactions] == ["a", "I prefer tabs"]

    @given(LOG)
    def test_one_by_one_is_all_at_once(self, log: list[events.Event]) -> None:
        recorded = placed(log)
        fold = CourseFold()
        for event in recorded:
            fold.evolve(event)
            assert fold.course == course_of(recorded, event.position)

    @given(LOG)
    def test_the_events_that_it_reads_suffice(self, log: list[events.Event]) -> None:
        recorded = placed(log)
        read = course_of(event for event in recorded if event.type in READ)
        assert read.interactions == course_of(recorded).interactions

    @given(LOG)
    def test_each_position_is_in_one_interaction_and_in_force(
        self, log: list[events.Event]
    ) -> None:
        found = course_of(placed(log))
        at = [p for each in found.interactions for s in each.sources for p in s.positions]
        assert len(at) == len(set(at))
        if not any(event.type in REFOLDING for event in log):
            asked = [e for e in log if e.type == "message_appended" and e.source == "human"]
            assert len([i for i in found.interactions if i.request]) <= len(asked)

    def test_an_unknown_critical_event_is_refused(self) -> None:
        event = placed([human("a")])[0]
        odd = RecordedEvent(
            **{
                name: getattr(event, name)
                for name in ("stream", "sequence", "position", "event_id")
            },
            type="odd",
            schema_version=1,
            critical=True,
            occurred_at=None,
            recorded_at=0,
            chain=b"",
            erased=False,
            payload="{}",
        )
        with pytest.raises(CriticalUnknown):
            CourseFold().evolve(odd)


class TestInALog:
    """Forks read their parent; an erased event tells nothing."""

    def test_a_fork_has_its_parents_interactions_with_their_owner(self, tmp_path: Path) -> None:
        child = StreamKey("local", "agent", "child")
        with open_log(tmp_path / "a.db") as live:
            live.append(KEY, human("a"), model("b"), human("later"))
            live.log.fork(child, KEY, 2)
            live.append(child, human("c"), model("d"))
            found = course_of(live.log.read(child))
        assert found.stream == str(child)
        assert [(each.request, each.sources[0].stream) for each in found.interactions] == [
            ("a", str(KEY)),
            ("c", str(child)),
        ]

    def test_an_erased_message_is_known_by_its_place_alone(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "a.db") as live:
            live.append(
                KEY,
                human("Remember that the key is tulip"),
                model("The tulip is noted."),
                *fixing(),
            )
            redact(live.log, [Target(KEY, 1)], stream=KEY)
            redact(live.log, [Target(KEY, 5)], stream=KEY)
            found = course_of(live.log.read(KEY))
        assert found.erased == (1, 5)
        assert [each.erased for each in found.interactions] == [(1,), (5,)]
        assert found.interactions[0].request == ""
        assert found.interactions[1].errors == ()
        assert "key is" not in str(found)
        assert "bad row" not in str(found)
