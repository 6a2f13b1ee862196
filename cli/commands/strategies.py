"""``ctxlog strategies``"""

from __future__ import annotations

from typing import Annotated

import typer

from cli.options import complete_strategy
from cli.output import output


def command(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME...", help="Only these, in full.", autocompletion=complete_strategy
        ),
    ] = None,
) -> None:
    """The strategies that there are, with their parameters, defaults and sources.

    A spec is a name and parameters, such as clear:keep=1 or clear:exclude_tools=Read+Bash; |
    between two makes a pipeline. Presets do what a known agent does. What config.toml names stands
    last. With NAME the rule is told in full; of a name of the config, what it is made of.

    Example: ctxlog strategies clear
    """
    from cli.render_strategies import render_strategies
    from cli.strategies import descriptions

    out = output(ctx)
    data = descriptions(names or ())
    out.show(data, render_strategies(data, out.style, whole=bool(names)))
