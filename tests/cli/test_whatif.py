"""``replay --strategy``, ``diff`` and ``compare``: what is asked, and what cannot be."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from demo_log import demo_log
from running import ROOT, data, process, run
from small_log import said, small_log

from cli import progress
from cli.options import complete_strategy
from cli.safetext import display_width
from cli.words import first_difference, word_diff
from eventlog import events
from projections import open_log

DEMO = ROOT / "cli" / "demo"
NAME = "refunds-0001"
TWO = ("--left", "truncate:turns=5", "--right", "compress:keep_recent=6")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_log(tmp_path_factory.mktemp("demo"))


class TestReplay:
    """A what-if that is taken for what was sent misleads more than none."""

    def test_it_says_that_it_is_a_what_if(self, db: Path) -> None:
        result = run("replay", f"{NAME}@c4", "--strategy", "truncate:turns=1", "--db", db)
        assert "what-if: the recorded messages are kept" in result.stderr
        assert "truncate:turns=1: dropped 3 items; " in result.stderr
        found = data("replay", f"{NAME}@c4", "--strategy", "truncate:turns=1", "--db", db)
        assert found["kind"] == "what_if"
        assert found["teacher_forced"] is True
        assert found["items"] == ["3", "10+start", "10", "13@20"]
        assert [one["kind"] for one in found["decided"]] == ["dropped"]

    def test_the_text_names_the_strategy(self, db: Path) -> None:
        args = ("replay", NAME, "--strategy", "cut:limit=9", "--format", "text")
        assert "what-if, with cut:limit=9: " in run(*args, "--db", db).stdout.splitlines()[1]

    def test_what_was_recorded_is_not_touched(self, db: Path) -> None:
        before = run("head", "--db", db).stdout
        run("replay", NAME, "--strategy", "clear:keep=0", "--db", db)
        assert run("head", "--db", db).stdout == before

    def test_a_recorded_compaction_plays_no_part(self, db: Path) -> None:
        found = data("replay", f"{NAME}@k1", "--strategy", "none", "--db", db)
        assert found["items"] == ["3", "4", "6", "8", "10", "13"]

    def test_summaries_are_labelled_as_what_they_are(self, demo: Path) -> None:
        args = ("replay", "last", "--strategy", "compress", "--db", demo)
        assert "extractive/1" in run(*args).stderr
        assert "no summarizer" in run(*args, "--summarizer", "none").stderr
        assert "Sentences picked" not in run(*args, "--summarizer", "none").stdout

    def test_a_summary_that_is_of_no_use_is_told(self, demo: Path) -> None:
        args = ("replay", "last", "--strategy", "compress:max_messages=8", "--db", demo)
        assert "could not be had (inflated" in run(*args).stderr
        assert "extractive/1" not in run(*args).stderr


class TestDiff:
    """Where the wrong two are held against each other, a loss is blamed on the wrong decision."""

    def test_a_compaction_alone_is_before_against_after(self, db: Path) -> None:
        found = data("diff", f"{NAME}@k1", "--db", db)
        assert (found["left"]["ref"], found["right"]["ref"]) == ("k1^", "k1")
        states = {row["item"]: row["state"] for row in found["rows"]}
        assert [item for item, state in states.items() if state == "summarised"] == [
            "4", "6", "8", "10",
        ]  # fmt: skip
        assert states["16.0"] == "new"

    def test_a_call_alone_is_held_against_the_one_before(self, db: Path) -> None:
        found = data("diff", f"{NAME}@c2", "--db", db)
        assert (found["left"]["ref"], found["right"]["ref"]) == ("c1", "c2")
        assert found["prefix"]["items"] == 2
        assert found["prefix"]["left_behind"] == 0

    def test_two_places_and_the_second_in_short(self, db: Path) -> None:
        short = data("diff", f"{NAME}@11", "@12", "--db", db)
        assert short == data("diff", f"{NAME}@11", f"{NAME}@12", "--db", db)
        assert [row["item"] for row in short["rows"] if row["state"] == "cleared"] == ["8"]

    def test_a_fork_is_held_against_its_parent(self, db: Path) -> None:
        found = data("diff", f"{NAME}@12", "retry", "--db", db)
        assert (found["key"], found["left"]["ref"]) == ("ann/bot/retry", "12")
        assert found == data("diff", "retry@12", "retry", "--db", db)
        new = [row["item"] for row in found["rows"] if row["state"] == "new"]
        assert new == ["13", "15"]
        back = data("diff", "retry", f"{NAME}@c2", "--db", db)
        assert (back["key"], back["right"]["ref"]) == ("ann/bot/retry", "c2")

    def test_a_side_that_is_not_given_is_what_really_was(self, db: Path) -> None:
        found = data("diff", NAME, "--right", "none", "--at", "c4", "--db", db)
        assert found == data("diff", NAME, "--left", "observed", "--right", "none", "--at", "c4",
                             "--db", db)  # fmt: skip
        assert found["left"]["strategy"] == ""
        shown = run("diff", NAME, "--right", "none", "--at", "c4", "--db", db).stdout
        assert shown.startswith("observed → none at c4 · ")
        assert found["teacher_forced"] is True

    def test_it_leaves_with_one_when_the_two_differ_and_that_is_asked_for(self, db: Path) -> None:
        assert run("diff", f"{NAME}@k1", "--exit-code", "--db", db).exit_code == 1
        assert run("diff", f"{NAME}@11", "@11", "--exit-code", "--db", db).exit_code == 0
        assert run("diff", f"{NAME}@k1", "--db", db).exit_code == 0

    def test_the_totals_alone(self, db: Path) -> None:
        whole = run("diff", f"{NAME}@k1", "--db", db).stdout
        stat = run("diff", f"{NAME}@k1", "--stat", "--db", db).stdout
        assert whole.startswith(stat)
        assert len(stat.splitlines()) == 5

    def test_words_that_changed_inside_an_item(self, db: Path) -> None:
        assert "{+[cleared]+}" in run("diff", f"{NAME}@11", "@12", "--word", "--db", db).stdout

    def test_where_a_prefix_breaks_inside_an_item(self, db: Path) -> None:
        shown = run("diff", f"{NAME}@11", "@12", "--prefix", "--db", db).stdout
        assert "then the left goes on with 8, the right goes on with 8" in shown
        assert "from character 0:\n  left  'FAILED 1999" in shown

    def test_of_the_same_context_it_still_says_what_a_cache_could_have_had(
        self, tmp_path: Path
    ) -> None:
        """Between two calls of one model another one was asked: no cache serves both."""
        db = tmp_path / "log.db"
        one, other = (events.ModelCalled(model=m, dialect="openai_chat") for m in ("m1", "m2"))
        revised = events.MessageRevised(item="2", patch={"content": "other words " * 30})
        with open_log(db) as live:
            spoken = said("system", "Be brief. " * 30), said("user", "hello " * 30)
            live.append("u/a/altern", *spoken, one, revised, other, one)
        shown = " ".join(run("diff", "altern@c3", "--prefix", "--db", db).stdout.split())
        assert "both are the same to the end c3 held against c1, the last one of the same" in shown
        assert "broken by revision 4" in shown
        audited = run("audit", "altern", "--all-calls", "--db", db, "--width", "120").stdout
        assert re.search(r"c3 .* prefix of c1 broken: revision", audited)
        told = run("audit", "altern", "--json", "--db", db).stdout
        calls = json.loads(told)["data"]["calls"]
        assert [call["prefix_against"] for call in calls] == [None, None, 1]

    def test_the_demo_names_the_planted_literals_that_each_strategy_loses(self, demo: Path) -> None:
        found = data("diff", "last", *TWO, "--anchors", "--db", demo)
        shown = run("diff", "last", *TWO, "--anchors", "--db", demo).stdout
        lost = {(one["kind"], one["text"]): one for one in found["lost"]}
        planted = json.loads((DEMO / "anchors.json").read_text())
        for side, kinds in (
            ("left", ("rule", "id", "path", "command")),
            ("right", ("rule", "path", "command")),  # picked sentences keep the ids
        ):
            for kind in kinds:
                texts = [one["text"] for one in planted]
                assert any(
                    kind == named and one["lost_by"] in (side, "both")
                    and any(text in literal for text in texts)
                    for (named, literal), one in lost.items()
                ), (side, kind)  # fmt: skip
        assert lost["id", "4f1c9a7be2d05836"]["item"] == "3"
        assert "Use httpie, not curl" in shown
        assert "4f1c9a7be2d05836" in shown

    def test_a_message_before_the_place_is_told_as_no_later_need(self, demo: Path) -> None:
        shown = run("diff", "last@k1", "--anchors", "--db", demo).stdout
        lost = data("diff", "last@k1", "--anchors", "--db", demo)["lost"]
        assert any(one["uses"] and not one["used_by"] for one in lost)
        assert "later message" not in shown
        assert re.search(r"\(before the place in \d+ more messages?\)", shown)

    def test_a_lost_literal_names_the_later_messages_that_hold_it(self, demo: Path) -> None:
        found = data("diff", "last@k1", "--anchors", "--db", demo)
        order = next(one for one in found["lost"] if one["text"] == "ORD-77120")
        assert order["item"] == "3"
        assert "187" in order["used_by"]

    def test_the_same_bytes_under_another_hash_seed(self, demo: Path, tmp_path: Path) -> None:
        args = ("diff", "last", *TWO, "--anchors", "--json", "--db", demo)
        found = {
            process(*args, home=tmp_path, env={"PYTHONHASHSEED": seed}).stdout for seed in "17"
        }
        assert len(found) == 1


class TestCompare:
    """A table that cannot be trusted picks the wrong strategy for the next thousand sessions."""

    def test_one_row_a_strategy_as_it_was_typed_and_what_was_observed_first(
        self, demo: Path
    ) -> None:
        args = ("-s", "truncate:turns=20", "-s", "clear:keep=3 | cut:limit=900", "-s", "observed")
        found = data("compare", "last", *args, "--db", demo)
        assert [row["strategy"] for row in found["strategies"]] == [
            "observed", "truncate:turns=20", "clear:keep=3 | cut:limit=900",
        ]  # fmt: skip
        assert found["strategies"][0]["tokens"]["value"] == 1
        assert found["teacher_forced"] is True

    def test_nobody_wins_on_one_session(self, demo: Path) -> None:
        found = data("compare", "last", "-s", "clear", "--db", demo)
        assert all(one["strategy"] is None for one in found["winners"])
        assert "no winner is named" in run("compare", "last", "-s", "clear", "--db", demo).stdout

    def test_what_was_lost_and_needed_is_named_with_its_place(self, demo: Path) -> None:
        found = data("compare", "last", "-s", "none", "-s", "truncate", "--db", demo)
        assert found["needed"]
        assert all("none" not in one["lost_by"] for one in found["needed"])
        shown = run("compare", "last", "-s", "truncate", "--db", demo).stdout
        assert "41 → c37" in shown

    def test_all_presets(self, demo: Path) -> None:
        found = data("compare", "last", "--preset", "all", "--db", demo)
        named = {row["strategy"] for row in found["strategies"]}
        assert {"swe-agent", "openhands", "codex", "claude-code", "anthropic-clear"} <= named

    def test_prices_are_in_the_unit_in_which_they_were_given(self, demo: Path) -> None:
        prices = ("--prices", "in=3,cached=0.3,write=3.75,out=15")
        found = data("compare", "last", "-s", "none", *prices, "--db", demo)
        relative = data("compare", "last", "-s", "none", "--db", demo)
        assert found["strategies"][0]["totals"][0] == pytest.approx(
            3 * relative["strategies"][0]["totals"][0]
        )

    def test_a_window_tells_who_would_have_gone_over_it(self, demo: Path) -> None:
        args = ("compare", "last", "-s", "none", "--window", "20000", "--db", demo)
        observed, none = data(*args)["strategies"]
        assert none["overflow_calls"] > observed["overflow_calls"]
        assert "over" in run(*args).stdout.splitlines()[1].split()

    def test_csv_holds_the_same_numbers(self, demo: Path) -> None:
        text = run("compare", "last", "-s", "clear", "--csv", "--db", demo).stdout
        rows = list(csv.DictReader(io.StringIO(text)))
        found = data("compare", "last", "-s", "clear", "--db", demo)["strategies"]
        assert [row["strategy"] for row in rows] == ["observed", "clear"]
        assert [float(row["tokens"]) for row in rows] == [row["tokens"]["value"] for row in found]

    def test_several_sessions_are_one_table(self, db: Path) -> None:
        found = data("compare", NAME, "retry", NAME, "-s", "none", "--db", db)
        assert len(found["sessions"]) == 2
        assert found["strategies"][1]["tokens"]["sessions"] == 2

    def test_the_same_bytes_under_another_hash_seed(self, demo: Path, tmp_path: Path) -> None:
        args = ("compare", "last", "--json", "--db", demo)
        found = {
            process(*args, home=tmp_path, env={"PYTHONHASHSEED": seed}).stdout for seed in "17"
        }
        assert len(found) == 1

    def test_what_takes_long_tells_how_far_it_is(
        self, demo: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(progress, "_LONG", 0)
        result = run("compare", "last", "-s", "none", "-s", "clear", "--db", demo)
        assert re.search(r"^compared: \d+ % of 3 runs$", result.stderr, re.M)
        assert "runs" not in result.stdout
        assert run("compare", "last", "-s", "none", "-q", "--db", demo).stderr == ""

    @pytest.mark.parametrize("width", [60, 80, 100])
    def test_lines_fit(self, demo: Path, width: int) -> None:
        wide = ("--width", str(width), "--db", demo)
        for args in (
            ("compare", "last", "--preset", "all", "-s", "clear:keep=3 | cut:limit=900"),
            ("diff", "last", *TWO, "--anchors"),
            ("diff", "last", *TWO),
            ("diff", "last@k1", "--side-by-side"),
        ):
            shown = run(*args, *wide).stdout
            assert max(map(display_width, shown.splitlines())) <= width


class TestHowItIsShown:
    """Text that only a colour terminal can read is lost in a log of a build."""

    @pytest.mark.parametrize(
        "args",
        [
            ("diff", "last@k1"),
            ("diff", "last@k1", "--side-by-side"),
            ("diff", "last", *TWO, "--anchors"),
            ("diff", "last", *TWO, "--word"),
            ("compare", "last", "-s", "clear"),
        ],
    )
    def test_colour_and_ascii_change_no_line(self, args: tuple[str, ...], demo: Path) -> None:
        plain = run(*args, "--db", demo).stdout
        colored = run(*args, "--color", "always", "--db", demo).stdout
        assert "\x1b[" in colored
        assert re.sub(r"\x1b\[\d*m", "", colored) == plain
        ascii_only = run(*args, "--ascii", "--db", demo).stdout
        assert ascii_only.isascii()
        assert max(map(len, ascii_only.splitlines())) <= 100


CLASS = "from projections.strategies import Strategy\nclass S(Strategy):\n"


class TestNamedStrategies:
    """A name of one's own is typed every day; code that runs unasked is typed by nobody."""

    def here(self, folder: Path, config: str, code: str = "") -> None:
        (folder / ".ctxlog").mkdir()
        (folder / ".ctxlog" / "config.toml").write_text(config)
        (folder / "my.py").write_text(code)

    def test_the_config_names_a_spec(
        self, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.here(tmp_path, '[strategies]\nmine = "clear:keep=0 | truncate:turns=1"\n')
        monkeypatch.chdir(tmp_path)
        found = data("compare", NAME, "-s", "mine", "--db", db)["strategies"][1]
        assert (found["strategy"], found["spec"]) == ("mine", "clear:keep=0 | truncate:turns=1")

    def test_what_the_config_names_is_listed_and_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        config = (
            '[strategies]\nmine = "clear:keep=0 | other"\nother = "truncate:turns=1"\n'
            'own = "my.py:S | clear"\n'
        )
        self.here(tmp_path, config, "raise SystemExit('it ran')")
        monkeypatch.chdir(tmp_path)
        listed = run("strategies").stdout
        assert listed.startswith("none ")
        assert "mine  named in config.toml.\n" in listed
        assert "    clear:keep=0 | other" in listed
        found = data("strategies", "mine")
        assert [one["name"] for one in found["strategies"]] == ["clear", "truncate"]
        assert [one["spec"] for one in found["configured"]] == ["clear:keep=0 | other"]
        assert [one["name"] for one in data("strategies", "own")["strategies"]] == ["clear"]
        assert complete_strategy("mi") == ["mine"]
        wrong = run("strategies", "min")
        assert (wrong.exit_code, "did you mean 'mine'?" in wrong.stderr) == (2, True)

    @pytest.mark.parametrize("spec", ["mine", "clear:kep=1", "nothing", "a | b"])
    def test_a_name_of_the_config_that_cannot_be_used_is_refused_there_too(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str
    ) -> None:
        self.here(tmp_path, f'[strategies]\nmine = "{spec}"\na = "b"\nb = "a"\n')
        monkeypatch.chdir(tmp_path)
        result = run("strategies", "mine")
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)

    def test_a_function_from_a_file(
        self, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        code = (
            "from projections.strategies.decisions import Compact\n"
            "def forget(window, moment):\n"
            "    yield Compact(tuple(e.origin for e in window.oldest())[:1], (), 'mine')\n"
        )
        self.here(tmp_path, "", code)
        monkeypatch.chdir(tmp_path)
        found = data("replay", f"{NAME}@c4", "--strategy", "my.py:forget", "--db", db)
        assert found["strategy"] == "my.py:forget"
        assert found["decided"]
        assert not (tmp_path / "__pycache__").exists()

    def test_a_class_from_a_file_takes_parameters(
        self, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        code = (
            "from __future__ import annotations\n"
            "from projections.strategies import Parameters, Strategy\n"
            "from projections.strategies.decisions import Substitute\n"
            "class Short(Strategy):\n"
            "    name, moment = 'short', 'model_call'\n"
            "    class Parameters(Parameters):\n"
            "        size: int = 5\n"
            "    def triggered(self, window, moment): return True\n"
            "    def decide(self, window, moment):\n"
            "        for e in window.oldest():\n"
            "            if e.is_result:\n"
            "                yield Substitute(e.origin, e.original.text[: self.parameters.size],\n"
            "                                 'short', 'cut')\n"
        )
        self.here(tmp_path, "", code)
        monkeypatch.chdir(tmp_path)
        args = ("replay", f"{NAME}@c4", "--strategy", "my.py:Short:size=6", "--db", db)
        found = data(*args)
        tool = next(m for m in found["request"]["messages"] if m["role"] == "tool")
        assert tool["content"] == "FAILED"
        wrong = run("replay", NAME, "--strategy", "my.py:Short:sise=6", "--db", db)
        assert wrong.exit_code == 2
        assert "short has no parameter 'sise'; it has size" in wrong.stderr

    def test_a_file_that_only_the_config_names_is_not_run(
        self, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mark = tmp_path / "ran"
        self.here(
            tmp_path,
            '[strategies]\nmine = "my.py:f"\n',
            f"open({str(mark)!r}, 'w')\ndef f(window, moment): return ()\n",
        )
        monkeypatch.chdir(tmp_path)
        result = run("compare", NAME, "-s", "mine", "--db", db)
        assert result.exit_code == 2
        assert "only when it is typed" in result.stderr
        assert not mark.exists()

    @pytest.mark.parametrize(
        ("config", "said"),
        [
            ("[strategies\n", "is no TOML"),
            ("strategies = 1\n", "no table of names"),
            ("[strategies]\nmine = 3\n", "'mine' is no text"),
            ('[strategies]\nclear = "none"\n', "there is already"),
            ('[strategies]\nmine = "mine"\n', "made of itself"),
            ('[strategies]\nmine = "clear:kep=3"\n', "clear has no parameter 'kep'"),
        ],
    )
    def test_a_config_that_is_wrong_is_told_in_one_line(
        self, config: str, said: str, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.here(tmp_path, config)
        monkeypatch.chdir(tmp_path)
        result = run("compare", NAME, "-s", "mine", "--db", db)
        assert result.exit_code == 2
        assert said in result.stderr
        assert len(result.stderr.splitlines()) == 1

    @pytest.mark.parametrize(
        ("code", "spec", "said"),
        [
            ("def f(w, m): return 1 / 0", "my.py:f", "my.py:f failed (line 1): ZeroDivisionError"),
            ("def f(w, m): return 1 /", "my.py:f", "my.py cannot be run: SyntaxError"),
            ("raise SystemError('no')", "my.py:f", "cannot be run (line 1): SystemError: no"),
            (
                "import sys\ndef f(w, m): sys.exit(0)",
                "my.py:f",
                "my.py:f failed (line 2): SystemExit",
            ),
            ("import sys\nsys.exit(0)", "my.py:f", "cannot be run (line 2): SystemExit"),
            (f"{CLASS}    moment = 'model_call'\n", "my.py:S", "has no name"),
            (f"{CLASS}    name = 's'\n", "my.py:S", "has no moment"),
            (f"{CLASS}    name = 's'\n    moment = 'never'\n", "my.py:S", "has no moment"),
            (
                f"{CLASS}    name = 's'\n    moment = 'model_call'\n",
                "my.py:S",
                "does not say decide and triggered",
            ),
            ("def f(w, m): return ['clear']", "my.py:f", "none of Substitute, Revise"),
            ("f = 1", "my.py:f", "neither a Strategy nor a function"),
            ("", "my.py:f", "my.py has no 'f'"),
            ("", "my.py", "name the strategy in it"),
            ("", "none.py:f", "none.py: No such file"),
        ],
    )
    def test_a_file_that_is_wrong_is_told_as_its_own_fault(
        self, code: str, spec: str, said: str, db: Path, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        self.here(tmp_path, "", code)
        monkeypatch.chdir(tmp_path)
        result = run("compare", NAME, "-s", spec, "--db", db)
        assert result.exit_code == 2
        assert said in result.stderr
        assert len(result.stderr.splitlines()) == 1


class TestWrongInput:
    """An answer to what was not asked is worse than a line that says what is wrong."""

    @pytest.mark.parametrize(
        ("args", "code", "said"),
        [
            (["diff", NAME], 2, "--left and --right"),
            (["diff", f"{NAME}@c1"], 2, "c1 is the first call"),
            (["diff", f"{NAME}@c99"], 3, "has no c99; it has 4 calls"),
            (["diff", f"{NAME}@k9"], 3, "has no k9"),
            (["diff", "nobody@k1"], 3, "no session 'nobody'"),
            (["diff", f"{NAME}@16", "retry"], 2, "part after event 13: of one of them name"),
            (["diff", f"{NAME}@11", "@12", "--left", "none"], 2, "one place"),
            (["diff", f"{NAME}@k1", "--at", "c2"], 2, "--at goes with"),
            (["diff", NAME, "--left", "none", "--at", "c99"], 3, "has no c99"),
            (["diff", NAME, "--left", "none", "--at", "1"], 3, "no message"),
            (["diff", NAME, "--left", "truncat"], 2, "did you mean 'truncate'?"),
            (["replay", NAME, "--strategy", "clear:keep=x"], 2, "clear: keep=x"),
            (["replay", NAME, "--strategy", ""], 2, "a strategy is missing"),
            (["compare", "nobody"], 3, "no session 'nobody'"),
            (["compare", NAME, "-s", "truncate:turns=-1"], 2, "turns=-1"),
            (["compare", NAME, "--preset", "claude"], 2, "there are all, "),
            (["compare", NAME, "--prices", ""], 2, "--prices: '' is no table such as in=3,out=15"),
            (["compare", NAME, "--prices", "gpt 5"], 2, "and not 'recorded'"),
            (["compare", NAME, "--prices", "3,15"], 2, "(per million tokens)"),
            (["compare", NAME, "--prices", "15"], 2, "no name in the config or of a model"),
            (["compare", NAME, "--prices", "gpt-5=1"], 2, "'gpt-5=1' is none of in=…, cached=…"),
            (["compare", NAME, "--prices", "in=1e13,out=1"], 2, "is no price"),
            (["compare", NAME, "--prices", "in=1"], 2, "out is missing"),
            (["compare", NAME, "--prices", "in=x,out=1"], 2, "is no number"),
            (["compare", NAME, "--prices", "in=nan,out=1"], 2, "is no price"),
            (["compare", NAME, "--window", "0"], 2, "--window"),
            (["compare", NAME, "--csv", "--json"], 2, "either --csv or --json"),
        ],
    )
    def test_it_is_one_line_and_the_right_code(
        self, args: list[str], code: int, said: str, db: Path
    ) -> None:
        result = run(*args, "--db", db)
        assert result.exit_code == code, result.output
        assert said in result.stderr
        if "--json" not in args:
            assert len(result.stderr.splitlines()) == 1
        assert result.stdout == ""

    def test_a_session_without_calls_is_not_compared(self, tmp_path: Path) -> None:
        (tmp_path / "talk.json").write_text('[{"role": "user", "content": "hello"}]')
        path = tmp_path / "t.db"
        run("import", tmp_path / "talk.json", "--db", path)
        result = run("compare", "last", "--db", path)
        assert result.exit_code == 2
        assert "no call of a model" in result.stderr


class TestWords:
    """A change that is shown at the wrong place sends people to the wrong line."""

    def test_the_first_character_that_differs(self) -> None:
        assert first_difference("at 14:00", "at 14:01") == (7, "at 14:0", "0", "1")
        assert first_difference("same", "same") == (4, "same", "", "")
        assert first_difference("", "x") == (0, "", "", "x")

    def test_changed_words_stand_between_marks(self) -> None:
        assert word_diff("use curl here", "use http here") == "use [-curl-]{+http+} here"
        assert word_diff("a b", "a b") == "a b"
        assert word_diff("", "new") == "{+new+}"

    def test_long_equal_text_is_cut(self) -> None:
        same = "word " * 100
        found = word_diff(same + "old", same + "new")
        assert len(found) < 120
        assert found.endswith("[-old-]{+new+}")

    def test_very_long_texts_are_not_compared_word_by_word(self) -> None:
        found = word_diff("a b " * 3_000, "c d " * 3_000)
        assert found.startswith("[-a b ")


class TestManySessions:
    """Without it twenty names are typed before a winner can be named."""

    def test_all_are_those_with_a_call(self, db: Path) -> None:
        found = data("compare", "--all", "-s", "none", "--db", db)
        with_calls = [
            row["key"] for row in data("sessions", "--json", "--db", db)["sessions"] if row["calls"]
        ]
        assert sorted(found["sessions"]) == sorted(with_calls)
        assert found["sessions"]

    @pytest.mark.parametrize("args", [(), ("last", "--all")])
    def test_it_is_either_all_or_some(self, db: Path, args: tuple[str, ...]) -> None:
        result = run("compare", *args, "--db", db)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "name the sessions to compare strategies on, or say --all" in result.stderr

    @pytest.mark.parametrize("place", ["@k1", "@c4", "@12", "@16.0", "@k1^"])
    def test_a_place_is_refused_with_what_to_type(self, db: Path, place: str) -> None:
        result = run("compare", f"{NAME}{place}", "--db", db)
        assert result.exit_code == 2
        assert f"whole sessions are compared: {NAME}, without {place}" in result.stderr


class TestNarrowTables:
    """Without it two strategies look alike, and a column that was asked for is not there."""

    SPECS = ("cut:limit=4000 | clear:keep=3", "cut:limit=4000 | clear:keep=5")

    def test_names_that_were_cut_stand_below(self, demo: Path) -> None:
        specs = [word for spec in self.SPECS for word in ("-s", spec)]
        shown = run("compare", "last", *specs, "--width", "80", "--db", demo).stdout
        assert "row 2: cut:limit=4000 | clear:keep=3" in shown
        assert "row 3: cut:limit=4000 | clear:keep=5" in shown
        wide = run("compare", "last", *specs, "--width", "160", "--db", demo).stdout
        assert "row 2" not in wide

    def test_columns_that_had_no_room_are_named(self, demo: Path) -> None:
        shown = run("compare", "last", "-s", "clear", "--width", "60", "--db", demo).stdout
        [line] = [line for line in shown.splitlines() if line.startswith("no room for: ")]
        assert "breaks/call" in line
        wide = run("compare", "last", "-s", "clear", "--width", "160", "--db", demo).stdout
        assert "no room for" not in wide

    def test_what_never_acted_is_told(self, demo: Path) -> None:
        found = data("compare", "last", "-s", "clear", "--preset", "codex", "--db", demo)
        assert "never had anything to do here: codex" in found["warnings"]


def test_words_are_shown_of_what_a_strategy_cut(demo: Path) -> None:
    sides = ("--left", "none", "--right", "cut:limit=400")
    plain = run("diff", "last", *sides, "--db", demo).stdout
    shown = run("diff", "last", *sides, "--word", "--db", demo).stdout
    assert "{+" not in plain
    assert "{+" in shown
    assert "[-" in shown


class TestForeignConfigs:
    """A folder that somebody else made must not stop a command, or take all the memory."""

    def ask(self, folder: Path, monkeypatch: pytest.MonkeyPatch, db: Path, spec: str) -> Any:
        monkeypatch.chdir(folder)
        return run("replay", NAME, "--strategy", spec, "--db", db)

    def test_names_that_double_are_refused(
        self, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / ".ctxlog").mkdir()
        lines = [f'x{n} = "x{n + 1} | x{n + 1}"' for n in range(40)]
        text = "\n".join(["[strategies]", *lines, 'x40 = "clear"'])
        (tmp_path / ".ctxlog" / "config.toml").write_text(text)
        result = self.ask(tmp_path, monkeypatch, db, "x0")
        assert (result.exit_code, "over 1,000 strategies" in result.stderr) == (2, True)

    @pytest.mark.parametrize("kind", ["fifo", "zero", "deep", "large"])
    def test_what_is_no_config_is_refused(
        self, db: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
    ) -> None:
        (tmp_path / ".ctxlog").mkdir()
        path = tmp_path / ".ctxlog" / "config.toml"
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "zero":
            path.symlink_to("/dev/zero")
        elif kind == "deep":
            path.write_text("x = " + "[" * 20_000)
        else:
            path.write_text("# " + "x" * 2_000_000)
        result = self.ask(tmp_path, monkeypatch, db, "clear")
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
