"""The lossless form of a log: ASCII JSON, one record a line, and its way out.

    {"kind": "header", "ctxlog_export": 1}
    {"kind": "stream", "stream": 1, "id": …, "key": […], "parent": …, "base": …, …}
    {"kind": "blob", "address": …, "key": …, "data": base64}   before the first event that uses it
    {"kind": "event", "stream": 1, "position": 1, …, "payload": the stored text}
    {"kind": "end", "streams": 1, "events": 7, "head": …}    a file without it was cut off

Events stand in the order in which the log took them in, so a parent's before a fork's, and an
erased event (its digest instead of salt and payload) before the redaction that holds its skeleton.
Ids, times, salts, digests and chains are carried as they are: what was imported has the same head.

An export of some streams takes with them their ancestors and the streams whose redactions erased
one of their events: without those, they could not be read. The importing half is ``incoming``.
"""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from eventlog import chain
from eventlog.connection import translated
from eventlog.errors import DamagedLog
from eventlog.exportlines import FORMAT
from eventlog.exportlines import DamagedExport as DamagedExport
from eventlog.exportlines import StreamDiffers as StreamDiffers
from eventlog.incoming import Imported as Imported
from eventlog.incoming import import_export as import_export
from eventlog.reading import Reading
from eventlog.recorded import StreamKey
from eventlog.snapshot import snapshot
from eventlog.stored import COLUMNS, LOG_KEYS, StoredEvent


class Sink(Protocol):
    """Where an export is written to: any text file."""

    def write(self, text: str, /) -> Any:
        """Take text."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export holds."""

    streams: int
    events: int
    head: str
    """Over the exported streams; of a whole log its head."""


def export(
    log: Reading,
    file: Sink,
    streams: Iterable[StreamKey | str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Exported:
    """Write streams, or the whole log, as lines; see above for what comes along.

    One unchanging picture of the log is written, an event at a time, while appends go on. Raises
    StreamNotFound, and DamagedLog for a file that ``verify`` would not pass.
    """
    wanted = None if streams is None else {log.stream(key).row for key in streams}
    with translated(log.path), snapshot(log) as db:
        try:
            return _Export(db, file, progress).run(wanted)
        except (UnicodeDecodeError, AttributeError, TypeError, ValueError, LookupError) as error:
            raise DamagedLog(str(log.path), f"it cannot be exported: {error}") from error


class _Export:
    def __init__(
        self, db: sqlite3.Connection, file: Sink, progress: Callable[[int], None] | None
    ) -> None:
        self._db, self._file, self._progress = db, file, progress
        self._keys = [bytes(value) for (value,) in db.execute(LOG_KEYS)]
        self._written: set[bytes] = set()
        self._ends: dict[int, tuple[int, bytes]] = {}

    def run(self, wanted: set[int] | None) -> Exported:
        rows = {
            row[0]: row
            for row in self._db.execute(
                "select row, id, user, agent, session, parent, base, created_at from streams"
            )
        }
        chosen = sorted(rows if wanted is None else self._complete(rows, wanted))
        keys = {row: StreamKey(*(part.decode() for part in rows[row][2:5])) for row in chosen}
        self._line({"kind": "header", "ctxlog_export": FORMAT})
        for row in chosen:
            self._stream(rows[row], keys[row])
        events = 0
        for events, event in enumerate(self._events(chosen if wanted is not None else None), 1):
            self._event(event)
            if self._progress is not None and events % 1000 == 0:
                self._progress(events)
        head = chain.head((keys[row], *self._ends[row]) for row in chosen)
        self._line({"kind": "end", "streams": len(chosen), "events": events, "head": head})
        return Exported(len(chosen), events, head)

    def _complete(self, rows: dict[int, Any], wanted: set[int]) -> set[int]:
        chosen: set[int] = set()
        while wanted - chosen:
            chosen |= wanted
            for row in list(wanted):
                if rows[row][5] is not None:
                    wanted.add(rows[row][5])
                erasers = self._db.execute(
                    "select distinct b.stream from redactions r "
                    "join events e on e.sequence = r.sequence "
                    "join events b on b.sequence = r.by_sequence where e.stream = ?",
                    (row,),
                )
                wanted.update(eraser for (eraser,) in erasers)
        return chosen

    def _line(self, record: dict[str, Any]) -> None:
        self._file.write(json.dumps(record, separators=(",", ":")) + "\n")

    def _stream(self, row: Any, key: StreamKey) -> None:
        record = {
            "kind": "stream",
            "stream": row[0],
            "id": row[1].hex(),
            "key": list(key),
            "parent": row[5],
            "base": row[6],
            "created_at": row[7],
        }
        source = self._db.execute(
            "select import_key from sources where stream = ?", (row[0],)
        ).fetchone()
        if source is not None:
            record["import_key"] = source[0].hex() if source[0] is not None else None
        self._line(record)

    def _events(self, chosen: list[int] | None) -> Iterator[StoredEvent]:
        where = "" if chosen is None else f"where stream in ({','.join(map(str, chosen))})"
        query = f"select {COLUMNS} from events {where} order by sequence"
        return map(StoredEvent._make, self._db.execute(query))

    def _event(self, event: StoredEvent) -> None:
        wrong = event.wrong()
        if wrong:
            raise ValueError(f"event {event.sequence}: {', '.join(wrong)}")
        self._blobs(event.sequence)
        self._ends[event.stream] = (event.position, event.chain)
        record: dict[str, Any] = {
            "kind": "event",
            "stream": event.stream,
            "position": event.position,
            "id": event.id.hex(),
            "type": event.type.decode(),
            "schema_version": event.schema_version,
            "critical": bool(event.critical),
            "occurred_at": event.occurred_at.decode() if event.occurred_at is not None else None,
            "recorded_at": event.recorded_at,
            "chain": event.chain.hex(),
        }
        if event.erased is not None:
            record["erased"] = event.erased.hex()
        elif event.salt is not None and event.payload is not None:
            record["salt"] = event.salt.hex()
            record["payload"] = event.payload.decode()
        self._line(record)

    def _blobs(self, sequence: int) -> None:
        for address, data in self._db.execute(
            "select r.address, b.data from blob_references r join blobs b "
            "on b.address = r.address where r.sequence = ?",
            (sequence,),
        ):
            name = address.decode()
            if bytes.fromhex(name) in self._written:
                continue
            self._written.add(bytes.fromhex(name))
            key = next((k for k in self._keys if chain.address(k, data) == name), None)
            if key is None:
                raise ValueError(f"binary part {name[:12]} is not its address")
            encoded = base64.b64encode(data).decode()
            self._line({"kind": "blob", "address": name, "key": key.hex(), "data": encoded})
