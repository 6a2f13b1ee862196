"""What ``--json`` gives of the commands that keep a log well: ``backup``, ``doctor``, ``sql``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class BackupData(BaseModel):
    """``backup``: a verified copy."""

    file: str
    head: str
    """Of the copy, and of the log when it was copied."""
    events: int
    sessions: int
    bytes: int
    without_derived: bool
    """Derived tables were left out, since erased text may have stood in them."""


class CheckData(BaseModel):
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "warning", "problem"]
    message: str
    advice: str
    """What to do; empty where there is nothing to do."""


class DoctorData(BaseModel):
    """``doctor``: whether the program and the log can be used here."""

    log: str
    """The path of the log."""
    why: str
    """Why it is that one."""
    checks: list[CheckData]
    warnings: int
    problems: int


class BlobData(BaseModel):
    """A value that is bytes."""

    hex: str
    size: int


class SqlData(BaseModel):
    """``sql``: what a query gives."""

    columns: list[str]
    rows: list[list[int | float | str | BlobData | None]]
    """Numbers that are no JSON, such as Infinity, are text."""
    more: bool
    """There are more rows than were asked for."""


class ViewData(BaseModel):
    """A view for people with SQL."""

    name: str
    about: str
    columns: dict[str, str]
    """Each with what it holds."""


class ViewsData(BaseModel):
    """``sql`` without a query: what can be asked."""

    views: list[ViewData]
