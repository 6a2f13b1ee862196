"""Where a context may be cut: never inside what belongs together."""

from __future__ import annotations

import pytest
from contexts_made import (
    ANTHROPIC,
    RESPONSES,
    answer,
    contexts,
    ids,
    item,
    plausible_contexts,
    reasoning,
    result,
    say,
    signed,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from projections.items import Item
from projections.legality import check, legal_boundaries, snap_backward, snap_forward, units

RANDOM = settings(max_examples=100)
U1, OK = say(1, "user", "fix it"), answer(9, text="ok")


class TestBoundaries:
    """Half of the field's compaction bugs are one bug: a cut that breaks a tool pair."""

    @pytest.mark.parametrize(
        ("items", "legal"),
        [
            ([], (0,)),
            ([U1, OK], (0, 1, 2)),
            ([U1, answer(2, "a", "b"), result(3, "b"), result(4, "a"), OK], (0, 1, 4, 5)),
            ([U1, answer(2, "x"), U1, OK, result(5, "x"), OK], (0, 1, 5, 6)),
            ([U1, answer(2, "x"), OK], (0, 1, 2, 3)),
            ([U1, answer(2, "x"), U1], (0, 1)),
            ([result(1, "x"), result(2, "y"), U1], (0, 2, 3)),
            (
                [U1, item(2, RESPONSES, reasoning()), answer(3, text="ok", dialect=RESPONSES), U1],
                (0, 1, 3, 4),
            ),
        ],
        ids=[
            "nothing",
            "plain turns",
            "a batch",
            "a deferred result",
            "a stale open call binds nothing",
            "a pending call binds all behind it",
            "never in front of a result",
            "reasoning and what it precedes",
        ],
    )
    def test_of_a_context(self, items: list[Item], legal: tuple[int, ...]) -> None:
        assert legal_boundaries(items) == legal

    def test_a_thinking_tool_loop_is_one_unit(self) -> None:
        loop = [
            answer(2, "a", dialect=ANTHROPIC, thinking=[signed()]),
            result(3, "a"),
            answer(4, "b", dialect=ANTHROPIC),
            result(5, "b"),
        ]
        items = [U1, *loop, answer(6, text="ok"), say(7, "user", "next")]
        assert legal_boundaries(items) == (0, 1, 5, 6, 7)
        assert legal_boundaries(items, thinking_loops=False) == (0, 1, 3, 5, 6, 7)

    def test_items_of_one_answer_are_one_batch(self) -> None:
        calls = [answer(2, "a", dialect=RESPONSES), answer(3, "b", dialect=RESPONSES)]
        results = [result(4, "a", dialect=RESPONSES), result(5, "b", dialect=RESPONSES)]
        assert legal_boundaries([U1, *calls, *results]) == (0, 1, 5)


class TestSnaps:
    """Forward drops more, backward keeps more; both search without bound (B03)."""

    ITEMS = (
        U1,
        answer(2, "x"),
        *[say(n, "user", "note") for n in range(3, 11)],
        result(11, "x"),
        OK,
    )

    @pytest.mark.parametrize(("at", "to"), [(0, 0), (1, 1), (2, 11), (10, 11), (11, 11), (99, 12)])
    def test_forward(self, at: int, to: int) -> None:
        assert snap_forward(self.ITEMS, at) == to

    @pytest.mark.parametrize(("at", "to"), [(-5, 0), (1, 1), (2, 1), (10, 1), (11, 11), (99, 12)])
    def test_backward(self, at: int, to: int) -> None:
        assert snap_backward(self.ITEMS, at) == to

    def test_forward_never_drops_a_pending_call(self) -> None:
        assert snap_forward([U1, OK, answer(3, "x"), result(4, "y")], 3) == 2

    def test_a_tail_of_nothing_is_nothing(self) -> None:
        items = [U1, OK]
        assert items[snap_forward(items, len(items)) :] == []


class TestUnits:
    """Strategies drop units, never items: so they cannot break a pair."""

    def test_of_a_context(self) -> None:
        items = [U1, answer(2, "a", "b"), result(3, "b"), result(4, "a"), OK]
        assert [ids(unit) for unit in units(items)] == [["1"], ["2", "3", "4"], ["9"]]

    @RANDOM
    @given(st.one_of(plausible_contexts(), contexts()))
    def test_they_are_the_context(self, items: list[Item]) -> None:
        assert [i for unit in units(items) for i in unit] == items

    @RANDOM
    @given(plausible_contexts(), st.data())
    def test_a_legal_cut_orphans_nothing(self, items: list[Item], data: st.DataObject) -> None:
        cut = data.draw(st.sampled_from(legal_boundaries(items)))
        assert _broken(items[cut:], "orphan_result", "second_result") <= _broken(
            items, "orphan_result", "second_result"
        )
        assert _broken(items[:cut], "unanswered_call") <= _broken(items, "unanswered_call")


def _broken(items: list[Item], *rules: str) -> set[str]:
    return {name for found in check(items) if found.rule in rules for name in found.items}
