"""B23, limits: a window is what somebody gave, and never what a model's name lets one guess."""

from __future__ import annotations

from dataclasses import replace

import pytest
from recorded_sessions import long_session
from replays_made import COUNTER, recording_of, session
from specs_made import COUNTED

from projections.metrics.ground import Ground
from projections.metrics.measure import Options, measure
from projections.recording import Recording
from projections.strategies import parse
from projections.strategies.check import run, short
from projections.strategies.conformance import Seen
from projections.tokens import counter
from projections.whatif import Runner

MODELS = ("", "gpt-4", "claude-sonnet-4-5[1m]", "gemini-2.5-pro", "no-such-model")


def named(recording: Recording, model: str) -> Recording:
    """The same session, answered by another model."""
    steps = (replace(s, text=model) if s.kind == "call" else s for s in recording.steps)
    return replace(recording, steps=tuple(steps))


def first_change(seen: list[Seen]) -> int:
    """The tokens of the last context that nothing was taken from yet; 0 where nothing ever was."""
    at = next((n for n, each in enumerate(seen) if each.changes), 0)
    return seen[at - 1].tokens if at else 0


class TestWindows:
    """B23: 200,000 tokens taken for a million, or a reserve for the answer that leaves nothing."""

    @pytest.mark.parametrize("spec", [*COUNTED, "window:tokens=900", "tiered:tokens=900"])
    def test_no_strategy_looks_at_the_name_of_the_model(self, spec: str) -> None:
        recording = recording_of(session(20))
        runs = [run(parse(spec), named(recording, model), COUNTER, short) for model in MODELS]
        contexts = [[each.items for each in seen] for seen in runs]
        assert all(each == contexts[0] for each in contexts)

    @pytest.mark.parametrize(
        ("preset", "window", "limit"),
        [
            ("codex", 2_000, 1_800),
            ("codex", 3_000, 2_700),
            ("claude-code", 2_000, 1_000),
            ("claude-code", 4_000, 2_000),
            pytest.param("claude-code", 36_000, 18_000, marks=pytest.mark.slow),
            pytest.param("claude-code", 100_000, 67_000, marks=pytest.mark.slow),
        ],
    )
    def test_a_preset_compacts_at_what_the_window_given_leaves(
        self, preset: str, window: int, limit: int
    ) -> None:
        recording = recording_of(session(limit // 75 + 8, "word " * 60))
        before = first_change(run(parse(f"{preset}:window={window}"), recording, COUNTER, short))
        assert limit - 100 < before <= limit

    def test_the_reserve_for_the_answer_is_given_too(self) -> None:
        given, counting = long_session().recording(), counter()

        def overflow(window: int | None, reserve: int) -> int | None:
            found = measure(
                Ground(given, counting),
                lambda observer: Runner(given, parse("none"), counting, None, observer).run(),
                Options(window=window, reserve=reserve),
            )
            return found.tokens.overflow_calls

        assert overflow(None, 0) is None
        assert overflow(1_000_000, 0) == 0
        assert (overflow(9_000, 0) or 0) < (overflow(9_000, 4_000) or 0)
