"""The state of a session in a log: now, at a place, of a fork, after an erasure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from agent_events import KEY, LOG, busy, placed, said, seen, tasks
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import events
from eventlog.errors import EventInvalid, PositionNotFound, StreamNotFound
from eventlog.recorded import RecordedEvent
from eventlog.redaction import Target, redact
from projections import Live, open_log
from projections.agent_state import FileLimits, FollowedState, StateFolding, agent_state
from projections.agent_state.folding import fold

FORK = KEY._replace(session="another")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db") as found:
        yield found


class TestAgentState:
    """A session that is gone on with goes on from what stands here."""

    def test_it_is_the_fold_with_the_context_of_then(self, live: Live) -> None:
        live.append(KEY, *busy())
        for at in range(16):
            state = agent_state(live, KEY, at)
            folded = fold(placed(busy()[:at])).state
            expected = folded.model_copy(update={"session_id": "work"})
            assert state == expected.with_context(live.items(KEY, at))
        assert agent_state(live, KEY) == agent_state(live, KEY, 15)

    def test_the_limits_are_the_callers(self, live: Live) -> None:
        live.append(KEY, seen("/a"), seen("/b"))
        files = agent_state(live, KEY, limits=FileLimits(entries=1)).tools.files
        assert [file.path for file in files] == ["/b"]

    def test_a_place_that_is_not_there_is_refused(self, live: Live) -> None:
        live.append(KEY, said("user", "hi"))
        with pytest.raises(PositionNotFound, match="it ends at 1"):
            agent_state(live, KEY, 2)
        with pytest.raises(StreamNotFound):
            agent_state(live, FORK)

    def test_it_is_the_same_where_the_log_can_only_be_read(self, live: Live) -> None:
        live.append(KEY, *busy())
        with open_log(live.log.path, read_only=True) as reader:
            assert agent_state(reader, KEY) == agent_state(live, KEY)

    def test_a_fork_begins_with_its_parents_state_and_goes_its_own_way(self, live: Live) -> None:
        live.append(KEY, *busy())
        live.log.fork(FORK, KEY, 12)
        live.append(KEY, tasks("something else"), events.ToolGroupsSet(groups=()))
        parent, child = agent_state(live, KEY, 12), agent_state(live, FORK)
        assert child == parent.model_copy(update={"session_id": "another", "position": 13})
        live.append(FORK, tasks("another way"))
        assert [task.title for task in agent_state(live, FORK).tasks] == ["another way"]


class TestFollowedState:
    """Asked after each step, the whole log must not be read each time, nor anything be missed."""

    @settings(max_examples=25)
    @given(LOG, st.lists(st.integers(0, 40), max_size=6))
    def test_wherever_it_is_asked_it_is_as_folded_anew(
        self, said: list[events.Event], places: list[int]
    ) -> None:
        with TemporaryDirectory() as folder, open_log(Path(folder) / "log.db") as live:
            followed = None
            for number, event in enumerate(said, 1):
                live.append(KEY, event)
                followed = followed or FollowedState(live, KEY)
                if number % 3 == 0:
                    assert followed.own() == fold(placed(said[:number])).state
                    assert followed.current() == agent_state(live, KEY)
            assert followed is not None
            for place in places:
                at = min(place, len(said))
                assert followed.at(at) == agent_state(live, KEY, at)

    def test_it_reads_only_what_is_new(self, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
        live.append(KEY, *busy())
        followed = FollowedState(live, KEY)
        followed.current()
        live.append(KEY, tasks("new"))
        taken: list[int] = []
        evolve = StateFolding.evolve

        def watched(folding: StateFolding, event: RecordedEvent) -> StateFolding:
            taken.append(event.position)
            return evolve(folding, event)

        monkeypatch.setattr(StateFolding, "evolve", watched)
        assert [task.title for task in followed.current().tasks] == ["new"]
        assert taken == [16]

    def test_an_event_that_cannot_be_read_is_not_passed_over_the_next_time(
        self, live: Live, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        live.append(KEY, *busy())
        followed = FollowedState(live, KEY)

        def damaged(folding: StateFolding, event: RecordedEvent) -> StateFolding:
            if event.position == 13:
                raise EventInvalid("a stored middleware_state_set does not fit")
            return evolve(folding, event)

        evolve = StateFolding.evolve
        with monkeypatch.context() as patch:
            patch.setattr(StateFolding, "evolve", damaged)
            for _ in range(2):
                with pytest.raises(EventInvalid):
                    followed.current()
        assert followed.current() == agent_state(live, KEY)

    def test_what_was_erased_is_gone_from_it_also_in_a_fork(self, live: Live) -> None:
        live.append(KEY, *busy())
        live.log.fork(FORK, KEY, 15)
        states = [FollowedState(live, key) for key in (KEY, FORK)]
        assert all(state.current().tasks[0].title == "look" for state in states)
        redact(live.log, [Target(KEY, 12)], stream=KEY)
        assert [state.current().tasks[0].title for state in states] == ["[redacted]"] * 2
