r"""Variables in a text: what counts as one, and what is put in its place.

A variable is an identifier alone in braces, ``{name}`` or ``{{name}}``; where they are doubled on
both sides, both go. Everything else in braces is text: ``{}``, ``{0}``, ``{x!r}``, ``{x.y}``,
``{ name }``, ``{"a": 1}``, ``{color: red}``. It is one pass: what a value holds is never looked
into.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from projections.prompts.faults import ValueRefused

_NAME = r"[^\W\d]\w*"
_VARIABLE = re.compile(rf"\{{\{{({_NAME})\}}\}}|\{{({_NAME})\}}")


def variables_in(text: str) -> list[str]:
    """The names that stand in a text as variables, in their order, each once."""
    names = (found[1] or found[2] for found in _VARIABLE.finditer(text))
    return list(dict.fromkeys(name for name in names if name.isidentifier()))


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with each of these variables replaced by its value; others stay as they are."""
    return _VARIABLE.sub(lambda found: values.get(found[1] or found[2], found[0]), text)


def plain(value: object, name: str, where: str) -> object:
    """A value as it can be recorded: a text, or JSON that nobody else holds.

    ``name`` and ``where`` are told when it is neither. Raises ValueRefused.
    """
    if isinstance(value, str):
        return str.__str__(value)
    try:
        found: object = json.loads(json.dumps(value, allow_nan=False))
        return found
    except TypeError:
        detail = f"is a {type(value).__name__} or holds one: give a text, or what JSON has"
    except (ValueError, RecursionError) as error:
        detail = f"is no JSON: {error}"
    raise ValueRefused(where, name, detail)


def said(value: object) -> str:
    """What stands for a value in the text: a text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
