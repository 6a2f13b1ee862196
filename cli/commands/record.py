"""``ctxlog record``"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

import typer

from cli.options import RecordedSessionOption, UpstreamOption, settings_of, typed_words
from cli.output import complain, output


def command(
    ctx: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="CMD", help="The command, with its arguments.")
    ],
    session: RecordedSessionOption = None,
    upstream: UpstreamOption = None,
) -> None:
    """Run an agent, and record what its model is really sent.

    CMD gets an OPENAI_BASE_URL (for older clients an OPENAI_API_BASE, too) and an
    ANTHROPIC_BASE_URL that lead to a proxy on this machine for as long as it runs. Calls of
    OpenAI's chat completions and responses and of Anthropic's messages are in the log before they
    go on to where these variables led before; everything else passes. Keys are passed on and never
    stored.

    A request may name its session in a header X-Ctxlog-Session. Without any name conversations are
    told apart by what they share, which runs of one task with the same answers may not allow.
    Whatever goes wrong with the log, the calls go on; what could not be recorded is
    counted. Signals, exit code (128 + n after signal n, 126 and 127 for a command that cannot be
    run) and streams are those of CMD; the summary, with --json as one line of JSON, stands on
    stderr.

    A session that exists goes on. What is recorded here needs no client that is wrapped in the
    agent: with both, each call stands twice in the log.

    Example: ctxlog record --session monday -- python agent.py
    """
    from cli.child import CannotStart, run
    from cli.recording import environment_of, flush, recorded_data, recording, tell

    out, settings = output(ctx), settings_of(ctx)
    if misplaced := _misplaced(words, typed_words(ctx)):
        out.note(
            f"ctxlog: {misplaced} goes to {words[0]}, since it stands behind it; -- in front of "
            "the command says that this is meant"
        )
    try:
        with recording(settings, session, upstream) as proxy:
            flush()
            own = {**os.environ, **environment_of(proxy)}
            code = run(words, _direct(own), proxy.start)
    except CannotStart as error:
        complain(str(error), settings, error.code, {"type": "cannot_start", "message": str(error)})
        raise typer.Exit(error.code) from None
    tell(out, recorded_data(settings, proxy.tally, code))
    raise typer.Exit(code)


def _misplaced(words: Sequence[str], line: Sequence[str]) -> str:
    """An option of ours that was typed behind the command, where nothing says that it is meant."""
    behind = words[1 : words.index("--")] if "--" in words else words[1:]
    if line[: -len(words)][-1:] == ("--",):
        return ""
    names = (word.partition("=")[0] for word in behind)
    return next((name for name in names if name in ("--session", "--upstream")), "")


def _direct(environment: dict[str, str]) -> dict[str, str]:
    """So that no proxy of the environment is asked for what runs on this machine."""
    for name in ("no_proxy", "NO_PROXY"):
        if name in environment or any(_names_proxy(key) for key in environment):
            kept = [each.strip() for each in environment.get(name, "").split(",")]
            if "*" not in kept:  # for none at all; beside other names many would not know it
                environment[name] = ",".join(filter(None, [*kept, "127.0.0.1"]))
    return environment


def _names_proxy(variable: str) -> bool:
    return variable.lower() in ("http_proxy", "all_proxy")
