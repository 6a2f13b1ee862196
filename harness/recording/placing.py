"""Which stream a request belongs to.

A client serves one conversation, or many, and asks small questions in between. What is known of a
request is its bytes, and maybe a session that its caller named. So, in this order:

1. It begins with all of a conversation's last request and goes on with the answer: that one.
2. The caller named the session: it is the session's own conversation, whatever was cleared, cut or
   compacted in it, unless nothing of it is there and it is asked in another way (a side call).
3. Else it is told by what it shares with those before it, as in a log of requests (``threads``).

A stream is written by one conversation at a time. Where a call of it is still open, or another
process wrote to it meanwhile, and the request does not go on from there, it goes on in a fork, from
the last place that both have. The name of a stream is taken by the append that begins it, so two
processes never take the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, islice
from types import MappingProxyType
from typing import Any, NamedTuple

from eventlog.errors import WrongExpectedVersion
from eventlog.events import Event, SessionStarted
from eventlog.messages import Dialect
from eventlog.recorded import Draft, StreamKey
from harness.exchange.secret_text import Withheld
from harness.exchange.threads import Thread, Threads
from harness.exchange.withheld import body_without_secrets
from harness.recording.bodies import Bodies, Body
from projections import Live
from projections.followed import Asked, Followed, Plan
from projections.proof import request_of
from projections.reading import calls_of

RECENT = 64
"""Conversations that are held in memory: their last requests are compared with a new one. Another
one is read from the log when it goes on."""


class Posted(NamedTuple):
    """A request that is about to go out."""

    dialect: Dialect
    body: bytes
    url: str = ""
    headers: Mapping[str, str] = MappingProxyType({})
    """Those that are kept."""


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
    untold: Dialect | None = None
    """That of its last request, as long as ``threads`` was not told of it."""
    is_foreign: bool = False
    """Whether another process wrote to it since its last call, and not only a note."""

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
        self._where: dict[tuple[str, int], tuple[StreamKey, int]] = {}
        """Of those that were told and are not held any more: where they stand, and up to where they
        were written here."""
        self._numbers: dict[str, Iterator[int]] = {}
        """By separator: the numbers of names beside the session's that were not tried yet."""

    @property
    def is_idle(self) -> bool:
        """Whether all its calls have ended."""
        return not any(stream.open for stream in self._recent.values())

    @property
    def newest(self) -> RecordedStream | None:
        """The one that was asked last."""
        return next(reversed(self._recent.values()), None)

    def begin(self, posted: Posted) -> tuple[RecordedStream, int]:
        """Record a call before its request goes out: in which stream, and at which position.

        Raises InputRefused for a body that is no request, and what an append raises.
        """
        found = self._going_on(posted)
        if found is None:
            found = self._named(posted) if self._is_named else self._told(posted)
        stream = found[0]
        self._recent.pop(stream.key, None)
        self._recent[stream.key] = stream
        self._forget()
        return found

    def _forget(self) -> None:
        for key in list(self._recent)[: max(0, len(self._recent) - RECENT)]:
            stream = self._recent[key]
            if not stream.open and stream is not self._own:
                self._tell(stream)
                if stream.thread is not None:
                    place = stream.thread.group, stream.thread.number
                    self._where[place] = key, stream.base
                del self._recent[key]

    def _tell(self, stream: RecordedStream) -> None:
        """What a conversation was asked since it was told by what it shares."""
        dialect, stream.untold = stream.untold, None
        if dialect is not None and stream.thread is not None:
            last = stream.bodies[dialect].last
            asked = Asked(dialect, last.fields, last.messages, b"")
            self._threads.went_on(stream.thread, request_of(dialect, asked.body))

    def home(self) -> RecordedStream:
        """The session's own stream as it stands now, whoever wrote to it: who asks reads it, and
        goes on from there."""
        own = self._own
        if own is None or own.key != self._home:
            held = self._recent.get(self._home)
            own = self._own = held or self._begun(self._home) or self._loaded(self._home)
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

    def inherited(self) -> None:
        """In a child after ``fork()``: its parent goes on with everything that is under way, and
        this process from the last places before that."""
        for stream in self._recent.values():
            if stream.open:
                stream.base = min(stream.open) - 1
                stream.is_foreign = True
                stream.open.clear()

    # -- finding the stream ---------------------------------------------------------------------

    def _going_on(self, posted: Posted) -> _Found | None:
        """The conversation whose last request and answer stand at its front."""
        for stream in islice(reversed(self._recent.values()), RECENT):
            if stream.open or not stream.goes_on(posted):
                continue
            asked, body = stream.read(posted)
            while (plan := stream.followed.going_on(asked)) is not None:
                if self._append(stream, plan, posted.dialect, body):
                    stream.untold = posted.dialect
                    return stream, plan.position
        return None

    def _named(self, posted: Posted) -> _Found:
        """In the session's own conversation, unless it is no part of it."""
        if self._own is None:
            self._own = self._begun(self._home) or self._loaded(self._home)
        found = self._in(self._own, posted, belongs=False)
        return found if found is not None else self._told(posted)

    def _told(self, posted: Posted) -> _Found:
        """In the conversation that it shares most with."""
        for known_now in self._recent.values():
            self._tell(known_now)
        asked = asked_of(posted, Bodies(posted.dialect).read(posted.body))
        thread, how = self._threads.place(request_of(posted.dialect, asked.body))
        stream = None
        if how != "new":
            known = (s for s in reversed(self._recent.values()) if s.thread is thread)
            stream = next(known, None)
        if stream is None:
            place = self._where.get((thread.group, thread.number)) if how != "new" else None
            stream = self._loaded(*place, thread) if place else self._of_thread(thread)
        found = self._in(stream, posted, belongs=True)
        assert found is not None
        return found

    def _in(self, stream: RecordedStream, posted: Posted, *, belongs: bool) -> _Found | None:
        """In that stream, or in a fork of it; None for a side call."""
        while True:
            asked, body = stream.read(posted)
            is_told = belongs or (stream.base and not stream.open)
            if not is_told and stream.followed.items and not stream.followed.shares(asked):
                if stream.base:
                    return None  # it is no part of a conversation that goes on meanwhile
                # Somebody else's conversation has that name: nothing of this one is in it.
                stream = self._own = self._new("~")
                continue
            plan = stream.followed.plan(asked, belongs=belongs, said=self._threads.said())
            if plan.kind == "side":
                return None
            if stream.open or stream.is_foreign:
                forked = self._forked(stream)
                if stream is self._own and stream.is_foreign:
                    self._own = forked  # the other one goes on there
                stream, belongs = forked, True
            elif self._append(stream, plan, posted.dialect, body):
                return stream, plan.position

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

    def _begun(self, key: StreamKey, thread: Thread | None = None) -> RecordedStream | None:
        """A new stream of that name; None where there is one."""
        parent = self._parent if key == self._home else str(self._home)
        started = SessionStarted(
            ownership="observed",
            parent_session=parent if self._is_named else "",
            parent_call=self._parent_call if key == self._home else "",
        )
        try:
            self._live.append(key, started, expected_version=0)
        except WrongExpectedVersion:
            return None
        return self._loaded(key, 1, thread)

    def _loaded(
        self, key: StreamKey, base: int = 0, thread: Thread | None = None
    ) -> RecordedStream:
        """A stream as it stands in the log; up to ``base`` it was written here."""
        stream = RecordedStream(Followed(self._live, key), thread=thread, base=base)
        if base:
            stream.followed.catch_up(base)
        stream.is_foreign = stream.followed.catch_up() and base > 0
        return stream

    def _new(self, separator: str, thread: Thread | None = None) -> RecordedStream:
        """A stream of its own beside the session's."""
        names = self._names(separator)
        return next(made for key in names if (made := self._begun(key, thread)) is not None)

    def _forked(self, stream: RecordedStream) -> RecordedStream:
        """What goes on from the last place that a stream and a new request may share; a stream of
        its own where that is the beginning."""
        base = min(stream.open) - 1 if stream.open else stream.base
        if base <= 1:
            return self._new("~", stream.thread)
        reason = "asked while another call of the session was open"
        if not stream.open:
            reason = "another process wrote to the session"
        for key in self._names("~"):
            with suppress(WrongExpectedVersion):  # another process took the name just now
                made = self._live.log.fork(
                    key, stream.key, base, ownership="observed", reason=reason
                )
                return self._loaded(key, made.last, stream.thread)
        raise AssertionError

    def _of_thread(self, thread: Thread) -> RecordedStream:
        """A stream of a conversation that is told. The session's own is the first one, unless it
        was named."""
        own = thread.number == 1 and not self._is_named
        begun = self._begun(self._home, thread) if own else None
        return begun or self._new(".", thread)

    # -- names ----------------------------------------------------------------------------------

    def _names(self, separator: str) -> Iterator[StreamKey]:
        """The names beside the session's that may be free: none that was taken here."""
        user, agent, session = self._home
        numbers = self._numbers.setdefault(separator, count(2))
        for number in numbers:
            key = StreamKey(user, agent, f"{session}{separator}{number}")
            if not self._live.log.exists(key):
                yield key


def asked_of(posted: Posted, body: Body) -> Asked:
    """A request whose body was read; among its parameters there may be keys, of MCP servers for
    example, which are left out."""
    given = body.fields
    fields = body_without_secrets(given, Withheld())
    return Asked(
        posted.dialect,
        fields,
        body.messages,
        posted.body,
        kept=body.kept,
        same=body.same,
        end=body.end,
        front=len(body.front),
        url=posted.url,
        headers=posted.headers,
        is_whole=fields is given,
    )


_Found = tuple[RecordedStream, int]
