"""What is recorded of a call so that it can be rebuilt and proved: manifest, forms, digest.

One place for those who record a request before it is sent and those who read it in a file. Pure:
the salts and the items are given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, cast

from eventlog.events import ModelCalled
from eventlog.jsonvalue import Json
from eventlog.messages import Dialect
from projections import digests, forms, manifest
from projections.dialects import RequestEntry
from projections.dialects import dialect as dialect_of
from projections.expanding import Expanded
from projections.items import Item
from projections.manifest import Piece, SentAs
from projections.observe import Request
from projections.runs import ItemPositions


def request_of(dialect: str, body: Mapping[str, Any]) -> Request:
    """A request body, split into entries. Raises InputRefused for one that is no request."""
    provider = dialect_of(dialect)
    return Request(
        dialect=cast(Dialect, dialect),
        model=str(body.get("model", "")),
        entries=provider.from_request(body),
        tools=body.get("tools"),
        parameters=provider.parameters(body),
    )


@dataclass(frozen=True, slots=True)
class Ground:
    """What of its stream a call rests on."""

    items: Sequence[Item]
    """One for each piece, in its rendition."""
    salts: Mapping[int, bytes]
    """Of the events that the pieces and the tools come from; an erased one has none."""
    positions: ItemPositions
    """Of the items of the stream, those that the request brought in included."""
    previous: Expanded | None = None
    """The manifest of the call before, where this one may be written as a difference from it."""
    has_erased: bool = False
    """Whether the request holds text that was erased since: of that no digest is made."""


def follows(calls: int, *, compacted: bool) -> bool:
    """Whether a manifest may be a difference from that of the call before, the ``calls``-th.

    ``compacted``: whether a compaction lies between.
    """
    return bool(calls % manifest.WHOLE_EVERY) and not compacted


def needed(entries: Sequence[SentAs], tools: int | None) -> set[int]:
    """The positions whose salts a digest needs."""
    found = digests.positions(entries)
    return found if tools is None else found | {tools}


def call(
    request: Request,
    pieces: Sequence[Piece],
    tools: int | None,
    own: bytes,
    ground: Ground,
    wire: bytes | None = None,
) -> ModelCalled:
    """The event of a call. ``own`` is its salt, ``tools`` the position of its declaration.

    ``wire`` is the body as it goes out; its salted digest stands beside the request's own. Without
    the salt of everything that stands in it there is no digest: an unsalted one could be guessed.
    """
    entries = digests.grouped(request.entries, pieces)
    before = ground.previous
    stored = manifest.encode(entries, before and before.entries, ground.positions)
    shapes = shapes_of(ground.items, request.entries)
    stands = before is not None and bool(manifest.kept(stored))
    if before is not None and stands:
        pieces_kept = sum(map(len, entries[: manifest.kept(stored)]))
        shapes = _changed(shapes, before, pieces_kept)
    return ModelCalled(
        model=request.model,
        dialect=request.dialect,
        tools=tools,
        parameters=Json(dict(request.parameters)),
        request_digest=_digest(request, entries, tools, own, ground),
        wire_digest=sha256(own + wire).hexdigest() if wire is not None else None,
        forms=Json({str(number): shape for number, shape in shapes.items()}) if shapes else None,
        forms_stand=stands,
        manifest=stored,
    )


def _changed(
    shapes: dict[int, Mapping[str, Any]], before: Expanded, kept: int
) -> dict[int, Mapping[str, Any]]:
    """The forms that have to be said: of the first pieces only those that had another before.

    One that was erased with its call is said again.
    """
    said = {n: shape for n, shape in shapes.items() if n >= kept}
    for number in {*shapes, *before.forms}:
        shape, form = shapes.get(number, {}), before.forms.get(number)
        same = shape == before.form(number) and not (form is not None and form.is_erased)
        if number < kept and not same:
            said[number] = shape
    return said


def _digest(
    request: Request,
    entries: Sequence[SentAs],
    tools: int | None,
    own: bytes,
    ground: Ground,
) -> str | None:
    salts = ground.salts
    if ground.has_erased or not needed(entries, tools) <= salts.keys():
        return None
    sent = digests.sent_values(request.entries)
    hashes = [digests.entry_hash(p, s, salts) for p, s in zip(entries, sent, strict=True)]
    tools_hash = digests.NO_TOOLS
    if tools is not None:
        tools_hash = digests.value_hash(salts[tools], request.tools)
    own_hash = digests.value_hash(own, dict(request.parameters))
    return digests.request_digest(hashes, tools_hash, own_hash)


def shape_of(item: Item, entry: RequestEntry) -> dict[str, Any]:
    """How an entry differs from its stored message; empty where it does not."""
    form: dict[str, Any] = {}
    if not forms.identical(item.message, entry.message):
        changes = forms.form(dict(item.message), dict(entry.message))
        if changes:
            form["changes"] = changes
    if entry.kind == "system":
        form["kind"] = entry.kind
    if entry.place != "messages":
        form["place"] = entry.place
    if entry.group is not None:
        form["group"] = [entry.group, list(entry.blocks), dict(entry.frame or {})]
    if entry.role != item.role:
        form["role"] = entry.role
    return form


def shapes_of(
    items: Sequence[Item], entries: Sequence[RequestEntry]
) -> dict[int, Mapping[str, Any]]:
    """The forms of the entries that have one, by their numbers."""
    shapes = map(shape_of, items, entries)
    return {number: shape for number, shape in enumerate(shapes) if shape}
