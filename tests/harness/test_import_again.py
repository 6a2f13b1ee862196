from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from claude_lines import SESSION, Transcript, call, long_session, text
from imported import events, run, shape

from eventlog import EventLog, StreamKey
from eventlog.events import ItemPinned
from projections.context import fold

KEY = StreamKey("local", "claude-code", SESSION)


class TestTheSameFileAgain:
    """Import runs from a hook after every turn: what it doubles is doubled hundreds of times."""

    @pytest.mark.parametrize("final", [False, True])
    def test_a_second_import_adds_nothing(self, log: EventLog, tmp_path: Path, final: bool) -> None:
        path = long_session().write(tmp_path / "session.jsonl")
        first = run(log, path, final=final)
        before = shape(log), log.last_sequence()
        second = run(log, path, final=final)
        assert (second.new, second.known) == (0, first.new)
        assert (shape(log), log.last_sequence()) == before

    def test_a_copy_at_another_path_is_the_same_session(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        path = long_session().write(tmp_path / "session.jsonl")
        run(log, path)
        copy = tmp_path / "elsewhere" / "copy.jsonl"
        copy.parent.mkdir()
        shutil.copy(path, copy)
        assert run(log, copy).new == 0

    def test_two_logs_give_the_same_records_different_ids(self, tmp_path: Path) -> None:
        path = long_session().write(tmp_path / "session.jsonl")
        found = []
        for name in ("one.db", "two.db"):
            with EventLog(tmp_path / name) as log:
                run(log, path)
                found.append({e.event_id for e in log.read(KEY)})
        assert found[0].isdisjoint(found[1])

    def test_the_same_line_twice_in_a_file_is_two_events(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Hi.", uuid="same", parent=None)
        t.records.append(dict(t.records[0]))
        path = t.write(tmp_path / "session.jsonl")
        assert run(log, path).new == 3
        assert run(log, path).new == 0

    def test_windows_line_ends_are_no_change(self, log: EventLog, tmp_path: Path) -> None:
        path = long_session().write(tmp_path / "session.jsonl")
        run(log, path)
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        assert run(log, path).new == 0

    def test_pins_of_our_own_between_two_imports_stay_where_they_are(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = long_session()
        path = t.write(tmp_path / "session.jsonl")
        run(log, path)
        log.append(KEY, ItemPinned(item="4"))
        assert run(log, path).new == 0
        t.user("One more.")
        assert run(log, t.write(path)).new == 1
        assert [e.type for e in events(log, str(KEY))][-2:] == ["item_pinned", "message_appended"]
        assert run(log, path).new == 0


class TestAGrowingFile:
    """The file is read while the agent writes it, at any byte."""

    def test_any_cuts_give_the_same_events_as_one_import(self, tmp_path: Path) -> None:
        data = long_session().bytes()
        path = tmp_path / "session.jsonl"
        path.write_bytes(data)
        with EventLog(tmp_path / "once.db") as log:
            run(log, path)
            expected = shape(log)
        rng = random.Random(7)
        cuts = sorted(rng.sample(range(1, len(data)), 20))
        with EventLog(tmp_path / "grown.db") as log:
            for end in [*cuts, len(data)]:
                path.write_bytes(data[:end])
                report = run(log, path)
                assert [s.forks for s in report.sessions if s.forks] == []
                assert [s.vanished for s in report.sessions if s.vanished] == []
            assert shape(log) == expected
            assert run(log, path).new == 0

    def test_each_cut_by_itself_is_a_valid_beginning(self, tmp_path: Path) -> None:
        data = long_session().bytes()
        path = tmp_path / "session.jsonl"
        path.write_bytes(data)
        with EventLog(tmp_path / "whole.db") as log:
            run(log, path)
            expected = shape(log)
        rng = random.Random(11)
        for number in range(8):
            path.write_bytes(data[: rng.randrange(len(data))])
            with EventLog(tmp_path / f"{number}.db") as log:
                run(log, path)
                assert shape(log) == expected[: log.last_sequence()]

    def test_a_torn_line_and_an_open_answer_are_pending(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Hi.")
        t.answer("msg_1", text("Hello."))
        path = t.write(tmp_path / "session.jsonl")
        path.write_bytes(path.read_bytes() + b'{"type":"assis')
        report = run(log, path)
        assert (report.sessions[0].pending, report.files[0].pending) == (1, 1)
        assert log.version(KEY) == 2

    @pytest.mark.parametrize("stop", ["end_turn", "stop_sequence", "refusal", "max_tokens"])
    def test_an_answer_that_says_that_it_is_done_does_not_wait(
        self, log: EventLog, tmp_path: Path, stop: str
    ) -> None:
        t = Transcript()
        t.user("Hi.")
        t.answer("msg_1", text("Hello."))
        t.answer("msg_1", text("Bye."), stop_reason=stop)
        t.record("attachment", attachment={"type": "todo_reminder", "content": "Nothing."})
        path = t.write(tmp_path / "session.jsonl")
        report = run(log, path)
        assert report.pending == 0
        assert [e.type for e in events(log, str(KEY))][-4:] == [
            "model_called", "message_appended", "model_responded", "message_appended",
        ]  # fmt: skip
        before = shape(log)
        t.user("Go on.")
        report = run(log, t.write(path))
        assert (report.new, report.sessions[0].forks) == (1, [])
        assert shape(log)[: len(before)] == before

    @pytest.mark.parametrize("stop", [None, "tool_use", "pause_turn"])
    def test_an_answer_that_does_not_say_so_waits(
        self, log: EventLog, tmp_path: Path, stop: str | None
    ) -> None:
        t = Transcript()
        t.user("Hi.")
        t.answer("msg_1", text("Hello."), stop_reason="end_turn")
        t.answer("msg_1", text("More."), stop_reason=stop)
        assert run(log, t.write(tmp_path / "session.jsonl")).pending == 2

    def test_an_answer_whose_calls_are_open_waits(self, log: EventLog, tmp_path: Path) -> None:
        t = Transcript()
        t.user("Hi.")
        t.answer("msg_1", call("toolu_1"), call("toolu_2"), stop_reason="max_tokens")
        t.result("toolu_1", "one")
        path = t.write(tmp_path / "session.jsonl")
        assert run(log, path).pending == 2
        t.result("toolu_2", "two")
        assert run(log, t.write(path)).pending == 0

    def test_records_of_an_answer_that_said_that_it_was_done_are_taken_all_the_same(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Hi.")
        t.answer("msg_1", text("Hello."), stop_reason="end_turn")
        path = t.write(tmp_path / "session.jsonl")
        run(log, path)
        t.answer("msg_1", text("And more."), stop_reason="end_turn")
        t.user("Go on.")
        report = run(log, t.write(path))
        assert (report.pending, report.sessions[0].forks) == (0, [])
        assert any("And more." in e.payload for e in events(log, str(KEY)))
        assert run(log, path).new == 0

    def test_a_file_without_a_session_id_yet_is_pending_as_a_whole(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.bare("summary", summary="Old", leafUuid="x")
        path = t.write(tmp_path / "stem.jsonl")
        assert run(log, path).pending == 1
        assert log.streams() == []
        run(log, path, final=True)
        assert log.version("local/claude-code/stem") == 2


class TestFinal:
    """``final`` takes what is open; if the file goes on, nothing may be lost or doubled."""

    def test_an_answer_taken_before_its_end_gets_its_rest_later(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Hi.")
        t.answer("msg_1", text("First block."))
        path = t.write(tmp_path / "session.jsonl")
        run(log, path, final=True)
        t.answer("msg_1", call("a"))
        t.result("a", "done")
        t.user("Thanks.")
        report = run(log, t.write(path))
        assert report.sessions[0].forks == []
        contents = [
            e.data["message"]["content"] for e in log.read(KEY) if e.type == "message_appended"
        ]
        assert contents[1:] == [[text("First block.")], [call("a")], "Thanks."]
        again = run(log, path), run(log, path, final=True)
        assert [r.new for r in again] == [0, 0]

    def test_a_later_compaction_covers_both_parts_of_such_an_answer(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Hi.")
        t.answer("msg_1", text("First block."))
        path = t.write(tmp_path / "session.jsonl")
        run(log, path, final=True)
        t.answer("msg_1", text("Second block."))
        t.boundary()
        t.summary("Summed up.")
        run(log, t.write(path), final=True)
        view = fold(log.read(KEY))
        assert view.notes == []
        assert view.labels() == [f"{log.version(KEY)}.0"]

    def test_a_torn_line_taken_as_it_was_does_not_stop_its_completion(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Hi.")
        t.user("How are you?")
        data = t.bytes()
        path = tmp_path / "session.jsonl"
        path.write_bytes(data[:-9])
        assert run(log, path, final=True).unreadable == 1
        assert run(log, path, final=True).new == 0
        path.write_bytes(data)
        report = run(log, path)
        assert (report.new, report.sessions[0].forks) == (1, [])
        assert run(log, path).new == 0

    def test_a_plain_import_after_a_final_one_misses_nothing(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Hi.")
        t.answer("msg_1", text("Hello."))
        path = t.write(tmp_path / "session.jsonl")
        run(log, path, final=True)
        report = run(log, path)
        assert (report.new, report.pending, report.sessions[0].vanished) == (0, 0, 0)
