"""Which conversation of a log a request belongs to.

A recorder between an agent and its model writes down whatever passes: conversations side by side,
maybe of one task, their sub-agents, and small questions in between (a title, a topic, a quota). The
requests of one conversation repeat it, or the end of it, so they are told by what they share, among
those that are asked alike: the same tools by name, or the same system prompt, up to blocks that
change.

1. What came into a conversation after its first request tells most: its answers, the ids of its
   calls, its messages. A request belongs where its newest answer is what came back last, and else
   where most of its newest messages stand.
2. A request with nothing of that is a first one. The same again is a retry where there was no
   answer, and else the same task set anew. One that is longer and begins with the same message, or
   with a summary that was answered before, goes on; or nothing but the session's name is left.

Small questions without tools, asked alike and never answered into a longer conversation, are one
conversation that begins again each time. What a request is told to belong to depends on those
before it only, so that a log that grew is read as before. Pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

from eventlog import messages
from eventlog.messages import SYSTEM_ROLES
from harness.exchange.asks import Ask, answered
from harness.exchange.thread import Shared, Thread, shared
from projections.changes import SAME_PROMPT, is_alike
from projections.observe import Request
from projections.said_again import lines_of, repeats

RECENT = 128
"""Conversations of a group, those asked last, that a request may go on."""

AGAIN = 100
"""Small questions of one conversation; a rewind folds its stream anew, so the next is another."""

SUMMARIES = 8
"""Latest answers of a group that a first message may be the summary of."""

How = Literal["new", "on", "again"]
"""A new conversation; one that goes on; a small one that begins again."""


class Found(NamedTuple):
    """Where a request belongs."""

    thread: Thread | None
    """None for a new conversation."""
    how: How
    is_shared: bool = False
    """Whether it holds what came in there after the first request."""
    others: tuple[Thread, ...] = ()
    """Where it may belong as well: nothing in it tells them apart."""


NEW = Found(None, "new")
"""A conversation that nothing is known of."""


class Threads:
    """The conversations of one log.

    ``joins_small``: small questions asked alike are one conversation that begins again each time.
    Without it each is one of its own: while they are being asked nobody knows which goes on.
    ``most``: how many are remembered, those asked last; all of them where nobody says.
    """

    def __init__(self, *, joins_small: bool = True, most: int | None = None) -> None:
        self._groups: dict[str, _Group] = {}
        self._joins_small = joins_small
        self._most = most
        self._order: dict[Thread, None] = {}
        """All that are remembered, the one that was asked last at the end."""

    def place(self, ask: Ask, *, is_task: bool = False) -> tuple[Thread, How]:
        """The conversation of the next request, which is taken in; its answer is told with
        ``answered``.

        ``is_task``: it begins with what a model told a tool to ask, as a sub-agent does.
        """
        thread, how, *_ = self.find(ask, is_task=is_task)
        if thread is None:
            return self.begin(ask), how
        thread.again += how == "again"
        self.asked(thread, ask)
        return thread, how

    def find(self, ask: Ask, *, is_task: bool = False, busy: Collection[Thread] = ()) -> Found:
        """Where a request belongs; nothing is taken in. ``busy``: those that wait for an answer."""
        return self._group(ask.session).find(ask, is_task, busy)

    def begin(self, ask: Ask, base: Thread | None = None) -> Thread:
        """A new conversation with its first request, maybe one that goes on from another."""
        thread = self._group(ask.session).begin(ask, base)
        self._moved(thread)
        return thread

    def asked(self, thread: Thread, ask: Ask) -> None:
        """The next request of a conversation."""
        self._group(thread.group).asked(thread, ask)
        self._moved(thread)

    def went_on(self, thread: Thread, new: Ask) -> None:
        """The same where it repeats all before it: only what is new there is given."""
        self._group(thread.group).went_on(thread, new)
        self._moved(thread)

    def holds_answer(self, thread: Thread, ask: Ask) -> bool:
        """Whether most of a late answer of a conversation stands in the first message."""
        return self._group(thread.group).sums_up(ask, thread)

    def answered(self, thread: Thread, dialect: str, message: Mapping[str, Any]) -> None:
        """What came back to the last request of a conversation, as it is sent back."""
        thread.answer(answered(dialect, message))
        lines = lines_of(messages.text(dialect, message))
        if lines:
            self._group(thread.group).said.append((thread, lines))

    def said(self) -> list[list[str]]:
        """Lines of the latest answers."""
        return [lines for group in self._groups.values() for _, lines in group.said]

    def _group(self, name: str) -> _Group:
        found = self._groups.get(name)
        if found is None:
            found = self._groups[name] = _Group(name, self._joins_small)
        return found

    def _moved(self, thread: Thread) -> None:
        """It was asked just now; the one for which that is longest ago may be forgotten."""
        self._order.pop(thread, None)
        self._order[thread] = None
        while self._most is not None and len(self._order) > self._most:
            oldest = next(iter(self._order))
            del self._order[oldest]
            if self._group(oldest.group).forget(oldest):
                del self._groups[oldest.group]


def opening_of(request: Request) -> Mapping[str, Any]:
    """The first message that is no system prompt; an empty one where there is none."""
    return next((e.message for e in request.entries if e.role not in SYSTEM_ROLES), {})


class _Group:
    """The conversations that name one session, or none."""

    def __init__(self, name: str, joins_small: bool) -> None:
        self._joins_small = joins_small
        self.said: deque[tuple[Thread, list[str]]] = deque(maxlen=SUMMARIES)
        """Latest answers, by lines."""
        self._name = name
        self._count = 1 if name else 0
        self._requests = 0
        self._own: Thread | None = None
        self._threads: dict[int, Thread] = {}
        """The one that was asked last at the end."""
        self._by_first: dict[bytes, dict[int, Thread]] = {}
        """Those with that first message in some request of theirs."""

    # -- taking in ------------------------------------------------------------------------------

    def begin(self, ask: Ask, base: Thread | None) -> Thread:
        """A new conversation. Where the session has a name, its own is the first with tools."""
        number = 1
        if not self._name or self._own is not None or not ask.tools:
            self._count += 1
            number = self._count
        thread = base.branch(number) if base else Thread.begun(number, self._name, ask)
        if self._name and number == 1:
            self._own = thread
        thread.begun_at = self._requests
        self.asked(thread, ask)
        return thread

    def asked(self, thread: Thread, ask: Ask) -> None:
        """Its next request."""
        thread.ask(ask)
        self._moved(thread, ask.first)

    def went_on(self, thread: Thread, ask: Ask) -> None:
        """Its next request, of which only the end is given."""
        thread.go_on(ask.said)
        self._moved(thread, *thread.firsts)

    def _moved(self, thread: Thread, *firsts: bytes) -> None:
        self._requests += 1
        thread.asked_at = self._requests
        thread.firsts.update(firsts)
        self._threads.pop(thread.number, None)
        self._threads[thread.number] = thread
        for first in firsts:
            known = self._by_first.setdefault(first, {})
            known.pop(thread.number, None)
            known[thread.number] = thread

    def forget(self, thread: Thread) -> bool:
        """Take a conversation out; whether none is left."""
        del self._threads[thread.number]
        for first in thread.firsts:
            del self._by_first[first][thread.number]
            if not self._by_first[first]:
                del self._by_first[first]
        return not self._threads

    # -- finding --------------------------------------------------------------------------------

    def find(self, ask: Ask, is_task: bool, busy: Collection[Thread]) -> Found:
        """Where a request belongs."""
        begun = _alike(self._by_first.get(ask.first, {}), ask)
        small = _small(begun, ask) if self._joins_small else None
        if small is not None:
            return Found(small, "again")
        alike = _alike(self._threads, ask)
        counted = [
            (shared(thread, ask, is_busy=thread in busy), thread)
            for thread in dict.fromkeys([*begun, *alike])
        ]
        enough = [(found, thread) for (found, is_enough), thread in counted if is_enough]
        if enough:
            return _best(enough, is_shared=True)
        if begun:
            return self._first_again(begun, ask, busy)
        if is_task:
            return NEW
        went_on = [t for t in alike if not t.small and (ask.tools or not t.tools)]
        if went_on and self.sums_up(ask):
            found = [thread for thread in went_on if self.sums_up(ask, thread)] or went_on
            found.sort(key=lambda thread: thread.tools != ask.tools)
            beside = [thread for thread in found[1:] if thread.asked_at > found[0].begun_at]
            return Found(found[0], "on", others=tuple(beside))
        if self._own in alike and self._is_own(ask):
            return Found(self._own, "on")
        small = _small(alike, ask) if self._joins_small else None
        return Found(small, "again") if small is not None else NEW

    def _first_again(self, begun: list[Thread], ask: Ask, busy: Collection[Thread]) -> Found:
        """A first request that begins as others did: again, anew, or with something behind it."""
        same = [thread for thread in begun if thread.opening == ask.keys]
        once = [thread for thread in same if thread.small]
        for thread in once:
            if not thread.is_answered and thread not in busy:
                return Found(thread, "on")
        if same:
            is_small = self._joins_small and not ask.tools
            return Found(once[0], "on") if is_small and once else NEW
        longer = [thread for thread in begun if ask.size > thread.opening[0]]
        if not longer and self.sums_up(ask):
            longer = begun
        if not longer:
            return NEW
        return _best([(shared(thread, ask)[0], thread) for thread in longer], is_shared=False)

    def _is_own(self, ask: Ask) -> bool:
        """Whether it is the session's own, asked for in all that is fixed: one that begins anew in
        the same session was compacted in a way that left nothing to tell it by."""
        own = self._own
        if own is None or not ask.tools or own.tools != ask.tools:
            return False
        return _same_system(own, ask)

    def sums_up(self, ask: Ask, thread: Thread | None = None) -> bool:
        """Whether most of an earlier answer, maybe of that conversation, stands in the first
        message."""
        return any(
            repeats(ask.opening, lines) for by, lines in self.said if thread is None or by is thread
        )


def _alike(threads: dict[int, Thread], ask: Ask) -> list[Thread]:
    """Those that were asked alike, the last first."""
    found = []
    for thread in islice(reversed(threads.values()), RECENT):
        same = _same_system(thread, ask)
        if ask.tools or thread.tools:
            same = ask.tools == thread.tools or (bool(ask.system) and same)
        if same:
            found.append(thread)
    return found


def _small(threads: Sequence[Thread], ask: Ask) -> Thread | None:
    """The one whose requests all were as small as this, with another question: nothing of what is
    new in it was there before, and it was never gone on with."""
    for thread in threads:
        if ask.tools or thread.tools or ask.size != thread.small:
            continue
        if thread.again >= AGAIN or thread.asked is None:
            continue
        if ask.size > 2 and ask.first != thread.asked[1]:
            continue
        if ask.keys != thread.asked:
            return thread
    return None


def _best(counted: Sequence[tuple[Shared, Thread]], *, is_shared: bool) -> Found:
    """The one that it shares most with; of those that share as much the first."""
    most, best = max(counted, key=lambda each: each[0])
    others = (thread for found, thread in counted if found[:3] == most[:3] and thread is not best)
    return Found(best, "on", is_shared, tuple(others))


def _same_system(thread: Thread, ask: Ask) -> bool:
    one, other = thread.system, ask.system
    if one == other or 2 * len(one & other) >= max(len(one), len(other), 1):
        return True
    return is_alike(thread.prompt, ask.prompt, SAME_PROMPT)
