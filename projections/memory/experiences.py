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
from projections.memory.interactions import Interaction, ToolUse
from projections.memory.learning import BY, LearnPolicy, drafted

PART = 200
"""Code points of a situation, an action, an outcome."""
_TOOLS = 4
_TELLING = 40
"""Code points of a fix that says something."""


def experiences(
    interaction: Interaction, scored: Score, policy: LearnPolicy, into: str
) -> Iterator[Draft]:
    """What was experienced in an interaction."""
    sources = interaction.source(*_positions(interaction))
    asked = interaction.source(interaction.said[0].position)
    for about, found in experienced(interaction):
        parts = (found.situation, found.action, found.outcome)
        event = Remembered(
            kind="experience",
            text=one_line(" → ".join(filter(None, parts)), policy.longest),
            importance=scored.value,
            scored=scored.rules,
            experience=found,
            sources=sources,
            by=BY,
        )
        yield drafted(event, into, f"experience of {about}", asked)


def _positions(interaction: Interaction) -> set[int]:
    """Where it is told: what was asked and done, the error, what fixed it, and how it ended."""
    told = {said.position for said, _ in interaction.fixes} | set(interaction.error_at)
    told |= {said.position for said in interaction.said[:1]}
    told |= set([said.position for said in interaction.said if said.by == "model"][-1:])
    told |= {tool.position for tool in _used(interaction)}
    return told | (set(interaction.tasks_at) if interaction.done or interaction.dropped else set())


def experienced(interaction: Interaction) -> Iterator[tuple[str, Experience]]:
    """What it is about, an error or a task by its title, and what was experienced."""
    is_content = interaction.feedback != "negative"
    answer = one_line(interaction.answer, PART)
    if interaction.errors and interaction.answer and (interaction.fixes or not is_content):
        error = one_line(interaction.error, PART)
        situation = one_line(interaction.request, PART) or error
        if interaction.request and interaction.error not in interaction.request:
            situation = f"{situation}: {error}"
        action = fix_text(interaction) or _tools(interaction) or answer
        outcome = one_line(interaction.fixes[-1][1].text, PART) if interaction.fixes else answer
        yield (
            "error",
            Experience(
                situation=situation,
                action=action,
                outcome="" if outcome in action else outcome,
                success=is_content,
            ),
        )
    action = _tools(interaction) or answer
    outcome = answer if answer != action else ""
    for title in interaction.done:
        found = Experience(situation=title, action=action, outcome=outcome, success=is_content)
        yield f"task {title}", found
    for title in interaction.dropped:
        found = Experience(situation=title, action=action, outcome=outcome, success=False)
        yield f"task {title}", found


def fix_text(interaction: Interaction) -> str:
    """What fixed an error, as the model told it; of one who only says "Fixed." also what else that
    message says."""
    if not interaction.fixes:
        return ""
    texts = dict.fromkeys((interaction.fixes[0][1].text, interaction.fixes[-1][1].text))
    told = " ".join(one_line(text, PART) for text in texts)
    return told if len(told) >= _TELLING else one_line(interaction.fixes[-1][0].text, PART)


def _tools(interaction: Interaction) -> str:
    """What the tools were used for, the last calls that went well."""
    named = [f"{tool.name} {tool.subject}".strip() for tool in _used(interaction)]
    return one_line("; ".join(dict.fromkeys(named)), PART)


def _used(interaction: Interaction) -> list[ToolUse]:
    return [tool for tool in interaction.tools if tool.outcome == "ok"][-_TOOLS:]
