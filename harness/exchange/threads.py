"""Which conversation of a log a request belongs to.

A recorder between an agent and its model writes down whatever passes: the conversation, its
sub-agents side by side, and small questions in between (a title, a topic, a quota). The requests of
one conversation repeat it, so they are told by what they share:

* they are asked alike: the same tools by name, or the same system prompt, up to blocks that change;
* they begin with the same message (and not with all of its first request once it has gone on: that
  is the same task set anew), or share messages after a beginning that was cut or compacted,
  or begin with a summary that was answered before; or nothing but the session's name is left.

Small questions without tools, asked alike and never answered into a longer conversation, are one
conversation that begins again each time. What a request is told to belong to depends on those
before it only, so that a log that grew is read as before. Pure.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice, takewhile
from typing import Any, Literal

from eventlog.messages import SYSTEM_ROLES, shared_text
from projections import forms
from projections.observe import Request

_SESSION = re.compile(r"session_([0-9A-Za-z-]{8,80})\b")
_LINE = 40
"""Characters of a line that is long enough to be found again by its words."""

_SPECIFIC = 80
"""Characters of an answer, as JSON, that is not given to two conversations by chance."""

RECENT = 32
"""Conversations of a group, those asked last, that a request with a new beginning may go on."""

AGAIN = 100
"""Small questions of one conversation; a rewind folds its stream anew, so the next is another."""

SUMMARIES = 8
"""Latest answers of a group that a first message may be the summary of."""

How = Literal["new", "on", "again"]
"""A new conversation; one that goes on; a small one that begins again."""


_KEY = 8
"""Bytes of a message's key. Keys tell the conversations of one client apart and prove nothing."""


@dataclass(slots=True)
class Ask:
    """What of a request is looked at."""

    messages: Sequence[Mapping[str, Any]]
    """Without the system prompt; each tool result is one of them. Empty once it was made small."""
    system: frozenset[bytes]
    tools: frozenset[str]
    first: bytes
    """The key of the first message."""
    size: int = 0
    """How many messages there are."""
    _keys: bytes | None = field(default=None, repr=False)

    @property
    def keys(self) -> bytes:
        """The keys of its messages, one behind the other; made when they are first asked for."""
        if self._keys is None:
            self._keys = b"".join(map(_key, self.messages))
        return self._keys

    def shrink(self) -> None:
        """Keep the keys of its messages only."""
        self._keys, self.messages = self.keys, ()


@dataclass(slots=True, eq=False)
class Thread:
    """One conversation, as far as its next request is told by it."""

    number: int
    """In its group; 1 is the group's own."""
    group: str
    ask: Ask
    """Its last request."""
    small: int
    """Messages of its first request; 0 once one had another number of them."""
    opening: bytes
    """The keys of what its first request held."""
    again: int = 0
    """How often it began again."""
    answer: bytes = b""
    """The key of what came back to its last request."""
    begun: bytes = b""
    """The key of the first answer in it; nothing before there is one."""
    firsts: set[bytes] = field(default_factory=set)
    """The keys of the first messages of its requests; one that is cut begins with another."""

    @property
    def beginning(self) -> bytes:
        """What it is known by once it was forgotten: its first message and the first answer.
        Nothing before there is one: until then nobody can go on with it."""
        return sha256(self.ask.first + self.begun).digest()[:_KEY] if self.begun else b""


class Threads:
    """The conversations of one log.

    ``joins_small``: small questions asked alike are one conversation that begins again each time.
    Without it each is one of its own: while they are being asked nobody knows which goes on.
    ``forget`` takes out those that were not asked for longest.
    """

    def __init__(self, *, joins_small: bool = True) -> None:
        self._groups: dict[str, _Group] = {}
        self._joins_small = joins_small
        self._whole: dict[Thread, None] = {}
        """Those whose last request is held with its messages, the one that was asked last at the
        end; of the others there are keys."""
        self._order: dict[Thread, None] = {}
        """All of them, the one that was asked last at the end."""

    def place(self, request: Request, *, is_task: bool = False) -> tuple[Thread, How]:
        """The conversation of the next request; its answer is told with ``answered``.

        ``is_task``: it begins with what a model told a tool to ask, as a sub-agent does.
        """
        name = session_of(request.parameters)
        group = self._groups.setdefault(name, _Group(name, self._joins_small))
        thread, how = group.place(_ask(request), is_task)
        thread.begun = _first_answer(e.message for e in request.entries if e.role == "assistant")
        self._whole.pop(thread, None)
        self._whole[thread] = None
        while len(self._whole) > RECENT:
            oldest = next(iter(self._whole))
            oldest.ask.shrink()
            del self._whole[oldest]
        self._order[thread] = None
        self.asked(thread)
        return thread, how

    def asked(self, thread: Thread) -> None:
        """A conversation was asked just now, and told without this."""
        if thread in self._order:
            del self._order[thread]
            self._order[thread] = None

    def forget(self, most: int) -> list[Thread]:
        """Take out those that were not asked for longest, so that ``most`` are left."""
        gone = list(islice(self._order, max(0, len(self._order) - most)))
        for thread in gone:
            del self._order[thread]
            self._whole.pop(thread, None)
            if self._groups[thread.group].forget(thread):
                del self._groups[thread.group]
        return gone

    def answered(self, thread: Thread, message: Mapping[str, Any]) -> None:
        """What came back to the last request of a conversation, as it is sent back."""
        thread.answer = _key(message)
        parts = message.get("items")
        thread.begun = thread.begun or _first_answer(
            parts if isinstance(parts, list) else [message]
        )
        if thread not in self._order:
            return
        lines = [line.strip() for line in _text(message).split("\n")]
        lines = [line for line in lines if len(line) >= _LINE]
        if lines:
            self._groups[thread.group].said.append(lines)


def opening_of(request: Request) -> Mapping[str, Any]:
    """The first message that is no system prompt; an empty one where there is none."""
    return next((e.message for e in request.entries if e.role not in SYSTEM_ROLES), {})


def session_of(parameters: Mapping[str, Any]) -> str:
    """The session that the client names in its request, as Claude Code does; else nothing."""
    metadata = parameters.get("metadata")
    user = metadata.get("user_id") if isinstance(metadata, Mapping) else None
    if not isinstance(user, str):
        return ""
    if user.lstrip()[:1] == "{":
        try:
            named = json.loads(user)
        except (ValueError, RecursionError):
            return ""
        found = named.get("session_id") if isinstance(named, dict) else None
        return found if isinstance(found, str) else ""
    match = _SESSION.search(user)
    return match[1] if match else ""


class _Group:
    """The conversations that name one session, or none."""

    def __init__(self, name: str, joins_small: bool) -> None:
        self._joins_small = joins_small
        self.said: deque[list[str]] = deque(maxlen=SUMMARIES)
        self._name = name
        self._count = 1 if name else 0
        self._has_own = not name
        self._threads: dict[int, Thread] = {}
        """The one that was asked last at the end."""
        self._by_first: dict[bytes, dict[int, Thread]] = {}
        """Those with that first message in some request of theirs."""

    def place(self, ask: Ask, is_task: bool) -> tuple[Thread, How]:
        """Where a request belongs."""
        found, how = self._going_on(ask, is_task)
        if found is None:
            return self._opened(ask), "new"
        if ask.size != found.small:
            found.small = 0
        if how == "again":
            found.again += 1
        found.ask, found.answer = ask, b""
        self._asked(found)
        return found, how

    def _opened(self, ask: Ask) -> Thread:
        """A new conversation. Where the session has a name, its own is the first with tools."""
        number = 1
        if self._has_own or not ask.tools:
            self._count += 1
            number = self._count
        else:
            self._has_own = True
        thread = Thread(number, self._name, ask, ask.size, ask.keys)
        self._asked(thread)
        return thread

    def forget(self, thread: Thread) -> bool:
        """Take a conversation out; whether none is left."""
        self._threads.pop(thread.number, None)
        for first in thread.firsts:
            known = self._by_first[first]
            del known[thread.number]
            if not known:
                del self._by_first[first]
        return not self._threads

    def _asked(self, thread: Thread) -> None:
        self._threads.pop(thread.number, None)
        self._threads[thread.number] = thread
        thread.firsts.add(thread.ask.first)
        first = self._by_first.setdefault(thread.ask.first, {})
        first.pop(thread.number, None)
        first[thread.number] = thread

    def _going_on(self, ask: Ask, is_task: bool) -> tuple[Thread | None, How]:
        begun = _alike(self._by_first.get(ask.first, {}), ask)
        small = _small(begun, ask) if self._joins_small else None
        if small is not None:
            return small, "again"
        if begun:
            known = _most(begun, ask) or begun[0]
            goes_on = known.small or ask.size * _KEY != len(known.opening)
            return (known, "on") if goes_on or ask.keys != known.opening else (None, "new")
        if is_task:
            return None, "new"
        alike = _alike(self._threads, ask)
        found = _most(alike, ask, only_answers=True) if ask.size > 1 else None
        if found is None and alike and self._is_summary(ask):
            found = alike[0]
        if found is None and ask.tools:
            found = next((t for t in alike if self._is_own(t, ask)), None)
        if found is not None:
            return found, "on"
        return (_small(alike, ask) if self._joins_small else None), "again"

    def _is_own(self, thread: Thread, ask: Ask) -> bool:
        """Whether it is the session's own, asked for in all that is fixed: one that begins anew in
        the same session was compacted in a way that left nothing to tell it by."""
        if not self._name or thread.number != 1 or thread.ask.tools != ask.tools:
            return False
        return _same_system(thread.ask.system, ask.system)

    def _is_summary(self, ask: Ask) -> bool:
        """Whether most of an earlier answer stands in the first message."""
        opening = _text(ask.messages[0]) if ask.messages else ""
        return any(2 * sum(line in opening for line in lines) >= len(lines) for lines in self.said)


def _ask(request: Request) -> Ask:
    entries = request.entries
    leading = list(takewhile(lambda entry: entry.role in SYSTEM_ROLES, entries))
    blocks: list[Any] = []
    for entry in leading:
        content = entry.message.get("content")
        blocks += content if isinstance(content, list) else [content]
    messages = [entry.message for entry in entries[len(leading) :]]
    return Ask(
        messages,
        frozenset(map(_key, blocks)),
        frozenset(map(_name, request.tools if isinstance(request.tools, list) else [])),
        _key(messages[0]) if messages else b"",
        len(messages),
    )


def _name(tool: Mapping[str, Any]) -> str:
    """The name of a tool; OpenAI's have it inside."""
    inner = tool.get("function")
    return str(tool.get("name", inner.get("name") if isinstance(inner, Mapping) else None))


def _alike(threads: dict[int, Thread], ask: Ask) -> list[Thread]:
    """Those that were asked alike, the last first."""
    found = []
    for thread in islice(reversed(threads.values()), RECENT):
        before = thread.ask
        same = _same_system(before.system, ask.system)
        if ask.tools or before.tools:
            same = ask.tools == before.tools or (bool(ask.system) and same)
        if same:
            found.append(thread)
    return found


def _small(threads: Sequence[Thread], ask: Ask) -> Thread | None:
    """The one whose requests all were as small as this, with another question: nothing of what is
    new in it was there before, and it was never gone on with."""
    for thread in threads:
        if ask.tools or thread.ask.tools or ask.size != thread.small:
            continue
        if thread.again >= AGAIN:
            continue
        if ask.size > 2 and ask.first != thread.ask.first:
            continue
        if ask.keys != thread.ask.keys:
            return thread
    return None


def _most(threads: Sequence[Thread], ask: Ask, *, only_answers: bool = False) -> Thread | None:
    """The one that the request holds most messages of; None where it holds none.

    ``only_answers``: only answers count, and only those that are not short.
    """
    if len(threads) == 1 and not only_answers:
        return threads[0]
    best, most = None, 0
    keys = [
        key
        for message, key in zip(ask.messages, _each(ask.keys), strict=True)
        if not only_answers or _is_specific(message)
    ]
    for thread in threads if keys else ():
        known = {*_each(thread.ask.keys), thread.answer}
        shared = sum(key in known for key in keys)
        if shared > most:
            best, most = thread, shared
    return best


def _is_specific(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "assistant" and len(forms.canonical(message)) >= _SPECIFIC


def _same_system(one: frozenset[bytes], other: frozenset[bytes]) -> bool:
    return one == other or 2 * len(one & other) >= max(len(one), len(other), 1)


def _first_answer(said: Iterable[Mapping[str, Any]]) -> bytes:
    """The key of the first answer, or part of one, that every client sends back; nothing where
    there is none."""
    return next((_key(each) for each in said if each.get("type") != "reasoning"), b"")


def _each(keys: bytes) -> list[bytes]:
    return [keys[at : at + _KEY] for at in range(0, len(keys), _KEY)]


def _key(message: Any) -> bytes:
    return sha256(forms.canonical(forms.normalise(message)).encode()).digest()[:_KEY]


def _text(message: Mapping[str, Any]) -> str:
    return shared_text(message.get("content"))
