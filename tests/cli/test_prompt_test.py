"""`prompt test`: its report, its exit codes, and what it says of a file that is none."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, completion, nowhere, serving
from running import data, run
from test_golden import GOLDEN, compare
from typer.testing import Result

TOKEN = "ghp_" + "a1B2" * 9

TESTS = """\
prompt: review/coder
vars: {language: Python, diff: "- return a"}
cases:
  - name: the change is named
    checks:
      - contains: return a
      - max_length: 200
      - judged: Does it say what to change?
  - name: the key stays where it is
    user: What is the key?
    checks:
      - no_secret: true
      - refuses: true
"""
PROMPT = """\
coder:
  version: 2
  system: You review {language}.
  user: "Review this: {diff}"
"""


def answering(request: dict[str, Any]) -> Any:
    last = request["messages"][-1]["content"]
    if "The question:" in last:
        return completion('{"verdict": "yes", "reason": "it says so"}')
    if "What is the key?" in last:
        return completion(f"It is {TOKEN}.")
    return completion("Do not return a here.")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(answering) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "review.yaml").write_text(PROMPT)
    (tmp_path / "review.test.yaml").write_text(TESTS)
    return tmp_path


Test = Callable[..., Result]


@pytest.fixture
def tried(folder: Path, server: ModelServer) -> Test:
    def made(*more: str, url: str = server.url, file: str = "review.test.yaml") -> Result:
        return run(
            *("prompt", "test", folder / file, "--model", "m", "--base-url", url),
            *("--prompts", folder / "prompts", "--db", folder / "log.db", *more),
            OPENAI_API_KEY="",
        )

    return made


def normalised(text: str, folder: Path, server: ModelServer) -> str:
    text = text.replace(str(folder), "<folder>").replace(server.url, "http://<server>/v1")
    return re.sub(r"(review\.test-)[0-9a-f]{6}", r"\1<id>", text)


class TestReport:
    """One case that passes and one that fails, check by check, against a real endpoint."""

    def test_as_text(self, folder: Path, server: ModelServer, tried: Test) -> None:
        result = tried("--width", "200")
        assert result.exit_code == 1
        compare(GOLDEN / "prompt-test.txt", normalised(result.stdout, folder, server))
        assert TOKEN not in result.output
        assert "asking m: review.test: the change is named" in result.stderr

    def test_as_json(self, folder: Path, server: ModelServer, tried: Test) -> None:
        result = tried("--json")
        assert result.exit_code == 1
        compare(GOLDEN / "prompt-test.json", normalised(result.stdout, folder, server))
        assert TOKEN not in result.output

    def test_every_call_is_in_the_log_and_exact(self, folder: Path, tried: Test) -> None:
        tried()
        sessions = data("sessions", "--db", folder / "log.db")["sessions"]
        assert sorted(s["calls"] for s in sessions) == [1, 1, 2]
        assert {s["provenance"] for s in sessions} == {"exact"}
        titles = {s["title"] for s in sessions}
        assert "review.test: the key stays where it is (failed: no_secret, refuses)" in titles
        # What the model said is in the log as it said it, and can be erased from there.
        args = ["redact", "--secrets", "--yes", "--db", folder / "log.db"]
        assert run(*args).exit_code == 0
        assert all(TOKEN.encode() not in f.read_bytes() for f in folder.glob("log.db*"))

    def test_only_cases_of_a_name_and_several_times(self, server: ModelServer, tried: Test) -> None:
        result = tried("--case", "CHANGE", "--repeat", "2", "-q")
        assert (result.exit_code, result.stderr) == (0, "")
        assert "2 of 2 cases passed" in result.stdout
        assert "the change is named (time 2)" in result.stdout

    def test_settings_reach_the_model(self, server: ModelServer, tried: Test) -> None:
        more = ("--max-tokens", "7", "--temperature", "0.5", "--judge", "wise")
        tried("--case", "change", *more)
        first, judge = server.requests
        assert (first["model"], first["max_tokens"], first["temperature"]) == ("m", 7, 0.5)
        assert (judge["model"], judge["temperature"]) == ("wise", 0.0)
        server.requests.clear()
        tried("--case", "key")
        assert "temperature" not in server.requests[0]

    def test_an_answer_that_was_cut_off_says_so(self, server: ModelServer, tried: Test) -> None:
        server.answer = lambda request: completion("return a", finish="length")
        assert "the answer was cut off: --max-tokens" in tried("--case", "change").stdout

    def test_what_a_model_says_cannot_move_a_terminal(
        self, server: ModelServer, tried: Test
    ) -> None:
        server.answer = lambda request: completion("\x1b[2J\u202eno")
        result = tried("--case", "key")
        assert "\x1b" not in result.stdout
        assert "\u202e" not in result.stdout
        assert r"\u{1b}[2J\u{202e}no" in result.stdout


class TestEndpoints:
    """An endpoint that cannot be asked is no failed prompt: 6, not 1."""

    @pytest.mark.usefixtures("impatient")
    def test_one_that_is_not_there(self, folder: Path, tried: Test) -> None:
        result = tried(url=nowhere())
        assert result.exit_code == 6
        assert "0 of 2 cases passed, 2 not asked" in result.stdout
        assert "no connection" in result.stdout
        assert "Traceback" not in result.output

    def test_one_that_goes_away(self, server: ModelServer, tried: Test) -> None:
        server.answer = lambda request: (
            (401, {"error": {"message": "no such key"}})
            if "What is the key?" in str(request)
            else answering(request)
        )
        result = tried()
        assert result.exit_code == 6
        assert "1 of 2 cases passed, 1 not asked" in result.stdout

    def test_without_a_model_or_a_key_nothing_is_asked(self, folder: Path) -> None:
        file = folder / "review.test.yaml"
        common = ("--prompts", folder / "prompts", "--db", folder / "log.db")
        bare = run("prompt", "test", file, *common)
        assert (bare.exit_code, "--model" in bare.stderr) == (2, True)
        keyless = run(
            *("prompt", "test", file, "--model", "m", *common),
            OPENAI_API_KEY="",
            OPENAI_BASE_URL="",
        )
        assert (keyless.exit_code, "OPENAI_API_KEY" in keyless.stderr) == (2, True)
        assert not (folder / "log.db").exists()

    def test_the_model_is_that_of_the_option_the_variable_or_the_config(
        self, folder: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (folder / ".ctxlog").mkdir()
        (folder / ".ctxlog" / "config.toml").write_text('[model]\nname = "configured"\n')
        monkeypatch.chdir(folder)
        asked = (
            *("prompt", "test", folder / "review.test.yaml", "--case", "the change"),
            *("--base-url", server.url, "--prompts", folder / "prompts"),
            *("--db", folder / "log.db"),
        )
        config = {"OPENAI_API_KEY": ""}
        for more, variables, name in (
            ((), config, "configured"),
            ((), {**config, "CTXLOG_MODEL": "of-the-variable"}, "of-the-variable"),
            (("-m", "typed"), {**config, "CTXLOG_MODEL": "of-the-variable"}, "typed"),
        ):
            server.requests.clear()
            assert run(*asked, *more, **variables).exit_code == 0
            assert {request["model"] for request in server.requests} == {name}


class TestFiles:
    """What is wrong with a file is told in a line, before anything is asked."""

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("prompt: reviw/coder\ncases: [{checks: [{contains: a}]}]", "line 1: no prompt"),
            ("a: 1\nprompt: review", "line 1: no key 'a'"),
            (TESTS.replace("contains:", "contain:"), "line 6: no key 'contain'; is 'contains'"),
            (TESTS.replace("language: Python, ", ""), "line 4: case 'the change is named':"),
            ("\x1b[2J: a", "cannot stand in YAML"),
            ("", "it is empty"),
        ],
    )
    def test_of_a_bad_one(
        self, folder: Path, server: ModelServer, tried: Test, text: str, said: str
    ) -> None:
        (folder / "bad.yaml").write_text(text)
        result = tried(str(folder / "review.test.yaml"), file="bad.yaml")
        assert result.exit_code == 2
        assert said in result.stderr
        assert result.stderr.count("\n") == 1
        assert server.requests == []

    def test_of_what_is_no_file(self, folder: Path, tried: Test) -> None:
        os.mkfifo(folder / "pipe")
        (folder / "bytes").write_bytes(b"a: 1\n\xff")
        (folder / "huge").write_bytes(b"#" * (1 << 20) + b"\n")
        for name, said in (
            ("pipe", "no regular file"),
            ("prompts", "Is a directory"),
            ("missing", "No such file"),
            ("bytes", "line 2: it is no UTF-8"),
            ("huge", "more than 1,048,576 bytes"),
        ):
            result = tried(file=name)
            assert (result.exit_code, said in result.stderr) == (2, True), result.output

    def test_no_case_of_that_name(self, tried: Test) -> None:
        result = tried("--case", "nothing like it")
        assert (result.exit_code, "nothing like it" in result.stderr) == (2, True)

    def test_an_error_is_json_where_that_was_asked_for(self, tried: Test) -> None:
        result = tried("--json", file="missing")
        assert json.loads(result.stderr)["error"]["exit"] == 2
