"""Bodies of requests, read against the one before, are what any reader of JSON makes of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog.errors import InputRefused
from eventlog.jsonvalue import MAX_DEPTH, loads
from harness.recording.bodies import Bodies, Body, common_prefix

TEXT = st.sampled_from(["", "a", "né", "\u2028", "不要", '"\\', "😀", "\\ud83d", "x" * 5000])
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "content", "messages", ""]), inner)
    ),
    max_leaves=6,
)
MESSAGE = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": VALUE})
FIELDS = st.dictionaries(st.sampled_from(["model", "tools", "n", "input"]), VALUE, max_size=3)


@st.composite
def written(draw: st.DrawFn, messages: list[Any]) -> bytes:
    """A body with those messages, in some order of fields and some way of writing."""
    front, back = draw(FIELDS), draw(FIELDS)
    whole = {**front, "messages": messages, **{k: v for k, v in back.items() if k not in front}}
    text = json.dumps(
        whole,
        ensure_ascii=draw(st.booleans()),
        separators=draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t:\r\n ")])),
    )
    space = draw(st.sampled_from(["", " ", "\n\t"]))
    return (space + text + space).encode()


@st.composite
def conversation(draw: st.DrawFn) -> list[bytes]:
    """Bodies, each made of the messages of the one before: gone on, cut, changed, or broken."""
    messages: list[Any] = draw(st.lists(MESSAGE, max_size=3))
    found = []
    for _ in range(draw(st.integers(1, 5))):
        match draw(st.integers(0, 4)):
            case 0 if messages:
                messages = messages[draw(st.integers(0, len(messages))) :]
            case 1 if messages:
                messages = [*messages]
                messages[draw(st.integers(0, len(messages) - 1))] = draw(MESSAGE)
            case _:
                messages = messages + draw(st.lists(MESSAGE, max_size=3))
        body = draw(written(messages))
        if draw(st.integers(0, 5)) == 0:
            at = draw(st.integers(0, len(body)))
            body = body[:at] + draw(st.binary(max_size=3)) + body[at:]
        found.append(body)
    return found


def check(found: Body, raw: bytes, last: Body) -> None:
    """A body that was read is the one that was written, and its places are true."""
    assert found.raw == raw
    value = loads(raw)
    messages = value.pop("messages") if isinstance(value.get("messages"), list) else []
    assert json.dumps(found.messages) == json.dumps(messages)
    assert json.dumps(found.fields, sort_keys=True) == json.dumps(value, sort_keys=True)
    assert raw[: found.same] == last.raw[: found.same]
    assert found.kept <= min(len(messages), len(last.messages))
    assert all(a is b for a, b in zip(found.messages[: found.kept], last.messages, strict=False))
    if found.ends:
        assert len(found.ends) == len(messages)
        before = 0
        for end, message in zip(found.ends, messages, strict=True):
            piece = raw[before:end].decode().lstrip(" \t\n\r,")
            if before == 0:  # everything in front of the first message stands there too
                assert raw[:end].decode().endswith(("}", "]"))
            else:
                assert json.dumps(loads(piece)) == json.dumps(message)
            before = end


def read(reader: Bodies, raw: bytes) -> Body | str:
    """A body, or why it was refused."""
    try:
        return reader.read(raw)
    except InputRefused as refused:
        return str(refused)


class TestReadingAgainstTheLast:
    """What is not read again must be what would have been read."""

    @settings(max_examples=150)
    @given(bodies=conversation())
    def test_any_bodies_are_read_as_if_each_were_the_only_one(self, bodies: list[bytes]) -> None:
        reader = Bodies("openai_chat")
        for raw in bodies:
            alone, last = read(Bodies("openai_chat"), raw), reader.last
            found = read(reader, raw)
            if isinstance(alone, str) or isinstance(found, str):
                assert alone == found
                continue
            check(found, raw, last)
            assert json.dumps(found.messages) == json.dumps(alone.messages)
            assert found.fields == alone.fields
            assert found.end == alone.end
            reader.take(found)

    @settings(max_examples=100)
    @given(one=st.binary(max_size=40), other=st.binary(max_size=40), shared=st.binary())
    def test_the_common_front_is_as_long_as_possible(
        self, one: bytes, other: bytes, shared: bytes
    ) -> None:
        one, other = shared * 300 + one, shared * 300 + other
        same = common_prefix(one, other)
        assert one[:same] == other[:same]
        assert same == min(len(one), len(other)) or one[same] != other[same]

    def test_a_message_that_was_kept_is_the_same_object(self) -> None:
        reader = Bodies("openai_chat")
        first = reader.read(b'{"model":"m","messages":[{"a":1},{"b":2}]}')
        reader.take(first)
        second = reader.read(b'{"model":"m","messages":[{"a":1},{"b":2},{"c":3}],"n":1}')
        assert second.kept == 2
        assert second.messages[1] is first.messages[1]
        assert second.back == {"n": 1}

    def test_a_changed_message_is_read_from_there_on(self) -> None:
        reader = Bodies("openai_chat")
        reader.take(reader.read(b'{"messages":[{"a":1},{"b":2},{"c":3}]}'))
        assert reader.read(b'{"messages":[{"a":1},{"b":9},{"c":3}]}').kept == 1
        assert reader.read(b'{"model":"x","messages":[{"a":1}]}').kept == 0

    def test_a_number_that_goes_on_is_another_message(self) -> None:
        reader = Bodies("openai_chat")
        reader.take(reader.read(b'{"messages":[1,2]}'))
        assert reader.read(b'{"messages":[1,23]}').messages == [1, 23]
        assert reader.read(b'{"messages":[1,2e1]}').messages == [1, 20.0]

    def test_it_goes_on_where_all_messages_of_the_last_one_stand_at_the_front(self) -> None:
        reader = Bodies("anthropic")
        assert not reader.goes_on(b'{"messages":[]}')
        reader.take(reader.read(b'{"messages":[{"a":1}]}'))
        assert reader.goes_on(b'{"messages":[{"a":1}]}')
        assert reader.goes_on(b'{"messages":[{"a":1},{"b":2}]}')
        assert not reader.goes_on(b'{"messages":[{"a":2}]}')


class TestUnusualBodies:
    """Refused or read as every other reader does, never read as something else."""

    @pytest.mark.parametrize(
        "raw",
        [
            b"",
            b"[]",
            b"null",
            b"{",
            b'{"messages":[}',
            b'{"messages":[]',
            b'{"messages":[]} x',
            b'{"messages":[,]}',
            b'{"messages":[1,]}',
            b'{"messages":[1 2]}',
            b"{messages:[]}",
            b"{'messages':[]}",
            b'{"messages":[NaN]}',
            b'{"messages":[Infinity]}',
            b'{"n":NaN,"messages":[]}',
            b'{"messages":[],"n":-Infinity}',
            b'{"messages":["\xff"]}',
            b'{"messages":["\n"]}',
            b"\xff\xfe",
            b'{"messages":' + b"[" * (MAX_DEPTH + 5) + b"]" * (MAX_DEPTH + 5) + b"}",
            b'{"messages":' + b"[" * 100_000,
        ],
    )
    @pytest.mark.parametrize("before", [None, b'{"messages":[1]}', b'{"messages":[]}'])
    def test_what_is_no_request_is_refused(self, raw: bytes, before: bytes | None) -> None:
        reader = Bodies("openai_chat")
        if before is not None:
            reader.take(reader.read(before))
        with pytest.raises(InputRefused, match="the body"):
            reader.read(raw)

    @pytest.mark.parametrize(
        "raw",
        [
            b'{"messages":[1],"messages":[2,3]}',
            b'{"n":1,"messages":[1],"n":2}',
            b'{"messages":[{"a":1,"a":2}]}',
            b'{"messages":"text"}',
            b'{"messages":null,"n":1}',
            b'{"n":1}',
            b"{}",
            b'{"messages":["\\ud83d"]}',
            b'{"messages":["\\u0000\xe4\xb8\x8d"],"n":"\xc3\xa9"}',
            b'{"\\u006dessages":[1]}',
            b'{"n":1e400,"messages":[]}',
        ],
    )
    @pytest.mark.parametrize("before", [None, b'{"messages":[1]}', b'{"n":1,"messages":[1]}'])
    def test_what_is_only_odd_is_read_as_any_reader_does(
        self, raw: bytes, before: bytes | None
    ) -> None:
        reader = Bodies("openai_chat")
        if before is not None:
            reader.take(reader.read(before))
        try:
            expected: Any = loads(raw)
        except Exception:
            with pytest.raises(InputRefused):
                reader.read(raw)
            return
        found = reader.read(raw)
        messages = expected.pop("messages") if isinstance(expected.get("messages"), list) else []
        assert found.messages == messages
        assert found.fields == expected

    def test_depth_is_counted_in_what_is_new_and_in_the_fields(self) -> None:
        reader = Bodies("openai_chat")
        reader.take(reader.read(b'{"messages":[1]}'))
        deep = b"[" * (MAX_DEPTH - 4) + b"]" * (MAX_DEPTH - 4)
        assert reader.read(b'{"messages":[1,' + deep + b"]}").kept == 1
        deeper = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
        for raw in (b'{"messages":[1,' + deeper + b"]}", b'{"messages":[1],"n":' + deeper + b"}"):
            with pytest.raises(InputRefused, match="deep"):
                reader.read(raw)
