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
from hashlib import sha256
from typing import Any

from eventlog.clock import now_us
from eventlog.connection import translated
from eventlog.errors import DatabaseFault
from eventlog.jsonvalue import dumps, loads
from eventlog.log import EventLog
from eventlog.recorded import StreamKey
from eventlog.skeleton import Holds


class Outputs:
    """The kept outputs of one log."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    @property
    def keeps(self) -> bool:
        """Whether what is given now will be there the next time: not in a log open for reading."""
        return not self._log.read_only

    def find(self, kind: str, determined_by: Any) -> Any | None:
        """The output that these determined, if it is kept.

        ``determined_by`` is any JSON: the model, its settings, the prompt, all that it was shown.
        """
        log = self._log
        with log._mutex, translated(log.path):
            db = log._ready()
            if log.read_only and not _is_there(db):
                return None
            row = db.execute(
                "select output from outputs where key = ?", (self._key(kind, determined_by),)
            ).fetchone()
        return loads(row[0]) if row is not None else None

    def keep(self, stream: StreamKey | str, kind: str, determined_by: Any, output: Any) -> Any:
        """Keep an output that was made from a session; what is kept now is returned.

        That is the first one where two processes asked at once, so that both go on with the same.
        In a log open for reading it is the given one, and nothing is kept. Raises StreamNotFound,
        Busy, EventInvalid for what is no JSON.
        """
        log = self._log
        if log.read_only:
            return output
        info, key = log.stream(stream), self._key(kind, determined_by)
        text = dumps(output)
        with log.writing() as db:
            row = db.execute("select output from outputs where key = ?", (key,)).fetchone()
            if row is not None:
                return loads(row[0])
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
            return self.keep(stream, kind, determined_by, output), self.keeps
        except DatabaseFault:
            return output, False

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
    rows = db.execute("select key, output from outputs").fetchall()
    held = [(key,) for key, output in rows if any(map(holds, _texts(loads(output))))]
    db.executemany("delete from outputs where key = ?", held)
    return len(held)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _texts(part)]


def _is_there(db: sqlite3.Connection) -> bool:
    """A log of an earlier format, open for reading, has no such table yet."""
    found = "select 1 from sqlite_schema where type = 'table' and name = 'outputs'"
    return db.execute(found).fetchone() is not None
