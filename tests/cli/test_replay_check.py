"""``replay --check``: every recorded call rebuilt from its events; a damaged one is found."""

from __future__ import annotations

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from running import ROOT, data, run
from small_log import small_log

sys.path.insert(0, str(ROOT / "tests" / "harness"))
from model_server import completion

from eventlog import Draft, StreamKey
from eventlog.events import ModelCalled
from harness.exchange.outcomes import outcome_of
from harness.recording import Recorder
from projections import open_log, walked

KEY = StreamKey("local", "recorded", "s")
TOOLS = [{"type": "function", "function": {"name": "look", "description": "at things"}}]


def asked(*messages: Any, **more: Any) -> bytes:
    body = {"model": "m", "messages": messages, "tools": TOOLS, **more}
    return json.dumps(body, separators=(",", ":")).encode()


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def tool(text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "c1", "content": text}


CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
SEEN = {"role": "assistant", "content": "I see"}
ANSWER = {"role": "assistant", "content": None, "tool_calls": [CALL]}


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Three calls; before the third one the agent cleared a result."""
    path = tmp_path / "r.db"
    recorder = Recorder(path, session="s")
    for body, said in (
        (asked(user("look")), completion(None, tool_calls=[CALL])),
        (asked(user("look"), ANSWER, tool("found a lot")), completion("I see")),
        (
            asked(user("look"), ANSWER, tool("[cleared]"), SEEN, user("go on")),
            completion("done"),
        ),
    ):  # fmt: skip
        call = recorder.begin("openai_chat", body)
        call.ended(outcome_of("openai_chat", json.dumps(said), 200))
    recorder.close()
    return path


def damage(db: Path, sql: str, *values: Any) -> None:
    """Change rows under the log, as a bad disk or a person would, and leave no trace but them."""
    with closing(sqlite3.connect(db)) as raw:
        triggers = raw.execute(
            "select name, sql from sqlite_master where type = 'trigger' and tbl_name = 'events'"
        ).fetchall()
        for name, _ in triggers:
            raw.execute(f"drop trigger {name}")
        assert raw.execute(sql, values).rowcount == 1
        for _, made in triggers:
            raw.execute(made)
        raw.commit()


def position(db: Path, kind: str) -> int:
    with open_log(db) as live:
        (found,) = [event.position for event in live.log.read(KEY, types=[kind])]
    return found


class TestWhatHolds:
    """A check that finds fault with what is right is switched off."""

    def test_every_recorded_call_is_the_same_to_the_byte(self, db: Path) -> None:
        result = run("replay", "s", "--check", "--db", db)
        assert result.exit_code == 0
        assert result.stdout == "3 calls rebuilt from the events: 3 as sent (3 to the byte)\n"
        found = data("replay", "s", "--check", "--db", db)
        assert [each["ref"] for each in found["checked"]] == ["c1", "c2", "c3"]
        assert (found["calls"], found["same"], found["same_bytes"]) == (3, 3, 3)

    def test_one_call_alone(self, db: Path) -> None:
        found = data("replay", "s@c3", "--check", "--db", db)
        assert [each["ref"] for each in found["checked"]] == ["c3"]
        assert found["same_bytes"] == 1


class TestWhatDoesNot:
    """The one thing that it is for."""

    def test_a_changed_event_is_named(self, db: Path) -> None:
        at = position(db, "tool_result_recorded")
        damage(
            db, "update events set payload = replace(payload, 'a lot', 'a rat') where position = ?",
            at,
        )  # fmt: skip
        result = run("replay", "s", "--check", "--db", db)
        assert result.exit_code == 4
        lines = result.stdout.splitlines()
        assert lines[0].split()[:2] == ["c2", "broken"]
        assert lines[1].startswith(f"event {at} does not hold ")
        assert lines[-1].endswith("2 as sent (2 to the byte); 1 differs")
        found = json.loads(run("replay", "s", "--check", "--json", "--db", db).stdout)["data"]
        assert [each["outcome"] for each in found["checked"]] == ["same", "differs", "same"]

    def test_a_substitution_that_is_gone_is_named(self, db: Path) -> None:
        at = position(db, "placeholder_substituted")
        damage(db, "delete from events where position = ?", at)
        result = run("replay", "s", "--check", "--db", db)
        assert result.exit_code == 4
        line = result.stdout.splitlines()[0]
        assert line.split()[:2] == ["c3", "broken"]
        assert f"event {at}, which it was made of, is not there" in line

    def test_an_event_that_cannot_be_read_is_an_integrity_fault(self, db: Path) -> None:
        damage(db, "update events set payload = '{' where position = ?",
               position(db, "placeholder_substituted"))  # fmt: skip
        result = run("replay", "s", "--check", "--db", db)
        assert result.exit_code == 4
        assert result.stderr.count("\n") == 1

    def test_a_difference_that_no_decision_explains_is_told(self, db: Path) -> None:
        with open_log(db) as live:
            first = next(live.log.read(KEY, types=["model_called"]))
            assert isinstance(first.event, ModelCalled)
            salt = live.log.salts(KEY, [first.position])[first.position]
            live.append(KEY, Draft(first.event, salt=salt))
        result = run("replay", "s", "--check", "--db", db)
        assert result.exit_code == 1
        assert result.stdout.splitlines()[0].split()[:2] == ["c4", "drift"]


class TestWhatCannotBeChecked:
    """It is never counted as fine."""

    def test_calls_of_which_no_request_was_recorded(self, tmp_path: Path) -> None:
        small_log(tmp_path)
        found = data("replay", "refunds-0001", "--check", "--db", tmp_path / "small.db")
        assert found["same"] == found["differ"] == 0
        assert found["unchecked"] == {"no request was recorded": found["calls"]}
        assert found["calls"] > 0

    def test_calls_of_which_something_was_erased(self, db: Path) -> None:
        done = run("redact", "s", str(position(db, "tool_result_recorded")), "--yes", "--db", db)
        assert done.exit_code == 0, done.output
        result = run("replay", "s", "--check", "--db", db)
        assert result.exit_code == 0
        assert "1 as sent (1 to the byte); 2 not checked: text of it was erased" in result.stdout

    def test_bytes_of_which_no_digest_was_recorded(self, db: Path) -> None:
        """Imported requests are proved as JSON and have no bytes."""
        damage(
            db,
            "update events set payload = json_remove(payload, '$.wire_digest') "
            "where rowid = (select max(rowid) from events where type = 'model_called')",
        )
        found = data("replay", "s", "--check", "--db", db)
        assert (found["same"], found["same_bytes"]) == (3, 2)
        assert found["checked"][-1]["same_bytes"] is None
        told = run("replay", "s", "--check", "--db", db).stdout
        assert "3 as sent (2 to the byte, 1 of unknown bytes)" in told


def test_other_bytes_are_told_and_are_no_fault(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "r.db", session="s")
    for text in ("a", "b"):
        body = asked(user(text)).replace(b'"model"', b'"mod\\u0065l"', text == "b")
        recorder.begin("openai_chat", body).failed("nobody was asked")
    recorder.close()
    result = run("replay", "s", "--check", "--db", tmp_path / "r.db")
    assert result.exit_code == 0
    assert "2 as sent (1 to the byte, 1 in other bytes)" in result.stdout


class TestItsWork:
    """Ten thousand calls are an afternoon of an agent."""

    def test_a_call_costs_what_is_new_in_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        recorder, messages = Recorder(tmp_path / "r.db", session="s"), list[Any]()
        for number in range(200):
            messages.append(user(f"go on {number}"))
            call = recorder.begin("openai_chat", asked(*messages))
            answer = json.dumps(completion(f"said {number}"))
            call.ended(outcome_of("openai_chat", answer, 200))
            messages.append({"role": "assistant", "content": f"said {number}"})
        recorder.close()
        made = 0
        plain = walked.entry_of

        def counted(*args: Any) -> Any:
            nonlocal made
            made += 1
            return plain(*args)

        monkeypatch.setattr(walked, "entry_of", counted)
        assert data("replay", "s", "--check", "--db", tmp_path / "r.db")["same_bytes"] == 200
        assert made == 399  # each message once


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["refunds-0001@k1", "--check"], "name a session, or one of its calls"),
        (["refunds-0001", "--check", "--strategy", "clear"], "--check goes without"),
        (["refunds-0001", "--check", "--format", "json"], "--check goes without"),
    ],
)
def test_what_cannot_be_asked_is_one_line(args: list[str], why: str, tmp_path: Path) -> None:
    small_log(tmp_path)
    result = run("replay", *args, "--db", tmp_path / "small.db")
    assert result.exit_code == 2
    assert why in result.stderr
    assert result.stderr.count("\n") == 1
