"""``ctxlog export``"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.opening import opened
from cli.options import complete_session, settings_of
from cli.output import Output, output

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cli.exports import Sink
    from eventlog import StreamKey
    from projections import Live

Format = Literal["ctxlog", "openai", "markdown"]


def command(
    ctx: typer.Context,
    sessions: Annotated[
        list[str] | None,
        typer.Argument(metavar="S", help="The sessions.", autocompletion=complete_session),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="The whole log.")] = False,
    form: Annotated[
        Format, typer.Option("--format", help="ctxlog is lossless; the others are to use or read.")
    ] = "ctxlog",
    file: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Write it there (0600).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE.")] = False,
) -> None:
    """Write sessions out.

    ctxlog: every event with its digests, as ASCII lines; `ctxlog import` takes it in again, and
    the head is the same. Sessions that it was forked from come along. openai: a line a session
    with everything that was said, nothing compacted. markdown: the same to read.

    Example: ctxlog export --all --out log.jsonl
    """
    from cli.files import new_file
    from cli.models import ExportData
    from cli.naming import session_key
    from eventlog.errors import InputRefused

    settings, out = settings_of(ctx), output(ctx)
    if bool(sessions) == everything:
        raise InputRefused("name sessions, or say --all")
    if out.as_json and file is None:
        raise InputRefused("the export itself is the answer: --json goes with --out")
    with opened(settings) as live:
        keys = None if everything else [session_key(live, name) for name in sessions or ()]
        if file is None:
            _write(live, keys, form, _Stdout(out))
            return
        with new_file(file, force=force) as stream:
            _write(live, keys, form, stream)
            size = stream.tell()
        chosen = keys if keys is not None else [info.key for info in live.log.streams()]
    data = ExportData(file=file, format=form, sessions=[str(key) for key in chosen], bytes=size)
    out.show(data, "")
    out.note(f"wrote {file}, {size:,} bytes")


def _write(live: Live, keys: list[StreamKey] | None, form: Format, sink: Sink) -> None:
    from cli.exports import as_markdown, as_openai
    from eventlog.transfer import export

    if form == "ctxlog":
        export(live.log, sink, keys)
        return
    chosen = keys if keys is not None else [info.key for info in live.log.streams()]
    texts: Iterable[str] = (as_openai if form == "openai" else as_markdown)(live, chosen)
    for text in texts:
        sink.write(text + "\n")


class _Stdout:
    """Standard output as a file; a reader that went away ends the command."""

    def __init__(self, out: Output) -> None:
        self._out = out

    def write(self, text: str, /) -> None:
        self._out.write(text.removesuffix("\n"), flush=False)
        if self._out.gone:
            sys.exit(0)
