"""The text form of strategies: ``cut:limit=4000 | clear:keep=3 | compact:keep_turns=3``.

A name, then parameters as ``key=value`` with commas between, lists with ``+``; ``|`` makes a
pipeline, whose strategies decide one after the other. ``at=…`` moves a strategy to another moment.
A name can also be one from a config, which stands for a whole spec, and ``my.py:keep_errors`` is
what a user's file holds under that name. What is wrong is said in one line that names the strategy,
the parameter and what would do.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, get_args

from pydantic import ValidationError

from eventlog.errors import InputRefused
from projections.strategies.base import Combination, Moment, MomentKind, Strategy
from projections.strategies.decisions import Decision
from projections.strategies.registry import STRATEGIES
from projections.strategies.window import Window

Load = Callable[[str, str], object]
"""From a path and a name to what the file has under it: a Strategy class, one made of it, or a
function from a window and a moment to decisions. Reading files is the business of who calls."""

_SHOWN = 60

MOST_PARTS = 1_000
"""Of what names of a config stand for: a few that name each other twice stand for millions."""


def parse(
    text: str, named: Mapping[str, str] | None = None, load: Load | None = None
) -> tuple[Strategy, ...]:
    """The strategies of a spec; raises InputRefused."""
    return _parse(text, named or {}, load, ())


def _parse(
    text: str, named: Mapping[str, str], load: Load | None, within: tuple[str, ...]
) -> tuple[Strategy, ...]:
    found: list[Strategy] = []
    for part in text.split("|"):
        name, _, rest = (piece.strip() for piece in part.partition(":"))
        if not name:
            raise InputRefused("a strategy is missing: a spec is a name, and | stands between two")
        if name.endswith(".py"):
            found.append(_loaded(name, rest, load))
        elif name in STRATEGIES:
            found.append(_made(STRATEGIES[name], rest))
        elif name in named:
            if name in within:
                raise InputRefused(f"the strategy {name!r} of the config is made of itself")
            if rest:
                raise InputRefused(f"{name}: a strategy of the config takes no parameters")
            try:
                found += _parse(named[name], named, load, (*within, name))
            except InputRefused as error:
                raise InputRefused(f"{_shown(name)!r} of the config: {error}") from None
            if len(found) > MOST_PARTS:
                raise InputRefused(f"{name}: it stands for over {MOST_PARTS:,} strategies")
        else:
            known = [*STRATEGIES, *named]
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {_listed(known)}"
            raise InputRefused(f"no strategy {_shown(name)!r}; {hint}")
    return tuple(found)


def _listed(names: Sequence[str]) -> str:
    """The names with that of doing nothing last, where nobody takes it for the whole answer."""
    return ", ".join([*(name for name in names if name != "none"), "none"])


def _made(cls: type[Strategy], rest: str) -> Strategy:
    name = cls.name
    given: dict[str, Any] = {}
    for pair in filter(None, (piece.strip() for piece in rest.split(","))):
        key, equals, value = (piece.strip() for piece in pair.partition("="))
        if not equals:
            raise InputRefused(f"{name}: {_shown(pair)!r} is no parameter such as key=value")
        if key in given:
            raise InputRefused(f"{name}: {_shown(key)!r} is given twice")
        given[key] = value
    at = given.pop("at", None)
    moments = get_args(MomentKind)
    if at is not None and issubclass(cls, Combination):
        raise InputRefused(f"{name}: its parts decide at moments of their own; at= is not for it")
    if at is not None and at not in moments:
        raise InputRefused(f"{name}: at={_shown(at)} is no moment; there are {', '.join(moments)}")
    lists = {
        key
        for key, field in cls.Parameters.model_fields.items()
        if "tuple" in str(field.annotation)
    }
    values = {k: tuple(filter(None, v.split("+"))) if k in lists else v for k, v in given.items()}
    try:
        parameters = cls.Parameters.model_validate(values)
    except ValidationError as error:
        raise InputRefused(_said(name, cls, error)) from None
    return cls(parameters, at)


def _said(name: str, cls: type[Strategy], error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"][:1])
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        known = ", ".join(cls.Parameters.model_fields)
        has = f"it has {known}" if known else "it takes none at all"
        return f"{name} has no parameter {_shown(key)!r}; {has}"
    if not key:
        return f"{name}: {message}"
    return f"{name}: {key}={_shown(str(first.get('input')))}: {message[:1].lower()}{message[1:]}"


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


# -- a user's own ---------------------------------------------------------------------------------


def _loaded(path: str, rest: str, load: Load | None) -> Strategy:
    if load is None:
        raise InputRefused(f"{path}: strategies from files are not read here")
    name, _, given = (piece.strip() for piece in rest.partition(":"))
    if not name.isidentifier():
        raise InputRefused(f"{path}: name the strategy in it, as in {path}:keep_errors")
    found = load(path, name)
    if isinstance(found, type) and issubclass(found, Strategy):
        _is_whole(found, f"{path}:{name}")
        return _made(found, given)
    if given:
        raise InputRefused(f"{path}:{name} takes no parameters; only a Strategy class has them")
    if isinstance(found, Strategy):
        return found
    if callable(found):
        return FunctionStrategy(f"{path}:{name}", found)
    raise InputRefused(f"{path}:{name} is neither a Strategy nor a function")


def _is_whole(found: type[Strategy], label: str) -> None:
    if not isinstance(getattr(found, "name", None), str):
        raise InputRefused(f"{label} has no name: a class says name = 'its name'")
    moments = get_args(MomentKind)
    if getattr(found, "moment", None) not in moments:
        raise InputRefused(f"{label} has no moment: one of {', '.join(moments)}")
    if missing := sorted(getattr(found, "__abstractmethods__", ())):
        raise InputRefused(f"{label} does not say {' and '.join(missing)}")


class FunctionStrategy(Strategy):
    """A function from a window and a moment to decisions, asked at each call of the model.

    It may say ``moment`` and ``triggered`` as attributes of its own.
    """

    name: ClassVar[str] = "function"
    moment: ClassVar[MomentKind] = "model_call"

    def __init__(self, label: str, function: Callable[..., Iterable[Decision]]) -> None:
        at = getattr(function, "moment", None)
        if at is not None and at not in get_args(MomentKind):
            raise InputRefused(f"{label}: {at!r} is no moment")
        super().__init__(at=at)
        self._label = label
        self._function = function

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether it wants to be asked; always, unless it says otherwise."""
        own = getattr(self._function, "triggered", None)
        return bool(own(window, moment)) if own is not None else True

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """What the function decides."""
        return self._function(window, moment) or ()

    @property
    def spec(self) -> str:
        """The file and the name."""
        return self._label
