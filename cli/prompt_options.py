"""What the commands of ``ctxlog prompt`` take."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

_MANY = 200
"""Completions at most."""


def complete_prompt(ctx: typer.Context, incomplete: str) -> list[str]:
    """Prompts that begin with what was typed; nothing, rather than an error."""
    from cli.prompts import complete_names

    found: list[str] = []
    with contextlib.suppress(Exception):
        found = list(complete_names(_place(ctx), incomplete))
    return found[:_MANY]


def complete_chat_prompt(ctx: typer.Context, incomplete: str) -> list[str]:
    """Prompts that a chat can begin with."""
    from cli.prompts import beside, names_of

    found: list[str] = []
    with contextlib.suppress(Exception):
        found = list(names_of(beside(ctx.params.get("prompts")), incomplete))
    return found[:_MANY]


def complete_prompt_role(ctx: typer.Context, incomplete: str) -> list[str]:
    """Roles of the prompt that was typed."""
    from cli.prompts import prompts

    found: list[str] = []
    with contextlib.suppress(Exception):
        found = list(prompts(_place(ctx)).roles(_typed(ctx)))
    return [role for role in found if role and role.startswith(incomplete)]


def complete_variable(ctx: typer.Context, incomplete: str) -> list[str]:
    """Variables of the prompt that was typed, each with its ``=``."""
    from cli.prompts import chosen, prompts

    found: list[str] = []
    with contextlib.suppress(Exception):
        role = str(ctx.params.get("role") or "")
        found = sorted(chosen(prompts(_place(ctx)), _typed(ctx), role).variables)
    return [f"{name}=" for name in found if name.startswith(incomplete)]


def _place(ctx: typer.Context) -> str | None:
    return ctx.params.get("folder")


def _typed(ctx: typer.Context) -> str:
    return str(ctx.params.get("name") or next(iter(ctx.args), ""))


PromptsOption = Annotated[
    str | None,
    typer.Option(
        "--prompts",
        "--dir",
        metavar="PATH",
        help="A folder of YAML files, one of them, or bundled (else CTXLOG_PROMPTS, else "
        "./prompts, else bundled).",
    ),
]

PromptArgument = Annotated[
    str,
    typer.Argument(
        metavar="PROMPT",
        help="The name of a prompt, or NAME/ROLE.",
        autocompletion=complete_prompt,
    ),
]

RoleOption = Annotated[
    str,
    typer.Option(
        "--role",
        metavar="ROLE",
        help="The role, where it is not typed behind the name.",
        autocompletion=complete_prompt_role,
    ),
]

VarOption = Annotated[
    list[str] | None,
    typer.Option(
        "--var",
        metavar="NAME=TEXT",
        help="The value of a variable.",
        autocompletion=complete_variable,
    ),
]

VarFileOption = Annotated[
    list[str] | None,
    typer.Option(
        "--var-file",
        metavar="NAME=FILE",
        help="The value of a variable, from a file; - is standard input.",
        autocompletion=complete_variable,
    ),
]
