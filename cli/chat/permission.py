"""The question whether a tool may run, and the rule that an answer to it becomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cli.chat.screen import plain_argument, told_arguments, with_names
from cli.style import Style, plural
from eventlog.errors import CtxlogError
from eventlog.events import PermissionsSet
from eventlog.jsonvalue import dumps
from harness.conversation.permitting import STARTED
from harness.tools.commands import is_simple
from harness.tools.permissions import Judgement, check_rule
from harness.tools.tool import Tool
from projections.agent_state.state import Permissions

Answer = Literal["yes", "no", "always", "never"]

_MOST_SHOWN, _MOST_LINES = 4_000, 40
"""Characters and lines of an argument."""

_WORDS: Mapping[str, Answer] = {
    "y": "yes",
    "yes": "yes",
    "n": "no",
    "no": "no",
    "a": "always",
    "always": "always",
    "v": "never",
    "never": "never",
}


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked about one call."""

    said: str
    """The call, in short."""
    details: tuple[str, ...]
    """All of it, where that is more than fits on a line, and why it is asked."""
    rule: str = ""
    """What ``always`` allows and ``never`` denies; empty where no rule can be made."""

    def lines(self, style: Style) -> Sequence[str]:
        """What is shown over the line on which the answer is typed."""
        head = f"? {style.line(self.said, style.width - 2)}"
        return [style.paint(head, "yellow"), *(f"  {style.block(text)}" for text in self.details)]

    @property
    def choices(self) -> str:
        """The answers that there are."""
        rules = " / [a]lways this session / ne[v]er" if self.rule else ""
        return f"  run it? [y]es / [n]o{rules}: "

    def answered(self, typed: str) -> Answer | None:
        """What an answer means; None where it means nothing."""
        found = _WORDS.get(typed.strip().lower())
        return found if self.rule or found in ("yes", "no") else None


def question(
    tool: Tool, arguments: Mapping[str, Any], judgement: Judgement, width: int
) -> Question:
    """The question about a call, with the rules that can be made of it."""
    short = told_arguments(dumps(dict(arguments)))
    said = f"{tool.name} {short}".rstrip()
    left = {name: plain_argument(value) for name, value in arguments.items()}
    if len(said) <= width - 2 and "\n" not in short:  # it stands whole on its line
        named = next((name for name, value in left.items() if value == short), "")
        if named:
            del left[named]
        elif short == with_names(left):
            left.clear()
    details = [line for name, value in left.items() for line in _detail(name, value)]
    if not judgement.by.startswith("mode"):
        details.append(f"({judgement.by})")
    rule = "" if judgement.by == STARTED else _rule(tool, arguments)
    return Question(said, tuple(details), rule)


def _detail(name: str, value: str) -> Iterator[str]:
    """An argument as it is; of a long one it is said how much is not shown."""
    shown = "\n".join(value[:_MOST_SHOWN].split("\n")[:_MOST_LINES])
    first, *more = shown.split("\n")
    yield f"{name}: {first}"
    yield from (f"    {line}" for line in more)
    if len(shown) < len(value):
        yield f"    … {plural(len(value) - len(shown), 'more character')}, not shown here"


def _rule(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """The rule of ``always`` and ``never``: about this very command or file, else about the tool.

    Empty where it would say more than was asked: a ``*`` is any text in a rule, and what is more
    than one command is understood by none.
    """
    try:
        subject = tool.subject(arguments)
    except (CtxlogError, TypeError, ValueError, RecursionError):
        return ""
    if tool.subject_kind == "text":
        return tool.name
    is_plain = bool(subject) and "*" not in subject and subject == subject.strip()
    if not is_plain or (tool.subject_kind == "command" and not is_simple(subject)):
        return ""
    rule = f"{tool.name}({subject})"
    try:
        check_rule(rule)
    except CtxlogError:
        return ""
    return rule


def with_rule(held: Permissions, answer: Answer, of: Question) -> PermissionsSet | None:
    """The permissions with the rule that an answer makes; None where it makes none."""
    if answer not in ("always", "never"):
        return None
    allow, deny = list(held.allow), list(held.deny)
    (allow if answer == "always" else deny).append(of.rule)
    return PermissionsSet(
        mode=held.mode,
        allow=tuple(dict.fromkeys(allow)),
        deny=tuple(dict.fromkeys(deny)),
        ask=held.ask,
    )
