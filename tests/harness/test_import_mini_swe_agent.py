"""mini-swe-agent's trajectories: the messages are what the model saw, and the usage is known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from imported import run, shape

from eventlog import RecordedEvent, StreamKey
from harness.importers import import_path
from projections import open_log
from projections.judging import judge_all
from projections.live import Live
from projections.sessions import list_sessions
from projections.source_counts import source_counts

Value = dict[str, Any]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def said(role: str, content: str, **extra: Any) -> Value:
    return {"role": role, "content": content, **({"extra": extra} if extra else {})}


def answer(number: int, *ids: str, **usage: Any) -> Value:
    """An answer with a call for each id; without any, the command stands in the text."""
    text = f"THOUGHT {number}" + ("" if ids else "\n```bash\nls\n```")
    message: Value = {"role": "assistant", "content": text}
    if ids:
        function = {"name": "bash", "arguments": '{"command": "ls"}'}
        message["tool_calls"] = [{"id": i, "type": "function", "function": function} for i in ids]
    choice = {"finish_reason": "stop", "index": 0, "message": dict(message)}
    response = {"id": f"r{number}", "model": "some-model-2", "choices": [choice]}
    given = {"prompt_tokens": 100, "completion_tokens": 7, **usage}
    actions = [{"command": "ls"}]
    extra = {"actions": actions, "response": {**response, "usage": given}, "cost": 0.25}
    return {**message, "extra": {**extra, "timestamp": 1780680349.5 + number}}


def result(call_id: str, text: str = "a.txt") -> Value:
    extra = {"raw_output": text, "returncode": 0, "timestamp": 1780680350.25}
    shown = f"<returncode>0</returncode>\n<output>\n{text}</output>"
    return {"role": "tool", "tool_call_id": call_id, "content": shown, "extra": extra}


def document(*messages: Value, version: str = "1.1", ended: bool = True) -> Value:
    info: Value = {
        "model_stats": {"instance_cost": 0.5, "api_calls": 2},
        "config": {"model": {"model_name": "some-model"}},
        "mini_version": "2.0.0",
        "exit_status": "Submitted" if ended else None,
    }
    return {
        "info": info,
        "messages": list(messages),
        "trajectory_format": f"mini-swe-agent-{version}",
        "instance_id": "kiln-1",
    }


FIRST = [said("system", "You are careful."), said("user", "Mend the kiln.")]
CALLS = [*FIRST, answer(1, "a", "b"), result("a"), result("b"), answer(2, "c")]
END = {"role": "exit", "content": "a patch", "extra": {"exit_status": "Submitted"}}
TEXT = [*FIRST, answer(1), said("user", "<output>a.txt</output>"), answer(2)]


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, indent=2))
    return path


def brought(live: Live, tmp_path: Path, value: Any) -> StreamKey:
    report = run(live.log, write(tmp_path / "kiln.traj.json", value))
    return StreamKey.parse(report.sessions[0].key)


def of_type(live: Live, key: StreamKey, kind: str) -> list[RecordedEvent]:
    return list(live.log.read(key, types=[kind]))


class TestWhatStandsInTheFile:
    """What was sent, and what only the agent knew, must not be mixed up."""

    def test_messages_are_stored_as_they_are_sent(self, live: Live, tmp_path: Path) -> None:
        key = brought(live, tmp_path, document(*CALLS, END))
        sent = [{k: v for k, v in message.items() if k != "extra"} for message in CALLS]
        assert live.messages(key) == sent

    def test_what_is_said_besides_is_kept(self, live: Live, tmp_path: Path) -> None:
        key = brought(live, tmp_path, document(*CALLS, END))
        told = of_type(live, key, "tool_result_recorded")[0].data["origin"]["rest"]["extra"]
        assert told == CALLS[3]["extra"]
        first = next(e for e in of_type(live, key, "message_appended") if e.data.get("call"))
        extra = first.data["origin"]["rest"]["extra"]
        assert (extra["actions"], extra["cost"]) == ([{"command": "ls"}], 0.25)
        assert extra["response"]["choices"] == [{"finish_reason": "stop", "index": 0}]
        assert first.occurred_at == "1780680350.5"

    def test_parallel_results_and_the_call_that_ended_the_run(
        self, live: Live, tmp_path: Path
    ) -> None:
        key = brought(live, tmp_path, document(*CALLS, END))
        counted = source_counts(live.log.read(key))
        assert (counted.records, counted.assistant_messages) == (7, 2)
        assert (counted.tool_calls, counted.tool_results) == (3, 2)
        assert counted.unanswered_tool_calls == 1
        kept = [e.data["kind"] for e in of_type(live, key, "record_unrecognized")]
        assert kept == ["known", "known"]  # the exit, and what is said of the run

    def test_a_command_in_the_text_is_answered_by_the_next_message(
        self, live: Live, tmp_path: Path
    ) -> None:
        key = brought(live, tmp_path, document(*TEXT, version="1"))
        counted = source_counts(live.log.read(key))
        assert (counted.tool_calls, counted.tool_results) == (2, 1)
        labels = [e.data.get("label", "") for e in of_type(live, key, "message_appended")]
        assert labels == ["", "", "", "observation", ""]
        assert [row.human_messages for row in list_sessions(live)] == [1]

    def test_who_interrupts_is_told_apart(self, live: Live, tmp_path: Path) -> None:
        bad = said("user", "One command.", interrupt_type="FormatError")
        stop = said("user", "Stop that.", interrupt_type="UserInterruption")
        key = brought(live, tmp_path, document(*CALLS, bad, stop))
        found = [
            (e.data["source"], e.data.get("label")) for e in of_type(live, key, "message_appended")
        ]
        assert found[-2:] == [("injected", "FormatError"), ("human", None)]

    def test_answers_of_responses_are_read_in_their_own_form(
        self, live: Live, tmp_path: Path
    ) -> None:
        call = {"type": "function_call", "name": "bash", "arguments": "{}", "call_id": "a"}
        usage = {"input_tokens": 50, "output_tokens": 3}
        given: Value = {"object": "response", "id": "r1", "output": [call], "usage": usage}
        given["extra"] = {"cost": 0.5}
        told = {"type": "function_call_output", "call_id": "a", "output": "a.txt"}
        key = brought(live, tmp_path, document(*FIRST, given, told))
        counted = source_counts(live.log.read(key))
        assert (counted.tool_calls, counted.tool_results) == (1, 1)
        assert list_sessions(live)[0].usage.input == 50
        assert live.sendable(key).repairs == ()


class TestCalls:
    """No request is on disk: what a call saw is known, and not proved."""

    @pytest.mark.parametrize(("said", "known"), [(TEXT, "rebuilt"), (CALLS, "partial")])
    def test_they_are_rebuilt_but_for_the_tools(
        self, live: Live, tmp_path: Path, said: list[dict[str, Any]], known: str
    ) -> None:
        key = brought(live, tmp_path, document(*said, END))
        calls = of_type(live, key, "model_called")
        assert [v.name for v in judge_all(live, key, calls)] == [known, known]
        assert [call.data["model"] for call in calls] == ["some-model-2"] * 2

    @pytest.mark.parametrize(
        ("usage", "expected"),
        [
            ({}, (100, None, None)),
            ({"prompt_tokens_details": {"cached_tokens": 60}}, (40, 60, None)),
            (
                {"prompt_tokens_details": {"cached_tokens": 60}, "cache_creation_input_tokens": 30},
                (10, 60, 30),
            ),
            ({"prompt_tokens": "many", "cache_creation_input_tokens": True}, (None, None, None)),
        ],
    )
    def test_usage_is_disjoint(
        self, live: Live, tmp_path: Path, usage: Value, expected: tuple[int | None, ...]
    ) -> None:
        brought(live, tmp_path, document(*FIRST, answer(1, "a", **usage)))
        found = list_sessions(live)[0].usage
        assert (found.input, found.cached, found.cache_write) == expected
        assert found.output == 7

    def test_where_none_is_recorded_none_is_made_up(self, live: Live, tmp_path: Path) -> None:
        plain = {"role": "assistant", "content": "Hm."}
        key = brought(live, tmp_path, document(*FIRST, plain))
        (ended,) = of_type(live, key, "model_responded")
        assert "usage" not in ended.data


class TestAgain:
    """It is written after each step, too."""

    @pytest.mark.parametrize("messages", [CALLS, TEXT], ids=["calls", "text"])
    def test_after_each_message_only_what_is_new_comes_in(
        self, live: Live, tmp_path: Path, messages: list[Value]
    ) -> None:
        whole = document(*messages, END)
        for size in range(2, len(messages) + 1):
            key = brought(live, tmp_path, document(*messages[:size], ended=False))
            brought(live, tmp_path, document(*messages[:size], ended=False))
        brought(live, tmp_path, whole)
        assert brought(live, tmp_path, whole) == key
        with open_log(tmp_path / "other.db") as other:
            brought(other, tmp_path, whole)
            assert shape(other.log) == shape(live.log)

    def test_a_rewritten_file_goes_on_in_a_fork(self, live: Live, tmp_path: Path) -> None:
        key = brought(live, tmp_path, document(*CALLS, END))
        before = live.log.version(key)
        changed = [*CALLS[:3], result("a", "b.txt"), *CALLS[4:]]
        report = run(live.log, write(tmp_path / "kiln.traj.json", document(*changed, END)))
        (child,) = report.sessions[0].forks
        assert live.log.version(key) == before
        assert len(live.messages(child)) == len(changed)


class TestDetection:
    """Its files look like chats of OpenAI's form."""

    @pytest.mark.parametrize("version", ["1", "1.1"])
    def test_both_versions_are_known(self, live: Live, tmp_path: Path, version: str) -> None:
        path = write(tmp_path / "a.json", document(*CALLS, version=version))
        assert run(live.log, path).files[0].format == "mini-swe-agent"

    def test_one_without_its_version_is_known_by_what_it_says_of_the_run(
        self, live: Live, tmp_path: Path
    ) -> None:
        value = document(*CALLS)
        del value["trajectory_format"]
        assert run(live.log, write(tmp_path / "a.json", value)).files[0].format == "mini-swe-agent"

    def test_one_that_is_longer_than_what_is_looked_at_is_known(
        self, live: Live, tmp_path: Path
    ) -> None:
        value = document(*CALLS[:3], result("a", "x" * 10_000_000), *CALLS[4:])
        assert run(live.log, write(tmp_path / "a.json", value)).files[0].format == "mini-swe-agent"

    def test_a_bare_list_of_messages_is_a_chat(self, live: Live, tmp_path: Path) -> None:
        assert run(live.log, write(tmp_path / "a.json", TEXT)).files[0].format == "openai-chat"

    def test_a_file_that_is_being_written_waits(self, live: Live, tmp_path: Path) -> None:
        path = write(tmp_path / "a.traj.json", document(*CALLS))
        path.write_bytes(path.read_bytes()[:-40])
        report = import_path(live.log, path)
        assert (report.pending, report.new, report.errors) == (1, 0, [])
