"""What must not get lost in a session, found once: system messages, the first task, pins, rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Literal

from eventlog.messages import SYSTEM_ROLES
from projections.anchors import item_anchors
from projections.items import Item
from projections.metrics.mentions import texts
from projections.runs import Origin

KeeperKind = Literal["system", "first_task", "pinned", "rule", "last_user", "todo"]
KINDS: tuple[KeeperKind, ...] = ("system", "first_task", "pinned", "rule", "last_user", "todo")

_WORDS = re.compile(r"[\u3400-\u9fff]|\w{3,}")


def content_words(text: str) -> frozenset[str]:
    """Words of three letters and more, and Chinese characters."""
    return frozenset(_WORDS.findall(text.casefold()))


DEGRADED = 0.6
"""Share of the content words that must stand for something to be said again in other words."""


def is_reworded(wanted: frozenset[str], words: Set[str]) -> bool:
    """Whether enough of the content words of a text stand among some others."""
    return bool(wanted) and len(wanted & words) >= DEGRADED * len(wanted)


@dataclass(frozen=True, slots=True)
class Keeper:
    """Something that must stay, and the item that says it."""

    kind: KeeperKind
    origin: Origin
    text: str
    words: frozenset[str]


def keeper(kind: KeeperKind, origin: Origin, item: Item, text: str | None = None) -> Keeper:
    """A part of an item, or the whole of it."""
    said = "\n".join(texts(item)) if text is None else text
    return Keeper(kind, origin, said, content_words(said))


def keepers(
    items: Mapping[Origin, Item],
    head: Iterable[Origin],
    pinned: Iterable[Origin],
    standing: Collection[Origin],
) -> dict[Origin, tuple[Keeper, ...]]:
    """By item; of what is no longer ``standing`` the session itself took back, nothing is."""
    found: list[Keeper] = []
    for origin in head:
        item = items[origin]
        found.append(keeper("first_task" if item.is_human else "system", origin, item))
    found += [keeper("pinned", origin, items[origin]) for origin in pinned if origin in items]
    for origin, item in items.items():
        if item.is_human or item.role in SYSTEM_ROLES:
            rules = [anchor.text for anchor in item_anchors(item) if anchor.kind == "rule"]
            found += [keeper("rule", origin, item, rule) for rule in rules]
    grouped: dict[Origin, tuple[Keeper, ...]] = {}
    for each in found:
        if each.origin in standing:
            grouped[each.origin] = (*grouped.get(each.origin, ()), each)
    return grouped
