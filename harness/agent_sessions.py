"""The sessions of one agent: begun, gone on with, forked, named, hidden, purged, listed.

A session is a stream of the log, so nothing is kept here: what a method returned is durable, and
another process, or another tab, with the same log sees it. What is read before it is changed is
appended at the version that was read; a lost race is ``WrongExpectedVersion``, and whoever lost it
reads again.

The tools, the model and the system prompt are no part of a session's identity: each call names its
model and its tools, and ``set_system_prompt`` revises the message, so the same history goes on.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import NamedTuple

from eventlog.errors import InputRefused, WrongExpectedVersion
from eventlog.events import (
    Event,
    SessionDeleted,
    SessionStarted,
    SessionTitled,
)
from eventlog.jsonvalue import Json
from eventlog.recorded import StreamKey
from harness.system_prompts import prompted, system_prompt, told_of
from harness.titles import LONGEST_TYPED, title_fault
from projections.agent_state import agent_state, resumption
from projections.live import Live
from projections.memory.stream import check_session
from projections.ownership import is_observed
from projections.prompts.template import Rendered
from projections.purging import Purged, is_purged, purge
from projections.references import reads_otherwise
from projections.session_rows import NO_TITLE, SessionRow, newest, row_of
from projections.sessions import session_query

TITLE_LENGTH = 24
"""Characters of the first human message that stand for a title in a list."""

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Of an id that is made here: none looks like another."""

_LENGTH = 8
_TRIES = 32

Session = StreamKey | str
"""A session by its key, or by its id among those of the same user and agent."""


class Listed(NamedTuple):
    """A session in a list."""

    key: StreamKey
    title: str
    """The one that was given, else how the first human message begins, else a word that says that
    there is none."""
    updated_at: str
    """When it last went on, ISO 8601 in UTC. A title or a tombstone does not move it."""
    messages: int
    """Of people and of the model."""
    tasks: int
    open_tasks: int
    summary_length: int
    """Characters of the summaries that stand in its context."""
    is_deleted: bool

    @property
    def id(self) -> str:
        """What the session is called among those of the same user and agent."""
        return self.key.session


def short_id() -> str:
    """Eight characters that nobody confuses when reading them out."""
    return "".join(secrets.choice(LETTERS) for _ in range(_LENGTH))


class Sessions:
    """The sessions of one agent of one user in a log. Holds no state of its own."""

    def __init__(
        self,
        live: Live,
        user: str = "local",
        agent: str = "chat",
        *,
        new_id: Callable[[], str] = short_id,
    ) -> None:
        """``new_id`` makes an id where none is given; one that is taken is followed by another.

        Raises EventInvalid for what is no name.
        """
        if not isinstance(live, Live):
            raise InputRefused(f"sessions are of an open log: open_log({str(live)[:200]!r})")
        self.live = live
        self._base = StreamKey(user, agent, "-").checked()
        self._new_id = new_id

    def key(self, id: str) -> StreamKey:
        """The key of a session with that id, whether or not it exists. Raises EventInvalid."""
        return self._base._replace(session=id).checked()

    def find(self, session: Session) -> StreamKey:
        """The key of a session that exists. Raises StreamNotFound."""
        if isinstance(session, StreamKey):
            return self.live.log.stream(session).key
        own = self._base._replace(session=session)
        if self.live.log.exists(own) or session.count("/") < 2:
            return self.live.log.stream(own).key
        return self.live.log.stream(session).key

    # -- begun and gone on with -----------------------------------------------------------------

    def create(
        self,
        system: str | Rendered | None = None,
        *,
        id: str | None = None,
        title: str = "",
        **metadata: object,
    ) -> StreamKey:
        """Begin a session; the system prompt is its first message. One append, all or nothing.

        ``metadata`` is any JSON. Without an id a short one is made. Raises WrongExpectedVersion
        where a session has that id, also a deleted one; InputRefused for an id that would be read
        as a place or as ``last`` and for what is no title; EventInvalid for what is no name or no
        JSON.
        """
        events = self._beginning(system, title, metadata)
        if id is not None:
            return self._begun(self._free(id), events)
        lost: WrongExpectedVersion | None = None
        for _ in range(_TRIES):
            made = self._new_id()
            if reads_otherwise(made):
                continue
            try:
                return self._begun(self.key(made), events)
            except WrongExpectedVersion as error:
                lost = error
        raise InputRefused(f"{_TRIES} ids were made and none is free") from lost

    def get_or_create(
        self, id: str, system: str | Rendered | None = None, *, title: str = "", **metadata: object
    ) -> StreamKey:
        """The session with that id, begun where there is none; one that exists stays as it is.

        Of two processes that begin the same one at once, one does and the other gets it. A deleted
        one stays deleted until it is resumed. Raises as ``create`` does, but for the lost race, and
        InputRefused for a purged one.
        """
        key = self._free(id)
        if self.live.log.exists(key):
            return self._unpurged(key)
        try:
            return self._begun(key, self._beginning(system, title, metadata))
        except WrongExpectedVersion:
            return key

    def resume(self, session: Session) -> StreamKey:
        """Go on with a session: what an answer that was cut off left behind is cleared, and told.

        A deleted session is there again: whoever goes on with it wants to see it. Raises
        StreamNotFound, InputRefused for a purged session and for another program's,
        WrongExpectedVersion when somebody else wrote to it just now, and what ``agent_state``
        raises.
        """
        key = self._unpurged(self._own(session))
        version = self.live.log.version(key)
        event = resumption(agent_state(self.live, key, version))
        self.live.append(key, event, expected_version=version)
        return key

    def set_system_prompt(self, session: Session, system: str | Rendered) -> int | None:
        """Go on under another system prompt: the message is revised, or put in front of all, where
        one whose text was erased leaves.

        Returns the position of the first event; None where that text stands already. Raises
        StreamNotFound, InputRefused for an empty text and for another program's session,
        WrongExpectedVersion when somebody else wrote to it just now.
        """
        key = self._own(session)
        version = self.live.log.version(key)
        events = prompted(self.live, key, system, version + 1)
        if not events:
            return None
        return self.live.append(key, *events, expected_version=version).first

    def fork(
        self, session: Session, at: int | None = None, *, id: str | None = None, reason: str = ""
    ) -> StreamKey:
        """A session that goes on from position ``at`` of another one, or from its end.

        Without an id it is that one's with ``.fork1``, ``.fork2`` … behind it. Raises
        StreamNotFound, PositionNotFound, InputRefused, EventInvalid, and WrongExpectedVersion
        where a session has that id.
        """
        parent = self._unpurged(self.find(session))
        check_session(parent)
        at = self.live.log.version(parent) if at is None else at
        if id is not None:
            child = self._free(id)
            self.live.log.fork(child, parent, at, reason=reason)
            return child
        number = 1
        while True:
            child = self.key(f"{parent.session}.fork{number}")
            number += 1
            if self.live.log.exists(child):
                continue
            try:
                self.live.log.fork(child, parent, at, reason=reason)
            except WrongExpectedVersion:
                continue
            return child

    # -- named, hidden, purged ------------------------------------------------------------------

    def rename(self, session: Session, title: str, *, by: str = "human") -> StreamKey:
        """Give a session a title; nothing is written where it has it.

        Raises StreamNotFound, and InputRefused for what is no title.
        """
        key = self.find(session)
        check_session(key)
        title = _checked(title)
        row = row_of(session_query(self.live), str(key))
        if row is None or not row.is_titled or row.own_title != title:
            self.live.append(key, SessionTitled(title=title, by=by))
        return key

    def delete(self, session: Session, reason: str = "") -> StreamKey:
        """Hide a session behind a tombstone; nothing is lost, and its forks live on.

        ``resume`` takes it away again. Raises StreamNotFound.
        """
        key = self.find(session)
        check_session(key)
        row = row_of(session_query(self.live), str(key))
        if row is None or not row.is_deleted:
            self.live.append(key, SessionDeleted(reason=reason))
        return key

    def purge(self, session: Session, *, confirm: str, reason: str = "") -> Purged:
        """Erase all content of a session for good. ``confirm`` is its id, once more.

        Raises InputRefused where that is another text, ForksAlive with the names of the forks that
        have to be purged first, and what ``projections.purging.purge`` raises.
        """
        key = self.find(session)
        if confirm != key.session:
            raise InputRefused(
                f"a purge is confirmed with the id of the session, {key.session!r}, not {confirm!r}"
            )
        return purge(self.live, key, reason=reason, by="purge")

    # -- listed ---------------------------------------------------------------------------------

    def list(self, n: int | None = None, deleted: bool = False) -> list[Listed]:
        """The sessions by their last activity, the newest first: all, or so many.

        From derived rows alone: no event is read but those that came since the last look.
        """
        if n is not None and n < 0:
            raise InputRefused(f"a number of sessions is not {n}")
        rows = newest(
            session_query(self.live),
            limit=n,
            user=self._base.user,
            agent=self._base.agent,
            deleted=deleted,
        )
        return [_listed(row) for row in rows]

    # -- inside ---------------------------------------------------------------------------------

    def _free(self, id: str) -> StreamKey:
        """The key for an id that somebody chose."""
        if reads_otherwise(id):
            raise InputRefused(f"{id!r} would be read as a place or as last; choose another id")
        return self.key(id)

    def _unpurged(self, key: StreamKey) -> StreamKey:
        # The row is asked first: it takes a look at every event of a long session to see that none
        # is a tombstone.
        row = row_of(session_query(self.live), str(key))
        if row is not None and row.is_deleted and is_purged(self.live.log, key):
            raise InputRefused(f"{key} was purged: nothing is left to go on with")
        return key

    def _own(self, session: Session) -> StreamKey:
        key = self.find(session)
        check_session(key)
        if is_observed(self.live.log, key):
            raise InputRefused(f"{key} is another program's: fork it, and go on with the fork")
        return key

    def _begun(self, key: StreamKey, events: Sequence[Event]) -> StreamKey:
        self.live.append(key, *events, expected_version=0)
        return key

    @staticmethod
    def _beginning(
        system: str | Rendered | None, title: str, metadata: dict[str, object]
    ) -> Sequence[Event]:
        started = SessionStarted(
            title=_checked(title) if title else "",
            metadata=Json(metadata) if metadata else None,
        )
        if system is None:
            return [started]
        return [started, system_prompt(system), *told_of(system, "2")]


def _checked(title: str) -> str:
    folded = " ".join(title.split())
    fault = title_fault(folded, LONGEST_TYPED)
    if fault:
        raise InputRefused(f"that is no title: {fault}")
    return folded


def _listed(row: SessionRow) -> Listed:
    title = row.title if row.is_titled else row.title[:TITLE_LENGTH].rstrip()
    return Listed(
        key=StreamKey.parse(row.key),
        title=title or NO_TITLE,
        updated_at=row.happened_at,
        messages=row.messages,
        tasks=row.tasks,
        open_tasks=row.open_tasks,
        summary_length=row.summary_length,
        is_deleted=row.is_deleted,
    )
