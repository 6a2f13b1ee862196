"""The views that are kept: one row a stream, and snapshots of the past.

``live_views`` holds the current view of each stream as runs with an open end, so a plain append
writes nothing here: only a decision rewrites the row. ``snapshots`` holds the view at each event
that changes what a later fold would need (compactions, undos, repairs, insertions, forks, rewinds
over one of these) and at every 1,000th position, so the context at any call folds at most 1,000
headers, and as many again for a rewind among them. Both are
computed from the events alone and can be dropped at any time.

Beside the state, a snapshot counts the calls and compactions up to there, so that ``c31`` and
``k2`` are found without reading the stream.
"""

from __future__ import annotations

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence

from eventlog.errors import CriticalUnknown
from eventlog.log import EventLog
from eventlog.reading import Header
from eventlog.recorded import RecordedEvent, StreamInfo, StreamKey
from projections.context import DECISIONS, ITEM_TYPES, REFOLDING, View, changes_nothing, is_known
from projections.refolding import refold

STRIDE = 1000
"""Positions between two snapshots."""

NUMBERED = {"c": "model_called", "k": "context_compacted"}
"""What people number, and the events that are counted."""

_SNAPSHOT = frozenset(
    {"context_compacted", "session_rewound", "decision_undone", "repair_applied", "session_forked"}
)
_KEPT = 256
"""Views held in memory."""

_ITEMS = tuple(sorted(ITEM_TYPES))


class Views:
    """The derived tables ``live_views`` and ``snapshots``."""

    name = "views"
    version = 2

    def __init__(self) -> None:
        self._log: EventLog | None = None
        self._cache: OrderedDict[StreamKey, View] = OrderedDict()
        self._waits: dict[StreamKey, bool] = {}

    def attach(self, log: EventLog) -> None:
        """The log whose events are folded; before the first append or read."""
        self._log = log

    @property
    def log(self) -> EventLog:
        """The log this belongs to."""
        assert self._log is not None
        return self._log

    # -- Derived --------------------------------------------------------------------------------

    def create(self, connection: sqlite3.Connection) -> None:
        """Make both tables anew, empty."""
        connection.execute("drop table if exists live_views")
        connection.execute("drop table if exists snapshots")
        connection.execute(
            "create table live_views (stream integer primary key, position integer not null, "
            "state text not null) strict"
        )
        connection.execute(
            "create table snapshots (stream integer not null, position integer not null, "
            "calls integer not null, compactions integer not null, state text not null, "
            "primary key (stream, position)) strict, without rowid"
        )

    def forget(self) -> None:
        """Drop the views in memory."""
        self._cache.clear()
        self._waits.clear()

    def apply(self, connection: sqlite3.Connection, events: Sequence[RecordedEvent]) -> bool:
        """Fold events in; whether a row was written."""
        changed: dict[StreamKey, bool] = {}
        wrote = False
        for event in events:
            key = event.stream
            if self._is_plain(connection, event):
                view = self._cache.get(key)
                if view is not None:
                    if event.type in ITEM_TYPES:
                        view.append_item(event.position)
                    else:
                        view.version = event.position
                if event.position % STRIDE == 0:
                    changed.setdefault(key, False)
                    wrote |= self._snapshot(connection, event)
                continue
            try:
                quick = event.type == "session_rewound" and self._taken_back(connection, event)
                if event.type in REFOLDING:
                    view = self._cache[key] if quick else refold(self, key, event.position)
                else:
                    view = self._before(event)
                    view.evolve(event)
                    quick = event.type == "context_compacted" and changes_nothing(event.data)
            except CriticalUnknown:
                # The append stands; whoever asks for this context is refused by the fold itself.
                self._cache.pop(key, None)
                continue
            self._keep(key, view)
            self._waits[key] = bool(view.waiting)
            changed[key] = True
            changing = event.type in _SNAPSHOT or event.type in ITEM_TYPES
            if (changing and not quick) or event.position % STRIDE == 0:
                wrote |= self._snapshot(connection, event)
        for key, decided in changed.items():
            view = self._cache.get(key)
            if decided and view is not None:
                wrote = True
                connection.execute(
                    "insert into live_views values (?, ?, ?) on conflict (stream) do update set "
                    "position = excluded.position, state = excluded.state",
                    (self.log.stream(key).row, view.version, json.dumps(view.dump())),
                )
        return wrote

    def _is_plain(self, connection: sqlite3.Connection, event: RecordedEvent) -> bool:
        kind = event.type
        if not is_known(kind, event.schema_version):
            return not event.critical
        if kind in ITEM_TYPES:
            if '"after":' in event.payload:
                return False
            return kind != "tool_result_recorded" or not self._is_waiting(connection, event.stream)
        return kind not in DECISIONS and kind != "session_forked"

    def _is_waiting(self, connection: sqlite3.Connection, key: StreamKey) -> bool:
        waits = self._waits.get(key)
        if waits is None:
            row = connection.execute(
                "select instr(state, '\"waiting\"') from live_views where stream = ?",
                (self.log.stream(key).row,),
            ).fetchone()
            if len(self._waits) >= _KEPT:
                self._waits.clear()
            waits = self._waits[key] = bool(row and row[0])
        return waits

    def _taken_back(self, connection: sqlite3.Connection, event: RecordedEvent) -> bool:
        """Rewind the view in memory, where nothing but plain items came in since.

        Rewinds that went no further back may lie between. What else changes a view wrote a
        snapshot, or is a decision; then, and where there is no view in memory, it is for ``refold``
        to say what stands.
        """
        key, to, before = event.stream, event.data["to"], event.position - 1
        view, info = self._cache.get(key), self.log.stream(key)
        if view is None or view.version != before or not info.base <= to <= before:
            return False
        between = "stream = ? and position > ? and position <= ?"
        row = (info.row, to, before)
        if connection.execute(f"select 1 from snapshots where {between} limit 1", row).fetchone():
            return False
        for other in self.log.read(key, to, before, types=DECISIONS):
            if other.type != "session_rewound" or other.data["to"] < to:
                return False
        view.take_back(to, event.position)
        return True

    def _before(self, event: RecordedEvent) -> View:
        """The view just before an event that is being applied."""
        view = self._cache.get(event.stream)
        if view is not None and view.version == event.position - 1:
            return view
        return self.at(event.stream, event.position - 1)

    def _snapshot(self, connection: sqlite3.Connection, event: RecordedEvent) -> bool:
        info = self.log.stream(event.stream)
        try:
            view = self._cache.get(event.stream)
            if view is None or view.version != event.position:
                view = self.at(event.stream, event.position)
                self._keep(event.stream, view)
        except CriticalUnknown:
            return False
        counts = [self._count(info, kind, event.position) for kind in NUMBERED.values()]
        connection.execute(
            "insert or replace into snapshots values (?, ?, ?, ?, ?)",
            (info.row, event.position, *counts, json.dumps(view.dump())),
        )
        return True

    def _keep(self, key: StreamKey, view: View) -> None:
        self._cache[key] = view
        self._cache.move_to_end(key)
        while len(self._cache) > _KEPT:
            self._cache.popitem(last=False)

    # -- reading --------------------------------------------------------------------------------

    def current(self, key: StreamKey) -> View:
        """The view at the end of the stream, shared: for reading only. The table is up to date."""
        version = self.log.version(key)
        view = self._cache.get(key)
        if view is not None and view.version == version:
            self._cache.move_to_end(key)
            return view
        info = self.log.stream(key)
        row = self._row("select position, state from live_views where stream = ?", info.row)
        if row is None:
            view = self.at(key, version)
        else:
            self._refuse_unknown(key, row[0], version)
            view = self.load(key, version, row[1])
        self._keep(key, view)
        return view

    def at(self, key: StreamKey, position: int) -> View:
        """The view after an event of the past; the caller's to change."""
        start, state = self.snapshot(key, position)
        view = self.load(key, start, state)
        headers = self.log.headers(key, after=start, to=position)
        kinds = {header.type for header in headers}
        if kinds & REFOLDING:
            return refold(self, key, position)
        self._advance(key, view, headers, start, position, kinds)
        return view

    def _advance(
        self,
        key: StreamKey,
        view: View,
        headers: list[Header],
        start: int,
        position: int,
        kinds: set[str],
    ) -> None:
        read = set(kinds & DECISIONS)
        if view.waiting or "repair_applied" in kinds:
            read.add("tool_result_recorded")
        decided = {e.position: e for e in self.log.read(key, start, position, types=read) if read}
        for event in self._inserting(key, start, position):
            decided[event.position] = event
        for header in headers:
            deciding = decided.get(header.position)
            if deciding is not None:
                view.evolve(deciding)
            elif not is_known(header.type, header.schema_version):
                if header.critical:
                    raise CriticalUnknown(str(key), header.position, header.type)
            elif header.type in ITEM_TYPES:
                view.append_item(header.position)
        view.version = position

    def _inserting(self, key: StreamKey, start: int, position: int) -> Iterable[RecordedEvent]:
        """Items that stand behind another one. Each wrote a snapshot, so there is seldom any."""
        if position - start <= STRIDE:
            return self.log.read(key, start, position, types=_ITEMS, containing='"after":')
        return ()

    def snapshot(self, key: StreamKey, limit: int) -> tuple[int, str]:
        """The last snapshot up to a position, an ancestor's included: where, and its state.

        (0, "") where there is none.
        """
        info = self._owner(self.log.stream(key), limit)
        while True:
            row = self._row(
                "select position, state from snapshots where stream = ? and position <= ? "
                "order by position desc limit 1",
                info.row,
                limit,
            )
            if row is not None or info.parent is None:
                return row or (0, "")
            limit = min(limit, info.base)
            info = self.log.stream(info.parent)

    def load(self, key: StreamKey, position: int, state: str) -> View:
        """The view of a snapshot, or of a live view's row."""
        if not state:
            return View()
        return View.load(json.loads(state), lambda a, b: self.positions(key, a, b), position)

    def history(self, key: StreamKey, to: int, whole: Collection[str] = ()) -> list[RecordedEvent]:
        """The events of a stream up to a position as a fold reads them, from the first on.

        Decisions have their payload, and so have the types in ``whole``; of all others a fold needs
        the header, and that is all there is.
        """
        return self.stretch(key, 0, to, whole)

    def stretch(
        self, key: StreamKey, after: int, to: int, whole: Collection[str] = ()
    ) -> list[RecordedEvent]:
        """The events of a range as a fold reads them; see ``history``."""
        headers = self.log.headers(key, after, to)
        read = DECISIONS.union(whole)
        if any(header.type == "repair_applied" for header in headers):
            read |= {"tool_result_recorded"}  # a real one takes the place of a synthetic one
        events = {e.position: e for e in self.log.read(key, after, to, types=read)}
        for event in self.log.read(key, after, to, types=_ITEMS, containing='"after":'):
            events[event.position] = event
        return [events.get(h.position) or _bare(key, h) for h in headers]

    def _refuse_unknown(self, key: StreamKey, after: int, to: int) -> None:
        for header in self.log.headers(key, after, to):
            if header.critical and not is_known(header.type, header.schema_version):
                raise CriticalUnknown(str(key), header.position, header.type)

    def positions(self, key: StreamKey, low: int, high: int) -> list[int]:
        """The positions of the events in a range that bring in an item."""
        return [h.position for h in self.log.headers(key, low - 1, high) if h.type in ITEM_TYPES]

    def _row(self, sql: str, *values: int) -> tuple[int, str] | None:
        found: tuple[int, str] | None = self.log.query(sql, values).fetchone()
        return found

    def _owner(self, info: StreamInfo, position: int) -> StreamInfo:
        while info.parent is not None and position <= info.base:
            info = self.log.stream(info.parent)
        return info

    # -- c and k --------------------------------------------------------------------------------

    def count(self, key: StreamKey, kind: str, position: int) -> int:
        """How many events of a numbered kind stand up to a position, a parent's included."""
        return self._count(self.log.stream(key), kind, position)

    def _count(self, info: StreamInfo, kind: str, position: int) -> int:
        info = self._owner(info, position)
        column = "calls" if kind == NUMBERED["c"] else "compactions"
        row = self.log.query(
            f"select position, {column} from snapshots where stream = ? and position <= ? "
            "order by position desc limit 1",
            (info.row, position),
        ).fetchone()
        if row is not None:
            start, counted = row
        elif info.parent is not None:
            start, counted = info.base, self._count(self.log.stream(info.parent), kind, info.base)
        else:
            start, counted = 0, 0
        more = self.log.query(
            "select count(*) from events where stream = ? and position > ? and position <= ? "
            "and type = ?",
            (info.row, start, position, kind),
        ).fetchone()[0]
        return int(counted) + int(more)

    def numbered(self, key: StreamKey, kind: str, number: int) -> int | None:
        """The position of the n-th event of a numbered kind; None when there is none."""
        info = self.log.stream(key)
        if number < 1:
            return None
        while info.parent is not None:
            parent = self.log.stream(info.parent)
            if number > self._count(parent, kind, info.base):
                break
            info = parent
        column = "calls" if kind == NUMBERED["c"] else "compactions"
        row = self.log.query(
            f"select position, {column} from snapshots where stream = ? and {column} < ? "
            "order by position desc limit 1",
            (info.row, number),
        ).fetchone()
        if row is None:
            counted = (
                self._count(self.log.stream(info.parent), kind, info.base) if info.parent else 0
            )
            row = (info.base, counted)
        found = self.log.query(
            "select position from events where stream = ? and position > ? and type = ? "
            "order by position limit 1 offset ?",
            (info.row, row[0], kind, number - row[1] - 1),
        ).fetchone()
        return int(found[0]) if found is not None else None


def _bare(key: StreamKey, header: Header) -> RecordedEvent:
    """An event of which a fold reads only the header."""
    return RecordedEvent(
        stream=key,
        sequence=0,
        position=header.position,
        event_id=b"",
        type=header.type,
        schema_version=header.schema_version,
        critical=bool(header.critical),
        occurred_at=None,
        recorded_at=0,
        chain=b"",
        erased=False,
        payload="{}",
    )
