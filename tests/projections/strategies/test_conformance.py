"""Every strategy, over made and drawn sessions, is held to the invariants."""

from __future__ import annotations

import pytest
from contexts_made import contexts, plausible_contexts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from replays_made import COUNTER, recording_of
from specs_made import BUDGETED, COUNTED

from projections.items import Item
from projections.recording import Recording, Step
from projections.strategies import STRATEGIES, parse
from projections.strategies.check import check, run, short
from projections.strategies.made import made

LARGE = {"openhands": made(22, steps=110), "anthropic-clear": made(1, size=30)}
"""For presets whose numbers no small session reaches."""


@st.composite
def asides(draw: st.DrawFn, count: int) -> list[Step]:
    """Pins and rewinds between the items, which come at tens: far back, and out of each other."""
    found = []
    for _ in range(draw(st.integers(0, 3)) if count else 0):
        at = draw(st.integers(1, count))
        back = draw(st.integers(0, at))
        kind = draw(st.sampled_from(["pin", "unpin", "rewind", "rewind"]))
        if kind == "rewind":
            found.append(Step("rewind", at * 10 + 5, to=back * 10))
        elif back:
            found.append(Step(kind, at * 10 + 4, origin=back))
    return sorted(found, key=lambda step: step.position)


@st.composite
def cases(draw: st.DrawFn, items: st.SearchStrategy[list[Item]]) -> tuple[Recording, str]:
    """A session and a spec; its budget is from 1 up to what the whole session has."""
    chosen = draw(items)
    recording = recording_of(chosen, *draw(asides(len(chosen))))
    if draw(st.booleans()):
        return recording, draw(st.sampled_from(COUNTED))
    total = sum(step.tokens for step in recording.steps)
    budget = draw(st.one_of(st.sampled_from([1, 30, 120]), st.integers(1, max(1, total))))
    return recording, draw(st.sampled_from(BUDGETED)).format(n=budget)


DRAWN = settings(
    max_examples=150,
    derandomize=True,
    suppress_health_check=[HealthCheck.data_too_large],
)


def decides(spec: str, recording: Recording) -> bool:
    seen = run(parse(spec), recording, COUNTER, short)
    return any(change.kind != "declined" for each in seen for change in each.changes)


class TestSpecs:
    """A strategy that is never tried, or never has to decide, passes every rule."""

    def test_every_strategy_and_preset_is_tried(self) -> None:
        tried = {spec.partition(":")[0] for spec in (*COUNTED, *BUDGETED)}
        assert tried == STRATEGIES.keys()

    @pytest.mark.parametrize("spec", [*COUNTED, *(spec.format(n=60) for spec in BUDGETED)])
    def test_every_strategy_decides_something(self, spec: str) -> None:
        given = [LARGE[spec]] if spec in LARGE else map(made, range(4))
        assert any(decides(spec, recording) for recording in given) == (spec != "none")

    def test_sessions_go_back_to_before_what_was_compacted(self) -> None:
        def goes_back(recording: Recording) -> bool:
            seen = run(parse("window:tokens=200"), recording, COUNTER, None)
            dropped = [c.position for s in seen for c in s.changes if c.kind == "dropped"]
            rewinds = [step for step in recording.steps if step.kind == "rewind"]
            return any(r.to < at < r.position for r in rewinds for at in dropped)

        assert all(goes_back(made(seed)) for seed in (1, 3))


class TestMadeSessions:
    """A strategy that only its author's sessions suit breaks a request of somebody else's."""

    @pytest.mark.parametrize("seed", [1, pytest.param(0, marks=pytest.mark.slow)])
    @pytest.mark.parametrize("spec", COUNTED)
    def test_a_counting_strategy_keeps_every_rule(self, spec: str, seed: int) -> None:
        assert [str(finding) for finding in check(spec, seeds=[seed])] == []

    @pytest.mark.parametrize("seed", [3, pytest.param(2, marks=pytest.mark.slow)])
    @pytest.mark.parametrize("tokens", [60, 700])
    @pytest.mark.parametrize("spec", BUDGETED)
    def test_a_budgeted_strategy_keeps_every_rule(self, spec: str, tokens: int, seed: int) -> None:
        assert [str(f) for f in check(spec.format(n=tokens), seeds=[seed])] == []

    @pytest.mark.parametrize("spec", LARGE)
    def test_a_preset_keeps_every_rule_at_its_own_numbers(self, spec: str) -> None:
        assert [str(f) for f in check(spec, recordings={"large": LARGE[spec]})] == []


class TestDrawnSessions:
    """Batches, late, missing, duplicate and repeated-id results, reasoning, images, surrogates."""

    @DRAWN
    @given(case=cases(plausible_contexts()))
    def test_no_plausible_session_breaks_a_strategy(self, case: tuple[Recording, str]) -> None:
        recording, spec = case
        assert [str(f) for f in check(spec, recordings={"drawn": recording})] == []

    @DRAWN
    @given(case=cases(contexts()))
    def test_no_session_at_all_breaks_a_strategy(self, case: tuple[Recording, str]) -> None:
        recording, spec = case
        assert [str(f) for f in check(spec, recordings={"drawn": recording})] == []
