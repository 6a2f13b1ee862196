"""Prices by a model's name, held against what the library itself would say of the same calls."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from genai_prices import Usage, data_snapshot
from genai_prices.data import providers
from genai_prices.types import ModelInfo, ModelPrice, Provider, StartDateConstraint

from harness.prices import library, model_prices
from projections.metrics.costs import Request, cost, parts
from projections.metrics.prices import Prices, Unknown

MAKERS = ("anthropic", "openai", "google", "deepseek", "mistral", "x-ai")
NOW = "2026-09-20T14:00:00+00:00"


def models() -> list[tuple[Provider, ModelInfo]]:
    return [(one, model) for one in providers if one.id in MAKERS for model in one.models]


def has_prices(model: ModelInfo, when: str) -> bool:
    prices = model.get_prices(datetime.fromisoformat(when))
    return prices.input_mtok is not None and prices.output_mtok is not None


def priced(name: str, *times: str) -> Prices:
    found = model_prices(name, times)
    assert isinstance(found, Prices), name
    return found


def one_call(prices: Prices, when: str, cached: int, fresh: int, output: int) -> float:
    return cost("x", parts([Request(when, cached, fresh, output)], prices, 1)).total


def dated() -> Iterator[tuple[Provider, ModelInfo, datetime]]:
    for provider, model in models():
        if isinstance(model.prices, list):
            for conditional in model.prices:
                if isinstance(conditional.constraint, StartDateConstraint):
                    start = conditional.constraint.start_date
                    yield provider, model, datetime(start.year, start.month, start.day, tzinfo=UTC)


class TestAgainstTheLibrary:
    """Without this a price is read out of it by another rule than its own."""

    @pytest.mark.parametrize("fresh", [10, 150_000, 300_000, 2_000_000])
    def test_every_model_costs_what_it_says_however_large_the_prompt_is(self, fresh: int) -> None:
        checked = 0
        for provider, model in models():
            if not has_prices(model, NOW):
                continue
            # All that is not read from a cache is written to it, as comparisons take it.
            usage = Usage(
                input_tokens=fresh + 9_000,
                cache_read_tokens=9_000,
                cache_write_tokens=fresh,
                output_tokens=700,
            )
            when = datetime.fromisoformat(NOW)
            wanted = model.calc_price(usage, provider, genai_request_timestamp=when).total_price
            prices = model_prices(f"{provider.id}/{model.id}", [NOW])
            if isinstance(prices, Prices) and prices.model == f"{provider.id}/{model.id}":
                found = one_call(prices, NOW, 9_000, fresh, 700)
                assert found == pytest.approx(float(wanted), rel=1e-6, abs=1e-8), model.id
                checked += 1
        assert checked > 100

    def test_a_call_before_a_change_costs_what_it_did_then(self) -> None:
        changed = 0
        for provider, model, start in dated():
            before, after = (start - timedelta(seconds=1)).isoformat(), start.isoformat()
            if not (has_prices(model, before) and has_prices(model, after)):
                continue
            found = model_prices(f"{provider.id}/{model.id}", [after, before])
            if not isinstance(found, Prices) or found.model != f"{provider.id}/{model.id}":
                continue
            for when in (before, after):
                usage = Usage(input_tokens=100_000, output_tokens=900)
                at = datetime.fromisoformat(when)
                wanted = model.calc_price(usage, provider, genai_request_timestamp=at).total_price
                rates = found.of_call(when, 100_000)
                total = (rates.input * 100_000 + rates.output * 900) / 1_000_000
                assert total == pytest.approx(float(wanted)), (model.id, when)
            changed += bool(found.periods)
        assert changed > 5

    def test_without_a_time_it_is_the_newest(self) -> None:
        for provider, model, start in dated():
            name = f"{provider.id}/{model.id}"
            later = (start + timedelta(days=4000)).replace(hour=12).isoformat()
            found = model_prices(name, ["?"])
            assert found == model_prices(name)
            newest = model_prices(name, [later])
            assert type(found) is type(newest)
            if isinstance(found, Prices):
                assert found.of_call("", 1) == found
                assert dict(found) == dict(newest)

    def test_what_it_has_no_price_for_costs_what_the_input_does(self) -> None:
        found = priced("gpt-4o")
        raw = next(model.prices for one, model in models() if model.id == "gpt-4o")
        assert isinstance(raw, ModelPrice)
        assert raw.cache_write_mtok is None
        assert found.cache_write == found.input > found.cache_read > 0


class TestNames:
    """Without this a name that a gateway wrote down has no price, or another provider's."""

    @pytest.mark.parametrize(
        ("name", "model"),
        [
            ("claude-opus-4-5-20251101", "anthropic/claude-opus-4-5"),
            ("openai/gpt-5", "openai/gpt-5"),
            ("openai:gpt-5", "openai/gpt-5"),
            ("OpenAI/GPT-5", "openai/gpt-5"),
            ("azure/gpt-4o", "azure/gpt-4o"),
            ("openrouter/anthropic/claude-sonnet-4", "openrouter/anthropic/claude-sonnet-4"),
            ("vertex_ai/gemini-2.5-pro", "google/gemini-2.5-pro"),
        ],
    )
    def test_a_provider_may_stand_in_front(self, name: str, model: str) -> None:
        found = priced(name)
        assert (found.name, found.model, found.source) == (name, model, library())
        assert found.currency == "USD"

    @pytest.mark.parametrize(
        "name",
        ["gpt-99", "anthropic/gpt-5", "whisper-1", "m", "", "/", ":", "\x1b[2J", "x" * 9999],
    )
    def test_what_is_not_known_is_unknown(self, name: str) -> None:
        assert model_prices(name, [NOW]) == Unknown(name=name)


PROGRAM = """
import sys
def look(event, args):
    if event.startswith("socket.") and event != "socket.__new__":
        raise SystemExit(f"{event} {args}")
sys.addaudithook(look)
import threading
from harness.prices import model_prices
print(model_prices("gpt-5").name, threading.active_count())
"""


class TestOffline:
    """Without this a price depends on who was online, and on what else the program did."""

    def test_nothing_is_asked_and_nothing_runs_on(self) -> None:
        root = Path(__file__).parents[2]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
        )
        assert (done.stdout, done.stderr) == ("gpt-5 1\n", "")

    def test_an_update_of_the_program_around_it_changes_nothing(self) -> None:
        before = model_prices("gpt-5")
        data_snapshot.set_custom_snapshot(data_snapshot.DataSnapshot([], from_auto_update=True))
        try:
            assert model_prices("gpt-5") == before
        finally:
            data_snapshot.set_custom_snapshot(None)
