"""Which stream a request belongs to.

A client serves one conversation, or many, and asks small questions in between. What is known of a
request is its bytes, and maybe a session that its caller named. So, in this order:

1. It begins with all of a conversation's last request and goes on with the answer: that one.
2. It holds what came into a conversation after its first request: that one, however it was cut
   (``threads``). Conversations that are not held in memory are looked up in the log
   (``lookup``).
3. The caller named the session: it is the session's own conversation, whatever was cleared, cut or
   compacted in it; unless nothing of that is there, and it is asked in another way (a side call),
   or the own conversation is a single call as well, or waits for an answer.
4. Else it begins a conversation, or begins one again, as in a log of requests (``threads``).

A stream is written by one conversation at a time. Where a call of it is still open, or another
process wrote to it meanwhile, and the request does not go on from there, it goes on in a fork, from
the last place that both have. The append of its first call begins a stream and takes its name: none
is without a call, and two processes never take the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

from eventlog.errors import CriticalUnknown, OutcomeUnknown
from eventlog.messages import Dialect
from eventlog.recorded import Draft, StreamKey
from harness.exchange.asks import Ask, ask_of
from harness.exchange.thread import Thread
from harness.exchange.threads import NEW, Found, Threads
from harness.recording.bodies import Bodies, Body
from harness.recording.lookup import Lookup
from harness.recording.posted import Posted, asked_of
from harness.recording.streams import DAMAGED, Doubt, RecordedStream
from projections import Live
from projections.followed import MESSAGES, Asked, Plan
from projections.proof import request_of
from projections.reading import calls_of

RECENT = 64
"""Conversations that are held in memory: their last requests are compared with a new one. Another
one is read from the log when it goes on."""

MOST_HELD = 64 << 20
"""Bytes of the last requests of conversations that are held in memory, beside the one that is being
asked; with what was read of them that is five times as much."""

MOST_TOLD = 1024
"""Conversations of which it is remembered what a request is told by. Another one is looked up."""

_NEAR = 4
"""Conversations, asked last, whose last request may stand at the front of another one."""

_OTHERS = 8
"""Sessions to which a call may belong as well that are told."""


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
        self.held = 0
        """Bytes of the last requests of its conversations."""
        self._doubt: Doubt | None = None
        self._threads = Threads(joins_small=False, most=MOST_TOLD)
        self._own: RecordedStream | None = None
        self._recent: dict[StreamKey, RecordedStream] = {}
        """The one that was asked last at the end."""
        self._numbers: dict[str, int] = {}
        """By separator: the number of the first name beside the session's that may be free."""
        self._lookup = Lookup(live, self._threads, home, is_named=is_named)

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
        found = self._settled(posted) or self._going_on(posted) or self._placed(posted)
        stream = found[0]
        before = self._recent.pop(stream.key, stream)
        if before is not stream:
            self.held -= before.held
        self._recent[stream.key] = stream
        self._forget()
        return found

    def _forget(self) -> None:
        if len(self._recent) <= RECENT and self.held <= MOST_HELD:
            return
        for key, stream in list(self._recent.items())[:-1]:
            if len(self._recent) <= RECENT and self.held <= MOST_HELD:
                return
            if not stream.open and stream is not self._own:
                if stream.thread is not None:
                    stream.thread.place = key, stream.base
                del self._recent[key]
                self.held -= stream.held

    def home(self) -> RecordedStream:
        """The session's own stream as it stands now, whoever wrote to it: who asks reads it, and
        goes on from there."""
        own = self._own
        if own is None or own.key != self._home:
            own = self._own = self._recent.get(self._home) or self._home_stream()
            own.begin(self._live)
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

    def answered(
        self, stream: RecordedStream, dialect: Dialect, message: Mapping[str, Any]
    ) -> None:
        """What came back to the last request of a stream, as it is sent back."""
        for bodies in stream.bodies.values():
            bodies.settle()
        if stream.thread is not None:
            self._threads.answered(stream.thread, dialect, message)

    def inherited(self) -> None:
        """In a child after ``fork()``: its parent goes on with everything that is under way, and
        this process from the last places before that."""
        self._doubt = None
        for stream in self._recent.values():
            if stream.open:
                stream.base = min(stream.open) - 1
                stream.is_foreign = True
                stream.open.clear()

    # -- finding the stream ---------------------------------------------------------------------

    def _going_on(self, posted: Posted) -> _Placed | None:
        """The conversation whose last request and answer stand at its front."""
        dialect, raw = posted.dialect, posted.body
        known = [s for s in reversed(self._recent.values()) if not s.open and dialect in s.bodies]
        going = [stream for stream in known if stream.goes_on(posted)]
        # First the one of which most stands in it; of those that are the same, who waits longest.
        for stream in sorted(reversed(going), key=lambda s: -len(s.bodies[dialect].last.raw)):
            said = stream.bodies[dialect].last.raw
            same = [s for s in going if s is not stream and s.bodies[dialect].last.raw == said]
            placed = self._on(stream, posted, same)
            if placed is not None:
                return placed
        common = [(stream.bodies[dialect].in_common(raw), stream) for stream in known[:_NEAR]]
        most = max((size for size, _ in common), default=0)
        nearest = [stream for size, stream in common if size == most]
        return self._on(nearest[-1], posted, nearest[:-1]) if nearest else None

    def _on(
        self, stream: RecordedStream, posted: Posted, same: Sequence[RecordedStream] = ()
    ) -> _Placed | None:
        """In that stream, where it goes on from there and only its end is new. ``same``: those that
        were asked the same last; the call says so where it goes on from there as well."""
        asked, body = stream.read(posted)
        while (plan := stream.followed.going_on(asked)) is not None:
            others = [s.key for s in same if s.followed.going_on(s.read(posted)[0]) is not None]
            if self._called(stream, plan, body, posted.dialect, plan.doubted(others[:_OTHERS])):
                if stream.thread is not None:
                    new = {MESSAGES[asked.dialect]: list(asked.messages[asked.kept :])}
                    self._threads.went_on(stream.thread, ask_of(request_of(asked.dialect, new)))
                return stream, plan.position
        return None

    def _placed(self, posted: Posted) -> _Placed:
        """Where it belongs by what it holds, or by its name."""
        asked = asked_of(posted, Bodies(posted.dialect).read(posted.body))
        ask = ask_of(request_of(posted.dialect, asked.body))
        if self._is_named and self._own is None:
            self._own = self._readable(self._home_stream)
        found = self._found(ask)
        if self._own is None:
            placed = self._in(self._stream(found), posted, found, belongs=True)
        else:
            placed = self._named(self._own, posted, asked, ask, found)
        assert placed is not None
        self._asked(placed[0], ask)
        return placed

    def _asked(self, stream: RecordedStream, ask: Ask) -> None:
        """It was asked that."""
        if stream.thread is None:
            self._follow(stream, self._threads.begin(ask, stream.like))
        else:
            self._threads.asked(stream.thread, ask)

    def _called(
        self,
        stream: RecordedStream,
        plan: Plan,
        body: Body,
        dialect: Dialect,
        drafts: Sequence[Draft],
    ) -> bool:
        """Append what was planned; False where another process was faster."""
        try:
            is_done = stream.call(self._live, plan, body, dialect, drafts)
        except OutcomeUnknown:
            self._doubt = Doubt(stream, plan, body, dialect)
            raise
        if is_done:
            self._hold(stream, body)
        return is_done

    def _hold(self, stream: RecordedStream, body: Body) -> None:
        self.held += len(body.raw) - stream.held
        stream.held = len(body.raw)

    def _settled(self, posted: Posted) -> _Placed | None:
        """The call of which nobody could say whether it stands, where it does and is made again."""
        doubt = self._doubt
        if doubt is None:
            return None
        stands = doubt.stream.stands(self._live, doubt.plan.drafts[-1], doubt.plan.version)
        self._doubt = None  # not before: where the log cannot be read it stays in doubt
        if not stands or doubt.body.raw is not posted.body:
            return None
        doubt.stream.take(doubt.plan, doubt.body, doubt.dialect)
        self._hold(doubt.stream, doubt.body)
        asked = asked_of(posted, doubt.body)
        self._asked(doubt.stream, ask_of(request_of(doubt.dialect, asked.body)))
        return doubt.stream, doubt.plan.position

    def _follow(self, stream: RecordedStream, thread: Thread) -> None:
        """From here on the requests of a stream are told by that."""
        stream.thread, thread.place = thread, stream
        self._lookup.known[stream.key] = thread
        if not stream.was_single:
            thread.small = 0

    def _found(self, ask: Ask) -> Found:
        """The conversation that it belongs to, in memory or in the log."""
        busy = {stream.thread for stream in self._recent.values() if stream.open and stream.thread}
        found = self._threads.find(ask, busy=busy)
        read = self._lookup.read(ask) if not found.is_shared else []
        for thread in read:
            if self._own is not None and self._own.key == self._place(thread)[0]:
                self._follow(self._own, thread)
        return self._threads.find(ask, busy=busy) if read else found

    def _named(
        self,
        own: RecordedStream,
        posted: Posted,
        asked: Asked,
        ask: Ask,
        found: Found,
    ) -> _Placed | None:
        """In the session's own conversation, unless it belongs to another one, or to none."""
        is_own = found.thread is not None and found.thread is own.thread
        if is_own or not (found.is_shared or self._stands_alone(own, asked, ask)):
            told = found if is_own else NEW
            placed = self._in(own, posted, told, belongs=is_own and found.is_shared)
            if placed is not None:
                return placed
        beside = NEW if is_own else found
        return self._in(self._stream(beside), posted, beside, belongs=True)

    def _stands_alone(self, own: RecordedStream, asked: Asked, ask: Ask) -> bool:
        """Whether nothing of the session's own conversation is in a request, and that is a single
        call, too, or waits for an answer."""
        thread = own.thread
        if thread is None or not (own.open or (thread.small and thread.is_answered)):
            return False
        if thread.grows_in(ask) or self._threads.holds_answer(thread, ask):
            return False
        return not own.followed.shares(asked)

    def _in(
        self, stream: RecordedStream, posted: Posted, found: Found, *, belongs: bool
    ) -> _Placed | None:
        """In that stream, or in a fork of it; None for a side call."""
        others = [self._place(thread)[0] for thread in found.others]
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
            if stream.is_foreign and not stream.open:
                stream.is_foreign = not plan.only_adds
            if stream.open or stream.is_foreign:
                forked = self._forked(stream)
                if stream is self._own and stream.is_foreign:
                    self._own = forked  # the other one goes on there
                stream, belongs = forked, True
            elif self._called(stream, plan, body, posted.dialect, plan.doubted(others[:_OTHERS])):
                return stream, plan.position

    # -- streams --------------------------------------------------------------------------------

    def _stream(self, found: Found) -> RecordedStream:
        """That of a conversation; a new one where there is none."""
        thread = found.thread
        if thread is None:
            return self._new("" if self._is_unused() else ".")
        if not isinstance(thread.place, RecordedStream):
            load = partial(RecordedStream.loaded, self._live, *self._place(thread), thread)
            thread.place = self._readable(load)
            thread.place.thread = thread
        return thread.place

    def _readable(self, load: Callable[[], RecordedStream]) -> RecordedStream:
        """A stream of the log; one beside it where that cannot be read."""
        try:
            return load()
        except (CriticalUnknown, *DAMAGED):
            return self._new("~")

    @staticmethod
    def _place(thread: Thread) -> tuple[StreamKey, int]:
        """Where a conversation stands, and up to where it was written here."""
        place = thread.place
        return (place.key, place.base) if isinstance(place, RecordedStream) else place

    def _home_stream(self) -> RecordedStream:
        if self._live.log.exists(self._home):
            return RecordedStream.loaded(self._live, self._home)
        return self._new("")

    def _is_unused(self) -> bool:
        """Whether the session has no conversation of its own, and nobody named it."""
        return not self._is_named and not self._live.log.exists(self._home)

    def _new(self, separator: str) -> RecordedStream:
        """A stream of its own beside the session's, or that one."""
        parent, call = (str(self._home), "") if separator else (self._parent, self._parent_call)
        if not self._is_named:
            parent = call = ""
        return RecordedStream.new(self._live, partial(self._names, separator), parent, call)

    def _forked(self, stream: RecordedStream) -> RecordedStream:
        """What goes on from the last place that a stream and a new request may share; a stream of
        its own where that is the beginning."""
        base = min(stream.open) - 1 if stream.open else stream.base
        if base <= 1:
            return self._new("~")
        return RecordedStream.fork(self._live, partial(self._names, "~"), stream, base)

    def _names(self, separator: str) -> Iterator[StreamKey]:
        """The names that may be free, the first in front: the session's own, or those beside it."""
        if not separator:
            yield self._home
            if self._is_named:
                return
        user, agent, session = self._home
        separator = separator or "."
        for number in count(self._numbers.get(separator, 2)):
            self._numbers[separator] = number
            key = StreamKey(user, agent, f"{session}{separator}{number}")
            if not self._live.log.exists(key):
                yield key


_Placed = tuple[RecordedStream, int]
