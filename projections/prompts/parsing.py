"""The YAML text of one file, read as templates.

Either one template (``system``, ``user``, ``description``, ``version``, ``variables``) or roles,
each of them a template, with ``version`` and ``description`` for all of them beside. It is read
as ``nodes`` reads it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from projections.prompts import nodes
from projections.prompts.faults import PromptUnreadable, listed, near_misses, short
from projections.prompts.nodes import MOST_CHARACTERS as MOST_CHARACTERS
from projections.prompts.nodes import MOST_NAMES as MOST_NAMES
from projections.prompts.nodes import NULL, QUOTES, TEXT, List, Node, Scalar
from projections.prompts.template import Template
from projections.prompts.variables import variables_in

_KEYS = ("description", "system", "user", "version", "variables")
_SHARED = ("version", "description")
_LONGEST_ROLE = 100
_DEEPEST = 3


def parse(text: str, name: str, *, file: str = "") -> dict[str, Template]:
    """The templates of one file, by their roles; one without a role stands under ``""``.

    ``name`` becomes theirs; ``file`` is what an error calls it, else the name. Raises
    PromptUnreadable, with the line.
    """
    where = file or name
    whole = nodes.read(text, where, deepest=_DEEPEST, example="system: …")
    return _Templates(name, where).of(whole)


class _Templates:
    """The templates of one document."""

    def __init__(self, name: str, where: str) -> None:
        self._name, self._where = name, where

    def of(self, whole: nodes.Mapping) -> dict[str, Template]:
        """By their roles."""
        entries = whole.entries
        if any(key in entries and not _is_role(entries[key]) for key in ("system", "user")):
            return {"": self._template("", whole, {})}
        shared = {key: self._label("", key, entries[key]) for key in _SHARED if key in entries}
        roles = {role: node for role, node in entries.items() if role not in shared}
        if not roles:
            self._refuse("it has neither `system` nor `user`, nor a role that has", whole.line)
        return {
            self._role(role, whole.lines[role]): self._role_template(role, node, whole, shared)
            for role, node in roles.items()
        }

    def _role(self, role: str, line: int) -> str:
        if not role.strip() or role != role.strip() or "/" in role or not role.isprintable():
            self._refuse(f"{short(role)} is no name of a role", line)
        if len(role) > _LONGEST_ROLE:
            self._refuse(f"a role's name has {_LONGEST_ROLE} characters at most", line)
        return role

    def _role_template(
        self, role: str, node: Node, whole: nodes.Mapping, shared: dict[str, str]
    ) -> Template:
        if isinstance(node, nodes.Mapping):
            return self._template(role, node, shared)
        line = whole.lines[role]
        near = near_misses(role, _KEYS, 1)
        hint = f"; is {near[0]!r} meant?" if near else ""
        self._refuse(f"{short(role)} is a {node.kind}, no role with `system` or `user`{hint}", line)

    def _template(self, role: str, node: nodes.Mapping, shared: dict[str, str]) -> Template:
        for key in node.entries:
            if key not in _KEYS:
                near = near_misses(key, _KEYS, 1)
                hint = f"is {near[0]!r} meant?" if near else f"it has {', '.join(_KEYS)}"
                self._refuse(f"{_of(role)}no key {short(key)}; {hint}", node.lines[key])
        found = {**shared}
        for key in _SHARED:
            if key in node.entries:
                found[key] = self._label(role, key, node.entries[key])
        for key in ("system", "user"):
            if key in node.entries:
                found[key] = self._text(role, key, node.entries[key])
        if not found.get("system") and not found.get("user"):
            self._refuse(f"{_of(role)}neither `system` nor `user` has a text", node.line)
        made = Template(
            self._name,
            role,
            found.get("description", ""),
            found.get("version", ""),
            found.get("system", ""),
            found.get("user", ""),
        )
        if "variables" not in node.entries:
            return made
        declared = self._declared(role, node.entries["variables"], node.lines["variables"], made)
        return replace(made, declared=declared)

    def _declared(self, role: str, node: Node, line: int, made: Template) -> tuple[str, ...]:
        if not isinstance(node, List):
            self._refuse(f"{_of(role)}'variables' is a {node.kind}, no list of names", line)
        found: list[str] = []
        for each in node.values:
            if not isinstance(each, Scalar) or each.tag != TEXT or not each.value.isidentifier():
                name = short(each.value) if isinstance(each, Scalar) else f"a {each.kind}"
                self._refuse(f"{_of(role)}{name} is no name of a variable", each.line)
            found.append(each.value)
        there = [*variables_in(made.system), *variables_in(made.user)]
        gone = [name for name in found if name not in there]
        if gone:
            near = near_misses(gone[0], there, 1)
            hint = f"; is {near[0]!r} meant?" if near else ""
            self._refuse(f"{_of(role)}no {listed(gone)} in braces in its text{hint}", line)
        return tuple(dict.fromkeys(found))

    def _label(self, role: str, key: str, node: Node) -> str:
        """A version or a description: as it was written, so 1.10 is not 1.1."""
        if not isinstance(node, Scalar) or node.tag == NULL:
            kind = "empty" if isinstance(node, Scalar) else f"a {node.kind}, no text"
            self._refuse(f"{_of(role)}{key!r} is {kind}", node.line)
        return self._whole(role, key, node)

    def _text(self, role: str, key: str, node: Node) -> str:
        if not isinstance(node, Scalar):
            hint = f": {QUOTES}" if isinstance(node, nodes.Mapping) else ""
            self._refuse(f"{_of(role)}{key!r} is a {node.kind}, no text{hint}", node.line)
        if node.tag == NULL:
            self._refuse(f"{_of(role)}{key!r} is empty", node.line)
        if node.tag != TEXT:
            detail = f"is no text to YAML, it is {short(node.value)}: put it in quotes"
            self._refuse(f"{_of(role)}{key!r} {detail}", node.line)
        return self._whole(role, key, node)

    def _whole(self, role: str, key: str, node: Scalar) -> str:
        try:
            node.value.encode()
        except UnicodeEncodeError:
            self._refuse(f"{_of(role)}{key!r} holds half of a surrogate pair", node.line)
        return node.value

    def _refuse(self, detail: str, line: int) -> NoReturn:
        raise PromptUnreadable(self._where, detail, line)


def _is_role(node: Node) -> bool:
    """`user: {task}` is a mapping to YAML, and was meant as a text."""
    return isinstance(node, nodes.Mapping) and not node.entries.keys().isdisjoint(_KEYS)


def _of(role: str) -> str:
    return f"role {short(role)}: " if role else ""
