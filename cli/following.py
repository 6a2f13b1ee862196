"""A log as it grows: the rows of what other processes append, one batch after the other.

A look asks the file one number (``data_version``), and reads only when another process wrote. Every
read is over before the next one begins, so no writer waits for us, and none is kept from moving
what it wrote into the file itself. What is not there yet is waited for (``Awaited``).
"""

from __future__ import annotations

import os
import re
import select
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from itertools import groupby, islice
from types import TracebackType
from typing import NamedTuple, Self

from cli.models_log import FollowedRow, TimelineData
from cli.opening import opened
from cli.options import Settings
from cli.timeline import timeline
from eventlog import RecordedEvent, StreamKey
from eventlog.connection import EMPTY
from eventlog.errors import Ambiguous, Busy, LogNotFound, NotALog, StreamNotFound
from projections import Live
from projections.references import find_session

PAUSE = 0.1
"""Seconds between two looks."""


class Chosen(NamedTuple):
    """Which rows are shown, as ``timeline`` takes it."""

    types: Collection[str] = ()
    calls: bool = False
    every: bool = False


class Batch(NamedTuple):
    """What came to one session, in a row."""

    key: StreamKey
    data: TimelineData
    sequence: int
    """Of its last event."""

    def rows(self) -> Iterator[FollowedRow]:
        """Its rows, each with its session."""
        for row in self.data.rows:
            yield FollowedRow(key=str(self.key), **dict(row))


class Following:
    """What is appended from now on, to a session and what goes on from it, or to all of them;
    with ``since`` also what came behind that sequence, while it was waited for."""

    def __init__(
        self, live: Live, home: StreamKey | None, chosen: Chosen, since: int | None = None
    ) -> None:
        self._live, self._chosen = live, chosen
        self._home = home
        self._belongs = {home: True}
        self._file = File(live)
        self._seen = -1
        self._sequence = live.log.last_sequence() if since is None else since
        self._known = live.log.version(home) if home is not None else 0

    def last(self, rows: int | None) -> Iterator[Batch]:
        """The last rows that stand there already; None for all that a session has."""
        if rows == 0:
            return
        if self._home is not None:
            whole = self._chosen._asdict()
            data = timeline(self._live, self._home, at=self._known, most=rows, **whole)
            yield Batch(self._home, data, self._sequence)
            return
        assert rows is not None  # whoever waited for a log has seen nothing of it: ``since``
        width, found = max(_PAGE, 4 * rows), list[Batch]()
        while True:  # from the end back, until there are enough
            start = max(0, self._sequence - width)
            found = [batch for batch in self._read(start, self._sequence) if batch.data.rows]
            if start == 0 or sum(len(batch.data.rows) for batch in found) >= rows:
                break
            width *= 4
        left = sum(len(batch.data.rows) for batch in found) - rows
        for batch in found:
            left, cut = left - len(batch.data.rows), max(left, 0)
            del batch.data.rows[:cut]
            if batch.data.rows:
                yield batch

    def new(self) -> Iterator[Batch]:
        """What came since the last look. Raises LogNotFound where the file is another one."""
        self._file.check()
        try:
            version = self._live.log.data_version()
            if version == self._seen:
                return
            end = self._live.log.last_sequence()
            for batch in self._read(self._sequence, end):
                yield batch
                self._sequence = batch.sequence
            self._seen, self._sequence = version, end
        except Busy:  # what is left comes at the next look
            return

    def _read(self, start: int, end: int) -> Iterator[Batch]:
        """What came to the sessions that are followed, behind one sequence up to another."""
        runs = groupby(self._wanted(start, end), key=lambda event: event.stream)
        for key, run in runs:
            while part := list(islice(run, _MOST)):
                data = timeline(
                    self._live,
                    key,
                    at=part[-1].position,
                    first=part[0].position,
                    last=part[-1].position,
                    **self._chosen._asdict(),
                )
                yield Batch(key, data, part[-1].sequence)

    def _wanted(self, start: int, end: int) -> Iterator[RecordedEvent]:
        for event in self._live.log.read_all(start):
            if event.sequence > end:
                return
            is_shown = event.stream == self._home and event.position <= self._known
            if not is_shown and self._is_wanted(event.stream):
                yield event

    def _is_wanted(self, key: StreamKey) -> bool:
        """Whether a session is the one that is followed, or goes on from it or began in it."""
        home = self._home
        if home is None:
            return True
        if key not in self._belongs:
            self._belongs[key] = self._is_named_after(key) or self._began_in(key)
        return self._belongs[key]

    def _is_named_after(self, key: StreamKey) -> bool:
        """As a recorder names what goes on beside a session: ``monday~2``, ``monday.2``."""
        assert self._home is not None
        name = re.escape(self._home.session) + r"(?:[.~][0-9]+)+"
        return key[:2] == self._home[:2] and re.fullmatch(name, key.session) is not None

    def _began_in(self, key: StreamKey) -> bool:
        info = self._live.log.stream(key)
        if info.parent is not None:
            return self._is_wanted(info.parent)
        begun = self._live.log.at(key, [1]).get(1)
        if begun is None or begun.type != "session_started":
            return False
        parent = begun.data.get("parent_session") or ""
        return bool(parent) and parent != str(key) and self._is_wanted(StreamKey.parse(parent))


class File:
    """The file of a log that stays open."""

    def __init__(self, live: Live) -> None:
        self._path = live.log.path
        self._found = os.stat(self._path)

    def check(self) -> None:
        """Raises LogNotFound where the path leads to it no more."""
        try:
            now = os.stat(self._path)
        except FileNotFoundError:
            raise LogNotFound(str(self._path)) from None
        if (now.st_dev, now.st_ino) != (self._found.st_dev, self._found.st_ino):
            raise LogNotFound(f"{self._path} (it is another file now)")


class Awaited:
    """A log and a session of it, each waited for where it is not there yet: who watches an agent
    may begin before it does. ``note`` is given a line of each that is waited for."""

    def __init__(self, settings: Settings, name: str | None, note: Callable[[str], None]) -> None:
        self._settings, self._name, self._note = settings, name, note
        self._open = ExitStack()
        self.home: StreamKey | None = None
        self.since: int | None = None
        """The sequence behind which all is new; None where nothing had to be waited for."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def found(self) -> Live | None:
        """The log, once both are there; None when nobody reads any more."""
        live = self._log()
        if live is None or self._name is None:
            return live
        return live if self._session(live, self._name) else None

    def _log(self) -> Live | None:
        while True:
            try:
                return self._open.enter_context(opened(self._settings, read_only=True))
            except (LogNotFound, NotALog) as error:
                if isinstance(error, NotALog) and error.what != EMPTY:
                    raise
                if self.since is None:
                    self.since = 0
                    self._note(f"waiting for a log at {error.path}")
            if not wait():
                return None

    def _session(self, live: Live, name: str) -> bool:
        """Look for it each time that somebody wrote; False when nobody reads any more."""
        file, seen, is_told = File(live), -1, False
        while True:
            file.check()
            try:
                version, end = live.log.data_version(), live.log.last_sequence()
                if version != seen:
                    self.home = find_session(live, name)
                    return True
            except (StreamNotFound, Ambiguous) as error:
                seen, self.since = version, end
                if not is_told:
                    self._note(f"waiting for session {name}{_like(error)}")
                is_told = True
            except Busy:  # at the next look
                pass
            if not wait():
                return False


def _like(error: StreamNotFound | Ambiguous) -> str:
    """The sessions that may have been meant."""
    if isinstance(error, Ambiguous):
        return f"; so far it names several: {', '.join(error.candidates)}"
    return f"; near it: {', '.join(error.near)}" if error.near else ""


_PAGE = 200
"""Events that are looked at first where only the last rows are asked for."""

_MOST = 1000
"""Events that are shown at once: of a long import the first ones need not wait for the last."""


def wait(seconds: float = PAUSE) -> bool:
    """Let some time pass; False at once where nobody reads standard output any more."""
    try:
        poller = select.poll()
        poller.register(sys.stdout.fileno(), 0)  # faults alone, which need no asking
    except (OSError, ValueError, AttributeError):
        time.sleep(seconds)
        return True
    return not poller.poll(int(seconds * 1000))
