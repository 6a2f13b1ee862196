"""Working memory and short-term memory: folds of the log at a position."""

from __future__ import annotations

from agent_events import LOG, busy, placed
from hypothesis import given
from hypothesis import strategies as st
from told import call, course, fixing, human, model, result, tasks

from eventlog import events
from eventlog.values import NewMessage
from projections.memory.short_term import left, short_term, window
from projections.memory.working import READ, working_memory


def compacted(covered: str, text: str) -> events.ContextCompacted:
    message = {"role": "user", "content": text}
    return events.ContextCompacted(
        covered=(covered,),
        messages=(NewMessage(dialect="openai_chat", message=message, label="summary"),),
    )


class TestWorkingMemory:
    """The task, what is kept in between, the calls of tools, the scratchpad."""

    def test_it_holds_what_an_agent_has_in_hand(self) -> None:
        found = working_memory(placed(busy()))
        assert found.request == found.task == "fix it"
        assert found.reply.is_under_way
        assert [(tool.id, tool.outcome) for tool in found.tools] == [
            ("call_1", "ok"),
            ("call_2", "pending"),
        ]
        assert {name: kept.value for name, kept in found.middleware.items()} == {
            "memory": {"last": 3}
        }

    def test_the_task_is_the_one_in_progress(self) -> None:
        said = [human("do it"), tasks(look="done", mend="in_progress", paint="pending")]
        assert working_memory(placed(said)).task == "mend"
        assert working_memory(placed(said), at=1).task == "do it"

    def test_the_scratchpad_is_what_middleware_keeps_under_that_name(self) -> None:
        note = events.MiddlewareStateSet(name="scratchpad", state={"seen": ["a.py"]})
        found = working_memory(placed([human("go"), note]))
        assert found.scratchpad is not None
        assert found.scratchpad.value == {"seen": ["a.py"]}
        assert found.middleware == {}
        gone = events.MiddlewareStateSet(name="scratchpad", state=None)
        assert working_memory(placed([human("go"), note, gone])).scratchpad is None

    def test_only_the_last_calls_are_held(self) -> None:
        said = [human("go"), *(call(f"c{n}", f"ls {n}") for n in range(5))]
        found = working_memory(placed(said), most_tools=2)
        assert [tool.subject for tool in found.tools] == ["ls 3", "ls 4"]

    @given(LOG, st.integers(0, 40))
    def test_it_is_the_same_text_whenever_it_is_asked(
        self, log: list[events.Event], at: int
    ) -> None:
        recorded = placed(log)
        text = working_memory(recorded, at).text()
        assert text == working_memory(recorded[:at]).text()
        read = [event for event in recorded[:at] if event.type in READ]
        assert working_memory(read).tools == working_memory(recorded, at).tools


class TestShortTerm:
    """The last interactions, up to a capacity."""

    def test_the_window_holds_the_last_and_the_others_have_left(self) -> None:
        said = [human(f"q{n}") for n in range(13)]
        found = short_term(placed(said))
        assert [each.request for each in found.interactions] == [f"q{n}" for n in range(3, 13)]
        assert found.left == 3
        assert [each.request for each in left(course(*said), 12)] == ["q0"]
        assert left(course(*said), 13) == ()
        assert len(left(course(*said), 0)) == len(left(course(*said), -1)) == 13

    def test_calls_without_a_result_are_pending_wherever_they_stand(self) -> None:
        said = [human("a"), call("c1", "make"), human("b"), call("c2", "ls"), result("c2", "x")]
        assert [tool.subject for tool in short_term(placed(said), 1).pending] == ["make"]

    def test_the_summary_is_that_of_the_newest_compaction_that_stands(self) -> None:
        said = [human("a"), model("b"), compacted("1-2", "first"), human("c"), model("d")]
        both = [*said, compacted("4-5", "second")]
        assert short_term(placed(said)).summary == "first"
        assert short_term(placed(both)).summary == "second"
        undone = [*both, events.DecisionUndone(target=6)]
        assert short_term(placed(undone)).summary == "first"
        assert short_term(placed(said), at=2).summary == ""

    @given(LOG, st.integers(0, 40), st.integers(0, 5))
    def test_it_is_the_same_text_whenever_it_is_asked(
        self, log: list[events.Event], at: int, capacity: int
    ) -> None:
        recorded = placed(log)
        found = short_term(recorded, capacity, at)
        assert found.text() == short_term(recorded[:at], capacity).text()
        assert len(found.interactions) <= capacity

    def test_what_is_in_the_window_and_what_left_is_all(self) -> None:
        whole = course(*fixing(), human("b"), human("c"))
        for capacity in range(5):
            found = window(whole, capacity)
            assert (*left(whole, capacity), *found.interactions) == whole.interactions
