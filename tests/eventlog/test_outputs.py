"""What models gave is kept once, found again, and goes with an erasure."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from given import KEY, OTHER, in_child, made_older, plain, said

from eventlog import EventLog, StreamKey, schema
from eventlog.errors import EventInvalid, IntegrityFault, ReadOnlyLog, StreamNotFound
from eventlog.integrity import head, verify
from eventlog.outputs import Outputs
from eventlog.redaction import Target, erase_outputs, redact
from eventlog.scrub import scrub
from eventlog.transfer import export, import_export

WHY = {"model": "m", "shown": ["one", "zwei \ud83d 三"], "temperature": 0.0}
SECRET = "hunter2-hunter2"


@pytest.fixture
def log(tmp_path: Path) -> EventLog:
    log = EventLog(tmp_path / "log.db")
    log.append(KEY, said("one"), said(SECRET), said("three"))
    log.append(OTHER, said("another session"))
    return log


@pytest.fixture
def outputs(log: EventLog) -> Outputs:
    return Outputs(log)


class TestKeeping:
    """Without it the same summary is paid for twice, and is another text the second time."""

    def test_what_was_kept_is_found(self, outputs: Outputs) -> None:
        assert outputs.find("summary", WHY) is None
        given = {"text": "all of it \ud83d", "usage": {"input": 3}}
        assert outputs.keep(KEY, "summary", WHY, given) == given
        assert outputs.find("summary", dict(reversed(WHY.items()))) == given

    @pytest.mark.parametrize(
        ("kind", "determined"),
        [
            ("answer", WHY),
            ("summary", {**WHY, "model": "n"}),
            ("summary", {**WHY, "shown": ["one zwei \ud83d 三"]}),
            ("summary", {**WHY, "temperature": 0.5}),
        ],
    )
    def test_another_cause_is_another_output(
        self, outputs: Outputs, kind: str, determined: object
    ) -> None:
        outputs.keep(KEY, "summary", WHY, "a")
        assert outputs.find(kind, determined) is None

    def test_the_first_of_two_stays(self, outputs: Outputs, log: EventLog) -> None:
        assert outputs.keep(KEY, "summary", WHY, "first") == "first"
        with EventLog(log.path) as again:
            assert Outputs(again).keep(KEY, "summary", WHY, "second") == "first"

    def test_another_process_finds_it(self, outputs: Outputs, log: EventLog) -> None:
        def child() -> None:
            with EventLog(log.path) as own:
                Outputs(own).keep(KEY, "summary", WHY, "theirs")

        assert in_child(child) == 0
        assert outputs.find("summary", WHY) == "theirs"

    def test_a_kill_leaves_it_whole_or_not_at_all(self, outputs: Outputs, log: EventLog) -> None:
        def child() -> None:
            with EventLog(log.path) as own:
                Outputs(own).keep(KEY, "summary", 1, "x" * 100_000)
                os._exit(9)

        assert in_child(child) == 9
        assert outputs.find("summary", 1) == "x" * 100_000

    def test_it_is_no_event(self, outputs: Outputs, log: EventLog) -> None:
        before = head(log)
        outputs.keep(KEY, "summary", WHY, "a")
        assert head(log) == before
        assert verify(log).problems == ()

    def test_what_is_no_json_and_what_has_no_session_are_refused(self, outputs: Outputs) -> None:
        with pytest.raises(EventInvalid):
            outputs.keep(KEY, "summary", WHY, float("nan"))
        with pytest.raises(StreamNotFound):
            outputs.keep(StreamKey("no", "such", "one"), "summary", WHY, "a")

    def test_the_key_tells_nothing_without_the_log(self, outputs: Outputs, tmp_path: Path) -> None:
        outputs.keep(KEY, "summary", "1234", "a")
        with EventLog(tmp_path / "other.db") as other:
            other.append(KEY, said("one"))
            Outputs(other).keep(KEY, "summary", "1234", "a")
            keys = [
                each.query("select key from outputs").fetchone()[0]
                for each in (outputs._log, other)
            ]
        assert keys[0] != keys[1]


class TestReadingOnly:
    """Without it a log that cannot be written could not be asked about at all."""

    def test_what_was_kept_is_found_and_nothing_is_added(
        self, outputs: Outputs, log: EventLog
    ) -> None:
        outputs.keep(KEY, "summary", WHY, "a")
        with EventLog(log.path, read_only=True) as reading:
            own = Outputs(reading)
            assert outputs.keep_if_possible(KEY, "summary", 3, "c") == ("c", True)
            assert own.find("summary", WHY) == "a"
            with pytest.raises(ReadOnlyLog):
                own.keep(KEY, "summary", 2, "b")
            assert own.keep_if_possible(KEY, "summary", 2, "b") == ("b", False)
            assert own.find("summary", 2) == "b"  # for as long as this is open
        assert outputs.find("summary", 2) is None


class TestImmutable:
    """Without it a summary could be another one than the figures that were made with it."""

    @pytest.mark.parametrize(
        "statement",
        [
            "update outputs set output = '1'",
            "delete from outputs",
            "insert or replace into outputs select key, stream, kind, 0, '1' from outputs",
        ],
    )
    def test_a_plain_connection_is_refused(
        self, outputs: Outputs, log: EventLog, statement: str
    ) -> None:
        outputs.keep(KEY, "summary", WHY, "a")
        with plain(log.path) as db, pytest.raises(sqlite3.IntegrityError, match="ctxlog"):
            db.execute(statement)
        assert outputs.find("summary", WHY) == "a"


class TestErasing:
    """Without it an erased text lives on in what a model made of it."""

    def test_what_was_made_from_the_session_goes_and_the_rest_stays(
        self, outputs: Outputs, log: EventLog
    ) -> None:
        outputs.keep(KEY, "summary", 1, f"it said {SECRET}")
        outputs.keep(OTHER, "summary", 2, "nothing of that")
        redact(log, [Target(KEY, 2)], stream=KEY)
        assert outputs.find("summary", 1) is None
        assert outputs.find("summary", 2) == "nothing of that"
        assert scrub(log, [SECRET]).found == ()

    def test_so_does_what_was_made_from_a_fork_that_holds_it(
        self, outputs: Outputs, log: EventLog
    ) -> None:
        behind, before = StreamKey("ann", "coder", "behind"), StreamKey("ann", "coder", "before")
        far = StreamKey("ann", "coder", "far")
        log.fork(behind, KEY, 2)
        log.fork(before, KEY, 1)
        log.fork(far, behind, 3)
        for number, key in enumerate((behind, before, far)):
            outputs.keep(key, "summary", number, SECRET if key != before else "clean")
        redact(log, [Target(far, 2)], stream=far)
        assert [outputs.find("summary", number) for number in range(3)] == [None, "clean", None]

    def test_an_event_of_the_fork_alone_leaves_what_its_parent_gave(
        self, outputs: Outputs, log: EventLog
    ) -> None:
        child = StreamKey("ann", "coder", "child")
        log.fork(child, KEY, 3)
        log.append(child, said("another secret"))
        outputs.keep(KEY, "summary", 1, "the parent's")
        outputs.keep(child, "summary", 2, "the child's")
        redact(log, [Target(child, 5)], stream=child)
        assert outputs.find("summary", 1) == "the parent's"
        assert outputs.find("summary", 2) is None

    def test_a_text_goes_from_what_other_sessions_gave(
        self, outputs: Outputs, log: EventLog
    ) -> None:
        outputs.keep(OTHER, "answer", 1, {"answers": ["no", f"yes, {SECRET}"]})
        outputs.keep(OTHER, "answer", 2, {"answers": ["no"]})
        redact(log, [Target(KEY, 2)], stream=KEY, holds=lambda text: SECRET in text)
        assert outputs.find("answer", 1) is None
        assert outputs.find("answer", 2) is not None

    def test_an_erasure_that_comes_with_an_export_takes_it_too(
        self, outputs: Outputs, log: EventLog, tmp_path: Path
    ) -> None:
        first = tmp_path / "before.jsonl"
        with first.open("w") as file:
            export(log, file)
        with EventLog(tmp_path / "other.db") as other:
            with first.open("rb") as file:
                import_export(other, file)
            redact(other, [Target(KEY, 2)], stream=KEY)
            with (tmp_path / "after.jsonl").open("w") as file:
                export(other, file)
        outputs.keep(KEY, "summary", 1, SECRET)
        outputs.keep(OTHER, "summary", 2, "stays")
        with (tmp_path / "after.jsonl").open("rb") as file:
            import_export(log, file)
        assert outputs.find("summary", 1) is None
        assert outputs.find("summary", 2) == "stays"

    def test_an_erasure_while_a_model_was_asked_is_noticed(
        self, outputs: Outputs, log: EventLog
    ) -> None:
        """Else what was erased comes back with the answer, and no later redaction finds it."""
        redact(log, [Target(KEY, 2)], stream=KEY)
        assert outputs.keep_if_possible(KEY, "summary", 1, SECRET) == (SECRET, False)
        assert Outputs(log).find("summary", 1) is None
        assert scrub(log, [SECRET]).found == ()
        assert Outputs(log).keep_if_possible(KEY, "summary", 1, "clean") == ("clean", True)

    def test_a_text_that_only_an_output_holds_can_be_erased(
        self, outputs: Outputs, log: EventLog
    ) -> None:
        outputs.keep(KEY, "answer", 1, {"text": "no", "usage": {"name of 4711": 1}})
        outputs.keep(KEY, "answer", 2, "something else")
        assert outputs.holding(lambda text: "4711" in text) == 1
        assert erase_outputs(log, lambda text: "4711" in text) == 1
        assert erase_outputs(log, lambda text: "4711" in text) == 0
        assert scrub(log, ["name of 4711"]).found == ()
        assert outputs.find("answer", 2) == "something else"

    def test_what_is_larger_than_any_answer_is_not_kept(self, outputs: Outputs) -> None:
        assert outputs.keep_if_possible(KEY, "answer", 1, "x" * 2_000_000)[1] is False


class TestDamage:
    @pytest.mark.parametrize("stored", ["{", "nothing"])
    def test_what_cannot_be_read_is_an_integrity_fault(
        self, outputs: Outputs, log: EventLog, stored: str
    ) -> None:
        outputs.keep(KEY, "answer", 1, "fine")
        with plain(log.path) as db:
            db.execute("drop trigger outputs_update")
            db.execute("update outputs set output = ?", [stored])
        with pytest.raises(IntegrityFault):
            outputs.find("answer", 1)


class TestFormat:
    """Without it a log of the first format would be refused, or told to be damaged."""

    @pytest.fixture
    def old(self, log: EventLog) -> Path:
        """A file of format 1: without what format 2 brought."""
        log.close()
        made_older(log.path, 1)
        return log.path

    def test_it_is_brought_to_todays_and_holds_what_it_held(self, old: Path) -> None:
        with EventLog(old) as log:
            assert [event.data["message"]["content"] for event in log.read(KEY)][1] == SECRET
            assert Outputs(log).keep(KEY, "summary", WHY, "a") == "a"
            assert verify(log).problems == ()
        with plain(old) as db:
            assert db.execute("pragma user_version").fetchone() == (schema.FORMAT,)
            assert schema.definitions(db) == schema.expected()

    def test_open_for_reading_it_is_left_as_it_is(self, old: Path) -> None:
        with EventLog(old, read_only=True) as log:
            assert Outputs(log).find("summary", WHY) is None
            assert verify(log).problems == ()
            with pytest.raises(ReadOnlyLog), log.writing():
                pass
        with plain(old) as db:
            assert db.execute("pragma user_version").fetchone() == (1,)
