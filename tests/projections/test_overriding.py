"""Why an undo changes nothing: the later decision about the same items."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventlog import StreamKey, events
from eventlog.events import Event
from projections import open_log
from projections.observe import draft_at
from projections.overriding import overriding

KEY = StreamKey("local", "agent", "s")


def said(text: str) -> events.MessageAppended:
    return events.MessageAppended(
        dialect="openai_chat", source="human", message={"role": "user", "content": text}
    )


def cleared(item: str, content: str = "[cleared]") -> events.PlaceholderSubstituted:
    return events.PlaceholderSubstituted(item=item, content=content)


def taken(*covered: str) -> events.ContextCompacted:
    return events.ContextCompacted(covered=covered)


@pytest.mark.parametrize(
    ("decisions", "undone", "found"),
    [
        ([cleared("1"), taken("1")], [3], [4]),
        ([cleared("1"), cleared("1", "[gone]")], [3], [4]),
        ([taken("1"), taken("1", "2")], [3], [4]),  # it names what had left already
        ([cleared("1"), cleared("2"), taken("1"), taken("2")], [3, 4], [6, 5]),
        ([taken("1"), taken("2")], [3], []),  # of another item
        ([cleared("1"), taken("1"), events.DecisionUndone(target=4)], [3], []),
        ([taken("1"), events.SessionRewound(to=1)], [3], []),  # it is out of force itself
    ],
)
def test_it_is_named(
    decisions: list[Event], undone: list[int], found: list[int], tmp_path: Path
) -> None:
    with open_log(tmp_path / "l.db") as live:
        live.append(KEY, said("one"), said("two"), *decisions)
        history = live.history(KEY)
        undos = [events.DecisionUndone(target=target) for target in undone]
        drafts = [draft_at(undo, KEY, len(history) + 1 + n) for n, undo in enumerate(undos)]
        assert overriding([*history, *drafts], undone) == found
