"""What models gave outside of a conversation, kept so that it is asked and paid for once.

Summaries of a what-if, answers to a question about a context. They are no events: nothing that
happened rests on them, and they are neither exported nor chained. The key of an output is an HMAC
over all that determined it, made with the log's own key, so a guess of a text cannot be tried
without the log. An output is never changed; it goes only with an erasure in the session that it was
made from, or of a text that it holds, since a model may repeat what it was shown.
"""

from __future__ import annotations

import hmac
import json
import sqlite3
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from eventlog.clock import now_us
from eventlog.connection import translated
from eventlog.errors import DatabaseFault, EventInvalid, InputRefused, IntegrityFault
from eventlog.jsonvalue import dumps, loads
from eventlog.log import EventLog
from eventlog.recorded import StreamKey
from eventlog.skeleton import Holds

MOST = 1 << 20
"""Characters of an output: an answer of a model is some thousand."""


class Outputs:
    """The kept outputs of one log."""

    def __init__(self, log: EventLog) -> None:
        """Open them before what models are shown is read: an erasure in between is noticed."""
        self._log = log
        self._erasures = _erasures(log)
        self._unkept: dict[bytes, Any] = {}
        """What could not be kept, for as long as this object lives."""

    def find(self, kind: str, determined_by: Any) -> Any | None:
        """The output that these determined, if it is kept.

        ``determined_by`` is any JSON: the model, its settings, the prompt, all that it was shown.
        """
        log, key = self._log, self._key(kind, determined_by)
        if key in self._unkept:
            return self._unkept[key]
        with log._mutex, translated(log.path):
            db = log._ready()
            if log.read_only and not _is_there(db):
                return None
            row = db.execute("select output from outputs where key = ?", (key,)).fetchone()
        return _read(row[0]) if row is not None else None

    def keep(self, stream: StreamKey | str, kind: str, determined_by: Any, output: Any) -> Any:
        """Keep an output that was made from a session; what is kept now is returned.

        That is the first one where two processes asked at once, so that both go on with the same.
        Raises StreamNotFound, Busy, ReadOnlyLog, EventInvalid for what is no JSON or is larger than
        any answer, and InputRefused when something was erased since this object was made: the
        output may hold it.
        """
        log = self._log
        info, key = log.stream(stream), self._key(kind, determined_by)
        text = dumps(output)
        if len(text) > MOST:
            raise EventInvalid(f"an output of {len(text):,} characters is not kept")
        with log.writing() as db:
            if db.execute(_COUNT).fetchone()[0] != self._erasures:
                raise InputRefused("something was erased meanwhile: the output is not kept")
            row = db.execute("select output from outputs where key = ?", (key,)).fetchone()
            if row is not None:
                return _read(row[0])
            db.execute(
                "insert into outputs (key, stream, kind, made_at, output) values (?, ?, ?, ?, ?)",
                (key, info.row, kind, now_us(), text),
            )
        return loads(text)

    def keep_if_possible(
        self, stream: StreamKey | str, kind: str, determined_by: Any, output: Any
    ) -> tuple[Any, bool]:
        """What is kept now, and whether it is: for what was paid for, and is used all the same.

        It cannot be kept in a log that is open for reading, or that somebody else writes to for
        longer than this one waits.
        """
        try:
            return self.keep(stream, kind, determined_by, output), True
        except (DatabaseFault, EventInvalid, InputRefused):
            self._unkept[self._key(kind, determined_by)] = output
            return output, False

    def holding(self, holds: Holds) -> int:
        """How many hold an erased text."""
        log = self._log
        with log._mutex, translated(log.path):
            db = log._ready()
            return len(keys_holding(db, holds)) if _is_there(db) else 0

    def _key(self, kind: str, determined_by: Any) -> bytes:
        # In ASCII escapes: what models are shown may hold lone surrogates.
        whole = json.dumps([kind, determined_by], sort_keys=True, separators=(",", ":"))
        return hmac.new(self._log.log_key, b"ctxlog/output/1" + whole.encode(), sha256).digest()


def drop(db: sqlite3.Connection, stream: int, position: int) -> int:
    """Drop what was made from the session of an event, or from a fork that holds the event.

    For an erasure, inside its write transaction, behind the note of its scrub. Returns how many.
    """
    return db.execute(
        "with recursive family (row) as (select ?1 union select s.row from streams s "
        "join family f on s.parent = f.row where s.base >= ?2) "
        "delete from outputs where stream in (select row from family)",
        (stream, position),
    ).rowcount


def drop_holding(db: sqlite3.Connection, holds: Holds) -> int:
    """Drop what holds an erased text, from whichever session it was made; likewise."""
    held = keys_holding(db, holds)
    db.executemany("delete from outputs where key = ?", held)
    return len(held)


def keys_holding(db: sqlite3.Connection, holds: Holds) -> list[tuple[bytes]]:
    """The keys of those that hold a text, one to a row."""
    rows = db.execute("select key, output from outputs")
    return [(key,) for key, output in rows if holds(output) or any(map(holds, _texts(output)))]


def _texts(output: str) -> Iterator[str]:
    """Every string in it, names of fields too."""
    try:
        waiting = [loads(output)]
    except EventInvalid:
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value


def _read(output: str) -> Any:
    try:
        return loads(output)
    except EventInvalid as error:
        raise IntegrityFault(f"a kept output cannot be read: {error}") from None


_COUNT = "select count(*) from redactions"


def _erasures(log: EventLog) -> int:
    with log._mutex, translated(log.path):
        return int(log._ready().execute(_COUNT).fetchone()[0])


def _is_there(db: sqlite3.Connection) -> bool:
    """A log of an earlier format, open for reading, has no such table yet."""
    found = "select 1 from sqlite_schema where type = 'table' and name = 'outputs'"
    return db.execute(found).fetchone() is not None
