"""What a function takes: the JSON schema that a model is told, and arguments read by it.

The schema comes from the type hints, by pydantic. The text that the model wrote is read as strict
JSON: a key that stands twice is refused, since what a person was shown would not be what runs.
"""

from __future__ import annotations

import functools
import inspect
import json
import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema

from eventlog.errors import EventInvalid, InputRefused
from eventlog.jsonvalue import MAX_DEPTH, depth, why_no_json
from harness.errors import ToolFailed
from harness.tools.context import Context

_SHOWN = 200
"""Characters of what the model wrote that an error repeats."""
_MOST_FAULTS = 8
"""As many wrong arguments are named."""


class _Schema(GenerateJsonSchema):
    """Without titles that repeat the names, and without warnings: a default may be any object."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class Parameters:
    """The parameters of one function. Raises InputRefused for what no schema can say."""

    def __init__(self, function: Callable[..., object]) -> None:
        self.context = ""
        """The name of the parameter that takes the ``Context``."""
        called = getattr(function, "__name__", None) or type(function).__name__
        hints = _hints(function, called)
        self.returns_nothing = hints.get("return", ...) is type(None)
        fields: dict[str, Any] = {}
        self._names: dict[str, str] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if hints.get(name) is Context:
                self.context = name
                continue
            inner = f"p{len(fields)}"  # a model's own names would stand in the way of a parameter's
            fields[inner] = _field(called, parameter, hints)
            self._names[inner] = name
        try:
            self._model = create_model(called, __config__=_CONFIG, **fields)
            self.schema: dict[str, Any] = self._model.model_json_schema(schema_generator=_Schema)
        except PydanticUserError as error:
            why = str(error).split("\n")[0]
            raise InputRefused(f"{called} cannot be a tool: {why}") from None
        self.schema.pop("title", None)
        self.schema.pop("description", None)

    def read(self, given: Mapping[str, object]) -> dict[str, object]:
        """The values to call the function with. Raises ToolFailed: what is wrong, and how."""
        try:
            read: BaseModel = self._model.model_validate(dict(given))
        except ValidationError as error:
            raise ToolFailed(_told(error, list(self._names.values()))) from None
        return {self._names[name]: getattr(read, name) for name in read.model_fields_set}


def context_name(function: Callable[..., object]) -> str:
    """The name of the parameter that takes the ``Context``; empty where none does."""
    try:
        hints = _hints(function, "")
    except InputRefused:  # hints of a function whose schema is not made of them
        return ""
    return next((name for name, hint in hints.items() if hint is Context), "")


_CONFIG = ConfigDict(extra="forbid", validate_by_alias=True, validate_by_name=False)


def _hints(function: Callable[..., object], called: str) -> dict[str, Any]:
    inner: Any = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    if not inspect.isroutine(inner) and not inspect.isclass(inner):
        inner = type(inner).__call__
    try:
        return get_type_hints(inner, include_extras=True)
    except (NameError, TypeError) as error:
        raise InputRefused(f"{called} cannot be a tool: its type hints: {error}") from None


def _field(called: str, parameter: inspect.Parameter, hints: Mapping[str, Any]) -> Any:
    name = parameter.name
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
        raise InputRefused(
            f"{called} cannot be a tool: it takes {stars}{name}; name each of its parameters"
        )
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise InputRefused(f"{called} cannot be a tool: {name!r} is taken by position only")
    if name not in hints:
        raise InputRefused(f"{called} cannot be a tool: {name!r} has no type hint")
    hint = hints[name]
    if get_origin(hint) is Annotated:
        said = next((extra for extra in get_args(hint)[1:] if isinstance(extra, str)), None)
        if said is not None:
            hint = Annotated[hint, Field(description=said)]
    if parameter.default is parameter.empty:
        return hint, Field(alias=name)
    return hint, Field(default=parameter.default, alias=name)


def read_json(text: str) -> dict[str, object]:
    """The arguments that a model wrote; nothing at all is no arguments.

    Raises ToolFailed when it is no JSON object, when a key stands twice, when a number is none of
    JSON, or when it is nested more than 100 deep.
    """
    if not text.strip():
        return {}
    try:
        value = json.loads(
            text, object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        said = f"{text[:_SHOWN]}…" if len(text) > _SHOWN else text
        why = "it is nested too deep" if isinstance(error, RecursionError) else why_no_json(error)
        raise ToolFailed(f"the arguments are no valid JSON: {why}; they were: {said}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ToolFailed("the arguments are no JSON object: give {} with a key for each argument")
    if depth(value) > MAX_DEPTH:
        raise ToolFailed(f"the arguments are nested more than {MAX_DEPTH} deep")
    return value


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r} stands twice")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits[:40]} is over the range of a number")
    return number


def _told(error: ValidationError, names: list[str]) -> str:
    faults = error.errors(include_url=False, include_context=False)
    lines = []
    for fault in faults[:_MOST_FAULTS]:
        where = ".".join(str(part) for part in fault["loc"])
        if fault["type"] == "missing":
            lines.append(f"{where}: it is missing")
        elif fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1:
            known = ", ".join(names) or "none at all"
            lines.append(f"{where}: there is no such argument; there are: {known}")
        else:
            given = repr(fault["input"])
            given = f"{given[:_SHOWN]}…" if len(given) > _SHOWN else given
            lines.append(f"{where}: {fault['msg']} (it was {given})")
    if len(faults) > _MOST_FAULTS:
        lines.append(f"and {len(faults) - _MOST_FAULTS} more")
    return "the arguments are wrong:\n" + "\n".join(lines)


def check_schema(name: str, schema: Mapping[str, object]) -> None:
    """Raise InputRefused where a schema that was written by hand is none of an object."""
    if schema.get("type") != "object":
        raise InputRefused(f"the parameters of {name!r} have to be a JSON schema of an object")
    try:
        json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError, EventInvalid) as error:
        raise InputRefused(f"the parameters of {name!r} are no JSON: {error}") from None


def check_names(schema: Mapping[str, object], given: Mapping[str, object]) -> None:
    """Raise ToolFailed for an argument that is missing, or that the schema does not know."""
    properties, required = schema.get("properties"), schema.get("required")
    known = list(properties) if isinstance(properties, Mapping) else []
    needed = required if isinstance(required, list | tuple) else ()
    faults = [f"{name}: it is missing" for name in needed if name not in given]
    if schema.get("additionalProperties") is False:
        there = ", ".join(map(str, known)) or "none at all"
        faults += [
            f"{name}: there is no such argument; there are: {there}"
            for name in given
            if name not in known
        ]
    if faults:
        raise ToolFailed("the arguments are wrong:\n" + "\n".join(faults[:_MOST_FAULTS]))
