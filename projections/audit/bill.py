"""Where the provider's own count contradicts what the log says that a request held. A heuristic.

Tokens here are estimates, and something stands in every request that is not in the log (a system
prompt, tools). So the two are made comparable first, by ``tokens.calibrate``, over all calls of a
model; what a bill may lack or have beyond that is generous. Of a single sudden fall no calibration
is needed: the same model and tools, nothing left by the log, and a bill of much less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from projections.audit.model import Finding
from projections.audit.rule import Rule, plural, some, spans
from projections.audit.subject import Called
from projections.metrics.compactions import COMPACTING
from projections.prefixes import PrefixRow
from projections.tokens import ENOUGH_CALLS, calibrate

SHARE = 0.3
"""Of what was to be expected: how far a bill may be off."""

LEAST = 2_000
"""Tokens under which no difference is told."""

_Billed = tuple[Called, PrefixRow]


class Bill(Rule):
    """One finding for each stretch of calls, or for each fall."""

    name = "bill"
    about = "bills that are far from what the log says that the requests held"

    def find(self) -> Iterator[Finding]:
        """Stretches that are off, then single falls."""
        billed = [
            (call, row)
            for call, row in zip(self.subject.calls, self.subject.prefixes, strict=True)
            if call.billed
        ]
        told: set[int] = set()
        for model in dict.fromkeys(call.model for call, _ in billed):
            of_model = [each for each in billed if each[0].model == model]
            for finding, numbers in self._off(of_model):
                told |= numbers
                yield finding
        yield from self._falls(billed, told)

    def _off(self, billed: Sequence[_Billed]) -> Iterator[tuple[Finding, set[int]]]:
        """Stretches that are off in one direction."""
        if len(billed) < ENOUGH_CALLS:
            return
        found = calibrate([(row.tokens, call.billed or 0) for call, row in billed])
        expected = {call.number: found.calibrated(row.tokens).tokens for call, row in billed}

        def off(each: _Billed) -> int:
            call, _ = each
            wanted, was = expected[call.number], call.billed or 0
            if abs(was - wanted) <= LEAST + SHARE * wanted:
                return 0
            return 1 if was > wanted else -1

        for sign, group in groupby(billed, key=off):
            if not sign:
                continue
            calls = [call for call, _ in group]
            first = calls[0]
            was, wanted = first.billed or 0, expected[first.number]
            left = self._left_with(first)
            if sign > 0:
                why = "more stood in the request than the log holds"
            elif left:
                why = f"before {left} more had stood in the requests than the log holds"
            else:
                why = "something had left the request that the log does not say"
            yield (
                self._finding(
                    calls,
                    f"{_were(calls)} billed {was:,} tokens where ≈{wanted:,} were to be expected: "
                    f"{why}",
                    is_less=sign < 0,
                ),
                {call.number for call in calls},
            )

    def _left_with(self, call: Called) -> str:
        """The compaction between a call and the one before, if there is one."""
        moves = self.subject.passages.calls[call.number - 1].moves
        names = [self.subject.name(m.position) for m in moves if m.kind in COMPACTING]
        return names[-1] if names else ""

    def _falls(self, billed: Sequence[_Billed], told: set[int]) -> Iterator[Finding]:
        passages = self.subject.passages.calls
        for (before, earlier), (call, row) in pairwise(billed):
            was, now = before.billed or 0, call.billed or 0
            same = (before.model, before.tools) == (call.model, call.tools)
            moved = any(passages[n].moves for n in range(before.number, call.number))
            if (
                same
                and not moved
                and told.isdisjoint((before.number, call.number))
                and row.tokens >= earlier.tokens
                and was - now > LEAST + SHARE * was
            ):
                yield self._finding(
                    [call],
                    f"{call.name} was billed {now:,} tokens after {was:,} for {before.name}, and "
                    "nothing left in between by this log",
                    is_less=True,
                )

    def _finding(self, calls: Sequence[Called], message: str, *, is_less: bool) -> Finding:
        return Finding(
            rule=self.name,
            severity="warning" if is_less else "info",
            refs=some(call.name for call in calls),
            message=message,
            heuristic=True,
            next=("show", f"S@{calls[0].name}"),
            position=calls[0].position,
            count=len(calls),
        )


def _were(calls: Sequence[Called]) -> str:
    if len(calls) == 1:
        return f"{calls[0].name} was"
    return f"{plural(len(calls), 'call')} ({spans(call.number for call in calls)}) were"
