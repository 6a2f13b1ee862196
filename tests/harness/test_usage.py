"""One rule for what a count of tokens is, whoever reads the bill."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from claude_lines import Transcript, text

from harness.endpoint import usage_of as openai_usage
from harness.exchange.anthropic_answers import usage_of as anthropic_usage
from harness.importers import Options, import_path
from harness.importers.openhands_state import usage_of as openhands_usage
from harness.usage import MOST_TOKENS, tokens_of
from projections import open_log
from projections.live import Live

ODD: tuple[Any, ...] = (-5, 2**63 - 1, 10**26, 1e300, float("nan"), True, "7", [3], None)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


class TestCounts:
    """One bill out of range makes every sum over the log an error, or nonsense."""

    @pytest.mark.parametrize("value", ODD)
    def test_what_is_none(self, value: Any) -> None:
        assert tokens_of(value) is None

    @pytest.mark.parametrize("value", [0, 1, 12.0, MOST_TOKENS])
    def test_what_is_one(self, value: Any) -> None:
        assert tokens_of(value) == value

    @pytest.mark.parametrize("value", [v for v in ODD if v == v])
    @pytest.mark.parametrize(
        ("read", "given"),
        [
            (lambda bill: anthropic_usage({"usage": bill}), "input_tokens"),
            (lambda bill: anthropic_usage({"usage": bill}), "cache_read_input_tokens"),
            (lambda bill: anthropic_usage({"usage": bill}), "cache_creation_input_tokens"),
            (lambda bill: anthropic_usage({"usage": bill}), "output_tokens"),
            (openai_usage, "prompt_tokens"),
            (openai_usage, "completion_tokens"),
            (openhands_usage, "prompt_tokens"),
            (openhands_usage, "cache_read_tokens"),
            (openhands_usage, "reasoning_tokens"),
        ],
    )
    def test_no_reader_takes_it(self, read: Callable[[Any], Any], given: str, value: Any) -> None:
        found = read({given: value, "kept": "x"})
        counts = (found.input, found.cached, found.cache_write, found.output, found.reasoning)
        assert counts == (None, None, None, None, None)
        assert found.provider.value == {given: value, "kept": "x"}


def test_a_hostile_bill_is_told_and_sums_over_the_log_hold(live: Live, tmp_path: Path) -> None:
    lines = Transcript()
    lines.user("hello")
    lines.answer("m1", text("good day"))
    path = lines.write(tmp_path / "s.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for number, record in enumerate(records):
        if record["type"] == "assistant":
            records[number]["message"]["usage"] = {
                "input_tokens": -5,
                "output_tokens": 10**26,
                "cache_read_input_tokens": 2**63 - 1,
                "cache_creation_input_tokens": 7,
            }
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    for name in ("first", "second"):
        copy = tmp_path / f"{name}.jsonl"
        copy.write_text(path.read_text().replace(lines.session, name))
        report = import_path(live.log, copy, Options(final=True))
        (note,) = [note for session in report.sessions for note in session.notes]
        assert note == (
            "no count of tokens, so not known: cache_read_input_tokens, input_tokens, output_tokens"
        )
    sums = "select " + ", ".join(
        f"sum(json_extract(payload, '$.usage.{name}'))"
        for name in ("input", "cached", "cache_write", "output")
    )
    found = live.log.query(f"{sums} from events where type = 'model_responded'").fetchone()
    assert [count or 0 for count in found] == [0, 0, 14, 0]
