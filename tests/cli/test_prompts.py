"""``ctxlog prompt``: which prompts are meant, what is shown of them, and what goes into a pipe."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from running import data, process, run

from cli.prompts import found
from harness.prompts import Prompts

REVIEW = """\
version: 2
coder:
  description: reads a change
  system: "You know {language}."
  user: "{diff}"
judge:
  system: |
    You judge. {"json": true}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "mine"
    (place / "team").mkdir(parents=True)
    (place / "review.yaml").write_text(REVIEW)
    (place / "team" / "judge.yaml").write_text("user: Who is right?\n")
    return place


class TestWhich:
    """Another folder than the one that was meant gives another prompt, and nobody notices."""

    def test_the_option_then_the_variable_then_the_folder_here_then_what_comes_along(
        self, folder: Path, tmp_path: Path
    ) -> None:
        other, here = tmp_path / "other", tmp_path / "here"
        here.mkdir()
        environment = {"CTXLOG_PROMPTS": str(other)}
        assert found(str(folder), environment, here).path == folder
        assert found(None, environment, here).path == other
        assert found(None, {}, here).path == Prompts.bundled().path
        assert found(None, {"CTXLOG_PROMPTS": ""}, here).path == Prompts.bundled().path
        (here / "prompts").mkdir()
        assert found(None, {}, here).path == here / "prompts"
        assert found("bundled", environment, here).path == Prompts.bundled().path

    def test_the_variable_and_the_option_are_read(self, folder: Path) -> None:
        by_variable = data("prompt", "list", CTXLOG_PROMPTS=str(folder))
        assert by_variable == data("prompt", "list", "--dir", folder)
        assert by_variable["place"] == str(folder)
        assert not by_variable["bundled"]
        assert data("prompt", "list", "--prompts", "bundled")["bundled"]

    def test_a_home_is_expanded_in_the_variable(self, folder: Path) -> None:
        rows = data("prompt", "list", CTXLOG_PROMPTS="~/mine", HOME=str(folder.parent))["prompts"]
        assert [row["name"] for row in rows] == ["review", "review", "team/judge"]

    def test_a_file_alone_is_enough(self, folder: Path) -> None:
        rows = data("prompt", "list", "--prompts", folder / "review.yaml")["prompts"]
        assert [row["role"] for row in rows] == ["coder", "judge"]

    def test_the_role_stands_behind_the_name_or_in_its_option(self, folder: Path) -> None:
        given = ("--prompts", folder)
        one = data("prompt", "show", "review/judge", *given)
        assert one == data("prompt", "show", "review", "--role", "judge", *given)
        assert (one["name"], one["role"], one["version"]) == ("review", "judge", "2")
        assert data("prompt", "show", "team/judge", *given)["role"] == ""

    def test_a_file_of_the_whole_name_comes_first(self, folder: Path) -> None:
        (folder / "team.yaml").write_text("judge: {system: a role}\nother: {system: b}\n")
        given = ("--prompts", folder)
        assert data("prompt", "show", "team/judge", *given)["user"] == "Who is right?"
        assert data("prompt", "show", "team/other", *given)["role"] == "other"
        assert data("prompt", "show", "team", "--role", "judge", *given)["system"] == "a role"


class TestRender:
    """What is printed is what a model would be given."""

    def test_json_has_the_messages(self, folder: Path) -> None:
        made = data(
            *("prompt", "render", "review/coder", "--prompts", folder),
            *("--var", "language=C=", "--var", "diff={language}"),
        )
        assert made["messages"] == [
            {"role": "system", "content": "You know C=."},
            {"role": "user", "content": "{language}"},
        ]
        assert made["variables"] == {"language": "C=", "diff": "{language}"}

    def test_a_text_alone_goes_into_a_pipe_to_the_byte(self, folder: Path) -> None:
        args = ("prompt", "render", "review/judge", "--prompts", folder)
        assert run(*args).stdout_bytes == b'You judge. {"json": true}\n'
        part = ("prompt", "render", "review/coder", "--prompts", folder, "--part", "user")
        assert run(*part, "--var", "diff=\x1b[2J").stdout_bytes == b"\x1b[2J"

    def test_values_come_from_files_and_from_standard_input(
        self, folder: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "language").write_text("Go\n")
        result = run(
            *("prompt", "render", "review/coder", "--prompts", folder, "--json"),
            *("--var-file", f"language={tmp_path / 'language'}", "--var-file", "diff=-"),
            input="- old\n+ new\n",
        )
        assert json.loads(result.stdout)["data"]["variables"] == {
            "language": "Go\n",
            "diff": "- old\n+ new\n",
        }

    @pytest.mark.parametrize(
        ("args", "code", "words"),
        [
            (["--var", "language=x"], 2, "no value for 'diff'"),
            (["--var", "langage=x", "--var", "diff="], 2, "is 'langage' meant for 'language'?"),
            (["--var", "language"], 2, "--var takes NAME=…, and 'language' is none"),
            (["--var", "a b=x"], 2, "--var takes NAME=…"),
            (["--var", "diff=1", "--var", "diff=2"], 2, "'diff' is given twice"),
            (["--var-file", "diff=gone"], 2, "gone is no file"),
            (["--var-file", "diff=/"], 2, "/ is no file"),
            (["--var-file", "diff=/dev/zero"], 2, "/dev/zero is no file"),
            (["--var", "diff=\udcff"], 2, "the value of 'diff' is no UTF-8"),
            (["--part", "usr"], 2, "Invalid value for '--part'"),
            (["--role", "codr"], 3, "no role 'codr'; is 'coder' meant?"),
        ],
    )
    def test_what_does_not_fit_is_one_line(
        self, folder: Path, args: list[str], code: int, words: str
    ) -> None:
        name = "review" if "--role" in args else "review/coder"
        result = run("prompt", "render", name, "--prompts", folder, *args)
        assert (result.exit_code, result.stdout) == (code, "")
        assert words in result.stderr
        assert result.stderr.count("\n") == 1

    def test_input_that_is_no_utf8_is_told(self, folder: Path) -> None:
        args = ("prompt", "render", "review/coder", "--prompts", folder, "--part", "user")
        result = run(*args, "--var-file", "diff=-", input=b"\xff")
        assert (result.exit_code, result.stderr) == (2, "ctxlog: --var-file: - is no UTF-8\n")


class TestTold:
    """A prompt that is missing or broken is told with its file, its line and what is near."""

    def test_a_file_of_tests_beside_them_is_passed_over(self, folder: Path) -> None:
        rows = data("prompt", "list", "--prompts", folder)["prompts"]
        (folder / "review.test.yaml").write_text("prompt: review/coder\ncases: [{checks: [{}]}]\n")
        assert data("prompt", "list", "--prompts", folder)["prompts"] == rows
        for command in ("show", "render"):
            result = run("prompt", command, "review.test", "--prompts", folder)
            assert (result.exit_code, "are tests" in result.stderr) == (3, True)

    def test_a_broken_file_hides_no_other(self, folder: Path) -> None:
        (folder / "bad.yaml").write_text("system: [\n")
        result = run("prompt", "list", "--prompts", folder)
        assert result.exit_code == 1
        assert "review/coder" in result.stdout
        assert f"{folder}/bad.yaml, line 2: no YAML" in result.stderr
        (problem,) = json.loads(run("prompt", "list", "--prompts", folder, "--json").stdout)[
            "data"
        ]["problems"]
        assert problem["name"] == "bad"

    @pytest.mark.parametrize(
        ("args", "code", "words"),
        [
            (["show", "reviw"], 3, "is 'review' meant?"),
            (["show", "review"], 3, "has roles: name one of 'coder', 'judge'"),
            (["show", "../mine/review"], 3, "no prompt '../mine/review'"),
            (["show", "bad"], 2, "bad.yaml, line 2: no YAML"),
            (["list", "--prompts", "/nowhere"], 3, "there is no such folder or file"),
            (["list", "--prompts", "/dev/null"], 2, "neither a folder nor a file"),
            (["shw"], 2, "Did you mean 'show'?"),
            ([], 2, "name a command of it: list, show, render"),
        ],
    )
    def test_errors_are_one_line_and_have_their_code(
        self, folder: Path, args: list[str], code: int, words: str
    ) -> None:
        (folder / "bad.yaml").write_text("system: [\n")
        result = run("prompt", *args, CTXLOG_PROMPTS=str(folder))
        assert (result.exit_code, result.stdout) == (code, "")
        assert words in result.stderr
        assert result.stderr.count("\n") == 1

    def test_an_error_in_json_names_the_command_and_what_is_near(self, folder: Path) -> None:
        result = run("prompt", "show", "reviw", "--prompts", folder, "--json")
        told = json.loads(result.stderr)
        assert told["command"] == "prompt show"
        assert told["error"]["type"] == "prompt_missing"
        assert told["error"]["near"] == ["review"]
        assert told["error"]["exit"] == 3

    def test_an_empty_folder_says_what_files_would_be(self, tmp_path: Path) -> None:
        result = run("prompt", "list", "--prompts", tmp_path)
        assert (result.exit_code, result.stdout) == (0, "")
        assert "their files end in .yaml or .yml" in result.stderr

    def test_common_options_stand_on_either_side_of_each_name(self, folder: Path) -> None:
        args = ["prompt", "list", "--prompts", str(folder)]
        answer = run(*args, "--json").stdout
        for at in range(3):
            assert run(*args[:at], "--json", *args[at:]).stdout == answer

    def test_what_a_file_holds_acts_on_no_terminal(self, folder: Path) -> None:
        evil = '"\\e]0;x\\a \\u202e {a}"'
        (folder / "evil.yaml").write_text(
            f'version: {evil}\ndescription: {evil}\n"r": {{system: {evil}, user: {evil}}}\n'
        )
        (folder / "\x1b[2J.yaml").write_text("system: x\n")
        for args in (
            ["list"],
            ["show", "evil/r"],
            ["render", "evil/r", "--var", "a=\x1b[2J"],
            ["show", "\x1b[2J"],
            ["render", "evil/r", "--var", "\x1b[2J=1"],
        ):
            for more in ([], ["--json"], ["--ascii"], ["--color", "always"]):
                result = run("prompt", *args, "--prompts", folder, *more)
                assert result.exit_code < 4
                shown = result.output.replace("\x1b[1m", "").replace("\x1b[2m", "")
                assert not {"\x1b", "\x07", "\u202e"} & set(shown.replace("\x1b[0m", ""))


class TestCompletion:
    """A name that is completed is one that is taken."""

    def test_prompts_roles_and_variables(self, folder: Path) -> None:
        (folder / "bad.yaml").write_text("system: [\n")

        def complete(line: str) -> list[str]:
            typed = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
            done = run(**typed, _CTXLOG_COMPLETE="complete_bash", CTXLOG_PROMPTS=str(folder))
            return done.stdout.split()

        assert complete("ctxlog prompt show ") == ["review/coder", "review/judge", "team/judge"]
        assert complete("ctxlog prompt render rev") == ["review/coder", "review/judge"]
        assert complete("ctxlog prompt show review --role ") == ["coder", "judge"]
        assert complete("ctxlog prompt render review/coder --var ") == ["diff=", "language="]
        assert complete("ctxlog prompt show --prompts bundled code_") == ["code_review"]
        assert complete("ctxlog prompt sh") == ["show"]


def test_as_a_process_of_its_own(folder: Path, tmp_path: Path) -> None:
    """With the folder it runs in as the place of its prompts, and bytes into a pipe."""
    os.rename(folder, tmp_path / "prompts")
    done = process("prompt", "render", "review/judge", home=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b'You judge. {"json": true}\n', b"")
