"""One YAML document as nodes that know their lines: texts, lists and mappings, and nothing else.

It is read from the events of the YAML parser: no object is ever made, no tag obeyed, nothing nested
deeper than who asks needs, and an alias stands for a text only, so none can swell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from projections.prompts.faults import PromptUnreadable, short

MOST_CHARACTERS = 1 << 18
"""Of one file."""

MOST_NAMES = 1_000
"""In one mapping, or one list."""

TEXT = "tag:yaml.org,2002:str"
NULL = "tag:yaml.org,2002:null"

_LONGEST = 300
"""Characters of what the YAML parser says: it may repeat what it found."""
QUOTES = "a text with { or : in it stands in quotes, or on the lines under |"
_IN_LINE = re.compile(r"[^#]*?:\s.*[{:]")


@dataclass(slots=True)
class Scalar:
    """A text, as it was written."""

    value: str
    tag: str
    """What YAML takes it for: a number, a truth value, a text …"""
    line: int

    kind = "text"


@dataclass(slots=True)
class List:
    """Nodes in a row."""

    values: list[Node]
    line: int

    kind = "list"


@dataclass(slots=True)
class Mapping:
    """Nodes by their names."""

    line: int
    entries: dict[str, Node] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    """Of the names."""

    kind = "mapping"


Node = Scalar | List | Mapping


def read(text: str, where: str, *, deepest: int, example: str) -> Mapping:
    """The mapping that a document is.

    ``where`` is what an error calls it, ``deepest`` how many lists and mappings may stand in each
    other, ``example`` what the document could begin with. Raises PromptUnreadable, with the line.
    """
    if len(text) > MOST_CHARACTERS:
        raise PromptUnreadable(
            where, f"{len(text):,} characters are over the limit of {MOST_CHARACTERS:,}"
        )
    return _Document(text, where, deepest, example).read()


class _Document:
    """The one document of a text."""

    def __init__(self, text: str, where: str, deepest: int, example: str) -> None:
        self._text, self._where = text, where
        self._deepest, self._example = deepest, example
        self._anchors: dict[str, Scalar | None] = {}
        self._loader: Any = None

    def read(self) -> Mapping:
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

    def _whole(self) -> Mapping:
        self._next()
        event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            raise PromptUnreadable(self._where, "it is empty")
        node = self._node(self._next(), 1)
        self._next()
        event = self._next()
        if not isinstance(event, yaml.StreamEndEvent):
            self._refuse("a second document begins; a file holds one", event)
        if not isinstance(node, Mapping):
            detail = f"it is a {node.kind}, no mapping such as `{self._example}`"
            raise PromptUnreadable(self._where, detail, node.line)
        return node

    def _next(self) -> Any:
        return self._loader.get_event()

    def _refuse(self, detail: str, event: Any) -> NoReturn:
        raise PromptUnreadable(self._where, detail, event.start_mark.line + 1)

    def _node(self, event: Any, depth: int) -> Node:
        if isinstance(event, yaml.AliasEvent):
            found = self._anchors.get(event.anchor)
            if found is None:
                self._refuse(f"the alias {short(event.anchor)} stands for no text before it", event)
            return found
        if event.tag is not None and event.tag not in (TEXT, "!"):
            self._refuse(f"the tag {short(event.tag)} is not read", event)
        if event.anchor is not None and event.anchor in self._anchors:
            self._refuse(f"the anchor {short(event.anchor)} is there already", event)
        line = event.start_mark.line + 1
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            tag = event.tag or self._loader.resolve(yaml.ScalarNode, event.value, event.implicit)
            node = Scalar(event.value, TEXT if tag == "!" else tag, line)
        elif depth > self._deepest:
            self._refuse("it is nested deeper than a prompt is", event)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = List([], line)
            while not isinstance(event := self._next(), yaml.SequenceEndEvent):
                node.values.append(self._node(event, depth + 1))
                if len(node.values) > MOST_NAMES:
                    self._refuse(f"more than {MOST_NAMES:,} in one list", event)
        else:
            node = self._mapping(line, depth)
        if isinstance(event, yaml.ScalarEvent) and event.anchor is not None:
            self._anchors[event.anchor] = node if isinstance(node, Scalar) else None
        return node

    def _mapping(self, line: int, depth: int) -> Mapping:
        found = Mapping(line)
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            if not isinstance(key, Scalar):
                self._refuse(f"a {key.kind} is no name", event)
            if key.tag != TEXT:
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
        hint = f"; {QUOTES}" if _IN_LINE.match(line) else ""
        if "got '?'" in said:
            hint = "; inside [ ] a text with ? in it stands in quotes"
        return (said if len(said) <= _LONGEST else said[:_LONGEST] + "…") + hint
