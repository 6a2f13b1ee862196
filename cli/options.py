"""What every command takes: where the log is, and how to show it.

The options stand on ``ctxlog`` itself and on each command, so they are accepted on both sides of
the command's name; the nearer one wins. They are declared once, in ``_common``, and each command
function gets them as a ``Settings`` on its context.
"""

from __future__ import annotations

import contextlib
import functools
import shutil
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

import typer
import typer.main
from typer.core import TyperCommand

from cli.plain_values import take_plainly

Color = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The options that are common to all commands."""

    db: str | None = None
    as_json: bool = False
    quiet: bool = False
    color: Color = "auto"
    ascii: bool = False
    width: int | None = None
    command: str = ""
    """Of which command: it stands in the JSON."""

    def over(self, outer: Settings) -> Settings:
        """These, and where nothing was given, the ones from before the command's name."""
        return Settings(
            db=self.db if self.db is not None else outer.db,
            as_json=self.as_json or outer.as_json,
            quiet=self.quiet or outer.quiet,
            color=self.color if self.color != "auto" else outer.color,
            ascii=self.ascii or outer.ascii,
            width=self.width if self.width is not None else outer.width,
            command=self.command,
        )


_declaring = typer.Typer(add_completion=False, rich_markup_mode=None)


@_declaring.command()
def _common(
    db: Annotated[
        str | None,
        typer.Option("--db", metavar="FILE", help="The log to use (else CTXLOG_DB, else found)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No notes on stderr.")] = False,
    color: Annotated[Color, typer.Option("--color", help="Colour the text.")] = "auto",
    ascii: Annotated[bool, typer.Option("--ascii", help="Only ASCII signs.")] = False,
    width: Annotated[
        int | None,
        typer.Option("--width", metavar="N", min=40, max=1000, help="Columns of the text."),
    ] = None,
) -> None:
    """Only declares."""


NAMES = ("db", "as_json", "quiet", "color", "ascii", "width")


def parameters() -> list[Any]:
    """The common options as parameters of one command."""
    return list(_parameters())


@functools.cache
def _parameters() -> list[Any]:
    return list(cast(Any, typer.main.get_command(_declaring)).params)


def take(values: dict[str, Any], outer: object, command: str) -> Settings:
    """The settings out of a command's parsed values, from which they are removed."""
    own: dict[str, Any] = {name: values.pop(name) for name in NAMES if name in values}
    own["color"] = str(getattr(own.get("color"), "value", own.get("color")) or "auto")
    settings = Settings(**own, command=command)
    return settings.over(outer) if isinstance(outer, Settings) else settings


_WIDEST, _NARROWEST = 80, 40
"""Columns of a terminal for which help is written."""

_UNBROKEN = "\u2011"
"""The hyphen at which no line is broken: an option in two halves is none."""


def help_text(command: Any, ctx: Any) -> str:
    """The help of a command; it fits the terminal, where that has 40 columns at least."""
    formatter = ctx.make_formatter()
    columns = shutil.get_terminal_size((_WIDEST, 24)).columns
    formatter.width = min(max(columns, _NARROWEST), _WIDEST) - 2
    # A long option stands on a line of its own where its text would have no room beside it.
    most = 10 if columns < 60 else 30
    write_text, write_rows = formatter.write_text, formatter.write_dl
    formatter.write_text = lambda text: write_text(text.replace("-", _UNBROKEN))
    formatter.write_dl = lambda rows: write_rows(
        [(name, text.replace("-", _UNBROKEN)) for name, text in rows], most
    )
    command.format_help(ctx, formatter)
    return str(formatter.getvalue()).replace(_UNBROKEN, "-").rstrip("\n")


MOST = 10**9
"""Over this a number is none that was meant: no rows, tokens or seconds are that many, and SQLite,
the clock and Python each end at another one."""


class Command(TyperCommand):
    """A command with the common options; its function finds them on the context."""

    def __init__(self, name: str | None, *, params: list[Any] | None = None, **rest: Any) -> None:
        super().__init__(name, params=[*(params or []), *parameters()], **rest)

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters; those that Typer adds are among them."""
        return [take_plainly(param) for param in super().get_params(ctx)]

    def get_help(self, ctx: Any) -> str:
        """Its help, for the terminal as it is."""
        return help_text(self, ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The line is kept as it was typed: where ``--`` stood is known from it alone."""
        ctx.meta[_TYPED] = tuple(args)
        return list(super().parse_args(ctx, args))

    def invoke(self, ctx: Any) -> Any:
        """Run the command with its settings as ``ctx.obj``."""
        for param in self.params:
            value = ctx.params.get(param.name)
            if isinstance(value, int | float) and value > MOST:
                raise typer.BadParameter(
                    f"a number is {MOST} at most", ctx=ctx, param=cast(Any, param)
                )
        outer = ctx.parent.obj if ctx.parent is not None else None
        # As it is typed, without the program's own name: ``log``, ``prompt list``.
        ctx.obj = take(ctx.params, outer, ctx.command_path.partition(" ")[2])
        return super().invoke(ctx)


_TYPED = "ctxlog.typed"


def typed_words(ctx: typer.Context) -> tuple[str, ...]:
    """What stands behind the name of the running command, as it was typed."""
    return tuple(ctx.meta.get(_TYPED, ()))


def settings_of(ctx: typer.Context) -> Settings:
    """The settings of the running command."""
    return ctx.obj if isinstance(ctx.obj, Settings) else Settings()


def complete_session(ctx: typer.Context, incomplete: str) -> list[str]:
    """Session names that begin with what was typed; nothing, rather than an error."""
    from cli.completing import session_names

    return session_names(typed_settings(ctx), incomplete)


def typed_settings(ctx: typer.Context) -> Settings:
    """The settings, as far as a line that is still being typed names them: the log."""
    around: list[dict[str, Any]] = []
    at: Any = ctx
    while at is not None:
        around.append(at.params)
        at = at.parent
    return Settings(db=next((params["db"] for params in around if params.get("db")), None))


def complete_type(incomplete: str) -> list[str]:
    """Event types that begin with what was typed."""
    from cli.completing import event_types

    return event_types(incomplete)


def complete_area(incomplete: str) -> list[str]:
    """What a searched text can be."""
    from projections.searchable import AREAS

    return [name for name in AREAS if name.startswith(incomplete)]


def complete_state(incomplete: str) -> list[str]:
    """What can have become of a text."""
    from cli.searching import HIDDEN
    from projections.search import STATES

    return [name for name in (*STATES, HIDDEN) if name.startswith(incomplete)]


def complete_role(incomplete: str) -> list[str]:
    """The roles of items."""
    from cli.searching import ROLES

    return [name for name in ROLES if name.startswith(incomplete)]


def _session(ctx: typer.Context) -> object:
    """The session that was typed before the word to complete."""
    typed = ctx.params.get("session") or ctx.params.get("reference")
    return typed or next(iter(ctx.args), None)  # there, where an option still lacks its value


def complete_item(ctx: typer.Context, incomplete: str) -> list[str]:
    """Items of the session that was typed."""
    from cli.completing import items, of_session

    return of_session(typed_settings(ctx), _session(ctx), incomplete, items)


def complete_pinned(ctx: typer.Context, incomplete: str) -> list[str]:
    """Pinned items of the session that was typed."""
    from cli.completing import of_session, pinned

    return of_session(typed_settings(ctx), _session(ctx), incomplete, pinned)


def complete_decision(ctx: typer.Context, incomplete: str) -> list[str]:
    """Decisions of the session that was typed."""
    from cli.completing import decisions, of_session

    return of_session(typed_settings(ctx), _session(ctx), incomplete, decisions)


def complete_taking(ctx: typer.Context, incomplete: str) -> list[str]:
    """What took content out of sight in the session that was typed."""
    from cli.completing import of_session, takings

    return of_session(typed_settings(ctx), _session(ctx), incomplete, takings)


def complete_place(ctx: typer.Context, incomplete: str) -> list[str]:
    """Calls and compactions of the session that was typed."""
    from cli.completing import of_session, places

    return of_session(typed_settings(ctx), _session(ctx), incomplete, places)


def complete_strategy(incomplete: str) -> list[str]:
    """Strategies that begin with what was typed; in a pipeline behind the last ``|``."""
    from cli.config import config
    from cli.strategies import configured
    from eventlog.errors import InputRefused
    from projections.strategies.registry import STRATEGIES

    named: dict[str, str] = {}
    with contextlib.suppress(InputRefused):  # nothing of an error belongs on the line being typed
        named = configured(config())
    piped = incomplete[: incomplete.rfind("|") + 1]
    begun = incomplete[len(piped) :]
    piped += begun[: len(begun) - len(begun.lstrip())]
    return [piped + name for name in (*STRATEGIES, *named) if name.startswith(begun.lstrip())]


def complete_preset(incomplete: str) -> list[str]:
    """Agents whose habits are known."""
    from projections.strategies.presets import PRESETS

    return [name for name in ("all", *PRESETS) if name.startswith(incomplete)]


def complete_rule(incomplete: str) -> list[str]:
    """Rules of an audit that begin with what was typed."""
    from projections.audit.auditing import RULES

    return [name for name in RULES if name.startswith(incomplete.replace("-", "_"))]


def complete_summarizer(incomplete: str) -> list[str]:
    """What writes summaries without a model; the names of models nobody here knows."""
    return [name for name in ("extractive", "none") if name.startswith(incomplete)]


def complete_chat_tools(incomplete: str) -> list[str]:
    """Tools of a chat."""
    from harness.tools.toolbox import BUILT_IN

    front, comma, last = incomplete.rpartition(",")
    return [f"{front}{comma}{name}" for name in BUILT_IN if name.startswith(last)]


def complete_prices(incomplete: str) -> list[str]:
    """Price tables that begin with what was typed; of models there are too many."""
    from cli.prices import price_names

    return price_names(incomplete)


SessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="S",
        help="A session: its key, its id, the first 4 characters of it, its title, or last.",
        autocompletion=complete_session,
    ),
]

SummarizerOption = Annotated[
    str,
    typer.Option(
        "--summarizer",
        metavar="WHO",
        help="Who writes summaries: extractive, none, or a model's name.",
        autocompletion=complete_summarizer,
    ),
]

BaseUrlOption = Annotated[
    str | None,
    typer.Option(
        "--base-url", metavar="URL", help="Of the model (else OPENAI_BASE_URL, else OpenAI's)."
    ),
]

ReferenceArgument = Annotated[
    str,
    typer.Argument(
        metavar="S@REF",
        help="A session, and a place in it: @12, @57.0, @c5, @k1, @k1^.",
        autocompletion=complete_session,
    ),
]

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")]

ForkNameOption = Annotated[
    str,
    typer.Option(
        "--name", metavar="ID", help="The session id of the fork, where one has to be made."
    ),
]

ReasonOption = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why; it stays in the log.")
]

ExpectOption = Annotated[
    int | None,
    typer.Option("--expect", metavar="N", min=0, help="Only if the session is still at version N."),
]

UpstreamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--upstream",
        metavar="[API=]URL",
        help="Where calls go: of openai, or of API (openai, anthropic); else as the environment "
        "says, else to the provider.",
    ),
]

RecordedSessionOption = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="NAME",
        help="All calls belong to it (else told apart by what they share).",
    ),
]
