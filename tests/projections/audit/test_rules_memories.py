"""The rule about memories: where each came from that a call was given, and what is wrong there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from shown_memories import (
    FIRST,
    LATER,
    MEMORY,
    SPACES,
    TABS,
    USER,
    called,
    remember,
    remembered,
    said,
    shows,
)

from eventlog import StreamKey, events
from eventlog.events import Event
from eventlog.jsonvalue import Json
from projections import open_log
from projections.audit.auditing import audit
from projections.audit.model import MemoryRow
from projections.erasure import apply, plan
from projections.live import Live


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        remember(opened)
        yield opened


def found(live: Live, stream: StreamKey = LATER) -> list[tuple[str, str]]:
    return [(f.severity, f.message) for f in audit(live, stream, ["memories"]).findings]


def warnings(live: Live) -> list[str]:
    return [message for severity, message in found(live) if severity == "warning"]


FROM = "given m1 of ann/_/memory in 3, which came from ann/coder/first@2"


class TestWhereFrom:
    """Without it a preference of last month is in the context, and nobody knows why."""

    def test_each_memory_is_told_once_with_its_calls_and_the_events_that_it_came_from(
        self, live: Live
    ) -> None:
        live.append(LATER, called("2-3", "6"))
        told = audit(live, LATER, ["memories"])
        (finding,) = told.findings
        assert (finding.severity, finding.message) == ("info", f"c1-c2 were {FROM}")
        assert finding.refs == ("c1", "c2", "3")
        assert finding.next == ("memory", "show", "m1", "--user", "ann")
        row = MemoryRow(
            memory="m1",
            rendition="1",
            of="ann/_/memory",
            item="3",
            sources=("ann/coder/first@2",),
            source_count=1,
            standing="stands",
            since=0,
        )
        assert [call.memories for call in told.calls] == [(row,), (row,)]

    def test_so_is_the_profile(self, live: Live) -> None:
        live.append(MEMORY, events.ProfileUpdated(section="basics", values=Json({"name": "Ada"})))
        live.append(LATER, said("Ada", "memory"), shows("8", profile=2), called("8"))
        live.append(MEMORY, events.ProfileUpdated(section="basics", values=Json({"name": "Bob"})))
        live.append(LATER, called("8"))
        given = "c2-c3 were given the profile of ann/_/memory in 8, which came from ann/_/memory@2"
        assert found(live)[1:] == [("info", given)]

    def test_of_the_profile_the_events_of_what_was_shown_are_named_and_nothing_that_was_counted(
        self, live: Live
    ) -> None:
        source = [{"stream": str(FIRST), "positions": [2]}]
        other = [{"stream": str(FIRST), "positions": [1]}]
        live.append(
            MEMORY,
            events.ProfileUpdated(section="basics", values=Json({"name": "Ada"}), sources=source),
            events.ProfileUpdated(section="technical", values=Json({"shell": "fish"})),
            events.ProfileUpdated(section="behaviour", values=Json({"n": 1}), sources=other),
        )
        live.append(LATER, said("Ada", "memory"), shows("8", profile=4), called("8"))
        live.append(MEMORY, events.ProfileUpdated(section="behaviour", values=Json({"n": 2})))
        live.append(LATER, called("8"))
        row = audit(live, LATER, ["memories"]).calls[-1].memories[0]
        assert row.sources == ("ann/coder/first@2", "ann/_/memory@3")
        # What was counted since changes nothing that was shown.
        assert (row.memory, row.rendition, row.standing) == ("profile", "4", "stands")

    def test_of_many_sources_the_first_are_named(self, live: Live) -> None:
        live.append(MEMORY, remembered("all of it", *range(1, 31)))
        live.append(LATER, said("all", "memory"), shows("8", "2"), called("8"))
        places = ", ".join(f"ann/coder/first@{at}" for at in (1, 2, 3))
        assert found(live)[1][1].endswith(f"came from {places} and 27 more")

    def test_a_stream_that_is_not_in_the_log_names_none(self, live: Live) -> None:
        of = StreamKey("bob", "_", "memory")
        live.append(LATER, said("x", "memory"), shows("8", "2", of=of), called("8"))
        assert found(live)[1][1] == "c2 was given m2 of bob/_/memory in 8, which is not in this log"

    def test_of_a_fork_only_its_own_calls(self, live: Live) -> None:
        fork = StreamKey(USER, "coder", "fork")
        live.log.fork(fork, LATER, 7)
        assert found(live, fork) == []
        live.append(fork, called("2-3"))
        assert found(live, fork) == [("info", f"c2 was {FROM}")]

    def test_a_session_that_showed_none_has_none(self, live: Live) -> None:
        live.append(FIRST, called("2"))
        assert found(live, FIRST) == []
        assert [call.memories for call in audit(live, FIRST).calls] == [()]


GIVEN = "given m1 (3) though"


class TestWhatShouldNotHaveStood:
    """Whoever forgets a memory must be able to rely on it."""

    @pytest.mark.parametrize(
        ("event", "why"),
        [
            (events.MemoryForgotten(memory=1), "it had been forgotten with event 2"),
            (remembered(SPACES, subject="indentation"), "another had taken its place with event 2"),
            (remembered(SPACES, supersedes=(1,)), "another had taken its place with event 2"),
        ],
    )
    def test_a_memory_that_did_not_stand_any_more(self, live: Live, event: Event, why: str) -> None:
        assert warnings(live) == []
        live.append(MEMORY, event)
        assert warnings(live) == []  # c1 was made before that
        live.append(LATER, called("2-3"))
        assert warnings(live) == [f"c2 was {GIVEN} {why} of ann/_/memory"]

    def test_one_that_was_restored_stands_again(self, live: Live) -> None:
        live.append(MEMORY, events.MemoryForgotten(memory=1), events.MemoryRestored(memory=1))
        live.append(LATER, called("2-3"))
        assert warnings(live) == []

    def test_one_that_was_erased_before_the_call(self, live: Live) -> None:
        apply(live, plan(live, MEMORY, ["1"]))
        assert found(live) == [("info", f"c1 was {FROM}")]
        live.append(LATER, called("2-3"))
        assert warnings(live) == [f"c2 was {GIVEN} it had been erased in ann/_/memory"]

    def test_one_that_says_something_else_by_then_is_no_warning(self, live: Live) -> None:
        live.append(MEMORY, events.MemoryRevised(memory=1, text=SPACES))
        live.append(LATER, called("2-3"))
        first, second = audit(live, LATER).calls
        assert [first.memories[0].standing, second.memories[0].standing] == ["stands", "revised"]
        assert second.memories[0].since == 2
        why = f"c2 was {GIVEN} it had been revised with event 2 of ann/_/memory"
        assert ("info", why) in found(live)

    def test_one_that_stands_twice(self, live: Live) -> None:
        live.append(LATER, said(TABS, "memory"), shows("8", "1@2"))
        live.append(LATER, called("2-3", "8"), called("8"), called("=1", "2-3"))
        assert warnings(live) == ["c2, c4 were given m1 twice, in 3, 8"]


class TestUnexplained:
    """A message that claims to be a memory and is none."""

    def test_a_message_from_memory_of_which_no_event_says_what_it_shows(self, live: Live) -> None:
        live.append(LATER, said("I remember", "memory"), called("2", "8"))
        live.append(LATER, called("2", "8"), events.PlaceholderSubstituted(item="8", content="-"))
        live.append(LATER, called("2", "8@11"))
        said_to_be = "which is said to come from memory, and no event says which memories it shows"
        assert warnings(live) == [f"c2-c3 were given 8, {said_to_be}"]

    def test_a_revision_is_explained_by_itself(self, live: Live) -> None:
        revised = events.MessageRevised(item="3", patch=Json({"content": "none"}))
        live.append(LATER, revised, called())
        assert len(warnings(live)) == 1
        live.append(LATER, revised, shows("3@10"), called())
        assert [w.partition(",")[0] for w in warnings(live)] == ["c2 was given 3@8"]

    def test_what_another_program_remembers_stands_elsewhere(self, live: Live) -> None:
        key = StreamKey(USER, "other", "s")
        live.append(key, events.SessionStarted(ownership="observed"), said("x", "memory"))
        live.append(key, called("2"))
        assert [severity for severity, _ in found(live, key)] == ["info"]
