"""How much of each request the one before began with, and what broke it where it broke.

Providers charge little for a prefix that they have seen: so a strategy that changes the front of
the context at every call can cost more than none, however few tokens it sends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from eventlog.happened import source_moment
from projections.metrics.facts import CallFacts
from projections.metrics.model import Result, ratio
from projections.metrics.taken import NO_CHANGE
from projections.whatif import WhatIf

Cause = Literal["ttl", "tools", "summary", "edit", "recording"]
CAUSES: tuple[Cause, ...] = ("ttl", "tools", "summary", "edit", "recording")
"""In this order when there are several: what came before makes the others irrelevant."""


class Break(Result):
    """A call that did not begin with the whole of the request before."""

    call: int
    cause: Cause
    """Time ran out; other tools; a compaction; a substitution; a revision or a rewind."""
    rewritten: int
    """Tokens of the request before that had to be sent as new."""


class Prefix(Result):
    """Prefix stability."""

    hit_share: float | None
    """Cached tokens of all tokens sent."""
    cached: int
    breaks: int
    breaks_per_call: float | None
    rewritten: int
    """Tokens, over all breaks."""
    by_cause: dict[Cause, int]
    """Breaks."""
    rewritten_by_cause: dict[Cause, int]
    worst: tuple[Break, ...]
    """The ten that rewrote most."""
    recorded_hit_share: float | None = None
    """Of what the provider billed: known for ``observed`` only."""


class Curve(Result):
    """What each request held, and what of it a cache would have had."""

    tokens: tuple[int, ...]
    """With the tool definitions, and what every request held and nobody recorded."""
    cached: tuple[int, ...]


def curve(
    run: WhatIf,
    calls: Sequence[CallFacts],
    *,
    ttl: float | None,
    least: int,
    unrecorded: int = 0,
) -> tuple[Curve, list[Break]]:
    """The token curve, and the breaks.

    ``unrecorded`` tokens stood in front of every request, before what is in the log.

    ``ttl`` is the life of the cache in seconds (None: it never ends), judged by the times that the
    source wrote; ``least`` the smallest prefix that is cached. A prefix under it is not cached, and
    is no break.
    """
    changes = iter(run.changes)
    change = next(changes, None)
    tokens: list[int] = []
    cached: list[int] = []
    breaks: list[Break] = []
    for number, (call, facts) in enumerate(zip(run.calls, calls, strict=False)):
        kinds: set[str] = set()
        while change is not None and change.call <= number:
            kinds |= {change.kind} - NO_CHANGE
            change = next(changes, None)
        total = call.tokens + facts.tools + unrecorded
        same, cause = 0, _cause(kinds)
        if number:
            before = calls[number - 1]
            if before.tools_at != facts.tools_at:
                cause = "tools"
            else:
                same = call.prefix + facts.tools + unrecorded
            if ttl is not None and (seconds(before.when, facts.when) or 0.0) > ttl:
                same, cause = 0, "ttl"
            if same < tokens[-1]:
                breaks.append(Break(call=number + 1, cause=cause, rewritten=tokens[-1] - same))
        tokens.append(total)
        cached.append(same if same >= least else 0)
    return Curve(tokens=tuple(tokens), cached=tuple(cached)), breaks


def _cause(kinds: set[str]) -> Cause:
    if kinds & {"summarised", "dropped"}:
        return "summary" if "summarised" in kinds else "edit"
    return "edit" if kinds else "recording"


def seconds(before: str, after: str) -> float | None:
    """From one time that a source wrote to another; None where they do not say."""
    first, then = source_moment(before), source_moment(after)
    return (then - first) / 1e6 if first is not None and then is not None else None


def stability(curve: Curve, breaks: Sequence[Break]) -> Prefix:
    """The prefix metrics of a curve."""
    worst = sorted(breaks, key=lambda one: (-one.rewritten, one.call))[:10]
    return Prefix(
        hit_share=ratio(sum(curve.cached), sum(curve.tokens)),
        cached=sum(curve.cached),
        breaks=len(breaks),
        breaks_per_call=ratio(len(breaks), len(curve.tokens)),
        rewritten=sum(one.rewritten for one in breaks),
        by_cause={c: sum(one.cause == c for one in breaks) for c in CAUSES},
        rewritten_by_cause={
            c: sum(one.rewritten for one in breaks if one.cause == c) for c in CAUSES
        },
        worst=tuple(worst),
    )
