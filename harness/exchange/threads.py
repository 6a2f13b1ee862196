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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(slots=True)
class Ask:
    """What of a request is looked at."""

    messages: Sequence[Mapping[str, Any]]
    """Without the system prompt; each tool result is one of them."""
    system: frozenset[bytes]
    tools: frozenset[str]
    first: bytes


@dataclass(slots=True)
class Thread:
    """One conversation, as far as its next request is told by it."""

    number: int
    """In its group; 1 is the group's own."""
    group: str
    ask: Ask
    """Its last request."""
    small: int
    """Messages of its first request; 0 once one had another number of them."""
    opening: tuple[bytes, ...]
    """What its first request held."""
    again: int = 0
    """How often it began again."""
    answer: Any = None
    """What came back to its last request."""


class Threads:
    """The conversations of one log.

    ``joins_small``: small questions asked alike are one conversation that begins again each time.
    Without it each is one of its own: while they are being asked nobody knows which goes on.
    """

    def __init__(self, *, joins_small: bool = True) -> None:
        self._groups: dict[str, _Group] = {}
        self._joins_small = joins_small

    def place(self, request: Request, *, is_task: bool = False) -> tuple[Thread, How]:
        """The conversation of the next request; its answer is told with ``answered``.

        ``is_task``: it begins with what a model told a tool to ask, as a sub-agent does.
        """
        name = session_of(request.parameters)
        group = self._groups.setdefault(name, _Group(name, self._joins_small))
        return group.place(_ask(request), is_task)

    def answered(self, thread: Thread, message: Mapping[str, Any]) -> None:
        """What came back to the last request of a conversation, as it is sent back."""
        thread.answer = message
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
        if len(ask.messages) != found.small:
            found.small = 0
        if how == "again":
            found.again += 1
        found.ask, found.answer = ask, None
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
        thread = Thread(number, self._name, ask, len(ask.messages), _keys(ask))
        self._asked(thread)
        return thread

    def _asked(self, thread: Thread) -> None:
        self._threads.pop(thread.number, None)
        self._threads[thread.number] = thread
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
            goes_on = known.small or len(ask.messages) != len(known.opening)
            return (known, "on") if goes_on or _keys(ask) != known.opening else (None, "new")
        if is_task:
            return None, "new"
        alike = _alike(self._threads, ask)
        found = _most(alike, ask, only_answers=True) if len(ask.messages) > 1 else None
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
    )


def _name(tool: Any) -> str:
    """The name of a tool; OpenAI's have it inside."""
    if not isinstance(tool, Mapping):  # a request that its provider will refuse
        return ""
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
        if ask.tools or thread.ask.tools or len(ask.messages) != thread.small:
            continue
        if thread.again >= AGAIN:
            continue
        if len(ask.messages) > 2 and ask.first != thread.ask.first:
            continue
        if _keys(ask) != _keys(thread.ask):
            return thread
    return None


def _most(threads: Sequence[Thread], ask: Ask, *, only_answers: bool = False) -> Thread | None:
    """The one that the request holds most messages of; None where it holds none.

    ``only_answers``: only answers count, and only those that are not short.
    """
    if len(threads) == 1 and not only_answers:
        return threads[0]
    best, most = None, 0
    counted = [m for m in ask.messages if not only_answers or _is_specific(m)]
    keys = list(map(_key, counted))
    for thread in threads if keys else ():
        known = set(map(_key, [*thread.ask.messages, thread.answer]))
        shared = sum(key in known for key in keys)
        if shared > most:
            best, most = thread, shared
    return best


def _is_specific(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "assistant" and len(forms.canonical(message)) >= _SPECIFIC


def _same_system(one: frozenset[bytes], other: frozenset[bytes]) -> bool:
    return one == other or 2 * len(one & other) >= max(len(one), len(other), 1)


def _keys(ask: Ask) -> tuple[bytes, ...]:
    return tuple(map(_key, ask.messages))


def _key(message: Any) -> bytes:
    return sha256(forms.canonical(forms.normalise(message)).encode()).digest()[:16]


def _text(message: Mapping[str, Any]) -> str:
    return shared_text(message.get("content"))
