"""Prompts for kinds of work, chosen by the kind that ``TaskClassified`` told, or by name."""

from __future__ import annotations

from harness.prompts.folder import Prompts
from projections.prompts.template import Template

GENERAL = "general"
"""What is taken for a kind of work that none of the others is for."""

SCENARIOS = ("code_review", "debugging", "architecture", GENERAL)
"""The names of the prompts that come with this program for kinds of work."""

_ALSO = {
    "review": "code_review",
    "bug_fix": "debugging",
    "bugfix": "debugging",
    "debug": "debugging",
    "design": "architecture",
    "system_design": "architecture",
}
"""Other words for a kind of work."""


def scenario_name(task_type: str) -> str:
    """The scenario for a kind of work; ``general`` for one that none is for.

    ``task_type`` as ``TaskClassified`` has it: ``code_review``, ``Code review``, ``code-review``.
    """
    kind = "_".join(task_type.casefold().replace("-", " ").replace("_", " ").split())
    kind = _ALSO.get(kind, kind)
    return kind if kind in SCENARIOS else GENERAL


def scenario(task_type: str, prompts: Prompts | None = None) -> Template:
    """The template for a kind of work, of these prompts, else of those that come along.

    Raises PromptMissing, PromptUnreadable where ``prompts`` has none of that name.
    """
    return (prompts or Prompts.bundled()).get(scenario_name(task_type))
