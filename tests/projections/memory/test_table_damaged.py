"""A table of memories that cannot be read is made anew from the events, and nobody notices."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from memories_made import ADA

from eventlog.events import ProfileUpdated, Remembered
from eventlog.jsonvalue import Json
from projections import Live, open_log
from projections.memory.table import Memories, MemoryTable

DAMAGES = {
    "no JSON": "update memories set state = '{'",
    "no memory": 'update memories set state = \'{"id": "x"}\'',
    "one row of many": "update memories set state = '[]' where id = 2",
    "no profile": "update memories_profiles set state = '{'",
    "no table": "drop table memories",
    "no sources": "drop table memories_sources",
    "no profiles": "drop table memories_profiles",
}
ASKED: dict[str, Callable[[Memories], object]] = {
    "one": lambda found: found.get(2).text,
    "those that stand": lambda found: [each.text for each in found.all()],
    "everything": lambda found: found.text(),
    "the profile": lambda found: found.profile.section("basics"),
    "by where they came from": lambda found: [
        each.id
        for each in found.where("row in (select row from memories_sources where session = '-')")
    ],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "log.db"
    with open_log(found) as live:
        live.append(ADA, *map(fact, range(3)))
        known = ProfileUpdated(section="basics", values=Json({"name": "Ada"}))
        live.append(ADA, known)
        Memories(live, ADA.user).text()
    return found


def fact(number: int) -> Remembered:
    return Remembered(text=f"fact {number}", subject=f"subject {number}")


def damage(path: Path, how: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(DAMAGES[how])
    connection.close()


def answers(live: Live) -> dict[str, object]:
    """Each from a reader of its own, so that none finds what another has mended."""
    return {name: ask(Memories(live, ADA.user)) for name, ask in ASKED.items()}


@pytest.mark.parametrize("how", DAMAGES)
class TestDamaged:
    def test_whatever_is_asked_first_is_answered_from_the_events(
        self, path: Path, how: str
    ) -> None:
        with open_log(path) as live:
            right = answers(live)
        for name, ask in ASKED.items():
            damage(path, how)
            with open_log(path) as live:
                assert ask(Memories(live, ADA.user)) == right[name], name
                live.log.catch_up(MemoryTable(live.log), rebuild=True)

    def test_a_log_that_is_only_read_is_folded_in_memory(self, path: Path, how: str) -> None:
        with open_log(path) as live:
            right = answers(live)
        damage(path, how)
        with open_log(path, read_only=True) as live:
            assert answers(live) == right

    def test_what_is_remembered_next_is_there(self, path: Path, how: str) -> None:
        damage(path, how)
        with open_log(path) as live:
            live.append(ADA, fact(3))
            assert [each.text for each in Memories(live, ADA.user).all()][-1] == "fact 3"
