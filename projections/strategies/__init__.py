"""Strategies: what is taken out of a context, and when. One file each, over one legality layer."""

from projections.strategies.adaptive import Adaptive
from projections.strategies.base import Combination, Moment, Parameters, Strategy
from projections.strategies.budget import Budget
from projections.strategies.clear import Clear
from projections.strategies.compact import CompactTurns
from projections.strategies.compress import Compress
from projections.strategies.condense import Condense
from projections.strategies.cut import Cut
from projections.strategies.decisions import (
    Compact,
    Decision,
    Restore,
    Revise,
    Said,
    Substitute,
    Summary,
)
from projections.strategies.dedup import Dedup
from projections.strategies.hybrid import Hybrid
from projections.strategies.intelligent import Intelligent
from projections.strategies.mask import Mask
from projections.strategies.none import NoStrategy
from projections.strategies.presets import PRESETS, Preset
from projections.strategies.protect import Protect
from projections.strategies.prune import Prune
from projections.strategies.registry import STRATEGIES
from projections.strategies.spec import parse
from projections.strategies.tiered import Tiered
from projections.strategies.truncate import Truncate
from projections.strategies.users import Users
from projections.strategies.window import Entry, Unit, Window
from projections.strategies.window_tokens import TokenWindow

__all__ = [
    "PRESETS",
    "STRATEGIES",
    "Adaptive",
    "Budget",
    "Clear",
    "Combination",
    "Compact",
    "CompactTurns",
    "Compress",
    "Condense",
    "Cut",
    "Decision",
    "Dedup",
    "Entry",
    "Hybrid",
    "Intelligent",
    "Mask",
    "Moment",
    "NoStrategy",
    "Parameters",
    "Preset",
    "Protect",
    "Prune",
    "Restore",
    "Revise",
    "Said",
    "Strategy",
    "Substitute",
    "Summary",
    "Tiered",
    "TokenWindow",
    "Truncate",
    "Unit",
    "Users",
    "Window",
    "parse",
]
