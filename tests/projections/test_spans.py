"""Parts of a text: reckoned with as sets of places, without making the sets."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from projections.spans import Span, merged, often, size, without

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8)).map(lambda s: (s[0], sum(s))))


def places(spans: list[Span]) -> set[int]:
    return {place for start, end in spans for place in range(start, end)}


class TestSpans:
    """Without these a line that everybody holds is erased everywhere, or a quote is passed over."""

    @given(SPANS)
    def test_merged_are_the_same_places_in_order_and_apart(self, spans: list[Span]) -> None:
        found = merged(spans)
        assert places(found) == places(spans)
        assert size(found) == len(places(spans))
        assert all(a[1] < b[0] for a, b in pairwise(found))

    @given(SPANS, SPANS)
    def test_without_leaves_what_the_others_do_not_cover(
        self, spans: list[Span], others: list[Span]
    ) -> None:
        left = without(merged(spans), merged(others))
        assert places(left) == places(spans) - places(others)
        assert size(left) == len(places(left))

    @given(st.lists(SPANS, max_size=6), st.integers(0, 4))
    def test_often_is_what_more_than_so_many_cover(
        self, covers: list[list[Span]], more_than: int
    ) -> None:
        counted = [place for cover in covers for place in places(cover)]
        wanted = {place for place in counted if counted.count(place) > more_than}
        found = often(map(merged, covers), more_than)
        assert places(found) == wanted
        assert found == merged(found)
