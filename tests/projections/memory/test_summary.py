"""What a session leaves behind at its end."""

from __future__ import annotations

from pathlib import Path

from agent_events import LOG, placed
from hypothesis import given
from told import call, course, fixing, human, model, result, tasks

from eventlog import StreamKey, events
from eventlog.events import ProfileUpdated, Remembered, SessionSummary
from eventlog.redaction import Target, redact
from projections import open_log
from projections.memory.behaviour import counted
from projections.memory.course import course_of
from projections.memory.interactions import Course
from projections.memory.memory import ONLY_WISHES, SMALL_TALK
from projections.memory.state import fold
from projections.memory.stream import memory_stream
from projections.memory.summary import (
    closing,
    is_small_talk,
    summarized_to,
    summary_of,
    summary_text,
)
from projections.memory.table import Memories
from projections.memory.task_types import TASK_TYPES, task_type

KEY = StreamKey("local", "agent", "work")


class TestSummary:
    """Goal, decisions, tasks, errors, what is open, what comes next."""

    def test_it_has_its_parts(self) -> None:
        found = summary_of(
            course(
                human("Build the importer"),
                *fixing(),
                human("We decided to use PostgreSQL."),
                tasks(read="done", write="in_progress", test="pending"),
                call("c9", "make slow"),
                model("Next, I will write the rows. Which encoding do you want?"),
            )
        )
        assert found.goal == "Build the importer"
        assert found.decisions == ("We decided to use PostgreSQL.",)
        assert found.tasks == ("read (done)", "write (in progress)", "test (pending)")
        assert found.errors == ("ValueError: bad row",)
        assert found.open_points == (
            "Which encoding do you want?",
            "shell make slow",
            "write",
            "test",
        )
        assert found.next_steps == ("Next, I will write the rows.",)

    def test_it_reads_chinese(self) -> None:
        found = summary_of(
            course(
                human("写一个导入器"),
                human("我们决定用 SQLite。"),
                model("接下来我会写测试。用哪个版本呢？"),
            )
        )
        assert found.goal == "写一个导入器"
        assert found.decisions == ("我们决定用 SQLite。",)
        assert found.next_steps == ("接下来我会写测试。",)
        assert found.open_points == ("用哪个版本呢？",)

    def test_only_the_last_of_each_stand_in_it(self) -> None:
        said = [human(f"We decided to use tool {n}. ValueError: number {n}") for n in range(9)]
        found = summary_of(course(*said))
        assert [text[-2:-1] for text in found.decisions] == ["4", "5", "6", "7", "8"]
        assert len(found.tasks) == len(found.errors) == 3

    def test_a_question_that_was_answered_is_not_open(self) -> None:
        said = [human("go"), model("Which one?"), human("The first."), model("Done.")]
        assert summary_of(course(*said)).open_points == ()

    def test_a_title_that_was_given_is_the_goal(self) -> None:
        start = events.SessionStarted(title="The importer")
        assert summary_of(course(start, human("go"))).goal == "The importer"

    def test_what_has_a_memory_of_its_own_is_not_repeated(self) -> None:
        found = summary_of(
            course(
                human("Remember: I indent with tabs"),
                human("Write a parser. I always use pytest. My name is Ada."),
            )
        )
        assert (found.goal, found.tasks) == ("Write a parser.", ())
        assert "tabs" not in summary_text(found)

    def test_a_session_of_wishes_alone_has_a_summary_too(self) -> None:
        found = summary_of(course(human("Remember: I indent with tabs")))
        assert (found.goal, found.tasks) == (ONLY_WISHES, ())

    def test_tasks_that_wait_are_what_comes_next_where_nothing_was_said(self) -> None:
        assert summary_of(course(human("go"), tasks(a="pending"))).next_steps == ("a",)

    def test_its_text_leaves_out_empty_parts(self) -> None:
        assert summary_text(summary_of(course(human("Write it")))) == "Goal: Write it"

    def test_nothing_is_said_twice(self) -> None:
        found = summary_of(
            course(
                human("We decided to use PostgreSQL."),
                model("ok"),
                human("Write the schema. We decided to name it shop."),
                human("Fix the tests"),
                human("Which version do we use?"),
            )
        )
        assert summary_text(found) == (
            "Goal: Write the schema. | Decisions: We decided to use PostgreSQL.; "
            "We decided to name it shop. | Tasks: Fix the tests; Which version do we use?"
        )
        assert found.open_points == ("Which version do we use?",)
        waiting = summary_of(course(human("go"), tasks(a="pending")))
        assert summary_text(waiting) == "Tasks: a (pending)"

    def test_small_talk_is_no_goal_and_no_task(self) -> None:
        for said in ("hi", "Hello there!", "ok, go on", "你好", "好的，继续。", "thank you!"):
            found = summary_of(course(human(said), model("Hello! How can I help you today?")))
            assert found == SessionSummary(goal=SMALL_TALK), said
            found = summary_of(course(human(said), human("Fix the parser")))
            assert found == SessionSummary(goal="Fix the parser")
        assert not is_small_talk("hi, fix it")
        assert not is_small_talk("go to the shop")

    def test_what_is_to_be_forgotten_does_not_stand_in_it(self) -> None:
        found = summary_of(course(human("Forget that I like tea"), human("Fix the parser")))
        assert found == SessionSummary(goal="Fix the parser")
        alone = closing(course(human("Forget that I like tea")))[0].event
        assert isinstance(alone, Remembered)
        assert alone.summary == SessionSummary(goal=SMALL_TALK)

    def test_it_names_the_events_that_each_of_its_parts_stands_in(self) -> None:
        said = [
            events.SessionStarted(title="The importer"),
            human("We decided to use PostgreSQL."),
            call("c1", "make"),
            result("c1", "ValueError: bad row", is_error=True),
            call("c2", "make slow"),
            tasks(read="done", write="pending"),
            human("go on"),
            model("Next, I will write. Which encoding?"),
            human("utf-8"),
            model("ok"),
        ]
        memory = closing(course(*said[:8]))[0].event
        assert isinstance(memory, Remembered)
        assert [source.positions for source in memory.sources] == [(1, 2, 4, 5, 6, 8)]
        later = closing(course(*said))[0].event
        assert isinstance(later, Remembered)
        assert [source.positions for source in later.sources] == [(1, 2, 4, 5, 6, 10)]

    def test_nothing_of_an_interaction_with_something_erased_stands_in_it(
        self, tmp_path: Path
    ) -> None:
        with open_log(tmp_path / "a.db") as live:
            live.append(
                KEY,
                human("The code is tulip"),
                model("We decided to use tulip. Next, I will type tulip. Is it tulip?"),
            )
            redact(live.log, [Target(KEY, 1)], stream=KEY)
            found = course_of(live.log.read(KEY))
            assert summary_of(found) == SessionSummary()
            assert closing(found) == []

    @given(LOG)
    def test_it_is_the_same_twice(self, log: list[events.Event]) -> None:
        found = course_of(placed(log))
        assert closing(found) == closing(found)


class TestClosing:
    """A later summary takes the place of the earlier, and nothing is counted twice."""

    def test_it_is_a_memory_about_the_session_and_numbers_for_the_profile(self) -> None:
        said = [*fixing(), human("Thanks, that works!"), model("Good.")]
        summary, numbers = [each.event for each in closing(course(*said))]
        assert isinstance(summary, Remembered)
        assert (summary.kind, summary.subject) == ("session_summary", f"session {KEY}")
        assert summary.summary is not None
        assert summary.scored == ("base 0.50", "error and fix +0.25")
        assert isinstance(numbers, ProfileUpdated)
        assert numbers.how == "added"
        assert numbers.values.value == {
            "sessions": 1,
            "human_messages": 2,
            "task:debugging": 1,
            "tool_calls": 1,
            "feedback:positive": 1,
        }

    def test_a_session_without_anything_new_has_nothing_to_close(self) -> None:
        found = course(human("a"), model("b"))
        assert closing(found, since=2) == []
        assert closing(Course()) == closing(course(events.SessionStarted())) == []

    def test_resumed_it_counts_only_what_came_behind(self, tmp_path: Path) -> None:
        into = memory_stream("local")
        with open_log(tmp_path / "a.db") as live:
            memories = Memories(live, "local")
            live.append(KEY, human("Fix the bug"), model("Done."))
            for text in ("Now write tests", "And the docs"):
                since = summarized_to(memories.all(standing=False), str(KEY))
                live.append(into, *closing(course_of(live.log.read(KEY)), since=since))
                live.append(KEY, human(text), model("ok"))
            since = summarized_to(memories.all(standing=False), str(KEY))
            live.append(into, *closing(course_of(live.log.read(KEY)), since=since))
            assert since == 4
            known = memories.profile.section("behaviour")
            assert (known["sessions"], known["human_messages"]) == (1, 3)
            (standing,) = memories.all()
            assert standing.summary is not None
            assert standing.summary.tasks == ("Now write tests", "And the docs")
            assert len(list(memories.all(standing=False))) == 3

    def test_a_summary_that_was_erased_or_forgotten_counted_what_it_counted(
        self, tmp_path: Path
    ) -> None:
        into = memory_stream("local")
        with open_log(tmp_path / "a.db") as live:
            live.append(KEY, human("Fix the bug"), model("Done."))
            live.append(into, *closing(course_of(live.log.read(KEY))))
            live.append(into, events.MemoryForgotten(memory=1))
            assert summarized_to(fold(live.log.read(into), str(into)), str(KEY)) == 2
            redact(live.log, [Target(into, 1)], stream=into)
            assert summarized_to(fold(live.log.read(into), str(into)), str(KEY)) == 2
            assert summarized_to(fold(live.log.read(into), str(into)), "local/agent/other") == 0

    def test_a_fork_counts_its_own_alone(self, tmp_path: Path) -> None:
        child = StreamKey("local", "agent", "child")
        with open_log(tmp_path / "a.db") as live:
            live.append(KEY, human("a"), call("c1", "ls"), result("c1", "x"), model("b"))
            live.log.fork(child, KEY, 4)
            assert counted(course_of(live.log.read(child))) == {}
            live.append(child, human("c"), model("d"))
            assert counted(course_of(live.log.read(child))) == {"sessions": 1, "human_messages": 1}

    def test_praise_before_anything_was_done_counts_for_nothing(self) -> None:
        assert "feedback:positive" not in counted(course(human("Great, let us begin")))


class TestTaskTypes:
    """What kind of work a request asks for."""

    def test_by_its_words(self) -> None:
        asked = {
            "Fix the crash in the parser": "debugging",
            "修复登录报错": "debugging",
            "Write unit tests for it": "testing",
            "Review my pull request": "review",
            "Rename the module": "refactoring",
            "更新文档": "documentation",
            "翻译这段话": "translation",
            "Deploy it": "operations",
            "Implement a cache": "coding",
            "写一个函数": "coding",
            "What is a monad": "explaining",
            "hello": "other",
            "": "other",
        }
        assert {text: task_type(text) for text in asked} == asked
        assert set(asked.values()) <= set(TASK_TYPES)
