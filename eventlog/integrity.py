"""The head of a log, and its verification: everything recomputed from the stored bytes.

``verify`` finds any change of an event, of its order in its stream, of a stream's name or parent,
of a binary part, of the tables' definitions, and damage that SQLite can see. It never raises for a
damaged file: each damage is a ``Problem``.

What it cannot find without a head that was kept outside the file: that the newest events were cut
off, or that the whole file was made anew. A head stays good while the log grows (``growth``).
Covered by no hash, so never found: when a stream was created (a label), its import key, and which
of two streams' events was appended first.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass

from eventlog.connection import translated
from eventlog.errors import DamagedLog
from eventlog.growth import taken_back
from eventlog.log import EventLog
from eventlog.reading import Reading
from eventlog.recorded import StreamKey
from eventlog.snapshot import snapshot
from eventlog.stored import Problem as Problem
from eventlog.stored import stored_head
from eventlog.verifying import Progress, Verifier

NEVER = (
    "no earlier state of the log has that head either, so events were cut off, changed or made "
    "anew since, or it is the head of another log"
)


@dataclass(frozen=True, slots=True)
class Verification:
    """What a verification found."""

    head: str
    """Empty where the file is too damaged to have one."""
    events: int
    streams: int
    redactions: int
    """Erased events among them."""
    problems: tuple[Problem, ...]
    appended: int | None = None
    """Since the head that was given: 0 where it is the log's. None where the log never had it."""

    @property
    def ok(self) -> bool:
        """Whether there is no problem."""
        return not self.problems


def head(log: Reading) -> str:
    """The head of the log: kept outside the file, it makes every later change of it visible.

    Raises DamagedLog.
    """
    with log._mutex, translated(log.path):
        return stored_head(log._ready())


def verify(
    log: Reading,
    *,
    stream: StreamKey | str | None = None,
    head: str | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Recompute everything, and tell what does not hold.

    With ``stream`` only that stream and its ancestors are recomputed, and SQLite's own check of the
    whole file is left out. With ``head``, one that was kept, a log that never had it is a problem:
    events were cut off or changed, the log was made anew, or it is another one. A log that had it
    and only grew since is fine, and ``appended`` says by how many events. Raises StreamNotFound,
    never for damage.
    """
    key = log.stream(stream).key if stream is not None else None
    verifier = Verifier(str(log.path), progress)
    appended: int | None = None
    try:
        with snapshot(log) as db:
            verifier.run(db, key)
            if head is not None and not verifier.problems:
                is_newest = head.strip().lower() == verifier.head
                appended = 0 if is_newest else taken_back(db, head, progress)
    except sqlite3.Error as error:
        verifier.report(None, None, "database", str(error))
    found = verifier.head
    if head is not None and appended is None and head.strip().lower() != found:
        message = f"the head is {found or 'unreadable'}, and not {head.strip()}: "
        message += "the log was changed" if verifier.problems else NEVER
        verifier.report(None, None, "head", message)
    if verifier.more:
        verifier.problems.append(Problem("", None, "database", f"{verifier.more} problems more"))
    return Verification(
        found,
        verifier.events,
        verifier.scope,
        verifier.erased,
        tuple(verifier.problems),
        appended,
    )


def verify_file(
    path: str | os.PathLike[str],
    *,
    stream: StreamKey | str | None = None,
    head: str | None = None,
    progress: Progress | None = None,
) -> Verification:
    """``verify`` for a file that may be too damaged to be opened: that is a problem, too.

    Raises LogNotFound, NotALog, UnsafePath, Busy, StreamNotFound.
    """
    try:
        with EventLog(path, read_only=True) as log:
            return verify(log, stream=stream, head=head, progress=progress)
    except DamagedLog as error:
        return Verification("", 0, 0, 0, (Problem("", None, "database", error.detail),))
