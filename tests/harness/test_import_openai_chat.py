from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from imported import run, shape

from eventlog import EventLog, RecordedEvent
from eventlog.errors import InputRefused
from harness.importers import ImportReport, Options, conversations, import_path, import_stream
from projections.context import fold
from projections.source_counts import source_counts

TOOLS = [{"type": "function", "function": {"name": "gauge", "parameters": {}}}]
CALL = {"id": "c1", "type": "function", "function": {"name": "gauge", "arguments": '{"n": 1e2'}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "You run a kiln."},
    {"role": "user", "content": "How warm?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "640 °C"},
    {"role": "assistant", "content": "640 °C.", "weight": 1},
]


def write(path: Path, *values: Any, indent: int | None = None) -> Path:
    path.write_text("\n".join(json.dumps(v, ensure_ascii=False, indent=indent) for v in values))
    return path


def events(log: EventLog, report: ImportReport, number: int = 0) -> list[RecordedEvent]:
    return list(log.read(report.sessions[number].key))


class TestOneConversation:
    """The messages must come out as they went in, or a replay of them proves nothing."""

    def test_an_array_of_messages_is_one_session(self, log: EventLog, tmp_path: Path) -> None:
        found = events(log, run(log, write(tmp_path / "chat.json", MESSAGES, indent=2)))
        assert [e.type for e in found] == [
            "session_started",
            "message_appended",
            "message_appended",
            "model_called",
            "message_appended",
            "model_responded",
            "tool_result_recorded",
            "model_called",
            "message_appended",
            "model_responded",
        ]
        stored = [e.data.get("message") or e.data.get("native") for e in found]
        assert [message for message in stored if message] == MESSAGES

    def test_sources_calls_and_names(self, log: EventLog, tmp_path: Path) -> None:
        found = events(log, run(log, write(tmp_path / "chat.json", MESSAGES)))
        sources = [e.data["source"] for e in found if e.type == "message_appended"]
        assert sources == ["injected", "human", "model", "model"]
        assert found[3].data["model"] == ""
        assert found[4].data["call"] == found[5].data["call"] == 4
        assert "usage" not in found[5].data
        assert (found[6].data["tool_call_id"], found[6].data["name"]) == ("c1", "gauge")

    def test_tools_are_declared_and_named_by_the_calls(self, log: EventLog, tmp_path: Path) -> None:
        value = {"messages": MESSAGES, "tools": TOOLS, "parallel_tool_calls": False}
        found = events(log, run(log, write(tmp_path / "chat.jsonl", value)))
        assert found[0].data["metadata"]["parallel_tool_calls"] is False
        assert found[1].data["definitions"] == TOOLS
        assert [e.data["tools"] for e in found if e.type == "model_called"] == [2, 2]

    def test_old_functions_are_paired_by_name(self, log: EventLog, tmp_path: Path) -> None:
        messages = [
            {"role": "assistant", "content": None, "function_call": {"name": "f"}},
            {"role": "function", "name": "f", "content": "1"},
            {"role": "function", "name": "g", "content": "2"},
        ]
        found = events(log, run(log, write(tmp_path / "chat.json", messages)))
        assert [e.data["name"] for e in found if e.type == "tool_result_recorded"] == ["f", "g"]
        counts = source_counts(found)
        assert (counts.tool_calls, counts.tool_results, counts.orphan_tool_results) == (1, 2, 1)

    def test_what_is_no_message_is_kept_as_unknown(self, log: EventLog, tmp_path: Path) -> None:
        messages = [MESSAGES[0], "words", {"role": "critic", "content": "Hm."}, MESSAGES[1]]
        found = events(log, run(log, write(tmp_path / "chat.json", messages)))
        kept = [json.loads(e.data["raw"]) for e in found if e.type == "record_unrecognized"]
        assert kept == messages[1:3]
        assert fold(found).labels() == ["2", "5"]


class TestManyConversations:
    """A fine-tuning file holds hundreds: one mistaken for another mixes people's words."""

    def test_each_line_is_a_session_named_by_path_and_number(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        path = write(tmp_path / "chat.jsonl", {"messages": MESSAGES}, MESSAGES, MESSAGES[:2])
        report = run(log, path)
        assert [s.new for s in report.sessions] == [10, 10, 3]
        assert len({s.key for s in report.sessions}) == 3
        other = write(tmp_path / "other.jsonl", MESSAGES)
        assert run(log, other).new == 10

    @pytest.mark.parametrize("indent", [None, 1])
    def test_an_array_of_conversations(
        self, log: EventLog, tmp_path: Path, indent: int | None
    ) -> None:
        value = [{"messages": MESSAGES}, {"messages": MESSAGES[:2], "id": "x"}]
        report = run(log, write(tmp_path / "chat.json", value, indent=indent))
        assert [s.new for s in report.sessions] == [10, 3]

    def test_lines_of_arrays_without_the_suffix(self, log: EventLog, tmp_path: Path) -> None:
        report = run(log, write(tmp_path / "chat.json", MESSAGES, MESSAGES[:2]))
        assert [s.new for s in report.sessions] == [10, 3]

    @pytest.mark.parametrize(
        ("name", "values", "records"),
        [
            ("chat.jsonl", [{"messages": MESSAGES}], 1),
            ("chat.json", [MESSAGES], 5),
            ("chat.json", [{"messages": MESSAGES}], 1),
        ],
    )
    def test_records_are_counted_as_the_file_counts_them(
        self, log: EventLog, tmp_path: Path, name: str, values: list[Any], records: int
    ) -> None:
        counts = source_counts(events(log, run(log, write(tmp_path / name, *values))))
        assert counts.records == records
        assert (counts.assistant_messages, counts.tool_calls, counts.tool_results) == (2, 1, 1)
        assert counts.visible_after_last_compaction is None

    def test_a_bad_line_is_one_clear_line_and_the_others_go_in(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        path = tmp_path / "chat.jsonl"
        lines = [json.dumps(MESSAGES), '{"messages": nonsense}', json.dumps(MESSAGES[:2])]
        path.write_text("\n".join([*lines, '{"messages": [']))
        report = import_path(log, path)
        assert len(report.errors) == 1
        assert report.errors[0].startswith("chat.jsonl: line 2: not JSON")
        assert [s.new for s in report.sessions] == [10, 3]
        assert report.pending == 1
        lines[1] = json.dumps(MESSAGES[:1])
        path.write_text("\n".join(lines))
        assert [s.new for s in run(log, path).sessions] == [0, 2, 0]


class TestAgain:
    """The same file again is the usual case, not an error."""

    def test_a_second_import_adds_nothing_and_a_longer_conversation_only_its_end(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        path = write(tmp_path / "chat.json", MESSAGES[:3])
        run(log, path)
        assert run(log, path).new == 0
        write(path, MESSAGES, indent=4)
        assert run(log, path).new == 4
        assert run(log, path).new == 0

    def test_a_changed_message_makes_a_fork(self, log: EventLog, tmp_path: Path) -> None:
        path = write(tmp_path / "chat.json", MESSAGES)
        before = run(log, path)
        changed = [*MESSAGES[:3], {**MESSAGES[3], "content": "900 °C"}, MESSAGES[4]]
        report = run(log, write(path, changed))
        assert report.sessions[0].forks == [before.sessions[0].key + "~2"]
        assert log.stream(report.sessions[0].forks[0]).base == 6
        state = shape(log)
        assert run(log, path).new == 0
        assert shape(log) == state


class TestStandardInput:
    """A pipe has no path to be named by."""

    def test_it_needs_a_session_name(self, log: EventLog) -> None:
        with pytest.raises(InputRefused, match="give the session one"):
            import_stream(log, io.BytesIO(b"[]"), Options())

    def test_it_is_imported_under_that_name_and_further_conversations_under_numbers(
        self, log: EventLog
    ) -> None:
        data = b"\n".join(json.dumps(v).encode() for v in (MESSAGES, MESSAGES[:2]))
        for new in (13, 0):
            report = import_stream(log, io.BytesIO(data), Options(session="piped"))
            assert (report.errors, report.new) == ([], new)
        keys = [str(info.key) for info in log.streams()]
        assert keys == ["local/openai-chat/piped", "local/openai-chat/piped.2"]


class TestSize:
    """A document is read whole, so a limit must stand before the memory does."""

    def test_a_document_over_the_limit_is_refused_and_lines_are_not(
        self, log: EventLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(conversations, "MAX_DOCUMENT", 2_000)
        many = [MESSAGES[1]] * 100
        report = import_path(log, write(tmp_path / "chat.json", many))
        assert "write it as JSON Lines" in report.errors[0]
        assert run(log, write(tmp_path / "chat.jsonl", many)).new == 101

    def test_a_document_cut_off_is_pending_and_a_broken_one_an_error(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        whole = json.dumps(MESSAGES, indent=1)
        path = tmp_path / "chat.json"
        path.write_text(whole[:-40])
        assert import_path(log, path).pending == 1
        path.write_text(whole.replace('"user"', "user"))
        assert "not JSON" in import_path(log, path).errors[0]
