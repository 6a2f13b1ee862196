"""What a strategy says it waits for, held against when it really begins."""

from __future__ import annotations

import re

import pytest
from contexts_made import answer, result, say
from specs_made import EVERY

from projections.attention import Attention
from projections.items import Item
from projections.running import InCharge
from projections.strategies import parse
from projections.strategies.base import Moment, Strategy
from projections.strategies.made import made
from projections.strategies.window import Window
from projections.tokens import count_item, counter

COUNTING = counter()
_UNDER = re.compile(r"([\d,]+) [a-z ]+, and it begins over ([\d,]+)")
_AGAIN = re.compile(r"([\d,]+) results have come, and it masks again at ([\d,]+)")


class Listening(InCharge):
    """Keeps what every strategy said at every moment at which it did not begin."""

    said: list[tuple[Strategy, str]]

    def _waiting(self, place: int, moment: Moment, until: float | None = None) -> None:
        super()._waiting(place, moment, until)
        if until is None:
            self.said.append((self.strategies[place], self.attention[place].waits))


def number(text: str) -> int:
    return int(text.replace(",", ""))


class TestWaits:
    """A run that did nothing and cannot say why is taken for a broken one."""

    @pytest.mark.parametrize("spec", EVERY)
    def test_each_says_how_far_it_is_from_its_trigger(self, spec: str) -> None:
        for seed in (1, 2, 3):
            runner = Listening(parse(spec), COUNTING, recording=made(seed, counting=COUNTING))
            runner.said = []
            runner.run()
            for strategy, waits in runner.said:
                assert waits, strategy.spec
                for have, limit in _UNDER.findall(waits):
                    assert number(have) <= number(limit), (strategy.spec, waits)
                for have, due in _AGAIN.findall(waits):
                    assert number(have) < number(due), (strategy.spec, waits)

    @pytest.mark.parametrize("polling", [1, 2, 5])
    @pytest.mark.parametrize("n", [0, 1, 4])
    @pytest.mark.parametrize("more", ["", ",keep_first=false", ",count_task=true"])
    def test_masking_begins_at_the_result_that_was_foretold(
        self, polling: int, n: int, more: str
    ) -> None:
        (mask,) = parse(f"mask:n={n},polling={polling}{more}")
        runner = InCharge([mask], COUNTING)
        position, foretold, begun = 1, 0, 0

        def comes(item: Item) -> None:
            nonlocal position
            around = runner.came(item, count_item(COUNTING, item), position)
            position = around.position + 1 + len(around.after)

        comes(say(1, "user", "Look.", source="human"))
        for number_of in range(1, 41):
            comes(answer(0, f"call_{number_of}"))
            comes(result(0, f"call_{number_of}", "a long result " * 40))
            events = runner.calls(position)
            position += 1 + len(events)
            (told,) = runner.attention
            come = number_of + ("count_task" in more)
            if events:
                assert foretold in (0, come)
                begun += 1
            found = _AGAIN.search(mask.waits(runner.window, Moment("model_call", position)))
            foretold = number(found[2]) if found is not None else 0
            assert foretold > come
            assert told.asked == number_of
        assert begun

    def test_moments_are_counted(self) -> None:
        (window,) = parse("window:tokens=900")
        told = Attention(window.spec, window.at)
        told.not_triggered(window, Window(COUNTING), Moment("model_call", 4))
        told.not_triggered(window, Window(COUNTING), Moment("model_call", 9))
        assert (told.asked, told.first, told.last) == (2, 4, 9)
        assert told.waits == "0 tokens stand, and it begins over 900"
        told.is_stuck(Window(COUNTING), 1200.5, Moment("model_call", 12))
        assert told.waits.endswith("0 tokens stand, and it is asked again over 1,200")
        told.begins(Moment("model_call", 15))
        assert (told.asked, told.last, told.waits) == (4, 15, "")
