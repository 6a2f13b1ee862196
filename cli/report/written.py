"""The file of a report."""

from __future__ import annotations

from pathlib import Path

from cli.files import new_file
from cli.report.report import Report

_MARK = b'content="ctxlog report"'
"""Stands near the beginning of each."""


def write(made: Report, file: str, *, force: bool = False) -> int:
    """Write a report, mode 0600; its size in bytes. Raises InputRefused and OSError, as
    ``new_file`` does."""
    with new_file(file, force=force) as stream:
        stream.write(made.html())
        return stream.tell()


def is_report(file: Path) -> bool:
    """Whether a file was written by a report, so that another one may take its place."""
    try:
        with file.open("rb") as stream:
            return _MARK in stream.read(2_000)
    except OSError:
        return False
