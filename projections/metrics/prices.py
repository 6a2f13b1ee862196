"""What tokens cost. Prices are a parameter: the cheapest strategy flips with them.

The two tables that are there by default are relative, to an input price of 1: with the discount
of a provider whose cache reads cost a tenth and whose writes a quarter more, and without any.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from eventlog.happened import source_moment
from projections.metrics.model import Result

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def instant(when: str) -> datetime | None:
    """The time that a source wrote, in UTC; None where it cannot be read."""
    at = source_moment(when)
    return _EPOCH + timedelta(microseconds=at) if at is not None else None


def _since(text: str) -> datetime | None:
    """The beginning of a period, which may lie before all clocks; UTC where it names no zone."""
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):  # the first and the last day have no other zone
        return None


def _readable(since: str) -> str:
    if _since(since) is None:
        raise ValueError(f"{since!r} is no time")
    return since


class Rates(Result):
    """Per million tokens, in any currency."""

    input: Price
    """What a token costs that is neither read from a cache nor written to one."""
    cache_read: Price
    cache_write: Price
    output: Price


class Tier(Rates):
    """What a call costs, all of it, whose prompt holds more tokens than ``above``."""

    above: int = Field(ge=0)


class Tiered(Rates):
    """The rates of a small prompt, and those of larger ones."""

    tiers: tuple[Tier, ...] = ()

    def for_prompt(self, tokens: float) -> Rates:
        """The rates of a call with so many tokens in its prompt, cached ones too."""
        over = [tier for tier in self.tiers if tokens > tier.above]
        return max(over, key=lambda tier: tier.above, default=self)


class Period(Tiered):
    """What calls cost from some time on."""

    since: Annotated[str, AfterValidator(_readable)]


class Prices(Tiered):
    """A table."""

    name: str
    currency: str = ""
    """Empty: not said."""
    relative: bool = False
    """To an input price of 1."""
    periods: tuple[Period, ...] = ()
    """Where prices changed while the calls were made; the table's own rates are for calls before
    them all, and for those whose time cannot be read."""
    source: str = ""
    """Where they were looked up; empty: they were given."""
    model: str = ""
    """As the source calls it."""

    def of_call(self, when: str, tokens: float) -> Rates:
        """The rates of a call made then, with so many tokens in its prompt."""
        at = instant(when) if self.periods else None
        begun: list[tuple[datetime, Tiered]] = []
        for period in self.periods if at is not None else ():
            since = _since(period.since)
            if since is not None and at is not None and since <= at:
                begun.append((since, period))
        in_force = max(begun, key=lambda one: one[0])[1] if begun else self
        return in_force.for_prompt(tokens)


class Unknown(Result):
    """A table of which only the name is known: what it would say costs is left open, never 0."""

    name: str
    incomplete: Literal[True] = True


CACHED = Prices(name="0.1/1.25", input=1, cache_read=0.1, cache_write=1.25, output=5, relative=True)
FLAT = Prices(name="no discount", input=1, cache_read=1, cache_write=1, output=5, relative=True)
DEFAULT = (CACHED, FLAT)
