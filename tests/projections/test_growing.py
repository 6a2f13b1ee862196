"""A context made sendable from the one before it is the same as made sendable by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import pytest
from contexts_made import (
    ANTHROPIC,
    CHAT,
    RESPONSES,
    answer,
    contexts,
    item,
    plausible_contexts,
    reasoning,
    result,
    say,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eventlog.errors import NoContext
from projections import growing
from projections.growing import Growing
from projections.items import Item
from projections.legality import Sendable, sendable


def alone(items: Sequence[Item]) -> Sendable | None:
    """By itself; None where no message is left."""
    try:
        return sendable(items)
    except NoContext:
        return None


def compare(course: Iterable[Sequence[Item]]) -> None:
    grown = Growing()
    for items in course:
        try:
            made = grown.take(items)
        except NoContext:
            made = None
        assert made == alone(items)


@pytest.fixture(params=[1, 8], autouse=True)
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With as many seams as there can be, too."""
    monkeypatch.setattr(growing, "FEW", request.param)


COURSE = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=8)


@pytest.mark.parametrize("made", [contexts, plausible_contexts])
def test_any_contexts(made: Any) -> None:
    """Prefixes of one conversation, longer and shorter, each without one of its items."""

    @settings(max_examples=150, suppress_health_check=[HealthCheck.filter_too_much])
    @given(made(), COURSE)
    def check(items: Sequence[Item], course: list[tuple[int, int]]) -> None:
        compare([*items[:gone], *items[gone + 1 : end]] for end, gone in course)
        compare(items[:end] for end in range(len(items) + 1))

    check()


class TestSeams:
    """What ties two parts together is looked at as one."""

    @pytest.mark.parametrize("dialect", [CHAT, RESPONSES, ANTHROPIC])
    def test_one_step_after_the_other(self, dialect: str) -> None:
        steps: list[list[Item]] = [[say(1, "system", "mend"), say(2, "user", "go", dialect)]]
        for number in range(3, 60, 3):
            name = f"call_{number % 7}"  # an id comes again
            steps.append([
                answer(number, name, dialect=dialect), result(number + 1, name, dialect=dialect)
            ])  # fmt: skip
            steps[-1] += [say(number + 2, "user", "and", dialect)] * (number % 2)
        compare(accumulate(steps, lambda before, step: [*before, *step]))

    def test_a_result_of_an_earlier_call(self) -> None:
        items = [
            say(1, "user", "go"), answer(2, "x"), say(3, "user", "wait"), answer(4, "y"),
            result(5, "y"), result(6, "x"), say(7, "user", "so"),
        ]  # fmt: skip
        compare(items[:end] for end in range(len(items) + 1))

    def test_reasoning_that_left_takes_an_id_of_what_is_said_later(self) -> None:
        said = {"type": "message", "role": "assistant", "id": "m1", "content": "done"}
        items = [
            say(1, "user", "go", RESPONSES),
            item(2, RESPONSES, reasoning(), role="assistant"),
            say(3, "user", "well", RESPONSES),
            item(4, RESPONSES, said, role="assistant"),
        ]
        compare(items[:end] for end in range(len(items) + 1))
        assert "id" not in sendable(items).items[-1].message

    def test_what_did_not_change_is_not_asked_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        looked = list[int]()

        def counted(items: Sequence[Item]) -> Sendable:
            looked.append(len(items))
            return sendable(items)

        monkeypatch.setattr(growing, "sendable", counted)
        items = [say(1, "user", "go")]
        for number in range(2, 400, 2):
            items += [answer(number, f"c{number}"), result(number + 1, f"c{number}")]
        grown = Growing()
        for end in range(1, len(items) + 1, 2):
            grown.take(items[:end])
        changed = [*items[:390], result(391, "c390", "[cleared]"), *items[391:]]
        assert grown.take(changed) == sendable(changed)
        assert sum(looked) < 3 * len(items)
