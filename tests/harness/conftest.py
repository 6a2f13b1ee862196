"""A log of its own for each test, closed when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eventlog import EventLog
from harness.recording import codings


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with EventLog(tmp_path / "log.db") as opened:
        yield opened


@pytest.fixture
def without_libraries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As where the libraries of brotli and zstd are not installed."""
    with monkeypatch.context() as patched:
        patched.setattr(codings, "_module", lambda *names: None)
        codings.readable.cache_clear()
        yield
    codings.readable.cache_clear()
