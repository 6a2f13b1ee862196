"""Appends: all or none, in order, once."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

import pytest
from given import KEY, OTHER, dump, in_child, plain, said, texts
from own_chain import recompute

from eventlog import Appended, Draft, EventLog, StreamKey
from eventlog.errors import (
    AppendRefused,
    EventIdConflict,
    EventInvalid,
    EventTooLarge,
    InputRefused,
    PartialRepeat,
    ReadOnlyLog,
    SourceForgotten,
    StreamNotFound,
    WrongExpectedVersion,
)
from eventlog.events import ItemPinned, SessionStarted


class TestAppend:
    """Without it two events could share a position, or an append could be half there."""

    def test_positions_count_up_in_a_stream_and_sequences_in_the_log(self, log: EventLog) -> None:
        assert log.append(KEY, said("a"), said("b")) == Appended(1, 2, False)
        assert log.append(OTHER, said("c")) == Appended(1, 1, False)
        assert log.append(KEY, said("d")) == Appended(3, 3, False)
        places = [(e.stream, e.position, e.sequence) for e in log.read_all()]
        assert places == [(KEY, 1, 1), (KEY, 2, 2), (OTHER, 1, 3), (KEY, 3, 4)]

    def test_what_is_read_equals_what_was_appended(self, log: EventLog) -> None:
        given = [SessionStarted(title="t"), said("a\n\u2028"), ItemPinned(item="2")]
        log.append(KEY, *given)
        assert [e.event for e in log.read(KEY)] == given

    def test_a_key_may_be_text(self, log: EventLog) -> None:
        log.append("ann/coder/a/b/c", said())
        assert log.version(StreamKey("ann", "coder", "a/b/c")) == 1

    def test_an_invalid_event_leaves_nothing_of_its_append(self, log: EventLog) -> None:
        log.append(KEY, said("first"))
        with pytest.raises(EventInvalid, match="not an event"):
            log.append(KEY, said("second"), "no event")  # type: ignore[arg-type]
        assert texts(log.read(KEY)) == ["first"]

    def test_nothing_to_append_is_refused(self, log: EventLog) -> None:
        with pytest.raises(EventInvalid, match="at least one"):
            log.append(KEY)
        assert not log.exists(KEY)

    def test_an_event_over_the_limit_is_refused(self, log: EventLog) -> None:
        with pytest.raises(EventTooLarge) as caught:
            log.append(KEY, said("é" * (33 * 1024 * 1024)))
        assert caught.value.size > caught.value.limit == 64 * 1024 * 1024
        assert not log.exists(KEY)

    @pytest.mark.parametrize(
        "key",
        ["", "a", "a/b", "/b/c", "a//c", "a/b/", " a/b/c", "a/b/c\n", "a/b/\x1b[2J", "a/b/\ud800"],
    )
    def test_a_key_that_is_no_name_is_refused(self, log: EventLog, key: str) -> None:
        with pytest.raises(EventInvalid):
            log.append(key, said())

    def test_a_key_over_512_bytes_is_refused(self, log: EventLog) -> None:
        log.append(StreamKey("a", "b", "é" * 256), said())
        with pytest.raises(EventInvalid):
            log.append(StreamKey("a", "b", "é" * 257), said())
        with pytest.raises(EventInvalid):
            log.append(StreamKey("a/x", "b", "c"), said())

    def test_keys_that_look_like_paths_are_only_names(self, log: EventLog, path: Path) -> None:
        log.append(StreamKey("..", "..", "../../etc/passwd"), said())
        assert sorted(p.name for p in path.parent.iterdir()) == [
            "log.db",
            "log.db-shm",
            "log.db-wal",
            "log.db.lock",
        ]

    def test_the_source_s_time_is_a_label(self, log: EventLog) -> None:
        log.append(KEY, Draft(said(), occurred_at="yesterday, 25:61"), Draft(said()))
        assert [e.occurred_at for e in log.read(KEY)] == ["yesterday, 25:61", None]
        for label in ("x" * 65, "a\nb", "é"):
            with pytest.raises(EventInvalid, match="64 printable"):
                log.append(KEY, Draft(said(), occurred_at=label))

    def test_a_clock_set_back_changes_no_order(
        self, log: EventLog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = time.time_ns()
        for number, shift in enumerate((0, -3600, -3600, -2_000_000_000, 4_000_000_000)):
            monkeypatch.setattr("eventlog.clock.time.time_ns", lambda s=shift: now + s * 10**9)
            log.append(KEY, said(number), said(number))
        monkeypatch.undo()
        assert [e.position for e in log.read(KEY)] == list(range(1, 11))
        assert [e.data["message"]["content"] for e in log.read(KEY)] == sorted([*range(5)] * 2)
        assert len({e.id for e in log.read(KEY)}) == 10
        log.close()
        assert recompute(log.path) == []


class TestExpectedVersion:
    """Without it two agents that both read version 5 would both write what comes after it."""

    def test_zero_means_a_new_stream(self, log: EventLog) -> None:
        log.append(KEY, said(), expected_version=0)
        with pytest.raises(WrongExpectedVersion) as caught:
            log.append(KEY, said(), expected_version=0)
        assert (caught.value.expected, caught.value.actual) == (0, 1)

    def test_a_number_means_exactly_there(self, log: EventLog) -> None:
        log.append(KEY, said(), said())
        assert log.append(KEY, said(), expected_version=2).first == 3
        for wrong in (-1, 2, 4):
            with pytest.raises(WrongExpectedVersion) as caught:
                log.append(KEY, said(), expected_version=wrong)
            assert (caught.value.expected, caught.value.actual) == (wrong, 3)
        assert log.version(KEY) == 3

    def test_a_stream_that_does_not_exist_is_at_zero(self, log: EventLog) -> None:
        with pytest.raises(WrongExpectedVersion) as caught:
            log.append(KEY, said(), expected_version=1)
        assert caught.value.actual == 0
        assert not log.exists(KEY)

    def test_a_fork_starts_behind_its_base(self, log: EventLog) -> None:
        log.append(KEY, said(), said(), said())
        log.fork(OTHER, KEY, at=2)
        assert log.append(OTHER, said(), expected_version=3) == Appended(4, 4, False)

    def test_a_refusal_is_an_append_refused(self) -> None:
        assert issubclass(WrongExpectedVersion, AppendRefused)


class TestIdempotence:
    """Without it a retry after an unknown outcome appends the user's message twice."""

    def test_the_same_again_adds_nothing_and_says_where_it_stands(self, log: EventLog) -> None:
        drafts = [Draft(said(n), id=uuid.uuid4()) for n in range(3)]
        log.append(KEY, said("before"))
        assert log.append(KEY, *drafts) == Appended(2, 4, False)
        before = dump(log)
        assert log.append(KEY, *drafts) == Appended(2, 4, True)
        assert dump(log) == before

    def test_it_succeeds_whatever_the_expected_version(self, log: EventLog) -> None:
        draft = Draft(said(), id=uuid.uuid4())
        log.append(KEY, draft, expected_version=0)
        log.append(KEY, said("later"))
        assert log.append(KEY, draft, expected_version=0) == Appended(1, 1, True)

    def test_other_bytes_under_a_known_id_are_a_conflict(self, log: EventLog) -> None:
        known = uuid.uuid4()
        log.append(KEY, Draft(said("a"), id=known))
        for other in (said("b"), ItemPinned(item="1")):
            with pytest.raises(EventIdConflict) as caught:
                log.append(KEY, Draft(other, id=known))
            assert (caught.value.event_id, caught.value.position) == (str(known), 1)
        assert log.version(KEY) == 1

    def test_a_known_id_in_another_stream_is_a_conflict(self, log: EventLog) -> None:
        draft = Draft(said(), id=uuid.uuid4())
        log.append(KEY, draft)
        with pytest.raises(EventIdConflict):
            log.append(OTHER, draft)
        assert not log.exists(OTHER)

    def test_partly_known_is_refused_whole(self, log: EventLog) -> None:
        known, new = Draft(said("a"), id=uuid.uuid4()), Draft(said("b"), id=uuid.uuid4())
        log.append(KEY, known)
        for mixed in ([known, new], [new, known], [known, said("no id")]):
            with pytest.raises(PartialRepeat) as caught:
                log.append(KEY, *mixed)
            assert (caught.value.known, caught.value.new) == (1, 1)
        assert log.version(KEY) == 1

    def test_an_id_twice_in_one_append_is_refused(self, log: EventLog) -> None:
        draft = Draft(said(), id=uuid.uuid4())
        with pytest.raises(EventInvalid, match="twice"):
            log.append(KEY, draft, draft)
        assert not log.exists(KEY)

    def test_events_with_a_binary_part_can_be_repeated_too(self, log: EventLog) -> None:
        draft = Draft(said("QUJD" * 10_000), id=uuid.uuid4())
        log.append(KEY, draft)
        assert log.append(KEY, draft).repeated

    def test_known_ids_are_found_in_any_number(self, log: EventLog) -> None:
        drafts = [Draft(said(n), id=uuid.uuid4()) for n in range(700)]
        log.append(KEY, *drafts)
        ids = [d.id for d in drafts if d.id is not None]
        known = log.known_ids([*ids, uuid.uuid4()])
        assert known == {event_id: (KEY, n + 1) for n, event_id in enumerate(ids)}


class TestNewIds:
    """Without it two events of one millisecond could share an id, or stand in any order."""

    def test_they_are_unique_version_7_and_in_order(self, log: EventLog) -> None:
        log.append(KEY, *[said(n) for n in range(500)])
        for n in range(200):
            log.append(KEY, said(n))
        ids = [e.id for e in log.read(KEY)]
        assert len(set(ids)) == 700
        assert {(i.version, i.variant) for i in ids} == {(7, uuid.RFC_4122)}
        assert ids[:500] == sorted(ids[:500])


class TestFork:
    """Without it a branch would copy its history, or lose the way to it."""

    def test_the_parent_s_events_are_the_child_s_at_the_same_positions(self, log: EventLog) -> None:
        log.append(KEY, said("a"), said("b"), said("c"))
        assert log.fork(OTHER, KEY, at=2, reason="try again") == Appended(3, 3, False)
        log.append(OTHER, said("d"))
        log.append(KEY, said("e"))
        assert [e.position for e in log.read(OTHER)] == [1, 2, 3, 4]
        assert texts(log.read(OTHER)) == ["a", "b", "d"]
        assert texts(log.read(KEY)) == ["a", "b", "c", "e"]
        forked = [e.event for e in log.read(OTHER, types=["session_forked"])]
        assert [(e.parent, e.at, e.reason) for e in forked] == [(str(KEY), 2, "try again")]
        assert log.last_sequence() == 6

    def test_what_follows_in_it_comes_with_it_or_neither_does(self, log: EventLog) -> None:
        log.append(KEY, said("a"), said("b"), said("c"))
        with pytest.raises(EventTooLarge):
            log.fork(OTHER, KEY, 2, said("d"), said("x" * (64 * 1024 * 1024)))
        assert not log.exists(OTHER)
        assert log.fork(OTHER, KEY, 2, said("d"), said("e")) == Appended(3, 5, False)
        assert texts(log.read(OTHER)) == ["a", "b", "d", "e"]
        assert len({e.recorded_at for e in log.read(OTHER, after=2)}) == 1
        log.close()
        assert recompute(log.path) == []

    def test_a_fork_of_a_fork_reads_across_all_of_them(self, log: EventLog) -> None:
        third, fourth = OTHER._replace(session="s3"), OTHER._replace(session="s4")
        log.append(KEY, *[said(f"p{n}") for n in range(1, 6)])
        log.fork(OTHER, KEY, at=4)
        log.append(OTHER, said("c6"), said("c7"))
        log.fork(third, OTHER, at=6)
        log.append(third, said("g8"))
        log.fork(fourth, third, at=2)  # before the base of its own parent
        log.append(fourth, said("h4"))
        assert texts(log.read(third)) == ["p1", "p2", "p3", "p4", "c6", "g8"]
        assert texts(log.read(third, after=3, to=7)) == ["p4", "c6"]
        assert texts(log.read(fourth)) == ["p1", "p2", "h4"]
        assert [h.position for h in log.headers(third, after=2)] == list(range(3, 9))
        owners = [(s.key, s.parent, s.base) for s in log.streams()]
        assert owners == [(KEY, None, 0), (OTHER, KEY, 4), (third, OTHER, 6), (fourth, third, 2)]
        log.close()
        assert recompute(log.path) == []

    def test_only_what_exists_can_be_forked(self, log: EventLog) -> None:
        log.append(KEY, said())
        from eventlog.errors import PositionNotFound

        for at in (-1, 0, 2):
            with pytest.raises(PositionNotFound):
                log.fork(OTHER, KEY, at=at)
        with pytest.raises(StreamNotFound):
            log.fork(OTHER, KEY._replace(session="none"), at=1)
        with pytest.raises(WrongExpectedVersion):
            log.fork(KEY, KEY, at=1)
        assert not log.exists(OTHER)

    def test_a_reader_opened_later_sees_the_same(self, log: EventLog, path: Path) -> None:
        log.append(KEY, said("a"), said("b"))
        log.fork(OTHER, KEY, at=1)
        with EventLog(path, read_only=True) as reader:
            assert texts(reader.read(OTHER)) == ["a"]
            with pytest.raises(ReadOnlyLog):
                reader.fork(OTHER._replace(session="s3"), OTHER, at=1)


class TestRead:
    """Without it a loop that appends while it reads never ends."""

    def test_it_takes_its_end_when_it_is_called(self, log: EventLog) -> None:
        log.append(KEY, said("a"), said("b"))
        stream, whole = log.read(KEY), log.read_all()
        log.append(KEY, said("c"))
        seen = []
        for event in stream:
            seen.append(event.position)
            log.append(KEY, said("more"))
        assert seen == [1, 2]
        assert log.version(KEY) == 5
        assert next(whole).position == 1

    def test_pages_meet_without_a_seam(self, log: EventLog) -> None:
        log.append(KEY, *[said(n) for n in range(1203)])
        log.fork(OTHER, KEY, at=1001)
        assert [e.position for e in log.read(KEY)] == list(range(1, 1204))
        assert [e.position for e in log.read(OTHER)] == list(range(1, 1003))
        assert [e.sequence for e in log.read_all(600)] == list(range(601, 1205))

    def test_a_part_is_cut_at_both_ends(self, log: EventLog) -> None:
        log.append(KEY, *[said(n) for n in range(9)])
        assert [e.position for e in log.read(KEY, after=3, to=5)] == [4, 5]
        assert [e.position for e in log.read(KEY, after=8, to=99)] == [9]
        assert list(log.read(KEY, after=9)) == list(log.read(KEY, after=5, to=2)) == []

    def test_types_are_a_filter_and_never_sql(self, log: EventLog) -> None:
        log.append(KEY, SessionStarted(), said("a"), ItemPinned(item="2"), said("b"))
        assert [e.position for e in log.read(KEY, types={"message_appended"})] == [2, 4]
        assert list(log.read(KEY, types=[])) == []
        with pytest.raises(EventInvalid):
            log.read(KEY, types=["x') or 1 --"])

    def test_an_unknown_stream_is_said_at_once(self, log: EventLog) -> None:
        with pytest.raises(StreamNotFound):
            log.read(KEY)
        with pytest.raises(StreamNotFound):
            log.stream("ann/coder/none")
        assert log.version(KEY) == 0
        assert list(log.read_all()) == []

    def test_ten_thousand_calls_in_one_message_come_back(self, log: EventLog) -> None:
        calls = [{"id": "exec_0", "function": {"name": "x", "arguments": "{}"}}] * 10_000
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        event = said().model_copy(update={"message": type(said().message)(message)})
        log.append(KEY, event)
        assert next(log.read(KEY)).event == event


class TestImportKey:
    """Without it a forgotten source could be imported again, and with it the erased text."""

    def test_it_is_stored_with_the_new_stream_only(self, log: EventLog) -> None:
        assert log.import_key(KEY) is None
        log.append(KEY, said(), import_key=b"k" * 32)
        log.append(KEY, said(), import_key=b"other" * 8)
        assert log.import_key(KEY) == b"k" * 32

    def test_a_forgotten_source_is_refused(self, log: EventLog) -> None:
        log.append(KEY, said(), import_key=b"k" * 32)
        log.forget_source(KEY)
        with pytest.raises(SourceForgotten) as caught:
            log.import_key(KEY)
        assert isinstance(caught.value, InputRefused)
        with plain(log.path) as db:
            assert db.execute("select import_key from sources").fetchall() == [(None,)]


class TestAnotherProcess:
    """Without it a writer goes on from what it remembers, over what another one wrote."""

    def test_its_events_are_seen_and_counted(self, log: EventLog, path: Path) -> None:
        log.append(KEY, said("mine"))

        def write() -> None:
            with EventLog(path, durability="normal") as own:
                own.append(KEY, said("its"))
                own.append(OTHER, said("new"))

        assert in_child(write) == 0
        assert texts(log.read(KEY)) == ["mine", "its"]
        with pytest.raises(WrongExpectedVersion):
            log.append(KEY, said(), expected_version=1)
        assert log.append(KEY, said("again"), expected_version=2) == Appended(3, 3, False)
        assert log.append(OTHER, said(), expected_version=1).first == 2
        log.close()
        assert recompute(path) == []
