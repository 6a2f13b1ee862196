"""The strategies and presets, by the name that a spec gives."""

from __future__ import annotations

from projections.strategies.adaptive import Adaptive
from projections.strategies.base import Strategy
from projections.strategies.budget import Budget
from projections.strategies.clear import Clear
from projections.strategies.compact import CompactTurns
from projections.strategies.compress import Compress
from projections.strategies.condense import Condense
from projections.strategies.cut import Cut
from projections.strategies.dedup import Dedup
from projections.strategies.halve import Halve
from projections.strategies.hybrid import Hybrid
from projections.strategies.intelligent import Intelligent
from projections.strategies.mask import Mask
from projections.strategies.none import NoStrategy
from projections.strategies.presets import PRESETS
from projections.strategies.protect import Protect
from projections.strategies.prune import Prune
from projections.strategies.tiered import Tiered
from projections.strategies.truncate import Truncate
from projections.strategies.users import Users
from projections.strategies.window_tokens import TokenWindow

_OWN: tuple[type[Strategy], ...] = (
    *(NoStrategy, Truncate, Compress, Cut, Clear, CompactTurns, TokenWindow, Tiered),
    *(Adaptive, Budget, Prune, Dedup, Intelligent, Mask, Protect, Hybrid, Condense, Halve, Users),
)

STRATEGIES: dict[str, type[Strategy]] = {cls.name: cls for cls in _OWN} | dict(PRESETS)
