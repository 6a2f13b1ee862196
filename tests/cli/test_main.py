"""The command line as a whole: help, start-up, options, and the one door for errors."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from running import ROOT, data, environment, on_path, run
from small_log import KEY, called, fill, said, small_log

from cli import door, main
from cli.completing import decisions, items, of_session, session_names
from cli.main import registered
from cli.options import Settings, complete_strategy, complete_type
from eventlog import Draft
from eventlog.errors import ReadOnlyLog, UnsafePath
from projections import open_log

HEAVY = {
    *("openai", "sqlite_utils", "pydantic", "tiktoken", "detect_secrets", "rich", "eventlog"),
    *("genai_prices", "httpx2", "yaml"),
}

BY_TYPER = {"pydantic"}
"""What typer itself imports as soon as it converts an argument."""


def commands() -> dict[str, Any]:
    found: dict[str, Any] = main.typer.main.get_command(main.app).commands  # type: ignore[attr-defined]
    return found


def command_of(line: str) -> Any:
    """The command that is typed so: ``log``, ``prompt list``."""
    name, _, rest = line.partition(" ")
    found = commands()[name]
    return found.commands[rest] if rest else found


def verbatim(name: str) -> list[str]:
    """The lines of a command's docstring that are to be shown as they stand there."""
    text = (command_of(name).help or "") if name else ""
    kept = [part.split("\n\n")[0] for part in text.split("\b\n")[1:]]
    return [line.strip() for part in kept for line in part.splitlines()]


def saying_nothing(folder: Path) -> Path:
    """Another log, with one session."""
    with open_log(folder / "other.db") as live:
        live.append(KEY._replace(session="xyz"), said("user", "x"))
    return folder / "other.db"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


class TestHelp:
    """Without it nobody finds out what a command does, or how it is typed."""

    @pytest.mark.parametrize("name", registered())
    def test_every_command_says_what_it_does_and_ends_with_an_example(self, name: str) -> None:
        result = run(*name.split(), "--help")
        assert result.exit_code == 0
        text = result.stdout.split("\nOptions:")[0].split("\nArguments:")[0].rstrip()
        last = text.rsplit("\n\n", 1)[-1].strip()
        assert last.startswith("Example: ")
        assert f"ctxlog {name}".rstrip() in last

    @pytest.mark.parametrize("name", [name for name in registered() if name])
    def test_every_example_can_be_parsed(self, name: str) -> None:
        help_text = " ".join(run(*name.split(), "--help").stdout.split())
        example = re.search(r"Example: .*?ctxlog (.*?) (?:Options|Arguments):", help_text)
        assert example is not None
        words = example[1].split(" > ")[0].split(" -- ")[0].split()
        assert " ".join(words).startswith(name)
        command = command_of(name)
        known = {option for param in command.params for option in param.opts}
        assert {word for word in words if word.startswith("-")} <= known

    @pytest.mark.parametrize("columns", [40, 80])
    @pytest.mark.parametrize("name", registered())
    def test_it_fits_the_terminal_and_cuts_no_word(self, name: str, columns: int) -> None:
        args = [*name.split(), "--help"]
        text = run(*args, COLUMNS=str(columns)).stdout
        as_it_is = [line.rstrip() for line in verbatim(name)]
        for line in text.splitlines():
            assert len(line) <= min(columns, 80) or line.strip() in as_it_is, line
        assert set(text.split()) <= set(run(*args, COLUMNS="80").stdout.split())
        assert not re.search(r"[a-z,]\.\.\.", text)

    def test_a_short_option_asks_for_help_too(self) -> None:
        assert run("log", "-h").stdout == run("log", "--help").stdout

    def test_the_commands_stand_under_what_they_are_for(self) -> None:
        text = run("--help").stdout
        assert (
            text.index("Bring sessions in:") < text.index("Look:") < text.index("Keep and prove:")
        )
        for name in registered():
            assert f"\n  {name.partition(' ')[0]}" in text

    def test_the_version_is_told(self) -> None:
        assert re.fullmatch(r"ctxlog (\d\S+|\(not installed\))\n", run("--version").stdout)

    def test_the_version_is_json_when_that_is_asked_for(self) -> None:
        for args in (["--json", "--version"], ["--version", "--json"]):
            answer = json.loads(run(*args).stdout)
            assert answer["ctxlog"] == 1
            assert answer["data"]["version"] in run("--version").stdout

    def test_a_mistyped_command_is_answered_with_the_right_one(self) -> None:
        result = run("sesions")
        assert result.exit_code == 2
        assert result.stderr.count("\n") == 1
        assert "'sessions'" in result.stderr


class TestStartUp:
    """A slow --help or completion is felt at every key; heavy imports come back unseen."""

    @pytest.mark.parametrize(
        ("args", "heavy"),
        [
            (["--help"], HEAVY),
            ([], HEAVY - BY_TYPER),
            (["log", "--help"], HEAVY - BY_TYPER),
            (["prompt", "render", "--help"], HEAVY - BY_TYPER),
        ],
        ids=["help", "no log", "help of a command", "help of a command under a name"],
    )
    def test_help_imports_nothing_heavy(
        self, args: list[str], heavy: set[str], tmp_path: Path
    ) -> None:
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "cli.main", *args],
            env=environment(tmp_path),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        assert "typer" in imported
        assert not {name.partition(".")[0] for name in imported} & heavy

    def test_no_command_is_made_but_the_one_that_is_run(self) -> None:
        commands = main.Commands(main.COMMANDS.functions)
        assert len([row for head in (main.BRING, main.LOOK) for row in commands.told(head)]) > 10
        assert commands._made == {}
        assert commands["log"].name == "log"
        assert set(commands._made) == {"log"}

    def test_a_command_imports_no_client_of_a_model(self, db: Path, tmp_path: Path) -> None:
        code = (
            "import sys; from cli.main import app\n"
            "try: app(sys.argv[1:])\n"
            "except SystemExit: pass\n"
            "heavy = {'openai', 'tiktoken', 'detect_secrets', 'genai_prices', 'httpx2'}\n"
            "print(sorted(heavy & set(sys.modules)))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, "show", f"{KEY}", "--db", str(db)],
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert done.stdout.endswith("[]\n")


class TestCommonOptions:
    """They are typed on either side of the command; one that is dropped opens the wrong log."""

    def test_they_are_taken_on_both_sides_of_the_command(self, db: Path) -> None:
        before = run("--db", db, "--json", "sessions")
        after = run("sessions", "--json", "--db", db)
        assert before.exit_code == 0
        assert before.stdout == after.stdout

    def test_the_nearer_one_wins(self, db: Path) -> None:
        assert run("--db", "/nowhere/x.db", "sessions", "--db", db).exit_code == 0

    def test_the_variable_names_the_log(self, db: Path) -> None:
        assert data("sessions", CTXLOG_DB=str(db)) == data("sessions", "--db", db)

    def test_quiet_leaves_only_data(self, db: Path) -> None:
        assert run("verify", "--db", db).stderr
        assert run("verify", "--db", db, "--quiet").stderr == ""

    def test_a_width_that_is_no_width_is_refused(self, db: Path) -> None:
        assert run("sessions", "--db", db, "--width", "3").exit_code == 2


class TestWithoutACommand:
    """What a person sees who types the name of the program and nothing else."""

    def test_it_shows_the_latest_sessions_and_what_to_type_next(self, db: Path) -> None:
        result = run("--db", db)
        assert "Refunds" in result.stdout
        assert " log last · show" in result.stderr

    @pytest.mark.parametrize("has", ["nothing", "a message", "calls", "a compaction"])
    def test_what_it_says_can_be_typed_next_can_be(self, tmp_path: Path, has: str) -> None:
        db = tmp_path / "n.db"
        newest = {"occurred_at": "2099-01-01T00:00:00Z"}
        with open_log(db) as live:
            if has == "a compaction":  # and not in the newest session
                fill(live)
            if has != "nothing":
                live.append("a/b/newest", Draft(said("user", "hello"), **newest))
            if has == "calls":
                live.append("a/b/newest", Draft(called(), **newest), Draft(called(), **newest))
        result = run("--db", db, PATH=on_path(tmp_path))
        (line,) = re.findall("next: ctxlog (.+)", result.stderr)
        suggested = line.split(" · ")
        count = {"nothing": 2, "a message": 2, "calls": 3, "a compaction": 4}[has]
        assert len(suggested) == count, suggested
        for command in suggested:
            if not command.startswith("import"):
                found = run(*shlex.split(command), "--db", db)
                assert found.exit_code == 0, (command, found.output)

    def test_it_shows_the_help_where_there_is_no_log(self, tmp_path: Path) -> None:
        result = run("--db", tmp_path / "none.db")
        assert result.exit_code == 0
        assert result.stdout.startswith("Usage: ctxlog")
        assert " demo` shows" in result.stderr
        assert not (tmp_path / "none.db").exists()


class TestErrors:
    """A traceback in a terminal says that nobody thought of it; scripts need the code."""

    @pytest.mark.parametrize(
        ("args", "code"),
        [
            (["log"], 2),
            (["log", "refunds-0001@nonsense"], 2),
            (["log", "refunds-0001", "--range", "9-2"], 2),
            (["log", "refunds-0001", "--type", "odd"], 2),
            (["redact"], 2),
            (["export"], 2),
            (["log", "nosuch"], 3),
            (["show", "refunds-0001@c99"], 3),
            (["show", "refunds-0001@k2"], 3),
            (["show", "refunds-0001@16.5"], 3),
            (["show", "refunds-0001@12@13"], 3),
            (["replay", "refunds-0001@1"], 3),
            (["verify", "--head", "0" * 64], 4),
        ],
    )
    def test_each_kind_has_its_code_and_one_line(
        self, db: Path, args: list[str], code: int
    ) -> None:
        result = run(*args, "--db", db)
        assert result.exit_code == code, result.output
        if code != 4:  # a verification answers on stdout
            assert result.stdout == ""
            assert re.fullmatch(r"ctxlog: [^\n]+\n", result.stderr)

    @pytest.mark.parametrize("given", ["9" * 20, "9" * 5000, "inf", "nan", "-inf", "1e400", "-1"])
    def test_a_number_that_is_none_is_refused_by_every_option(self, db: Path, given: str) -> None:
        """Each reached another limit: of SQLite, of the clock, of Python."""
        tried = 0
        for name in filter(None, registered()):
            command = command_of(name)
            needed: list[str] = []
            for param in command.params:
                if param.required:
                    needed += [each for each in param.opts[:1] if each[0] == "-"] + ["x"]
            for option in command.params:
                if option.type_descriptor.is_ranged:
                    tried += 1
                    options = (f"{option.opts[0]}={given}", "--db", db)
                    result = run(*name.split(), *options, *needed)
                    assert result.exit_code == 2, (name, option.name, result.output)
                    assert "Invalid value" in result.stderr
        assert tried > 10

    @pytest.mark.parametrize(
        ("typed", "told"),
        [
            (("rewind", "refunds-0001", "2"), "it takes S@REF: A session, and a place in it: @12"),
            (("rename", "a", "b", "c"), "it takes S TITLE (try: "),
            (("doctor", "x"), "it takes nothing but options (try: "),
        ],
    )
    def test_a_word_too_many_is_told_with_what_is_taken(
        self, typed: tuple[str, ...], told: str
    ) -> None:
        result = run(*typed)
        assert (result.exit_code, told in result.stderr) == (2, True), result.stderr

    def test_a_rewind_to_no_place_says_where_turns_are_gone_back(self, db: Path) -> None:
        result = run("rewind", "refunds-0001", "--db", db)
        assert result.exit_code == 2
        assert "N turns back: /rewind N in a chat" in result.stderr

    def test_with_json_an_error_is_json(self, db: Path) -> None:
        result = run("show", "refunds-0001@c99", "--db", db, "--json")
        error = json.loads(result.stderr)
        assert result.stdout == ""
        assert error["command"] == "show"
        assert error["error"]["type"] == "position_not_found"
        assert error["error"]["exit"] == result.exit_code == 3
        assert error["error"]["what"] == "c99"

    def test_a_usage_error_is_json_too(self) -> None:
        result = run("log", "--json")
        assert json.loads(result.stderr)["error"]["exit"] == result.exit_code == 2

    def test_an_ambiguous_name_lists_what_it_could_be(self, db: Path) -> None:
        for number in range(1, 12):
            assert run("fork", "refunds-0001@4", "--name", f"again-{number}", "--db", db)
        result = run("log", "agai", "--db", db)
        assert result.exit_code == 3
        told = result.stderr.splitlines()
        assert told[0] == "ctxlog: 'agai' names 11 sessions:"
        assert {line.split()[0] for line in told[1:]} == {f"again-{n}" for n in range(1, 12)}
        assert all(re.search(r"  \d{4}-\d\d-\d\d \d\d:\d\d  Refunds$", line) for line in told[1:])
        listed = json.loads(run("log", "agai", "--db", db, "--json").stderr)
        assert len(listed["error"]["candidates"]) == 11

    @pytest.mark.parametrize(
        ("error", "told"),
        [
            (UnsafePath("/x/y.db", "[Errno 13] Permission denied: '/x/y.db'"),
             "/x/y.db is not used: Permission denied"),
            (UnsafePath("/x/y.db", "[Errno 13] Permission denied: '/x'"),
             "/x/y.db is not used: Permission denied: /x"),
            (ReadOnlyLog("/x/y.db", "the file is not writable; open it read-only"),
             "/x/y.db cannot be written by you; commands that only look work all the same, for "
             "others name another log with --db"),
            (ReadOnlyLog("/x/y.db"), "/x/y.db cannot be written: it was opened read-only"),
        ],
    )  # fmt: skip
    def test_the_system_and_the_library_are_translated_for_a_person(
        self, error: Exception, told: str
    ) -> None:
        assert door.message(error) == told

    def test_a_log_that_may_only_be_read_says_what_can_be_done(
        self, db: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import os

        can = os.access
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and can(path, mode))
        told = run("fork", "refunds-0001", "--db", db).stderr
        assert "commands that only look work" in told
        assert "open it" not in told

    @pytest.mark.parametrize("command", [["export", "--all"], ["replay", "refunds-0001"]])
    def test_a_folder_that_is_not_there_is_named(
        self, db: Path, tmp_path: Path, command: list[str]
    ) -> None:
        out = tmp_path / "none" / "x.json"
        result = run(*command, "--out", out, "--db", db)
        assert result.exit_code == 3
        assert result.stderr == f"ctxlog: there is no folder {out.parent}: {out}\n"

    @pytest.mark.parametrize(
        ("error", "code", "said"),
        [
            (FileNotFoundError(2, "No such file", "x"), 3, "No such file: x"),
            (PermissionError(13, "Permission denied", "x"), 5, "Permission denied: x"),
            (MemoryError(), 5, "memory"),
            (RecursionError(), 5, "nested"),
            (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), 5, "invalid start"),
            (ZeroDivisionError("x\x1b[2J"), 5, "internal error: ZeroDivisionError"),
            (KeyboardInterrupt(), 130, ""),
        ],
    )
    def test_nothing_gets_past_the_door(
        self, error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def work() -> None:
            raise error

        assert door.guarded(work, Settings()) == code
        told = capsys.readouterr().err
        assert said in told
        assert "\x1b" not in told
        assert told.count("\n") == (1 if said else 0)

    def test_whoever_mends_the_program_can_see_where(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def work() -> None:
            raise ZeroDivisionError

        monkeypatch.setenv("CTXLOG_DEBUG", "1")
        with pytest.raises(ZeroDivisionError):
            door.guarded(work, Settings())

    def test_every_error_of_the_library_has_a_code(self) -> None:
        from eventlog import errors

        leaves = [e for e in vars(errors).values() if isinstance(e, type)]
        for leaf in leaves:
            if issubclass(leaf, errors.CtxlogError) and leaf is not errors.CtxlogError:
                names = {kind.__name__ for kind in leaf.__mro__}
                assert names & door._BY_NAME.keys(), leaf


class TestCompletion:
    """Session ids are long, nobody types them whole; and what is proposed must be there."""

    def complete(self, line: str, db: Path, home: Path) -> list[str]:
        words = line.split(" ")
        env = environment(home, CTXLOG_DB=str(db), _CTXLOG_COMPLETE="complete_bash")
        env |= {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
        done = subprocess.run(
            [sys.executable, "-m", "cli.main"],
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return done.stdout.split()

    def test_session_ids_are_completed(self, db: Path, tmp_path: Path) -> None:
        assert self.complete("ctxlog log ref", db, tmp_path) == ["refunds-0001"]
        assert self.complete("ctxlog show la", db, tmp_path) == ["last"]
        assert self.complete("ctxlog verify ann/bot/re", db, tmp_path) == [
            "ann/bot/refunds-0001",
            "ann/bot/retry",
        ]

    def test_a_missing_log_completes_nothing_and_says_nothing(self, tmp_path: Path) -> None:
        assert self.complete("ctxlog log x", tmp_path / "none.db", tmp_path) == []


def test_the_program_is_installed_under_its_name() -> None:
    assert 'ctxlog = "cli.main:run"' in (ROOT / "pyproject.toml").read_text()


class TestProposals:
    """What a shell proposes must be something that the command takes."""

    def test_sessions_and_places_in_them(self, db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CTXLOG_DB", str(db))
        assert session_names(Settings(), "ref") == ["refunds-0001"]
        assert session_names(Settings(), "refunds-0001@") == [
            f"refunds-0001@{place}" for place in ("c4", "c3", "c2", "c1", "k1", "k1^")
        ]
        assert session_names(Settings(), "refu@k") == ["refu@k1", "refu@k1^"]
        assert session_names(Settings(), "retry@c") == ["retry@c2", "retry@c1"]
        assert session_names(Settings(), "nosuch@c") == []
        for proposed in session_names(Settings(), "last@"):
            assert run("show", proposed, "--db", db).exit_code == 0

    def test_types_of_events(self, db: Path) -> None:
        assert complete_type("session-f") == ["session_forked"]
        for name in complete_type("model"):
            assert run("log", "last", "--type", name, "--db", db).exit_code == 0

    @pytest.mark.parametrize("name", [name for name in registered() if name])
    def test_whatever_names_a_session_an_item_or_a_strategy_is_completed(self, name: str) -> None:
        named = {"S", "S...", "S@REF", "OTHER", "REF", "ITEM", "DECISION", "SPEC", "NAME..."}
        named |= {"PROMPT"}
        for param in command_of(name).params:
            if param.metavar in named:
                assert param._custom_shell_complete is not None, param.name

    def test_of_the_session_that_was_typed(self, db: Path, tmp_path: Path) -> None:
        assert run("pin", "refunds-0001", "3", "--db", db).exit_code == 0

        def complete(line: str) -> list[str]:
            typed = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
            done = run(**typed, _CTXLOG_COMPLETE="complete_bash", CTXLOG_DB=str(db))
            return done.stdout.split()

        assert complete("ctxlog why refunds-0001 1") == ["18", "16.0", "13", "10"]
        assert complete("ctxlog recover refunds-0001 2") == ["22"]
        assert complete("ctxlog pin refunds-0001 22 1") == ["18", "16.0", "13", "10"]
        assert complete("ctxlog unpin refunds-0001 ") == ["13", "3"]
        lost = complete("ctxlog recover refunds-0001 --lost ")
        assert lost == ["25", "20", "k1", "12"]
        for name in lost:
            assert run("recover", "refunds-0001", "--lost", name, "--db", db).exit_code == 0
        assert complete("ctxlog undo refunds-0001 k") == ["k1"]
        assert complete("ctxlog log refunds-0001 --calls --at c") == ["c4", "c3", "c2", "c1"]
        assert complete("ctxlog why refunds-0001@c2 2 --at k") == ["k1", "k1^"]
        assert complete("ctxlog diff refunds-0001@c3 --left tr") == ["truncate"]
        assert complete("ctxlog log nosuch --at c") == []
        other = saying_nothing(tmp_path)
        for line in (f"ctxlog --db {other} log x", f"ctxlog log --db {other} x"):
            assert complete(line) == ["xyz"]
        assert complete("ctxlog log --at c") == []

    def test_what_is_proposed_is_taken(self, db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CTXLOG_DB", str(db))
        for item in of_session(Settings(), "refunds-0001", "", items):
            assert run("why", "refunds-0001", item, "--db", db).exit_code == 0
        for decision in of_session(Settings(), "refunds-0001", "", decisions):
            undone = run("undo", "refunds-0001", decision, "--dry-run", "--db", db)
            assert undone.exit_code == 0, undone.output

    @pytest.mark.parametrize("begun", ["cut:limit=4000|cl", "cut | cl", "cl"])
    def test_a_strategy_behind_another_one(self, begun: str) -> None:
        assert begun.removesuffix("cl") + "clear" in complete_strategy(begun)

    def test_no_log_gives_no_error(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CTXLOG_DB", str(tmp_path / "none.db"))
        assert session_names(Settings(), "x@c") == []
        assert list(tmp_path.iterdir()) == []
