"""One damaged event of one session costs no call of any other, and none of its own."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from model_server import completion

from eventlog.recorded import StreamKey
from harness.exchange.outcomes import outcome_of
from harness.recording import Recorder
from harness.recording.sessions import session_key

ANSWER, CALL, START = "message_appended", "model_called", "session_started"

DAMAGES = {
    "an answer that is no JSON": (ANSWER, "'{'"),
    "an answer that is no object": (ANSWER, "'[]'"),
    "an answer of no call": (ANSWER, "json_remove(payload, '$.call')"),
    "an answer of a call that is not there": (ANSWER, "json_set(payload, '$.call', 999)"),
    "an answer that is no message": (ANSWER, "json_set(payload, '$.message', 'x')"),
    "an answer of another kind": (ANSWER, "json_set(payload, '$.dialect', 'x')"),
    "a call that is no JSON": (CALL, "'{'"),
    "a manifest of nothing": (CALL, """json_set(payload, '$.manifest', json('["=99", "x"]'))"""),
    "forms that are none": (CALL, "json_set(payload, '$.forms', json('[1]'))"),
    "a beginning that is no JSON": (START, "'{'"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("is_named", [False, True])
def test_everything_is_recorded(tmp_path: Path, damage: str, is_named: bool) -> None:
    path = tmp_path / "log.db"
    tasks = [Task(name, session_key(name) if is_named else None) for name in ("old", "hurt")]
    before = {}
    first = Recorder(path, on_error="raise")
    for task in tasks:
        task.turn(first)
        before[task.name] = task.turn(first)
    first.close()
    change(path, *DAMAGES[damage])
    again = Recorder(path, on_error="raise")
    for task in (*reversed(tasks), Task("new", session_key("new") if is_named else None)):
        key = task.turn(again)
        assert task.turn(again) == key
        if task.name == "old":
            assert key == before["old"]
    assert not again.missed
    again.close()


class Task:
    """A conversation that goes on."""

    def __init__(self, name: str, session: StreamKey | None) -> None:
        self.name, self.session = name, session
        self.said: list[Any] = [{"role": "user", "content": f"begin {name}"}]

    def turn(self, recorder: Recorder) -> StreamKey:
        """Ask, and get an answer: where that was recorded."""
        body = json.dumps({"model": "m", "messages": self.said}).encode()
        text = f"{self.name} said {len(self.said)}"
        call = recorder.begin("openai_chat", body, self.session)
        call.ended(outcome_of("openai_chat", completion(text), 200))
        self.said.append({"role": "assistant", "content": text})
        self.said.append({"role": "user", "content": f"go on from {text}"})
        assert call.stream is not None
        return call.stream.key


def change(path: Path, kind: str, payload: str) -> None:
    """Change the last event of a type under the log, as a bad disk or a person would."""
    with closing(sqlite3.connect(path)) as raw:
        triggers = raw.execute(
            "select name, sql from sqlite_master where type = 'trigger' and tbl_name = 'events'"
        ).fetchall()
        for name, _ in triggers:
            raw.execute(f"drop trigger {name}")
        last = f"(select max(sequence) from events where type = '{kind}')"
        done = raw.execute(f"update events set payload = {payload} where sequence = {last}")
        assert done.rowcount == 1
        for _, sql in triggers:
            raw.execute(sql)
        raw.commit()
