"""Decisions that took content out of sight: compactions with the contexts before and behind them,
and what was put in the place of single items.

What is said of a compaction is what ``show S@k1`` says. What was substituted or revised between two
calls is one decision, as for ``recover --lost`` and the audit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cli.config import config
from cli.occurrences import compaction_data
from cli.prices import of_model, priced
from cli.report.contexts import runs_of
from cli.report.model_compactions import Runs, StandingData, SummarizerData, TakingData
from cli.saying import trigger_words
from eventlog import RecordedEvent, StreamKey
from eventlog.happened import iso, moment
from projections.audit.passages import RENDERING, Move
from projections.clocks import known_time
from projections.metrics.prices import Prices
from projections.ownership import is_observed, owner_at
from projections.runs import Named, Standing, label, origin
from projections.takings import Taking
from projections.usage import UsageTotals, usage_totals

if TYPE_CHECKING:
    from cli.report.session import Reading

_PER = 1_000_000
"""Tokens of which a table of prices tells the price."""


def takings(read: Reading) -> list[TakingData]:
    """All of them, in the order of the log, those that were taken back too."""
    made = _Takings(read)
    found = [*made.compactions(), *made.others()]
    return sorted(found, key=lambda each: each.position)


def cost_of(usage: UsageTotals, prices: Prices, when: str) -> float | None:
    """What one call cost; None where a count is not known that has a price."""
    if usage.input is None or usage.output is None:
        return None
    rates = prices.of_call(when, usage.prompt or 0)
    paid = (
        (usage.input, rates.input),
        (usage.cached or 0, rates.cache_read),
        (usage.cache_write or 0, rates.cache_write),
        (usage.output, rates.output),
    )
    return sum(tokens * rate for tokens, rate in paid) / _PER


@dataclass(slots=True)
class _Takings:
    """Those of one session."""

    read: Reading
    _observed: dict[StreamKey, bool] = field(default_factory=dict)
    _tables: dict[tuple[str, str], Prices | None] = field(default_factory=dict)

    # -- compactions ------------------------------------------------------------------------------

    def compactions(self) -> Iterator[TakingData]:
        """``k1``, ``k2`` …, each with its contexts as differences."""
        live, key = self.read.live, self.read.key
        stood: list[int] = []
        noted = self.read.subject.noted.compactions
        for event in live.log.read(key, types=["context_compacted"]):
            before = self._rows(live.view(key, event.position - 1).standing())
            behind = self._rows(live.view(key, event.position).standing())
            yield self._compaction(event, noted[event.position].name, stood, before, behind)
            stood = behind

    def _compaction(
        self,
        event: RecordedEvent,
        name: str,
        stood: Sequence[int],
        before: Sequence[int],
        behind: Sequence[int],
    ) -> TakingData:
        told, data = compaction_data(self.read.live, event), event.data
        gone = self.read.subject.recording.force.gone.get(event.position)
        unseen = Named(told.not_shown, event.position)
        return TakingData(
            name=name,
            position=event.position,
            kind="compaction",
            did="compacted",
            at=known_time(event),
            by=told.by,
            trigger=trigger_words(told.trigger),
            owner=self._owner(event.position),
            is_inferred=bool(data.get("inferred")),
            is_opaque=bool(data.get("opaque")),
            is_erased=event.erased and bool(data.get("messages")),
            fell_back_from=str(data.get("fell_back_from") or ""),
            undone_by=gone,
            undone=int(gone is not None),
            before_tokens=told.before_tokens,
            before_estimated=told.before_estimated,
            before_recorded=told.before_recorded,
            after_tokens=told.after_tokens,
            after_estimated=told.after_estimated,
            after_recorded=told.after_recorded,
            count=told.left_count,
            before=_difference(stood, before),
            after=_difference(before, behind),
            not_shown=self._those(before, unseen) if told.not_shown else [],
            summarizer=self._summarizer(event, before),
        )

    def _summarizer(self, event: RecordedEvent, before: Sequence[int]) -> SummarizerData | None:
        recorded: Mapping[str, object] = event.data.get("summarizer") or {}
        if not recorded:
            return None
        shown = event.data["summarizer"].get("shown") or ()
        rows = self._those(before, Named(shown, event.position)) if shown else []
        usage = recorded.get("usage")
        found = SummarizerData(
            model=str(recorded.get("model") or ""),
            prompt_digest=str(recorded.get("prompt_digest") or ""),
            shown=rows,
            shown_count=sum(count for _, count in rows),
            usage=usage_totals(usage) if isinstance(usage, dict) else None,
        )
        when = iso(moment(event.occurred_at, event.recorded_at))
        table = self._table(found.model, when) if found.usage is not None else None
        if table is not None and found.usage is not None:
            found.cost = cost_of(found.usage, table, when)
            found.currency = table.currency
            found.prices = table.source
        return found

    def _table(self, model: str, when: str) -> Prices | None:
        """The prices of a model then; None where nobody knows them."""
        if model and (model, when) not in self._tables:
            table = of_model(model, priced(config()), [when])
            self._tables[model, when] = table if isinstance(table, Prices) else None
        return self._tables.get((model, when))

    # -- substitutions and revisions --------------------------------------------------------------

    def others(self) -> Iterator[TakingData]:
        """What was substituted, and what was revised, between two calls each."""
        noted = self.read.subject.noted
        known = {each.position for each in noted.substitutions} | noted.revisions
        if not known:
            return
        types = ["placeholder_substituted", "message_revised"]
        events = {e.position: e for e in self.read.live.log.read(self.read.key, types=types)}
        passages = self.read.subject.passages
        for passage in (*passages.calls, passages.rest):
            moves = [m for m in passage.moves if m.kind in RENDERING and m.position in known]
            for revised in (False, True):
                alike = [move for move in moves if (move.kind == "revised") == revised]
                if alike:
                    yield self._other(alike, events)

    def _other(self, moves: Sequence[Move], events: Mapping[int, RecordedEvent]) -> TakingData:
        renderings = self.read.subject.passages.renderings
        positions = [at for move in moves for at in renderings[move.position][1]]
        of = [events[at] for at in positions]
        first = of[0]
        taking = Taking(
            "revision" if first.type == "message_revised" else "substitution", tuple(of), 0
        )
        gone = self.read.subject.recording.force.gone
        taken_back = [gone[at] for at in positions if at in gone]
        reasons = (str(event.data.get("reason") or "") for event in of)
        strategies = (str((event.data.get("by") or {}).get("name") or "") for event in of)
        before, after = sum(move.before for move in moves), sum(move.after for move in moves)
        return TakingData(
            name=str(taking.first),
            position=taking.first,
            kind=taking.kind,
            did=taking.did,
            at=known_time(first),
            by=_listed(strategies),
            trigger=_listed(reasons),
            owner=self._owner(taking.first),
            is_inferred=any(event.data.get("inferred") for event in of),
            undone_by=taken_back[0] if len(taken_back) == len(of) else None,
            undone=len(taken_back),
            events=len(of),
            before_tokens=before,
            before_recorded=before,
            after_tokens=after,
            after_recorded=after,
            count=len(taking.items),
            changed=list(self._changed(of)),
        )

    def _changed(self, events: Sequence[RecordedEvent]) -> Iterator[tuple[int, int]]:
        """Of each item the row that stood before all of them, and the one that stands since."""
        stood = self.read.live.view(self.read.key, events[0].position - 1).items
        last = {origin(str(event.data["item"])): event.position for event in events}
        for item, rendition in last.items():
            yield self._row((item, stood.get(item, 0))), self._row((item, rendition))

    # -- what all share ---------------------------------------------------------------------------

    def _owner(self, position: int) -> Literal["agent", "log"]:
        log = self.read.live.log
        stream = owner_at(log, self.read.key, position)
        if stream not in self._observed:
            self._observed[stream] = is_observed(log, stream)
        return "agent" if self._observed[stream] else "log"

    def _rows(self, standing: Iterable[Standing]) -> list[int]:
        return [self._row(each) for each in standing]

    def _row(self, standing: Standing) -> int:
        """The row of a rendition; of one whose text was erased that of what is left of it."""
        name = label(*standing)
        numbers = self.read.numbers
        return numbers[name] if name in numbers else numbers[f"{standing[0]}@redacted"]

    def _those(self, rows: Iterable[int], named: Named) -> Runs:
        renditions = self.read.renditions
        return runs_of([row for row in rows if origin(renditions[row].id) in named])


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, texts)))


def _difference(before: Sequence[int], after: Sequence[int]) -> StandingData:
    keep = 0
    while keep < min(len(before), len(after)) and before[keep] == after[keep]:
        keep += 1
    return StandingData(keep=keep, add=runs_of(after[keep:]))
