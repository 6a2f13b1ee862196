from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from imported import events, of_type, run
from openhands_sessions import KEY_V0, SID, TOOLS, V0, small_v0

from eventlog import EventLog, RecordedEvent
from projections import open_log
from projections.context import fold
from projections.sessions import session_stats
from projections.source_counts import source_counts


def imported(log: EventLog, tmp_path: Path, v0: V0) -> list[RecordedEvent]:
    run(log, v0.write(tmp_path / SID))
    return events(log, KEY_V0)


def texts_of(log: EventLog) -> list[str]:
    with open_log(log.path) as live:
        return [item.text for item in live.items(KEY_V0)]


def tokens(found: list[RecordedEvent]) -> dict[str, int]:
    total: dict[str, int] = {}
    for ended in of_type(found, "model_responded"):
        for field, value in ended.get("usage", {}).items():
            if field != "provider":
                total[field] = total.get(field, 0) + value
    return total


class TestPairs:
    """Call ids repeat in real files: a result that is paired by its id goes to the wrong call."""

    def test_a_result_answers_the_action_that_caused_it(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        found = imported(log, tmp_path, small_v0(3))
        results = of_type(found, "tool_result_recorded")
        assert {result["tool_call_id"] for result in results} == {"toolu_01"}
        pairs = [result["origin"]["records"][0]["pairs"][0] for result in results]
        assert pairs == ["result:2", "result:4", "result:6"]
        with open_log(log.path) as live:
            stats = session_stats(live, KEY_V0)
        assert (stats.orphan_tool_results, stats.unanswered_tool_calls) == (0, 0)

    def test_an_error_without_a_cause_is_said_to_the_model(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v0 = small_v0(1)
        v0.event("agent", observation="error", content="The kiln tripped.", extras={})
        found = imported(log, tmp_path, v0)
        last = of_type(found, "message_appended")[-1]
        assert (last["source"], last["label"]) == ("injected", "error")
        assert texts_of(log)[-1] == (
            "The kiln tripped.\n[Error occurred in processing last action]"
        )
        assert source_counts(found).tool_results == 1

    def test_an_error_with_a_cause_answers_the_call(self, log: EventLog, tmp_path: Path) -> None:
        v0 = small_v0(0)
        action = v0.runs("c", v0.completion("r", "c"))
        v0.event("agent", cause=action, observation="error", content="No.", extras={})
        [result] = of_type(imported(log, tmp_path, v0), "tool_result_recorded")
        assert result["is_error"]
        assert result["tool_call_id"] == "c"

    def test_what_a_person_ran_is_said_and_is_no_call(self, log: EventLog, tmp_path: Path) -> None:
        v0 = small_v0(0)
        ran = v0.event("user", action="run", args={"command": "uptime"})
        v0.event("agent", cause=ran, observation="run", content="up", extras={"exit_code": 0})
        found = imported(log, tmp_path, v0)
        assert texts_of(log)[2:] == [
            "User executed the command:\nuptime",
            "\nObserved result of command executed by user:\nup"
            "\n[Command finished with exit code 0]",
        ]
        counts = source_counts(found)
        assert (counts.tool_calls, counts.tool_results) == (0, 0)

    def test_states_and_recalls_are_environment(self, log: EventLog, tmp_path: Path) -> None:
        v0 = small_v0(0)
        v0.event("agent", action="change_agent_state", args={"agent_state": "running"})
        v0.event("environment", observation="agent_state_changed", content="", extras={})
        asked = v0.event("user", action="recall", args={"query": "kiln"})
        known = [{"name": "kiln", "trigger": "kiln", "content": "Mind the damper."}]
        extras = {"recall_type": "knowledge", "microagent_knowledge": known}
        v0.event("environment", cause=asked, observation="recall", content="Added", extras=extras)
        found = imported(log, tmp_path, v0)
        counts = source_counts(found)
        assert (counts.tool_calls, counts.tool_results, counts.records) == (0, 0, 6)
        last = of_type(found, "message_appended")[-1]
        assert (last["source"], last["label"]) == ("retrieval", "recall")
        assert texts_of(log)[-1] == "Mind the damper."


class TestOneAnswer:
    """Each event repeats the whole completion: counted apart, the bill doubles with each call."""

    def test_parallel_calls_are_one_message_and_their_tokens_count_once(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v0 = small_v0(0)
        completion = v0.completion("r", "a", "b", said="Both.")
        for call in "ab":
            v0.ran(v0.runs(call, completion), call, completion, call * 3)
        found = imported(log, tmp_path, v0)
        [answer] = of_type(found, "message_appended")[2:]
        assert [call["id"] for call in answer["message"]["tool_calls"]] == ["a", "b"]
        assert tokens(found) == {"input": 100, "output": 7}
        assert texts_of(log)[-2].startswith("aaa")
        counts = source_counts(found)
        assert (counts.tool_calls, counts.tool_results, counts.unanswered_tool_calls) == (2, 2, 0)
        assert fold(log.read(KEY_V0)).notes == []

    def test_running_totals_are_read_where_no_completion_is(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v0 = small_v0(0)
        totals: list[dict[str, Any]] = []
        for number in range(3):
            totals.append(
                {
                    "model": "kiln/large",
                    "response_id": f"r{number}",
                    "prompt_tokens": 50,
                    "cache_read_tokens": 20,
                    "completion_tokens": 5,
                }
            )
            v0.says(f"Answer {number}.", llm_metrics={"token_usages": list(totals)})
        v0.says("The same again.", llm_metrics={"token_usages": list(totals)})
        found = imported(log, tmp_path, v0)
        assert tokens(found) == {"input": 90, "cached": 60, "output": 15}
        responses = [ended.get("response_id", "") for ended in of_type(found, "model_responded")]
        assert responses == ["r0", "r1", "r2", ""]

    def test_a_finish_is_shown_as_text_and_stays_an_answer_with_its_call(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v0 = small_v0(0)
        v0.runs("f", v0.completion("r", "f"), "finish", final_thought="", thought="Warm.")
        v0.user("Again.")
        found = imported(log, tmp_path, v0)
        answer = of_type(found, "message_appended")[2]
        assert answer["message"]["tool_calls"][0]["id"] == "f"
        assert texts_of(log)[2:] == ["Warm.", "Again."]
        counts = source_counts(found)
        assert (counts.tool_calls, counts.unanswered_tool_calls) == (1, 1)

    def test_a_call_of_an_agent_that_wrote_text_is_made_of_its_arguments(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v0 = small_v0(0)
        args = {"command": "ls", "thought": "Look.", "hidden": ""}
        action = v0.event("agent", action="run", args=args)
        v0.event("agent", cause=action, observation="run", content="log", extras={})
        found = imported(log, tmp_path, v0)
        answer = of_type(found, "message_appended")[2]["message"]
        assert answer["content"] == [{"type": "text", "text": "Look."}]
        [call] = answer["tool_calls"]
        assert call["function"] == {"name": "run", "arguments": '{"command": "ls"}'}
        [result] = of_type(found, "tool_result_recorded")
        assert result["tool_call_id"] == call["id"]


class TestCondensations:
    @pytest.mark.parametrize(
        "named",
        [
            {"forgotten_event_ids": [2, 3, 4]},
            {"forgotten_events_start_id": 2, "forgotten_events_end_id": 4},
        ],
    )
    def test_ids_one_by_one_or_from_the_first_to_the_last(
        self, log: EventLog, tmp_path: Path, named: dict[str, Any]
    ) -> None:
        v0 = small_v0(3)
        v0.condenses(**named, summary="Warmed.", summary_offset=2)
        imported(log, tmp_path, v0)
        firsts = [text.partition("\n")[0] for text in texts_of(log)]
        # The result of the second step lost its call.
        assert firsts == [
            "You tend a kiln.",
            "Warm the kiln to 90 °C.",
            "Warmed.",
            "Step 2.",
            "result 2",
        ]

    def test_the_prompt_and_the_task_are_put_back(self, log: EventLog, tmp_path: Path) -> None:
        v0 = small_v0(2)
        v0.condenses(forgotten_event_ids=[0, 1, 2, 3], summary="S", summary_offset=0)
        imported(log, tmp_path, v0)
        assert {"You tend a kiln.", "Warm the kiln to 90 °C."} <= set(texts_of(log))

    def test_a_range_beyond_all_numbers_costs_nothing(self, log: EventLog, tmp_path: Path) -> None:
        v0 = small_v0(2)
        v0.condenses(forgotten_events_start_id=-(10**30), forgotten_events_end_id=10**30)
        imported(log, tmp_path, v0)
        assert len(texts_of(log)) == 2

    def test_a_summary_without_an_offset_stands_at_the_end(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v0 = small_v0(2)
        v0.condenses(forgotten_event_ids=[2, 3], summary="S")
        imported(log, tmp_path, v0)
        assert texts_of(log)[-1] == "S"

    def test_what_is_counted_and_not_shown_moves_the_offset(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v0 = V0()
        v0.system()
        v0.event("user", action="recall", args={"query": "kiln"})
        v0.user("Go.")
        v0.step(0)
        v0.condenses(forgotten_event_ids=[3, 4], summary="S", summary_offset=2)
        imported(log, tmp_path, v0)
        assert texts_of(log) == ["You tend a kiln.", "S", "Go."]


class TestTheFiles:
    def test_a_session_is_named_by_its_folder_and_titled_by_its_metadata(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        folder = small_v0(1).write(tmp_path / "sessions" / SID)
        metadata = {"conversation_id": SID, "title": "Kiln", "selected_repository": "o/kiln"}
        (folder / "metadata.json").write_text(json.dumps(metadata))
        (folder / "event_cache").mkdir()
        (folder / "event_cache" / "0-25.json").write_text(json.dumps(small_v0(1).events))
        report = run(log, tmp_path)
        assert [s.key for s in report.sessions] == [KEY_V0]
        started = events(log, KEY_V0)[0].data
        assert started["title"] == "Kiln"
        assert started["metadata"] == {"selected_repository": "o/kiln", "file": SID}

    def test_an_exported_trajectory_holds_the_same(self, log: EventLog, tmp_path: Path) -> None:
        v0 = small_v0(3)
        path = tmp_path / "trajectory.json"
        path.write_text(json.dumps(v0.events, indent=2))
        [session] = run(log, path).sessions
        whole = imported(log, tmp_path, v0)
        assert [e.type for e in log.read(session.key)] == [e.type for e in whole]
        assert run(log, path).new == 0

    def test_runs_of_an_evaluation_keep_their_condenser_and_no_key(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v0 = small_v0(2)
        v0.condenses(forgotten_event_ids=[2, 3], summary="S", summary_offset=2)
        metadata = {
            "llm_config": {"model": "kiln/small", "api_key": "made-up-key"},
            "condenser_config": {"type": "llm", "keep_first": 1, "max_size": 80},
        }
        line = {"instance_id": "kiln-1", "metadata": metadata, "history": v0.events}
        path = tmp_path / "output.jsonl"
        path.write_text(json.dumps(line) + "\n")
        [session] = run(log, path).sessions
        found = list(log.read(session.key))
        assert found[0].data["title"] == "kiln-1"
        assert "made-up-key" not in "".join(e.payload or "" for e in found)
        [compacted] = of_type(found, "context_compacted")
        assert compacted["by"]["parameters"] == {"type": "llm", "keep_first": 1, "max_size": 80}

    def test_the_earliest_runs_hold_pairs(self, log: EventLog, tmp_path: Path) -> None:
        history = [
            [
                {"source": "user", "action": "message", "args": {"content": "Go."}},
                {"source": "environment", "observation": "null", "content": "", "extras": {}},
            ],
            [
                {"source": "agent", "action": "run", "args": {"command": "ls", "thought": "See."}},
                {"source": "agent", "observation": "run", "content": "a", "extras": {}},
            ],
        ]
        for number, name in enumerate(("output.jsonl", "list.json")):
            value = {"instance_id": "i", "history": history} if number == 0 else history
            (tmp_path / name).write_text(json.dumps(value) + "\n")
            [session] = run(log, tmp_path / name).sessions
            counts = source_counts(log.read(session.key))
            assert (counts.tool_calls, counts.tool_results, counts.orphan_tool_results) == (1, 1, 0)

    def test_a_growing_session_is_taken_up_where_it_was(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        v0 = small_v0(3)
        for number in range(len(v0.events) + 1):
            report = run(log, v0.write(tmp_path / "g" / SID, number)) if number else None
            assert report is None or not any(s.forks for s in report.sessions)
        whole = tmp_path / "whole.db"
        with EventLog(whole) as other:
            run(other, v0.write(tmp_path / "w" / SID))
            same = [(e.position, e.type, e.payload) for e in other.read(KEY_V0)]
        assert [(e.position, e.type, e.payload) for e in log.read(KEY_V0)] == same

    def test_the_tools_of_the_prompt_are_declared(self, log: EventLog, tmp_path: Path) -> None:
        found = imported(log, tmp_path, small_v0(1))
        [declared] = of_type(found, "tools_declared")
        assert declared["definitions"] == TOOLS
        with open_log(log.path) as live:
            assert session_stats(live, KEY_V0).provenance == "rebuilt"
