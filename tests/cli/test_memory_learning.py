"""``ctxlog memory add --from``: a session that is in the log already teaches what it can."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from memory_log import FIRST, KEY_TEXT, memory_log, names
from running import ROOT, data, run
from small_log import said
from test_states import refused

from cli.safetext import display_width
from eventlog.recorded import Draft, StreamKey
from projections import open_log

OLD = StreamKey("local", "agent", "old-0001")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return memory_log(tmp_path)


class TestLearning:
    """A session that was recorded before there was a memory teaches what a chat would have."""

    def test_a_dry_run_says_what_is_learned_and_writes_nothing(self, db: Path) -> None:
        dry = data("memory", "add", "--from", "tuesday-0002", "--dry-run", "--db", db)
        assert names("--db", db) == ["m6", "m3", "m2", "m5"]
        wet = data("memory", "add", "--from", "tuesday-0002", "--db", db)
        assert [row["name"] for row in wet["learned"]] == ["m11", "m12", None]
        texts = [(row["kind"], row["text"]) for row in dry["learned"]]
        assert texts == [(row["kind"], row["text"]) for row in wet["learned"]]
        assert texts[0] == ("fact", "we deploy on Thursdays")
        assert wet["learned"][0]["sources"] == ["local/chat/tuesday-0002@2"]

    def test_what_was_learned_before_is_not_learned_again(self, db: Path) -> None:
        run("memory", "add", "--from", "tuesday-0002", "--db", db)
        before = data("verify", "--db", db)["events"]
        result = run("memory", "add", "--from", "tuesday-0002", "--db", db)
        assert (result.exit_code, result.stdout) == (0, "")
        assert "nothing new learned from tuesday-0002; 3 were known" in result.stderr
        assert data("verify", "--db", db)["events"] == before

    @pytest.mark.parametrize("width", [60, 80, 120])
    def test_no_place_is_cut_where_a_session_has_a_long_name(
        self, tmp_path: Path, width: int
    ) -> None:
        """Without it what has to be typed next stands nowhere."""
        path = tmp_path / "demo.db"
        run("import", ROOT / "cli" / "demo" / "refund-rounding.jsonl", "--db", path)
        wide = ["--width", str(width), "--db", path]
        told = run("memory", "add", "--from", "8f31", *wide)
        assert "things learned from 8f31c0a9" in told.stderr
        assert "  from 8f31c0a9@3\n" in told.stdout
        last = int(data("memory", "list", "--db", path)["memories"][0]["name"].removeprefix("m"))
        texts = {
            "add": told.stdout,
            "show": run("memory", "show", f"m{last}", *wide).stdout,
            "graph": run("memory", "graph", *wide).stdout,
            "redact": run("redact", "8f31", "3", "--dry-run", *wide).stdout,
            "list": run("memory", "list", *wide).stdout,
        }
        for name, text in texts.items():
            assert max(map(display_width, text.splitlines())) <= width, name
            subjects = text.count("subject ")  # of a summary it is the session
            assert text.count("local/claude-code/8f31c0a9-") <= subjects, name
        sources = data("memory", "show", f"m{last}", "--db", path)["sources"]
        for source in sources:
            assert f"8f31c0a9@{source['position']} " in texts["show"]
        assert "@150 · context compacted · reference of 3" in texts["redact"]
        shown = " ".join(texts["show"].split())
        for entity in data("memory", "show", f"m{last}", "--db", path)["entities"]:
            assert f"{entity['name']} ({entity['kind']})" in shown

    def test_what_was_said_long_ago_is_as_old_as_that(self, db: Path) -> None:
        with open_log(db) as live:
            live.append(
                OLD,
                Draft(said("user", "Hello"), occurred_at="2019-03-01T10:00:00Z"),
                Draft(
                    said("user", "Remember that we ship on Mondays"),
                    occurred_at="2020-03-01T10:00:00Z",
                ),
            )
        result = run("memory", "add", "--from", "old-0001", "--dry-run", "--db", db)
        assert "of them are expired already, and are forgotten by the next gc" in result.stderr
        learned = data("memory", "add", "--from", "old-0001", "--db", db)
        assert learned["expired"] == 2, "the fact, and the summary"
        name = learned["learned"][0]["name"]
        shown = data("memory", "show", name, "--db", db)
        assert shown["memory"]["remembered_at"] == "2020-03-01T10:00:00.000Z"
        assert shown["memory"]["status"] == "expired"
        again = data("memory", "add", "--from", "old-0001", "--db", db)
        assert (again["learned"], again["expired"]) == ([], 0)
        gone = data("memory", "gc", "--db", db)["forgotten"]
        assert name in [row["memory"]["name"] for row in gone]

    def test_it_is_learned_for_the_person_who_is_named(self, db: Path) -> None:
        found = data("memory", "add", "--from", "tuesday-0002", "--user", "cleo", "--db", db)
        assert found["user"] == "cleo"
        assert len(names("--user", "cleo", "--db", db)) == 2

    def test_what_looks_like_a_key_is_left_out_unless_it_is_forced(self, db: Path) -> None:
        with open_log(db) as live:
            live.append(FIRST, said("user", f"Remember: the key is {KEY_TEXT}"))
        found = data("memory", "add", "--from", "monday-0001", "--db", db)
        assert found["withheld"] > 0
        assert KEY_TEXT not in json.dumps(found)
        forced = data("memory", "add", "--from", "monday-0001", "--force", "--db", db)
        assert KEY_TEXT in json.dumps(forced)

    @pytest.mark.parametrize(
        ("args", "told", "code"),
        [
            ([], "give a TEXT, or --from S", 2),
            (["x", "--dry-run"], "--dry-run goes with --from", 2),
            (["x", "--from", "monday-0001"], "learns by itself", 2),
            (["--from", "monday-0001", "--importance", "0"], "learns by itself", 2),
            (["--from", "monday-0001@2"], "whole sessions are learned from", 2),
            (["--from", "nosuch"], "no session 'nosuch'", 3),
            (["--from", "local/_/memory"], "is what is remembered already", 2),
        ],
    )
    def test_a_slip_is_told(self, db: Path, args: list[str], told: str, code: int) -> None:
        assert told in refused("memory", "add", *args, "--db", db, code=code)
