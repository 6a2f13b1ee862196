from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claude_lines import SESSION, Transcript, call, long_session, text, thinking
from imported import KEY, events, imported, of_type

from eventlog import EventLog


class TestTheSession:
    """Without its start a stream has no name, no owner, and no way back to its file."""

    def test_a_session_is_named_by_its_first_session_id(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        started = imported(log, tmp_path, long_session())[0].data
        assert started["ownership"] == "observed"
        assert started["format"] == "claude-code"
        assert started["importer_version"] == 1
        assert started["foreign_session_id"] == SESSION
        assert started["metadata"]["file"] == "session.jsonl"
        assert started["metadata"]["cwd"] == "/srv/kiln"

    def test_later_session_ids_in_the_same_file_make_no_other_stream(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("One.")
        t.user("Two.", sessionId="another")
        imported(log, tmp_path, t)
        assert [str(info.key) for info in log.streams()] == [KEY]
        assert events(log, KEY)[-1].data["origin"]["rest"]["sessionId"] == "another"

    def test_the_time_is_the_records_own_text(self, log: EventLog, tmp_path: Path) -> None:
        t = Transcript()
        t.user("One.")
        t.user("Two.", timestamp="yesterday, around noon")
        t.user("Three.", timestamp="π o'clock")
        found = imported(log, tmp_path, t)
        assert [e.occurred_at for e in found[1:]] == [
            "2026-03-01T09:00:01.000Z",
            "yesterday, around noon",
            None,
        ]
        assert found[3].data["origin"]["rest"]["timestamp"] == "π o'clock"

    def test_a_custom_title_of_this_session_is_its_title_and_a_summary_of_another_is_not(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        found = imported(log, tmp_path, long_session())
        assert [e["title"] for e in of_type(found, "session_titled")] == ["Warming the kiln"]
        raws = [e["raw"] for e in of_type(found, "record_unrecognized")]
        assert any("An older session" in raw for raw in raws)

    def test_every_record_of_the_file_stands_in_exactly_one_place(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = long_session()
        places: list[tuple[int, str]] = []
        for e in imported(log, tmp_path, t):
            if e.type in ("model_called", "model_responded"):
                continue  # these name the first and the last record of the answer beside them
            places += [(r["line"], r.get("id", "")) for r in e.data["origin"]["records"]]
        assert sorted(line for line, _ in places) == list(range(1, len(t.records) + 1))
        for line, uuid in places:
            assert t.records[line - 1].get("uuid", "") == uuid


class TestAnswers:
    """One API message is written as many records. Counted each, usage and answers multiply."""

    def test_all_records_of_an_answer_are_one_message_between_a_call_and_its_end(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        found = imported(log, tmp_path, long_session())
        at = next(i for i, e in enumerate(found) if e.type == "model_called")
        called, message, responded = found[at : at + 3]
        assert called.data["model"] == "claude-kiln-1"
        assert message.data["call"] == responded.data["call"] == called.position
        kinds = [block["type"] for block in message.data["message"]["content"]]
        assert kinds == ["thinking", "text", "tool_use", "tool_use"]
        assert responded.data["response_id"] == "msg_1"

    def test_usage_is_that_of_the_last_record_and_disjoint(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        found = imported(log, tmp_path, long_session())
        usage = of_type(found, "model_responded")[0]["usage"]
        provider = usage.pop("provider")
        assert usage == {"input": 3, "cached": 100, "cache_write": 20, "output": 30}
        assert provider["output_tokens"] == 30

    def test_results_written_between_parallel_calls_stand_behind_the_answer(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Two things.")
        t.answer("msg_1", call("a"))
        t.result("a", "done")
        t.answer("msg_1", call("b"))
        t.result("b", "done")
        t.answer("msg_2", text("Both done."))
        found = imported(log, tmp_path, t)
        kinds = [e.type for e in found[1:]]
        answer = ["model_called", "message_appended", "model_responded"]
        results = ["tool_result_recorded"] * 2
        assert kinds == ["message_appended", *answer, *results, *answer]

    def test_a_record_that_comes_when_the_conversation_went_on_is_kept_without_a_second_call(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Go.")
        t.answer("msg_1", text("First."))
        t.answer("msg_2", text("Second."))
        t.answer("msg_1", text("Late."))
        found = imported(log, tmp_path, t)
        late = found[-1]
        assert late.type == "message_appended"
        assert late.data["call"] == found[2].position
        assert late.data["message"]["content"] == [text("Late.")]
        assert len(of_type(found, "model_called")) == len(of_type(found, "model_responded")) == 2

    def test_a_synthetic_error_is_a_message_and_no_call(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        found = imported(log, tmp_path, long_session())
        [error] = [e for e in of_type(found, "message_appended") if e.get("label") == "synthetic"]
        assert error["source"] == "injected"
        assert "call" not in error
        assert len(of_type(found, "model_called")) == 4

    def test_signed_thinking_keeps_every_field(self, log: EventLog, tmp_path: Path) -> None:
        t = Transcript()
        t.answer("msg_1", thinking("Hm."), {"type": "redacted_thinking", "data": "eHg="})
        [message] = of_type(imported(log, tmp_path, t), "message_appended")
        assert message["message"]["content"] == [
            thinking("Hm."),
            {"type": "redacted_thinking", "data": "eHg="},
        ]


class TestWhoSpeaks:
    """A wrapper taken for a person's words distorts every turn-based strategy."""

    @pytest.mark.parametrize(
        ("content", "fields", "source", "label"),
        [
            ("Hello.", {}, "human", ""),
            ([text("Look:"), {"type": "image", "source": {}}], {}, "human", ""),
            ("[Request interrupted by user]", {}, "human", "interrupted"),
            ("Caveat: …", {"isMeta": True}, "injected", "meta"),
            ("<command-name>/cost</command-name>", {}, "injected", "command"),
            ("<local-command-stdout>0 €</local-command-stdout>", {}, "injected", "command"),
            ("<bash-input>ls</bash-input>", {}, "injected", "command"),
            ("<system-reminder>x</system-reminder>", {}, "injected", "system-reminder"),
            ([text("<system-reminder>x</system-reminder>"), text("Hi.")], {}, "human", ""),
        ],
    )
    def test_user_records(
        self,
        log: EventLog,
        tmp_path: Path,
        content: Any,
        fields: dict[str, Any],
        source: str,
        label: str,
    ) -> None:
        t = Transcript()
        t.user(content, **fields)
        [message] = of_type(imported(log, tmp_path, t), "message_appended")
        assert (message["source"], message.get("label", "")) == (source, label)
        assert message["message"] == {"role": "user", "content": content}

    def test_text_beside_a_result_is_a_message_of_its_own(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.answer("msg_1", call("a"))
        block = {"type": "tool_result", "tool_use_id": "a", "content": "3 pass"}
        t.user([block, text("[Request interrupted by user] also lint")])
        found = imported(log, tmp_path, t)
        assert [e.type for e in found[-2:]] == ["tool_result_recorded", "message_appended"]
        assert found[-2].data["native"] == block
        assert found[-1].data["label"] == "interrupted"

    def test_a_queued_command_is_what_a_person_typed_and_other_attachments_are_injected(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        found = of_type(imported(log, tmp_path, long_session()), "message_appended")
        assert [m["message"]["content"] for m in found if m["source"] == "human"] == [
            "Warm the kiln to 900 °C and tell me when it is done.",
            "Faster, please.",
            "And now?",
            "[Request interrupted by user for tool use]",
            "Go on.",
        ]
        [reminder] = [m for m in found if m.get("label") == "todo_reminder"]
        assert reminder["message"]["content"] == "Nothing to do."

    def test_an_attachment_without_text_is_shown_as_its_fields(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.record("attachment", attachment={"type": "date_change", "newDate": "2026-03-02"})
        t.record("attachment", attachment={"type": "auto_mode"})
        contents = [
            m["message"]["content"] for m in of_type(imported(log, tmp_path, t), "message_appended")
        ]
        assert contents == ['{"newDate": "2026-03-02"}', "[auto_mode]"]


class TestToolResults:
    """A result that loses its call, its error or its bytes cannot be sent again."""

    def test_each_result_has_the_name_of_its_call_and_its_native_block(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        found = of_type(imported(log, tmp_path, long_session()), "tool_result_recorded")
        assert [(r["tool_call_id"], r["name"]) for r in found] == [
            ("toolu_1", "Bash"),
            ("toolu_2", "Read"),
            ("toolu_3", "Bash"),
        ]
        assert found[0]["duration_ms"] == 12
        assert found[1]["is_error"] is True
        assert found[1]["native"]["content"] == [text("line one\u2028line two")]

    def test_the_structured_copy_is_kept_without_what_only_repeats_the_result(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.answer("msg_1", call("a"), call("b"))
        t.result("a", "640", toolUseResult={"stdout": "640", "stderr": "", "interrupted": False})
        t.result("b", "Error: no such file", toolUseResult="Error: no such file")
        a, b = of_type(imported(log, tmp_path, t), "tool_result_recorded")
        assert a["origin"]["rest"]["toolUseResult"] == {"stderr": "", "interrupted": False}
        assert "toolUseResult" not in b["origin"].get("rest", {})

    def test_a_spilled_output_is_recorded_as_the_model_saw_it(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        shown = "<persisted-output>\nOutput too large. Full output saved to: /etc/passwd\n"
        t = Transcript()
        t.answer("msg_1", call("a"))
        t.result("a", shown)
        [result] = of_type(imported(log, tmp_path, t), "tool_result_recorded")
        assert result["native"]["content"] == shown


class TestWhatIsNoPartOfTheContext:
    """A record that is dropped cannot be asked for later, when somebody learns what it meant."""

    def test_known_and_unknown_records_are_kept_whole(self, log: EventLog, tmp_path: Path) -> None:
        t = long_session()
        found = of_type(imported(log, tmp_path, t), "record_unrecognized")
        kinds = {e["line"]: e.get("kind", "unknown") for e in found}
        assert kinds[2] == "known"
        assert kinds[len(t.records) - 1] == "unknown"
        lines = t.bytes().decode().split("\n")
        for e in found:
            assert e["raw"] == lines[e["line"] - 1]
            assert t.bytes()[e["offset"] :].decode().startswith(e["raw"])

    @pytest.mark.parametrize(
        "record",
        [
            {"type": "user", "message": "no object"},
            {"type": "user", "message": {"role": "user", "content": 7}},
            {"type": "assistant", "message": {"content": None}},
            {"type": "assistant"},
            {"type": 5},
            {"type": "attachment", "attachment": []},
            {},
        ],
    )
    def test_a_record_of_a_known_type_in_an_unknown_shape_is_unknown(
        self, log: EventLog, tmp_path: Path, record: dict[str, Any]
    ) -> None:
        t = Transcript()
        t.user("Hi.")
        t.records.append(record)
        [kept] = of_type(imported(log, tmp_path, t), "record_unrecognized")
        assert kept.get("kind", "unknown") == "unknown"
