"""What a session's rows say of each call, beside the context that was folded for it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st
from running import run

import cli.timeline
import cli.tools
from cli.counts import Counts
from cli.render_log import head
from cli.style import Style
from cli.timeline import SUBSTITUTED, timeline
from eventlog import RecordedEvent, StreamKey, events
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

    @settings(max_examples=60)
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


PASSES = st.builds(
    events.PlaceholderSubstituted,
    item=ITEM,
    content=st.just("[cleared]"),
    pass_id=st.sampled_from(["", "p1", "p2"]),
)
ANSWERED = st.builds(events.ModelResponded, call=st.integers(1, 12))
CALLING = events.MessageAppended(
    dialect="openai_chat",
    source="model",
    message={
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "x", "type": "function", "function": {"name": "run", "arguments": "{}"}}
        ],
    },
)
ASKED = st.fixed_dictionaries(
    {
        "calls": st.booleans(),
        "every": st.booleans(),
        "types": st.sampled_from([(), ("message_appended",), ("placeholder_substituted",)]),
    }
)


class TestAPartOfTheRows:
    """Without it a range, or the last rows, say other things of an event than the whole does."""

    @settings(max_examples=40)
    @given(
        STEPS.flatmap(lambda steps: st.permutations([*steps, CALLING, RESULT, RESULT])),
        st.lists(PASSES | ANSWERED, max_size=8),
        ASKED,
        st.randoms(use_true_random=False),
    )
    def test_it_is_a_part_of_the_whole(
        self, steps: list[Any], more: list[Any], asked: dict[str, Any], dice: random.Random
    ) -> None:
        steps = sorted([*steps, *more], key=lambda _: dice.random())
        with TemporaryDirectory() as folder, open_log(Path(folder) / "l.db") as live:
            live.append(KEY, *steps)
            at = dice.randint(1, len(steps))
            whole = timeline(live, KEY, at=at, **asked)
            with patch.object(cli.timeline, "_PAGE", 1), patch.object(cli.tools, "_PAGE", 1):
                for most in (1, 2, 5, 100):
                    last = timeline(live, KEY, at=at, most=most, **asked)
                    assert last.rows == whole.rows[-most:]
                    assert last.more is (len(whole.rows) > most)
                    assert (last.items, last.tokens) == (whole.items, whole.tokens)
                low = dice.randint(1, at)
                high = dice.randint(low, at)
                part = timeline(live, KEY, at=at, first=low, last=high, **asked)
            expected = [row for row in whole.rows if low <= row.position <= high]
            # The row of a pass that began before the range stands where it goes on in it.
            extra = [row for row in part.rows if row not in expected]
            assert [row for row in part.rows if row not in extra] == expected
            sizes = Counter(step.pass_id for step in steps[:at] if step.type == SUBSTITUTED)
            for row in extra:
                assert row.type == SUBSTITUTED
                assert row.items == sizes[steps[row.position - 1].pass_id]

    def test_a_result_knows_its_tool_by_a_call_far_before_the_range(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(KEY, CALLING, *[said("between")] * 900, RESULT)
            rows = timeline(live, KEY, at=902, first=902).rows
            assert [row.who for row in rows] == ["run"]
            assert timeline(live, KEY, at=902, most=1).rows == rows

    def test_the_head_says_which_rows_are_shown(self, tmp_path: Path) -> None:
        style = Style(width=100, color=False, ascii=False)
        with open_log(tmp_path / "l.db") as live:
            live.append(KEY, *[said("a")] * 9)
            for asked, shown in (
                ({}, "context: 9 items"),
                ({"most": 9}, "context: 9 items"),
                ({"most": 2}, "last 2 rows; context: 9 items"),
                ({"most": 1, "last": 5}, "last 1 row of positions 1-5; context: 9 items"),
                ({"first": 3}, "positions from 3 on; context: 9 items"),
                ({"first": 3, "last": 3}, "position 3; context: 9 items"),
            ):
                data = timeline(live, KEY, at=9, **asked)
                assert head(data, style).startswith(shown)


class TestTheLastRows:
    """Without it a look at the end of a long session reads the whole of it."""

    def test_they_cost_no_more_in_a_longer_session(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(KEY, *[said("a")] * 4000)
            read: list[int] = []
            reading = live.log.read

            def counted(*args: Any, **more: Any) -> Iterator[RecordedEvent]:
                for event in reading(*args, **more):
                    read.append(event.position)
                    yield event

            with patch.object(live.log, "read", counted):
                assert len(timeline(live, KEY, at=4000, most=20).rows) == 20
            assert len(read) <= 400


class TestCallsWithoutAnEnd:
    """Without these a call that was killed is in the audit and nowhere in the session."""

    def made(self, folder: Path) -> Path:
        with open_log(folder / "l.db") as live:
            answer = events.MessageAppended(
                dialect="openai_chat",
                source="model",
                call=2,
                message={"role": "assistant", "content": "the end was not recorded"},
            )
            live.append(KEY, said("a"), CALL, answer)
            live.append(KEY, CALL, events.ModelResponded(call=4))
            live.append(KEY, CALL, events.ModelFailed(call=6, error="KeyboardInterrupt"))
            live.append(KEY, CALL, said("b"))
            live.append(KEY, CALL, events.ModelFailed(call=10, error="not read", status=503))
        return folder / "l.db"

    def test_only_one_of_which_nothing_came_has_a_row_unasked(self, tmp_path: Path) -> None:
        db = self.made(tmp_path)
        shown = run("log", str(KEY), "--db", db).stdout
        assert [line.split()[1] for line in shown.splitlines() if " given " in line] == ["c4"]
        assert "no answer was recorded" in shown
        for more in (["-n", "4"], ["--range", "7-9"]):
            assert "no answer was recorded" in run("log", str(KEY), *more, "--db", db).stdout
        assert "no answer" not in run("log", str(KEY), "--range", "1-7", "--db", db).stdout
        typed = run("log", str(KEY), "--type", "message_appended", "--db", db).stdout
        assert "no answer" not in typed

    def test_a_failure_is_told_in_words_and_with_its_status(self, tmp_path: Path) -> None:
        db = self.made(tmp_path)
        shown = run("log", str(KEY), "--calls", "--db", db).stdout
        assert "c3 failed: interrupted" in shown
        assert "c5 failed: 503 not read" in shown
        assert "KeyboardInterrupt" not in shown
        assert "KeyboardInterrupt" not in run("audit", str(KEY), "--db", db).stdout
        assert "failed: interrupted" in run("show", f"{KEY}@c3", "--db", db).stdout
