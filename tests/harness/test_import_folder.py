from __future__ import annotations

import io
import json
import os
import socket
from pathlib import Path

import codex_lines
import pytest
from claude_lines import Transcript, long_session
from imported import run

from eventlog import EventLog
from eventlog.errors import InputRefused
from harness.importers import Options, Progress, import_path, import_stream, known_places
from harness.importers.detection import UnknownFormat, detect


class TestDetection:
    """A file taken for another format gives a session full of nothing."""

    @pytest.mark.parametrize(
        ("line", "format"),
        [
            ('{"type":"summary","summary":"x","leafUuid":"y"}', "claude-code"),
            ('{"type":"queue-operation","operation":"dequeue","sessionId":"x"}', "claude-code"),
            ('{"type":"user","message":{"role":"user","content":"x"}}', "claude-code"),
            ('{"type":"user","sessionId":"x","message":', ""),
            ('{"timestamp":"","type":"session_meta","payload":{}}', "codex"),
            ('{"timestamp":"","type":"response_item","payload":{"type":"message"}}', "codex"),
            ('{"id":"x","timestamp":"2025","instructions":null}', "codex"),
            ('[{"role":"user","content":"x"}]', "openai-chat"),
            ('{"messages":[{"role":"user","content":"x"}]}', "openai-chat"),
            ('[\n {"role": "user",\n  "content": "x"}\n]', "openai-chat"),
            ('[[{"role":"user","content":"x"}]]', "openai-chat"),
        ],
    )
    def test_the_format_is_told_by_the_first_records(self, line: str, format: str) -> None:
        if format:
            assert detect(line.encode(), "file") == format
        else:
            with pytest.raises(UnknownFormat):
                detect(line.encode(), "file")

    def test_a_bad_first_line_does_not_hide_the_format(self) -> None:
        assert detect(b"\0\0\n" + long_session().bytes(), "file") == "claude-code"

    @pytest.mark.parametrize("kind", ["summary", "file-history-snapshot"])
    def test_a_first_record_longer_than_what_is_looked_at_is_recognized(self, kind: str) -> None:
        long = json.dumps(
            {"type": kind, "leafUuid": "x", "messageId": "x", "text": "x" * 2_000_000}
        )
        assert detect(long.encode()[:1_048_576], "file") == "claude-code"

    def test_so_is_a_header_with_a_prompt_that_is_longer(self) -> None:
        header = b'{"timestamp":"2026","type":"session_meta","payload":{"base_instructions":"'
        assert detect(header + b"x" * 1_048_576, "file") == "codex"

    @pytest.mark.parametrize(
        ("data", "what"),
        [
            (b"", "empty"),
            (b" \n\n", "empty"),
            (b"hello\nworld\n", "no record in it"),
            (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "no record in it"),
            (b"\x1f\x8b\x08\x00", "unpack it first"),
            (b"\x28\xb5\x2f\xfd" + bytes(range(256)), "unpack it first"),
            (b"1931:9:websocket;0:~8:response;", "save them as an HTTP archive"),
            (b'{"type":"request","id":"1","body":{"messages":[]}}\n', "lines of their own"),
            (
                b'{"request":{"body":{"model":"m","input":"x"}},"response":null}\n',
                "OpenAI's Responses API",
            ),
            (b'{"a": 1}', "no record in it"),
            (b"[" * 100_000, "no record in it"),
        ],
    )
    def test_anything_else_is_refused_in_one_line_that_says_what_it_is(
        self, data: bytes, what: str
    ) -> None:
        with pytest.raises(UnknownFormat) as caught:
            detect(data, "some.file")
        assert what in str(caught.value)
        assert str(caught.value).startswith("some.file: ")
        assert "\n" not in str(caught.value)


class TestANamedFormat:
    """Whoever names a format is believed, as long as the file does not say otherwise."""

    @pytest.mark.parametrize(
        "data",
        [
            b'{"a": 1}\n{"b": 2}\n',
            b"hello\nworld\n",
            b'[{"role":"user","content":"x"}]',
            b'{"type":"session_meta","payload":{}}\n',
            b"\x28\xb5\x2f\xfd",
            b"",
        ],
    )
    def test_what_is_visibly_another_thing_is_refused(
        self, log: EventLog, tmp_path: Path, data: bytes
    ) -> None:
        path = tmp_path / "x.jsonl"
        path.write_bytes(data)
        for final in (False, True):
            report = import_path(log, path, Options(format="claude-code", final=final))
            assert len(report.errors) == 1
            assert report.pending == 0
        assert log.streams() == []

    def test_a_transcript_is_not_taken_for_a_chat(self, log: EventLog, tmp_path: Path) -> None:
        path = long_session().write(tmp_path / "x.jsonl")
        (error,) = import_path(log, path, Options(format="openai-chat")).errors
        assert "claude-code and not openai-chat" in error

    @pytest.mark.parametrize(
        ("data", "asked"),
        [
            (b'{"type":"odd","sessionId":"x"}\n', "claude-code"),
            (b'{"type":"user","sess', "claude-code"),
            (b'{"type":"odd","payload":{}}\n', "codex"),
            (b'[{"role":"bot","content":"x"}]', "openai-chat"),
        ],
    )
    def test_what_cannot_be_told_is_what_was_named(self, data: bytes, asked: str) -> None:
        assert detect(data, "file", asked) == asked


class TestAFolder:
    """One bad file among a thousand must not keep the others out, nor be passed over in silence."""

    def test_bad_files_are_one_line_each_and_the_others_go_in(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        root = tmp_path / "projects"
        long_session().write(root / "a" / "good.jsonl")
        (root / "a" / "bad.jsonl").write_text("not a transcript\n")
        (root / "a" / "empty.jsonl").write_text("")
        (root / "a" / "settings.json").write_text('{"theme": "dark"}')
        (root / "notes.txt").write_text("unrelated")
        report = import_path(log, root)
        assert sorted(error.split(":")[0] for error in report.errors) == [
            "a/bad.jsonl",
            "a/empty.jsonl",
        ]
        assert [f.path for f in report.files] == ["a/bad.jsonl", "a/empty.jsonl", "a/good.jsonl"]
        assert report.new > 30

    @pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
    def test_a_file_that_may_not_be_read_is_one_line(self, log: EventLog, tmp_path: Path) -> None:
        path = long_session().write(tmp_path / "p" / "a.jsonl")
        path.chmod(0)
        assert import_path(log, tmp_path / "p").errors == ["a.jsonl: Permission denied"]

    def test_pipes_and_sockets_are_not_opened(self, log: EventLog, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.jsonl")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(tmp_path / "s.jsonl"))
            report = import_path(log, tmp_path)
        assert sorted(report.errors) == [
            "pipe.jsonl: not a regular file",
            "s.jsonl: not a regular file",
        ]

    def test_the_same_folder_twice_adds_nothing(self, log: EventLog, tmp_path: Path) -> None:
        for number in range(3):
            t = Transcript(f"session-{number}")
            t.user(f"Hi {number}.")
            t.write(tmp_path / "p" / f"{number}.jsonl")
        assert run(log, tmp_path / "p").new == 6
        sequence = log.last_sequence()
        assert run(log, tmp_path / "p").new == 0
        assert log.last_sequence() == sequence

    def test_two_files_of_one_session_are_one_stream(self, log: EventLog, tmp_path: Path) -> None:
        t = long_session()
        t.write(tmp_path / "p" / "b.jsonl")
        t.records = t.records[:20]
        t.write(tmp_path / "p" / "a.jsonl")
        run(log, tmp_path / "p")
        assert len(log.streams()) == 1

    def test_what_is_not_there_or_no_format_is_refused(self, log: EventLog, tmp_path: Path) -> None:
        with pytest.raises(InputRefused, match="no such file"):
            import_path(log, tmp_path / "nowhere.jsonl")
        with pytest.raises(InputRefused, match="no format"):
            import_path(log, tmp_path, Options(format="word"))

    def test_progress_is_told_in_bytes(self, log: EventLog, tmp_path: Path) -> None:
        path = long_session().write(tmp_path / "a.jsonl")
        told: list[Progress] = []
        run(log, path, progress=told.append)
        assert told[-1].bytes_read == told[-1].bytes_total == path.stat().st_size

    def test_a_claude_code_stream_is_imported_under_the_given_name(self, log: EventLog) -> None:
        stream = io.BytesIO(long_session().bytes())
        report = import_stream(log, stream, Options(session="piped", final=True))
        assert report.errors == []
        assert [str(info.key) for info in log.streams()] == ["local/claude-code/piped"]


class TestKnownPlaces:
    """`--all` must find transcripts where the agent put them, and nothing twice."""

    def test_the_default_and_the_configured_folders_that_exist(self, tmp_path: Path) -> None:
        home, moved = tmp_path / "home", tmp_path / "moved"
        assert known_places(home) == []
        (home / ".claude" / "projects").mkdir(parents=True)
        (moved / "projects").mkdir(parents=True)
        found = known_places(home, [str(moved), str(home / ".claude"), ""])
        assert [(p.format, p.path) for p in found] == [
            ("claude-code", moved / "projects"),
            ("claude-code", home / ".claude" / "projects"),
        ]

    def test_sessions_of_openhands_lie_below_its_own_folder(self, tmp_path: Path) -> None:
        (tmp_path / ".openhands" / "conversations").mkdir(parents=True)
        (tmp_path / ".openhands-state" / "sessions").mkdir(parents=True)
        assert [(p.format, str(p.path.relative_to(tmp_path))) for p in known_places(tmp_path)] == [
            ("openhands-v1", ".openhands/conversations"),
            ("openhands-v0", ".openhands-state/sessions"),
        ]

    def test_codex_keeps_what_is_archived_apart(self, tmp_path: Path) -> None:
        home, moved = tmp_path / "home", tmp_path / "moved"
        for folder in (home / ".codex" / "sessions", home / ".codex" / "archived_sessions"):
            folder.mkdir(parents=True)
        (moved / "sessions").mkdir(parents=True)
        found = known_places(home, codex_homes=[str(moved), ""])
        assert [(p.format, p.path) for p in found] == [
            ("codex", moved / "sessions"),
            ("codex", home / ".codex" / "sessions"),
            ("codex", home / ".codex" / "archived_sessions"),
        ]


def test_reports_are_plain_data(log: EventLog, tmp_path: Path) -> None:
    report = run(log, long_session().write(tmp_path / "a.jsonl"))
    value = json.loads(report.model_dump_json())
    assert value["files"][0]["sessions"][0]["new"] == report.new


class TestWhatElseLiesInAFolder:
    """A file that was left out without a word is a session that somebody believes to be kept."""

    def test_what_codex_keeps_beside_its_rollouts(self, log: EventLog, tmp_path: Path) -> None:
        home = tmp_path / ".codex"
        codex_lines.long_session().write(home / "sessions" / "2026" / "rollout-1.jsonl")
        (home / "history.jsonl").write_text('{"session_id":"x","ts":1,"text":"Hi."}\n')
        (home / "session_index.jsonl").write_text('{"id":"x","thread_name":"Hi."}\n')
        (home / "sessions" / "rollout-2.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")
        report = import_path(log, home)
        assert sorted(report.passed_over) == ["history.jsonl", "session_index.jsonl"]
        [error] = report.errors
        assert error.endswith(
            "1 transcript is compressed (.jsonl.zst); unpack what you want to import (zstd -d)"
        )
        assert report.new > 0

    def test_other_agents_files_are_named_and_other_json_is_counted(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        folder = tmp_path / "mixed"
        folder.mkdir()
        (folder / "settings.json").write_text('{"theme": "dark"}')
        (folder / "pi.jsonl").write_text('{"type": "session", "id": "s", "cwd": "/tmp"}\n')
        (folder / "copilot.jsonl").write_text('{"type": "session.start", "data": {}, "id": "e"}\n')
        report = import_path(log, folder)
        assert report.passed_over == ["settings.json"]
        assert report.errors == [
            "copilot.jsonl: a Copilot CLI session, which is not imported yet",
            "pi.jsonl: a pi session, which is not imported yet",
        ]

    @pytest.mark.parametrize(
        ("name", "text", "what"),
        [
            ("a.json", '{"projectHash": "1", "messages": [{"type": "user"}]}', "a Gemini session"),
            ("a.json", '[{"role": "user", "parts": [{"text": "hi"}]}]', "a Gemini session"),
            (
                "cut.json",
                '[{"role": "user", "parts": [{"text": "hi"}]}, {"content": "' + "x" * 2**20 + '"}]',
                "a Gemini session",
            ),
            ("a.json", '[{"lc": 1, "id": ["langchain"], "kwargs": {}}]', "a dump of LangChain"),
            ("a.json", '{"tasks": [], "simulations": [{"role": "", "content": ""}]}', "results of"),
            ("a.eval", "PK\x03\x04", "a zip archive, as Inspect logs are"),
        ],
    )
    def test_what_cannot_be_imported_is_told_alike_by_name_and_in_a_folder(
        self, log: EventLog, tmp_path: Path, name: str, text: str, what: str
    ) -> None:
        (tmp_path / "of").mkdir()
        (tmp_path / "of" / name).write_text(text)
        one, folder = (import_path(log, at) for at in (tmp_path / "of" / name, tmp_path / "of"))
        assert one.errors == folder.errors
        assert one.errors[0].startswith(f"{name}: {what}")
        assert one.errors[0].endswith("not imported yet")
        assert [file.unknown for file in one.files] == [True]
        assert (one.sessions, folder.sessions, folder.passed_over) == ([], [], [])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into everything")
class TestAClosedFolder:
    """What may not be read is not what is not there."""

    def test_it_is_named_and_the_others_go_in(self, log: EventLog, tmp_path: Path) -> None:
        long_session().write(tmp_path / "open" / "a.jsonl")
        closed = tmp_path / "closed"
        closed.mkdir()
        closed.chmod(0)
        try:
            report = import_path(log, tmp_path)
            alone = import_path(log, closed)
        finally:
            closed.chmod(0o700)
        assert report.new > 0
        assert report.errors == alone.errors == [f"{closed}: Permission denied"]

    def test_a_first_record_longer_than_what_is_looked_at_is_still_known(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = long_session()
        picture = {"type": "image", "source": {"type": "base64", "data": "A" * 1_500_000}}
        t.records[0]["message"]["content"] = [picture, {"type": "text", "text": "see"}]
        path = tmp_path / "big.jsonl"
        path.write_bytes(t.bytes())
        report = import_path(log, path, Options(final=True))
        assert report.errors == []
        assert report.files[0].format == "claude-code"
