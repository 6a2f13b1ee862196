"""Which calls a memory stood before, and which memories stood before a call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from shown_memories import FIRST, LATER, MEMORY, TABS, USER, called, remember, said, shows

from eventlog import StreamKey, events
from eventlog.jsonvalue import Json
from projections import open_log
from projections.live import Live
from projections.memory.shown import CallRef, Shown, ShownIn, memories_shown, shown_in
from projections.purging import purge

FORK = StreamKey(USER, "coder", "fork")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        remember(opened)
        yield opened


def calls_of(live: Live, memory: int = 1) -> list[tuple[str, str, list[str]]]:
    return [
        (each.stream.session, each.item, [call.number for call in each.calls])
        for each in shown_in(live, USER, memory)
    ]


class TestShownIn:
    """Without it nobody can say what a memory did."""

    def test_the_message_the_rendition_and_the_calls_are_told(self, live: Live) -> None:
        assert shown_in(live, USER, 1) == [
            ShownIn(LATER, "3", "1", 4, (CallRef("c1", 5),)),
        ]

    def test_a_memory_that_nobody_was_shown_has_none(self, live: Live) -> None:
        live.append(LATER, shows("2", "11", "12@1"))
        assert shown_in(live, USER, 2) == []
        assert shown_in(live, "somebody", 1) == []
        assert calls_of(live, 12) == [("later", "2", ["c1"])]

    def test_a_message_that_was_revised_shows_it_no_longer(self, live: Live) -> None:
        patch = Json({"content": "Remembered: nothing"})
        live.append(LATER, events.MessageRevised(item="3", patch=patch), shows("3@8"))
        live.append(LATER, called("2", "3@8", "6"), called("2-3", "6"))
        assert calls_of(live) == [("later", "3", ["c1", "c3"])]
        assert memories_shown(live, LATER, 10) == [Shown("3@8", 9, str(MEMORY), (), 0)]

    def test_a_later_rendition_may_show_it_again(self, live: Live) -> None:
        patch = Json({"content": f"Again: {TABS}"})
        live.append(LATER, events.MessageRevised(item="3", patch=patch), shows("3@8", "7", "1@2"))
        live.append(LATER, called("=1", "3@8"))
        assert calls_of(live) == [("later", "3", ["c1"]), ("later", "3@8", ["c2"])]
        assert [each.rendition for each in shown_in(live, USER, 1)] == ["1", "1@2"]

    def test_what_was_taken_over_from_the_manifest_before_stands(self, live: Live) -> None:
        live.append(LATER, called("=2", "6"), called("=1", "6"), called("=2"))
        # c3 left out what c2 had, and c4 takes over no more than c3 held.
        assert calls_of(live) == [("later", "3", ["c1", "c2"])]

    def test_a_call_without_a_manifest_is_known_as_folded(self, live: Live) -> None:
        live.append(LATER, called())
        live.append(LATER, events.PlaceholderSubstituted(item="3", content="[cleared]"))
        live.append(LATER, called(), events.DecisionUndone(target=9))
        live.append(LATER, called())
        assert calls_of(live) == [("later", "3", ["c1", "c2", "c4"])]

    def test_a_fork_has_calls_of_its_own(self, live: Live) -> None:
        live.log.fork(FORK, LATER, 7)
        live.append(FORK, said("go on"), called("2-3", "6", "9"))
        other = StreamKey(USER, "coder", "early")
        live.log.fork(other, LATER, 2)
        live.append(other, called("2"))
        assert calls_of(live) == [("later", "3", ["c1"]), ("fork", "3", ["c2"])]
        assert [each.item for each in memories_shown(live, FORK, 10)] == ["3"]
        assert [each.item for each in memories_shown(live, FORK, 5)] == ["3"]

    def test_of_an_item_that_was_erased_before_nothing_was_shown(self, live: Live) -> None:
        live.append(LATER, called("2", "3@redacted"))
        assert calls_of(live) == [("later", "3", ["c1"])]

    def test_what_a_session_showed_that_was_purged_is_told_all_the_same(self, live: Live) -> None:
        purge(live, LATER)
        assert calls_of(live) == [("later", "3", ["c1"])]

    def test_what_names_no_item_is_passed_over(self, live: Live) -> None:
        live.append(LATER, shows("58-120", "1"), shows("900", "1"), shows("2@700", "1-3", "57.0"))
        assert calls_of(live)[1:] == [("later", "900", [])]


class TestMemoriesShown:
    """The other way round: what a call was given."""

    def test_in_the_order_of_the_request(self, live: Live) -> None:
        live.append(LATER, said("more", "memory"), shows("8", "9", "1@5", profile=4))
        live.append(LATER, called("8", "2-3"), called())
        later = Shown("8", 9, str(MEMORY), ((9, "9"), (1, "1@5")), 4)
        first = Shown("3", 4, str(MEMORY), ((1, "1"),), 0)
        assert memories_shown(live, LATER, 10) == [later, first]
        assert memories_shown(live, LATER, 11) == [first, later]

    def test_nothing_where_none_was_shown(self, live: Live) -> None:
        live.append(FIRST, called("2"))
        assert memories_shown(live, FIRST, 3) == []
        assert memories_shown(live, LATER, 2) == []

    def test_two_persons_may_stand_in_one_message(self, live: Live) -> None:
        other = StreamKey("bob", "_", "memory")
        live.append(LATER, shows("3", "1", of=other), called("2-3"))
        shown = memories_shown(live, LATER, 9)
        assert [each.of for each in shown] == [str(MEMORY), str(other)]
        assert calls_of(live) == [("later", "3", ["c1", "c2"])]


def test_sessions_without_recalls_are_not_read(live: Live) -> None:
    """A log of ten thousand sessions must not be read for one memory."""
    for number in range(5):
        live.append(StreamKey(USER, "coder", f"plain{number}"), said("x"), called("1"))
    read: list[str] = []
    live.log._db.set_trace_callback(read.append)
    shown_in(live, USER, 1)
    live.log._db.set_trace_callback(None)
    rows = {live.log.stream(StreamKey(USER, "coder", f"plain{n}")).row for n in range(5)}
    assert not [sql for sql in read if any(f"stream = {row} " in sql for row in rows)]
    assert [sql for sql in read if f"stream = {live.log.stream(LATER).row} " in sql]
