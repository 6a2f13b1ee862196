"""What agents do to their contexts by code of their own is read off their requests, as they did it:
which items were cut, cleared, folded or replaced, and what stands for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import own_contexts
import pytest
from model_server import ModelServer, serving
from own_contexts import Agent, name
from recorded_calls_of import Told

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
Name = Callable[[Mapping[str, Any]], str]

CHANGE_NOTHING = (Agent, own_contexts.SwitchesModels, own_contexts.SwitchesTools)


def decisions(live: Live, key: StreamKey, name: Name = name) -> list[str]:
    """What the log says that was done, in the words in which an agent tells it."""
    told: list[str] = []
    for event in live.log.read(key):
        at, data = event.position, event.data
        before, after = live.view(key, at - 1), live.view(key, at)
        gone = _named(live, key, name, before, [i for i in before.items if i not in after.items])
        new = _named(live, key, name, after, [i for i in after.items if i not in before.items])
        match event.type:
            case "context_compacted" if data.get("layout"):
                told.append(f"order: {_named(live, key, name, after, [*after.items])}")
            case "context_compacted":
                told.append(f"left: {gone}" + (f"; for {new}" if new else ""))
            case "placeholder_substituted":
                kind = data.get("kind", "cleared")
                told.append(f"{kind}: {_named(live, key, name, before, [_origin(data['item'])])}")
            case "message_revised":
                told.append(f"revised: {_named(live, key, name, before, [_origin(data['item'])])}")
            case "session_rewound":
                told.append(f"back: {gone}" + (f"; to {new}" if new else ""))
            case "decision_undone":
                told.append(f"again: {new}")
    return told


def _origin(item: str) -> Origin:
    return item if "." in item else int(item)


def _named(live: Live, key: StreamKey, name: Name, view: View, items: list[Origin]) -> str:
    found = live.materialize(key, [(i, view.items[i]) for i in items], set())
    return ", ".join(name(item.message) for item in found)


def recorded(path: Path, server: ModelServer, made: type[Agent], session: str | None) -> Agent:
    recorder = Recorder(path, session=session)
    with server.client() as client:
        agent = made(wrap(client, recorder))
        agent.run()
    recorder.close()
    return agent


TOLD_APART = (own_contexts.KeepsOneMessage, own_contexts.EditsTheFirst)
"""Without a name, one that begins with other words and holds no answer is another conversation."""


@pytest.mark.parametrize("session", ["s", None])
@pytest.mark.parametrize("made", AGENTS, ids=lambda made: made.__name__)
def test_the_log_says_what_the_agent_did(
    tmp_path: Path, made: type[Agent], session: str | None
) -> None:
    path = tmp_path / "log.db"
    with serving(own_contexts.script([])) as server:
        agent = recorded(path, server, made, session)
    told = Told(path)
    told.check(server.requests)
    told.check_bytes(server.bodies)
    assert bool(agent.did) == (made not in CHANGE_NOTHING)
    with open_log(path) as live:
        own = min((info.key for info in live.log.streams()), key=lambda key: len(key.session))
        if session is None and made in TOLD_APART:
            assert [decisions(live, info.key) for info in live.log.streams()][:2] == [[], []]
        else:
            assert decisions(live, own) == agent.did


class Other(own_contexts.Summarises):
    """Another conversation under the same system prompt."""

    asked = ("write a poem", "another one", "and a last one")


class Same(own_contexts.Clears):
    """Another conversation that begins with the same words."""


@pytest.mark.parametrize("kind", [Other, Same])
def test_two_conversations_of_one_client_are_two(tmp_path: Path, kind: type[Agent]) -> None:
    """Call by call in turns, each with a context of its own; the first has a start of one turn."""
    path = tmp_path / "log.db"
    recorder = Recorder(path)
    with serving(own_contexts.script([])) as server, server.client() as client:
        wrap(client, recorder)
        agents = [own_contexts.Clears(client), kind(client)]
        agents[0].turn(agents[0].asked[0])
        for number in range(3):
            going = [*agents] if number < 2 else agents[1:]
            for agent in going:
                place = number + (agent is agents[0])
                agent.messages.append(own_contexts.user(agent.asked[place]))
            while going:
                going = [agent for agent in going if not agent.step()]
    recorder.close()
    told = Told(path)
    told.check(server.requests)
    with open_log(path) as live:
        keys = [info.key for info in live.log.streams()]
        assert [decisions(live, key) for key in keys] == [agent.did for agent in agents]
