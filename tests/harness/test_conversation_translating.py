"""A session of another dialect, gone on with in OpenAI's chat: said again, and nothing inferred."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from model_server import serving
from scripted import following

from cli.decisions import Decision, undoing
from eventlog import StreamKey
from eventlog.errors import InputRefused
from eventlog.events import ItemPinned, MemoryRecalled, MessageAppended
from eventlog.jsonvalue import Json
from harness import Conversation, UserMemory
from harness.importers import Options, import_path
from projections import Live, open_log
from projections.dialects import dialect
from projections.judging import judge_all

DEMO = Path(__file__).resolve().parents[2] / "cli" / "demo" / "refund-rounding.jsonl"
FORK = StreamKey("local", "chat", "fork")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """The bundled session of Claude Code, and a fork of it to go on with."""
    with open_log(tmp_path / "log.db") as found:
        import_path(found.log, DEMO, Options())
        [info] = found.log.streams()
        found.append(info.key, ItemPinned(item="178"))
        found.log.fork(FORK, info.key, found.log.version(info.key))
        yield found


def test_what_is_sent_is_what_stood_and_no_decision_is_read_off_it(live: Live) -> None:
    before = live.items(FORK)
    wanted = dialect("openai_chat").render(live.sendable(FORK).items)["messages"]
    assert {item.dialect for item in before} == {"anthropic"}
    version = live.log.version(FORK)
    with serving(following(lambda said, rounds: f"about {said}")) as server:
        conversation = Conversation(live, server.client(), "m", session=FORK, strategy="none")
        assert conversation.translated == len(wanted) > 20
        for text in ("one", "two"):
            conversation.ask(text)
        first, second = (request["messages"] for request in server.requests)
    assert first == [*wanted, {"role": "user", "content": "one"}]
    assert second[: len(first)] == first
    events = [event.event for event in live.log.read(FORK, version)]
    assert not any(getattr(event, "inferred", False) for event in events)
    assert sum(event.type == "context_compacted" for event in events) == 1
    calls = [c for c in live.log.read(FORK, types=["model_called"]) if c.position > version]
    assert {verdict.name for verdict in judge_all(live, FORK, calls)} == {"exact"}


def test_each_item_keeps_its_speaker_its_label_and_its_pin(live: Live) -> None:
    before = live.items(FORK)
    with serving() as server:
        conversation = Conversation(live, server.client(), "m", session=FORK, strategy="none")
    assert conversation.translated
    after = live.items(FORK)
    humans = [[i.text for i in items if i.is_human] for items in (before, after)]
    assert humans[0] == humans[1] != []
    assert [i.text for i in after if i.pinned] == [i.text for i in before if i.pinned]
    tools = [[i.tool_name for i in items if i.kind == "tool_result"] for items in (before, after)]
    assert tools[0] == tools[1] != []
    summaries = [[i.label for i in items if i.is_summary] for items in (before, after)]
    assert len(summaries[0]) == 1


def test_is_done_once(live: Live) -> None:
    with serving() as server:
        for expected in (True, False):
            conversation = Conversation(live, server.client(), "m", session=FORK, strategy="none")
            assert bool(conversation.translated) is expected


def test_after_a_rewind_to_before_it_is_done_again_and_cannot_be_undone_alone(live: Live) -> None:
    version = live.log.version(FORK)
    with serving(following(lambda said, rounds: f"about {said}")) as server:
        conversation = Conversation(live, server.client(), "m", session=FORK, strategy="none")
        conversation.ask("one")
        first = server.requests[-1]["messages"]
        [k] = [
            event.position for event in live.log.read(FORK, version, types=["context_compacted"])
        ]
        with pytest.raises(InputRefused, match="says another dialect again"):
            conversation.undo(k)
        with pytest.raises(InputRefused, match="says another dialect again"):
            undoing(live, Decision(FORK, k))(live.log.version(FORK) + 1)
        conversation.rewind(version)
        conversation.ask("one")
        assert server.requests[-1]["messages"] == first
    events = [event.event for event in live.log.read(FORK, version)]
    assert not any(getattr(event, "inferred", False) for event in events)


def test_a_memory_that_was_shown_is_known_where_it_is_said_again(live: Live) -> None:
    memory = UserMemory(live)
    friday = memory.add("We deploy on Fridays")
    text = {"role": "system", "content": "We deploy on Fridays"}
    at = live.append(
        FORK,
        MessageAppended(
            dialect="openai_chat", source="memory", label="memories", message=Json(text)
        ),
    ).first
    told = MemoryRecalled(of=str(memory.key), item=str(at), memories=(str(friday),))
    live.append(FORK, told)
    with serving(following(lambda said, rounds: "fine")) as server:
        conversation = Conversation(live, server.client(), "m", session=FORK, strategy="none")
        assert conversation.translated
        conversation.ask("one")
        assert b"Fridays" in server.bodies[-1]
        memory.forget(friday)
        conversation.ask("two")
        assert b"Fridays" not in server.bodies[-1]
    assert memory.get(friday).accesses == 1
