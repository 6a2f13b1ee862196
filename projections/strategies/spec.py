"""The text form of strategies: ``cut:limit=4000 | clear:keep=3 | compact:keep_turns=3``.

A name, then parameters as ``key=value`` with commas between, lists with ``+``; ``|`` makes a
pipeline, whose strategies decide one after the other. ``at=…`` moves a strategy to another moment.
What is wrong is said in one line that names the strategy, the parameter and what would do.
"""

from __future__ import annotations

import difflib
from typing import Any, get_args

from pydantic import ValidationError

from eventlog.errors import InputRefused
from projections.strategies.base import MomentKind, Strategy


def parse(text: str) -> tuple[Strategy, ...]:
    """The strategies of a spec; raises InputRefused."""
    found = tuple(_one(part.strip()) for part in text.split("|"))
    return found


def _one(text: str) -> Strategy:
    from projections.strategies import STRATEGIES

    name, _, rest = text.partition(":")
    name = name.strip()
    cls = STRATEGIES.get(name)
    if cls is None:
        near = difflib.get_close_matches(name, STRATEGIES, 1)
        hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(STRATEGIES)}"
        raise InputRefused(f"no strategy {name!r}{hint}")
    given: dict[str, Any] = {}
    for pair in filter(None, (piece.strip() for piece in rest.split(","))):
        key, equals, value = pair.partition("=")
        if not equals:
            raise InputRefused(f"{name}: {pair!r} is no parameter such as key=value")
        given[key.strip()] = value.strip()
    at = given.pop("at", None)
    if at is not None and at not in get_args(MomentKind):
        raise InputRefused(
            f"{name}: at={at} is no moment; there are {', '.join(get_args(MomentKind))}"
        )
    lists = {
        key
        for key, field in cls.Parameters.model_fields.items()
        if "tuple" in str(field.annotation)
    }
    values = {k: tuple(v.split("+")) if k in lists else v for k, v in given.items()}
    try:
        parameters = cls.Parameters.model_validate(values)
    except ValidationError as error:
        raise InputRefused(_said(name, cls, error)) from None
    return cls(parameters, at)


def _said(name: str, cls: type[Strategy], error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = ", ".join(cls.Parameters.model_fields) or "none"
        return f"{name} has no parameter {key!r}; it has {known}"
    return f"{name}: {key}={first.get('input')}: {first['msg'].lower()}"
