"""What a session's rows say of each call, beside the context that was folded for it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.counts import Counts
from cli.timeline import timeline
from eventlog import StreamKey, events
from projections import open_log

KEY = StreamKey("local", "agent", "s")


def said(text: str, after: str | None = None) -> events.MessageAppended:
    message = {"role": "user", "content": text}
    return events.MessageAppended(
        dialect="openai_chat", source="human", message=message, after=after
    )


CALL = events.ModelCalled(model="m", dialect="openai_chat")
REPAIR = events.RepairApplied(
    rule="unanswered_call",
    inserted=(
        events.RepairInsert(
            message=events.NewMessage(
                dialect="openai_chat",
                message={"role": "tool", "tool_call_id": "x", "content": "none"},
            )
        ),
    ),
    call_ids=("x",),
)
RESULT = events.ToolResultRecorded(tool_call_id="x", dialect="openai_chat", content="done, at last")
ITEM = st.integers(1, 12).map(str)
STEPS = st.lists(
    st.one_of(
        st.just(CALL),
        st.just(CALL),
        st.builds(said, st.sampled_from(["a", "some more words than that"])),
        st.builds(said, st.just("between"), ITEM),
        st.just(RESULT),
        st.builds(events.PlaceholderSubstituted, item=ITEM, content=st.just("[cleared]")),
        st.builds(events.ContextCompacted, covered=st.tuples(ITEM)),
        st.builds(events.SessionRewound, to=st.integers(0, 12)),
        st.builds(events.DecisionUndone, target=st.integers(1, 12)),
        st.just(REPAIR),
    ),
    min_size=3,
    max_size=24,
)


class TestTheRowsOfCalls:
    """Without this the sizes beside the calls are those of contexts that never were."""

    def test_a_result_takes_the_place_of_the_one_that_was_made_up(self, tmp_path: Path) -> None:
        assert_sizes(tmp_path / "l.db", [said("a"), REPAIR, CALL, RESULT, CALL])

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(steps=STEPS)
    def test_each_says_how_much_stood_in_its_context(self, steps: list[events.Event]) -> None:
        with TemporaryDirectory() as folder:
            assert_sizes(Path(folder) / "l.db", steps)


def assert_sizes(path: Path, steps: list[events.Event]) -> None:
    with open_log(path) as live:
        live.append(KEY, *steps)
        counts = Counts(live, KEY)
        for row in timeline(live, KEY, at=len(steps), calls=True).rows:
            if row.type == "model_called":
                standing = live.view(KEY, row.position).standing()
                assert (row.items, row.tokens) == (len(standing), counts.total(standing))
