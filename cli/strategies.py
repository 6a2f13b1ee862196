"""Strategies as they are named on the command line: by spec, by the config, from a file.

The config names specs under ``[strategies]``. A Python file is run only when it stands on the
command line itself: a folder that somebody else made may hold a config, and looking at a log must
not run its code.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from cli.config import Config, config
from cli.models_whatif import ConfiguredData, StrategiesData
from eventlog.errors import CtxlogError, InputRefused
from projections.strategies.base import Strategy
from projections.strategies.described import described
from projections.strategies.registry import STRATEGIES
from projections.strategies.spec import parse


def strategies_of(text: str) -> tuple[Strategy, ...]:
    """The strategies of a spec as it was typed. Raises InputRefused."""
    typed = {part.partition(":")[0].strip() for part in text.split("|")}

    def load(path: str, name: str) -> object:
        if path not in typed:
            raise InputRefused(
                f"the config names {path}:{name}; a file is run only when it is typed itself"
            )
        return _loaded(path, name)

    return parse(text, configured(config()), load)


def descriptions(names: Sequence[str]) -> StrategiesData:
    """These strategies, or all, with what the config names.

    Of a name of the config also what it is made of, as far as that is no file: none is run. Raises
    InputRefused for a name that there is not.
    """
    of = config()
    named = configured(of)
    chosen: dict[str, None] = {}
    for name in names:
        if name in named:
            chosen |= dict.fromkeys(_made_of(name, named))
        elif name in STRATEGIES:
            chosen[name] = None
        else:
            parse(name, named)  # says which one may be meant
            raise InputRefused(f"{name!r} is a spec; give the name of one strategy")
    return StrategiesData(
        strategies=[described(STRATEGIES[name]) for name in (chosen if names else STRATEGIES)],
        configured=[
            ConfiguredData(name=name, spec=named[name], file=str(of.path))
            for name in named
            if not names or name in names
        ],
    )


def _made_of(name: str, named: Mapping[str, str]) -> list[str]:
    """The strategies that a name of the config stands for. Raises InputRefused.

    A spec that cannot be used is not told as if it could; only a file in it is taken on trust.
    """
    reached, found = [name], dict[str, None]()
    for each in reached:  # grows meanwhile
        for part in named[each].split("|"):
            inner = part.partition(":")[0].strip()
            if inner in STRATEGIES:
                found[inner] = None
            elif inner in named and inner not in reached:
                reached.append(inner)
    if not any(".py:" in named[each] for each in reached):
        parse(name, named)
    return list(found)


def spec_of(strategies: Sequence[Strategy]) -> str:
    """The text form."""
    return " | ".join(strategy.spec for strategy in strategies)


# -- the config -----------------------------------------------------------------------------------


def configured(of: Config) -> dict[str, str]:
    """The specs that a config names. Raises InputRefused."""
    found = of.table("strategies", "names and specs")
    for name, spec in found.items():
        if not isinstance(spec, str):
            raise InputRefused(
                f"{of.path}: the strategy {name!r} is no text such as 'clear:keep=3'"
            )
        if name in STRATEGIES:
            raise InputRefused(
                f"{of.path}: {name!r} is the name of a strategy that there is already"
            )
    return dict(found)


_FILES: set[str] = set()
"""Of strategies that were loaded."""


# -- a file ---------------------------------------------------------------------------------------


def _loaded(path: str, name: str) -> object:
    """What a file has under a name. It is not written beside it (``__pycache__``)."""
    try:
        file = Path(path).expanduser()
        source = file.read_bytes()
    except (OSError, RuntimeError) as error:
        raise InputRefused(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    module = ModuleType(f"ctxlog_user_{sha256(str(file).encode()).hexdigest()[:12]}")
    module.__file__ = str(file)
    _FILES.add(str(file))
    sys.modules[module.__name__] = module  # dataclasses and pydantic look there
    with own_code(f"{path} cannot be run"):
        exec(compile(source, str(file), "exec"), module.__dict__)
    if not hasattr(module, name):
        raise InputRefused(f"{path} has no {name!r}")
    return getattr(module, name)


@contextlib.contextmanager
def own_code(what: str) -> Iterator[None]:
    """Where a user's own code runs: what it raises is told as its fault, not as ours."""
    try:
        yield
    except (CtxlogError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a strategy that calls sys.exit() must not look like success
        raise InputRefused(f"{what}{_where(error)}: {type(error).__name__}: {error}") from error


def _where(error: BaseException) -> str:
    """The line of the user's own file at which it went wrong."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).suffix == ".py" and frame.filename in _FILES
    ]
    return f" (line {lines[-1]})" if lines else ""


def is_own(strategies: Sequence[Strategy]) -> bool:
    """Whether any of them comes from a user's file."""
    return any(
        ".py:" in strategy.spec or type(strategy).__module__.startswith("ctxlog_user_")
        for strategy in strategies
    )


@contextlib.contextmanager
def blaming(strategies: Sequence[Strategy]) -> Iterator[None]:
    """Run strategies; where one is the user's own, what it raises is told as its fault."""
    if not is_own(strategies):
        yield
        return
    with own_code(f"the strategy {spec_of(strategies)} failed"):
        yield
