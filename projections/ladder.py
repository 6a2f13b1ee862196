"""What is done when a strategy left the context over the number that it promised.

The rungs, each noted: old tool results are cleared, the oldest units are dropped, the largest texts
that remain keep their head and tail, and at last it is said what cannot be reduced. The first rung,
a summary, is a strategy's own decision. Then the trigger is raised, so that the same attempt is not
made again at every call (kimi-code#2325, opencode#27924, Kilo#13983: 408 attempts in one session).
"""

from __future__ import annotations

from projections.applying import Applier
from projections.strategies.base import Moment
from projections.strategies.clear import Clear
from projections.strategies.decisions import Substitute
from projections.strategies.marks import cut
from projections.strategies.window import Entry, Window
from projections.strategies.window_tokens import TokenWindow

KEPT_RESULTS = 3
SMALLEST = 60
"""Tokens under which a text is not cut any further."""
NOTE = 28
"""Tokens of the note in a cut, and of what stands around a message."""
RAISED = 1.1
"""By how much the context must grow before a strategy that got stuck is asked again."""


def descend(applier: Applier, limit: int, moment: Moment, by: str) -> bool:
    """Go down the rungs for a strategy until the context is within its limit; whether it is."""
    window = applier.window
    if len(window.results) > KEPT_RESULTS:
        clear = Clear(Clear.Parameters(keep=KEPT_RESULTS))
        applier.decided(clear, moment, "clear", by)
    if window.tokens > limit:
        drop = TokenWindow(TokenWindow.Parameters(tokens=max(1, limit), low=100))
        applier.decided(drop, moment, "truncate", by)
    if window.tokens > limit:
        _cut_giants(applier, limit, moment)
    if window.tokens <= limit:
        return True
    applier.rung = "over_budget"
    stuck = tuple(entry.origin for entry in window.entries.values())
    applier.note("over_budget", stuck, over_budget(window, limit), limit)
    return False


def over_budget(window: Window, limit: int) -> str:
    """What cannot be reduced, with how much of it there is."""
    last = window.last_human()
    parts = {
        "system": window.system_tokens,
        "last human message": last.tokens if last is not None else 0,
        "pinned": sum(e.tokens for o, e in window.entries.items() if o in window.pins),
        "open calls": sum(window.tokens_of(u) for u in window.units.values() if u.waiting),
    }
    named = ", ".join(f"{what} {tokens}" for what, tokens in parts.items() if tokens)
    return (
        f"{window.tokens} tokens stand, {limit} are allowed; not reducible: {named or 'the rest'}"
    )


def _cut_giants(applier: Applier, limit: int, moment: Moment) -> None:
    """Head and tail of the largest texts; the newest human message only when all else is done."""
    window = applier.window
    applier.moment, applier.rung = moment, "cut"
    last = window.last_human()
    giants = [e for e in window.entries.values() if _can_be_cut(e) and e is not last]
    giants.sort(key=lambda entry: (-entry.tokens, entry.order))
    if last is not None and _can_be_cut(last):
        giants.append(last)
    for entry in giants:
        over = window.tokens - limit
        if over <= 0:
            break
        wanted = max(SMALLEST, entry.tokens - over - NOTE)
        if wanted + NOTE >= entry.tokens:
            continue
        text = entry.result_text if entry.is_result else entry.original.text
        length = len(text) * wanted // max(1, entry.original_tokens)
        if length < len(text):
            decision = Substitute(entry.origin, cut(text, length), f"over {limit} tokens", "cut")
            applier.apply(decision, last_human=True)


def _can_be_cut(entry: Entry) -> bool:
    """Results and human messages; what a model said is its own, and a summary is whole or gone."""
    return entry.is_human or (entry.is_result and not entry.is_settled)
