"""Which memories a message shows, and which stood before a call, for the command line."""

from __future__ import annotations

from cli.models_shown import ShownData
from eventlog import StreamKey
from projections import Live
from projections.memory.recalls import Recall, memory_of, recalls_in
from projections.memory.shown import Shown, memories_shown


def at_call(live: Live, key: StreamKey, call: int) -> list[ShownData]:
    """What stood before the call at a position, message by message."""
    return [_data(shown) for shown in memories_shown(live, key, call)]


def by_rendition(live: Live, key: StreamKey) -> dict[str, list[ShownData]]:
    """What the messages of a session show, each rendition of one by its name."""
    found: dict[str, dict[str, ShownData]] = {}
    for recall in recalls_in(live, key):
        found.setdefault(recall.item, {})[recall.of] = _of_recall(live, recall)
    return {item: list(shown.values()) for item, shown in found.items()}


def words(shown: ShownData) -> str:
    """``m12, m15 and the profile``; empty where nothing is shown."""
    names = [*shown.memories, *(["the profile"] if shown.profile else [])]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def words_of(shown: ShownData) -> str:
    """The same, with whose they are."""
    where = " in another log" if shown.is_elsewhere else ""
    return f"{words(shown) or 'no memory'} of {shown.of}{where}"


def marks(shown: list[ShownData]) -> str:
    """In a row: ``m12, m15, profile``."""
    names = [name for each in shown for name in each.memories]
    return ", ".join([*names, *(["profile"] if any(each.profile for each in shown) else [])])


def _data(shown: Shown) -> ShownData:
    return ShownData(
        item=shown.item,
        recalled_at=shown.recalled_at,
        of=shown.of,
        memories=[f"m{rendition}" for _, rendition in shown.memories],
        profile=shown.profile,
        is_elsewhere=shown.is_elsewhere,
    )


def _of_recall(live: Live, recall: Recall) -> ShownData:
    return ShownData(
        item=recall.item,
        recalled_at=recall.position,
        of=recall.of,
        memories=[f"m{entry}" for entry in recall.memories if memory_of(entry)],
        profile=recall.profile,
        is_elsewhere=recall.is_elsewhere(live.log),
    )
