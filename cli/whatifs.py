"""The context that another strategy would have made at a place. Teacher-forced, and labelled so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cli.models_whatif import DecidedData, WhatIfData
from cli.naming import call_of
from cli.replays import FORMATS, own_dialect, rendered, request_data
from cli.strategies import blaming, spec_of
from cli.style import plural
from cli.style import tokens as short_tokens
from cli.summaries import Summaries
from eventlog.errors import NoContext
from projections import Live, tokens
from projections.applying import Asked, Change
from projections.captured import captured
from projections.diff import Became, became
from projections.items import Item
from projections.legality import sendable
from projections.recording import Recording, Step, recording
from projections.references import Reference
from projections.strategies.base import Strategy
from projections.whatif import Observer, Runner, WhatIf

FORCED = "what-if: the recorded messages are kept; what the model would have said is unknown"


@dataclass(frozen=True, slots=True)
class Made:
    """What a strategy made of a session up to a place."""

    spec: str
    items: tuple[Item, ...]
    changes: tuple[Change, ...]
    asked: tuple[Asked, ...]
    """The summaries that were asked for."""
    needs_summary: int
    """Those that could not be had."""

    def became(self) -> dict[str, Became]:
        """What took each item that left."""
        found = became(self.changes)
        for change in self.changes:
            said = Became("dropped", str(change.position), "not shown to the summarizer")
            found.update(dict.fromkeys(map(str, change.unseen), said))
        return found

    def decided(self) -> list[DecidedData]:
        """What was decided, by kind."""
        return decided_by_kind(self.changes)


def decided_by_kind(changes: Sequence[Change]) -> list[DecidedData]:
    """What was decided, by kind."""
    kinds: dict[str, list[Change]] = {}
    for change in changes:
        kinds.setdefault(change.kind, []).append(change)
    return [
        DecidedData(
            kind=kind,
            times=len(of),
            items=sum(len(change.items) for change in of),
            not_shown=sum(len(change.unseen) for change in of),
            before=sum(change.before for change in of),
            after=sum(change.after for change in of),
        )
        for kind, of in kinds.items()
    ]


def recorded(live: Live, place: Reference) -> Recording:
    """The session up to a place, with a call there: a strategy decides when a call is made."""
    events = live.log.read(place.stream, to=place.position)
    found = recording(events, tokens.counter())
    call = Step("call", place.position + 1)
    return replace(found, steps=(*found.steps, call))


def make(
    found: Recording, strategies: Sequence[Strategy], summaries: Summaries | None = None
) -> Made:
    """Run a strategy over it, and take the context of its last call. Raises InputRefused."""
    counting, runs = tokens.counter(), list[WhatIf]()
    summarize = summaries.of(found.key) if summaries is not None else None

    def replayed(look: Observer) -> None:
        runs.append(Runner(found, strategies, counting, summarize, look).run())

    calls = sum(step.kind == "call" for step in found.steps)
    with blaming(strategies):
        last = captured(replayed, calls)
    assert last is not None
    run = runs[0]
    return Made(spec_of(strategies), last.items, last.changes, tuple(run.asked), run.needs_summary)


def replay_under(
    live: Live,
    place: Reference,
    asked: str,
    strategies: Sequence[Strategy],
    summaries: Summaries,
) -> tuple[WhatIfData, list[str]]:
    """The request that another strategy would have made there, and why a provider would refuse it.

    Raises NoContext, InputRefused.
    """
    made = make(recorded(live, place), strategies, summaries)
    if not made.items:
        raise NoContext(str(place.stream), place.position)
    call = call_of(live, place)
    own = own_dialect(live, place, call)
    legal = sendable(made.items)
    form = asked if asked in ("json", "text") else FORMATS.get(asked, own)
    body, problems, notes = rendered(live, place, call, legal, form, own)
    data = request_data(place, "what_if", form, legal.items, legal.repairs, body)
    said = summaries.said([made])
    whole = WhatIfData(
        **data.model_dump(),
        strategy=made.spec,
        decided=made.decided(),
        recorded_tokens=_recorded_tokens(live, place),
    )
    whole.notes = [FORCED, _told(whole), *said, *notes]
    return whole, problems


def _told(data: WhatIfData) -> str:
    """What the strategy did, in one line."""
    did = [
        f"{one.kind} {plural(one.items, 'item')}"
        + (f" ({one.not_shown} of them not shown to the summarizer)" if one.not_shown else "")
        for one in data.decided
    ]
    size = f"{short_tokens(data.tokens)} tokens, really {short_tokens(data.recorded_tokens)}"
    return f"{data.strategy}: {', '.join(did) or 'nothing decided'}; {size}"


def _recorded_tokens(live: Live, place: Reference) -> int:
    counting = tokens.counter()
    items = live.items(place.stream, place.position)
    return sum(tokens.count_item(counting, item) for item in items)
