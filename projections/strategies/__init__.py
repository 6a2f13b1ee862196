"""Strategies: what is taken out of a context, and when. One file each, over one legality layer."""

from projections.strategies.base import Moment, Parameters, Strategy
from projections.strategies.clear import Clear
from projections.strategies.cut import Cut
from projections.strategies.mask import Mask
from projections.strategies.none import NoStrategy
from projections.strategies.spec import parse
from projections.strategies.truncate import Truncate
from projections.strategies.window_tokens import TokenWindow

STRATEGIES: dict[str, type[Strategy]] = {
    cls.name: cls for cls in (NoStrategy, Truncate, Cut, Clear, Mask, TokenWindow)
}
"""By the name that a spec gives."""

__all__ = ["STRATEGIES", "Moment", "Parameters", "Strategy", "parse"]
