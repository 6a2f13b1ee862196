"""A file being read: its beginning is looked at first, and somebody may be told how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from harness.importers.records import BLOCK, Readable


class Progress(NamedTuple):
    """How far an import is."""

    path: str
    bytes_read: int
    bytes_total: int | None
    """None where it is not known."""


class Source:
    """A stream whose first block can be seen before it is read."""

    def __init__(
        self,
        stream: Readable,
        name: str,
        size: int | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.name = name
        self._stream = stream
        self._size = size
        self._progress = progress
        self._read = 0
        self.head = self._first()
        self._ahead = self.head

    def _first(self) -> bytes:
        blocks, size = [], 0
        while size < BLOCK and (block := self._stream.read(BLOCK - size)):
            blocks.append(block)
            size += len(block)
        return b"".join(blocks)

    def read(self, size: int = BLOCK, /) -> bytes:
        """The next bytes, none at the end."""
        if self._ahead:
            block, self._ahead = self._ahead, b""
        else:
            block = self._stream.read(size)
        self._read += len(block)
        if self._progress is not None:
            self._progress(Progress(self.name, self._read, self._size))
        return block

    def read_all(self, limit: int) -> bytes | None:
        """Everything, or None when it is more than the limit."""
        blocks, size = [], 0
        while block := self.read():
            blocks.append(block)
            size += len(block)
            if size > limit:
                return None
        return b"".join(blocks)
