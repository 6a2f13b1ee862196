"""What a strategy is, for people: its rule, its moment, its parameters with their defaults.

All of it is read from the class and its source, so it cannot say anything else than the code.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

from projections.strategies.base import Combination, Strategy
from projections.strategies.presets import Preset

_LIMITS = (("ge", "at least"), ("gt", "over"), ("le", "at most"), ("lt", "under"))


class Parameter(BaseModel):
    """One parameter of a strategy."""

    model_config = ConfigDict(frozen=True)

    name: str
    default: Any
    values: str
    """What may stand there: ``int, at least 0`` …"""
    about: str
    """Empty where the name says it."""


class Description(BaseModel):
    """A strategy, as it is described to people."""

    model_config = ConfigDict(frozen=True)

    name: str
    preset: bool
    """What a known agent does."""
    about: str
    """One line."""
    moment: str
    """Where it decides; empty where its parts decide at moments of their own."""
    slides: bool
    parameters: tuple[Parameter, ...]
    rule: str
    """The rule in full, with its source."""


def described(strategy: type[Strategy]) -> Description:
    """The description of a strategy class whose source can be read."""
    said = inspect.cleandoc(strategy.__doc__ or "")
    first, _, rest = said.partition("\n\n")
    first = " ".join(first.split())
    preset = issubclass(strategy, Preset)
    module = inspect.cleandoc(sys.modules[strategy.__module__].__doc__ or "")
    about = first.partition(": ")[2] if first.startswith("``") else first
    return Description(
        name=strategy.name,
        preset=preset,
        about=about,
        moment="" if issubclass(strategy, Combination) else strategy.moment,
        slides=strategy.slides,
        parameters=tuple(_parameters(strategy)),
        rule=_preset(strategy, rest) if issubclass(strategy, Preset) else module,
    )


def _preset(strategy: type[Preset], rest: str) -> str:
    return f"{rest}\nSource: {strategy.system}, {strategy.version} ({strategy.source})".strip()


def _parameters(strategy: type[Strategy]) -> list[Parameter]:
    about = _written(strategy.Parameters)
    return [
        Parameter(
            name=name,
            default=field.default,
            values=_values(field),
            about=about.get(name, ""),
        )
        for name, field in strategy.Parameters.model_fields.items()
    ]


def _values(field: FieldInfo) -> str:
    choices = _choices(field.annotation)
    if choices:
        return " or ".join(map(str, choices))
    if "tuple" in str(field.annotation):
        names = "names with + between"
        return f"true, false, or {names}" if "bool" in str(field.annotation) else names
    words = [str(getattr(field.annotation, "__name__", field.annotation))]
    for limit in field.metadata:
        words += [
            f"{said} {getattr(limit, sign)}" for sign, said in _LIMITS if hasattr(limit, sign)
        ]
    return ", ".join(words)


def _choices(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [each for part in get_args(annotation) for each in _choices(part)]


def _written(model: type[BaseModel]) -> dict[str, str]:
    """What stands under each field in the source, those of its bases included."""
    found: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if not issubclass(cls, BaseModel) or cls is BaseModel:
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, below in zip(body.body, body.body[1:], strict=False):
            text = below.value if isinstance(below, ast.Expr) else None
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Constant):
                assert isinstance(field.target, ast.Name)
                found[field.target.id] = " ".join(str(text.value).split())
    return found
