"""The lanes of a report: what strategies would have made of a session, call by call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from demo_log import demo_log
from running import data, run

SPECS = (
    "truncate:turns=2",
    "clear:keep=3",
    "cut:limit=300",
    "compress:keep_recent=6",
    "clear:keep=2 | truncate:turns=3",
)


def page(db: Path, *options: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The data of the session in a report, and of its comparison."""
    file = db.parent / "report.html"
    result = run("report", "last", "-o", file, "--force", *options, "--db", db)
    assert result.exit_code == 0, result.output
    text = file.read_text()

    def block(name: str) -> Any:
        _, begins, rest = text.partition(f'id="{name}">')
        return json.loads(rest.partition("</script>")[0]) if begins else None

    return block("session-0"), block("compare")


def contexts(session: dict[str, Any], lane: int = 0) -> list[list[dict[str, Any]]]:
    """The rows of the context of each call."""
    of = session["lanes"][lane - 1] if lane else None
    rows = session["rows"] + (of.get("rows", []) if of else [])
    found: list[list[dict[str, Any]]] = []
    stands: list[int] = []
    steps = of["contexts"] if of else [call["context"] for call in session["calls"]]
    for step in steps:
        del stands[step.get("keep", 0) :]
        for first, count in step.get("add", []):
            stands += range(first, first + count)
        found.append([rows[number] for number in stands])
        assert len(stands) == sum(count for _, count in step.get("add", [])) + step.get("keep", 0)
    return found


def compare_options() -> list[str]:
    return [each for spec in SPECS for each in ("--compare", spec)]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_log(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def compared(demo: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    session, table = page(demo, *compare_options())
    assert table is not None
    return session, table


class TestNumbers:
    """Two numbers for one thing are one too many."""

    def test_the_table_is_that_of_compare(self, demo: Path, compared: Any) -> None:
        strategies = [each for spec in SPECS for each in ("-s", spec)]
        assert compared[1] == data("compare", "last", *strategies, "--db", demo)

    def test_curves_add_up_to_the_table(self, compared: Any) -> None:
        session, table = compared
        curves = [session["observed"], *(lane["curves"] for lane in session["lanes"])]
        assert len(curves) == len(table["strategies"]) == len(SPECS) + 1
        for curve, row in zip(curves, table["strategies"], strict=True):
            assert sum(curve["tokens"]) == row["cumulative"]
            assert len(curve["tokens"]) == len(curve["cached"]) == row["calls"]
            for spent, total in zip(curve["spent"], row["totals"], strict=True):
                assert sum(spent) == pytest.approx(total, rel=1e-4)

    def test_contexts_hold_the_tokens_of_the_curves(self, compared: Any) -> None:
        for number, lane in enumerate(compared[0]["lanes"], 1):
            counted = [sum(context["tokens"]) for context in lane["contexts"]]
            assert counted == lane["curves"]["tokens"]
            for rows, context in zip(contexts(compared[0], number), lane["contexts"], strict=True):
                tools = context["tokens"][compared[0]["categories"].index("tools")]
                assert sum(row["tokens"] for row in rows) + tools == sum(context["tokens"])

    def test_without_strategies_there_are_none(self, demo: Path) -> None:
        session, table = page(demo)
        assert table is None
        assert "lanes" not in session

    def test_prices_without_a_strategy_are_refused(self, demo: Path) -> None:
        file = demo.parent / "none.html"
        result = run("report", "last", "-o", file, "--prices", "recorded", "--db", demo)
        assert result.exit_code == 2
        assert "name one with --compare" in result.stderr


class TestContexts:
    """A lane that is not what the strategy made is a picture of nothing."""

    @pytest.mark.parametrize("lane", range(1, len(SPECS) + 1))
    def test_a_call_has_what_replay_shows(self, demo: Path, compared: Any, lane: int) -> None:
        found = contexts(compared[0], lane)
        for call in {1, 2, len(found) // 2, len(found) - 1, len(found)}:
            said = data(
                "replay", f"last@c{call}", "--strategy", SPECS[lane - 1], "--format", "json",
                "--db", demo,
            )  # fmt: skip
            made = [
                (row["r"], row.get("form", "original"), row["tokens"]) for row in found[call - 1]
            ]
            sent = [
                (item["rendition"], item["form"], item["tokens"])
                for item in said["request"]
                if "+" not in item["item"]  # put in to make a request of it
            ]
            assert made == sent, call
