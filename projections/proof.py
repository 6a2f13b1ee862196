"""What is recorded of a call so that it can be rebuilt and proved: manifest, forms, digest.

One place for those who record a request before it is sent and those who read it in a file. Pure:
the salts and the items are given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from eventlog.events import ModelCalled
from eventlog.jsonvalue import Json
from eventlog.messages import Dialect
from projections import digests, forms, manifest
from projections.dialects import RequestEntry
from projections.dialects import dialect as dialect_of
from projections.edited import server_edited
from projections.expanding import Expanded
from projections.items import Item
from projections.manifest import Piece, SentAs
from projections.observe import Request
from projections.runs import ItemPositions

Shapes = dict[int, Mapping[str, Any]]
"""Forms of the pieces of a request, by their numbers; most have none."""


def request_of(
    dialect: str,
    body: Mapping[str, Any],
    *,
    belongs: bool = False,
    said: Sequence[Sequence[str]] = (),
) -> Request:
    """A request body, split into entries. Raises InputRefused for one that is no request."""
    provider = dialect_of(dialect)
    return Request(
        dialect=cast(Dialect, dialect),
        model=str(body.get("model", "")),
        entries=provider.from_request(body),
        tools=body.get("tools"),
        parameters=provider.parameters(body),
        belongs=belongs,
        said=said,
    )


class Front(NamedTuple):
    """What is known of the entries at the front of a request, since the last one began with them,
    too, to the byte."""

    pieces: int
    """How many they have."""
    hashes: Sequence[bytes]
    """One for each of the entries."""
    shapes: Shapes


NO_FRONT = Front(0, (), {})


@dataclass(frozen=True, slots=True)
class Ground:
    """What of its stream a call rests on."""

    items: Sequence[Item]
    """One for each piece behind the front, in its rendition."""
    salts: Mapping[int, bytes]
    """Of the events that the pieces and the tools come from; an erased one has none."""
    positions: ItemPositions
    """Of the items of the stream, those that the request brought in included."""
    previous: Expanded | None = None
    """The manifest of the call before, where this one may be written as a difference from it."""
    has_erased: bool = False
    """Whether the request holds text that was erased since: of that no digest is made."""
    front: Front = NO_FRONT


def follows(calls: int, *, compacted: bool) -> bool:
    """Whether a manifest may be a difference from that of the call before, the ``calls``-th.

    ``compacted``: whether a compaction lies between.
    """
    return bool(calls % manifest.WHOLE_EVERY) and not compacted


def needed(entries: Sequence[SentAs], tools: int | None) -> set[int]:
    """The positions whose salts a digest needs."""
    found = digests.positions(entries)
    return found if tools is None else found | {tools}


class Proved(NamedTuple):
    """A call that can be rebuilt and proved."""

    event: ModelCalled
    entries: list[SentAs]
    """Its manifest, expanded."""
    shapes: Shapes
    """The forms of its pieces, those that are not said again included."""
    hashes: list[bytes] | None
    """Of its entries; None where something has no salt, and there is no digest."""


def call(
    request: Request,
    pieces: Sequence[Piece],
    tools: int | None,
    own: bytes,
    ground: Ground,
    wire_digest: str | None = None,
    sent: Mapping[str, Any] | None = None,
) -> Proved:
    """A call. ``own`` is its salt, ``tools`` the position of its declaration.

    ``wire_digest`` is that of the body as it goes out, salted, and ``sent`` is what
    else is recorded of it where it was seen to go out. Without the salt of everything that
    stands in it there is no digest: an unsalted one could be guessed.
    """
    entries = digests.grouped(request.entries, pieces)
    before = ground.previous
    stored = manifest.encode(entries, before and before.entries, ground.positions)
    kept = manifest.kept(stored)
    known = ground.front
    behind = shapes_of(ground.items, request.entries[known.pieces :], known.pieces)
    shapes = {**known.shapes, **behind}
    said = shapes
    if before is not None and kept:
        said = changed(shapes, before, 0, sum(map(len, entries[:kept])))
    hashes = _hashes(request, entries, tools, ground)
    digest = None
    if hashes is not None:
        digest = digest_of(request, hashes, ground.salts[tools] if tools else None, own)
    event = ModelCalled(
        model=request.model,
        dialect=request.dialect,
        tools=tools,
        server_edited=server_edited(
            request.dialect, request.parameters, (entry.message for entry in request.entries)
        ),
        parameters=Json(dict(request.parameters)),
        request_digest=digest,
        wire_digest=wire_digest,
        forms=json_forms(said),
        forms_stand=before is not None and bool(kept),
        manifest=stored,
        **(sent or {}),
    )
    return Proved(event, entries, shapes, hashes)


def json_forms(shapes: Shapes) -> Json | None:
    """Forms as an event holds them: each once, by the numbers of all pieces that have it."""
    if not shapes:
        return None
    numbers: dict[str, list[int]] = {}
    for number, shape in shapes.items():
        numbers.setdefault(forms.written(shape), []).append(number)
    return Json({",".join(map(str, same)): shapes[same[0]] for same in numbers.values()})


def digest_of(
    request: Request, hashes: Sequence[bytes], tools_salt: bytes | None, own: bytes
) -> str:
    """The digest of a request whose entries have these hashes."""
    tools = digests.NO_TOOLS
    if tools_salt is not None:
        tools = digests.value_hash(tools_salt, request.tools)
    return digests.request_digest(hashes, tools, digests.value_hash(own, dict(request.parameters)))


def _hashes(
    request: Request, entries: Sequence[SentAs], tools: int | None, ground: Ground
) -> list[bytes] | None:
    salts = ground.salts
    if ground.has_erased or not needed(entries, tools) <= salts.keys():
        return None
    hashes, pieces = ground.front.hashes, ground.front.pieces
    return [*hashes, *hashes_of(request.entries[pieces:], entries[len(hashes) :], salts)]


def hashes_of(
    sent: Sequence[RequestEntry], entries: Sequence[SentAs], salts: Mapping[int, bytes]
) -> list[bytes]:
    """The hash of each entry of a manifest."""
    values = digests.sent_values(sent)
    return [digests.entry_hash(p, v, salts) for p, v in zip(entries, values, strict=True)]


def changed(shapes: Shapes, before: Expanded, begins: int, kept: int) -> Shapes:
    """The forms that have to be said of a request: of the first ``kept`` pieces, whose forms stand,
    only those that had another before. The first ``begins`` are as they were.

    One that was erased with its call is said again.
    """
    said = {n: shape for n, shape in shapes.items() if n >= kept}
    for number in {*shapes, *before.forms}:
        if not begins <= number < kept:
            continue
        shape, form = shapes.get(number, {}), before.forms.get(number)
        is_erased = form is not None and form.is_erased
        if is_erased or not forms.identical(shape, before.form(number)):
            said[number] = shape
    return said


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


def shapes_of(items: Sequence[Item], entries: Sequence[RequestEntry], first: int = 0) -> Shapes:
    """The forms of the entries that have one; the first of them is that of piece ``first``."""
    shapes = map(shape_of, items, entries)
    return {number: shape for number, shape in enumerate(shapes, first) if shape}
