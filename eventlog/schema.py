"""The tables, and the triggers that keep them append-only.

Triggers stop mistakes, not the owner of the file; what an owner changes, the chain shows. Every
unique key is checked before an insert, since INSERT OR REPLACE would otherwise delete the old row
without firing a delete trigger. sqlite-utils' ``transform()`` is never used here: it drops
triggers.

Tables change only by a new migration step; a released step is never edited.
"""

from __future__ import annotations

import functools
import os
import sqlite3
from typing import TYPE_CHECKING

from eventlog import readable, readable_3
from eventlog.clock import now_us

if TYPE_CHECKING:
    from sqlite_utils import Database

APPLICATION_ID = 0x6374_786C
"""``ctxl``: what SQLite's header says of a ctxlog file."""

FORMAT = 4
"""``user_version`` of the files that this program writes."""

_LOG: tuple[str, ...] = (
    "create table meta (key text primary key, value blob not null) strict",
    """create table streams (
  row integer primary key,
  id blob not null unique check (length(id) = 16),
  user text not null,
  agent text not null,
  session text not null,
  parent integer references streams (row),
  base integer not null default 0,
  created_at integer not null,
  unique (user, agent, session)
) strict""",
    """create table events (
  sequence integer primary key,
  stream integer not null references streams (row),
  position integer not null,
  id blob not null unique check (length(id) = 16),
  type text not null,
  schema_version integer not null,
  critical integer not null,
  occurred_at text,
  recorded_at integer not null,
  salt blob,
  chain blob not null check (length(chain) = 32),
  erased blob check (length(erased) = 32),
  payload text,
  unique (stream, position)
) strict""",
    "create table redactions (sequence integer primary key, by_sequence integer not null) strict",
    """create table blobs (
  address text primary key, size integer not null, data blob not null
) strict, without rowid""",
    """create table blob_references (
  sequence integer not null, address text not null, primary key (sequence, address)
) strict, without rowid""",
    "create index blob_references_by_address on blob_references (address)",
    "create table sources (stream integer primary key, import_key blob) strict",
    """create table derived (
  name text primary key, version integer not null, sequence integer not null, chain blob not null
) strict""",
    "create table scrubs (id integer primary key, requested_at integer not null) strict",
    """create trigger events_append before insert on events begin
  select case
    when new.sequence is not coalesce((select max(sequence) from events), 0) + 1
      then raise(abort, 'ctxlog: the next sequence is expected')
    when new.position is not coalesce(
      (select max(position) from events where stream = new.stream),
      (select base from streams where row = new.stream)) + 1
      then raise(abort, 'ctxlog: the next position is expected')
    when exists (select 1 from events where id = new.id)
      then raise(abort, 'ctxlog: the event id exists')
    when new.payload is null and new.erased is null
      then raise(abort, 'ctxlog: an event has a payload')
  end;
end""",
    """create trigger events_update before update on events
when not (
  new.payload is null and new.salt is null and old.erased is null and new.erased is not null
  and exists (select 1 from redactions where sequence = old.sequence)
  and new.sequence is old.sequence and new.stream is old.stream and new.position is old.position
  and new.id is old.id and new.type is old.type and new.schema_version is old.schema_version
  and new.critical is old.critical and new.occurred_at is old.occurred_at
  and new.recorded_at is old.recorded_at and new.chain is old.chain)
begin select raise(abort, 'ctxlog: events are immutable'); end""",
    """create trigger events_delete before delete on events
begin select raise(abort, 'ctxlog: events are never deleted'); end""",
    """create trigger streams_insert before insert on streams
when exists (select 1 from streams where row = new.row or id = new.id
  or (user = new.user and agent = new.agent and session = new.session))
begin select raise(abort, 'ctxlog: the stream exists'); end""",
    """create trigger streams_update before update on streams
begin select raise(abort, 'ctxlog: streams are immutable'); end""",
    """create trigger streams_delete before delete on streams
begin select raise(abort, 'ctxlog: streams are never deleted'); end""",
    """create trigger redactions_insert before insert on redactions
when exists (select 1 from redactions where sequence = new.sequence)
begin select raise(abort, 'ctxlog: the event is erased already'); end""",
    """create trigger redactions_update before update on redactions
begin select raise(abort, 'ctxlog: redactions are immutable'); end""",
    """create trigger redactions_delete before delete on redactions
begin select raise(abort, 'ctxlog: redactions are never deleted'); end""",
    """create trigger blobs_insert before insert on blobs
when exists (select 1 from blobs where address = new.address and data is not new.data)
begin select raise(abort, 'ctxlog: binary parts are immutable'); end""",
    """create trigger blobs_update before update on blobs
begin select raise(abort, 'ctxlog: binary parts are immutable'); end""",
    """create trigger blobs_delete before delete on blobs
when exists (select 1 from blob_references where address = old.address)
begin select raise(abort, 'ctxlog: the binary part is in use'); end""",
    """create view events_readable as select
  e.sequence, s.user || '/' || s.agent || '/' || s.session as session, e.position, e.type,
  lower(hex(e.id)) as event_id, e.occurred_at,
  strftime('%Y-%m-%dT%H:%M:%fZ', e.recorded_at / 1000000.0, 'unixepoch') as recorded_at,
  e.erased is not null as erased, length(e.payload) as characters, e.payload
from events e join streams s on s.row = e.stream""",
)

_OUTPUTS: tuple[str, ...] = (
    """create table outputs (
  key blob primary key check (length(key) = 32),
  stream integer not null references streams (row),
  kind text not null,
  made_at integer not null,
  output text not null
) strict, without rowid""",
    "create index outputs_by_stream on outputs (stream)",
    """create trigger outputs_insert before insert on outputs
when exists (select 1 from outputs where key = new.key)
begin select raise(abort, 'ctxlog: the output exists'); end""",
    """create trigger outputs_update before update on outputs
begin select raise(abort, 'ctxlog: outputs are immutable'); end""",
    """create trigger outputs_delete before delete on outputs
when not exists (select 1 from scrubs)
begin select raise(abort, 'ctxlog: outputs go only with an erasure'); end""",
)

_READABLE = tuple(view.sql for view in readable_3.VIEWS)

_CLOCKED = tuple(
    statement for view in readable.VIEWS for statement in (f"drop view {view.name}", view.sql)
)

STEPS: tuple[tuple[str, ...], ...] = (_LOG, _OUTPUTS, _READABLE, _CLOCKED)
"""What each format adds; a file of format n has the first n. A released step is never edited."""


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to today's format. The caller holds the write transaction."""
    # Imported here: an open of a current file never needs it, and it costs a tenth of a second.
    from sqlite_utils import Database, Migrations

    steps = Migrations("ctxlog")

    @steps()
    def m001_event_log(db: Database) -> None:
        for statement in _LOG:
            db.execute(statement)
        db.execute("insert into meta values ('log_key', ?)", [os.urandom(32)])
        db.execute("insert into meta values ('created_at', ?)", [b"%d" % now_us()])

    @steps()
    def m002_outputs(db: Database) -> None:
        for statement in _OUTPUTS:
            db.execute(statement)

    @steps()
    def m003_readable(db: Database) -> None:
        for statement in _READABLE:
            db.execute(statement)

    @steps()
    def m004_clocked(db: Database) -> None:
        for statement in _CLOCKED:
            db.execute(statement)

    steps.apply(Database(connection, execute_plugins=False))
    connection.execute(f"pragma application_id = {APPLICATION_ID}")
    connection.execute(f"pragma user_version = {FORMAT}")


def definitions(connection: sqlite3.Connection) -> dict[str, str]:
    """The stored text of every table, trigger, view and index that guards the events."""
    rows = connection.execute("select name, sql from sqlite_schema where sql is not null")
    return {name: sql for name, sql in rows if name in _NAMES}


@functools.cache
def expected(version: int = FORMAT) -> dict[str, str]:
    """The text that ``definitions`` gives on an untouched file: SQLite rewrites its beginning.

    ``version``: the format of the file; one of an earlier format may be open for reading.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for statement in _statements(version):
            connection.execute(statement)
        return definitions(connection)
    finally:
        connection.close()


def _statements(version: int = FORMAT) -> list[str]:
    return [statement for step in STEPS[:version] for statement in step]


_NAMES = frozenset(statement.split()[2] for statement in _statements())

TABLES = frozenset(
    statement.split()[2] for statement in _statements() if statement.startswith("create table")
)
"""The tables that are the log; every other one is derived, or somebody else's."""
