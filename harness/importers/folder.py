"""A transcript that is a folder: one record a file, read one at a time, by their numbers.

Which names are records, and in which order, the format says. Everything else that may lie in such a
folder is not trusted: a link, a pipe or a folder with the name of a record is never opened, and
said. Memory is bounded by one file. Sources: the event stores of OpenHands V0 (``events/<n>.json``)
and V1 (``events/event-<n>-<id>.json``).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from harness.importers.conversations import whole_document
from harness.importers.records import HEAD, MAX_LINE, Record
from harness.importers.source import Progress

MAX_NOTED = 5
"""Names of one kind that are told; of more their number."""


class Numbered(NamedTuple):
    """A file that is a record, by its name."""

    number: int
    """Its place in the transcript, from 0."""
    name: str


Numbering = Callable[[str], int | None]
"""From a file's name to the number of its record; None for what is no record."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One record, and the name of the file that holds it."""

    name: str
    record: Record


@dataclass(slots=True)
class Folder:
    """The files of one transcript. Raises OSError when the folder cannot be listed or read."""

    root: Path
    """The folder that the transcript is: what lies beside its records belongs to it."""
    records_in: Path
    """Where the records lie: the folder itself or one below it."""
    number_of: Numbering
    shown: str
    progress: Callable[[Progress], None] | None = None
    notes: list[str] = field(default_factory=list)
    """What was missing, repeated or not opened."""
    total: int = 0
    """Bytes of all records."""

    def pieces(self) -> Iterator[Piece]:
        """The records, in order. What is no JSON object is one with a fault; only the last file
        may be torn, since the agent may be writing it now."""
        files = self._files()
        self._note_numbers(files)
        places: dict[int, int] = {}
        done = 0
        for at, file in enumerate(files):
            part = places[file.number] = places.get(file.number, -1) + 1
            data, size = _content(self.records_in / file.name)
            done += size
            record = _record(data, size, file.number + 1, part, last=at == len(files) - 1)
            yield Piece(file.name, record)
            if self.progress is not None:
                self.progress(Progress(self.shown, done, self.total))

    def beside(self, name: str) -> bytes | None:
        """A file of the transcript that is no record; None where it is not there, or too large."""
        for folder in dict.fromkeys((self.root, self.records_in.parent)):
            try:
                data, size = _content(folder / name)
            except OSError:
                continue
            return data if size <= MAX_LINE else None
        return None

    def value(self, name: str) -> Any:
        """What one of the records holds; None for what cannot be read."""
        try:
            data, size = _content(self.records_in / name)
        except OSError:
            return None
        return whole_document(data).value if size <= MAX_LINE else None

    def _files(self) -> list[Numbered]:
        found: list[Numbered] = []
        others: list[str] = []
        self.total = 0
        with os.scandir(self.records_in) as entries:
            for entry in entries:
                number = self.number_of(entry.name)
                if number is None:
                    if not entry.name.startswith("."):
                        others.append(entry.name)
                elif not entry.is_file(follow_symlinks=False):
                    self.notes.append(f"{entry.name}: not a regular file, and not opened")
                else:
                    found.append(Numbered(number, entry.name))
                    self.total += entry.stat(follow_symlinks=False).st_size
        if others:
            self.notes.append(_several("no event", "no events", sorted(others)))
        return sorted(found)

    def _note_numbers(self, files: list[Numbered]) -> None:
        before, gone = -1, 0
        twice: list[str] = []
        missing: list[str] = []
        for number, name in files:
            if number == before:
                twice.append(name)
            elif number > before + 1:
                gone += number - before - 1
                first, last = str(before + 1), str(number - 1)
                missing.append(first if first == last else f"{first}-{last}")
            before = number
        if twice:
            self.notes.append(_several("a number twice", "numbers twice", twice))
        if gone:
            more = ", …" if len(missing) > MAX_NOTED else ""
            numbers = f"{', '.join(missing[:MAX_NOTED])}{more}"
            events = "1 event is" if gone == 1 else f"{gone:,} events are"
            self.notes.append(f"{events} missing: {numbers}")


def _several(one: str, more: str, names: list[str]) -> str:
    """``no events: a.txt, b.txt``."""
    rest = f" and {len(names) - MAX_NOTED:,} more" if len(names) > MAX_NOTED else ""
    return f"{one if len(names) == 1 else more}: {', '.join(names[:MAX_NOTED])}{rest}"


def _content(path: Path) -> tuple[bytes, int]:
    """The bytes of a regular file, and how many it has: of a file that is too long only its head.

    Raises OSError, also for what is a link or no file.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(path, flags), "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path.name}: not a regular file")
        data = stream.read(MAX_LINE + 1)
        return data, max(status.st_size, len(data))


def _record(data: bytes, size: int, line: int, part: int, *, last: bool) -> Record:
    if size > MAX_LINE:
        fault = f"a file of {size:,} bytes is over the limit of {MAX_LINE:,}"
        return Record(line, part, 0, data[:HEAD], fault=fault)
    read = whole_document(data)
    fault = read.fault
    if not read.raw:
        fault = "the file is empty"
    elif not fault and not isinstance(read.value, dict):
        return Record(line, part, 0, read.raw, fault="not an object")
    return Record(line, part, 0, read.raw, read.value, fault, torn=bool(fault) and last)
