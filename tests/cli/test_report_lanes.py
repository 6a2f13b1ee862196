"""The lanes of a report: what strategies would have made of a session, call by call."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from demo_log import demo_log
from running import data, run
from small_log import answered, called, said, small_log

from cli import progress
from cli.naming import place
from cli.strategies import strategies_of
from cli.summaries import Summaries
from cli.whatifs import make
from cli.whatifs import recorded as recorded_to
from cli.windows import context_at
from eventlog import StreamKey
from eventlog.events import SessionStarted
from harness.prices import model_prices
from harness.recording import Recorder
from projections import open_log
from projections.metrics.prices import Prices
from projections.tokens import count_item, counter

SPECS = (
    "truncate:turns=2",
    "clear:keep=3",
    "cut:limit=300",
    "compress:keep_recent=6",
    "clear:keep=2 | truncate:turns=3",
)


def page(
    db: Path, *options: str, name: str = "last"
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The data of the session in a report, and of its comparison."""
    file = db.parent / "report.html"
    result = run("report", name, "-o", file, "--force", *options, "--db", db)
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

    def test_what_takes_long_tells_how_far_it_is(
        self, demo: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(progress, "_LONG", 0)
        result = run(
            "report", "last", "-o", demo.parent / "long.html", "--compare", "clear", "--db", demo
        )
        assert re.search(r"^compared: 50 % of 2 runs$", result.stderr, re.MULTILINE)

    def test_secrets_that_a_strategy_lost_are_masked(self, tmp_path: Path) -> None:
        secret = "AKIA" + "QX7ZK3M2P9L4T8W1"
        url = f"https://shop.example/x?key={secret}"
        with open_log(tmp_path / "s.db") as live:
            key = StreamKey("ann", "bot", "secret")
            live.append(key, SessionStarted())
            live.append(key, said("user", "Begin."))
            for number in range(5):
                live.append(key, called())
                call = live.log.version(key)
                text = f"I asked {url} at last." if number == 4 else f"Step {number}."
                live.append(key, said("assistant", text, call=call), answered(call, 50))
                more = f"It is {url}" if not number else "And then?"
                live.append(key, said("user", more))
        session, table = page(tmp_path / "s.db", "--compare", "truncate:turns=1")
        assert table is not None
        assert table["needed"]
        assert secret not in json.dumps([session, table])

    def test_prices_without_a_strategy_are_refused(self, demo: Path) -> None:
        file = demo.parent / "none.html"
        result = run("report", "last", "-o", file, "--prices", "recorded", "--db", demo)
        assert result.exit_code == 2
        assert "name one with --compare" in result.stderr


def record(db: Path) -> None:
    """Requests as a proxy records them: three that grow, one that forgot, one that goes on."""
    said = [{"role": "system", "content": "You mend refunds."}]
    said += [
        {"role": role, "content": f"{role} says {number} of order ORD-77120"}
        for number in range(5)
        for role in ("user", "assistant")
    ]
    recorder = Recorder(db, session="s")
    for messages in (said[:2], said[:4], said[:6], [said[0], *said[5:8]], [said[0], *said[5:10]]):
        body = json.dumps({"model": "gpt-4o", "messages": messages}).encode()
        call = recorder.begin("openai_chat", body, url="https://api.openai.com/v1/chat/completions")
        assert call.position
        call.failed("nobody was asked")
    recorder.close()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_log(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    db = tmp_path_factory.mktemp("recorded") / "r.db"
    record(db)
    return db


NAMES = {"demo": "last", "small": "refunds-0001", "recorded": "s"}
Stood = list[tuple[str, str, int]]


def stood(rows: list[dict[str, Any]]) -> Stood:
    return [(row["r"], row.get("form", "original"), row["tokens"]) for row in rows]


class TestContexts:
    """A lane that is not what the strategy made is a picture of nothing."""

    @pytest.mark.parametrize("name", ["demo", "small", "recorded"])
    def test_observed_is_what_show_says(self, name: str, request: pytest.FixtureRequest) -> None:
        db, of = request.getfixturevalue(name), NAMES[name]
        session, _ = page(db, name=of)
        found = contexts(session)
        with open_log(db) as live:
            for call, rows in enumerate(found, 1):
                window = context_at(live, place(live, f"{of}@c{call}"))
                items = [(each.rendition, each.form, each.tokens) for each in window.items]
                assert stood(rows) == items, call
        assert len(found) > 3

    @pytest.mark.parametrize("name", ["demo", "small", "recorded"])
    def test_a_lane_is_what_replay_makes(self, name: str, request: pytest.FixtureRequest) -> None:
        db, of = request.getfixturevalue(name), NAMES[name]
        session, _ = page(db, *compare_options(), name=of)
        calls, changed = len(session["calls"]), set[str]()
        with open_log(db) as live:
            for lane, spec in enumerate(SPECS, 1):
                found = contexts(session, lane)
                changed |= {row.get("form", "original") for rows in found for row in rows}
                for call in {1, 2, 3, calls // 2, calls - 1, calls}:
                    where = place(live, f"{of}@c{call}")
                    made = make(
                        recorded_to(live, where),
                        strategies_of(spec),
                        Summaries(live, "extractive"),
                    )
                    items = [
                        (each.rendition, each.form, count_item(counter(), each))
                        for each in made.items
                    ]
                    assert stood(found[call - 1]) == items, (spec, call)
        assert name != "demo" or {"cut", "cleared"} <= changed

    def test_one_call_of_each_lane_as_the_command_shows_it(self, demo: Path, compared: Any) -> None:
        for lane, spec in enumerate(SPECS, 1):
            said = data(
                "replay", "last@c30", "--strategy", spec, "--format", "json", "--db", demo
            )  # fmt: skip
            sent = [
                (item["rendition"], item["form"], item["tokens"])
                for item in said["request"]
                if "+" not in item["item"]  # put in to make a request of it
            ]
            assert stood(contexts(compared[0], lane)[29]) == sent, spec


class TestMoves:
    """What left a context without a decision behind it cannot be explained."""

    def test_each_item_that_is_gone_has_a_decision(self, compared: Any) -> None:
        session = compared[0]
        observed = [row for row in session["rows"] if "original" not in row]
        for lane, of in enumerate(session["lanes"], 1):
            taken: set[str] = set()
            for call, rows in enumerate(contexts(session, lane)):
                for move in of["moves"][call]:
                    items = expanded(move["items"], observed)
                    assert move["kind"]
                    assert move["by"]
                    assert move["count"] == len(items)
                    taken |= set(items)
                standing = {row["r"] for row in rows}
                position = session["calls"][call]["position"]
                for row in observed:
                    if row["position"] < position and "." not in row["r"]:
                        assert row["r"] in standing or row["r"] in taken, (of["name"], call)


def expanded(runs: list[str], rows: list[dict[str, Any]]) -> list[str]:
    found: list[str] = []
    for run_ in runs:
        low, dash, high = run_.partition("-")
        found += (
            [
                row["r"]
                for row in rows
                if row["r"].isdigit() and int(low) <= int(row["r"]) <= int(high)
            ]
            if dash
            else [run_]
        )
    return found


class TestCosts:
    """A cost of nothing is believed."""

    def test_a_call_costs_what_was_billed_at_the_price_of_its_model(self, compared: Any) -> None:
        session = compared[0]
        known = [call["cost"] for call in session["calls"] if "cost" in call]
        assert len(known) == session["cost"]["known"]
        assert session["cost"]["total"] == pytest.approx(sum(known))
        assert session["cost"]["currency"] == "USD"
        call = session["calls"][4]
        billed, rates = call["billed"], model_prices(call["model"], [call["at"]])
        assert isinstance(rates, Prices)
        assert not rates.tiers
        assert call["cost"] == pytest.approx(
            (
                rates.input * billed["input"]
                + rates.cache_read * billed["cached"]
                + rates.cache_write * billed["cache_write"]
                + rates.output * billed["output"]
            )
            / 1e6
        )

    def test_an_unknown_price_is_no_price(self, small: Path) -> None:
        session, _ = page(small, name=NAMES["small"])
        assert all("cost" not in call for call in session["calls"])
        assert session["cost"] == {"total": None, "known": 0, "unknown": 3, "models": ["gpt-test"]}
