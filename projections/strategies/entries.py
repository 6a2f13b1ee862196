"""One item as it stands in a window, and the unit that it belongs to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from eventlog.messages import Part
from projections.dialects.translate import result_text
from projections.items import OBSERVATION, Item
from projections.reading import calls_of
from projections.runs import Origin


@dataclass(slots=True)
class Unit:
    """Items that stay or leave together; ``Window.members`` gives them.

    It names them and does not hold them: a window whose parts held each other would be freed only
    by a search of the whole memory (a quarter of the time of ten what-ifs on 10,000 messages).
    """

    number: int
    items: dict[Origin, None] = field(default_factory=dict)
    waiting: int = 0
    """Calls that have no result yet."""


@dataclass(slots=True)
class Waiting:
    """A call that has no result yet."""

    unit: Unit
    call: Part
    answered: bool = False


@dataclass(slots=True)
class Entry:
    """An item that stands, and what is known of it."""

    origin: Origin
    item: Item
    tokens: int
    unit: Unit
    order: float
    """Grows along the context; what takes the place of items takes their order too."""
    call: int
    """How many calls had been made when it came in: its age is counted in calls."""
    turn: int
    """Which human turn it belongs to, from 1; 0 before the first."""
    original: Item
    original_tokens: int
    role: str
    """Who speaks, as legality reads it."""
    is_system: bool
    is_human: bool
    is_result: bool
    """What a tool gave back; also where an agent without tool calls has it as a message."""
    is_summary: bool = False
    parallel: int = 0
    """Of an answer: its calls beyond the first."""
    is_settled: bool = False
    """A placeholder stands in its place, or none would be smaller; a cut text is none."""
    failed: bool = False
    """A tool result that says that it is an error."""
    tool: str = ""
    """Of a result: the tool, and the arguments it was called with."""
    arguments: str = ""
    _memo: dict[str, Any] | None = None

    @property
    def memo(self) -> dict[str, Any]:
        """What strategies worked out of its present text, so that they work it out once."""
        if self._memo is None:
            self._memo = {}
        return self._memo

    def forget(self) -> None:
        """Another text stands here now."""
        self._memo = None

    @property
    def key(self) -> tuple[str, str]:
        """Of a result: its tool and its arguments, however their keys are ordered."""
        return self.tool, normal(self.arguments)

    @property
    def result_text(self) -> str:
        """The text of a result; what is no text, such as a picture, is noted in it."""
        item = self.original
        if item.label == OBSERVATION:
            return item.text
        found = [result_text(item.dialect, part) for part in item.parts if part.kind == "result"]
        return "\n".join(found)


@lru_cache(maxsize=65_536)
def normal(arguments: str) -> str:
    """Arguments with their keys in order; what is no JSON stays as it is."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


def taken(calls: dict[str, list[Waiting]], call_id: str) -> Waiting | None:
    """The nearest open call of that id: of the latest unit, and within it the first."""
    queue = calls.get(call_id, [])
    while queue and queue[-1].answered:
        queue.pop()
    if not queue:
        calls.pop(call_id, None)
        return None
    found = queue[-1]
    if len(queue) == 1:
        del calls[call_id]
    for each in queue:
        if each.unit is found.unit and not each.answered:
            found = each
            break
    found.answered = True
    return found


def also_known(calls: dict[str, list[Waiting]], entry: Entry, item: Item) -> None:
    """Open calls of an entry are known by the ids, too, that they have in its new rendition."""
    mine: dict[str, list[Waiting]] = {}
    for old, new in zip(calls_of(entry.item), calls_of(item), strict=False):
        if old.id == new.id:
            continue
        if old.id not in mine:
            queue = calls.get(old.id, ())
            mine[old.id] = [each for each in queue if each.unit is entry.unit and not each.answered]
        if mine[old.id]:
            calls.setdefault(new.id, []).append(mine[old.id].pop(0))
