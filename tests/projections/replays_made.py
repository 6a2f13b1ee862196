"""Recordings for the tests of strategies, built from items by hand or drawn at random."""

from __future__ import annotations

from collections.abc import Sequence

from contexts_made import answer, result, say

from projections.items import Item
from projections.pairing import one_answer
from projections.reading import role_of
from projections.recording import Recording, Step
from projections.strategies import parse
from projections.strategies.base import Strategy
from projections.tokens import Utf8Counter, count_item
from projections.whatif import Runner, Summarize

COUNTER = Utf8Counter()


def recording_of(items: Sequence[Item], *asides: Step) -> Recording:
    """The items as they came, a call before each answer of a model and at the end.

    The items of OpenAI's Responses that stand together are one answer.

    Item ``n`` comes at position ``10 n``, so that there is room for steps aside.
    """
    steps: list[Step] = []
    for before, each in zip([None, *items], items, strict=False):
        number = int(each.id)
        goes_on = before is not None and role_of(before) == "assistant" and one_answer(before, each)
        if role_of(each) == "assistant" and not goes_on:
            steps.append(Step("call", number * 10 - 1, text="m"))
        steps.append(Step("item", number * 10, number, each, count_item(COUNTER, each)))
    last = max((step.position for step in steps), default=0)
    steps.append(Step("call", last + 9, text="m"))
    steps = sorted((*steps, *asides), key=lambda step: step.position)
    return Recording(tuple(steps), {}, COUNTER.name)


def replayed(
    items: Sequence[Item],
    spec: str | Sequence[Strategy],
    *asides: Step,
    summarize: Summarize | None = None,
) -> Runner:
    """A runner that has replayed the items under a strategy."""
    strategies = parse(spec) if isinstance(spec, str) else spec
    runner = Runner(recording_of(items, *asides), strategies, COUNTER, summarize)
    runner.run()
    return runner


def human(number: int, text: str = "go on") -> Item:
    """What a person typed."""
    return say(number, "user", text, source="human")


def system(number: int = 1, text: str = "You are an agent.") -> Item:
    """A system prompt."""
    return say(number, "system", text)


def work(number: int, text: str = "done", name: str = "run", arguments: str = "{}") -> list[Item]:
    """An answer that calls one tool, and its result: items ``number`` and ``number + 1``."""
    call_id = f"call_{number}"
    return [
        answer(number, call_id, name=name, arguments=arguments),
        result(number + 1, call_id, text),
    ]


def session(rounds: int, text: str = "word " * 60, turns: int = 1) -> list[Item]:
    """A system prompt, and so many rounds of work, a human message before each ``turns``-th."""
    found = [system()]
    for number in range(rounds):
        if number % turns == 0:
            found.append(human(len(found) + 1, f"task {number}"))
        found += work(len(found) + 1, f"{number} {text}")
    return found


def origins(runner: Runner) -> list[int | str]:
    """What stands, in order."""
    return list(runner.window.entries)


def texts(runner: Runner) -> list[str]:
    """What stands, as text."""
    return [item.text for item in runner.items()]
