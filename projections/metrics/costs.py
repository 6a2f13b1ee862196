"""What a session would have cost: its tokens at the price of the call that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from projections.metrics.compactions import covered
from projections.metrics.ground import Ground
from projections.metrics.model import Result
from projections.metrics.prefix import Curve
from projections.metrics.prices import Prices, Rates
from projections.usage import UsageTotals
from projections.whatif import WhatIf


class Volume(Result):
    """The tokens that are paid for, in the provider's own count."""

    cached: float
    fresh: float
    output: float
    shown: float
    """To summarizers."""
    written: float
    """By summarizers."""


class Part(Result):
    """The tokens that are paid for at the same rates."""

    rates: Rates
    volume: Volume


class Cost(Result):
    """The cost of one run at one table."""

    prices: str
    total: float
    prompt: float
    output: float
    overhead: float
    """Summaries: what their summarizer was shown and what it wrote."""
    parts: tuple[Part, ...]
    """One for each of the table's rates that some call met."""
    break_even: float | None = None
    """The price of a cache read, as a part of the input price, at which the run costs as much as
    the baseline; None where no price does that."""
    cheaper: Literal["above", "below", "always", "never", "equal"] = "equal"
    """Cheaper than the baseline when a cache read costs more than that, or less, or always …"""


class Request(NamedTuple):
    """One request, the agent's or a summarizer's, in tokens of the counter."""

    when: str
    cached: int = 0
    fresh: int = 0
    output: int = 0
    """As billed, so no factor turns it into anything else."""
    shown: int = 0
    written: int = 0
    billed: bool = False
    """``shown`` and ``written`` are as billed too: a summarizer's provider said what it read."""
    call: int = 0
    """The place of the call that it is, or that came next."""

    def prompt(self, factor: float) -> float:
        """All that went in, as billed."""
        counted = self.cached + self.fresh
        return self.shown if self.billed else (counted + self.shown) * factor


def requests(run: WhatIf, curve: Curve, ground: Ground) -> Iterator[Request]:
    """The calls of a run, then what its summarizers were asked, as of the time of the call after.

    Of a recorded summary nobody knows what its summarizer read, so it is what the summary covers.
    """
    calls = ground.calls

    def when(call: int) -> str:
        return calls[place(call)].when if calls else ""

    def place(call: int) -> int:
        return max(0, min(call, len(calls) - 1))

    sent = zip(curve.tokens, curve.cached, calls, strict=False)
    for number, (tokens, cached, facts) in enumerate(sent):
        yield Request(facts.when, cached, tokens - cached, facts.output, call=number)
    for each in run.asked:
        usage = each.written.usage
        if usage is None or usage.prompt is None or usage.output is None:
            shown, written, billed = each.shown, each.written_tokens, False
        else:
            shown, written, billed = usage.prompt, usage.output, True
        yield Request(
            when(each.call),
            shown=shown,
            written=written,
            billed=billed,
            call=place(each.call),
        )
    for change in run.changes if not run.asked else ():
        if change.kind == "summarised":
            yield Request(
                when(change.call),
                shown=covered(change, ground),
                written=change.after,
                call=place(change.call),
            )


def volume(requests: Sequence[Request], factor: float) -> Volume:
    """The tokens of requests; ``factor`` turns counted tokens into billed ones."""
    return Volume(
        cached=sum(each.cached for each in requests) * factor,
        fresh=sum(each.fresh for each in requests) * factor,
        output=sum(each.output for each in requests),
        shown=sum(each.shown * (1 if each.billed else factor) for each in requests),
        written=sum(each.written * (1 if each.billed else factor) for each in requests),
    )


def parts(requests: Sequence[Request], prices: Prices, factor: float) -> tuple[Part, ...]:
    """The tokens of requests, by what they cost."""
    met: dict[Rates, list[Request]] = {}
    if prices.tiers or prices.periods:
        for each in requests:
            rates = prices.of_call(each.when, each.prompt(factor))
            met.setdefault(rates, []).append(each)
    else:
        met[prices] = list(requests)
    return tuple(Part(rates=_only(rates), volume=volume(of, factor)) for rates, of in met.items())


def spending(
    requests: Sequence[Request], prices: Prices, factor: float, calls: int
) -> tuple[float, ...]:
    """What each of so many calls costs, with the summaries that were made since the one before.

    Together it is the total of ``cost``, but for rounding.
    """
    found = [0.0] * calls
    for each in requests if calls else ():
        rates = prices.of_call(each.when, each.prompt(factor))
        counted = rates.cache_read * each.cached + rates.cache_write * each.fresh
        summaries = rates.input * each.shown + rates.output * each.written
        found[each.call] += (
            counted * factor
            + rates.output * each.output
            + summaries * (1 if each.billed else factor)
        )
    return tuple(map(_money, found))


def billed_cost(prices: Prices, when: str, billed: UsageTotals) -> float | None:
    """What a call cost as it was billed; None where input or output is not known.

    Where the bill does not tell what was read from a cache, all of it costs what the input does.
    """
    prompt, output = billed.prompt, billed.output
    if prompt is None or output is None:
        return None
    rates = prices.of_call(when, prompt)
    return _money(
        rates.input * (billed.input or 0)
        + rates.cache_read * (billed.cached or 0)
        + rates.cache_write * (billed.cache_write or 0)
        + rates.output * output
    )


def _only(rates: Rates) -> Rates:
    """The rates without the tier or the table that they stand in."""
    return Rates.model_validate({name: getattr(rates, name) for name in Rates.model_fields})


def cost(prices: str, parts: Sequence[Part], baseline: Sequence[Part] | None = None) -> Cost:
    """Σ (read · cached + write · fresh) + output + overhead, and the break-even."""
    prompt = sum(
        part.rates.cache_read * part.volume.cached + part.rates.cache_write * part.volume.fresh
        for part in parts
    )
    overhead = sum(map(_overhead, parts))
    output = sum(part.rates.output * part.volume.output for part in parts)
    found = {
        "prices": prices,
        "total": _money(prompt + output + overhead),
        "prompt": _money(prompt),
        "output": _money(output),
        "overhead": _money(overhead),
        "parts": tuple(parts),
    }
    if baseline is not None:
        found |= _break_even(parts, baseline)
    return Cost.model_validate(found)


def _overhead(part: Part) -> float:
    return part.rates.input * part.volume.shown + part.rates.output * part.volume.written


def _break_even(parts: Sequence[Part], baseline: Sequence[Part]) -> dict[str, object]:
    """Where the two lines over the price of a cache read meet.

    That price is a part of the input price of the same call, so it needs no single table.
    """
    paid = sum(map(_without_reads, parts)) - sum(map(_without_reads, baseline))
    saved = sum(map(_reads_in_full, baseline)) - sum(map(_reads_in_full, parts))
    if not saved:
        return {"cheaper": "equal" if not paid else "never" if paid > 0 else "always"}
    price = paid / saved
    if price < 0:
        return {"cheaper": "always" if saved > 0 else "never"}
    return {"break_even": round(price, 6), "cheaper": "above" if saved > 0 else "below"}


def _without_reads(part: Part) -> float:
    spent = part.rates.cache_write * part.volume.fresh + part.rates.output * part.volume.output
    return spent + _overhead(part)


def _reads_in_full(part: Part) -> float:
    """What the cached tokens would cost if a read cost as much as the input."""
    return part.rates.input * part.volume.cached


def _money(tokens_price: float) -> float:
    return round(tokens_price / 1_000_000, 8)
