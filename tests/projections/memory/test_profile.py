"""What is known of a person by name."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memories_made import UPDATED, placed

from eventlog import events
from eventlog.events import MemorySource, ProfileUpdated
from projections.memory.folding import evolve
from projections.memory.profile import MOST, MOST_SOURCES, Profile, together, updated
from projections.memory.state import MemoryState


def told(values: dict[str, Any], **more: Any) -> ProfileUpdated:
    return ProfileUpdated.model_validate({"section": "basics", "values": values, **more})


def after(*said: ProfileUpdated) -> Profile:
    profile = Profile()
    for position, event in enumerate(said, 1):
        profile = updated(profile, event, position)
    return profile


class TestSaid:
    """Without this a guess takes the place of what a person said of themselves."""

    @pytest.mark.parametrize(
        ("said", "known"),
        [
            ([told({"name": "Ada"})], {"name": "Ada"}),
            ([told({"name": "Ada"}), told({"name": "Bob"})], {"name": "Bob"}),
            ([told({"name": "Ada"}, is_explicit=True), told({"name": "Bob"})], {"name": "Ada"}),
            ([told({"name": "Ada"}, is_explicit=True), told({"name": None})], {"name": "Ada"}),
            ([told({"name": "Ada"}), told({"name": None})], {}),
            (
                [told({"name": "A"}, is_explicit=True), told({"name": None}, is_explicit=True)],
                {},
            ),
            ([told({"a": 1}), told({"b": 2})], {"a": 1, "b": 2}),
            (
                [told({"a": {"b": [1]}}), told({"c\ud83d": "\ud83d"})],
                {"a": {"b": [1]}, "c\ud83d": "\ud83d"},
            ),
        ],
    )
    def test_the_newer_counts_unless_the_older_was_said(
        self, said: list[ProfileUpdated], known: dict[str, Any]
    ) -> None:
        assert after(*said).section("basics") == known

    def test_sections_do_not_meddle(self) -> None:
        profile = after(told({"n": 1}), told({"n": 2}, section="behaviour"))
        assert (profile.section("basics"), profile.section("behaviour")) == ({"n": 1}, {"n": 2})

    def test_it_names_the_event_that_said_so_last(self) -> None:
        profile = after(told({"a": 1, "b": 1}), told({"b": 2}), told({"a": None, "c": None}))
        assert profile.get("basics", "a") is None
        assert profile.get("basics", "b") == profile.known[0]
        assert (profile.known[0].position, profile.position) == (2, 3)

    def test_an_erased_update_is_known_no_more(self) -> None:
        state = MemoryState()
        evolve(state, placed(told({"name": "Ada"}), 1))
        evolve(state, placed(told({"name": "secret"}), 2, erased=True))
        assert state.profile.section("basics") == {"name": "Ada"}


class TestAdded:
    """Without this a count of sessions is reset, or a hostile number stops the fold."""

    @pytest.mark.parametrize(
        ("first", "second", "found"),
        [
            (1, 2, 3),
            (0.5, 1, 1.5),
            (None, 2, 2),
            ("x", 2, 2),
            (True, 2, 2),
            (1, "x", 1),
            (1, True, 1),
            (1, None, 1),
            (1, 10**400, 1),
            (10**400, 1, 1),
            (1, 1e308, 1),
            (MOST, MOST, MOST),
            (-MOST, -1, -MOST),
        ],
    )
    def test_numbers_are_added_and_everything_else_is_left(
        self, first: Any, second: Any, found: Any
    ) -> None:
        assert after(told({"n": first}), told({"n": second}, how="added")).section("basics") == {
            "n": found
        }

    def test_it_keeps_the_last_sessions_that_it_was_counted_in(self) -> None:
        counted = [
            told({"n": 1}, how="added", sources=(MemorySource(stream=f"u/a/{n}", positions=(n,)),))
            for n in range(1, 80)
        ]
        known = after(*counted).known[0]
        assert known.value.value == 79
        assert len(known.sources) == MOST_SOURCES
        assert known.sources[-1].stream == "u/a/79"

    @settings(max_examples=100)
    @given(st.lists(st.integers(-1000, 1000), max_size=8))
    def test_a_sum_is_a_sum(self, numbers: list[int]) -> None:
        profile = after(*[told({"n": n}, how="added") for n in numbers])
        assert profile.section("basics").get("n", 0) == sum(numbers)

    @settings(max_examples=100)
    @given(st.lists(UPDATED, max_size=12))
    def test_what_was_said_changes_only_by_what_is_said(self, said: list[ProfileUpdated]) -> None:
        profile = Profile()
        for position, event in enumerate(said, 1):
            before, profile = profile, updated(profile, event, position)
            for known in before.known:
                now = profile.get(known.section, known.name)
                assert event.is_explicit or not known.is_explicit or now == known
            assert profile == before or profile.position == position
            assert all(each.value.value is not None for each in profile.known)


def test_sources_are_told_by_session_and_each_position_once() -> None:
    first = events.MemorySource(stream="u/a/s", positions=(3, 1))
    second = events.MemorySource(stream="u/a/s", positions=(2, 3))
    other = events.MemorySource(stream="u/a/t")
    assert together((first, other), (second,)) == (
        events.MemorySource(stream="u/a/s", positions=(1, 2, 3)),
        other,
    )
