"""Logs of requests: every recorded request is rebuilt to the last byte, whatever lies between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from imported import run
from request_logs import SESSION, Recorder, small_session

from eventlog import RecordedEvent
from harness.importers import ImportReport
from projections import open_log
from projections.context import fold
from projections.judging import judge_all
from projections.live import Live
from projections.sent import Requests

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
        verdicts = {v.name for v in judge_all(live, session.key).values()}
        assert verdicts <= {"exact"}
        view = fold(live.log.read(session.key))
        assert view.notes == []
        assert live.view(session.key) == view


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
