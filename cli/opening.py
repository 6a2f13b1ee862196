"""Opening the log for a command. Everything heavy is imported here, when it is needed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli.options import Settings
from cli.paths import current_database, current_program
from cli.safetext import safe_text

if TYPE_CHECKING:
    from projections import Live


_MANY = 200
"""Completions at most."""

PATIENCE = 1.0
"""Seconds for which a command that only looks waits for a writer."""


@contextlib.contextmanager
def opened(
    settings: Settings, *, write: bool = False, create: bool = False, read_only: bool = False
) -> Iterator[Live]:
    """The log of this command; ``write`` for one that appends, ``create`` where it may be missing,
    ``read_only`` for one that must not touch even the derived tables.

    A command that only looks goes on with the file opened for reading when it cannot be written,
    as on a full disk, or when somebody writes to it just now: derived tables are then folded anew.
    Raises LogNotFound, and whatever ``open_log`` raises.
    """
    from eventlog.errors import Busy, DiskFault, LogFull, LogNotFound, ReadOnlyLog
    from projections import open_log

    path = current_database(settings.db)
    try:
        if write or create or read_only:
            live = open_log(path, create=create, read_only=read_only)
        else:
            try:
                live = open_log(path, lock_timeout=PATIENCE, create=False)
                try:
                    live.log.catch_up()
                except BaseException:
                    live.close()
                    raise
            except (Busy, ReadOnlyLog, LogFull, DiskFault):
                live = open_log(path, read_only=True, create=False)
    except LogNotFound:
        raise no_log_yet(str(path)) from None
    with live:
        yield live


def no_log_yet(path: str) -> Exception:
    """The error of a missing log, with what to do about it."""
    from eventlog.errors import LogNotFound

    error = LogNotFound(path)
    name = current_program()
    error.args = (f"{error}; `{name} import PATH` makes one, `{name} demo` shows how",)
    return error


def session_names(incomplete: str) -> list[str]:
    """For shell completion: sessions that begin so, and behind an ``@`` places. Never raises."""
    found = ["last"] if "last".startswith(incomplete) else []
    try:
        with opened(Settings()) as live:
            if "@" in incomplete:
                found += _places(live, incomplete)
            for info in live.log.streams():
                for name in (info.key.session, str(info.key)):
                    if name.startswith(incomplete) and safe_text(name, newlines=False) == name:
                        found.append(name)
                        break
    except Exception:  # a shell that asks for a completion has no place for an error
        return found
    return found[:_MANY]


def _places(live: Live, incomplete: str) -> list[str]:
    """The calls and compactions of the session in front of the last ``@``, the newest first."""
    from eventlog.errors import NotFound
    from projections.references import find_session
    from projections.views import NUMBERED

    session, _, begun = incomplete.rpartition("@")
    try:
        key = find_session(live, session)
    except NotFound:
        return []
    found = []
    for letter, kind in NUMBERED.items():
        if not begun or begun[0] == letter:
            last = sum(header.type == kind for header in live.log.headers(key))
            for number in range(last, 0, -1):
                found += [f"{letter}{number}", *([f"k{number}^"] if letter == "k" else [])]
    return [f"{session}@{place}" for place in found if place.startswith(begun)]


def event_types(incomplete: str) -> list[str]:
    """For shell completion: event types that begin so."""
    from eventlog.codec import CLASSES

    return sorted(name for name in CLASSES if name.startswith(incomplete.replace("-", "_")))
