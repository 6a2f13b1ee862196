"""What differs between two places of a session in what it was told: prompts, variables, tools.

Pure. Prompts are paired by their item, since one that is rendered anew is revised where it stands;
then by their template and role, then by the role of their message, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from projections.forms import canonical
from projections.prompts.in_force import InForce, Prompt, Tools

State = Literal["same", "changed", "added", "removed"]

Aspect = Literal["template", "version", "template_text", "variables", "text"]
"""What of a prompt can differ."""


class Pair(NamedTuple):
    """A prompt on both sides, or on one."""

    left: Prompt | None
    right: Prompt | None

    @property
    def state(self) -> State:
        """What became of the left one."""
        if self.left is None:
            return "added"
        if self.right is None:
            return "removed"
        return "same" if self.left.key == self.right.key else "changed"

    @property
    def changed(self) -> tuple[Aspect, ...]:
        """In what the two differ; nothing where there is one side only."""
        if self.left is None or self.right is None:
            return ()
        one, other = _aspects(self.left), _aspects(self.right)
        return tuple(name for name in one if one[name] != other[name])

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables in which the two differ, by name."""
        left = self.left.variables if self.left is not None else {}
        right = self.right.variables if self.right is not None else {}
        return tuple(_variables(left, right))


class Variable(NamedTuple):
    """A variable that differs."""

    name: str
    left: Any
    right: Any
    state: State


class Tool(NamedTuple):
    """A tool that differs."""

    name: str
    state: State
    fields: tuple[str, ...] = ()
    """Of a changed one: which parts of its definition."""
    left: Any = None
    right: Any = None


class Difference(NamedTuple):
    """The right place, held against the left one."""

    prompts: tuple[Pair, ...]
    """In the order of the right; what only the left had stands behind."""
    tools: tuple[Tool, ...]
    tools_known: bool
    """Whether the tools of both are known."""

    @property
    def is_same(self) -> bool:
        """Whether nothing differs, as far as that is known."""
        return not self.tools and all(pair.state == "same" for pair in self.prompts)


def difference(left: InForce, right: InForce) -> Difference:
    """What differs between two places."""
    known = left.tools.is_known and right.tools.is_known
    tools = tuple(tool_changes(left.tools, right.tools)) if known else ()
    return Difference(tuple(paired(left.prompts, right.prompts)), tools, known)


def is_other(left: InForce, right: InForce) -> bool:
    """Whether a session was told something else at one place than at the other."""
    return not difference(left, right).is_same


def _aspects(prompt: Prompt) -> dict[Aspect, Any]:
    return {
        "template": (prompt.template, prompt.role),
        "version": prompt.version,
        "template_text": prompt.template_text,
        "variables": canonical(prompt.variables),
        "text": prompt.text if not prompt.is_erased else None,
    }


# -- which belong together ------------------------------------------------------------------------

_BY: tuple[Callable[[Prompt], object], ...] = (
    lambda prompt: prompt.item.id,
    lambda prompt: (
        (prompt.template, prompt.role, prompt.item.role) if prompt.event is not None else id(prompt)
    ),
    lambda prompt: prompt.item.role,
)


def paired(left: Sequence[Prompt], right: Sequence[Prompt]) -> Iterator[Pair]:
    """The prompts of two places, side by side."""
    partner: dict[int, int] = {}
    for by in _BY:
        waiting: dict[object, list[int]] = {}
        for at, prompt in enumerate(left):
            if at not in partner.values():
                waiting.setdefault(by(prompt), []).append(at)
        for at, prompt in enumerate(right):
            if at not in partner and waiting.get(by(prompt)):
                partner[at] = waiting[by(prompt)].pop(0)
    for at, prompt in enumerate(right):
        yield Pair(left[partner[at]] if at in partner else None, prompt)
    used = set(partner.values())
    yield from (Pair(prompt, None) for at, prompt in enumerate(left) if at not in used)


def _variables(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[Variable]:
    for name in dict.fromkeys([*left, *right]):
        if name not in right:
            yield Variable(name, left[name], None, "removed")
        elif name not in left:
            yield Variable(name, None, right[name], "added")
        elif canonical(left[name]) != canonical(right[name]):
            yield Variable(name, left[name], right[name], "changed")


# -- tools ----------------------------------------------------------------------------------------


def tool_changes(left: Tools, right: Tools) -> Iterator[Tool]:
    """The tools that differ, in the order of the right."""
    if left.position == right.position:
        return
    one, other = by_name(left.definitions), by_name(right.definitions)
    for name, definition in other.items():
        if name not in one:
            yield Tool(name, "added", right=definition)
        elif canonical(one[name]) != canonical(definition):
            fields = tuple(_fields(one[name], definition))
            yield Tool(name, "changed", fields, one[name], definition)
    for name, definition in one.items():
        if name not in other:
            yield Tool(name, "removed", left=definition)


def by_name(definitions: Any) -> dict[str, Any]:
    """The tools of a declaration, in any dialect; one without a name goes by its type and place."""
    found: dict[str, Any] = {}
    listed = definitions if isinstance(definitions, list) else []
    for number, each in enumerate(listed, 1):
        inner = _inner(each)
        name = inner.get("name") or inner.get("type")
        name = name if isinstance(name, str) else f"tool {number}"
        while name in found:
            name = f"{name} ({number})"
        found[name] = each
    return found


def _inner(definition: Any) -> Mapping[str, Any]:
    """Where name, description and parameters stand."""
    if not isinstance(definition, Mapping):
        return {}
    inner = definition.get("function")
    return inner if isinstance(inner, Mapping) else definition


def _fields(left: Any, right: Any) -> Iterator[str]:
    one, other = _inner(left), _inner(right)
    found = [
        name
        for name in dict.fromkeys([*one, *other])
        if name not in one or name not in other or canonical(one[name]) != canonical(other[name])
    ]
    yield from found or ["definition"]
