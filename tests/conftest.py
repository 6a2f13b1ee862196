"""Shared by all tests: helpers beside a test file can be imported, samples are found or skipped."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

for folder in ("projections", "harness", "cli", "eventlog"):
    sys.path.append(str(Path(__file__).parent / folder))


@pytest.fixture
def samples() -> Path:
    """The folder of public transcripts; a test that needs it is skipped where it is absent."""
    folder = Path(__file__).parents[2] / "shared" / "samples"
    if not folder.is_dir():
        pytest.skip("the sample transcripts are not here")
    return folder
