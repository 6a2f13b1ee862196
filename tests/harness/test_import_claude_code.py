from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from claude_lines import SESSION, Transcript, call, long_session, text, thinking
from imported import events, run

from eventlog import EventLog, RecordedEvent
from projections.context import fold

KEY = f"local/claude-code/{SESSION}"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with EventLog(tmp_path / "log.db") as opened:
        yield opened


def imported(log: EventLog, tmp_path: Path, transcript: Transcript) -> list[RecordedEvent]:
    run(log, transcript.write(tmp_path / "session.jsonl"), final=True)
    return events(log, KEY)


def of_type(found: list[RecordedEvent], kind: str) -> list[dict[str, Any]]:
    return [e.data for e in found if e.type == kind]


def standing(log: EventLog, key: str = KEY) -> list[str]:
    view = fold(log.read(key))
    assert view.notes == []
    return view.labels()


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


class TestCompaction:
    """What a compaction covers decides what the model no longer saw."""

    def test_a_boundary_and_its_summary_are_one_compaction_of_all_that_stood(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        found = imported(log, tmp_path, long_session())
        [compacted] = [e for e in found if e.type == "context_compacted"]
        assert compacted.data["trigger"] == "auto"
        assert compacted.data["pre_tokens"] == 155_000
        assert compacted.data["messages"][0]["label"] == "summary"
        before = fold(e for e in found if e.position < compacted.position)
        after = fold(e for e in found if e.position <= compacted.position)
        assert len(before.labels()) == 15
        assert after.labels() == [f"{compacted.position}.0"]
        assert len(standing(log)) == 3

    def test_progress_between_a_boundary_and_its_summary_changes_nothing(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("One.")
        t.boundary()
        t.record("progress", data={"type": "hook_progress"})
        t.summary("Summed up.")
        found = imported(log, tmp_path, t)
        assert [e.type for e in found[2:]] == ["context_compacted", "record_unrecognized"]

    def test_a_boundary_without_a_summary_is_a_compaction_without_messages(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("One.")
        t.boundary()
        t.user("Two.")
        imported(log, tmp_path, t)
        assert standing(log) == ["4"]

    def test_an_old_summary_without_a_boundary_is_a_compaction_too(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("One.")
        t.summary("Summed up.")
        t.user("Two.")
        imported(log, tmp_path, t)
        assert standing(log) == ["3.0", "4"]

    @pytest.mark.parametrize("form", ["messages", "segment"])
    def test_preserved_messages_stay_behind_the_summary(
        self, log: EventLog, tmp_path: Path, form: str
    ) -> None:
        t = Transcript()
        t.user("One.")
        head = t.user("Two.")
        tail = t.answer("msg_1", text("Three."))
        t.user("Four.")
        if form == "messages":
            t.boundary(preservedMessages={"anchorUuid": "x", "uuids": [head, tail]})
        else:
            t.boundary(preservedSegment={"headUuid": head, "tailUuid": tail})
        t.summary("Summed up.")
        imported(log, tmp_path, t)
        assert standing(log) == ["8.0", "3", "5"]

    def test_a_second_compaction_covers_the_first_summary(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        for number in (1, 2):
            t.user(f"Prompt {number}.")
            t.boundary()
            t.summary(f"Summary {number}.")
        found = of_type(imported(log, tmp_path, t), "context_compacted")
        assert [c["covered"] for c in found] == [["2"], ["3.0", "4"]]

    def test_microcompaction_clears_each_result_by_one_event_of_one_pass(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.answer("msg_1", call("a"), call("b"), call("c"))
        for name in "abc":
            t.result(name, f"result {name}")
        t.record(
            "system",
            subtype="microcompact_boundary",
            microcompactMetadata={"compactedToolIds": ["a", "c"], "tokensSaved": 9},
        )
        found = imported(log, tmp_path, t)
        cleared = of_type(found, "placeholder_substituted")
        results = [e.position for e in found if e.type == "tool_result_recorded"]
        assert [c["item"] for c in cleared] == [str(results[0]), str(results[2])]
        assert {c["content"] for c in cleared} == {"[Old tool result content cleared]"}
        assert all(c["implied"] for c in cleared)
        assert len({c["pass_id"] for c in cleared}) == 1
        assert cleared[0]["origin"]["rest"]["microcompactMetadata"]["tokensSaved"] == 9

    def test_cleared_results_that_do_not_stand_are_reported_and_the_record_is_kept(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("One.")
        t.record(
            "system",
            subtype="microcompact_boundary",
            microcompactMetadata={"compactedToolIds": ["gone"]},
        )
        report = run(log, t.write(tmp_path / "session.jsonl"))
        assert report.sessions[0].notes == ["line 2: 1 of 1 cleared results do not stand"]
        assert events(log, KEY)[-1].type == "record_unrecognized"


class TestRewinds:
    """A rewind missed shows the model what it never saw; one invented hides what it did see."""

    def test_a_second_prompt_under_an_answered_ones_parent_goes_back_to_it(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Hello.")
        common = t.answer("msg_1", text("Hi."))
        t.user("Left.")
        t.answer("msg_2", text("Going left."))
        t.user("Right.", parent=common)
        t.answer("msg_3", text("Going right."))
        found = imported(log, tmp_path, t)
        [rewound] = [e for e in found if e.type == "session_rewound"]
        assert rewound.data["inferred"] is True
        assert found[rewound.data["to"] - 1].data["response_id"] == "msg_1"
        assert standing(log) == ["2", "4", "11", "13"]

    def test_a_compaction_after_a_rewind_covers_only_what_stands(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        common = t.answer("msg_1", text("Hi."))
        t.user("Left.")
        t.answer("msg_2", text("Going left."))
        t.user("Right.", parent=common)
        t.boundary()
        t.summary("Summed up.")
        found = imported(log, tmp_path, t)
        assert of_type(found, "context_compacted")[0]["covered"] == ["3", "10"]
        assert standing(log) == ["11.0"]

    @pytest.mark.parametrize("answered", [False, True])
    def test_a_prompt_that_was_never_answered_is_not_gone_back_from(
        self, log: EventLog, tmp_path: Path, answered: bool
    ) -> None:
        t = Transcript()
        common = t.answer("msg_1", text("Hi."))
        t.user("Left.")
        if answered:
            t.answer("msg_2", text("Going left."))
        t.user("Right.", parent=common)
        rewinds = of_type(imported(log, tmp_path, t), "session_rewound")
        assert len(rewinds) == answered

    def test_parallel_calls_fork_the_tree_and_are_no_rewind(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Two things.")
        one = t.answer("msg_1", call("a"))
        two = t.answer("msg_1", call("b"), parent=one)
        t.result("a", "A", parent=one)
        t.result("b", "B", parent=two)
        t.answer("msg_2", text("Done."))
        assert of_type(imported(log, tmp_path, t), "session_rewound") == []

    def test_repeated_uuids_name_no_place_to_go_back_to(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        for number in range(4):
            t.user(f"Prompt {number}.", uuid="same", parent="same")
            t.answer(f"msg_{number}", text("Yes."), uuid="same", parent="same")
        assert of_type(imported(log, tmp_path, t), "session_rewound") == []


class TestSubAgents:
    """A sub-agent's turns in the main context would show the model what only the sub-agent saw."""

    def inline(self) -> Transcript:
        t = Transcript()
        t.user("Ask two helpers.")
        t.answer("msg_1", call("task_1", "Task", prompt="Count the bricks."))
        t.answer("msg_1", call("task_2", "Task", prompt="Count the shelves."))
        side = {"isSidechain": True}
        t.user("Count the shelves.", uuid="s2-1", parent=None, **side)
        t.user("Count the bricks.", uuid="s1-1", parent=None, **side)
        t.answer("side_2", call("x"), uuid="s2-2", parent="s2-1", **side)
        t.answer("side_1", text("A hundred."), uuid="s1-2", parent="s1-1", **side)
        t.result("x", "nine", uuid="s2-3", parent="s2-2", **side)
        t.answer("side_3", text("Nine."), uuid="s2-4", parent="s2-3", **side)
        t.result("task_1", "A hundred.")
        t.result("task_2", "Nine.")
        t.answer("msg_2", text("100 bricks, 9 shelves."))
        return t

    def test_inline_sidechains_are_streams_named_by_their_first_record(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        imported(log, tmp_path, self.inline())
        keys = sorted(str(info.key) for info in log.streams())
        assert keys == [KEY, f"{KEY}.s1-1", f"{KEY}.s2-1"]
        second = events(log, f"{KEY}.s2-1")
        assert [e.type for e in second[1:]] == [
            "message_appended",
            "model_called",
            "message_appended",
            "model_responded",
            "tool_result_recorded",
            "model_called",
            "message_appended",
            "model_responded",
        ]
        assert second[1].data["source"] == "injected"

    def test_each_names_its_parent_and_the_call_that_started_it(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        imported(log, tmp_path, self.inline())
        for name, call_id in (("s1-1", "task_1"), ("s2-1", "task_2")):
            started = events(log, f"{KEY}.{name}")[0].data
            assert started["parent_session"] == KEY
            assert started["parent_call"] == call_id

    def test_the_last_answer_of_a_helper_is_complete_when_its_result_came(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        report = run(log, self.inline().write(tmp_path / "session.jsonl"))
        pending = {session.key: session.pending for session in report.sessions}
        assert pending == {KEY: 1, f"{KEY}.s1-1": 0, f"{KEY}.s2-1": 0}

    def test_a_boundary_in_a_sidechain_compacts_only_that(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Ask a helper.")
        side = {"isSidechain": True}
        t.user("Count.", uuid="s-1", parent=None, **side)
        t.record("system", subtype="compact_boundary", uuid="s-2", parent="s-1", **side)
        t.summary("Counted.", uuid="s-3", parent="s-2", **side)
        imported(log, tmp_path, t)
        assert standing(log) == ["2"]
        assert standing(log, f"{KEY}.s-1") == ["3.0"]

    def test_a_sidechain_without_any_ids_goes_on_with_the_last_one(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.bare("user", message={"role": "user", "content": "Hi."}, sessionId=SESSION)
        for content in ("Count.", "Count again."):
            message = {"role": "user", "content": content}
            t.bare("user", message=message, isSidechain=True, sessionId=SESSION)
        imported(log, tmp_path, t)
        assert len(events(log, f"{KEY}.line-2")) == 3

    def folder(self, tmp_path: Path) -> Path:
        t = Transcript()
        t.user("Ask a helper.")
        t.answer("msg_1", call("task_1", "Task", prompt="Count."))
        t.result("task_1", "Nine.", toolUseResult={"agentId": "a1b2", "status": "completed"})
        t.answer("msg_2", text("Nine."))
        root = tmp_path / "projects" / "-srv-kiln"
        t.write(root / f"{SESSION}.jsonl")
        helper = Transcript()
        more = {"isSidechain": True, "agentId": "a1b2"}
        first = helper.user("Count.", uuid="h-1", parent=None, **more)
        helper.answer("side_1", text("Nine."), uuid="h-2", parent=first, **more)
        helper.write(root / SESSION / "subagents" / "agent-a1b2.jsonl")
        return tmp_path / "projects"

    def test_a_folder_links_sub_agents_that_have_files_of_their_own(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        report = run(log, self.folder(tmp_path))
        started = events(log, f"{KEY}.a1b2")[0].data
        assert started["parent_session"] == KEY
        assert started["parent_call"] == "task_1"
        assert [s.pending for s in report.sessions] == [1, 0]

    def test_a_single_file_of_a_sub_agent_imports_itself(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        folder = self.folder(tmp_path)
        run(log, next(folder.rglob("agent-*.jsonl")), final=True)
        assert [str(info.key) for info in log.streams()] == [f"{KEY}.a1b2"]
        assert log.version(f"{KEY}.a1b2") == 5


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
