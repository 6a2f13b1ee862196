"""Tokens are summed once an answer, whoever answered."""

from __future__ import annotations

from pathlib import Path

from eventlog import StreamKey, events
from projections import open_log
from projections.usage import UsageTotals, total

KEY = StreamKey("local", "agent", "s")


class TestTotals:
    """Without these a session's cost is wrong by a factor, and nobody sees it."""

    def test_answers_add_up_and_nothing_else_does(self, tmp_path: Path) -> None:
        spent = events.Usage(input=10, cached=100, cache_write=7, output=5, reasoning=2)
        with open_log(tmp_path / "log.db") as live:
            live.append(
                KEY,
                events.ModelCalled(model="m", dialect="openai_chat"),
                events.ModelResponded(call=1, usage=spent),
                events.ModelResponded(call=1),
                events.CompactionDeclined(reason="no_gain", usage=spent),
                events.ContextCompacted(covered=(), summarizer=events.Summarizer(usage=spent)),
                events.ModelResponded(call=1, usage=events.Usage(input=1, provider={"x": 9})),
            )
            summed = total(live.log.read(KEY))
        assert summed == UsageTotals(input=11, cached=100, cache_write=7, output=5, reasoning=2)
        assert summed.prompt == 118

    def test_totals_add(self) -> None:
        assert UsageTotals(input=1, output=2) + UsageTotals(input=3, cached=4) == UsageTotals(
            input=4, cached=4, output=2
        )
