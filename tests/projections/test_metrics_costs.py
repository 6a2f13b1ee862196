"""What a strategy would have cost: each call at the price that it met, and nothing at none."""

from __future__ import annotations

from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_sessions import Session, long_session

from eventlog.events import Usage
from projections.compare import compare
from projections.comparison import ENOUGH, Comparison
from projections.metrics.costs import Cost, Part, Request, Volume, cost, parts, volume
from projections.metrics.prices import CACHED, FLAT, Period, Prices, Rates, Tier, Unknown, instant
from projections.tokens import counter
from projections.written import Written

COUNTING = counter()
BASE = Rates(input=3, cache_read=0.3, cache_write=4, output=15)
DEAR = Rates(input=6, cache_read=0.6, cache_write=8, output=20)


def part(rates: Rates, **tokens: float) -> Part:
    full = {"cached": 0, "fresh": 0, "output": 0, "shown": 0, "written": 0, **tokens}
    only = {name: getattr(rates, name) for name in Rates.model_fields}
    return Part(rates=Rates(**only), volume=Volume.model_validate(full))


def table(**more: object) -> Prices:
    return Prices.model_validate({"name": "x", **dict(BASE), **more})


def tiered(above: int) -> Prices:
    return table(tiers=(Tier(above=above, **dict(DEAR)),))


def compared(made: Session, *tables: Prices | Unknown, spec: str = "none") -> Comparison:
    return compare(
        [made.recording()], [spec], COUNTING, lambda _: lambda *_: "short", prices=tables
    )


def spent(found: Comparison, row: int = 1, prices: int = 0) -> Cost:
    known = found.rows[row].sessions[0].costs[prices]
    assert known is not None
    return known


class TestSums:
    """Without this the verdict of a comparison is that of one provider."""

    def test_the_sum_is_as_defined(self) -> None:
        tokens = {"cached": 2e6, "fresh": 1e6, "output": 1e5, "shown": 1e6, "written": 1e4}
        found = cost("x", [part(CACHED, **tokens)])
        assert found.prompt == pytest.approx(0.1 * 2 + 1.25)
        assert (found.output, found.overhead) == (pytest.approx(0.5), pytest.approx(1.05))
        assert found.total == pytest.approx(found.prompt + found.output + found.overhead)
        assert cost("x", [part(FLAT, **tokens)]).prompt == pytest.approx(3)

    def test_parts_of_different_rates_add_up(self) -> None:
        one, other = part(BASE, cached=1e6, output=1e5), part(DEAR, fresh=2e6, shown=1e6)
        both = cost("x", [one, other])
        assert both.total == pytest.approx(cost("x", [one]).total + cost("x", [other]).total)

    @given(
        st.lists(
            st.builds(Request, st.sampled_from(["", "2026-01-01"]), *[st.integers(0, 999)] * 5)
        ),
        st.integers(0, 3000),
        st.sampled_from([1, 1.5, 0.3]),
    )
    def test_no_token_is_lost_between_tiers_or_paid_twice(
        self, asked: list[Request], above: int, factor: float
    ) -> None:
        found = parts(asked, tiered(above), factor)
        whole = volume(asked, factor)
        for name in Volume.model_fields:
            summed = sum(getattr(one.volume, name) for one in found)
            assert summed == pytest.approx(getattr(whole, name))

    @pytest.mark.parametrize("price", [-1, float("nan"), float("inf")])
    def test_a_price_is_a_number(self, price: float) -> None:
        with pytest.raises(ValueError, match="input"):
            Prices(name="x", input=price, cache_read=1, cache_write=1, output=1)


class TestBreakEven:
    """Without this nobody sees at which price of a cache read the verdict turns."""

    @pytest.mark.parametrize("cheaper", ["above", "below"])
    def test_both_cost_the_same_there(self, cheaper: str) -> None:
        def much(rates: Rates) -> list[Part]:
            return [part(rates, cached=9e6, fresh=1e6)]

        def little(rates: Rates) -> list[Part]:
            return [part(rates, cached=3e6, fresh=2e6)]

        one, other = (little, much) if cheaper == "above" else (much, little)
        found = cost("x", one(CACHED), other(CACHED))
        assert found.cheaper == cheaper
        assert found.break_even is not None
        even = CACHED.model_copy(update={"cache_read": found.break_even})
        assert cost("x", one(even)).total == pytest.approx(cost("x", other(even)).total, rel=1e-5)
        dearer = CACHED.model_copy(update={"cache_read": found.break_even * 2})
        turned = cost("x", one(dearer)).total < cost("x", other(dearer)).total
        assert turned == (cheaper == "above")

    def test_it_is_a_part_of_the_input_price_of_each_tier(self) -> None:
        def small(base: Rates) -> list[Part]:
            return [part(base, cached=2e6, fresh=2e6, output=1e5)]

        def large(base: Rates, dear: Rates) -> list[Part]:
            return [part(base, cached=1e6, fresh=1e5), part(dear, cached=4e6, output=1e5)]

        found = cost("x", small(BASE), large(BASE, DEAR))
        assert found.break_even is not None
        base, dear = (
            rates.model_copy(update={"cache_read": found.break_even * rates.input})
            for rates in (BASE, DEAR)
        )
        same = cost("x", large(base, dear)).total
        assert cost("x", small(base)).total == pytest.approx(same, rel=1e-5)

    def test_what_sends_less_of_everything_is_always_cheaper(self) -> None:
        much, little = [part(CACHED, cached=9e6, fresh=2e6)], [part(CACHED, cached=3e6, fresh=1e6)]
        assert cost("x", little, much).cheaper == "always"
        assert cost("x", much, little).cheaper == "never"
        assert cost("x", much, much).cheaper == "equal"


class TestTiers:
    """Without this a strategy that keeps prompts small looks as dear as one that does not."""

    def grown(self) -> Session:
        made = Session()
        made.human("x" * 4000)
        made.call(text="fine", input=1000, output=10)
        made.human("y" * 4000)
        made.call(text="good", input=2000, output=10)
        return made

    def test_all_of_a_call_over_the_start_costs_more_and_no_other_call(self) -> None:
        found = spent(compared(self.grown(), tiered(1500)))
        assert [one.rates for one in found.parts] == [BASE, DEAR]
        assert [one.volume.output for one in found.parts] == [10, 10]
        first, second = found.parts
        assert second.volume.cached + second.volume.fresh > first.volume.fresh > 900

    def test_the_start_itself_is_not_over_it(self) -> None:
        prices = tiered(1000)
        assert prices.of_call("", 1000) == prices
        assert prices.of_call("", 1000.5).output == 20

    def test_the_highest_of_several_counts(self) -> None:
        top = Tier(above=50, input=9, cache_read=9, cache_write=9, output=9)
        prices = table(tiers=(top, Tier(above=10, **dict(DEAR))))
        assert [prices.of_call("", size).input for size in (9, 11, 51)] == [3, 6, 9]

    def test_tokens_count_as_the_provider_counts_them(self) -> None:
        made = Session()
        made.human("x" * 4000)
        made.call(text="fine", input=1507, output=9)
        found = compared(made, tiered(1400))
        assert found.rows[1].sessions[0].tokens.peak < 1100
        assert found.rows[1].peak == 1507
        assert [one.rates for one in spent(found).parts] == [DEAR]

    def test_what_keeps_prompts_small_stays_under_it(self) -> None:
        made = long_session(8)
        peak = compared(made, tiered(0)).rows[1].peak
        found = compared(made, tiered(peak - 1), table(), spec="clear:keep=0,at=model_call")
        assert len(spent(found, row=0).parts) == 2
        assert len(spent(found).parts) == 1
        assert spent(found).total == spent(found, prices=1).total

    def test_a_summary_is_priced_by_its_own_prompt(self) -> None:
        made = long_session(8)
        found = compared(made, tiered(10**9), table(), spec="compact:keep_turns=2")
        summaries, measured = found.rows[1].summaries, found.rows[1].sessions[0]
        assert summaries > 1
        largest = measured.compactions.shown // summaries + 1
        split = spent(compared(made, tiered(largest), spec="compact:keep_turns=2"))
        dear = [one for one in split.parts if one.rates == DEAR]
        assert 0 < sum(one.volume.shown for one in dear) < measured.volume.shown
        assert sum(one.volume.shown for one in split.parts) == measured.compactions.shown
        assert sum(one.volume.written for one in split.parts) == measured.compactions.written
        assert spent(found).total == spent(found, prices=1).total


class TestSummarizersBills:
    """Without this a model's summaries cost what somebody else's counter says."""

    def test_what_a_provider_billed_is_what_is_paid_also_for_what_was_of_no_use(self) -> None:
        answers = cycle(["", "short"])
        usage = Usage(input=60, cached=40, output=20)

        def summarize(*_: object) -> Written:
            return Written(next(answers), "m", usage=usage)

        made = long_session(8)
        summed = [
            spent(compare([made.recording()], ["compact:keep_turns=2"], COUNTING, given))
            for given in (lambda _: summarize, None)
        ]
        volumes = [part.volume for cost in summed for part in cost.parts]
        asked = volumes[0].shown / 100
        assert asked > 2
        assert volumes[0].written == 20 * asked
        assert (volumes[1].shown, summed[1].overhead) == (0, 0)


class TestPeriods:
    """Without this a session of last year is priced as if it had been made today."""

    PRICES = table(
        periods=(
            Period(since="2026-01-01T00:00:00Z", **dict(BASE)),
            Period(since="2026-02-01T00:00:00Z", **dict(DEAR)),
        ),
        output=99,
    )

    @pytest.mark.parametrize(
        ("when", "output"),
        [
            ("2025-12-31T23:59:59Z", 99),
            ("2026-01-01T00:00:00Z", 15),
            ("2026-01-31T23:59:59", 15),
            ("2026-02-01T00:30:00+01:00", 15),
            ("2026-02-01T00:00:00", 20),
            ("2027-01-01", 20),
            ("<script>", 99),
            ("", 99),
        ],
    )
    def test_a_call_costs_what_it_did_then(self, when: str, output: float) -> None:
        assert self.PRICES.of_call(when, 1).output == output

    def test_every_call_by_its_own_time(self) -> None:
        made = Session()
        made.human("one")
        for when in ("2026-01-05T10:00:00Z", "2026-02-05T10:00:00Z", "2026-02-06T10:00:00Z"):
            made.when = when
            made.call(text="word", input=10, output=7)
        found = spent(compared(made, self.PRICES))
        assert [(one.rates.output, one.volume.output) for one in found.parts] == [(15, 7), (20, 14)]

    def test_a_time_that_nobody_can_read_begins_nothing(self) -> None:
        with pytest.raises(ValueError, match="is no time"):
            Period(since="soon", **dict(BASE))

    @pytest.mark.parametrize("when", ["0001-01-01T00:00:00+10:00", "9999-12-31T23:00:00-10:00"])
    def test_a_time_beyond_all_calendars_is_none(self, when: str) -> None:
        assert instant(when) is None


class TestUnknown:
    """Without this what nobody knows the price of costs nothing, and wins."""

    def test_it_has_no_cost_and_the_others_keep_theirs(self) -> None:
        found = compared(long_session(4), Unknown(name="m"), table())
        for row in found.rows:
            assert (row.costs[0], row.totals[0], row.sessions[0].costs[0]) == (None, None, None)
            assert (row.totals[1] or 0) > 0

    def test_nobody_wins_at_it_however_many_sessions_there_are(self) -> None:
        made = long_session(4).recording()
        found = compare(
            [made] * ENOUGH, ["none", "clear:keep=0"], COUNTING, prices=[Unknown(name="m"), table()]
        )
        said = {each.by: each for each in found.winners}
        assert (said["cost m"].strategy, said["cost m"].why) == (None, "prices are unknown")
        assert "prices" not in said["cost x"].why

    def test_it_says_so_in_json_and_comes_back(self) -> None:
        found = compared(long_session(4), Unknown(name="m"), tiered(9), TestPeriods.PRICES)
        assert found.model_dump()["options"]["prices"][0] == {"name": "m", "incomplete": True}
        assert Comparison.model_validate_json(found.model_dump_json()) == found
