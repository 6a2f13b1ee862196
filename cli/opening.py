"""Opening the log for a command. Everything heavy is imported here, when it is needed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli.options import Settings
from cli.paths import current_database, current_program

if TYPE_CHECKING:
    from projections import Live


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
    from eventlog.errors import (
        Busy,
        CtxlogError,
        DiskFault,
        LogFull,
        LogNotFound,
        ReadOnlyLog,
    )
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
        if write or create:
            from projections.sessions import keep_up

            with contextlib.suppress(CtxlogError):  # what was asked for is done
                keep_up(live)


def no_log_yet(path: str) -> Exception:
    """The error of a missing log, with what to do about it."""
    from eventlog.errors import LogNotFound

    error = LogNotFound(path)
    name = current_program()
    error.args = (
        f"{error}; `{name} import PATH` or `{name} record -- CMD` makes one, "
        f"`{name} demo` shows how",
    )
    return error
