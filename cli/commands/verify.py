"""``ctxlog verify``"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Annotated

import typer

from cli.door import INTEGRITY
from cli.opening import opened
from cli.options import complete_session, settings_of
from cli.output import output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.heads import SessionHead
    from eventlog import StreamKey
    from eventlog.reading import Reading


def command(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="S",
            help="Only this session and what it was forked from.",
            autocompletion=complete_session,
        ),
    ] = None,
    kept: Annotated[
        str | None,
        typer.Option("--head", metavar="DIGEST", help="A head that was kept outside the file."),
    ] = None,
) -> None:
    """Recompute every digest and chain from the stored bytes, and tell what does not hold.

    Exit code 4 when something does not. Without --head the end of the log may have been cut off
    unseen: keep what `ctxlog head` prints. A head stays good while the log grows: all that it
    covers is still there where an earlier state of the log has it, and how many events were
    appended since is told. Where none has it, events were cut off, changed or made anew, or it is
    the head of another log (of a log brought in from an export: one from before that).

    With S, what `ctxlog head S` printed can be given too.

    Example: ctxlog verify --head "$(cat log.head)"
    """
    from cli.heads import session_head
    from cli.models import ProblemData, VerifyData
    from cli.naming import session_key
    from cli.render_keep import render_verify
    from cli.safetext import one_line
    from eventlog.errors import DamagedLog, InputRefused
    from eventlog.integrity import NEVER, verify

    if kept is not None and not re.fullmatch(r"\s*[0-9a-fA-F]{64}\s*", kept):
        given = one_line(kept, 40) or "nothing"
        raise InputRefused(f"--head takes the 64 digits that `ctxlog head` printed, not {given}")
    out = output(ctx)
    with _unbroken(), opened(settings_of(ctx), read_only=True) as live:
        key = session_key(live, session) if session is not None else None
        of_log = kept if key is None else None
        found = verify(live.log, stream=key, head=of_log)
        appended, own = found.appended, None
        persons = _persons(live.log, key)
        if key is not None:
            with contextlib.suppress(DamagedLog):  # then that is among the problems
                own = session_head(live.log, key)
                if kept is not None and not found.problems:
                    appended = _appended(live.log, key, own, kept, found.head)
    problems = [ProblemData.model_validate(p._asdict()) for p in found.problems]
    if key is not None and kept is not None and appended is None:
        said = (
            f"the head is {own.head if own is not None else 'unreadable'}, and of the log "
            f"{found.head}, not {kept.strip()}: {NEVER}"
        )
        problems.append(ProblemData(stream=str(key), position=None, kind="head", message=said))
    data = VerifyData(
        head=found.head,
        events=found.events,
        streams=found.streams,
        persons=persons,
        redactions=found.redactions,
        problems=problems,
        session=str(key) if key is not None else None,
        version=own.version if own is not None else None,
        session_head=own.head if own is not None else None,
        appended=appended if not problems else None,
    )
    out.show(data, render_verify(data, out.style))
    if not problems and kept is None and session is None:
        out.note("keep the head outside the file: only against it is a cut-off end seen")
    if problems:
        raise typer.Exit(INTEGRITY)


@contextlib.contextmanager
def _unbroken() -> Iterator[None]:
    """A file that SQLite cannot read does not hold either, and nothing more can be asked of it."""
    from eventlog.errors import DamagedLog, IntegrityFault

    try:
        yield
    except DamagedLog as error:
        advice = "go back to a copy that `ctxlog backup` made"
        raise IntegrityFault(f"{error.path} is damaged: {error.detail}; {advice}") from None


def _persons(log: Reading, key: StreamKey | None) -> int:
    """How many of the streams hold what is remembered of a person; 0 where that cannot be read."""
    from eventlog.errors import DamagedLog
    from projections.memory import is_memory_stream

    if key is not None:
        return int(is_memory_stream(key))
    with contextlib.suppress(DamagedLog):
        return sum(is_memory_stream(info.key) for info in log.streams())
    return 0


def _appended(log: Reading, key: StreamKey, own: SessionHead, kept: str, whole: str) -> int | None:
    """How many events came since a kept head, of the session's or of the log's."""
    from cli.heads import version_with
    from eventlog.growth import appended_since

    version = version_with(log, key, kept)
    if version is not None:
        return own.version - version
    return 0 if kept.strip().lower() == whole else appended_since(log, kept)
