"""The tools of the group ``files``: reading, writing, changing, listing and searching a folder.

A file is told as its bytes say it: line ends stand as they are, and what is no UTF-8 becomes U+FFFD
and is said. Changing works on the bytes, so nothing but what was named changes.

A file that exists is changed or replaced only when it was read since it last changed, as far as its
size and its time of modification tell: what a model does not know of is not lost.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from eventlog.agent import FileSeen
from harness.errors import ToolFailed
from harness.tools.changing import changed
from harness.tools.confinement import MOST_BYTES, Confinement
from harness.tools.context import Context
from harness.tools.patterns import matches_path
from harness.tools.permissions import denies
from harness.tools.replacing import now, write_whole
from harness.tools.results import described
from harness.tools.search import Found, search
from harness.tools.tool import Tool, tool

GROUP = "files"
LINES = 2_000
MOST_CHARACTERS = 200_000
"""Of a file, that one call gives."""
MOST_LISTED = 1_000
MOST_MATCHES = 200

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_BINARY = 8_192
"""Bytes at the begin of a file of which one that is zero says that it is no text."""

_MOST_PATTERN = 1_000

_Path = Annotated[str, "the path, relative to the folder of the conversation"]
_Folder = Annotated[str, "the folder, or file; left out, all of it"]


def file_tools(root: Path) -> list[Tool]:
    """``read_file``, ``write_file``, ``edit_file``, ``list_files`` and ``search_files``, confined
    to ``root``: links, ``..`` and absolute paths lead nowhere else."""
    files = _Files(Confinement(root))
    writing = (files.write_file, files.edit_file)
    return [
        replace(
            tool(
                each,
                group=GROUP,
                has_effects=each in writing,
                subject=lambda arguments: files.place.subject(_path(arguments)),
                subject_kind="path",
            ),
            other_subjects=lambda arguments: files.place.other_subjects(_path(arguments)),
        )
        for each in (files.read_file, *writing, files.list_files, files.search_files)
    ]


def _path(arguments: Mapping[str, object]) -> object:
    return arguments.get("path", ".")


def is_binary(content: bytes) -> bool:
    """Whether it is no text."""
    return b"\0" in content[:_BINARY]


class _Files:
    """The tools, over one folder."""

    def __init__(self, place: Confinement) -> None:
        self.place = place

    def read_file(
        self,
        path: _Path,
        offset: Annotated[int, Field(description="the first line, counted from 1", ge=1)] = 1,
        limit: Annotated[int, Field(description="how many lines at most", ge=1)] = LINES,
        *,
        context: Context,
    ) -> str:
        """Read a text file, or a part of it by lines."""
        real, content, found = self.place.read(path)
        if is_binary(content):
            _seen(context, real, found, "read", is_whole=False)
            return f"[{self.place.name(real)} is no text: {described(content)}]"
        text = content.decode("utf-8", "replace")
        lines = _lines(text)
        wanted = "".join(lines[offset - 1 : offset - 1 + limit])
        if offset > max(1, len(lines)):
            raise ToolFailed(f"{path} has {len(lines):,} lines, so none at {offset:,}")
        notes = []
        last = min(offset - 1 + limit, len(lines))
        if len(wanted) > MOST_CHARACTERS:
            wanted = wanted[:MOST_CHARACTERS]
            last = offset - 1 + wanted.count("\n")
            notes.append(f"cut off after {MOST_CHARACTERS:,} characters, in line {last + 1:,}")
        elif offset > 1 or last < len(lines):
            notes.append(f"lines {offset:,} to {last:,} of {len(lines):,}")
        if last < len(lines):
            notes.append(f"offset {last + 1} goes on")
        if "\ufffd" in wanted and not _is_utf8(content):
            notes.append("what is no UTF-8 is shown as \ufffd")
        _seen(context, real, found, "read", is_whole=len(wanted) == len(text))
        if not content:
            return "[the file is empty]"
        if not notes:
            return wanted
        end = "" if wanted.endswith("\n") else "\n"
        return f"{wanted}{end}[{'; '.join(notes)}]"

    def write_file(
        self,
        path: _Path,
        content: Annotated[str, "all that the file is to hold"],
        *,
        context: Context,
    ) -> str:
        """Write a text file: a new one, or in place of one that was read before."""
        real = self.place.inside(path)
        data = _encoded(content)
        before = self._current(path, real, context)
        self._write(real, data, before, context)
        how = "a new file" if before is None else f"it had {before.st_size:,} bytes before"
        return f"wrote {len(data):,} bytes to {self.place.name(real)} ({how})"

    def edit_file(
        self,
        path: _Path,
        old: Annotated[str, "the text that is replaced: exactly as it stands, and only once"],
        new: Annotated[str, "the text that comes in its place"],
        *,
        context: Context,
    ) -> str:
        """Replace a text that stands exactly once in a file that was read before."""
        real, content, found = self.place.read(path)
        self._check_seen(path, real, found, context)
        if is_binary(content):
            raise ToolFailed(f"{path} is no text: it is not edited")
        data, line = changed(path, content, _encoded(old), _encoded(new))
        self._write(real, data, found, context)
        return f"changed {self.place.name(real)} at line {line:,}"

    def list_files(
        self,
        path: _Folder = ".",
        pattern: Annotated[
            str,
            Field(
                description="which: *.py here, **/*.py in all folders beneath; left out, all here",
                max_length=_MOST_PATTERN,
            ),
        ] = "*",
    ) -> str:
        """List the files of a folder; what ends with / is a folder."""
        real = self.place.inside(path)
        parts = [part for part in pattern.split("/") if part not in ("", ".")]
        depth = None if "**" in parts else len(parts)
        listed: list[str] = []
        for entry in self.place.walk(real, depth):
            if matches_path("/".join(parts), Path(entry.path).relative_to(real).as_posix()):
                if len(listed) == MOST_LISTED:
                    listed.append(f"[only the first {MOST_LISTED:,} are listed]")
                    break
                mark = "/" if entry.is_dir(follow_symlinks=False) else ""
                listed.append(f"{_shown(self.place.name(Path(entry.path)))}{mark}")
        return "\n".join(listed) if listed else "[there is nothing that matches]"

    def search_files(
        self,
        regex: Annotated[str, "a regular expression of Python, matched within a line"],
        path: _Folder = ".",
        pattern: Annotated[
            str,
            Field(
                description="which: *.py by name, src/**/*.py by path; left out, all",
                max_length=_MOST_PATTERN,
            ),
        ] = "*",
        *,
        context: Context,
    ) -> str:
        """Search the lines of text files."""
        real = self.place.inside(path)
        permissions = context.state.permissions
        wanted: list[tuple[str, str]] = []
        withheld = 0
        for file in self._files(real, pattern):
            name = self.place.name(file)
            if any(denies(permissions, each, name) for each in ("read_file", "search_files")):
                withheld += 1
            else:
                wanted.append((_shown(name), str(file)))
        found = search(regex, wanted, MOST_MATCHES, context.cancelled)
        return _told(found, withheld)

    def _files(self, real: Path, pattern: str) -> list[Path]:
        """The regular files that match, beneath a folder, or a file itself."""
        if real.is_file():
            return [real]
        by_name = "/" not in pattern
        return [
            Path(entry.path)
            for entry in self.place.walk(real)
            if entry.is_file(follow_symlinks=False)
            and matches_path(
                pattern, entry.name if by_name else Path(entry.path).relative_to(real).as_posix()
            )
        ]

    def _current(self, path: str, real: Path, context: Context) -> os.stat_result | None:
        """How the file is that is to be replaced; None where there is none."""
        found = now(real)
        if found is not None:
            self.place.check_regular(path, found)
            self._check_seen(path, real, found, context)
        return found

    def _check_seen(self, path: str, real: Path, found: os.stat_result, context: Context) -> None:
        seen = context.state.tools.file(str(real))
        if seen is None:
            raise ToolFailed(f"{path} exists and was not read: read it first")
        if (seen.size, seen.modified_ns) != (found.st_size, found.st_mtime_ns):
            raise ToolFailed(f"{path} was changed since it was read: read it again")

    def _write(
        self, real: Path, data: bytes, before: os.stat_result | None, context: Context
    ) -> None:
        if len(data) > MOST_BYTES:
            raise ToolFailed(f"{len(data):,} bytes are too many: at most {MOST_BYTES:,}")
        after = write_whole(real, data, before)
        _seen(context, real, after, "written", is_whole=True)


def _seen(
    context: Context,
    real: Path,
    found: os.stat_result,
    how: Literal["read", "written"],
    *,
    is_whole: bool,
) -> None:
    context.record(
        FileSeen(
            path=str(real),
            how=how,
            size=found.st_size,
            modified_ns=found.st_mtime_ns,
            tool_call_id=context.tool_call_id,
            is_whole=is_whole,
        )
    )


def _lines(text: str) -> list[str]:
    """The lines, each with its end: only a line feed ends one."""
    lines = text.split("\n")
    rest = lines.pop()
    return [f"{line}\n" for line in lines] + ([rest] if rest else [])


def _shown(name: str) -> str:
    """A name in one line: one that holds a line feed could pass for two."""
    return json.dumps(name, ensure_ascii=False) if _CONTROL.search(name) else name


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        raise ToolFailed(
            f"the text holds half a character (U+{code:04X}), which no file of UTF-8 can hold"
        ) from None


def _told(found: Found, withheld: int) -> str:
    lines = [f"{match.file}:{match.line}: {match.text}" for match in found.matches]
    notes = []
    if found.is_cut:
        notes.append(f"only the first {len(lines):,} matches are shown")
    if found.unread:
        notes.append(f"not searched, as binary, too large or unreadable: {found.unread:,}")
    if withheld:
        notes.append(f"not searched, since they may not be read: {withheld:,}")
    if not lines:
        notes.insert(0, f"no match; files searched: {found.searched:,}")
    return "\n".join([*lines, *(f"[{note}]" for note in notes)])
