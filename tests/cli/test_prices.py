"""``compare --prices``: a table, one of the config, a model, or what was recorded."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from demo_log import demo_log
from running import data, environment, process, run
from small_log import KEY, said, small_log

from cli.options import complete_prices
from cli.safetext import display_width
from eventlog import Draft
from eventlog.events import ModelCalled
from projections import open_log

NAME = "refunds-0001"
"""Its calls name gpt-test, of which nobody knows a price."""

MINE = '[prices.mine]\nin = 2\ncached = 0.5\nout = 8.5\ncurrency = "EUR"\n'


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_log(tmp_path_factory.mktemp("demo"))


def configured(folder: Path, config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".ctxlog").mkdir(exist_ok=True)
    (folder / ".ctxlog" / "config.toml").write_text(config)
    monkeypatch.chdir(folder)


def calls(folder: Path, *made: tuple[str, str | None]) -> Path:
    """A log of calls, each with a model and a time."""
    path = folder / "calls.db"
    with open_log(path) as live:
        live.append(KEY, said("user", "hello"))
        for model, when in made:
            call = ModelCalled(model=model, dialect="openai_chat")
            live.append(KEY, Draft(call, occurred_at=when))
    return path


def asked(db: Path, *prices: str, strategy: str = "none") -> Any:
    options = [each for one in prices for each in ("--prices", one)]
    return data("compare", "last", "-s", strategy, *options, "--db", db)


def shown(db: Path, *prices: str, more: tuple[str, ...] = ()) -> str:
    options = [each for one in prices for each in ("--prices", one)]
    result = run("compare", "last", "-s", "none", *options, *more, "--db", db)
    assert result.exit_code == 0, result.output
    return result.stdout


class TestModel:
    """A cost in no currency, at prices of no date, is a number that nobody can check."""

    def test_a_name_gives_the_prices_and_tells_where_they_are_from(self, demo: Path) -> None:
        found = asked(demo, "claude-opus-4-5")
        (prices,) = found["prices"]
        assert (prices["incomplete"], prices["relative"]) == (False, False)
        assert prices["currency"] == "USD"
        assert prices["source"].startswith("genai-prices 0.2.")
        assert prices["model"] == "anthropic/claude-opus-4-5"
        rates = prices["rates"]
        typed = "in={input},cached={cache_read},write={cache_write},out={output}".format(**rates)
        assert found["strategies"][1]["totals"] == asked(demo, typed)["strategies"][1]["totals"]

    def test_the_column_has_the_currency_and_a_line_has_the_prices(self, demo: Path) -> None:
        lines = shown(demo, "openai/gpt-5").splitlines()
        assert "cost USD" in lines[1]
        text = " ".join(" ".join(lines).split())
        assert "cost USD: openai/gpt-5 from genai-prices 0.2." in text
        assert " (openai/gpt-5): in 1.25, cached 0.125, write 1.25, out 10 USD per million" in text

    def test_larger_prompts_are_said_to_cost_more(self, demo: Path) -> None:
        text = " ".join(shown(demo, "claude-sonnet-4-5").split())
        assert "; over 200,000 tokens in the prompt in 6, cached 0.6, write 7.5, out 22.5" in text
        (tier,) = asked(demo, "claude-sonnet-4-5")["prices"][0]["tiers"]
        assert tier["above"] == 200_000

    def test_several_tables_are_numbered_and_each_is_named(self, tmp_path: Path) -> None:
        db = calls(tmp_path, ("gpt-99", None))
        lines = shown(db, "gpt-5", "in=1,out=2", "gpt-99", more=("--width", "140")).splitlines()
        head = lines[1]
        assert head.index("cost 1 USD") < head.index("cost 2") < head.index("cost 3")
        assert lines[4].startswith("cost 1 USD: gpt-5 from genai-prices")
        assert lines[5:7] == [
            "cost 2: in 1, cached 1, write 1, out 2 per million tokens",
            "cost 3: gpt-99, incomplete",
        ]

    def test_the_same_table_is_one_column(self, demo: Path) -> None:
        assert len(asked(demo, "gpt-5", "gpt-5", "in=1,out=2", "in=1,out=2")["prices"]) == 2

    def test_a_column_without_room_is_told(self, demo: Path) -> None:
        four = ("gpt-5", "gpt-4o", "o3", "claude-opus-4-5")
        text = shown(demo, *four, more=("--width", "60"))
        assert "cost 4 USD" not in text.splitlines()[1]
        assert "cost 4 USD (no room for it here): claude-opus-4-5" in " ".join(text.split())
        assert "no room" not in shown(demo, *four, more=("--width", "140"))

    @pytest.mark.parametrize("width", [60, 80, 100])
    def test_lines_fit(self, tmp_path: Path, width: int) -> None:
        db = calls(tmp_path, ("gpt-99", None), ("claude-opus-4-5-20251101", None))
        named = ("claude-sonnet-4-5", "recorded", "deepseek-v4-flash")
        text = shown(db, *named, more=("--width", str(width)))
        assert max(map(display_width, text.splitlines())) <= width

    def test_prices_that_changed_between_calls_are_told_with_their_times(
        self, tmp_path: Path
    ) -> None:
        times = ("2026-08-16T12:00:00Z", "2026-08-17T12:00:00Z")
        db = calls(tmp_path, *(("claude-test", when) for when in times))
        (prices,) = asked(db, "deepseek-v4-pro")["prices"]
        assert [each["since"][:13] for each in prices["periods"]] == [t[:13] for t in times]
        one, other = (each["input"] for each in prices["periods"])
        assert one < other == prices["rates"]["input"]
        text = " ".join(shown(db, "deepseek-v4-pro").split())
        assert f"; for calls since 2026-08-16T12:00:00+00:00 in {one}, cached " in text


class TestRecorded:
    """Who compares a session of a year ago should not have to know which models it used."""

    def test_it_is_the_models_of_the_calls(self, demo: Path) -> None:
        found = asked(demo, "recorded")
        assert [each["name"] for each in found["prices"]] == ["claude-opus-4-5-20251101"]
        assert found["strategies"] == asked(demo, "claude-opus-4-5-20251101")["strategies"]

    def test_each_once_in_the_order_of_their_first_call(self, tmp_path: Path) -> None:
        db = calls(tmp_path, *((model, None) for model in ("o3", "gpt-4o", "", "o3")))
        found = asked(db, "recorded", "gpt-4o")
        assert [each["name"] for each in found["prices"]] == ["o3", "gpt-4o"]

    def test_calls_that_name_no_model_are_told(self, tmp_path: Path) -> None:
        found = asked(calls(tmp_path, ("", None)), "recorded")
        assert found["prices"][0]["incomplete"] is True
        assert any("do not say which model" in each for each in found["warnings"])

    def test_a_table_of_the_config_by_the_models_name_counts(
        self, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        configured(tmp_path, "[prices.gpt-test]\nin = 1\nout = 2\n", monkeypatch)
        (prices,) = data("compare", NAME, "--prices", "recorded", "--db", db)["prices"]
        assert (prices["name"], prices["source"]) == ("gpt-test", "the config")
        assert prices["incomplete"] is False


class TestUnknown:
    """What costs nothing wins every comparison: so what is unknown must never be a zero."""

    @pytest.mark.parametrize("prices", ["recorded", "gpt-test", "openai/gpt-test"])
    def test_it_is_null_and_says_so(self, prices: str, db: Path) -> None:
        found = data("compare", NAME, "-s", "truncate:turns=1", "--prices", prices, "--db", db)
        assert found["prices"][0]["incomplete"] is True
        assert found["prices"][0]["rates"] is None
        for row in found["strategies"]:
            assert (row["costs"], row["totals"]) == ([None], [None])
        winners = {each["by"]: each for each in found["winners"]}
        winner = winners[f"cost {found['prices'][0]['name']}"]
        assert (winner["strategy"], winner["why"]) == (None, "prices are unknown")

    def test_the_text_says_incomplete_and_what_to_do(self, db: Path) -> None:
        result = run("compare", NAME, "-s", "none", "--prices", "recorded", "--db", db)
        assert result.exit_code == 0
        _, head, *rows = result.stdout.splitlines()[:4]
        at = head.index("cost") + len("cost")
        assert [row[:at].split()[-1] for row in rows] == ["incomplete", "incomplete"]
        text = " ".join(result.stdout.split())
        assert "no prices of gpt-test, so this cost is incomplete; give them with" in text
        assert "--prices in=…,out=… or as [prices.gpt-test] in the config" in text

    def test_csv_says_incomplete(self, db: Path) -> None:
        options = ("--prices", "gpt-test", "--prices", "in=1,out=2")
        result = run("compare", NAME, "-s", "none", *options, "--csv", "--db", db)
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        assert [row["cost gpt-test"] for row in rows] == ["incomplete", "incomplete"]
        assert all(float(row["cost in=1,out=2"]) > 0 for row in rows)
        assert "cost 2: in 1, cached 1, write 1, out 2 per million tokens" in result.stderr
        assert "! genai-prices" in result.stderr

    def test_a_name_that_toml_wants_in_quotes_is_shown_in_quotes(self, tmp_path: Path) -> None:
        db = calls(tmp_path, ("some/model-9.9", None))
        (warning,) = [w for w in asked(db, "some/model-9.9")["warnings"] if "incomplete" in w]
        assert '[prices."some/model-9.9"]' in warning

    @pytest.mark.parametrize(
        ("typed", "hint"),
        [
            ("nope", "give them with --prices in=…,out=…"),
            ("recordet", "did you mean 'recorded'?"),
            ("claude-sonet-4-5", "did you mean 'claude-sonnet-4-5'?"),
            ("minne", "did you mean 'mine'?"),
        ],
    )
    def test_a_slip_is_refused_before_anything_is_run(
        self, typed: str, hint: str, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        configured(tmp_path, MINE, monkeypatch)
        result = run("compare", "last", "--prices", typed, "--db", demo)
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"no prices of {typed!r}, and no call here names it; " in result.stderr
        assert hint in result.stderr


class TestConfig:
    """Who pays another price than the list says has to be able to say so once."""

    def test_a_table_has_a_name_a_currency_and_the_usual_defaults(
        self, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        configured(tmp_path, MINE, monkeypatch)
        found = asked(demo, "mine")
        given = asked(demo, "in=2,cached=0.5,write=2,out=8.5")
        assert found["strategies"] == given["strategies"]
        text = shown(demo, "mine")
        assert "cost EUR" in text.splitlines()[1]
        assert "cost EUR: mine from the config: in 2, cached 0.5, write 2, out 8.5 EUR per" in text

    def test_it_wins_over_a_model_of_the_same_name(
        self, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        configured(tmp_path, "[prices.gpt-5]\nin = 1\nout = 2\n", monkeypatch)
        (prices,) = asked(demo, "gpt-5")["prices"]
        assert (prices["source"], prices["rates"]["output"]) == ("the config", 2)

    def test_its_name_need_not_look_like_a_model(
        self, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        configured(tmp_path, '[prices."our team"]\nin = 1\nout = 2\n', monkeypatch)
        assert asked(demo, "our team")["prices"][0]["rates"]["output"] == 2

    def test_it_is_not_read_for_a_table_that_is_typed(
        self, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        configured(tmp_path, "[prices.mine]\nin = 'x'\n", monkeypatch)
        assert asked(demo, "in=1,out=2")["prices"][0]["incomplete"] is False

    @pytest.mark.parametrize(
        ("config", "error"),
        [
            ("prices = 1\n", "[prices] is no table of price tables"),
            ("[prices]\nmine = 1\n", "[prices.mine] is no table"),
            ("[prices.mine]\nin = 1\n", "[prices.mine]: out is missing"),
            ("[prices.mine]\n", "[prices.mine]: in and out is missing"),
            ("[prices.mine]\nin = 'x'\nout = 1\n", "[prices.mine]: in is no number"),
            ("[prices.mine]\nin = true\nout = 1\n", "[prices.mine]: in is no number"),
            ("[prices.mine]\nin = -1\nout = 1\n", "[prices.mine]: in is no price"),
            ("[prices.mine]\nin = nan\nout = 1\n", "[prices.mine]: in is no price"),
            (f"[prices.mine]\nin = 1{'0' * 400}\nout = 1\n", "[prices.mine]: in is no price"),
            ("[prices.mine]\nin = 1\nout = 1\nread = 1\n", "'read' is none of in, cached, write"),
            ("[prices.mine]\nin = 1\nout = 1\ncurrency = 1\n", "currency is no short text"),
            ('[prices.mine]\nin = 1\nout = 1\ncurrency = "a b"\n', "currency is no short text"),
            ('[prices.mine]\nin = 1\nout = 1\ncurrency = "\\u001b"\n', "currency is no short text"),
            ('[prices."a.b"]\nin = 1\n', '[prices."a.b"]: out is missing'),
            ('[prices."a=b"]\nin = 1\nout = 1\n', "a name without '='"),
            ("[prices.recorded]\nin = 1\nout = 1\n", "means the models of the recorded calls"),
        ],
    )
    def test_what_is_wrong_is_one_line_with_its_place(
        self, config: str, error: str, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        configured(tmp_path, config, monkeypatch)
        result = run("compare", NAME, "-s", "none", "--prices", "mine", "--db", db)
        assert result.exit_code == 2
        assert error in result.stderr
        assert "config.toml: " in result.stderr
        assert (len(result.stderr.splitlines()), result.stdout) == (1, "")


class TestCompletion:
    """Thousands of models behind a tab help nobody, and an error there breaks the line."""

    def test_it_proposes_the_tables_of_the_config_and_recorded(
        self, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        configured(tmp_path, MINE + '[prices."e\\u001bvil"]\nin = 1\nout = 1\n', monkeypatch)
        assert complete_prices("") == ["recorded", "mine"]
        assert complete_prices("m") == ["mine"]
        assert complete_prices("gpt") == []
        for proposed in complete_prices(""):
            assert asked(demo, proposed)["prices"][0]["incomplete"] is False

    def test_a_broken_config_gives_no_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        configured(tmp_path, "[prices\n", monkeypatch)
        assert complete_prices("") == ["recorded"]

    def test_the_shell_is_told(self, tmp_path: Path) -> None:
        env = environment(
            tmp_path,
            _CTXLOG_COMPLETE="complete_bash",
            COMP_WORDS="ctxlog compare last --prices rec",
            COMP_CWORD="4",
        )
        code = "from cli.main import app; app(prog_name='ctxlog')"
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.stdout.split() == ["recorded"]


class TestImports:
    """Whoever asks for no model's price should not wait for thousands of them."""

    @pytest.mark.parametrize(("prices", "loads"), [("in=1,out=2", False), ("gpt-5", True)])
    def test_only_a_model_loads_the_library(self, prices: str, loads: bool, db: Path) -> None:
        code = (
            "import sys; from cli.main import app\n"
            "try: app(sys.argv[1:])\n"
            "except SystemExit: pass\n"
            "sys.stderr.write(str('genai_prices' in sys.modules))"
        )
        args = ["compare", NAME, "-s", "none", "--prices", prices, "--db", str(db)]
        done = subprocess.run(
            [sys.executable, "-c", code, *args],
            env=environment(db.parent),
            cwd=db.parent,
            capture_output=True,
            text=True,
        )
        assert done.stderr == str(loads)


def test_the_same_bytes_under_another_hash_seed(demo: Path, tmp_path: Path) -> None:
    options = ("--prices", "recorded", "--prices", "deepseek-v4-pro", "--prices", "in=1,out=2")
    args = ("compare", "last", *options, "--json", "--db", demo)
    found = {process(*args, home=tmp_path, env={"PYTHONHASHSEED": seed}).stdout for seed in "17"}
    assert len(found) == 1
    assert len(json.loads(found.pop())["data"]["prices"]) == 3
