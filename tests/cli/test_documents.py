"""README and docs/cli.md: what they say is what the program does."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from running import ROOT, run

from cli.main import registered
from eventlog.readable import VIEWS
from harness.prompts import SCENARIOS, Prompts
from projections.prompts.checks import KINDS
from projections.prompts.parsing import MOST_CHARACTERS, MOST_NAMES
from projections.prompts.variables import variables_in
from projections.strategies import STRATEGIES

README = ROOT / "README.md"
PAGE = ROOT / "docs" / "cli.md"
SQL_PAGE = ROOT / "docs" / "sql.md"
STRATEGIES_PAGE = ROOT / "docs" / "strategies.md"
PROMPTS_PAGE = ROOT / "docs" / "prompts.md"
MEMORY_PAGE = ROOT / "docs" / "memory.md"


class TestReadme:
    """The first thing that is tried is what stands there."""

    def test_its_python_runs_and_gives_what_it_says(self) -> None:
        result = doctest.testfile(str(README), module_relative=False)
        assert result.attempted > 8
        assert result.failed == 0

    def test_its_commands_exist(self) -> None:
        typed = re.findall(r"^    \$ ctxlog (\w+)", README.read_text(), re.M)
        assert typed
        assert set(typed) <= set(registered())

    def test_each_of_its_commands_finds_something_in_the_bundled_session(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In their order, on one log, as a reader types them; what needs a model or an agent is
        not there to be run."""
        monkeypatch.chdir(tmp_path)  # some of them write files
        db = tmp_path / "d.db"
        run("import", ROOT / "cli" / "demo" / "refund-rounding.jsonl", "--db", db)
        lines = re.findall(r"^    \$ ctxlog (.*)$", README.read_text(), re.M)
        tried = []
        for line in lines:
            words = shlex.split(line, comments=True)
            if words[0] in ("import", "record", "proxy", "serve") or {"monday", "gpt-5-mini"} & {
                word.partition("@")[0] for word in words
            }:
                continue
            result = run(*words, "--db", db, HOME=str(tmp_path))
            found = {0, 1} if words[0] == "audit" else {0}
            assert result.exit_code in found, (line, result.output)
            assert result.stdout.strip(), line
            tried.append(words[0])
        assert len(tried) > 18
        assert {"search", "why", "recover", "undo", "run", "fork", "diff", "compare"} <= set(tried)

    def test_what_it_shows_of_the_bundled_session_is_true(self, tmp_path: Path) -> None:
        db = tmp_path / "d.db"
        run("import", ROOT / "cli" / "demo" / "refund-rounding.jsonl", "--db", db)
        shown = run("log", "8f31", "--db", db).stdout
        for line in re.findall(r"^     ([Σ●] .*|── k1 .*)$", README.read_text(), re.M):
            start = line.split("…")[0].rstrip("─ ")
            assert start in shown

    def test_its_links_lead_somewhere(self) -> None:
        for link in re.findall(r"\]\((?!http)([^)#]+)", README.read_text()):
            assert (ROOT / link).exists(), link


class TestPageOfStrategies:
    """A parameter that is not documented is found by nobody, and a recipe that fails is worse."""

    def test_its_python_runs_and_gives_what_it_says(self) -> None:
        result = doctest.testfile(str(STRATEGIES_PAGE), module_relative=False)
        assert result.attempted > 5
        assert result.failed == 0

    def test_every_strategy_and_parameter_stands_there(self) -> None:
        page = STRATEGIES_PAGE.read_text()
        for name, strategy in STRATEGIES.items():
            assert re.search(rf"^{re.escape(name)}  \S", page, re.M), name
            for parameter in strategy.Parameters.model_fields:
                assert f"    {parameter}=" in page, (name, parameter)


class TestPageOfPrompts:
    """What counts as a variable is known from there alone, and a prompt goes wrong by it."""

    def test_its_python_runs_and_gives_what_it_says(self) -> None:
        result = doctest.testfile(str(PROMPTS_PAGE), module_relative=False)
        assert result.attempted > 25
        assert result.failed == 0

    def test_its_table_of_braces_is_true(self) -> None:
        rows = re.findall(r"^\| (`.*`) \| (.*) \|$", PROMPTS_PAGE.read_text(), re.M)
        texts = {text: what for cells, what in rows if "{" in cells and "(" not in cells
                 for text in cells.strip("`").split("`, `")}  # fmt: skip
        assert len(texts) > 14
        for text, what in texts.items():
            assert bool(variables_in(text)) == ("variable" in what), text

    def test_its_limits_and_what_comes_along_stand_there(self) -> None:
        page = PROMPTS_PAGE.read_text()
        for limit in (MOST_CHARACTERS, MOST_NAMES):
            assert f"{limit:,}" in page
        for name in (*SCENARIOS, "summaries/handoff_v1", "summaries/combine_v1"):
            assert f"`{name}`" in page
            assert name in Prompts.bundled().files()

    def test_every_check_stands_there(self) -> None:
        page = PROMPTS_PAGE.read_text()
        assert [kind for kind in KINDS if f"`{kind}`" not in page] == []

    def test_its_commands_exist(self) -> None:
        typed = re.findall(r"ctxlog (prompt \w+) ", PROMPTS_PAGE.read_text())
        assert len(typed) > 2
        assert set(typed) <= set(registered())


class TestPageOfSql:
    """A query that fails, or a column that is not there, is the first thing somebody copies."""

    def test_its_queries_give_rows(self, tmp_path: Path) -> None:
        db = tmp_path / "d.db"
        run("import", ROOT / "cli" / "demo" / "refund-rounding.jsonl", "--db", db)
        queries = re.findall(r"^```sql\n(.*?)^```", SQL_PAGE.read_text(), re.M | re.S)
        queries += re.findall(r'^    ctxlog sql "(.*?)"', SQL_PAGE.read_text(), re.M)
        assert len(queries) > 5
        for query in queries:
            result = run("sql", query, "-p", "s=%8f31%", "--db", db)
            assert result.exit_code == 0, result.output
            assert not result.stdout.startswith("no rows"), query

    def test_every_view_and_column_stands_there(self) -> None:
        page = SQL_PAGE.read_text()
        for view in VIEWS:
            (part,) = re.findall(rf"^### {view.name}\n(.*?)(?=^###|\Z)", page, re.M | re.S)
            assert re.findall(r"^\| `(\w+)` \| .+ \|$", part, re.M) == list(view.columns)


class TestPageOfCommands:
    """A command that is not documented is not found."""

    @pytest.mark.parametrize("name", [name for name in registered() if name])
    def test_every_command_is_documented_with_its_help(self, name: str) -> None:
        help_text = run(*name.split(), "--help").stdout.rstrip()
        wanted = "\n".join(line.rstrip() for line in help_text.splitlines())
        assert f"## ctxlog {name}\n\n```text\n{wanted}\n```" in PAGE.read_text()

    def test_every_exit_code_is_documented(self) -> None:
        from cli import door

        codes = {*range(7), door.INTERRUPTED}
        assert {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE.read_text(), re.M)} == codes


class TestMemoryPage:
    """What somebody copies runs as it stands there."""

    def test_its_python_runs_and_gives_what_it_says(self) -> None:
        result = doctest.testfile(str(MEMORY_PAGE), module_relative=False)
        assert result.attempted > 12
        assert result.failed == 0
