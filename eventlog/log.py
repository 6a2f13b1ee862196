"""The log: events are appended, read, and never changed.

An append is one transaction, all or nothing. What is slow or can fail is done before the lock is
taken: events are encoded, salted and hashed first. Positions are assigned under the write lock, so
insert order is commit order and there is no gap. An append that returned is durable (WAL,
``synchronous=FULL``).

Three outcomes, each typed: appended, refused (``AppendRefused``, ``Busy``, ``LogFull``: nothing was
written), or unknown (``OutcomeUnknown``: the commit itself failed), after which a retry with the
same event ids is safe.
"""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import Sequence
from typing import Literal, NamedTuple

from eventlog import chain, codec, connection
from eventlog.clock import now_us
from eventlog.codec import Encoded
from eventlog.derived import Derived, Stamp
from eventlog.errors import (
    EventIdConflict,
    EventInvalid,
    PartialRepeat,
    PositionNotFound,
    SourceForgotten,
    StreamNotFound,
    WrongExpectedVersion,
)
from eventlog.events import Event, Redacted, SessionForked
from eventlog.reading import PAGE, Head
from eventlog.recorded import Appended, Draft, RecordedEvent, StreamInfo, StreamKey, new_ids
from eventlog.writing import Writing

_INSERT = (
    "insert into events (sequence, stream, position, id, type, schema_version, critical, "
    "occurred_at, recorded_at, salt, chain, payload) values (?,?,?,?,?,?,?,?,?,?,?,?)"
)


class _Prepared(NamedTuple):
    event: Event
    encoded: Encoded
    event_id: bytes
    given: bool
    occurred_at: str | None
    salt: bytes
    digest: bytes


class EventLog(Writing):
    """An append-only log of events in one SQLite file.

    ``derived`` are the tables kept inside each append. ``durability="normal"`` is faster and may
    lose the last appends when the power fails; nothing else does. One object may be used by several
    threads, and after ``fork()`` it opens its own connection.

    Raises NotALog, UnsafePath, ReadOnlyLog, LogNotFound or Busy when the file cannot be used. A
    file of a later format opens for reading only.
    """

    # -- appending ------------------------------------------------------------------------------

    def append(
        self,
        stream: StreamKey | str,
        *events: Event | Draft,
        expected_version: int | None = None,
        import_key: bytes | None = None,
        durable: bool = True,
    ) -> Appended:
        """Append events to a stream, all or none, and return where they stand.

        ``expected_version``: 0 for a new stream, n for one at version n, None for no check. Events
        given with ids may be appended again: known ids with the same bytes add nothing and succeed,
        whatever the expected version. ``import_key`` is stored when the stream is new. Not
        ``durable``, they survive a power failure only once the next durable append returned.

        Raises WrongExpectedVersion, EventIdConflict, PartialRepeat, EventInvalid, EventTooLarge,
        Busy, LogFull, ReadOnlyLog, OutcomeUnknown.
        """
        # A key whose head is known was checked when it was first used.
        key = stream if stream in self._heads else _key(stream)
        if not events:
            raise EventInvalid("an append needs at least one event")
        for each in events:
            event = each.event if isinstance(each, Draft) else each
            if isinstance(event, SessionForked | Redacted):
                raise EventInvalid(f"{event.type} is no event to append: fork and redact write it")
        prepared = self._prepare(events)
        with self.writing(durable=durable) as db:
            given = [p for p in prepared if p.given]
            if given:
                repeated = self._repeated(db, key, prepared, given)
                if repeated is not None:
                    return repeated
            head = self._head(db, key, create=False)
            version = head.version if head is not None else 0
            if expected_version is not None and version != expected_version:
                raise WrongExpectedVersion(str(key), expected_version, version)
            if head is None:
                head = self._new_stream(db, key, import_key=import_key)
            return self._insert(db, head, prepared)

    def fork(
        self,
        child: StreamKey | str,
        parent: StreamKey | str,
        at: int,
        *events: Event | Draft,
        ownership: Literal["owned", "observed"] = "owned",
        reason: str = "",
        import_key: bytes | None = None,
    ) -> Appended:
        """Make a stream that shares the parent's events up to position ``at`` by reference.

        Its own first event is ``SessionForked`` at position ``at + 1``; ``events`` follow it, in
        the same transaction. Raises as ``append`` does, and StreamNotFound, PositionNotFound, and
        WrongExpectedVersion when the child exists.
        """
        child_key, parent_key = _key(child), _key(parent)
        event = SessionForked(parent=str(parent_key), at=at, ownership=ownership, reason=reason)
        prepared = self._prepare([event, *events])
        with self.writing() as db:
            existing = self._head(db, child_key, create=False)
            if existing is not None:
                raise WrongExpectedVersion(str(child_key), 0, existing.version)
            head = self._head(db, parent_key, create=False)
            if head is None:
                raise StreamNotFound(str(parent_key))
            if not 1 <= at <= head.version:
                hint = f"it ends at {head.version}"
                raise PositionNotFound(str(parent_key), f"position {at}", hint)
            forked = self._new_stream(db, child_key, parent=head, at=at, import_key=import_key)
            return self._insert(db, forked, prepared)

    def _prepare(self, events: Sequence[Event | Draft]) -> list[_Prepared]:
        salts, ids = os.urandom(16 * len(events)), new_ids(len(events), now_us())
        prepared = []
        for index, item in enumerate(events):
            draft = item if isinstance(item, Draft) else Draft(item)
            event, given, salt = draft.event, draft.id, draft.salt
            occurred_at = draft.occurred_at
            if occurred_at is not None and not _is_label(occurred_at):
                raise EventInvalid("the source's time is longer than 64 printable characters")
            encoded = codec.encode(event, self._address)
            if salt is None:
                salt = salts[16 * index : 16 * index + 16]
            prepared.append(
                _Prepared(
                    event,
                    encoded,
                    ids[index] if given is None else given.bytes,
                    given is not None,
                    occurred_at,
                    salt,
                    chain.digest(salt, encoded.payload.encode()),
                )
            )
        return prepared

    def _address(self, data: bytes) -> str:
        return chain.address(self.log_key, data)

    def _repeated(
        self,
        db: sqlite3.Connection,
        key: StreamKey,
        prepared: list[_Prepared],
        given: list[_Prepared],
    ) -> Appended | None:
        if len({p.event_id for p in given}) != len(given):
            raise EventInvalid("an event id stands twice in one append")
        positions: list[int] = []
        for p in given if self._any_known(db, given) else ():
            row = db.execute(
                "select s.user, s.agent, s.session, e.position, e.type, e.erased, e.payload "
                "from events e join streams s on s.row = e.stream where e.id = ?",
                (p.event_id,),
            ).fetchone()
            if row is None:
                continue
            where = StreamKey(*row[:3])
            # Of an erased event the bytes cannot be compared: it stays erased, and counts as known.
            same = row[4] == p.encoded.type and (
                row[5] is not None or row[6] == p.encoded.payload or self._holds(row[6], p.encoded)
            )
            if where != key or not same:
                raise EventIdConflict(str(uuid.UUID(bytes=p.event_id)), str(where), row[3])
            positions.append(row[3])
        if not positions:
            return None
        if len(positions) != len(prepared):
            raise PartialRepeat(len(positions), len(prepared) - len(positions))
        return Appended(min(positions), max(positions), True)

    @staticmethod
    def _any_known(db: sqlite3.Connection, given: list[_Prepared]) -> bool:
        """Whether an id exists, asked of all together: mostly none does."""
        for start in range(0, len(given), PAGE):
            ids = [p.event_id for p in given[start : start + PAGE]]
            marks = ",".join("?" * len(ids))
            if db.execute(f"select 1 from events where id in ({marks}) limit 1", ids).fetchone():
                return True
        return False

    def _holds(self, payload: str, encoded: Encoded) -> bool:
        """Whether a stored payload has the same content under other names of its binary parts.

        An event that came in by an export keeps the names that the other log's key gave them.
        """
        if not encoded.blobs or '"blobs":' not in payload:
            return False
        parts = dict(encoded.blobs)
        given = codec.plain(encoded.type, encoded.schema_version, encoded.payload, parts.get)
        stored = codec.plain(encoded.type, encoded.schema_version, payload, self.blob)
        return given == stored

    def _new_stream(
        self,
        db: sqlite3.Connection,
        key: StreamKey,
        *,
        parent: Head | None = None,
        at: int = 0,
        import_key: bytes | None = None,
    ) -> Head:
        now = now_us()
        stream_id = new_ids(1, now)[0]
        if parent is None:
            start = chain.root(stream_id, key)
        else:
            start = chain.fork(stream_id, key, self._chain_at(db, parent.info, at))
        cursor = db.execute(
            "insert into streams (row, id, user, agent, session, parent, base, created_at) values "
            "((select coalesce(max(row), 0) + 1 from streams), ?, ?, ?, ?, ?, ?, ?) returning row",
            (stream_id, *key, parent.info.row if parent else None, at, now),
        )
        row = cursor.fetchone()[0]
        if import_key is not None:
            db.execute("insert into sources values (?, ?)", (row, import_key))
        info = StreamInfo(key, stream_id, row, parent.info.key if parent else None, at, now)
        return Head(info, at, start)

    def _insert(self, db: sqlite3.Connection, head: Head, prepared: list[_Prepared]) -> Appended:
        now, sequence, position, link = now_us(), self._sequence, head.version, head.chain
        info = head.info
        self._catch_up_eager(db, sequence)
        rows = []
        for p in prepared:
            sequence, position, encoded = sequence + 1, position + 1, p.encoded
            link = chain.link(
                link,
                info.id,
                position,
                p.event_id,
                encoded.type,
                encoded.schema_version,
                encoded.critical,
                p.occurred_at,
                now,
                p.digest,
            )
            rows.append(
                (
                    sequence,
                    info.row,
                    position,
                    p.event_id,
                    encoded.type,
                    encoded.schema_version,
                    encoded.critical,
                    p.occurred_at,
                    now,
                    p.salt,
                    link,
                    encoded.payload,
                )
            )
        if len(rows) == 1:
            db.execute(_INSERT, rows[0])
        else:
            db.executemany(_INSERT, rows)
        for row, p in zip(rows, prepared, strict=True):
            if p.encoded.blobs:
                self._insert_blobs(db, row[0], p.encoded)
        if self._stamps:
            recorded = [
                self._recorded(info.key, p, row[0], row[2], now, row[10])
                for row, p in zip(rows, prepared, strict=True)
            ]
            for stamp in self._stamps:
                stamp.apply(db, recorded)
        first = head.version + 1
        self._sequence = sequence
        self._hold(Head(info, position, link))
        return Appended(first, position, False)

    def _recorded(
        self, key: StreamKey, p: _Prepared, sequence: int, position: int, now: int, link: bytes
    ) -> RecordedEvent:
        return RecordedEvent(
            stream=key,
            sequence=sequence,
            position=position,
            event_id=p.event_id,
            type=p.encoded.type,
            schema_version=p.encoded.schema_version,
            critical=p.encoded.critical,
            occurred_at=p.occurred_at,
            recorded_at=now,
            chain=link,
            erased=False,
            payload=p.encoded.payload,
            event=p.event,
            blob=self.blob,
        )

    @staticmethod
    def _insert_blobs(db: sqlite3.Connection, sequence: int, encoded: Encoded) -> None:
        for address, data in encoded.blobs:
            db.execute(
                "insert into blobs select ?, ?, ? where not exists "
                "(select 1 from blobs where address = ?)",
                (address, len(data), data, address),
            )
            db.execute("insert or ignore into blob_references values (?, ?)", (sequence, address))

    # -- derived tables -------------------------------------------------------------------------

    def _catch_up_eager(self, db: sqlite3.Connection, to: int) -> None:
        for stamp in self._stamps:
            stamp.catch_up(db, to, lambda *of: self._pages(db, *of))

    def catch_up(self, *tables: Derived, rebuild: bool = False) -> None:
        """Bring tables up to the end of the log; without arguments those kept inside appends.

        ``rebuild`` drops them first. Raises ReadOnlyLog, Busy.
        """
        stamps = [Stamp(table) for table in tables] if tables else self._stamps
        with self._mutex:
            db = self._ready()
            if not rebuild:
                with connection.translated(self.path):
                    end = db.execute("select coalesce(max(sequence), 0) from events").fetchone()[0]
                    if not any(stamp.behind(db, end) for stamp in stamps):
                        return
            with self.writing() as db:
                for stamp in stamps:
                    if rebuild:
                        stamp.reset(db)
                    stamp.catch_up(db, self._sequence, lambda *of: self._pages(db, *of))
                    stamp.store(db)

    def is_behind(self) -> bool:
        """Whether a table kept inside appends lacks events of the log."""
        with self._mutex, connection.translated(self.path):
            db = self._ready()
            end = self.last_sequence()
            return any(stamp.behind(db, end) for stamp in self._stamps)

    # -- import keys ----------------------------------------------------------------------------

    def import_key(self, stream: StreamKey | str) -> bytes | None:
        """The key that import ids of a stream are made with; None when the stream does not exist.

        Raises SourceForgotten when it was dropped with ``redact --forget-source``.
        """
        key = _key(stream)
        with self._mutex, connection.translated(self.path):
            row = self._ready().execute(
                "select s.row, k.stream is not null, k.import_key from streams s "
                "left join sources k on k.stream = s.row "
                "where user = ? and agent = ? and session = ?",
                tuple(key),
            )
            found = row.fetchone()
        if found is None or not found[1]:
            return None
        if found[2] is None:
            raise SourceForgotten(str(key))
        return bytes(found[2])

    def forget_source(self, stream: StreamKey | str) -> None:
        """Drop the import key, which could prove a guess of an erased text; refuse the source."""
        info = self.stream(stream)
        with self.writing() as db:
            db.execute("update sources set import_key = null where stream = ?", (info.row,))


def _key(stream: StreamKey | str) -> StreamKey:
    return StreamKey.parse(stream) if isinstance(stream, str) else stream.checked()


def _is_label(text: str) -> bool:
    return len(text) <= 64 and text.isprintable() and text.isascii()
