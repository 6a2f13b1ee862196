"""The result of a comparison: one row a strategy, over one session or several.

Numbers over several sessions carry an interval; a winner is named only where intervals are apart
and enough was counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from projections.anchors import Kind
from projections.metrics.intervals import Draws, Interval
from projections.metrics.measure import Calibrated, Measured, Options
from projections.metrics.model import Result
from projections.metrics.prices import Unknown
from projections.metrics.recall import DISTANCES, FAR, Lost

ENOUGH = 20
"""Sessions for a winner by tokens or cost, references for one by recall."""

FORCED = (
    "what-ifs keep the recorded messages: what the model would have said instead is unknown, and "
    "what the recorded agent happened to use favours strategies that keep it"
)


class Row(Result):
    """One strategy."""

    strategy: str
    slides: bool
    """It changes the front of the context at nearly every call, by nature."""
    calls: int
    peak: int
    """The largest context of all sessions, as the provider would have billed it."""
    cumulative: int
    tokens: Interval
    """Tokens sent, as a part of the baseline's; as they would have been billed."""
    hit_share: Interval
    breaks: Interval
    """A call."""
    rewritten: int
    costs: tuple[Interval | None, ...]
    """Of each price table, as a part of the baseline's cost; None where the table is unknown."""
    totals: tuple[float | None, ...]
    """Of each price table, over all sessions; None likewise."""
    valid: Interval
    """Calls whose context the session's own provider takes as the strategy left it."""
    recall: tuple[Interval, ...]
    """Of later references, for each of the distances."""
    far_recall: Interval
    """At the distance where strategies differ."""
    argument_recall: Interval
    """The same, of what tools were called with only."""
    written_files: Interval
    """Of the files that were written, those that the last context names."""
    pinned: Interval
    """Of what must not get lost, what stands verbatim in the last context."""
    refetched: int
    """Repeated tool calls whose earlier result was gone."""
    compactions: int
    summaries: int
    needs_summary: int
    over_budget: int
    overflow_calls: int | None
    headroom: float | None
    """The smallest of all sessions."""
    first_loss: int | None
    """The earliest call of all sessions whose context lacked something that its answer used."""
    survival: tuple[tuple[int, float], ...]
    """(call, share of the sessions that had lost nothing up to it), where the share changes."""
    sessions: tuple[Measured, ...]
    """Everything that was measured, by session, in the order given."""


class Winner(Result):
    """Who is best by one measure, or why nobody is named."""

    by: str
    """``tokens``, ``cost <prices>`` or ``recall``."""
    strategy: str | None
    why: str


class Comparison(Result):
    """All strategies over the same sessions."""

    counter: str
    baseline: str
    options: Options
    sessions: tuple[str, ...]
    distances: tuple[int, ...] = DISTANCES
    calibration: tuple[Calibrated, ...]
    rows: tuple[Row, ...]
    """The baseline first, then in the order in which they were named."""
    winners: tuple[Winner, ...]
    warnings: tuple[str, ...]


class Missing(Result):
    """A literal that answers used and that their contexts no longer held."""

    session: str
    kind: Kind
    text: str
    item: str
    """In which it stood last, before the first of the calls."""
    calls: tuple[int, ...]
    """The calls whose answers used it."""
    position: int
    """Of the first of them."""
    distance: int
    """Calls since its last mention, at the first of them."""
    in_arguments: bool
    """A tool was called with it, at least once."""
    taken_by: str
    taken_at: int | None
    reason: str


def missing(row: Row) -> tuple[Missing, ...]:
    """What was lost and needed later, each literal of a session once.

    First what tools were called with, then by how often it was needed, then by when.
    """
    found: list[Missing] = []
    for measured in row.sessions:
        grouped: dict[str, list[Lost]] = {}
        for lost in measured.recall.lost:
            grouped.setdefault(lost.text, []).append(lost)
        found += [_missing(measured.session, each) for each in grouped.values()]
    found.sort(key=lambda one: (not one.in_arguments, -len(one.calls), one.calls, one.session))
    return tuple(found)


def _missing(session: str, lost: Sequence[Lost]) -> Missing:
    first = lost[0]
    return Missing(
        session=session,
        kind=first.kind,
        text=first.text,
        item=first.item,
        calls=tuple(each.call for each in lost),
        position=first.position,
        distance=first.distance,
        in_arguments=any(each.in_arguments for each in lost),
        taken_by=first.taken_by,
        taken_at=first.taken_at,
        reason=first.reason,
    )


def row(
    strategy: str,
    slides: bool,
    measured: Sequence[Measured],
    base: Sequence[Measured],
    draws: Draws,
    options: Options,
) -> Row:
    """Sum a strategy up over the sessions."""

    def over(pair: Callable[[Measured], tuple[float, float]]) -> Interval:
        return draws.interval([pair(each) for each in measured])

    def against(number: Callable[[Measured], float]) -> Interval:
        pairs = [(number(m), number(b)) for m, b in zip(measured, base, strict=True)]
        return draws.interval(pairs)

    known = [not isinstance(prices, Unknown) for prices in options.prices]
    overflow = [m.tokens.overflow_calls for m in measured]
    headroom = [m.tokens.headroom for m in measured if m.tokens.headroom is not None]
    far = DISTANCES.index(FAR)
    losses = [m.recall.first_loss for m in measured]
    return Row(
        strategy=strategy,
        slides=slides,
        calls=sum(m.calls for m in measured),
        peak=max((m.tokens.calibrated_peak for m in measured), default=0),
        cumulative=sum(m.tokens.cumulative for m in measured),
        tokens=against(lambda m: m.tokens.calibrated_cumulative),
        hit_share=over(lambda m: (m.volume.cached, m.volume.cached + m.volume.fresh)),
        breaks=over(lambda m: (m.prefix.breaks, m.calls)),
        rewritten=sum(m.prefix.rewritten for m in measured),
        costs=tuple(against(_total(n)) if priced else None for n, priced in enumerate(known)),
        totals=tuple(
            round(sum(_total(n)(m) for m in measured), 8) if priced else None
            for n, priced in enumerate(known)
        ),
        valid=over(lambda m: (_valid(m), m.calls)),
        recall=tuple(over(_recall(place)) for place in range(len(DISTANCES))),
        far_recall=over(_recall(far)),
        argument_recall=over(_argument_recall(far)),
        written_files=over(lambda m: (m.artifacts.written.named, m.artifacts.written.files)),
        pinned=over(_pinned),
        refetched=sum(m.refetch.gone for m in measured),
        compactions=sum(m.compactions.compactions for m in measured),
        summaries=sum(m.compactions.summaries for m in measured),
        needs_summary=sum(m.compactions.failures for m in measured),
        over_budget=sum(m.compactions.over_budget for m in measured),
        overflow_calls=None if options.window is None else sum(each or 0 for each in overflow),
        headroom=min(headroom, default=None),
        first_loss=min((loss for loss in losses if loss is not None), default=None),
        survival=_survival(losses),
        sessions=tuple(measured),
    )


def _total(table: int) -> Callable[[Measured], float]:
    def total(measured: Measured) -> float:
        cost = measured.costs[table]
        assert cost is not None
        return cost.total

    return total


def _recall(place: int) -> Callable[[Measured], tuple[float, float]]:
    return lambda m: (m.recall.curve[place].kept, m.recall.curve[place].needed)


def _valid(measured: Measured) -> int:
    """Calls that the session's own provider would have taken as they were."""
    return sum(each.valid for each in measured.validity if each.dialect == measured.dialect)


def _argument_recall(place: int) -> Callable[[Measured], tuple[float, float]]:
    return lambda m: (m.recall.in_arguments[place].kept, m.recall.in_arguments[place].needed)


def _pinned(measured: Measured) -> tuple[float, float]:
    if measured.survival is None:
        return 0, 0
    fates = measured.survival.at_end
    return sum(f.verbatim for f in fates), sum(f.verbatim + f.degraded + f.lost for f in fates)


def _survival(losses: Sequence[int | None]) -> tuple[tuple[int, float], ...]:
    found: list[tuple[int, float]] = []
    lost = sorted(loss for loss in losses if loss is not None)
    for number, call in enumerate(lost, 1):
        share = round(1 - number / len(losses), 6)
        if found and found[-1][0] == call:
            found.pop()
        found.append((call, share))
    return tuple(found)


Better = Literal["lower", "higher"]


def winners(rows: Sequence[Row], options: Options, sessions: int) -> tuple[Winner, ...]:
    """By tokens, by cost at each price table, and by far recall."""
    found = [_winner("tokens", [(r.strategy, r.tokens) for r in rows], "lower", sessions)]
    for table, prices in enumerate(options.prices):
        by = f"cost {prices.name}"
        if isinstance(prices, Unknown):
            found.append(Winner(by=by, strategy=None, why="prices are unknown"))
            continue
        named = [(r.strategy, cost) for r in rows if (cost := r.costs[table]) is not None]
        found.append(_winner(by, named, "lower", sessions))
    references = min((int(r.far_recall.of) for r in rows), default=0)
    recalls = [(r.strategy, r.far_recall) for r in rows]
    found.append(_winner("recall", recalls, "higher", references))
    return tuple(found)


def _winner(by: str, named: Sequence[tuple[str, Interval]], better: Better, n: int) -> Winner:
    def none(why: str) -> Winner:
        return Winner(by=by, strategy=None, why=why)

    what = "references" if better == "higher" else "sessions"
    if n < ENOUGH:
        return none(f"at least {ENOUGH} {what} are needed, there {'is' if n == 1 else 'are'} {n}")
    known = [(name, one) for name, one in named if one.value is not None]
    if len(known) < 2:
        return none("there is nothing to compare")
    sign = 1 if better == "lower" else -1
    known.sort(key=lambda each: sign * (each[1].value or 0))
    (first, best), (second, next_best) = known[0], known[1]
    if best.low is None:
        return none("one session gives no interval")
    if best.overlaps(next_best):
        return none(f"the intervals of {first} and {second} overlap")
    return Winner(by=by, strategy=first, why=f"its interval is apart from that of {second}")
