"""The one place that reads the clock: a time is a label, and nothing is ordered by it."""

from __future__ import annotations

import time


def now_us() -> int:
    """Microseconds since 1970, UTC."""
    return time.time_ns() // 1000
