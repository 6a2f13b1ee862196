"""A large table is filled in steps: others write between them, and none is done by halves."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from given import KEY, OTHER, in_child, plain, said

from eventlog import EventLog, RecordedEvent
from eventlog.catching_up import Progress, catch_up_in_steps, picture, reached
from eventlog.derived import drop_table
from eventlog.errors import Busy, ReadOnlyLog
from eventlog.reading import PAGE
from eventlog.redaction import Target, redact

Events = Sequence[RecordedEvent]
Rows = list[tuple[int, str]]


class Texts:
    """What was said, a row an event; refuses to be written twice."""

    name = "texts"

    def __init__(self, version: int = 1, meanwhile: Callable[[], object] | None = None) -> None:
        self.version = version
        self.prepared: list[list[int]] = []
        self._meanwhile = meanwhile

    def create(self, connection: sqlite3.Connection) -> None:
        connection.execute("drop table if exists texts")
        connection.execute("create table texts (sequence integer primary key, text text)")

    def apply(self, connection: sqlite3.Connection, events: Events) -> bool:
        self.write(connection, self.prepare(events))
        return True

    def prepare(self, events: Events) -> Rows:
        self.prepared.append([event.sequence for event in events])
        if self._meanwhile is not None:
            work, self._meanwhile = self._meanwhile, None
            work()
        return [(event.sequence, event.payload) for event in events]

    def write(self, connection: sqlite3.Connection, rows: Rows) -> None:
        connection.executemany("insert into texts values (?, ?)", rows)

    def forget(self) -> None:
        """Nothing is kept in memory."""


@pytest.fixture
def log(tmp_path: Path) -> EventLog:
    return EventLog(tmp_path / "log.db", durability="normal")


def held(log: EventLog) -> list[int]:
    return [row[0] for row in log.query("select sequence from texts order by sequence")]


def at(log: EventLog, table: Texts) -> int | None:
    with reached(log, table) as (_, sequence):
        return sequence


class TestSteps:
    """One transaction for a log of gigabytes would stop every agent that writes to it."""

    def test_each_page_is_one_and_the_stamp_goes_with_it(self, log: EventLog) -> None:
        log.append(KEY, *[said(f"n{n}") for n in range(2 * PAGE + 3)])
        table = Texts()
        assert at(log, table) is None
        seen = [(step, at(log, table), len(held(log))) for step in catch_up_in_steps(log, table)]
        assert seen == [(Progress(n, 1003), n, n) for n in (500, 1000, 1003)]
        assert list(catch_up_in_steps(log, table)) == []

    def test_it_ends_where_the_log_ended_when_it_began(self, log: EventLog) -> None:
        log.append(KEY, said("one"))
        for _ in catch_up_in_steps(log, Texts()):
            log.append(OTHER, said("meanwhile"))
        assert held(log) == [1]

    def test_others_write_between_two_pages(self, log: EventLog) -> None:
        log.append(KEY, *[said("x")] * (3 * PAGE))
        with EventLog(log.path, lock_timeout=0.2) as other:
            for _ in catch_up_in_steps(log, Texts()):
                other.append(OTHER, said("meanwhile"))
            assert other.version(OTHER) == 3

    def test_what_was_left_is_gone_on_with(self, log: EventLog) -> None:
        log.append(KEY, *[said("x")] * (2 * PAGE))
        next(catch_up_in_steps(log, Texts()))
        table = Texts()
        assert list(catch_up_in_steps(log, table)) == [Progress(1000, 1000)]
        assert table.prepared == [list(range(501, 1001))]

    def test_one_of_another_version_is_made_anew(self, log: EventLog) -> None:
        log.append(KEY, said("one"))
        list(catch_up_in_steps(log, Texts()))
        table = Texts(version=2)
        assert at(log, table) is None
        assert list(catch_up_in_steps(log, table)) == [Progress(1, 1)]
        assert held(log) == [1]

    def test_a_log_that_may_not_be_written_says_so(self, log: EventLog) -> None:
        log.append(KEY, said("one"))
        with EventLog(log.path, read_only=True) as reader, pytest.raises(ReadOnlyLog):
            list(catch_up_in_steps(reader, Texts()))

    def test_a_writer_that_does_not_end_is_not_waited_for_for_ever(self, log: EventLog) -> None:
        log.append(KEY, said("one"))
        with (
            EventLog(log.path, lock_timeout=0.1) as other,
            log.writing(),
            pytest.raises(Busy),
        ):
            list(catch_up_in_steps(other, Texts()))


class TestMeanwhile:
    """A page is prepared without the lock, so the log may be another one when it is written."""

    def test_another_process_that_did_the_same_page_leaves_nothing_to_do(
        self, log: EventLog
    ) -> None:
        log.append(KEY, *[said("x")] * 600)

        def other() -> None:
            with EventLog(log.path) as again:
                next(catch_up_in_steps(again, Texts()))

        table = Texts(meanwhile=lambda: in_child(other))
        assert list(catch_up_in_steps(log, table)) == [Progress(600, 600)]
        assert table.prepared == [list(range(1, 501)), list(range(501, 601))]
        assert held(log) == list(range(1, 601))

    def test_a_page_of_which_something_was_erased_is_prepared_again(self, log: EventLog) -> None:
        log.append(KEY, said("a secret"), said("two"))

        def other() -> None:
            with EventLog(log.path) as again:
                redact(again, [Target(KEY, 1)], stream=KEY)

        table = Texts(meanwhile=lambda: in_child(other))
        list(catch_up_in_steps(log, table))
        assert table.prepared == [[1, 2], [1, 2]]
        assert not [row for row in log.query("select text from texts") if "secret" in row[0]]

    def test_a_reader_sees_table_and_stamp_as_of_one_moment(self, log: EventLog) -> None:
        log.append(KEY, said("one"))
        list(catch_up_in_steps(log, Texts()))

        def other() -> None:
            with EventLog(log.path) as again:
                again.append(KEY, said("two"))
                list(catch_up_in_steps(again, Texts()))

        with reached(log, Texts()) as (db, sequence):
            assert in_child(other) == 0
            assert sequence == 1
            assert db.execute("select count(*) from texts").fetchone() == (1,)
        assert at(log, Texts()) == 2


class TestPicture:
    """What is read in several steps is told as if it had been one."""

    def test_what_others_append_meanwhile_is_not_in_it(self, log: EventLog) -> None:
        log.append(KEY, said("one"))
        with EventLog(log.path, read_only=True) as reader:
            with picture(reader), reached(reader, Texts()) as (_, at):
                log.append(KEY, said("two"))
                assert at is None
                assert [event.position for event in reader.read(KEY)] == [1]
            assert reader.version(KEY) == 2

    def test_it_ends_with_whatever_happens_in_it(self, log: EventLog) -> None:
        log.append(KEY, said("one"))
        with EventLog(log.path, read_only=True) as reader:
            with pytest.raises(KeyError), picture(reader):
                raise KeyError
            log.append(KEY, said("two"))
            assert reader.last_sequence() == 2


class TestDropTable:
    """A table that cannot be dropped keeps what was erased."""

    def test_one_that_is_not_there_is_no_error(self, log: EventLog) -> None:
        with log.writing() as db:
            drop_table(db, "nothing")

    def test_a_virtual_one_that_is_damaged_goes(self, log: EventLog) -> None:
        with log.writing() as db:
            db.execute("create virtual table words using fts5 (w)")
        with plain(log.path) as db:
            db.execute("drop table words_config")
        with EventLog(log.path) as again, again.writing() as db:
            with pytest.raises(sqlite3.DatabaseError):
                db.execute("drop table words")
            drop_table(db, "words")
            for name in ("data", "idx", "content", "docsize"):
                drop_table(db, f"words_{name}")
        with plain(log.path) as db:
            found = db.execute("select name from sqlite_schema where name like 'words%'")
            assert found.fetchall() == []
            assert db.execute("pragma integrity_check").fetchall() == [("ok",)]

    def test_a_table_of_its_own_pages_is_never_taken_out_of_the_schema(self, log: EventLog) -> None:
        with log.writing() as db:
            db.execute("create table kept (x)")
            db.execute("insert into kept values (1)")
            cursor = db.execute("select x from kept")
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                drop_table(db, "kept")
            cursor.close()
        assert log.query("select x from kept").fetchall() == [(1,)]
