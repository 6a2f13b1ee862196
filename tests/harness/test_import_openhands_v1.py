from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from imported import events, of_type, run, standing
from openhands_sessions import ID, KEY_V1, TOOLS, V1, small_v1, text

from eventlog import EventLog, RecordedEvent
from projections import open_log
from projections.context import fold
from projections.sessions import session_stats
from projections.source_counts import source_counts


def imported(log: EventLog, tmp_path: Path, v1: V1, **options: Any) -> list[RecordedEvent]:
    run(log, v1.write(tmp_path / "conversation"), **{"final": True, **options})
    return events(log, KEY_V1)


def texts_of(log: EventLog, key: str) -> list[str]:
    with open_log(log.path) as live:
        return [item.text for item in live.items(key)]


class TestWhatIsSent:
    """What a model was given is made of the events as the SDK makes it, or nothing can be said of
    any call."""

    def test_a_prompt_declares_its_tools_and_both_parts_of_it_are_one_message(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = V1()
        v1.system("Tend the kiln.", dynamic_context=text("It is cold."))
        found = imported(log, tmp_path, v1)
        assert [e.type for e in found] == ["session_started", "tools_declared", "message_appended"]
        assert found[1].data["definitions"] == TOOLS
        assert found[2].data["message"] == {
            "role": "system",
            "content": [
                {"type": "text", "text": "Tend the kiln."},
                {"type": "text", "text": "It is cold."},
            ],
        }

    def test_the_same_tools_are_declared_once_and_every_call_names_them(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = V1()
        v1.system()
        v1.step(0)
        v1.system("Another prompt.")
        v1.step(1)
        found = imported(log, tmp_path, v1)
        assert len(of_type(found, "tools_declared")) == 1
        assert [call["tools"] for call in of_type(found, "model_called")] == [2, 2]

    def test_tools_without_their_parameters_are_kept_and_said(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = V1()
        named = [{"kind": "TerminalTool", "description": "Run.", "action_type": "TerminalAction"}]
        v1.system(tools=named)
        report = run(log, v1.write(tmp_path / "c"))
        found = events(log, KEY_V1)
        assert of_type(found, "tools_declared") == []
        assert found[1].data["origin"]["rest"]["tools"] == named
        assert "without the parameters" in report.sessions[0].notes[0]

    def test_what_skills_add_is_a_part_of_the_message(self, log: EventLog, tmp_path: Path) -> None:
        v1 = V1()
        v1.user("Go.", extended_content=[text("Mind the damper.")], activated_skills=["damper"])
        [message] = of_type(imported(log, tmp_path, v1), "message_appended")
        assert [part["text"] for part in message["message"]["content"]] == [
            "Go.",
            "Mind the damper.",
        ]
        assert message["source"] == "human"
        assert message["origin"]["rest"]["activated_skills"] == ["damper"]

    @pytest.mark.parametrize(
        "call",
        [
            {
                "id": "c",
                "name": "terminal",
                "arguments": '{"command": "ls"}',
                "origin": "responses",
            },
            {
                "index": 1,
                "id": "c",
                "type": "function",
                "function": {"name": "terminal", "arguments": '{"command": "ls"}'},
            },
        ],
    )
    def test_a_call_has_one_form_whatever_the_version(
        self, log: EventLog, tmp_path: Path, call: dict[str, Any]
    ) -> None:
        v1 = V1()
        v1.action("c", "r", "Look.", arguments={"command": "ls"})
        v1.events[-1]["tool_call"] = call
        [answer] = of_type(imported(log, tmp_path, v1), "message_appended")
        assert answer["message"] == {
            "role": "assistant",
            "content": [{"type": "text", "text": "Look."}],
            "tool_calls": [
                {
                    "id": "c",
                    "type": "function",
                    "function": {"name": "terminal", "arguments": '{"command": "ls"}'},
                }
            ],
        }

    def test_a_command_is_shown_with_what_the_shell_said_around_it(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = V1()
        action = v1.action("c", "r")
        metadata = {
            "exit_code": 2,
            "working_dir": "/kiln",
            "py_interpreter_path": "/usr/bin/python",
            "prefix": "<",
            "suffix": ">",
        }
        v1.observes(
            "c",
            action,
            observation={"kind": "ExecuteBashObservation", "output": "hot", "metadata": metadata},
        )
        [result] = of_type(imported(log, tmp_path, v1), "tool_result_recorded")
        assert result["native"]["content"][0]["text"] == (
            "<hot>\n[Current working directory: /kiln]\n[Python interpreter: /usr/bin/python]"
            "\n[Command finished with exit code 2]"
        )

    def test_a_failed_tool_is_an_error_with_the_header_that_the_model_reads(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = V1()
        action = v1.action("c", "r")
        v1.observes(
            "c", action, observation={"kind": "X", "content": [text("no")], "is_error": True}
        )
        [result] = of_type(imported(log, tmp_path, v1), "tool_result_recorded")
        assert result["is_error"]
        assert [part["text"] for part in result["native"]["content"]] == [
            "[An error occurred during execution.]\n",
            "no",
        ]

    def test_a_long_output_is_stored_whole_and_shown_cut(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = V1()
        action = v1.action("c", "r")
        long = "a" * 40_000 + "z"
        v1.observes("c", action, observation={"kind": "T", "content": [text(long)], "metadata": {}})
        found = imported(log, tmp_path, v1)
        [result] = of_type(found, "tool_result_recorded")
        [cut] = of_type(found, "placeholder_substituted")
        assert result["native"]["content"][0]["text"] == long
        assert cut["kind"] == "cut"
        assert cut["implied"]
        assert len(cut["content"]) == 30_000
        assert "<response clipped>" in cut["content"]
        assert cut["content"].endswith("az")

    def test_errors_and_rejections_answer_their_calls(self, log: EventLog, tmp_path: Path) -> None:
        v1 = V1()
        v1.action("a", "r")
        second = v1.action("b", "r")
        v1.event("AgentErrorEvent", "agent", error="no tool", tool_name="t", tool_call_id="a")
        v1.event(
            "UserRejectObservation",
            rejection_reason="too hot",
            tool_name="t",
            tool_call_id="b",
            action_id=second,
        )
        results = of_type(imported(log, tmp_path, v1), "tool_result_recorded")
        texts = [result["native"]["content"][0]["text"] for result in results]
        assert texts == ["no tool", "Action rejected: too hot"]
        assert all(result["is_error"] for result in results)
        counts = source_counts(log.read(KEY_V1))
        assert (counts.tool_calls, counts.tool_results) == (2, 2)

    def test_nothing_of_an_event_is_lost(self, log: EventLog, tmp_path: Path) -> None:
        v1 = V1()
        action = v1.action("c", "r", security_risk="LOW", summary="looking around")
        v1.observes(
            "c",
            action,
            observation={
                "kind": "FileObservation",
                "content": [text("x")],
                "old_content": "before",
                "path": "/kiln/log",
            },
        )
        found = imported(log, tmp_path, v1)
        [answer] = of_type(found, "message_appended")
        assert answer["origin"]["rest"] == {
            "security_risk": "LOW",
            "summary": "looking around",
            "action": "TerminalAction",
        }
        [result] = of_type(found, "tool_result_recorded")
        assert result["origin"]["rest"]["observation"] == {
            "kind": "FileObservation",
            "old_content": "before",
            "path": "/kiln/log",
        }


class TestOneAnswer:
    """Several records of one response counted apart double every bill and break every pair."""

    def test_parallel_calls_are_one_message_and_one_call(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = V1()
        v1.bill(
            "r",
            prompt_tokens=100,
            completion_tokens=9,
            cache_read_tokens=60,
            cache_write_tokens=30,
            reasoning_tokens=4,
        )
        actions = [v1.action(c, "r", "Both." if c == "a" else "") for c in "ab"]
        for call, action in zip("ab", actions, strict=True):
            v1.observes(call, action)
        found = imported(log, tmp_path, v1)
        [answer] = of_type(found, "message_appended")
        assert [call["id"] for call in answer["message"]["tool_calls"]] == ["a", "b"]
        assert answer["message"]["content"] == [{"type": "text", "text": "Both."}]
        [ended] = of_type(found, "model_responded")
        usage = {k: v for k, v in ended["usage"].items() if k != "provider"}
        assert usage == {"input": 10, "cached": 60, "cache_write": 30, "output": 9, "reasoning": 4}
        assert len(of_type(found, "model_called")) == 1

    def test_a_state_between_two_calls_closes_nothing(self, log: EventLog, tmp_path: Path) -> None:
        v1 = V1()
        v1.action("a", "r")
        v1.event("ConversationStateUpdateEvent", key="execution_status", value="running")
        v1.action("b", "r")
        found = imported(log, tmp_path, v1)
        assert len(of_type(found, "message_appended")) == 1
        assert of_type(found, "record_unrecognized")[0]["kind"] == "known"

    def test_a_call_that_comes_back_later_is_a_message_of_the_same_call(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = V1()
        v1.action("a", "r")
        v1.event("AgentErrorEvent", "agent", error="no", tool_name="t", tool_call_id="b")
        v1.action("c", "r")
        found = imported(log, tmp_path, v1)
        first, second = of_type(found, "message_appended")
        assert first["call"] == second["call"]
        assert len(of_type(found, "model_responded")) == 1

    def test_what_the_agent_says_without_a_call_is_an_answer(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = V1()
        v1.user("Hot?")
        v1.says("Yes.", "r")
        found = imported(log, tmp_path, v1)
        assert [e.type for e in found[2:]] == [
            "model_called",
            "message_appended",
            "model_responded",
        ]
        assert found[4].data["response_id"] == "r"
        assert source_counts(found).assistant_messages == 1


class TestCondensations:
    """The list of forgotten ids is all that tells what a model no longer saw."""

    def test_the_summary_stands_at_its_offset_and_lost_partners_leave(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = small_v1(4, max_size=8, keep_first=2)
        before = [event["id"] for event in v1.events]
        # The call of the third step is forgotten, and its result is not.
        v1.condenses(before[2:7], "Warmed.", 2)
        found = imported(log, tmp_path, v1)
        texts = texts_of(log, KEY_V1)
        assert texts[:3] == ["You tend a kiln.", "Warm the kiln to 90 °C.", "Warmed."]
        assert [text.partition("\n")[0] for text in texts[3:]] == ["Step 3.", "result 3"]
        [compacted] = of_type(found, "context_compacted")
        assert compacted["by"] == {
            "name": "openhands",
            "parameters": {"kind": "LLMSummarizingCondenser", "max_size": 8, "keep_first": 2},
        }
        assert compacted["trigger"] == "events"
        # What it says that its summarizer saw has the call of the third step, and not its result.
        assert len(compacted["summarizer"]["shown"]) >= 1
        results = [e.position for e in found if e.type == "tool_result_recorded"]
        assert compacted["covered"][-1].endswith(str(results[2]))
        assert not compacted["summarizer"]["shown"][-1].endswith(str(results[2]))

    def test_of_two_summaries_of_the_old_sdk_only_the_last_one_stands(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = small_v1(4)
        ids = [event["id"] for event in v1.events]
        v1.condenses(ids[2:4], "First.", 2)
        v1.condenses([*ids[4:6], "5c0ffee5-0000-4000-8000-000000000000"], "Second.", 2)
        report = run(log, v1.write(tmp_path / "c"), final=True)
        texts = texts_of(log, KEY_V1)
        assert "Second." in texts
        assert "First." not in texts
        [note] = report.sessions[0].notes
        assert note.endswith("forgets 1 event that the transcript does not hold")

    def test_summaries_of_the_new_sdk_are_events_that_stay_until_they_are_named(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = small_v1(6)
        ids = [event["id"] for event in v1.events]
        first = v1.condenses(ids[2:4], "First.", 2, llm_response_id="s1")
        second = v1.condenses([*ids[4:6], f"{first}-summary"], "Second.", 2, llm_response_id="s2")
        v1.condenses(ids[6:8], "Third.", 3, llm_response_id="s3")
        report = run(log, v1.write(tmp_path / "c"), final=True)
        texts = texts_of(log, KEY_V1)
        assert texts[2:4] == ["Second.", "Third."]
        assert "First." not in texts
        assert report.sessions[0].notes == []
        assert second

    def test_a_batch_of_which_a_call_is_forgotten_leaves_whole(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = V1()
        v1.user("Go.")
        actions = [v1.action(c, "r") for c in "ab"]
        results = [v1.observes(c, a, c * 3) for c, a in zip("ab", actions, strict=True)]
        v1.condenses([actions[0], results[0]], "S", 1, llm_response_id="s")
        imported(log, tmp_path, v1)
        assert texts_of(log, KEY_V1) == ["Go.", "S"]

    def test_the_first_sdk_left_the_other_calls_of_a_batch(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = V1()
        v1.user("Go.")
        actions = [v1.action(c, "r") for c in "ab"]
        results = [v1.observes(c, a, c * 3) for c, a in zip("ab", actions, strict=True)]
        v1.condenses([actions[0], results[0]], "S", 1)
        found = imported(log, tmp_path, v1)
        [revised] = of_type(found, "message_revised")
        assert [call["id"] for call in revised["message"]["tool_calls"]] == ["b"]
        assert texts_of(log, KEY_V1)[-1] == "bbb"
        assert fold(log.read(KEY_V1)).notes == []

    def test_without_a_summary_the_events_only_leave(self, log: EventLog, tmp_path: Path) -> None:
        v1 = small_v1(2)
        v1.condenses([event["id"] for event in v1.events[2:4]], None, None)
        found = imported(log, tmp_path, v1)
        [compacted] = of_type(found, "context_compacted")
        assert compacted.get("messages", []) == []
        assert len(standing(log, KEY_V1)) == 4

    def test_a_requested_condensation_says_so(self, log: EventLog, tmp_path: Path) -> None:
        v1 = small_v1(2)
        v1.event("CondensationRequest")
        v1.condenses([v1.events[2]["id"], v1.events[3]["id"]], "S", 2)
        [compacted] = of_type(imported(log, tmp_path, v1), "context_compacted")
        assert compacted["trigger"] == "request"

    def test_the_counted_list_after_it_goes_on_with_what_came_behind(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = small_v1(4)
        v1.condenses([event["id"] for event in v1.events[2:7]], "S", 2)
        v1.step(9)
        v1.action("open", "r-open")
        imported(log, tmp_path, v1)
        # prompt, task, summary, the last step's call and result, the new step; not the open call.
        assert source_counts(log.read(KEY_V1)).visible_after_last_compaction == 7


class TestBranches:
    def test_an_event_behind_an_earlier_one_goes_back_to_it(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = V1()
        v1.user("One.")
        first = v1.says("Two.")
        v1.user("Three.", parent_id=first)
        v1.says("Four.")
        v1.user("Other.", parent_id=first)
        found = imported(log, tmp_path, v1)
        assert texts_of(log, KEY_V1) == ["One.", "Two.", "Other."]
        assert len(of_type(found, "session_rewound")) == 1
        assert run(log, tmp_path / "conversation", final=True).new == 0


class TestBesideTheEvents:
    """The state beside the events holds keys: those must not reach the log."""

    def test_the_configuration_is_kept_and_no_key(self, log: EventLog, tmp_path: Path) -> None:
        v1 = small_v1(1, max_size=80, keep_first=4)
        v1.state["agent"]["llm"]["api_key"] = "kiln-key-made-up-1234"
        v1.state["agent"]["llm"]["extra_headers"] = {"Authorization": "Bearer made-up-5678"}
        report = run(log, v1.write(tmp_path / "c"), final=True)
        payload = "".join(e.payload or "" for e in log.read(KEY_V1))
        assert "made-up" not in payload
        metadata = events(log, KEY_V1)[0].data["metadata"]
        assert metadata["condenser"]["max_size"] == 80
        assert metadata["llm"] == {"model": "kiln/large", "temperature": 0.0}
        assert report.files[0].notes == [
            "base_state.json: agent.llm.api_key stands there readable; it was not taken in",
            "base_state.json: agent.llm.extra_headers.Authorization stands there readable; "
            "it was not taken in",
        ]

    def test_the_calls_are_rebuilt_with_their_model(self, log: EventLog, tmp_path: Path) -> None:
        run(log, small_v1(2).write(tmp_path / "c"), final=True)
        with open_log(log.path) as live:
            assert session_stats(live, KEY_V1).provenance == "rebuilt"
        assert {e.data["model"] for e in log.read(KEY_V1, types=["model_called"])} == {"kiln/large"}

    @pytest.mark.parametrize("state", [b"", b"[]", b'{"id": 7}', b"\xff", b'{"agent": [1]}'])
    def test_a_state_that_cannot_be_read_keeps_no_event_out(
        self, log: EventLog, tmp_path: Path, state: bytes
    ) -> None:
        folder = small_v1(1).write(tmp_path / "c")
        (folder / "base_state.json").write_bytes(state)
        report = run(log, folder, final=True)
        assert report.new == 8
        assert run(log, folder, final=True).new == 0


class TestAsOneFile:
    def test_an_array_of_events_and_a_run_hold_the_same(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v1 = small_v1(2)
        (tmp_path / "a.json").write_text(json.dumps(v1.events, indent=1))
        line = {"instance_id": "kiln-1", "history": v1.events, "metadata": {"api_key": "made-up"}}
        (tmp_path / "output.jsonl").write_text(json.dumps(line) + "\n" + json.dumps(line) + "\n")
        whole = run(log, tmp_path / "a.json")
        runs = run(log, tmp_path / "output.jsonl")
        assert [f.format for f in (*whole.files, *runs.files)] == ["openhands-v1"] * 2
        assert [s.new for s in runs.sessions] == [whole.new, whole.new]
        started = next(iter(log.read(runs.sessions[0].key))).data
        assert started["title"] == "kiln-1"
        assert "made-up" not in json.dumps(started)
        assert source_counts(log.read(whole.sessions[0].key)).records == 6
        assert source_counts(log.read(runs.sessions[0].key)).records == 1
        assert run(log, tmp_path / "output.jsonl").new == 0


def test_the_session_is_named_by_the_conversation(log: EventLog, tmp_path: Path) -> None:
    run(log, small_v1(1).write(tmp_path / "c"))
    [info] = log.streams()
    assert str(info.key) == KEY_V1
    assert events(log, KEY_V1)[0].data["foreign_session_id"] == ID
