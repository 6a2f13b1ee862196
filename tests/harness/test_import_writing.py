from __future__ import annotations

from pathlib import Path

import pytest
from claude_lines import SESSION, Transcript, call, long_session, text
from imported import events, run, shape

from eventlog import Draft, EventLog, StreamKey
from eventlog.errors import InputRefused, WrongExpectedVersion
from eventlog.events import ItemPinned, SessionStarted
from eventlog.redaction import Target, redact
from harness.importers import Options, import_path
from projections.source_counts import source_counts

KEY = StreamKey("local", "claude-code", SESSION)


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
