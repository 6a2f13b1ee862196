"""Memories as they stood: what is folded of a few is what all events together give."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memories_made import ADA, OF_MEMORY, prefers, says

from eventlog import events
from eventlog.events import Event
from projections import Live, open_log
from projections.erasure import apply, plan
from projections.memory.memory import Memory
from projections.memory.past import Past, Pasts
from projections.memory.state import MemoryState, fold


def aside(memory: Memory | None) -> Memory | None:
    """Without its age, which recalls change too."""
    return memory.model_copy(update={"accesses": 0, "refreshed_at": 0}) if memory else None


@settings(max_examples=25)
@given(st.lists(OF_MEMORY, min_size=1, max_size=16), st.lists(st.integers(1, 16), max_size=3))
def test_it_is_the_fold_of_all_that_came_before(
    tmp_path_factory: pytest.TempPathFactory, said: Sequence[Event], first: list[int]
) -> None:
    with open_log(tmp_path_factory.mktemp("log") / "log.db", durability="normal") as live:
        live.append(ADA, *said)
        past = Past(live, ADA)
        past.load(first)
        every = list(live.log.read(ADA))
        for at in range(len(every) + 1):
            state = fold(every[:at], str(ADA))
            sequence = every[at].sequence if at < len(every) else 1_000
            for id in range(1, len(every) + 2):
                assert aside(past.at(id, sequence)) == aside(state.get(id))
            assert past.profile_at(sequence) == state.profile


def test_of_a_few_only_what_has_to_do_with_them_is_folded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of a hundred thousand took twenty seconds."""
    put: list[int] = []
    with open_log(tmp_path / "log.db", durability="normal") as live:
        live.append(ADA, prefers("tabs"), says({"a": 1}), prefers("of tea", subject="tea"))
        live.append(ADA, prefers("spaces", subject=" INDENTATION"), says({"b": 2}))
        live.append(ADA, events.Remembered(text="nothing"), events.MemoryForgotten(memory=6))
        monkeypatch.setattr(MemoryState, "put", _noting(put))
        past = Past(live, ADA)
        past.load([4])
        assert sorted(set(put)) == [1, 4]
        past.load([4, 6])
        assert sorted(set(put)) == [1, 4, 6]


def _noting(put: list[int]):  # type: ignore[no-untyped-def]
    keep = MemoryState.put

    def noted(self: MemoryState, memory: Memory) -> None:
        put.append(memory.id)
        keep(self, memory)

    return noted


def test_what_was_erased_says_when(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db", durability="normal") as live:
        live.append(ADA, prefers("tabs"), prefers("spaces"), prefers("of tea", subject="tea"))
        apply(live, plan(live, ADA, ["2"]))
        pasts = Pasts(live)
        past = pasts.of(str(ADA))
        assert past is not None
        # In front of it the one was forgotten that would have stood again.
        assert [past.erased_at(id) for id in (1, 2, 3)] == [0, 5, 0]
        found = past.at(2, 3)
        assert found is not None
        assert found.is_erased
        assert pasts.of("bob/_/memory") is None
        assert pasts.of(str(ADA)) is past


def test_a_memory_that_is_not_there_never_stood(live_log: Live) -> None:
    assert Past(live_log, ADA).at(99, 1_000) is None


@pytest.fixture
def live_log(tmp_path: Path):  # type: ignore[no-untyped-def]
    with open_log(tmp_path / "log.db", durability="normal") as live:
        live.append(ADA, prefers("tabs"))
        yield live
