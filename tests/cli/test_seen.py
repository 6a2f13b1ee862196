"""What nobody reported and requests showed, as a person reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from running import data, run

from eventlog import StreamKey, events
from projections import open_log

KEY = StreamKey("local", "recorded", "s")
CALL = events.ModelCalled(model="m", dialect="openai_chat")


def said(text: str) -> events.MessageAppended:
    message = {"role": "user", "content": text}
    return events.MessageAppended(dialect="openai_chat", source="human", message=message)


def seen(**given: Any) -> events.ContextCompacted:
    return events.ContextCompacted(inferred=True, **given)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.db"
    with open_log(path) as live:
        live.append(KEY, said("one"), said("two"), said("three"), said("four"), CALL)
        live.append(KEY, seen(covered=("1",)), seen(covered=(), layout=("3", "2", "4")))
        live.append(KEY, seen(covered=("2-3",)))
    return path


def test_the_log_says_that_a_compaction_was_seen_and_what_it_was(log: Path) -> None:
    shown = run("log", "s", "--db", log).stdout
    first, second, third = (line for line in shown.splitlines() if line.startswith("── k"))
    assert "k1 compacted (seen in a request)" in first
    assert "1 item dropped" in first
    assert "k2 put in another order (seen in a request)" in second
    assert "2 items dropped" in third
    rows = [r for r in data("log", "s", "--db", log)["rows"] if r["type"] == "context_compacted"]
    assert [row["reordered"] for row in rows] == [False, True, False]


def test_why_says_whether_an_item_left_alone(log: Path) -> None:
    assert "k1  taken out, with nothing in its place" in run("why", "s", "1", "--db", log).stdout
    among = "taken out, one of 2 items, with nothing in their place"
    assert among in run("why", "s", "2", "--db", log).stdout


def test_show_and_audit_say_it_too(log: Path) -> None:
    assert "by         seen in a request" in run("show", "s@k1", "--db", log).stdout
    with open_log(log) as live:
        live.append(KEY, CALL)
    assert "k1 (seen in a request)" in run("audit", "s", "--db", log).stdout
