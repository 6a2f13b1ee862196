"""JSON that cannot change, cannot be what it is not, and comes back as it was given."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventlog import Json
from eventlog.errors import EventInvalid
from eventlog.jsonvalue import MAX_DEPTH, dumps, loads, utf8_clean


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


class TestExactness:
    """Without it the bytes that a model was sent could not be shown again."""

    def test_keys_keep_their_order_and_text_is_compact(self) -> None:
        assert Json({"b": 1, "a": [1, 2.0, None, True]}).text == '{"b":1,"a":[1,2.0,null,true]}'

    def test_given_text_is_kept_as_it_is(self) -> None:
        for text in (' { "b" : 1.0 ,\n "b": 1e2 } ', "1E5", "-0.0", '"\\u00e9\\/"', '"\\ud83d"'):
            assert Json.of_text(text).text == text

    @pytest.mark.parametrize("number", ["9223372036854775808", "1" * 4000, "-0.0", "1e-400", "0.1"])
    def test_a_number_is_what_python_reads(self, number: str) -> None:
        value = Json.of_text(number).value
        assert (type(value), repr(value)) == (type(json.loads(number)), repr(json.loads(number)))
        assert math.copysign(1, Json(-0.0).value) == -1

    def test_a_lone_surrogate_is_written_as_an_escape_and_read_back(self) -> None:
        for text in ("\ud83d", "a\udfffb", "\ude00\ud83d", "é\ud800"):
            value = Json({text: text})
            value.text.encode()
            assert value.value == {text: text}
            raw = json.dumps({text: text}, ensure_ascii=False, separators=(",", ":"))
            assert Json.of_text(raw) == value

    def test_two_halves_beside_each_other_are_one_character(self) -> None:
        """Python's own strings may hold both halves; to every reader of JSON they are one."""
        assert Json("a\ud83d\ude00\ude00").text == '"a\U0001f600\\ude00"'
        assert Json("\ud83d\ude00") == Json("\U0001f600")

    @given(st.text(st.characters()))
    def test_any_text_comes_back(self, text: str) -> None:
        cleaned = dumps(text)
        cleaned.encode()
        joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        assert loads(cleaned) == joined

    def test_clean_text_is_the_same_object(self) -> None:
        for text in ('"plain"', '"é\u2028"'):
            assert utf8_clean(text) is text


class TestRefusals:
    """Without it something is stored that no reader, or not the same one, takes back."""

    @pytest.mark.parametrize(
        "value",
        [
            math.nan,
            math.inf,
            {"a": [-math.inf]},
            b"bytes",
            {1, 2},
            object(),
            {(1, 2): 3},
            10**4999,
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_what_is_not_json(self, value: Any) -> None:
        with pytest.raises(EventInvalid, match="not storable"):
            Json(value)

    def test_a_value_that_holds_itself(self) -> None:
        loop: list[Any] = []
        loop.append(loop)
        with pytest.raises(EventInvalid):
            Json(loop)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            "{",
            "1 2",
            "NaN",
            "[Infinity]",
            '{"a":-Infinity}',
            "1e400",
            '{"a":[-1e400]}',
            "1" * 5000,
            "'a'",
            "[1,]",
            '"\n"',
            "nul",
            "\ufeff1",
            '"\\ud83d" x',
        ],
        ids=lambda text: text[:12],
    )
    def test_text_that_is_not_json_or_that_python_cannot_hold(self, text: str) -> None:
        with pytest.raises(EventInvalid, match="not JSON"):
            Json.of_text(text)

    def test_what_is_accepted_as_text_can_be_written_again(self) -> None:
        for text in ("1e308", "4" * 4299, deep(100), '"\\ud800"', "1e-500"):
            value = Json.of_text(text)
            assert Json.adopt(value.value).value == value.value

    @pytest.mark.parametrize("levels", [MAX_DEPTH, MAX_DEPTH - 1, 1])
    def test_nesting_up_to_the_limit_is_taken(self, levels: int) -> None:
        assert Json(json.loads(deep(levels))).text == deep(levels)
        assert Json.of_text(deep(levels)).value == json.loads(deep(levels))

    @pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 250, 900, 5_000, 1_000_000])
    def test_nesting_over_it_is_refused_in_every_way(self, levels: int) -> None:
        with pytest.raises(EventInvalid):
            Json.of_text(deep(levels))
        value: Any = []
        for _ in range(min(levels, 100_000) - 1):
            value = [value] if levels % 2 else {"a": value}
        with pytest.raises(EventInvalid):
            Json(value)
        while value:  # taken apart by hand: Python's own destructor would go as deep
            value = value[0] if isinstance(value, list) else value["a"]

    def test_many_brackets_side_by_side_are_not_deep(self) -> None:
        assert len(Json([[]] * 1000).value) == 1000
        assert Json("[" * 1000).value == "[" * 1000
        assert Json.of_text(json.dumps("{" * 1000)).value == "{" * 1000


class TestImmutability:
    """Without it an event could be changed through the dict inside it."""

    def test_it_has_nothing_to_set(self) -> None:
        value = Json({"a": 1})
        for name in ("_text", "_value", "text", "value", "other"):
            with pytest.raises(AttributeError):
                setattr(value, name, 1)

    def test_the_value_is_a_new_copy_each_time(self) -> None:
        given_value = {"a": [1]}
        value = Json(given_value)
        given_value["a"].append(2)
        value.value["a"].append(3)
        assert value.value == {"a": [1]} == Json(value).value

    def test_peek_is_shared_and_says_so(self) -> None:
        value = Json([1])
        assert value.peek is value.peek
        assert value.peek is not value.value

    def test_equal_is_equal_text(self) -> None:
        assert Json({"a": 1}) == Json.of_text('{"a":1}') == Json.adopt({"a": 1})
        assert len({Json({"a": 1}), Json.of_text('{"a":1}'), Json.adopt({"a": 1})}) == 1
        assert Json({"a": 1, "b": 2}) != Json({"b": 2, "a": 1})
        assert Json(1) != 1

    def test_copies_and_pickles_are_equal(self) -> None:
        value = Json({"a": ["\ud83d"]})
        for other in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert other == value

    def test_its_picture_is_short(self) -> None:
        assert repr(Json([1])) == "Json([1])"
        assert len(repr(Json("x" * 500))) < 90
