"""Commands that tell of one thing tell the same: its item, its pairs; and one leads to the next."""

from __future__ import annotations

import functools
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from demo_log import DEMO
from running import run

SAMPLES = Path(__file__).parents[3] / "shared" / "samples"
WANTED = (
    "claude-code/cc03_compact_2microcompact_v2.1.17.jsonl",
    "claude-code/cc12_subagents/50a7220d-7250-46f3-b38e-b716ce25032e.jsonl",
    "codex/cx02_2compact_v0.142.jsonl",
    "swe-agent/sw01_elided_replay.traj",
    "openhands/oh05_v1_1condensation",
)
FEW = 12
"""Literals that are searched for."""

SOURCES = [DEMO, *(SAMPLES / name for name in WANTED if (SAMPLES / name).exists())]


MADE = Path("made")
"""No file: a session with passes, rewinds and several compactions."""


@pytest.fixture(scope="module", params=[*SOURCES, MADE], ids=lambda path: path.stem[:4])
def db(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with one session."""
    path = tmp_path_factory.mktemp("log") / "s.db"
    if request.param == MADE:
        from bench.audit import session

        session(path, 210, recorded=False, size=400)
        return path
    assert run("import", request.param, "--final", "--db", path).exit_code == 0
    return path


@functools.cache
def asked(*args: str | Path) -> Any:
    """What a command tells, also where it has findings; these only look, so once is enough."""
    command, *rest = args
    result = run(command, "--json", *rest)
    assert result.exit_code in (0, 1), result.output
    return json.loads(result.stdout)["data"]


@functools.cache
def printed(*args: str | Path) -> str:
    """What a command shows; several findings may lead to the same."""
    result = run(*args)
    assert result.exit_code in (0, 1), (args, result.output)
    return result.stdout


def flat(text: str) -> str:
    return " ".join(text.split())


class Named:
    """Under which item each command names each literal."""

    def __init__(self, db: Path) -> None:
        self.by: dict[tuple[str, str], dict[str, set[str]]] = {}
        """By kind and text: what each place says; a place is a command and a compaction or call."""
        audit = asked("audit", "last", "--db", db)
        for finding in audit["findings"]:
            for one in finding["anchors"]:
                self._add(one, f"audit {finding['rule']} {finding['refs'][0]}", one["item"])
        self.compactions = asked("stats", "last", "--db", db)["compactions"]
        for number in range(1, self.compactions + 1):
            place = f"k{number}"
            for one in asked("diff", f"last@{place}", "--anchors", "--db", db)["lost"]:
                self._add(one, f"diff {place}", one["item"])
            recovered = asked("recover", "last", "--lost", place, "--all", "--db", db)
            for sentence in recovered["sentences"]:
                for one in sentence["literals"]:
                    self._add(one, f"recover {place}", sentence["item"])
        if self.compactions:
            for one in asked("compare", "last", "--db", db)["needed"]:
                if "observed" in one["lost_by"]:
                    self._add(one, "compare", one["item"])

    def _add(self, one: dict[str, Any], where: str, item: str) -> None:
        key = one["kind"], flat(one["text"])
        self.by.setdefault(key, {}).setdefault(where, set()).add(item)


@pytest.fixture(scope="module")
def named(db: Path) -> Named:
    return Named(db)


class TestTheItemOfALiteral:
    """Who follows a literal from one command to the next must not land somewhere else."""

    def test_is_the_same_in_all_commands(self, named: Named) -> None:
        other = {key: said for key, said in named.by.items() if len(set.union(*said.values())) > 1}
        assert other == {}

    def test_is_one_that_a_search_finds(self, db: Path, named: Named) -> None:
        told = {key: said for key, said in named.by.items() if key[0] in ("id", "path")}
        for (_, text), said in list(told.items())[:FEW]:
            hits = asked("search", "-n", "0", "--db", db, "--", text, "last")["hits"]
            assert set.union(*said.values()) <= {hit["item"] for hit in hits}, text


class TestWhatToTypeNext:
    """A finding that leads to something else is one that cannot be checked."""

    def test_shows_what_the_finding_is_about(self, db: Path) -> None:
        found = asked("audit", "last", "--db", db)["findings"]
        assert found
        for finding in found:
            if not finding["next"]:
                assert finding["rule"] in ("verdicts", "coverage"), finding
                continue
            command, *args = shlex.split(finding["next"])
            shown = printed(command, "--db", db, *args)
            for name in about(finding):
                assert re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", shown), (finding, name)


def about(finding: dict[str, Any]) -> list[str]:
    """What the answer has to name: the literal in front, its item, or the first thing that it
    tells of."""
    if finding["anchors"]:
        one = finding["anchors"][0]
        return [one["item"]] + ([one["text"]] if finding["next"].startswith("recover") else [])
    items = [ref for ref in finding["refs"] if ref[0].isdigit()]
    return [(items or finding["refs"])[0].partition("-")[0]]


class TestPairs:
    """What ``compare`` calls invalid of what really was, ``audit`` must be able to name."""

    def test_agree_with_what_compare_says_of_the_recorded_requests(self, db: Path) -> None:
        found = asked("audit", "last", "--rule", "pairs", "--db", db)["findings"]
        parted = [each for each in found if "second" not in each["message"]]
        observed = asked("compare", "last", "--db", db)["strategies"][0]
        assert observed["strategy"] == "observed"
        assert (observed["valid"]["value"] < 1) == bool(parted)


class TestWhatACompactionDid:
    """Without these one command calls an item dropped and the next one folded into a summary."""

    def test_is_the_same_in_diff_and_log_and_why(self, db: Path) -> None:
        words = {"summarised": "folded", "dropped": "left"}
        for number in range(1, asked("stats", "last", "--db", db)["compactions"] + 1):
            rows = asked("diff", f"last@k{number}", "--db", db)["rows"]
            gone = {row["item"]: row for row in rows if row["state"] in words}
            log = asked("log", "last", "--at", f"k{number}", "--db", db)["rows"]
            states = {row["ref"]: row["state"] for row in log}
            assert {item: words[row["state"]] for item, row in gone.items()} == {
                item: states[item] for item in gone
            }
            (taken,) = [row for row in log if row["ref"] == f"k{number}"]
            assert taken["items"] == len(gone)
            assert {row["state"] for row in gone.values()} == {
                "summarised" if taken["brought"] else "dropped"
            }
            assert {row["by"] for row in gone.values()} == {str(taken["position"])}
            for item in list(gone)[:: max(1, len(gone) // 3)]:
                why = asked("why", "last", f"{item}@k{number}", "--db", db)
                assert why["state"] == words[gone[item]["state"]]

    def test_is_the_same_in_audit(self, db: Path) -> None:
        compactions = asked("stats", "last", "--db", db)["compactions"]
        if not compactions:
            return
        rows = asked("diff", f"last@k{compactions}", "--db", db)["rows"]
        states = asked("audit", "last", "--db", db)["sessions"][0]["coverage"]["states"]
        assert sum(each["items"] for each in states if each["by"] == f"k{compactions}") == sum(
            row["state"] in ("summarised", "dropped") for row in rows
        )


class TestWhatCameUpAgain:
    """Without it the command that an audit names does not show what the audit told of."""

    def test_is_what_recover_shows(self, db: Path) -> None:
        findings = asked("audit", "last", "--rule", "anchors", "--db", db)["findings"]
        for finding in findings:
            shown = asked("recover", "last", "--lost", finding["refs"][0], "--db", db)
            literals = {one["text"] for each in shown["sentences"] for one in each["literals"]}
            assert {one["text"] for one in finding["anchors"] if one["by"]} <= literals

    def test_is_of_what_diff_calls_lost(self, db: Path) -> None:
        """By one of the decisions that a finding names: those nobody missed are told together."""
        lost: dict[str, set[tuple[str, str]]] = {}
        for finding in asked("audit", "last", "--rule", "anchors", "--db", db)["findings"]:
            for ref in finding["refs"]:
                if ref not in lost:
                    result = run("diff", f"last@{ref}", "--anchors", "--json", "--db", db)
                    told = json.loads(result.stdout)["data"]["lost"] if not result.exit_code else []
                    lost[ref] = {(one["kind"], one["text"]) for one in told or ()}
            literals = {(one["kind"], one["text"]) for one in finding["anchors"]}
            assert lost[finding["refs"][0]] & literals
            assert literals <= set.union(*(lost[ref] for ref in finding["refs"]))
