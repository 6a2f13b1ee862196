"""What a session leaves behind at its end: goal, decisions, tasks, errors, what is open, what next.

It is read from the events, so it costs no model. A later summary of the same session takes the
place of the earlier one, since both are about ``session <key>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from eventlog.events import MemorySource, Remembered, SessionSummary
from eventlog.recorded import Draft
from projections.memory.behaviour import behaviour
from projections.memory.clipping import one_line
from projections.memory.importance import Rule, score
from projections.memory.interactions import LONGEST_TEXT, Course, Interaction
from projections.memory.learned import rules_of
from projections.memory.learning import BY, LearnPolicy, drafted, stream_of
from projections.memory.memory import ONLY_WISHES, SMALL_TALK, Memory, same_subject
from projections.memory.profile import together
from projections.memory.signs import SignKind
from projections.memory.spoken import spoken
from projections.memory.wishes import unwished

MOST_DECISIONS, MOST_TASKS, MOST_ERRORS, MOST_OPEN, MOST_NEXT = 5, 3, 3, 8, 3
"""The last ones of each that stand in a summary."""
PART = 240
"""Code points of each."""
_COUNTED: frozenset[Rule] = frozenset({"decision", "error and fix"})
"""Rules that count for a session as a whole."""

_OWN: frozenset[SignKind] = frozenset({"remember", "preference", "basics"})


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
    found = list(_remembered(course, policy, into))
    # Without a summary nobody would know what was counted.
    return [*found, *behaviour(course, into, since)] if found else []


def summarized_to(memories: Iterable[Memory], session: str) -> int:
    """The position up to which a session was summarized; 0: never. ``memories`` are all that there
    ever were: one that was forgotten, or erased, counted what it counted."""
    subject = same_subject(subject_of(session))
    return max(
        (
            position
            for memory in memories
            if memory.kind == "session_summary"
            for source in memory.sources
            if not source.elsewhere
            # Of one that was erased the subject is gone, and where it came from is not.
            and (
                same_subject(memory.subject) == subject
                or (memory.is_erased and source.stream == session)
            )
            for position in source.positions
        ),
        default=0,
    )


def subject_of(session: str) -> str:
    """The subject of the summaries of a session."""
    return f"session {session}"


def summary_of(course: Course) -> SessionSummary:
    """The summary of what is in force of a session; nothing of an interaction in which something
    was erased."""
    texts = {name: tuple(text for text, _ in parts) for name, parts in _told(course).items()}
    return SessionSummary(
        goal="".join(texts["goal"]),
        decisions=texts["decisions"],
        tasks=texts["tasks"],
        errors=texts["errors"],
        open_points=texts["open_points"],
        next_steps=texts["next_steps"],
    )


def summary_text(summary: SessionSummary) -> str:
    """A summary as one line, its empty parts left out, and what stands in an earlier one."""
    parts = (
        ("Goal", (summary.goal,)),
        ("Decisions", summary.decisions),
        ("Tasks", summary.tasks),
        ("Errors", summary.errors),
        ("Open", summary.open_points),
        ("Next", summary.next_steps),
    )
    told: list[str] = []
    lines = []
    for name, values in parts:
        new = []
        for value in filter(None, values):
            if not _is_told(value, told):
                told.append(value)
                new.append(value)
        if new:
            lines.append(f"{name}: {'; '.join(new)}")
    return " | ".join(lines)


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


Part = tuple[str, tuple[MemorySource, ...]]
"""A text, and where it stands."""


def _told(course: Course) -> dict[str, list[Part]]:
    """The parts of a summary by their names."""
    whole = [each for each in course.interactions if not each.erased]
    said = [(each, each.source(each.said[0].position)) for each in whole if each.request]
    wanted = [(text, source) for each, source in said if not is_small_talk(text := asked(each))]
    named = [] if is_small_talk(course.title) else [(course.title, course.title_source)]
    goal = _last((named or wanted)[:1], 1)
    decisions = [part for each in whole for part in _signs(each, "decision")]
    tasks = _tasks(course) or [part for part in wanted if not _is_told(part[0], _texts(goal))]
    found = {
        "goal": goal,
        "decisions": _last(decisions, MOST_DECISIONS),
        "tasks": _last(tasks, MOST_TASKS),
        "errors": _last(
            [(text, each.source(at)) for each in whole for at, text in each.errors_seen],
            MOST_ERRORS,
        ),
        "open_points": _last(_open(course, whole), MOST_OPEN),
        "next_steps": _last(_next(course, whole), MOST_NEXT),
    }
    if said and not any(found.values()):
        wished = any(True for each, _ in said for _ in each.signs(*_OWN))
        found["goal"] = [(ONLY_WISHES if wished else SMALL_TALK, said[0][1])]
    return found


_SMALL_TALK = re.compile(
    r"(?:(?:hi|hello|hey|yo|there|good\s(?:morning|afternoon|evening)|ok(?:ay)?|k|yes|yep|yeah|no|nope|sure|fine|right"
    r"|please|pls|thanks?|thank\syou|thx|go(?:\s(?:on|ahead))?|carry\son|continue|proceed|next|again|more|done|great"
    r"|perfect|nice|cool|good|got\sit|bye|test|do\s(?:it|so|that)|\[request\sinterrupted\sby\suser[^\]]{0,40}\]"
    r"|你好|您好|嗨|哈喽|早上好|下午好|晚上好|继续|接着|好的?|可以|行|嗯+|是的?|对的?|不|谢谢|多谢|再见|吧|了|啊|请|下一个)"
    r"[\s,.!?…~，。！？、]{0,5}){0,5}",
    re.IGNORECASE,
)
_OFFERS = re.compile(
    r"\bhow\s(?:can|may|could)\si\s(?:help|assist)|\bwhat\s(?:can|may)\si\s(?:do|help)|\banything\selse\b"
    r"|\bwhat\swould\syou\slike\s(?:me\s)?(?:to\sdo|help)?|有什么(?:可以|能)|(?:可以|能)帮你|需要(?:我)?帮|还有(?:什么|别的)",
    re.IGNORECASE,
)
"""Questions that every answer ends with."""


def is_small_talk(text: str) -> bool:
    """Whether nothing is asked by a text: "hi", "ok, go on", 你好。"""
    return _SMALL_TALK.fullmatch(text.strip()) is not None


_STATUS = re.compile(r" \((?:pending|in progress|done|cancelled|dropped|completed)\)$")
_LONG_ENOUGH = 20
"""Characters of what may stand in another text and mean the same."""


def _is_told(text: str, told: Iterable[str]) -> bool:
    """Whether one of some parts says what this text does."""
    key = _key(one_line(text, PART))
    found = map(_key, told)
    return any(key == each or (len(key) >= _LONG_ENOUGH and key in each) for each in found)


def _key(text: str) -> str:
    return " ".join(_STATUS.sub("", text).rstrip("….。!！;； ").split())


def _texts(parts: Iterable[Part]) -> list[str]:
    return [text for text, _ in parts]


def _sources(course: Course) -> tuple[MemorySource, ...]:
    """What the summary was read from, and how far the session had come."""
    last = course.interactions[-1]
    told = (source for parts in _told(course).values() for _, found in parts for source in found)
    return together(told, last.source(last.last))


def asked(interaction: Interaction) -> str:
    """What a person asked, without what they wished to have remembered, or not, prefer, decided, or
    told of themselves: that has memories of its own, and who forgets one of them means all that
    says so. A decision stands in the summary by itself."""
    said = interaction.said[0] if interaction.request else None
    if said is None:
        return interaction.request
    own = [sign.text for sign in said.signs if sign.kind in _OWN or sign.kind == "decision"]
    sentences = list(spoken(said.text))
    if not own and not any(unwished(each.masked) for each in sentences):
        return interaction.request
    rest = (one_line(s.text, LONGEST_TEXT) for s in sentences if not unwished(s.masked))
    return " ".join(text for text in rest if not any(_says(text, each) for each in own))


def _says(text: str, own: str) -> bool:
    """Whether a sentence is what was taken out of it, or begins what was taken with it."""
    return own in text or (text.endswith((":", "：")) and own.startswith(text))


def _signs(interaction: Interaction, *kinds: SignKind) -> Iterator[Part]:
    for said, sign in interaction.signs(*kinds):
        yield sign.text, interaction.source(said.position)


def _tasks(course: Course, *statuses: str) -> list[Part]:
    if statuses:
        found = [task.title for task in course.tasks if task.status in statuses]
    else:
        found = [f"{task.title} ({task.status.replace('_', ' ')})" for task in course.tasks]
    return [(title, course.tasks_source) for title in found]


def _open(course: Course, whole: list[Interaction]) -> list[Part]:
    """Questions that nobody answered, calls without a result, tasks that are not done."""
    found: list[Part] = []
    last = course.interactions[-1]
    if last in whole and last.said:
        end = last.said[-1].position
        asked = [
            (s.text, last.source(end))
            for at, s in last.signs("question")
            if at.position == end and not _OFFERS.search(s.text)
        ]
        found += asked
    for each in whole:
        for tool in each.tools:
            if tool.outcome == "pending":
                found.append((f"{tool.name} {tool.subject}".strip(), each.source(tool.position)))
    return found + _tasks(course, "pending", "in_progress")


def _next(course: Course, whole: list[Interaction]) -> list[Part]:
    """What the model said last that it would do; else the first of the tasks that wait."""
    last = course.interactions[-1]
    said = list(_signs(last, "next")) if last in whole else []
    return said or _tasks(course, "pending")[:MOST_NEXT]


def _last(parts: Iterable[Part], most: int) -> list[Part]:
    """The last ones, each once, where it was said last."""
    lines = [(line, found) for text, found in parts if (line := one_line(text, PART))]
    kept: dict[str, tuple[MemorySource, ...]] = {}
    for line, found in reversed(lines):
        kept.setdefault(line, found)
    return list(kept.items())[:most][::-1]
