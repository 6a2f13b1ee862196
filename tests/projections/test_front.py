"""An item that comes in in front of everything, such as a system prompt after the question."""

from __future__ import annotations

from pathlib import Path

import pytest
from replays_made import COUNTER

from eventlog import StreamKey, events
from eventlog.events import Event
from projections import open_log
from projections.recording import recording
from projections.strategies import parse
from projections.whatif import Runner

KEY = StreamKey("local", "agent", "s")


def said(role: str, text: str, **more: str) -> Event:
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    return events.MessageAppended.model_validate(
        {
            "dialect": "openai_chat",
            "source": source,
            "message": {"role": role, "content": text},
            **more,
        }
    )


@pytest.mark.parametrize("spec", ["clear:keep=3", "truncate:turns=1"])
def test_a_strategy_finds_it_there(tmp_path: Path, spec: str) -> None:
    """Else every what-if would ask with the system prompt in the middle."""
    told = [
        said("user", "one"),
        said("system", "Be brief.", after="0"),
        events.ModelCalled(model="m", dialect="openai_chat"),
        said("assistant", "yes"),
        said("user", "two"),
        events.ModelCalled(model="m", dialect="openai_chat"),
    ]
    with open_log(tmp_path / "log.db") as live:
        live.append(KEY, *told)
        runner = Runner(recording(live.log.read(KEY), COUNTER), parse(spec), COUNTER)
        runner.run()
        standing = list(runner.window.entries)
        assert standing[0] == 2
        assert list(runner.window.system) == [2]
        assert runner.window.tokens == sum(e.tokens for e in runner.window.entries.values())
        if spec == "clear:keep=3":
            assert list(map(str, standing)) == live.view(KEY).labels()


def test_later_in_front_of_what_was_sent(tmp_path: Path) -> None:
    """What was sent before is sent anew behind it."""
    told = [
        said("user", "one"),
        events.ModelCalled(model="m", dialect="openai_chat"),
        said("assistant", "yes"),
        said("system", "Be brief.", after="0"),
        events.ModelCalled(model="m", dialect="openai_chat"),
    ]
    with open_log(tmp_path / "log.db") as live:
        live.append(KEY, *told)
        runner = Runner(recording(live.log.read(KEY), COUNTER), parse("clear:keep=3"), COUNTER)
        result = runner.run()
        assert list(runner.window.entries) == [4, 1, 3]
        assert [call.prefix for call in result.calls] == [0, 0]
