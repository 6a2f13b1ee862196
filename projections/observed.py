"""The contexts that the model really had, as folded from the log: what strategies are held against.

Same data as a what-if, so that everything that is measured of one is measured of the other. Its
changes are the decisions that the log holds.
"""

from __future__ import annotations

from projections.recording import Recording, Step
from projections.runs import Origin, origin
from projections.seen import Seen
from projections.strategies.window import Window
from projections.whatif import Change, Observer, WhatIf

OBSERVED = "observed"


def observed(recording: Recording, observer: Observer | None = None) -> WhatIf:
    """The run of the recording itself."""
    run = WhatIf(OBSERVED)
    window = Window()
    for step in recording.seen:
        window = folded(step, window, run, observer)
    return run


def folded(step: Seen | Step, window: Window, run: WhatIf, observer: Observer | None) -> Window:
    """The window after one more step: the same one, or the one that took its place."""
    if isinstance(step, Step):
        if step.item is None:
            run.called(window, step.position, observer)
        else:
            window.append(step.origin, step.item, step.tokens, first=step.is_first)
    elif step.kind == "render":
        _render(step, window, run)
    elif step.kind == "compact":
        _compact(step, window, run)
    else:
        return _again(step, window, run)
    return window


def _render(step: Seen, window: Window, run: WhatIf) -> None:
    entry = window.entries.get(step.origin)
    if entry is None:
        return
    for item, tokens in step.items:
        before = entry.tokens
        if item.form == "revised":
            entry.original, entry.original_tokens = item, tokens
        cleared = item.form not in ("original", "cut", "revised")
        window.substitute(step.origin, item, tokens, cleared=cleared)
        if item.form != "revised":
            _changed(run, step, item.form, (step.origin,), before, tokens)


def _compact(step: Seen, window: Window, run: WhatIf) -> None:
    before = sum(window.entries[o].tokens for o in step.covered if o in window.entries)
    window.replace(step.covered, {origin(item.id): (item, n) for item, n in step.items})
    kind = "summarised" if step.items else "dropped"
    after = sum(tokens for _, tokens in step.items)
    _changed(run, step, kind, step.covered, before, after)


def _again(step: Seen, window: Window, run: WhatIf) -> Window:
    new = Window(window.counting, window.embed)
    for item, tokens in step.items:
        new.append(origin(item.id), item, tokens)
    new.follows(window)
    gone = tuple(o for o in window.entries if o not in new.entries)
    brought = tuple(o for o, entry in new.entries.items() if entry.is_summary)
    fresh = [o for o in brought if o not in window.entries]
    if gone and (fresh or step.cause == "compacted"):
        before = sum(window.entries[o].tokens for o in gone)
        after = sum(new.entries[o].tokens for o in fresh)
        _changed(run, step, "summarised" if fresh else "dropped", gone, before, after)
    return new


def _changed(
    run: WhatIf, step: Seen, kind: str, items: tuple[Origin, ...], before: int, after: int
) -> None:
    change = Change(step.position, len(run.calls), kind, items, before, after, step.reason)
    run.changes.append(change)
