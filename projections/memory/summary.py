"""What a session leaves behind at its end: goal, decisions, tasks, errors, what is open, what next.

It is read from the events, so it costs no model. A later summary of the same session takes the
place of the earlier one, since both are about ``session <key>``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eventlog.events import MemorySource, Remembered, SessionSummary
from eventlog.recorded import Draft
from projections.memory.behaviour import behaviour
from projections.memory.clipping import one_line
from projections.memory.importance import Rule, score
from projections.memory.interactions import LONGEST_TEXT, Course, Interaction
from projections.memory.learned import rules_of
from projections.memory.learning import BY, LearnPolicy, drafted, stream_of
from projections.memory.memory import Memory, same_subject
from projections.memory.profile import together
from projections.memory.signs import SignKind
from projections.memory.spoken import spoken

MOST_DECISIONS, MOST_TASKS, MOST_ERRORS, MOST_OPEN, MOST_NEXT = 5, 3, 3, 8, 3
"""The last ones of each that stand in a summary."""
PART = 240
"""Code points of each."""
_COUNTED: frozenset[Rule] = frozenset({"decision", "error and fix"})
"""Rules that count for a session as a whole."""


_OWN: frozenset[SignKind] = frozenset({"remember", "preference", "basics"})
ONLY_WISHES = "to say what is to be remembered"
"""The goal of a session in which nothing else was asked."""


def closing(
    course: Course, policy: LearnPolicy | None = None, *, into: str = "", since: int = 0
) -> list[Draft]:
    """The summary of a session, and what the profile counts of it.

    ``since`` is the position up to which it was summarized before (``summarized_to``): only what
    came behind it is counted, and where nothing did there is nothing to say.
    """
    policy = policy or LearnPolicy()
    if not course.interactions or course.interactions[-1].last <= since:
        return []
    into = into or stream_of(course.stream)
    return [*_remembered(course, policy, into), *behaviour(course, into, since)]


def summarized_to(memories: Iterable[Memory], session: str) -> int:
    """The position up to which a session was summarized; 0: never. ``memories`` are all that there
    ever were: one that was forgotten counted what it counted."""
    subject = same_subject(subject_of(session))
    return max(
        (
            position
            for memory in memories
            if memory.kind == "session_summary" and same_subject(memory.subject) == subject
            for source in memory.sources
            for position in source.positions
        ),
        default=0,
    )


def subject_of(session: str) -> str:
    """The subject of the summaries of a session."""
    return f"session {session}"


def summary_of(course: Course) -> SessionSummary:
    """The summary of what is in force of a session."""
    decisions = [sign.text for each in course.interactions for _, sign in each.signs("decision")]
    errors = [error for each in course.interactions for error in each.errors]
    return SessionSummary(
        goal=_goal(course),
        decisions=_last(decisions, MOST_DECISIONS),
        tasks=_last(_tasks(course), MOST_TASKS),
        errors=_last(errors, MOST_ERRORS),
        open_points=_last(_open(course), MOST_OPEN),
        next_steps=_last(_next(course), MOST_NEXT),
    )


def summary_text(summary: SessionSummary) -> str:
    """A summary as one line, its empty parts left out."""
    parts = (
        ("Goal", (summary.goal,)),
        ("Decisions", summary.decisions),
        ("Tasks", summary.tasks),
        ("Errors", summary.errors),
        ("Open", summary.open_points),
        ("Next", summary.next_steps),
    )
    said = ((name, "; ".join(filter(None, values))) for name, values in parts)
    return " | ".join(f"{name}: {text}" for name, text in said if text)


def _remembered(course: Course, policy: LearnPolicy, into: str) -> Iterator[Draft]:
    summary = summary_of(course)
    text = summary_text(summary)
    if not text:
        return
    holding = {rule for each in course.interactions for rule in rules_of(each)}
    scored = score(holding & _COUNTED, weights=policy.weights)
    sources = _sources(course)
    event = Remembered(
        kind="session_summary",
        text=one_line(text, 4 * policy.longest),
        importance=scored.value,
        scored=scored.rules,
        subject=subject_of(course.stream),
        summary=summary,
        sources=sources,
        by=BY,
    )
    yield drafted(event, into, "summary", sources)


def _sources(course: Course) -> tuple[MemorySource, ...]:
    """What the summary was read from: requests, decisions, errors, and how it ended."""
    found: list[MemorySource] = []
    for interaction in course.interactions[:1] + course.interactions[-MOST_TASKS:]:
        if interaction.said:
            found += interaction.source(interaction.said[0].position)
    told = [
        (each, said.position) for each in course.interactions for said, _ in each.signs("decision")
    ]
    wrong = [(each, at) for each in course.interactions for at in each.error_at]
    for interaction, at in (*told[-MOST_DECISIONS:], *wrong[-MOST_ERRORS:]):
        found += interaction.source(at)
    found += course.interactions[-1].source(course.interactions[-1].last)
    return together(found)


def _goal(course: Course) -> str:
    request = next((text for each in course.interactions if (text := asked(each))), "")
    said = any(each.request for each in course.interactions)
    return one_line(course.title or request or (ONLY_WISHES if said else ""), PART)


def _tasks(course: Course) -> list[str]:
    """The list of tasks; without one, what was asked."""
    if course.tasks:
        return [f"{task.title} ({task.status.replace('_', ' ')})" for task in course.tasks]
    return [text for each in course.interactions if (text := asked(each))]


def asked(interaction: Interaction) -> str:
    """What a person asked, without what they wished to have remembered, prefer, or told of
    themselves: that has memories of its own, and who forgets one of them means all that says so."""
    said = interaction.said[0] if interaction.request else None
    own = [sign.text for sign in said.signs if sign.kind in _OWN] if said is not None else []
    if said is None or not own:
        return interaction.request
    rest = (one_line(sentence.text, LONGEST_TEXT) for sentence in spoken(said.text))
    return " ".join(text for text in rest if not any(each in text for each in own))


def _open(course: Course) -> list[str]:
    """Questions that nobody answered, calls without a result, tasks that are not done."""
    last = course.interactions[-1]
    found = []
    if last.said:
        asked = (sign.text for sign in last.said[-1].signs if sign.kind == "question")
        found += list(asked)
    found += [f"{tool.name} {tool.subject}".strip() for tool in course.pending]
    found += [task.title for task in course.tasks if task.status in ("pending", "in_progress")]
    return found


def _next(course: Course) -> list[str]:
    """What the model said last that it would do; else the tasks that wait."""
    said = [sign.text for _, sign in course.interactions[-1].signs("next")]
    return said or [task.title for task in course.tasks if task.status == "pending"][:MOST_NEXT]


def _last(texts: Iterable[str], most: int) -> tuple[str, ...]:
    """The last ones, each once, where it was said last."""
    lines = [line for text in texts if (line := one_line(text, PART))]
    kept = list(dict.fromkeys(reversed(lines)))[:most]
    return tuple(reversed(kept))
