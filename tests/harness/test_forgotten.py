"""Conversations of which little is held are found again."""

from __future__ import annotations

from eventlog import StreamKey
from harness.recording.forgotten import MOST_ALIKE, Forgotten

HOME = StreamKey("u", "a", "s.1~x")


def test_a_stream_is_found_by_its_beginning() -> None:
    forgotten = Forgotten(HOME)
    keys = [HOME, *(StreamKey("u", "a", f"s.1~x{end}") for end in (".2", "~2", ".31"))]
    for number, key in enumerate(keys):
        forgotten.add(bytes([255, *7 * [number]]), key)
    for number, key in enumerate(keys):
        assert forgotten.of(bytes([255, *7 * [number]])) == [key]
    assert forgotten.of(bytes(8)) == []


def test_of_many_that_began_alike_the_latest_are_found_and_each_is_removed_alone() -> None:
    forgotten = Forgotten(HOME)
    keys = [StreamKey("u", "a", f"s.1~x.{number}") for number in range(2, 2 + MOST_ALIKE + 3)]
    for key in keys:
        forgotten.add(b"beginnin", key)
    assert forgotten.of(b"beginnin") == keys[: -1 - MOST_ALIKE : -1]
    forgotten.remove(b"beginnin", keys[-2])
    assert forgotten.of(b"beginnin") == [keys[-1], *keys[-3 : -2 - MOST_ALIKE : -1]]
    assert len(forgotten) == len(keys) - 1
