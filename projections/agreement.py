"""How much of one answer another one says: a measure that needs no model, so it is the same twice.

Two answers of a model to the same context differ too. So a number here means something only beside
that of the same context asked twice, the noise floor.

Source of the word measure: SQuAD's F1 (Rajpurkar et al., EMNLP 2016), here with each Han character
as a word and with no word left out.
"""

from __future__ import annotations

import re
from collections import Counter as Bag
from dataclasses import dataclass

from projections.anchors import Anchor, anchors, lost

_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")


@dataclass(frozen=True, slots=True)
class Agreement:
    """One answer held against a reference answer."""

    words: float
    """F1 over the words of both, 0 to 1; 1 where both say nothing."""
    literals: int
    """Paths, ids, numbers, errors, URLs, commands and rules in the reference."""
    missing: tuple[Anchor, ...]
    """Of these, what the answer does not hold."""


def agreement(reference: str, answer: str) -> Agreement:
    """How far an answer agrees with a reference."""
    wanted = anchors(reference, "model")
    missing = lost(wanted, [answer])
    return Agreement(round(_f1(reference, answer), 4), len(wanted), missing)


def _f1(one: str, other: str) -> float:
    left, right = (Bag(_WORD.findall(text.casefold())) for text in (one, other))
    if not left and not right:
        return 1.0
    common = (left & right).total()
    return 2 * common / (left.total() + right.total())
