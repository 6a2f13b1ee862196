"""Files that reports were written to."""

from __future__ import annotations

from pathlib import Path

_MARK = b'content="ctxlog report"'
"""Stands near the beginning of each."""


def is_report(file: Path) -> bool:
    """Whether a file was written by a report, so that another one may take its place."""
    try:
        with file.open("rb") as stream:
            return _MARK in stream.read(2_000)
    except OSError:
        return False
