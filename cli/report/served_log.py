"""A log that is looked at while others write to it: what is new in it, its sessions as a list.

It is opened for reading. What is asked every second is a few numbers; nothing is folded for it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from cli.following import File
from cli.naming import short_names
from cli.report.served_model import ListData, ListedSession, Pulse, ServedHead, ServedSession
from eventlog import StreamKey
from eventlog.catching_up import picture
from eventlog.errors import StreamNotFound
from eventlog.happened import iso, moment
from projections import Live
from projections import session_rows as rows
from projections.memory.stream import is_memory_stream
from projections.session_rows import Query, SessionRow
from projections.sessions import Sessions

PART = 100
"""Sessions of a part of the list."""


class ServedLog:
    """Asked by many threads at once."""

    def __init__(self, live: Live, keys: Sequence[StreamKey]) -> None:
        """``live`` was opened for reading; ``keys`` are all that is shown, where there are any."""
        self.live, self.keys = live, tuple(keys)
        self._file = File(live)
        self._sessions = Sessions(live.log)
        self._listing = threading.Lock()
        self._numbers = {self.number(key): key for key in keys}

    def check(self) -> None:
        """Raises LogNotFound where the file was moved, deleted or replaced."""
        self._file.check()

    def number(self, key: StreamKey) -> int:
        """By which the page asks for a session."""
        return self.live.log.stream(key).row - 1

    def key(self, number: int) -> StreamKey:
        """The session of a number. Raises StreamNotFound, and what reading the log raises."""
        found = self._numbers.get(number)
        if found is None and not self.keys:
            row = self.live.log.query(
                "select user, agent, session from streams where row = ?", (number + 1,)
            ).fetchone()
            if row is not None and not is_memory_stream(StreamKey(*row)):
                found = self._numbers[number] = StreamKey(*row)
        if found is None:
            raise StreamNotFound(f"number {number}")
        return found

    def head(self) -> ServedHead:
        """What the page knows first. Raises what reading the log raises."""
        names = short_names(self.live, map(str, self.keys))
        with self._listing:
            query = self._sessions.query()
            titles = {key: row.title for key in names if (row := rows.row_of(query, key))}
        return ServedHead(
            sessions=[
                ServedSession(
                    number=self.number(key),
                    key=str(key),
                    name=names[str(key)],
                    title=titles.get(str(key), ""),
                )
                for key in self.keys
            ],
            log=str(self.live.log.path),
        )

    def pulse(self, number: int | None) -> Pulse:
        """What is new. Raises StreamNotFound, and what reading the log raises."""
        self.check()
        log = self.live.log
        if number is None:
            return Pulse(sequence=log.last_sequence())
        key = self.key(number)
        with picture(log):
            return Pulse(sequence=log.last_sequence(), state=self.state(key), at=self._last(key))

    def state(self, key: StreamKey) -> str:
        """Changes whenever what the log says of a session does: with each of its events, and with
        what is erased anywhere, since forks and copies hold what others said."""
        erased = self.live.log.query("select count(*) from redactions", ()).fetchone()[0]
        return f"{self.live.log.version(key)}.{erased}"

    def _last(self, key: StreamKey) -> str:
        found = self.live.log.query(
            "select occurred_at, recorded_at from events where stream = ? "
            "order by position desc limit 1",
            (self.live.log.stream(key).row,),
        ).fetchone()
        return iso(moment(*found)) if found is not None else ""

    # -- the list -------------------------------------------------------------------------------

    def listed(self, skip: int, text: str) -> ListData:
        """A part of the list, of the sessions that have a text in their title, agent or key.

        Raises what reading the log raises.
        """
        self.check()
        with self._listing:
            query = self._sessions.query()
            if text or self.keys:
                found = list(self._found(query, text.casefold()))
                total, part = len(found), found[skip : skip + PART]
            else:
                total = rows.count(query, tests=False)
                part = rows.newest(query, limit=PART, skip=skip, tests=False)
            billed = rows.billed(query, [row.key for row in part])
        names = short_names(self.live, [row.key for row in part])
        return ListData(
            sessions=[self._listed(row, names[row.key], billed.get(row.key)) for row in part],
            total=total,
            is_more=skip + len(part) < total,
            skip=skip,
        )

    def _found(self, query: Query, text: str) -> Iterator[SessionRow]:
        if self.keys:
            named = [rows.row_of(query, str(key)) for key in self.keys]
            all_of = sorted(filter(None, named), key=lambda row: -row.updated)
        else:
            all_of = rows.newest(query)
        for row in all_of:
            if text in row.title.casefold() or text in row.key.casefold():
                yield row

    def _listed(self, row: SessionRow, name: str, tokens: int | None) -> ListedSession:
        key = StreamKey.parse(row.key)
        return ListedSession(
            number=self.number(key),
            key=row.key,
            name=name,
            title=row.title,
            agent=key.agent,
            updated=row.happened_at,
            provenance=row.provenance if not row.unjudged else None,
            messages=row.messages,
            calls=row.calls,
            compactions=row.compactions,
            tokens=tokens,
        )
