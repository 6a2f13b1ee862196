"""No summarizer is given what was forgotten, whoever asks it, and when."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from model_server import serving
from remembered import memory_of, talking
from scripted import following

from cli.run_strategy import run_strategy
from cli.strategies import strategies_of
from cli.summaries import Summaries
from harness.conversation import Conversation
from harness.conversation.compacting import compact, planned_compaction
from harness.conversation.summarised_memories import with_memories_as_they_are
from harness.memory import UserMemory
from projections import Live, open_log
from projections.items import Item
from projections.strategies.decisions import Summary


class Listening:
    """A summarizer that keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def __call__(self, wanted: Summary, items: Sequence[Item]) -> str:
        self.given.append("\n".join(item.text for item in items))
        return "short"


@pytest.fixture
def live(tmp_path: Path) -> Any:
    with open_log(tmp_path / "talk.db") as opened:
        yield opened


def turns(live: Live, server: Any, summarize: Listening) -> tuple[Conversation, UserMemory]:
    """A session that showed two memories, one of which was forgotten since."""
    memory = memory_of(live)
    settings = {"memory": memory, "strategy": "none", "summarize": summarize}
    talk = talking(live, server, "s", **settings)
    talk.ask("How is the shop deployed?")
    gone = memory.add("We deploy the shop on Fridays")
    memory.add("The shop is deployed by Ansible")
    talk.recall("how do we deploy the shop")
    for said in ("Why?", "And then?", "Thanks a lot for that"):
        talk.ask(said)
    memory.forget(gone)
    return talk, memory


def script(text: str, rounds: int) -> str:
    return f"An answer of some length to what was asked there: {text}. " * 3


class TestSummarised:
    def test_by_hand_planned_or_made(self, live: Live) -> None:
        heard = Listening()
        with serving(following(script)) as server:
            talk, _ = turns(live, server, heard)
            version = talk.version
            planned = planned_compaction(talk, 1)
            assert talk.version == version
            compact(talk, planned)
        assert planned.events
        assert "Ansible" in heard.given[0]
        assert "Fridays" not in heard.given[0]

    def test_by_the_strategy_while_something_comes_in(self, live: Live) -> None:
        heard = Listening()
        with serving(following(script)) as server:
            talk, _ = turns(live, server, heard)
            talk.use("compact:keep_turns=1,trigger_tokens=10")
            talk.inject("The build is green", "build", "human")
        assert "Ansible" in heard.given[0]
        assert "Fridays" not in heard.given[0]

    def test_by_a_strategy_that_is_run_over_the_session(self, live: Live) -> None:
        with serving(following(script)) as server:
            talk, _ = turns(live, server, Listening())
        summaries = Summaries(live, "extractive")
        run_strategy(live, talk.key, strategies_of("compact:keep_turns=1"), summaries)
        said = [item.text for item in live.items(talk.key) if "." in item.id]
        assert said
        assert not any("Fridays" in text for text in said)

    def test_nobody_is_asked_where_nothing_is_left_to_be_summarised(self, live: Live) -> None:
        heard = Listening()
        with serving(following(script)) as server:
            talk, memory = turns(live, server, Listening())
        for each in list(memory.all()):
            memory.forget(each.id)
        items = [item for item in talk.items() if item.source == "memory"]
        asked = with_memories_as_they_are(live, talk.key, heard)
        assert items
        assert asked(Summary("compact", 100, lambda text: ()), items) is None
        assert heard.given == []
