"""Tables computed from events: right whoever wrote, without trace of a refused append."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from given import KEY, OTHER, in_child, plain, said

from eventlog import EventLog, RecordedEvent
from eventlog.derived import STRIDE
from eventlog.errors import DatabaseFault, LogFull, ReadOnlyLog
from eventlog.events import ItemPinned, SessionStarted

Events = Sequence[RecordedEvent]


class Words:
    """The number of characters said in each stream: written with every message, kept in memory."""

    name = "words"

    def __init__(self, version: int = 1, *, every: bool = True) -> None:
        self.version = version
        self.memory: dict[str, int] = {}
        self.applied: list[int] = []
        self.made = self.forgotten = 0
        self.fail_at = 0
        self._every = every

    def create(self, connection: sqlite3.Connection) -> None:
        self.made += 1
        connection.execute("drop table if exists words")
        connection.execute("create table words (sequence integer primary key, stream, size)")

    def apply(self, connection: sqlite3.Connection, events: Events) -> bool:
        wrote = False
        for event in events:
            self.applied.append(event.sequence)
            if event.type != "message_appended" and not self._every:
                continue
            size = len(str(event.data.get("message", {}).get("content", "")))
            connection.execute(
                "insert or replace into words values (?, ?, ?)",
                (event.sequence, str(event.stream), size * self.version),
            )
            key = str(event.stream)
            self.memory[key] = self.memory.get(key, 0) + 1
            wrote = True
            if event.sequence == self.fail_at:
                raise RuntimeError("a defect in a projection")
        return wrote

    def forget(self) -> None:
        self.forgotten += 1
        self.memory.clear()


def rows(path: Path) -> list[tuple[int, str, int]]:
    with plain(path) as db:
        return db.execute("select * from words order by sequence").fetchall()


def stamp(path: Path) -> tuple[int, int] | None:
    with plain(path) as db:
        found: tuple[int, int] | None = db.execute(
            "select version, sequence from derived where name = 'words'"
        ).fetchone()
        return found


@pytest.fixture
def table() -> Words:
    return Words()


class TestEager:
    """Without it a reader sees an event whose place in the table is not there yet."""

    def test_the_row_is_in_the_append_s_own_transaction(self, path: Path, table: Words) -> None:
        with EventLog(path, [table]) as log:
            log.append(KEY, said("ab"), said("c"))
            log.append(OTHER, said("def"))
            assert rows(path) == [(1, str(KEY), 2), (2, str(KEY), 1), (3, str(OTHER), 3)]
            assert stamp(path) == (1, 3)
            assert table.applied == [1, 2, 3]
        assert table.made == 1

    def test_the_event_that_it_is_given_is_the_one_that_is_read_later(self, path: Path) -> None:
        given: list[RecordedEvent] = []

        class Keeping(Words):
            def apply(
                self, connection: sqlite3.Connection, events: Sequence[RecordedEvent]
            ) -> bool:
                given.extend(events)
                assert all(event.data for event in events)
                return False

        with EventLog(path, [Keeping()]) as log:
            log.append(KEY, SessionStarted(title="t"), said("data:x;base64," + "QUJD" * 9000))
            read = list(log.read(KEY))
            names = [n for n in RecordedEvent.__slots__ if not n.startswith("_")]
            for a, b in zip(given, read, strict=True):
                assert [getattr(a, n) for n in names] == [getattr(b, n) for n in names]
                assert (a.event, a.data, a.id) == (b.event, b.data, b.id)

    def test_a_plain_append_writes_nothing_but_its_event(self, path: Path) -> None:
        quiet = Words(every=False)
        with EventLog(path, [quiet]) as log:
            log.append(KEY, said("a"))
            assert stamp(path) == (1, 1)
            log.append(KEY, ItemPinned(item="1"))
            assert stamp(path) == (1, 1)
            log.append(KEY, *[ItemPinned(item="1")] * STRIDE)
            assert stamp(path) == (1, STRIDE + 2)

    def test_two_tables_each_have_their_stamp(self, path: Path) -> None:
        class Second(Words):
            name = "second"

        with EventLog(path, [Words(), Second()]) as log:
            log.append(KEY, said())
        with plain(path) as db:
            found = db.execute("select name, sequence from derived order by 1").fetchall()
        assert found == [("second", 1), ("words", 1)]


class TestLeftBehind:
    """Without it the table would be wrong for ever after a writer that does not know it."""

    def test_what_a_writer_without_it_wrote_is_applied_by_the_next_with_it(
        self, path: Path, table: Words
    ) -> None:
        with EventLog(path) as log:
            log.append(KEY, said("a"), said("bb"))
        with EventLog(path, [table]) as log:
            log.append(KEY, said("ccc"))
        with EventLog(path) as log:
            log.append(KEY, said("dddd"))
        assert len(rows(path)) == 3
        again = Words()
        with EventLog(path, [again]) as log:
            log.append(KEY, said("eeeee"))
        assert [size for _, _, size in rows(path)] == [1, 2, 3, 4, 5]
        assert again.applied == [4, 5]
        assert again.made == 0

    def test_more_than_a_page_is_caught_up_in_order(self, path: Path, table: Words) -> None:
        with EventLog(path) as log:
            for _ in range(3):
                log.append(KEY, *[said("a")] * 400)
        with EventLog(path, [table]) as log:
            log.append(KEY, said())
        assert table.applied == list(range(1, 1202))
        assert stamp(path) == (1, 1201)

    def test_another_process_that_writes_meanwhile_is_noticed(
        self, path: Path, table: Words
    ) -> None:
        with EventLog(path, [table]) as log:
            log.append(KEY, said("a"))

            def write() -> None:
                with EventLog(path) as other:
                    other.append(KEY, said("bb"))

            assert in_child(write) == 0
            log.append(KEY, said("ccc"))
            assert table.applied == [1, 2, 3]
            assert [size for _, _, size in rows(path)] == [1, 2, 3]

    def test_another_process_with_it_leaves_nothing_to_do(self, path: Path, table: Words) -> None:
        with EventLog(path, [table]) as log:
            log.append(KEY, said("a"))

            def write() -> None:
                with EventLog(path, [Words()]) as other:
                    other.append(KEY, said("bb"))

            assert in_child(write) == 0
            before = table.forgotten
            log.append(KEY, said("ccc"))
            assert table.applied == [1, 3]
            assert table.forgotten > before  # memory of before the other's write

    def test_a_reader_can_catch_up_before_it_reads(self, path: Path, table: Words) -> None:
        with EventLog(path) as log:
            log.append(KEY, said("a"))
        with EventLog(path, [table]) as log:
            log.catch_up()
            assert len(rows(path)) == 1
            log.catch_up()
            assert table.applied == [1]


class TestLazy:
    """Without it full text and token counts would slow down every append."""

    def test_it_is_brought_up_to_date_when_asked(self, log: EventLog, table: Words) -> None:
        log.append(KEY, said("a"))
        log.catch_up(table)
        log.append(KEY, said("b"), said("c"))
        assert len(rows(log.path)) == 1
        log.catch_up(table)
        log.catch_up(table)
        assert table.applied == [1, 2, 3]
        assert stamp(log.path) == (1, 3)

    def test_rebuild_starts_from_nothing(self, log: EventLog, table: Words) -> None:
        log.append(KEY, said("a"), said("b"))
        log.catch_up(table)
        with plain(log.path) as db:
            db.execute("update words set size = 99")
        log.catch_up(table, rebuild=True)
        assert [size for _, _, size in rows(log.path)] == [1, 1]
        assert table.made == 2

    def test_an_empty_log_has_an_empty_table(self, log: EventLog, table: Words) -> None:
        log.catch_up(table)
        assert rows(log.path) == []
        assert table.applied == []

    def test_a_reader_that_may_not_write_says_so(self, log: EventLog, table: Words) -> None:
        log.append(KEY, said())
        with EventLog(log.path, read_only=True) as reader, pytest.raises(ReadOnlyLog):
            reader.catch_up(table)
        log.catch_up(table)
        with EventLog(log.path, read_only=True) as reader:
            reader.catch_up(Words())  # nothing to do


class TestMismatch:
    """Without it the table of an older program, or of another history, would be believed."""

    @pytest.fixture
    def filled(self, path: Path) -> Path:
        with EventLog(path, [Words()]) as log:
            log.append(KEY, said("a"), said("bb"))
        return path

    def test_another_version_is_made_anew(self, filled: Path) -> None:
        for version in (2, 1):
            table = Words(version)
            with EventLog(filled, [table]) as log:
                log.catch_up()
            assert table.made == 1
            assert [size for _, _, size in rows(filled)] == [version, 2 * version]
            assert stamp(filled) == (version, 2)

    @pytest.mark.parametrize(
        "damage",
        [
            "update derived set chain = zeroblob(32)",
            "update derived set sequence = 1",
            "update derived set sequence = 99",
            "delete from derived",
        ],
    )
    def test_a_stamp_that_does_not_fit_the_chain_too(self, filled: Path, damage: str) -> None:
        with plain(filled) as db:
            db.execute(damage)
            db.execute("delete from words")
        table = Words()
        with EventLog(filled, [table]) as log:
            log.append(KEY, said("ccc"))
        assert table.made == 1
        assert [size for _, _, size in rows(filled)] == [1, 2, 3]


class TestRollback:
    """Without it a view in memory would hold an event that the log does not."""

    def test_a_failing_table_refuses_the_append_and_leaves_no_trace(self, path: Path) -> None:
        table = Words()
        with EventLog(path, [table]) as log:
            log.append(KEY, said("a"))
            table.fail_at = 3
            with pytest.raises(RuntimeError, match="defect"):
                log.append(OTHER, said("b"), said("c"))
            assert table.memory == {}
            assert not log.exists(OTHER)
            assert log.version(OTHER) == 0
            assert log.last_sequence() == 1
            assert rows(path) == [(1, str(KEY), 1)]
            assert stamp(path) == (1, 1)
            table.fail_at = 0
            assert log.append(OTHER, said("b")) == (1, 1, False)
            assert rows(path) == [(1, str(KEY), 1), (2, str(OTHER), 1)]

    def test_what_it_looked_up_of_a_new_stream_is_forgotten_too(self, path: Path) -> None:
        class Looking(Words):
            log: EventLog

            def apply(
                self, connection: sqlite3.Connection, events: Sequence[RecordedEvent]
            ) -> bool:
                assert self.log.exists(events[0].stream)
                return super().apply(connection, events)

        table = Looking()
        with EventLog(path, [table]) as log:
            table.log = log
            table.fail_at = 1
            with pytest.raises(RuntimeError):
                log.append(KEY, said())
            assert not log.exists(KEY)
            table.fail_at = 0
            assert log.append(OTHER, said()).first == log.append(KEY, said()).first == 1
            assert [s.key for s in log.streams()] == [OTHER, KEY]

    def test_a_full_disk_too(self, path: Path, table: Words) -> None:
        with EventLog(path, [table]) as log:
            log.append(KEY, said("a"))
            with log.writing() as db:
                pages = db.execute("pragma page_count").fetchone()[0]
                db.execute(f"pragma max_page_count={pages}")
            with pytest.raises(LogFull):
                log.append(KEY, said("b" * 50_000))
            assert table.memory == {}
            log._ready().execute("pragma max_page_count=100000")
            log.append(KEY, said("bb"), expected_version=1)
            assert [size for _, _, size in rows(path)] == [1, 2]

    def test_a_table_that_breaks_sql_is_a_typed_error(self, path: Path) -> None:
        class Broken(Words):
            def apply(
                self, connection: sqlite3.Connection, events: Sequence[RecordedEvent]
            ) -> bool:
                connection.execute("insert into no_such_table values (1)")
                return True

        with EventLog(path, [Broken()]) as log:
            with pytest.raises(DatabaseFault, match="no_such_table"):
                log.append(KEY, said())
            assert log.last_sequence() == 0
