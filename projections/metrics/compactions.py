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
    over_budget: int
    """Moments at which what cannot be reduced was over the budget."""
    shown: int
    """Tokens that summarizers were given, as counted here; those included whose text was of no
    use."""
    written: int
    """Tokens that they wrote, likewise."""
    billed_shown: int
    """What providers billed for the requests of which they said it."""
    billed_written: int
    unbilled_shown: int
    """Of ``shown``, what nobody has billed: for sentences picked without a model, say."""
    unbilled_written: int

    def overhead(self, factor: float) -> tuple[float, float]:
        """The tokens to pay for, given and written; ``factor`` turns counted ones into billed."""
        return (
            self.billed_shown + self.unbilled_shown * factor,
            self.billed_written + self.unbilled_written * factor,
        )


def compactions(run: WhatIf, ground: Ground) -> Compactions:
    """Count the changes of a run."""
    done = [change for change in run.changes if change.kind not in NO_CHANGE]
    moments = list(dict.fromkeys((change.call, change.position) for change in done))
    gaps = [after[0] - before[0] for before, after in pairwise(moments)]
    summaries = [change for change in done if change.kind == "summarised"]
    before, after = sum(c.before for c in done), sum(c.after for c in done)
    paid = _asked(run) if run.asked else _recorded(summaries, ground)
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
        over_budget=sum(change.kind == "over_budget" for change in run.changes),
        **paid,
    )


def _asked(run: WhatIf) -> dict[str, int]:
    """What the summarizers of a what-if were asked."""
    billed = [each.written.usage for each in run.asked if each.written.usage is not None]
    unbilled = [each for each in run.asked if each.written.usage is None]
    return {
        "shown": sum(each.shown for each in run.asked),
        "written": sum(each.written_tokens for each in run.asked),
        "billed_shown": sum(each.input + each.cached + each.cache_write for each in billed),
        "billed_written": sum(each.output for each in billed),
        "unbilled_shown": sum(each.shown for each in unbilled),
        "unbilled_written": sum(each.written_tokens for each in unbilled),
    }


def _recorded(summaries: Sequence[Change], ground: Ground) -> dict[str, int]:
    """What was covered, without what the summarizer was shown nothing of: nobody recorded more."""
    shown, written = 0, sum(change.after for change in summaries)
    for change in summaries:
        unseen = sum(ground.items[o].tokens for o in change.unseen if o in ground.items)
        shown += max(0, change.before - unseen)
    return {
        "shown": shown,
        "written": written,
        "billed_shown": 0,
        "billed_written": 0,
        "unbilled_shown": shown,
        "unbilled_written": written,
    }
