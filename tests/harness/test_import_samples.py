from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from imported import run, shape

from eventlog import EventLog, StreamKey
from harness.importers.trajectories import PLACEHOLDER as OLD
from harness.importers.trajectories import as_sent
from projections import open_log
from projections.context import fold
from projections.dialects import openai_responses
from projections.judging import judge_all
from projections.recording import recording
from projections.sent import Requests
from projections.sessions import list_sessions
from projections.source_counts import SourceCounts, source_counts
from projections.strategies import parse
from projections.tokens import Utf8Counter
from projections.verdicts import judge
from projections.whatif import Runner

ROOT = Path(__file__).parents[3] / "shared" / "samples"
TRUTH: dict[str, Any] = (
    json.loads((ROOT / "truth.json").read_text())["files"]
    if (ROOT / "truth.json").is_file()
    else {}
)
CLAUDE = sorted(name for name in TRUTH if name.startswith("claude-code/"))
CODEX = sorted(name for name in TRUTH if name.startswith("codex/"))
OPENAI = sorted(name for name in TRUTH if name.startswith("openai-chat/"))
CODEX_USAGE = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
FIXTURE = "codex/cx09_schema_fixture.jsonl"
"""Made of single records of many sessions, most of them without the others that belong to them."""
RUNS = sorted(name for name in TRUTH if name.startswith(("swe-agent/", "mini-swe-agent/")))

pytestmark = pytest.mark.skipif(not TRUTH, reason="the sample transcripts are not here")


def expected(name: str) -> dict[str, Any]:
    truth = TRUTH[name]
    counts = {field: truth.get(field) for field in SourceCounts.model_fields}
    counts["compactions"] = truth["n_compactions"]
    counts["placeholders"] = truth.get("placeholder_substitutions", 0)
    return counts


class TestRealClaudeCodeSessions:
    """An independent script counted these files. A difference is a record read wrongly."""

    @pytest.mark.parametrize("name", CLAUDE)
    def test_counts_equal_the_independent_ones(self, tmp_path: Path, name: str) -> None:
        with EventLog(tmp_path / "log.db") as log:
            report = run(log, ROOT / name, final=True)
            events = [event for s in report.sessions for event in log.read(s.key)]
            assert source_counts(events).model_dump() == expected(name)
            assert report.unreadable == TRUTH[name]["bad_lines"]

    @pytest.mark.parametrize("name", CLAUDE)
    def test_usage_is_counted_once_an_answer(self, tmp_path: Path, name: str) -> None:
        with EventLog(tmp_path / "log.db") as log:
            report = run(log, ROOT / name, final=True)
            total: dict[str, int] = {}
            for session in report.sessions:
                for event in log.read(session.key, types=["model_responded"]):
                    for field, value in event.data.get("usage", {}).items():
                        if field != "provider":
                            total[field] = total.get(field, 0) + value
        truth = TRUTH[name]["usage"]
        assert total.get("input", 0) == truth["input_tokens"]
        assert total.get("output", 0) == truth["output_tokens"]
        assert total.get("cached", 0) == truth["cache_read_input_tokens"]
        assert total.get("cache_write", 0) == truth["cache_creation_input_tokens"]

    @pytest.mark.parametrize("name", CLAUDE)
    def test_every_decision_finds_its_items_and_a_second_import_adds_nothing(
        self, tmp_path: Path, name: str
    ) -> None:
        with EventLog(tmp_path / "log.db") as log:
            run(log, ROOT / name)
            report = run(log, ROOT / name, final=True)
            for session in report.sessions:
                assert fold(log.read(session.key)).notes == []
            before = shape(log)
            assert run(log, ROOT / name, final=True).new == 0
            assert run(log, ROOT / name).new == 0
            assert shape(log) == before

    def test_a_folder_of_them_links_the_sub_agent(self, tmp_path: Path) -> None:
        with EventLog(tmp_path / "log.db") as log:
            report = run(log, ROOT / "claude-code" / "cc12_subagents")
            parent, child = (s.key for s in report.sessions)
            started = next(iter(log.read(child))).data
            assert started["parent_session"] == parent
            [call_id] = [
                e.data["tool_call_id"] for e in log.read(parent, types=["tool_result_recorded"])
            ]
            assert started["parent_call"] == call_id


class TestRealCodexRollouts:
    """The same for rollouts; what a compaction put in place is on disk, so it is compared whole."""

    @pytest.mark.parametrize("name", CODEX)
    @pytest.mark.parametrize("final", [False, True])
    def test_counts_equal_the_independent_ones(
        self, tmp_path: Path, name: str, final: bool
    ) -> None:
        with EventLog(tmp_path / "log.db") as log:
            report = run(log, ROOT / name, final=final)
            [session] = report.sessions
            assert source_counts(log.read(session.key)).model_dump() == expected(name)
            assert report.unreadable == TRUTH[name]["bad_lines"]
            assert report.pending == 0

    @pytest.mark.parametrize("name", CODEX)
    def test_usage_is_counted_once_an_answer(self, tmp_path: Path, name: str) -> None:
        with open_log(tmp_path / "log.db") as live:
            run(live.log, ROOT / name)
            [stats] = list_sessions(live)
        truth = TRUTH[name]["usage"]
        if truth is None or not any(truth.values()):  # of no answer a count stands in the file
            assert stats.usage is None
            return
        assert stats.usage is not None
        assert stats.usage.prompt == truth["input_tokens"]
        assert stats.usage.cached == truth["cached_input_tokens"]
        assert stats.usage.output == truth["output_tokens"]
        assert stats.usage.reasoning == truth["reasoning_output_tokens"]
        prompts = TRUTH[name]["user_prompts"]
        assert name == FIXTURE or stats.human_messages == prompts

    @pytest.mark.parametrize("name", CODEX)
    def test_every_decision_finds_its_items_however_the_file_grew(
        self, tmp_path: Path, name: str
    ) -> None:
        lines = (ROOT / name).read_bytes().splitlines(keepends=True)
        path = tmp_path / "rollout.jsonl"
        with EventLog(tmp_path / "once.db") as log:
            [session] = run(log, ROOT / name).sessions
            assert fold(log.read(session.key)).notes == []
            whole = [e.type for e in log.read(session.key)], fold(log.read(session.key)).labels()
        cuts = random.Random(len(lines)).sample(range(1, len(lines)), min(len(lines) - 1, 25))
        with EventLog(tmp_path / "grown.db", durability="normal") as log:
            for end in [*sorted(cuts), len(lines)]:
                path.write_bytes(b"".join(lines[:end]))
                assert [s.forks for s in run(log, path).sessions] == [[]]
            found = list(log.read(session.key))
            assert ([e.type for e in found], fold(found).labels()) == whole
            before = shape(log)
            assert run(log, path).new == 0
            assert run(log, path, final=True).new == 0
            assert shape(log) == before

    def test_a_replacement_history_is_the_request_that_follows_it_byte_by_byte(
        self, tmp_path: Path
    ) -> None:
        name = "codex/cx02_2compact_v0.142.jsonl"
        records = [json.loads(line) for line in (ROOT / name).read_bytes().splitlines()]
        histories = [
            r["payload"]["replacement_history"] for r in records if r["type"] == "compacted"
        ]
        assert len(histories) == 2
        with open_log(tmp_path / "log.db") as live:
            [session] = run(live.log, ROOT / name).sessions
            compactions = list(live.log.read(session.key, types=["context_compacted"]))
            for event, history in zip(compactions, histories, strict=True):
                body = openai_responses.render(live.items(session.key, event.position))
                assert json.dumps(body["input"]) == json.dumps(history)
                assert body["instructions"] == records[0]["payload"]["base_instructions"]["text"]
            first = compactions[0].position
            verdicts = {
                (call.position > first, judge(live, StreamKey.parse(session.key), call).name)
                for call in live.log.read(session.key, types=["model_called"])
            }
        assert verdicts == {(False, "partial"), (True, "opaque")}


class TestRealOpenAIConversations:
    """The same for files of conversations, added up over the sessions of each file."""

    @pytest.mark.parametrize("name", OPENAI)
    def test_counts_equal_the_independent_ones(self, tmp_path: Path, name: str) -> None:
        with EventLog(tmp_path / "log.db") as log:
            report = run(log, ROOT / name)
            total: dict[str, Any] = dict.fromkeys(SourceCounts.model_fields)
            for session in report.sessions:
                for field, value in source_counts(log.read(session.key)).model_dump().items():
                    if value is not None:
                        total[field] = (total[field] or 0) + value
            assert total == expected(name)
            assert run(log, ROOT / name).new == 0


class TestRealRuns:
    """The same for trajectories of SWE-agent and mini-swe-agent."""

    @pytest.mark.parametrize("name", RUNS)
    def test_counts_equal_the_independent_ones(self, tmp_path: Path, name: str) -> None:
        with EventLog(tmp_path / "log.db") as log:
            report = run(log, ROOT / name)
            [session] = report.sessions
            assert source_counts(log.read(session.key)).model_dump() == expected(name)
            assert fold(log.read(session.key)).notes == []
            before = shape(log)
            assert run(log, ROOT / name).new == 0
            assert shape(log) == before

    def test_the_requests_on_disk_are_proved_and_the_preset_makes_the_same(
        self, tmp_path: Path
    ) -> None:
        path = ROOT / "swe-agent" / "sw01_elided_replay.traj"
        steps = json.loads(path.read_text())["trajectory"]
        with open_log(tmp_path / "log.db") as live:
            key = live.log.stream(run(live.log, path).sessions[0].key).key
            calls = list(live.log.read(key, types=["model_called"]))
            assert [v.name for v in judge_all(live, key, calls)] == ["partial"] + ["exact"] * 12
            requests = Requests(live)
            sent = [requests.sent(key, call).body["messages"] for call in calls[1:]]
            assert sent == [list(map(as_sent, step["messages"])) for step in steps[:12]]
            shown = [m for messages in sent for m in messages if m["content"].startswith(OLD)]
            assert len(shown) == 28
            assert len({m["tool_call_id"] + m["content"] for m in shown}) == 7
            counter, made = Utf8Counter(), list[list[Any]]()
            runner = Runner(
                recording(live.log.read(key), counter),
                parse("swe-agent"),
                counter,
                observer=lambda *_: made.append([dict(i.message) for i in runner.items()]),
            )
            runner.run()
            assert made[1:] == sent
            after = live.messages(key)
            assert after == list(map(as_sent, steps[12]["messages"]))
            assert sum(m["content"].startswith(OLD) for m in after) == 8
