"""A session that came from elsewhere shows no memories of this log, and none without a name."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from model_server import serving
from remembered import memory_of, proved, received, talking
from scripted import following

from eventlog.events import MemoryRecalled
from eventlog.recorded import StreamKey
from eventlog.transfer import export, import_export
from harness.conversation.standing_memories import LABEL, UNEXPLAINED
from harness.conversation.summarised_memories import with_memories_as_they_are
from harness.state_documents import export_state, read_document
from projections import Live, open_log
from projections.audit.auditing import audit
from projections.erasure import plan
from projections.items import Item
from projections.memory.folding import READ
from projections.memory.shown import all_shown, shown_in
from projections.memory.state import fold
from projections.strategies.decisions import Summary

KEY = StreamKey("local", "chat", "one")


def script(text: str, rounds: int) -> str:
    return "Fine."


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[tuple[Live, Live]]:
    with open_log(tmp_path / "a.db") as here, open_log(tmp_path / "b.db") as there:
        yield here, there


def carried(source: Live, target: Live, *keys: StreamKey) -> None:
    """Some streams, or the whole log, exported and imported."""
    file = io.StringIO()
    export(source.log, file, keys or None)
    import_export(target.log, (line.encode() for line in file.getvalue().splitlines(True)))


def recalls(live: Live, key: StreamKey) -> list[MemoryRecalled]:
    found = [event.event for event in live.log.read(key, types=["memory_recalled"])]
    return [each for each in found if isinstance(each, MemoryRecalled)]


def sent(server: Any) -> str:
    return json.dumps(received(server))


class TestASessionOfAnotherLog:
    """Its recall names a stream that has that name here too, and holds other memories."""

    @pytest.fixture
    def mixed(self, logs: tuple[Live, Live]) -> Live:
        here, there = logs
        with serving(following(script)) as server:
            memory = memory_of(there)
            memory.add("We deploy on Fridays")
            talking(there, server, str(KEY), memory=memory).ask("When do we deploy?")
        memory_of(here).add("My cat is called Tom")
        carried(there, here, KEY)
        return here

    def test_proves_nothing_of_a_memory_of_this_one(self, mixed: Live) -> None:
        memory = memory_of(mixed)
        (recall,) = recalls(mixed, KEY)
        assert recall.of == str(memory.key)
        assert recall.of_id != mixed.log.stream(memory.key).id.hex()
        assert memory.get(1).accesses == 0
        events = mixed.log.read_all(types=READ)
        again = fold(events, str(memory.key), lambda key: mixed.log.stream(key).id.hex())
        assert again.text() == memory.memories.text()
        assert shown_in(mixed, "local", 1) == []
        assert not [each for each in plan(mixed, memory.key, ["1"]).copies if each.stream == KEY]

    def test_and_that_is_told(self, mixed: Live) -> None:
        (shown,) = next(iter(all_shown(mixed, KEY).values()))
        assert shown.is_elsewhere
        told = [f.message for f in audit(mixed, KEY).findings if "m1" in f.message]
        assert any("m1 of local/_/memory" in each for each in told)
        assert all("not in this log" in each for each in told)

    def test_gone_on_with_it_shows_those_of_this_log(self, mixed: Live) -> None:
        with serving(following(script)) as server:
            talk = talking(mixed, server, str(KEY), memory=memory_of(mixed), system=None)
            talk.ask("And what is my cat called?")
            assert "Tom" in sent(server)
            assert "Fridays" not in sent(server)
        proved(talk)

    def test_a_whole_log_is_the_same_log_wherever_it_is(self, logs: tuple[Live, Live]) -> None:
        here, there = logs
        with serving(following(script)) as server:
            memory = memory_of(there)
            memory.add("We deploy on Fridays")
            talking(there, server, str(KEY), memory=memory).ask("When do we deploy?")
            carried(there, here)
            assert memory_of(here).get(1).accesses == 1
            assert [each.stream for each in shown_in(here, "local", 1)] == [KEY]
            talking(here, server, str(KEY), memory=memory_of(here), system=None).ask("And?")
            assert "Fridays" in sent(server)


class TestAMessageThatNobodyExplains:
    """What is forgotten could never leave it."""

    def test_leaves_a_session_that_began_with_a_state(self, logs: tuple[Live, Live]) -> None:
        live, _ = logs
        memory = memory_of(live)
        with serving(following(script)) as server:
            friday = memory.add("We deploy on Fridays")
            memory.add("We deploy from the main branch")
            talking(live, server, str(KEY), memory=memory).ask("When do we deploy?")
            read_document(export_state(live, KEY)).append(live, "local/chat/two")
            memory.forget(friday)
            talk = talking(live, server, "local/chat/two", memory=memory, system=None)
            talk.ask("And from where do we deploy?")
            assert "Fridays" not in sent(server)
            assert "main branch" in sent(server)
        (left,) = live.log.read(talk.key, types=["context_compacted"])
        assert left.data["trigger"] == UNEXPLAINED
        (recall,) = recalls(live, talk.key)
        assert recall.of_id == live.log.stream(memory.key).id.hex()
        proved(talk)

    @pytest.mark.parametrize("kind", ["message_appended", "memory_recalled"])
    def test_leaves_a_fork_that_begins_behind_it_alone(
        self, logs: tuple[Live, Live], kind: str
    ) -> None:
        live, _ = logs
        memory = memory_of(live)
        with serving(following(script)) as server:
            friday = memory.add("We deploy on Fridays")
            talk = talking(live, server, str(KEY), memory=memory)
            talk.ask("When do we deploy?")
            (recall,) = recalls(live, KEY)
            asked = int(recall.asked or 0)
            told = next(e.position for e in live.log.read(KEY, types=["memory_recalled"]))
            assert int(recall.item) < told < asked
            at = int(recall.item) if kind == "message_appended" else told
            live.log.fork("local/chat/two", KEY, at)
            memory.forget(friday)
            fork = talking(live, server, "local/chat/two", memory=memory, system=None)
            fork.ask("When do we deploy?")
            assert "Fridays" not in sent(server)
        proved(fork)

    def test_no_summarizer_is_given_it(self, logs: tuple[Live, Live]) -> None:
        live, _ = logs
        with serving(following(script)) as server:
            talk = talking(live, server, str(KEY))
            talk.inject("The build is red", LABEL, source="memory")
        given: list[str] = []

        def summarize(wanted: Summary, items: Sequence[Item]) -> str:
            given.extend(item.text for item in items)
            return "A summary."

        wanted = Summary("brief", 100, lambda text: ())
        with_memories_as_they_are(live, KEY, summarize)(wanted, talk.items())
        assert given == ["You help."]

    def test_what_a_program_calls_otherwise_stays(self, logs: tuple[Live, Live]) -> None:
        live, _ = logs
        with serving(following(script)) as server:
            talk = talking(live, server, str(KEY))
            talk.inject("The build is green", "notes", source="memory")
            talk.inject("The build is red", LABEL, source="memory")
            talk.ask("And?")
            assert "green" in sent(server)
            assert "red" not in sent(server)
