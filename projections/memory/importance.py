"""How important something is that may be remembered, and by which rules.

| rule | adds |
|---|---|
| base: everything that was said | 0.50 |
| explicit: a person asked to remember it | up to 1.00 |
| a decision, or how something is built | 0.30 |
| an error, and what fixed it | 0.25 |
| a preference that a person stated | 0.30 |
| the person was content with it | 0.20 |
| each time it was recalled | 0.05, at most 0.15 |

The sum is at most 1. With the base alone, or with praise alone, nothing is remembered above the
threshold of 0.7; a decision, and an error with its fix, are.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

from eventlog.memory import Importance
from eventlog.values import Value
from projections.memory.memory import MOST_BY_ACCESS, PER_ACCESS

Rule = Literal["explicit", "decision", "error and fix", "preference", "positive feedback"]


class Weights(Value):
    """What each rule adds."""

    base: Importance = 0.5
    explicit: Importance = 1.0
    """What a wish to have it remembered makes it."""
    decision: Importance = 0.3
    error_and_fix: Importance = 0.25
    preference: Importance = 0.3
    positive_feedback: Importance = 0.2
    per_access: Importance = PER_ACCESS
    most_by_access: Importance = MOST_BY_ACCESS


class Score(NamedTuple):
    """An importance, and the rules that made it up."""

    value: float
    rules: tuple[str, ...]
    """``base 0.50``, ``decision +0.30`` …"""


def score(rules: Collection[Rule], accesses: int = 0, weights: Weights | None = None) -> Score:
    """The importance of something of which these rules hold; each counts once."""
    weights = weights or Weights()
    if "explicit" in rules:
        return Score(weights.explicit, (f"explicit {weights.explicit:.2f}",))
    added: dict[Rule, float] = {
        "decision": weights.decision,
        "error and fix": weights.error_and_fix,
        "preference": weights.preference,
        "positive feedback": weights.positive_feedback,
    }
    value, named = weights.base, [f"base {weights.base:.2f}"]
    for rule, weight in added.items():
        if rule in rules:
            value += weight
            named.append(f"{rule} +{weight:.2f}")
    recalled = min(weights.most_by_access, weights.per_access * max(0, accesses))
    if recalled:
        value += recalled
        named.append(f"recalled +{recalled:.2f}")
    return Score(round(min(1.0, value), 6), tuple(named))
