"""Commands that bring in, write out, prove and erase."""

from __future__ import annotations

import json
import shlex
import shutil
import sqlite3
from pathlib import Path

import pytest
from running import ROOT, data, on_path, run
from small_log import KEY, said, small_log

from eventlog import EventLog
from eventlog.integrity import head
from harness.memory import UserMemory
from projections import open_log

NAME = "refunds-0001"
BUNDLED = ROOT / "cli" / "demo" / "refund-rounding.jsonl"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


def talk(folder: Path, *texts: str) -> Path:
    path = folder / "talk.json"
    path.write_text(json.dumps([{"role": "user", "content": text} for text in texts]))
    return path


class TestImport:
    """An import is run by a timer for months: twice must be once, and nothing may go in silence."""

    def test_a_second_import_adds_nothing(self, tmp_path: Path) -> None:
        db = tmp_path / "i.db"
        first = data("import", BUNDLED, "--db", db)
        before = data("head", "--db", db)
        second = data("import", BUNDLED, "--db", db)
        assert (first["known"], second["new"]) == (0, 0)
        assert second["known"] == first["new"] > 200
        assert data("head", "--db", db) == before

    def test_a_grown_file_adds_what_is_new(self, tmp_path: Path) -> None:
        db, path = tmp_path / "i.db", talk(tmp_path, "one")
        data("import", path, "--db", db)
        talk(tmp_path, "one", "two")
        assert data("import", path, "--db", db)["new"] == 1

    def test_a_dry_run_changes_nothing_and_says_the_same(self, tmp_path: Path) -> None:
        db, path = tmp_path / "i.db", talk(tmp_path, "one")
        dry = data("import", path, "--dry-run", "--db", db)
        assert dry["dry_run"]
        assert not db.exists()
        wet = data("import", path, "--db", db)
        assert (dry["new"], dry["files"]) == (wet["new"], wet["files"])
        talk(tmp_path, "one", "two")
        before = head_of(db)
        assert data("import", path, "--dry-run", "--db", db)["new"] == 1
        assert head_of(db) == before

    @pytest.mark.parametrize("name", ["a#b.db", "a?mode=rwc.db", "a%23b.db", "ü b.db"])
    def test_a_dry_run_reads_the_log_that_was_named(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "of").mkdir()
        db, path = tmp_path / "of" / name, talk(tmp_path, "one")
        data("import", path, "--db", db)
        dry = data("import", path, "--dry-run", "--db", db)
        assert (dry["new"], dry["known"]) == (0, 2)
        assert all(file.name.startswith(name) for file in (tmp_path / "of").iterdir())

    def test_standard_input_needs_a_name(self, tmp_path: Path) -> None:
        db = tmp_path / "i.db"
        text = '[{"role": "user", "content": "hello"}]'
        assert run("import", "-", "--db", db, input=text).exit_code == 2
        result = run("import", "-", "--session", "mine", "--user", "ann", "--db", db, input=text)
        assert result.exit_code == 0, result.output
        assert data("sessions", "--db", db)["sessions"][0]["key"] == "ann/openai-chat/mine"

    def test_a_torn_line_waits_and_final_takes_it(self, tmp_path: Path) -> None:
        db, path = tmp_path / "i.db", tmp_path / "torn.jsonl"
        whole = BUNDLED.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(whole[:4]) + whole[4][:100])
        waiting = data("import", path, "--db", db)
        assert waiting["pending"] > 0
        taken = run("import", path, "--final", "--db", db, "--json")
        assert taken.exit_code == 1  # a part of it is unreadable, and that is said
        assert json.loads(taken.stdout)["data"]["unreadable"] == 1

    def test_what_is_no_transcript_is_refused_in_one_line(self, tmp_path: Path) -> None:
        noise = tmp_path / "noise.jsonl"
        noise.write_text('{"a": 1}\n')
        result = run("import", noise, "--db", tmp_path / "i.db")
        assert result.exit_code == 2
        assert "not imported" in result.stderr
        other = tmp_path / "other.json"
        other.write_text('{"b": 1}')
        both = run("import", noise, other, BUNDLED, "--db", tmp_path / "i.db")
        assert both.exit_code == 1
        assert both.stderr.count("not imported: ") == 2
        assert both.stderr.count("importable are claude-code, codex") == 1
        assert "229 new" in both.stdout

    def test_each_session_stands_below_the_file_that_it_came_from(self, tmp_path: Path) -> None:
        folder = tmp_path / "of"
        (folder / "deep").mkdir(parents=True)
        line = json.dumps([{"role": "user", "content": "hi"}])
        (folder / "deep" / "a.jsonl").write_text(f"{line}\n{line}\n")
        (folder / "b.jsonl").write_text(line)
        lines = run("import", folder, "--db", tmp_path / "i.db").stdout.splitlines()
        assert [lines[n] for n in (0, 2)] == ["b.jsonl", "deep/a.jsonl"]
        assert ["new" in each for each in lines] == [False, True, False, True, True, True]
        for row in data("sessions", "--db", tmp_path / "i.db")["sessions"]:
            assert row["file"] in ("a.jsonl", "b.jsonl")
            assert (
                f"file           {row['file']}"
                in run("stats", row["key"], "--db", tmp_path / "i.db").stdout
            )
        one = run("import", folder / "b.jsonl", "--db", tmp_path / "j.db").stdout
        assert "b.jsonl" not in one

    def test_all_finds_what_the_agents_left(self, tmp_path: Path) -> None:
        project = tmp_path / ".claude" / "projects" / "-home-dev-shop"
        project.mkdir(parents=True)
        shutil.copy(BUNDLED, project)
        env = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": ""}
        assert data("import", "--all", "--db", tmp_path / "i.db", **env)["new"] == 229

    def test_all_without_any_agent_says_so(self, tmp_path: Path) -> None:
        result = run("import", "--all", "--db", tmp_path / "i.db", HOME=str(tmp_path))
        assert result.exit_code == 2
        assert "found" in result.stderr

    def test_a_missing_path_makes_no_log(self, tmp_path: Path) -> None:
        assert run("import", tmp_path / "none", "--db", tmp_path / "i.db").exit_code == 2

    def test_an_empty_folder_is_told_and_is_no_error(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        result = run("import", tmp_path / "empty", "--db", tmp_path / "i.db")
        assert result.exit_code == 0
        assert f"no transcript in {tmp_path / 'empty'}" in result.stderr
        assert ".jsonl" in result.stderr

    @pytest.mark.parametrize("given", ["[]", '{"messages": []}'])
    def test_what_holds_no_message_is_no_session(self, tmp_path: Path, given: str) -> None:
        path = tmp_path / "empty.json"
        path.write_text(given)
        result = run("import", path, "--db", tmp_path / "log.db")
        assert (result.exit_code, result.stdout) == (0, "0 sessions, 0 new events, 0 known\n")
        assert "it holds no message, so there is no session" in result.stderr

    def test_a_number_of_millions_of_digits_is_refused_in_our_words(self, tmp_path: Path) -> None:
        path = tmp_path / "long.json"
        path.write_text(
            f'{{"messages": [{{"role": "user", "content": "a", "n": {"9" * 5_000_000}}}]}}'
        )
        result = run("import", path, "--db", tmp_path / "log.db")
        assert result.exit_code == 2
        assert "not JSON (an integer of more than 4,300 digits)" in result.output
        assert "set_int_max" not in result.output

    def test_a_file_that_is_not_of_the_named_format_is_an_error(self, tmp_path: Path) -> None:
        noise = tmp_path / "noise.jsonl"
        noise.write_text('{"a": 1}\n' * 5)
        result = run("import", noise, "--format", "claude-code", "--db", tmp_path / "i.db")
        assert result.exit_code == 2
        assert "exports of ctxlog" in result.stderr

    def test_what_waits_is_told_with_what_takes_it(self, tmp_path: Path) -> None:
        db, path = tmp_path / "i.db", tmp_path / "torn.jsonl"
        whole = BUNDLED.read_bytes().splitlines(keepends=True)
        answer = next(n for n, line in enumerate(whole) if b'"type":"assistant"' in line)
        path.write_bytes(b"".join(whole[: answer + 1]))
        result = run("import", path, "--width", "60", "--db", db)
        assert "waiting for the rest of their file (--final takes them)" in result.stdout
        assert result.stdout.splitlines()[0].endswith("1 waiting  8f31c0a9")

    def test_an_unknown_format_is_refused(self, tmp_path: Path) -> None:
        result = run("import", BUNDLED, "--format", "word", "--db", tmp_path / "i.db")
        assert result.exit_code == 2


def head_of(path: Path) -> str:
    with EventLog(path, read_only=True) as log:
        return head(log)


class TestExport:
    """A log that cannot be taken elsewhere whole is a trap."""

    @pytest.mark.parametrize("way", ["file", "standard input"])
    def test_it_is_imported_again_with_the_same_head(
        self, db: Path, tmp_path: Path, way: str
    ) -> None:
        out, copy = tmp_path / "log.jsonl", tmp_path / "copy.db"
        assert run("export", "--all", "--out", out, "--db", db).exit_code == 0
        assert out.read_bytes().isascii()
        if way == "file":
            answer = run("import", out, "--db", copy)
        else:
            answer = run("import", "-", "--db", copy, input=out.read_bytes())
        assert answer.exit_code == 0, answer.output
        assert head_of(copy) == head_of(db)
        assert data("sessions", "--db", copy) == data("sessions", "--db", db)
        again = data("import", out, "--db", copy)
        assert (again["new"], again["known"]) == (0, 28)
        sessions = {row["key"]: row for row in data("sessions", "--db", db)["sessions"]}
        counted = {s["key"]: s["known"] for f in again["files"] for s in f["sessions"]}
        assert counted == {key: row["events"] for key, row in sessions.items()}

    def test_it_is_the_same_on_stdout_and_in_a_file(self, db: Path, tmp_path: Path) -> None:
        out = tmp_path / "log.jsonl"
        run("export", NAME, "--out", out, "--db", db)
        assert run("export", NAME, "--db", db).stdout == out.read_text()
        assert out.stat().st_mode & 0o777 == 0o600

    def test_a_changed_export_is_refused_whole(self, db: Path, tmp_path: Path) -> None:
        out, copy = tmp_path / "log.jsonl", tmp_path / "copy.db"
        run("export", "--all", "--out", out, "--db", db)
        out.write_text(out.read_text().replace("ORD-77120", "ORD-77121"))
        result = run("import", out, "--db", copy)
        assert result.exit_code == 4
        assert data("sessions", "--db", copy)["sessions"] == []

    def test_the_conversation_comes_out_as_if_nothing_had_been_compacted(self, db: Path) -> None:
        body = json.loads(run("export", NAME, "--format", "openai", "--db", db).stdout)
        said_there = [message["content"] for message in body["messages"]]
        assert said_there[1] == "Never touch migrations. The order is ORD-77120."
        assert said_there[3].startswith("FAILED")
        assert not any("Summary" in text for text in said_there)
        assert "A wrong turn." not in said_there  # rewound by the person

    def test_markdown_cannot_be_left_by_what_it_holds(self, tmp_path: Path) -> None:
        path = tmp_path / "m.db"
        with open_log(path) as live:
            live.append("a/b/c", said("user", "```\n# not a heading\n````\n<script>"))
        text = run("export", "c", "--format", "markdown", "--db", path).stdout
        assert "`````text\n" in text

    @pytest.mark.parametrize("command", [["export", "--all"], ["replay", NAME]])
    def test_a_file_needs_a_name_and_is_no_folder(
        self, db: Path, tmp_path: Path, command: list[str]
    ) -> None:
        for name, why in (("", "is empty"), (str(tmp_path), "is a folder")):
            refused = run(*command, "--out", name, "--force", "--db", db)
            assert refused.exit_code == 2
            assert why in refused.stderr

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
    def test_a_full_disk_names_the_file(self, db: Path) -> None:
        refused = run("export", "--all", "--out", "/dev/full", "--force", "--db", db)
        assert refused.exit_code == 5
        assert "No space left on device: /dev/full" in refused.stderr

    def test_a_folder_that_is_not_there_is_told_by_the_name_that_was_given(
        self, db: Path, tmp_path: Path
    ) -> None:
        out = tmp_path / "none" / "out.jsonl"
        refused = run("export", "--all", "--out", out, "--db", db)
        assert str(out) in refused.stderr
        assert ".part" not in refused.stderr

    def test_it_says_what_it_needs(self, db: Path) -> None:
        assert run("export", NAME, "--all", "--db", db).exit_code == 2
        assert run("export", NAME, "--json", "--db", db).exit_code == 2


class TestFork:
    """To try another way from an earlier point, without touching what happened."""

    def test_it_goes_on_with_what_the_call_was_given(self, db: Path) -> None:
        before = data("show", f"{NAME}@c2", "--context", "--db", db)
        made = data("fork", f"{NAME}@c2", "--name", "other", "--db", db)
        assert made["key"] == "ann/bot/other"
        after = data("show", "other", "--context", "--db", db)
        assert [i["rendition"] for i in after["items"]] == [i["rendition"] for i in before["items"]]

    def test_the_first_session_stays_as_it_was(self, db: Path) -> None:
        before = data("stats", NAME, "--db", db)
        assert run("fork", NAME, "--db", db).exit_code == 0
        assert run("fork", NAME, "--db", db).stdout == "ann/bot/refunds-0001.fork2\n"
        assert data("stats", NAME, "--db", db) == before

    def test_what_is_remembered_of_a_person_is_no_session_to_fork(self, db: Path) -> None:
        with open_log(db) as live:
            UserMemory(live, "ada").add("tabs, please")
        for name in ([], ["--name", "mine"]):
            result = run("fork", "ada/_/memory", *name, "--db", db)
            assert result.exit_code == 2
            assert "is no session" in result.stderr
            assert result.stderr.count("\n") == 1

    def test_a_name_that_is_taken_is_refused(self, db: Path) -> None:
        result = run("fork", NAME, "--name", "retry", "--db", db)
        assert result.exit_code == 2
        assert "that name is taken" in result.stderr
        assert result.stderr.count("\n") == 1

    def test_what_to_type_next_can_be_typed(self, db: Path, tmp_path: Path) -> None:
        path = on_path(tmp_path)
        told = run("fork", NAME, "--name", "another try", "--db", db, PATH=path).stderr
        words = shlex.split(told.rpartition("ctxlog ")[2])
        assert data(*words, "--db", db)["key"] == "ann/bot/another try"
        called = run("show", "another try@c1", "--db", db, PATH=path).stdout
        words = shlex.split(called.rpartition("ctxlog ")[2])
        assert data(*words, "--db", db)["ref"] == "c1"


class TestRedact:
    """A secret in a log must go for good, and only when somebody means it."""

    def test_nothing_is_erased_without_a_yes(self, db: Path) -> None:
        before = head_of(db)
        assert run("redact", NAME, "4", "--db", db).exit_code == 2
        assert data("redact", NAME, "4", "--dry-run", "--db", db)["dry_run"]
        assert head_of(db) == before

    def test_the_text_is_gone_and_the_log_still_verifies(self, db: Path) -> None:
        done = data("redact", NAME, "4", "--yes", "--reason", "customer", "--db", db)
        assert done["scrubbed"]
        assert done["calls"] == [f"{KEY}@c1", f"{KEY}@c2", f"{KEY}@c3"]
        assert data("verify", "--db", db)["problems"] == []
        assert b"ORD-77120" not in db.read_bytes()
        assert data("show", f"{NAME}@4", "--db", db)["erased"]
        assert "(erased)" in run("log", NAME, "--db", db).stdout

    def test_a_replay_says_that_a_part_was_erased(self, db: Path) -> None:
        run("redact", NAME, "4", "--yes", "--db", db)
        assert "1 of its items was erased since" in run("replay", f"{NAME}@c1", "--db", db).stderr

    @pytest.mark.parametrize("head", ["", "zzz", "deadbeef"])
    def test_what_is_no_head_is_no_alarm(self, db: Path, head: str) -> None:
        answer = run("verify", "--head", head, "--db", db)
        assert answer.exit_code == 2
        assert "--head takes the 64 digits" in answer.stderr
        assert run("verify", "--head", "0" * 64, "--db", db).exit_code == 4

    def test_it_is_gone_from_forks_too(self, db: Path) -> None:
        run("redact", NAME, "4", "--yes", "--db", db)
        assert "ORD-77120" not in run("show", "retry", "--full", "--db", db).stdout

    def test_copies_are_listed_and_erased_when_asked_for(self, db: Path) -> None:
        listed = data("redact", NAME, "4", "--dry-run", "--db", db)["copies"]
        assert [copy["position"] for copy in listed] == [16]
        done = data("redact", NAME, "4", "--with-copies", "--yes", "--db", db)
        assert {target["position"] for target in done["erased"]} == {4, 16}
        assert data("show", f"{NAME}@16", "--db", db)["erased"]

    def test_a_pattern_is_looked_for_everywhere(self, db: Path) -> None:
        found = data("redact", "--pattern", r"ORD-\d+", "--dry-run", "--db", db)["erased"]
        assert [(target["key"], target["position"]) for target in found] == [(str(KEY), 4)]

    def test_secrets_of_known_shapes_are_found_and_not_shown(self, tmp_path: Path) -> None:
        path, secret = tmp_path / "s.db", "ghp_" + "aB3" * 12
        with open_log(path) as live:
            live.append("a/b/c", said("user", f"my token is {secret}"), said("user", "hello"))
        result = run("redact", "--secrets", "--dry-run", "--db", path)
        assert "github" in result.stdout
        assert secret not in result.output
        assert run("redact", "--secrets", "--yes", "--db", path).exit_code == 0
        assert secret.encode() not in path.read_bytes()

    def test_nothing_to_erase_is_no_error(self, db: Path) -> None:
        result = run("redact", "--pattern", "no such text", "--yes", "--db", db)
        assert result.exit_code == 0
        assert result.stdout == "nothing to erase\n"

    def test_the_import_key_is_dropped_when_asked_for(self, tmp_path: Path) -> None:
        db, path = tmp_path / "i.db", talk(tmp_path, "the pin is 4711")
        run("import", path, "--session", "talk", "--db", db)
        told = run("redact", "talk", "2", "--yes", "--forget-source", "--db", db)
        assert told.exit_code == 0, told.output
        again = run("import", path, "--session", "talk", "--db", db)
        assert again.exit_code == 2
        assert "forgotten" in again.stderr

    def test_what_was_erased_stays_erased_after_another_import(self, tmp_path: Path) -> None:
        db, path = tmp_path / "i.db", talk(tmp_path, "the pin is 4711")
        run("import", path, "--session", "talk", "--db", db)
        told = run("redact", "talk", "2", "--yes", "--db", db)
        assert "--forget-source" in told.stderr
        assert data("import", path, "--session", "talk", "--db", db)["new"] == 0
        assert b"4711" not in db.read_bytes()

    @pytest.mark.parametrize(
        "args",
        [
            ["redact", NAME],
            ["redact", NAME, "4", "--secrets"],
            ["redact", "--pattern", "("],
            ["redact", NAME, "x"],
        ],
    )
    def test_what_is_unclear_is_refused(self, db: Path, args: list[str]) -> None:
        assert run(*args, "--yes", "--db", db).exit_code == 2

    def test_an_item_that_is_not_there_is_not_found(self, db: Path) -> None:
        assert run("redact", NAME, "99", "--yes", "--db", db).exit_code == 3


class TestOneSessionInTwoLogs:
    """Whether a session that was handed on is still the same is asked years later."""

    def test_its_head_goes_along_with_an_export(self, db: Path, tmp_path: Path) -> None:
        file, other = tmp_path / "s.jsonl", tmp_path / "other.db"
        told = run("export", NAME, "--out", file, "--db", db)
        mine = data("head", NAME, "--db", db)
        assert (mine["session"], mine["version"]) == (str(KEY), 26)
        assert f"head {mine['head']} at version 26 of {KEY}" in told.stderr
        run("import", file, "--db", other)
        assert data("head", NAME, "--db", other) == mine
        assert data("head", "--db", other)["head"] != data("head", "--db", db)["head"]
        assert run("head", NAME, "--db", other).stdout == f"{mine['head']}\n"
        checked = data("verify", NAME, "--head", mine["head"], "--db", other)
        assert (checked["session"], checked["session_head"]) == (str(KEY), mine["head"])

    def test_another_session_has_another_head(self, db: Path) -> None:
        mine = data("head", NAME, "--db", db)["head"]
        assert data("head", "retry", "--db", db)["head"] != mine
        result = run("verify", "retry", "--head", mine, "--db", db)
        assert result.exit_code == 4
        assert "not " + mine in result.stdout

    def test_the_head_of_the_log_counts_for_a_session_too(self, db: Path) -> None:
        whole = data("head", "--db", db)["head"]
        assert run("verify", NAME, "--head", whole, "--db", db).exit_code == 0

    def test_an_export_of_all_tells_the_head_of_the_log(self, db: Path, tmp_path: Path) -> None:
        whole = data("head", "--db", db)["head"]
        assert f"head {whole}\n" in run("export", "--all", "--db", db).stderr
        written = data("export", "--all", "--out", tmp_path / "x.jsonl", "--db", db)
        assert written["head"] == whole


class TestVerify:
    """The proof is worth what it finds."""

    @pytest.mark.parametrize("size", [5_000, 20_000])
    def test_a_file_that_was_cut_off_does_not_hold(self, db: Path, size: int) -> None:
        with db.open("r+b") as file:
            file.truncate(size)
        result = run("verify", "--db", db)
        assert result.exit_code == 4
        assert "is damaged" in result.stderr
        assert "ctxlog backup" in result.stderr
        assert "run `ctxlog verify`" not in result.stderr

    def test_a_changed_byte_is_found(self, db: Path) -> None:
        raw = db.read_bytes()
        assert raw.count(b"ORD-77120") == 1
        db.write_bytes(raw.replace(b"ORD-77120", b"ORD-99999"))
        result = run("verify", "--db", db)
        assert result.exit_code == 4
        assert f"{KEY}@4" in result.stdout
        answer = json.loads(run("verify", "--db", db, "--json").stdout)
        assert answer["data"]["problems"][0]["position"] == 4

    def test_a_kept_head_shows_that_the_log_is_the_same(self, db: Path) -> None:
        kept = run("head", "--db", db).stdout.strip()
        assert kept == head_of(db)
        assert run("verify", "--head", kept, "--db", db).exit_code == 0
        assert data("verify", "--head", kept, "--db", db)["appended"] == 0
        raw = sqlite3.connect(db)
        triggers = "select name, sql from sqlite_schema where type = 'trigger'"
        kept_triggers = raw.execute(triggers).fetchall()
        for name, _ in kept_triggers:
            raw.execute(f"drop trigger {name}")
        raw.execute("delete from events where sequence = (select max(sequence) from events)")
        for _, sql in kept_triggers:
            raw.execute(sql)
        raw.commit()
        raw.close()
        assert run("verify", "--db", db).exit_code == 0  # a cut-off end is unseen without a head
        cut = run("verify", "--head", kept, "--db", db)
        assert cut.exit_code == 4
        assert "no earlier state of the log has that head" in cut.stdout

    def test_a_kept_head_stays_good_while_the_log_grows(self, db: Path, tmp_path: Path) -> None:
        kept = run("head", "--db", db).stdout.strip()
        run("pin", NAME, "3", "--db", db)
        run("fork", NAME, "--db", db)
        run("import", talk(tmp_path, "one"), "--db", db)
        run("redact", NAME, "4", "--yes", "--db", db)
        result = run("verify", "--head", kept, "--db", db)
        assert result.exit_code == 0, result.output
        appended = data("verify", "--head", kept, "--db", db)["appended"]
        assert appended == data("head", "--db", db)["events"] - 28
        assert f"the log only grew since the kept head: {appended} events appended" in result.stdout
        assert run("verify", NAME, "--head", kept, "--db", db).exit_code == 0

    def test_the_head_of_a_session_stays_good_while_it_grows(self, db: Path) -> None:
        kept = run("head", NAME, "--db", db).stdout.strip()
        run("pin", NAME, "3", "--db", db)
        run("fork", NAME, "--db", db)
        assert data("verify", NAME, "--head", kept, "--db", db)["appended"] == 1
        answer = run("verify", "retry", "--head", kept, "--db", db)
        assert answer.exit_code == 4
        assert "it is the head of another log" in answer.stdout

    def test_one_session_can_be_verified(self, db: Path) -> None:
        assert data("verify", "retry", "--db", db)["streams"] == 2

    def test_rebuilding_changes_no_answer(self, db: Path) -> None:
        before = data("show", NAME, "--context", "--db", db), head_of(db)
        assert data("rebuild", "--db", db)["events"] == 28
        assert (data("show", NAME, "--context", "--db", db), head_of(db)) == before


class TestDemo:
    """The first minute with the program: it needs no key and no network, and it must not lie."""

    def test_it_names_what_was_lost(self, tmp_path: Path) -> None:
        text = run("demo", "--db", tmp_path / "d.db").stdout
        assert "k1 compacted (auto) ≈14.5k → ≈924 (agent's count: 35.1k)" in text
        for lost in ("ORD-77120", "4f1c9a7be2d05836", "Use httpie, not curl"):
            assert lost in text

    def test_what_it_calls_lost_stood_there_and_is_not_in_the_summary(self, tmp_path: Path) -> None:
        db = tmp_path / "d.db"
        answer = data("demo", "--db", db)
        summary = data("show", f"{answer['key']}@k1", "--db", db)["compaction"]["texts"][0]
        lost = [
            one
            for found in answer["findings"]
            if found["rule"] == "anchors"
            for one in found["anchors"]
        ]
        assert len(lost) > 8
        for one in lost:
            item = data("show", f"last@{one['item']}", "--db", db)["item"]
            told = json.dumps(item, ensure_ascii=False)
            assert one["text"] in told or json.dumps(one["text"])[1:-1] in told
            assert one["text"] not in summary
            for used in one["used"][:1]:
                assert int(used) > 150

    def test_twice_is_fine(self, tmp_path: Path) -> None:
        db = tmp_path / "d.db"
        assert data("demo", "--db", db)["new"] == 229
        again = data("demo", "--db", db)
        assert again["new"] == 0
        assert run("demo", "--db", db).exit_code == 0

    def test_it_leaves_the_persons_own_log_alone(self, db: Path, tmp_path: Path) -> None:
        before = head_of(db)
        env = {"HOME": str(tmp_path), "CTXLOG_DB": str(db)}
        answer = data("demo", **env)
        assert answer["database"] == str(tmp_path / ".cache" / "ctxlog" / "demo" / "ctxlog.db")
        assert head_of(db) == before
