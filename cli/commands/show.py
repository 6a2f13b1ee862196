"""``ctxlog show``"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.door import INTEGRITY
from cli.opening import opened
from cli.options import ReferenceArgument, settings_of
from cli.output import Output, output
from cli.paths import current_program

if TYPE_CHECKING:
    from cli.models_request import RequestData

Form = Literal["json", "curl", "python"]


def command(
    ctx: typer.Context,
    reference: ReferenceArgument,
    context: Annotated[
        bool, typer.Option("--context", help="The whole window of the model there.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="With --context: every item in full.")
    ] = False,
    raw: Annotated[bool, typer.Option("--raw", help="The stored payload as JSON.")] = False,
    request: Annotated[
        bool, typer.Option("--request", help="Of a call: its request, as it was sent.")
    ] = False,
    form: Annotated[
        Form | None,
        typer.Option(
            "--as",
            metavar="FORM",
            help="With --request: json (the body, the default); or what sends it again: curl, "
            "python.",
        ),
    ] = None,
) -> None:
    """Show one event or item, or the whole window at a place.

    @12 is event 12 with its full text, @57.0 a message that compaction 57 brought in, @12@340 the
    rendition of item 12 that event 340 carries, @c5 and @k1 the call and the compaction. With
    --context: what the model was given at that call, or what stood in the context after that
    event. @k1^ and a session without a place (its end) are always shown as a window.

    --request prints the body of a call's request, and on stderr how well it is known. Of a call
    that was recorded by `record`, `proxy` or a wrapped client it is byte for byte what was sent,
    where a digest proves that; else it is the same JSON, or what the events give, and why is told.
    With --as curl or python it is a command or a script that sends it again, to where it went; the
    key is read from $OPENAI_API_KEY or $ANTHROPIC_API_KEY when that runs. Nothing is sent here.
    The exit code is 4 where what was recorded does not hold.

    Example: ctxlog show last@k1^ --context

    Example: ctxlog show last@c12 --request --as curl
    """
    from cli.naming import place, short_names
    from cli.render_show import render_context, render_event
    from cli.requests import request_of_call
    from cli.windows import context_at, event_at
    from eventlog.errors import InputRefused

    out = output(ctx)
    if form is not None and not request:
        raise InputRefused("--as goes with --request")
    if request and (context or full or raw):
        raise InputRefused("--request shows a request: without --context, --full and --raw")
    with opened(settings_of(ctx)) as live:
        where = place(live, reference)
        if request:
            _show_request(out, request_of_call(live, where), form or "json")
            return
        if context or full or where.kind in ("now", "before_compaction"):
            window = context_at(live, where)
            out.show(window, render_context(window, out.style, full=full))
            for note in window.notes:
                out.note(f"note: event {note}")
        else:
            event = event_at(live, where)
            name = short_names(live, [event.key])[event.key]
            program = current_program()
            out.show(event, render_event(event, out.style, name, raw=raw, program=program))


def _show_request(out: Output, data: RequestData, form: Form) -> None:
    """The body to the byte into a pipe, and on a terminal what is safe there."""
    from cli.render_request import render_request, safe_json
    from cli.requests import before_sending

    body, notes = data.text, [*data.notes]
    notes += before_sending(data, form) if form != "json" else []
    data.text = render_request(data, form, ascii=out.style.ascii)
    if out.as_json:
        out.show(data, "")
    elif form != "json":
        out.write_exactly(data.text + "\n")
    elif out.is_terminal:
        shown = safe_json(body, ascii=out.style.ascii)
        out.write(shown)
        if shown != body and data.same_bytes:
            notes.append("escaped for a terminal; into a pipe it is what was sent")
    else:
        out.write_exactly(body if data.same_bytes else body + "\n")
    for note in notes:
        out.note(note)
    if data.verdict == "broken":
        raise typer.Exit(INTEGRITY)
