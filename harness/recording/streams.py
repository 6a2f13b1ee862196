"""A stream that is being recorded, and how it begins: in the same append as its first call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from eventlog.errors import EventInvalid, OutcomeUnknown, WrongExpectedVersion
from eventlog.events import Event, SessionStarted
from eventlog.messages import Dialect
from eventlog.recorded import Draft, StreamKey
from harness.exchange.thread import Thread
from harness.recording.bodies import Bodies, Body
from harness.recording.posted import Posted, asked_of
from projections import Live
from projections.followed import Asked, Followed, Plan

Names = Callable[[], Iterable[StreamKey]]
"""The names that a new stream may have, the next free one first."""


DAMAGED = (EventInvalid, AttributeError, LookupError, TypeError, ValueError)
"""What comes of reading an event that somebody changed in the file."""


@dataclass(frozen=True, slots=True)
class Birth:
    """How a stream begins that does not stand in the log yet."""

    names: Names
    started: Draft | None = None
    """Its first event; None for a fork."""
    parent: StreamKey | None = None
    at: int = 0
    """Where it is forked from."""
    reason: str = ""


@dataclass(slots=True, eq=False)
class RecordedStream:
    """A stream that is being recorded."""

    followed: Followed
    bodies: dict[str, Bodies] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)
    """The positions of its calls that have not ended."""
    thread: Thread | None = None
    """What its next request is told by; None before its first."""
    base: int = 0
    """The last position up to which all is of this process; 0 before its first call."""
    is_foreign: bool = False
    """Whether another process wrote to it since its last call, and not only a note."""
    was_single: bool = True
    """Whether it was no more than a single call when it was taken up here."""
    birth: Birth | None = None
    """How it begins; None once it stands in the log."""
    like: Thread | None = None
    """Of a fork: the conversation that it goes on from."""
    held: int = 0
    """Bytes of its last request."""

    @classmethod
    def new(cls, live: Live, names: Names, parent: str, parent_call: str = "") -> RecordedStream:
        """One that begins with its first call."""
        event = SessionStarted(ownership="observed", parent_session=parent, parent_call=parent_call)
        started = Draft(event, salt=os.urandom(16))
        stream = cls(Followed(live, _UNNAMED), birth=Birth(names, started))
        stream.followed.followed(started)
        return stream

    @classmethod
    def fork(cls, live: Live, names: Names, of: RecordedStream, at: int) -> RecordedStream:
        """One that begins where another one stood."""
        reason = "asked while another call of the session was open"
        if not of.open:
            reason = "another process wrote to the session"
        followed = Followed.forked(live, of.key, _UNNAMED, at)
        birth = Birth(names, parent=of.key, at=at, reason=reason)
        return cls(followed, birth=birth, like=of.thread)

    @classmethod
    def loaded(
        cls, live: Live, key: StreamKey, base: int = 0, thread: Thread | None = None
    ) -> RecordedStream:
        """One as it stands in the log; up to ``base`` it was written here."""
        stream = cls(Followed(live, key), thread=thread, base=base)
        if base:
            stream.followed.catch_up(base)
        stream.is_foreign = stream.followed.catch_up() and base > 0
        stream.was_single = stream.followed.is_single()
        return stream

    @property
    def key(self) -> StreamKey:
        """Its name."""
        return self.followed.key

    def read(self, posted: Posted) -> tuple[Asked, Body]:
        """A request, against the last one. Raises InputRefused."""
        bodies = self.bodies.get(posted.dialect) or Bodies(posted.dialect)
        body = bodies.read(posted.body)
        return asked_of(posted, body), body

    def goes_on(self, posted: Posted) -> bool:
        """Whether its last request stands at the front of this one."""
        bodies = self.bodies.get(posted.dialect)
        return bodies is not None and bodies.goes_on(posted.body)

    # -- writing --------------------------------------------------------------------------------

    def call(
        self, live: Live, plan: Plan, body: Body, dialect: Dialect, drafts: Sequence[Draft]
    ) -> bool:
        """Append what was planned; False where another process was faster."""
        try:
            if self.birth is not None:
                self._begin(live, self.birth, drafts)
            else:
                live.append(self.key, *drafts, expected_version=plan.version)
        except WrongExpectedVersion:
            self.birth = None
            self.is_foreign |= self.followed.catch_up() and self.base > 0
            return False
        self.birth = None
        self.followed.appended(plan)
        self.base = plan.position
        self.take(plan, body, dialect)
        return True

    def take(self, plan: Plan, body: Body, dialect: Dialect) -> None:
        """A call that stands in the log now."""
        self.bodies.setdefault(dialect, Bodies(dialect)).take(body)
        self.open.add(plan.position)

    def stands(self, live: Live, draft: Draft, behind: int) -> bool:
        """Whether what was to be appended behind a position stands there, where nobody could say
        so: its salt is nobody else's. What is new there is taken in.

        Where the log cannot be read, it is asked again.
        """
        log = live.log
        if not log.exists(self.key):
            return False
        salts = log.salts(self.key, range(behind + 1, log.version(self.key) + 1))
        at = next((position for position, salt in salts.items() if salt == draft.salt), 0)
        if not at:
            return False
        self.birth = None
        self.followed.catch_up(at)
        self.base = max(self.base, at)
        self.is_foreign |= self.followed.catch_up()  # what another process wrote behind it
        return True

    def begin(self, live: Live) -> None:
        """Stand in the log already before the first call."""
        if self.birth is not None:
            with suppress(WrongExpectedVersion):  # another process began it just now
                self._begin(live, self.birth, ())
            self.birth = None

    def _begin(self, live: Live, birth: Birth, drafts: Sequence[Draft]) -> None:
        """Under the first name that nobody else has taken meanwhile."""
        for key in birth.names():
            try:
                if birth.started is not None:
                    live.append(key, birth.started, *drafts, expected_version=0)
                elif birth.parent is not None:
                    live.log.fork(
                        key,
                        birth.parent,
                        birth.at,
                        *drafts,
                        ownership="observed",
                        reason=birth.reason,
                    )
            except WrongExpectedVersion:
                taken = key
                continue
            except OutcomeUnknown:
                self.followed.key = key  # there it may stand
                raise
            self.followed.key = key
            return
        self.followed = Followed(live, taken)
        raise WrongExpectedVersion(str(taken), 0, live.log.version(taken))

    def write(self, live: Live, drafts: Sequence[Draft], *, durable: bool = True) -> None:
        """Append events, each with its salt, behind whatever stands there."""
        done = live.log.append(self.key, *drafts, durable=durable)
        if done.first == self.followed.version + 1:
            self.followed.followed(*drafts)
            if not self.is_foreign:
                self.base = done.last
        else:
            self.is_foreign |= self.followed.catch_up() and self.base > 0


class Doubt(NamedTuple):
    """A call of which nobody could say whether it stands in the log."""

    stream: RecordedStream
    plan: Plan
    body: Body
    dialect: Dialect


def drafted(events: Iterable[Event]) -> tuple[Draft, ...]:
    """Events with salts of their own."""
    return tuple(Draft(event, salt=os.urandom(16)) for event in events)


_UNNAMED = StreamKey("-", "-", "-")
