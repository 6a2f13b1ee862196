from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from codex_lines import KEY, PROMPT, THREAD, Rollout, long_session, message
from imported import of_type, run, standing

from eventlog import EventLog, RecordedEvent
from projections import open_log
from projections.references import find_session
from projections.sessions import session_stats
from projections.source_counts import source_counts


def imported(
    log: EventLog, tmp_path: Path, rollout: Rollout, **options: Any
) -> list[RecordedEvent]:
    run(log, rollout.write(tmp_path / "rollout.jsonl"), **{"final": True, **options})
    return list(log.read(KEY))


def usages(found: list[RecordedEvent]) -> list[int]:
    """The output tokens of each answer, -1 where none were told."""
    return [e.get("usage", {}).get("output", -1) for e in of_type(found, "model_responded")]


class TestTheStart:
    """What a thread is called and where it comes from is read once, from its own first record."""

    def test_the_start_names_the_thread_its_agent_and_its_file(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        started = imported(log, tmp_path, long_session())[0].data
        assert started["foreign_session_id"] == THREAD
        assert started["metadata"]["cli_version"] == "0.142.0"
        assert started["metadata"]["git"] == {"branch": "main"}
        assert started["metadata"]["file"] == "rollout.jsonl"
        assert started["ownership"] == "observed"
        assert "parent_session" not in started

    def test_the_system_prompt_and_the_tools_of_the_header_stand_first(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        tools: list[dict[str, Any]] = [
            {"name": "fan", "description": "Air.", "inputSchema": {"type": "object"}},
            {"type": "namespace", "name": "oven", "tools": [{"name": "open", "inputSchema": {}}]},
            {"name": "no schema"},
            7,
        ]
        r = Rollout(dynamic_tools=tools)
        r.turn()
        r.say("Ready.")
        found = imported(log, tmp_path, r)
        prompt = found[1].data
        assert (prompt["label"], prompt["message"]) == (
            "instructions",
            {"role": "system", "content": PROMPT},
        )
        assert found[2].data["definitions"] == [
            {
                "type": "function",
                "name": "fan",
                "description": "Air.",
                "parameters": {"type": "object"},
            },
            {
                "type": "namespace",
                "name": "oven",
                "tools": [{"type": "function", "name": "open", "parameters": {}}],
            },
        ]
        [called] = of_type(found, "model_called")
        assert called["tools"] == found[2].position
        assert prompt["origin"]["rest"]["payload"]["dynamic_tools"] == tools

    def test_without_a_system_prompt_a_call_is_only_known_in_part(self, tmp_path: Path) -> None:
        r = Rollout(base_instructions=None, dynamic_tools=None)
        r.user("Hi.")
        r.say("Hello.")
        with open_log(tmp_path / "log.db") as live:
            imported(live.log, tmp_path, r)
            assert session_stats(live, KEY).provenance == "partial"

    def test_a_history_that_begins_in_another_file_is_said_and_known_in_part(
        self, tmp_path: Path
    ) -> None:
        r = Rollout(history_base={"thread_id": "t-1", "end_ordinal_exclusive": 40})
        r.user("Hi.")
        r.say("Hello.")
        with open_log(tmp_path / "log.db") as live:
            report = run(live.log, r.write(tmp_path / "rollout.jsonl"), final=True)
            [note] = report.sessions[0].notes
            assert note == "it goes on from t-1, whose history is not in this file"
            assert session_stats(live, KEY).provenance == "partial"

    def test_later_headers_are_notes(self, log: EventLog, tmp_path: Path) -> None:
        r = Rollout()
        r.user("Hi.")
        r.meta(id="another", base_instructions={"text": "Another prompt."})
        r.meta(id=THREAD)
        found = imported(log, tmp_path, r)
        assert [e.type for e in found[3:]] == ["record_unrecognized"] * 3
        assert standing(log, KEY) == ["2", "3"]

    @pytest.mark.parametrize("told", ["by a notice", "by the result"])
    def test_a_sub_agent_names_its_parent_and_the_call_that_started_it(
        self, log: EventLog, tmp_path: Path, told: str
    ) -> None:
        parent, child = Rollout(), Rollout("5e551011-0000-7000-8000-00000000000b", header=False)
        parent.user("Have the log read.")
        parent.call("call_1", "spawn_agent", message="Read the log.")
        if told == "by a notice":
            parent.event("collab_agent_spawn_end", call_id="call_1", new_thread_id=child.thread)
        parent.result("call_1", f'{{"agent_id":"{child.thread}"}}' if "result" in told else "yes")
        parent.count()
        child.meta(
            id=child.thread,
            source={"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1}}},
            agent_path="/root/reader",
        )
        child.user("Read the log.")
        child.say("It is read.")
        child.count()
        day = tmp_path / "sessions" / "2026" / "03" / "01"
        parent.write(day / f"rollout-2026-03-01T09-00-00-{THREAD}.jsonl")
        child.write(day / f"rollout-2026-03-01T09-01-00-{child.thread}.jsonl")
        run(log, tmp_path / "sessions")
        found = list(log.read(f"local/codex/{child.thread}"))
        assert found[0].data["parent_session"] == KEY
        assert found[0].data["parent_call"] == "call_1"
        assert found[0].data["metadata"]["agent_path"] == "/root/reader"
        [prompt] = [e for e in of_type(found, "message_appended") if e.get("label") == "task"]
        assert prompt["source"] == "injected"

    def test_a_fork_names_the_thread_that_it_was_made_of_and_is_a_session_like_any(
        self, tmp_path: Path
    ) -> None:
        parent = "5e551011-0000-7000-8000-00000000000c"
        r = Rollout(forked_from_id=parent)
        r.meta(id=parent)
        r.user("Hi.")
        with open_log(tmp_path / "log.db") as live:
            started = imported(live.log, tmp_path, r)[0].data
            assert started["parent_session"] == f"local/codex/{parent}"
            assert started["metadata"]["forked_from_id"] == parent
            assert session_stats(live, KEY).parent_session == f"local/codex/{parent}"
            assert str(find_session(live, "last")) == KEY

    @pytest.mark.parametrize(
        ("name", "session"),
        [
            (f"rollout-2026-03-01T09-00-00-{THREAD}.jsonl", THREAD),
            ("kept.jsonl", "kept"),
        ],
    )
    def test_a_file_without_its_header_is_called_after_the_file(
        self, log: EventLog, tmp_path: Path, name: str, session: str
    ) -> None:
        r = Rollout(header=False)
        r.user("Hi.")
        report = run(log, r.write(tmp_path / name))
        assert [s.key for s in report.sessions] == [f"local/codex/{session}"]
        assert standing(log, f"local/codex/{session}") == ["2"]

    def test_a_damaged_first_line_does_not_hide_the_header(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        r = Rollout()
        r.user("Hi.")
        r.lines.insert(0, b"\0\0\0")
        report = run(log, r.write(tmp_path / "rollout.jsonl"))
        assert [s.key for s in report.sessions] == [KEY]
        assert report.unreadable == 1


class TestAnswers:
    """One answer of the model is one event and one call, or calls and usage are counted wrongly."""

    def test_the_items_up_to_a_token_count_are_one_answer(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        found = imported(log, tmp_path, long_session())
        answers = [e for e in of_type(found, "message_appended") if e["source"] == "model"]
        kinds = [[item["type"] for item in e["message"]["items"]] for e in answers]
        assert kinds == [
            ["reasoning", "message", "function_call", "function_call"],
            ["reasoning", "custom_tool_call"],
            ["message"],
            ["web_search_call", "function_call"],
            ["message"],
            ["message"],
        ]
        assert [e["model"] for e in of_type(found, "model_called")] == [
            *["gpt-kiln-1"] * 3,
            "gpt-kiln-2",
            *["gpt-kiln-1"] * 2,
        ]
        called = of_type(found, "model_called")[0]
        assert called["parameters"] == {"reasoning": {"effort": "high", "summary": "auto"}}

    def test_a_call_its_answer_and_its_end_stand_together(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        found = imported(log, tmp_path, long_session())
        for at, event in enumerate(found):
            if event.type == "model_called":
                assert found[at + 1].data["call"] == event.position
                assert found[at + 2].data["call"] == event.position

    @pytest.mark.parametrize("order", ["before the results", "behind the results", "before all"])
    def test_each_answer_has_its_own_usage_wherever_the_count_stands(
        self, log: EventLog, tmp_path: Path, order: str
    ) -> None:
        r = Rollout()
        for turn in range(2):
            r.turn()
            r.user(f"Turn {turn}.")
            for number in range(3):
                if order == "before all":
                    r.event("agent_message", message="I look.")
                    r.count(output=10 * turn + number + 1)
                r.think(number)
                r.call(f"call_{turn}{number}")
                if order == "before the results":
                    r.count(output=10 * turn + number + 1)
                r.result(f"call_{turn}{number}")
                if order == "behind the results":
                    r.count(output=10 * turn + number + 1)
            r.repeat()
        found = imported(log, tmp_path, r)
        assert usages(found) == [1, 2, 3, 11, 12, 13]
        usage = of_type(found, "model_responded")[0]["usage"]
        assert (usage["input"], usage["cached"], usage["reasoning"]) == (40, 60, 4)
        assert usage["provider"]["input_tokens"] == 100

    def test_results_split_answers_that_have_no_count(self, log: EventLog, tmp_path: Path) -> None:
        r = Rollout()
        r.user("Hi.")
        r.call("call_1")
        r.result("call_1")
        r.call("call_2")
        r.result("call_2")
        r.say("Done.")
        assert usages(imported(log, tmp_path, r)) == [-1, -1, -1]

    def test_a_count_after_an_aborted_turn_is_of_no_answer(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        r = Rollout()
        r.user("Hi.")
        r.call("call_1")
        r.event("turn_aborted", reason="interrupted")
        r.count(output=77)
        r.say("Well.")
        r.ends()
        found = imported(log, tmp_path, r)
        assert usages(found) == [-1, -1]
        assert any('"output_tokens": 77' in e["raw"] for e in of_type(found, "record_unrecognized"))

    def test_an_open_answer_waits_for_the_next_import(self, log: EventLog, tmp_path: Path) -> None:
        r = Rollout()
        r.user("Hi.")
        r.think(1)
        r.call("call_1")
        r.result("call_1")
        report = run(log, r.write(tmp_path / "rollout.jsonl"))
        assert report.pending == 3
        assert of_type(list(log.read(KEY)), "model_called") == []
        r.count()
        report = run(log, r.write(tmp_path / "rollout.jsonl"))
        assert (report.pending, len(of_type(list(log.read(KEY)), "model_called"))) == (0, 1)

    def test_calls_find_their_results_and_results_their_tool(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        r = Rollout()
        r.user("Hi.")
        r.call("call_1", "gauge")
        r.item("custom_tool_call", call_id="call_2", name="apply_patch", input="*** Begin Patch")
        r.item("local_shell_call", call_id="call_3", action={"type": "exec", "command": ["ls"]})
        r.item("tool_search_call", call_id="call_4", execution="client", arguments={"query": "k"})
        r.count()
        r.result("call_1", {"content": "no", "success": False})
        r.item("custom_tool_call_output", call_id="call_2", output="Done")
        r.result("call_3")
        r.item("tool_search_output", call_id="call_4", status="completed", tools=[])
        found = imported(log, tmp_path, r)
        results = of_type(found, "tool_result_recorded")
        assert [(e["tool_call_id"], e["name"], e.get("is_error", False)) for e in results] == [
            ("call_1", "gauge", True),
            ("call_2", "apply_patch", False),
            ("call_3", "local_shell_call", False),
            ("call_4", "tool_search_call", False),
        ]
        counts = source_counts(found)
        assert (counts.tool_calls, counts.tool_results) == (4, 4)
        assert (counts.orphan_tool_results, counts.unanswered_tool_calls) == (0, 0)


class TestWhoSpeaks:
    """What Codex writes under the role of the user is no prompt of a person."""

    @pytest.mark.parametrize(
        ("said", "label"),
        [
            (
                "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
                "agents_md",
            ),
            ("<user_instructions>\nx\n</user_instructions>", "agents_md"),
            ("<ENVIRONMENT_CONTEXT>cwd</ENVIRONMENT_CONTEXT>", "environment_context"),
            ("<turn_aborted>x</turn_aborted>", "turn_aborted"),
            ("<user_shell_command>ls</user_shell_command>", "user_shell_command"),
            (
                "Another language model started to solve this problem and produced a summary "
                "of its thinking process.\nThe kiln is warm.",
                "summary",
            ),
        ],
    )
    def test_fragments_are_injected(
        self, log: EventLog, tmp_path: Path, said: str, label: str
    ) -> None:
        r = Rollout()
        r.put(message("user", said))
        found = imported(log, tmp_path, r)[-1].data
        assert (found["source"], found["label"]) == ("injected", label)

    @pytest.mark.parametrize("said", ["Hi.", "<b>Hi.</b>", "<environment_context> and more", ""])
    def test_anything_else_is_a_person(self, log: EventLog, tmp_path: Path, said: str) -> None:
        r = Rollout()
        r.put(message("user", said))
        found = imported(log, tmp_path, r)[-1].data
        assert (found["source"], found.get("label", "")) == ("human", "")

    def test_other_agents_are_neither(self, log: EventLog, tmp_path: Path) -> None:
        r = Rollout()
        r.item("agent_message", author="/root/a", recipient="/root", content=[])
        r.put(message("assistant", '{"author":"/a","recipient":"/root","content":"Read it."}'))
        r.line(
            "inter_agent_communication",
            {"author": "/a", "recipient": "/root", "content": "Done.", "trigger_turn": True},
        )
        r.line(
            "inter_agent_communication",
            {
                "author": "/a",
                "recipient": "/root",
                "content": "",
                "encrypted_content": "c2VhbGVk",
                "trigger_turn": False,
            },
        )
        found = of_type(imported(log, tmp_path, r), "message_appended")[1:]
        assert [(e["source"], e["label"]) for e in found] == [("injected", "agent_message")] * 4
        assert found[2]["message"]["content"] == [{"type": "input_text", "text": "Done."}]
        assert found[3]["message"]["content"][1]["encrypted_content"] == "c2VhbGVk"


class TestNothingIsLost:
    """Every record of the file stands in the log, mapped or whole."""

    def test_every_line_is_named_by_an_event_once(self, log: EventLog, tmp_path: Path) -> None:
        r = long_session()
        found = imported(log, tmp_path, r)
        counted = source_counts(found)
        assert counted.records == len(r.lines)
        assert counted.compactions == 1
        assert (counted.assistant_messages, counted.tool_calls, counted.tool_results) == (4, 4, 4)
        assert counted.visible_after_last_compaction == 3 + 4

    def test_notices_are_kept_whole_and_only_new_types_are_unknown(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        kept = of_type(imported(log, tmp_path, long_session()), "record_unrecognized")
        unknown = [e["raw"] for e in kept if e.get("kind", "unknown") == "unknown"]
        assert len(unknown) == 2
        assert "a_notice_of_tomorrow" in unknown[0]
        assert "a_record_of_tomorrow" in unknown[1]
        assert any("aggregated_output" in e["raw"] for e in kept)

    def test_what_stands_beside_a_payload_is_kept(self, log: EventLog, tmp_path: Path) -> None:
        r = Rollout()
        r.line("response_item", message("user", "Hi."), ordinal=7, metadata={"a": 1})
        found = imported(log, tmp_path, r)[-1].data
        assert found["origin"]["rest"] == {"ordinal": 7, "metadata": {"a": 1}}

    def test_the_last_name_of_a_thread_is_its_title(self, log: EventLog, tmp_path: Path) -> None:
        r = long_session()
        r.event("thread_name_updated", thread_id="another", thread_name="Not this one")
        found = imported(log, tmp_path, r)
        assert [e["title"] for e in of_type(found, "session_titled")] == ["Warming the kiln"]

    def test_the_bare_lines_of_the_first_versions_are_read(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        r = Rollout(header=False)
        r.lines = [
            b'{"id":"%s","timestamp":"2025-06-01T00:00:00Z","instructions":"Be kind."}'
            % THREAD.encode(),
            b'{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi."}]}',
            b'{"record_type":"state"}',
            b'{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Yes."}]}',
        ]
        found = imported(log, tmp_path, r)
        assert [e.type for e in found] == [
            "session_started",
            "record_unrecognized",
            "message_appended",
            "record_unrecognized",
            "model_called",
            "message_appended",
            "model_responded",
        ]
        assert source_counts(found).records == 4
