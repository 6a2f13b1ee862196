"""B22: tokens are summed once an answer, whoever answered, and none is counted twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from model_server import completion, serving
from recorded_sessions import Session
from replays_made import human

from eventlog import StreamKey, events
from harness.importers.claude_records import usage_of
from harness.summarizers import EndpointSummarizer
from projections import open_log
from projections.metrics.ground import Ground
from projections.metrics.measure import Options, measure
from projections.strategies import parse
from projections.strategies.decisions import Summary
from projections.tokens import count_item, counter
from projections.usage import UsageTotals, total
from projections.whatif import Runner

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

    def test_what_nobody_told_is_not_0_and_what_somebody_told_is(self) -> None:
        nothing, zero = UsageTotals(), UsageTotals(cached=0)
        assert (nothing + nothing).cached is None
        assert (nothing + zero).cached == 0
        assert (nothing.prompt, zero.prompt) == (None, 0)


class TestProviders:
    """B22: OpenAI's cached tokens are part of its input, Anthropic's are beside it."""

    def spent(self, usage: dict[str, Any], words: int) -> tuple[events.Usage | None, int]:
        """Of one summary whose requests cost so much each, and how many requests it took."""
        with serving(lambda request: {**completion("they worked"), "usage": usage}) as server:
            writing = EndpointSummarizer(server.endpoint(), window=3_000)
            wanted = Summary("handoff_v1", 200, lambda text: ())
            written = writing.summarize(wanted, [human(1, "word " * words)])
        return written.usage, len(server.requests)

    @pytest.mark.parametrize(
        ("details", "expected"),
        [
            ({}, (1000, None)),
            ({"prompt_tokens_details": {"cached_tokens": 0}}, (1000, 0)),
            ({"prompt_tokens_details": {"cached_tokens": 900}}, (100, 900)),
            ({"prompt_tokens_details": {"cached_tokens": 4000}}, (0, 4000)),
        ],
    )
    def test_openais_cached_tokens_are_taken_out_of_its_input(
        self, details: dict[str, Any], expected: tuple[int, int]
    ) -> None:
        thought = {"completion_tokens_details": {"reasoning_tokens": 30}}
        counts = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
        usage = self.spent({**counts, **thought, **details}, 90)[0]
        assert usage is not None
        assert (usage.input, usage.cached) == expected
        assert (usage.output, usage.reasoning, usage.cache_write) == (50, 30, None)

    def test_anthropics_cache_reads_and_writes_are_beside_its_input(self) -> None:
        tokens = {"input_tokens": 3, "output_tokens": 30}
        cache = {"cache_read_input_tokens": 100, "cache_creation_input_tokens": 20}
        usage = usage_of({"usage": {**tokens, **cache}})
        assert usage is not None
        assert (usage.input, usage.cached, usage.cache_write, usage.output) == (3, 100, 20, 30)
        totals = UsageTotals(**usage.model_dump(exclude={"provider"}))
        assert totals.prompt == 123

    def test_the_parts_of_one_summary_are_each_paid_for_once(self) -> None:
        spent = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        usage, requests = self.spent(spent, 9_000)
        assert usage is not None
        assert requests > 3
        assert (usage.input, usage.output) == (10 * requests, 2 * requests)


class TestTheCurve:
    """B22: a curve without the system prompt and the tools is short by what is sent each time."""

    def test_every_request_counts_the_system_and_the_tools_in_force(self) -> None:
        made = Session()
        made.system("You are an agent. " * 40)
        made.human("go on")
        tools = [{"type": "function", "function": {"name": "f" * 400}}]
        declared = made.add(events.ToolsDeclared(dialect="openai_chat", definitions=tools))
        made.add(events.ModelCalled(model="m", dialect="openai_chat", tools=declared))
        made.add(events.ModelCalled(model="m", dialect="openai_chat"))
        given, counting = made.recording(), counter()
        items = [step.item for step in given.steps if step.item is not None]
        messages = sum(count_item(counting, item) for item in items)
        found = measure(
            Ground(given, counting),
            lambda observer: Runner(given, parse("none"), counting, None, observer).run(),
            Options(),
        )
        assert found.tokens.curve == (messages + counting.count(str(tools)), messages)
        assert messages > counting.count("You are an agent. " * 40)
