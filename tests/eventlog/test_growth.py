"""A kept head, and a log that went on: grown is fine, cut off or changed is not."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from eventlog import EventLog, StreamKey
from eventlog.errors import DamagedLog
from eventlog.events import MessageAppended, SessionStarted
from eventlog.growth import appended_since
from eventlog.integrity import head, verify
from eventlog.redaction import Target, redact

MAIN, CHILD, OTHER = (StreamKey("ann", "coder", name) for name in ("main", "child", "another"))


def said(text: str) -> MessageAppended:
    message = {"role": "user", "content": text}
    return MessageAppended(dialect="openai_chat", source="human", message=message)


def grown(log: EventLog) -> list[tuple[str, int]]:
    """What the log was at each moment: its head, and how many events it had."""
    moments = [(head(log), 0)]

    def keep() -> None:
        moments.append((head(log), log.last_sequence()))

    log.append(MAIN, SessionStarted(title="main"), said("one"), said("a secret"))
    keep()
    log.append(OTHER, said("elsewhere"))
    keep()
    for number in range(40):
        log.append((MAIN, OTHER)[number % 3 == 0], said(str(number)))
        keep()
    log.fork(CHILD, MAIN, 4)
    keep()
    log.append(CHILD, said("a fork's own"), said("and more"))
    keep()
    redact(log, [Target(MAIN, 3)], stream=MAIN, reason="a secret")
    keep()
    return moments


def as_owner(path: Path, *statements: str) -> None:
    """Write past the triggers, which are put back."""
    db = sqlite3.connect(path)
    triggers = db.execute("select name, sql from sqlite_schema where type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"drop trigger {name}")
    for statement in statements:
        db.execute(statement)
    for _, sql in triggers:
        db.execute(sql)
    db.commit()
    db.close()


def test_every_head_that_the_log_ever_had_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eventlog.growth.PAGE", 7)
    with EventLog(tmp_path / "log.db") as log:
        moments = grown(log)
        whole = log.last_sequence()
        for kept, events in moments[:-1]:
            assert appended_since(log, f" {kept.upper()}\n") == whole - events
        for kept, events in moments:
            found = verify(log, head=kept)
            assert (found.ok, found.appended) == (True, whole - events)


def test_a_head_of_before_a_cut_is_not_found_and_an_older_one_is(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with EventLog(path) as log:
        log.append(MAIN, said("one"), said("two"))
        old = head(log)
        log.append(OTHER, said("three"))
        newest = head(log)
    as_owner(path, "delete from events where sequence = 3", "delete from streams where row = 2")
    with EventLog(path) as log:
        log.append(MAIN, said("what was put there instead"))
        assert verify(log).ok
        assert verify(log, head=old).appended == 1
        cut = verify(log, head=newest)
        assert [problem.kind for problem in cut.problems] == ["head"]
        assert "cut off, changed or made anew" in cut.problems[0].message
        assert cut.appended is None


def test_a_log_that_was_made_anew_has_no_state_with_that_head(tmp_path: Path) -> None:
    heads = []
    for name in ("first", "second"):
        with EventLog(tmp_path / f"{name}.db") as log:
            log.append(MAIN, said("the same words"))
            heads.append(head(log))
            log.append(MAIN, said("and more"))
    with EventLog(tmp_path / "second.db") as log:
        assert not verify(log, head=heads[0]).ok
        assert verify(log, head=heads[1]).appended == 1


def test_a_changed_event_is_not_taken_for_growth(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with EventLog(path) as log:
        log.append(MAIN, said("one"))
        old = head(log)
        log.append(MAIN, said("two"))
    as_owner(path, "update events set payload = replace(payload, 'one', 'uno') where sequence = 1")
    with EventLog(path, read_only=True) as log:
        found = verify(log, head=old)
        assert {problem.kind for problem in found.problems} == {"chain", "head"}
        assert found.appended is None


def test_a_stream_that_is_missing_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with EventLog(path) as log:
        log.append(MAIN, said("one"))
        log.append(OTHER, said("two"))
    as_owner(path, "delete from streams where row = 2")
    with EventLog(path, read_only=True) as log, pytest.raises(DamagedLog):
        appended_since(log, "0" * 64)
