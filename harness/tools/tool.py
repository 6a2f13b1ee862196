"""A tool: a function that a model may call, and what the model is told about it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal, overload

from eventlog.errors import InputRefused
from harness.tools.arguments import Parameters, check_names, check_schema, context_name
from harness.tools.context import Context

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

SubjectKind = Literal["text", "command", "path"]
"""How permission rules read a subject: as it stands, as a shell's command, as a path."""
Subject = str | Callable[[Mapping[str, object]], str]
"""The name of the argument that rules match on, or what makes it of all arguments."""
Subjects = Callable[[Mapping[str, object]], Sequence[str]]


@dataclass(frozen=True)
class Tool:
    """A function that a model may call. Made by ``tool``, or by hand with a schema of one's own.

    With a schema of one's own the function is called with the arguments by name, as the model gave
    them, once every required one is there; a parameter annotated ``Context`` is filled in. Raises
    InputRefused for a name that no provider takes.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    """The JSON schema of the arguments: an object."""
    function: Callable[..., object]
    has_effects: bool = True
    """Whether running it a second time may do harm."""
    group: str = ""
    """The group that has to be active; empty: it is always there."""
    timeout: float | None = 60.0
    """Seconds; none: it minds its time itself, or may take as long as it wants."""
    in_order: bool = False
    """Without effects, and still never beside another call: it changes what the next one sees."""
    needs_permission: bool = True
    """Whether the mode speaks about it: not where it keeps nothing but the session's own state."""
    subject_kind: SubjectKind = "text"
    subject_of: Subject | None = field(default=None, repr=False, compare=False)
    """What permission rules match on; none: the only argument, else all of them as JSON."""
    other_subjects: Subjects | None = field(default=None, repr=False, compare=False)
    """What else a rule may match on that denies or asks: the names of links on the way."""
    _read: Parameters | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InputRefused(
                f"{self.name!r} is no name of a tool: letters, digits, _ and -, at most 64"
            )
        if self.timeout is not None and not 0 < self.timeout < 1e9:
            raise InputRefused(f"the timeout of {self.name!r} has to be over 0 seconds")
        check_schema(self.name, self.parameters)

    @property
    def definition(self) -> dict[str, Any]:
        """What a model is told, as the openai package takes it."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": deepcopy(self.parameters),
        }
        return {"type": "function", "function": function}

    def subject(self, arguments: Mapping[str, object]) -> str:
        """What permission rules match on: the command, the path … Raises ToolFailed, where the
        tool makes it itself."""
        if callable(self.subject_of):
            return self.subject_of(arguments)
        found: object = arguments
        if self.subject_of is not None:
            found = arguments.get(self.subject_of, "")
        elif len(self.parameters.get("properties", ())) == 1 and len(arguments) == 1:
            [found] = arguments.values()
        return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)

    def call(self, arguments: Mapping[str, object], context: Context) -> object:
        """What the function gives back; a coroutine where it is one.

        Raises ToolFailed for wrong arguments, and whatever the function raises.
        """
        if self._read is None:
            check_names(self.parameters, arguments)
            name = context_name(self.function)
            return self.function(**{**arguments, **({name: context} if name else {})})
        values = self._read.read(arguments)
        if self._read.context:
            values[self._read.context] = context
        return self.function(**values)

    @property
    def returns_nothing(self) -> bool:
        """Whether its function says that there is no result: ``-> None``."""
        return self._read is not None and self._read.returns_nothing


@overload
def tool(function: Callable[..., object], /) -> Tool: ...


@overload
def tool(
    function: Callable[..., object],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    has_effects: bool = True,
    group: str = "",
    timeout: float | None = 60.0,
    subject: Subject | None = None,
    subject_kind: SubjectKind = "text",
    in_order: bool = False,
    needs_permission: bool = True,
) -> Tool: ...


@overload
def tool(
    function: None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    has_effects: bool = True,
    group: str = "",
    timeout: float | None = 60.0,
    subject: Subject | None = None,
    subject_kind: SubjectKind = "text",
    in_order: bool = False,
    needs_permission: bool = True,
) -> Callable[[Callable[..., object]], Tool]: ...


def tool(
    function: Callable[..., object] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    has_effects: bool = True,
    group: str = "",
    timeout: float | None = 60.0,
    subject: Subject | None = None,
    subject_kind: SubjectKind = "text",
    in_order: bool = False,
    needs_permission: bool = True,
) -> Tool | Callable[[Callable[..., object]], Tool]:
    """A tool of a function: as a decorator, with or without settings, or as a call.

    The schema comes of the type hints; ``Annotated[str, "the path"]`` or ``Annotated[str,
    Field(description="the path")]`` says what a parameter is. The description is the first line of
    the docstring. A parameter annotated ``Context`` is filled in. Coroutine functions are taken.

    Raises InputRefused for ``*args``, ``**kwargs``, a parameter without a type hint, and a type
    that has no JSON schema.
    """
    if function is None:
        return lambda given: tool(
            given,
            name=name,
            description=description,
            has_effects=has_effects,
            group=group,
            timeout=timeout,
            subject=subject,
            subject_kind=subject_kind,
            in_order=in_order,
            needs_permission=needs_permission,
        )
    read = Parameters(function)
    if isinstance(subject, str) and subject not in read.schema.get("properties", {}):
        raise InputRefused(f"there is no parameter {subject!r} that rules could match on")
    return Tool(
        name=name if name is not None else getattr(function, "__name__", ""),
        description=description if description is not None else _first_line(function),
        parameters=read.schema,
        function=function,
        has_effects=has_effects,
        group=group,
        timeout=timeout,
        in_order=in_order,
        needs_permission=needs_permission,
        subject_kind=subject_kind,
        subject_of=subject,
        _read=read,
    )


def _first_line(function: Callable[..., object]) -> str:
    said = inspect.getdoc(function) if inspect.isroutine(function) else None
    return said.strip().split("\n")[0].strip() if said and said.strip() else ""
