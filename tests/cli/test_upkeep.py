"""``backup``, ``doctor`` and ``sql`` as they are typed."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from given import made_older
from running import ROOT, data, environment, process, run
from small_log import small_log

from cli.safetext import safe_text
from eventlog import StreamKey, schema
from eventlog.events import MessageAppended
from projections import open_log

ENDLESS = "with recursive t (n) as (select 1 union all select n + 1 from t) select count(*) from t"
HOSTILE = (
    "=cmd|' /C calc'!A0", "+1", "-1+2", "@SUM(1)", "\t=1", " =1", "＝1", "\x1b]52;c;eA==\x07",
    "\u202eabc", 'a";=1', "a\n=b", "fine", "",
)  # fmt: skip


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


def saying(folder: Path, *texts: str) -> Path:
    """A log of messages."""
    path = folder / "said.db"
    with open_log(path) as live:
        for text in texts:
            live.append(
                StreamKey("ann", "bot", "s"),
                MessageAppended(
                    dialect="openai_chat", source="human", message={"role": "user", "content": text}
                ),
            )
    return path


class TestBackup:
    """Without it the only copy is the one that a disk loses."""

    def test_the_copy_is_a_log_with_the_same_head(self, db: Path, tmp_path: Path) -> None:
        copy = tmp_path / "copy.db"
        result = run("backup", copy, "--db", db)
        assert result.exit_code == 0
        assert "verified" in result.stderr
        assert data("head", "--db", copy)["head"] == data("head", "--db", db)["head"]
        assert result.stdout.strip() == f"head {data('head', '--db', db)['head']}"
        assert run("verify", "--db", copy).exit_code == 0

    def test_exit_codes(self, db: Path, tmp_path: Path) -> None:
        copy = tmp_path / "copy.db"
        assert run("backup", copy, "--db", tmp_path / "none.db").exit_code == 5
        assert run("backup", tmp_path / "none" / "copy.db", "--db", db).exit_code == 3
        assert run("backup", tmp_path, "--db", db).exit_code == 2
        assert run("backup", copy, "--db", db).exit_code == 0
        assert run("backup", copy, "--db", db).exit_code == 2
        assert run("backup", copy, "--force", "--db", db).exit_code == 0
        assert run("backup", db, "--force", "--db", db).exit_code == 2

    def test_a_log_whose_chain_is_broken_gives_none(self, db: Path, tmp_path: Path) -> None:
        with sqlite3.connect(db) as other:
            other.execute("drop trigger events_update")
            other.execute("update events set payload = '{}' where sequence = 4")
        other.close()
        result = run("backup", tmp_path / "copy.db", "--db", db)
        assert (result.exit_code, "does not verify" in result.stderr) == (4, True)
        assert not (tmp_path / "copy.db").exists()


class TestDoctor:
    """Without it the first question of every report is which file it was."""

    def test_it_says_which_log_and_why(self, db: Path, tmp_path: Path) -> None:
        found = data("doctor", "--db", db)
        assert (found["log"], found["why"]) == (str(db), "the option --db")
        assert data("doctor", CTXLOG_DB=str(db))["why"] == "the variable CTXLOG_DB"
        home = tmp_path / "home"
        (home / ".ctxlog").mkdir(parents=True)
        done = process("doctor", "--json", home=home)
        answer = json.loads(done.stdout)["data"]
        assert answer["why"] == "a folder .ctxlog here"
        assert answer["log"] == str(home / ".ctxlog" / "ctxlog.db")
        assert (done.returncode, list((home / ".ctxlog").iterdir())) == (0, [])

    @pytest.mark.parametrize("content", [b"no log " * 200, b"x"])
    def test_what_is_no_log_is_a_problem_and_left_alone(
        self, tmp_path: Path, content: bytes
    ) -> None:
        file = tmp_path / "notes.txt"
        file.write_bytes(content)
        result = run("doctor", "--db", file)
        assert (result.exit_code, "problem" in result.stdout) == (1, True)
        assert "chmod" not in result.stdout
        assert file.read_bytes() == content

    def test_a_config_that_cannot_be_read_is_a_problem(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        (home / ".ctxlog").mkdir(parents=True)
        (home / ".ctxlog" / "config.toml").write_text("[strategies\n\x1b]52;c;eA==\x07")
        done = process("doctor", home=home)
        assert done.returncode == 1
        assert b"\x1b" not in done.stdout
        answer = json.loads(process("doctor", "--json", home=home).stdout)["data"]
        (check,) = (check for check in answer["checks"] if check["state"] == "problem")
        assert "config.toml is no TOML" in check["message"]

    def test_transcripts_that_are_there_are_told(self, tmp_path: Path) -> None:
        folder = tmp_path / ".claude" / "projects" / "p"
        folder.mkdir(parents=True)
        (folder / "a.jsonl").touch()
        (check,) = (
            check
            for check in data("doctor", "--db", tmp_path / "x.db", HOME=str(tmp_path))["checks"]
            if check["name"] == "transcripts"
        )
        assert (check["message"], check["advice"]) == (
            "~/.claude/projects, 1 files",
            "ctxlog import ~/.claude/projects",
        )

    def test_a_log_of_a_later_format_is_a_warning_and_no_problem(self, db: Path) -> None:
        with sqlite3.connect(db) as other:
            other.execute(f"pragma user_version = {schema.FORMAT + 1}")
        other.close()
        result = run("doctor", "--db", db)
        assert (result.exit_code, "upgrade ctxlog" in result.stdout) == (0, True)


class TestSqlTable:
    """Without it what a model wrote reaches the terminal by way of a query."""

    def test_nothing_that_acts_reaches_the_terminal(self, tmp_path: Path) -> None:
        path = saying(tmp_path, *HOSTILE)
        for sql in ("select text from messages_readable", "select * from messages_readable"):
            for more in ((), ("--csv",), ("--json",)):
                shown = run("sql", sql, *more, "--db", path).stdout
                assert safe_text(shown) == shown

    def test_a_name_of_a_column_can_be_hostile_too(self, db: Path) -> None:
        sql = 'select 1 as "\x1b[2J", 2 as "=cmd"'
        assert "\x1b" not in run("sql", sql, "--db", db).stdout
        assert run("sql", sql, "--csv", "--db", db).stdout.splitlines()[0] == (
            '"\\u{1b}[2J","\'=cmd"'
        )

    def test_null_bytes_and_numbers_are_told_apart(self, db: Path) -> None:
        sql = "select null, '', x'00ff', 7, 1.5, 9e999"
        shown = run("sql", sql, "--db", db).stdout.splitlines()[-1]
        assert shown.split() == ["null", "x'00ff'", "(2", "bytes)", "7", "1.5", "Infinity"]
        (row,) = data("sql", sql, "--db", db)["rows"]
        assert row == [None, "", {"hex": "00ff", "size": 2}, 7, 1.5, "Infinity"]

    def test_a_blob_is_cut(self, db: Path) -> None:
        shown = run("sql", "select zeroblob(5000)", "--db", db).stdout
        assert f"x'{'00' * 32}…' (5,000 bytes)" in shown

    def test_many_columns_become_records(self, db: Path) -> None:
        shown = run("sql", "select * from sessions_readable", "--db", db).stdout
        assert "session            ann/bot/" in shown
        assert max(map(len, shown.splitlines())) <= 100

    def test_no_line_is_wider_than_the_terminal(self, db: Path) -> None:
        sql = "select session, position, text, message from messages_readable"
        for width in (40, 60, 100, 300):
            shown = run("sql", sql, "--width", str(width), "--db", db).stdout
            assert max(map(len, shown.splitlines())) <= width

    def test_rows_over_the_limit_are_told(self, db: Path) -> None:
        many = "with recursive t (n) as (select 1 union all select n + 1 from t limit 1500) " \
            "select n from t"  # fmt: skip
        result = run("sql", many, "--db", db)
        assert len(result.stdout.splitlines()) == 1001
        assert "--limit 0" in result.stderr
        assert len(run("sql", many, "--limit", "0", "--db", db).stdout.splitlines()) == 1501
        assert len(run("sql", many, "--limit", "1500", "--db", db).stdout.splitlines()) == 1501
        assert len(run("sql", many, "--csv", "--db", db).stdout.splitlines()) == 1501
        assert data("sql", many, "--limit", "2", "--db", db)["more"] is True

    def test_no_row_is_told_with_the_columns(self, db: Path) -> None:
        assert run("sql", "select 1 as a where 0", "--db", db).stdout == "no rows (a)\n"


class TestSqlCsv:
    """Without it a spreadsheet runs what a tool once printed."""

    def test_no_text_is_a_formula_and_the_rest_is_as_it_was(self, tmp_path: Path) -> None:
        path = saying(tmp_path, *HOSTILE)
        sql = "select text from messages_readable order by position"
        result = run("sql", sql, "--csv", "--db", path)
        head, *rows = csv.reader(io.StringIO(result.stdout))
        assert head == ["text"]
        texts = [row[0] for row in rows]
        for text in texts:
            assert not text.lstrip().startswith(("=", "+", "-", "@", "＝"))
        guarded = {text for text in texts if text.startswith("'")}
        assert len(guarded) == 7
        assert f"{len(guarded)} texts begin like a formula" in result.stderr
        assert "fine" in texts
        assert "a\n=b" in texts

    def test_every_text_is_in_quotes_and_no_number_is(self, db: Path) -> None:
        """A spreadsheet that splits at ``;`` would find a formula behind one."""
        shown = run("sql", "select 'a;=1', -5, null, ''", "--csv", "--db", db).stdout
        assert shown.splitlines()[1] == '"a;=1",-5,,""'

    def test_a_reader_that_went_away_ends_it(self, tmp_path: Path) -> None:
        path = saying(tmp_path, "a")
        endless = "with recursive t (n) as (select 1 union all select n + 1 from t) select n from t"
        done = subprocess.run(
            f"{sys.executable} -m cli.main sql '{endless}' --csv --db {path} | head -3",
            shell=True,
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            timeout=30,
        )
        assert (done.stdout, done.stderr) == (b'"n"\n1\n2\n', b"")


class TestSqlAsked:
    """Without it a query in a script fails in a way that nobody foresaw."""

    def test_from_standard_input_and_with_values(self, db: Path) -> None:
        result = run("sql", "-", "-p", "call=2", "--db", db, input="select :call + 1 as n")
        assert result.stdout == "n\n3\n"
        (row,) = data("sql", "select :a, :b, typeof(:c)", *(
            "-p", "a=x=y", "-p", "b=1.5", "-p", "c=",
        ), "--db", db)["rows"]  # fmt: skip
        assert row == ["x=y", 1.5, "text"]

    @pytest.mark.parametrize(
        ("given", "bound"),
        [
            ("0", 0),
            ("-7", -7),
            ("1e3", 1000.0),
            *((text, text) for text in ("nan", "inf", "-Infinity", "007", "1_000", " 1", "１")),
            *((text, text) for text in ("9" * 19, "1e999", "-", "--1", "+1")),
        ],
    )
    def test_only_what_sql_would_take_for_a_number_is_bound_as_one(
        self, db: Path, given: str, bound: object
    ) -> None:
        assert data("sql", "select :a", "-p", f"a={given}", "--db", db)["rows"] == [[bound]]

    def test_an_answer_that_would_fill_the_memory_is_refused_or_comes_as_csv(
        self, db: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cli.sql._ROOM", 1000)
        many = "with recursive t (n) as (select 1 union all select n + 1 from t limit 9) "
        for more in ([], ["--json"]):
            result = run("sql", f"{many} select zeroblob(200) from t", *more, "--db", db)
            assert (result.exit_code, "--csv" in result.output) == (2, True)
        assert run("sql", f"{many} select 'x' from t", "--db", db).exit_code == 0
        whole = run("sql", f"{many} select hex(zeroblob(200)) from t", "--csv", "--db", db)
        assert (whole.exit_code, len(whole.stdout.splitlines())) == (0, 10)

    @pytest.mark.parametrize(
        "args",
        [
            ("selec",),
            ("select nope",),
            ("select * from nope",),
            ("delete from events",),
            ("select 1; select 2",),
            ("select 1", "--csv", "--json"),
            ("select :a", "-p", "a"),
            ("select :a", "-p", "1a=2"),
            ("select 1", "--limit", "-1"),
            ("",),
            ("select '\udcff'",),
            ("select :a", "-p", "a=\udcff"),
        ],
    )
    def test_what_is_wrong_is_one_line_and_usage(self, db: Path, args: tuple[str, ...]) -> None:
        result = run("sql", *args, "--db", db)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert "Traceback" not in result.stderr

    def test_an_endless_one_ends_at_its_limit(self, db: Path) -> None:
        result = run("sql", ENDLESS, "--timeout", "0.2", "--db", db)
        assert (result.exit_code, "0.2 s" in result.stderr) == (2, True)

    def test_and_at_an_interrupt(self, db: Path, tmp_path: Path) -> None:
        # A row longer than what is held back comes out as soon as the one behind it is there.
        rows = "select printf('%.20000c', 'x') as n union all select 'x'"
        query = f"{rows} union all select * from ({ENDLESS})"
        asking = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "sql", query, "--csv", "--timeout", "30"],
            cwd=ROOT,
            env=environment(tmp_path, CTXLOG_DB=str(db)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert asking.stdout is not None
        assert asking.stdout.read(5) == b'"n"\n"'
        asking.send_signal(signal.SIGINT)
        out, err = asking.communicate(timeout=20)
        assert (asking.returncode, out.strip(b'x"\n')) == (130, b"")
        assert b"Traceback" not in err

    def test_without_a_query_it_needs_no_log(self, tmp_path: Path) -> None:
        result = run("sql", "--db", tmp_path / "none.db")
        assert result.exit_code == 0
        assert "calls_readable" in result.stdout
        assert not (tmp_path / "none.db").exists()

    def test_a_log_that_another_process_writes_to_is_asked_all_the_same(self, db: Path) -> None:
        descriptor = os.open(db.with_name(db.name + ".lock"), os.O_RDWR | os.O_CREAT)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            assert run("sql", "select count(*) as n from events", "--db", db).exit_code == 0
        finally:
            os.close(descriptor)

    @pytest.mark.parametrize(
        ("version", "missing"), [(2, "without happened_at"), (3, "no happened_at")]
    )
    def test_what_a_log_of_an_earlier_format_lacks_is_said(
        self, db: Path, version: int, missing: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made_older(db, version)
        monkeypatch.setattr("cli.opening.PATIENCE", 0.2)
        descriptor = os.open(db.with_name(db.name + ".lock"), os.O_RDWR | os.O_CREAT)
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # so that nobody brings it forward
        try:
            lacking = run("sql", "select happened_at from calls_readable", "--db", db)
            fine = run("sql", "select count(*) as n from events_readable", "--db", db)
            listed = run("sessions", "--db", db)
        finally:
            os.close(descriptor)
        assert (lacking.exit_code, lacking.stderr.count("\n")) == (2, 1)
        assert (fine.exit_code, fine.stderr.count("\n")) == (0, 1)
        for result in (lacking, fine):
            assert f"of format {version} and could not be written to" in result.stderr
            assert missing in result.stderr
        assert (listed.exit_code, listed.stderr) == (0, "")
        after = run("sql", "select happened_at from calls_readable", "--db", db)
        assert (after.exit_code, after.stderr) == (0, "")
