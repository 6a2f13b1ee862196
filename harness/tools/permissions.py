"""Whether a tool call may run, by the rules of the session.

A rule is the name of a tool, ``read_file``, or a name and a pattern of what the call is about:
``shell(git status *)``, ``write_file(src/**)``. Of a name, too, ``*`` is any part: ``*(.env)``. A
rule that denies is before one that asks, that before one that allows, and where no rule speaks the
mode does.

Paths are matched as they are once links are followed, relative to the root; a rule that denies or
asks speaks about the names of links on the way, too. Commands are matched as
``harness/tools/commands.py`` says. A rule of a session that cannot be read (an older program let it
in) allows nothing and, where it denies, denies everything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from eventlog.errors import InputRefused
from harness.errors import ToolFailed
from harness.tools.commands import allows, occurs
from harness.tools.context import Permissions
from harness.tools.patterns import matches_path, matches_text
from harness.tools.tool import Tool

Verdict = Literal["allowed", "denied", "ask"]

MOST = 1_000
"""Characters of a rule."""
_RULE = re.compile(r"([A-Za-z0-9_*-]{1,64})(?:\((.+)\))?", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Judgement:
    """Whether a call may run, and which rule, or mode, says so."""

    verdict: Verdict
    by: str
    """``deny shell(rm *)``, ``mode ask`` …"""


@dataclass(frozen=True)
class Rule:
    """A rule, read."""

    name: str
    pattern: str | None = None
    """None: whatever the call is about."""


def read_rule(text: str) -> Rule:
    """A rule from its text. Raises InputRefused: what is wrong, and how one looks."""
    found = _RULE.fullmatch(text) if len(text) <= MOST else None
    if found is None:
        shown = f"{text[:80]}…" if len(text) > 80 else text
        why = "too long" if len(text) > MOST else "not a rule"
        raise InputRefused(
            f"{shown!r} is {why}: write read_file, or shell(git status), or write_file(src/**)"
        )
    if _CONTROL.search(text):
        raise InputRefused(f"{text[:80]!r} is not a rule: it holds a control character")
    return Rule(found[1], found[2])


def check_rule(text: str) -> None:
    """Raise InputRefused for a rule that cannot be read: before it is recorded."""
    read_rule(text)


def judge(permissions: Permissions, tool: Tool, arguments: Mapping[str, object]) -> Judgement:
    """What the rules and the mode say about a call. Nothing is raised.

    A tool that touches nothing but the session's own state is allowed unless a rule denies it or
    asks.
    """
    subject, others = _subjects(tool, arguments)
    for kind, rules in (("deny", permissions.deny), ("ask", permissions.ask)):
        for text in rules:
            if any(_speaks(text, tool, name) for name in (subject, *others)):
                return Judgement("denied" if kind == "deny" else "ask", f"{kind} {text}")
    for text in permissions.allow:
        if _allows(text, tool, subject):
            return Judgement("allowed", f"allow {text}")
    if not tool.needs_permission:
        return Judgement("allowed", "its own state")
    return Judgement(_by_mode(permissions, tool), f"mode {permissions.mode}")


def denies(permissions: Permissions, name: str, path: str) -> bool:
    """Whether a rule denies a tool of this name this path, relative to the root: a search leaves
    out what may not be read."""
    for text in permissions.deny:
        try:
            rule = read_rule(text)
        except InputRefused:
            return True
        if matches_text(rule.name, name) and (
            rule.pattern is None or matches_path(rule.pattern, path)
        ):
            return True
    return False


def _by_mode(permissions: Permissions, tool: Tool) -> Verdict:
    if permissions.mode == "allow":
        return "allowed"
    if permissions.mode == "deny":
        return "denied"
    if not tool.has_effects:
        return "allowed"
    return "denied" if permissions.mode == "read_only" else "ask"


def _subjects(tool: Tool, arguments: Mapping[str, object]) -> tuple[str | None, tuple[str, ...]]:
    """What the call is about, and other names of it; None where that cannot be said: its arguments
    are wrong."""
    try:
        others = tool.other_subjects(arguments) if tool.other_subjects is not None else ()
        return tool.subject(arguments), tuple(others)
    except (ToolFailed, TypeError, ValueError, RecursionError):
        return None, ()


def _speaks(text: str, tool: Tool, subject: str | None) -> bool:
    """Whether a rule that denies or asks is about this call; in doubt it is."""
    try:
        rule = read_rule(text)
    except InputRefused:
        return True
    if not matches_text(rule.name, tool.name):
        return False
    if rule.pattern is None or subject is None:
        return True
    if tool.subject_kind == "command":
        return occurs(rule.pattern, subject)
    return _matches(rule.pattern, tool, subject)


def _allows(text: str, tool: Tool, subject: str | None) -> bool:
    """Whether a rule that allows is about this call; in doubt it is not."""
    try:
        rule = read_rule(text)
    except InputRefused:
        return False
    if not matches_text(rule.name, tool.name):
        return False
    if rule.pattern is None:
        return True
    if subject is None:
        return False
    if tool.subject_kind == "command":
        return allows(rule.pattern, subject)
    return _matches(rule.pattern, tool, subject)


def _matches(pattern: str, tool: Tool, subject: str) -> bool:
    if tool.subject_kind == "path":
        return matches_path(pattern, subject)
    return matches_text(pattern, subject)
