"""The data of sessions as it is served: made when it is asked for, kept while it holds, and made
anew where its session has moved on.

Making costs seconds for a large session. So one is made at a time, others wait for it and take the
same, and after it follows a rest of twice as long.
"""

from __future__ import annotations

import gzip
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

from cli.report.report import Report
from eventlog import StreamKey

REST = 1.0
"""Seconds between two makings of a session, at least."""

SESSIONS, VERSIONS = 4, 3
"""Sessions that are kept, and versions of each of which the texts are: a page may still show the
one before."""


@dataclass(frozen=True)
class Made:
    """A session in one state."""

    state: str
    text: str
    """Its data, as JSON."""
    chunks: dict[str, str]
    """Its texts. A chunk is called by what it holds, so most keep their names as a session grows,
    and no page asks for them again."""
    compared: str = ""
    """The table of strategies, as JSON; empty where none are compared."""

    @cached_property
    def packed(self) -> bytes:
        """Its data, for who unpacks it."""
        return gzip.compress(self.text.encode(), 1)


def made_of(state: str, report: Report, before: dict[str, str]) -> Made:
    """A report of one session as it is served; chunks that are there already are taken over."""
    (session,) = report.sessions
    data, chunks = session.data, dict[str, str]()
    for table, packed in ((data.texts, session.texts.chunks), (data.requests, session.pieces)):
        table.names = [sha256(chunk.encode()).hexdigest()[:32] for chunk in packed.texts]
        named = zip(table.names, packed.texts, strict=True)
        chunks |= {name: before.get(name, chunk) for name, chunk in named}
    compared = report.compared.model_dump_json() if report.compared is not None else ""
    return Made(state, data.model_dump_json(exclude_defaults=True), chunks, compared)


@dataclass
class _Session:
    making: threading.Lock = field(default_factory=threading.Lock)
    newest: Made | None = None
    older: deque[dict[str, str]] = field(default_factory=lambda: deque(maxlen=VERSIONS - 1))
    rests_until: float = 0.0
    fault: Exception | None = None
    """Why it could not be made the last time."""

    def chunks(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for each in list(self.older):
            found |= each
        return found | (self.newest.chunks if self.newest is not None else {})

    def take(self, made: Made) -> None:
        if self.newest is not None and _erased(self.newest) == _erased(made):
            self.older.append(self.newest.chunks)
        else:  # what was erased since stands in none of them
            self.older.clear()
        self.newest = made


def _erased(made: Made) -> str:
    return made.state.partition(".")[2]


class Makings:
    """Asked by many threads at once."""

    def __init__(
        self,
        state: Callable[[StreamKey], str],
        make: Callable[[StreamKey], tuple[str, Report]],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """``state`` says in which state a session is now, ``make`` reads it; ``now`` in seconds."""
        self._state, self._make, self._now = state, make, now
        self._sessions: OrderedDict[StreamKey, _Session] = OrderedDict()
        self._mutex = threading.Lock()

    def newest(self, key: StreamKey) -> Made:
        """A session as it is now, or as it was when it was made, while that rests.

        Raises what reading the log raises.
        """
        session = self._session(key)
        with session.making:
            state = self._state(key)
            made, now = session.newest, self._now()
            if made is not None and made.state == state:
                return made
            is_erased = made is not None and state.partition(".")[2] != _erased(made)
            if now < session.rests_until and not is_erased:
                if session.fault is not None:
                    raise session.fault.with_traceback(None)
                if made is not None:
                    return made
            try:
                session.fault = None
                made = made_of(*self._make(key), session.chunks())
            except Exception as fault:
                session.fault = fault
                raise
            finally:
                ended = self._now()
                session.rests_until = ended + max(REST, 2 * (ended - now))
            session.take(made)
            return made

    def chunk(self, name: str) -> str | None:
        """A chunk of what is kept."""
        with self._mutex:
            kept = list(self._sessions.values())
        return next((found for each in kept if (found := each.chunks().get(name))), None)

    def _session(self, key: StreamKey) -> _Session:
        with self._mutex:
            found = self._sessions.setdefault(key, _Session())
            self._sessions.move_to_end(key)
            while len(self._sessions) > SESSIONS:
                self._sessions.popitem(last=False)
            return found
