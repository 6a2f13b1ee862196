"""With what an item left: what every command tells of it, however it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from random_logs import LOG

from eventlog import RecordedEvent, StreamKey, events
from projections import open_log
from projections.audit.auditing import audit
from projections.context import ITEM_TYPES
from projections.force import out_of_force
from projections.leaving import Leaving
from projections.live import Live
from projections.runs import Origin
from projections.why import taker

KEY = StreamKey("local", "agent", "s")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def said(text: str) -> events.MessageAppended:
    return events.MessageAppended(
        dialect="openai_chat", source="human", message={"role": "user", "content": text}
    )


def brought(history: list[RecordedEvent]) -> Iterator[Origin]:
    """Everything that a stream brings in."""
    for event in history:
        if event.type in ITEM_TYPES:
            yield event.position
        field = {"context_compacted": "messages", "repair_applied": "inserted"}.get(event.type)
        for number in range(len(event.data.get(field, ()))) if field else ():
            yield f"{event.position}.{number}"


class TestLeaving:
    """Without these one command names a decision that another one does not."""

    @settings(max_examples=150)
    @given(LOG)
    def test_it_is_what_why_tells_of_the_item(
        self, tmp_path_factory: pytest.TempPathFactory, log: list[list[events.Event]]
    ) -> None:
        with open_log(tmp_path_factory.mktemp("left") / "log.db", durability="normal") as live:
            for batch in log:
                live.append(KEY, *batch)
            version = live.log.version(KEY)
            for at in {version, version // 2} - {0}:
                history = live.history(KEY, at)
                gone = out_of_force(history)
                leaving, standing = Leaving(live, KEY, at), live.view(KEY, at).items
                for item in brought(history):
                    event = leaving.of(item)
                    if item in standing:
                        assert event is None
                        continue
                    assert (event.position if event is not None else 0) == taker(
                        history, gone, item
                    )

    @settings(max_examples=100)
    @given(LOG)
    def test_the_coverage_of_an_audit_names_the_same(
        self, tmp_path_factory: pytest.TempPathFactory, log: list[list[events.Event]]
    ) -> None:
        with open_log(tmp_path_factory.mktemp("left") / "log.db", durability="normal") as live:
            for batch in log:
                live.append(KEY, *batch)
            covered = audit(live, KEY, ["coverage"]).coverage
            leaving, view = Leaving(live, KEY, live.log.version(KEY)), live.view(KEY)
            history = live.history(KEY)
            gone, numbers = out_of_force(history), {}
            for event in history:
                if event.type == "context_compacted":
                    numbers[event.position] = f"k{len(numbers) + 1}"
            left = Counter[str]()
            for item in {*brought(history)} - view.items.keys():
                event = leaving.of(item)
                if event is not None:
                    left[numbers.get(event.position, str(event.position))] += 1
            told = Counter[str]()
            for state in covered.states:
                if state.state == "edited":
                    assert int(state.by) in {*view.items.values()} - gone.keys()
                elif state.state != "kept" and state.by:
                    told[state.by] += state.items
            assert told == left
            assert sum(state.items for state in covered.states) == covered.items
            assert covered.context_items == len(view.items)

    def test_a_message_that_a_layout_leaves_out_never_stood_and_is_kept_out_by_nothing(
        self, live: Live
    ) -> None:
        new = events.NewMessage(dialect="openai_chat", message={"role": "user", "content": "s"})
        live.append(
            KEY,
            said("one"),  # 1
            events.ContextCompacted(covered=("1",), layout=(), messages=(new,)),  # 2
            events.ContextCompacted(covered=(), layout=()),  # 3
        )
        assert Leaving(live, KEY, 3).of("2.0") is None

    def test_what_was_folded_before_a_rewind_is_kept_out_by_the_rewind(self, live: Live) -> None:
        summary = events.NewMessage(
            dialect="openai_chat", message={"role": "user", "content": "both"}
        )
        live.append(
            KEY,
            events.SessionStarted(),
            said("one"),  # 2
            said("two"),  # 3
            events.ContextCompacted(covered=("2-3",), messages=(summary,)),  # 4
            events.SessionRewound(to=2),  # 5
        )
        event = Leaving(live, KEY, 5).of(3)
        assert event is not None
        assert event.type == "session_rewound"
        assert Leaving(live, KEY, 5).of(2) is None

    def test_after_an_undo_it_is_the_next_that_covers_the_item(self, live: Live) -> None:
        live.append(
            KEY,
            said("one"),  # 1
            said("two"),  # 2
            events.ContextCompacted(covered=("1",)),  # 3
            events.ContextCompacted(covered=("1-2",)),  # 4
            events.DecisionUndone(target=3),  # 5
        )
        event = Leaving(live, KEY, 5).of(1)
        assert event is not None
        assert event.position == 4

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
