"""Redactions that come in with an export: what they erase, and what has to be erased with them.

Erased stays erased, on whichever side it was. But no file can erase what it does not carry: an
event that stands here with its text is erased only when the file shows that event as erased too.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

from eventlog import codec
from eventlog.errors import EventInvalid
from eventlog.exportlines import EventLine
from eventlog.jsonvalue import MAX_DEPTH, dumps, loads
from eventlog.redaction import erase, note_scrub
from eventlog.stored import binary_parts


class Refused(Exception):
    """Why a line cannot be taken."""


def check_payload(type_name: str, version: int, critical: bool, payload: str) -> None:
    """Refuse a payload that a reader could not read, of an unknown type also."""
    try:
        event = codec.decode(type_name, version, critical, payload)
        deep = payload.count("{") + payload.count("[") > MAX_DEPTH
        if deep or isinstance(event, codec.UnknownEvent):
            dumps(loads(payload))
        binary_parts(type_name, payload)
    except (EventInvalid, TypeError, ValueError, LookupError) as error:
        raise Refused(f"a {type_name} payload cannot be read: {error}") from None


@dataclass(slots=True)
class Erasures:
    """What is erased in the file, matched with the redactions that say so, in either order."""

    db: sqlite3.Connection
    count: int = 0
    """Events that stood here with their text and are erased now."""
    erased: set[bytes] = field(default_factory=set)
    """Erased in the file, and waiting for the redaction that says so."""
    claimed: dict[bytes, int] = field(default_factory=dict)
    """Not erased here, and waiting for the line that says it is erased in the file."""
    _named: dict[bytes, int] | None = None

    def absent(self) -> dict[bytes, int]:
        """What the redactions of the log name and the log does not hold."""
        if self._named is None:
            self._named = {}
            rows = self.db.execute(
                "select sequence, payload from events where type = 'redacted' and payload not null"
            )
            for sequence, payload in rows.fetchall():
                for target in loads(payload)["targets"]:
                    self._named[bytes.fromhex(target["event_id"])] = sequence
        return self._named

    def settle(self, identity: bytes, sequence: int) -> None:
        """An event is erased in the file: erase it here, as soon as its redaction is known."""
        if self._is_redacted(sequence):
            return
        if identity in self.claimed:
            self._erase(sequence, self.claimed.pop(identity))
        else:
            self.erased.add(identity)

    def apply(self, line: EventLine, by_sequence: int) -> None:
        """A redaction: erase what the file has shown as erased; the rest has to follow."""
        try:
            targets = loads(line.payload or "null")["targets"]
            named = [(bytes.fromhex(t["event_id"]), dumps(t["payload"])) for t in targets]
        except (EventInvalid, LookupError, TypeError, ValueError):
            raise Refused("its targets cannot be read") from None
        for identity, payload in named:
            row = self.db.execute(
                "select sequence, type, schema_version, critical from events where id = ?",
                (identity,),
            ).fetchone()
            if row is None:  # of one stream of several, or of a later line
                self.absent()[identity] = by_sequence
                continue
            if self._is_redacted(row[0]):
                continue
            check_payload(row[1], row[2], bool(row[3]), payload)
            if identity in self.erased:
                self.erased.discard(identity)
                self._erase(row[0], by_sequence)
            else:
                self.claimed[identity] = by_sequence

    def _is_redacted(self, sequence: int) -> bool:
        query = "select exists (select 1 from redactions where sequence = ?)"
        return bool(self.db.execute(query, (sequence,)).fetchone()[0])

    def _erase(self, sequence: int, by_sequence: int) -> None:
        query = "select erased is not null from events where sequence = ?"
        if self.db.execute(query, (sequence,)).fetchone()[0]:
            self.db.execute("insert into redactions values (?, ?)", (sequence, by_sequence))
        else:
            if not self.count:
                note_scrub(self.db)
            erase(self.db, sequence, by_sequence)
            self.count += 1
