"""A table line for each claim of the long profile, on the terminal whatever pytest captures."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))


@pytest.fixture
def say(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> Callable[[str, str], None]:
    """Print one line, in the long profile only."""

    def line(claim: str, found: str) -> None:
        if request.node.get_closest_marker("slow") is not None:
            with capsys.disabled():
                sys.stdout.write(f"\n  {claim:<44} {found}  (SQLite {sqlite3.sqlite_version})")

    return line
