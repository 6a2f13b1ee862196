"""Reading the log: pages in the order of positions, in short transactions.

A read takes its end when it is called, so a reader that appends while it iterates does not see its
own events. A fork's events before its base are the parent's, read where they stand. An erased event
reads as its skeleton, at every position and in every fork.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from eventlog import chain
from eventlog.connection import translated
from eventlog.errors import DamagedLog, EventInvalid, StreamNotFound
from eventlog.jsonvalue import dumps, loads
from eventlog.recorded import RecordedEvent, StreamInfo, StreamKey

PAGE = 500

KEPT = 4096
"""Streams of which is held in memory what was read of them."""

COLUMNS = (
    "sequence, position, id, type, schema_version, critical, occurred_at, recorded_at, chain, "
    "erased, payload"
)


@dataclass(slots=True)
class Head:
    """The newest state of one stream, as this process knows it."""

    info: StreamInfo
    version: int
    chain: bytes


class Header(NamedTuple):
    """What a fold reads of an event that takes no decision."""

    position: int
    type: str
    schema_version: int
    critical: int


class Reading:
    """The reading half of ``EventLog``."""

    path: Path
    log_key: bytes
    is_still: bool = False
    """Opened for reading on a full disk: nobody writes as long as this is open."""
    _mutex: threading.RLock
    _heads: dict[StreamKey, Head]

    def _ready(self) -> sqlite3.Connection:
        raise AssertionError("EventLog gives the connection")

    def _reset_reading(self) -> None:
        self._skeletons: dict[int, dict[str, str]] = {}
        self._infos: dict[StreamKey, StreamInfo] = {}

    # -- streams --------------------------------------------------------------------------------

    def streams(self) -> list[StreamInfo]:
        """Every stream, in the order in which they were created."""
        with self._mutex, translated(self.path):
            return [_info(row) for row in self._ready().execute(_STREAMS + " order by s.row")]

    def stream(self, stream: StreamKey | str) -> StreamInfo:
        """One stream; raises StreamNotFound."""
        key = StreamKey.parse(stream) if isinstance(stream, str) else stream.checked()
        with self._mutex, translated(self.path):
            info = self._info(self._ready(), key)
        if info is None:
            raise StreamNotFound(str(key))
        return info

    def exists(self, stream: StreamKey | str) -> bool:
        """Whether the stream exists."""
        try:
            self.stream(stream)
        except StreamNotFound:
            return False
        return True

    def version(self, stream: StreamKey | str) -> int:
        """The position of its last event; 0 when it does not exist."""
        try:
            info = self.stream(stream)
        except StreamNotFound:
            return 0
        with self._mutex, translated(self.path):
            return self._version(self._ready(), info)

    def last_sequence(self) -> int:
        """How many events the log holds."""
        with self._mutex, translated(self.path):
            row = self._ready().execute("select coalesce(max(sequence), 0) from events").fetchone()
        return int(row[0])

    def data_version(self) -> int:
        """A number that changes when another connection has written."""
        with self._mutex, translated(self.path):
            return int(self._ready().execute("pragma data_version").fetchone()[0])

    # -- events ---------------------------------------------------------------------------------

    def read(
        self,
        stream: StreamKey | str,
        after: int = 0,
        to: int | None = None,
        types: Iterable[str] | None = None,
        containing: str = "",
    ) -> Iterator[RecordedEvent]:
        """The events of a stream behind position ``after`` up to ``to``, a parent's included.

        ``containing`` keeps only events whose stored payload holds that text, and erased ones.
        Raises StreamNotFound at once, not when the first event is taken.
        """
        info = self.stream(stream)
        wanted = type_filter(types)
        if containing:
            quoted = containing.replace("'", "''")
            wanted += f" and (payload is null or instr(payload, '{quoted}') > 0)"
        with self._mutex, translated(self.path):
            end = self._version(self._ready(), info)
        end = end if to is None else min(to, end)
        return self._read(info, after, end, wanted)

    def _read(self, info: StreamInfo, after: int, to: int, wanted: str) -> Iterator[RecordedEvent]:
        for owner, low, high in self._segments(info, after, to):
            while low < high:
                with self._mutex, translated(self.path):
                    rows = (
                        self._ready()
                        .execute(
                            f"select {COLUMNS} from events where stream = ? and position > ? "
                            f"and position <= ?{wanted} order by position limit {PAGE}",
                            (owner.row, low, high),
                        )
                        .fetchall()
                    )
                    page = [self._event(info.key, row) for row in rows]
                yield from page
                if len(rows) < PAGE:
                    break
                low = rows[-1][1]

    def headers(
        self, stream: StreamKey | str, after: int = 0, to: int | None = None
    ) -> list[Header]:
        """Positions and types, without reading any payload."""
        info = self.stream(stream)
        found: list[Header] = []
        with self._mutex, translated(self.path):
            db = self._ready()
            end = self._version(db, info)
            end = end if to is None else min(to, end)
            for owner, low, high in self._segments(info, after, end):
                found.extend(
                    map(
                        Header._make,
                        db.execute(
                            "select position, type, schema_version, critical from events "
                            "where stream = ? and position > ? and position <= ? order by position",
                            (owner.row, low, high),
                        ),
                    )
                )
        return found

    def read_all(
        self, after_sequence: int = 0, types: Iterable[str] | None = None
    ) -> Iterator[RecordedEvent]:
        """Every event of the log behind a sequence, or those of some types, in the order of
        appends."""
        for page in self._pages(None, after_sequence, self.last_sequence(), types):
            yield from page

    def query(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one reading statement, for derived tables; fetch from it at once."""
        with self._mutex, translated(self.path):
            return self._ready().execute(sql, values)

    def blob(self, address: str) -> bytes | None:
        """A binary part by its address."""
        with self._mutex, translated(self.path):
            row = (
                self._ready()
                .execute("select data from blobs where address = ?", (address,))
                .fetchone()
            )
        return bytes(row[0]) if row is not None else None

    # -- inside ---------------------------------------------------------------------------------

    def _pages(
        self,
        db: sqlite3.Connection | None,
        after: int,
        to: int,
        types: Iterable[str] | None = None,
    ) -> Iterator[list[RecordedEvent]]:
        names: dict[int, StreamKey] = {}
        wanted = type_filter(types)
        while after < to:
            with self._mutex, translated(self.path):
                connection = db if db is not None else self._ready()
                rows = connection.execute(
                    f"select {COLUMNS}, stream from events where sequence > ? and sequence <= ?"
                    f"{wanted} order by sequence limit {PAGE}",
                    (after, to),
                ).fetchall()
                if not rows:
                    return
                unknown = sorted({row[-1] for row in rows} - names.keys())
                if unknown:
                    marks = ", ".join("?" * len(unknown))
                    found = connection.execute(f"{_STREAMS} where s.row in ({marks})", unknown)
                    names.update((info.row, info.key) for info in map(_info, found))
                page = [self._event(names[row[-1]], row) for row in rows]
            after = rows[-1][0]
            yield page

    def _event(self, key: StreamKey, row: tuple[Any, ...]) -> RecordedEvent:
        payload = row[10]
        if payload is None:
            payload = self._skeleton(row[0], row[2])
        return RecordedEvent.of_row(key, row, payload, self.blob)

    def _skeleton(self, sequence: int, event_id: bytes) -> str:
        db = self._ready()
        row = db.execute(
            "select e.sequence, e.payload from redactions r "
            "join events e on e.sequence = r.by_sequence where r.sequence = ?",
            (sequence,),
        ).fetchone()
        if row is None or row[1] is None:
            raise DamagedLog(str(self.path), f"event {sequence} has no payload and no redaction")
        skeletons = self._skeletons.get(row[0])
        if skeletons is None:
            try:
                targets = loads(row[1])["targets"]
                skeletons = {t["event_id"]: dumps(t["payload"]) for t in targets}
            except (EventInvalid, KeyError, TypeError):
                raise DamagedLog(str(self.path), f"redaction {row[0]} is unreadable") from None
            self._skeletons[row[0]] = skeletons
        found = skeletons.get(event_id.hex())
        if found is None:
            raise DamagedLog(str(self.path), f"redaction {row[0]} does not name event {sequence}")
        return found

    def _segments(self, info: StreamInfo, after: int, to: int) -> list[tuple[StreamInfo, int, int]]:
        """Which stream owns which part of (after, to], the oldest first."""
        found, owner = [], info
        while to > after:
            low = max(after, owner.base)
            if to > low:
                found.append((owner, low, to))
            to = min(to, owner.base)
            if owner.parent is None:
                break
            owner = self.stream(owner.parent)
        return found[::-1]

    def _info(self, db: sqlite3.Connection, key: StreamKey) -> StreamInfo | None:
        info = self._infos.get(key)
        if info is None:
            where = " where s.user = ? and s.agent = ? and s.session = ?"
            row = db.execute(_STREAMS + where, tuple(key)).fetchone()
            if row is None:
                return None
            if len(self._infos) >= KEPT:
                self._infos.clear()
            info = self._infos[key] = _info(row)
        return info

    @staticmethod
    def _version(db: sqlite3.Connection, info: StreamInfo) -> int:
        row = db.execute(
            "select max(position) from events where stream = ?", (info.row,)
        ).fetchone()
        return int(row[0]) if row[0] is not None else info.base

    def _chain_at(self, db: sqlite3.Connection, info: StreamInfo, position: int) -> bytes:
        """The chain value after a position, which may lie in an ancestor."""
        if position == 0 and info.parent is None:
            return chain.root(info.id, info.key)
        owner = self._segments(info, position - 1, position)[0][0]
        row = db.execute(
            "select chain from events where stream = ? and position = ?", (owner.row, position)
        ).fetchone()
        return bytes(row[0])

    def _head(self, db: sqlite3.Connection, key: StreamKey, *, create: bool) -> Head | None:
        head = self._heads.get(key)
        if head is None:
            info = self._info(db, key)
            if info is None:
                return None
            version = self._version(db, info)
            if version == info.base:
                parent = self.stream(info.parent) if info.parent is not None else None
                if parent is None:
                    value = chain.root(info.id, key)
                else:
                    value = chain.fork(info.id, key, self._chain_at(db, parent, info.base))
            else:
                value = self._chain_at(db, info, version)
            head = self._hold(Head(info, version, value))
        return head

    def _hold(self, head: Head) -> Head:
        if len(self._heads) >= KEPT:
            self._heads.clear()
        self._heads[head.info.key] = head
        return head


_STREAMS = (
    "select s.row, s.id, s.user, s.agent, s.session, p.user, p.agent, p.session, s.base, "
    "s.created_at from streams s left join streams p on p.row = s.parent"
)


def _info(row: tuple[Any, ...]) -> StreamInfo:
    parent = StreamKey(row[5], row[6], row[7]) if row[5] is not None else None
    return StreamInfo(StreamKey(row[2], row[3], row[4]), row[1], row[0], parent, row[8], row[9])


def type_filter(types: Iterable[str] | None) -> str:
    """The end of a where clause for some event types; raises EventInvalid for no type name."""
    if types is None:
        return ""
    names = sorted(types)
    if not all(name.replace("_", "").isalnum() for name in names):
        raise EventInvalid("an event type is a snake_case name")
    return " and type in (" + ",".join(f"'{name}'" for name in names) + ")"
