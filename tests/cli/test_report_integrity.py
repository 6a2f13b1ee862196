"""What the page is told of where a session came from, what was erased, and whether it holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from demo_log import demo_log
from running import ROOT, data, run
from small_log import FORK, KEY, small_log

from cli.report.integrity import integrity
from cli.report.model_integrity import IntegrityData
from cli.report.session import read
from eventlog import StreamKey
from eventlog.events import DecisionUndone, RecordingInterrupted
from harness.importers import import_path
from projections import open_log
from projections.memory.past import Pasts

SAMPLE = ROOT.parent / "shared" / "samples" / "claude-code" / (
    "cc11_small_compact_v2.1.44.jsonl"
)  # fmt: skip


def told(db: Path, key: StreamKey | None = None) -> IntegrityData:
    with open_log(db) as live:
        return integrity(read(live, key or live.log.streams()[0].key, Pasts(live)))


class TestWhereItCameFrom:
    """A page that is passed on has to say whose log it is of, and by whom it was written."""

    def test_an_import_names_its_file_and_who_wrote_it(self, tmp_path: Path) -> None:
        db = demo_log(tmp_path)
        found = told(db)
        stats = data("stats", "8f31", "--db", db)
        assert (found.files, found.format) == ([stats["file"]], "claude-code")
        assert (found.is_observed, found.importer_version >= 1) == (True, True)
        assert found.foreign_id.startswith("8f31c0a9")

    def test_a_path_is_told_as_the_importer_recorded_it(self, tmp_path: Path) -> None:
        if not SAMPLE.exists():
            pytest.skip("the samples are not here")
        db = tmp_path / "s.db"
        with open_log(db) as live:
            import_path(live.log, SAMPLE)
        assert told(db).files == [SAMPLE.name]

    def test_its_events_by_type_are_all_of_its_own(self, tmp_path: Path) -> None:
        db = small_log(tmp_path)
        for key in (KEY, FORK):
            found = told(db, key)
            assert sum(found.types.values()) == found.events
            assert found.events == data("head", key.session, "--db", db)["events"]
        assert told(db, KEY).types["message_appended"] == 7

    def test_a_fork_names_its_parent_and_the_parent_its_forks(self, tmp_path: Path) -> None:
        db = small_log(tmp_path)
        parent, (fork,) = told(db, FORK).parent, told(db, KEY).forks
        assert parent is not None
        assert (parent.key, parent.at) == (str(KEY), 13)
        assert (fork.key, fork.at) == (str(FORK), 13)

    def test_records_gaps_and_undos_that_lead_nowhere_are_told(self, tmp_path: Path) -> None:
        db = small_log(tmp_path)
        with open_log(db) as live:
            live.append(KEY, RecordingInterrupted(calls_missed=3, reason="the disk was full"))
            live.append(KEY, DecisionUndone(target=3))
        found = told(db, KEY)
        assert [(each.file, each.line) for each in found.unrecognized] == [("s.jsonl", 9)]
        assert found.unrecognized_count == 1
        assert [(gap.position, gap.calls_missed) for gap in found.gaps] == [(27, 3)]
        assert [(note.position, note.message) for note in found.notes] == [
            (28, "there is no decision 3 to undo")
        ]


class TestErased:
    """Who reads a page sees that something is missing, and who said so."""

    def test_a_redaction_says_what_by_whom_and_why(self, tmp_path: Path) -> None:
        db = small_log(tmp_path)
        args = ["redact", "refunds-0001", "4", "--reason", "an address", "--yes"]
        assert run(*args, "--db", db).exit_code == 0
        found = told(db, KEY)
        (redaction,) = found.redactions
        assert 4 in redaction.events
        assert (redaction.reason, redaction.position) == ("an address", 27)
        assert found.erased == found.verified.redactions == len(redaction.events)
        assert found.verified.problems == []


class TestWhetherItHolds:
    """The page says of its log what `verify` says of it."""

    def test_as_verify_does(self, tmp_path: Path) -> None:
        db = small_log(tmp_path)
        found, verified = told(db, KEY).verified, data("verify", "refunds-0001", "--db", db)
        assert (found.events, found.problems) == (verified["events"], verified["problems"])

    def test_a_log_that_was_changed_does_not(self, tmp_path: Path) -> None:
        db = small_log(tmp_path)
        db.write_bytes(db.read_bytes().replace(b"ORD-77120", b"ORD-77121"))
        problems = told(db, KEY).verified.problems
        assert (problems[0].position, problems[0].stream) == (4, str(KEY))
