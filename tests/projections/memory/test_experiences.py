"""Experiences: what was done in a situation, and how it went."""

from __future__ import annotations

from told import call, course, fixing, human, model, result, tasks

from eventlog import events
from eventlog.events import Experience, Remembered
from projections.memory.experiences import PART, experienced
from projections.memory.learned import learned


def of(*said: events.Event) -> list[Experience]:
    return [each for found in course(*said).interactions for _, each in experienced(found)]


class TestExperiences:
    """Of errors and of tasks."""

    def test_an_error_that_was_fixed(self) -> None:
        (found,) = of(*fixing())
        assert found.situation == "Why do the tests fail?: ValueError: bad row"
        assert found.action.startswith("The root cause was a missing id")
        assert found.success is True

    def test_a_fix_that_the_person_was_not_content_with(self) -> None:
        (found,) = of(*fixing(), human("不对，还是报错"))
        assert found.success is False

    def test_a_task_that_was_finished_or_given_up(self) -> None:
        done, dropped = of(
            human("do it"),
            call("c1", "make all"),
            result("c1", "ok"),
            tasks(build="done", paint="dropped"),
            model("It is built."),
        )
        assert done == Experience(
            situation="build", action="shell make all", outcome="It is built.", success=True
        )
        assert (dropped.situation, dropped.success) == ("paint", False)

    def test_an_error_that_nobody_spoke_of_again_teaches_nothing(self) -> None:
        seen = [human("go"), call("c", "make"), result("c", "error: no such file")]
        assert of(*seen) == of(*seen, model("Hm.")) == of(*seen, human("thanks")) == []

    def test_its_memory_begins_with_the_situation(self) -> None:
        drafts = learned(course(*fixing()), ended=True)
        found = [each.event for each in drafts if isinstance(each.event, Remembered)]
        (memory,) = [each for each in found if each.kind == "experience"]
        assert memory.experience is not None
        assert memory.text.startswith(memory.experience.situation)
        assert [source.positions for source in memory.sources] == [(1, 3, 4)]

    def test_each_part_is_short(self) -> None:
        (found,) = of(
            human("w" * 5000),
            call("c", "x" * 5000),
            result("c", "error: " + "y" * 5000, is_error=True),
            model("Fixed: " + "z" * 300),
        )
        assert max(map(len, (found.situation, found.action, found.outcome))) <= 2 * PART + 2
