"""Work that must end. How long it takes is measured by ``bench/``, never by a test."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

MINUTE = 60.0
"""Seconds of processor time. What grows with its input takes one or two of them here, also on a
busy machine; what grows with the square of its input takes many minutes."""


@contextmanager
def no_hang() -> Iterator[None]:
    """Fails a block that takes more than a minute of this process."""
    start = time.process_time()
    yield
    spent = time.process_time() - start
    assert spent < MINUTE, f"{spent:.0f} s where a second or two are enough"
