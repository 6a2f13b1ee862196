"""The YAML text of one file, read as templates.

Either one template (``system``, ``user``, ``description``, ``version``, ``variables``) or roles,
each of them a template, with ``version`` and ``description`` for all of them beside. It is read
from the events of the YAML parser: no object is ever made, no tag obeyed, nothing nested deeper
than a template needs, and an alias stands for a text only, so none can swell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import yaml

from projections.prompts.faults import PromptUnreadable, listed, near_misses, short
from projections.prompts.template import Template
from projections.prompts.variables import variables_in

MOST_CHARACTERS = 1 << 18
"""Of one file."""

MOST_NAMES = 1_000
"""Roles of one file, or variables of one template."""

_KEYS = ("description", "system", "user", "version", "variables")
_SHARED = ("version", "description")
_LONGEST_ROLE = 100
_LONGEST = 300
"""Characters of what the YAML parser says: it may repeat what it found."""
_QUOTES = "a text with { or : in it stands in quotes, or on the lines under |"
_IN_LINE = re.compile(r"[^#]*?:\s.*[{:]")
_DEEPEST = 3
_TEXT = "tag:yaml.org,2002:str"
_NULL = "tag:yaml.org,2002:null"


@dataclass(slots=True)
class _Scalar:
    value: str
    tag: str
    line: int

    kind = "text"


@dataclass(slots=True)
class _List:
    values: list[_Node]
    line: int

    kind = "list"


@dataclass(slots=True)
class _Mapping:
    line: int
    entries: dict[str, _Node] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    kind = "mapping"


_Node = _Scalar | _List | _Mapping


def parse(text: str, name: str, *, file: str = "") -> dict[str, Template]:
    """The templates of one file, by their roles; one without a role stands under ``""``.

    ``name`` becomes theirs; ``file`` is what an error calls it, else the name. Raises
    PromptUnreadable, with the line.
    """
    where = file or name
    if len(text) > MOST_CHARACTERS:
        raise PromptUnreadable(
            where, f"{len(text):,} characters are over the limit of {MOST_CHARACTERS:,}"
        )
    whole = _Document(text, where).read()
    return _Templates(name, where).of(whole)


class _Document:
    """The one document of a text."""

    def __init__(self, text: str, where: str) -> None:
        self._text, self._where = text, where
        self._anchors: dict[str, _Scalar | None] = {}
        self._loader: Any = None

    def read(self) -> _Mapping:
        """What the document holds."""
        try:
            self._loader = yaml.SafeLoader(self._text)
            try:
                return self._whole()
            finally:
                self._loader.dispose()
        except yaml.reader.ReaderError as error:
            line = self._text.count("\n", 0, error.position) + 1
            detail = f"the character U+{ord(self._text[error.position]):04X} cannot stand in YAML"
            raise PromptUnreadable(self._where, detail, line) from None
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            at = mark.line + 1 if mark is not None else None
            raise PromptUnreadable(self._where, f"no YAML: {self._told(error, at)}", at) from None
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            raise PromptUnreadable(self._where, f"no YAML: {error}") from None

    def _whole(self) -> _Mapping:
        self._next()
        event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            raise PromptUnreadable(self._where, "it is empty")
        node = self._node(self._next(), 1)
        self._next()
        event = self._next()
        if not isinstance(event, yaml.StreamEndEvent):
            self._refuse("a second document begins; a file holds one", event)
        if not isinstance(node, _Mapping):
            raise PromptUnreadable(
                self._where, f"it is a {node.kind}, no mapping such as `system: …`", node.line
            )
        return node

    def _next(self) -> Any:
        return self._loader.get_event()

    def _refuse(self, detail: str, event: Any) -> NoReturn:
        raise PromptUnreadable(self._where, detail, event.start_mark.line + 1)

    def _node(self, event: Any, depth: int) -> _Node:
        if isinstance(event, yaml.AliasEvent):
            found = self._anchors.get(event.anchor)
            if found is None:
                self._refuse(f"the alias {short(event.anchor)} stands for no text before it", event)
            return found
        if event.tag is not None and event.tag not in (_TEXT, "!"):
            self._refuse(f"the tag {short(event.tag)} is not read", event)
        if event.anchor is not None and event.anchor in self._anchors:
            self._refuse(f"the anchor {short(event.anchor)} is there already", event)
        line = event.start_mark.line + 1
        node: _Node
        if isinstance(event, yaml.ScalarEvent):
            tag = event.tag or self._loader.resolve(yaml.ScalarNode, event.value, event.implicit)
            node = _Scalar(event.value, _TEXT if tag == "!" else tag, line)
        elif depth > _DEEPEST:
            self._refuse("it is nested deeper than a prompt is", event)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = _List([], line)
            while not isinstance(event := self._next(), yaml.SequenceEndEvent):
                node.values.append(self._node(event, depth + 1))
                if len(node.values) > MOST_NAMES:
                    self._refuse(f"more than {MOST_NAMES:,} in one list", event)
        else:
            node = self._mapping(line, depth)
        if isinstance(event, yaml.ScalarEvent) and event.anchor is not None:
            self._anchors[event.anchor] = node if isinstance(node, _Scalar) else None
        return node

    def _mapping(self, line: int, depth: int) -> _Mapping:
        found = _Mapping(line)
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            if not isinstance(key, _Scalar):
                self._refuse(f"a {key.kind} is no name", event)
            if key.tag != _TEXT:
                self._refuse(
                    f"the name {short(key.value)} is no text to YAML: put it in quotes", event
                )
            if key.value in found.entries:
                first = found.lines[key.value]
                self._refuse(f"{short(key.value)} is there twice, first in line {first}", event)
            if len(found.entries) > MOST_NAMES:
                self._refuse(f"more than {MOST_NAMES:,} names in one mapping", event)
            found.lines[key.value] = event.start_mark.line + 1
            found.entries[key.value] = self._node(self._next(), depth + 1)
        return found

    def _told(self, error: yaml.MarkedYAMLError, at: int | None) -> str:
        said = ", ".join(filter(None, (error.context, error.problem))) or "it cannot be read"
        line = "\n".join(self._text.split("\n")[at - 1 : at]) if at is not None else ""
        hint = f"; {_QUOTES}" if _IN_LINE.match(line) else ""
        return (said if len(said) <= _LONGEST else said[:_LONGEST] + "…") + hint


class _Templates:
    """The templates of one document."""

    def __init__(self, name: str, where: str) -> None:
        self._name, self._where = name, where

    def of(self, whole: _Mapping) -> dict[str, Template]:
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
        self, role: str, node: _Node, whole: _Mapping, shared: dict[str, str]
    ) -> Template:
        if isinstance(node, _Mapping):
            return self._template(role, node, shared)
        line = whole.lines[role]
        near = near_misses(role, _KEYS, 1)
        hint = f"; is {near[0]!r} meant?" if near else ""
        self._refuse(f"{short(role)} is a {node.kind}, no role with `system` or `user`{hint}", line)

    def _template(self, role: str, node: _Mapping, shared: dict[str, str]) -> Template:
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

    def _declared(self, role: str, node: _Node, line: int, made: Template) -> tuple[str, ...]:
        if not isinstance(node, _List):
            self._refuse(f"{_of(role)}'variables' is a {node.kind}, no list of names", line)
        found: list[str] = []
        for each in node.values:
            if not isinstance(each, _Scalar) or each.tag != _TEXT or not each.value.isidentifier():
                name = short(each.value) if isinstance(each, _Scalar) else f"a {each.kind}"
                self._refuse(f"{_of(role)}{name} is no name of a variable", each.line)
            found.append(each.value)
        there = [*variables_in(made.system), *variables_in(made.user)]
        gone = [name for name in found if name not in there]
        if gone:
            near = near_misses(gone[0], there, 1)
            hint = f"; is {near[0]!r} meant?" if near else ""
            self._refuse(f"{_of(role)}no {listed(gone)} in braces in its text{hint}", line)
        return tuple(dict.fromkeys(found))

    def _label(self, role: str, key: str, node: _Node) -> str:
        """A version or a description: as it was written, so 1.10 is not 1.1."""
        if not isinstance(node, _Scalar) or node.tag == _NULL:
            kind = "empty" if isinstance(node, _Scalar) else f"a {node.kind}, no text"
            self._refuse(f"{_of(role)}{key!r} is {kind}", node.line)
        return self._whole(role, key, node)

    def _text(self, role: str, key: str, node: _Node) -> str:
        if not isinstance(node, _Scalar):
            hint = f": {_QUOTES}" if isinstance(node, _Mapping) else ""
            self._refuse(f"{_of(role)}{key!r} is a {node.kind}, no text{hint}", node.line)
        if node.tag == _NULL:
            self._refuse(f"{_of(role)}{key!r} is empty", node.line)
        if node.tag != _TEXT:
            detail = f"is no text to YAML, it is {short(node.value)}: put it in quotes"
            self._refuse(f"{_of(role)}{key!r} {detail}", node.line)
        return self._whole(role, key, node)

    def _whole(self, role: str, key: str, node: _Scalar) -> str:
        try:
            node.value.encode()
        except UnicodeEncodeError:
            self._refuse(f"{_of(role)}{key!r} holds half of a surrogate pair", node.line)
        return node.value

    def _refuse(self, detail: str, line: int) -> NoReturn:
        raise PromptUnreadable(self._where, detail, line)


def _is_role(node: _Node) -> bool:
    """`user: {task}` is a mapping to YAML, and was meant as a text."""
    return isinstance(node, _Mapping) and not node.entries.keys().isdisjoint(_KEYS)


def _of(role: str) -> str:
    return f"role {short(role)}: " if role else ""
