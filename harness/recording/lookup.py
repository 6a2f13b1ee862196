"""Conversations of the log that nobody holds in memory: a recorder was started again, an agent is a
process for each turn, or there were too many meanwhile.

One is found by its last answer, which a request that goes on with it holds. What is read of it is
its last answered request; whether this one goes on from there is told as ever (``threads``).
"""

from __future__ import annotations

import re
from uuid import uuid4
from weakref import WeakValueDictionary

from eventlog.errors import CtxlogError
from eventlog.recorded import StreamKey
from harness.exchange.asks import Ask, answered, ask_of
from harness.exchange.thread import Thread
from harness.exchange.threads import Threads
from harness.recording.streams import DAMAGED
from projections import Live
from projections.last_answers import LastAnswer, last_answers
from projections.proof import request_of
from projections.sent import Requests

_MOST = 8
"""Conversations that are read for one request, those begun last: many end with the same words."""

_IN_VAIN = 256
"""Answers that were not found, and are not looked for again."""

_MADE = re.compile(r"[0-9a-f]{12}([.~]\d+)*")


def made_name() -> str:
    """The name of a session that nobody named."""
    return uuid4().hex[:12]


class Lookup:
    """Of those that have one name, or that nobody named."""

    def __init__(self, live: Live, threads: Threads, home: StreamKey, *, is_named: bool) -> None:
        self._live = live
        self._threads = threads
        self._home = home
        self._is_named = is_named
        self.known: WeakValueDictionary[StreamKey, Thread] = WeakValueDictionary()
        """The conversations that are in memory, by where they stand."""
        self._in_vain: dict[bytes, None] = {}

    def read(self, ask: Ask) -> list[Thread]:
        """Take in those whose last answer is one of those in a request."""
        newest = ask.newest_answer
        if newest is None or newest.key in self._in_vain:
            return []
        wanted = {mark for each in ask.said if each.is_answer for mark in (each.key, *each.ids)}
        found: list[Thread] = []
        for last in last_answers(self._live, self._home.user, self._home.agent):
            if last.stream in self.known or not self._is_ours(last.stream.session):
                continue
            try:
                said = answered(last.dialect, last.message)
            except DAMAGED:
                continue
            if all(wanted.isdisjoint((each.key, *each.ids)) for each in said):
                continue
            thread = self._read(last)
            if thread is not None:
                found.append(thread)
            if len(found) == _MOST:
                break
        if not found:
            self._in_vain[newest.key] = None
            if len(self._in_vain) > _IN_VAIN:
                del self._in_vain[next(iter(self._in_vain))]
        return found

    def _is_ours(self, session: str) -> bool:
        own = self._home.session
        if not self._is_named:
            return _MADE.fullmatch(session) is not None
        return session == own or session.startswith((f"{own}~", f"{own}."))

    def _read(self, last: LastAnswer) -> Thread | None:
        """A conversation as its last answered call left it; None where that cannot be read."""
        try:
            (call,) = self._live.log.at(last.stream, [last.call]).values()
            body = Requests(self._live).sent(last.stream, call).body
            ask = ask_of(request_of(last.dialect, body))
        except (CtxlogError, *DAMAGED):  # some of it was erased, or cannot be read
            return None
        thread = self.known[last.stream] = self._threads.begin(ask)
        self._threads.answered(thread, last.dialect, last.message)
        thread.place, thread.is_read = (last.stream, 0), True
        return thread
