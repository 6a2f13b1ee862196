"""Opening the log for a command. Everything heavy is imported here, when it is needed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli.options import Settings
from cli.paths import current_database
from cli.safetext import safe_text

if TYPE_CHECKING:
    from projections import Live


@contextlib.contextmanager
def opened(settings: Settings, *, create: bool = False) -> Iterator[Live]:
    """The log of this command; a file that cannot be written is opened for reading.

    Raises LogNotFound, and whatever ``open_log`` raises.
    """
    from eventlog.errors import LogNotFound, ReadOnlyLog
    from projections import open_log

    path = current_database(settings.db)
    try:
        live = open_log(path, create=create)
    except ReadOnlyLog:
        if create:
            raise
        live = open_log(path, read_only=True, create=False)
    except LogNotFound:
        raise no_log_yet(str(path)) from None
    with live:
        if not live.log.read_only:
            _finish_scrub(live)
        yield live


def _finish_scrub(live: Live) -> None:
    """Finish a redaction that was interrupted before its last copies were gone."""
    if live.log.query("select exists (select 1 from scrubs)").fetchone()[0]:
        from eventlog.scrub import finish_pending

        finish_pending(live.log)


def no_log_yet(path: str) -> Exception:
    """The error of a missing log, with what to do about it."""
    from eventlog.errors import LogNotFound

    error = LogNotFound(path)
    error.args = (f"{error}; `ctxlog import PATH` makes one, `ctxlog demo` shows how",)
    return error


def session_names(incomplete: str) -> list[str]:
    """For shell completion: sessions that begin so. Never raises."""
    found = ["last"] if "last".startswith(incomplete) else []
    try:
        with opened(Settings()) as live:
            for info in live.log.streams():
                for name in (info.key.session, str(info.key)):
                    if name.startswith(incomplete) and safe_text(name, newlines=False) == name:
                        found.append(name)
                        break
    except Exception:
        return found
    return found[:200]
