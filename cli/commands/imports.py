"""``ctxlog import``"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from cli.door import FINDINGS, INTERRUPTED, USAGE
from cli.opening import opened
from cli.options import Settings, settings_of
from cli.output import Output, complain, output
from cli.paths import current_database

if TYPE_CHECKING:
    from cli.models import ImportData
    from eventlog import EventLog
    from harness.importers.job import Options

_NOTES = 5
"""Notes of one session that are told; ``--json`` has all."""


def command(
    ctx: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Files, folders, or - for standard input."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every transcript of the agents on this machine.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on importing what is added, until Ctrl-C.")
    ] = False,
    interval: Annotated[
        float,
        typer.Option("--interval", metavar="SECONDS", min=0.1, help="Between two looks."),
    ] = 2.0,
    form: Annotated[
        str,
        typer.Option(
            "--format", metavar="NAME", help="Such as codex; a wrong name lists them all."
        ),
    ] = "",
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="The session id (needed with -).")
    ] = "",
    user: Annotated[
        str, typer.Option("--user", metavar="NAME", help="First part of the key.")
    ] = "local",
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="Second part (else the format).")
    ] = "",
    final: Annotated[
        bool, typer.Option("--final", help="Take what is open at the end of a file as it is.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be imported.")
    ] = False,
) -> None:
    """Import transcripts: Claude Code, Codex, SWE-agent, OpenHands, API messages, exports.

    A second import adds nothing, a grown file only what is new. An answer or a line that is still
    open at the end of a file waits for the next import. What cannot be read is kept and told; the
    exit code then is 1. A conversation of OpenHands is a folder: name it, or one above it.

    No key comes along that stands beside the conversation, in a configuration, an environment or a
    header: it is replaced by [withheld], by the name of its field or by its shape, and told. What
    was said, called and returned stays as it is; redact erases there.

    --all looks where Claude Code and Codex keep theirs, also if CLAUDE_CONFIG_DIR or CODEX_HOME
    say where that is.

    From another program: my-agent --dump | ctxlog import - --session monday

    Example: ctxlog import --all
    """
    from cli.bringing import EXPORT, Rehearsal, bring, newest, places
    from cli.progress import Meter
    from eventlog.errors import InputRefused
    from harness.importers.formats import FORMATS
    from harness.importers.job import Options

    settings, out = settings_of(ctx), output(ctx)
    if form and form not in (*FORMATS, EXPORT):
        raise InputRefused(f"{form!r} is no format; there are {', '.join(FORMATS)} and {EXPORT}")
    wanted = [*(paths or []), *(places() if everything else [])]
    if not wanted:
        _refuse(everything)
    if watch and "-" in wanted:
        raise InputRefused("standard input cannot be watched")
    # Before the import: what is written while it runs is new to the watch.
    seen = newest(wanted) if watch else {}
    options = Options(user=user, agent=agent, session=session, format=form, final=final)
    if dry_run:
        path = current_database(settings.db)
        with (
            Rehearsal(path) as copy,
            opened(replace(settings, db=str(copy)), create=True) as live,
            _interruptible(settings, live.log, rehearsed=True),
            Meter(out, "looked into", "transcripts") as meter,
        ):
            data = bring(live.log, wanted, options, dry_run=True, progress=meter.show)
        data.database = str(path)
    else:
        with (
            opened(settings, create=True) as live,
            _interruptible(settings, live.log),
            Meter(out, "looked into", "transcripts") as meter,
        ):
            data = bring(live.log, wanted, options, progress=meter.show)
    _tell(out, data)
    if watch and not dry_run:
        _watch(settings, out, wanted, options, interval, seen)
    if data.errors and len(data.errors) == len(data.files):
        raise typer.Exit(USAGE)
    if data.errors or data.unreadable:
        raise typer.Exit(FINDINGS)


@contextlib.contextmanager
def _interruptible(settings: Settings, log: EventLog, rehearsed: bool = False) -> Iterator[None]:
    """Ctrl-C is told in one line: what was appended stays, and the next import completes it."""
    before = len(log.streams())
    try:
        yield
    except KeyboardInterrupt:
        from cli.style import plural

        text = "stopped; nothing was imported"
        if not rehearsed:
            new = plural(len(log.streams()) - before, "new session")
            text = f"stopped: {new} so far; what is in stays, run it again to go on"
        complain(text, settings, INTERRUPTED, {"type": "interrupted", "message": text})
        raise typer.Exit(INTERRUPTED) from None


def _refuse(everything: bool) -> NoReturn:
    from eventlog.errors import InputRefused

    if everything:
        raise InputRefused("no agent's transcripts were found on this machine; name a path")
    raise InputRefused("name a file, a folder or -, or say --all")


def _tell(out: Output, data: ImportData) -> None:
    from cli.bringing import ENDINGS
    from cli.render_keep import render_import
    from harness.importers.formats import FORMATS

    out.show(data, render_import(data, out.style))
    if data.passed_over:
        count = len(data.passed_over)
        files = f"{count} JSON file{'' if count == 1 else 's'}"
        out.note(f"passed over {files} with no transcript inside (--json names them)")
    for folder in data.empty:
        out.note(f"no transcript in {folder}: files are looked into that end in {ENDINGS}")
    for file in data.files:
        if file.error:
            out.note(f"not imported: {file.error}")
            continue
        for note in file.notes[:_NOTES]:
            out.note(f"{file.path}: {note}")
        for session in file.sessions:
            for note in session.notes[:_NOTES]:
                out.note(f"{file.path}: {note}")
            if len(session.notes) > _NOTES:
                out.note(f"{file.path}: {len(session.notes) - _NOTES} notes more (--json has all)")
    if any(file.unknown for file in data.files):
        out.note(f"importable are {', '.join(FORMATS)} and exports of ctxlog")


def _watch(
    settings: Settings,
    out: Output,
    paths: list[str],
    options: Options,
    interval: float,
    seen: dict[str, tuple[int, int]],
) -> None:
    """Look again until interrupted. A file that did not change costs one look at its size."""
    import time

    from cli.bringing import bring, newest, whole
    from cli.style import plural

    out.note(f"watching {plural(len(paths), 'place')}; Ctrl-C ends it")
    while not out.gone:
        time.sleep(interval)
        now = newest(paths)
        changed = sorted(path for path, mark in now.items() if seen.get(path) != mark)
        seen = now
        if not changed:
            continue
        # A sub-agent's file is linked to its session only when their folder is imported.
        again = paths if any("agent-" in path for path in changed) else whole(changed)
        with opened(settings, create=True) as live:
            data = bring(live.log, again, options)
        if data.new or data.errors:
            _tell(out, data)
