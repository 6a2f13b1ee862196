"""``ctxlog chat``"""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from cli.opening import opened
from cli.options import (
    BaseUrlOption,
    complete_chat_tools,
    complete_session,
    complete_strategy,
    complete_summarizer,
    settings_of,
)
from cli.output import output
from cli.paths import current_database
from cli.prompt_options import PromptsOption, VarOption, complete_chat_prompt

Mode = Literal["ask", "allow", "deny", "read-only"]


def command(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="S",
            help="The session to go on with, or the name of a new one.",
            autocompletion=complete_session,
        ),
    ] = None,
    once: Annotated[
        str | None,
        typer.Option(
            "--once",
            "-p",
            metavar="TEXT",
            help="Say this, and behind it what comes through a pipe; print the answer, leave.",
        ),
    ] = None,
    go_on: Annotated[
        bool,
        typer.Option("--continue", help="Finish an answer of S that was cut off, and leave."),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            help="The model (else that of the session, else CTXLOG_MODEL, else the config).",
        ),
    ] = None,
    base_url: BaseUrlOption = None,
    tools: Annotated[
        list[str] | None,
        typer.Option(
            "--tools",
            metavar="NAMES",
            help="Beside the planner: files, shell, or both with a comma; none for no tool.",
            autocompletion=complete_chat_tools,
        ),
    ] = None,
    root: Annotated[
        str | None,
        typer.Option("--root", metavar="DIR", help="The folder of the tools (else this one)."),
    ] = None,
    permissions: Annotated[
        Mode | None,
        typer.Option(
            "--permissions",
            metavar="MODE",
            help="Of what changes something: ask, allow, deny or read-only. Drops the allow "
            "rules that S had.",
        ),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", metavar="RULE", help="May run: 'shell(git status)'."),
    ] = None,
    deny: Annotated[
        list[str] | None,
        typer.Option("--deny", metavar="RULE", help="May not: 'read_file(**/.env)'."),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option("--system", metavar="TEXT", help="The system prompt; @FILE reads a file."),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            "--prompt",
            metavar="NAME",
            help="A prompt template as system prompt.",
            autocompletion=complete_chat_prompt,
        ),
    ] = None,
    var: VarOption = None,
    prompts: PromptsOption = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy",
            "-s",
            metavar="SPEC",
            help="What decides about the context (else as before; cut, clear and compact).",
            autocompletion=complete_strategy,
        ),
    ] = None,
    window: Annotated[
        int | None,
        typer.Option("--window", metavar="N", min=1_000, help="Tokens that the model takes."),
    ] = None,
    summarizer: Annotated[
        str | None,
        typer.Option(
            "--summarizer",
            metavar="WHO",
            help="Who writes summaries: the model (default), another, extractive, none.",
            autocompletion=complete_summarizer,
        ),
    ] = None,
    auto_title: Annotated[
        bool,
        typer.Option("--auto-title", help="Let the model give it a title, after six turns."),
    ] = False,
    memory: Annotated[
        bool | None,
        typer.Option(
            "--memory/--no-memory",
            help="Know what is remembered, and remember (else [memory] chat of the config).",
        ),
    ] = None,
) -> None:
    """Talk with a model; its context is kept in order, and each step is in the log.

    Without S a new session begins, with the name of one it goes on, `chat last` with the newest.
    What another program writes is forked first. The model is any behind an OpenAI-compatible
    address: OPENAI_API_KEY is its key, --base-url or OPENAI_BASE_URL its address; a server on this
    machine (llama-server, ollama) needs no key.

    In a terminal /help lists what can be typed beside messages: /context, /compact --preview,
    /undo, /rewind, /fork … Ctrl-C stops an answer or a tool, and the session goes on from there.
    Out of a pipe each line is a message, with -p all of it stands behind the text; tools that would
    have to be asked about are denied then. The answer goes to stdout, all else to stderr; --json
    gives a line of JSON for all that happens.

    With --memory it knows what earlier sessions left behind (`ctxlog memory`), and remembers in its
    turn; /remember, /memories and /forget are there in any case.

    Example: ctxlog chat notes --model qwen3 --base-url http://127.0.0.1:11434/v1
    """
    from cli.chat.asked import Asked, Rules, system_of, template_of
    from cli.chat.piped import message_of
    from cli.chat.starting import start
    from eventlog.errors import InputRefused

    if system is not None and prompt is not None:
        raise InputRefused("either --system or --prompt")
    if go_on and (once is not None or session is None):
        raise InputRefused("--continue goes with a session, as in chat last --continue; not -p")
    if (var or prompts) and prompt is None:
        raise InputRefused("--var and --prompts go with --prompt")
    asked = Asked(
        session=session,
        model=model,
        base_url=base_url,
        strategy=strategy,
        tools=tuple(tools or ()),
        root=root,
        system=template_of(prompt, var or (), prompts) if prompt else system_of(system),
        window=window,
        summarizer=summarizer,
        auto_title=auto_title,
        memory=memory,
        rules=Rules(permissions, tuple(allow or ()), tuple(deny or ())),
    )
    out = output(ctx)
    settings = settings_of(ctx)
    if model is not None or session is None or not current_database(settings.db).exists():
        asked.named_model()  # else the session may know one
    asked.strategies()
    if once is not None:
        once = message_of(once, out.note)
    with opened(settings, write=True, create=not go_on) as live:
        code = start(live, out, asked, once, go_on=go_on)
    if code:
        raise typer.Exit(code)
