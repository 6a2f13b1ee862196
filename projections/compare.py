"""Many strategies over the same recorded sessions: what each costs, drops, and would have missed.

The baseline is ``observed``, the contexts as they really were. All strategies see the same facts of
a session, which are found once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from eventlog.errors import InputRefused
from projections.comparison import FORCED, Comparison, row, winners
from projections.metrics import prices as pricing
from projections.metrics.ground import Ground
from projections.metrics.intervals import Draws
from projections.metrics.measure import Calibrated, Measured, Options, measure
from projections.metrics.prices import Prices, Unknown
from projections.observed import OBSERVED, observed
from projections.recording import Recording
from projections.runs import Origin
from projections.strategies.base import Strategy
from projections.strategies.spec import parse
from projections.strategies.window import Embed, Window
from projections.tokens import Counter
from projections.whatif import Observer, Runner, WhatIf
from projections.written import Summarize

Summarizing = Callable[[Recording], Summarize | None]
"""From a session to what writes its summaries: where they are kept, they are kept with it."""

Looking = Callable[[Recording, int], Observer | None]
"""Who else looks on at a run: of a session, by the number of the strategy, 0 for ``observed``."""


def compare(
    recordings: Sequence[Recording],
    specs: Sequence[str | Sequence[Strategy]],
    counter: Counter,
    summarizing: Summarizing | None = None,
    window: int | None = None,
    prices: Sequence[Prices | Unknown] | None = None,
    *,
    options: Options | None = None,
    embed: Embed | None = None,
    progress: Callable[[int, int], None] | None = None,
    looking: Looking | None = None,
) -> Comparison:
    """Measure each strategy on each recording.

    ``specs`` are text forms or parsed strategies; ``observed`` is there without being named.
    ``summarizing`` gives what writes the summaries of a session; None: nothing does.
    ``options`` holds what else can be set; ``window`` and ``prices`` come before it. ``progress``
    is told (runs done, runs in all); ``looking`` gives who looks on beside. Raises InputRefused
    for a wrong spec, for no recordings, and for recordings that were made with another counter.
    """
    if not recordings:
        raise InputRefused("there is no session to compare strategies on")
    for recording in recordings:
        if recording.counter != counter.name:
            raise InputRefused(
                f"{recording.key} was counted with {recording.counter}, not with {counter.name}"
            )
    named = _named(specs)
    options = _options(options, window, prices)
    measured: list[list[Measured]] = [[] for _ in range(len(named) + 1)]
    factors: list[Calibrated] = []
    done, runs = 0, len(recordings) * (len(named) + 1)

    def one_more() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, runs)

    for recording in recordings:
        ground = Ground(recording, counter)
        base = measure(ground, _seen(_observed(recording), recording, 0, looking), options)
        measured[0].append(base.model_copy(update={"prefix": _with_recorded(base, ground)}))
        factors.append(base.calibration)
        one_more()
        summarize = summarizing(recording) if summarizing is not None else None
        for place, strategies in enumerate(named, 1):
            run = _whatif(recording, strategies, counter, summarize, embed)
            run = _seen(run, recording, place, looking)
            measured[place].append(measure(ground, run, options, base))
            one_more()
    draws = Draws(len(recordings))
    names = [OBSERVED, *(" | ".join(each.spec for each in strategies) for strategies in named)]
    slides = [False, *(any(each.slides for each in strategies) for strategies in named)]
    rows = tuple(
        row(name, slide, of, measured[0], draws, options)
        for name, slide, of in zip(names, slides, measured, strict=True)
    )
    return Comparison(
        counter=counter.name,
        baseline=OBSERVED,
        options=options,
        sessions=tuple(recording.key for recording in recordings),
        calibration=tuple(factors),
        rows=rows,
        winners=winners(rows, options, len(recordings)),
        warnings=tuple(_warnings(measured, names, factors)),
    )


def _named(specs: Sequence[str | Sequence[Strategy]]) -> list[tuple[Strategy, ...]]:
    given = [spec for spec in specs if spec != OBSERVED]
    return [parse(spec) if isinstance(spec, str) else tuple(spec) for spec in given]


def _options(
    options: Options | None, window: int | None, prices: Sequence[Prices | Unknown] | None
) -> Options:
    changes: dict[str, object] = {}
    if window is not None:
        changes["window"] = window
    if prices is not None:
        changes["prices"] = tuple(prices) or pricing.DEFAULT
    return Options.model_validate({**dict(options or Options()), **changes})


def _observed(recording: Recording) -> Callable[[Observer], WhatIf]:
    return lambda observer: observed(recording, observer)


def _whatif(
    recording: Recording,
    strategies: Sequence[Strategy],
    counter: Counter,
    summarize: Summarize | None,
    embed: Embed | None,
) -> Callable[[Observer], WhatIf]:
    return lambda observer: Runner(recording, strategies, counter, summarize, observer, embed).run()


def _seen(
    run: Callable[[Observer], WhatIf], recording: Recording, place: int, looking: Looking | None
) -> Callable[[Observer], WhatIf]:
    """The run with one more who looks on."""
    other = looking(recording, place) if looking is not None else None
    if other is None:
        return run
    beside: Observer = other

    def both(observer: Observer) -> WhatIf:
        def told(made: WhatIf, window: Window, touched: Mapping[Origin, None]) -> None:
            observer(made, window, touched)
            beside(made, window, touched)

        return run(told)

    return both


def _with_recorded(base: Measured, ground: Ground) -> object:
    """What the provider really read from its cache, beside what is computed."""
    told = [(facts.cached, facts.billed) for facts in ground.calls if facts.cached is not None]
    billed = sum(whole for _, whole in told)
    share = round(sum(read for read, _ in told) / billed, 6) if billed else None
    return base.prefix.model_copy(update={"recorded_hit_share": share})


def _warnings(
    measured: Sequence[Sequence[Measured]], names: Sequence[str], factors: Sequence[Calibrated]
) -> list[str]:
    found = [FORCED]
    touched = [m.compactions for m in measured[0] if m.compactions.passes]
    compacted = sum(bool(each.compactions) for each in touched)
    for count, how in ((compacted, "compacted"), (len(touched) - compacted, "cleared or cut")):
        if count:
            found.append(
                f"{count} of {len(factors)} recordings were {how} while they were made: strategies "
                "see more than the model did, so compare them with observed"
            )
    for name, of in zip(names, measured, strict=True):
        failures = sum(m.compactions.failures for m in of)
        if failures:
            what = "a summary" if failures == 1 else f"{failures} summaries"
            faults = dict.fromkeys(fault for m in of for fault in m.compactions.faults)
            why = f" ({', '.join(faults)})" if faults else ""
            found.append(f"{name} needs {what} that could not be had{why}: its next step was taken")
        over = sum(m.compactions.over_budget for m in of)
        if over:
            often = "once" if over == 1 else f"{over} times"
            found.append(f"{name} could not keep within its budget {often}")
    idle = [
        name
        for name, of in zip(names[1:], measured[1:], strict=True)
        if name != "none" and not any(m.compactions.passes for m in of)
    ]
    if idle:
        found.append(f"never had anything to do here: {', '.join(idle)}")
    costs = "costs count what answers cost as recorded, which some agents write too low"
    if any(m.compactions.summaries for of in measured for m in of):
        costs += ", and summaries whole"
    found.append(costs)
    unknown = sum(not each.samples for each in factors)
    if unknown:
        found.append(
            f"{unknown} of {len(factors)} recordings hold no usage: their tokens are the counter's"
        )
    found += _unrecorded(factors)
    empty = sum(not m.calls for m in measured[0])
    if empty:
        found.append(f"{empty} of {len(factors)} recordings hold no call to be measured")
    return found


def _unrecorded(factors: Sequence[Calibrated]) -> list[str]:
    """What was billed at every call and is not in the log: it bends every share of a cost."""
    each = [round(c.factor * c.unrecorded) for c in factors if c.unrecorded]
    if not each:
        return []
    least, most = min(each), max(each)
    amount = f"about {least:,}" if least == most else f"{least:,} to {most:,}"
    return [
        f"{amount} tokens a call were billed that are not recorded in {len(each)} of "
        f"{len(factors)} recordings, a system prompt or tools: they are added to every call of "
        "every strategy"
    ]
