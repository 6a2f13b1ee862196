"""Shared by all tests: helpers beside a test file can be imported, samples are found or skipped."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

for folder in ("projections", "harness", "cli", "eventlog"):
    sys.path.append(str(Path(__file__).parent / folder))

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # In the background of a shell it is ignored, and would be by every process that a test stops.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def samples() -> Path:
    """The folder of public transcripts; a test that needs it is skipped where it is absent."""
    folder = Path(__file__).parents[2] / "shared" / "samples"
    if not folder.is_dir():
        pytest.skip("the sample transcripts are not here")
    return folder
