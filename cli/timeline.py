"""A session as a person reads it: one row an item, and where each item stands at a point.

The state of an item at a point is what the view there says of it. One that is not in the view was
folded by a compaction that put a summary in its place, or left with something else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from cli.counts import Counts
from cli.models import State
from cli.models_log import TimelineData, TimelineRow
from cli.naming import short_names
from cli.occurrences import LETTERS, Outcomes, billed, outcome_words, pass_name
from cli.saying import had_come, preview, said, who
from cli.tools import Tools
from eventlog import RecordedEvent, StreamKey
from eventlog.happened import iso, moment
from eventlog.reading import Header
from projections import Live
from projections.context import DECISIONS, ITEM_TYPES, is_known
from projections.failures import why_failed
from projections.force import TAKING
from projections.items import Item
from projections.leaving import Leaving, is_folding
from projections.materialize import original
from projections.runs import Origin, Standing, origin
from projections.session_rows import started_by
from projections.sessions import session_query

SUBSTITUTED = "placeholder_substituted"
RESUMED = "session_resumed"
"""Has a row of its own accord only where a deleted session came back with it."""

SHOWN = (
    *ITEM_TYPES,
    *TAKING,
    "message_revised",
    "model_failed",
    SUBSTITUTED,
    "recording_interrupted",
    "redacted",
    "session_deleted",
    RESUMED,
    "session_forked",
    "remembered",
    "memory_revised",
    "memory_forgotten",
    "memory_restored",
    "profile_updated",
)
"""What has a row unless asked otherwise."""


class States:
    """Where items stand after a position."""

    def __init__(self, live: Live, key: StreamKey, at: int) -> None:
        self.at = at
        self.view = live.view(key, at)
        self._leaving = Leaving(live, key, at)
        renditions = {rendition for rendition in self.view.items.values() if rendition}
        events = live.log.at(key, renditions)
        self._placeholders = {
            position for position, event in events.items() if event.type == SUBSTITUTED
        }

    def of(self, item: Origin) -> State:
        """context, placeholder, folded or left."""
        rendition = self.view.items.get(item)
        if rendition is not None:
            return "placeholder" if rendition in self._placeholders else "context"
        event = self._leaving.of(item)
        return "folded" if event is not None and is_folding(event) else "left"

    def left_at(self, item: Origin) -> int | None:
        """The position of the event with which it left; None where it stands, or never stood."""
        event = self._leaving.of(item)
        return event.position if event is not None else None


def timeline(
    live: Live,
    key: StreamKey,
    *,
    at: int,
    first: int = 1,
    last: int | None = None,
    most: int | None = None,
    types: Collection[str] = (),
    calls: bool = False,
    every: bool = False,
    unanswered: bool = False,
) -> TimelineData:
    """The rows of a session from one position to another, the last of them where ``most`` says how
    many, with the states after ``at``. A call of which it is not known what came of it may have a
    row where no other has one."""
    wanted = set(types) or set(SHOWN)
    if calls:
        wanted |= {"model_called", "model_failed"}
    whole = every and not types
    chosen = None if whole else wanted | {"model_called", "context_compacted"}
    end = min(at, last if last is not None else at)
    states, counts = States(live, key, at), Counts(live, key)
    passes, revived = None, None
    if SUBSTITUTED in wanted and not every and SUBSTITUTED not in types:
        passes = _passes(live, key, first, at)
    width = max(_PAGE, 4 * most) if most is not None else end
    while True:  # from the end back, until there are enough
        begin = max(first, end - width + 1)
        rows = _Rows(live, key, states, counts, begin, passes)
        for event in live.log.read(key, after=max(begin - 1, 0), to=end, types=chosen):
            shown = whole or event.type in wanted
            if unanswered and not types and event.type == "model_called":
                shown = shown or rows.is_lacking(event.position)
            elif event.type == RESUMED and not whole and RESUMED not in types:
                revived = _revivals(live, key, at) if revived is None else revived
                shown = event.position in revived
            rows.take(event, shown=shown)
        if most is None or begin <= first or len(rows.rows) > most:
            break
        width *= 4
    info = live.log.stream(key)
    return TimelineData(
        key=str(key),
        at=at,
        version=live.log.version(key),
        first=first,
        last=last,
        fork_of=f"{info.parent}@{info.base}" if info.parent is not None else None,
        items=len(states.view),
        tokens=counts.total(states.view.standing()),
        counter=counts.counter.name,
        rows=rows.rows if most is None else rows.rows[-most:],
        more=most is not None and len(rows.rows) > most,
    )


_PAGE = 200
"""Positions that are looked at first where only the last rows are asked for."""


class _Pass(NamedTuple):
    """The substitutions of a pass."""

    shown_at: int
    """The first of them from where on rows are asked for: there its row stands."""
    items: int
    """All of them."""


def _passes(live: Live, key: StreamKey, first: int, at: int) -> dict[str, _Pass]:
    """The passes of a session by their ids: what a row says of one is not of the rows beside it."""
    found: dict[str, _Pass] = {}
    for event in live.log.read(key, to=at, types=[SUBSTITUTED]):
        pass_id = event.data.get("pass_id", "")
        before = found.get(pass_id, _Pass(0, 0))
        shown_at = before.shown_at or (event.position if event.position >= first else 0)
        found[pass_id] = _Pass(shown_at, before.items + 1)
    return found


def _revivals(live: Live, key: StreamKey, at: int) -> Collection[int]:
    """The positions of the resumptions that brought a deleted session back."""
    found, is_deleted = set(), False
    for event in live.log.read(key, to=at, types=["session_deleted", RESUMED]):
        if event.type == RESUMED and is_deleted:
            found.add(event.position)
        is_deleted = event.type == "session_deleted"
    return found


class _Given:
    """What stands in the context at one call after the other: how many items, how many tokens.

    Between two calls there is mostly nothing but new items, and then only those are counted: a
    session of ten thousand calls is not folded ten thousand times.
    """

    def __init__(self, live: Live, key: StreamKey, counts: Counts) -> None:
        self._live, self._key, self._counts = live, key, counts
        self._at = self._items = self._tokens = 0
        self._grows = False
        """Whether a new item adds itself, and takes no place of another one."""

    def at(self, position: int) -> tuple[int, int]:
        """Items and tokens after a position, which lies behind the one asked before."""
        headers = self._live.log.headers(self._key, self._at, position) if self._grows else []
        if self._grows and all(map(_only_adds, headers)):
            new: list[Standing] = [(h.position, 0) for h in headers if h.type in ITEM_TYPES]
            self._items += len(new)
            self._tokens += self._counts.total(new)
        else:
            view = self._live.view(self._key, position)
            self._items, self._tokens = len(view), self._counts.total(view.standing())
            self._grows = not view.waiting
        self._at = position
        return self._items, self._tokens


def _only_adds(header: Header) -> bool:
    return header.type not in DECISIONS and is_known(header.type, header.schema_version)


class _Rows:
    """Rows in the making."""

    def __init__(
        self,
        live: Live,
        key: StreamKey,
        states: States,
        counts: Counts,
        begin: int,
        passes: Mapping[str, _Pass] | None,
    ) -> None:
        self.live, self.key, self.states, self.counts = live, key, states, counts
        self._given = _Given(live, key, counts)
        self.rows: list[TimelineRow] = []
        self._passes = passes
        """One row for all substitutions of a pass; None where each has its own."""
        self._numbers: dict[str, tuple[int, int]] = {}
        self._names: dict[int, str | None] = {}
        self._outcomes = Outcomes(live, key)
        self._tools = Tools(live, key, begin)
        self._agents: dict[str, list[str]] | None = None

    def is_lacking(self, call: int) -> bool:
        """Whether nothing is known of what came of the call at a position."""
        return self._outcomes.is_lacking(call)

    def take(self, event: RecordedEvent, *, shown: bool) -> None:
        """The next event."""
        number = self._number(event) if event.type in LETTERS else 0
        if number:
            self._names[event.position] = f"{LETTERS[event.type]}{number}"
        if not shown:
            return
        if event.type in ITEM_TYPES:
            item = original(event.position, {event.position: event})
            if item is not None:
                self.rows.append(self._item(event, item))
        elif event.type == "context_compacted":
            self._compaction(event, number)
        elif event.type == SUBSTITUTED:
            self._substitution(event)
        elif event.type == "model_called":
            self._called(event, number)
        else:
            self.rows.append(_row(event, str(event.position), said(event, self._name_at)))
            if event.type == "repair_applied":
                self._brought(event, len(event.data.get("inserted", ())))

    def _number(self, event: RecordedEvent) -> int:
        """Which call or compaction this is; only the first of a page is looked up."""
        known = self._numbers.get(event.type)
        number = known[1] + 1 if known else self.live.number(self.key, event)
        self._numbers[event.type] = (event.position, number)
        return number

    def _call_number(self, position: int | None) -> int | None:
        name = self._name_at(position) if position is not None else None
        return int(name[1:]) if name is not None and name[0] == "c" else None

    def _name_at(self, position: int | str) -> str | None:
        if isinstance(position, str):
            return pass_name(self.live, self.key, position)
        if position not in self._names:
            event = self.live.log.at(self.key, [position]).get(position)
            letter = LETTERS.get(event.type) if event is not None else None
            number = self.live.number(self.key, event) if event is not None and letter else 0
            self._names[position] = f"{letter}{number}" if letter else None
        return self._names[position]

    def _item(self, event: RecordedEvent, item: Item) -> TimelineRow:
        origin: Origin = event.position if "." not in item.id else item.id
        self._tools.note(item)
        state = self.states.of(origin)
        rendition = self.states.view.items.get(origin, 0)
        shown, said_now = None, preview(item)
        if rendition:
            shown = self.counts.total([(origin, rendition)])
            if state == "context":
                said_now = "(revised) " + preview(self._in_force(item, origin, rendition))
        return TimelineRow(
            ref=item.id,
            position=event.position,
            type=event.type,
            state=state,
            who=self._who(item),
            preview=said_now,
            tokens=self.counts.of((origin, 0), item),
            shown_tokens=shown,
            rendition=f"{origin}@{rendition}" if rendition else None,
            left_at=self.states.left_at(origin),
            call=self._call_number(item.call),
            happened_at=iso(moment(event.occurred_at, event.recorded_at)),
            occurred_at=event.occurred_at,
            pinned=origin in self.states.view.pins,
            erased=event.erased,
            started=self._started(item),
        )

    def _started(self, item: Item) -> list[str]:
        """The sub-agents that the calls of an item started."""
        called = [part.id for part in item.parts if part.kind == "call"]
        if not called:
            return []
        if self._agents is None:
            self._agents = {}
            agents = started_by(session_query(self.live), str(self.key))
            names = short_names(self.live, [agent.key for agent in agents])
            for agent in agents:
                self._agents.setdefault(agent.parent_call, []).append(names[agent.key])
        return [name for call in called if call for name in sorted(self._agents.get(call, []))]

    def _in_force(self, item: Item, origin: Origin, rendition: int) -> Item:
        made = self.live.materialize(self.key, [(origin, rendition)])
        return made[0] if made else item

    def _who(self, item: Item) -> str:
        if item.kind == "tool_result":
            return item.tool_name or self._tools.of(item.result_ids) or "tool"
        return who(item)

    def _called(self, event: RecordedEvent, number: int) -> None:
        answer = self._outcomes.of(event.position)
        row = _row(event, f"c{number}", said(event, self._name_at))
        row.items, row.tokens = self._given.at(event.position)
        row.billed = billed(answer)
        came, why = outcome_words(answer)
        if answer is None:
            came = "no answer was recorded"
        elif came == "failed":
            came += had_come(answer)
            why = why_failed(answer.data.get("status"), why)
        row.outcome = ": ".join(filter(None, (came, why)))
        self.rows.append(row)

    def _compaction(self, event: RecordedEvent, number: int) -> None:
        row = _row(event, f"k{number}", said(event, self._name_at))
        before, after = event.data.get("pre_tokens"), event.data.get("post_tokens")
        was = self.live.view(self.key, event.position - 1)
        now = self.live.view(self.key, event.position)
        row.before_recorded = self.counts.total(was.standing())
        row.after_recorded = self.counts.total(now.standing())
        row.before_tokens = row.before_recorded if before is None else before
        row.before_estimated = before is None
        row.after_tokens = row.after_recorded if after is None else after
        row.after_estimated = after is None
        row.items = len(was.items.keys() - now.items.keys())
        row.brought = len(event.data.get("messages", ()))
        row.reordered = was.items.keys() == now.items.keys() and [*was.items] != [*now.items]
        row.summary_erased = event.erased and row.brought > 0
        self.rows.append(row)
        self._brought(event, len(event.data.get("messages", ())))

    def _brought(self, event: RecordedEvent, count: int) -> None:
        """The messages that a compaction or a repair put in."""
        for index in range(count):
            item = original(f"{event.position}.{index}", {event.position: event})
            if item is not None:
                self.rows.append(self._item(event, item))

    def _substitution(self, event: RecordedEvent) -> None:
        """One row for a pass, whether it cleared one item or two hundred, or one for the event."""
        pass_id = event.data.get("pass_id", "") if self._passes is not None else ""
        known = self._passes.get(pass_id) if self._passes is not None and pass_id else None
        if known is not None and known.shown_at != event.position:
            return
        row = _row(event, str(event.position), said(event, self._name_at))
        row.items = known.items if known is not None else 1
        self.rows.append(row)
        if self._passes is None:
            target = origin(event.data["item"])
            row.rendition = f"{target}@{event.position}"
            row.tokens = self.counts.total([(target, 0)])
            row.shown_tokens = self.counts.total([(target, event.position)])


def _row(event: RecordedEvent, ref: str, said: str) -> TimelineRow:
    return TimelineRow(
        ref=ref,
        position=event.position,
        type=event.type,
        state="never",
        who="",
        preview=said,
        happened_at=iso(moment(event.occurred_at, event.recorded_at)),
        occurred_at=event.occurred_at,
        erased=event.erased,
    )
