"""What is given to be remembered: wrong types are refused with one line, and sizes are bounded."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eventlog.errors import InputRefused
from eventlog.events import Entity, Relation
from harness.memory import UserMemory
from harness.memory.taking_up import import_memories
from projections import open_log
from projections.memory.recall import Wanted

MANY = [Entity(name=f"e{n}") for n in range(101)]
USES = Relation(subject="a", predicate="uses", object="b")
WRONG: dict[str, Callable[[Any], object]] = {
    "subject": lambda of: of.add("said", subject=5),
    "no subject": lambda of: of.add("said", subject=None),
    "area": lambda of: of.add("said", area="evil"),
    "values": lambda of: of.add("said", values=[1, 2]),
    "names of values": lambda of: of.add("said", values={1: 2}),
    "entities": lambda of: of.add("said", entities=["a"]),
    "one entity": lambda of: of.add("said", entities="a"),
    "sources": lambda of: of.add("said", sources=[5]),
    "by": lambda of: of.add("said", by=5),
    "at": lambda of: of.add("said", at="2026"),
    "a name": lambda of: of.get("1"),
    "no name": lambda of: of.forget(None),
    "a true name": lambda of: of.revise(True, text="other"),
    "a revised subject": lambda of: of.revise(1, subject=5),
    "revised values": lambda of: of.revise(1, values=5),
    "a reason": lambda of: of.forget(1, reason=5),
    "a profile": lambda of: of.set_profile("basics", 5),
    "a nameless value": lambda of: of.set_profile("basics", {"": 1}),
    "a query": lambda of: of.recall(5),
    "what is wanted": lambda of: of.recall("said", {"top": 5}),
    "a time": lambda of: of.recall("said", now="x"),
    "no time": lambda of: of.gc(float("nan")),
    "kinds": lambda of: Wanted(kinds=5),  # type: ignore[arg-type]
    "a person": lambda of: UserMemory(of.live, 5),  # type: ignore[arg-type]
    "a log": lambda of: UserMemory("agent.db"),  # type: ignore[arg-type]
    "too many entities": lambda of: of.add("said", entities=MANY),
    "too many when revised": lambda of: of.revise(1, entities=MANY),
    "too many relations": lambda of: of.add("said", relations=[USES] * 101),
    "too many values": lambda of: of.add("said", values={str(n): n for n in range(101)}),
}  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with open_log(tmp_path / "log.db") as live:
        made = UserMemory(live)
        made.add("the first")
        yield made


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_refused_with_one_line_and_nothing_is_written(
    memory: UserMemory, what: str
) -> None:
    with pytest.raises(InputRefused) as raised:
        WRONG[what](memory)
    assert "\n" not in str(raised.value)
    assert memory.live.log.version(memory.key) == 1


def test_a_document_is_clipped_and_it_is_told(memory: UserMemory) -> None:
    data = {"text": "we deploy", "entities": [{"name": f"e{n}"} for n in range(5_000)]}
    event = {"id": str(uuid.uuid4()), "position": 1, "type": "remembered", "data": data}
    done = import_memories(memory, {"ctxlog": 1, "kind": "memory", "events": [event]})
    assert done.warnings == ("left out of events.0: 4,900 entities",)
    assert len(memory.get(2).entities) == 100
    assert memory.recall("deploy")[0].memory.id == 2
