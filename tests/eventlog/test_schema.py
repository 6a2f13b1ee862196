"""The triggers: what a plain connection, which knows nothing of us, cannot do to a log."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from given import KEY, OTHER, dump, plain, said

from eventlog import Draft, EventLog, schema

COLUMNS = (
    "sequence, stream, position, id, type, schema_version, critical, occurred_at, recorded_at, "
    "salt, chain, erased, payload"
)


@pytest.fixture
def filled(log: EventLog) -> EventLog:
    log.append(KEY, Draft(said("a"), occurred_at="then"), said("b"), said("QUJD" * 9000))
    log.append(OTHER, said("c"), import_key=b"k" * 32)
    return log


@pytest.fixture
def db(filled: EventLog) -> Iterator[sqlite3.Connection]:
    """Somebody's own connection, without one of our settings, and the log's bytes at the end."""
    before = dump(filled)
    with plain(filled.path) as connection:
        yield connection
        assert connection.execute("pragma recursive_triggers").fetchone() == (0,)
    assert dump(filled) == before


def row(**changed: object) -> tuple[str, dict[str, object]]:
    """An insert of the row that would be next in the first stream, with something changed."""
    values: dict[str, object] = {
        "sequence": 5,
        "stream": 1,
        "position": 4,
        "id": b"\x07" * 16,
        "type": "item_pinned",
        "schema_version": 1,
        "critical": 0,
        "occurred_at": None,
        "recorded_at": 0,
        "salt": b"s" * 16,
        "chain": b"c" * 32,
        "erased": None,
        "payload": '{"item":"1"}',
    }
    values.update(changed)
    marks = ", ".join(f":{name.strip()}" for name in COLUMNS.split(","))
    return f"insert into events ({COLUMNS}) values ({marks})", values


class TestEventsAreImmutable:
    """Without it one careless UPDATE changes what a model is said to have seen."""

    @pytest.mark.parametrize(
        "statement",
        [
            "update events set payload = '{}' where sequence = 1",
            "update events set payload = null, salt = null where sequence = 1",
            "update events set payload = null, salt = null, erased = zeroblob(32)",
            "update or replace events set position = 1 where sequence = 2",
            "update or ignore events set type = 'x'",
            "update events set occurred_at = 'now' where sequence = 1",
            "update events set chain = zeroblob(32)",
            "update events set sequence = 99 where sequence = 4",
            "delete from events where sequence = 4",
            "delete from events",
            "update streams set session = 'x'",
            "update streams set base = 1",
            "update or replace streams set session = 's2' where session = 's1'",
            "delete from streams",
            "update blobs set data = x'00'",
            "delete from blobs",
        ],
    )
    def test_a_plain_connection_is_refused(self, db: sqlite3.Connection, statement: str) -> None:
        with pytest.raises(sqlite3.IntegrityError, match="ctxlog"):
            db.execute(statement)

    def test_an_upsert_that_updates_is_refused(self, db: sqlite3.Connection) -> None:
        statement, values = row(sequence=1, position=1)
        clause = " on conflict (sequence) do update set payload = '{}'"
        with pytest.raises(sqlite3.IntegrityError, match="ctxlog"):
            db.execute(statement + clause, values)


class TestInserts:
    """Without it a gap hides a lost event, and INSERT OR REPLACE deletes one in silence."""

    def test_the_next_row_is_taken(self, filled: EventLog) -> None:
        """The control: what the others change is the one thing that they are refused for."""
        with plain(filled.path) as connection:
            connection.execute(*row())
        assert filled.version(KEY) == 4

    @pytest.mark.parametrize("verb", ["insert", "insert or replace", "replace", "insert or ignore"])
    @pytest.mark.parametrize(
        "changed",
        [
            {"sequence": 1},
            {"sequence": 4},
            {"sequence": 6},
            {"sequence": None, "position": 9},
            {"sequence": -1},
            {"position": 1},
            {"position": 3},
            {"position": 5},
            {"position": 0},
            {"stream": 2},
            {"stream": 9},
            {"payload": None},
        ],
    )
    def test_a_gap_and_a_taken_place_are_refused(
        self, db: sqlite3.Connection, verb: str, changed: dict[str, object]
    ) -> None:
        statement, values = row(**changed)
        with pytest.raises(sqlite3.IntegrityError):
            db.execute(statement.replace("insert", verb, 1), values)

    @pytest.mark.parametrize("verb", ["insert", "insert or replace", "replace"])
    def test_a_known_event_id_is_refused(self, db: sqlite3.Connection, verb: str) -> None:
        known = db.execute("select id from events where sequence = 2").fetchone()[0]
        statement, values = row(id=known)
        with pytest.raises(sqlite3.IntegrityError, match="event id exists"):
            db.execute(statement.replace("insert", verb, 1), values)

    @pytest.mark.parametrize(
        "changed",
        [
            {"id": b"short"},
            {"chain": b"short"},
            {"chain": None},
            {"erased": b"short"},
            {"recorded_at": "soon"},
            {"type": None},
            {"payload": b"\xff"},
        ],
    )
    def test_a_column_of_another_kind_is_refused(
        self, db: sqlite3.Connection, changed: dict[str, object]
    ) -> None:
        with pytest.raises(sqlite3.IntegrityError):
            db.execute(*row(**changed))

    @pytest.mark.parametrize("which", ["row", "id", "user, agent, session"])
    def test_a_stream_is_never_replaced(self, db: sqlite3.Connection, which: str) -> None:
        fields = {
            "row": "9",
            "id": "randomblob(16)",
            "user": "'u'",
            "agent": "'a'",
            "session": "'s'",
        }
        kept = {name.strip(): name.strip() for name in which.split(",")}
        chosen = ", ".join({**fields, **kept}.values())
        with pytest.raises(sqlite3.IntegrityError, match="the stream exists"):
            db.execute(
                "insert or replace into streams (row, id, user, agent, session, created_at) "
                f"select {chosen}, 0 from streams where row = 1"
            )

    def test_a_binary_part_is_never_replaced_by_another(self, db: sqlite3.Connection) -> None:
        address, data = db.execute("select address, data from blobs").fetchone()
        with pytest.raises(sqlite3.IntegrityError, match="immutable"):
            db.execute("insert or replace into blobs values (?, 1, x'00')", [address])
        db.execute("insert or ignore into blobs values (?, ?, ?)", [address, len(data), data])


class TestRedactions:
    """Without it an erasure could be taken back, or anything be erased without a record of it."""

    def test_a_row_named_in_redactions_may_lose_its_payload_and_nothing_else(
        self, filled: EventLog
    ) -> None:
        with plain(filled.path) as db:
            db.execute("insert into redactions values (2, 4)")
            for statement in (
                "update events set payload = '{}', salt = null, erased = zeroblob(32)",
                "update events set payload = null, erased = zeroblob(32)",
                "update events set payload = null, salt = null",
                "update events set payload = null, salt = null, erased = zeroblob(32), type = 'x'",
            ):
                with pytest.raises(sqlite3.IntegrityError, match="immutable"):
                    db.execute(statement + " where sequence = 2")
            erase = "update events set payload = null, salt = null, erased = zeroblob(32)"
            db.execute(f"{erase} where sequence = 2")
            with pytest.raises(sqlite3.IntegrityError, match="immutable"):
                db.execute(f"{erase} where sequence = 2")  # once

    def test_the_record_of_it_stays(self, filled: EventLog) -> None:
        with plain(filled.path) as db:
            db.execute("insert into redactions values (2, 4)")
            for statement in (
                "update redactions set by_sequence = 1",
                "delete from redactions",
                "insert or replace into redactions values (2, 1)",
            ):
                with pytest.raises(sqlite3.IntegrityError, match="ctxlog"):
                    db.execute(statement)


class TestDefinitions:
    """Without it sqlite-utils' ``transform()`` would drop every trigger, and nobody would see."""

    def test_a_new_file_holds_exactly_what_is_expected(self, filled: EventLog) -> None:
        with plain(filled.path) as db:
            assert schema.definitions(db) == schema.expected()

    def test_a_transformed_table_differs(self, filled: EventLog) -> None:
        import sqlite_utils

        with plain(filled.path) as db:
            table = sqlite_utils.Database(db, execute_plugins=False).table("events")
            table.transform(not_null={"type": False})
            missing = schema.expected().keys() - schema.definitions(db).keys()
            assert {"events_append", "events_update", "events_delete"} <= missing

    def test_the_file_says_what_it_is(self, filled: EventLog) -> None:
        filled.close()
        assert filled.path.read_bytes()[68:72] == b"ctxl"
        with plain(filled.path) as db:
            assert db.execute("pragma user_version").fetchone() == (schema.FORMAT,)


class TestReadableView:
    """Without it a person with the sqlite3 shell sees blobs and microseconds."""

    def test_it_shows_ids_and_times_as_text(self, filled: EventLog) -> None:
        with plain(filled.path) as db:
            found = db.execute(
                "select session, position, type, event_id, recorded_at, erased, payload "
                "from events_readable order by sequence limit 1"
            ).fetchone()
        first = next(filled.read_all())
        assert found[:4] == (str(KEY), 1, "message_appended", first.id.hex)
        assert found[4].startswith("20")
        assert found[4].endswith("Z")
        assert found[5:] == (0, first.payload)
