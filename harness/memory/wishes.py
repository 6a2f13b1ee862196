"""What a person asks to have remembered, by the rules that hold in a conversation.

It is a preference with its subject, what they say of themselves, a decision, else a fact.
"""

from __future__ import annotations

from collections.abc import Sequence

from eventlog.events import Event, MemorySource, ProfileUpdated, Remembered
from eventlog.jsonvalue import Json
from harness.memory.checked import LONGEST, checked_text
from projections.memory.clipping import one_line
from projections.memory.importance import score
from projections.memory.knowledge import with_knowledge
from projections.memory.learned import fact_subject
from projections.memory.signs import Sign, is_decision, said_basics, said_preferences
from projections.memory.spoken import spoken


def wished(
    text: str,
    sources: Sequence[MemorySource] = (),
    by: str = "human",
) -> list[Event]:
    """The events that remember a text because a person asked for it.

    Raises InputRefused for an empty text, and for a very long one.
    """
    checked_text(text)
    found = tuple(sources)
    events: list[Event] = [
        ProfileUpdated(
            section="basics",
            values=sign.values or Json({}),
            is_explicit=True,
            sources=found,
            by=by,
        )
        for sign in said_basics(text)
    ]
    liked = said_preferences(text)
    if len(liked) == 1:  # with all that is said of it
        liked = (liked[0].model_copy(update={"text": text.strip()}),)
        rest = ""
    else:
        sentences = (one_line(each.text, LONGEST) for each in spoken(text))
        rest = " ".join(s for s in sentences if not any(sign.text in s for sign in liked))
    events += (_preference(sign, found, by) for sign in liked)
    if liked and not rest:
        return events
    text = rest if liked else text
    event = Remembered(
        kind="project" if is_decision(text) else "fact",
        text=text.strip(),
        subject=fact_subject(text),
        importance=_SCORE.value,
        scored=_SCORE.rules,
        is_explicit=True,
        sources=found,
        by=by,
    )
    return [*events, with_knowledge(event)]


def _preference(sign: Sign, sources: tuple[MemorySource, ...], by: str) -> Remembered:
    event = Remembered(
        kind="preference",
        text=sign.text,
        subject=sign.subject,
        area=sign.area,
        values=sign.values,
        importance=_SCORE.value,
        scored=_SCORE.rules,
        is_explicit=True,
        sources=sources,
        by=by,
    )
    return with_knowledge(event)


_SCORE = score(["explicit"])
