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

A session's provenance is the weakest of its calls, in this order. Of one call it is the weakest
verdict that holds, so a context that was only folded does not rank as better known once a part of
it was erased: how many of its items were stands beside the verdict.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from eventlog import messages
from eventlog.errors import CriticalUnknown, CtxlogError
from eventlog.recorded import RecordedEvent, StreamKey
from projections import runs
from projections.asked import TOLD_BY
from projections.context import DECISIONS, effective
from projections.items import Item
from projections.known_context import holds_blob, uses_tool
from projections.live import Live
from projections.parts import stood
from projections.runs import Origin, Standing
from projections.sent import Requests
from projections.session_state import Provenance


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said of one call."""

    name: Provenance
    outcome_unknown: bool = False
    detail: str = ""
    erased: int = 0
    """Items of the context whose text was erased since."""

    @property
    def exit_code(self) -> int:
        """0, 1 for a finding, 4 where bytes do not hold."""
        if self.name == "broken":
            return 4
        return 1 if self.name in ("drift", "opaque") or self.outcome_unknown else 0


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a call whose request was recorded."""

    digest: str | None
    """Computed again; None where something is missing that it needs."""
    pieces: Sequence[Standing]
    """The items that were sent, in their renditions."""
    folded: Sequence[Standing] | CriticalUnknown
    """Those that stand in the context, or why nobody knows."""
    erased: int
    missing: str
    """What else was erased of it: ``its tools``, ``its parameters``; or nothing."""
    is_sealed: bool
    """Whether an encrypted summary stands in it."""
    is_edited: bool
    """Whether the provider completed or edited it."""
    lost: int | None = None
    """The position of an event that the digest needs and that has no salt."""
    agree: int = 0
    """How many at the front of ``pieces`` and of ``folded`` are known to be the same."""


def judge(live: Live, stream: StreamKey, call: RecordedEvent) -> Verdict:
    """The verdict of one call. ``judging.judge_all`` is quicker for many."""
    ended = _end(live, stream, call.position)
    end, unknown = ended.position if ended is not None else None, ended is None
    if call.data.get("manifest") is None:
        return _folded(live, stream, call, end)
    try:
        sent = Requests(live).sent(stream, call)
    except CtxlogError as error:
        return Verdict("broken", unknown, str(error))
    tools = call.data.get("tools")
    declared = live.log.at(stream, [tools]).get(tools) if tools is not None else None
    try:
        folded: Any = live.view(stream, call.position).standing()
    except CriticalUnknown as error:
        folded = error
    seen = Seen(
        digest=sent.digest,
        pieces=stood([piece for entry in sent.entries for piece in entry], sent.items),
        folded=folded,
        erased=erased_in(sent.items),
        missing=missing(call, declared is not None and declared.erased, sent.has_erased_forms),
        is_sealed=any(map(has_blob, sent.items)),
        is_edited=is_edited(call, ended),
        lost=sent.lost,
    )
    return of_seen(call, seen, unknown)


def is_edited(call: RecordedEvent, ended: RecordedEvent | None) -> bool:
    """Whether the provider completed or edited the request, as it or the answer says."""
    answer = ended.data if ended is not None else {}
    return bool(call.data.get("server_edited") or answer.get("server_edited"))


def _end(live: Live, stream: StreamKey, position: int) -> RecordedEvent | None:
    """The answer to a call, or its failure."""
    answers = live.log.read(
        stream,
        after=position,
        types=["model_responded", "model_failed"],
        containing=f'"call":{position}',
    )
    return next((e for e in answers if e.data["call"] == position), None)


def missing(call: RecordedEvent, tools_erased: bool, forms_erased: bool) -> str:
    """What was erased of a call besides its items."""
    if call.erased:
        return "its parameters"
    if tools_erased:
        return "its tools"
    return "the forms of some of them" if forms_erased else ""


def of_seen(call: RecordedEvent, seen: Seen, unknown: bool) -> Verdict:
    """The weakest verdict that holds for a call whose request was recorded."""
    name, detail = _weakest(call, seen)
    return Verdict(name, unknown, _with_erased(detail, seen.erased, seen.missing), seen.erased)


def _with_erased(detail: str, erased: int, missing: str = "") -> str:
    items = ["1 item" if erased == 1 else f"{erased:,} items"] if erased else []
    gone = [*items, *([missing] if missing else [])]
    if not gone:
        return detail
    were = "was" if gone == ["1 item"] else "were"
    told = f"{' and '.join(gone)} {were} erased since"
    return f"{detail}; {told}" if detail else told


def _weakest(call: RecordedEvent, seen: Seen) -> tuple[Provenance, str]:
    recorded = call.data.get("request_digest")
    is_erased = bool(seen.erased or seen.missing)
    if recorded is not None and seen.digest is None and not is_erased:
        return "broken", f"event {seen.lost}, which it was made of, is not there"
    if recorded is not None and seen.digest is not None:
        if seen.digest != recorded:
            return "broken", "the request that the manifest names is not the one that was recorded"
        difference = _difference(seen.pieces, seen.folded, seen.agree)
        if difference:
            return "drift", difference
    if seen.is_sealed:
        return "opaque", "an encrypted summary stands in it"
    if seen.is_edited:
        return "partial", "the provider completes the request itself"
    if recorded is None:
        return "rebuilt", "no digest was recorded"
    return ("erased" if is_erased else "exact"), messages_alone(call)


def messages_alone(call: RecordedEvent) -> str:
    """What a digest does not speak of: some files hold the messages of a request and no more.

    No request goes without a parameter: a model is one.
    """
    parameters = None if call.erased else call.data.get("parameters")
    if parameters and TOLD_BY in parameters:
        return f"as {parameters[TOLD_BY]} gave it to the model"
    if call.erased or parameters:
        return ""
    lacks = "its parameters" if call.data.get("tools") is not None else "its tools and parameters"
    return f"its messages; {lacks} were not recorded"


def _difference(
    pieces: Sequence[Standing], folded: Sequence[Standing] | CriticalUnknown, agree: int
) -> str:
    if isinstance(folded, CriticalUnknown):
        return f"nobody knows what stands in the context: {folded}"
    for number in range(agree, min(len(pieces), len(folded))):
        was, stands = pieces[number], folded[number]
        if was != stands and not is_erased_of(was, stands):
            sent_as, folded_as = runs.label(*was), runs.label(*stands)
            return f"entry {number + 1}: {sent_as} was sent, {folded_as} stands there"
    if len(pieces) != len(folded):
        return f"{len(pieces)} items were sent, {len(folded)} stand in the context"
    return ""


def is_erased_of(was: Standing, stands: Standing) -> bool:
    """Whether what was sent is what is left of an erased item, and that item stands there: in
    whatever rendition, it shows the same."""
    return was[1] == runs.REDACTED and was[0] == stands[0]


@dataclass(frozen=True, slots=True)
class Stood:
    """What is known of a call whose request was not recorded: of the context as folded."""

    is_sealed: bool
    """Whether an encrypted summary stands in it."""
    is_opaque: bool
    """Whether a compaction before it is encrypted, and nothing has taken its place."""
    has_system: bool
    lacks_tools: bool
    """Whether a tool had been used when the call ended, and no definitions recorded."""
    erased: int


@dataclass(frozen=True, slots=True)
class ToolsSince:
    """Since which positions a stream uses tools, and holds definitions of them."""

    used: int | None
    declared: int | None

    def are_missing(self, end: int | None) -> bool:
        """Whether the request of a call that ended there had tools of which none are known."""
        used, declared = (
            at is not None and (end is None or at < end) for at in (self.used, self.declared)
        )
        return used and not declared


def tools_since(live: Live, stream: StreamKey) -> ToolsSince:
    """Of a stream, its parents' events included."""
    bringing = ("message_appended", "tool_result_recorded")
    used = (e.position for e in live.log.read(stream, types=bringing) if uses_tool(e))
    declared = (e.position for e in live.log.read(stream, types=["tools_declared"]))
    return ToolsSince(next(used, None), next(declared, None))


def _folded(live: Live, stream: StreamKey, call: RecordedEvent, end: int | None) -> Verdict:
    items = live.items(stream, call.position)
    standing = {item.id for item in items}
    decisions, _ = effective(list(live.log.read(stream, to=call.position, types=DECISIONS)))
    stood = Stood(
        is_sealed=any(map(has_blob, items)),
        is_opaque=is_hidden(decisions, standing),
        has_system=any(item.role in messages.SYSTEM_ROLES for item in items),
        lacks_tools=tools_since(live, stream).are_missing(end),
        erased=erased_in(items),
    )
    return of_stood(stood, end is None)


def is_sealed(live: Live, stream: StreamKey, at: int, items: Sequence[Item]) -> bool:
    """Whether something in the context after a position is readable to the provider alone.

    ``items`` are that context. What seems to be lost there may stand in it.
    """
    if any(map(has_blob, items)):
        return True
    standing = {item.id for item in items}
    decisions, _ = effective(list(live.log.read(stream, to=at, types=DECISIONS)))
    return is_hidden(decisions, standing)


def is_hidden(decisions: Iterable[RecordedEvent], standing: Container[Origin | str]) -> bool:
    """Whether what an encrypted compaction put in still stands: a message of it, or, where it put
    in none that anybody can see, until a later one lays out the whole context.

    ``decisions`` are those in force, in their order; ``standing`` holds the items' names.
    """
    unseen = named = False
    for event in decisions:
        if event.type != "context_compacted":
            continue
        if event.data.get("layout") is not None:
            unseen = False
        if event.data.get("opaque"):
            names = [f"{event.position}.{n}" for n in range(len(event.data.get("messages", ())))]
            unseen = unseen or not names
            named = named or any(name in standing for name in names)
    return unseen or named


def of_stood(stood: Stood, unknown: bool) -> Verdict:
    """The weakest verdict that holds for a call whose request was not recorded."""
    name: Provenance
    if stood.is_sealed:
        name, detail = "opaque", "an encrypted summary stands in it"
    elif stood.is_opaque:
        name, detail = "opaque", "a compaction before it is encrypted"
    elif not stood.has_system or stood.lacks_tools:
        name, detail = "partial", _never_recorded(stood)
    else:
        name, detail = "rebuilt", "no request was recorded"
    return Verdict(name, unknown, _with_erased(detail, stood.erased), stood.erased)


def _never_recorded(stood: Stood) -> str:
    parts = [] if stood.has_system else ["the system prompt"]
    if stood.lacks_tools:
        parts.append("the tool definitions")
    return f"{' and '.join(parts)} {'were' if stood.lacks_tools else 'was'} never recorded"


def erased_in(items: Iterable[Item]) -> int:
    """How many of the items were erased."""
    return sum(item.form == "redacted" for item in items)


def has_erased_summary(items: Iterable[Item]) -> bool:
    """Whether a summary among the items was erased: what seems to be lost may have stood in it."""
    return any(item.kind == "summary" and item.form == "redacted" for item in items)


def has_blob(item: Item) -> bool:
    """Whether an encrypted compaction of a provider stands in it."""
    return holds_blob(item.message)
