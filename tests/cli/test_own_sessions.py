"""`new`, `resume`, `rename`, `delete`, and how many `sessions` shows."""

from __future__ import annotations

import os
import pty
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from running import data, environment, run
from small_log import KEY, said, small_log

from cli.commands.sessions import LATEST
from eventlog import StreamKey
from eventlog.events import ModelCalled, SessionStarted
from eventlog.glance import glance
from eventlog.integrity import verify
from harness.agent_sessions import Sessions
from projections import open_log
from projections.session_rows import NAME, VERSION, newest

SECRET = "the password of the vault is swordfish"
MINE = StreamKey("local", "chat", "mine")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A session of one's own, in which a secret was said."""
    path = tmp_path / "own.db"
    with open_log(path, durability="normal") as live:
        key = Sessions(live).create("Be brief.", id="mine")
        live.append(key, said("user", SECRET), said("assistant", "I forget it."))
    return path


def titles(db: Path, *more: str) -> dict[str, str]:
    return {row["key"]: row["title"] for row in data("sessions", *more, "--db", db)["sessions"]}


def on_a_terminal(db: Path, *args: str, typing: str) -> tuple[int, str]:
    """A command line with a real terminal; what it shows there, and its exit code."""
    ours, theirs = pty.openpty()
    os.write(ours, typing.encode())
    with subprocess.Popen(
        [sys.executable, "-m", "cli.main", *args, "--db", str(db)],
        env=environment(db.parent),
        cwd=db.parent,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        shown, _ = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    return process.returncode, shown.decode()


class TestNew:
    """Without these a session begins under a name by which nobody can call it."""

    def test_it_begins_with_the_system_prompt_of_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "prompt.txt").write_text("\ufeffBe brief.\n")
        db = tmp_path / "new.db"
        made = data("new", "--system", f"@{tmp_path}/prompt.txt", "--title", "Kiln", "--db", db)
        assert (made["title"], made["version"]) == ("Kiln", 2)
        with open_log(db) as live:
            assert live.messages(made["key"]) == [{"role": "system", "content": "Be brief.\n"}]
            assert made["key"].startswith("local/chat/")

    def test_its_name_is_an_argument_or_an_option(self, own: Path) -> None:
        for more in (["one"], ["--name", "two"], ["--id", "three"]):
            assert run("new", *more, "--db", own).exit_code == 0
        assert {f"local/chat/{name}" for name in ("one", "two", "three")} < set(titles(own))
        both = run("new", "four", "--id", "five", "--db", own)
        assert (both.exit_code, "either NAME or --name" in both.stderr) == (2, True)
        assert run("new", "", "--db", own).exit_code == 2
        taken = run("new", "one", "--db", own)
        assert (taken.exit_code, "choose another NAME" in taken.stderr) == (2, True)

    def test_an_id_that_is_taken_is_told(self, own: Path) -> None:
        result = run("new", "--id", "mine", "--db", own)
        assert result.exit_code == 2
        assert "that id is taken: local/chat/mine exists" in result.stderr
        assert run("new", "--id", "mine", "--agent", "other", "--db", own).exit_code == 0

    @pytest.mark.parametrize(
        ("args", "why"),
        [
            (["--id", "last"], "would be read as"),
            (["--id", "a\nb"], "is not a session name"),
            (["--title", "a\x1b[2J"], "that is no title: it holds characters"),
            (["--title", "x" * 201], "over 200"),
            (["--agent", "a/b"], "holds no '/'"),
            (["--system", "@"], "the name of the file to read is empty"),
            (["--system", "@{folder}"], "it is a folder"),
            (["--system", "@{folder}/missing"], "No such file"),
            (["--system", "@{folder}/pipe"], "no regular file"),
            (["--system", "@{folder}/latin"], "no UTF-8"),
            (["--system", "@{folder}/long"], "more than 1,048,576 bytes"),
            (["--system", "@a\0b"], "null byte"),
        ],
    )
    def test_what_cannot_be_taken_is_one_line_and_leaves_no_session(
        self, tmp_path: Path, own: Path, args: list[str], why: str
    ) -> None:
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "latin").write_bytes(b"\xff\xfe\xfd")
        (tmp_path / "long").write_bytes(b"x" * ((1 << 20) + 1))
        result = run("new", *(arg.format(folder=tmp_path) for arg in args), "--db", own)
        assert result.exit_code == 2
        assert why in result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert list(titles(own)) == [str(MINE)]


class TestRenameAndResume:
    """Without these a conversation is not found again, or not gone on with."""

    def test_a_session_is_found_by_its_new_title(self, db: Path) -> None:
        result = run("rename", "refunds", "One cent\n too much", "--db", db)
        assert result.exit_code == 0
        assert "before: Refunds" in result.stderr
        assert data("stats", "One cent too much", "--db", db)["key"] == str(KEY)

    def test_a_title_that_is_the_name_of_another_session_is_told(self, db: Path) -> None:
        for title in ("refunds-0001", "refu", "ann/bot/refunds-0001"):
            result = run("rename", "retry", title, "--db", db)
            assert result.exit_code == 0
            assert f"that means {KEY}: a name is an id first" in result.stderr
        for title in ("retry", "another try"):
            result = run("rename", "retry", title, "--db", db)
            assert "an id first" not in result.stderr
        assert run("rename", "refunds-0001", "another try", "--db", db).exit_code == 0

    @pytest.mark.parametrize("title", ["", " ", "a\tb\x07", "\u202e"])
    def test_what_is_no_title_is_refused(self, db: Path, title: str) -> None:
        result = run("rename", "refunds", title, "--db", db)
        assert result.exit_code == 2
        assert "that is no title" in result.stderr

    def test_a_place_in_a_session_is_no_session(self, db: Path) -> None:
        for command in (["rename", "retry@3", "x"], ["delete", "retry@3"], ["resume", "retry@c1"]):
            result = run(*command, "--db", db)
            assert result.exit_code == 2
            assert "without @" in result.stderr

    def test_a_deleted_session_is_in_no_list_until_it_is_resumed(self, own: Path) -> None:
        assert run("delete", "mine", "--db", own).exit_code == 0
        assert titles(own) == {}
        assert list(titles(own, "--deleted")) == [str(MINE)]
        assert "was deleted before" in run("delete", "mine", "--db", own).stdout
        result = run("resume", "mine", "--db", own)
        assert "it was deleted, and is there again" in result.stderr
        assert list(titles(own)) == [str(MINE)]

    def test_the_log_tells_the_deletion_and_the_return_but_no_other_resumption(
        self, own: Path
    ) -> None:
        run("resume", "mine", "--db", own)
        run("delete", "mine", "--reason", "a trial", "--db", own)
        run("resume", "mine", "--db", own)
        told = ["session deleted a trial", "session resumed: kept permissions: ask"]
        for more in ([], ["-n", "2"], ["--range", "5-"]):
            rows = data("log", "mine", *more, "--db", own)["rows"]
            assert [row["preview"] for row in rows][-2:] == told
            assert sum(row["type"] == "session_resumed" for row in rows) == 1
        typed = data("log", "mine", "--type", "session_resumed", "--db", own)["rows"]
        assert len(typed) == 2

    def test_a_session_of_another_program_is_forked_first(self, tmp_path: Path) -> None:
        db = tmp_path / "seen.db"
        with open_log(db) as live:
            live.append("u/a/theirs", SessionStarted(ownership="observed"), said("user", "hi"))
        result = run("resume", "theirs", "--db", db)
        assert result.exit_code == 2
        assert "fork it" in result.stderr


class TestDelete:
    """Without these a word too many in a script erases a year."""

    def test_a_terminal_is_asked_and_a_no_changes_nothing(self, own: Path) -> None:
        code, shown = on_a_terminal(own, "delete", "mine", typing="n\n")
        assert code == 1
        assert "delete it?" in shown
        assert "(2 messages)" in shown
        assert "nothing was changed" in shown
        assert list(titles(own)) == [str(MINE)]

    def test_a_purge_asks_for_a_yes_and_for_the_id(self, own: Path) -> None:
        code, shown = on_a_terminal(own, "delete", "mine", "--purge", typing="y\nyours\n")
        assert code == 2
        assert "confirmed with the id of the session, 'mine'" in shown
        assert SECRET.encode() in own.read_bytes()
        code, shown = on_a_terminal(own, "delete", "mine", "--purge", typing="y\nmine\n")
        assert code == 0
        assert "purged, 4 events erased" in shown
        assert SECRET.encode() not in own.read_bytes()
        with open_log(own) as live:
            assert verify(live.log).ok

    @pytest.mark.parametrize("more", [[], ["--yes"], ["--confirm", "mine"]])
    def test_where_nobody_can_be_asked_both_are_said(self, own: Path, more: list[str]) -> None:
        result = run("delete", "mine", "--purge", *more, "--db", own)
        assert result.exit_code == 2
        assert "--yes and --confirm" in result.stderr
        assert list(titles(own)) == [str(MINE)]

    def test_another_id_confirms_nothing(self, own: Path) -> None:
        both = ["--purge", "--yes", "--confirm", "min"]
        assert run("delete", "mine", *both, "--db", own).exit_code == 2
        assert run("delete", "mine", "--confirm", "mine", "--db", own).exit_code == 2
        assert list(titles(own)) == [str(MINE)]

    def test_living_forks_are_named_before_anything_is_asked(self, own: Path) -> None:
        run("fork", "mine", "--name", "other", "--db", own)
        code, shown = on_a_terminal(own, "delete", "mine", "--purge", typing="y\nmine\n")
        assert code == 2
        assert "forks of it live: local/chat/other" in shown
        assert "for good?" not in shown
        json_error = run("delete", "mine", "--purge", "--json", "--db", own)
        assert '"forks_alive"' in json_error.stderr
        assert SECRET.encode() in own.read_bytes()

    def test_a_purge_waits_for_a_call_that_has_no_end_unless_it_is_forced(self, own: Path) -> None:
        both = ["--purge", "--yes", "--confirm", "mine"]
        with open_log(own) as live:
            live.append(MINE, ModelCalled(model="m", dialect="openai_chat"))
        result = run("delete", "mine", *both, "--db", own)
        assert result.exit_code == 2
        assert "may still be answering in local/chat/mine: a call" in result.stderr
        assert "--force" in result.stderr
        assert SECRET.encode() in own.read_bytes()
        assert run("delete", "mine", "--force", "--db", own).exit_code == 2
        assert run("delete", "mine", *both, "--force", "--db", own).exit_code == 0
        assert SECRET.encode() not in own.read_bytes()
        assert "was purged before" in run("delete", "mine", *both, "--db", own).stdout

    def test_a_purged_session_has_nothing_left_to_resume(self, own: Path) -> None:
        both = ["--purge", "--yes", "--confirm", "mine", "--reason", "asked to"]
        assert data("delete", "mine", *both, "--db", own)["erased"] == 4
        assert "was purged before" in run("delete", "mine", *both, "--db", own).stdout
        result = run("resume", "mine", "--db", own)
        assert result.exit_code == 2
        assert "was purged" in result.stderr


class TestHowMany:
    """Without these ten thousand lines run by, or nobody notices what was left out."""

    @pytest.fixture
    def many(self, tmp_path: Path) -> Path:
        path = tmp_path / "many.db"
        with open_log(path, durability="normal") as live:
            for number in range(LATEST + 2):
                live.append(StreamKey("u", "ab"[number % 2], f"s{number:03}"), said("user", "hi"))
        return path

    def test_the_newest_fifty_are_shown_and_the_rest_is_counted(self, many: Path) -> None:
        for _ in range(2):  # the first look folds, the second is a glance
            result = run("sessions", "--db", many)
            lines = result.stdout.splitlines()
            assert len(lines) == 1 + LATEST
            assert lines[1].startswith("s051")
            assert "2 older: -n N, or --all" in result.stderr
        assert len(run("sessions", "--all", "--db", many).stdout.splitlines()) == 3 + LATEST
        few = run("sessions", "-n", "3", "--agent", "a", "--db", many)
        assert [line.split()[0] for line in few.stdout.splitlines()[1:]] == ["s050", "s048", "s046"]
        assert "23 older" in few.stderr

    def test_json_has_all_of_them_and_how_many_there_are(self, many: Path) -> None:
        found = data("sessions", "--db", many)
        assert (len(found["sessions"]), found["total"]) == (LATEST + 2, LATEST + 2)
        found = data("sessions", "-n", "2", "--db", many)
        assert (len(found["sessions"]), found["total"]) == (2, LATEST + 2)

    def test_the_welcome_counts_what_it_does_not_show(self, many: Path) -> None:
        result = run("--db", many)
        assert len(result.stdout.splitlines()) == 11
        assert f"{LATEST + 2 - 10} more:" in result.stderr

    def test_a_slip_in_an_agent_is_told_in_both_ways(self, many: Path) -> None:
        for _ in range(2):
            result = run("sessions", "--agent", "c", "--db", many)
            assert result.exit_code == 2
            assert "no session of an agent 'c'; there are a, b" in result.stderr
        assert run("sessions", "--all", "-n", "3", "--db", many).exit_code == 2

    def test_a_deleted_one_says_so_and_goes_by_its_whole_id(self, many: Path) -> None:
        run("delete", "s051", "--db", many)
        for _ in range(2):
            shown = run("sessions", "--deleted", "-n", "2", "--db", many).stdout.splitlines()
            assert shown[1].startswith("s051 ")
            assert shown[1].endswith("(deleted) hi")
            assert "(deleted)" not in shown[2]
        assert data("stats", "s051", "--db", many)["key"] == "u/b/s051"

    def test_two_deleted_ones_of_one_id_go_by_their_keys(self, many: Path) -> None:
        with open_log(many) as live:
            live.append("u/c/s051", said("user", "hi"))
        for key in ("u/b/s051", "u/c/s051"):
            assert run("delete", key, "--db", many).exit_code == 0
        rows = run("sessions", "--deleted", "-n", "2", "--db", many).stdout.splitlines()[1:]
        assert {row.split()[0] for row in rows} == {"u/b/s051", "u/c/s051"}

    def test_what_prompt_tests_asked_is_counted_and_listed_on_request(self, many: Path) -> None:
        with open_log(many) as live:
            for name in ("t1", "t2", "t2.judge1"):
                live.append(StreamKey("local", "prompt-test", name), said("user", "hi"))
        for _ in range(2):
            result = run("sessions", "-n", "1", "--db", many)
            assert result.stdout.splitlines()[1].startswith("s051")
            assert f"{LATEST + 1} older" in result.stderr
            assert "3 of prompt tests: --agent prompt-test" in result.stderr
            asked = run("sessions", "--agent", "prompt-test", "--db", many)
            assert len(asked.stdout.splitlines()) == 4
            assert "of prompt tests" not in asked.stderr
            every = run("sessions", "--all", "--db", many)
            assert len(every.stdout.splitlines()) == 1 + LATEST + 2 + 3
        assert data("sessions", "--db", many)["total"] == LATEST + 5
        some = data("sessions", "-n", "1", "--db", many)
        assert (some["total"], some["prompt_tests"]) == (LATEST + 2, 3)
        assert data("stats", "last", "--db", many)["key"] == "u/b/s051"

    def test_who_writes_leaves_a_list_that_is_a_glance(self, db: Path) -> None:
        run("rename", "refunds", "Late refunds", "--db", db)
        with glance(db, NAME, VERSION) as seen:
            assert seen is not None
            assert "Late refunds" in [row.title for row in newest(seen.execute)]

    def test_rows_that_are_damaged_are_told_and_made_anew(self, db: Path) -> None:
        shown = run("sessions", "--db", db).stdout
        with sqlite3.connect(db) as spoiled:
            spoiled.execute("drop table sessions")
        spoiled.close()
        result = run("sessions", "--db", db)
        assert result.exit_code == 5
        assert "is damaged: no such table" in result.stderr
        assert run("rebuild", "--db", db).exit_code == 0
        assert run("sessions", "--db", db).stdout == shown

    def test_a_glance_shows_what_an_open_log_shows(self, db: Path) -> None:
        first = run("sessions", "--db", db).stdout
        assert run("sessions", "--db", db).stdout == first
        with open_log(db) as live:
            live.append(KEY, said("user", "more"))
        assert run("sessions", "--db", db).stdout != first
