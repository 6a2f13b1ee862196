"""Arrays of Anthropic messages: what is in them, and how they are told from OpenAI's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from imported import of_type, run, shape

from eventlog import EventLog, RecordedEvent
from harness.importers import ImportReport, import_path
from harness.importers.detection import detect
from projections import open_log
from projections.context import fold
from projections.dialects import DIALECTS
from projections.source_counts import source_counts

TOOLS = [{"name": "gauge", "description": "Reads one.", "input_schema": {"type": "object"}}]
CALLS = [
    {"type": "thinking", "thinking": "Both at once.", "signature": "c2ln"},
    {"type": "tool_use", "id": "toolu_1", "name": "gauge", "input": {"n": 1}},
    {"type": "tool_use", "id": "toolu_2", "name": "gauge", "input": {"n": 2}},
]
RESULTS = [
    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "640 °C"},
    {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no such gauge", "is_error": True},
    {"type": "text", "text": "<system-reminder>Be brief.</system-reminder>"},
]
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "How warm is the kiln?"},
    {"role": "assistant", "content": CALLS},
    {"role": "user", "content": RESULTS},
    {"role": "assistant", "content": "640 °C."},
]
REQUEST: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 1024,
    "system": [{"type": "text", "text": "You run a kiln.", "cache_control": {"type": "ephemeral"}}],
    "tools": TOOLS,
    "messages": MESSAGES,
}
RETURNED = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5-20250929",
    "content": [{"type": "text", "text": "640 °C."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "container": {"id": "box"},
    "usage": {"input_tokens": 9, "cache_read_input_tokens": 400, "output_tokens": 5},
}


def write(path: Path, *values: Any, indent: int | None = None) -> Path:
    path.write_text("\n".join(json.dumps(v, ensure_ascii=False, indent=indent) for v in values))
    return path


def events(log: EventLog, report: ImportReport, number: int = 0) -> list[RecordedEvent]:
    return list(log.read(report.sessions[number].key))


class TestOneConversation:
    """Blocks are bound to each other by ids: one lost, and a replay is refused by the provider."""

    def test_each_result_of_a_message_is_an_item_of_its_own(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        report = run(log, write(tmp_path / "chat.json", MESSAGES, indent=2))
        assert report.files[0].format == "anthropic"
        found = events(log, report)
        assert [e.type for e in found] == [
            "session_started",
            "message_appended",
            "model_called",
            "message_appended",
            "model_responded",
            "tool_result_recorded",
            "tool_result_recorded",
            "message_appended",
            "model_called",
            "message_appended",
            "model_responded",
        ]
        results = of_type(found, "tool_result_recorded")
        assert [r["native"] for r in results] == RESULTS[:2]
        assert [(r["name"], r.get("is_error", False)) for r in results] == [
            ("gauge", False),
            ("gauge", True),
        ]
        assert [m["source"] for m in of_type(found, "message_appended")] == [
            "human",
            "model",
            "human",
            "model",
        ]

    def test_the_request_of_all_items_is_the_file_again(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        key = run(log, write(tmp_path / "chat.json", REQUEST)).sessions[0].key
        with open_log(tmp_path / "log.db") as live:
            items = live.items(key)
            tools = live.log.at(key, [2])[2].data["definitions"]
        made = DIALECTS["anthropic"].render(items, tools, {"model": REQUEST["model"]})
        assert made["messages"] == MESSAGES
        assert (made["system"], made["tools"]) == (REQUEST["system"], TOOLS)
        assert DIALECTS["anthropic"].validate({**made, "max_tokens": 9}) == []

    def test_system_tools_and_parameters_are_kept(self, log: EventLog, tmp_path: Path) -> None:
        found = events(log, run(log, write(tmp_path / "chat.json", REQUEST, indent=1)))
        assert found[0].data["metadata"]["max_tokens"] == 1024
        assert found[1].data["definitions"] == TOOLS
        assert found[2].data["message"] == {"role": "system", "content": REQUEST["system"]}
        assert found[2].data["source"] == "injected"
        called = of_type(found, "model_called")
        assert [(c["model"], c["tools"]) for c in called] == [("claude-sonnet-4-5", 2)] * 2

    def test_a_returned_message_brings_its_usage_and_reason(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        found = events(log, run(log, write(tmp_path / "a.json", [*MESSAGES[:3], RETURNED])))
        (answer,) = [e for e in found if e.data.get("call") and "message" in e.data][1:]
        assert answer.data["message"] == {"role": "assistant", "content": RETURNED["content"]}
        assert answer.data["origin"]["rest"] == {"container": {"id": "box"}}
        end = found[-1].data
        assert (end["response_id"], end["finish_reason"]) == ("msg_1", "end_turn")
        assert end["model"] == RETURNED["model"]
        usage = end["usage"]
        assert (usage["input"], usage["cached"], usage["output"]) == (9, 400, 5)
        assert usage["provider"] == RETURNED["usage"]

    def test_calls_and_results_are_counted_as_the_file_counts_them(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        late = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_9"}]}
        counts = source_counts(events(log, run(log, write(tmp_path / "a.json", [*MESSAGES, late]))))
        assert counts.records == 5
        assert (counts.assistant_messages, counts.tool_calls, counts.tool_results) == (2, 2, 3)
        assert (counts.orphan_tool_results, counts.unanswered_tool_calls) == (1, 0)

    def test_what_is_no_message_is_kept_as_unknown(self, log: EventLog, tmp_path: Path) -> None:
        odd: list[Any] = ["words", {"role": "assistant", "content": None}, {"role": 5}, 7, None]
        found = events(log, run(log, write(tmp_path / "a.json", [*MESSAGES, *odd])))
        kept = [json.loads(e.data["raw"]) for e in found if e.type == "record_unrecognized"]
        assert kept == odd
        assert fold(found).notes == []


class TestTelling:
    """Taken for OpenAI's, results would be text in nobody's name and no call would have one."""

    @pytest.mark.parametrize(
        "value",
        [
            MESSAGES,
            REQUEST,
            [REQUEST, {"messages": MESSAGES[:1]}],
            [{"messages": MESSAGES[:1]}, REQUEST],
            {"system": "Be brief.", "messages": MESSAGES[:1]},
            {"messages": MESSAGES[:1], "tools": TOOLS},
            {"messages": MESSAGES[:1], "anthropic_version": "bedrock-2023-05-31"},
            [MESSAGES[0], RETURNED],
            [{"role": "user", "content": [{"type": "image", "source": {"type": "url"}}]}],
        ],
    )
    @pytest.mark.parametrize("indent", [None, 2])
    def test_by_what_only_anthropic_has(self, value: Any, indent: int | None) -> None:
        assert detect(json.dumps(value, indent=indent).encode(), "file") == "anthropic"

    @pytest.mark.parametrize(
        "value",
        [
            MESSAGES[:1],
            {"messages": MESSAGES[:1], "model": "claude-sonnet-4-5", "max_tokens": 5},
            # Cache marks stand in OpenAI's messages too, where a gateway takes them.
            [
                {"role": "system", "content": "Be brief."},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
                    ],
                },
            ],
            [{"role": "user", "content": 'see {"tool_use_id": "x", "input_schema": {}}'}],
        ],
    )
    def test_text_alone_is_openais(self, value: Any) -> None:
        text = json.dumps(value)
        assert detect(text.encode(), "file") == "openai-chat"
        assert detect(text.encode(), "file", "anthropic") == "anthropic"

    def test_a_text_only_line_before_the_others_does_not_hide_them(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        lines = [{"messages": MESSAGES[:1]}, {"messages": MESSAGES}]
        report = run(log, write(tmp_path / "chat.jsonl", *lines))
        assert report.files[0].format == "anthropic"
        assert [s.new for s in report.sessions] == [2, 11]

    def test_a_document_that_is_longer_than_what_is_looked_at(self) -> None:
        long = [{"role": "user", "content": "x" * 2**21}, *MESSAGES]
        text = json.dumps([*MESSAGES, *long], indent=1).encode()
        assert detect(text[: 2**20], "file") == "anthropic"
        quoted = json.dumps([{"role": "user", "content": json.dumps(MESSAGES) + "x" * 2**21}])
        assert detect(quoted.encode()[: 2**20], "file") == "openai-chat"


class TestAgain:
    """The same file again is the usual case, not an error."""

    def test_nothing_new_then_only_the_end_then_a_fork(self, log: EventLog, tmp_path: Path) -> None:
        path = write(tmp_path / "chat.json", MESSAGES[:2])
        run(log, path)
        assert run(log, path).new == 0
        assert run(log, write(path, MESSAGES, indent=4)).new == 6
        state = shape(log)
        assert run(log, path).new == 0
        assert shape(log) == state
        changed = [*MESSAGES[:3], {"role": "assistant", "content": "641 °C."}]
        report = run(log, write(path, changed))
        assert len(report.sessions[0].forks) == 1
        before = shape(log)
        assert run(log, path).new == 0
        assert shape(log) == before

    def test_each_line_and_each_entry_is_a_session(self, log: EventLog, tmp_path: Path) -> None:
        lines = run(log, write(tmp_path / "chat.jsonl", REQUEST, MESSAGES))
        assert len(lines.sessions) == 2
        entries = run(log, write(tmp_path / "chat.json", [REQUEST, {"messages": MESSAGES}]))
        assert len(entries.sessions) == 2
        assert len(log.streams()) == 4

    def test_a_bad_line_is_one_clear_line_and_the_others_go_in(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        path = write(tmp_path / "chat.jsonl", REQUEST, REQUEST)
        path.write_text(path.read_text() + '\n{"messages": nonsense}\n')
        report = import_path(log, path)
        assert [e.splitlines() for e in report.errors] == [[report.errors[0]]]
        assert report.errors[0].startswith("chat.jsonl: line 3: not JSON")
        assert len(report.sessions) == 2
