"""The conversations of all sessions that a recorder is told of and holds in memory."""

from __future__ import annotations

from collections.abc import Collection

from eventlog.recorded import StreamKey
from harness.recording.lookup import made_name
from harness.recording.placing import MOST_HELD, Placing
from harness.recording.posted import Posted
from harness.recording.sessions import NOWHERE, Began, session_key
from harness.recording.streams import RecordedStream
from projections import Live

MOST_SESSIONS = 128
"""Named sessions that are held in memory; another one is read from the log when it goes on."""


class Placings:
    """By session; None is that of calls whose callers name none."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._by_session: dict[StreamKey | None, Placing] = {}
        """The one that was asked last at the end."""
        self._held = 0
        """Bytes of the last requests of all conversations that are held in memory."""

    def of(self, session: StreamKey | None, began: Began) -> Placing:
        """That of a session, which began there."""
        placing = self._by_session.pop(session, None)
        if placing is None:
            home = session or session_key(made_name())
            parent = str(began.parent) if began.parent not in (None, home) else ""
            around = self._by_session.get(began.parent) if parent and began.tool else None
            call = around.calling(began.tool, began.arguments) if around is not None else ""
            named = session is not None
            placing = Placing(self._live, home, is_named=named, parent=parent, parent_call=call)
        self._by_session[session] = placing
        return placing

    def telling(self, session: StreamKey | None) -> RecordedStream:
        """Where it is told what was lost of a session: in what was asked last of it. Of nobody's
        calls, and where nothing was asked, that may be anywhere."""
        placing = self._by_session.get(session)
        if placing is None and session is None:
            placing = next(reversed(self._by_session.values()), None)
        placing = placing or self.of(session, NOWHERE)
        return placing.newest or placing.home()

    def begin(
        self, session: StreamKey | None, began: Began, posted: Posted
    ) -> tuple[RecordedStream, int]:
        """Record a call in its session before its request goes out. Raises as ``Placing.begin``."""
        placing = self.of(session, began)
        before = placing.held
        found = placing.begin(posted)
        self._held += placing.held - before
        return found

    def forget(self, keeping: Collection[StreamKey | None]) -> None:
        """Let go of named sessions that were asked least lately, where they are too many."""
        for name in [name for name in list(self._by_session)[:-1] if name is not None]:
            if len(self._by_session) <= MOST_SESSIONS and self._held <= MOST_HELD:
                return
            if self._by_session[name].is_idle and name not in keeping:
                self._held -= self._by_session.pop(name).held

    def inherited(self, *, is_whole: bool) -> None:
        """In a child after ``fork()``. ``is_whole``: nobody was in the middle of changing it."""
        if not is_whole:
            self._by_session.clear()
            self._held = 0
        for placing in self._by_session.values():
            placing.inherited()
