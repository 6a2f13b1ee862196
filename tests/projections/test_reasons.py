"""Why an item stands where it stands, asked of the library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eventlog import StreamKey, events
from projections import open_log
from projections.live import Live
from projections.reasons import given, reasons

KEY = StreamKey("local", "agent", "s")


def said(text: str) -> events.MessageAppended:
    return events.MessageAppended(
        dialect="openai_chat", source="human", message={"role": "user", "content": text}
    )


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    new = events.NewMessage(
        dialect="openai_chat", message={"role": "user", "content": "Order ORD-77120."}
    )
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        opened.append(
            KEY,
            said("ORD-77120 and ORD-88231"),
            said("Go on."),
            events.ModelCalled(model="m", dialect="openai_chat"),
            events.PlaceholderSubstituted(item="2", content="[cleared]"),
            events.ContextCompacted(covered=("1",), messages=(new,)),
            events.ContextCompacted(covered=("2",)),
            events.ModelCalled(model="m", dialect="openai_chat"),
        )
        yield opened


class TestReasons:
    """Without these only the command line can tell why the model did not know."""

    @pytest.mark.parametrize(
        ("item", "at", "state"),
        [
            (1, 3, "context"),
            (2, 4, "placeholder"),
            (1, 7, "folded"),
            (2, 7, "left"),
            (2, 1, "not_yet"),
        ],
    )
    def test_where_it_stands(self, live: Live, item: int, at: int, state: str) -> None:
        assert reasons(live, KEY, item, at).state == state

    def test_what_took_its_place_and_what_of_it_survived(self, live: Live) -> None:
        found = reasons(live, KEY, 1, 7)
        assert [item.id for item in found.in_its_place] == ["5.0"]
        assert [(one.anchor.text, one.is_lost) for one in found.survived] == [
            ("ORD-77120", False),
            ("ORD-88231", True),
        ]
        assert found.since is not None
        assert found.since.event.position == 5

    def test_what_a_call_was_given_of_it(self, live: Live) -> None:
        assert given(live, KEY, 1, 3) == (False, "1")
        assert given(live, KEY, 1, 7) == (False, None)
