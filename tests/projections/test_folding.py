"""The fold of one stream step by step, through undos and rewinds."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from random_logs import LOG
from recorded_sessions import KEY

from eventlog import events
from eventlog.recorded import RecordedEvent
from projections import folding
from projections.context import View, fold
from projections.folding import Folding
from projections.observe import draft_at


def placed(said: Iterable[events.Event]) -> list[RecordedEvent]:
    return [draft_at(event, KEY, position) for position, event in enumerate(said, 1)]


def text(words: str) -> events.MessageAppended:
    message = {"role": "user", "content": words}
    return events.MessageAppended(dialect="openai_chat", source="human", message=message)


def assert_as_folded(stream: list[RecordedEvent]) -> None:
    going = Folding()
    for number, event in enumerate(stream, 1):
        view, whole = going.take(event), fold(stream[:number])
        assert view.standing() == whole.standing()
        assert (view.pins, view.waiting, view.version) == (
            whole.pins,
            whole.waiting,
            whole.version,
        )


class TestFolding:
    """Without this an audit shows contexts that never were, or takes hours to show them."""

    @settings(max_examples=150)
    @given(LOG)
    def test_each_step_of_any_log_is_as_folded_from_nothing(
        self, log: list[list[events.Event]]
    ) -> None:
        assert_as_folded(placed(event for batch in log for event in batch))

    @settings(max_examples=150)
    @given(LOG)
    def test_it_is_so_wherever_views_were_kept(self, log: list[list[events.Event]]) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(folding, "STRIDE", 1)
            patch.setattr(folding, "MOST_KEPT", 5)
            assert_as_folded(placed(event for batch in log for event in batch))

    def test_a_rewind_costs_what_lies_between_and_not_the_whole(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        steps = 0
        evolve = View.evolve

        def counted(view: View, event: RecordedEvent) -> None:
            nonlocal steps
            steps += 1
            evolve(view, event)

        said: list[events.Event] = []
        for number in range(1000):
            said += [text(f"{number}"), text("a wrong turn")]
            said.append(events.SessionRewound(to=len(said) - 1))
        monkeypatch.setattr(View, "evolve", counted)
        going = Folding()
        for event in placed(said):
            going.take(event)
        assert list(going.view.items) == list(range(1, 3001, 3))
        assert steps < 100 * len(said)
