"""What is told of memories in a chat: which came into the context, which left it, what was learned.
Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cli.safetext import safe_text
from cli.style import plural
from harness.conversation.happenings import MemoriesChanged, MemoriesShown, NotRemembered
from harness.conversation.standing_memories import LEFT_OUT
from projections.memory.memory import Memory
from projections.memory.stream import memory_name

REMEMBERED = "✎"
"""In front of what concerns memories."""

_COUNTED = "behaviour."
"""Of the profile, what is counted of each session: nobody has to be told."""

_MOST = 80
"""Characters of a memory that are told."""


def memory_lines(
    told: MemoriesShown | MemoriesChanged | NotRemembered,
) -> Iterator[tuple[str, str]]:
    """The lines of one happening, each with its sign."""
    if isinstance(told, NotRemembered):
        yield "!", f"not remembered: {told.error}; it is tried again when the session goes on"
    elif isinstance(told, MemoriesChanged):
        yield from ((REMEMBERED, learned(memory)) for memory in told.memories)
        known = [name for name in told.profile if not name.startswith(_COUNTED)]
        if known:
            yield REMEMBERED, f"known of you: {', '.join(map(_plain, known))}"
    else:
        yield from _shown(told)


def learned(memory: Memory) -> str:
    """``remembered m12, preference: I indent with tabs``."""
    if memory.superseded_by:
        instead = memory_name(memory.superseded_by)
        return f"remembered {memory.name}, but {instead} stands: {_short(memory)}"
    told = f"remembered {memory.name}, {memory.kind.replace('_', ' ')}: {_short(memory)}"
    if memory.supersedes:
        told += f" (in the place of {', '.join(map(memory_name, memory.supersedes))})"
    return told


def named(memories: Sequence[Memory]) -> str:
    """``m5, m12``."""
    return ", ".join(memory.name for memory in memories)


def _shown(told: MemoriesShown) -> Iterator[tuple[str, str]]:
    if told.gone:
        gone = ", ".join(f"m{entry.partition('@')[0]}" for entry in told.gone)
        now = f"; the model is shown {named(told.memories)}" if told.memories else ""
        yield REMEMBERED, f"not shown to the model any more: {gone}{now}"
    elif told.memories or told.profile:
        parts = ["what is known of you"] if told.profile else []
        if told.memories:
            count = plural(len(told.memories), "memory", "memories")
            parts.append(f"{count} ({named(told.memories)})")
        yield REMEMBERED, f"the model is shown {' and '.join(parts)}"
    if told.left_out:
        names, more = named(told.left_out[:LEFT_OUT]), len(told.left_out) - LEFT_OUT
        yield REMEMBERED, f"no room for {names}" + (f" and {more:,} more" if more > 0 else "")
    if told.fault and told.memories:
        yield "!", f"memories were compared by their words alone: {told.fault}"
    elif told.fault:
        yield "!", f"no memories came in: {told.fault}"


def _short(memory: Memory) -> str:
    text = " ".join(memory.text.split())
    return _plain(text if len(text) <= _MOST else f"{text[: _MOST - 1]}…")


def _plain(text: str) -> str:
    return safe_text(text, newlines=False)
