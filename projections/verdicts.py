"""How well it is known what a call saw.

======================  ==========================================================
``exact``               as sent = digest, and as folded = manifest
``erased``              the manifest names a rendition of an erased item
``rebuilt``             no digest was recorded; folded from events
``partial``             a part was never recorded, or the provider completes it
``opaque``              a provider's encrypted blob stands inside
``drift``               the bytes hold, but a difference has no decision behind it
``broken``              as sent ≠ digest
``outcome_unknown``     called, never answered: beside the verdict, not in its place
======================  ==========================================================

A session's provenance is the weakest of its calls, in this order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from eventlog import messages
from eventlog.errors import CtxlogError
from eventlog.recorded import RecordedEvent, StreamKey
from projections import runs
from projections.context import DECISIONS, effective
from projections.items import Item
from projections.known_context import BLOBS
from projections.live import Live
from projections.sent import Requests, Sent

Name = Literal["exact", "erased", "rebuilt", "partial", "opaque", "drift", "broken"]

ORDER: tuple[Name, ...] = ("exact", "erased", "rebuilt", "partial", "opaque", "drift", "broken")
"""From the best known to the worst."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said of one call."""

    name: Name
    outcome_unknown: bool = False
    detail: str = ""

    @property
    def exit_code(self) -> int:
        """0, 1 for a finding, 4 where bytes do not hold."""
        if self.name == "broken":
            return 4
        return 1 if self.name in ("drift", "opaque") or self.outcome_unknown else 0


def provenance(names: Iterable[Name]) -> Name | None:
    """The weakest; None when there are no calls."""
    return max(names, key=ORDER.index, default=None)


def judge(live: Live, stream: StreamKey, call: RecordedEvent) -> Verdict:
    """The verdict of one call."""
    unknown = not _is_answered(live, stream, call.position)
    if call.data.get("manifest") is None:
        name, detail = _folded(live, stream, call)
        return Verdict(name, unknown, detail)
    try:
        sent = Requests(live).sent(stream, call)
    except CtxlogError as error:
        return Verdict("broken", unknown, str(error))
    name, detail = _sent(live, stream, call, sent)
    return Verdict(name, unknown, detail)


def _is_answered(live: Live, stream: StreamKey, position: int) -> bool:
    answers = live.log.read(
        stream,
        after=position,
        types=["model_responded", "model_failed"],
        containing=f'"call":{position}',
    )
    return any(event.data["call"] == position for event in answers)


def _sent(live: Live, stream: StreamKey, call: RecordedEvent, sent: Sent) -> tuple[Name, str]:
    recorded = call.data.get("request_digest")
    if recorded is None and not sent.erased:
        return "rebuilt", "no digest was recorded"
    if sent.digest is not None and recorded is not None and sent.digest != recorded:
        return "broken", "the request that the manifest names is not the one that was recorded"
    if sent.erased:
        return "erased", "a part of it was erased since"
    if sent.digest is None:
        return "broken", "a salt that the digest needs is not there"
    pieces = [piece.standing for entry in sent.entries for piece in entry]
    folded = live.view(stream, call.position).standing()
    for number, (was, stands) in enumerate(zip(pieces, folded, strict=False)):
        if was != stands:
            sent_as, folded_as = runs.label(*was), runs.label(*stands)
            return "drift", f"entry {number + 1}: {sent_as} was sent, {folded_as} stands there"
    if len(pieces) != len(folded):
        return "drift", f"{len(pieces)} items were sent, {len(folded)} stand in the context"
    if call.data.get("server_edited"):
        return "partial", "the provider completes the request itself"
    if any(map(has_blob, sent.items)):
        return "opaque", "an encrypted summary stands in it"
    return "exact", ""


def _folded(live: Live, stream: StreamKey, call: RecordedEvent) -> tuple[Name, str]:
    items = live.items(stream, call.position)
    if any(map(has_blob, items)):
        return "opaque", "an encrypted summary stands in it"
    standing = {item.id for item in items}
    decisions, _ = effective(list(live.log.read(stream, to=call.position, types=DECISIONS)))
    for event in decisions:
        if event.type == "context_compacted" and event.data.get("opaque"):
            names = {f"{event.position}.{n}" for n in range(len(event.data.get("messages", ())))}
            if not names or names & standing:
                return "opaque", "a compaction before it is encrypted"
    if not any(item.role in messages.SYSTEM_ROLES for item in items):
        return "partial", "the system prompt was never recorded"
    return "rebuilt", "no request was recorded"


def has_blob(item: Item) -> bool:
    """Whether an encrypted compaction of a provider stands in it."""
    native: Any = item.message
    blocks = native.get("items") or [native]
    return any(
        isinstance(block, dict) and block.get("type") in BLOBS and "encrypted_content" in block
        for block in blocks
    )
