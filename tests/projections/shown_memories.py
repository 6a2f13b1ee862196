"""A log in which a memory stands before calls, by hand."""

from __future__ import annotations

from collections.abc import Sequence

from eventlog import StreamKey, events
from eventlog.events import Event, MemorySource
from eventlog.jsonvalue import Json
from projections.live import Live
from projections.memory import memory_stream

USER = "ann"
MEMORY = memory_stream(USER)
FIRST = StreamKey(USER, "coder", "first")
LATER = StreamKey(USER, "coder", "later")
TABS = "Ada wants tabs for indentation in every file"
SPACES = "Ada wants spaces for indentation in every file"


def said(text: str, source: str = "human") -> events.MessageAppended:
    """A message of a user's role."""
    return events.MessageAppended.model_validate(
        {
            "dialect": "openai_chat",
            "source": source,
            "message": {"role": "user", "content": text},
        }
    )


def answered(call: int, text: str = "done") -> Sequence[Event]:
    """The answer of the call at a position, in one append."""
    answer = events.MessageAppended(
        dialect="openai_chat",
        source="model",
        message=Json({"role": "assistant", "content": text}),
        call=call,
    )
    return answer, events.ModelResponded(call=call)


def called(*manifest: str) -> events.ModelCalled:
    """A call; without a manifest it is known as folded."""
    return events.ModelCalled(model="m", dialect="openai_chat", manifest=manifest or None)


def shows(item: str, *memories: str, profile: int = 0, of: StreamKey = MEMORY) -> Event:
    """What a message shows."""
    return events.MemoryRecalled(of=str(of), item=item, memories=memories, profile=profile)


def remembered(text: str, *positions: int, subject: str = "", **more: object) -> events.Remembered:
    """A memory that came from events of the first session."""
    sources = (MemorySource(stream=str(FIRST), positions=positions),) if positions else ()
    return events.Remembered.model_validate(
        {"kind": "preference", "text": text, "subject": subject, "sources": sources, **more}
    )


def remember(live: Live) -> None:
    """A first session, memory 1 that came from it, and a later one: item 3 shows it to c1."""
    live.append(FIRST, events.SessionStarted(), said("please use tabs, always"))
    live.append(MEMORY, remembered(TABS, 2, subject="indentation"))
    live.append(LATER, events.SessionStarted(), said("write a file"))
    live.append(LATER, said(f"Remembered: {TABS}", "memory"), shows("3", "1"))
    live.append(LATER, called("2-3"))
    live.append(LATER, *answered(5))
