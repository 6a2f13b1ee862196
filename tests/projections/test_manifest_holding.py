"""What the manifests of a session held of one item, held against the expanded manifests."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from projections.manifest import Holding, Piece, SentAs, encode, expand, holding

POSITIONS = [n for n in range(1, 60) if n % 3]
"""Of all items; what lies between are other events."""

ITEM = st.sampled_from(POSITIONS)
PIECE = st.one_of(
    ITEM.map(Piece),
    st.tuples(ITEM, st.sampled_from([70, 71])).map(lambda both: Piece(*both)),
    ITEM.map(lambda item: Piece(item, part=1)),
    ITEM.map(lambda item: Piece(item, redacted=True)),
    st.just(Piece("57.0")),
)
ENTRY = st.one_of(
    PIECE.map(lambda piece: (piece,)), st.lists(PIECE, min_size=2, max_size=3).map(tuple)
)
RUN = st.integers(0, 30).map(lambda at: [(Piece(item),) for item in POSITIONS[at : at + 8]])
REQUEST = st.one_of(
    RUN,
    st.lists(ENTRY, max_size=6),
    st.tuples(RUN, st.lists(ENTRY)).map(lambda both: [*both[0], *both[1]]),
)


def between(low: int, high: int) -> Sequence[int]:
    return [n for n in POSITIONS if low <= n <= high]


class TestHolding:
    """Without it ``why`` would expand every manifest of a long session to say who had an item."""

    @given(
        st.lists(st.tuples(REQUEST, st.integers(0, 8)), max_size=6),
        st.sampled_from([*POSITIONS, "57.0", "57.1", 3]),
    )
    def test_it_is_what_the_expanded_manifest_says(
        self, requests: list[tuple[list[SentAs], int]], item: int | str
    ) -> None:
        previous: list[SentAs] | None = None
        before = Holding()
        for new, kept in requests:
            entries = [*(previous or ())[:kept], *new]
            stored = encode(entries, previous, between)
            assert list(expand(stored, previous, between)) == entries
            before = holding(stored, item, before, POSITIONS)
            wanted = next((p for entry in entries for p in entry if p.item == item), None)
            place = next(
                (n for n, entry in enumerate(entries) if any(p.item == item for p in entry)), None
            )
            assert before == Holding(len(entries), place, wanted)
            previous = entries
