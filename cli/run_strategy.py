"""A strategy, run over a session for real: its decisions become events."""

from __future__ import annotations

from collections.abc import Sequence

from cli.changing import Changing, change
from cli.models_reasons import RunData
from cli.strategies import blaming, spec_of
from cli.style import plural
from cli.summaries import Summaries
from cli.whatifs import Made
from eventlog import StreamKey
from eventlog.errors import IntegrityFault
from eventlog.events import Event
from harness.summarizers.base import prompt
from projections import Live, tokens
from projections.foreseen import foreseen
from projections.recording import recording
from projections.running import DecidedNow, decided_now, last_decided
from projections.strategies.base import Strategy


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
        decided=made.decided(),
        stuck=found.stuck,
    )
    whole.notes += summaries.said([made])
    if found.since and data.events:
        whole.notes.append(
            f"the session held decisions already; what came since event {found.since} was gone "
            "through"
        )
    declined = [change for change in found.changes if change.kind == "declined"]
    if declined:
        items = len({origin for change in declined for origin in change.items})
        reasons = ", ".join(dict.fromkeys(change.reason for change in declined))
        whole.notes.append(f"declined for {plural(items, 'item')}: {reasons}")
    return whole


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
