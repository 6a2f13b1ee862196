"""``ctxlog proxy``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.options import RecordedSessionOption, UpstreamOption, settings_of
from cli.output import output


def command(
    ctx: typer.Context,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="0 takes a free one.")
    ] = 0,
    host: Annotated[
        str, typer.Option("--host", metavar="H", help="Where to listen; --token has to be given.")
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            metavar="T",
            envvar="CTXLOG_PROXY_TOKEN",
            show_envvar=False,
            help="Each request has to hold it (else CTXLOG_PROXY_TOKEN).",
        ),
    ] = None,
    session: RecordedSessionOption = None,
    upstream: UpstreamOption = None,
) -> None:
    """Record what models are really sent, of any agent that is pointed here, until Ctrl-C.

    It first says what an agent needs in its environment. Calls of OpenAI's chat completions and
    responses and of Anthropic's messages are in the log before they go on; everything else passes.
    Keys are passed on and never stored.

    A request may name its session in a header X-Ctxlog-Session, which is certain where agents at
    once do the same task, and holds the token, if there is one, in X-Ctxlog-Token; neither is sent
    on. It listens on this machine alone unless --host says
    otherwise; then what is sent to it crosses the network unencrypted, keys too.

    Example: ctxlog proxy --port 8787
    """
    import signal

    from cli.child import waiting
    from cli.door import DATABASE
    from cli.models_recording import ListeningData
    from cli.paths import current_database
    from cli.recording import environment_of, recorded_data, recording, tell
    from cli.style import typed

    out, settings = output(ctx), settings_of(ctx)
    with (
        recording(settings, session, upstream, host=host, port=port, token=token) as proxy,
        waiting("INT", "TERM", "HUP") as numbers,
    ):
        variables = environment_of(proxy)
        to = proxy.upstreams
        listening = ListeningData(
            url=proxy.url,
            environment=variables,
            upstreams={"openai": to.openai.url, "anthropic": to.anthropic.url},
            log=str(current_database(settings.db)),
        )
        proxy.start()
        lines = [f"# {proxy.url} -> {to.openai.url} and {to.anthropic.url}"]
        lines += [f"export {name}={typed(value)}" for name, value in variables.items()]
        out.show(listening, lines)
        out.note("recording until Ctrl-C")
        signal.sigwait(numbers)
    data = recorded_data(settings, proxy.tally, None)
    tell(out, data)
    if data.missed:
        raise typer.Exit(DATABASE)
