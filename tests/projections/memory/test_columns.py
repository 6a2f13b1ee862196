"""A filter says of each row what the memory itself would say."""

from __future__ import annotations

import random
import sys
from typing import Any

import pytest

from eventlog.errors import InputRefused
from projections.memory.columns import KINDS, STATUSES, Columns, Entry, Wanted
from projections.memory.lifecycle import DAY, LifePolicy, status
from projections.memory.memory import Memory

NOW = 400 * DAY


def filled(seed: int, count: int = 400) -> tuple[Columns, list[Memory]]:
    choose = random.Random(seed)
    columns, memories = Columns(), []
    for id in range(1, count + 1):
        at = choose.choice([NOW, NOW + DAY, NOW - 30 * DAY, NOW - int(choose.random() * 400 * DAY)])
        gone = choose.random() < 0.2
        memory = Memory(
            id=id,
            rendition=str(id),
            kind=choose.choice(KINDS),
            text="x",
            importance=0.5,
            remembered_at=at - DAY,
            refreshed_at=at,
            superseded_by=int(gone),
        )
        memories.append(memory)
        columns.put(
            Entry(id, memory.kind, str(id), not gone, 0.5, memory.remembered_at, at, int(not gone))
        )
    return columns, memories


@pytest.mark.parametrize("numpy", [True, False])
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"statuses": frozenset(STATUSES)},
        {"statuses": frozenset({"archived"})},
        {"kinds": frozenset({"code", "fact"})},
        {"since": NOW - 31 * DAY, "until": NOW},
        {"since": -(1 << 80), "until": 1 << 80},
        {"exclude": frozenset({3, 5, 999})},
    ],
)
def test_it_is_asked_for_what_the_memory_says(
    asked: dict[str, Any], numpy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if numpy:
        pytest.importorskip("numpy")
    else:
        monkeypatch.delitem(sys.modules, "numpy", raising=False)
    columns, memories = filled(1)
    wanted, policy = Wanted(**asked), LifePolicy()
    found = columns.allowed(wanted, NOW, policy)
    expected = [
        memory.stands
        and (not wanted.kinds or memory.kind in wanted.kinds)
        and (wanted.since is None or memory.remembered_at >= wanted.since)
        and (wanted.until is None or memory.remembered_at < wanted.until)
        and status(memory, NOW, policy) in wanted.statuses
        and memory.id not in wanted.exclude
        for memory in memories
    ]
    assert [bool(each) for each in found] == expected
    assert 0 < sum(expected) < len(expected)


def test_only_some_ids_are_asked_for() -> None:
    columns, _ = filled(1)
    every = columns.allowed(Wanted(), NOW, LifePolicy())
    some = columns.allowed(Wanted(), NOW, LifePolicy(), only=[2, 4, 6, 8, 10, 9_999])
    assert [row for row in range(400) if some[row]] == [r for r in (1, 3, 5, 7, 9) if every[r]]


def test_no_memory_is_no_row() -> None:
    assert Columns().allowed(Wanted(), NOW, LifePolicy()) == bytearray()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"top": 0}, "between 1 and 10,000"),
        ({"top": 10**9}, "between 1 and 10,000"),
        ({"since": 1.5}, "a whole number of microseconds"),
        ({"kinds": frozenset({"gossip"})}, "'gossip' is no kind of a memory"),
        ({"statuses": frozenset({"forgotten"})}, "'forgotten' is no status of a memory"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(InputRefused, match=told):
        Wanted(**asked)
