"""The list of tasks: the model's own, kept by the log, and the same after a restart."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_session import ToolSession, session

from eventlog.agent import Task, TasksSet
from harness.tools import Context, Pending, Toolbox, run_all
from harness.tools.planner import MOST, MOST_OPEN, plan, planner_tools, shown
from projections.agent_state import AgentState


@pytest.fixture
def tasks(tmp_path: Path) -> Iterator[ToolSession]:
    with session(tmp_path, Toolbox(planner_tools())) as opened:
        yield opened


class TestPlanning:
    """A task that changes its number is another task to the model."""

    def test_a_plan_is_numbered_and_shown(self, tasks: ToolSession) -> None:
        assert tasks.said("list_tasks") == "there are no tasks"
        assert tasks.said("plan", tasks=["read\n it", "  fix it "]) == (
            "1 [to do] read it\n2 [to do] fix it"
        )
        assert tasks.said("update_task", id="1", status="in_progress", note="half") == (
            "1 [in progress] read it (note: half)\n2 [to do] fix it"
        )
        assert tasks.said("update_task", id=1, status="done").startswith(
            "1 [done] read it (note: half)\n"
        )
        assert tasks.state.tasks == (
            Task(id="1", title="read it", status="done", note="half"),
            Task(id="2", title="fix it"),
        )

    def test_a_new_plan_keeps_what_it_names_and_drops_the_rest(self, tasks: ToolSession) -> None:
        tasks.said("plan", tasks=["a", "b", "c"])
        tasks.said("update_task", id="1", status="done")
        assert tasks.said("plan", tasks=["d", "c"]) == (
            "4 [to do] d\n3 [to do] c\n1 [done] a\n2 [dropped] b"
        )
        assert tasks.said("plan", tasks=["b"]) == (
            "2 [to do] b\n4 [dropped] d\n3 [dropped] c\n1 [done] a"
        )
        assert tasks.said("plan", tasks=["e"]).startswith("5 [to do] e\n")

    def test_it_stands_again_after_a_restart(self, tmp_path: Path) -> None:
        box = Toolbox(planner_tools())
        with session(tmp_path, box) as tasks:
            before = tasks.said("plan", tasks=["a", "b"])
        with session(tmp_path, box) as tasks:
            assert tasks.said("list_tasks") == before
            assert tasks.said("update_task", id="2", status="done").endswith("2 [done] b")

    def test_what_changes_nothing_records_nothing(self, tasks: ToolSession) -> None:
        assert tasks.call("plan", tasks=["a"]).events == (
            TasksSet(tasks=(Task(id="1", title="a"),), by="planner"),
        )
        assert tasks.call("plan", tasks=["a"]).events == ()
        assert tasks.call("list_tasks").events == ()

    @pytest.mark.parametrize(
        ("name", "arguments", "why"),
        [
            ("plan", {"tasks": ["a", " "]}, "a task needs a title"),
            ("plan", {"tasks": ["a", "a "]}, "two tasks have the same title"),
            ("plan", {"tasks": [str(i) for i in range(101)]}, "these are 101 tasks: a plan has"),
            ("plan", {"tasks": ["x" * 1_001]}, "a title has 1,001 characters"),
            ("plan", {"tasks": "a"}, "tasks: Input should be a valid list"),
            ("update_task", {"id": "9", "status": "done"}, "there is no task '9'; there are: 1"),
            ("update_task", {"id": "1", "status": "finished"}, "'in_progress', 'done'"),
            ("update_task", {"id": "1", "status": "done", "note": "x" * 2_000}, "a note has 2,000"),
        ],
    )
    def test_what_is_wrong_is_told_and_changes_nothing(
        self, tasks: ToolSession, name: str, arguments: dict[str, object], why: str
    ) -> None:
        tasks.said("plan", tasks=["a"])
        assert why in tasks.fault(name, **arguments)
        assert tasks.state.tasks == (Task(id="1", title="a"),)

    def test_two_calls_of_one_answer_see_each_other(self) -> None:
        box = Toolbox(planner_tools())
        state = [AgentState()]
        calls = []
        for name, arguments in (
            ("plan", '{"tasks": ["a", "b"]}'),
            ("update_task", '{"id": "1", "status": "done"}'),
            ("update_task", '{"id": "2", "status": "in_progress"}'),
        ):
            found = box.find(name, ())
            assert found is not None
            calls.append(Pending(found, str(len(calls)), arguments, lambda: state[0]))

        last = ""
        for outcome in run_all(calls, threading.Event()):
            last = outcome.content
            for event in outcome.events:
                assert isinstance(event, TasksSet)
                state[0] = AgentState(tasks=event.tasks)
        assert last == "1 [done] a\n2 [in progress] b"

    @given(st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=8))
    def test_a_number_is_never_anothers(self, plans: list[list[str]]) -> None:
        titles: dict[str, str] = {}
        state = AgentState()
        for wanted in plans:
            context = Context(state)
            plan(wanted, context=context)
            for event in context.close():
                assert isinstance(event, TasksSet)
                state = AgentState(tasks=event.tasks)
            for task in state.tasks:
                assert titles.setdefault(task.id, task.title) == task.title
            open_tasks = [task.title for task in state.tasks if task.status == "pending"]
            assert open_tasks == wanted

    def test_a_long_list_loses_what_is_over(self) -> None:
        numbers = itertools.count(1)
        state = AgentState()
        for _ in range(4):
            context = Context(state)
            plan([f"task {next(numbers)}" for _ in range(MOST_OPEN)], context=context)
            [event] = context.close()
            assert isinstance(event, TasksSet)
            state = AgentState(tasks=event.tasks)
        assert len(state.tasks) == MOST
        assert [task.title for task in state.tasks[:MOST_OPEN]] == [
            f"task {number}" for number in range(301, 401)
        ]
        assert {task.title for task in state.tasks[MOST_OPEN:]} == {
            f"task {number}" for number in range(201, 301)
        }

    def test_ids_that_another_program_gave_are_ids(self, tasks: ToolSession) -> None:
        given = (Task(id="setup", title="a"), Task(id="²", title="b"), Task(id="7", title="c"))
        tasks.append(TasksSet(tasks=given))
        assert tasks.said("update_task", id="setup", status="done").startswith("setup [done] a\n")
        assert tasks.said("plan", tasks=["new", "a"]).startswith("8 [to do] new\nsetup [done] a\n")

    def test_the_list_can_be_shown_by_others(self) -> None:
        assert shown([Task(id="1", title="a", note="n")]) == "1 [to do] a (note: n)"
