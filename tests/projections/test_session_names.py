"""People type as little of an id as they can; it must mean one session, the right one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.session_names import matching, near, pieces, shortest

ROOT = "fdd24234-3c2a-4958-91ed-59c63b12ba1e"
AGENT = "fe5e1c67-53e7-4862-81ae-d0e013e3270b"
NAMES = [
    ROOT,
    f"{ROOT}.fork1",
    f"{ROOT}.fork1.fork1",
    f"{ROOT}.fork10",
    f"{ROOT}~2",
    f"{AGENT}.6690d10e-f521-4ac0-0000-000000000000",
    f"{AGENT}.60dade70-20bb-4edb-0000-000000000000",
    f"{AGENT}.60dade70-20bb-4edb-0000-000000000000~2",
    "short",
]


class TestNear:
    """Who mistypes a name should not have to list two thousand sessions to find it."""

    SESSIONS = (
        ("8f31c0a9-5d2e", "tests/test_refund.py is red"),
        ("fdd24234-3c2a", "Review the e2e tests"),
        ("a2a9b7ac6274", "sw01_elided_replay"),
        ("empty", ""),
    )

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("refund", [0]),
            ("E2E", [1]),
            ("8f32", [0]),
            ("fdd24235", [1]),
            ("sw02", [2]),
            ("sw01_elided_reply", [2]),
            ("tests", [0, 1]),
            ("nosuch", []),
            ("", []),
            (" ", []),
            ("x" * 5000, []),
        ],
    )
    def test_what_may_have_been_meant(self, text: str, found: list[int]) -> None:
        assert near(text, self.SESSIONS) == found

    def test_no_more_than_a_few(self) -> None:
        assert near("run", [(f"run-{n}", "") for n in range(50)]) == [0, 1, 2]


class TestMatching:
    """Without it a short id stops working as soon as the session has a fork or a sub-agent."""

    @pytest.mark.parametrize("text", ["fdd2", "fdd24234", "fdd24234-3c2a", ROOT])
    def test_a_session_is_meant_although_others_grew_out_of_it(self, text: str) -> None:
        assert matching(text, NAMES) == [ROOT]

    @pytest.mark.parametrize(
        ("text", "suffix"),
        [("fdd2.fork1", ".fork1"), ("fdd2~2", "~2"), ("fdd2.fork10", ".fork10"),
         ("fdd2.f.f", ".fork1.fork1"), (f"{ROOT}.fork1", ".fork1")],
    )  # fmt: skip
    def test_the_suffix_can_be_put_behind_a_short_beginning(self, text: str, suffix: str) -> None:
        assert matching(text, NAMES) == [ROOT + suffix]

    def test_the_suffix_can_be_cut_short_too(self) -> None:
        assert matching("fe5e.6690", NAMES) == [NAMES[5]]
        assert matching("fe5e.60", NAMES) == [NAMES[6]]
        assert matching("fe5e.60~2", NAMES) == [NAMES[7]]

    def test_what_is_between_several_is_not_guessed(self) -> None:
        assert matching("fe5e", NAMES) == NAMES[5:8]
        assert matching("fe5e.6", NAMES) == NAMES[5:8]
        assert matching("fdd2.f", [f"{ROOT}.fork2", f"{ROOT}.fork3"]) != []
        assert len(matching("abcd", ["abcd-1", "abcd-2"])) == 2

    def test_the_same_id_twice_is_two(self) -> None:
        assert matching("shor", ["short", "short", "short.x"]) == ["short", "short"]

    def test_nothing_is_like_it(self) -> None:
        assert matching("nosuch", NAMES) == matching("fdd2.x", NAMES) == matching("x.", NAMES) == []


class TestShortest:
    """What stands in a list is typed next: it must be taken, and mean that row."""

    def test_each_piece_is_cut(self) -> None:
        assert shortest(NAMES) == [
            "fdd24234", "fdd24234.fork1", "fdd24234.fork1.fork1", "fdd24234.fork10", "fdd24234~2",
            "fe5e1c67.6690d10e", "fe5e1c67.60dade70", "fe5e1c67.60dade70~2", "short",
        ]  # fmt: skip

    def test_more_is_kept_where_others_begin_so(self) -> None:
        names = ["8f31c0a9-5d2e-4b7a", "8f31c0a9-5d2f-4b7a", "77777777-0000-0000", "b"]
        assert shortest(names) == ["8f31c0a9-5d2e", "8f31c0a9-5d2f", "77777777", "b"]

    @given(
        st.lists(
            st.lists(
                st.sampled_from(
                    ["a", "ab", "abcdefgh", "abcdefghijklmnopqr", "abcdefghijklmnopqrst"]
                ),
                min_size=1,
                max_size=3,
            ).map(".".join)
            | st.text(st.sampled_from("ab.~"), min_size=1, max_size=24),
            unique=True,
            max_size=12,
        )
    )
    def test_every_short_name_means_its_session_alone(self, names: list[str]) -> None:
        for name, short in zip(names, shortest(names), strict=True):
            assert matching(short, names) == [name]

    @given(st.text(st.sampled_from("ab.~"), max_size=12))
    def test_pieces_lose_nothing(self, name: str) -> None:
        assert "".join(pieces(name)) == name
