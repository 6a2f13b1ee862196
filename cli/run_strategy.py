"""A strategy, run over a session for real: its decisions become events."""

from __future__ import annotations

from collections.abc import Sequence

from cli.changing import Changing, change
from cli.models_reasons import AskedData, DecidedAtData, RunData
from cli.occurrences import number_of
from cli.strategies import blaming, spec_of
from cli.summaries import Summaries
from cli.whatifs import Made, decided_by_kind
from eventlog import StreamKey
from eventlog.errors import IntegrityFault
from eventlog.events import Event
from harness.summarizers.base import prompt
from projections import Live, tokens
from projections.applying import Change
from projections.decided_now import DecidedNow, decided_now, last_decided
from projections.foreseen import foreseen
from projections.recording import recording
from projections.strategies.base import MomentKind, Strategy


def run_strategy(
    live: Live,
    stream: StreamKey,
    strategies: Sequence[Strategy],
    summaries: Summaries,
    *,
    name: str = "",
    dry_run: bool = False,
    expected: int | None = None,
) -> RunData:
    """Decide about the session as it is, and append that. Raises InputRefused, and what
    ``changing.change`` raises.
    """
    runs: list[DecidedNow] = []

    def make(first: int) -> Sequence[Event]:
        with blaming(strategies):
            found = decided(live, stream, strategies, summaries, first)
        runs.append(found)
        return found.events

    asked = Changing(
        stream,
        make,
        reason=f"run {spec_of(strategies)}",
        name=name,
        dry_run=dry_run,
        expected=expected,
        may_differ=True,
    )
    data, found = change(live, asked), runs[-1]
    spec = spec_of(strategies)
    made = Made(spec, found.items, found.changes, found.asked, found.needs_summary)
    whole = RunData(
        **data.model_dump(),
        strategy=spec,
        since=found.since,
        attention=_attention(live, stream, found),
        moments=_moments(live, stream, found),
        decided=made.decided(),
        stuck=found.stuck,
    )
    whole.notes += summaries.said([made])
    if found.since:
        whole.notes.append(
            f"the session held decisions already; what came since event {found.since} was gone "
            "through"
        )
    return whole


def _attention(live: Live, stream: StreamKey, found: DecidedNow) -> list[AskedData]:
    return [
        AskedData(
            strategy=one.spec,
            at=one.at,
            times=one.asked,
            first=_moment(live, stream, one.at, one.first, found.now) if one.asked else "",
            last=_moment(live, stream, one.at, one.last, found.now) if one.asked else "",
            waits=one.waits,
        )
        for one in found.attention
    ]


def _moments(live: Live, stream: StreamKey, found: DecidedNow) -> list[DecidedAtData]:
    kinds = {one.spec: one.at for one in found.attention}
    by: dict[tuple[int, str], list[Change]] = {}
    for one in found.changes:
        by.setdefault((one.position, one.strategy), []).append(one)
    return [
        DecidedAtData(
            strategy=spec,
            moment=_moment(live, stream, kinds[spec], position, found.now),
            position=position,
            decided=decided_by_kind(changes),
            reasons=list(dict.fromkeys(c.reason for c in changes if c.kind == "declined")),
        )
        for (position, spec), changes in by.items()
    ]


def _moment(live: Live, stream: StreamKey, kind: MomentKind, position: int, now: int) -> str:
    """A moment, as people call it."""
    if position >= now:
        return "now"
    if kind == "model_call":
        return f"before {number_of(live, stream, position) or position}"
    return f"at the {'user turn' if kind == 'user_turn' else 'result'} {position}"


def decided(
    live: Live,
    stream: StreamKey,
    strategies: Sequence[Strategy],
    summaries: Summaries,
    first: int,
) -> DecidedNow:
    """What strategies decide about the session as it is.

    Raises IntegrityFault where the fold of that would not be what was decided.
    """
    counting = tokens.counter()
    version = live.log.version(stream)
    found = recording(live.log.read(stream, to=version), counting)
    start = last_decided(found)
    made = decided_now(
        found,
        live.history(stream, version, ["compaction_declined"]),
        strategies,
        counting,
        first=first,
        held=live.view(stream).pins,
        pins={start: live.view(stream, start).pins} if start else {},
        summarize=summaries.of(stream),
        digest=lambda name: prompt(name).digest,
    )
    then = foreseen(live, stream, first, made.events)
    shown = then.items(then.after.standing())
    if [(i.id, i.message) for i in shown] != [(i.id, i.message) for i in made.items]:
        raise IntegrityFault(
            f"what was decided about {stream} is not what the log would show; nothing was written"
        )
    return made
