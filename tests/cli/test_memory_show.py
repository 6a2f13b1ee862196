"""``ctxlog memory show`` and ``graph``: where a memory comes from, and what it speaks of."""

from __future__ import annotations

from pathlib import Path

import pytest
from memory_log import NOW, add, memory_log
from running import data, run
from test_states import refused


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return memory_log(tmp_path)


class TestShow:
    """Why does it say that? From what it was told, and where that stood before a model."""

    def test_every_text_that_it_had_can_be_read(self, db: Path) -> None:
        text = run("memory", "show", "m3", "--db", db).stdout
        assert text.splitlines()[1] == "We deploy on Thursdays, at noon."
        assert "3 remembered 2026-09-03 09:00 by human\n" in text
        assert "  We deploy on Thursdays.\n" in text
        assert "3@4 revised 2026-09-04 09:00 by human (more exact)\n" in text

    def test_both_sides_of_a_conflict_can_be_read(self, db: Path) -> None:
        assert (
            "m1 project: We deploy on Fridays only."
            in run(*("memory", "show", "m3", "--db", db)).stdout
        )
        found = data("memory", "show", "1", "--db", db)
        assert found["superseded_by"]["text"] == "We deploy on Thursdays, at noon."
        assert found["memory"]["standing"] == "superseded"

    def test_it_names_the_events_that_it_came_from(self, db: Path) -> None:
        sources = data("memory", "show", "m3", "--db", db)["sources"]
        assert [(each["session"], each["position"], each["state"]) for each in sources] == [
            ("local/chat/tuesday-0002", 2, "there"),
            ("local/chat/tuesday-0002", 99, "missing"),
            ("local/chat/elsewhere", 7, "missing"),
        ]
        assert sources[0]["who"] == "user"
        assert sources[0]["text"] == "Remember: we deploy on Thursdays."

    def test_an_erased_one_says_so_and_nothing_else(self, db: Path) -> None:
        done = run("redact", "tuesday-0002", "2", "--yes", "--db", db)
        assert done.exit_code == 0, done.output
        text = run("memory", "show", "m3", "--db", db).stdout
        assert "tuesday-0002@2 erased" in text
        assert "Remember: we" not in text

    def test_it_names_every_call_in_which_it_stood(self, db: Path) -> None:
        (shown_in,) = data("memory", "show", "m3", "--db", db)["shown"]
        assert (shown_in["session"], shown_in["item"]) == ("local/chat/tuesday-0002", "3")
        assert shown_in["rendition"] == "3@4"
        assert shown_in["calls"] == [{"call": "c1", "position": 5}, {"call": "c2", "position": 9}]
        assert data("memory", "show", "m1", "--db", db)["shown"] == []

    def test_it_says_until_when_it_is_what(self, db: Path) -> None:
        found = data("memory", "show", "m2", "--at", NOW, "--db", db)
        assert found["memory"]["status"] == "active"
        assert found["life"] == {
            "days": 90.0,
            "active_until": "2026-11-23T14:04:00.000Z",
            "stale_until": "2026-12-20T14:04:00.000Z",
            "archived_until": "2027-03-20T14:04:00.000Z",
        }
        later = data("memory", "show", "m2", "--at", "2026-11-24", "--db", db)
        assert later["memory"]["status"] == "stale"

    def test_what_is_no_memory_is_told(self, db: Path) -> None:
        assert "no memory m99" in refused("memory", "show", "m99", "--db", db, code=3)
        assert "no memory m4" in refused("memory", "show", "m4", "--db", db, code=3)
        refused("memory", "show", "m1", "--user", "cleo", "--db", db, code=3)
        refused("memory", "show", "9" * 30, "--db", db, code=3)


class TestGraph:
    """A name that memories speak of leads to the memories, and to what it has to do with."""

    def test_of_an_entity_what_is_around_it(self, db: Path) -> None:
        add(db, "CI runs on staging", "--relation", "CI|runs on|Staging")
        found = data("memory", "graph", "CI", "--db", db)
        assert {node["name"] for node in found["nodes"]} == {"CI", "staging"}
        assert [row["name"] for row in found["memories"]] == ["m11", "m3"]
        far = data("memory", "graph", "ci", "--depth", "2", "--db", db)
        assert {node["name"] for node in far["nodes"]} == {"CI", "staging", "deploy.sh"}
        assert [edge["memories"] for edge in far["edges"]] == [["m11"], ["m3"]]

    def test_the_whole_begins_with_what_most_speak_of(self, db: Path) -> None:
        add(db, "Staging is slow", "--entity", "staging")
        found = data("memory", "graph", "-n", "1", "--db", db)
        assert [node["name"] for node in found["nodes"]] == ["staging"]
        assert found["edges"] == []
        assert found["cut"]

    def test_what_was_forgotten_is_in_it_no_more(self, db: Path) -> None:
        run("memory", "forget", "m3", "--db", db)
        line = refused("memory", "graph", "staging", "--db", db, code=3)
        assert "no memory of 'local' speaks of 'staging'" in line
        result = run("memory", "graph", "--db", db)
        assert (result.exit_code, result.stdout) == (0, "")
