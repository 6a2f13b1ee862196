"""Whether a context is larger than what a compaction of its session was made for."""

from __future__ import annotations

from typing import NamedTuple

from eventlog.recorded import StreamKey
from projections import tokens
from projections.live import Live
from projections.runs import Standing, standing

_BY_HAND = "manual"


class Outgrown(NamedTuple):
    """The largest context that was compacted."""

    number: int
    """The n of its ``k<n>``."""
    tokens: int


def outgrown(live: Live, stream: StreamKey, size: int) -> Outgrown | None:
    """The largest context of a session that was compacted, where ``size`` tokens are more.

    Not counted is what a person had compacted, which says nothing of a limit. None without any.
    """
    counter = tokens.counter()
    known: dict[Standing, int] = {}
    largest: Outgrown | None = None
    for event in live.log.read(stream, types=["context_compacted"]):
        if event.data.get("trigger") == _BY_HAND:
            continue
        before = live.view(stream, event.position - 1).standing()
        new = [each for each in before if each not in known]
        for made in live.materialize(stream, new):
            known[standing(made.rendition)] = tokens.count_item(counter, made)
        total = sum(known.get(each, 0) for each in before)
        if total >= size:
            return None
        if largest is None or total >= largest.tokens:
            largest = Outgrown(live.number(stream, event), total)
    return largest
