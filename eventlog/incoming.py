"""The way back in: an export is checked line by line, and taken in whole or not at all.

Every chain is recomputed from what the line says, so a changed line is refused with its number. One
transaction holds the import: nothing of a refused file stays, and memory does not grow with it (it
holds the streams, and the addresses of binary parts and erased events that still wait for their
event). Other writers wait meanwhile.

A stream that the log has already must be the same one, event for event; what the file has more is
added, what the log has more stays. Erased stays erased, on whichever side it was: an event that is
erased in the file, with the redaction that says so, is erased here too, and one that was erased
here is not brought back. A redaction of what is not erased in the file itself is refused, so that
no file can erase what it does not carry.

Addresses of binary parts are keyed by the log that made them, and stand in payloads that cannot
change. So they stay, and the other log's key is kept in ``meta`` under ``log_key/…``.
"""

from __future__ import annotations

import base64
import binascii
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256

from pydantic import ValidationError

from eventlog import chain
from eventlog.erasures import Erasures, Refused, check_payload
from eventlog.errors import EventIdConflict, EventInvalid
from eventlog.exportlines import (
    FORMAT,
    LINES,
    MAX_LINE,
    BlobLine,
    DamagedExport,
    EndLine,
    EventLine,
    HeaderLine,
    StreamDiffers,
    StreamLine,
)
from eventlog.jsonvalue import loads
from eventlog.log import EventLog
from eventlog.recorded import StreamKey
from eventlog.stored import binary_parts


@dataclass(slots=True)
class Imported:
    """What an import added."""

    streams: int = 0
    events: int = 0
    known: int = 0
    """Events that were there already."""
    erased: int = 0
    """Events that were there and are erased now: a scrub is pending."""
    blobs: int = 0
    new_of: dict[StreamKey, int] = field(default_factory=dict)
    """Events added, by stream; streams that were there whole stand with 0."""
    known_of: dict[StreamKey, int] = field(default_factory=dict)


def import_export(
    log: EventLog,
    lines: Iterable[str | bytes],
    progress: Callable[[int], None] | None = None,
) -> Imported:
    """Take in the lines of an export, all or none; ``progress`` is called with how many are done.

    Raises DamagedExport (an IntegrityFault), StreamDiffers (an InputRefused), EventIdConflict, and
    what a write raises.
    """
    with log.writing() as db:
        incoming = _Incoming(db, log.log_key, log._sequence)
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                incoming.take(line)
                if progress is not None and number % 1000 == 0:
                    progress(number)
            imported = incoming.finish()
        except Refused as error:
            raise DamagedExport(number, str(error)) from None
        except UnicodeDecodeError:  # of a text file that is read while it is taken in
            raise DamagedExport(number + 1, "it is not UTF-8") from None
        # What this process remembers of the log is read anew by the next transaction.
        log._data_version = -1
    log._reset_reading()
    for stamp in log._stamps:
        stamp.forget()
    if progress is not None:
        progress(number)
    return imported


@dataclass(slots=True)
class _Stream:
    line: StreamLine
    key: StreamKey
    row: int
    stored: int
    """Version in this log before the import."""
    version: int
    link: bytes = b""


@dataclass(slots=True)
class _Incoming:
    db: sqlite3.Connection
    log_key: bytes
    sequence: int
    imported: Imported = field(default_factory=Imported)
    _erasures: Erasures = field(init=False)
    _streams: dict[int, _Stream] = field(default_factory=dict)
    _begun: bool = False
    _foreign: set[bytes] = field(default_factory=set)
    _loose: set[str] = field(default_factory=set)
    _events: int = 0
    _end: EndLine | None = None

    def __post_init__(self) -> None:
        self._erasures = Erasures(self.db)

    def take(self, text: str | bytes) -> None:
        """Take one line. Raises Refused."""
        if self._end is not None and not text.strip():
            return
        if len(text) > MAX_LINE:
            raise Refused("it is longer than any line of an export")
        try:
            line = LINES.validate_json(text)
        except UnicodeError:
            raise Refused("it is not UTF-8") from None
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise Refused(f"{where}: {first['msg']}" if where else first["msg"]) from None
        if isinstance(line, HeaderLine) == self._begun:
            raise Refused("an export begins with its header, and has one")
        if self._end is not None:
            raise Refused("nothing follows the end")
        match line:
            case HeaderLine():
                if line.ctxlog_export > FORMAT:
                    raise Refused(f"format {line.ctxlog_export} is newer than this program")
                self._begun = True
            case StreamLine():
                self._take_stream(line)
            case BlobLine():
                self._take_blob(line)
            case EventLine():
                self._take_event(line)
            case EndLine():
                self._end = line

    def finish(self) -> Imported:
        """Check what only the whole file shows. Raises Refused."""
        if self._end is None:
            raise Refused("the file ends here without its end: it was cut off")
        streams = self._streams.values()
        for stream in streams:
            if not stream.link:
                raise Refused(f"{stream.key} has no event")
        head = chain.head((stream.key, stream.version, stream.link) for stream in streams)
        if (len(streams), self._events, head) != (
            self._end.streams,
            self._end.events,
            self._end.head,
        ):
            raise Refused("the end counts other events than the file holds")
        if self._erasures.erased:
            raise Refused(
                f"{len(self._erasures.erased)} events are erased, and no redaction says so"
            )
        if self._erasures.claimed:
            raise Refused("a redaction names an event that is not erased in the file")
        for address in self._loose:
            unused = "delete from blobs where address = ?1 and not exists "
            unused += "(select 1 from blob_references where address = ?1)"
            self.imported.blobs -= self.db.execute(unused, (address,)).rowcount
        for key in self._foreign:
            name = "log_key/" + sha256(key).hexdigest()[:16]
            self.db.execute("insert or ignore into meta values (?, ?)", (name, key))
        self.imported.erased = self._erasures.count
        return self.imported

    # -- streams --------------------------------------------------------------------------------

    def _take_stream(self, line: StreamLine) -> None:
        try:
            key = StreamKey(*line.key).checked()
        except EventInvalid as error:
            raise Refused(str(error)) from None
        if line.stream in self._streams or (line.parent is None) != (line.base == 0):
            raise Refused(f"{key} stands twice, or its parent and base do not fit")
        parent = None
        if line.parent is not None:
            if line.parent not in self._streams:
                raise Refused(f"the parent of {key} does not stand before it")
            parent = self._streams[line.parent].row
        identity = bytes.fromhex(line.id)
        found = self.db.execute(
            "select row, id, user, agent, session, parent, base from streams "
            "where id = ? or (user = ? and agent = ? and session = ?)",
            (identity, *key),
        ).fetchall()
        if found and (len(found) > 1 or found[0][1:] != (identity, *key, parent, line.base)):
            raise StreamDiffers(str(StreamKey(*found[0][2:5])))
        if found:
            row = found[0][0]
            stored = self.db.execute(
                "select coalesce(max(position), ?) from events where stream = ?", (line.base, row)
            ).fetchone()[0]
        else:
            row, stored = self._add_stream(line, identity, key, parent), line.base
        self._streams[line.stream] = _Stream(line, key, row, stored, line.base)
        if "import_key" in line.model_fields_set:
            # A source that was forgotten here stays forgotten.
            secret = bytes.fromhex(line.import_key) if line.import_key is not None else None
            self.db.execute("insert or ignore into sources values (?, ?)", (row, secret))

    def _add_stream(
        self, line: StreamLine, identity: bytes, key: StreamKey, parent: int | None
    ) -> int:
        cursor = self.db.execute(
            "insert into streams (row, id, user, agent, session, parent, base, created_at) values "
            "((select coalesce(max(row), 0) + 1 from streams), ?, ?, ?, ?, ?, ?, ?) returning row",
            (identity, *key, parent, line.base, line.created_at),
        )
        self.imported.streams += 1
        return int(cursor.fetchone()[0])

    def _start(self, stream: _Stream) -> bytes:
        identity, base = bytes.fromhex(stream.line.id), stream.line.base
        if stream.line.parent is None:
            return chain.root(identity, stream.key)
        owner: int | None = self._streams[stream.line.parent].row
        while owner is not None:
            parent, from_parent = self.db.execute(
                "select parent, base from streams where row = ?", (owner,)
            ).fetchone()
            if base > from_parent:
                break
            owner = parent
        row = self.db.execute(
            "select chain from events where stream = ? and position = ?", (owner, base)
        ).fetchone()
        if row is None:
            raise Refused(f"position {base}, from which {stream.key} was forked, is missing")
        return chain.fork(identity, stream.key, row[0])

    # -- events ---------------------------------------------------------------------------------

    def _take_event(self, line: EventLine) -> None:
        stream = self._streams.get(line.stream)
        if stream is None:
            raise Refused("its stream does not stand before it")
        if not stream.link:
            stream.link = self._start(stream)
            self._check_first(stream, line)
        if line.position != stream.version + 1:
            raise Refused(f"position {line.position} stands where {stream.version + 1} should")
        digest = self._digest(line)
        link = chain.link(
            stream.link,
            bytes.fromhex(stream.line.id),
            line.position,
            bytes.fromhex(line.id),
            line.type,
            line.schema_version,
            line.critical,
            line.occurred_at,
            line.recorded_at,
            digest,
        )
        if link.hex() != line.chain:
            raise Refused(f"{stream.key} position {line.position} does not fit its chain")
        stream.version, stream.link = line.position, link
        self._events += 1
        named = self._check_payload(line)
        if line.position <= stream.stored:
            sequence = self._compare(stream, line)
        else:
            sequence = self._insert(stream, line, digest, named)
        if line.erased is not None:
            self._erasures.settle(bytes.fromhex(line.id), sequence)
        if line.type == "redacted":
            self._erasures.apply(line, sequence)

    def _check_first(self, stream: _Stream, line: EventLine) -> None:
        said = loads(line.payload) if line.type == "session_forked" and line.payload else None
        expected = None
        if stream.line.parent is not None:
            parent = self._streams[stream.line.parent]
            expected = (str(parent.key), stream.line.base)
        if (said if said is None else (said.get("parent"), said.get("at"))) != expected:
            raise Refused(f"{stream.key} and its first event name different parents")

    @staticmethod
    def _digest(line: EventLine) -> bytes:
        if line.erased is not None and line.salt is None and line.payload is None:
            return bytes.fromhex(line.erased)
        if line.erased is None and line.salt is not None and line.payload is not None:
            return chain.digest(bytes.fromhex(line.salt), line.payload.encode())
        raise Refused("an event has salt and payload, or is erased")

    @staticmethod
    def _check_payload(line: EventLine) -> set[str]:
        if line.payload is None:
            return set()
        check_payload(line.type, line.schema_version, line.critical, line.payload)
        return binary_parts(line.type, line.payload)

    def _compare(self, stream: _Stream, line: EventLine) -> int:
        sequence, value = self.db.execute(
            "select sequence, chain from events where stream = ? and position = ?",
            (stream.row, line.position),
        ).fetchone()
        if value != stream.link:
            raise StreamDiffers(str(stream.key), line.position)
        self.imported.known += 1
        known = self.imported.known_of
        known[stream.key] = known.get(stream.key, 0) + 1
        return int(sequence)

    def _insert(self, stream: _Stream, line: EventLine, digest: bytes, named: set[str]) -> int:
        identity = bytes.fromhex(line.id)
        where = self.db.execute(
            "select s.user, s.agent, s.session, e.position from events e "
            "join streams s on s.row = e.stream where e.id = ?",
            (identity,),
        ).fetchone()
        if where is not None:
            raise EventIdConflict(line.id, str(StreamKey(*where[:3])), where[3])
        by_sequence = self._erasures.absent().get(identity)
        erased = line.erased is not None or by_sequence is not None
        self.sequence += 1
        self.db.execute(
            "insert into events values (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                self.sequence,
                stream.row,
                line.position,
                identity,
                line.type,
                line.schema_version,
                line.critical,
                line.occurred_at,
                line.recorded_at,
                None if erased or line.salt is None else bytes.fromhex(line.salt),
                stream.link,
                digest if erased else None,
                None if erased else line.payload,
            ),
        )
        if by_sequence is not None:
            self.db.execute("insert into redactions values (?, ?)", (self.sequence, by_sequence))
        elif not erased:
            self._refer(named)
        self.imported.events += 1
        new = self.imported.new_of
        new[stream.key] = new.get(stream.key, 0) + 1
        return self.sequence

    # -- binary parts ---------------------------------------------------------------------------

    def _take_blob(self, line: BlobLine) -> None:
        try:
            data = base64.b64decode(line.data, validate=True)
        except (binascii.Error, ValueError):
            raise Refused("its data is not base64") from None
        key = bytes.fromhex(line.key)
        if chain.address(key, data) != line.address:
            raise Refused(f"binary part {line.address[:12]} is not its address")
        added = self.db.execute(
            "insert into blobs select ?1, ?2, ?3 where not exists "
            "(select 1 from blobs where address = ?1)",
            (line.address, len(data), data),
        ).rowcount
        if added:
            self.imported.blobs += 1
            self._loose.add(line.address)
            if key != self.log_key:
                self._foreign.add(key)

    def _refer(self, named: set[str]) -> None:
        for address in named:
            if not self.db.execute(
                "select exists (select 1 from blobs where address = ?)", (address,)
            ).fetchone()[0]:
                raise Refused(f"its binary part {address[:12]} does not stand before it")
            self.db.execute("insert into blob_references values (?, ?)", (self.sequence, address))
            self._loose.discard(address)
