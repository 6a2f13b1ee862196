"""The same file counted as its own format counts it, folded from where events came from.

Every imported event names the records that it was made of (``origin``). With each record an
importer notes what the record adds to the format's own counts: ``call:<id>`` and ``result:<id>``
for each call and result in it, ``placeholder:<id>`` for each result that it clears, ``compaction``
for a boundary (``compaction:7`` where it puts seven entries into the context itself), ``visible``
where the format counts it as part of what the model sees, and ``conversation`` for a record that
holds a whole one, whose messages are no records then. A record of an answer names the answer.

So the counts can be compared with a count of the file by anybody else, whatever the events are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Protocol

from pydantic import BaseModel


class Sourced(Protocol):
    """What is needed of a recorded event."""

    @property
    def data(self) -> dict[str, Any]:
        """Its payload as a dict."""
        ...


class SourceCounts(BaseModel):
    """What the file holds, by the rules of its format."""

    records: int = 0
    """Records that can be read: lines, objects, or messages of an array."""
    assistant_messages: int = 0
    """Answers, however many records each was written as."""
    tool_calls: int = 0
    tool_results: int = 0
    orphan_tool_results: int = 0
    """Results without a call: over each id, as many as there are more results than calls."""
    unanswered_tool_calls: int = 0
    compactions: int = 0
    placeholders: int = 0
    visible_after_last_compaction: int | None = None
    """Records that the model still sees by the format's own rule; None without a compaction."""


def source_counts(events: Iterable[Sourced]) -> SourceCounts:
    """The counts over the events of a session and of the sub-agents in the same file.

    Sub-agents that have files of their own are counted apart: their lines are other lines.
    """
    records: set[tuple[int, int]] = set()
    conversations: set[tuple[int, int]] = set()
    visible: list[tuple[int, int]] = []
    answers: set[str] = set()
    calls: Counter[str] = Counter()
    results: Counter[str] = Counter()
    compactions = placeholders = shown = 0
    last: tuple[int, int] | None = None
    for event in events:
        origin = event.data.get("origin")
        for record in origin["records"] if origin else ():
            place = (record["line"], record.get("part", 0))
            if "conversation" in record.get("pairs", ()):
                conversations.add(place)
                continue
            records.add(place)
            if record.get("message"):
                answers.add(record["message"])
            for mark in record.get("pairs", ()):
                kind, _, name = mark.partition(":")
                if kind == "call":
                    calls[name] += 1
                elif kind == "result":
                    results[name] += 1
                elif kind == "placeholder":
                    placeholders += 1
                elif kind == "visible":
                    visible.append(place)
                elif kind == "compaction":
                    compactions += 1
                    if last is None or place > last:
                        last, shown = place, int(name or 0)
    return SourceCounts(
        # A file of conversations counts these; one that is a conversation counts its messages.
        records=len(conversations or records),
        assistant_messages=len(answers),
        tool_calls=calls.total(),
        tool_results=results.total(),
        orphan_tool_results=(results - calls).total(),
        unanswered_tool_calls=(calls - results).total(),
        compactions=compactions,
        placeholders=placeholders,
        visible_after_last_compaction=(
            None if last is None else shown + sum(place > last for place in visible)
        ),
    )
