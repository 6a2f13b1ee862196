"""``ctxlog export``"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.opening import opened
from cli.options import complete_session, settings_of
from cli.output import Output, output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cli.exports import Sink
    from cli.heads import SessionHead
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
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write it there (0600); - is stdout."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE.")] = False,
) -> None:
    """Write sessions out.

    ctxlog: every event with its digests, as ASCII lines; `ctxlog import` takes it in again, and
    the head, which is told on stderr, is the same. Sessions that it was forked from come along.
    openai: a line a session with everything that was said, nothing compacted. markdown: the same
    to read.

    For another log: ctxlog export last --out s.jsonl, then ctxlog import s.jsonl --db other.db

    Example: ctxlog export --all --out log.jsonl
    """
    from cli.files import Counting, new_file
    from cli.heads import session_head
    from cli.models import ExportData
    from cli.naming import session_key
    from eventlog.errors import InputRefused

    settings, out = settings_of(ctx), output(ctx)
    file = None if file == "-" else file
    if bool(sessions) == everything:
        raise InputRefused("name sessions, or say --all")
    if out.as_json and file is None:
        raise InputRefused("the export itself is the answer: --json goes with --out")
    with opened(settings) as live:
        keys = None if everything else [session_key(live, name) for name in sessions or ()]
        own = {}
        if form == "ctxlog":
            own = {str(key): session_head(live.log, key) for key in keys or ()}
        if file is None:
            head = _write(live, keys, form, _Stdout(out), out.note)
            _tell_heads(out, head, own)
            return
        with new_file(file, force=force) as stream:
            counting = Counting(stream)
            head = _write(live, keys, form, counting, out.note)
            size = counting.size
        every = form == "ctxlog"
        chosen = keys if keys is not None else _sessions(live, memories=every)
    data = ExportData(
        file=file,
        format=form,
        sessions=[str(key) for key in chosen],
        bytes=size,
        head=head,
        session_heads={key: found.head for key, found in own.items()},
    )
    out.show(data, "")
    out.note(f"wrote {file}, {size:,} bytes")
    _tell_heads(out, head, own)


def _tell_heads(out: Output, head: str | None, own: dict[str, SessionHead]) -> None:
    """Against these an import of it elsewhere can be compared."""
    for key, found in own.items():
        out.note(f"head {found.head} at version {found.version} of {key}")
    if head is not None and not own:
        out.note(f"head {head}")


def _write(
    live: Live, keys: list[StreamKey] | None, form: Format, sink: Sink, note: Callable[[str], None]
) -> str | None:
    """Write the sessions; the head of a lossless export."""
    from cli.exports import as_markdown, as_openai
    from eventlog.transfer import export

    if form == "ctxlog":
        return export(live.log, sink, keys).head
    chosen = keys if keys is not None else _sessions(live)
    texts: Iterable[str] = (
        as_openai(live, chosen, note) if form == "openai" else as_markdown(live, chosen)
    )
    for text in texts:
        sink.write(text + "\n")
    return None


def _sessions(live: Live, *, memories: bool = False) -> list[StreamKey]:
    """All sessions; with what is remembered of persons, in which no conversation is."""
    from projections.memory import is_memory_stream

    keys = [info.key for info in live.log.streams()]
    return [key for key in keys if memories or not is_memory_stream(key)]


class _Stdout:
    """Standard output as a file; a reader that went away ends the command."""

    def __init__(self, out: Output) -> None:
        self._out = out

    def write(self, text: str, /) -> None:
        self._out.write(text.removesuffix("\n"), flush=False)
        if self._out.gone:
            sys.exit(0)
