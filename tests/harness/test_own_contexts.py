"""What agents do to their contexts by code of their own is read off their requests, as they did it:
which items were cut, cleared, folded or replaced, and what stands for them."""

from __future__ import annotations

from pathlib import Path

import own_contexts
import pytest
from model_server import ModelServer, serving
from own_contexts import Agent, name
from recorded_calls_of import KEY, Told

from eventlog import StreamKey
from harness.recording import Recorder, wrap
from projections import open_log
from projections.context import View
from projections.live import Live
from projections.runs import Origin

AGENTS = [
    made
    for made in vars(own_contexts).values()
    if isinstance(made, type) and issubclass(made, Agent) and made is not own_contexts.Missing
]
CHANGE_NOTHING = (Agent, own_contexts.SwitchesModels, own_contexts.SwitchesTools)


def decisions(live: Live, key: StreamKey) -> list[str]:
    """What the log says that was done, in the words in which an agent tells it."""
    told: list[str] = []
    for event in live.log.read(key):
        at, data = event.position, event.data
        before, after = live.view(key, at - 1), live.view(key, at)
        gone = _named(live, key, before, [i for i in before.items if i not in after.items])
        new = _named(live, key, after, [i for i in after.items if i not in before.items])
        match event.type:
            case "context_compacted" if data.get("layout"):
                told.append(f"order: {_named(live, key, after, [*after.items])}")
            case "context_compacted":
                told.append(f"left: {gone}" + (f"; for {new}" if new else ""))
            case "placeholder_substituted":
                kind = data.get("kind", "cleared")
                told.append(f"{kind}: {_named(live, key, before, [_origin(data['item'])])}")
            case "message_revised":
                told.append(f"revised: {_named(live, key, before, [_origin(data['item'])])}")
            case "session_rewound":
                told.append(f"back: {gone}" + (f"; to {new}" if new else ""))
            case "decision_undone":
                told.append(f"again: {new}")
    return told


def _origin(item: str) -> Origin:
    return item if "." in item else int(item)


def _named(live: Live, key: StreamKey, view: View, items: list[Origin]) -> str:
    found = live.materialize(key, [(i, view.items[i]) for i in items], set())
    return ", ".join(name(item.message) for item in found)


def recorded(path: Path, server: ModelServer, made: type[Agent], session: str | None) -> Agent:
    recorder = Recorder(path, session=session)
    with server.client() as client:
        agent = made(wrap(client, recorder))
        agent.run()
    recorder.close()
    return agent


@pytest.mark.parametrize("made", AGENTS, ids=lambda made: made.__name__)
def test_the_log_says_what_the_agent_did(tmp_path: Path, made: type[Agent]) -> None:
    path = tmp_path / "log.db"
    with serving(own_contexts.script([])) as server:
        agent = recorded(path, server, made, "s")
    told = Told(path)
    told.check(server.requests)
    told.check_bytes(server.bodies)
    assert bool(agent.did) == (made not in CHANGE_NOTHING)
    with open_log(path) as live:
        assert decisions(live, KEY) == agent.did
