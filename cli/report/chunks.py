"""Lists in chunks that a browser takes apart when somebody looks: JSON, deflated, as base64."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from eventlog.jsonvalue import dumps

SIZE = 256_000
"""Characters of a chunk; one entry alone may be longer."""


class Chunks(NamedTuple):
    """A list, packed."""

    firsts: list[int]
    """The number of the first entry of each chunk."""
    texts: list[str]

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(map(len, self.texts))


def chunked(entries: Sequence[Any]) -> Chunks:
    """A list in chunks."""
    found = Chunks([], [])
    for first, group in _groups([dumps(entry) for entry in entries]):
        found.firsts.append(first)
        packed = zlib.compress(f"[{','.join(group)}]".encode(), 6)
        found.texts.append(base64.b64encode(packed).decode())
    return found


def _groups(written: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    first, size = 0, 0
    for number, text in enumerate(written):
        if size and size + len(text) > SIZE:
            yield first, written[first:number]
            first, size = number, 0
        size += len(text)
    if first < len(written):
        yield first, written[first:]
