"""The options that several commands take of strategies, and of pages that show them."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.options import complete_preset, complete_prices, complete_strategy

PresetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="What a known agent does, or all of them.",
        autocompletion=complete_preset,
    ),
]

PricesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--prices",
        metavar="TABLE",
        help="A table per million tokens (in=3,out=15, also cached= and write=), the name of "
        "one in the config, a model, or recorded: each model that was called. Repeatable.",
        autocompletion=complete_prices,
    ),
]

ComparedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--compare",
        metavar="SPEC",
        help="Also what this strategy would have made of it; repeatable.",
        autocompletion=complete_strategy,
    ),
]

OpenOption = Annotated[bool, typer.Option("--open", help="Open it in a browser.")]

SecretsOption = Annotated[bool, typer.Option("--show-secrets", help="Mask no keys and tokens.")]
