"""The command line: ``ctxlog``.

A command is parse, call, echo; each has its own file in ``cli.commands``. What is slow to import is
imported inside the commands, so that ``--help`` and completion answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cli.commanding import HELP, Commands
from cli.commands import (
    audit,
    backup,
    chat,
    compare,
    delete,
    demo,
    diff,
    doctor,
    export,
    fork,
    head,
    imports,
    log,
    memory,
    new,
    pin,
    prompt,
    proxy,
    rebuild,
    record,
    recover,
    redact,
    rename,
    replay,
    report,
    resume,
    rewind,
    search,
    serve,
    sessions,
    show,
    sql,
    state,
    stats,
    strategies,
    undo,
    unpin,
    verify,
    welcome,
    why,
)
from cli.commands import run as run_command
from cli.door import guarded
from cli.options import Settings, help_text, parameters, settings_of, take
from cli.output import envelope, json_text
from cli.plain_values import take_plainly

BRING, LOOK, CHANGE, KEEP = "Bring sessions in", "Look", "Change a context", "Keep and prove"
OWN = "Begin and end sessions"
HEADINGS = (BRING, LOOK, OWN, CHANGE, KEEP)

COMMANDS = Commands(
    {
        "import": (imports.command, BRING),
        "record": (record.command, BRING),
        "proxy": (proxy.command, BRING),
        "chat": (chat.command, BRING),
        "demo": (demo.command, BRING),
        "sessions": (sessions.command, LOOK),
        "log": (log.command, LOOK),
        "show": (show.command, LOOK),
        "replay": (replay.command, LOOK),
        "diff": (diff.command, LOOK),
        "search": (search.command, LOOK),
        "compare": (compare.command, LOOK),
        "audit": (audit.command, LOOK),
        "report": (report.command, LOOK),
        "serve": (serve.command, LOOK),
        "strategies": (strategies.command, LOOK),
        "state": (state.app, LOOK),
        "prompt": (prompt.app, LOOK),
        "memory": (memory.app, LOOK),
        "why": (why.command, LOOK),
        "recover": (recover.command, LOOK),
        "stats": (stats.command, LOOK),
        "sql": (sql.command, LOOK),
        "new": (new.command, OWN),
        "resume": (resume.command, OWN),
        "rename": (rename.command, OWN),
        "delete": (delete.command, OWN),
        "run": (run_command.command, CHANGE),
        "undo": (undo.command, CHANGE),
        "rewind": (rewind.command, CHANGE),
        "pin": (pin.command, CHANGE),
        "unpin": (unpin.command, CHANGE),
        "fork": (fork.command, CHANGE),
        "export": (export.command, KEEP),
        "redact": (redact.command, KEEP),
        "verify": (verify.command, KEEP),
        "head": (head.command, KEEP),
        "backup": (backup.command, KEEP),
        "doctor": (doctor.command, KEEP),
        "rebuild": (rebuild.command, KEEP),
    },
    verbatim=record.command,
)
"""All there are, in the order of the help."""


class Group(TyperGroup):
    """All commands, behind the one door for errors; help lists them by what they are for."""

    def __init__(self, *, params: list[Any] | None = None, **rest: Any) -> None:
        super().__init__(params=[*(params or []), *parameters()], **rest)
        self.commands: Any = COMMANDS

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters; those that Typer adds are among them."""
        return [take_plainly(param) for param in super().get_params(ctx)]

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line and leave with its exit code."""
        given = list(sys.argv[1:] if args is None else args)

        def work() -> Any:
            return super(Group, self).main(
                given, "ctxlog", complete_var, False, windows_expand_args, **extra
            )

        if not standalone_mode:
            return work()
        sys.exit(guarded(work, self._settings(given)))

    def _settings(self, args: list[str]) -> Settings:
        """What an error has to know, even when the line could not be parsed."""
        options = args[: args.index("--")] if "--" in args else args
        return Settings(as_json="--json" in options, command=self.commands.named(args))

    def get_help(self, ctx: Any) -> str:
        """Its help, for the terminal as it is."""
        return help_text(self, ctx)

    def invoke(self, ctx: Any) -> Any:
        """Run with the options before the command's name as ``ctx.obj``."""
        ctx.obj = take(ctx.params, None, "")
        return super().invoke(ctx)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands under what they are for."""
        for heading in HEADINGS:
            with formatter.section(heading):
                formatter.write_dl(COMMANDS.told(heading))


app = typer.Typer(
    name="ctxlog",
    cls=Group,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": HELP},
)


def _version(settings: Settings) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("agent-ctxlog")
    except PackageNotFoundError:
        number = "(not installed)"
    if settings.as_json:
        return json_text(envelope(settings.command, {"version": number}))
    return f"ctxlog {number}"


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """What did the model see at call N, what did it no longer see, and because of which decision?

    S names a session, S@REF a place in it: @12 after event 12, @57.0 or @12@340 an item or a
    rendition of it, @c5 what call 5 was given, @k1 after compaction 1, @k1^ just before it.

    Without a command: the latest sessions.

    Example: ctxlog demo
    """
    if version:
        typer.echo(_version(settings_of(ctx)))
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        welcome.command(ctx)


def registered() -> list[str]:
    """The names of all commands in the order of the help, and first of all the empty one.

    Those under a name stand behind it, as they are typed: ``prompt``, ``prompt list`` …
    """
    return ["", *COMMANDS.lines()]


def run() -> None:
    """The entry point of the installed program."""
    app()


if __name__ == "__main__":
    run()
