"""The conformance kit: any strategy, a user's too, run over made recordings and held to the rules.

    >>> from projections.strategies.check import check
    >>> check("window:tokens=600")
    []

What is checked, by the numbers of reference/strategies.md 1.2: I1 the same bytes twice; I2 what
comes later changes nothing; I3 no event is changed; I4 to I7 every provider takes the context, no
batch, thinking or reasoning is parted; I8 to I12 system, who speaks first, last human message, open
calls, the budget; I13 every change saves; I14 nothing changes without a change that says so; I15 to
I17 marks and text; ``decisions`` and ``items`` that what it gives are decisions, about items that
there are; I18 no attempt without end; I19 behind a rewind nothing rests on what was taken
back; I20 nothing is unaccounted for. Give it parameters small enough that it decides something: the
recordings have some thousand tokens.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eventlog.errors import CtxlogError, InputRefused
from projections.items import Item
from projections.recording import Recording, Step
from projections.runs import Origin
from projections.strategies import conformance
from projections.strategies.at_call import Seen
from projections.strategies.base import Strategy
from projections.strategies.decisions import Decision, Summary
from projections.strategies.made import made
from projections.strategies.none import NoStrategy
from projections.strategies.spec import FunctionStrategy, parse
from projections.strategies.window import Window
from projections.tokens import Counter, Utf8Counter, count_item
from projections.whatif import Change, Runner, WhatIf
from projections.written import Summarize

Subject = str | Strategy | Sequence[Strategy] | Callable[..., Iterable[Decision]]
"""A spec, a strategy, a pipeline, or a function from a window and a moment to decisions."""

SEEDS = range(12)


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that a strategy breaks, and where."""

    invariant: str
    recording: str
    call: int
    message: str

    def __str__(self) -> str:
        return f"{self.invariant} at call {self.call} of {self.recording}: {self.message}"


def check(
    subject: Subject,
    *,
    recordings: Mapping[str, Recording] | None = None,
    counting: Counter | None = None,
    seeds: Iterable[int] = SEEDS,
) -> list[Finding]:
    """Every rule that the strategy breaks, the first of each kind in each recording.

    Raises InputRefused for a spec that is none.
    """
    counter = counting or Utf8Counter()
    given = recordings or {f"made {seed}": made(seed, counting=counter) for seed in seeds}
    found: list[Finding] = []
    for name, recording in given.items():
        for how, summarize in SUMMARIZERS.items():
            where = f"{name}, {how}"
            firsts: dict[str, Finding] = {}
            for finding in _checked(subject, recording, counter, summarize, where):
                firsts.setdefault(finding.invariant, finding)
            found.extend(firsts.values())
    return found


def strategies_of(subject: Subject) -> tuple[Strategy, ...]:
    """Fresh strategies: whatever one might keep between runs would show."""
    if isinstance(subject, str):
        return parse(subject)
    if isinstance(subject, Strategy):
        return (subject,)
    if callable(subject):
        return (FunctionStrategy(getattr(subject, "__name__", "function"), subject),)
    return tuple(subject)


# -- summarizers that everything has to hold with -------------------------------------------------


def short(wanted: Summary, items: Sequence[Item]) -> str:
    """Two words of each item."""
    said = " / ".join(" ".join(item.text.split()[:2]) for item in items)
    return f"{len(items)} items: {said}"[: wanted.max_tokens * 3]


def _endless(wanted: Summary, items: Sequence[Item]) -> str:
    return "more and more " * (sum(len(item.text) for item in items) + 50)


SUMMARIZERS: dict[str, Summarize | None] = {
    "no summarizer": None,
    "short summaries": short,
    "inflated summaries": _endless,
}


# -- one recording --------------------------------------------------------------------------------


def _checked(
    subject: Subject,
    recording: Recording,
    counting: Counter,
    summarize: Summarize | None,
    where: str,
) -> Iterator[Finding]:
    strategies_of(subject)  # what is no spec at all is the caller's fault, and no finding
    before = [copy.deepcopy(step.item.message) if step.item else None for step in recording.steps]
    try:
        plain = run((NoStrategy(),), recording, counting, None)
        seen = run(strategies_of(subject), recording, counting, summarize)
        again = run(strategies_of(subject), recording, counting, summarize)
    except InputRefused as error:
        yield Finding("decisions", where, 0, str(error))
        return
    except CtxlogError:
        raise
    except Exception as error:
        yield Finding("I12", where, 0, f"it raised {type(error).__name__}: {error}")
        return
    after = [step.item.message if step.item else None for step in recording.steps]
    if before != after:
        yield Finding("I3", where, 0, "it changed a message of the recording")
    if _bytes(seen) != _bytes(again):
        yield Finding("I1", where, 0, "two runs are not the same")
    yield from _pure(subject, recording, counting, summarize, where, seen)
    yield from _stable_marks(subject, recording, counting, summarize, where, seen)
    for rule in conformance.RULES:
        for call, message in rule.broken(recording, plain, seen):
            yield Finding(rule.name, where, call, message)


def run(
    strategies: Sequence[Strategy],
    recording: Recording,
    counting: Counter,
    summarize: Summarize | None,
) -> list[Seen]:
    """The context at each call of the run, with the changes since the call before."""
    seen: list[Seen] = []
    told = 0

    def observe(result: WhatIf, window: Window, touched: Mapping[Origin, None]) -> None:
        nonlocal told
        changes: tuple[Change, ...] = tuple(result.changes[told:])
        told = len(result.changes)
        position = result.calls[-1].position
        steps = tuple(s for s in recording.steps if s.position < position)
        seen.append(Seen.of(runner, result.calls[-1], changes, steps))

    runner = Runner(recording, strategies, counting, summarize, observer=observe)
    runner.run()
    return seen


def _bytes(seen: Sequence[Seen]) -> list[Any]:
    return [(each.call, each.changes, each.items) for each in seen]


def _pure(
    subject: Subject,
    recording: Recording,
    counting: Counter,
    summarize: Summarize | None,
    where: str,
    seen: Sequence[Seen],
) -> Iterator[Finding]:
    """The recording, cut off behind some of its calls, gives the same contexts up to there."""
    for place in sorted({len(seen) // 3, len(seen) * 2 // 3}):
        until = seen[place].call.position
        steps = tuple(step for step in recording.steps if step.position <= until)
        shorter = replace(recording, steps=steps)
        early = run(strategies_of(subject), shorter, counting, summarize)
        if _bytes(early) != _bytes(seen[: place + 1]):
            yield Finding("I2", where, place + 1, "what comes later changes an earlier context")


def _stable_marks(
    subject: Subject,
    recording: Recording,
    counting: Counter,
    summarize: Summarize | None,
    where: str,
    seen: Sequence[Seen],
) -> Iterator[Finding]:
    """With one more message in front every place in a list is another; the marks are the same."""
    message = {"role": "system", "content": "."}
    item = Item("0", "0", "message", "openai_chat", "system", message)
    first = Step("item", 0, 0, item, count_item(counting, item))
    moved = replace(recording, steps=(first, *recording.steps))
    other = run(strategies_of(subject), moved, counting, summarize)
    for one, two in zip(seen, other, strict=True):
        marks = dict(conformance.marks(one))
        for origin, text in conformance.marks(two):
            if marks.get(origin, text) != text:
                yield Finding("I15", where, one.call.number, f"the mark of {origin} moves")
