"""Prices of models by name, from the library genai-prices: what its wheel holds, and no network.

In US dollars per million tokens, of the plain service: without a discount for batches, and a cache
write is one that lives for minutes. What is charged besides tokens, such as searches, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from importlib.metadata import version

from genai_prices.data import providers
from genai_prices.data_snapshot import DataSnapshot
from genai_prices.types import ModelInfo, ModelPrice, Provider, TieredPrices

from projections.metrics.prices import Period, Prices, Tier, Tiered, Unknown, instant

CURRENCY = "USD"

_NEWEST = datetime(9999, 1, 1, 12, tzinfo=UTC)
"""After every change that the library knows; where prices go by the hour, noon."""


def library() -> str:
    """The library and its version, since prices are facts of a date."""
    return f"genai-prices {version('genai-prices')}"


def model_prices(name: str, times: Iterable[str] = ()) -> Prices | Unknown:
    """What the tokens of a model cost; Unknown where the library does not say.

    ``name`` is a model as its provider calls it, ``provider/model`` or ``provider:model``.
    ``times`` are those of the calls, as their source wrote them: each call costs what it did then,
    one without a readable time what the newest prices say. A cache read or a cache write of which
    the library has no price costs what the input does.
    """
    found = _find(name)
    if found is None:
        return Unknown(name=name)
    provider, model = found
    read = [instant(when) for when in times]
    moments = sorted({at for at in read if at is not None})
    then = [(at, _tiered(model.get_prices(at))) for at in moments]
    untimed = not moments or None in read
    own = _tiered(model.get_prices(_NEWEST)) if untimed else then[-1][1]
    if own is None or any(rates is None for _, rates in then):
        return Unknown(name=name)
    changes: list[tuple[datetime, Tiered]] = []
    for at, rates in then:
        if rates is not None and (not changes or rates != changes[-1][1]):
            changes.append((at, rates))
    if all(rates == own for _, rates in changes):
        changes = []
    return Prices(
        name=name,
        **dict(own),
        currency=CURRENCY,
        periods=tuple(Period(since=at.isoformat(), **dict(rates)) for at, rates in changes),
        source=library(),
        model=f"{provider.id}/{model.id}",
    )


def model_names() -> list[str]:
    """The models that the library knows, as their providers call them."""
    return [model.id for provider in _bundled().providers for model in provider.models]


@cache
def _bundled() -> DataSnapshot:
    # Not the library's own snapshot, which a program around this one may have updated.
    return DataSnapshot(providers=providers, from_auto_update=False)


def _find(name: str) -> tuple[Provider, ModelInfo] | None:
    for provider, model in _readings(name):
        try:
            return _bundled().find_provider_model(model, None, provider, None)
        except LookupError:
            continue
    return None


def _readings(name: str) -> Iterator[tuple[str | None, str]]:
    """A name as (provider, model): a provider's very id in front counts alone, since the same model
    costs elsewhere something else; what only resembles one counts when the whole is no model."""
    ids = {provider.id for provider in _bundled().providers}
    pairs = [(name[:at], name[at + 1 :]) for at, sign in enumerate(name) if sign in "/:"][:1]
    for provider, model in pairs:
        if provider.lower() in ids:
            yield provider, model
            return
    yield None, name
    yield from pairs


def _tiered(prices: ModelPrice) -> Tiered | None:
    """The rates of tokens; None where the input or the output has none."""
    full, output = prices.input_mtok, prices.output_mtok
    if full is None or output is None:
        return None
    kinds = {"input": full, "output": output}
    for field, price in (
        ("cache_read", prices.cache_read_mtok),
        ("cache_write", prices.cache_write_mtok),
    ):
        kinds[field] = full if price is None else price
    starts = {
        tier.start
        for price in kinds.values()
        if isinstance(price, TieredPrices)
        for tier in price.tiers
    }
    return Tiered(
        **{kind: _over(price, -1) for kind, price in kinds.items()},
        tiers=tuple(
            Tier(above=start, **{kind: _over(price, start) for kind, price in kinds.items()})
            for start in sorted(starts)
        ),
    )


def _over(price: Decimal | TieredPrices, start: int) -> float:
    """The price above so many tokens in the prompt."""
    if isinstance(price, Decimal):
        return float(price)
    begun = [price.base, *(tier.price for tier in price.tiers if tier.start <= start)]
    return float(begun[-1])
