"""Which memories stand, what they hold, and what became of the others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memories_made import (
    ADA,
    OF_MEMORY,
    SAID,
    WORK,
    Said,
    folded,
    placed,
    prefers,
    recorded,
    says,
    shown,
)

from eventlog import events
from eventlog.errors import CriticalUnknown
from eventlog.jsonvalue import Json
from eventlog.recorded import RecordedEvent
from projections.memory import Memory, fold
from projections.memory.folding import concerns, evolve
from projections.memory.memory import same_subject
from projections.memory.state import MemoryState

QUICK = settings(max_examples=80)
Forgotten, Restored, Revised = (
    events.MemoryForgotten,
    events.MemoryRestored,
    events.MemoryRevised,
)


def standing(state: MemoryState) -> list[int]:
    return [memory.id for memory in state if memory.stands]


def at(state: MemoryState, id: int) -> Memory:
    found = state.get(id)
    assert found is not None
    return found


class TestConflicts:
    """Without this the model is told two things that contradict each other, or the older one."""

    @pytest.mark.parametrize(
        ("first", "second", "stands"),
        [
            (prefers("tabs"), prefers("spaces"), [2]),
            (prefers(is_explicit=False), prefers(is_explicit=False), [2]),
            (prefers(is_explicit=False), prefers(), [2]),
            (prefers(), prefers(is_explicit=False), [1]),
            (prefers(), prefers(subject="naming"), [1, 2]),
            (prefers(subject=""), prefers(subject=""), [1, 2]),
            (prefers(subject="  "), prefers(subject="\u200b"), [1, 2]),
            (prefers(), prefers().model_copy(update={"kind": "fact"}), [1, 2]),
            (prefers(subject="Tabs  or spaces"), prefers(subject=" tabs or SPACES"), [2]),
            (prefers(subject="\uff54abs"), prefers(subject="tabs"), [2]),
            (prefers(subject="caf\u00e9"), prefers(subject="cafe\u0301"), [2]),
            (prefers(subject="stra\u00dfe"), prefers(subject="STRASSE"), [2]),
            (prefers(subject="\ud83d"), prefers(subject="\ud83d"), [2]),
        ],
    )
    def test_of_two_about_one_subject_one_stands(
        self, first: events.Remembered, second: events.Remembered, stands: list[int]
    ) -> None:
        state = folded(first, second)
        assert standing(state) == stands
        assert [memory.text for memory in state] == [first.text, second.text]

    def test_the_newer_keeps_how_often_the_older_was_recalled(self) -> None:
        state = folded(prefers("tabs"), shown(1), shown("1@9"), prefers("spaces"))
        assert (at(state, 4).accesses, at(state, 4).supersedes) == (2, (1,))
        assert (at(state, 1).superseded_by, at(state, 1).standing) == (4, "superseded")

    def test_of_several_the_most_often_recalled_one_counts(self) -> None:
        told = [prefers(subject=each) for each in "ab"]
        state = folded(*told, shown(1), shown(1), shown(2), prefers(supersedes=(1, 2, 2, 77)))
        assert (at(state, 6).accesses, at(state, 6).supersedes) == (2, (1, 2))

    def test_one_about_the_same_that_it_names_as_superseded_merges_as_ever(self) -> None:
        state = folded(says({"tabs": 4}), says({"quotes": "x"}, supersedes=(1,)))
        assert (standing(state), at(state, 2).values) == ([2], {"tabs": 4, "quotes": "x"})

    @pytest.mark.parametrize(("named", "stands"), [((), [1]), ((1,), [])])
    def test_erasing_the_newer_brings_the_older_back_unless_it_is_named(
        self, named: tuple[int, ...], stands: list[int]
    ) -> None:
        state = folded(prefers())
        skeleton = prefers("[redacted]", subject="", supersedes=named)
        evolve(state, placed(skeleton, 2, erased=True))
        assert standing(state) == stands

    def test_what_was_inferred_cannot_name_what_a_person_said_as_superseded(self) -> None:
        state = folded(prefers(), prefers(subject="x", is_explicit=False, supersedes=(1,)))
        assert standing(state) == [1, 2]

    def test_what_is_forgotten_is_superseded_by_nothing(self) -> None:
        state = folded(prefers(), Forgotten(memory=1), prefers(supersedes=(1,)))
        assert (at(state, 1).standing, at(state, 3).supersedes) == ("forgotten", ())

    def test_forgetting_the_newer_brings_no_older_one_back(self) -> None:
        assert standing(folded(prefers(), prefers(), Forgotten(memory=2))) == []

    def test_a_restored_one_stands_and_its_rival_gives_way(self) -> None:
        state = folded(prefers(is_explicit=False), prefers(), Restored(memory=1))
        assert standing(state) == [1]
        assert (at(state, 1).supersedes, at(state, 2).superseded_by) == ((2,), 1)
        assert (at(state, 1).superseded_by, at(state, 2).supersedes) == (0, ())

    def test_one_without_a_subject_is_restored_beside_all_others(self) -> None:
        told = [prefers(subject=""), prefers(supersedes=(1,)), Restored(memory=1)]
        state = folded(*told)
        assert standing(state) == [1, 2]
        assert at(state, 2).supersedes == ()

    @pytest.mark.parametrize(
        ("first", "second", "revised", "stands"),
        [
            ("x", "y", Revised(memory=2, subject="x"), [2]),
            ("x", "y", Revised(memory=1, subject="Y"), [1]),
            ("x", "y", Revised(memory=1, subject="z"), [1, 2]),
            ("x", "y", Revised(memory=2, subject="x", is_explicit=False), [1]),
            ("x", "y", Revised(memory=2, subject="x", kind="fact"), [1, 2]),
            ("x", "x", Revised(memory=1, text="again"), [2]),
            ("x", "x", Revised(memory=1, subject="y"), [2]),
            ("x", "x", Revised(memory=9, subject="y"), [2]),
        ],
    )
    def test_a_revision_meets_what_stands_about_the_new_subject(
        self, first: str, second: str, revised: events.MemoryRevised, stands: list[int]
    ) -> None:
        assert standing(folded(prefers(subject=first), prefers(subject=second), revised)) == stands

    def test_a_revision_into_another_kind_meets_what_stands_there(self) -> None:
        fact = events.Remembered(text="a fact", subject="indentation", is_explicit=True)
        state = folded(fact, prefers(), Revised(memory=2, kind="fact"))
        assert (standing(state), at(state, 2).kind) == ([2], "fact")


class TestValues:
    """Without this one preference about quotes takes another one about tabs away."""

    def test_those_that_the_newer_does_not_speak_of_go_over_to_it(self) -> None:
        state = folded(says({"tabs": 4, "quotes": "single"}), says({"tabs": 8}))
        assert standing(state) == [2]
        assert at(state, 2).values == {"tabs": 8, "quotes": "single"}
        assert [(each.name, each.memory) for each in at(state, 2).held] == [
            ("tabs", 2),
            ("quotes", 1),
        ]
        assert at(state, 1).values == {"tabs": 4, "quotes": "single"}

    def test_what_a_person_said_stands_and_takes_in_what_was_inferred_beside_it(self) -> None:
        state = folded(says({"tabs": 4}), says({"tabs": 8, "quotes": "x"}, is_explicit=False))
        assert standing(state) == [1]
        assert at(state, 1).values == {"tabs": 4, "quotes": "x"}
        assert at(state, 2).superseded_by == 1

    def test_an_inferred_value_of_it_is_replaced_by_a_newer_one(self) -> None:
        inferred = [says({"quotes": each}, is_explicit=False) for each in "xy"]
        state = folded(says({"tabs": 4}), *inferred)
        assert at(state, 1).values == {"tabs": 4, "quotes": "y"}
        assert [each.memory for each in at(state, 1).held] == [1, 3]

    @pytest.mark.parametrize(
        "gone", [Forgotten(memory=1), Revised(memory=1, values=Json({})), "erased"]
    )
    def test_nobody_holds_a_value_of_what_was_forgotten_erased_or_says_it_no_more(
        self, gone: Any
    ) -> None:
        state = folded(says({"tabs": 4}), says({"quotes": "x"}), says({"lines": 1}))
        assert at(state, 3).values == {"tabs": 4, "quotes": "x", "lines": 1}
        erased = gone == "erased"
        event = Revised(memory=1) if erased else gone
        evolve(state, placed(event, 4, erased=erased))
        assert at(state, 3).values == {"quotes": "x", "lines": 1}
        assert at(state, 2).values == {"quotes": "x"}

    def test_a_value_that_went_over_is_revised_with_its_memory(self) -> None:
        told = [says({"tabs": 4}), says({"quotes": "x"})]
        state = folded(*told, Revised(memory=1, values=Json({"tabs": 2, "more": 1})))
        assert at(state, 2).values == {"tabs": 2, "quotes": "x"}

    def test_a_revision_says_all_values_of_the_one_that_stands(self) -> None:
        told = [says({"tabs": 4}), says({"quotes": "x"})]
        state = folded(*told, Revised(memory=2, values=Json({"quotes": "y"})))
        assert at(state, 2).values == {"quotes": "y"}

    def test_whoever_is_restored_decides_by_its_values_and_takes_in_the_others(self) -> None:
        told = [says({"tabs": 4}), says({"tabs": 8, "quotes": "x"}), Restored(memory=1)]
        state = folded(*told)
        assert standing(state) == [1]
        assert at(state, 1).values == {"tabs": 4, "quotes": "x"}
        evolve(state, placed(Forgotten(memory=2), 4))
        assert at(state, 1).values == {"tabs": 4}

    def test_one_of_which_no_value_counts_does_not_stand(self) -> None:
        told = [says({"tabs": 4}, is_explicit=False), says({"quotes": "x"}), Restored(memory=1)]
        state = folded(*told, says({"quotes": "y"}, is_explicit=False))
        assert standing(state) == [1]
        assert at(state, 1).values == {"tabs": 4, "quotes": "x"}

    def test_a_restored_one_takes_back_what_went_over_by_it(self) -> None:
        told = [says({"tabs": 4}), says({"quotes": "x"}), says({"lines": 1})]
        state = folded(*told, Revised(memory=3, subject="other"), Restored(memory=2))
        assert standing(state) == [2, 3]
        assert at(state, 2).values == {"tabs": 4, "quotes": "x"}
        assert at(state, 3).values == {"lines": 1}

    def test_a_revision_by_a_person_makes_its_own_values_said(self) -> None:
        told = [says({"tabs": 4}, is_explicit=False), Revised(memory=1, is_explicit=True)]
        state = folded(*told, says({"tabs": 8}, is_explicit=False))
        assert at(state, 1).stands
        assert at(state, 1).values == {"tabs": 4}

    def test_one_nested_too_deep_to_stand_in_a_state_is_not_held(self) -> None:
        deep: Any = 1
        for _ in range(97):
            deep = [deep]
        state = folded(says({"tabs": 4, "deep": deep}))
        assert at(state, 1).values == {"tabs": 4}
        assert state.text()


class TestHarmless:
    """Without this two processes that do the same at once, or a hostile log, change memories."""

    def test_forgetting_and_restoring_twice_is_like_once(self) -> None:
        for event in (Forgotten(memory=1), Restored(memory=1)):
            once = folded(prefers(), prefers(), event)
            text = once.text()
            evolve(once, placed(event, 4, day=9))
            assert once.text() == text

    def test_what_names_no_memory_changes_nothing(self) -> None:
        state = folded(prefers())
        text = state.text()
        impossible: list[events.Event] = [
            Revised(memory=2**70, text="x"),
            Forgotten(memory=5),
            Restored(memory=5),
            shown("9" * 5000, "1-1", "1.0", 77),
        ]
        for position, event in enumerate(impossible, 2):
            evolve(state, placed(event, position))
        assert state.text() == text

    def test_a_memory_is_recalled_once_by_one_message_and_not_by_a_renewed_one(self) -> None:
        state = folded(prefers(), shown(1, "1@7", 1), shown(1, is_renewed=True))
        assert at(state, 1).accesses == 1

    def test_of_an_erased_one_nothing_is_said_any_more(self) -> None:
        state = MemoryState()
        evolve(state, placed(prefers("[redacted]"), 1, erased=True))
        for position, event in enumerate([Revised(memory=1, text="x"), Restored(memory=1)], 2):
            evolve(state, placed(event, position))
        assert (at(state, 1).text, at(state, 1).standing) == ("[redacted]", "erased")

    def test_an_erased_revision_erases_its_memory(self) -> None:
        state = folded(prefers())
        evolve(state, placed(Revised(memory=1, text="[redacted]"), 2, erased=True))
        assert (at(state, 1).text, at(state, 1).standing) == ("[redacted]", "erased")

    def test_an_event_that_cannot_be_read_is_passed_over(self) -> None:
        state = folded(prefers())
        text = state.text()
        for payload in ('{"memory": 0}', "[]", "{"):
            evolve(state, _stored("memory_forgotten", payload))
        assert state.text() == text
        for payload in ('{"of": 1}', "[]", "{"):
            assert concerns(_stored("memory_recalled", payload)) == ""

    def test_one_of_a_later_version_is_passed_over_unless_it_forbids_that(self) -> None:
        state = folded(prefers())
        text = state.text()
        evolve(state, _stored("memory_forgotten", '{"memory": 1}', version=99))
        assert state.text() == text
        with pytest.raises(CriticalUnknown):
            evolve(state, _stored("memory_forgotten", "{}", version=99, critical=True))


def _stored(kind: str, payload: str, version: int = 1, critical: bool = False) -> RecordedEvent:
    place = {"stream": ADA, "sequence": 9, "position": 9, "event_id": b"", "chain": b""}
    times = {"occurred_at": None, "recorded_at": 1, "erased": False}
    shape = {"type": kind, "schema_version": version, "critical": critical, "payload": payload}
    return RecordedEvent(**place, **times, **shape)  # type: ignore[arg-type]


# -- any events at all ----------------------------------------------------------------------------


def assert_consistent(state: MemoryState) -> None:
    """What holds of every state."""
    memories = {memory.id: memory for memory in state}
    groups = [
        (m.kind, same_subject(m.subject))
        for m in memories.values()
        if m.stands and same_subject(m.subject)
    ]
    assert len(groups) == len(set(groups))
    for memory in memories.values():
        chain = [memory]
        while chain[-1].superseded_by:
            chain.append(memories[chain[-1].superseded_by])
            assert len(chain) <= len(memories)
        for other in memory.supersedes:
            assert memories[other].superseded_by == memory.id
        if memory.superseded_by:
            assert memory.id in memories[memory.superseded_by].supersedes
        for held in memory.held:
            source = memories[held.memory]
            if source.id != memory.id:
                assert held in source.held
                assert not source.forgotten
                assert not source.is_erased
                assert any(memory.id == each for each in _chain(memories, source))


def _chain(memories: dict[int, Memory], memory: Memory) -> list[int]:
    found = []
    while memory.superseded_by:
        memory = memories[memory.superseded_by]
        found.append(memory.id)
    return found


def assert_step(before: MemoryState, event: RecordedEvent, after: MemoryState) -> None:
    """What holds of every event."""
    said = event.event
    old, new = ({m.id: m for m in state} for state in (before, after))
    came = {event.position} if event.type == "remembered" else set()
    assert new.keys() == old.keys() | came
    may_stand = came | ({said.memory} if isinstance(said, Restored) else set())
    assert {m for m in new if new[m].stands and not (m in old and old[m].stands)} <= may_stand
    for id, memory in old.items():
        if new[id].superseded_by and not memory.superseded_by:
            winner = new[new[id].superseded_by]
            assert winner.accesses >= memory.accesses
            assert winner.is_explicit or not new[id].is_explicit or isinstance(said, Restored)
        if not (isinstance(said, Revised) and said.memory == id):
            same = ("text", "kind", "subject", "importance", "is_explicit", "entities", "rendition")
            assert [getattr(memory, n) for n in same] == [getattr(new[id], n) for n in same]
        assert new[id].refreshed_at >= memory.refreshed_at
        assert new[id].accesses >= memory.accesses
    restored = new.get(said.memory) if isinstance(said, Restored) else None
    assert restored is None or restored.stands


class TestAnyEvents:
    """Without this some order of events, which nobody thought of, loses or doubles a memory."""

    @QUICK
    @given(st.lists(SAID, min_size=8, max_size=30))
    def test_every_step_keeps_what_must_hold(self, said: list[Said]) -> None:
        seen: list[RecordedEvent] = []
        state = MemoryState()
        for event in recorded(said):
            before = fold(seen, str(ADA))
            if concerns(event) == str(ADA):
                evolve(state, event)
            seen.append(event)
            assert_consistent(state)
            if concerns(event) == str(ADA):
                assert_step(before, event, state)
            else:
                assert state.text() == before.text()

    @QUICK
    @given(st.lists(SAID, min_size=5, max_size=20), st.integers(1, 14), st.booleans())
    def test_forgetting_and_restoring_twice_is_like_once(
        self, said: list[Said], memory: int, forget: bool
    ) -> None:
        event = Forgotten(memory=memory) if forget else Restored(memory=memory)
        state = fold(recorded([*said, Said(ADA, event)]), str(ADA))
        text = state.text()
        evolve(state, placed(event, 99, day=999))
        assert state.text() == text

    @QUICK
    @given(
        st.lists(SAID, min_size=5, max_size=20),
        st.dictionaries(st.sampled_from("abc"), st.integers(0, 2)),
    )
    def test_preferences_merge_value_by_value(
        self, said: list[Said], values: dict[str, int]
    ) -> None:
        for explicit in (False, True):
            state = fold(recorded(said), str(ADA))
            old = state.about("preference", "tabs")
            new = says(values, subject="tabs", is_explicit=explicit)
            evolve(state, placed(new, 99, day=999))
            stands = state.about("preference", "tabs")
            assert stands is not None
            if old is None or not old.held or not values:
                continue
            expected: dict[str, Any] = {each.name: each.value.value for each in old.held}
            said_so = {each.name for each in old.held if each.is_explicit}
            expected |= {n: v for n, v in values.items() if explicit or n not in said_so}
            assert stands.values == expected

    @QUICK
    @given(st.lists(st.tuples(OF_MEMORY, st.sampled_from([False] * 5 + [True])), min_size=9))
    def test_nothing_that_is_erased_is_held_or_stands(
        self, said: list[tuple[events.Event, bool]]
    ) -> None:
        state = MemoryState()
        for position, (event, erased) in enumerate(said, 1):
            evolve(state, placed(event, position, erased=erased))
            assert_consistent(state)
        erased_ids = {n for n, (event, erased) in enumerate(said, 1) if erased}
        for memory in state:
            if memory.id in erased_ids:
                assert not memory.stands

    def test_a_recall_counts_from_whatever_session_it_comes(self) -> None:
        said = [Said(ADA, prefers()), Said(WORK, shown(1)), Said(WORK, shown(1, of="bob/_/memory"))]
        assert at(fold(recorded(said), str(ADA)), 1).accesses == 1
