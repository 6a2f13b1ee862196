"""What ``--json`` gives of the commands that begin, name, hide and purge sessions."""

from __future__ import annotations

from pydantic import BaseModel


class NewData(BaseModel):
    """``new``: a session that began."""

    key: str
    title: str
    version: int


class ResumeData(BaseModel):
    """``resume``: a session that is taken up again."""

    key: str
    position: int
    """Of the event that tells it."""
    cleared: list[str]
    """What of the agent's state was reset."""
    kept: list[str]
    """What of it goes on."""
    was_deleted: bool


class RenameData(BaseModel):
    """``rename``: the title of a session."""

    key: str
    title: str
    before: str
    """What it was called; empty where it had no title."""
    means: str | None
    """Another session, which the title means where it is typed: a name is an id first."""


class DeleteData(BaseModel):
    """``delete``: a session behind a tombstone."""

    key: str
    title: str
    was_deleted: bool
    purged: bool
    """Its content was erased for good."""
    erased: int
    """Of its events, how many were erased now."""
    subagents: list[str]
    """Of a purge: the sessions that it started, which stay."""
    memories: list[str]
    """Of a purge: what was learned from it and stays, as ``user/_/memory@12``."""
