"""A secret that was found once is found wherever it stands, in whatever form."""

from __future__ import annotations

import base64
import json

import pytest
from hanging import no_hang

from projections.literals import LEAST, Literals

SECRET = 'swordfish "7" é'


class TestLiterals:
    """Without these a secret is erased where it was read and stays where it was encoded."""

    @pytest.mark.parametrize("crowd", [0, 300])
    @pytest.mark.parametrize(
        "form",
        [
            SECRET,
            json.dumps(SECRET),
            json.dumps(json.dumps({"a": SECRET})),
            base64.b64encode(f"key={SECRET}".encode()).decode(),
            base64.urlsafe_b64encode(f"the key={SECRET}".encode()).decode(),
        ],
    )
    def test_in_every_form_alone_or_among_many(self, form: str, crowd: int) -> None:
        known = Literals([*(f"another text {n}" for n in range(crowd)), SECRET])
        assert known.first_in(f"before {form} after") == SECRET
        assert known.first_in_bytes(b"\x00" + form.encode() + b"\xff") == SECRET
        assert known.first_in(form[1 : len(form) // 2]) == ""

    @pytest.mark.parametrize("crowd", [0, 300])
    def test_everywhere_it_stands_whatever_stands_before_it(self, crowd: int) -> None:
        some = ["----------key", "short-1234", SECRET * 9]
        known = Literals([*(f"another text {n}" for n in range(crowd)), *some])
        for before in range(20):
            text = "-" * before
            places = set()
            for each in some * 2:
                places.add((len(text), len(text) + len(each), each))
                text += each + "; "
            assert {span for span in known.spans_in(text) if span[0] >= before} == places

    def test_what_is_too_short_to_mean_itself_is_not_looked_for(self) -> None:
        short = "x" * (LEAST - 1)
        assert not Literals([short, ""])
        assert Literals([short]).first_in(short * 3) == ""
        assert Literals([short + "x"])

    def test_many_cost_one_walk(self) -> None:
        known = Literals(f"customer-{n:06d}" for n in range(5_000))
        with no_hang():
            assert known.first_in("nothing of the kind stands here; " * 30_000) == ""
