"""A log with its contexts: what an application opens.

``open_log`` puts the parts together: the event log, the views kept inside each append, and
everything that answers questions about a session. Three contexts can be asked for (see the design
page):

as folded     ``items``: the view with its renditions, not repaired
as sendable   ``sendable``: folded, then made legal
as sent       ``sent``: what a recorded manifest names, never repaired
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from types import TracebackType
from typing import Any, Self

from eventlog.connection import Durability
from eventlog.errors import NoContext, PositionNotFound
from eventlog.events import Event
from eventlog.jsonvalue import loads
from eventlog.log import EventLog
from eventlog.recorded import Appended, Draft, RecordedEvent, StreamKey
from eventlog.scrub import finish_pending, is_pending
from projections import materialize, runs
from projections.context import View, fold
from projections.items import Item
from projections.legality import Sendable, sendable
from projections.runs import Origin, Standing
from projections.views import NUMBERED, Views


class Live:
    """A log whose contexts are kept up to date with every append."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        durability: Durability = "full",
        read_only: bool = False,
        lock_timeout: float = 30.0,
        create: bool = True,
    ) -> None:
        self.views = Views()
        self.log = EventLog(
            path,
            derived=[self.views],
            durability=durability,
            read_only=read_only,
            lock_timeout=lock_timeout,
            create=create,
        )
        self.views.attach(self.log)
        if not read_only and is_pending(self.log):
            finish_pending(self.log)

    def close(self) -> None:
        """Close the log."""
        self.log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def append(
        self, stream: StreamKey | str, *events: Event | Draft, expected_version: int | None = None
    ) -> Appended:
        """Append events; see ``EventLog.append``."""
        return self.log.append(stream, *events, expected_version=expected_version)

    # -- views ----------------------------------------------------------------------------------

    def view(self, stream: StreamKey | str, at: int | None = None) -> View:
        """The view after position ``at``, or now; the caller's to change.

        Raises StreamNotFound, PositionNotFound, CriticalUnknown.
        """
        key = self.log.stream(stream).key
        if at is None:
            return self._current(key).copy()
        version = self.log.version(key)
        if not 0 <= at <= version:
            raise PositionNotFound(str(key), f"position {at}", f"it ends at {version}")
        if not self._is_kept():
            return fold(self.log.read(key, to=at))
        return self.views.at(key, at)

    def _current(self, key: StreamKey) -> View:
        if not self._is_kept():
            return fold(self.log.read(key))
        return self.views.current(key)

    def _is_kept(self) -> bool:
        """Bring the tables up to date; False where a log open for reading has none."""
        if self.log.read_only:
            return not self.log.is_behind()
        self.log.catch_up()
        return True

    def history(
        self, stream: StreamKey | str, at: int | None = None, whole: Collection[str] = ()
    ) -> list[RecordedEvent]:
        """The events up to a position as a fold reads them; see ``Views.history``.

        Raises StreamNotFound.
        """
        key = self.log.stream(stream).key
        return self.views.history(key, self.log.version(key) if at is None else at, whole)

    # -- contexts -------------------------------------------------------------------------------

    def items(self, stream: StreamKey | str, at: int | None = None) -> list[Item]:
        """The context as folded: after position ``at``, or now."""
        key = self.log.stream(stream).key
        view = self._current(key) if at is None else self.view(key, at)
        return self.materialize(key, view.standing(), view.pins)

    def messages(self, stream: StreamKey | str, at: int | None = None) -> list[dict[str, Any]]:
        """The native messages of the context as folded: what a request is written from.

        The quick way to ``[item.message for item in items(...)]``; equal to it.
        """
        key = self.log.stream(stream).key
        view = self._current(key) if at is None else self.view(key, at)
        standing = view.standing()
        plain = sorted(item for item, r in standing if isinstance(item, int) and not r)
        made: dict[Origin, dict[str, Any] | None] = {
            position: _native(kind, payload)
            for position, kind, payload in self.log.payloads(key, plain)
        }
        slow = [(item, r) for item, r in standing if r or made.get(item) is None]
        if slow:
            for item in self.materialize(key, slow):
                made[runs.origin(item.id)] = dict(item.message)
        return [found for item, _ in standing if (found := made.get(item)) is not None]

    def materialize(
        self, stream: StreamKey | str, standing: Sequence[Standing], pins: Iterable[int | str] = ()
    ) -> list[Item]:
        """Items by origin and rendition, wherever they stand now."""
        events = self.log.at(stream, materialize.needed(standing))
        missing = materialize.referenced(standing, events)
        if missing:
            events.update(self.log.at(stream, missing))
        return materialize.materialize(standing, events, pins)

    def sendable(
        self, stream: StreamKey | str, at: int | None = None, *, live_frontier: bool = False
    ) -> Sendable:
        """The context as sendable: folded, then made legal. Raises NoContext."""
        key = self.log.stream(stream).key
        items = self.items(key, at)
        if not items:
            raise NoContext(str(key), at)
        return sendable(items, live_frontier=live_frontier)

    # -- numbers --------------------------------------------------------------------------------

    def position(self, stream: StreamKey | str, letter: str, number: int) -> int:
        """The position of call ``c<number>`` or compaction ``k<number>``.

        Raises PositionNotFound.
        """
        key = self.log.stream(stream).key
        kind = NUMBERED[letter]
        if self._is_kept():
            found = self.views.numbered(key, kind, number)
            total = self.views.count(key, kind, self.log.version(key))
        else:
            all_of = [e.position for e in self.log.read(key, types=[kind])]
            total = len(all_of)
            found = all_of[number - 1] if 1 <= number <= total else None
        if found is None:
            name = {"c": "call", "k": "compaction"}[letter]
            hint = f"it has {total} {name}{'' if total == 1 else 's'}"
            raise PositionNotFound(str(key), f"{letter}{number}", hint)
        return found

    def number(self, stream: StreamKey | str, event: RecordedEvent) -> int:
        """Which call or compaction of its stream an event is, counted from 1."""
        key = self.log.stream(stream).key
        if self._is_kept():
            return self.views.count(key, event.type, event.position)
        return sum(1 for _ in self.log.read(key, to=event.position, types=[event.type]))

    def rebuild(self) -> None:
        """Drop the derived tables and compute them from the events."""
        self.log.catch_up(rebuild=True)


def _native(kind: str, payload: str) -> dict[str, Any] | None:
    """The native message of a plain item; None where it takes more than reading the payload."""
    if payload.endswith("]]}") and '"blobs":' in payload:  # they stand last
        return None
    data = loads(payload)
    found: dict[str, Any] | None = None
    if kind == "message_appended":
        found = data["message"]
    elif kind == "tool_result_recorded":
        found = data.get("native")
    return found


def open_log(
    path: str | os.PathLike[str],
    *,
    durability: Durability = "full",
    read_only: bool = False,
    lock_timeout: float = 30.0,
    create: bool = True,
) -> Live:
    """Open, or create, a log with its contexts. Raises what ``EventLog`` raises."""
    return Live(
        path,
        durability=durability,
        read_only=read_only,
        lock_timeout=lock_timeout,
        create=create,
    )
