"""The project's outer files say what is so."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from shutil import copy, which
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("eventlog", "projections", "harness", "cli")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DESIGN_NOTES = sorted((ROOT / "docs" / "design").glob("*.md"))
SOURCES = sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))


class TestPackaging:
    """Packages are listed by hand: one that is forgotten is missing from every installation."""

    def test_every_package_is_listed(self) -> None:
        there = {
            ".".join(file.parent.relative_to(ROOT).parts)
            for file in SOURCES
            if file.name == "__init__.py"
        }
        assert there == set(PYPROJECT["tool"]["setuptools"]["packages"])

    def test_every_folder_with_sources_is_a_package(self) -> None:
        assert not [file for file in SOURCES if not (file.parent / "__init__.py").exists()]

    def test_every_other_file_of_a_package_is_installed(self) -> None:
        """The patterns are those of an installation that is no link to this folder."""
        data = PYPROJECT["tool"]["setuptools"]["package-data"]
        installed = {
            file
            for package, patterns in data.items()
            for pattern in patterns
            for file in ROOT.joinpath(*package.split(".")).glob(pattern)
        }
        there = {
            file
            for package in PACKAGES
            for file in (ROOT / package).rglob("*")
            if file.is_file() and file.suffix not in (".py", ".pyc")
        }
        assert ROOT / "cli" / "demo" / "anchors.json" in there
        assert there == installed

    def test_the_changelog_has_this_version(self) -> None:
        assert f"## [{PYPROJECT['project']['version']}]" in (ROOT / "CHANGELOG.md").read_text()


class TestSources:
    """One noun a file: what grows over 400 lines has become two."""

    def test_no_file_is_longer_than_400_lines(self) -> None:
        assert not [
            f"{file.relative_to(ROOT)}: {lines}"
            for file in SOURCES
            if (lines := len(file.read_text().splitlines())) > 400
        ]


class TestTheWorkingTree:
    """A folder that a test left behind was committed once."""

    @pytest.mark.skipif(which("git") is None, reason="there is no git here")
    def test_a_run_that_leaves_a_file_in_it_fails(self, tmp_path: Path) -> None:
        (tmp_path / "tests").mkdir()
        copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
        wrong = tmp_path / "tests" / "test_wrong.py"
        wrong.write_text("def test_it() -> None:\n    open('left.txt', 'w').close()\n")
        (tmp_path / ".gitignore").write_text("__pycache__\n")
        for args in (["init", "-q"], ["add", "."]):
            subprocess.run(["git", *args], cwd=tmp_path, check=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["-p", "xdist", "-n1"]
        env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        for code in (1, 0):  # what lay there before is nobody's fault
            done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
            assert done.returncode == code, done.stdout
            assert ("left in the working tree: left.txt" in done.stdout) is bool(code)


class TestMake:
    """`make check` and `.ci/run` are the one door: a target that is gone is a check that is off."""

    @pytest.mark.parametrize(
        "target", ["demo", "test", "check", "bench", "docs", "fix", "reliability"]
    )
    def test_every_target_can_be_made(self, target: str) -> None:
        plan = subprocess.run(
            ["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        assert ".venv/bin/" in plan

    def test_check_runs_every_tool(self) -> None:
        plan = subprocess.run(
            ["make", "--dry-run", "check"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        for tool in ("ruff format --check", "ruff check", "mypy", "lint-imports", "pytest", "cog"):
            assert tool in plan
        assert "CTXLOG_BROWSER_TESTS=required" in plan
        assert "e2e" in PYPROJECT["project"]["optional-dependencies"]

    def test_ci_refuses_a_python_that_is_not_there(self) -> None:
        run = subprocess.run(
            [ROOT / ".ci" / "run"],
            env={"PATH": "/usr/bin:/bin", "PYTHON": "no-such-python"},
            capture_output=True,
            text=True,
        )
        assert run.returncode == 2
        assert "no-such-python" in run.stderr

    @pytest.mark.parametrize(
        ("installer", "code", "said"),
        [
            ("exit 100", 2, "Chromium could not be installed"),
            (None, 2, "there is no Chromium"),
            ('echo "$@"', 0, "install -q -y --no-install-recommends chromium fonts-liberation"),
        ],
    )
    def test_ci_installs_a_browser_where_there_is_none(
        self, installer: str | None, code: int, said: str, tmp_path: Path
    ) -> None:
        """A machine of which everything but the browser is as here, and its user is root."""
        for name in ("bash", "dirname", "env"):
            (tmp_path / name).symlink_to(str(which(name)))
        programs = {"id": "echo 0", "make": "exit 0", "apt-get": installer}
        for name, body in programs.items():
            if body is not None:
                (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
                (tmp_path / name).chmod(0o755)
        run = subprocess.run(
            [ROOT / ".ci" / "run"],
            env={"PATH": str(tmp_path), "PYTHON": sys.executable},
            capture_output=True,
            text=True,
        )
        assert (run.returncode, said in run.stdout + run.stderr) == (code, True), run


class TestDocs:
    """A word with two meanings, or a note without what was weighed, helps nobody."""

    def test_every_word_stands_once_in_the_glossary(self) -> None:
        words = re.findall(r"^\*\*(.+)\*\*$", (ROOT / "docs" / "glossary.md").read_text(), re.M)
        assert len(words) > 20
        assert not [word for word, times in Counter(words).items() if times > 1]

    @pytest.mark.parametrize("note", DESIGN_NOTES, ids=lambda note: note.stem)
    def test_a_design_note_is_a_page_with_the_four_parts(self, note: Path) -> None:
        text = note.read_text()
        assert re.findall(r"^## (.+)$", text, re.M) == [
            "Summary",
            "Goals and non-goals",
            "Design",
            "Alternatives considered",
        ]
        assert len(text.splitlines()) < 90


def strings(value: Any) -> Iterator[str]:
    """What a model would read of a message; ids, signatures and block types are not text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)
    elif isinstance(value, dict):
        for name, part in value.items():
            if name not in ("id", "tool_use_id", "signature", "type", "name", "role"):
                yield from strings(part)


def visible(record: dict[str, Any]) -> str:
    """The text of a record that stood in a context, or nothing."""
    if record["type"] == "attachment":
        return str(record["attachment"]["prompt"])
    return "\n".join(strings(record.get("message", {}).get("content", "")))


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    text = (ROOT / "cli" / "demo" / "refund-rounding.jsonl").read_text()
    return [json.loads(line) for line in text.split("\n") if line]


@pytest.fixture(scope="module")
def anchors() -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((ROOT / "cli/demo/anchors.json").read_text())
    return loaded


class TestBundledSession:
    """The demo, the README and many tests rest on it: a lost anchor must really be lost."""

    def test_it_has_the_size_of_a_real_session(self, records: list[dict[str, Any]]) -> None:
        answers = {r["message"]["id"] for r in records if r["type"] == "assistant"}
        subtypes = Counter(record.get("subtype") for record in records)
        assert len(answers) >= 40
        assert subtypes["compact_boundary"] == 1
        assert subtypes["microcompact_boundary"] == 2

    def test_every_call_but_the_interrupted_one_has_its_result(
        self, records: list[dict[str, Any]]
    ) -> None:
        blocks = [
            (line, block)
            for line, record in enumerate(records)
            for block in record.get("message", {}).get("content", [])
            if isinstance(block, dict)
        ]
        called = {block["id"]: line for line, block in blocks if block["type"] == "tool_use"}
        answered = {block["tool_use_id"] for _, block in blocks if block["type"] == "tool_result"}
        (open_call,) = called.keys() - answered
        assert answered <= called.keys()
        assert visible(records[called[open_call] + 1]).startswith("[Request interrupted by user")

    def test_every_anchor_is_planted_before_the_summary_and_used_after_it(
        self, records: list[dict[str, Any]], anchors: list[dict[str, Any]]
    ) -> None:
        (summary,) = [n for n, record in enumerate(records, 1) if record.get("isCompactSummary")]
        for anchor in anchors:
            assert anchor["planted_line"] < summary < anchor["reused_line"]
            assert anchor["text"] in visible(records[anchor["planted_line"] - 1])
            assert anchor["text"] in visible(records[anchor["reused_line"] - 1])

    def test_the_summary_keeps_some_anchors_and_loses_at_least_six(
        self, records: list[dict[str, Any]], anchors: list[dict[str, Any]]
    ) -> None:
        (summary,) = [visible(record) for record in records if record.get("isCompactSummary")]
        assert [a["text"] for a in anchors if a["text"] in summary] == [
            a["text"] for a in anchors if a["in_summary"]
        ]
        lost = [anchor for anchor in anchors if not anchor["in_summary"]]
        assert 6 <= len(lost) < len(anchors)
