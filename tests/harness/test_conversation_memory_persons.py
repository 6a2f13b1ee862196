"""A session that changes hands shows, and learns, what belongs to whom goes on with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, serving
from remembered import memory_of, proved, received, shown, talking
from scripted import following

from eventlog.errors import InputRefused
from eventlog.recorded import StreamKey
from harness.conversation import Conversation
from harness.conversation.remembering import MemorySettings
from projections import Live, open_log


@pytest.fixture
def live(tmp_path: Path) -> Any:
    with open_log(tmp_path / "talk.db") as opened:
        yield opened


def script(text: str, rounds: int) -> str:
    return "Fine."


def of_ada(live: Live, server: ModelServer, session: str) -> Conversation:
    """What Ada said in a session that shows her memories."""
    memory = memory_of(live, "ada")
    memory.set_profile("basics", {"name": "Ada"})
    memory.add("We deploy on Fridays")
    talk = talking(live, server, session, memory=memory)
    talk.ask("When do we deploy?")
    talk.ask("Remember that I indent with tabs")
    return talk


class TestChangedHands:
    def test_the_memories_of_the_other_leave_a_fork_and_ones_own_come_in(self, live: Live) -> None:
        with serving(following(script)) as server:
            talk = of_ada(live, server, "ada/chat/one")
            memory = memory_of(live, "bob")
            memory.add("Bob deploys on Mondays")
            live.log.fork(StreamKey("bob", "chat", "two"), talk.key, talk.version)
            fork = talking(live, server, "bob/chat/two", memory=memory, system=None)
            fork.ask("And when do we deploy?")
            said = shown(received(server))
            assert "Mondays" in said
            assert "Ada" not in said
            assert "Fridays" not in said
            proved(fork)

    def test_they_leave_one_that_shows_no_memories(self, live: Live) -> None:
        with serving(following(script)) as server:
            talk = of_ada(live, server, "ada/chat/one")
            live.log.fork(StreamKey("bob", "chat", "two"), talk.key, talk.version)
            Conversation(live, server.client(), "m", session="bob/chat/two").ask("Hello")
            assert shown(received(server)) == ""

    @pytest.mark.parametrize("session", ["ada/chat/one", "local/chat/one"])
    def test_what_the_other_said_is_not_learned_as_ones_own(self, live: Live, session: str) -> None:
        with serving(following(script)) as server:
            talk = of_ada(live, server, session)
            key = talk.key
            if key.user != "local":
                key = StreamKey("bob", "chat", "two")
                live.log.fork(key, talk.key, talk.version)
            memory = memory_of(live, "bob")
            fork = talking(live, server, str(key), memory=memory, system=None)
            fork.ask("Remember that the port is 8080")
            fork.end()
        explicit = [each.text for each in memory.all() if each.is_explicit]
        assert explicit == ["the port is 8080"]
        assert memory.profile.section("behaviour")["human_messages"] == 1
        assert not any("tabs" in each.text for each in memory.all())


class TestRefused:
    def test_the_memory_of_another_person_than_the_session(self, live: Live) -> None:
        with serving(following(script)) as server:
            of_ada(live, server, "ada/chat/one")
            with pytest.raises(InputRefused, match="of 'ada', and the memory is of 'bob'"):
                talking(live, server, "ada/chat/one", memory=memory_of(live, "bob"))

    def test_one_of_another_log(self, live: Live, tmp_path: Path) -> None:
        with serving(following(script)) as server, open_log(tmp_path / "other.db") as other:
            with pytest.raises(InputRefused, match="of another log"):
                talking(live, server, "s", memory=memory_of(other))
            assert not live.log.exists("local/chat/s")

    def test_one_of_the_same_file_is_not(self, live: Live) -> None:
        with serving(following(script)) as server, open_log(live.log.path) as other:
            assert talking(live, server, "s", memory=memory_of(other)).ask("Hi") == "Fine."

    @pytest.mark.parametrize("given", ["mem", 5, []])
    def test_what_is_no_memory(self, live: Live, given: Any) -> None:
        with serving(following(script)) as server:
            with pytest.raises(InputRefused, match="a memory is a UserMemory, not"):
                Conversation(live, server.client(), "m", session="s", memory=given)
            assert not live.log.exists("local/chat/s")

    @pytest.mark.parametrize(
        "given",
        [{"top": "5"}, {"top": 2.5}, {"budget": float("nan")}, {"budget": "x"}, {"learns": "no"}],
    )
    def test_settings_of_a_wrong_type(self, given: Any) -> None:
        with pytest.raises(InputRefused):
            MemorySettings(**given)
