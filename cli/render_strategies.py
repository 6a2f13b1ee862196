"""The strategies and their parameters as text. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from cli.models_whatif import ConfiguredData, StrategiesData
from cli.style import Style, pad
from projections.strategies.described import Description, Parameter


def render_strategies(data: StrategiesData, style: Style, *, whole: bool) -> Iterator[str]:
    """Each with its parameters; ``whole``: with its rule and where that comes from."""
    for named in data.configured if whole else ():
        yield from _configured(named, style)
    if whole and data.configured and data.strategies:
        yield ""
    for number, one in enumerate(data.strategies):
        if number and (whole or one.preset != data.strategies[number - 1].preset):
            yield ""
        yield from _strategy(one, style, whole)
    if data.configured and not whole:
        yield ""
        for named in data.configured:
            yield from _configured(named, style)


def _configured(one: ConfiguredData, style: Style) -> Iterator[str]:
    """What a name of the config stands for, to be typed in its place."""
    yield style.paint(style.block(f"{one.name}  named in config.toml."), "bold")
    yield style.block(f"    {one.spec}")


def _strategy(one: Description, style: Style, whole: bool) -> Iterator[str]:
    front = f"{one.name}  {_plain(one.about)}"
    lines = textwrap.wrap(style.block(front), style.width, subsequent_indent="    ")
    yield style.paint(lines[0], "bold")
    yield from lines[1:]
    width = max((len(_given(each)) for each in one.parameters), default=0)
    for each in one.parameters:
        told = "; ".join(filter(None, (each.values, _plain(each.about))))
        start = f"    {pad(_given(each), width)}  "
        yield from textwrap.wrap(
            style.block(start + told), style.width, subsequent_indent=" " * min(len(start), 24)
        )
    if whole:
        if one.moment:
            yield f"    at={one.moment}"
        yield ""
        for paragraph in one.rule.split("\n\n"):
            text = " ".join(_plain(paragraph).split())
            yield from textwrap.wrap(
                style.block(text), style.width, initial_indent="  ", subsequent_indent="  "
            )


def _given(parameter: Parameter) -> str:
    return f"{parameter.name}={_default(parameter.default)}"


def _default(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _plain(text: str) -> str:
    return text.replace("``", "")
