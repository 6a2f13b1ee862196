"""Beginning, naming, hiding and purging sessions for the command line."""

from __future__ import annotations

import sys

import typer

from cli.files import text_of
from cli.models_sessions import DeleteData, NewData, RenameData, ResumeData
from cli.naming import session_key, whole_session
from cli.output import Output
from cli.safetext import safe_text
from cli.style import plural
from cli.underway import open_since
from eventlog import StreamKey
from eventlog.errors import ForksAlive, InputRefused, NotFound, WrongExpectedVersion
from harness.agent_sessions import Sessions
from projections import Live
from projections.memory.stream import check_session
from projections.purging import is_purged, living_forks
from projections.references import find_session
from projections.session_rows import NO_TITLE, SessionRow, row_of
from projections.sessions import session_query

MOST_BYTES = 1 << 20
"""Of a system prompt."""


def begun(live: Live, base: tuple[str, str], id: str, title: str, system: str) -> NewData:
    """A session that began. Raises InputRefused for an id that is taken."""
    prompt = text_of(system[1:], MOST_BYTES) if system.startswith("@") else system
    try:
        key = Sessions(live, *base).create(prompt or None, id=id or None, title=title)
    except WrongExpectedVersion as error:
        raise InputRefused(
            f"that id is taken: {error.stream} exists; choose another NAME"
        ) from None
    return NewData(key=str(key), title=_row(live, key).title, version=live.log.version(key))


def resumed(live: Live, session: str) -> ResumeData:
    """A session that is taken up again."""
    key = session_key(live, whole_session(session, "resumed"))
    was_deleted = _row(live, key).is_deleted
    Sessions(live).resume(key)
    (*_, event) = live.log.read(key, types=["session_resumed"])
    return ResumeData(
        key=str(key),
        position=event.position,
        cleared=list(event.data.get("cleared", ())),
        kept=list(event.data.get("kept", ())),
        was_deleted=was_deleted,
    )


def renamed(live: Live, session: str, title: str) -> RenameData:
    """A session with another title."""
    key = _session(live, whole_session(session, "renamed"))
    before = _row(live, key).title
    Sessions(live).rename(key, title)
    row = _row(live, key)
    return RenameData(
        key=str(key), title=row.title, before=before, means=_meant(live, row.title, key)
    )


def _meant(live: Live, title: str, key: StreamKey) -> str | None:
    """The other session that the title of one means where it is typed: ids come first."""
    try:
        found = find_session(live, title)
    except NotFound:  # several have that title; who types it is shown them
        return None
    return str(found) if found != key else None


def deleted(live: Live, session: str, out: Output, *, yes: bool, reason: str) -> DeleteData:
    """A session that is hidden. On a terminal it is asked for; elsewhere nothing is lost by it."""
    key = _session(live, whole_session(session, "deleted"))
    row = _row(live, key)
    if not row.is_deleted:
        if not yes and _is_asked():
            _ask(out, row, "delete it? (its events stay, and resume brings it back)")
        Sessions(live).delete(key, reason)
    return _data(row)


def purged(
    live: Live, session: str, out: Output, *, yes: bool, confirm: str, reason: str, force: bool
) -> DeleteData:
    """A session whose content is erased, asked for twice: a yes, and the session's id.

    Raises InputRefused where nobody can be asked and both were not said, and, unless it is forced,
    where somebody may be answered in it; ForksAlive.
    """
    key = session_key(live, whole_session(session, "purged"))
    row = _row(live, key)
    forks = living_forks(live.log, key)
    if forks:
        raise ForksAlive(str(key), forks)
    is_asked = not force and not is_purged(live.log, key)
    ago = open_since(live, key) if is_asked else None
    if ago is not None:
        raise InputRefused(
            f"another process may still be answering in {key}: a call {plural(ago, 'second')} ago "
            "has no end; end that first, or say --force: what it gives is lost then"
        )
    if not (yes and confirm) and not _is_asked():
        raise InputRefused(
            "this erases the whole session for good: say --yes and --confirm with its id"
        )
    if not yes:
        _ask(out, row, "erase all of it for good?")
    if not confirm:
        confirm = typer.prompt(f"its id, {safe_text(key.session, newlines=False)}", err=True)
    made = Sessions(live).purge(key, confirm=confirm, reason=reason)
    data = _data(row)
    data.purged, data.erased, data.subagents = True, made.events, list(made.subagents)
    data.memories = list(made.memories)
    data.title = ""
    return data


def _session(live: Live, text: str) -> StreamKey:
    """A session; what is remembered of a person is none."""
    key = session_key(live, text)
    check_session(key)
    return key


def _data(row: SessionRow) -> DeleteData:
    return DeleteData(
        key=row.key,
        title=row.title,
        was_deleted=row.is_deleted,
        purged=False,
        erased=0,
        subagents=[],
        memories=[],
    )


def _row(live: Live, key: StreamKey) -> SessionRow:
    row = row_of(session_query(live), str(key))
    assert row is not None  # it was found a moment ago, and streams are never taken out
    return row


def _is_asked() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _ask(out: Output, row: SessionRow, question: str) -> None:
    out.note(f"{row.key}  {row.title or NO_TITLE}  ({plural(row.messages, 'message')})")
    if not typer.confirm(question, err=True):
        raise typer.Abort
