"""Reading single events by their place, their id or their type."""

from __future__ import annotations

import uuid
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from eventlog.connection import translated
from eventlog.reading import COLUMNS, PAGE, Reading, type_filter
from eventlog.recorded import RecordedEvent, StreamKey


class Picking(Reading):
    """The part of ``EventLog`` that reads events here and there."""

    def at(self, stream: StreamKey | str, positions: Iterable[int]) -> dict[int, RecordedEvent]:
        """The events at some positions; positions that the stream does not have are left out."""
        info = self.stream(stream)
        wanted = sorted(set(positions))
        found: dict[int, RecordedEvent] = {}
        if not wanted:
            return found
        with self._mutex, translated(self.path):
            db = self._ready()
            end = min(wanted[-1], self._version(db, info))
            for owner, low, high in self._segments(info, 0, end):
                mine = [position for position in wanted if low < position <= high]
                for start in range(0, len(mine), PAGE):
                    chunk = mine[start : start + PAGE]
                    marks = ",".join("?" * len(chunk))
                    for row in db.execute(
                        f"select {COLUMNS} from events where stream = ? and position in ({marks})",
                        (owner.row, *chunk),
                    ).fetchall():
                        found[row[1]] = self._event(info.key, row)
        return found

    def payloads(
        self, stream: StreamKey | str, positions: Sequence[int]
    ) -> Iterator[tuple[int, str, str]]:
        """Position, type and payload text of some events, an erased one's skeleton: the cheapest.

        ``positions`` are sorted. Positions that the stream does not have are left out.
        """
        if not positions:
            return
        info = self.stream(stream)
        with self._mutex, translated(self.path):
            segments = self._segments(info, positions[0] - 1, positions[-1])
        for owner, low, high in segments:
            mine = positions[bisect_right(positions, low) : bisect_right(positions, high)]
            for start in range(0, len(mine), PAGE):
                chunk = mine[start : start + PAGE]
                with self._mutex, translated(self.path):
                    rows = self._ready().execute(*_payload_query(owner.row, chunk)).fetchall()
                    for at, (position, kind, payload, sequence, event_id) in enumerate(rows):
                        if payload is None:
                            text = self._skeleton(sequence, event_id)
                            rows[at] = (position, kind, text, sequence, event_id)
                wanted = set(chunk) if len(rows) > len(chunk) else None
                for position, kind, payload, _, _ in rows:
                    if wanted is None or position in wanted:
                        yield position, kind, payload

    def salts(self, stream: StreamKey | str, positions: Iterable[int]) -> dict[int, bytes]:
        """The salts of some events, for digests of what they hold; an erased event has none."""
        info = self.stream(stream)
        found: dict[int, bytes] = {}
        with self._mutex, translated(self.path):
            db = self._ready()
            for position in set(positions):
                for owner, _, _ in self._segments(info, position - 1, position):
                    row = db.execute(
                        "select salt from events where stream = ? and position = ?",
                        (owner.row, position),
                    ).fetchone()
                    if row is not None and row[0] is not None:
                        found[position] = bytes(row[0])
        return found

    def known_ids(self, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, tuple[StreamKey, int]]:
        """Which of the event ids exist, and where."""
        known: dict[uuid.UUID, tuple[StreamKey, int]] = {}
        with self._mutex, translated(self.path):
            db = self._ready()
            for start in range(0, len(ids), PAGE):
                chunk = [event_id.bytes for event_id in ids[start : start + PAGE]]
                marks = ",".join("?" * len(chunk))
                for row in db.execute(
                    "select e.id, s.user, s.agent, s.session, e.position from events e "
                    f"join streams s on s.row = e.stream where e.id in ({marks})",
                    chunk,
                ):
                    known[uuid.UUID(bytes=row[0])] = (StreamKey(*row[1:4]), row[4])
        return known

    def read_types(self, *types: str) -> Iterator[RecordedEvent]:
        """The events of some types in the whole log, in the order of appends."""
        wanted = type_filter(types)
        with self._mutex, translated(self.path):
            rows = self._ready().execute(f"select stream, position from events where 1{wanted}")
            places = rows.fetchall()
        keys = {info.row: info.key for info in self.streams()}
        for row, position in places:
            yield from self.at(keys[row], [position]).values()


def _payload_query(row: int, positions: Sequence[int]) -> tuple[str, tuple[int, ...]]:
    """A range where the positions lie close together, since one scan is cheaper than many seeks."""
    columns = "select position, type, payload, sequence, id from events where stream = ?"
    first, last = positions[0], positions[-1]
    if last - first < 1.25 * len(positions):
        return f"{columns} and position between ? and ?", (row, first, last)
    marks = ",".join("?" * len(positions))
    return f"{columns} and position in ({marks})", (row, *positions)
