"""Where conversations stand in the log that are no longer held in memory.

A client may serve any number of them, and each may go on days later. So of those that were not
asked for longest nothing is kept but the hash of their beginning and the number in the name of
their stream: sixteen bytes. All else is read from the log when one of them goes on.
"""

from __future__ import annotations

import re
from array import array

from eventlog.recorded import StreamKey

MOST_ALIKE = 8
"""Conversations of one beginning that are looked at, the latest: each is read from the log."""


class Forgotten:
    """The beginnings of conversations of one home, and the streams that they stand in."""

    def __init__(self, home: StreamKey) -> None:
        self._home = home
        self._beginnings, self._names = array("Q"), array("q")

    def __len__(self) -> int:
        return len(self._names)

    def add(self, beginning: bytes, key: StreamKey) -> None:
        """One more. ``key`` is the home itself, or one of ``home.2`` and ``home~2``."""
        found = re.fullmatch(r"(?:([.~])(\d+))?", key.session.removeprefix(self._home.session))
        assert found is not None
        number = int(found[2] or 0)
        self._beginnings.append(int.from_bytes(beginning))
        self._names.append(-number if found[1] == "~" else number)

    def of(self, beginning: bytes) -> list[StreamKey]:
        """The streams of conversations that began so, the latest first."""
        wanted, places, at = int.from_bytes(beginning), [], 0
        while True:
            try:
                at = self._beginnings.index(wanted, at) + 1
            except ValueError:
                break
            places.append(at - 1)
        return [self._key(self._names[place]) for place in places[: -1 - MOST_ALIKE : -1]]

    def remove(self, beginning: bytes, key: StreamKey) -> None:
        """It is held in memory again."""
        wanted = int.from_bytes(beginning)
        for place, found in enumerate(self._beginnings):
            if found == wanted and self._key(self._names[place]) == key:
                del self._beginnings[place], self._names[place]
                return

    def _key(self, number: int) -> StreamKey:
        user, agent, session = self._home
        ending = f"{'.' if number > 0 else '~'}{abs(number)}" if number else ""
        return StreamKey(user, agent, session + ending)
