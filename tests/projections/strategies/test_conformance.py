"""Every strategy, over made and drawn sessions, is held to the invariants."""

from __future__ import annotations

import pytest
from contexts_made import contexts, plausible_contexts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from replays_made import recording_of

from projections.items import Item
from projections.strategies import STRATEGIES
from projections.strategies.check import check

BUDGETED = (
    "window:tokens={n}",
    "window:tokens={n},low=100",
    "tiered:tokens={n}",
    "adaptive:tokens={n}",
    "adaptive:tokens={n},task=creative_writing",
    "budget:tokens={n}",
    "prune:tokens={n}",
    "prune:tokens={n},max_score=3",
    "intelligent:tokens={n}",
    "hybrid:tokens={n},n=1,polling=2,keep_last=3",
    "condense:tokens={n},keep_last=2",
    "users:tokens={n},user_tokens=40",
    "compact:keep_turns=1,trigger_tokens={n}",
    "clear:keep=1,trigger={n},at=model_call",
    "protect:protect={n},minimum=10,turns=0,at=model_call",
    "cut:limit={n}",
    "cut:limit=90 | clear:keep=1,at=model_call | dedup | window:tokens={n}",
)
COUNTED = (
    "none",
    "truncate:turns=0",
    "truncate:turns=1",
    "truncate:turns=2,unit=turn",
    "truncate:turns=1,at=model_call",
    "compress:max_messages=5,keep_recent=2",
    "compress:max_messages=3,keep_recent=0,at=model_call",
    "cut:limit=0",
    "clear:keep=0,clear_tool_inputs=true,at=model_call",
    "clear:keep=1,clear_at_least=50",
    "compact:keep_turns=1",
    "compact:keep_turns=0,at=model_call",
    "condense:max_items=4,tokens=0,keep_first=1,keep_last=2",
    "dedup",
    "dedup:at=model_call,min_tokens=0",
    "mask:n=1,polling=2",
    "mask:n=0,polling=1,keep_first=false",
    "swe-agent",
    "openhands",
    "codex:window=1000",
    "claude-code:window=1000",
    "anthropic-clear",
)
SPEC = st.one_of(
    st.sampled_from(COUNTED),
    st.builds(
        lambda spec, n: spec.format(n=n),
        st.sampled_from(BUDGETED),
        st.sampled_from([1, 30, 120, 400, 900]),
    ),
)
DRAWN = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def test_every_strategy_is_tried() -> None:
    tried = {spec.partition(":")[0] for spec in (*COUNTED, *BUDGETED)}
    assert tried == STRATEGIES.keys()


class TestMadeSessions:
    """A strategy that only its author's sessions suit breaks a request of somebody else's."""

    @pytest.mark.parametrize("spec", COUNTED)
    def test_a_counting_strategy_keeps_every_rule(self, spec: str) -> None:
        assert [str(finding) for finding in check(spec, seeds=range(2))] == []

    @pytest.mark.parametrize("tokens", [60, 700])
    @pytest.mark.parametrize("spec", BUDGETED)
    def test_a_budgeted_strategy_keeps_every_rule(self, spec: str, tokens: int) -> None:
        assert [str(f) for f in check(spec.format(n=tokens), seeds=range(2, 4))] == []


class TestDrawnSessions:
    """Batches, late, missing, duplicate and repeated-id results, reasoning, images, surrogates."""

    @DRAWN
    @given(items=plausible_contexts(), spec=SPEC)
    def test_no_plausible_session_breaks_a_strategy(self, items: list[Item], spec: str) -> None:
        recordings = {"drawn": recording_of(items)}
        assert [str(f) for f in check(spec, recordings=recordings)] == []

    @DRAWN
    @given(items=contexts(), spec=SPEC)
    def test_no_session_at_all_breaks_a_strategy(self, items: list[Item], spec: str) -> None:
        recordings = {"drawn": recording_of(items)}
        assert [str(f) for f in check(spec, recordings=recordings)] == []
