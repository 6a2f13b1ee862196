"""Which steps of a recording are on the branch of a place, and the rule that only those count."""

from __future__ import annotations

from collections.abc import Sequence

from projections.recording import Recording, Step
from projections.strategies.at_call import Broken, Seen
from projections.whatif import Change


def lineage(steps: Sequence[Step], position: int) -> tuple[Step, ...]:
    """The steps in front of a position that its context rests on, in order, rewinds left out.

    A rewind may go to a place that another rewind took back: then it is that branch again.
    """
    found: list[Step] = []
    for number, step in enumerate(steps):
        if step.position >= position:
            break
        if step.kind == "rewind":
            found = list(lineage(steps[:number], step.to + 1))
        else:
            found.append(step)
    return tuple(found)


def broken(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I19: behind a rewind all is as it stood there, and nothing rests on what was taken back.

    A summary stands only where all that it covers is on the branch; what was compacted or edited
    behind the place that the session went back to stands again as it was.
    """
    rewinds = [step.position for step in recording.steps if step.kind == "rewind"]
    if not rewinds:
        return
    at_call = {each.call.position: each for each in seen}
    done: list[Change] = []
    for before, each in zip(plain, seen, strict=True):
        done += [c for c in each.changes if c.kind not in ("declined", "over_budget")]
        here = each.call.position
        steps = lineage(recording.steps, here)
        positions = {here, *(step.position for step in steps)}
        changes = [change for change in done if change.position in positions]
        named = {origin for change in changes for origin in change.items}
        made = {origin: change for change in changes for origin in change.messages}
        known = {step.origin for step in steps if step.kind == "item"} | made.keys()
        standing = each.standing
        for origin, item in each.items:
            if origin not in known:
                yield each.number, f"{origin} was taken back and stands"
            elif not known.issuperset(made[origin].items if origin in made else ()):
                yield each.number, f"{origin} stands for what is not on its branch"
            elif item is not each.originals[origin] and origin not in named:
                yield each.number, f"what edited {origin} was taken back"
        for origin in before.standing:
            if origin not in standing and origin not in named:
                yield each.number, f"what took {origin} away was taken back"
        calls = [step.position for step in steps if step.kind == "call"]
        old = at_call[calls[-1]] if calls else None
        if old is None or all(not old.call.position < at < here for at in rewinds):
            continue  # no rewind since then: I14 holds them together
        later = [change for change in changes if change.position > old.call.position]
        free = {s.origin for s in steps if s.kind == "revise" and s.position > old.call.position}
        free.update(origin for c in later for origin in (*c.items, *c.messages))
        was = [pair_ for pair_ in old.items if pair_[0] not in free]
        if [pair_ for pair_ in each.items if pair_[0] not in free][: len(was)] != was:
            yield each.number, f"it does not begin as at call {old.number}, which it went back to"
