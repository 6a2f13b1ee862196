"""Values of a command line that are taken as they are.

Typer asks pydantic about every value, which takes longer to load than a list of sessions takes
altogether. What was not given, a text, one of a few words, a number within its bounds needs nobody
to be asked; all else, and all that is wrong, goes Typer's way.
"""

from __future__ import annotations

import re
from typing import Any, Literal, get_args, get_origin

_NUMBER = re.compile(r"\d{1,9}", re.ASCII)

_ASK = object()


def take_plainly(param: Any) -> Any:
    """The parameter, which takes what is plain by itself."""
    ask = param.process_value
    if getattr(ask, "is_plain", False):
        return param

    def process(ctx: Any, value: Any) -> Any:
        plain = _plain(param, value)
        if plain is _ASK or (param.required and param.value_is_missing(plain)):
            return ask(ctx, value)
        return plain if param.callback is None else param.callback(ctx, param, plain)

    process.is_plain = True  # type: ignore[attr-defined]
    param.process_value = process
    return param


def _plain(param: Any, value: Any) -> Any:
    several = param.nargs != 1 or param.multiple
    if value is None:
        return () if several else None
    kind = getattr(param, "type_descriptor", None)
    info = getattr(kind, "parameter_info", None)
    if info is None or info.parser is not None or several:
        return _ASK
    wanted = kind.annotation  # type: ignore[union-attr]
    if wanted is str:
        return value if isinstance(value, str) else _ASK
    if get_origin(wanted) is Literal:
        return value if value in get_args(wanted) else _ASK
    if wanted is int and isinstance(value, str) and _NUMBER.fullmatch(value):
        number = int(value)
        least, most = info.min, info.max
        within = (least is None or number >= least) and (most is None or number <= most)
        return number if within else _ASK
    return _ASK
