"""One conversation, as far as its next request is told by it; and what the two share. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple

from harness.exchange.asks import END, Ask, Keys, Said

MARKS = 128
"""Newest messages of a conversation that are remembered, and ids of its calls."""

PUT_BEFORE = 2
"""Messages that stand for what was cut: a summary, and maybe that it was understood."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class Thread:
    """One conversation."""

    number: int
    """In its group; 1 is the group's own."""
    group: str
    opening: Keys
    """The messages of its first request."""
    begun_with: frozenset[bytes]
    """The same, to look into."""
    text: tuple[int, bytes, bool]
    """Of the text of the first one its length, a digest, and whether it ends in white space."""
    system: frozenset[bytes]
    """Of its last request, as are the prompt and the tools."""
    prompt: str
    tools: frozenset[str]
    small: int
    """Messages of its first request; 0 once one had another number of them."""
    asked: Keys | None = None
    """Its last request, as long as it is small."""
    firsts: set[bytes] = field(default_factory=set)
    """The first messages of its requests."""
    again: int = 0
    """How often it began again."""
    end: tuple[bytes, ...] = ()
    """The newest messages of its last request."""
    is_answered: bool = False
    """Whether an answer came back to its last request."""
    last: frozenset[bytes] = frozenset()
    """What came back last."""
    marks: dict[bytes, int] = field(default_factory=dict)
    """Its newest messages and the ids of its calls, by when they came."""
    count: int = 0
    """Of all messages that ever came."""
    begun_at: int = 0
    """How many requests of its group there were before its first, and its last one."""
    asked_at: int = 0
    is_read: bool = False
    """Whether it was read from the log, and was not asked for since."""
    place: Any = None
    """Where it stands, for whoever follows it."""

    @classmethod
    def begun(cls, number: int, group: str, ask: Ask) -> Thread:
        """With its first request, which is not taken in yet."""
        opened = frozenset([ask.first, *(each.key for each in ask.said)])
        text = (len(ask.opening), _digest(ask.opening), ask.opening[-1:].isspace())
        return cls(
            number, group, ask.keys, opened, text, ask.system, ask.prompt, ask.tools, ask.size
        )

    def branch(self, number: int) -> Thread:
        """Another conversation that goes on from here."""
        marks, firsts = dict(self.marks), set[bytes]()
        return replace(self, number=number, marks=marks, firsts=firsts, place=None)

    def ask(self, ask: Ask) -> None:
        """Its next request."""
        if ask.size != self.small:
            self.small = 0
        self.system, self.prompt, self.tools = ask.system, ask.prompt, ask.tools
        self.asked = ask.keys if self.small else None
        self.end, self.is_answered, self.is_read = ask.end, False, False
        self.take(ask.said)

    def go_on(self, said: Sequence[Said]) -> None:
        """Its next request, which repeats all before it: what is new there."""
        if said:
            self.small, self.asked = 0, None
        self.end = (*self.end, *(each.key for each in said))[-END:]
        self.is_answered = False
        self.take(said)

    def answer(self, said: Sequence[Said]) -> None:
        """What came back to its last request."""
        self.take(said)
        self.is_answered = True
        self.last = frozenset(mark for each in said for mark in (each.key, *each.ids))

    def take(self, said: Iterable[Said]) -> None:
        """Messages, the newest last."""
        for each in said:
            self.count += 1
            for mark in (each.key, *each.ids):
                self.marks.pop(mark, None)
                self.marks[mark] = self.count
        for mark in list(islice(self.marks, max(0, len(self.marks) - MARKS))):
            del self.marks[mark]

    def grows_in(self, ask: Ask) -> bool:
        """Whether the text of its first message stands at the front of a longer one, as with agents
        that keep all in one text."""
        size, digest, is_closed = self.text
        rest = ask.opening[size : size + 1]
        return (
            bool(rest) and (is_closed or rest.isspace()) and _digest(ask.opening[:size]) == digest
        )


class Shared(NamedTuple):
    """What a request shares with a conversation; it belongs where that is the greatest."""

    is_next: bool
    """Whether its newest answer is what came back last, and it is not asked yet what follows."""
    answers: int
    others: int
    age: int
    """How much came after the newest that it shares; below 0."""


def shared(thread: Thread, ask: Ask, *, is_busy: bool = False) -> tuple[Shared, bool]:
    """What they share, and whether that is enough to say that it goes on there: an answer or a call
    that came after its first request, and is in no other conversation by chance.

    ``is_busy``: its last request is still being answered.
    """
    opening = thread.begun_with
    answers = others = unknown = strange = strangers = at = 0
    is_grown = is_sure = False
    for each in ask.said:
        marks = [thread.marks[mark] for mark in (each.key, *each.ids) if mark in thread.marks]
        if not marks and each.key not in opening:
            unknown += each.is_answer
            strangers += 1
            continue
        answers += each.is_answer
        others += not each.is_answer
        strange, at = strange + strangers, max(at, *marks, 0)
        strangers = 0
        if each.key not in opening and (each.is_answer or each.ids):
            is_grown = True
            is_sure |= each.is_sure
    newest = ask.newest_answer
    is_next = (
        newest is not None
        and not thread.last.isdisjoint((newest.key, *newest.ids))
        and not is_busy
        and not (thread.is_answered and thread.end == ask.end)
    )
    is_enough = is_grown and (
        is_sure
        or ask.first in thread.firsts
        or not strange
        or (is_next and strange <= PUT_BEFORE and not thread.is_read)
        or (answers + others > 1 and unknown < answers)
    )
    return Shared(is_next, answers, others, at - thread.count), is_enough


def _digest(text: str) -> bytes:
    return sha256(text.encode(errors="replace")).digest()[:16]
