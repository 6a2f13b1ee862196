"""What is remembered of a person on the command line: in no list of sessions, and by its full key
shown, searched, exported, erased."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import data, run
from shown_memories import (
    FIRST,
    LATER,
    MEMORY,
    SPACES,
    TABS,
    USER,
    called,
    remember,
    remembered,
    said,
    shows,
)

from cli.completing import items, of_session, session_names
from cli.options import Settings
from eventlog import events
from eventlog.jsonvalue import Json
from harness.agent_sessions import Sessions
from projections import open_log
from projections.memory.table import Memories

KEY = str(MEMORY)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A session, memory 1 that came from it, and a session that showed it."""
    path = tmp_path / "log.db"
    with open_log(path, durability="normal") as live:
        remember(live)
    return path


def log(db: Path, *more: events.Event) -> None:
    with open_log(db, durability="normal") as live:
        live.append(MEMORY, *more)


class TestLists:
    """A memory that is listed as a session is the newest one after each answer."""

    def test_it_is_no_session(self, db: Path) -> None:
        log(db, remembered(SPACES))
        assert [row["key"] for row in data("sessions", "--db", db)["sessions"]] == [
            str(LATER),
            str(FIRST),
        ]
        assert data("sessions", "--db", db)["total"] == 2
        assert "memory" not in run("sessions", "--db", db).stdout
        assert "_/memory" not in run("--db", db).stdout
        assert run("sessions", "--agent", "_", "--db", db).exit_code == 2
        assert data("stats", "last", "--db", db)["key"] == str(LATER)
        with open_log(db) as live:
            assert [each.key for each in Sessions(live, USER, "coder").list()] == [LATER, FIRST]
            assert Sessions(live, USER, "_").list() == []

    def test_nothing_but_its_full_key_names_it(self, db: Path) -> None:
        for name in ("memory", "memo", "last~2", "_/memory", "(no title)", "Ada wants tabs"):
            assert run("log", name, "--db", db).exit_code == 3, name
        assert data("log", KEY, "--db", db)["key"] == KEY
        log(db, events.SessionTitled(title="of Ada"))
        assert run("log", "of Ada", "--db", db).exit_code == 3
        with open_log(db, durability="normal") as live:
            live.append("ann/coder/memory", said("a session of that name"))
        assert data("log", "memory", "--db", db)["key"] == "ann/coder/memory"
        names = [row.split()[0] for row in run("sessions", "--db", db).stdout.splitlines()[1:]]
        assert names == ["memory", "later", "first"]

    def test_a_shell_proposes_it_for_no_session_and_its_places_behind_it(self, db: Path) -> None:
        settings = Settings(db=db)
        assert session_names(settings, "") == ["last", "first", "later"]
        assert session_names(settings, "m") == session_names(settings, "ann/_") == []
        log(db, remembered(SPACES))
        assert of_session(settings, KEY, "", items) == ["2", "1"]

    def test_all_sessions_are_compared_and_audited_without_it(self, db: Path) -> None:
        audited = json.loads(run("audit", "--all", "--json", "--db", db).stdout)["data"]
        assert [each["key"] for each in audited["sessions"]] == [str(LATER), str(FIRST)]
        compared = data("compare", "--all", "--strategy", "none", "--db", db)
        assert compared["sessions"] == [str(LATER)]

    def test_an_export_to_read_holds_conversations_alone(self, db: Path) -> None:
        text = run("export", "--all", "--format", "markdown", "--db", db).stdout
        assert KEY not in text
        assert "please use tabs" in text


class TestByItsKey:
    """Nothing of the log is out of reach."""

    def test_log_has_a_row_for_each_event(self, db: Path) -> None:
        log(db, events.MemoryForgotten(memory=1, reason="no more"), events.MemoryRestored(memory=1))
        lines = run("log", KEY, "--db", db).stdout.splitlines()
        assert lines == [
            f"remembered: 3 events · {KEY}",
            f" – 1 remembered: {TABS}",
            " – 2 m1 forgotten (asked) no more",
            " – 3 m1 restored",
        ]

    def test_show_tells_what_a_memory_is_and_where_it_came_from(self, db: Path) -> None:
        log(
            db,
            events.MemoryRevised(memory=1, text=SPACES, values=Json({"indentation": "spaces"})),
            events.ProfileUpdated(section="basics", values=Json({"name": "Ada"}), by="human"),
        )
        text = run("show", f"{KEY}@1", "--db", db).stdout
        assert "came from  ann/coder/first@2" in text
        assert text.rstrip().endswith(TABS)
        revised = run("show", f"{KEY}@1@2", "--db", db).stdout
        assert revised == run("show", f"{KEY}@2", "--db", db).stdout
        assert "memory     m1@2" in revised
        assert revised.rstrip().endswith(f"{SPACES}\nvalues:\nindentation: spaces")
        assert "name: Ada" in run("show", f"{KEY}@3", "--db", db).stdout
        assert run("show", f"{KEY}@1@3", "--db", db).exit_code == 3
        assert json.loads(run("show", f"{KEY}@1", "--raw", "--db", db).stdout.split("\n\n")[1])

    def test_stats_verify_and_export_take_it_in(self, db: Path, tmp_path: Path) -> None:
        assert data("stats", KEY, "--db", db)["events"] == 1
        before = data("verify", "--db", db)
        assert (before["events"], before["problems"]) == (10, [])
        told = run("verify", "--db", db).stdout
        assert "10 events of 2 sessions, and of what is remembered of 1 person" in told
        out, other = tmp_path / "log.jsonl", tmp_path / "other.db"
        assert run("export", "--all", "--out", out, "--db", db).exit_code == 0
        assert run("import", out, "--db", other).exit_code == 0
        assert data("verify", "--db", other)["head"] == before["head"]
        with open_log(db) as one, open_log(other) as two:
            assert Memories(two, USER).text() == Memories(one, USER).text()
        alone = tmp_path / "memory.jsonl"
        assert run("export", KEY, "--out", alone, "--db", db).exit_code == 0
        assert TABS in alone.read_text()

    def test_search_finds_what_is_remembered(self, db: Path) -> None:
        log(db, events.ProfileUpdated(section="basics", values=Json({"editor": "kakoune"})))
        hits = data("search", "indentation", "--db", db)["hits"]
        assert [(hit["key"], hit["ref"], hit["area"]) for hit in hits] == [
            (str(LATER), "3", "text"),
            (KEY, "1", "memory"),
        ]
        (hit,) = data("search", "kakoune", "--db", db)["hits"]
        assert (hit["ref"], hit["state"]) == ("2", "never")
        assert data("search", "tabs", "--in", "memory", "--user", USER, "--db", db)["count"] == 1
        assert data("search", "tabs", KEY, "--db", db)["count"] == 1
        assert [
            h["key"] for h in data("search", "tabs", "--agent", "coder", "--db", db)["hits"]
        ] == [
            str(LATER),
            str(FIRST),
        ]

    @pytest.mark.parametrize(
        "args",
        [
            ["rename", KEY, "x"],
            ["delete", KEY],
            ["resume", KEY],
            ["fork", KEY],
            ["rewind", f"{KEY}@1"],
            ["chat", KEY, "--model", "m", "--base-url", "http://127.0.0.1:9"],
        ],
    )
    def test_nobody_goes_on_with_it(self, db: Path, args: list[str]) -> None:
        before = data("verify", "--db", db)["head"]
        refused = run(*args, "--db", db, input="hello\n")
        assert refused.exit_code == 2
        assert f"{KEY} is no session" in refused.stderr
        assert data("verify", "--db", db)["head"] == before

    def test_a_purge_erases_all_of_it(self, db: Path) -> None:
        purged = data("delete", KEY, "--purge", "--yes", "--confirm", "memory", "--db", db)
        assert purged["erased"] == 1
        with open_log(db) as live:
            assert [each.is_erased for each in Memories(live, USER).all(standing=False)] == [True]


class TestWhatShowedIt:
    """From where it stood before the model."""

    def test_show_why_and_the_window_name_the_memories(self, db: Path) -> None:
        assert f"shows      m1 of {KEY}" in run("show", "later@3", "--db", db).stdout
        assert f"remembers  m1 of {KEY}, in 3" in run("show", "later@c1", "--db", db).stdout
        assert " ● 3" in (window := run("show", "later@c1", "--context", "--db", db).stdout)
        assert f"memory       [m1] Remembered: {TABS}" in window
        why = run("why", "later", "3", "--db", db).stdout
        assert f"it was put in from memory; it shows m1 of {KEY}" in why
        call = data("show", "later@c1", "--db", db)["call"]
        shown = {
            "item": "3",
            "recalled_at": 4,
            "of": KEY,
            "memories": ["m1"],
            "profile": 0,
            "is_elsewhere": False,
            "left_out": [],
        }
        assert call["memories"] == [shown]
        assert data("show", "later@3", "--db", db)["shows"] == [shown]

    def test_a_revision_says_what_it_shows(self, db: Path) -> None:
        with open_log(db, durability="normal") as live:
            revised = events.MessageRevised(item="3", patch=Json({"content": "Ada"}))
            live.append(LATER, revised, shows("3@8", profile=7))
        why = run("why", "later", "3", "--db", db).stdout
        assert f"it shows the profile of {KEY}" in why
        assert f"shows      the profile of {KEY}" in run("show", "later@3@8", "--db", db).stdout

    def test_audit_proves_from_where(self, db: Path) -> None:
        result = run("audit", "later", "--db", db)
        assert result.exit_code == 0
        said = "c1 was given m1 of ann/_/memory in 3, which came from ann/coder/first@2"
        assert f"info  memories: {said}" in result.stdout
        assert "memory show m1 --user ann" in result.stdout
        (call,) = data("audit", "later", "--db", db)["calls"]
        assert [(m["memory"], m["sources"]) for m in call["memories"]] == [
            ("m1", ["ann/coder/first@2"])
        ]
        log(db, events.MemoryForgotten(memory=1))
        with open_log(db, durability="normal") as live:
            live.append(LATER, called("2-3"), events.ModelResponded(call=8))
        assert run("audit", "later", "--rule", "memories", "--db", db).exit_code == 1


class TestRedact:
    """Whoever asks for it must not have to know how a memory is stored."""

    @pytest.mark.parametrize("named", [[f"{KEY}@1"], [KEY, "1"], [KEY, "m1"], [f"{KEY}@2"]])
    def test_a_memory_is_erased_by_any_of_its_names(self, db: Path, named: list[str]) -> None:
        log(db, events.MemoryRevised(memory=1, text=SPACES))
        plan = data("redact", *named, "--dry-run", "--db", db)
        assert [each["position"] for each in plan["erased"]] == [1, 2]
        assert [(each["key"], each["position"]) for each in plan["copies"]] == [(str(LATER), 3)]
        assert plan["calls"] == [f"{LATER}@c1"]

    def test_no_byte_is_left_of_it(self, db: Path) -> None:
        with open_log(db) as live:
            assert Memories(live, USER).get(1).text == TABS
        assert run("search", "tabs", "--db", db).exit_code == 0
        done = data("redact", f"{KEY}@1", "--with-copies", "--yes", "--db", db)
        assert (done["scrubbed"], done["residue"]) == (True, [])
        for path in db.parent.iterdir():
            assert b"Ada wants tabs" not in path.read_bytes()
        assert "this is the skeleton" in run("show", f"{KEY}@1", "--db", db).stdout
        assert data("verify", "--db", db)["problems"] == []

    def test_what_carries_no_item_goes_by_its_place(self, db: Path) -> None:
        query = events.MemoryRecalled(of=KEY, item="3", memories=("1",), query="where is the vault")
        with open_log(db, durability="normal") as live:
            live.append(LATER, query)
            live.append(MEMORY, events.ProfileUpdated(section="basics", values=Json({"is": "Ada"})))
        for place in (f"{LATER}@8", f"{KEY}@2"):
            done = data("redact", place, "--yes", "--db", db)
            assert len(done["erased"]) == 1
        assert b"the vault" not in db.read_bytes()
        assert data("show", "later@c1", "--db", db)["call"]["memories"][0]["memories"] == ["m1"]
        item = data("redact", f"{LATER}@2", "--dry-run", "--db", db)
        assert [each["why"] for each in item["erased"]] == ["item"]

    def test_a_session_alone_names_nothing_to_erase(self, db: Path) -> None:
        for place in (str(LATER), f"{LATER}@now", f"{KEY}@now"):
            refused = run("redact", place, "--yes", "--db", db)
            assert refused.exit_code == 2
            assert "name items" in refused.stderr
        assert run("redact", KEY, "x", "--yes", "--db", db).exit_code == 2
        assert run("redact", KEY, "7", "--yes", "--db", db).exit_code == 3

    def test_a_message_is_told_with_what_was_learned_from_it(self, db: Path) -> None:
        plan = data("redact", "first", "2", "--dry-run", "--db", db)
        assert [(each["key"], each["position"], each["why"]) for each in plan["copies"]] == [
            (KEY, 1, "reference of 2"),
            (str(LATER), 3, "reference of 2"),
        ]


class TestPurge:
    def test_what_was_learned_from_a_session_stays_and_is_named(self, db: Path) -> None:
        log(db, remembered("of two", 2), events.MemoryRevised(memory=1, text=SPACES))
        result = run("delete", "first", "--purge", "--yes", "--confirm", "first", "--db", db)
        assert result.exit_code == 0
        assert "2 things learned from it stay; to erase: " in result.stderr
        assert result.stderr.rstrip().endswith(f"redact {KEY} 1 2")
        again = data("delete", str(FIRST), "--purge", "--yes", "--confirm", "first", "--db", db)
        assert again["memories"] == [f"{KEY}@1", f"{KEY}@2"]
        with open_log(db) as live:
            assert Memories(live, USER).get(1).text == SPACES
