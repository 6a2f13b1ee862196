"""Experiences: what was done in a situation, and how it went.

Of an error that was fixed, of one whose fix the person was not content with, and of a task that was
finished or given up. The text of such a memory begins with the situation: it is recalled where the
same comes up again.
"""

from __future__ import annotations

from collections.abc import Iterator

from eventlog.events import Experience, Remembered
from eventlog.recorded import Draft
from projections.memory.clipping import one_line
from projections.memory.importance import Score
from projections.memory.interactions import Interaction
from projections.memory.learning import BY, LearnPolicy, drafted

PART = 200
"""Code points of a situation, an action, an outcome."""
_TOOLS = 4


def experiences(
    interaction: Interaction, scored: Score, policy: LearnPolicy, into: str
) -> Iterator[Draft]:
    """What was experienced in an interaction."""
    for number, found in enumerate(experienced(interaction)):
        parts = (found.situation, found.action, found.outcome)
        event = Remembered(
            kind="experience",
            text=one_line(" → ".join(filter(None, parts)), policy.longest),
            importance=scored.value,
            scored=scored.rules,
            experience=found,
            sources=interaction.sources,
            by=BY,
        )
        yield drafted(event, into, f"experience {number}", interaction.sources)


def experienced(interaction: Interaction) -> Iterator[Experience]:
    """Situation, action, outcome and success, each time that there is something to tell."""
    is_content = interaction.feedback != "negative"
    answer = one_line(interaction.answer, PART)
    if interaction.errors and interaction.answer and (interaction.fixes or not is_content):
        error = one_line(interaction.errors[0], PART)
        situation = one_line(interaction.request, PART) or error
        if interaction.request and interaction.errors[0] not in interaction.request:
            situation = f"{situation}: {error}"
        fixes = interaction.fixes
        action = one_line(fixes[0].text, PART) if fixes else _tools(interaction) or answer
        outcome = one_line(fixes[-1].text if fixes else interaction.answer, PART)
        yield Experience(
            situation=situation,
            action=action,
            outcome=outcome if outcome != action else "",
            success=is_content,
        )
    action = _tools(interaction) or answer
    outcome = answer if answer != action else ""
    for title in interaction.done:
        yield Experience(situation=title, action=action, outcome=outcome, success=is_content)
    for title in interaction.dropped:
        yield Experience(situation=title, action=action, outcome=outcome, success=False)


def _tools(interaction: Interaction) -> str:
    """What the tools were used for, the last calls that went well."""
    named = [
        f"{tool.name} {tool.subject}".strip() for tool in interaction.tools if tool.outcome == "ok"
    ]
    return one_line("; ".join(dict.fromkeys(named[-_TOOLS:])), PART)
