"""What a summarizer is given of the messages that show memories: what holds by then.

A message is renewed before each call of the model. A summary is asked for at other moments too, by
hand, by a strategy that is run or compared, about the past; what was forgotten, erased or
superseded since does not come into it. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eventlog.events import ContextCompacted, MessageRevised
from eventlog.recorded import StreamKey
from harness.conversation.standing_memories import LABEL, StandingMemories, owner_of, renewal
from projections import Live
from projections.items import Item
from projections.strategies.decisions import Summary
from projections.written import Summarize, Written


def with_memories_as_they_are(
    live: Live, key: StreamKey, summarize: Summarize, owner: str = ""
) -> Summarize:
    """The same summarizer, shown memories as they are when it is asked, and those of the owner
    alone: whom the session is of, where nobody is given. Where nothing is left to be summarised it
    is not asked, and there is no summary."""
    known = StandingMemories(live, key)

    def asked(wanted: Summary, items: Sequence[Item]) -> Written | str | None:
        given = _as_they_are(live, key, known, items, owner or owner_of(key))
        return summarize(wanted, given) if given else None

    return asked


def _as_they_are(
    live: Live, key: StreamKey, known: StandingMemories, items: Sequence[Item], owner: str
) -> Sequence[Item]:
    if not any(item.source == "memory" and item.label == LABEL for item in items):
        return items
    version = live.log.version(key)
    found: dict[str, Item | None] = {}
    of = {item.id: item for item in items}
    standing = known.among(items, version)
    others = known.unexplained(items, version)
    for event in renewal(live, standing, version + 1, owner=owner, unexplained=others).events:
        if isinstance(event, ContextCompacted):
            found |= dict.fromkeys(event.covered)
        elif isinstance(event, MessageRevised) and event.patch is not None:
            patch = event.patch.value
            was = of[event.item]
            assert isinstance(patch, dict)
            found[was.id] = replace(was, message={**was.message, **patch}, form="revised")
    now = (found.get(item.id, item) for item in items)
    return [item for item in now if item is not None]
