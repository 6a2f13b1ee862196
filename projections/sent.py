"""Calls as they were sent: rebuilt from the manifest alone, without any fold, and proved.

Nothing here is repaired: what a manifest names is what the model saw.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from eventlog.errors import IntegrityFault
from eventlog.recorded import RecordedEvent, StreamKey
from projections import digests, forms, manifest
from projections.context import ITEM_TYPES
from projections.dialects import dialect as dialect_of
from projections.dialects.entries import RequestEntry
from projections.expanding import Expanded, expand
from projections.items import Item
from projections.live import Live
from projections.manifest import Piece, SentAs
from projections.parts import part_of
from projections.runs import Origin


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it was sent, rebuilt."""

    body: dict[str, Any]
    """The request body in the provider's own form."""
    items: tuple[Item, ...]
    entries: tuple[SentAs, ...]
    digest: str | None
    """Computed again from what the log holds; None where something was erased without its hash."""
    erased: bool
    lost: int | None = None
    """The position of an event that the digest needs and that has no salt."""
    has_erased_forms: bool = False
    """Whether the form in which something was sent went with an earlier call."""


class Requests:
    """The requests of recorded calls."""

    def __init__(self, live: Live) -> None:
        self.live = live

    def items(self, stream: StreamKey, pieces: Iterable[Piece]) -> list[Item]:
        """The items that pieces name, in their renditions."""
        named = list(pieces)
        found = self.live.materialize(stream, [piece.standing for piece in named])
        if len(found) != len(named) or all(piece.part is None for piece in named):
            return found
        return [part_of(item, piece) for item, piece in zip(found, named, strict=True)]

    def expanded(self, stream: StreamKey, call: RecordedEvent) -> Expanded:
        """The manifest of a call. Raises IntegrityFault when it has none."""
        number = self.live.number(stream, call)
        first = max(1, number - manifest.WHOLE_EVERY)
        start = self.live.position(stream, "c", first)
        calls = list(self.live.log.read(stream, start - 1, call.position, types=["model_called"]))
        for found, expanded in self.all_expanded(stream, calls):
            if found.position == call.position:
                return expanded
        raise IntegrityFault(f"the call at position {call.position} has no manifest")

    def all_expanded(
        self, stream: StreamKey, calls: Iterable[RecordedEvent]
    ) -> Iterator[tuple[RecordedEvent, Expanded]]:
        """Calls with their manifests; the first must have a whole one."""
        before: Expanded | None = None
        for call in calls:
            found = expand(call, before, lambda a, b: self.live.views.positions(stream, a, b))
            if found is not None:
                before = found
                yield call, found

    def holding(
        self, stream: StreamKey, item: Origin, until: int
    ) -> Iterator[tuple[RecordedEvent, Piece | None]]:
        """The calls up to a position whose request was recorded, and what each held of an item."""
        headers = self.live.log.headers(stream, 0, until)
        positions = [header.position for header in headers if header.type in ITEM_TYPES]
        calls = self.live.log.read(
            stream, to=until, types=["model_called"], containing='"manifest":['
        )
        before = manifest.Holding()
        for call in calls:
            stored = call.data.get("manifest")
            if stored is not None:
                before = manifest.holding(stored, item, before, positions)
                yield call, before.piece

    def sent(self, stream: StreamKey, call: RecordedEvent) -> Sent:
        """The request as sent, from the manifest alone, never repaired."""
        expanded = self.expanded(stream, call)
        entries = expanded.entries
        pieces = [piece for entry in entries for piece in entry]
        items = self.items(stream, pieces)
        if len(items) != len(pieces):
            gone = (p for p in pieces if not self.live.materialize(stream, [p.standing]))
            raise IntegrityFault(absent(call.position, next(gone)))
        data = call.data
        rebuilt = _rebuilt(expanded, pieces, items)
        tools, tools_hash = self._tools(stream, data.get("tools"))
        parameters = data.get("parameters") or {}
        provider = dialect_of(data["dialect"])
        body = provider.to_request(rebuilt, tools, parameters)
        erased = any(item.form == "redacted" for item in items) or call.erased
        erased = erased or expanded.has_erased
        kept = self._kept_hashes(stream, call.position) if erased else {}
        positions = {*digests.positions(entries), call.position}
        if data.get("tools") is not None:
            positions.add(data["tools"])
        salts = self.live.log.salts(stream, positions)
        lost = min(positions - salts.keys(), default=None)
        hashes: list[bytes] = []
        values = _values(entries, rebuilt)
        for number, (entry, value) in enumerate(zip(entries, values, strict=True)):
            if str(number) in kept:
                hashes.append(bytes.fromhex(kept[str(number)]))
            elif all(p in salts for p in digests.positions([entry])):
                hashes.append(digests.entry_hash(entry, value, salts))
        digest = None
        if len(hashes) == len(entries) and tools_hash is not None and call.position in salts:
            own = digests.value_hash(salts[call.position], parameters)
            digest = digests.request_digest(hashes, tools_hash, own)
        return Sent(body, tuple(items), tuple(entries), digest, erased, lost, expanded.has_erased)

    def _tools(self, stream: StreamKey, position: int | None) -> tuple[Any, bytes | None]:
        if position is None:
            return None, digests.NO_TOOLS
        event = self.live.log.at(stream, [position]).get(position)
        if event is None or event.type != "tools_declared":
            raise IntegrityFault(f"there are no tools at position {position}")
        salt = self.live.log.salts(stream, [position]).get(position)
        tools = event.data["definitions"]
        if salt is None:
            return tools, None
        return tools, digests.value_hash(salt, tools)

    def _kept_hashes(self, stream: StreamKey, position: int) -> dict[str, str]:
        """Entry hashes that redactions kept for a call: entry number to hash."""
        prefix = f"{stream}@{position}/"
        kept: dict[str, str] = {}
        for event in self.live.log.read_types("redacted"):
            for target in event.data["targets"]:
                for name, value in (target.get("entry_hashes") or {}).items():
                    if name.startswith(prefix):
                        kept[name[len(prefix) :]] = value
        return kept

    def affected(self, stream: StreamKey, positions: Iterable[int]) -> dict[str, str]:
        """Entry hashes to keep when the events at these positions are erased.

        ``<stream>@<call position>/<entry number>`` to hash, for each entry whose bytes come from
        one of the events, in this stream and its forks. They let the rest of a call verify.
        """
        wanted = set(positions)
        found: dict[str, str] = {}
        for key in self._family(stream):
            calls = self.live.log.read(key, types=["model_called"])
            for call, expanded in self.all_expanded(key, calls):
                entries = expanded.entries
                touched = _touched(expanded, wanted)
                if not touched:
                    continue
                pieces = [piece for entry in entries for piece in entry]
                items = self.items(key, pieces)
                if len(items) != len(pieces):
                    continue  # the manifest names what is no item: nothing of it can be proved
                try:
                    rebuilt = _rebuilt(expanded, pieces, items)
                    values = _values(entries, rebuilt)
                except IntegrityFault:
                    continue  # nor can anything of this one
                salts = self.live.log.salts(key, digests.positions(entries[n] for n in touched))
                for n in touched:
                    if digests.positions([entries[n]]) <= salts.keys():
                        value = digests.entry_hash(entries[n], values[n], salts)
                        found[f"{key}@{call.position}/{n}"] = value.hex()
        return found

    def _family(self, stream: StreamKey) -> list[StreamKey]:
        family = {stream}
        for info in self.live.log.streams():
            if info.parent in family:
                family.add(info.key)
        return sorted(family)


def _values(entries: Sequence[SentAs], rebuilt: Sequence[RequestEntry]) -> list[Any]:
    """What is hashed for each entry. Raises IntegrityFault for one that is none."""
    found, first = [], 0
    for entry in entries:
        found.append(digests.sent_value(rebuilt[first : first + len(entry)], entry))
        first += len(entry)
    return found


def absent(call: int, piece: Piece) -> str:
    """That a manifest names what is no item."""
    return f"the manifest of the call at position {call} names {piece.label}, which is not there"


def _touched(expanded: Expanded, wanted: set[int]) -> list[int]:
    """The entries whose bytes come from an event at one of the positions."""
    formed = {number for number, form in expanded.forms.items() if form.call in wanted}
    found, first = [], 0
    for number, entry in enumerate(expanded.entries):
        behind = first + len(entry)
        if wanted & digests.positions([entry]) or not formed.isdisjoint(range(first, behind)):
            found.append(number)
        first = behind
    return found


def _rebuilt(
    expanded: Expanded, pieces: Sequence[Piece], items: Sequence[Item]
) -> list[RequestEntry]:
    named = enumerate(zip(items, pieces, strict=True))
    return [entry_of(item, expanded.form(n), piece) for n, (item, piece) in named]


def entry_of(item: Item, form: Mapping[str, Any], named: Piece) -> RequestEntry:
    """An item as it was sent: its message with the recorded form put on.

    Raises IntegrityFault for a form that does not fit.
    """
    try:
        return _entry(item, form, named)
    except (LookupError, TypeError, AttributeError, ValueError):
        raise IntegrityFault(f"the recorded form of item {item.id} does not fit it") from None


def _entry(item: Item, form: Mapping[str, Any], named: Piece) -> RequestEntry:
    group, place = form.get("group"), form.get("place", "messages")
    role = form.get("role", item.role)
    frame = group[2] if group else None
    if not isinstance(role, str) or not isinstance(place, str):
        raise TypeError
    if frame is not None and not isinstance(frame, Mapping):
        raise TypeError
    kind: Literal["system", "message", "tool_result"] = "message"
    if item.kind == "tool_result":
        kind = "tool_result"
    elif form.get("kind") == "system":
        kind = "system"
    return RequestEntry(
        kind=kind,
        role=role,
        message=_dressed(item, form.get("changes", ()), named),
        place=place,
        group=group[0] if group else None,
        blocks=tuple(group[1]) if group else (),
        frame=frame,
    )


def _dressed(item: Item, changes: Sequence[forms.Change], named: Piece) -> Mapping[str, Any]:
    is_left = item.form == "redacted"
    if is_left and not named.redacted:  # it has another shape, and is not what was sent
        return dict(item.message)
    try:
        changed: Mapping[str, Any] = forms.apply(dict(item.message), changes)
    except (LookupError, TypeError, AttributeError):
        if is_left:  # a file still had its text, of which the form speaks
            return dict(item.message)
        raise IntegrityFault(f"the recorded form of item {item.id} does not fit it") from None
    return changed
