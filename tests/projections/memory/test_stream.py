"""Where what is remembered of a person stands."""

from __future__ import annotations

import pytest

from eventlog import StreamKey
from eventlog.errors import EventInvalid
from projections.memory import is_memory_stream, memory_stream
from projections.memory.stream import memory_name


def test_each_person_has_a_stream_of_their_own() -> None:
    assert str(memory_stream("ada")) == "ada/_/memory"
    assert memory_name(12) == "m12"


@pytest.mark.parametrize("name", ["", " ada", "a/b", "a\n", "\ud83d", "a" * 513])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(EventInvalid):
        memory_stream(name)


@pytest.mark.parametrize(
    ("key", "found"),
    [
        (("ada", "_", "memory"), True),
        (("ada", "_", "memory/2"), False),
        (("ada", "_", "x/_/memory"), False),
        (("ada", "coder", "memory"), False),
        (("_", "memory", "_"), False),
    ],
)
def test_only_that_is_a_stream_of_memories(key: tuple[str, str, str], found: bool) -> None:
    assert is_memory_stream(StreamKey(*key)) is found
