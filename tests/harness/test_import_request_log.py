"""Logs of requests: every recorded request is rebuilt to the last byte, whatever lies between."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from imported import of_type, run, shape
from request_logs import (
    BEARER,
    KEY,
    SESSION,
    TOOLS,
    USER,
    Agent,
    Recorder,
    result,
    small_session,
    streamed,
    text,
    thinking,
    use,
)

from eventlog import RecordedEvent, StreamKey
from harness.exchange.anthropic_stream import read_stream
from harness.importers import ImportReport, Options, import_stream
from harness.importers.conversations import conversation_name
from projections import open_log
from projections.context import fold
from projections.erasure import apply, plan
from projections.judging import judge_all
from projections.live import Live
from projections.sent import Requests
from projections.source_counts import source_counts

MAIN = f"local/anthropic/{SESSION}"


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def canonical(body: dict[str, Any]) -> str:
    return json.dumps(body, sort_keys=True, separators=(",", ":"))


def calls(live: Live, report: ImportReport) -> list[RecordedEvent]:
    """Every call of the file, in its order."""
    found = [
        event
        for session in report.sessions
        for event in live.log.read(session.key, types=["model_called"])
    ]
    return sorted(found, key=lambda e: e.data["origin"]["records"][0]["line"])


def check(live: Live, report: ImportReport, recorder: Recorder) -> None:
    """Every request is rebuilt as it was sent, and judged exact; every view is what it folds to."""
    requests = Requests(live)
    made = [canonical(requests.sent(c.stream, c).body) for c in calls(live, report)]
    assert made == [canonical(body) for body in recorder.bodies]
    for session in report.sessions:
        key = StreamKey.parse(session.key)
        own = list(live.log.read(key, types=["model_called"]))
        assert {verdict.name for verdict in judge_all(live, key, own)} <= {"exact"}
        view = fold(live.log.read(key))
        assert view.notes == []
        assert live.view(key) == view


def types(live: Live, key: str = MAIN) -> list[str]:
    return [e.type for e in live.log.read(key)]


class TestExact:
    """A request that is not rebuilt exactly proves nothing about what the model saw."""

    def test_a_growing_conversation_adds_only_what_is_new(self, live: Live, tmp_path: Path) -> None:
        recorder = small_session()
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        assert [s.key for s in report.sessions] == [MAIN]
        check(live, report, recorder)
        assert types(live) == [
            "session_started",
            "tools_declared",
            "message_appended",
            "message_appended",
            "model_called",
            "message_appended",
            "model_responded",
            "tool_result_recorded",
            "model_called",
            "message_appended",
            "model_responded",
            "tool_result_recorded",
            "tool_result_recorded",
            "model_called",
            "message_appended",
            "model_responded",
            "message_appended",
            "model_called",
            "message_appended",
            "model_responded",
        ]

    def test_moving_cache_marks_are_no_change(self, live: Live, tmp_path: Path) -> None:
        report = run(live.log, small_session().write(tmp_path / "log.jsonl"))
        last = calls(live, report)[-1].data
        assert last["manifest"] == ["=6", "15-17"]
        assert any("cache_control" in str(form) for form in last["forms"].values())

    def test_results_of_one_message_are_one_entry_of_the_manifest(
        self, live: Live, tmp_path: Path
    ) -> None:
        report = run(live.log, small_session().write(tmp_path / "log.jsonl"))
        assert calls(live, report)[2].data["manifest"] == ["=4", "10", ["12", "13"]]

    def test_what_each_event_says(self, live: Live, tmp_path: Path) -> None:
        recorder = small_session()
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        found = list(live.log.read(MAIN))
        call = calls(live, report)[0]
        assert (call.data["model"], call.occurred_at) == ("claude-sonnet-4-5", "1750000000.25")
        assert call.data["origin"]["rest"]["request"]["url"] == (
            "https://api.anthropic.com/v1/messages"
        )
        sources = [(m["source"], m.get("label", "")) for m in of_type(found, "message_appended")]
        assert sources[:2] == [("injected", ""), ("human", "")]
        results = of_type(found, "tool_result_recorded")
        assert [r["name"] for r in results] == ["Bash", "Read", "Read"]
        answered = of_type(found, "model_responded")
        assert [a["finish_reason"] for a in answered] == [
            "tool_use",
            "tool_use",
            "end_turn",
            "end_turn",
        ]
        usage = answered[0]["usage"]
        assert {k: usage[k] for k in ("input", "cached", "cache_write", "output")} == {
            "input": 10,
            "cached": 300,
            "cache_write": 20,
            "output": 41,
        }

    def test_the_file_is_counted_as_its_records(self, live: Live, tmp_path: Path) -> None:
        run(live.log, small_session().write(tmp_path / "log.jsonl"))
        counts = source_counts(live.log.read(MAIN))
        assert (counts.records, counts.assistant_messages) == (4, 4)
        assert (counts.tool_calls, counts.tool_results, counts.unanswered_tool_calls) == (3, 3, 0)

    def test_a_log_that_begins_in_the_middle(self, live: Live, tmp_path: Path) -> None:
        recorder = small_session()
        del recorder.pairs[:2], recorder.bodies[:2]
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        counts = source_counts(live.log.read(MAIN))
        assert (counts.assistant_messages, counts.tool_calls, counts.tool_results) == (4, 3, 3)
        assert [e.data["call"] for e in live.log.read(MAIN) if e.type == "model_responded"] == [
            c.position for c in calls(live, report)
        ]


class TestDecisions:
    """The agent reports none of them: they are read off its requests, or the item just vanishes."""

    def test_a_cleared_result_is_a_substitution(self, live: Live, tmp_path: Path) -> None:
        recorder, agent = working()
        agent.messages[2]["content"][0]["content"] = "[Old tool result content cleared]"
        agent.say("And now?")
        agent.ask(text("Now it is clear."))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        (cleared,) = of_type(list(live.log.read(MAIN)), "placeholder_substituted")
        assert cleared["inferred"] is True
        assert cleared["content"] == "[Old tool result content cleared]"
        assert "context_compacted" not in types(live)

    def test_a_compaction_with_a_kept_tail(self, live: Live, tmp_path: Path) -> None:
        recorder, agent = working()
        summary = {"role": "user", "content": [text("Summary: the test fails in rounding.")]}
        agent.messages[:] = [summary, *agent.messages[-1:]]
        agent.say("Go on.")
        agent.ask(text("I go on."))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        assert [s.key for s in report.sessions] == [MAIN]
        check(live, report, recorder)
        (compacted,) = of_type(list(live.log.read(MAIN)), "context_compacted")
        assert [m["message"] for m in compacted["messages"]] == [summary]

    def test_a_summary_that_a_model_wrote_goes_on_with_the_conversation(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder, agent = working()
        said = (
            "The test fails because a.py rounds half up.\nThe fix is to round half to even there."
        )
        side = Agent(recorder, "You summarize conversations.", tools=None, model="claude-haiku-4-5")
        side.messages = [*agent.messages]
        side.say("Summarize the conversation so far.")
        side.ask(text(f"<summary>\n{said}\n</summary>"))
        agent.messages[:] = []
        agent.say(f"This session is being continued. Summary:\n{said}\nPlease go on.")
        agent.ask(text("I go on."))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        assert [s.key for s in report.sessions] == [MAIN, f"{MAIN}.2"]
        check(live, report, recorder)
        assert types(live).count("context_compacted") == 1
        assert types(live, f"{MAIN}.2").count("model_called") == 1
        assert live.log.at(f"{MAIN}.2", [1])[1].data["parent_session"] == MAIN

    def test_what_begins_anew_in_the_same_session_was_compacted(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder, agent = working()
        agent.messages[:] = []
        agent.say("[earlier messages were removed] Go on.")
        agent.ask(text("I go on."))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        assert [s.key for s in report.sessions] == [MAIN]
        check(live, report, recorder)
        (compacted,) = of_type(list(live.log.read(MAIN)), "context_compacted")
        assert "messages" not in compacted

    def test_another_system_prompt_is_a_revision(self, live: Live, tmp_path: Path) -> None:
        recorder, agent = working()
        body = agent.body()
        body["system"][0]["text"] = "You are a coding agent. Today is Wednesday."
        recorder.exchange(body, None)
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        assert types(live).count("message_revised") == 1

    def test_an_answer_without_its_thinking_is_the_same_answer(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder, agent = working()
        agent.say("Go on.")
        agent.ask(thinking("Rounding, then."), text("It is the rounding.  "))
        agent.messages[1]["content"] = agent.messages[1]["content"][1:]
        agent.messages[-1]["content"] = [text("It is the rounding.")]
        agent.say("And now?")
        agent.ask(text("Now it is clear."))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        assert types(live).count("message_revised") == 2
        assert "context_compacted" not in types(live)

    def test_a_prompt_that_is_written_anew_is_a_branch(self, live: Live, tmp_path: Path) -> None:
        recorder, agent = working()
        agent.say("Fix it in b.py.")
        agent.ask(text("b.py is not to blame."))
        del agent.messages[-2:]
        agent.say("Fix it in a.py.")
        agent.ask(text("Done."))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        assert [s.key for s in report.sessions] == [MAIN]
        check(live, report, recorder)

    def test_context_that_the_provider_edited_is_not_exactly_seen(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder, agent = working()
        agent.say("More.")
        pair = agent.ask(text("More."), whole=True)
        edits = {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 2}]}
        pair["response"]["body"]["context_management"] = edits
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        found = calls(live, report)
        assert found[-1].data["server_edited"] == ["context_management"]
        assert judge_all(live, StreamKey.parse(MAIN), found)[-1].name == "partial"
        rest = next(live.log.read(MAIN, found[-1].position)).data["origin"]["rest"]
        assert rest == {"context_management": edits}


class TestHowACallEnds:
    """A call whose end nobody knows is not one that was answered."""

    def test_a_streamed_answer_is_the_message_that_was_streamed(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder = Recorder()
        agent = Agent(recorder)
        agent.say("Both.")
        agent.ask(thinking("Hm, both."), text("Both at once."), use("toolu_1", n=1), use("toolu_2"))
        run(live.log, recorder.write(tmp_path / "log.jsonl"))
        (answer,) = [
            e.data for e in live.log.read(MAIN) if e.data.get("call") and e.data.get("message")
        ]
        assert answer["message"] == agent.messages[-1]

    @pytest.mark.parametrize("cut", [1, 3, 5, -1])
    def test_an_interrupted_stream_is_a_failure_that_keeps_what_came(
        self, live: Live, tmp_path: Path, cut: int
    ) -> None:
        recorder, agent = working()
        agent.say("Tell me.")
        agent.ask(thinking("Well."), text("It is the rounding."), keep=False, cut=cut)
        agent.ask(text("It is the rounding."))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        (failed,) = of_type(list(live.log.read(MAIN)), "model_failed")
        assert failed["error"] == "the stream ended before the answer did"
        assert failed["detail"]["message"]["id"] == "msg_0003"
        assert "context_compacted" not in types(live)

    def test_a_refusal_and_its_retry_are_two_calls_of_one_context(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder, agent = working()
        agent.say("Tell me.")
        agent.fail(529, "overloaded_error", "Overloaded")
        agent.fail(429, "rate_limit_error", "Slow down")
        agent.ask(text("It is the rounding."))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        failed = of_type(list(live.log.read(MAIN)), "model_failed")
        assert [(f["status"], f["error"]) for f in failed] == [
            (529, "overloaded_error: Overloaded"),
            (429, "rate_limit_error: Slow down"),
        ]
        manifests = [c.data["manifest"] for c in calls(live, report)[-3:]]
        assert manifests[1] == manifests[2] == ["=6"]

    def test_a_retry_after_an_answer_is_the_same_context_again(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder, agent = working()
        agent.say("Tell me.")
        agent.ask(text("The answer that nobody got."), keep=False)
        agent.ask(text("It is the rounding."))
        agent.say("Thanks.")
        agent.ask(text("Welcome."))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        assert types(live).count("session_rewound") == 1
        assert "context_compacted" not in types(live)

    @pytest.mark.parametrize("response", [None, {"status_code": 200, "headers": {}}, {}])
    def test_without_a_recorded_response_the_outcome_is_unknown(
        self, live: Live, tmp_path: Path, response: Any
    ) -> None:
        recorder, agent = working()
        agent.say("Tell me.")
        recorder.exchange(agent.body(), response, note="ORPHANED_REQUEST")
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        found = calls(live, report)
        assert types(live)[-1] == "model_called"
        assert [v.outcome_unknown for v in judge_all(live, StreamKey.parse(MAIN), found)] == [
            False,
            False,
            True,
        ]

    def test_an_error_inside_a_stream(self, live: Live, tmp_path: Path) -> None:
        recorder, agent = working()
        agent.say("Tell me.")
        said = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        raw = f"event: error\ndata: {json.dumps(said)}\n\n"
        recorder.exchange(agent.body(), {"status_code": 200, "body_raw": raw})
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        (failed,) = of_type(list(live.log.read(MAIN)), "model_failed")
        assert failed["error"] == "overloaded_error: Overloaded"


class TestSeveralConversations:
    """Two conversations taken for one look like an agent that forgets everything at each call."""

    def test_sub_agents_side_by_side_are_sessions_of_their_own(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder = Recorder()
        main = Agent(recorder)
        main.say("Look into both.")
        prompts = ["Find out about a.", "Find out about b."]
        main.ask(*(use(f"toolu_{n}", "Task", prompt=p) for n, p in enumerate(prompts)))
        agents = [Agent(recorder, "You are a search agent.", TOOLS[:2]) for _ in prompts]
        for number, (agent, prompt) in enumerate(zip(agents, prompts, strict=True)):
            agent.say("<system-reminder>Be brief.</system-reminder>", prompt)
            agent.ask(use(f"toolu_s{number}", "Read", path="x"))
        for number, agent in enumerate(agents):
            agent.say(result(f"toolu_s{number}", "the text of it"))
            agent.ask(text(f"Found {number}."))
        main.say(result("toolu_0", "Found 0."), result("toolu_1", "Found 1."))
        main.ask(text("Both are fine."))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        assert [s.key for s in report.sessions] == [MAIN, f"{MAIN}.2", f"{MAIN}.3"]
        check(live, report, recorder)
        for number in (2, 3):
            found = list(live.log.read(f"{MAIN}.{number}"))
            assert found[0].data["parent_session"] == MAIN
            assert found[0].data["parent_call"] == f"toolu_{number - 2}"
            first = of_type(found, "message_appended")[1]
            assert (first["source"], first["label"]) == ("injected", "task")
            assert [e.type for e in found].count("model_called") == 2
        assert "context_compacted" not in types(live)

    def test_small_questions_are_kept_in_a_session_of_their_own(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder = Recorder()
        quota = Agent(recorder, "", tools=None, model="claude-haiku-4-5")
        quota.say("quota")
        quota.ask(text("Q"), whole=True)
        main = Agent(recorder)
        for number in range(4):
            title = Agent(recorder, "Give it a title.", tools=None, model="claude-haiku-4-5")
            main.say(f"Question {number}.")
            title.say(f"Question {number}.")
            title.ask(text(f"Title {number}"))
            main.ask(text(f"Answer {number}."))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        assert [s.key for s in report.sessions] == [f"{MAIN}.2", f"{MAIN}.3", MAIN]
        assert types(live, f"{MAIN}.2").count("model_called") == 1
        titles = types(live, f"{MAIN}.3")
        assert (titles.count("model_called"), titles.count("session_rewound")) == (4, 3)
        assert "context_compacted" not in {*titles, *types(live)}

    def test_independent_conversations_without_a_session_id(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder = Recorder()
        agents = [Agent(recorder, user="") for _ in range(3)]
        for turn in range(3):
            for number, agent in enumerate(agents):
                agent.say(f"Question {turn} of {number}.")
                agent.ask(
                    text(f"Answer {turn} of {number}, at some length so that it is told apart.")
                )
        path = recorder.write(tmp_path / "log.jsonl")
        report = run(live.log, path)
        assert len(report.sessions) == 3
        check(live, report, recorder)
        names = [s.key for s in report.sessions]
        assert names == [f"local/anthropic/{conversation_name(str(path), n)}" for n in (1, 2, 3)]

    def test_the_same_task_set_anew_is_another_conversation(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder = Recorder()
        for run_of in range(3):
            agent = Agent(recorder, user="")
            agent.say("Mend the kiln.")
            agent.ask(text("I look."), use(f"toolu_{run_of}", command="ls"))
            agent.say(result(f"toolu_{run_of}", f"files of run {run_of}"))
            agent.ask(text("Done."))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        assert [s.new for s in report.sessions] == [11, 11, 11]

    def test_examples_before_each_question_are_no_conversation_that_goes_on(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder = Recorder()
        shown = [{"role": "user", "content": "2+2"}, {"role": "assistant", "content": "4"}]
        for number in range(5):
            agent = Agent(recorder, "Do sums.", tools=None, user="")
            agent.messages = [*shown]
            agent.say(f"{number}+{number}")
            agent.ask(text(str(2 * number)))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        found = types(live, report.sessions[0].key)
        assert (len(report.sessions), found.count("session_rewound")) == (1, 4)
        assert "context_compacted" not in found

    def test_a_hundred_small_questions_are_one_session_and_the_next_another(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder = Recorder()
        for number in range(103):
            agent = Agent(recorder, "Classify.", tools=None, user="")
            agent.say(f"Text {number}.")
            agent.ask(text("good"))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        found = [types(live, s.key).count("model_called") for s in report.sessions]
        assert found == [101, 2]

    def test_two_client_sessions_in_one_log(self, live: Live, tmp_path: Path) -> None:
        recorder = Recorder()
        other = USER.replace(SESSION, "9" * 8 + SESSION[8:])
        newer = json.dumps({"device_id": "d", "session_id": "abc-def"})
        for user in (USER, other, newer):
            agent = Agent(recorder, user=user)
            agent.say("The same question.")
            agent.ask(text("The same answer."))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        assert [s.key.rsplit("/")[-1] for s in report.sessions] == [
            SESSION,
            "9" * 8 + SESSION[8:],
            "abc-def",
        ]

    def test_a_name_that_is_given_is_the_first_sessions(self, live: Live, tmp_path: Path) -> None:
        recorder = Recorder()
        for number in range(2):
            agent = Agent(recorder, user="")
            agent.say(f"Question {number}.")
            agent.ask(text("Answer."))
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"), session="mine")
        assert [s.key.rsplit("/")[-1] for s in report.sessions] == ["mine", "mine.2"]


class TestAgain:
    """The same log again, longer, is the usual case: an agent is still writing it."""

    def test_twice_adds_nothing(self, live: Live, tmp_path: Path) -> None:
        recorder = small_session()
        path = recorder.write(tmp_path / "log.jsonl")
        run(live.log, path)
        state = shape(live.log)
        again = run(live.log, path)
        assert (again.new, again.known) == (0, 20)
        assert shape(live.log) == state

    def test_a_log_that_grew_adds_what_is_new_and_ends_as_if_it_came_at_once(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder = many_things()
        path = tmp_path / "log.jsonl"
        for count in range(1, len(recorder.pairs) + 1):
            run(live.log, recorder.write(path, count))
        report = run(live.log, path)
        assert report.new == 0
        check(live, report, recorder)
        with open_log(tmp_path / "other.db") as other:
            run(other.log, path)
            assert bare(other) == bare(live)

    def test_a_last_line_that_is_not_whole_waits(self, live: Live, tmp_path: Path) -> None:
        recorder = small_session()
        path = recorder.write(tmp_path / "log.jsonl")
        whole = path.read_bytes()
        path.write_bytes(whole[: whole.rindex(b"msg_0004")])
        report = run(live.log, path)
        assert (report.pending, report.sessions[0].new) == (1, 16)
        path.write_bytes(whole)
        report = run(live.log, path)
        assert (report.pending, report.new) == (0, 4)
        check(live, report, recorder)

    def test_a_changed_record_makes_a_fork_that_is_exact_too(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder = small_session()
        path = recorder.write(tmp_path / "log.jsonl")
        run(live.log, path)
        old = path.read_text()
        path.write_text(old.replace("no such file", "no such folder"))
        report = run(live.log, path)
        (fork,) = report.sessions[0].forks
        own = [e for e in live.log.read(fork, types=["model_called"])]
        requests = Requests(live)
        assert [canonical(requests.sent(StreamKey.parse(fork), c).body) for c in own] == [
            canonical(json.loads(line)["request"]["body"]) for line in path.read_text().splitlines()
        ]
        assert {v.name for v in judge_all(live, StreamKey.parse(fork), own)} == {"exact"}
        state = shape(live.log)
        assert run(live.log, path).new == 0
        path.write_text(old)
        assert run(live.log, path).new == 0
        assert shape(live.log) == state


class TestKeys:
    """A key that a recorder wrote down must not be spread by reading what it recorded."""

    def test_no_key_reaches_the_log_and_what_was_left_out_is_said(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder = small_session()
        url = f"https://{KEY}@host/{KEY}?key={KEY}"
        recorder.pairs.insert(1, {"request": {"url": url, "api_key": KEY}, "response": None})
        recorder.pairs.insert(3, {"event": "login", "detail": {"access_token": KEY, "a": 1}})
        path = recorder.write(tmp_path / "log.jsonl")
        broken = json.dumps(recorder.pairs[0]).replace('"timestamp":', '"timestamp"')
        path.write_text(path.read_text() + broken + "\n")
        report = run(live.log, path)
        (note,) = report.files[0].notes
        assert note == (
            "left out, since it may hold keys: "
            "access_token, api_key, authorization, set-cookie, texts with the shape of a key, "
            "x-api-key, x-stainless-os"
        )
        assert report.unreadable == 1
        kept = [e for e in live.log.read(MAIN) if e.type == "record_unrecognized"]
        assert len(kept) == 3
        assert json.loads(kept[1].data["raw"]) == {"event": "login", "detail": {"a": 1}}
        stored = b"".join(each.read_bytes() for each in tmp_path.glob("log.db*"))
        assert KEY.encode() not in stored
        assert b"planted" not in stored
        assert BEARER.encode() not in stored


class TestOtherRecorders:
    """Whoever has recorded already does not record again for this."""

    @pytest.mark.parametrize(
        "form", ["bodies", "bodies as text", "stream as text", "flat", "archive", "array", "pretty"]
    )
    def test_the_same_exchanges_in_another_form(
        self, live: Live, tmp_path: Path, form: str
    ) -> None:
        recorder = small_session()
        path = write_as(form, recorder, tmp_path)
        report = run(live.log, path)
        assert report.files[0].format == "anthropic"
        check(live, report, recorder)
        assert types(live).count("model_responded") == 4
        assert source_counts(live.log.read(MAIN)).records == 4
        assert run(live.log, path).new == 0
        stored = b"".join(each.read_bytes() for each in tmp_path.glob("log.db*"))
        assert b"planted" not in stored

    def test_token_counts_are_kept_and_are_no_calls(self, live: Live, tmp_path: Path) -> None:
        recorder = small_session()
        counted = json.loads(json.dumps(recorder.pairs[1]))
        counted["request"]["url"] = "https://api.anthropic.com/v1/messages/count_tokens?beta=true"
        counted["response"] = {"status_code": 200, "body": {"input_tokens": 99}}
        recorder.pairs.insert(0, counted)
        recorder.pairs.insert(3, counted)
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        kept = [e for e in live.log.read(MAIN) if e.type == "record_unrecognized"]
        assert [e.data["kind"] for e in kept] == ["known", "known"]
        assert json.loads(kept[0].data["raw"])["response"] == counted["response"]

    def test_other_requests_before_the_first_are_kept_in_front_of_it(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder = small_session()
        hello = {"url": "https://api.anthropic.com/api/hello", "method": "GET", "body": None}
        recorder.pairs.insert(0, {"request": hello, "response": {"status_code": 200}})
        path = recorder.write(tmp_path / "log.jsonl")
        report = run(live.log, path)
        check(live, report, recorder)
        assert types(live)[:2] == ["session_started", "record_unrecognized"]
        assert run(live.log, path).new == 0

    def test_standard_input(self, live: Live, tmp_path: Path) -> None:
        recorder = small_session()
        data = recorder.write(tmp_path / "log.jsonl").read_bytes()
        report = import_stream(live.log, io.BytesIO(data), Options(session="piped"))
        assert [s.key for s in report.sessions] == ["local/anthropic/piped"]
        check(live, report, recorder)

    def test_bedrock_names_the_model_in_its_address(self, live: Live, tmp_path: Path) -> None:
        recorder = Recorder()
        agent = Agent(recorder, user="")
        agent.say("Hello.")
        body = {k: v for k, v in agent.body().items() if k not in ("model", "stream")}
        message = recorder.message([text("Hello yourself.")], "claude-sonnet-4-5")
        events = [line[6:] for line in streamed(message).split("\n") if line.startswith("data: ")]
        frames = "".join(
            '\0\0\1event{"bytes":"' + base64.b64encode(e.encode()).decode() + '","p":"ab"}'
            for e in events
        )
        pair = recorder.exchange(body, {"status_code": 200, "body_raw": frames})
        model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
        pair["request"]["url"] = (
            f"https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}/"
            "invoke-with-response-stream"
        )
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        found = list(live.log.read(report.sessions[0].key))
        assert of_type(found, "model_called")[0]["model"] == model
        assert of_type(found, "message_appended")[-1]["message"]["content"] == message["content"]


class TestOpenAi:
    """Endpoints that speak OpenAI's language are recorded by the same recorders."""

    CALL: ClassVar[dict[str, Any]] = {
        "id": "c1",
        "type": "function",
        "function": {"name": "ls", "arguments": '{"a": 1}'},
    }
    TOOLS: ClassVar[list[dict[str, Any]]] = [
        {"type": "function", "function": {"name": "ls", "parameters": {}}}
    ]

    def pairs(self, streams: bool) -> Recorder:
        recorder = Recorder()
        said: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
        called = {"role": "assistant", "content": None, "tool_calls": [self.CALL]}
        turns: list[tuple[dict[str, Any], dict[str, Any]]] = [
            ({"role": "user", "content": "List it."}, called),
            (
                {"role": "tool", "tool_call_id": "c1", "content": "a b"},
                {"role": "assistant", "content": "There are two.", "refusal": None},
            ),
            ({"role": "user", "content": "Thanks."}, {"role": "assistant", "content": "Welcome."}),
        ]
        for number, (asked, answer) in enumerate(turns):
            said.append(asked)
            body = {"model": "gpt-5", "messages": [*said], "tools": self.TOOLS, "stream": streams}
            whole = completion(number, answer)
            response = {"status": 200, "text": chunks(whole)} if streams else whole
            recorder.exchange(body, response)
            said.append(answer)
        for pair in recorder.pairs:
            pair["request"]["url"] = "https://host/v1/chat/completions"
        return recorder

    @pytest.mark.parametrize("streams", [False, True])
    def test_chat_completions(self, live: Live, tmp_path: Path, streams: bool) -> None:
        recorder = self.pairs(streams)
        path = recorder.write(tmp_path / "log.jsonl")
        report = run(live.log, path)
        assert report.files[0].format == "openai-chat"
        assert len(report.sessions) == 1
        check(live, report, recorder)
        key = report.sessions[0].key
        found = list(live.log.read(key))
        assert not {"context_compacted", "message_revised"} & set(types(live, key))
        answered = of_type(found, "model_responded")
        assert [a["finish_reason"] for a in answered] == ["tool_calls", "stop", "stop"]
        usage = answered[0]["usage"]
        assert (usage["input"], usage["cached"], usage["output"]) == (60, 40, 7)
        assert of_type(found, "tool_result_recorded")[0]["name"] == "ls"
        answer = next(m["message"] for m in of_type(found, "message_appended") if m.get("call"))
        assert answer["tool_calls"] == [self.CALL]
        counts = source_counts(found)
        assert (counts.assistant_messages, counts.tool_calls, counts.tool_results) == (3, 1, 1)
        assert run(live.log, path).new == 0

    def test_without_an_address_and_with_a_choice_more(self, live: Live, tmp_path: Path) -> None:
        recorder = self.pairs(False)
        for pair in recorder.pairs:
            pair["request"] = pair["request"]["body"]
            pair["response"]["choices"].append({"index": 1, "message": {"role": "assistant"}})
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        assert report.files[0].format == "openai-chat"
        check(live, report, recorder)
        ended = of_type(list(live.log.read(report.sessions[0].key)), "model_responded")
        assert [len(each["alternatives"]) for each in ended] == [1, 1, 1]

    @pytest.mark.parametrize("cut", [0, 1, 2, 3])
    def test_a_stream_that_broke_off(self, live: Live, tmp_path: Path, cut: int) -> None:
        recorder = self.pairs(True)
        response = recorder.pairs[2]["response"]
        response["text"] = "".join(response["text"].splitlines(keepends=True)[: 2 * cut])
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        check(live, report, recorder)
        kinds = types(live, report.sessions[0].key)
        assert kinds[-1] == ("model_failed" if cut else "model_called")

    def test_both_languages_in_one_log(self, live: Live, tmp_path: Path) -> None:
        recorder = small_session()
        for pair, body in zip(self.pairs(False).pairs, self.pairs(False).bodies, strict=True):
            recorder.pairs.append(pair)
            recorder.bodies.append(body)
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        assert len(report.sessions) == 2
        check(live, report, recorder)


def completion(number: int, answer: dict[str, Any]) -> dict[str, Any]:
    """A chat completion as the API returns it."""
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_750_000_000,
        "model": "gpt-5-2025",
        "choices": [
            {
                "index": 0,
                "message": {**answer, "annotations": []},
                "finish_reason": "tool_calls" if answer.get("tool_calls") else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 40},
        },
    }


def chunks(whole: dict[str, Any]) -> str:
    """The completion as it is streamed."""
    choice = whole["choices"][0]
    message = choice["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
    if message["content"]:
        deltas += [{"content": message["content"][:4]}, {"content": message["content"][4:]}]
    for index, call in enumerate(message.get("tool_calls", ())):
        inner = call["function"]
        first = {**call, "index": index, "function": {"name": inner["name"], "arguments": ""}}
        deltas.append({"tool_calls": [first]})
        for piece in (inner["arguments"][:3], inner["arguments"][3:]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    base = {k: v for k, v in whole.items() if k not in ("choices", "usage")}
    base["object"] = "chat.completion.chunk"
    events = [{**base, "choices": [{"index": 0, "delta": d}], "usage": None} for d in deltas]
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    events += [{**base, "choices": [end]}, {**base, "choices": [], "usage": whole["usage"]}]
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


def working() -> tuple[Recorder, Agent]:
    """An agent that has read a file."""
    recorder = Recorder()
    agent = Agent(recorder)
    agent.say("Why does the test fail?")
    agent.ask(thinking("Look first."), text("I look."), use("toolu_01", command="pytest -q"))
    agent.say(result("toolu_01", "FAILED test_round\n" * 30))
    agent.ask(text("It rounds half up in a.py, which the test does not expect of it at all."))
    return recorder, agent


def many_things() -> Recorder:
    """A conversation with all that may happen, its sub-agent and its small questions."""
    recorder, agent = working()
    title = Agent(recorder, "Give it a title.", tools=None)
    for number in range(2):
        title.messages = []
        title.say(f"Topic {number}?")
        title.ask(text("Rounding"))
    agent.say("Ask somebody.")
    agent.ask(use("toolu_02", "Task", prompt="Is half up right?"))
    sub = Agent(recorder, "You are a search agent.", TOOLS[:2])
    sub.say("Is half up right?")
    sub.fail(529, "overloaded_error", "Overloaded")
    sub.ask(text("No."))
    agent.say(result("toolu_02", "No."))
    agent.messages[2]["content"][0]["content"] = "[cleared]"
    agent.ask(text("It is not, so I change it."), cut=4, keep=False)
    agent.ask(text("It is not, so I change it."))
    agent.messages[:] = [{"role": "user", "content": "Summary of it all."}, *agent.messages[-2:]]
    agent.say("And then?")
    agent.ask(text("Then we are done."))
    recorder.exchange(agent.body(), None)
    return recorder


def bare(live: Live) -> list[tuple[Any, ...]]:
    """What a log holds, without digests, whose salts are random."""
    found = []
    for key, position, kind, when, payload in shape(live.log):
        value = json.loads(str(payload))
        value.pop("request_digest", None)
        found.append((key, position, kind, when, value))
    return found


def write_as(form: str, recorder: Recorder, folder: Path) -> Path:
    """The log as another recorder writes it."""
    records: list[Any] = []
    for pair in recorder.pairs:
        request, response = pair["request"], pair["response"]
        body, raw = request["body"], response.get("body_raw") or json.dumps(response["body"])
        message = response.get("body") or read_stream(raw).message
        headers = [{"name": n, "value": v} for n, v in request["headers"].items()]
        match form:
            case "bodies" | "array" | "pretty":
                records.append({"request": body, "response": message})
            case "bodies as text":
                records.append({"request_body": json.dumps(body), "response_body": raw})
            case "stream as text":
                records.append({"request": json.dumps(body), "response": raw})
            case "flat":
                flat = {k: v for k, v in request.items() if k != "timestamp"}
                answer = {"status": 200, "headers": request["headers"], "body": message}
                records.append({**flat, "response": answer, "duration": 12, "mainAgent": True})
            case "archive":
                records.append(
                    {
                        "startedDateTime": "2026-02-03T10:00:00.000Z",
                        "request": {
                            "method": "POST",
                            "url": request["url"],
                            "headers": headers,
                            "cookies": [{"name": "c", "value": KEY}],
                            "queryString": [{"name": "key", "value": KEY}],
                            "postData": {"mimeType": "application/json", "text": json.dumps(body)},
                        },
                        "response": {
                            "status": 200,
                            "headers": headers,
                            "content": {
                                "mimeType": "text/event-stream",
                                "encoding": "base64",
                                "text": base64.b64encode(raw.encode()).decode(),
                            },
                        },
                    }
                )
    if form == "archive":
        path = folder / "flows.har"
        path.write_text(json.dumps({"log": {"version": "1.2", "entries": records}}))
    elif form == "array":
        path = folder / "log.json"
        path.write_text(json.dumps(records))
    elif form == "pretty":
        path = folder / "log.json"
        path.write_text(json.dumps(records, indent=2))
    elif form == "flat":
        path = folder / "project_20260203.jsonl"
        path.write_text("".join(json.dumps(r, indent=2) + "\n---\n" for r in records))
    else:
        path = folder / "log.jsonl"
        path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return path


class TestErased:
    """Importing again is what a person does after erasing: the text must not come back with it."""

    def test_an_erased_item_stays_erased_and_later_calls_say_so(
        self, live: Live, tmp_path: Path
    ) -> None:
        recorder = small_session()
        path = recorder.write(tmp_path / "log.jsonl", 2)
        run(live.log, path)
        key = StreamKey.parse(MAIN)
        (read,) = [e.position for e in live.log.read(key) if e.type == "tool_result_recorded"]
        apply(live, plan(live, key, [str(read)]))
        assert run(live.log, path).new == 0
        report = run(live.log, recorder.write(path))
        assert report.new > 0
        assert "FAILED test_round" not in json.dumps([e.payload for e in live.log.read(key)])
        found = calls(live, report)
        assert [v.name for v in judge_all(live, key, found)] == [
            "exact",
            "erased",
            *["rebuilt"] * 2,
        ]


class TestKeysAmongParameters:
    """Without it a gateway's key is in the log, or a request without it passes for the one sent."""

    @pytest.mark.parametrize(
        ("given", "stored", "names"),
        [
            (
                {"mcp_servers": [{"type": "url", "name": "n", "authorization_token": KEY}]},
                {"mcp_servers": [
                    {"type": "url", "name": "n", "authorization_token": "[withheld]"}]},
                ["authorization_token"],
            ),
            (
                {"mcp_servers": [{"url": f"https://u:{KEY}@host/sse?key={KEY}"}]},
                {"mcp_servers": [{"url": "https://host/sse"}]},
                ["url"],
            ),
            (
                {"api_key": KEY, "extra_headers": {"X-Api-Key": KEY, "anthropic-beta": "b"}},
                {"api_key": "[withheld]",
                 "extra_headers": {"X-Api-Key": "[withheld]", "anthropic-beta": "b"}},
                ["api_key", "x-api-key"],
            ),
            (
                {"tools": [{"type": "mcp", "headers": {"Authorization": KEY}}]},
                {"tools": [{"type": "mcp", "headers": {"Authorization": "[withheld]"}}]},
                ["authorization"],
            ),
        ],
    )  # fmt: skip
    def test_a_key_among_the_parameters_is_left_out_and_such_a_request_proves_nothing(
        self,
        live: Live,
        tmp_path: Path,
        given: dict[str, Any],
        stored: dict[str, Any],
        names: list[str],
    ) -> None:
        recorder = small_session()
        for pair in recorder.pairs:
            pair["request"]["body"].update(given)
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        assert set(names) <= set(report.files[0].notes[0].split(": ")[1].split(", "))
        own = calls(live, report)
        assert {verdict.name for verdict in judge_all(live, MAIN, own)} == {"rebuilt"}
        for call in own:
            body = Requests(live).sent(MAIN, call).body
            assert {name: body[name] for name in stored} == stored
        held = b"".join(each.read_bytes() for each in tmp_path.glob("log.db*"))
        assert KEY.encode() not in held
        assert run(live.log, tmp_path / "log.jsonl").new == 0

    def test_what_the_model_is_given_is_as_it_was_whatever_it_is_called(
        self, live: Live, tmp_path: Path
    ) -> None:
        schema = {"type": "object", "properties": {"password": {"type": "string"}},
                  "required": ["password"], "description": "api_key"}  # fmt: skip
        tools = [{"name": "login", "description": "api_key: sk", "input_schema": schema}]
        recorder = small_session()
        for pair in recorder.pairs:
            pair["request"]["body"]["tools"] = tools
        report = run(live.log, recorder.write(tmp_path / "log.jsonl"))
        own = calls(live, report)
        sent = [canonical(Requests(live).sent(MAIN, call).body) for call in own]
        assert sent == [canonical(pair["request"]["body"]) for pair in recorder.pairs]
        assert {verdict.name for verdict in judge_all(live, MAIN, own)} == {"exact"}
