"""What a conversation remembers, from the outside: the log proves from where each memory stood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from model_server import serving
from remembered import memory_of, received, shown, talking
from scripted import following

from eventlog.events import ContextCompacted, MemorySource
from harness.conversation.standing_memories import is_renewal
from harness.state_documents import export_state, read_state
from projections import Live, open_log
from projections.audit.auditing import audit
from projections.erasure import apply, plan
from projections.memory.shown import shown_in


@pytest.fixture
def live(tmp_path: Path) -> Any:
    with open_log(tmp_path / "talk.db") as opened:
        yield opened


def script(text: str, rounds: int) -> str:
    return f"You said: {text[:20]}"


def told(live: Live, session: Any) -> list[tuple[str, str]]:
    return [(f.severity, f.message) for f in audit(live, session, ["memories"]).findings]


def calls_shown(live: Live, memory: int) -> list[tuple[str, list[str]]]:
    found = shown_in(live, "local", memory)
    return [(f.stream.session, [call.number for call in f.calls]) for f in found if f.calls]


def test_from_the_first_session_over_the_second_into_the_third(live: Live) -> None:
    memory = memory_of(live)
    with serving(following(script)) as server:
        first = talking(live, server, "first", memory=memory)
        first.ask("Please use tabs in every file")
        tabs = memory.add(
            "use tabs in every file",
            kind="preference",
            subject="indentation",
            sources=[MemorySource(stream=str(first.key), positions=(3,))],
        )
        second = talking(live, server, "second", memory=memory)
        second.ask("Which indentation do we use?")
        assert "tabs in every file" in shown(received(server))
        spaces = memory.add("use spaces in every file", kind="preference", subject="indentation")
        second.ask("And now?")
        assert "tabs in every file" not in shown(received(server))
        third = talking(live, server, "third", memory=memory)
        third.ask("Which indentation do we use?")
        assert "use spaces in every file" in shown(received(server))
        memory.forget(spaces)
        third.ask("And now?")
        assert "spaces in every file" not in shown(received(server))
        memory.restore(tabs)
        fourth = talking(live, server, "fourth", memory=memory)
        fourth.ask("Which indentation do we use?")
        assert "use tabs in every file" in shown(received(server))
    of = "local/_/memory"
    assert calls_shown(live, tabs) == [("second", ["c1"]), ("fourth", ["c1"])]
    assert ("third", ["c1"]) in calls_shown(live, spaces)
    # What did not stand any more was shown to no call: nothing is wrong in any of them.
    for talk in (first, second, third, fourth):
        assert [f for f in told(live, talk.key) if f[0] != "info"] == []
    assert any(
        message.startswith(f"c1 was given m{tabs} of {of} in ")
        and message.endswith(f"which came from {first.key}@3")
        for _, message in told(live, second.key)
    )


def test_what_was_forgotten_on_purpose_is_no_loss(live: Live) -> None:
    memory = memory_of(live)
    with serving(following(script)) as server:
        rule = memory.add("Never deploy on Fridays", kind="preference", subject="deploys")
        talk = talking(live, server, "s", memory=memory)
        talk.ask("When do we deploy?")
        memory.forget(rule)
        talk.ask("And now?")
    found = audit(live, talk.key, ["anchors"]).findings
    assert [finding for finding in found if finding.rule == "anchors"] == []


def test_nor_is_it_where_a_person_had_said_it_before_in_what_was_folded_since(live: Live) -> None:
    memory = memory_of(live)
    with serving(following(script)) as server:
        talk = talking(live, server, "s", memory=memory)
        talk.ask("Never deploy on Fridays")
        rule = memory.add("Never deploy on Fridays", kind="fact")
        talk.show(rule)
        new = {"dialect": "openai_chat", "message": {"role": "user", "content": "We talked."}}
        (said,) = (i for i in talk.items() if i.is_human)
        talk.append(ContextCompacted.model_validate({"covered": (said.id,), "messages": (new,)}))
        memory.forget(rule)
        talk.ask("And now?")
        talk.ask("And then?")
    found = audit(live, talk.key).findings
    assert [f.message for f in found if f.rule == "anchors" and f.severity != "info"] == []


def test_an_erased_memory_is_gone_from_the_next_call_and_from_the_log(
    live: Live, tmp_path: Path
) -> None:
    memory = memory_of(live)
    vault = memory.add("the vault opens with swordfish", kind="fact", importance=0.9)
    with serving(following(script)) as server:
        talk = talking(live, server, "s", memory=memory)
        talk.ask("How does the vault open?")
        assert "swordfish" in shown(received(server))
        apply(live, plan(live, memory.key, [str(vault)]), with_copies=True, needles=["swordfish"])
        talk.ask("How does it open now?")
        assert "swordfish" not in str(received(server))
    assert not [path for path in tmp_path.iterdir() if b"swordfish" in path.read_bytes()]
    assert [f for f in told(live, talk.key) if f[0] != "info"] == []
    # The skeleton of the message does not stand before the second one.
    assert [call.verdict for call in audit(live, talk.key).calls] == ["erased", "exact"]


def test_a_message_that_alone_was_erased_leaves_and_is_not_sent_as_a_tombstone(live: Live) -> None:
    memory = memory_of(live)
    memory.add("the vault opens with swordfish", kind="fact", importance=0.9)
    with serving(following(script)) as server:
        talk = talking(live, server, "s", memory=memory)
        talk.ask("How does the vault open?")
        (item,) = (each.id for each in talk.items() if each.source == "memory")
        apply(live, plan(live, talk.key, [item]))
        again = talking(live, server, "s")
        again.ask("How does it open now?")
        assert not [each for each in again.items() if each.id == item]
        assert "redacted" not in str(received(server))


def test_each_message_says_why_its_memories_left_it(live: Live) -> None:
    memory = memory_of(live)
    with serving(following(script)) as server:
        old = memory.add("the port is 1", subject="port")
        other = memory.add("the port of the shop is 2")
        third = memory.add("the port of the bank is 3")
        talk = talking(live, server, "s", memory=memory)
        talk.ask("Which port is it?")
        new = memory.add("the port is 4", subject="port")
        memory.revise(other, text="the port of the shop is 5")
        memory.forget(third)
        talk.ask("And now?")
        for each in (new, other):
            memory.forget(each)
        talk.ask("And then?")
    events = live.log.read(talk.key, types=["message_revised", "context_compacted"])
    (revised, gone) = events
    assert revised.data["reason"].startswith("its memories changed: ")
    fates = {f"m{new} took the place of m{old}", f"m{other} was revised", f"m{third} was forgotten"}
    assert set(revised.data["reason"].removeprefix("its memories changed: ").split(", ")) == fates
    assert set(gone.data["trigger"].split(", ")) == {
        f"m{new} was forgotten",
        f"m{other} was forgotten",
    }
    assert is_renewal(revised)
    assert is_renewal(gone)


def test_a_memory_that_alone_was_erased_leaves_the_message_that_showed_it(live: Live) -> None:
    memory = memory_of(live)
    vault = memory.add("the vault opens with swordfish", kind="fact", importance=0.9)
    with serving(following(script)) as server:
        talk = talking(live, server, "s", memory=memory)
        talk.ask("How does the vault open?")
        apply(live, plan(live, memory.key, [str(vault)]))
        talk.ask("How does it open now?")
        assert "swordfish" not in str(received(server))
    assert calls_shown(live, vault) == [("s", ["c1"])]
    assert [f for f in told(live, talk.key) if f[0] != "info"] == []


def test_a_state_that_is_exported_says_what_came_from_memory(live: Live) -> None:
    memory = memory_of(live)
    memory.add("use tabs in every file", kind="preference")
    with serving(following(script)) as server:
        talk = talking(live, server, "s", memory=memory)
        talk.ask("Which indentation do we use?")
    document = export_state(live, talk.key)
    sources = [message["source"] for message in document["state"]["context"]]
    assert sources == ["injected", "memory", "human", "model"]
    read_state(document).append(live, "local/agent/copy")
    assert [item.source for item in live.items("local/agent/copy")] == sources
