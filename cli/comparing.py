"""Many strategies over sessions, as data: one row each, and what was lost and needed later."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Sequence

from cli.models_whatif import CompareData, NeededData, PricesData, StrategyData
from cli.prices import Asked, prices_warnings, tables_for
from cli.strategies import blaming, strategies_of
from cli.summaries import Summaries
from eventlog import StreamKey
from eventlog.errors import InputRefused
from projections import Live, tokens
from projections.compare import Looking, compare
from projections.comparison import Comparison, Row
from projections.metrics.prices import Prices, Rates, Unknown
from projections.observed import OBSERVED
from projections.recording import Recording, recording
from projections.strategies.presets import PRESETS

USUAL = ("none", "truncate", "compress", "cut", "clear", "compact")
"""What is compared when nothing is named."""


def specs_of(typed: Sequence[str], presets: Sequence[str]) -> list[str]:
    """All that is to be compared, each once, in the order in which it was typed.

    Raises InputRefused for a preset that there is not.
    """
    found = [text.strip() for text in typed]
    for name in presets:
        if name == "all":
            found += PRESETS
        elif name in PRESETS:
            found.append(name)
        else:
            raise InputRefused(f"no preset {name!r}; there are all, {', '.join(PRESETS)}")
    return list(dict.fromkeys(spec for spec in found or USUAL if spec != OBSERVED))


def compared(
    live: Live,
    keys: Sequence[StreamKey],
    specs: Sequence[str],
    summaries: Summaries,
    *,
    prices: Asked | None = None,
    window: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> CompareData:
    """Every strategy on every session. Raises InputRefused."""
    counting = tokens.counter()
    recordings = [recording(live.log.read(key), counting) for key in dict.fromkeys(keys)]
    found = comparison(
        recordings, specs, summaries, prices=prices, window=window, progress=progress
    )
    return compare_data(found, specs, summaries)


def comparison(
    recordings: Sequence[Recording],
    specs: Sequence[str],
    summaries: Summaries,
    *,
    prices: Asked | None = None,
    window: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    looking: Looking | None = None,
) -> Comparison:
    """Every strategy on sessions that were read already; ``looking`` as in ``compare``.

    Raises InputRefused.
    """
    counting = tokens.counter()
    named = [strategies_of(spec) for spec in specs]
    for each in recordings:
        if not any(step.kind == "call" for step in each.steps):
            raise InputRefused(f"{each.key} has no call of a model, so there is nothing to compare")
    tables = tables_for(prices, recordings) if prices is not None else []
    with _frozen(), blaming([strategy for each in named for strategy in each]):
        return compare(
            recordings,
            named,
            counting,
            lambda recording: summaries.of(recording.key),
            window,
            tables or None,
            progress=progress,
            looking=looking,
        )


@contextlib.contextmanager
def _frozen() -> Iterator[None]:
    """What was read stands until the end: the garbage collector need not look through it again and
    again (an eighth of the time of ten what-ifs on 10,000 messages)."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def compare_data(found: Comparison, specs: Sequence[str], summaries: Summaries) -> CompareData:
    """A comparison as ``compare`` gives it; ``specs`` as they were typed."""
    typed = [OBSERVED, *specs]
    rows = [_row(row, text) for row, text in zip(found.rows, typed, strict=True)]
    used = any(row.summaries or row.needs_summary for row in found.rows[1:])
    said = summaries.label(used)
    return CompareData(
        sessions=list(found.sessions),
        counter=found.counter,
        baseline=found.baseline,
        window=found.options.window,
        prices=[_prices(table) for table in found.options.prices],
        distances=list(found.distances),
        strategies=rows,
        needed=_needed(found, typed),
        winners=list(found.winners),
        calibration=list(found.calibration),
        warnings=[
            *found.warnings,
            *([said] if said else []),
            *prices_warnings(found.options.prices),
        ],
    )


def _prices(table: Prices | Unknown) -> PricesData:
    if isinstance(table, Unknown):
        return PricesData(name=table.name, relative=False, incomplete=True)
    return PricesData(
        name=table.name,
        relative=table.relative,
        incomplete=False,
        currency=table.currency,
        source=table.source,
        model=table.model,
        rates=Rates.model_validate({name: getattr(table, name) for name in Rates.model_fields}),
        tiers=list(table.tiers),
        periods=list(table.periods),
    )


def _row(row: Row, typed: str) -> StrategyData:
    fields = {key: value for key, value in dict(row).items() if key in StrategyData.model_fields}
    lost = sum(len(measured.recall.lost) for measured in row.sessions)
    return StrategyData.model_validate(
        {**fields, "strategy": typed, "spec": row.strategy, "lost": lost}
    )


def _needed(found: Comparison, typed: Sequence[str]) -> list[NeededData]:
    """What was lost, once each, the ones that tools were called with and the far ones first."""
    known: dict[tuple[str, int, str, str], NeededData] = {}
    for row, name in zip(found.rows, typed, strict=True):
        for measured in row.sessions:
            for lost in measured.recall.lost:
                key = (measured.session, lost.call, lost.kind, lost.text)
                if key not in known:
                    known[key] = NeededData(
                        session=measured.session,
                        call=lost.call,
                        kind=lost.kind,
                        text=lost.text,
                        item=lost.item,
                        distance=lost.distance,
                        in_arguments=lost.in_arguments,
                        lost_by=[],
                    )
                known[key].lost_by.append(name)
    order = {session: number for number, session in enumerate(found.sessions)}
    return sorted(
        known.values(),
        key=lambda one: (not one.in_arguments, -one.distance, order[one.session], one.call),
    )
