"""What the commands of ``ctxlog memory`` take."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.options import complete_session, typed_settings


def complete_user(ctx: typer.Context, incomplete: str) -> list[str]:
    """Persons of whom something is remembered."""
    from cli.completing import memory_users

    return memory_users(typed_settings(ctx), incomplete)


def complete_memory(ctx: typer.Context, incomplete: str) -> list[str]:
    """Memories of the person that was typed, the newest first."""
    from cli.completing import memory_names

    return memory_names(typed_settings(ctx), ctx.params.get("user"), incomplete, standing=True)


def complete_gone_memory(ctx: typer.Context, incomplete: str) -> list[str]:
    """Those that do not stand."""
    from cli.completing import memory_names

    return memory_names(typed_settings(ctx), ctx.params.get("user"), incomplete, standing=False)


def complete_any_memory(ctx: typer.Context, incomplete: str) -> list[str]:
    """Those that stand, and those that do not."""
    from cli.completing import memory_names

    return memory_names(typed_settings(ctx), ctx.params.get("user"), incomplete, standing=None)


def complete_entity(ctx: typer.Context, incomplete: str) -> list[str]:
    """What memories of the person that was typed speak of."""
    from cli.completing import memory_entities

    return memory_entities(typed_settings(ctx), ctx.params.get("user"), incomplete)


def complete_kind(incomplete: str) -> list[str]:
    """Kinds of memories."""
    from cli.memories import KINDS

    return [kind for kind in KINDS if kind.startswith(incomplete.replace("-", "_"))]


def complete_status(incomplete: str) -> list[str]:
    """Where in their lives memories are."""
    from cli.memories import STATUSES

    return [status for status in STATUSES if status.startswith(incomplete)]


def complete_area(incomplete: str) -> list[str]:
    """Parts of the profile that a preference belongs to."""
    return [area for area in ("technical", "interaction") if area.startswith(incomplete)]


def complete_embedder(incomplete: str) -> list[str]:
    """Embedders; the names of models nobody here knows."""
    from cli.memory_config import EMBEDDERS

    return [name for name in EMBEDDERS if name.startswith(incomplete)]


UserOption = Annotated[
    str | None,
    typer.Option(
        "--user",
        metavar="NAME",
        help="Whose memories (else [memory] user of the config, else local).",
        autocompletion=complete_user,
    ),
]

MemoryArgument = Annotated[
    str,
    typer.Argument(metavar="M", help="A memory: m12, or 12.", autocompletion=complete_any_memory),
]

KindsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="preference, project, code, error_fix, conversation, experience, session_summary or "
        "fact; several times.",
        autocompletion=complete_kind,
    ),
]

KindOption = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="preference, project, code, error_fix, conversation, experience, session_summary or "
        "fact.",
        autocompletion=complete_kind,
    ),
]

StatusOption = Annotated[
    list[str] | None,
    typer.Option(
        "--status",
        metavar="STATUS",
        help="active, stale, archived or expired; several times.",
        autocompletion=complete_status,
    ),
]

SourceSessionOption = Annotated[
    str,
    typer.Option(
        "--session",
        metavar="S",
        help="Only what came from this session.",
        autocompletion=complete_session,
    ),
]

SinceOption = Annotated[
    str,
    typer.Option("--since", metavar="TIME", help="Remembered since: 2026-09-20, yesterday, 2h."),
]

UntilOption = Annotated[
    str, typer.Option("--until", metavar="TIME", help="Up to then; a day is included.")
]

AtOption = Annotated[
    str,
    typer.Option("--at", metavar="TIME", help="As if it were then: ages, and what is expired."),
]

SubjectOption = Annotated[
    str | None,
    typer.Option(
        "--subject",
        metavar="TEXT",
        help="What it is about: of one kind only one stands about a subject.",
    ),
]

ImportanceOption = Annotated[
    float | None,
    typer.Option("--importance", metavar="X", help="From 0 to 1."),
]

ValueOption = Annotated[
    list[str] | None,
    typer.Option(
        "--value", metavar="NAME=VALUE", help="Of a preference: what it says, as JSON or text."
    ),
]

EntityOption = Annotated[
    list[str] | None,
    typer.Option("--entity", metavar="NAME[:KIND]", help="What it speaks of."),
]

RelationOption = Annotated[
    list[str] | None,
    typer.Option("--relation", metavar="'A|uses|B'", help="How two of these are related."),
]

SourceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="S@REF",
        help="Where it comes from: a session, or an event of it.",
        autocompletion=complete_session,
    ),
]

ForceSecretOption = Annotated[
    bool, typer.Option("--force", help="Also a text that holds what looks like a key.")
]

AreaOption = Annotated[
    str,
    typer.Option(
        "--area",
        metavar="AREA",
        help="Of a preference: technical or interaction.",
        autocompletion=complete_area,
    ),
]
