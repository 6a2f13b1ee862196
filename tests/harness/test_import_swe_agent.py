"""SWE-agent's trajectories: what each step saw, as the file holds it, and nothing made up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from imported import run
from trajectories_made import Agent, run_of, write

from eventlog import RecordedEvent, StreamKey
from eventlog.events import ItemPinned
from harness.importers import Options, import_path
from harness.importers.trajectories import as_sent
from projections import open_log
from projections.judging import judge_all
from projections.live import Live
from projections.recording import recording
from projections.sent import Requests
from projections.source_counts import source_counts
from projections.strategies import parse
from projections.tokens import Utf8Counter
from projections.whatif import Runner


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def brought(live: Live, agent: Agent, tmp_path: Path, **options: Any) -> StreamKey:
    report = run(live.log, agent.write(tmp_path / "kiln.traj"), **options)
    return StreamKey.parse(report.sessions[0].key)


def calls(live: Live, key: StreamKey) -> list[RecordedEvent]:
    return list(live.log.read(key, types=["model_called"]))


def verdicts(live: Live, key: StreamKey) -> list[str]:
    return [verdict.name for verdict in judge_all(live, key, calls(live, key))]


def bodies(live: Live, key: StreamKey) -> list[list[dict[str, Any]]]:
    """The messages of the calls that have a manifest."""
    requests = Requests(live)
    found = [call for call in calls(live, key) if call.data.get("manifest") is not None]
    return [requests.sent(key, call).body["messages"] for call in found]


def asked(agent: Agent) -> list[list[dict[str, Any] | None]]:
    return [[as_sent(entry) for entry in request] for request in agent.requests]


def of_type(live: Live, key: StreamKey, kind: str) -> list[dict[str, Any]]:
    return [event.data for event in live.log.read(key, types=[kind])]


MODES = pytest.mark.parametrize("text", [False, True], ids=["calls", "text"])


class TestWhatTheModelSaw:
    """The one format that says it: it must come out as it stands in the file."""

    @MODES
    def test_every_query_is_a_call_that_is_proved(
        self, live: Live, tmp_path: Path, text: bool
    ) -> None:
        agent = run_of(9, text=text)
        key = brought(live, agent, tmp_path)
        assert verdicts(live, key) == ["exact"] * 9
        assert bodies(live, key) == asked(agent)
        assert {call.data["model"] for call in calls(live, key)} == {"some-model"}

    @MODES
    def test_elided_observations_are_placeholders_and_the_originals_stay(
        self, live: Live, tmp_path: Path, text: bool
    ) -> None:
        agent = run_of(9, text=text)
        key = brought(live, agent, tmp_path)
        found = of_type(live, key, "placeholder_substituted")
        assert [each["content"] for each in found] == [
            "Old environment output: (5 lines omitted)"
        ] * 3
        assert [each["by"]["name"] for each in found] == ["swe-agent"] * 3
        kept = [live.log.at(key, [int(each["item"])])[int(each["item"])] for each in found]
        assert ["line one of" in event.payload for event in kept] == [True] * 3
        assert not of_type(live, key, "context_compacted")
        assert source_counts(live.log.read(key)).placeholders == 3

    @MODES
    def test_of_version_1_0_the_context_after_a_step_is_the_next_request(
        self, live: Live, tmp_path: Path, text: bool
    ) -> None:
        agent = run_of(9, version="1.0", text=text)
        key = brought(live, agent, tmp_path)
        first = "rebuilt" if text else "partial"  # its tools are not in the file
        assert verdicts(live, key) == [first] + ["exact"] * 8
        assert bodies(live, key) == asked(agent)[1:]

    def test_the_context_after_the_end_is_what_stands_and_no_call(
        self, live: Live, tmp_path: Path
    ) -> None:
        agent = run_of(9, version="1.0")
        key = brought(live, agent, tmp_path)
        assert len(calls(live, key)) == 9
        assert live.messages(key) == [as_sent(entry) for entry in agent.seen]
        assert source_counts(live.log.read(key)).placeholders == 4

    def test_of_old_files_the_calls_are_rebuilt(self, live: Live, tmp_path: Path) -> None:
        key = brought(live, run_of(4, version="0.7", text=True), tmp_path)
        assert verdicts(live, key) == ["rebuilt"] * 4

    @MODES
    def test_what_a_processor_marks_is_a_form_of_the_same_message(
        self, live: Live, tmp_path: Path, text: bool
    ) -> None:
        agent = run_of(4, text=text, marks=True)
        key = brought(live, agent, tmp_path)
        assert verdicts(live, key) == ["exact"] * 4
        assert bodies(live, key) == asked(agent)
        assert {item.form for item in live.items(key)} == {"original"}


class TestAnswersOfNoUse:
    """They were asked for and paid for, and stand in no history."""

    @pytest.mark.parametrize("version", ["1.0", "1.1"])
    def test_each_is_a_call_and_leaves_the_context_again(
        self, live: Live, tmp_path: Path, version: str
    ) -> None:
        agent = run_of(2, version=version)
        agent.step(refused=2)
        agent.step()
        key = brought(live, agent, tmp_path)
        assert len(calls(live, key)) == 6
        unused = [m for m in of_type(live, key, "message_appended") if m.get("label") == "unused"]
        assert [m["message"]["content"] for m in unused] == ["I think 3.0", "I think 3.1"]
        counted = source_counts(live.log.read(key))
        assert (counted.records, counted.assistant_messages) == (len(agent.history), 4)
        if version == "1.1":
            assert verdicts(live, key) == ["exact"] * 6
            assert bodies(live, key) == asked(agent)

    def test_a_complaint_is_no_word_of_a_person(self, live: Live, tmp_path: Path) -> None:
        agent = run_of(1)
        agent.step(refused=1)
        key = brought(live, agent, tmp_path)
        human = [m for m in of_type(live, key, "message_appended") if m["source"] == "human"]
        assert [m["message"]["content"] for m in human] == ["Mend the kiln."]

    @pytest.mark.parametrize("version", ["0.7", "1.0", "1.1"])
    def test_what_the_agent_wrote_itself_is_no_call(
        self, live: Live, tmp_path: Path, version: str
    ) -> None:
        agent = run_of(3, version=version)
        agent.step(gave_up=True)
        agent.end("submitted (exit_cost)")
        key = brought(live, agent, tmp_path)
        assert len(calls(live, key)) == 3
        said = [m for m in of_type(live, key, "message_appended") if m.get("label") == "synthetic"]
        assert [m["message"]["content"] for m in said] == ["Exit due to cost limit"]


class TestHistory:
    """Who speaks decides what a strategy may touch."""

    def test_demonstrations_are_no_answers_of_the_model(self, live: Live, tmp_path: Path) -> None:
        agent = Agent(text=True)
        agent.demonstrate()
        agent.task()
        agent.step()
        key = brought(live, agent, tmp_path)
        said = of_type(live, key, "message_appended")
        assert [(m["source"], m.get("label", "")) for m in said] == [
            ("injected", ""),
            *[("injected", "demonstration")] * 3,
            ("human", ""),
            ("model", ""),
            ("injected", "observation"),
        ]
        counted = source_counts(live.log.read(key))
        assert (counted.assistant_messages, counted.tool_calls, counted.tool_results) == (2, 2, 2)
        assert len(calls(live, key)) == 1

    def test_results_are_paired_in_order_where_ids_repeat(self, live: Live, tmp_path: Path) -> None:
        agent = Agent()
        agent.task()
        for _ in range(3):
            agent.step(call_id="again")
        key = brought(live, agent, tmp_path)
        counted = source_counts(live.log.read(key))
        assert (counted.tool_calls, counted.tool_results) == (3, 3)
        assert (counted.orphan_tool_results, counted.unanswered_tool_calls) == (0, 0)
        assert verdicts(live, key) == ["exact"] * 3

    def test_what_a_step_says_besides_is_kept(self, live: Live, tmp_path: Path) -> None:
        agent = run_of(1)
        agent.steps[0]["thought"] = "Hm."
        agent.steps[0]["observation"] = "the raw output"
        key = brought(live, agent, tmp_path)
        answer = next(m for m in of_type(live, key, "message_appended") if m["source"] == "model")
        assert answer["origin"]["rest"]["action"] == "cat 1.txt"
        assert answer["origin"]["rest"]["step"] == {"thought": "Hm."}
        assert set(answer["message"]) == {"role", "content", "tool_calls"}
        (result,) = of_type(live, key, "tool_result_recorded")
        assert result["origin"]["rest"]["step"] == {
            "observation": "the raw output",
            "execution_time": 0.25,
            "state": {"open_file": "n/a"},
        }
        assert result["duration_ms"] == 250

    @MODES
    def test_a_result_stands_in_one_event_only(
        self, live: Live, tmp_path: Path, text: bool
    ) -> None:
        agent = run_of(0, text=text)
        agent.step("the password is swordfish")
        agent.step()
        key = brought(live, agent, tmp_path)
        assert sum("swordfish" in event.payload for event in live.log.read(key)) == 1

    def test_what_is_said_of_the_run_comes_when_it_has_ended(
        self, live: Live, tmp_path: Path
    ) -> None:
        agent = run_of(2)
        report = run(live.log, agent.write(tmp_path / "kiln.traj"))
        assert report.pending == 1
        agent.step()
        agent.end()
        key = brought(live, agent, tmp_path)
        (info,) = of_type(live, key, "record_unrecognized")
        assert json.loads(info["raw"])["exit_status"] == "submitted"
        started = next(iter(live.log.read(key))).data
        assert started["title"] == "kiln"
        assert started["metadata"]["environment"] == "main"

    def test_of_several_attempts_each_is_a_session_and_the_best_is_not_read_twice(
        self, live: Live, tmp_path: Path
    ) -> None:
        first, second = run_of(2), run_of(3)
        first.end()
        second.end()
        tried = [first.value(), second.value()]
        path = tmp_path / "kiln.traj"
        assert len(run(live.log, write(path, {"attempts": tried})).sessions) == 2
        best = {**second.value(), "attempts": tried}
        best["info"]["best_attempt_idx"] = 1
        report = run(live.log, write(path, best))
        assert [(s.new, s.forks) for s in report.sessions] == [(0, []), (1, [])]
        told = of_type(live, StreamKey.parse(report.sessions[1].key), "record_unrecognized")
        assert json.loads(told[-1]["raw"])["best_attempt_idx"] == 1


class TestAgain:
    """The file is written again after each step, and imported while the agent runs."""

    @MODES
    @pytest.mark.parametrize("marks", [False, True], ids=["plain", "marked"])
    @pytest.mark.parametrize("version", ["0.7", "1.0", "1.1"])
    def test_after_each_step_only_what_is_new_comes_in(
        self, live: Live, tmp_path: Path, version: str, text: bool, marks: bool
    ) -> None:
        """A marked history changes at each request: what was said in it does not."""
        agent = Agent(version=version, text=text, marks=marks)
        agent.task()
        for number in range(9):
            agent.step(refused=number % 2)
            key = brought(live, agent, tmp_path)
            before = live.log.version(key)
            assert brought(live, agent, tmp_path) == key
            assert live.log.version(key) == before
            live.append(key, ItemPinned(item="3"))
        agent.end()
        brought(live, agent, tmp_path)
        assert len(list(live.log.streams())) == 1
        if version == "1.1":
            assert set(verdicts(live, key)) == {"exact"}
            assert bodies(live, key) == asked(agent)
        with open_log(tmp_path / "other.db") as other:
            brought(other, agent, tmp_path)
            there = [e.type for e in other.log.read(key)]
        assert [e.type for e in live.log.read(key) if e.type != "item_pinned"] == there

    def test_a_rewritten_run_goes_on_in_a_fork(self, live: Live, tmp_path: Path) -> None:
        agent = run_of(7)
        key = brought(live, agent, tmp_path)
        version = live.log.version(key)
        other = run_of(4)
        other.step("something else")
        other.step()
        report = run(live.log, other.write(tmp_path / "kiln.traj"))
        (child,) = map(StreamKey.parse, report.sessions[0].forks)
        assert live.log.version(key) == version
        assert verdicts(live, child) == ["exact"] * 6
        assert bodies(live, child) == asked(other)

    def test_a_file_that_is_being_written_waits(self, live: Live, tmp_path: Path) -> None:
        path = run_of(3).write(tmp_path / "kiln.traj")
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        report = import_path(live.log, path)
        assert (report.pending, report.new, report.errors) == (1, 0, [])


class TestPreset:
    """``swe-agent`` as a what-if is what SWE-agent did, and tells where it did another thing."""

    def contexts(self, live: Live, key: StreamKey) -> list[list[Any]]:
        found: list[list[Any]] = []
        counter = Utf8Counter()
        runner = Runner(
            recording(live.log.read(key), counter),
            parse("swe-agent"),
            counter,
            observer=lambda *_: found.append([dict(item.message) for item in runner.items()]),
        )
        runner.run()
        return found

    @MODES
    def test_it_gives_the_same_contexts_call_by_call(
        self, live: Live, tmp_path: Path, text: bool
    ) -> None:
        agent = Agent(text=text)
        agent.task()
        for number in range(14):
            agent.step("line\r\n" * (number + 5) + "end\n\n\x0cnext")
        key = brought(live, agent, tmp_path)
        assert self.contexts(live, key) == asked(agent)

    def test_it_differs_where_another_number_was_kept(self, live: Live, tmp_path: Path) -> None:
        key = brought(live, run_of(9, keep=4), tmp_path)
        made, seen = self.contexts(live, key), bodies(live, key)
        assert [a == b for a, b in zip(made, seen, strict=True)] == [True] * 5 + [False] * 4


class TestDetection:
    """A file is known by what stands in it, and many things are called attempts or history."""

    @pytest.mark.parametrize(
        "value",
        [
            {"attempts": [{"passed": False}]},
            {"history": [{"id": 0, "source": "user", "action": "message"}]},
            {"trajectory": "none"},
            {"trajectory": [[0.5, 1.5]], "history": None},
        ],
    )
    def test_what_only_shares_a_name_is_not_taken(
        self, live: Live, tmp_path: Path, value: dict[str, Any]
    ) -> None:
        report = import_path(live.log, write(tmp_path / "a.json", value))
        assert "no record in it is one of a known transcript" in report.errors[0]

    def test_a_long_one_with_names_of_another_version_is_known(
        self, live: Live, tmp_path: Path
    ) -> None:
        agent = run_of(1)
        agent.step("x" * 2_000_000)
        value = {"instance": "kiln", **agent.value()}
        report = run(live.log, write(tmp_path / "a.traj", value))
        assert report.files[0].format == "swe-agent"


class TestFolders:
    """People point at the folder of a run."""

    def test_trajectories_are_found_among_other_files(self, live: Live, tmp_path: Path) -> None:
        folder = tmp_path / "trajs"
        folder.mkdir()
        run_of(1).write(folder / "a.traj")
        run_of(2).write(folder / "b.traj")
        write(folder / "preds.json", {"a": {"model_patch": ""}})
        report = import_path(live.log, folder)
        assert (len(report.sessions), report.errors) == (2, [])
        assert report.passed_over == ["preds.json"]

    def test_one_that_is_longer_than_what_is_looked_at_is_known(
        self, live: Live, tmp_path: Path
    ) -> None:
        agent = run_of(1)
        agent.step("x" * 10_000_000)
        key = brought(live, agent, tmp_path)
        assert verdicts(live, key) == ["exact"] * 2
        report = import_path(live.log, tmp_path / "kiln.traj", Options(format="claude-code"))
        assert "it holds swe-agent" in report.errors[0]
