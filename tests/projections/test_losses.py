"""What a compaction lost, asked of the library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eventlog import StreamKey, events
from eventlog.errors import PositionNotFound
from projections import open_log
from projections.items import OBSERVATION, RECOVERED
from projections.live import Live
from projections.losses import losses

KEY = StreamKey("local", "agent", "s")


def said(text: str, role: str = "user") -> events.MessageAppended:
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    return events.MessageAppended(
        dialect="openai_chat", source=source, message={"role": role, "content": text}
    )


def found_again(text: str) -> events.ToolResultRecorded:
    return events.ToolResultRecorded(
        dialect="openai_chat", tool_call_id="a", name="bash", content=text
    )


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    new = events.NewMessage(
        dialect="openai_chat", message={"role": "user", "content": "A cent is too much."}
    )
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        opened.append(
            KEY,
            said("The order is ORD-77120. Look at it."),
            said("It is in shop/money.py. So is ORD-88231.", "assistant"),
            events.ContextCompacted(covered=("1-2",), messages=(new,)),
            said("ORD-88231 is done.", "assistant"),
        )
        yield opened


class TestLosses:
    """Without these only the command line can tell what a compaction cost."""

    def test_what_is_lost_is_told_with_where_it_came_from_and_what_used_it(
        self, live: Live
    ) -> None:
        found = losses(live, KEY, 3)
        assert [(one.text, one.first, one.used_by) for one in found.lost] == [
            ("shop/money.py", "2", ()),
            ("ORD-77120", "1", ()),
            ("ORD-88231", "2", ("4",)),
        ]

    def test_telling_is_what_a_person_said_or_a_later_message_holds(self, live: Live) -> None:
        assert [one.text for one in losses(live, KEY, 3).telling] == ["ORD-77120", "ORD-88231"]

    @pytest.mark.parametrize(
        "event",
        [
            said("Recovered: the order is ORD-77120.", "user").model_copy(
                update={"source": "injected", "label": RECOVERED}
            ),
            said("<reminder>ORD-77120</reminder>").model_copy(update={"source": "injected"}),
            said("ORD-77120, says the tool").model_copy(
                update={"source": "injected", "label": OBSERVATION}
            ),
        ],
    )
    def test_what_a_program_put_in_is_no_need_of_it(
        self, event: events.MessageAppended, live: Live
    ) -> None:
        live.append(KEY, event)
        found = losses(live, KEY, 3)
        assert {one.text: one.used_by for one in found.lost}["ORD-77120"] == ()
        live.append(KEY, said("What about ORD-77120?"))
        found = losses(live, KEY, 3)
        assert {one.text: one.used_by for one in found.lost}["ORD-77120"] == ("6",)

    def test_literals_come_in_their_sentences_and_what_was_needed_most_first(
        self, live: Live
    ) -> None:
        live.append(KEY, found_again("It is in shop/money.py."))
        found = losses(live, KEY, 3)
        assert [(each.item.id, each.text) for each in found.sentences(found.telling)] == [
            ("2", "So is ORD-88231."),
            ("1", "The order is ORD-77120."),
            ("2", "It is in shop/money.py."),
        ]

    def test_what_a_tool_found_again_came_up_again(self, live: Live) -> None:
        """Without it the audit tells of a literal that the command it names does not show."""
        live.append(KEY, found_again("shop/money.py:3: cents"))
        found = losses(live, KEY, 3)
        assert {one.text: one.found_in for one in found.telling}["shop/money.py"] == ("5",)
        assert {one.text: one.used_by for one in found.telling}["shop/money.py"] == ()

    def test_where_no_compaction_stands_there_is_nothing_to_lose(self, live: Live) -> None:
        with pytest.raises(PositionNotFound, match="no compaction, substitution or revision at"):
            losses(live, KEY, 4)
