"""Every call of a session, rebuilt and compared, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from cli.models import ProblemData
from cli.models_check import CheckedData, ReplayCheckData
from cli.naming import ref_of
from eventlog.errors import EventInvalid, InputRefused, IntegrityFault
from eventlog.integrity import Problem, verify
from projections import Live
from projections.checking import CheckedCall, check
from projections.references import Reference


def checked(
    live: Live, place: Reference, progress: Callable[[int, int], None] | None = None
) -> ReplayCheckData:
    """The calls of a session, or the one that a place names.

    Raises InputRefused for another place, and IntegrityFault where an event cannot be read at all.
    """
    if place.kind not in ("now", "call"):
        raise InputRefused(
            f"calls are checked: name a session, or one of its calls such as @c5, not "
            f"@{ref_of(place)}"
        )
    only = place.number if place.kind == "call" else None
    try:
        found = [_data(each) for each in check(live, place.stream, only, progress)]
    except EventInvalid as fault:
        raise IntegrityFault(
            f"an event of {place.stream} cannot be read: {fault}; `verify` tells which"
        ) from None
    problems: Sequence[Problem] = ()
    if any(each.verdict == "broken" for each in found):
        problems = verify(live.log, stream=place.stream).problems
    outcomes = Counter(each.outcome for each in found)
    return ReplayCheckData(
        key=str(place.stream),
        calls=len(found),
        same=outcomes["same"],
        same_bytes=sum(each.same_bytes is True for each in found),
        differ=outcomes["differs"],
        unchecked=dict(Counter(e.detail for e in found if e.outcome == "unchecked")),
        checked=found,
        problems=[ProblemData.model_validate(problem._asdict()) for problem in problems],
    )


def _data(call: CheckedCall) -> CheckedData:
    return CheckedData(
        ref=f"c{call.number}",
        position=call.position,
        outcome=call.outcome,
        verdict=call.verdict,
        same_bytes=call.same_bytes,
        detail=call.detail,
    )
