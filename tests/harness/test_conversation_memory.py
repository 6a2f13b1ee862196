"""What is remembered stands before the model in a later session, and leaves when forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conversing import told, types
from model_server import serving
from remembered import Letters, memory_of, proved, received, shown, talking
from scripted import following

from eventlog.errors import InputRefused, WrongExpectedVersion
from eventlog.events import MemoryRecalled, Remembered
from eventlog.recorded import StreamKey
from eventlog.redaction import Target, redact
from harness.conversation import Conversation
from harness.conversation.happenings import MemoriesShown
from harness.conversation.remembering import MemorySettings
from harness.errors import Unreachable
from projections import Live, open_log
from projections.memory.injecting import ABOUT, ABOUT_LATER


def script(text: str, rounds: int) -> str:
    return f"You said: {text[:20]}"


@pytest.fixture
def live(tmp_path: Path) -> Any:
    with open_log(tmp_path / "talk.db") as opened:
        yield opened


def recalls(live: Live, of: Conversation) -> list[MemoryRecalled]:
    found = [e.event for e in live.log.read(of.key, types=["memory_recalled"])]
    return [each for each in found if isinstance(each, MemoryRecalled)]


class TestSessionStart:
    def test_a_profile_and_related_memories_stand_in_front_of_what_is_said(
        self, live: Live
    ) -> None:
        memory = memory_of(live)
        memory.set_profile("basics", {"name": "Ada"})
        tabs = memory.add("I indent with tabs", kind="preference", area="technical")
        deploy = memory.add("We deploy the shop on Fridays", kind="project")
        memory.add("Cats purr")
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            happened = told(talk.say("When do we deploy the shop?"))
            messages = received(server)
        assert [each["role"] for each in messages] == ["system", "system", "user"]
        said = shown(messages)
        assert "name: Ada" in said
        assert f"indentation (m{tabs}): I indent with tabs" in said
        assert f'<memory id="m{deploy}" kind="project"' in said
        assert "purr" not in said
        (event,) = recalls(live, talk)
        assert event.of == "local/_/memory"
        assert event.memories == (str(tabs), str(deploy))
        assert (event.embedder, event.dimension) == ("letters/1", 64)
        items = {item.id: item for item in talk.items()}
        assert items[event.item].source == "memory"
        assert event.asked is not None
        assert items[event.asked].text == "When do we deploy the shop?"
        (shown_,) = [each for each in happened if isinstance(each, MemoriesShown)]
        assert [each.id for each in shown_.memories] == [tabs, deploy]
        assert str(shown_.position) == event.item
        assert memory.get(tabs).accesses == memory.get(deploy).accesses == 1
        proved(talk)

    def test_it_comes_in_once_and_stays_where_it_is(self, live: Live) -> None:
        memory = memory_of(live)
        memory.add("We deploy on Fridays")
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            talk.ask("When do we deploy?")
            talk.ask("And what do we deploy?")
            again = talking(live, server, "s", memory=memory)
            again.ask("Why do we deploy?")
            first, second, third = (received(server, n) for n in range(3))
        assert first[1] == second[1] == third[1]
        assert [m["role"] for m in third].count("system") == 2
        assert len(recalls(live, talk)) == 1
        proved(again)

    def test_a_session_that_began_without_one_is_told_when_it_is_taken_up(self, live: Live) -> None:
        memory = memory_of(live)
        memory.add("We deploy on Fridays")
        with serving(following(script)) as server:
            Conversation(live, server.client(), "m", session="s").ask("Hello")
            talk = talking(live, server, "s", memory=memory, system=None)
            talk.ask("When do we deploy?")
            assert [m["role"] for m in received(server)] == ["user", "assistant", "system", "user"]
        proved(talk)

    def test_every_preference_is_shown_however_it_was_added(self, live: Live) -> None:
        memory = memory_of(live)
        tabs = memory.add("Indents with tabs", kind="preference", subject="indentation")
        odd = memory.add("Semver, please", kind="preference")
        inferred = memory.append(Remembered(kind="preference", text="Reads logs bottom up"))
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            talk.ask("Hello")
            said = shown(received(server))
        assert f"indentation (m{tabs}): Indents with tabs" in said
        assert f"preference (m{odd}): Semver, please" in said
        assert f"preference (m{inferred}): Reads logs bottom up" in said
        proved(talk)

    def test_what_was_shown_before_anything_was_said_is_no_recall(self, live: Live) -> None:
        memory = memory_of(live)
        memory.set_profile("basics", {"name": "Ada"})
        memory.add("I indent with tabs", kind="preference")
        memory.add("We deploy the shop on Fridays", kind="project")
        tea = memory.add("I like tea", kind="preference")
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            talk.show(tea)
            again = talking(live, server, "s", memory=memory)
            again.ask("When do we deploy the shop?")
            said = shown(received(server))
            assert [said.count(each) for each in ("Ada", "with tabs", "Fridays", "tea")] == [1] * 4
            third = talking(live, server, "s", memory=memory)
            third.ask("Why do we deploy?")
            assert shown(received(server)) == said
        assert [each.asked is not None for each in recalls(live, talk)] == [False, True]
        proved(third)

    def test_a_later_message_says_less_about_itself_and_is_no_word_of_anybody(
        self, live: Live
    ) -> None:
        memory = memory_of(live)
        memory.add("We deploy the shop on Fridays", kind="project")
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            talk.ask("When do we deploy the shop?")
            talk.show(cats := memory.add("Cats purr"), memory.add("Dogs bark"))
            talk.ask("Go on")
            first, later = [m for m in received(server)[1:] if m["role"] == "system"]
            assert first["content"].startswith(ABOUT)
            assert later["content"].startswith(f"{ABOUT_LATER}\n<memories>\n<memory id=")
            memory.forget(cats)
            talk.ask("Go on")
            (_, later) = [m for m in received(server)[1:] if m["role"] == "system"]
            assert later["content"].startswith(f"{ABOUT_LATER}\n<memories>\n<memory id=")
            assert "purr" not in later["content"]
        proved(talk)

    def test_a_system_prompt_is_still_the_system_prompt(self, live: Live) -> None:
        memory = memory_of(live)
        memory.add("We deploy on Fridays")
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory, system=None)
            talk.ask("When do we deploy?")
            talk.prompt("Be brief.")
            talk.ask("Why do we deploy?")
            messages = received(server)
            assert [m["content"] for m in messages[:1]] == ["Be brief."]
            assert "Fridays" in shown(messages)
            talk.prompt("Be verbose.")
            talk.ask("Who?")
            assert received(server)[0]["content"] == "Be verbose."
            assert received(server)[1] == messages[1]
        proved(talk)

    def test_strategies_leave_it_in_front(self, live: Live) -> None:
        memory = memory_of(live)
        memory.add("We deploy on Fridays")
        with serving(following(script)) as server:
            talk = talking(
                live,
                server,
                "s",
                memory=memory,
                strategy="compact:keep_turns=1 | window:tokens=400",
            )
            for n in range(4):
                talk.ask(f"When do we deploy {n}?")
            assert "Fridays" in shown(received(server)[:2])
            assert "context_compacted" in types(live, talk.key)
        proved(talk)

    def test_preferences_take_no_place_of_what_else_is_related(self, live: Live) -> None:
        memory = memory_of(live)
        wishes = [
            memory.add(f"deploy wish {n}", kind="preference", area="technical") for n in range(6)
        ]
        facts = [memory.add(f"we deploy the shop {n}") for n in range(7)]
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            happened = told(talk.say("When do we deploy?"))
        (found,) = [each for each in happened if isinstance(each, MemoriesShown)]
        ids = [each.id for each in found.memories]
        assert set(wishes) == set(ids[:6])
        assert len(ids[6:]) == 5
        assert set(ids[6:]) < set(facts)

    def test_nothing_known_is_nothing_said(self, live: Live) -> None:
        with serving(following(script)) as server:
            talk = talking(live, server, "s")
            happened = told(talk.say("Hello"))
            assert [m["role"] for m in received(server)] == ["system", "user"]
        assert not any(isinstance(each, MemoriesShown) for each in happened)
        assert "memory_recalled" not in types(live, talk.key)

    def test_an_embedder_that_cannot_answer_leaves_the_words_and_is_told(self, live: Live) -> None:
        embedder = Letters()
        memory = memory_of(live, embedder=embedder)
        memory.add("We deploy on Fridays")
        embedder.fault = Unreachable("m", "http://127.0.0.1:1", "nobody is there")
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            happened = told(talk.say("When do we deploy?"))
            assert "Fridays" in shown(received(server))
        (found,) = [each for each in happened if isinstance(each, MemoriesShown)]
        assert "nobody is there" in found.fault
        assert recalls(live, talk)[0].embedder == ""

    def test_one_that_fails_in_its_own_way_costs_no_turn(self, live: Live) -> None:
        embedder = Letters()
        memory = memory_of(live, embedder=embedder)
        memory.add("We deploy on Fridays")
        embedder.fault = RuntimeError("CUDA out of memory")
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            happened = told(talk.say("When do we deploy?"))
            assert "Fridays" in shown(received(server))
        (found,) = [each for each in happened if isinstance(each, MemoriesShown)]
        assert found.fault == "the embedder 'letters/1' failed: RuntimeError: CUDA out of memory"

    def test_an_interruption_while_it_is_looked_for_leaves_nothing_half_said(
        self, live: Live
    ) -> None:
        embedder = Letters()
        memory = memory_of(live, embedder=embedder)
        memory.add("We deploy on Fridays")
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            version = talk.version
            embedder.fault = KeyboardInterrupt()
            with pytest.raises(KeyboardInterrupt):
                told(talk.say("When do we deploy?"))
            assert live.log.version(talk.key) == version
            embedder.fault = None
            talk.ask("When do we deploy?")
            assert "Fridays" in shown(received(server))
        proved(talk)

    def test_where_another_process_was_faster_nothing_came_in(self, live: Live) -> None:
        memory = memory_of(live)
        friday = memory.add("We deploy on Fridays")
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            Conversation(live, server.client(), "m", session="s")
            with pytest.raises(WrongExpectedVersion):
                told(talk.say("When do we deploy?"))
            assert memory.get(friday).accesses == 0
            talk.refresh()
            talk.ask("When do we deploy?")
            assert memory.get(friday).accesses == 1
        proved(talk)

    def test_the_budget_holds_and_what_is_left_out_is_told(self, live: Live) -> None:
        memory = memory_of(live)
        small = memory.add("We deploy on Fridays")
        large = memory.add("deploy " * 1_000)
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            happened = told(talk.say("When do we deploy?"))
        (found,) = [each for each in happened if isinstance(each, MemoriesShown)]
        assert ([m.id for m in found.memories], [m.id for m in found.left_out]) == (
            [small],
            [large],
        )
        assert recalls(live, talk)[0].left_out == (str(large),)
        assert memory.get(large).accesses == 0

    def test_an_event_names_the_most_related_of_many_that_have_no_room(self, live: Live) -> None:
        memory = memory_of(live)
        given = {"kind": "preference", "area": "technical"}
        ids = [memory.add(f"tool{n} is what I use", subject=f"s{n}", **given) for n in range(40)]
        with serving(following(script)) as server:
            settings = MemorySettings(budget=120)
            talk = talking(live, server, "s", memory=memory, remembering=settings)
            happened = told(talk.say("Hello there"))
        (found,) = [each for each in happened if isinstance(each, MemoriesShown)]
        assert len(found.memories) + len(found.left_out) == len(ids)
        assert len(found.left_out) > 20
        (event,) = recalls(live, talk)
        assert event.left_out == tuple(each.rendition for each in found.left_out[:20])


class TestLeaving:
    """What was forgotten is not in the bytes of the next request."""

    @pytest.fixture
    def known(self, live: Live) -> dict[str, int]:
        memory = memory_of(live)
        return {
            "friday": memory.add("We deploy on Fridays"),
            "shop": memory.add("We deploy the shop first"),
        }

    def test_what_is_forgotten_leaves_before_the_next_call(
        self, live: Live, known: dict[str, int]
    ) -> None:
        memory = memory_of(live)
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            talk.ask("When do we deploy?")
            memory.forget(known["friday"])
            happened = told(talk.say("And then?"))
            assert "shop first" in shown(received(server))
            assert b"Fridays" not in server.bodies[-1]
            (found,) = [each for each in happened if isinstance(each, MemoriesShown)]
            assert found.gone == (str(known["friday"]),)
            talk.ask("And now?")
            first, renewed = recalls(live, talk)
            assert renewed.is_renewed
            assert renewed.memories == (str(known["shop"]),)
            assert renewed.item.startswith(f"{first.item}@")
            assert memory.get(known["shop"]).accesses == 1, "it is no new access"
            memory.restore(known["friday"])
            talk.ask("Still not?")
            assert b"Fridays" not in server.bodies[-1]
            found = talk.recall("deploy")
            assert [each.id for each in found.memories] == [known["friday"]]
            talk.ask("Back?")
            assert "Fridays" in shown(received(server))
        proved(talk)

    def test_where_nothing_is_left_the_message_leaves(
        self, live: Live, known: dict[str, int]
    ) -> None:
        memory = memory_of(live)
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            talk.ask("When do we deploy?")
            for each in known.values():
                memory.forget(each)
            talk.ask("And then?")
            assert [m["role"] for m in received(server)] == ["system", "user", "assistant", "user"]
            undone = [e.position for e in live.log.read(talk.key, types=["context_compacted"])]
            talk.undo(undone[-1])
            talk.ask("And after an undo?")
            assert b"Fridays" not in server.bodies[-1]
        proved(talk)

    def test_a_revised_one_says_what_it_says_now(self, live: Live, known: dict[str, int]) -> None:
        memory = memory_of(live)
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            talk.ask("When do we deploy?")
            position = memory.revise(known["friday"], text="We deploy on Mondays")
            talk.ask("And then?")
            assert "Mondays" in shown(received(server))
            assert b"Fridays" not in server.bodies[-1]
        assert f"{known['friday']}@{position}" in recalls(live, talk)[-1].memories
        proved(talk)

    def test_another_that_takes_its_place_is_shown_instead(self, live: Live) -> None:
        memory = memory_of(live)
        settings: Any = {"kind": "preference", "area": "technical", "subject": "indentation"}
        memory.add("I indent with tabs", **settings)
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            talk.ask("Hello")
            memory.add("I indent with spaces", **settings)
            talk.ask("And then?")
            assert "spaces" in shown(received(server))
            assert b"tabs" not in server.bodies[-1]
        proved(talk)

    def test_a_fact_that_changed_is_told_anew_and_one_that_came_is_no_reason(
        self, live: Live
    ) -> None:
        memory = memory_of(live)
        memory.set_profile("basics", {"name": "Ada", "city": "Ulm"})
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            talk.ask("Hello")
            memory.set_profile("basics", {"language": "en"})
            memory.set_profile("behaviour", {"sessions": 3})
            talk.ask("Two")
            assert len(recalls(live, talk)) == 1
            memory.set_profile("basics", {"city": None})
            talk.ask("Three")
            assert "name: Ada" in shown(received(server))
            assert b"Ulm" not in server.bodies[-1]
            assert len(recalls(live, talk)) == 2
        proved(talk)

    def test_it_leaves_a_conversation_that_has_no_memory_of_its_own(
        self, live: Live, known: dict[str, int]
    ) -> None:
        with serving(following(script)) as server:
            talking(live, server, "s").ask("When do we deploy?")
            memory_of(live).forget(known["friday"])
            plain = Conversation(live, server.client(), "m", session="s")
            plain.ask("And then?")
            assert b"Fridays" not in server.bodies[-1]
            assert b"shop first" in server.bodies[-1]
        proved(plain)

    def test_whoever_summarises_is_not_given_it_either(self, live: Live) -> None:
        memory = memory_of(live)
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory, strategy="compact:keep_turns=1")
            talk.ask("Hello")
            friday = memory.add("We deploy on Fridays")
            assert talk.recall("deploy").memories
            talk.ask("When do we deploy?")
            memory.forget(friday)
            asked = len(server.bodies)
            talk.ask("And then?")
            talk.ask("And now?")
            summarized = [each for each in server.requests[asked:] if not each.get("stream")]
            assert summarized
            assert not any(b"Fridays" in body for body in server.bodies[asked:])
        proved(talk)

    def test_it_leaves_a_fork_too(self, live: Live, known: dict[str, int]) -> None:
        memory = memory_of(live)
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            talk.ask("When do we deploy?")
            child = StreamKey("local", "chat", "child")
            live.log.fork(child, talk.key, talk.version)
            memory.forget(known["friday"])
            fork = talking(live, server, str(child), memory=memory, system=None)
            fork.ask("And then?")
            assert "shop first" in shown(received(server))
            assert b"Fridays" not in server.bodies[-1]
            assert len(recalls(live, fork)) == 2
        proved(fork)

    def test_what_was_erased_leaves_with_the_message_that_showed_it(
        self, live: Live, known: dict[str, int]
    ) -> None:
        memory = memory_of(live)
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            talk.ask("When do we deploy?")
            redact(live.log, [Target(memory.key, known["friday"])], stream=memory.key)
            talk.ask("And then?")
            assert "shop first" in shown(received(server))
            assert b"Fridays" not in server.bodies[-1]
        proved(talk)

    def test_a_rewind_brings_nothing_back(self, live: Live, known: dict[str, int]) -> None:
        memory = memory_of(live)
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            talk.ask("When do we deploy?")
            version = talk.version
            memory.forget(known["friday"])
            talk.ask("And then?")
            talk.rewind(version)
            talk.ask("Again?")
            assert b"Fridays" not in server.bodies[-1]
        proved(talk)


class TestMore:
    def test_it_is_a_message_of_its_own_without_what_stands(self, live: Live) -> None:
        memory = memory_of(live)
        first = memory.add("We deploy on Fridays")
        with serving(following(script)) as server:
            talk = talking(live, server, "s", memory=memory)
            talk.ask("When do we deploy?")
            second = memory.add("We deploy the shop first")
            found = talk.recall("deploy")
            assert [each.id for each in found.memories] == [second]
            assert talk.recall("deploy").memories == ()
            talk.ask("And?")
            assert [m["role"] for m in received(server)][-2:] == ["system", "user"]
        assert [each.memories for each in recalls(live, talk)] == [(str(first),), (str(second),)]
        assert recalls(live, talk)[-1].query == "deploy"
        proved(talk)

    def test_what_cannot_be_asked_is_refused(self, live: Live) -> None:
        with serving(following(script)) as server:
            talk = talking(live, server, "s")
            for query, top in ((" ", 5), ("x", 0), ("x", 51)):
                with pytest.raises(InputRefused):
                    talk.recall(query, top)
            plain = Conversation(live, server.client(), "m", session="p")
            with pytest.raises(InputRefused, match="no memory"):
                plain.recall("x")

    @pytest.mark.parametrize("given", [{"top": -1}, {"top": 51}, {"budget": -1}])
    def test_settings_that_cannot_be_are_refused(self, given: Any) -> None:
        with pytest.raises(InputRefused):
            MemorySettings(**given)
