"""The verdicts on many calls of which no request was recorded, in one walk.

What matters of the context at such a call are a few *marked* items: system prompts, encrypted
summaries, and what was erased; and whether tools were used whose definitions nobody recorded. So
one fold goes over the stream, and a call costs the marked items, not the context.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from eventlog import messages
from eventlog.jsonvalue import dumps
from eventlog.recorded import RecordedEvent, StreamKey
from projections.context import DECISIONS, ITEM_TYPES, REFOLDING, effective
from projections.folding import Folding
from projections.items import Item
from projections.live import Live
from projections.materialize import original
from projections.runs import Origin, Standing, origin
from projections.verdicts import Stood, Verdict, has_blob, is_hidden, of_stood, tools_since


def judge_folded(
    live: Live, stream: StreamKey, wanted: Collection[int]
) -> Iterable[tuple[int, Verdict]]:
    """The verdict of each wanted call, by its position. Raises CriticalUnknown."""
    answers = live.log.read(stream, min(wanted), types=["model_responded", "model_failed"])
    ends: dict[int, int] = {}
    for answer in answers:
        ends.setdefault(answer.data["call"], answer.position)
    tools = tools_since(live, stream)
    marks = _Marks(live, stream)
    for event in live.log.read(stream, to=max(wanted)):
        marks.take(event)
        if event.position in wanted:
            end = ends.get(event.position)
            stood = marks.stood(lacks_tools=tools.are_missing(end))
            yield event.position, of_stood(stood, end is None)


class _Mark(NamedTuple):
    is_system: bool
    is_sealed: bool
    is_erased: bool


class _Marks:
    """The marked items of a stream, and which of them stand."""

    def __init__(self, live: Live, stream: StreamKey) -> None:
        self._live, self._stream = live, stream
        self._folding = Folding()
        self._marked: dict[Origin, dict[int, _Mark]] = {}
        """By item and rendition."""
        self._decisions: list[RecordedEvent] = []
        self._compactions: list[RecordedEvent] = []
        """Those in force, once one of them is encrypted."""
        self._is_encrypted = False

    def take(self, event: RecordedEvent) -> None:
        """The next event of the stream."""
        kind = event.type
        if kind in DECISIONS:
            self._decisions.append(event)
        light = event if kind in DECISIONS or '"after":' in event.payload else _light(event)
        self._folding.take(light)
        if kind == "message_appended":
            self._mark((event.position, 0), original(event.position, {event.position: event}))
        elif kind in ITEM_TYPES:
            if event.erased:
                self._marked[event.position] = {0: _Mark(False, False, True)}
        elif kind == "context_compacted":
            self._brought(event, len(event.data.get("messages", ())))
            self._is_encrypted = self._is_encrypted or bool(event.data.get("opaque"))
            if self._is_encrypted:
                self._compactions.append(event)
        elif kind == "repair_applied":
            self._brought(event, len(event.data.get("inserted", ())))
            for rename in event.data.get("renamed", ()):
                self._rendered(origin(rename["item"]), event.position)
        elif kind == "message_revised":
            self._rendered(origin(event.data["item"]), event.position)
        elif kind == "placeholder_substituted":
            item = origin(event.data["item"])
            if event.erased or item in self._marked:
                self._rendered(item, event.position)
        elif kind in REFOLDING and self._is_encrypted:
            in_force, _ = effective(self._decisions)
            self._compactions = [e for e in in_force if e.type == "context_compacted"]

    def _brought(self, event: RecordedEvent, count: int) -> None:
        for number in range(count):
            name = f"{event.position}.{number}"
            self._mark((name, 0), original(name, {event.position: event}))

    def _rendered(self, item: Origin, position: int) -> None:
        made = self._live.materialize(self._stream, [(item, position)])
        self._mark((item, position), made[0] if made else None)

    def _mark(self, standing: Standing, item: Item | None) -> None:
        if item is None:
            return
        mark = _Mark(item.role in messages.SYSTEM_ROLES, has_blob(item), item.form == "redacted")
        if any(mark):
            self._marked.setdefault(standing[0], {})[standing[1]] = mark
        elif standing[0] in self._marked:
            self._marked[standing[0]].pop(standing[1], None)

    def stood(self, *, lacks_tools: bool) -> Stood:
        """Of the context as it is now."""
        items = self._folding.view.items
        found = [
            mark
            for item, renditions in self._marked.items()
            if item in items and (mark := renditions.get(items[item])) is not None
        ]
        return Stood(
            is_sealed=any(mark.is_sealed for mark in found),
            is_opaque=is_hidden(self._compactions, items),
            has_system=any(mark.is_system for mark in found),
            lacks_tools=lacks_tools,
            erased=sum(mark.is_erased for mark in found),
        )


def _light(event: RecordedEvent) -> RecordedEvent:
    """The event without its text; of a result the call that it answers, which a fold may read."""
    if event.type != "tool_result_recorded":
        return event.without_text("{}")
    return event.without_text(dumps({"tool_call_id": event.data.get("tool_call_id")}))
