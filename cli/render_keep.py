"""What bringing in, proving and erasing did, as text. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from cli.models import ImportData, ImportedSession, VerifyData
from cli.style import Style, named, plural

_FILES = 40
"""Lines of an import before it is only summed up."""


def render_verify(data: VerifyData, style: Style) -> Iterator[str]:
    """The problems, or that there is none."""
    for problem in data.problems:
        where = problem.stream + (f"@{problem.position}" if problem.position is not None else "")
        words = [word for word in (where, problem.kind) if word]
        yield style.paint(style.block(f"{' '.join(words)}: {problem.message}"), "bold")
    checked = events_of(data.events, data.streams, data.persons)
    erased = f", {data.redactions:,} erased" if data.redactions else ""
    if data.problems:
        yield f"{plural(len(data.problems), 'problem')} in {checked}{erased}"
    else:
        yield f"ok: {checked}{erased}"
    if data.session is not None:
        start = f"head {data.session_head} at version {data.version}"
        yield f"{start} of {style.line(data.session, 1000)}"
    elif data.head:
        yield f"head {data.head}"
    if data.appended:
        yield (
            f"the log only grew since the kept head: {plural(data.appended, 'event')} appended, "
            "everything older is as it was"
        )


def events_of(events: int, streams: int, persons: int) -> str:
    """``9 events of 2 sessions, and of what is remembered of 1 person``."""
    of = []
    if streams > persons or not persons:
        of.append(plural(streams - persons, "session"))
    if persons:
        of.append(f"what is remembered of {plural(persons, 'person', 'people')}")
    return f"{plural(events, 'event')} of {', and of '.join(of)}"


def render_import(data: ImportData, style: Style) -> Iterator[str]:
    """One line a session that got something new, below its file if there are several; the sum."""
    changed = [
        (s, file.path)
        for file in data.files
        for s in file.sessions
        if s.new or s.forks or s.vanished
    ]
    several, under = len({path for _, path in changed}) > 1, ""
    for session, path in changed[:_FILES]:
        if several and path != under:
            yield style.paint(style.line(path, style.width), "dim")
            under = path
        yield _session(session, style)
        for fork in session.forks:
            start = "  the file was rewritten: what is new is "
            yield start + named(fork, style, style.width - len(start))
    if len(changed) > _FILES:
        yield f"… and {plural(len(changed) - _FILES, 'session')} more (--json has all)"
    total = sum(len(file.sessions) for file in data.files)
    words = [
        plural(total, "session"),
        f"{data.new:,} new {'event' if data.new == 1 else 'events'}",
        f"{data.known:,} known",
    ]
    if data.pending:
        words.append(f"{data.pending:,} waiting for the rest of their file (--final takes them)")
    if data.unreadable:
        words.append(f"{data.unreadable:,} unreadable, kept as they are")
    if data.withheld:
        keys = "a key" if data.withheld == 1 else "keys"
        words.append(f"{plural(data.withheld, 'value')} left out that may be {keys}")
    if data.errors:
        words.append(f"{plural(len(data.errors), 'file')} not imported")
    yield ("would import: " if data.dry_run else "") + ", ".join(words)


def _session(session: ImportedSession, style: Style) -> str:
    words = [f"{session.new:>6,} new {session.known:>6,} known"]
    if session.pending:
        words.append(f"{session.pending:,} waiting")
    if session.unreadable:
        words.append(f"{session.unreadable:,} unreadable")
    if session.vanished:
        words.append(f"{session.vanished:,} kept that the file lost")
    start = ", ".join(words) + "  "
    return start + named(session.key, style, max(style.width - len(start), 8))
