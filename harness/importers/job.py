"""The import of one file: what a format's reader is given, and what all of them do alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eventlog import EventLog, StreamKey
from harness.exchange.secret_text import Withheld
from harness.importers.folder import Folder
from harness.importers.records import Record
from harness.importers.report import FileImport
from harness.importers.source import Progress, Source
from harness.importers.stream_writer import StreamWriter

MAX_WAITING_BYTES = 32 * 1024 * 1024
"""Over all streams of a file; above it they are appended at once."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to import."""

    user: str = "local"
    agent: str = ""
    """The second part of the key; the format's name when empty."""
    session: str = ""
    """The third part of the key; the foreign session id when empty."""
    format: str = ""
    """Found out when empty."""
    final: bool = False
    """Take what is open or torn at the end of a file as it is."""
    progress: Callable[[Progress], None] | None = None


@dataclass(slots=True)
class Job:
    """One file, its options, and the streams that it becomes."""

    log: EventLog
    source: Source
    path: Path | None
    """None for what cannot be read twice."""
    options: Options
    report: FileImport
    shared: dict[str, dict[str, Any]]
    """By format: what the files of one import tell each other."""
    folder: Folder | None = None
    """The transcript's records, where it is a folder; the source is then empty."""
    writers: list[StreamWriter] = field(default_factory=list)
    withheld: Withheld = field(default_factory=Withheld)
    """What of the file may hold a key, and was left out of what is new."""

    @property
    def file(self) -> str:
        """The file's name, without its folder."""
        return self.path.name if self.path is not None else self.source.name

    def open_writer(self, session: str, format: str, foreign_id: str) -> StreamWriter:
        """The writer of a session of the file. Raises what StreamWriter raises."""
        key = StreamKey(self.options.user, self.options.agent or format, session).checked()
        self.writers.append(StreamWriter(self.log, key, format, foreign_id, self.withheld))
        return self.writers[-1]

    def waits(self, record: Record, file: str = "") -> bool:
        """Whether the file ends inside this record, so that it waits for the next import.

        ``file`` names the file of a folder that holds the record.
        """
        if not record.torn or self.options.final:
            return False
        self.report.pending += 1
        where = file or f"line {record.line}, byte {record.offset}"
        self.report.notes.append(f"{where}: the file ends inside it")
        return True

    def relieve(self) -> None:
        """Append what waits, if it has become much."""
        if sum(writer.weight for writer in self.writers) > MAX_WAITING_BYTES:
            for writer in self.writers:
                writer.flush()

    def finish(self) -> None:
        """Append what is left of every stream."""
        for writer in self.writers:
            writer.finish()


def session_name(text: str) -> str:
    """A session id as a stream may be named; ids are data, never paths."""
    shown = "".join(c if c.isprintable() else f"%{ord(c):02x}" for c in text).strip()
    while len(shown.encode("utf-8", "replace")) > 200:
        shown = shown[:-1]
    return shown.strip() or "session"
