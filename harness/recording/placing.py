"""Which stream a request belongs to.

A client serves one conversation, or many, and asks small questions in between. What is known of a
request is its bytes, and maybe a session that its caller named. So, in this order:

1. It begins with all of a conversation's last request and goes on with the answer: that one.
2. The caller named the session: it is the session's own conversation, whatever was cleared, cut or
   compacted in it, unless nothing of it is there and it is asked in another way (a side call).
3. Else it is told by what it shares with those before it, as in a log of requests (``threads``).

A stream is written by one conversation at a time. Where a call of it is still open, or another
process wrote to it meanwhile, and the request does not go on from there, it goes on in a fork, from
the last place that both have.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any, NamedTuple

from eventlog.errors import WrongExpectedVersion
from eventlog.events import Event, MessageAppended, SessionStarted, ToolResultRecorded
from eventlog.messages import Dialect
from eventlog.recorded import Draft, StreamKey
from harness.exchange.threads import Thread, Threads
from harness.recording.bodies import Bodies, Body
from projections import Live
from projections.followed import Asked, Followed, Plan
from projections.proof import request_of
from projections.reading import calls_of

RECENT = 64
"""Conversations that are held in memory: their last requests are compared with a new one. Another
one is read from the log when it goes on."""


@dataclass(slots=True, eq=False)
class RecordedStream:
    """A stream that is being recorded."""

    followed: Followed
    bodies: dict[str, Bodies] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)
    """The positions of its calls that have not ended."""
    thread: Thread | None = None
    """Where it was told by what it shares with others."""
    base: int = 0
    """The last position that is of this process; 0 before its first call."""
    is_foreign: bool = False
    """Whether another process wrote to it since its last call, and not only a note."""

    @property
    def key(self) -> StreamKey:
        """Its name."""
        return self.followed.key

    def read(self, dialect: Dialect, raw: bytes) -> tuple[Asked, Body]:
        """A request, against the last one. Raises InputRefused."""
        bodies = self.bodies.get(dialect) or Bodies(dialect)
        body = bodies.read(raw)
        asked = Asked(dialect, body.fields, body.messages, raw, body.kept, body.same, body.end)
        return asked, body

    def goes_on(self, dialect: Dialect, raw: bytes) -> bool:
        """Whether its last request stands at the front of this one."""
        return dialect in self.bodies and self.bodies[dialect].goes_on(raw)

    def write(self, live: Live, events: Sequence[Event], *, durable: bool = True) -> None:
        """Append events behind whatever stands there."""
        drafts = [Draft(event, salt=os.urandom(16)) for event in events]
        done = live.log.append(self.key, *drafts, durable=durable)
        if done.first == self.followed.version + 1:
            self.followed.followed(*drafts)
            self.base = done.last
        else:
            self.is_foreign |= self.followed.catch_up() and self.base > 0


class Began(NamedTuple):
    """Where a session began."""

    parent: StreamKey | None = None
    """In which other one."""
    tool: str = ""
    """In a call of that tool there, with these arguments."""
    arguments: str = ""


NOWHERE = Began()


class Placing:
    """The conversations of one session, or of a client whose callers name none."""

    def __init__(
        self,
        live: Live,
        home: StreamKey,
        *,
        is_named: bool,
        parent: str = "",
        parent_call: str = "",
    ) -> None:
        self._live = live
        self._home = home
        self._is_named = is_named
        self._parent, self._parent_call = parent, parent_call
        self._threads = Threads(joins_small=False)
        self._own: RecordedStream | None = None
        self._recent: dict[StreamKey, RecordedStream] = {}
        """The one that was asked last at the end."""
        self._where: dict[tuple[str, int], StreamKey] = {}
        """Of those that were told: where their conversations stood last."""

    @property
    def is_idle(self) -> bool:
        """Whether all its calls have ended."""
        return not any(stream.open for stream in self._recent.values())

    @property
    def newest(self) -> RecordedStream | None:
        """The one that was asked last."""
        return next(reversed(self._recent.values()), None)

    def begin(self, dialect: Dialect, raw: bytes) -> tuple[RecordedStream, int]:
        """Record a call before its request goes out: in which stream, and at which position.

        Raises InputRefused for a body that is no request, and what an append raises.
        """
        found = self._going_on(dialect, raw)
        if found is None:
            found = self._named(dialect, raw) if self._is_named else self._told(dialect, raw)
        stream = found[0]
        self._recent.pop(stream.key, None)
        self._recent[stream.key] = stream
        if stream.thread is not None:
            self._where[stream.thread.group, stream.thread.number] = stream.key
        self._forget()
        return found

    def _forget(self) -> None:
        for key in list(self._recent)[: max(0, len(self._recent) - RECENT)]:
            stream = self._recent[key]
            if not stream.open and stream is not self._own:
                del self._recent[key]

    def home(self) -> RecordedStream:
        """The session's own stream as it stands now, whoever wrote to it: who asks reads it, and
        goes on from there."""
        own = self._own
        if own is None or own.key != self._home:
            own = self._own = self._recent.get(self._home) or self._stream(self._home)
            self._recent[own.key] = own
        own.followed.catch_up()
        own.base, own.is_foreign = own.followed.version, False
        return own

    def calling(self, tool: str, arguments: str) -> str:
        """The id of the one call of a tool, with these arguments, that the last answer made;
        nothing where there is none, or several."""
        stream = self._own or self.newest
        answers = (
            reversed(stream.followed.originals(o for o, _ in stream.followed.standing))
            if stream is not None
            else ()
        )
        made = next(filter(None, map(calls_of, answers)), ())
        found = [call.id for call in made if (call.name, call.text) == (tool, arguments)]
        return found[0] if len(found) == 1 else ""

    def answered(self, stream: RecordedStream, message: Mapping[str, Any]) -> None:
        """What came back to the last request of a stream, as it is sent back."""
        for bodies in stream.bodies.values():
            bodies.settle()
        if stream.thread is not None:
            self._threads.answered(stream.thread, message)

    # -- finding the stream ---------------------------------------------------------------------

    def _going_on(self, dialect: Dialect, raw: bytes) -> _Found | None:
        """The conversation whose last request and answer stand at its front."""
        for stream in islice(reversed(self._recent.values()), RECENT):
            if stream.open or not stream.goes_on(dialect, raw):
                continue
            asked, body = stream.read(dialect, raw)
            while (plan := stream.followed.going_on(asked)) is not None:
                if self._append(stream, plan, dialect, body):
                    return stream, plan.position
        return None

    def _named(self, dialect: Dialect, raw: bytes) -> _Found:
        """In the session's own conversation, unless it is no part of it."""
        own = self._own
        if own is None:
            own = self._own = self._stream(self._home)
            asked, _ = own.read(dialect, raw)
            if own.followed.items and not own.followed.shares(asked):
                # Somebody else's conversation has that name: nothing of this one is in it.
                own = self._own = self._stream(self._free_name("~"))
        found = self._in(own, dialect, raw, belongs=False)
        return found if found is not None else self._told(dialect, raw)

    def _told(self, dialect: Dialect, raw: bytes) -> _Found:
        """In the conversation that it shares most with."""
        body = Bodies(dialect).read(raw)
        asked = Asked(dialect, body.fields, body.messages, raw)
        thread, how = self._threads.place(request_of(dialect, asked.body))
        stream = None
        if how != "new":
            known = (s for s in reversed(self._recent.values()) if s.thread is thread)
            stream = next(known, None)
        if stream is None:
            known_as = self._where.get((thread.group, thread.number)) if how != "new" else None
            stream = self._stream(known_as or self._thread_name(thread), thread)
        found = self._in(stream, dialect, raw, belongs=True)
        assert found is not None
        return found

    def _in(
        self, stream: RecordedStream, dialect: Dialect, raw: bytes, *, belongs: bool
    ) -> _Found | None:
        """In that stream, or in a fork of it; None for a side call."""
        while True:
            if stream.is_foreign and not stream.open:
                stream.is_foreign = not self._holds_all(stream, dialect, raw)
            if stream.open or stream.is_foreign:
                forked = self._forked(stream)
                if stream is self._own and stream.is_foreign:
                    self._own = forked  # the other one goes on there
                stream = forked
            asked, body = stream.read(dialect, raw)
            plan = stream.followed.plan(asked, belongs=belongs)
            if plan.kind == "side":
                return None
            if self._append(stream, plan, dialect, body):
                return stream, plan.position

    def _holds_all(self, stream: RecordedStream, dialect: Dialect, raw: bytes) -> bool:
        """Whether a request goes on behind all that stands there, whoever wrote it."""
        asked, _ = stream.read(dialect, raw)
        plan = stream.followed.plan(asked, belongs=True)
        changes = [draft.event for draft in plan.drafts[:-1]]
        return plan.kind == "call" and all(
            event.type == "tools_declared"
            or (isinstance(event, MessageAppended | ToolResultRecorded) and event.after is None)
            for event in changes
        )

    # -- writing --------------------------------------------------------------------------------

    def _append(self, stream: RecordedStream, plan: Plan, dialect: Dialect, body: Body) -> bool:
        """Append what was planned; False where another process was faster."""
        try:
            self._live.append(stream.key, *plan.drafts, expected_version=plan.version)
        except WrongExpectedVersion:
            stream.is_foreign |= stream.followed.catch_up() and stream.base > 0
            return False
        stream.followed.appended(plan)
        stream.base = plan.position
        stream.bodies.setdefault(dialect, Bodies(dialect)).take(body)
        stream.open.add(plan.position)
        return True

    def _stream(self, key: StreamKey, thread: Thread | None = None) -> RecordedStream:
        """A stream of that name, begun where it is new."""
        stream = RecordedStream(Followed(self._live, key), thread=thread)
        stream.followed.catch_up()
        if not stream.followed.version:
            parent = self._parent if key == self._home else str(self._home)
            started = SessionStarted(
                ownership="observed",
                parent_session=parent if self._is_named else "",
                parent_call=self._parent_call if key == self._home else "",
            )
            with suppress(WrongExpectedVersion):  # another process began it just now
                self._live.append(key, started, expected_version=0)
            stream.followed.catch_up()
        return stream

    def _forked(self, stream: RecordedStream) -> RecordedStream:
        """What goes on from the last place that a stream and a new request may share; a stream of
        its own where that is the beginning."""
        base = min(stream.open) - 1 if stream.open else stream.base
        key = self._free_name("~")
        if base <= 1:
            return self._stream(key, stream.thread)
        reason = "asked while another call of the session was open"
        if not stream.open:
            reason = "another process wrote to the session"
        self._live.log.fork(key, stream.key, base, ownership="observed", reason=reason)
        return self._stream(key, stream.thread)

    # -- names ----------------------------------------------------------------------------------

    def _thread_name(self, thread: Thread) -> StreamKey:
        """The session's own is the first conversation that is told, unless it was named."""
        number = thread.number + self._is_named
        if number == 1 and not self._live.log.exists(self._home):
            return self._home
        return self._free_name(".")

    def _free_name(self, separator: str) -> StreamKey:
        user, agent, session = self._home
        for number in count(2):
            key = StreamKey(user, agent, f"{session}{separator}{number}")
            if not self._live.log.exists(key):
                return key
        raise AssertionError


_Found = tuple[RecordedStream, int]
