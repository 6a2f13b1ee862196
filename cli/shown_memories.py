"""Which memories a message shows, and which stood before a call, for the command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from cli.models_shown import ShownData
from eventlog import StreamKey
from eventlog.errors import EventInvalid
from projections import Live
from projections.memory.memory import Memory
from projections.memory.recalls import Recall, memory_of, recalls_in
from projections.memory.shown import Shown, memories_shown
from projections.memory.stream import is_memory_stream
from projections.memory.table import Memories
from projections.runs import origin


def at_call(live: Live, key: StreamKey, call: int) -> list[ShownData]:
    """What stood before the call at a position, message by message."""
    return [_data(shown) for shown in memories_shown(live, key, call)]


def by_rendition(live: Live, key: StreamKey) -> dict[str, list[ShownData]]:
    """What the messages of a session show, each rendition of one by its name."""
    found: dict[str, dict[str, ShownData]] = {}
    for recall in recalls_in(live, key):
        found.setdefault(recall.item, {})[recall.of] = _of_recall(live, recall)
    return {item: list(shown.values()) for item, shown in found.items()}


def brought_back_by(live: Live, key: StreamKey, item: str) -> list[str]:
    """What is typed so that the memories that a message showed, and that were forgotten since, are
    remembered again: a command for each person."""
    found: dict[str, dict[int, None]] = {}
    for recall in recalls_in(live, key):
        if origin(recall.item.partition("@")[0]) == origin(item):
            found.setdefault(recall.of, {}).update(dict.fromkeys(recall.ids))
    commands = []
    for of, ids in found.items():
        user = of.partition("/")[0]
        known = _known(live, of, ids)
        gone = [known[id].name for id in ids if id in known and known[id].standing == "forgotten"]
        whose = ["--user", user] if user != "local" else []
        commands += [shlex.join(("memory", "restore", *gone, *whose))] if gone else []
    return commands


def not_to_stay(live: Live, key: StreamKey, renditions: Iterable[str]) -> Iterator[str]:
    """What of some messages leaves again before the next call, a line each: they show memories that
    do not stand any more, or say something else."""
    wanted = set(renditions)
    for recall in recalls_in(live, key):
        if recall.item not in wanted:
            continue
        known = _known(live, recall.of, recall.ids)
        gone = [
            f"m{entry}"
            for entry in recall.memories
            if (id := memory_of(entry))
            and not (id in known and known[id].stands and known[id].rendition == entry)
        ]
        if gone:
            it, stand = ("it", "stands") if len(gone) == 1 else ("they", "stand")
            leave = "leaves" if len(gone) == 1 else "leave"
            yield (
                f"{recall.item} shows {', '.join(gone)}, which {stand} no more: {it} {leave} again "
                "before the next call"
            )


def _known(live: Live, of: str, ids: Iterable[int]) -> dict[int, Memory]:
    try:
        key = StreamKey.parse(of)
        return Memories(live, key.user).some(ids) if is_memory_stream(key) else {}
    except EventInvalid:  # whatever a log says
        return {}


def words(shown: ShownData) -> str:
    """``m12, m15 and the profile``; empty where nothing is shown."""
    names = [*shown.memories, *(["the profile"] if shown.profile else [])]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def words_of(shown: ShownData) -> str:
    """The same, with whose they are, and what had no room."""
    where = " in another log" if shown.is_elsewhere else ""
    said = f"{words(shown) or 'no memory'} of {shown.of}{where}"
    return said + (f"; no room for {', '.join(shown.left_out)}" if shown.left_out else "")


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
        left_out=[f"m{entry}" for entry in recall.left_out if memory_of(entry)],
    )
