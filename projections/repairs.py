"""What legality changed, named, and as an event.

A repair is data without clock or counter: the same items give the same repairs and the same texts,
so a context that grows keeps its bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from eventlog.events import NewMessage, Rename, RepairApplied, RepairInsert, Source
from eventlog.jsonvalue import Json
from projections.items import Item

Rule = Literal[
    "unreadable_message",
    "empty_message",
    "thinking_alone",
    "orphan_result",
    "second_result",
    "misplaced_result",
    "unanswered_call",
    "repeated_call_id",
    "repeated_system",
    "no_user_first",
    "split_message",
]

_RECORDED = re.compile(r"[1-9]\d*(\.\d+)?")
_SOURCES = get_args(Source)


def is_recorded(item_id: str) -> bool:
    """Whether the id is an origin in the log, not a piece and not an unrecorded repair."""
    return _RECORDED.fullmatch(item_id) is not None


@dataclass(frozen=True, slots=True)
class Renaming:
    """A call id that was changed in one item."""

    item: str
    rendition: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Insertion:
    """An item that stands behind another one, or in front of everything."""

    after: str | None
    item: Item


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that had to be changed, under the rule that demanded it."""

    rule: Rule
    dropped: tuple[str, ...] = ()
    """Items that left; ``12/1`` is one piece of an item."""
    renamed: tuple[Renaming, ...] = ()
    inserted: tuple[Insertion, ...] = ()
    replaced: tuple[Insertion, ...] = ()
    """Items that stand in changed form under their own id."""
    moved: tuple[str, ...] = ()
    """Results that now stand behind their call. No event says so: it follows from the rule."""
    call_ids: tuple[str, ...] = ()
    """For inserted results the calls that they answer, by the ids that the model gave."""

    def event(self) -> RepairApplied | None:
        """The repair as an event, or None when there is nothing that an event has to state.

        A changed item is stated as dropped, and inserted anew.
        """
        replaced = [change for change in self.replaced if is_recorded(change.item.id)]
        dropped = [*self.dropped, *(change.item.id for change in replaced)]
        renamed = tuple(_rename(change) for change in self.renamed if is_recorded(change.item))
        inserted = tuple(_insert(each) for each in (*self.inserted, *replaced))
        leaving = tuple(item for item in dropped if is_recorded(item))
        if not (leaving or renamed or inserted):
            return None
        return RepairApplied(
            rule=self.rule,
            dropped=leaving,
            renamed=renamed,
            inserted=inserted,
            call_ids=self.call_ids,
        )


def _rename(change: Renaming) -> Rename:
    if change.rendition == change.item:
        return Rename(item=change.item, old=change.old, new=change.new)
    return Rename(item=change.item, rendition=change.rendition, old=change.old, new=change.new)


def _insert(insertion: Insertion) -> RepairInsert:
    item = insertion.item
    return RepairInsert(
        after=insertion.after,
        message=NewMessage.model_validate(
            {
                "dialect": item.dialect,
                "message": Json(dict(item.message)),
                "source": item.source if item.source in _SOURCES else "injected",
                "label": item.label,
            }
        ),
    )


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that a context breaks, and the items that break it."""

    rule: Rule | Literal["no_context"]
    items: tuple[str, ...]
