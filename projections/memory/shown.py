"""Which calls a memory stood before, and which memories stood before a call.

A memory stands before a model where the rendition of the item that shows it was part of the
request: as the manifest of the call says, else as the view does that is folded up to it. When that
item was cut, cleared, revised or folded into a summary, another rendition stands, or none: what
that one says of a memory is not known from here.

Looked at are the sessions only in which a memory was recalled, and their forks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from eventlog.errors import CriticalUnknown
from eventlog.recorded import RecordedEvent, StreamInfo, StreamKey
from projections import manifest
from projections.context import REFOLDING, View
from projections.expanding import Expanded
from projections.live import Live
from projections.memory.recalls import Recall, memory_of, recalls_in, recalls_of
from projections.memory.stream import memory_stream
from projections.runs import Origin, Standing
from projections.sent import Requests


class CallRef(NamedTuple):
    """A call."""

    number: str
    """``c5``: of a fork counted on from its parent's."""
    position: int


class ShownIn(NamedTuple):
    """A session in which a message shows a memory."""

    stream: StreamKey
    """The session, or the fork, that made the calls."""
    item: str
    """``5``, or ``5@40``: the rendition that shows it."""
    rendition: str
    """The memory as it was shown: ``12``, or ``12@40``."""
    recalled_at: int
    """The position of the event that says so."""
    calls: tuple[CallRef, ...]
    """Before which it stood, in their order."""


class Shown(NamedTuple):
    """What one message shows at a call."""

    item: str
    recalled_at: int
    of: str
    """The full key of the stream in which the memories stand."""
    memories: tuple[tuple[int, str], ...]
    """Each with the rendition that was shown, in that order."""
    profile: int
    """The last position there that the profile was made of; 0: none was shown."""
    is_elsewhere: bool = False
    """Those memories stand in another log: what has their names here are others."""


class _Call(NamedTuple):
    number: int
    position: int
    holds: Collection[Standing]
    """Of the renditions that are asked for, those that it was given, in their order there."""


def shown_in(live: Live, user: str, memory: int) -> list[ShownIn]:
    """Every message that shows a memory, with the calls that it stood before, in the order of the
    log; a fork has an entry of its own where it made such a call.

    Raises EventInvalid for what is no name of a user, and for a damaged event.
    """
    found = []
    recalls = recalls_of(live, memory_stream(user), [memory])
    infos = live.log.streams()
    calls: dict[StreamKey, list[_Call]] = {}
    by_stream: dict[StreamKey, list[Recall]] = {}
    for recall in recalls:
        for info in _holding(infos, recall):
            by_stream.setdefault(info.key, []).append(recall)
    for info in infos:
        some = by_stream.get(info.key)
        if some:
            wanted = {recall.standing for recall in some}
            calls[info.key] = list(_calls(live, info, wanted, min(r.position for r in some)))
    for recall in recalls:
        entry = next(each for each in recall.memories if memory_of(each) == memory)
        for info in _holding(infos, recall):
            at = tuple(
                CallRef(f"c{call.number}", call.position)
                for call in calls[info.key]
                if recall.standing in call.holds and call.position > info.base
            )
            if at or info.key == recall.stream:
                found.append(ShownIn(info.key, recall.item, entry, recall.position, at))
    return found


def memories_shown(live: Live, stream: StreamKey | str, call: int) -> list[Shown]:
    """The memories that stood before the model at the call at a position, message by message, in
    the order of the context.

    Raises StreamNotFound, and EventInvalid for a damaged event.
    """
    return all_shown(live, stream).get(call, [])


def all_shown(live: Live, stream: StreamKey | str) -> dict[int, list[Shown]]:
    """The same for all calls of a session before which a memory or a profile stood, by their
    positions."""
    info = live.log.stream(stream)
    recalls = recalls_in(live, info.key)
    told: dict[Standing, dict[str, Shown]] = {}
    for recall in recalls:  # told again, it holds as it was told last
        told.setdefault(recall.standing, {})[recall.of] = _shown(live, recall)
    if not told:
        return {}
    found: dict[int, list[Shown]] = {}
    for call in _calls(live, info, told.keys(), recalls[0].position):
        some = [each for held in call.holds for each in told[held].values()]
        if some:
            found[call.position] = some
    return found


def _shown(live: Live, recall: Recall) -> Shown:
    memories = tuple((id, each) for each in recall.memories if (id := memory_of(each)))
    is_elsewhere = recall.is_elsewhere(live.log)
    return Shown(recall.item, recall.position, recall.of, memories, recall.profile, is_elsewhere)


def _holding(infos: Iterable[StreamInfo], recall: Recall) -> Iterator[StreamInfo]:
    """The streams that hold the event of a recall: its own, and those that were forked behind it.

    Streams come in the order in which they began, so a fork behind what it was forked from.
    """
    found: set[StreamKey] = set()
    for info in infos:
        is_fork = info.parent in found and info.base >= recall.position
        if info.key == recall.stream or is_fork:
            found.add(info.key)
            yield info


# -- calls ----------------------------------------------------------------------------------------


def _calls(
    live: Live, info: StreamInfo, wanted: Collection[Standing], first: int
) -> Iterator[_Call]:
    """The calls of a session behind a position, a fork's with those of its parent, in their order,
    each with what it was given of some renditions."""
    calls = list(live.log.read(info.key, types=["model_called"]))
    sent = _sent(live, info.key, calls, wanted)
    lacking = {call.position for call in calls if call.position not in sent}
    folded = _folded(live, info.key, wanted, {at for at in lacking if at > first})
    for number, call in enumerate(calls, 1):
        held = sent.get(call.position)
        yield _Call(
            number, call.position, held if held is not None else folded.get(call.position, ())
        )


def _sent(
    live: Live, stream: StreamKey, calls: Iterable[RecordedEvent], wanted: Collection[Standing]
) -> dict[int, Collection[Standing]]:
    """What each call with a manifest was given, looked at from where it differs from the one
    before."""
    found: dict[int, Collection[Standing]] = {}
    places: list[tuple[int, Standing]] = []
    items = {item for item, _ in wanted}
    for call, expanded in Requests(live).all_expanded(stream, calls):
        kept = manifest.kept(call.data["manifest"])
        places = [place for place in places if place[0] < kept]
        places += _new(expanded, kept, items, wanted)
        found[call.position] = tuple(held for _, held in places)
    return found


def _new(
    expanded: Expanded, kept: int, items: Collection[Origin], wanted: Collection[Standing]
) -> Iterator[tuple[int, Standing]]:
    for at, entry in enumerate(expanded.entries[kept:], kept):
        for piece in entry:
            if piece.item in items and not piece.redacted and piece.standing in wanted:
                yield at, piece.standing


def _folded(
    live: Live, stream: StreamKey, wanted: Collection[Standing], calls: Collection[int]
) -> Mapping[int, Collection[Standing]]:
    """What stood before each of some calls, as folded; nothing where no fold can tell."""
    found: dict[int, Collection[Standing]] = {}
    if not calls:
        return found
    begin = min(calls) - 1
    view = _view(live, stream, begin)
    for event in live.log.read(stream, begin, max(calls)):
        if event.position in calls:
            # Few are asked for, and many stand.
            held = [each for each in wanted if view.items.get(each[0]) == each[1]]
            if len(held) > 1:
                order = {item: at for at, item in enumerate(view.items)}
                held.sort(key=lambda each: order[each[0]])
            found[event.position] = held
        if event.type in REFOLDING:
            view = _view(live, stream, event.position)
            continue
        try:
            view.evolve(event)
        except CriticalUnknown:
            view = View()
    return found


def _view(live: Live, stream: StreamKey, at: int) -> View:
    try:
        return live.view(stream, at)
    except CriticalUnknown:
        return View()
