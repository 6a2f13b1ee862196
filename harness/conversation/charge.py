"""The strategy of a conversation, in charge of its context: what it decides, in the same append.

It is told of each event as it is appended, and never reads the history again; after an undo, a
rewind, a repair, or what another process appended it begins anew from the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eventlog.errors import IntegrityFault
from eventlog.events import CompactionDeclined, Event
from eventlog.recorded import RecordedEvent, StreamKey
from harness.summarizers.base import prompt
from projections import Live
from projections.applying import Change
from projections.context import DECISIONS, ITEM_TYPES
from projections.deciding import told_of, who
from projections.items import Item
from projections.ladder import descend
from projections.materialize import original
from projections.observe import draft_at
from projections.recording import Step, recording
from projections.running import InCharge
from projections.runs import origin
from projections.strategies.base import Moment, Strategy
from projections.strategies.compact import CompactTurns
from projections.strategies.window_tokens import TokenWindow
from projections.tokens import Counter, count_item
from projections.written import Summarize

_TRIED = frozenset({"placeholder_substituted", "context_compacted", "compaction_declined"})

_STARTING_OVER = (DECISIONS | {"redacted"}) - {"item_pinned", "item_unpinned"}


class Charge:
    """One strategy over one stream."""

    def __init__(
        self,
        live: Live,
        key: StreamKey,
        strategies: Sequence[Strategy],
        counting: Counter,
        summarize: Summarize | None,
    ) -> None:
        self.strategies = tuple(strategies)
        self.summarize = summarize
        self._live, self._key, self._counting = live, key, counting
        self._told = 0
        self.version = 0
        """The position up to which it was told everything."""
        self.is_sure = False
        """Whether what was decided stands in the log."""
        self.anew()

    def anew(self) -> None:
        """Begin from what the log holds."""
        self.is_sure = False
        live, key = self._live, self._key
        found = recording(live.log.read(key), self._counting)
        version = live.log.version(key)
        history = live.history(key, version, ["compaction_declined"])
        runner = InCharge(
            self.strategies,
            self._counting,
            summarize=self.summarize,
            digest=lambda name: prompt(name).digest,
        )
        tried = [event for event in history if event.type in _TRIED]
        tasks = [step.text for step in found.steps if step.kind == "task"]
        runner.follow(found.seen, live.view(key).pins, tasks[-1] if tasks else "", tried)
        last = max((e.position for e in tried if e.type != "compaction_declined"), default=0)
        declined = (e.event for e in tried if e.position > last)
        told = (told_of(e) for e in declined if isinstance(e, CompactionDeclined))
        runner.deciding.told = {each for each in told if each is not None}
        self._runner, self._told, self.version = runner, 0, version
        self._is_calling = False
        self.is_sure = True

    @property
    def spec(self) -> str:
        """The strategy in its text form."""
        return " | ".join(each.spec for each in self.strategies)

    @property
    def tokens(self) -> int:
        """Of the context as it stands, as the strategy counts."""
        return self._runner.window.tokens

    @property
    def turns(self) -> int:
        """Human messages that stand."""
        return len(self._runner.window.humans)

    def items(self) -> list[Item]:
        """The context as it stands, not repaired."""
        pins = self._runner.window.pins
        if not pins:
            return self._runner.items()
        return [
            replace(item, pinned=True) if origin(item.id) in pins else item
            for item in self._runner.items()
        ]

    def changes(self) -> tuple[Change, ...]:
        """What was decided since this was asked last."""
        found = self._runner.deciding.changes
        new, self._told = tuple(found[self._told :]), len(found)
        return new

    # -- before an append -----------------------------------------------------------------------

    def coming(self, event: Event) -> list[Event]:
        """A message or a result comes in: it, and what is decided at that moment around it."""
        self.is_sure = False
        at = self.version + 1
        item = self._item(event, at)
        around = self._runner.came(item, count_item(self._counting, item), at)
        events = [*around.before, event, *around.after]
        self.version += len(events)
        return events

    def beside(self, events: int) -> None:
        """Some events that bring no item in stand between what comes in."""
        self.version += events

    def calling(self) -> list[Event]:
        """A call is about to be made: what is decided in front of it."""
        self.is_sure = False
        events = list(self._runner.calls(self.version + 1))
        self._is_calling = True
        self.version += len(events)
        return events

    def reduced(self, share: float) -> list[Event]:
        """A model refused the context, since it is too large: what brings it down to a share.

        A compaction of all but the newest turn first, the oldest units next, the largest texts
        last.
        """
        self.is_sure = False
        runner = self._runner
        runner.begin(self.version + 1)
        deciding, window = runner.deciding, runner.window
        limit, moment = max(1, int(window.tokens * share)), Moment("model_call", self.version + 1)
        compact = CompactTurns(CompactTurns.Parameters(keep_turns=1))
        drop = TokenWindow(TokenWindow.Parameters(tokens=limit))
        for strategy in (compact, drop):
            deciding.by.setdefault(strategy.spec, who(strategy))
        if compact.triggered(window, moment):
            deciding.decided(compact, moment)
        if window.tokens > limit:
            descend(deciding, limit, moment, drop.spec)
        events = list(deciding.events)
        self.version += len(events)
        return events

    # -- after it -------------------------------------------------------------------------------

    def told(self, events: Sequence[RecordedEvent]) -> None:
        """What was appended without being asked for here first."""
        self.is_sure = False
        for event in events:
            if event.position <= self.version:
                continue
            is_next = event.position == self.version + 1
            if is_next and (self._renamed(event) or self._revised(event)):
                self.version = event.position
                continue
            if not is_next or event.type in _STARTING_OVER:
                self.anew()
                return
            self.version = event.position
            self._take(event)
        self.is_sure = True

    def _take(self, event: RecordedEvent) -> None:
        at, data, kind = event.position, event.data, event.type
        if kind in ITEM_TYPES:
            item = original(at, {at: event})
            if item is None or data.get("after") is not None or item.is_human:
                self.anew()
                return
            around = self._runner.came(item, count_item(self._counting, item), at)
            if around.before or around.after:  # whoever appended it did not ask
                self.anew()
        elif kind == "task_classified":
            self._runner.notes(Step("task", at, text=data["task_type"]))
        elif kind == "item_pinned":
            self._runner.notes(Step("pin", at, origin(data["item"])))
        elif kind == "item_unpinned":
            self._runner.notes(Step("unpin", at, origin(data["item"])))
        elif kind == "model_called":
            if not self._is_calling:  # the client tried again
                self._runner.result.called(self._runner.window, at)
            self._is_calling = False

    def _renamed(self, repair: RecordedEvent) -> bool:
        """Take in a repair that did nothing but give calls other ids: where a server begins to
        count anew in each of its answers there is one at every call."""
        data, at = repair.data, repair.position
        if repair.type != "repair_applied" or data.get("dropped") or data.get("inserted"):
            return False
        names = dict.fromkeys(origin(each["item"]) for each in data.get("renamed", ()))
        items = self._live.materialize(self._key, [(name, at) for name in names])
        return len(items) == len(names) and all(
            self._runner.renamed(name, item, count_item(self._counting, item))
            for name, item in zip(names, items, strict=True)
        )

    def _revised(self, revision: RecordedEvent) -> bool:
        """Take in a revision of what the model said last: where a server leaves something out of
        each of its answers there is one at every call."""
        if revision.type != "message_revised" or self._is_calling:
            return False
        name, last = origin(revision.data["item"]), self.items()[-1:]
        if [item.id for item in last] != [str(name)] or last[0].source != "model":
            return False
        return all(
            self._runner.renamed(name, item, count_item(self._counting, item))
            for item in self._live.materialize(self._key, [(name, revision.position)])
        )

    def _item(self, event: Event, at: int) -> Item:
        found = original(at, {at: draft_at(event, self._key, at)})
        if found is None:
            raise IntegrityFault(f"{event.type} at {at} of {self._key} brings in no item")
        return found
