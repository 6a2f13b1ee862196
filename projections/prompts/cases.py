"""A file of tests of a prompt, read. Pure.

    prompt: review/coder            # NAME or NAME/ROLE of --prompts; or `system:` and `user:` here
    vars: {language: Python}        # for all cases
    cases:
      - name: an error is named
        vars: {change: "- return a\\n+ return b"}
        user: Which line is it?     # more turns, each answered before the next: a text or a list
        checks:
          - contains: [return b, line]
          - not_contains: As an AI
          - min_length: 20

Each check is a name of ``checks.KINDS`` and what it expects; with a list, each of them is a check.
Values are texts as they were written: 1.10 is not 1.1, and yes is "yes".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn, cast

from projections.prompts import nodes
from projections.prompts.checks import KINDS, Check, Kind
from projections.prompts.faults import PromptUnreadable, VariablesRefused, near_misses, short
from projections.prompts.nodes import Node, Scalar
from projections.prompts.template import Rendered, Template

MOST_CASES = 500
"""Of one file."""

_DEEPEST = 6
_KEYS = ("prompt", "role", "system", "user", "vars", "cases")
_CASE_KEYS = ("name", "vars", "user", "checks")
_NUMBER = re.compile(r"[0-9]{1,7}", re.ASCII)
_LONGEST_NAME = 200
_TRUTHS = ("true", "false")


@dataclass(frozen=True, slots=True)
class Case:
    """One conversation with the prompt, and what its last answer is checked for."""

    name: str
    variables: Mapping[str, str]
    """Those of the file and its own."""
    turns: tuple[str, ...]
    """What a person says behind the prompt, each answered before the next."""
    checks: tuple[Check, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Suite:
    """The tests of one file."""

    file: str
    """As an error names it."""
    prompt: str
    """The name of a prompt in a folder; empty where the file holds one itself."""
    role: str
    template: Template | None
    """The prompt that the file holds."""
    cases: tuple[Case, ...]
    line: int = 1
    """Where the prompt is named."""

    def refused(self, detail: str, line: int) -> PromptUnreadable:
        """The error of something in the file."""
        return PromptUnreadable(self.file, detail, line)

    def rendered(self, case: Case, template: Template) -> Rendered:
        """The prompt of one case. Raises PromptUnreadable where its variables do not fit."""
        try:
            made = template.render(**case.variables)
        except VariablesRefused as error:
            raise self.refused(f"case {short(case.name)}: {error}", case.line) from None
        if not made.user and not case.turns:
            detail = "the prompt has no user text, so the case needs `user`"
            raise self.refused(f"case {short(case.name)}: {detail}", case.line)
        return made


def suite(text: str, name: str, file: str) -> Suite:
    """The tests of a file. ``name`` becomes that of a prompt that it holds itself.

    Raises PromptUnreadable, with the line.
    """
    whole = nodes.read(text, file, deepest=_DEEPEST, example="prompt: …")
    return _Reader(file).suite(whole, name)


class _Reader:
    """Reads the nodes of one file."""

    def __init__(self, file: str) -> None:
        self._file = file

    def _refuse(self, detail: str, line: int) -> NoReturn:
        raise PromptUnreadable(self._file, detail, line)

    def suite(self, whole: nodes.Mapping, name: str) -> Suite:
        """The whole file."""
        self._known(whole, _KEYS)
        entries, lines = whole.entries, whole.lines
        inline = [key for key in ("system", "user") if key in entries]
        if "prompt" in entries and inline:
            self._refuse(f"it has `prompt` and `{inline[0]}`: one of them", lines[inline[0]])
        if "prompt" not in entries and not inline:
            self._refuse("it has neither `prompt` nor a `system` or `user` of its own", whole.line)
        if "role" in entries and inline:
            self._refuse("`role` goes with `prompt`", lines["role"])
        texts = {key: self._text(entries[key], key) for key in inline}
        template = Template(name, system=texts.get("system", ""), user=texts.get("user", ""))
        shared = self._variables(entries.get("vars"))
        prompt = self._text(entries["prompt"], "prompt") if "prompt" in entries else ""
        return Suite(
            file=self._file,
            prompt=prompt,
            role=self._text(entries["role"], "role") if "role" in entries else "",
            template=template if inline else None,
            cases=tuple(self._cases(whole, shared)),
            line=lines.get("prompt", whole.line),
        )

    def _known(self, node: nodes.Mapping, keys: tuple[str, ...]) -> None:
        for key in node.entries:
            if key not in keys:
                near = near_misses(key, keys, 1)
                hint = f"is {near[0]!r} meant?" if near else f"there are {', '.join(keys)}"
                self._refuse(f"no key {short(key)}; {hint}", node.lines[key])

    def _text(self, node: Node, key: str) -> str:
        if not isinstance(node, Scalar):
            self._refuse(f"{short(key)} is a {node.kind}, no text", node.line)
        if node.tag == nodes.NULL or not node.value.strip():
            self._refuse(f"{short(key)} is empty", node.line)
        try:
            node.value.encode()
        except UnicodeEncodeError:
            self._refuse(f"{short(key)} holds half of a surrogate pair", node.line)
        return node.value

    def _variables(self, node: Node | None) -> dict[str, str]:
        if node is None:
            return {}
        if not isinstance(node, nodes.Mapping):
            self._refuse(f"'vars' is a {node.kind}, no mapping of names and texts", node.line)
        found: dict[str, str] = {}
        for name, value in node.entries.items():
            if not name.isidentifier():
                self._refuse(f"{short(name)} is no name of a variable", node.lines[name])
            is_empty = isinstance(value, Scalar) and not value.value and value.tag == nodes.TEXT
            found[name] = "" if is_empty else self._text(value, name)
        return found

    # -- cases ------------------------------------------------------------------------------------

    def _cases(self, whole: nodes.Mapping, shared: Mapping[str, str]) -> Iterator[Case]:
        node = whole.entries.get("cases")
        if not isinstance(node, nodes.List) or not node.values:
            line = whole.lines.get("cases", whole.line)
            self._refuse("it needs `cases`, a list with one at least", line)
        if len(node.values) > MOST_CASES:
            self._refuse(f"more than {MOST_CASES} cases: make two files of it", node.line)
        seen: dict[str, int] = {}
        for number, each in enumerate(node.values, 1):
            if not isinstance(each, nodes.Mapping):
                self._refuse(f"case {number} is a {each.kind}, no mapping", each.line)
            case = self._case(each, number, shared)
            if case.name in seen:
                detail = f"the name {short(case.name)} is there twice, first in line"
                self._refuse(f"{detail} {seen[case.name]}", case.line)
            seen[case.name] = case.line
            yield case

    def _case(self, node: nodes.Mapping, number: int, shared: Mapping[str, str]) -> Case:
        self._known(node, _CASE_KEYS)
        name = f"case {number}"
        if "name" in node.entries:
            name = " ".join(self._text(node.entries["name"], "name").split())
            if len(name) > _LONGEST_NAME:
                self._refuse(f"a name has {_LONGEST_NAME} characters at most", node.lines["name"])
        return Case(
            name=name,
            variables={**shared, **self._variables(node.entries.get("vars"))},
            turns=tuple(self._turns(node.entries.get("user"))),
            checks=tuple(self._checks(node)),
            line=node.line,
        )

    def _turns(self, node: Node | None) -> Iterator[str]:
        listed = node.values if isinstance(node, nodes.List) else [node] if node else []
        for each in listed:
            yield self._text(each, "user")

    def _checks(self, case: nodes.Mapping) -> Iterator[Check]:
        node = case.entries.get("checks")
        if not isinstance(node, nodes.List) or not node.values:
            line = case.lines.get("checks", case.line)
            self._refuse("a case needs `checks`, a list such as `- contains: a text`", line)
        for each in node.values:
            if not isinstance(each, nodes.Mapping) or len(each.entries) != 1:
                self._refuse("a check is one name with what it expects", each.line)
            [(kind, expected)] = each.entries.items()
            if kind not in KINDS:
                self._known(each, KINDS)
            listed = expected.values if isinstance(expected, nodes.List) else [expected]
            if not listed:
                self._refuse(f"{short(kind)} is empty", each.line)
            yield from (self._check(cast(Kind, kind), value) for value in listed)

    def _check(self, kind: Kind, node: Node) -> Check:
        expected = self._text(node, kind)
        if kind in ("no_secret", "refuses"):
            expected = expected.strip().lower()
            if expected not in _TRUTHS or (kind == "no_secret" and expected == "false"):
                wanted = "true" if kind == "no_secret" else "true or false"
                self._refuse(f"{kind} takes {wanted}", node.line)
        elif kind in ("min_length", "max_length"):
            if not _NUMBER.fullmatch(expected):
                self._refuse(f"{kind} takes a number of characters", node.line)
        elif kind in ("regex", "not_regex"):
            try:
                re.compile(expected)
            except (re.error, OverflowError, RecursionError) as error:
                self._refuse(f"{kind} {short(expected)} is no expression: {error}", node.line)
        return Check(kind, expected, node.line)
