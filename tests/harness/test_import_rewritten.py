from __future__ import annotations

import os
from pathlib import Path

from claude_lines import SESSION, Transcript, long_session, text
from imported import events, run, shape

from eventlog import EventLog, StreamKey
from projections.context import fold

KEY = StreamKey("local", "claude-code", SESSION)


class TestARewrittenFile:
    """Agents rewrite their files. What was once recorded must not go with them."""

    def test_a_shrunk_file_takes_nothing_away_and_is_reported(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = long_session()
        path = t.write(tmp_path / "session.jsonl")
        run(log, path)
        before = shape(log)
        t.records = t.records[:20]
        report = run(log, t.write(path))
        assert report.new == 0
        assert report.sessions[0].vanished > 0
        assert shape(log) == before

    def rewritten(self, t: Transcript, path: Path) -> Path:
        t.records[16] = {**t.records[16], "message": {"role": "user", "content": "Changed."}}
        return t.write(path)

    def test_a_changed_record_makes_a_fork_at_the_last_common_one(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = long_session()
        path = t.write(tmp_path / "session.jsonl")
        run(log, path)
        before = events(log, str(KEY))
        report = run(log, self.rewritten(t, path))
        child = KEY._replace(session=f"{SESSION}~2")
        assert report.sessions[0].forks == [str(child)]
        base = log.stream(child).base
        assert before[base - 1].type == "session_titled"
        changed = events(log, str(child))
        assert changed[base].data["ownership"] == "observed"
        assert changed[base + 1].data["message"]["content"] == "Changed."
        old, new = (fold(log.read(key)) for key in (KEY, child))
        assert old.notes == new.notes == []
        assert len(old.labels()) == len(new.labels()) == 3

    def test_the_same_rewritten_file_again_adds_nothing(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = long_session()
        path = t.write(tmp_path / "session.jsonl")
        run(log, path)
        run(log, self.rewritten(t, path))
        before = shape(log)
        report = run(log, path)
        assert report.new == 0
        assert report.sessions[0].forks == [f"{KEY}~2"]
        assert shape(log) == before

    def test_a_rewritten_file_that_grows_goes_on_in_its_fork(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = long_session()
        path = t.write(tmp_path / "session.jsonl")
        run(log, path)
        self.rewritten(t, path)
        run(log, path)
        version = log.version(KEY)
        t.user("One more.")
        assert run(log, t.write(path)).new == 1
        assert log.version(KEY) == version
        assert len(log.streams()) == 2

    def test_a_second_rewriting_makes_a_second_fork_and_the_first_state_is_found_again(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        path = tmp_path / "session.jsonl"
        run(log, long_session().write(path))
        run(log, self.rewritten(long_session(), path))
        t = long_session()
        del t.records[20]
        assert run(log, t.write(path)).sessions[0].forks == [f"{KEY}~3"]
        for again in (long_session(), t):
            assert run(log, again.write(path)).new == 0
        assert len(log.streams()) == 3

    def test_a_record_that_vanished_from_the_middle_makes_a_fork(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        for number in range(4):
            t.user(f"Prompt {number}.")
        path = t.write(tmp_path / "session.jsonl")
        run(log, path)
        del t.records[1]
        assert run(log, t.write(path)).sessions[0].forks == [f"{KEY}~2"]
        assert fold(log.read(f"{KEY}~2")).labels() == ["2", "4", "5"]

    def test_a_change_in_a_later_record_of_an_answer_is_seen(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.answer("msg_1", text("First."))
        t.answer("msg_1", text("Second."))
        t.user("Thanks.")
        path = t.write(tmp_path / "session.jsonl")
        run(log, path)
        path.write_bytes(path.read_bytes().replace(b"Second.", b"Edited."))
        assert run(log, path).sessions[0].forks == [f"{KEY}~2"]

    def test_a_file_with_nothing_in_common_forks_at_the_start(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        path = tmp_path / "session.jsonl"
        for content in ("One.", "Two."):
            t = Transcript()
            t.user(content)
            run(log, t.write(path))
        assert log.stream(f"{KEY}~2").base == 1

    def test_a_kill_between_the_fork_and_its_first_event_is_completed(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = long_session()
        path = t.write(tmp_path / "session.jsonl")
        run(log, path)
        self.rewritten(t, path)
        with EventLog(tmp_path / "copy.db") as other:
            run(other, long_session().write(tmp_path / "first.jsonl"))
            run(other, path)
            base = other.stream(f"{KEY}~2").base
        log.fork(f"{KEY}~2", KEY, base, ownership="observed", import_key=os.urandom(32))
        assert run(log, path).sessions[0].forks == [f"{KEY}~2"]
        assert len(log.streams()) == 2
