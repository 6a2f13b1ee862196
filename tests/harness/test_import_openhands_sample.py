from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from imported import run, shape
from test_import_samples import ROOT, TRUTH, expected

from eventlog import EventLog
from projections import open_log
from projections.context import fold
from projections.observed import observed
from projections.recording import recording
from projections.source_counts import source_counts
from projections.strategies import parse
from projections.strategies.window import Window
from projections.tokens import Utf8Counter
from projections.whatif import Runner, WhatIf

OPENHANDS = sorted(name for name in TRUTH if name.startswith("openhands/"))

pytestmark = pytest.mark.skipif(not OPENHANDS, reason="the sample transcripts are not here")


class TestRealOpenHandsSessions:
    """A conversation of the SDK of 2025-09, with one condensation."""

    @pytest.mark.parametrize("name", OPENHANDS)
    def test_counts_equal_the_independent_ones(self, tmp_path: Path, name: str) -> None:
        with EventLog(tmp_path / "log.db") as log:
            report = run(log, ROOT / name)
            [session] = report.sessions
            assert source_counts(log.read(session.key)).model_dump() == expected(name)
            assert (report.pending, report.unreadable, session.notes) == (0, 0, [])
            assert fold(log.read(session.key)).notes == []
            before = shape(log)
            assert run(log, ROOT / name, final=True).new == 0
            assert shape(log) == before

    @pytest.mark.parametrize("name", OPENHANDS)
    def test_event_by_event_it_is_the_same_conversation(self, tmp_path: Path, name: str) -> None:
        files = sorted((ROOT / name / "events").iterdir())
        grown = tmp_path / "grown"
        (grown / "events").mkdir(parents=True)
        shutil.copy(ROOT / name / "base_state.json", grown)
        with EventLog(tmp_path / "log.db") as log, EventLog(tmp_path / "whole.db") as whole:
            for file in files:
                shutil.copy(file, grown / "events")
                report = run(log, grown)
                assert not any(s.forks or s.vanished for s in report.sessions)
            run(whole, grown)
            assert shape(log) == shape(whole)

    @pytest.mark.parametrize("name", OPENHANDS)
    def test_a_rewritten_event_is_a_fork_and_both_states_are_kept(
        self, tmp_path: Path, name: str
    ) -> None:
        folder = Path(shutil.copytree(ROOT / name, tmp_path / "copy"))
        changed = sorted((folder / "events").iterdir())[90]
        with EventLog(tmp_path / "log.db") as log:
            [whole] = run(log, folder).sessions
            before = shape(log)
            value = {**json.loads(changed.read_bytes()), "timestamp": "2025-09-27T00:00:00"}
            changed.write_text(json.dumps(value))
            [again] = run(log, folder).sessions
            assert again.forks == [f"{whole.key}~2"]
            assert shape(log)[: len(before)] == before
            counts = source_counts(log.read(again.forks[0]))
            assert counts.model_dump() == expected(name)
            assert run(log, folder).new == 0

    @pytest.mark.parametrize("name", OPENHANDS)
    def test_the_condensation_is_the_context_behind_it(self, tmp_path: Path, name: str) -> None:
        events = [json.loads(f.read_bytes()) for f in sorted((ROOT / name / "events").iterdir())]
        [at] = [n for n, event in enumerate(events) if event["kind"] == "Condensation"]
        condensation = events[at]
        left = [e for e in events[:at] if e["id"] not in condensation["forgotten_event_ids"]]
        left.insert(condensation["summary_offset"], condensation)
        calls = {e["tool_call_id"] for e in left if e["kind"] == "ActionEvent"}
        results = {e["tool_call_id"] for e in left if e["kind"] == "ObservationEvent"}
        wanted = [e for e in left if e.get("tool_call_id") in (None, *(calls & results))]
        with open_log(tmp_path / "log.db") as live:
            [session] = run(live.log, ROOT / name).sessions
            [compacted] = live.log.read(session.key, types=["context_compacted"])
            standing = live.items(session.key, compacted.position)
            by_position = {
                e.position: r.get("id")
                for e in live.log.read(session.key)
                for r in e.data["origin"]["records"]
            }
            ids = [by_position[int(item.id.partition(".")[0])] for item in standing]
            assert ids == [e["id"] for e in wanted]
            assert len(ids) == 39
            [summary] = [item for item in standing if item.id.endswith(".0")]
            assert summary.text == condensation["summary"]

    @pytest.mark.parametrize("name", OPENHANDS)
    def test_the_preset_condenses_at_the_same_call_and_leaves_the_same(
        self, tmp_path: Path, name: str
    ) -> None:
        """With the numbers of the file's own configuration, call by call.

        The file does not record the prompt of the summarizer nor what it was sent, so only that a
        summary stands there is compared, and where.
        """
        condenser = json.loads((ROOT / name / "base_state.json").read_bytes())["agent"]["condenser"]
        spec = f"openhands:max_size={condenser['max_size']},keep_first={condenser['keep_first']}"
        with EventLog(tmp_path / "log.db") as log:
            [session] = run(log, ROOT / name).sessions
            recorded = recording(log.read(session.key), Utf8Counter())
        contexts: dict[str, list[list[str]]] = {"observed": [], "preset": []}

        def note(into: str) -> Callable[[WhatIf, Window, object], None]:
            def standing(_: WhatIf, window: Window, touched: object) -> None:
                shown = ["S" if e.is_summary else str(o) for o, e in window.entries.items()]
                contexts[into].append(shown)

            return standing

        observed(recorded, note("observed"))
        summary = "What happened, in a few words."
        Runner(
            recorded, parse(spec), Utf8Counter(), lambda *_: summary, observer=note("preset")
        ).run()
        assert contexts["preset"] == contexts["observed"]
        assert [calls.count("S") for calls in contexts["preset"]] == [0] * 40 + [1] * 7
        assert len(contexts["preset"][40]) == 39
