"""Commands by their names, and commands that stand under a name of their own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from cli.options import Command, help_text, parameters, take
from cli.plain_values import take_plainly

HELP = ["-h", "--help"]

Function = Callable[..., None]


@dataclass(frozen=True, slots=True)
class SubApp:
    """Commands under one name, such as ``ctxlog prompt list``."""

    about: str
    """Its help, as the docstring of a command is that of the command."""
    functions: Mapping[str, Function]


class Commands(Mapping[str, Any]):
    """Commands by their names, each made when it is asked for: one line runs one of them, and to
    read the declarations of all took half of the time of a start."""

    def __init__(
        self,
        functions: Mapping[str, tuple[Function | SubApp, str]],
        verbatim: Function | None = None,
    ) -> None:
        self.functions = functions
        self._made: dict[str, Any] = {}
        self._verbatim = verbatim
        """What stands behind its name belongs to another program."""

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            function, heading = self.functions[name]
            if isinstance(function, SubApp):
                self._made[name] = SubCommands(name, function)
            else:
                self._made[name] = self._command(name, function, heading)
        return self._made[name]

    def _command(self, name: str, function: Function, heading: str) -> Any:
        info = CommandInfo(
            name,
            cls=Command,
            callback=function,
            rich_help_panel=heading,
            context_settings={
                "help_option_names": HELP,
                "allow_interspersed_args": function is not self._verbatim,
            },
        )
        return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=None)

    def __iter__(self) -> Iterator[str]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)

    def told(self, heading: str) -> list[tuple[str, str]]:
        """The names under a heading, and the first sentence of what each says of itself."""
        return [
            (name, _sentence(_about(function)))
            for name, (function, under) in self.functions.items()
            if under == heading
        ]

    def lines(self) -> list[str]:
        """What can be typed, in its order: each name, and behind it those under it."""
        return [
            line
            for name, (function, _) in self.functions.items()
            for line in (
                name,
                *(f"{name} {sub}" for sub in _under(function)),
            )
        ]

    def named(self, words: list[str]) -> str:
        """The command that is meant by the words of a line, as far as one is; else nothing."""
        at = next((at for at, word in enumerate(words) if word in self), None)
        if at is None:
            return ""
        under = _under(self.functions[words[at]][0])
        sub = next((word for word in words[at + 1 :] if word in under), "")
        return f"{words[at]} {sub}".rstrip()


class SubCommands(TyperGroup):
    """The commands under one name. The common options may stand on both sides of each name."""

    def __init__(self, name: str, app: SubApp) -> None:
        super().__init__(
            name=name,
            help=app.about,
            params=parameters(),
            rich_markup_mode=None,
            context_settings={"help_option_names": HELP},
        )
        self.commands: Any = Commands({each: (made, "") for each, made in app.functions.items()})

    def get_help(self, ctx: Any) -> str:
        """Its help, for the terminal as it is."""
        return help_text(self, ctx)

    def invoke(self, ctx: Any) -> Any:
        """Run with the options before the second name as ``ctx.obj``."""
        if not ctx._protected_args:
            ctx.fail(f"name a command of it: {', '.join(self.commands)}")
        ctx.obj = take(ctx.params, ctx.parent.obj if ctx.parent is not None else None, "")
        return super().invoke(ctx)

    def get_params(self, ctx: Any) -> list[Any]:
        """Its parameters; those that Typer adds are among them."""
        return [take_plainly(param) for param in super().get_params(ctx)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands, each with its first sentence."""
        with formatter.section("Commands"):
            formatter.write_dl(self.commands.told(""))


def _about(function: Function | SubApp) -> str:
    if isinstance(function, SubApp):
        return inspect.cleandoc(function.about)
    return inspect.getdoc(function) or ""


def _under(function: Function | SubApp) -> Mapping[str, Function]:
    return function.functions if isinstance(function, SubApp) else {}


def _sentence(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split()).split(". ")[0].removesuffix(".") + "."
