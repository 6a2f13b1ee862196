from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from codex_lines import KEY, Rollout, long_session, message, sealed
from imported import of_type, run, shape

from eventlog import EventLog
from harness.importers import Options, import_path
from projections.context import fold
from projections.source_counts import source_counts

SEED = 20_260_302
JUNK: list[Any] = [
    None,
    True,
    -1,
    10**40,
    1.5,
    "",
    "\ud83d",
    "\0\u202e\x1b]52;c;aGk=\a",
    "x" * 5000,
    [],
    [[]],
    [None, 7, "text", {"type": "input_text"}, {"type": "message", "role": 5}],
    {},
    {"type": "message", "content": 5},
    {"text": {"text": []}},
]


class TestTheSameFileAgain:
    """Import runs from a hook after every turn: what it doubles is doubled hundreds of times."""

    @pytest.mark.parametrize("final", [False, True])
    def test_a_second_import_adds_nothing(self, log: EventLog, tmp_path: Path, final: bool) -> None:
        path = long_session().write(tmp_path / "rollout.jsonl")
        first = run(log, path, final=final)
        before = shape(log), log.last_sequence()
        second = run(log, path, final=final)
        assert (second.new, second.known) == (0, first.new)
        assert (shape(log), log.last_sequence()) == before

    def test_every_beginning_grows_into_the_whole(self, tmp_path: Path) -> None:
        r = long_session()
        path = tmp_path / "rollout.jsonl"
        with EventLog(tmp_path / "once.db") as log:
            run(log, r.write(path))
            expected = shape(log)
        with EventLog(tmp_path / "grown.db") as log:
            for end in range(1, len(r.lines) + 1):
                path.write_bytes(b"".join(line + b"\n" for line in r.lines[:end]))
                report = run(log, path)
                assert [s.forks for s in report.sessions if s.forks] == []
                assert shape(log) == expected[: log.last_sequence()]
                assert fold(log.read(KEY)).notes == []
            assert shape(log) == expected
            assert run(log, path).new == 0

    def test_any_cuts_in_the_middle_of_lines_give_the_same(self, tmp_path: Path) -> None:
        data = long_session().bytes()
        path = tmp_path / "rollout.jsonl"
        path.write_bytes(data)
        with EventLog(tmp_path / "once.db") as log:
            run(log, path)
            expected = shape(log)
        cuts = sorted(random.Random(7).sample(range(1, len(data)), 30))
        with EventLog(tmp_path / "grown.db") as log:
            for end in [*cuts, len(data)]:
                path.write_bytes(data[:end])
                run(log, path)
            assert shape(log) == expected

    @pytest.mark.parametrize("counts", ["behind", "before"])
    def test_what_was_once_taken_as_final_is_completed_and_counted_once(
        self, tmp_path: Path, counts: str
    ) -> None:
        r = long_session() if counts == "behind" else old_order()
        path = tmp_path / "rollout.jsonl"
        for end in range(2, len(r.lines)):
            with EventLog(tmp_path / f"{end}.db", durability="normal") as log:
                path.write_bytes(b"".join(line + b"\n" for line in r.lines[:end]))
                run(log, path, final=True)
                report = run(log, r.write(path), final=True)
                assert [s.forks for s in report.sessions if s.forks] == []
                found = list(log.read(KEY))
                counted = source_counts(found)
                assert counted.records == len(r.lines)
                assert (counted.tool_calls, counted.orphan_tool_results) == (r_calls(r), 0)
                assert run(log, path, final=True).new == 0

    def test_a_rewritten_file_becomes_a_fork_and_both_are_kept(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        r = long_session()
        path = r.write(tmp_path / "rollout.jsonl")
        run(log, path)
        before = shape(log)
        r.lines = [line.replace(b"Cool it down", b"Keep it warm") for line in r.lines]
        report = run(log, r.write(path))
        assert report.sessions[0].forks == [f"{KEY}~2"]
        assert [row for row in shape(log) if row[0] == KEY] == before
        texts = [e.payload for e in log.read(f"{KEY}~2")]
        assert any("Keep it warm" in text for text in texts)
        assert not any("Cool it down" in text for text in texts)
        assert run(log, path).new == 0

    def test_a_rollout_that_codex_rewrote_shorter_takes_nothing_away(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        r = long_session()
        path = r.write(tmp_path / "rollout.jsonl")
        run(log, path)
        before = shape(log)
        r.lines = r.lines[:12]
        report = run(log, r.write(path))
        assert report.new == 0
        assert report.sessions[0].vanished > 0
        assert shape(log) == before


class TestDamagedFiles:
    """Two writers, a crash, a full disk: what can be read is read, the rest is kept and told."""

    def test_glued_and_torn_lines(self, log: EventLog, tmp_path: Path) -> None:
        r = long_session()
        whole = len(r.lines)
        r.lines[4:6] = [r.lines[4] + r.lines[5]]
        path = tmp_path / "rollout.jsonl"
        path.write_bytes(r.bytes() + b'{"timestamp":"2026-03-01T09:10:00.000Z","type":"respo')
        report = run(log, path)
        assert report.pending == 1
        assert source_counts(log.read(KEY)).records == whole
        path.write_bytes(r.bytes() + b"\0\0\0\n{not json}\n7\n")
        report = run(log, path)
        assert report.unreadable == 3
        assert fold(log.read(KEY)).notes == []

    def test_ids_that_repeat_are_counted_as_often_as_they_stand(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        r = Rollout()
        for _ in range(3):
            r.user("Again.")
            r.call("call_1")
            r.count()
            r.result("call_1")
        r.result("call_1")
        path = r.write(tmp_path / "rollout.jsonl")
        run(log, path)
        found = list(log.read(KEY))
        counted = source_counts(found)
        assert (counted.tool_calls, counted.tool_results) == (3, 4)
        assert (counted.orphan_tool_results, counted.unanswered_tool_calls) == (1, 0)
        assert len(of_type(found, "model_called")) == 3
        assert run(log, path).new == 0

    def test_deep_nesting_is_kept_whole(self, log: EventLog, tmp_path: Path) -> None:
        value: Any = "deep"
        for _ in range(94):
            value = [value]
        r = Rollout()
        r.item("reasoning", id="rs_1", summary=[], content=value)
        r.item("message", role="user", content=[{"type": "input_text", "text": "Hi.", "x": value}])
        r.count()
        run(log, r.write(tmp_path / "rollout.jsonl"), final=True)
        assert source_counts(log.read(KEY)).records == 4

    def test_a_name_that_is_a_path_is_only_a_name(self, log: EventLog, tmp_path: Path) -> None:
        r = Rollout("../../etc/\x1b[31mpasswd", parent_thread_id="../..")
        r.user("Hi.")
        report = run(log, r.write(tmp_path / "rollout.jsonl"))
        assert [s.key for s in report.sessions] == ["local/codex/../../etc/%1b[31mpasswd"]
        [started] = of_type(list(log.read(report.sessions[0].key)), "session_started")
        assert started["parent_session"] == "local/codex/../.."
        assert {path.name for path in tmp_path.iterdir()} <= {
            "rollout.jsonl",
            *(f"log.db{end}" for end in ("", "-wal", "-shm", ".lock")),
        }

    def test_wrong_types_in_every_field_end_no_import(self, tmp_path: Path) -> None:
        rng = random.Random(SEED)
        records = [json.loads(line) for line in long_session().lines]
        records.append(
            {
                "timestamp": "2026-03-01T09:59:00.000Z",
                "type": "compacted",
                "payload": {
                    "message": "x",
                    "replacement_history": [message("user", "Hi."), sealed()],
                },
            }
        )
        for number in range(60):
            found = copy.deepcopy(records)
            for _ in range(rng.randrange(1, 40)):
                damage(rng.choice(found), rng)
            path = tmp_path / f"rollout-{number}.jsonl"
            data = b"".join(json.dumps(record).encode() + b"\n" for record in found)
            path.write_bytes(data)
            with EventLog(tmp_path / f"{number}.db", durability="normal") as log:
                options = Options(session="hostile", format="codex", final=True)
                report = import_path(log, path, options)
                assert report.errors == []
                events = list(log.read("local/codex/hostile"))
                assert fold(events).notes == []
                counted = source_counts(events)
                assert counted.records == len(found)
                assert import_path(log, path, options).new == 0


def damage(record: Any, rng: random.Random) -> None:
    """Exchange or remove one value somewhere in a record, not the line's own type."""
    places: list[tuple[Any, Any]] = []
    stack = [record]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            places += [(node, key) for key in node]
            stack += node.values()
        elif isinstance(node, list):
            places += [(node, index) for index in range(len(node))]
            stack += node
    holder, key = rng.choice(places)
    if rng.random() < 0.2:
        del holder[key]
    else:
        holder[key] = copy.deepcopy(rng.choice(JUNK))


def old_order() -> Rollout:
    """A thread of a version that wrote the token count before the items of its answer."""
    r = Rollout()
    r.turn()
    r.user("Hi.")
    for number in range(3):
        r.count(output=number + 1)
        r.think(number)
        r.call(f"call_{number}")
        r.result(f"call_{number}")
    r.count(output=4)
    r.say("Done.")
    r.ends()
    return r


def r_calls(rollout: Rollout) -> int:
    """The calls that a rollout holds, counted in its text."""
    return sum(b'_call", ' in line and b'"call_id"' in line for line in rollout.lines)
