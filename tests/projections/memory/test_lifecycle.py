"""How long a memory lives, and what is due to be forgotten."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memories_made import ADA, SAID, START, Said, placed, prefers, recorded, shown

from eventlog.errors import InputRefused
from eventlog.events import MemoryKind, MemoryRestored, MemoryRevised
from projections.memory import LifePolicy, Memory, fold, status
from projections.memory.folding import evolve
from projections.memory.lifecycle import DAY, age, due
from projections.memory.state import MemoryState

POLICY = LifePolicy()
KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)
LIFETIMES = {"preference": 90, "project": 30, "code": 7, "error_fix": 180, "conversation": 14}
STAGES = ["active", "stale", "archived", "expired"]


def memory(kind: MemoryKind = "fact", **more: Any) -> Memory:
    fields = {"importance": 0.5, "remembered_at": START, "refreshed_at": START, **more}
    return Memory(id=1, rendition="1", kind=kind, text="x", **fields)


class TestStatus:
    """Without this a memory dies a day too early, or with the clock of the machine that asks."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_the_shares_of_the_lifetime_are_the_boundaries(self, kind: MemoryKind) -> None:
        life = LIFETIMES.get(kind, 30) * DAY
        for share, before, after in (
            (7, "active", "stale"),
            (10, "stale", "archived"),
            (20, "archived", "expired"),
        ):
            at = START + life * share // 10
            assert status(memory(kind), at - 1, POLICY) == before
            assert status(memory(kind), at, POLICY) == after

    @pytest.mark.parametrize("now", [START, START - 1, 0, -(10**400)])
    def test_one_from_the_future_has_no_age(self, now: int) -> None:
        assert age(memory(), now) == 0
        assert status(memory(), now, POLICY) == "active"

    def test_the_greatest_age_is_expired(self) -> None:
        assert status(memory(), 10**400, POLICY) == "expired"

    def test_lifetimes_are_parameters(self) -> None:
        policy = LifePolicy(lifetimes=(("fact", 0.5),), default_days=1e308)
        assert status(memory(), START + DAY, policy) == "expired"
        assert status(memory("code"), 10**400, policy) == "active"

    @settings(max_examples=100)
    @given(
        st.sampled_from(KINDS),
        st.integers(0, 2**62),
        st.lists(st.integers(-(2**63), 2**63), min_size=2, max_size=2).map(sorted),
        st.floats(0.001, 1e6),
    )
    def test_nothing_grows_younger(
        self, kind: MemoryKind, refreshed: int, times: list[int], days: float
    ) -> None:
        one, policy = memory(kind, refreshed_at=refreshed), LifePolicy(default_days=days)
        first, second = (STAGES.index(status(one, now, policy)) for now in times)
        assert first <= second

    @pytest.mark.parametrize("event", [shown(1), MemoryRevised(memory=1, text="y")])
    def test_recall_and_revision_refresh(self, event: Any) -> None:
        state = MemoryState()
        evolve(state, placed(prefers(), 1))
        evolve(state, placed(event, 2, day=89))
        (one,) = state
        assert status(one, START + 90 * DAY, POLICY) == "active"
        evolve(state, placed(event, 3, day=5))
        assert next(iter(state)).refreshed_at == START + 89 * DAY

    def test_a_renewed_message_refreshes_nothing(self) -> None:
        state = MemoryState()
        evolve(state, placed(prefers(), 1))
        evolve(state, placed(shown(1, is_renewed=True), 2, day=89))
        assert next(iter(state)).refreshed_at == START


class TestPolicy:
    """Without this a typing error in a config makes every memory expired."""

    @pytest.mark.parametrize(
        ("fields", "told"),
        [
            ({"default_days": 0}, "default_days: .*greater than 0"),
            ({"default_days": float("inf")}, "default_days: .*finite"),
            ({"default_days": float("nan")}, "default_days: .*finite"),
            ({"default_days": "soon"}, "default_days: .*number"),
            ({"lifetimes": (("code", -1),)}, "lifetimes.0.1: .*greater than 0"),
            ({"lifetimes": (("cod", 1),)}, "lifetimes.0.0: .*preference"),
            ({"active": 0}, "active: .*greater than 0"),
            ({"active": 1.5}, "the shares 1.5, 1 and 2 do not rise"),
            ({"archived": 0.9}, "the shares 0.7, 1 and 0.9 do not rise"),
            ({"least": 1.1}, "least: .*less than or equal to 1"),
            ({"least": -0.1}, "least: .*greater than or equal to 0"),
            ({"old_days": -1}, "old_days: .*greater than or equal to 0"),
            ({"older": 1}, "older: .*not permitted"),
        ],
    )
    def test_what_is_no_policy_is_refused_on_one_line(
        self, fields: dict[str, Any], told: str
    ) -> None:
        with pytest.raises(InputRefused, match=told) as caught:
            LifePolicy(**fields)
        assert "\n" not in str(caught.value)

    def test_equal_shares_are_a_policy(self) -> None:
        policy = LifePolicy(active=1, stale=1, archived=1)
        assert status(memory(), START + 30 * DAY, policy) == "expired"


class TestDue:
    """Without this something that is needed is forgotten, or nothing ever is."""

    @pytest.mark.parametrize(
        ("fields", "days", "rule"),
        [
            ({"kind": "fact"}, 59.9, None),
            ({"kind": "fact"}, 60, "expired"),
            ({"kind": "error_fix", "importance": 0.39}, 90, None),
            ({"kind": "error_fix", "importance": 0.39}, 90.1, "unimportant"),
            ({"kind": "error_fix", "importance": 0.4}, 90.1, None),
            ({"kind": "error_fix", "importance": 0.34, "accesses": 1}, 90.1, "unimportant"),
            ({"kind": "error_fix", "importance": 0.35, "accesses": 1}, 90.1, None),
            ({"kind": "error_fix", "importance": 0.25, "accesses": 3}, 90.1, None),
            ({"kind": "error_fix", "importance": 0.24, "accesses": 99}, 90.1, "unimportant"),
            ({"kind": "fact", "superseded_by": 9}, 600, None),
            ({"kind": "fact", "forgotten": "asked"}, 600, None),
            ({"kind": "fact", "is_erased": True}, 600, None),
        ],
    )
    def test_what_is_expired_or_old_and_of_little_weight(
        self, fields: dict[str, Any], days: float, rule: str | None
    ) -> None:
        found = list(due([memory(**fields)], START + int(days * DAY), POLICY))
        assert [each.rule for each in found] == ([rule] if rule else [])

    @settings(max_examples=100)
    @given(st.lists(SAID, max_size=20), st.integers(-10, 500))
    def test_one_that_is_restored_at_that_moment_is_not_due(
        self, said: list[Said], days: int
    ) -> None:
        state, now = fold(recorded(said), str(ADA)), START + days * DAY
        for memory, rule in list(due(state, now, POLICY)):
            assert rule in ("expired", "unimportant")
            forgotten = memory.model_copy(update={"forgotten": rule})
            state.put(forgotten)
            evolve(state, placed(MemoryRestored(memory=memory.id), 99, day=days))
            assert memory.id not in [each.memory.id for each in due(state, now, POLICY)]
