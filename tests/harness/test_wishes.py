"""What a person asks to have remembered by hand: by the rules of a conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventlog.errors import InputRefused
from eventlog.events import MemorySource, ProfileUpdated, Remembered
from harness.memory import UserMemory
from harness.memory.wishes import wished
from projections import open_log


@pytest.fixture
def memory(tmp_path: Path) -> UserMemory:
    return UserMemory(open_log(tmp_path / "log.db"))


@pytest.mark.parametrize(
    ("text", "kind", "subject"),
    [
        ("I indent with tabs", "preference", "indentation"),
        ("We decided to deploy on Fridays", "project", ""),
        ("The staging port is 8081", "fact", "staging port"),
        ("Cats purr", "fact", ""),
    ],
)
def test_it_is_what_the_text_says(memory: UserMemory, text: str, kind: str, subject: str) -> None:
    source = MemorySource(stream="local/chat/x")
    (event,) = wished(text, (source,))
    assert isinstance(event, Remembered)
    assert (event.kind, event.subject, event.text) == (kind, subject, text)
    assert (event.importance, event.is_explicit, event.by) == (1.0, True, "human")
    assert event.sources == (source,)


def test_what_somebody_says_of_themselves_is_of_the_profile(memory: UserMemory) -> None:
    first, *_ = wished("My name is Ada")
    assert isinstance(first, ProfileUpdated)
    assert (first.section, first.is_explicit) == ("basics", True)


def test_nothing_that_is_said_is_lost() -> None:
    (one,) = wished("I indent with tabs. Only in YAML there are spaces")
    assert isinstance(one, Remembered)
    assert one.text == "I indent with tabs. Only in YAML there are spaces"
    text = "I indent with tabs. I always use pytest. The staging port is 8081."
    events = [each for each in wished(text) if isinstance(each, Remembered)]
    assert [each.kind for each in events] == ["preference", "preference", "fact"]
    assert (events[-1].text, events[-1].subject) == ("The staging port is 8081.", "staging port")


def test_it_names_what_it_takes_the_place_of(memory: UserMemory) -> None:
    at = memory.append(*wished("I indent with tabs"))
    new = memory.append(*wished("I indent with spaces"))
    event = memory.live.log.at(memory.key, [new])[new].event
    assert isinstance(event, Remembered)
    assert event.supersedes == (at,)
    assert memory.get(at).standing == "superseded"


def test_what_says_nothing_is_refused(memory: UserMemory) -> None:
    for text in (" ", "x" * 20_001):
        with pytest.raises(InputRefused):
            wished(text)
