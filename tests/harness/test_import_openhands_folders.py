from __future__ import annotations

import io
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from claude_lines import long_session
from imported import events, of_type, run, shape
from openhands_sessions import ID, KEY_V0, KEY_V1, SID, V0, V1, small_v0, small_v1
from test_import_hostile import SEED, mutated

from eventlog import EventLog
from eventlog.errors import InputRefused
from harness.importers import Options, Progress, import_path, import_stream
from harness.importers.importing import transcript_of
from projections.context import fold


class TestWhereItLies:
    """A folder is one transcript: taken for many files, each event is refused by itself."""

    @pytest.mark.parametrize("given", ["", "events", ".."])
    def test_the_folder_its_events_or_one_above_give_the_same_session(
        self, log: EventLog, tmp_path: Path, given: str
    ) -> None:
        for made, key in ((small_v1(2), KEY_V1), (small_v0(2), KEY_V0)):
            folder = made.write(tmp_path / "place" / key.rpartition("/")[2])
            report = import_path(log, folder / given)
            assert report.errors == []
            assert key in [s.key for s in report.sessions]
        assert {str(info.key) for info in log.streams()} == {KEY_V1, KEY_V0}

    def test_it_lies_among_other_transcripts(self, log: EventLog, tmp_path: Path) -> None:
        root = tmp_path / "mixed"
        small_v1(1).write(root / "a" / "conversation")
        (root / "a" / "conversation" / "notes.json").write_text('{"theme": "dark"}')
        long_session().write(root / "a" / "conversation" / "tasks" / "claude.jsonl")
        small_v0(1).write(root / SID)
        (root / "bad.jsonl").write_text("no transcript\n")
        report = import_path(log, root)
        assert [f.path for f in report.files] == [
            "a/conversation",
            "a/conversation/tasks/claude.jsonl",
            "bad.jsonl",
            SID,
        ]
        assert report.passed_over == ["a/conversation/notes.json"]
        assert len(report.errors) == 1
        assert len(log.streams()) == 3

    def test_a_name_fits_one_transcript_that_is_a_folder(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        folder = small_v1(1).write(tmp_path / "c")
        run(log, folder, session="mine", final=True)
        assert [str(info.key) for info in log.streams()] == ["local/openhands-v1/mine"]
        with pytest.raises(InputRefused, match="not a folder"):
            import_path(log, tmp_path, Options(session="mine"))

    def test_another_format_is_not_believed(self, log: EventLog, tmp_path: Path) -> None:
        folder = small_v1(1).write(tmp_path / "c")
        (error,) = import_path(log, folder, Options(format="claude-code")).errors
        assert "it holds openhands-v1 and not claude-code" in error

    def test_one_event_by_itself_is_told_to_be_one(self, log: EventLog, tmp_path: Path) -> None:
        for made, name in ((small_v1(1), "openhands-v1"), (small_v0(1), "openhands-v0")):
            folder = made.write(tmp_path / name)
            path = sorted((folder / "events").iterdir())[1]
            (error,) = import_path(log, path).errors
            assert f"one record of an {name} session; name the folder that it is" in error

    def test_numbers_that_name_other_files_are_no_session(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        (tmp_path / "pages").mkdir()
        for number in range(3):
            (tmp_path / "pages" / f"{number}.json").write_text('{"page": 1}')
        report = import_path(log, tmp_path)
        assert report.errors == []
        assert len(report.passed_over) == 3

    def test_a_part_of_it_is_known_to_be_one(self, tmp_path: Path) -> None:
        folder = small_v1(1).write(tmp_path / "c")
        (folder / "notes.json").write_text("{}")
        (folder / "events" / "notes.json").write_text("{}")
        parts = [*(folder / "events").glob("event-*"), folder / "base_state.json"]
        assert {transcript_of(path) for path in parts} == {folder}
        old = small_v0(1).write(tmp_path / SID)
        assert transcript_of(old / "events" / "1.json") == old
        for other in (folder / "notes.json", folder / "events" / "notes.json", tmp_path / "no"):
            assert transcript_of(other) == other

    def test_progress_is_told_in_bytes_of_all_events(self, log: EventLog, tmp_path: Path) -> None:
        folder = small_v1(3).write(tmp_path / "c")
        told: list[Progress] = []
        run(log, folder, progress=told.append)
        size = sum(path.stat().st_size for path in (folder / "events").iterdir())
        assert told[-1].bytes_read == told[-1].bytes_total == size
        assert len(told) == 8


class TestOneLongFile:
    """What is looked at of a file is its beginning: its first event may be longer than that."""

    @pytest.mark.parametrize("form", ["array", "run", "indented"])
    def test_the_format_is_told_of_its_beginning(
        self, log: EventLog, tmp_path: Path, form: str
    ) -> None:
        for made, name in ((small_v1(1), "openhands-v1"), (small_v0(1), "openhands-v0")):
            made.user("x" * 1_200_000)
            value: Any = made.events
            if form == "run":
                value = {"instance_id": "i", "history": made.events}
            path = tmp_path / f"{name}.{'jsonl' if form == 'run' else 'json'}"
            path.write_text(json.dumps(value, indent=1 if form == "indented" else None))
            [file] = run(log, path).files
            assert file.format == name
            assert file.sessions[0].new > 8

    def test_a_trajectory_comes_through_a_pipe(self, log: EventLog) -> None:
        for made, name in ((small_v1(1), "openhands-v1"), (small_v0(1), "openhands-v0")):
            stream = io.BytesIO(json.dumps(made.events).encode())
            report = import_stream(log, stream, Options(session="piped"))
            assert report.errors == []
            assert report.sessions[0].key == f"local/{name}/piped"


class TestWhatLiesInIt:
    """A hostile folder must not make the import read what is not its own, hang, or end."""

    def test_links_pipes_and_folders_are_not_opened_and_said(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = small_v1(3)
        folder = v1.write(tmp_path / "c")
        private = tmp_path / "private.json"
        private.write_text(json.dumps({**v1.events[3], "kind": "MessageEvent", "x": "private"}))
        names = [v1.file(folder, number) for number in (3, 4, 5)]
        for name in names:
            name.unlink()
        names[0].symlink_to(private)
        os.mkfifo(names[1])
        names[2].mkdir()
        report = run(log, folder, final=True)
        notes = report.files[0].notes
        assert sum("not a regular file, and not opened" in note for note in notes) == 3
        assert "3 events are missing: 3-5" in notes
        assert "private" not in "".join(e.payload or "" for e in log.read(KEY_V1))

    def test_a_link_in_the_place_of_the_state_or_the_events_is_not_followed(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        folder = small_v1(1).write(tmp_path / "c")
        (folder / "base_state.json").rename(tmp_path / "state")
        (folder / "base_state.json").symlink_to(tmp_path / "state")
        report = run(log, folder, final=True)
        assert ID not in report.sessions[0].key
        other = tmp_path / "other"
        other.mkdir()
        (other / "events").symlink_to(folder / "events")
        assert import_path(log, other).files == []

    def test_foreign_files_gaps_and_repeated_numbers_are_said(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = small_v1(3)
        folder = v1.write(tmp_path / "c")
        v1.file(folder, 2).unlink()
        v1.file(folder, 4).unlink()
        v1.file(folder, 5).unlink()
        (folder / "events" / "README.txt").write_text("hello")
        (folder / "events" / ".eventlog.lock").write_text("")
        (folder / "events" / "%2e%2e%2fetc.json").write_text("{}")
        twice = {**v1.events[7], "id": "99999999-0000-4000-8000-000000000000"}
        (folder / "events" / f"event-00007-{twice['id']}.json").write_text(json.dumps(twice))
        report = run(log, folder, final=True)
        assert report.files[0].notes == [
            "no events: %2e%2e%2fetc.json, README.txt",
            "a number twice: event-00007-99999999-0000-4000-8000-000000000000.json",
            "3 events are missing: 2, 4-5",
        ]
        assert fold(log.read(KEY_V1)).notes == []
        places = [r for e in log.read(KEY_V1) for r in e.data["origin"]["records"]]
        assert {(r["line"], r.get("part", 0)) for r in places if r["line"] == 8} == {(8, 0), (8, 1)}

    def test_an_id_is_data_and_never_a_path(self, log: EventLog, tmp_path: Path) -> None:
        v1 = small_v1(1)
        v1.state["id"] = "../../\x1b[31mkiln\u202e"
        folder = v1.write(tmp_path / "c")
        before = sorted(tmp_path.rglob("*"))
        report = import_path(log, folder)
        assert [s.key.isprintable() for s in report.sessions] == [True] * (not report.errors)
        assert sorted(tmp_path.rglob("*")) == before

    @pytest.mark.parametrize(
        "content",
        [b"", b"{", b'{"kind": "ActionEv', b"\0\0\0", b"[1]", b"7", b"\xff\xfe", b"{} {}"],
    )
    def test_a_bad_event_in_the_middle_is_kept_and_keeps_none_out(
        self, log: EventLog, tmp_path: Path, content: bytes
    ) -> None:
        v1 = small_v1(3)
        folder = v1.write(tmp_path / "c")
        v1.file(folder, 3).write_bytes(content)
        report = run(log, folder, final=True)
        assert report.unreadable == 1
        [kept] = of_type(events(log, KEY_V1), "record_unrecognized")
        assert kept["kind"] == "unreadable"
        assert kept["file"] == v1.file(folder, 3).name
        assert run(log, folder, final=True).new == 0

    def test_a_damaged_first_event_does_not_hide_the_session(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        folder = small_v0(2).write(tmp_path / SID)
        (folder / "events" / "0.json").write_bytes(b"\0" * 99)
        (folder / "events" / "1.json").unlink()
        os.mkfifo(folder / "events" / "1.json")
        report = run(log, folder)
        assert report.unreadable == 1
        assert report.files[0].notes[0] == "1.json: not a regular file, and not opened"

    def test_a_deep_or_endless_value_is_one_that_cannot_be_read(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = small_v1(3)
        folder = v1.write(tmp_path / "c")
        v1.file(folder, 3).write_text('{"a":' * 1_000 + "1" + "}" * 1_000)
        v1.file(folder, 4).write_text('{"kind": "ActionEvent", "n": 1e999}')
        assert run(log, folder, final=True).unreadable == 2

    def test_thousands_of_events_are_read_and_known_again(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = V1()
        v1.system()
        v1.user("Go.")
        for number in range(1_000):
            v1.step(number)
        folder = v1.write(tmp_path / "c")
        report = run(log, folder)
        assert report.new == 4 + 1_000 * 4
        assert run(log, folder).new == 0


class TestHistoriesOfAFolder:
    """Events appear one by one while the agent works; each state must lead to the same log."""

    def test_a_conversation_that_grows_is_the_one_that_was_read_at_once(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = small_v1(3)
        actions = [v1.action(c, "r") for c in "ab"]
        v1.event("ConversationStateUpdateEvent", key="x", value="y")
        for call, action in zip("ab", actions, strict=True):
            v1.observes(call, action)
        v1.condenses([event["id"] for event in v1.events[2:7]], "S", 2)
        v1.step(9)
        for number in range(1, len(v1.events) + 1):
            report = run(log, v1.write(tmp_path / "c", number))
            assert not any(s.forks or s.vanished for s in report.sessions)
        with EventLog(tmp_path / "other.db") as other:
            run(other, tmp_path / "c")
            assert shape(other) == shape(log)

    def test_an_answer_is_pending_until_something_stands_behind_it(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = small_v1(1)
        v1.action("a", "r")
        report = run(log, v1.write(tmp_path / "c"))
        assert report.pending == 1
        v1.action("b", "r")
        assert run(log, v1.write(tmp_path / "c")).pending == 2
        v1.event("AgentErrorEvent", "agent", error="x", tool_name="t", tool_call_id="a")
        assert run(log, v1.write(tmp_path / "c")).pending == 0
        answers = of_type(events(log, KEY_V1), "message_appended")
        assert len(answers[-1]["message"]["tool_calls"]) == 2

    def test_an_answer_that_was_taken_as_final_goes_on(self, log: EventLog, tmp_path: Path) -> None:
        v1 = small_v1(1)
        v1.action("a", "r")
        run(log, v1.write(tmp_path / "c"), final=True)
        second = v1.action("b", "r")
        v1.observes("b", second)
        report = run(log, v1.write(tmp_path / "c"), final=True)
        assert not any(s.forks for s in report.sessions)
        late = of_type(events(log, KEY_V1), "message_appended")[-2:]
        assert late[0]["call"] == late[1]["call"]
        assert run(log, tmp_path / "c", final=True).new == 0

    def test_the_newest_file_may_be_torn_and_waits(self, log: EventLog, tmp_path: Path) -> None:
        v1 = small_v1(2)
        folder = v1.write(tmp_path / "c")
        last = v1.file(folder, len(v1.events) - 1)
        whole = last.read_bytes()
        last.write_bytes(whole[:-9])
        report = run(log, folder)
        assert report.pending == 1 + 1  # the file, and the answer that it would close
        assert report.files[0].notes == [f"{last.name}: the file ends inside it"]
        last.write_bytes(whole)
        report = run(log, folder)
        assert report.pending == 0
        assert not any(s.forks for s in report.sessions)
        assert of_type(events(log, KEY_V1), "record_unrecognized") == []

    def test_a_torn_file_that_was_taken_as_final_is_completed_later(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = small_v1(2)
        folder = v1.write(tmp_path / "c")
        last = v1.file(folder, len(v1.events) - 1)
        whole = last.read_bytes()
        last.write_bytes(whole[:-9])
        run(log, folder, final=True)
        last.write_bytes(whole)
        report = run(log, folder, final=True)
        assert not any(s.forks for s in report.sessions)
        assert len(of_type(events(log, KEY_V1), "tool_result_recorded")) == 2

    def test_a_changed_event_is_a_fork_and_both_are_kept(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = small_v1(4)
        folder = v1.write(tmp_path / "c")
        run(log, folder)
        before = shape(log)
        path = v1.file(folder, 5)
        path.write_text(path.read_text().replace("result 1", "another result"))
        report = run(log, folder)
        assert report.sessions[0].forks == [f"{KEY_V1}~2"]
        assert shape(log)[: len(before)] == before
        both = ["".join(e.payload or "" for e in log.read(k)) for k in (KEY_V1, f"{KEY_V1}~2")]
        assert "another result" not in both[0]
        assert "another result" in both[1]
        assert run(log, folder).new == 0

    @pytest.mark.parametrize("seed", range(8))
    def test_any_field_may_be_of_any_type(self, log: EventLog, tmp_path: Path, seed: int) -> None:
        rng = random.Random(SEED + seed)
        made: tuple[tuple[Any, str], ...] = ((everything_v1(), KEY_V1), (everything_v0(), KEY_V0))
        for session, key in made:
            folder = session.write(tmp_path / str(seed) / key.rpartition("/")[2])
            for path in sorted((folder / "events").iterdir())[1:]:
                if rng.random() < 0.6:
                    path.write_bytes(mutated(json.loads(path.read_bytes()), rng))
            options = Options(final=rng.random() < 0.5)
            report = import_path(log, folder, options)
            assert report.errors == []
            assert import_path(log, folder, options).new == 0
            assert import_path(log, folder, Options(final=True)).errors == []
            for session_of in report.sessions:
                for event in log.read(session_of.key):
                    assert event.event is not None
                assert fold(log.read(session_of.key)).notes == []


def everything_v1() -> V1:
    """Every kind of event that the importer reads."""
    v1 = small_v1(4, max_size=6, keep_first=2)
    actions = [v1.action(c, "r", "Both.") for c in "ab"]
    for call, action in zip("ab", actions, strict=True):
        metadata = {"exit_code": 0, "working_dir": "/kiln", "prefix": "", "suffix": ""}
        observation = {"kind": "T", "output": "x" * 31_000, "metadata": metadata, "error": False}
        v1.observes(call, action, observation=observation)
    v1.event("CondensationRequest")
    first = v1.condenses([event["id"] for event in v1.events[2:7]], "S", 2)
    v1.says("Said.", "r-said")
    v1.user("More.", parent_id=v1.events[-1]["id"])
    v1.condenses([event["id"] for event in v1.events[8:12]] + [f"{first}-summary"], "S2", 2)
    v1.event("AgentErrorEvent", "agent", error="no", tool_name="t", tool_call_id="zz")
    v1.event("ConversationStateUpdateEvent", key="stats", value={"a": 1})
    v1.user("Back.", parent_id=v1.events[1]["id"])
    v1.action("last", "r-last")
    return v1


def everything_v0() -> V0:
    """Every kind of event that the importer reads."""
    v0 = small_v0(3)
    completion = v0.completion("two", "x", "y", said="Both.")
    for call in "xy":
        v0.ran(v0.runs(call, completion), call, completion)
    v0.event("user", action="recall", args={"query": "kiln"})
    knowledge = [{"name": "kiln", "content": "Mind the damper."}]
    v0.event(
        "environment",
        observation="recall",
        content="",
        cause=10,
        extras={"microagent_knowledge": knowledge, "repo_instructions": "Be warm."},
    )
    v0.condenses(forgotten_event_ids=[2, 3, 4], summary="S", summary_offset=2)
    v0.event("agent", observation="error", content="bad", extras={})
    command = v0.event("user", action="run", args={"command": "ls"})
    v0.event("agent", observation="run", content="a", extras={"exit_code": 0}, cause=command)
    v0.condenses(forgotten_events_start_id=5, forgotten_events_end_id=7, summary="S2")
    v0.says("Said.", llm_metrics={"token_usages": [{"response_id": "q", "prompt_tokens": 3}]})
    v0.runs("f", v0.completion("fin", "f"), "finish", thought="Done.")
    return v0
