"""Recomputing a log from its stored bytes; ``integrity`` says what for.

Streams are followed by their recomputed chains. Where one does not fit, that is reported once, and
what follows is measured against what is stored: one change is one problem.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from eventlog import chain, codec, schema
from eventlog.errors import DamagedLog, EventInvalid
from eventlog.jsonvalue import dumps, loads
from eventlog.reading import PAGE
from eventlog.recorded import StreamKey
from eventlog.snapshot import Text
from eventlog.stored import (
    COLUMNS,
    LOG_KEYS,
    Problem,
    StoredEvent,
    StoredStream,
    binary_parts,
    shown,
    stored_head,
)

LISTED = 1000
"""Problems that are listed; of a ruined file the rest is only counted."""

Progress = Callable[[int, int], None]
"""Called with how many events are done, and how many there are."""


@dataclass(slots=True)
class Verifier:
    """One verification: ``run``, then read what it found."""

    path: str
    progress: Progress | None
    problems: list[Problem] = field(default_factory=list)
    more: int = 0
    head: str = ""
    events: int = 0
    scope: int = 0
    erased: int = 0
    _total: int = 0
    _streams: dict[int, StoredStream] = field(default_factory=dict)
    _wanted: dict[tuple[int, int], bytes | None] = field(default_factory=dict)
    _redaction: tuple[int, dict[str, Any]] = (0, {})

    def report(
        self, stream: StoredStream | None, position: int | None, kind: str, message: str
    ) -> None:
        """Note a problem."""
        if len(self.problems) >= LISTED:
            self.more += 1
            return
        self.problems.append(Problem(str(stream.key) if stream else "", position, kind, message))

    @contextlib.contextmanager
    def _stage(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # a verifier reports damage, whatever shape it has
            self.report(None, None, "database", f"{what} cannot be read: {error}")

    def run(self, db: sqlite3.Connection, key: StreamKey | None) -> None:
        """Check everything, or one stream with its ancestors."""
        with self._stage("the tables' definitions"):
            self._check_schema(db)
        with self._stage("streams"):
            self._load_streams(db)
        with self._stage("events"):
            if key is None:
                self._total = db.execute("select count(*) from events").fetchone()[0]
                self._check_pages(db, "sequence", "", ())
                self._check_ends(self._streams.values())
            else:
                self._check_stream(db, key)
        if key is None:
            with self._stage("redactions"):
                self._check_redactions(db)
            with self._stage("binary parts"):
                self._check_blobs(db)
            with self._stage("the file"):
                # Not quick_check: an index that disagrees with its table hides events from reads.
                for row in db.execute("pragma integrity_check(100)"):
                    if row[0] != b"ok":
                        self.report(None, None, "database", shown(row[0]))
        with self._stage("the head"):
            self.head = stored_head(db)

    # -- the tables -----------------------------------------------------------------------------

    def _check_schema(self, db: sqlite3.Connection) -> None:
        version = db.execute("pragma user_version").fetchone()[0]
        expected = dict(schema.expected(min(max(version, 1), schema.FORMAT)))
        rows = db.execute("select type, name, tbl_name, sql from sqlite_schema where sql not null")
        for row in rows.fetchall():
            kind, name, table, sql = (shown(value) for value in row)
            if name in expected:
                # The views of a later format say more than those of the same names here.
                if sql != expected.pop(name) and not (kind == "view" and version > schema.FORMAT):
                    self.report(None, None, "schema", f"{kind} {name} is not as it was made")
            elif kind in ("trigger", "index") and table in schema.TABLES:
                self.report(None, None, "schema", f"unknown {kind} {name!r} on {table}")
            elif (
                kind == "view"
                and version <= schema.FORMAT  # a later one has views that nobody here reads
                and schema.TABLES & set(re.findall(r"\w+", sql))
            ):
                self.report(None, None, "schema", f"unknown view {name!r} of the log's tables")
        for name in expected:
            self.report(None, None, "schema", f"{name} is missing")

    # -- streams --------------------------------------------------------------------------------

    def _load_streams(self, db: sqlite3.Connection) -> None:
        columns = "row, id, user, agent, session, parent, base, created_at"
        for row in db.execute(f"select {columns} from streams order by row").fetchall():
            number, identity, *names, parent, base, created = row
            try:
                key = StreamKey(*(name.decode() for name in names)).checked()
            except (EventInvalid, AttributeError, UnicodeDecodeError):  # NULL, a number, no UTF-8
                key = StreamKey(*map(shown, names))
                self.report(
                    StoredStream(0, b"", key, None, 0), None, "stream", "its key is not a name"
                )
            stream = StoredStream(number, identity, key, parent, base)
            fits = (
                type(identity) is bytes
                and len(identity) == 16
                and all(type(name) is Text for name in names)
                and all(type(value) is int for value in (number, base, created))
                and (base == 0 if parent is None else type(parent) is int and base >= 1)
            )
            if not fits:
                self.report(stream, None, "stream", "its row holds what is never written there")
                stream.parent, stream.base = None, base if type(base) is int else 0
            stream.version = stream.base
            self._streams[number] = stream
        self.scope = len(self._streams)
        for stream in self._streams.values():
            if stream.parent is not None:
                self._wanted[self._owner(stream.parent, stream.base), stream.base] = None

    def _owner(self, row: int, position: int) -> int:
        """Which stream holds the event that stands at a position of the stream."""
        for _ in self._streams:
            stream = self._streams.get(row)
            if stream is None or stream.parent is None or position > stream.base:
                break
            row = stream.parent
        return row

    def _start(self, stream: StoredStream) -> bytes | None:
        if stream.parent is None:
            return chain.root(stream.id, stream.key)
        before = self._wanted.get((self._owner(stream.parent, stream.base), stream.base))
        if before is None:
            message = f"what it was forked from, position {stream.base}, does not stand before it"
            self.report(stream, None, "fork", message)
            return None
        return chain.fork(stream.id, stream.key, before)

    def _check_stream(self, db: sqlite3.Connection, key: StreamKey) -> None:
        line = [stream for stream in self._streams.values() if stream.key == key][:1]
        while line and line[-1].parent is not None and len(line) <= len(self._streams):
            parent = self._streams.get(line[-1].parent)
            if parent is None:
                break
            line.append(parent)
        self.scope = len(line)
        to = 2**63 - 1
        segments: list[tuple[StoredStream, int]] = []
        for stream in line:
            segments.append((stream, to))
            to = min(to, stream.base)
        for stream, last in reversed(segments):
            mine = " and stream = ? and position <= ?"
            self._check_pages(db, "position", mine, (stream.row, last))
        self._check_ends(line[:1])  # a fork of a fork may take nothing of its own from it

    def _check_ends(self, streams: Iterable[StoredStream]) -> None:
        for stream in streams:
            if not stream.own:
                self.report(stream, None, "stream", "it has no event of its own")

    # -- events ---------------------------------------------------------------------------------

    def _check_pages(
        self, db: sqlite3.Connection, column: str, where: str, values: tuple[int, ...]
    ) -> None:
        last, place = -(2**63), StoredEvent._fields.index(column)
        expected = 1
        while True:
            rows = db.execute(
                f"select {COLUMNS} from events where {column} > ?{where} "
                f"order by {column} limit {PAGE}",
                (last, *values),
            ).fetchall()
            if not rows:
                return
            references: dict[Any, set[str]] = {}
            for sequence, address in db.execute(
                "select sequence, address from blob_references where sequence between ? and ?",
                (rows[0][0], rows[-1][0]),
            ):
                references.setdefault(sequence, set()).add(shown(address))
            for row in rows:
                event = StoredEvent._make(row)
                if not where and event.sequence != expected:
                    message = f"sequence {event.sequence} stands where {expected} is expected"
                    self.report(None, None, "sequence", message)
                expected = event.sequence + 1 if type(event.sequence) is int else expected + 1
                self._check_event(db, event, references.get(event.sequence, set()))
            if type(rows[-1][place]) is not int or rows[-1][place] <= last:
                self.report(None, None, "database", f"events are not in the order of {column}")
                return
            last = rows[-1][place]
            if self.progress is not None:
                self.progress(self.events, max(self._total, self.events))

    def _check_event(
        self, db: sqlite3.Connection, event: StoredEvent, references: set[str]
    ) -> None:
        self.events += 1
        stream = self._streams.get(event.stream)
        if stream is None:
            message = f"event {event.sequence} belongs to stream {event.stream}, which is missing"
            self.report(None, None, "stream", message)
            return
        if stream.own == 0:
            stream.link = self._start(stream)
        bad = event.wrong()
        for name in bad:
            self.report(stream, event.position, name, "holds what is never written there")
        if event.position != stream.version + 1:
            message = f"position {event.position} stands where {stream.version + 1} is expected"
            self.report(stream, event.position, "gap", message)
        if stream.link is not None and not bad:
            self._check_chain(stream, event)
        # One change is one problem: what follows is measured against what is stored.
        stream.own += 1
        stream.link = event.chain if "chain" not in bad else None
        stream.version = event.position if "position" not in bad else stream.version + 1
        if (stream.row, stream.version) in self._wanted:
            self._wanted[stream.row, stream.version] = stream.link
        if bad:
            return
        if event.erased is not None:
            self.erased += 1
            self._check_erased(db, stream, event)
            named: set[str] = set()
        else:
            named = self._check_payload(db, stream, event)
        for address in references ^ named:
            what = "names" if address in named else "does not name"
            message = f"the event {what} binary part {address[:12]}, its references differ"
            self.report(stream, event.position, "blob", message)

    def _check_chain(self, stream: StoredStream, event: StoredEvent) -> None:
        assert stream.link is not None
        digest = event.erased
        if digest is None:
            assert event.salt is not None
            assert event.payload is not None
            digest = chain.digest(event.salt, event.payload)
        try:
            value = chain.link(
                stream.link,
                stream.id,
                event.position,
                event.id,
                event.type.decode(),
                event.schema_version,
                bool(event.critical),
                event.occurred_at.decode() if event.occurred_at is not None else None,
                event.recorded_at,
                digest,
            )
        except OverflowError:
            value = b""
        if value != event.chain:
            message = "the event, or what stands before it, is not what was recorded"
            self.report(stream, event.position, "chain", message)

    def _check_payload(
        self, db: sqlite3.Connection, stream: StoredStream, event: StoredEvent
    ) -> set[str]:
        assert event.payload is not None
        kind, text = event.type.decode(), event.payload.decode()
        try:
            decoded = codec.decode(kind, event.schema_version, bool(event.critical), text)
            linked = kind in _LINKED or isinstance(decoded, codec.UnknownEvent)
            value = loads(text) if linked else {}
            named = binary_parts(kind, text)
            if kind == "session_forked" or stream.own == 1:
                self._check_fork(stream, event, value)
            if kind == "redacted":
                self._check_targets(db, stream, event, value)
        except Exception as error:
            self.report(stream, event.position, "payload", f"cannot be decoded: {error}")
            return set()
        return named

    def _check_fork(self, stream: StoredStream, event: StoredEvent, value: dict[str, Any]) -> None:
        parent = self._streams.get(stream.parent) if stream.parent is not None else None
        expected = (str(parent.key), stream.base) if parent is not None else (None, None)
        if (value.get("parent"), value.get("at")) != expected or stream.own != 1:
            message = "its first event and its row name different parents"
            self.report(stream, event.position, "fork", message)

    # -- redactions -----------------------------------------------------------------------------

    def _check_targets(
        self,
        db: sqlite3.Connection,
        stream: StoredStream,
        event: StoredEvent,
        value: dict[str, Any],
    ) -> None:
        for target in value["targets"]:
            row = db.execute(
                "select e.erased is not null, r.sequence is not null from events e "
                "left join redactions r on r.sequence = e.sequence where e.id = ?",
                (bytes.fromhex(target["event_id"]),),
            ).fetchone()
            if row is not None and row != (1, 1):  # an export of one stream may lack the target
                message = f"it erases position {target['position']}, which is not erased"
                self.report(stream, event.position, "redaction", message)

    def _check_erased(
        self, db: sqlite3.Connection, stream: StoredStream, event: StoredEvent
    ) -> None:
        row = db.execute(
            "select by_sequence from redactions where sequence = ?", (event.sequence,)
        ).fetchone()
        skeleton = self._skeletons(db, row[0]).get(event.id.hex()) if row is not None else None
        if skeleton is None:
            message = "it is erased, and no redaction says so"
            self.report(stream, event.position, "redaction", message)
            return
        try:
            if skeleton["position"] != event.position:
                raise DamagedLog(self.path, "another position")
            text = dumps(skeleton["payload"])
            codec.decode(event.type.decode(), event.schema_version, bool(event.critical), text)
        except Exception as error:
            message = f"its skeleton does not fit: {error}"
            self.report(stream, event.position, "redaction", message)

    def _skeletons(self, db: sqlite3.Connection, sequence: int) -> dict[str, Any]:
        if self._redaction[0] != sequence:
            found: dict[str, Any] = {}
            row = db.execute(
                "select payload from events where sequence = ? and type = 'redacted'", (sequence,)
            ).fetchone()
            with contextlib.suppress(Exception):  # unreadable is reported where it stands
                found = {target["event_id"]: target for target in loads(row[0])["targets"]}
            self._redaction = (sequence, found)
        return self._redaction[1]

    def _check_redactions(self, db: sqlite3.Connection) -> None:
        rows = db.execute(
            "select r.sequence from redactions r left join events e on e.sequence = r.sequence "
            "where e.erased is null"
        )
        for (sequence,) in rows:
            self.report(None, None, "redaction", f"event {sequence} is redacted and not erased")

    # -- binary parts ---------------------------------------------------------------------------

    def _check_blobs(self, db: sqlite3.Connection) -> None:
        keys = [bytes(value) for (value,) in db.execute(LOG_KEYS)]
        for row in db.execute(
            "select address, size, data, "
            "exists (select 1 from blob_references r where r.address = b.address) from blobs b"
        ):
            name, data = shown(row[0]), bytes(row[2])
            if row[1] != len(data) or name not in (chain.address(key, data) for key in keys):
                self.report(None, None, "blob", f"binary part {name[:12]} is not its address")
            if not row[3]:
                self.report(None, None, "blob", f"binary part {name[:12]} is used by no event")
        for sequence, address in db.execute(
            "select r.sequence, r.address from blob_references r where not exists "
            "(select 1 from blobs b where b.address = r.address) or not exists "
            "(select 1 from events e where e.sequence = r.sequence)"
        ):
            message = f"event {sequence} and binary part {shown(address)[:12]}: one is missing"
            self.report(None, None, "blob", message)


_LINKED = frozenset({"session_forked", "redacted"})
