"""All metrics of one strategy over one session."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import Field

from projections.metrics import prices as pricing
from projections.metrics.accounting import Accounting
from projections.metrics.artifacts import Artifacts
from projections.metrics.compactions import Compactions, compactions
from projections.metrics.costs import (
    Cost,
    Request,
    Volume,
    cost,
    parts,
    requests,
    spending,
    volume,
)
from projections.metrics.ground import Ground
from projections.metrics.meter import Meter
from projections.metrics.model import Result
from projections.metrics.prefix import Curve, Prefix, curve, stability
from projections.metrics.prices import Prices, Unknown
from projections.metrics.recall import Recall
from projections.metrics.refetch import Refetch
from projections.metrics.survival import Survival
from projections.metrics.validity import Validity
from projections.tokens import calibrate
from projections.whatif import Observer, WhatIf

LEAST_CACHED = 1_024
"""Tokens under which providers cache nothing."""


class Options(Result):
    """What a comparison takes as given."""

    window: int | None = Field(default=None, gt=0)
    """Tokens that the model can take; None: nothing is said of headroom."""
    reserve: int = Field(default=0, ge=0)
    """Of these, kept for the answer."""
    prices: tuple[Prices | Unknown, ...] = pricing.DEFAULT
    ttl: float | None = Field(default=None, gt=0)
    """Seconds that a cache lives; None: it never ends."""
    least_cached: int = Field(default=LEAST_CACHED, ge=0)


class Calibrated(Result):
    """How the counter's tokens become billed ones: ``factor * (tokens + unrecorded)``."""

    session: str
    factor: float
    unrecorded: int
    """Tokens of the counter that stood in every request and are not in the log."""
    samples: int
    """Calls with a bill; 0: nothing is known, and nothing is changed."""


class Tokens(Result):
    """The token curve of one run, in the named counter; tool definitions are counted."""

    curve: tuple[int, ...]
    peak: int
    cumulative: int
    output: int
    """Of the recorded answers: the same for every strategy."""
    calibrated_peak: int
    """As the provider would have billed it, what nobody recorded included."""
    calibrated_cumulative: int
    headroom: float | None
    """What the largest context left of the window."""
    overflow_calls: int | None


class Measured(Result):
    """Metrics 1 to 12 of one strategy over one session."""

    session: str
    calls: int
    calibration: Calibrated
    tokens: Tokens
    compactions: Compactions
    prefix: Prefix
    volume: Volume
    costs: tuple[Cost | None, ...]
    """At each price table; None where that is unknown."""
    cached: tuple[int, ...]
    """Of each request what a cache would have had; see ``prefix.Curve``."""
    spending: tuple[tuple[float, ...] | None, ...]
    """At each price table what each call costs; None likewise."""
    dialect: str
    """The session's own."""
    validity: tuple[Validity, ...]
    accounting: Accounting | None
    """None where no call was made."""
    recall: Recall
    refetch: Refetch
    survival: Survival | None
    artifacts: Artifacts
    digest: str
    """Of the contexts of all calls."""


def _calibrated(ground: Ground, run: WhatIf) -> Calibrated:
    """How the counter's tokens become billed ones, over the contexts as they were sent."""
    calls = zip(run.calls, ground.calls, strict=False)
    found = calibrate([(call.tokens + facts.tools, facts.billed) for call, facts in calls])
    return Calibrated(
        session=ground.recording.key,
        factor=round(found.factor, 6),
        unrecorded=round(found.unrecorded),
        samples=found.samples,
    )


def measure(
    ground: Ground,
    run: Callable[[Observer], WhatIf],
    options: Options,
    baseline: Measured | None = None,
) -> Measured:
    """Run a strategy and measure it; costs are held against the baseline, if there is one."""
    meter = Meter(ground)
    found = run(meter)
    held = baseline.calibration if baseline is not None else _calibrated(ground, found)
    sent, breaks = curve(
        found,
        ground.calls,
        ttl=options.ttl,
        least=options.least_cached,
        unrecorded=held.unrecorded,
    )
    decided = compactions(found, ground)
    output = sum(facts.output for facts in ground.calls)
    factor = held.factor
    paid = list(requests(found, sent, ground))
    return Measured(
        session=ground.recording.key,
        calls=len(found.calls),
        calibration=held,
        tokens=_tokens(sent, output, held, options),
        compactions=decided,
        prefix=stability(sent, breaks),
        volume=volume(paid, factor),
        costs=_costs(paid, options.prices, factor, baseline),
        cached=sent.cached,
        spending=tuple(
            None
            if isinstance(prices, Unknown)
            else spending(paid, prices, factor, len(ground.calls))
            for prices in options.prices
        ),
        dialect=ground.dialect,
        validity=meter.validity.result(),
        accounting=meter.accounting,
        recall=meter.recall.result(),
        refetch=meter.refetch.result(),
        survival=meter.survived,
        artifacts=meter.artifacts.result(),
        digest=meter.digest,
    )


def _costs(
    paid: Sequence[Request],
    tables: Sequence[Prices | Unknown],
    factor: float,
    baseline: Measured | None,
) -> tuple[Cost | None, ...]:
    found: list[Cost | None] = []
    for number, prices in enumerate(tables):
        if isinstance(prices, Unknown):
            found.append(None)
            continue
        held = baseline.costs[number] if baseline is not None else None
        against = held.parts if held is not None else None
        found.append(cost(prices.name, parts(paid, prices, factor), against))
    return tuple(found)


def _tokens(sent: Curve, output: int, held: Calibrated, options: Options) -> Tokens:
    counted = tuple(tokens - held.unrecorded for tokens in sent.tokens)
    billed = [tokens * held.factor for tokens in sent.tokens]
    window = options.window
    headroom = overflow = None
    if window is not None:
        headroom = round(1 - max(billed, default=0.0) / window, 6)
        overflow = sum(tokens > window - options.reserve for tokens in billed)
    return Tokens(
        curve=counted,
        peak=max(counted, default=0),
        cumulative=sum(counted),
        output=output,
        calibrated_peak=round(max(billed, default=0.0)),
        calibrated_cumulative=round(sum(billed)),
        headroom=headroom,
        overflow_calls=overflow,
    )
