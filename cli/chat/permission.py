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
from harness.tools.files import GROUP
from harness.tools.permissions import Judgement, check_rule
from harness.tools.tool import Tool
from projections.agent_state.state import Permissions

Answer = Literal["yes", "no", "always", "never"]

_MOST_SHOWN, _MOST_LINES = 4_000, 40
"""Characters and lines of an argument, or of what is written, that is shown whole."""
_WORD = 40
_HEAD = 12
"""Lines that are shown of what is longer."""

_SIGNS: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "write_file": (("content", "", "│"),),
    "edit_file": (("old", "takes out ", "-"), ("new", "puts in ", "+")),
}
"""Of what writes files, the arguments that hold texts: what they do, and a sign for their lines."""

_PLURAL = "what is more than one command, or has a * in it, is never allowed for good"
_NO_NAME = "no rule can be made of what it is about"
_BEGUN = "a call that was begun before is answered for itself"

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
    why_no_rule: str = ""
    """Why none can."""

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

    def refusal(self, typed: str) -> str:
        """Why an answer is none that can be given here."""
        found = _WORDS.get(typed.strip().lower())
        if found is not None:
            return f"{found} is not offered here: {self.why_no_rule}"
        offered = "y, n, a or v" if self.rule else "y or n"
        word = typed.strip()
        shown = repr(word if len(word) <= _WORD else f"{word[:_WORD]}…")
        return f"{shown if word else 'nothing'} is no answer: {offered}"


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
    details: list[str] = []
    for name, verb, sign in _SIGNS.get(tool.name, ()) if tool.group == GROUP else ():
        if isinstance(arguments.get(name), str):
            details += _written(verb, left.pop(name, ""), sign)
    details += [line for name, value in left.items() for line in _detail(name, value)]
    if not judgement.by.startswith("mode"):
        details.append(f"({judgement.by})")
    is_begun = judgement.by == STARTED
    rule = "" if is_begun else _rule(tool, arguments)
    why = _BEGUN if is_begun else _PLURAL if tool.subject_kind == "command" else _NO_NAME
    return Question(said, tuple(details), rule, "" if rule else why)


def _written(verb: str, text: str, sign: str) -> Iterator[str]:
    """A text that would stand in a file, or be taken out of one: its size, and how it begins."""
    lines = text.removesuffix("\n").split("\n") if text else []
    size = plural(len(text.encode("utf-8", "replace")), "byte")
    yield f"{verb}{plural(len(lines), 'line')}, {size}{':' if lines else ''}"
    is_short = len(lines) <= _MOST_LINES and len(text) <= _MOST_SHOWN
    room = _MOST_SHOWN
    shown = 0
    for line in lines if is_short else lines[:_HEAD]:
        if room <= 0:
            break
        yield f"  {sign} {line[:room]}" + ("…" if len(line) > room else "")
        room -= len(line)
        shown += 1
    if shown < len(lines):
        yield f"  {sign} … {plural(len(lines) - shown, 'more line')}, not shown here"


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
