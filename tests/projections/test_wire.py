"""The bytes of a request, written again as the client wrote them that sent it."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.wire import STYLES, as_sent, ordered

SALT = bytes(range(16))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=9,
)  # fmt: skip
BODY = st.dictionaries(st.text(max_size=5), JSON, max_size=5)


def digest(wire: bytes) -> str:
    return sha256(wire + SALT).hexdigest()


class TestStyles:
    """Without it what was sent could only be shown as something like it."""

    @given(body=BODY, style=st.sampled_from(STYLES))
    def test_whatever_was_written_in_one_is_found_again(self, body: Any, style: Any) -> None:
        wire = style.text(body).encode()
        assert json.loads(wire) == body
        assert as_sent(body, {"wire_digest": digest(wire)}, SALT) == (wire, True)

    @pytest.mark.parametrize(
        ("wire", "number"),
        [
            (b'{"a":["\xc3\xa9<&>/",1]}', 0),
            (b'{"a": ["\\u00e9<&>/", 1]}', 1),
            (b'{"a":["\\u00e9<&>/",1]}', 2),
            (b'{"a": ["\xc3\xa9<&>/", 1]}', 3),
            (b'{"a":["\xc3\xa9\\u003c\\u0026\\u003e/",1]}', 4),
            (b'{"a":["\\u00e9<&>\\/",1]}', 5),
        ],
    )
    def test_each_is_that_of_its_clients(self, wire: bytes, number: int) -> None:
        assert STYLES[number].text(json.loads(wire)).encode() == wire

    def test_another_way_is_not_said_to_be_the_same(self) -> None:
        wire = b'{ "a":1}'
        assert as_sent({"a": 1}, {"wire_digest": digest(wire)}, SALT) == (b'{"a":1}', False)

    @pytest.mark.parametrize("call", [{}, {"wire_digest": None}])
    def test_without_a_digest_nothing_is_proved(self, call: dict[str, Any]) -> None:
        assert as_sent({"a": 1}, call, SALT) == (b'{"a":1}', False)
        assert as_sent({"a": 1}, {"wire_digest": digest(b'{"a":1}')}, None)[1] is False


class TestOrder:
    """The commonest thing that a rebuilt body gets wrong."""

    @given(names=st.permutations(["model", "messages", "tools", "system", "stream"]))
    def test_fields_stand_where_they_stood(self, names: list[str]) -> None:
        apart = ("messages", "tools", "system")
        places = {name: at for at, name in enumerate(names) if name in apart}
        body = {name: 1 for name in [*(n for n in names if n not in apart), *apart]}
        assert list(ordered(body, places)) == names

    @given(places=st.dictionaries(st.sampled_from("abcd"), st.integers(-3, 9)))
    def test_no_place_loses_or_makes_a_field(self, places: dict[str, int]) -> None:
        body = {"a": 1, "x": 2, "b": 3}
        assert ordered(body, places) == body
        assert ordered(body, None) == body
