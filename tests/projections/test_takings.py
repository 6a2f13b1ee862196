"""A decision that takes content out of sight, by whichever of its events it is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from test_losses import said

from eventlog import StreamKey, events
from eventlog.errors import PositionNotFound
from projections import open_log
from projections.live import Live
from projections.losses import losses
from projections.takings import before_and_behind, taking_at

KEY = StreamKey("a", "b", "c")


def result(number: int) -> events.ToolResultRecorded:
    return events.ToolResultRecorded(
        tool_call_id=f"x{number}",
        name="read",
        dialect="openai_chat",
        content=f"FIN-330{number} is open; nothing else is known of it",
    )


def cleared(item: int, kind: str = "cleared", left: str = "-") -> events.PlaceholderSubstituted:
    return events.PlaceholderSubstituted.model_validate(
        {"item": str(item), "content": left, "kind": kind}
    )


def called() -> events.ModelCalled:
    return events.ModelCalled(model="m", dialect="openai_chat")


def revised(item: int, text: str) -> events.MessageRevised:
    return events.MessageRevised(item=str(item), message={"role": "system", "content": text})


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "l.db") as opened:
        opened.append(
            KEY,
            said("You help. Never run ./drop.sh on it.", "system"),  # 1
            result(1),  # 2
            result(2),  # 3
            called(),  # 4
            cleared(2),  # 5
            revised(1, "You help."),  # 6
            result(3),  # 7
            cleared(7, "cut", "FIN-3303 … of it"),  # 8
            said("Which one was FIN-3301?"),  # 9
            called(),  # 10
            cleared(3),  # 11
            said("And FIN-3302?"),  # 12
            called(),  # 13
            said("FIN-3302 is open. Never run ./drop.sh, I know.", "assistant"),  # 14
        )
        yield opened


class TestWhichDecision:
    @pytest.mark.parametrize(
        ("position", "kind", "positions", "did"),
        [
            (5, "substitution", [5, 8], "cleared or cut"),
            (8, "substitution", [5, 8], "cleared or cut"),
            (6, "revision", [6], "revised"),
            (11, "substitution", [11], "cleared"),
        ],
    )
    def test_what_lies_between_two_calls_is_one(
        self, live: Live, position: int, kind: str, positions: list[int], did: str
    ) -> None:
        taking = taking_at(live, KEY, position)
        assert taking is not None
        assert (taking.kind, [e.position for e in taking.events]) == (kind, positions)
        assert taking.did == did

    def test_a_compaction_is_one_by_itself(self, live: Live) -> None:
        live.append(KEY, events.ContextCompacted(covered=("2",)), cleared(3))
        taking = taking_at(live, KEY, 15)
        assert taking is not None
        assert (taking.kind, taking.first, taking.until) == ("compaction", 15, 15)

    @pytest.mark.parametrize("position", [1, 4, 9, 99])
    def test_any_other_event_is_none(self, live: Live, position: int) -> None:
        assert taking_at(live, KEY, position) is None
        with pytest.raises(PositionNotFound, match="no compaction, substitution or revision"):
            losses(live, KEY, position)


class TestWhatItTook:
    def test_both_sides_differ_by_that_decision_alone(self, live: Live) -> None:
        taking = taking_at(live, KEY, 5)
        assert taking is not None
        left, right = before_and_behind(live, KEY, taking)
        assert [item.rendition for item in left] == ["1", "2", "3", "7", "9"]
        assert [item.rendition for item in right] == ["1", "2@5", "3", "7@8", "9"]

    def test_what_a_person_said_before_the_call_was_not_lost_to_it(self, live: Live) -> None:
        assert [one.text for one in losses(live, KEY, 5).lost] == []
        assert [one.text for one in losses(live, KEY, 11).lost] == []

    def test_a_rule_that_a_revision_took_is_lost_and_who_says_it_later_needed_it(
        self, live: Live
    ) -> None:
        found = losses(live, KEY, 6)
        assert ("./drop.sh", ("14",)) in [(one.text, one.used_by) for one in found.telling]
        assert "Never run ./drop.sh on it" in [one.text for one in found.telling]

    def test_an_item_that_had_left_is_not_what_it_took(self, live: Live) -> None:
        live.append(
            KEY, events.ContextCompacted(covered=("3",)), cleared(3), cleared(2, left="other")
        )
        taking = taking_at(live, KEY, 17)
        assert taking is not None
        left, right = before_and_behind(live, KEY, taking)
        assert [i.id for i in left] == [i.id for i in right] == ["1", "2", "7", "9", "12", "14"]
        assert right[1].rendition == "2@17"
