from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from claude_lines import SESSION, Transcript, call, long_session, text
from imported import events, run, shape

from eventlog import Draft, EventLog, StreamKey
from eventlog.errors import InputRefused, WrongExpectedVersion
from eventlog.events import ItemPinned, SessionStarted
from eventlog.redaction import Target, redact
from harness.importers import Options, import_path
from projections.context import fold
from projections.source_counts import source_counts

KEY = StreamKey("local", "claude-code", SESSION)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with EventLog(tmp_path / "log.db") as opened:
        yield opened


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


class TestNames:
    """A name that is taken must not mix two conversations."""

    def test_a_session_that_was_not_imported_is_not_written_to(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        log.append(KEY, SessionStarted())
        path = long_session().write(tmp_path / "session.jsonl")
        report = import_path(log, path)
        assert "was not imported" in report.errors[0]
        assert log.version(KEY) == 1

    def test_another_source_under_the_same_given_name_is_refused(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        run(log, long_session().write(tmp_path / "a.jsonl"), session="mine")
        other = Transcript("another-session")
        other.user("Hi.")
        report = import_path(log, other.write(tmp_path / "b.jsonl"), Options(session="mine"))
        assert "holds another source" in report.errors[0]

    def test_user_agent_and_session_can_be_given(self, log: EventLog, tmp_path: Path) -> None:
        path = long_session().write(tmp_path / "a.jsonl")
        run(log, path, user="ada", agent="cc", session="kiln")
        assert [str(info.key) for info in log.streams()] == ["ada/cc/kiln"]
        with pytest.raises(InputRefused, match="not a folder"):
            import_path(log, tmp_path, Options(session="kiln"))

    def test_a_forgotten_source_is_refused(self, log: EventLog, tmp_path: Path) -> None:
        path = long_session().write(tmp_path / "a.jsonl")
        run(log, path)
        log.forget_source(KEY)
        report = import_path(log, path)
        assert "forgotten" in report.errors[0]

    def test_a_strange_session_id_becomes_a_name_and_never_a_path(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript("../../etc/\u202epasswd\n" + "x" * 400)
        t.user("Hi.")
        run(log, t.write(tmp_path / "a.jsonl"))
        [info] = log.streams()
        assert info.key.session.startswith("../../etc/%202epasswd%0axxx")
        assert sorted(p.name for p in tmp_path.iterdir() if p.suffix == ".jsonl") == ["a.jsonl"]


class TestSeveralWriters:
    """A hook and a person import at once: the events must stand once, in order."""

    def test_an_import_that_loses_a_race_starts_again(self, tmp_path: Path) -> None:
        t = long_session()
        path = t.write(tmp_path / "session.jsonl")
        with EventLog(tmp_path / "log.db") as log, EventLog(tmp_path / "log.db") as other:
            run(other, path)
            t.user("More.")
            t.write(path)
            raced = []

            def in_between(_: object) -> None:
                if not raced:
                    raced.append(other.append(KEY, ItemPinned(item="4")))

            original = log.append

            def racing(*args: object, **options: object) -> object:
                in_between(None)
                return original(*args, **options)  # type: ignore[arg-type]

            log.append = racing  # type: ignore[method-assign, assignment]
            report = run(log, path)
            assert raced
            assert report.new == 1
            assert run(other, path).new == 0

    def test_a_draft_of_the_same_id_is_not_appended_twice(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        path = long_session().write(tmp_path / "session.jsonl")
        run(log, path)
        last = events(log, str(KEY))[-1]
        appended = log.append(
            KEY,
            Draft(last.event, last.id, last.occurred_at),
            expected_version=0,  # type: ignore[arg-type]
        )
        assert appended.repeated
        with pytest.raises(WrongExpectedVersion):
            log.append(KEY, ItemPinned(item="4"), expected_version=0)


class TestBatches:
    """A long file in one transaction holds the lock for minutes; cut anywhere, answers tear."""

    def test_an_answer_and_its_results_are_in_one_append(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        for number in range(400):
            t.user(f"Prompt {number}.")
            t.answer(f"msg_{number}", call(f"a{number}"))
            t.result(f"a{number}", "done")
        run(log, t.write(tmp_path / "session.jsonl"), final=True)
        appends: dict[int, list[str]] = {}  # events of one append are recorded at one time
        for e in log.read(KEY):
            appends.setdefault(e.recorded_at, []).append(e.type)
        assert len(appends) == 4
        assert max(len(types) for types in appends.values()) < 510
        for types in appends.values():
            assert types.count("model_called") == types.count("tool_result_recorded")

    def test_a_kill_between_two_appends_leaves_what_the_next_import_completes(
        self, tmp_path: Path
    ) -> None:
        class Killed(BaseException):
            pass

        t = Transcript()
        for number in range(300):
            t.user(f"Prompt {number}.")
            t.answer(f"msg_{number}", text("Yes."))
        path = t.write(tmp_path / "session.jsonl")
        with EventLog(tmp_path / "log.db") as log:
            original, left = log.append, [2]

            def dying(*args: object, **options: object) -> object:
                left[0] -= 1
                if left[0] < 0:
                    raise Killed
                return original(*args, **options)  # type: ignore[arg-type]

            log.append = dying  # type: ignore[method-assign, assignment]
            with pytest.raises(Killed):
                run(log, path)
        with EventLog(tmp_path / "log.db") as log:
            assert 1000 <= log.version(KEY) < 1010
            run(log, path)
            grown = shape(log)
        with EventLog(tmp_path / "once.db") as log:
            run(log, path)
            assert shape(log) == grown


class TestErasedRecords:
    """An erased secret must not come back with the next import of the file that still holds it."""

    def test_an_erased_record_stays_erased_and_the_counts_stay(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = long_session()
        path = t.write(tmp_path / "session.jsonl")
        run(log, path)
        before = source_counts(log.read(KEY))
        everything = [Target(KEY, e.position) for e in log.read(KEY)]
        redact(log, everything, stream=KEY, reason="test")
        t.user("More.")
        report = run(log, t.write(path))
        assert (report.new, report.sessions[0].forks) == (1, [])
        assert [e.erased for e in log.read(KEY)].count(True) == len(everything)
        after = source_counts(log.read(KEY))
        assert after.model_copy(update={"records": before.records}) == before.model_copy(
            update={"visible_after_last_compaction": after.visible_after_last_compaction}
        )
