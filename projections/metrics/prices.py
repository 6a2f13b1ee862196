"""What a session would have cost. Prices are a parameter: the cheapest strategy flips with them.

The two tables that are there by default are relative, to an input price of 1: with the discount
of a provider whose cache reads cost a tenth and whose writes a quarter more, and without any.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from projections.metrics.model import Result
from projections.metrics.prefix import Curve

Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Prices(Result):
    """Per million tokens, in any currency."""

    name: str
    input: Price
    """What a token costs that is neither read from a cache nor written to one."""
    cache_read: Price
    cache_write: Price
    output: Price
    currency: str = ""
    """Empty: relative, to an input price of 1."""


CACHED = Prices(name="0.1/1.25", input=1, cache_read=0.1, cache_write=1.25, output=5)
FLAT = Prices(name="no discount", input=1, cache_read=1, cache_write=1, output=5)
DEFAULT = (CACHED, FLAT)


class Cost(Result):
    """The cost of one run at one table."""

    prices: str
    total: float
    prompt: float
    output: float
    overhead: float
    """Summaries: what their summarizer was shown and what it wrote."""
    break_even: float | None = None
    """The price of a cache read, as a part of the input price, at which the run costs as much as
    the baseline; None where no price does that."""
    cheaper: Literal["above", "below", "always", "never", "equal"] = "equal"
    """Cheaper than the baseline when a cache read costs more than that, or less, or always …"""


class Volume(Result):
    """The tokens that are paid for, in the provider's own count."""

    cached: float
    fresh: float
    output: float
    shown: float
    """To summarizers."""
    written: float
    """By summarizers."""


def volume(curve: Curve, output: int, shown: float, written: float, factor: float) -> Volume:
    """The tokens of a run; ``factor`` turns the counted tokens of its calls into billed ones."""
    cached, total = sum(curve.cached), sum(curve.tokens)
    return Volume(
        cached=cached * factor,
        fresh=(total - cached) * factor,
        output=output,
        shown=shown,
        written=written,
    )


def cost(volume: Volume, prices: Prices, baseline: Volume | None = None) -> Cost:
    """Σ (read · cached + write · fresh) + output + overhead, and the break-even."""
    prompt = prices.cache_read * volume.cached + prices.cache_write * volume.fresh
    overhead = prices.input * volume.shown + prices.output * volume.written
    output = prices.output * volume.output
    found = {
        "prices": prices.name,
        "total": _money(prompt + output + overhead),
        "prompt": _money(prompt),
        "output": _money(output),
        "overhead": _money(overhead),
    }
    if baseline is not None:
        found |= _break_even(volume, prices, baseline)
    return Cost.model_validate(found)


def _break_even(volume: Volume, prices: Prices, baseline: Volume) -> dict[str, object]:
    """Where the two lines over the price of a cache read meet."""
    paid = (
        prices.cache_write * (volume.fresh - baseline.fresh)
        + prices.input * (volume.shown - baseline.shown)
        + prices.output * (volume.written - baseline.written)
    )
    saved = baseline.cached - volume.cached
    if not saved:
        return {"cheaper": "equal" if not paid else "never" if paid > 0 else "always"}
    price = paid / saved
    if price < 0 or not prices.input:
        return {"cheaper": "always" if (saved > 0) == (price < 0) else "never"}
    return {
        "break_even": round(price / prices.input, 6),
        "cheaper": "above" if saved > 0 else "below",
    }


def _money(tokens_price: float) -> float:
    return round(tokens_price / 1_000_000, 8)
