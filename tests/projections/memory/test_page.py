"""docs/memory-learning.md: what it says is what the rules do."""

from __future__ import annotations

import doctest
from pathlib import Path

from projections.memory.importance import Weights
from projections.memory.learning import LearnPolicy
from projections.memory.subjects import SUBJECTS

PAGE = Path(__file__).parents[3] / "docs" / "memory-learning.md"


def test_its_examples_give_what_it_says() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 12
    assert result.failed == 0


def test_it_names_every_subject_and_weight() -> None:
    text = " ".join(PAGE.read_text().split())
    assert [subject for subject in SUBJECTS if subject not in text] == []
    weights = Weights()
    for name, weight in (
        ("`base`", weights.base),
        ("`decision`", weights.decision),
        ("`error and fix`", weights.error_and_fix),
        ("`preference`", weights.preference),
        ("`positive feedback`", weights.positive_feedback),
    ):
        assert f"| {name} | {weight:.2f} |" in text
    policy = LearnPolicy()
    assert f"above {policy.threshold}" in text
    assert f"The last {policy.capacity} are" in text
