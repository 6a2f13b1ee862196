"""What a provider's cache could have had of each call of a session, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from cli.models_prefix import (
    BilledData,
    DecisionData,
    PrefixCallData,
    PrefixCauseData,
    PrefixSumsData,
    PrefixTableData,
)
from eventlog import StreamKey
from eventlog.errors import NoContext
from projections import Live, tokens
from projections.prefixes import PrefixRow, prefix_rows
from projections.references import Reference
from projections.usage import UsageTotals


def prefix_table(live: Live, stream: StreamKey, ttl: float | None) -> PrefixTableData:
    """All calls of a session. Raises NoContext where it has none, CriticalUnknown."""
    counting = tokens.counter()
    rows = prefix_rows(live.log.read(stream), counting, ttl=ttl)
    if not rows:
        error = NoContext(str(stream))
        error.args = (f"{str(stream)!r} has no call, so nothing could be cached",)
        raise error
    sums = prefix_sums(rows, stream, counting.name, ttl)
    return PrefixTableData(**sums.model_dump(), rows=[call_data(row) for row in rows])


def prefix_sums(
    rows: Sequence[PrefixRow], stream: StreamKey, counter: str, ttl: float | None = None
) -> PrefixSumsData:
    """What rows that are at hand sum up to; ``counter`` is the name of what counted them."""
    known = [row for row in rows if row.missed is not None]
    told = [row.billed for row in rows if row.billed and row.billed.cached is not None]
    return PrefixSumsData(
        key=str(stream),
        ttl=ttl,
        counter=counter,
        calls=len(rows),
        broken=sum(row.is_broken for row in rows),
        tokens=sum(row.tokens for row in rows),
        reusable=sum(row.reusable for row in rows),
        rewritten=sum(row.rewritten for row in rows),
        lost=sum(row.lost for row in rows),
        by_cause=_by_cause(rows),
        billed_calls=sum(row.billed is not None for row in rows),
        billed=_billed(rows),
        cached_calls=len(told),
        cached_of=sum(billed.prompt or 0 for billed in told),
        held=sum(row.held or 0 for row in known),
        read=sum((row.held or 0) - (row.missed or 0) for row in known),
        contradicted=[row.call for row in rows if row.contradicts],
    )


def call_row(live: Live, where: Reference, ttl: float | None) -> PrefixCallData:
    """The row of one call."""
    rows = prefix_rows(live.log.read(where.stream), tokens.counter(), ttl=ttl)
    return call_data(rows[where.number - 1])


_PLAIN = [each.name for each in fields(PrefixRow) if each.name not in ("by", "billed")]


def call_data(row: PrefixRow) -> PrefixCallData:
    """A row as data."""
    return PrefixCallData(
        **{name: getattr(row, name) for name in _PLAIN},
        by=[DecisionData(**one.model_dump()) for one in row.by],
        billed=_billed([row]),
        share=row.share,
        missed=row.missed,
        contradicts=row.contradicts,
    )


def _billed(rows: Sequence[PrefixRow]) -> BilledData | None:
    each = [row.billed for row in rows if row.billed is not None]
    if not each:
        return None
    summed = sum(each, UsageTotals())
    return BilledData(**summed.model_dump(include=set(BilledData.model_fields)))


def _by_cause(rows: Sequence[PrefixRow]) -> list[PrefixCauseData]:
    """The dearest first."""
    found: dict[str, list[PrefixRow]] = {}
    for row in rows:
        if row.cause is not None:
            found.setdefault(row.cause, []).append(row)
    sums = [
        PrefixCauseData(
            cause=cause,
            calls=len(of),
            rewritten=sum(row.rewritten for row in of),
            lost=sum(row.lost for row in of),
        )
        for cause, of in found.items()
    ]
    return sorted(sums, key=lambda one: (-one.rewritten, -one.lost, one.cause))
