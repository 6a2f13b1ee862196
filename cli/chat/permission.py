"""The question whether a tool may run, and the rule that an answer to it becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cli.chat.screen import told_arguments
from cli.style import Style
from eventlog.errors import CtxlogError
from eventlog.events import PermissionsSet
from eventlog.jsonvalue import dumps
from harness.tools.commands import is_simple
from harness.tools.permissions import MOST, Judgement, check_rule
from harness.tools.tool import Tool
from projections.agent_state.state import Permissions

Answer = Literal["yes", "no", "always", "never"]

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
    always: str = ""
    """The rule that ``always`` makes; empty where none can be made."""
    never: str = ""

    def lines(self, style: Style) -> Sequence[str]:
        """What is shown over the line on which the answer is typed."""
        head = f"? {style.line(self.said, style.width - 2)}"
        return [style.paint(head, "yellow"), *(f"  {style.block(text)}" for text in self.details)]

    @property
    def choices(self) -> str:
        """The answers that there are."""
        rules = " / [a]lways this session / ne[v]er" if self.always else ""
        return f"  run it? [y]es / [n]o{rules}: "

    def answered(self, typed: str) -> Answer | None:
        """What an answer means; None where it means nothing."""
        found = _WORDS.get(typed.strip().lower())
        return found if self.always or found in ("yes", "no") else None


def question(
    tool: Tool, arguments: Mapping[str, Any], judgement: Judgement, width: int
) -> Question:
    """The question about a call, with the rules that can be made of it."""
    text = dumps(dict(arguments))
    short = told_arguments(text)
    said = f"{tool.name} {short}".rstrip()
    details = []
    if len(said) > width - 2 or "\n" in short:
        details = [line[:MOST] for line in short.splitlines()[:12]]
    if not judgement.by.startswith("mode"):
        details.append(f"({judgement.by})")
    again = judgement.by.startswith("it was started")
    always, never = ("", "") if again else _rules(tool, arguments)
    return Question(said, tuple(details), always, never)


def _rules(tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, str]:
    """The rules of ``always`` and ``never``: about this command or this file alone where that can
    be said, else about the tool."""
    try:
        subject = tool.subject(arguments)
    except (CtxlogError, TypeError, ValueError, RecursionError):
        return "", ""
    plain = subject.strip()
    rule = f"{tool.name}({plain})" if plain and "*" not in plain else tool.name
    try:
        check_rule(rule)
    except CtxlogError:
        return "", ""
    if tool.subject_kind == "command" and not (is_simple(plain) and rule != tool.name):
        return "", ""  # to allow it always would be to allow every command
    return rule, rule


def with_rule(held: Permissions, answer: Answer, of: Question) -> PermissionsSet | None:
    """The permissions with the rule that an answer makes; None where it makes none."""
    if answer not in ("always", "never"):
        return None
    allow, deny = list(held.allow), list(held.deny)
    (allow if answer == "always" else deny).append(of.always if answer == "always" else of.never)
    return PermissionsSet(
        mode=held.mode,
        allow=tuple(dict.fromkeys(allow)),
        deny=tuple(dict.fromkeys(deny)),
        ask=held.ask,
    )
