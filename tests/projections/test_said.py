"""Which item is named for a literal: where it was first said, by whom."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.anchors import Anchor
from projections.items import Item
from projections.said import Branch, Said, first_said


def said(name: str, role: str, text: str, source: str = "model") -> Item:
    message = {"role": role, "content": text}
    return Item(name, name, "message", "openai_chat", role, message, source=source)


ORDER = Anchor("id", "ORD-1")


class TestFirst:
    """What a person said is what they will look for, whoever had it on the screen before."""

    @pytest.mark.parametrize(
        ("items", "named"),
        [
            ([("3", "assistant", "model"), ("5", "assistant", "model")], "3"),
            ([("3", "assistant", "model"), ("5", "user", "human"), ("7", "user", "human")], "5"),
            ([("3", "user", "retrieval"), ("5", "system", "injected")], "5"),
        ],
    )
    def test_is_a_persons_or_a_system_messages_else_the_first_of_all(
        self, items: list[tuple[str, str, str]], named: str
    ) -> None:
        made = [said(name, role, "ORD-1 is open", source) for name, role, source in items]
        assert first_said([ORDER], made)[0].id == named

    def test_counts_whole_words_wherever_they_stand(self) -> None:
        made = [said("3", "user", "ORD-17"), said("4", "user", "/repo/shop/a.py and ORD-1,")]
        found = first_said([ORDER, Anchor("path", "shop/a.py"), Anchor("id", "none")], made)
        assert {place: item.id for place, item in found.items()} == {0: "4", 1: "4"}

    def test_leaves_out_who_does_not_count(self) -> None:
        held = Said[int]()
        for item, told in ((3, False), (5, True), (7, True)):
            held.add(0, item, told=told)
        assert held.first(0) == 5
        assert held.first(0, lambda item: item != 5) == 7
        assert held.first(0, lambda item: item == 3) == 3
        assert held.first(0, lambda item: False) is None
        assert held.first(1) is None


def standing(rewinds: list[tuple[int, int]], at: int) -> set[int]:
    """The same, step by step: a rewind goes to what stood at its goal."""
    stood: dict[int, set[int]] = {0: set()}
    goals = dict(rewinds)
    for position in range(1, at + 1):
        goal = goals.get(position)
        stood[position] = stood[position - 1] | {position} if goal is None else stood[goal]
    return stood[at]


class TestBranch:
    """A literal that was taken back with its message was never said."""

    @given(st.sets(st.integers(2, 30)), st.integers(0, 30), st.data())
    def test_holds_what_no_rewind_had_taken_back(
        self, places: set[int], at: int, data: st.DataObject
    ) -> None:
        rewinds = [(place, data.draw(st.integers(0, place - 1))) for place in sorted(places)]
        branch = Branch(rewinds, at)
        items = set(range(1, 31)) - places
        assert {item for item in items if branch.holds(item)} == standing(rewinds, at) & items
