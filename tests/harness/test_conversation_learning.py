"""What a conversation leaves behind: at once, when it leaves the window, at the end, and once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conversing import told
from model_server import ModelServer, serving
from remembered import memory_of, proved, received, shown, talking
from scripted import following

from eventlog.redaction import Target, redact
from harness.conversation.conversation import NotLearned
from harness.conversation.happenings import Ended, MemoriesChanged, NotRemembered
from harness.conversation.remembering import MemorySettings
from harness.memory import UserMemory
from harness.message_files import export_messages, export_session
from harness.state_documents import export_state, read_document
from projections import Live, open_log
from projections.memory.learning import LearnPolicy
from projections.memory.shown import shown_in


def script(text: str, rounds: int) -> str:
    if "fail" in text:
        return (
            "It failed with: ModuleNotFoundError: No module named 'yaml'. The fix is to install it."
        )
    return "Done."


@pytest.fixture
def live(tmp_path: Path) -> Any:
    with open_log(tmp_path / "talk.db") as opened:
        yield opened


@pytest.fixture
def server() -> Any:
    with serving(following(script)) as serving_:
        yield serving_


def kinds(memory: UserMemory) -> list[str]:
    return [each.kind for each in memory.all()]


class TestAtOnce:
    def test_what_a_person_asks_to_have_remembered_is_told_before_the_reply_ends(
        self, live: Live, server: ModelServer
    ) -> None:
        memory = memory_of(live)
        talk = talking(live, server, "s", memory=memory)
        happened = told(talk.say("Remember: I indent with tabs"))
        (changed,) = [each for each in happened if isinstance(each, MemoriesChanged)]
        assert isinstance(happened[-1], Ended)
        (found,) = changed.memories
        assert found == memory.get(found.id)
        assert (found.kind, found.is_explicit, found.importance) == ("preference", True, 1.0)
        assert "tabs" in found.text
        (source,) = found.sources
        assert source.stream == str(talk.key)
        said = [item for item in talk.items() if item.is_human]
        assert source.positions == (int(said[0].id),)
        proved(talk)

    def test_it_is_learned_once_whoever_goes_on(self, live: Live, server: ModelServer) -> None:
        memory = memory_of(live)
        talk = talking(live, server, "s", memory=memory)
        talk.ask("Remember: I indent with tabs")
        version = live.log.version(memory.key)
        again = talking(live, server, "s")
        happened = told(again.say("Hello again"))
        assert not any(isinstance(each, MemoriesChanged) for each in happened)
        assert live.log.version(memory.key) == version

    def test_what_was_forgotten_is_not_learned_again(self, live: Live, server: ModelServer) -> None:
        memory = memory_of(live)
        talk = talking(live, server, "s", memory=memory)
        talk.ask("Remember: I indent with tabs")
        (found,) = memory.all()
        memory.forget(found.id)
        talking(live, server, "s").ask("Hello again")
        talk.refresh()
        talk.end()
        assert "preference" not in kinds(memory)

    def test_what_looks_like_a_key_is_not_remembered_and_told(
        self, live: Live, server: ModelServer
    ) -> None:
        memory = memory_of(live)
        talk = talking(live, server, "s", memory=memory)
        secret = "AKIA" + "IOSFODNN7EXAMPLQ"
        happened = told(talk.say(f"Remember: the key of the store is {secret}"))
        (refused,) = [each for each in happened if isinstance(each, NotRemembered)]
        assert "key" in refused.error
        assert secret not in refused.error
        assert all(secret not in each.text for each in memory.all())
        happened = told(talk.say("Remember: the password is hunter2Secret99"))
        (refused,) = [each for each in happened if isinstance(each, NotRemembered)]
        assert "(password)" in refused.error
        happened = told(talk.say("I work at AKIAIOSFODNN7EXAMPLQ."))
        assert any(isinstance(each, NotRemembered) for each in happened)
        assert secret not in memory.profile.model_dump_json()
        assert all("hunter2" not in each.text for each in memory.all())

    def test_a_conversation_that_is_not_to_learn_does_not(
        self, live: Live, server: ModelServer
    ) -> None:
        memory = memory_of(live)
        settings = MemorySettings(learns=False)
        with talking(live, server, "s", memory=memory, remembering=settings) as talk:
            talk.ask("Remember: I indent with tabs")
        assert not live.log.exists(memory.key)

    def test_a_failure_breaks_no_reply_and_is_told(
        self, live: Live, server: ModelServer, tmp_path: Path
    ) -> None:
        other = open_log(tmp_path / "talk.db")
        talk = talking(live, server, "s", memory=memory_of(other))
        talk.ask("Hello")
        other.close()
        happened = told(talk.say("Remember: I indent with tabs"))
        (failed,) = [each for each in happened if isinstance(each, NotRemembered)]
        assert failed.error
        assert isinstance(happened[-1], Ended)
        assert happened[-1].outcome == "answered"
        with pytest.warns(NotLearned):
            talk.close()
        assert [each.text for each in talking(live, server, "s").remembering.shown()] == []
        told(talking(live, server, "s").say("Hello again"))
        assert "preference" in kinds(memory_of(live)), "the next conversation learns it"


class TestTheEnd:
    def test_it_leaves_a_summary_and_counts_the_session_once(
        self, live: Live, server: ModelServer
    ) -> None:
        memory = memory_of(live)
        with talking(live, server, "s", memory=memory) as talk:
            talk.ask("We decided to use PostgreSQL for the orders service.")
            talk.ask("Why does the build fail?")
        (summary,) = [each for each in memory.all() if each.kind == "session_summary"]
        assert summary.summary is not None
        assert "PostgreSQL" in summary.text
        assert summary.sources[0].stream == str(talk.key)
        counted = memory.profile.section("behaviour")
        assert counted
        version = live.log.version(memory.key)
        again = talking(live, server, "s")
        assert again.end() == []
        again.close()
        assert live.log.version(memory.key) == version
        assert memory.profile.section("behaviour") == counted

    def test_a_session_that_goes_on_has_a_newer_summary(
        self, live: Live, server: ModelServer
    ) -> None:
        memory = memory_of(live)
        with talking(live, server, "s", memory=memory) as talk:
            talk.ask("We decided to use PostgreSQL for the orders service.")
        with talking(live, server, "s", memory=memory) as talk:
            talk.ask("We decided to deploy on Fridays.")
        (summary,) = [each for each in memory.all() if each.kind == "session_summary"]
        assert "Fridays" in summary.text
        assert len(summary.supersedes) == 1

    def test_a_session_whose_summary_was_erased_is_counted_once_too(
        self, live: Live, server: ModelServer
    ) -> None:
        memory = memory_of(live)
        with talking(live, server, "s", memory=memory) as talk:
            talk.ask("Look at the parser")
        (summary,) = [each for each in memory.all() if each.kind == "session_summary"]
        redact(live.log, [Target(memory.key, summary.id)], stream=memory.key, reason="asked to")
        with talking(live, server, "s", memory=memory) as talk:
            talk.ask("And at the lexer")
        counted = memory.profile.section("behaviour")
        assert (counted["sessions"], counted["human_messages"]) == (1, 2)

    def test_a_session_that_goes_on_is_not_told_its_own_summary(
        self, live: Live, server: ModelServer
    ) -> None:
        with talking(live, server, "s") as talk:
            talk.ask("We decided to use PostgreSQL for the orders service.")
        with talking(live, server, "s") as talk:
            talk.ask("Why PostgreSQL for the orders service?")
            assert shown(received(server)) == ""
        with talking(live, server, "other") as talk:
            talk.ask("Why PostgreSQL for the orders service?")
            assert "PostgreSQL" in shown(received(server))

    def test_what_is_important_is_remembered_when_it_leaves_the_window(
        self, live: Live, server: ModelServer
    ) -> None:
        memory = memory_of(live)
        settings = MemorySettings(learning=LearnPolicy(capacity=2, threshold=0.2))
        talk = talking(live, server, "s", memory=memory, remembering=settings)
        talk.ask("We decided to use PostgreSQL for the orders service.")
        talk.ask("Thank you.")
        assert "project" not in kinds(memory)
        happened = told(talk.say("What is next?"))
        assert any(isinstance(each, MemoriesChanged) for each in happened)
        assert "project" in kinds(memory)

    def test_a_session_in_which_nothing_was_said_leaves_nothing(
        self, live: Live, server: ModelServer
    ) -> None:
        memory = memory_of(live)
        with talking(live, server, "s", memory=memory):
            pass
        assert not live.log.exists(memory.key)


class TestThreeSessions:
    """The must: from the first to the third, the newer wins, what is forgotten is gone."""

    def test_a_preference_of_the_first_stands_before_the_model_in_the_third(
        self, live: Live, server: ModelServer
    ) -> None:
        memory = memory_of(live)
        with talking(live, server, "first") as talk:
            talk.ask("Remember: I indent with tabs")
        (tabs,) = [each for each in memory.all() if each.kind == "preference"]
        with talking(live, server, "second") as talk:
            talk.ask("Write a function")
            assert "tabs" in shown(received(server))
        with talking(live, server, "third") as talk:
            talk.ask("Write a class")
            assert "tabs" in shown(received(server))
            assert all("tabs" not in m["content"] for m in received(server) if m["role"] == "user")
            proved(talk)
        source = memory.get(tabs.id).sources[0]
        assert source.stream == "local/chat/first"
        said = live.log.at(source.stream, source.positions)
        assert "I indent with tabs" in said[source.positions[0]].payload
        found = shown_in(live, "local", tabs.id)
        assert [(each.stream.session, [c.number for c in each.calls]) for each in found] == [
            ("second", ["c1"]),
            ("third", ["c1"]),
        ]
        assert memory.get(tabs.id).accesses == 2

    def test_a_contradicting_one_wins_and_both_stay_readable(
        self, live: Live, server: ModelServer
    ) -> None:
        memory = memory_of(live)
        with talking(live, server, "first") as talk:
            talk.ask("Remember: I indent with tabs")
        with talking(live, server, "second") as talk:
            talk.ask("Remember: I indent with spaces")
            talk.ask("Go on")
            assert "spaces" in shown(received(server))
            assert "tabs" not in shown(received(server))
            proved(talk)
        with talking(live, server, "third") as talk:
            talk.ask("Write a class")
            assert "spaces" in shown(received(server))
            assert b"tabs" not in server.bodies[-1]
            proved(talk)
        old, new = [e for e in memory.all(standing=False) if e.kind == "preference"]
        assert (old.standing, new.standing) == ("superseded", "stands")
        assert "tabs" in old.text

    def test_a_forgotten_one_is_gone_from_the_next_request_and_restorable(
        self, live: Live, server: ModelServer
    ) -> None:
        memory = memory_of(live)
        with talking(live, server, "first") as talk:
            talk.ask("Remember: I indent with tabs")
        (tabs,) = [each for each in memory.all() if each.kind == "preference"]
        with talking(live, server, "second") as talk:
            talk.ask("Write a function")
            assert b"tabs" in server.bodies[-1]
            memory.forget(tabs.id)
            talk.ask("And a class")
            assert b"tabs" not in server.bodies[-1]
            proved(talk)
        memory.restore(tabs.id)
        with talking(live, server, "third") as talk:
            talk.ask("Write a class")
            assert "tabs" in shown(received(server))
            proved(talk)


class TestFromADocument:
    """What was said elsewhere was learned there, and may be forgotten by now."""

    @pytest.mark.parametrize("form", ["state", "session", "messages"])
    def test_only_what_is_said_here_is_learned(
        self, live: Live, server: ModelServer, form: str
    ) -> None:
        memory = memory_of(live)
        port = "Remember that the port is 8081."
        with talking(live, server, "local/chat/one", memory=memory) as talk:
            talk.ask(port)
        forms = {
            "state": export_state(live, talk.key),
            "session": export_session(live, talk.key),
            "messages": export_messages(live, talk.key),
        }
        read_document(forms[form]).append(live, "local/chat/two")
        for each in memory.all():
            memory.forget(each.id)
        with talking(live, server, "local/chat/two", memory=memory, system=None) as talk:
            talk.ask("Remember that the host is ant.")
            assert port in [each["content"] for each in received(server)]
        said = [each.text for each in memory.all()]
        assert any("ant" in text for text in said)
        assert not any("8081" in text for text in said)
