"""Work that must end. How long it takes is measured by ``bench/``, never by a test."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

MINUTE = 60.0
"""Seconds of processor time. What grows with its input takes one or two of them here, also on a
busy machine; what grows with the square of its input takes many minutes."""


@contextmanager
def no_hang(share: float = 1.0) -> Iterator[None]:
    """Fails a block that takes more than a minute of this process.

    Of an input that is a ``share`` of what is meant, the square of it is left of the minute: what
    grows with the square of its input fails with the one as with the other.
    """
    start = time.process_time()
    yield
    spent = time.process_time() - start
    assert spent < MINUTE * share**2, f"{spent:.0f} s where a second or two are enough"
