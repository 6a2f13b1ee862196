"""``ctxlog memory``: listed, added, revised, forgotten, restored; the profile; gc."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from memory_log import KEY_TEXT, NOW, add, memory_log, names
from running import data, run
from test_states import refused

from eventlog.events import Remembered
from eventlog.happened import moment
from projections import open_log
from projections.memory import memory_stream


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return memory_log(tmp_path)


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return tmp_path / "new.db"


class TestList:
    """Whoever looks wants what counts now, and can see what does not any more, and why."""

    def test_the_newest_that_stand_come_first(self, db: Path) -> None:
        assert names("--db", db) == ["m6", "m3", "m2", "m5"]

    def test_all_shows_why_the_others_do_not_stand(self, db: Path) -> None:
        text = run("memory", "list", "--all", "--db", db).stdout
        assert "m1" in text
        assert "(m3 took its place) We deploy on Fridays only." in text
        assert "(asked) The kiln is called Brunhilde." in text

    def test_each_filter_leaves_out_what_it_says(self, db: Path) -> None:
        assert names("--kind", "code,preference", "--db", db) == ["m6", "m2"]
        assert names("--kind", "session-summary", "--db", db) == []
        assert names("--status", "active", "--at", NOW, "--db", db) == ["m3", "m2"]
        assert names("--status", "expired", "--at", NOW, "--db", db) == ["m6"]
        assert names("--session", "monday-0001", "--db", db) == ["m2"]
        assert names("--session", "monday-0001", "--all", "--db", db) == ["m2", "m1"]
        assert names("--since", "2026-09-03", "--db", db) == ["m6", "m3"]
        assert names("--until", "2026-09-02", "--db", db) == ["m2", "m5"]

    def test_a_list_that_is_cut_says_so(self, db: Path) -> None:
        result = run("memory", "list", "-n", "1", "--db", db)
        assert result.stdout.count("\n") == 2
        assert "the newest 1; there are more" in result.stderr
        assert data("memory", "list", "-n", "1", "--db", db)["cut"]
        assert not data("memory", "list", "-n", "4", "--db", db)["cut"]

    def test_another_person_has_other_memories(self, db: Path) -> None:
        assert names("--user", "bob", "--db", db) == ["m1"]
        line = refused("memory", "list", "--user", "cleo", "--db", db, code=3)
        assert (
            "nothing is remembered of 'cleo'; there are memories of bob, local: --user bob" in line
        )

    @pytest.mark.parametrize(
        "line",
        [
            "list",
            "list --kind code",
            "show m2",
            "forget m2",
            "search tabs",
            "graph",
            "graph x",
            "gc",
            "export",
            "profile",
            "profile --unset basics.name",
        ],
    )
    def test_whose_memories_there_are_is_told_where_this_person_has_none(
        self, new: Path, line: str
    ) -> None:
        with open_log(new, durability="normal") as live:
            live.append(memory_stream("ada b"), Remembered(text="Indents with tabs."))
        result = run("memory", *line.split(), "--db", new)
        assert "; there are memories of ada b: --user 'ada b'" in result.stderr

    def test_at_a_moment_only_what_was_remembered_by_then_is_there(self, db: Path) -> None:
        assert names("--at", "2026-09-02T09:00", "--db", db) == ["m2", "m5"]
        assert names("--at", "2020-01-01", "--db", db) == []
        assert (
            "no memory is like that"
            in run("memory", "list", "--at", "2020-01-01", "--db", db).stderr
        )

    def test_where_nothing_was_remembered_yet_that_is_no_error(self, new: Path) -> None:
        with open_log(new):
            pass
        result = run("memory", "list", "--db", new)
        assert (result.exit_code, result.stdout) == (0, "")
        assert "nothing is remembered of local yet" in result.stderr

    def test_a_log_that_is_not_there_is_told_as_everywhere(self, new: Path) -> None:
        assert "no log at" in refused("memory", "list", "--db", new, code=5)

    def test_narrow_terminals_keep_the_name_and_the_text(self, db: Path) -> None:
        result = run("memory", "list", "--width", "40", "--db", db)
        assert max(map(len, result.stdout.splitlines())) <= 40
        assert "m3" in result.stdout
        assert "no room for: recalled" in result.stderr

    @pytest.mark.parametrize(
        ("option", "value", "told"),
        [
            ("--kind", "mood", "there are preference"),
            ("--status", "dead", "there are active"),
            ("--since", "soon", "is no time"),
            ("--at", "soon", "is no time"),
            ("--user", "a/b", "a user name holds no"),
            ("--user", "", "is not"),
        ],
    )
    def test_what_is_none_is_refused(self, db: Path, option: str, value: str, told: str) -> None:
        assert told in refused("memory", "list", option, value, "--db", db)


class TestAdd:
    """What a person asks to be remembered is remembered as it was said, and as said by a person."""

    def test_it_makes_the_log_and_counts_as_said(self, new: Path) -> None:
        found = add(new, "We deploy on Fridays", "--kind", "project")["memory"]
        assert (found["name"], found["kind"], found["importance"]) == ("m1", "project", 1.0)
        assert found["is_explicit"]

    def test_all_of_it_is_kept(self, db: Path) -> None:
        add(
            db,
            "Uses uv",
            *("--subject", "packages", "--value", "tool=uv", "--value", "pins=[1, 2]"),
            *("--area", "technical", "--importance", "0.9", "--at", "2026-09-10T10:00"),
            *("--entity", "uv:tool", "--entity", "http://x", "--relation", "uv | makes | .venv"),
            *("--source", "monday-0001@2", "--source", "tuesday@c2", "--source", "tuesday-0002"),
        )
        found = data("memory", "show", "m11", "--db", db)
        assert found["memory"]["kind"] == "preference"
        assert found["memory"]["values"] == {"tool": "uv", "pins": [1, 2]}
        assert found["memory"]["remembered_at"] == "2026-09-10T10:00:00.000Z"
        assert (found["given_importance"], found["area"]) == (0.9, "technical")
        assert found["entities"] == [
            {"name": "uv", "kind": "tool"},
            {"name": "http://x", "kind": ""},
        ]
        assert found["relations"] == [{"subject": "uv", "predicate": "makes", "object": ".venv"}]
        assert [(each["session"], each["position"]) for each in found["sources"]] == [
            ("local/chat/monday-0001", 2),
            ("local/chat/tuesday-0002", 9),
        ]

    def test_a_newer_one_takes_the_place_of_the_older(self, db: Path) -> None:
        result = run("memory", "add", "On Mondays", *PROJECT, "--subject", "DEPLOY day", "--db", db)
        assert "it took the place of m3 project: We deploy on Thursdays, at noon." in result.stdout
        assert names("--kind", "project", "--db", db) == ["m11"]

    def test_kind_and_subject_are_read_out_of_the_text(self, new: Path) -> None:
        add(new, "I prefer tabs over spaces")
        text = run("memory", "add", "I prefer spaces over tabs", "--db", new).stdout
        assert "remembered m2 preference: I prefer spaces over tabs" in text
        assert "it took the place of m1" in text
        found = add(new, "My name is Ada", "--importance", "0.7")
        assert found["profile"] == {"basics.name": "Ada"}
        assert found["memory"]["importance"] == 0.7
        assert data("memory", "profile", "--db", new)["known"][0]["value"] == "Ada"

    def test_a_text_that_says_several_things_is_remembered_whole(self, new: Path) -> None:
        text = "I prefer tabs. I like short answers. We deploy on Fridays."
        found = add(new, text)["memory"]
        assert (found["kind"], found["text"]) == ("fact", text)

    def test_what_is_given_is_not_read_out_of_the_text(self, new: Path) -> None:
        found = add(new, "I prefer tabs over spaces", "--kind", "fact")
        assert (found["memory"]["kind"], found["memory"]["subject"]) == ("fact", "")

    def test_standard_input_is_a_text_too(self, new: Path) -> None:
        result = run("memory", "add", "-", "--db", new, input="two\nlines\n")
        assert result.exit_code == 0
        assert data("memory", "show", "1", "--db", new)["memory"]["text"] == "two\nlines"
        assert "UTF-8" in refused("memory", "add", "-", "--db", new, input=b"\xff")

    def test_what_looks_like_a_key_is_refused_unless_it_is_forced(self, new: Path) -> None:
        for args in (
            [f"the key is {KEY_TEXT}"],
            ["x", "--value", f"key={KEY_TEXT}"],
            ["x", "--value", json.dumps({"deep": [KEY_TEXT]}).join(["key=", ""])],
            ["x", "--entity", KEY_TEXT],
            ["x", "--subject", KEY_TEXT],
        ):
            line = refused("memory", "add", *args, "--db", new)
            assert "looks like a key" in line
            assert KEY_TEXT not in line
        assert not new.exists()
        assert add(new, f"the key is {KEY_TEXT}", "--force")["memory"]["name"] == "m1"
        refused("memory", "revise", "1", KEY_TEXT, "--db", new)
        refused("memory", "profile", "--set", f"basics.key={KEY_TEXT}", "--db", new)

    @pytest.mark.parametrize(
        ("args", "told"),
        [
            ([""], "a memory says something"),
            (["x" * 20_001], "at most 20,000 characters"),
            (["x", "--kind", "mood"], "there are preference"),
            (["x", "--importance", "1.5"], "between 0 and 1"),
            (["x", "--importance", "nan"], "between 0 and 1"),
            (["x", "--value", "tabs"], "takes NAME=VALUE"),
            (["x", "--value", "a=1", "--value", "a=2"], "given twice"),
            (["x", "--value", "a=1", "--kind", "code"], "only a preference has values"),
            (["x", "--area", "moral"], "technical and interaction"),
            (["x", "--entity", " "], "takes NAME"),
            (["x", "--relation", "a|b"], "takes 'A|uses|B'"),
            (["x", "--at", "soon"], "is no time"),
            (["x", "--at", "1960-01-01"], "no time before March 1973"),
            (["x", "--user", "a/b"], "a user name holds no"),
        ],
    )
    def test_what_is_none_is_refused_and_no_log_is_made(
        self, new: Path, args: list[str], told: str
    ) -> None:
        assert told in refused("memory", "add", *args, "--db", new)
        assert not new.exists()

    def test_a_password_is_refused_and_a_word_on_passwords_is_not(self, db: Path) -> None:
        told = refused("memory", "add", "password: hunter2Secret99", "--db", db)
        assert "what looks like a key (password: " in told
        assert "hunter2Secret99" not in told
        refused("memory", "add", "Staging", "--value", "password=hunter2Secret99", "--db", db)
        add(db, "The password is rotated monthly")
        add(db, "password: hunter2Secret99", "--force")

    def test_a_source_that_is_not_there_is_told(self, db: Path) -> None:
        refused("memory", "add", "x", "--source", "nosuch", "--db", db, code=3)
        refused("memory", "add", "x", "--source", "monday-0001@99", "--db", db, code=3)


PROJECT = ("--kind", "project")


class TestRevise:
    """What changed is said anew; what was said before stays readable."""

    def test_only_what_is_given_changes(self, db: Path) -> None:
        run("memory", "revise", "m2", "--importance", "0.5", "--reason", "less so", "--db", db)
        found = data("memory", "show", "m2", "--db", db)
        assert found["memory"]["text"] == "Indents with tabs."
        assert found["given_importance"] == 0.5
        last = found["history"][-1]
        assert (last["what"], last["changed"]) == ("revised", ["importance", "is_explicit"])
        assert (last["by"], last["reason"]) == ("human", "less so")

    def test_a_new_subject_may_take_the_place_of_another(self, db: Path) -> None:
        add(db, "We freeze in May", *PROJECT, "--subject", "freeze")
        found = data("memory", "revise", "m11", "--subject", "deploy day", "--db", db)
        assert [row["name"] for row in found["took_the_place_of"]] == ["m3"]

    def test_one_that_does_not_stand_says_so_and_no_more(self, db: Path) -> None:
        result = run("memory", "revise", "m1", "On Fridays.", "--db", db)
        assert result.stdout == "revised m1 project: (m3 took its place) On Fridays.\n"

    def test_the_part_of_the_profile_that_it_belongs_to_is_revised_too(self, db: Path) -> None:
        run("memory", "revise", "m2", "--area", "interaction", "--db", db)
        assert data("memory", "show", "m2", "--db", db)["area"] == "interaction"
        line = refused("memory", "revise", "m3", "--area", "technical", "--db", db)
        assert "only a preference has values and an area, and m3 is a project" in line

    def test_what_it_is_about_is_read_anew_or_kept_and_that_is_told(self, db: Path) -> None:
        name = add(db, "I use zsh as my shell")["memory"]["name"]
        result = run("memory", "revise", name, "I use bash as my shell", "--db", db)
        assert "read from the new text: subject shell, shell = bash" in result.stderr
        run("memory", "revise", name, "--value", "terminal=kitty", "--db", db)
        result = run("memory", "revise", name, "I use fish as my shell", "--db", db)
        assert "kept from before: subject shell, terminal = kitty" in result.stderr

    def test_nothing_given_and_no_such_memory_are_told(self, db: Path) -> None:
        assert "nothing of m2 is to be revised" in refused("memory", "revise", "m2", "--db", db)
        assert "no memory m99" in refused("memory", "revise", "m99", "x", "--db", db, code=3)
        assert "named m12" in refused("memory", "revise", "twelve", "x", "--db", db, code=3)
        assert "only a preference has values" in refused(
            *("memory", "revise", "m3", "--value", "a=1", "--db", db)
        )


class TestForgetAndRestore:
    """What is forgotten is gone from the next recall, and nothing of it is lost."""

    def test_several_at_once_by_either_name(self, db: Path) -> None:
        result = run("memory", "forget", "m2", "3", "m2", "--reason", "so", "--db", db)
        assert result.stdout.count("forgot ") == 2
        assert "memory restore m2 m3" in result.stderr
        assert names("--db", db) == ["m6", "m5"]
        assert data("memory", "show", "m3", "--db", db)["history"][-1]["reason"] == "so"
        run("memory", "restore", "2", "3", "--db", db)
        assert names("--db", db) == ["m6", "m3", "m2", "m5"]

    def test_where_one_is_not_there_nothing_is_done(self, db: Path) -> None:
        refused("memory", "forget", "m2", "m99", "--db", db, code=3)
        refused("memory", "restore", "m7", "m99", "--db", db, code=3)
        assert names("--db", db) == ["m6", "m3", "m2", "m5"]

    def test_what_is_so_already_is_said_and_nothing_is_written(self, db: Path) -> None:
        before = data("verify", "--db", db)["events"]
        assert "was forgotten already" in run("memory", "forget", "m7", "--db", db).stdout
        assert "stands already" in run("memory", "restore", "m2", "--db", db).stdout
        assert data("verify", "--db", db)["events"] == before

    def test_one_that_was_superseded_is_restored_and_the_other_gives_way(self, db: Path) -> None:
        result = run("memory", "restore", "m1", "--db", db)
        assert "restored m1 project: We deploy on Fridays only." in result.stdout
        assert "it took the place of m3" in result.stdout
        assert names("--kind", "project", "--db", db) == ["m1"]

    def test_of_an_erased_one_nothing_is_left_to_restore(self, db: Path) -> None:
        assert run("redact", "local/_/memory", "m7", "--yes", "--db", db).exit_code == 0
        assert "was erased" in refused("memory", "restore", "m7", "--db", db)
        assert "was erased" in run("memory", "list", "--all", "--db", db).stdout
        assert "Brunhilde" not in run("memory", "show", "m7", "--db", db).stdout


class TestProfile:
    """What is known by name is seen, and set by the person, in one place."""

    def test_it_tells_what_was_said_from_what_was_inferred(self, db: Path) -> None:
        text = run("memory", "profile", "--db", db).stdout
        assert "name  Ada (set by hand)\n" in text
        assert "language  Python (inferred, monday-0001@2)\n" in text
        known = data("memory", "profile", "--db", db)["known"]
        assert known[1]["sources"] == ["local/chat/monday-0001@2"]

    def test_values_are_set_and_taken_away_in_one_go(self, db: Path) -> None:
        found = data(
            *("memory", "profile", "--set", "technical.language=Rust", "--set", "basics.age=36"),
            *("--unset", "basics.name", "--db", db),
        )
        assert found["changed"] == 2
        known = {(row["section"], row["name"]): row for row in found["known"]}
        assert ("basics", "name") not in known
        assert known["basics", "age"]["value"] == 36
        assert known["technical", "language"]["is_explicit"]

    @pytest.mark.parametrize(
        ("args", "told", "code"),
        [
            (["--set", "name=Ada"], "takes SECTION.NAME", 2),
            (["--set", "mood.today=fine"], "sections are basics", 2),
            (["--set", "basics.name"], "takes NAME=VALUE", 2),
            (["--set", "basics.name=null"], "--unset basics.name", 2),
            (["--set", "basics.a=1", "--unset", "basics.a"], "given twice", 2),
            (["--set", "basics.a=1", "--unset", "basics.b"], "nothing is known of 'local' by", 3),
        ],
    )
    def test_a_slip_changes_nothing(self, db: Path, args: list[str], told: str, code: int) -> None:
        before = data("memory", "profile", "--db", db)
        assert told in refused("memory", "profile", *args, "--db", db, code=code)
        assert data("memory", "profile", "--db", db) == before


class TestGc:
    """What is forgotten by its age is what was said before, to the last one."""

    @pytest.fixture(autouse=True)
    def _today(self, monkeypatch: pytest.MonkeyPatch) -> None:
        today = moment("2026-10-20T00:00:00Z", 0)
        monkeypatch.setattr("cli.memories.now_us", lambda: today)

    def test_a_time_ahead_is_for_a_dry_run(self, db: Path) -> None:
        """Without it what is active today is forgotten today."""
        line = refused("memory", "gc", "--at", "2026-12-24", "--db", db)
        assert "--at 2026-12-24 lies ahead: only --dry-run says" in line
        assert names("--db", db) == ["m6", "m3", "m2", "m5"]
        dry = data("memory", "gc", "--dry-run", "--at", "2026-12-24", "--db", db)
        assert [each["memory"]["name"] for each in dry["forgotten"]] == ["m3", "m5", "m6"]

    def test_a_dry_run_names_what_the_next_one_forgets(self, db: Path) -> None:
        dry = data("memory", "gc", "--dry-run", "--at", "2026-10-15", "--db", db)
        assert names("--db", db) == ["m6", "m3", "m2", "m5"]
        wet = data("memory", "gc", "--at", "2026-10-15", "--db", db)
        assert dry.pop("dry_run")
        assert not wet.pop("dry_run")
        assert dry == wet
        assert [each["memory"]["name"] for each in dry["forgotten"]] == ["m5", "m6"]
        assert names("--db", db) == ["m3", "m2"]
        assert data("memory", "gc", "--at", "2026-10-15", "--db", db)["forgotten"] == []

    def test_it_says_why(self, db: Path) -> None:
        text = run("memory", "gc", "--dry-run", "--at", "2026-10-15", "--db", db).stdout
        assert "would forget m6 code: The parser is in src/parse.py.\n" in text
        assert "  39 days old, code lives 7\n" in text

    def test_what_was_forgotten_can_be_restored_and_says_what_it_was(self, db: Path) -> None:
        run("memory", "gc", "--at", "2026-10-15", "--db", db)
        last = data("memory", "show", "m6", "--db", db)["history"][-1]
        assert (last["what"], last["rule"], last["by"]) == ("forgotten", "expired", "gc")
        reckoned = "39 days old, code lives 7; reckoned at 2026-10-15T00:00:00.000Z"
        assert last["reason"] == reckoned
        run("memory", "restore", "m6", "--db", db)
        assert names("--kind", "code", "--db", db) == ["m6"]
