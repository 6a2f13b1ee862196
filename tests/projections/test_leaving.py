"""With what an item left: what every command tells of it, however it went."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from random_logs import LOG

from eventlog import StreamKey, events
from projections import open_log
from projections.leaving import Leaving
from projections.live import Live
from projections.runs import Origin

KEY = StreamKey("local", "agent", "s")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def went(live: Live, at: int) -> dict[Origin, int]:
    """By definition: the last event behind which an item stood no longer."""
    found: dict[Origin, int] = {}
    before: set[Origin] = set()
    for position in range(1, at + 1):
        after = set(live.view(KEY, position).items)
        found.update((item, position) for item in before - after)
        before = after
    return {item: position for item, position in found.items() if item not in before}


class TestLeaving:
    """Without these one command names a decision that another one does not."""

    @settings(max_examples=150, deadline=None)
    @given(LOG)
    def test_it_is_the_last_event_behind_which_an_item_stood_no_longer(
        self, tmp_path_factory: pytest.TempPathFactory, log: list[list[events.Event]]
    ) -> None:
        with open_log(tmp_path_factory.mktemp("left") / "log.db", durability="normal") as live:
            for batch in log:
                live.append(KEY, *batch)
            version = live.log.version(KEY)
            for at in {version, version // 2} - {0}:
                leaving, wanted = Leaving(live, KEY, at), went(live, at)
                found = {item: leaving.of(item) for item in wanted}
                assert {i: e.position for i, e in found.items() if e is not None} == wanted
                assert all(leaving.of(item) is None for item in live.view(KEY, at).items)

    def test_a_synthetic_result_leaves_with_the_real_one(self, live: Live) -> None:
        call = {"id": "t", "type": "function", "function": {"name": "run", "arguments": "{}"}}
        asked = {"role": "assistant", "content": None, "tool_calls": [call]}
        none = {"role": "tool", "tool_call_id": "t", "content": "no result was recorded"}
        insert = events.RepairInsert(
            after="1", message=events.NewMessage(dialect="openai_chat", message=none)
        )
        live.append(
            KEY,
            events.MessageAppended(dialect="openai_chat", source="model", message=asked),
            events.RepairApplied(rule="unanswered_call", inserted=(insert,), call_ids=("t",)),
            events.ToolResultRecorded(tool_call_id="t", dialect="openai_chat", content="done"),
        )
        event = Leaving(live, KEY, 3).of("2.0")
        assert event is not None
        assert (event.position, event.type) == (3, "tool_result_recorded")
