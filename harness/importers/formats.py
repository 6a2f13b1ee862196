"""The formats that can be imported: how each is told, and who reads it.

A new one is a line here; ``detection`` and ``importing`` know no format by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from harness.importers import (
    anthropic,
    claude_code,
    codex,
    mini_swe_agent,
    openai_chat,
    openhands_v0,
    openhands_v1,
    swe_agent,
)
from harness.importers.folder import Numbering
from harness.importers.job import Job


class Format(NamedTuple):
    """One kind of transcript."""

    name: str
    recognizes: Callable[[Any], bool]
    """Whether a first record, or a whole document, is visibly one of it. Asked in the order of
    ``FORMATS``: what is special stands before what is general."""
    begins: Callable[[str, bool], bool]
    """Whether a text that is no whole JSON value begins as a document of it; the flag says that it
    goes on, and was only cut for looking at it."""
    may_be: Callable[[Any], bool]
    """Whether a value may be one of it, where the format was named."""
    read: Callable[[Job], None]
    """Imports the file of a job."""


FORMATS: dict[str, Format] = {
    module.FORMAT: Format(
        module.FORMAT, module.recognizes, module.begins, module.may_be, module.read
    )
    for module in (
        *(claude_code, codex, openhands_v1, openhands_v0),
        *(swe_agent, mini_swe_agent, anthropic, openai_chat),
    )
}
"""By name, in the order in which they are tried; the last is what a conversation is that says
nothing more special."""


class FolderFormat(NamedTuple):
    """One kind of transcript that may be a folder of records; its reader is the one of ``FORMATS``,
    which then finds the folder in the job."""

    name: str
    number_of: Numbering
    recognizes: Callable[[Any], bool]
    """Whether the first record of such a folder is one of it; None for one that cannot be read."""
    is_record: Callable[[Any], bool]
    """Whether a value by itself is visibly one of its records."""
    beside: frozenset[str]
    """Files and folders that belong to the transcript, and are none themselves."""


FOLDERS: tuple[FolderFormat, ...] = tuple(
    FolderFormat(
        module.FORMAT, module.number_of, module.recognizes_first, module.is_record, module.BESIDE
    )
    for module in (openhands_v1, openhands_v0)
)
"""In the order in which they are tried."""
