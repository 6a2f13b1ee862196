"""How often something was taken out of the context, how much of it, and what that cost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from projections.metrics.ground import Ground
from projections.metrics.model import Result, ratio
from projections.metrics.taken import NO_CHANGE
from projections.whatif import Change, WhatIf

COMPACTING = frozenset({"summarised", "dropped"})


class Compactions(Result):
    """The decisions of one run."""

    compactions: int
    """Items that left, with or without messages in their place."""
    summaries: int
    substitutions: int
    """Items that stand in another form."""
    passes: int
    """Moments at which at least one decision changed something."""
    calls_between: float | None
    """The median number of calls between two passes."""
    before: int
    """Tokens of what was changed, over all passes."""
    after: int
    left_share: float | None
    """after / before."""
    no_ops: int
    """Decisions that would have saved nothing, and were declined."""
    failures: int
    """Summaries that could not be had."""
    faults: tuple[str, ...]
    """Why: ``empty``, ``inflated`` …, each once."""
    over_budget: int
    """Moments at which what cannot be reduced was over the budget."""
    shown: int
    """Tokens that summarizers were given, as counted here; those included whose text was of no
    use."""
    written: int
    """Tokens that they wrote, likewise."""


def compactions(run: WhatIf, ground: Ground) -> Compactions:
    """Count the changes of a run."""
    done = [change for change in run.changes if change.kind not in NO_CHANGE]
    moments = list(dict.fromkeys((change.call, change.position) for change in done))
    gaps = [after[0] - before[0] for before, after in pairwise(moments)]
    summaries = [change for change in done if change.kind == "summarised"]
    before, after = sum(c.before for c in done), sum(c.after for c in done)
    return Compactions(
        compactions=sum(change.kind in COMPACTING for change in done),
        summaries=len(summaries),
        substitutions=sum(len(c.items) for c in done if c.kind not in COMPACTING),
        passes=len(moments),
        calls_between=float(median(gaps)) if gaps else None,
        before=before,
        after=after,
        left_share=ratio(after, before),
        no_ops=sum(change.kind == "declined" for change in run.changes),
        failures=run.needs_summary,
        faults=tuple(dict.fromkeys(str(a.written.fault) for a in run.asked if a.written.fault)),
        over_budget=sum(change.kind == "over_budget" for change in run.changes),
        **_summarized(run, summaries, ground),
    )


def _summarized(run: WhatIf, summaries: Sequence[Change], ground: Ground) -> dict[str, int]:
    """What summarizers were given and wrote; of a recorded one nobody knows more than its cover."""
    if run.asked:
        return {
            "shown": sum(each.shown for each in run.asked),
            "written": sum(each.written_tokens for each in run.asked),
        }
    return {
        "shown": sum(covered(change, ground) for change in summaries),
        "written": sum(change.after for change in summaries),
    }


def covered(change: Change, ground: Ground) -> int:
    """What a summary covers, without what its summarizer was shown nothing of."""
    unseen = sum(ground.items[o].tokens for o in change.unseen if o in ground.items)
    return max(0, change.before - unseen)
