"""Everything but the events can be thrown away."""

from __future__ import annotations

import re
from pathlib import Path

from running import run
from shown_memories import MEMORY, TABS, USER, remember, remembered

from harness.embedders import HashingEmbedder
from projections import open_log
from projections.memory.recall import Recall, Wanted
from projections.memory.table import Memories


def test_what_is_made_anew_says_the_same(tmp_path: Path) -> None:
    db = tmp_path / "log.db"
    with open_log(db, durability="normal") as live:
        remember(live)
        live.append(MEMORY, remembered("tea at five"))
        text = Memories(live, USER).text()
        found = Recall(live, USER, HashingEmbedder()).find("indentation", Wanted(), 0)
        assert [each.memory.text for each in found] == [TABS]
        with live.log.writing() as damaged:
            damaged.execute("update memories set state = replace(state, 'tabs', 'soup')")
            damaged.execute("delete from recall_vectors")
        assert Memories(live, USER).text() != text
    assert run("rebuild", "--db", db).exit_code == 0
    with open_log(db, durability="normal") as live:
        assert Memories(live, USER).text() == text
        assert Recall(live, USER, HashingEmbedder()).find("indentation", Wanted(), 0) == found


def test_a_log_in_which_nothing_is_remembered_gets_no_table(tmp_path: Path) -> None:
    db = tmp_path / "log.db"
    with open_log(db, durability="normal") as live:
        live.append("a/b/c", remembered("x"))
    assert run("rebuild", "--db", db).exit_code == 0
    with open_log(db) as live:
        tables = [name for (name,) in live.log.query("select name from sqlite_schema")]
    assert not [name for name in tables if re.match("memories|recall", name)]
