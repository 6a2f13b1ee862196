"""Imports for the command line: transcripts, standard input and exports of another log."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO
from urllib.parse import quote

from cli.models import FileData, ImportData, ImportedSession
from cli.paths import home
from cli.style import plural
from eventlog import EventLog
from eventlog.connection import uri_mode
from eventlog.errors import CtxlogError, DatabaseFault, InputRefused, OutcomeUnknown
from eventlog.scrub import finish_pending
from eventlog.transfer import Imported, import_export
from harness.importers.importing import SUFFIXES, import_path, import_stream, transcript_of
from harness.importers.job import Options
from harness.importers.places import known_places
from harness.importers.report import FileImport, ImportReport
from projections.memory import is_memory_stream

EXPORT = "ctxlog"
"""The format of our own exports."""

ENDINGS = ", ".join(SUFFIXES)
"""Of the files in a folder that may be transcripts."""

_LOCAL = "local"
"""The person whose memories are shown where nobody else is named."""

_MARK = b'"ctxlog_export"'
_HEAD = 4096


def bring(
    log: EventLog,
    paths: Iterable[str],
    options: Options,
    *,
    dry_run: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> ImportData:
    """Import files, folders and ``-``; what each of them gave.

    ``progress`` is told how many files of a folder were looked into.
    """
    files: list[FileData] = []
    passed_over: list[str] = []
    empty: list[str] = []
    for path in paths:
        if path == "-":
            files += _standard_input(log, options)
        elif options.format == EXPORT or (not options.format and is_export(Path(path))):
            files.append(_export_file(log, path))
        else:
            report = import_path(log, path, options, progress)
            files += _files(report)
            passed_over += report.passed_over
            if not (report.files or report.passed_over):
                empty.append(path)
    sessions = [session for file in files for session in file.sessions]
    return ImportData(
        database=str(log.path),
        dry_run=dry_run,
        new=sum(session.new for session in sessions),
        known=sum(session.known for session in sessions),
        pending=sum(s.pending for s in sessions) + sum(file.pending for file in files),
        unreadable=sum(session.unreadable for session in sessions),
        withheld=sum(file.withheld for file in files),
        errors=[file.error for file in files if file.error],
        passed_over=passed_over,
        empty=empty,
        files=files,
    )


def places() -> list[str]:
    """The folders in which agents of this machine keep their transcripts."""
    claude = os.environ.get("CLAUDE_CONFIG_DIR", "").split(",")
    codex = [os.environ.get("CODEX_HOME", "")]
    return [str(place.path) for place in known_places(home(), claude, codex)]


def newest(paths: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Each file at or below the paths, with its time of change and its size."""
    found: dict[str, tuple[int, int]] = {}
    for path in paths:
        folders = os.walk(path) if os.path.isdir(path) else [("", [], [path])]
        for root, _, names in folders:
            for name in names:
                each = os.path.join(root, name)
                if root and not each.endswith(SUFFIXES):
                    continue
                with contextlib.suppress(OSError):  # it was removed meanwhile
                    status = os.stat(each)
                    found[each] = (status.st_mtime_ns, status.st_size)
    return found


def whole(paths: Iterable[str]) -> list[str]:
    """The paths, with the folder in the place of files that are parts of one transcript."""
    return sorted({str(transcript_of(Path(path))) for path in paths})


def is_export(path: Path) -> bool:
    """Whether a file begins as an export of a log does."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as stream:
            return _MARK in stream.readline(_HEAD)
    except OSError:
        return False


def _files(report: ImportReport) -> list[FileData]:
    return [_file(file) for file in report.files]


def _file(file: FileImport) -> FileData:
    return FileData.model_validate(file.model_dump())


def _export_file(log: EventLog, path: str) -> FileData:
    try:
        with open(path, "rb") as stream:
            return _export(log, stream, path)
    except OSError as error:
        return FileData(path=path, format=EXPORT, error=f"{path}: {error.strerror or error}")


def _export(log: EventLog, lines: Iterable[bytes], shown: str) -> FileData:
    try:
        imported = import_export(log, lines)
    except (DatabaseFault, OutcomeUnknown):
        raise
    except CtxlogError as error:
        # Integrity faults go on as they are: the exit code says that bytes do not hold.
        if not isinstance(error, InputRefused):
            raise
        return FileData(path=shown, format=EXPORT, error=f"{shown}: {error}")
    new, known = imported.new_of, imported.known_of
    sessions = [
        ImportedSession(key=str(key), new=new.get(key, 0), known=known.get(key, 0))
        for key in dict.fromkeys([*new, *known])
    ]
    notes = [*_remembered(log, imported)]
    if imported.erased:
        notes.append(f"{imported.erased:,} events that stood here are erased now")
        finish_pending(log)
    return FileData(path=shown, format=EXPORT, sessions=sessions, notes=notes)


def _remembered(log: EventLog, imported: Imported) -> Iterator[str]:
    """What an export brings into the memory of each person: whoever made it decides what models are
    told here. Of the person that is meant where nobody is named first."""
    brought = [key for key, count in imported.new_of.items() if count and is_memory_stream(key)]
    for key in sorted(brought, key=lambda each: (each.user != _LOCAL, each.user)):
        known = imported.known_of.get(key, 0)
        new = log.read(key, known, types=["remembered"])
        count = sum(not event.erased for event in new)
        whose = "" if key.user == _LOCAL else f" --user {key.user}"
        said = f"changes what is remembered of {key.user}"
        if count:
            said = f"brings {plural(count, 'memory', 'memories')} of {key.user}"
        they = "they are" if count > 1 else "it is"
        yield f"{said}: {they} shown to models (ctxlog memory list{whose})"


def _standard_input(log: EventLog, options: Options) -> list[FileData]:
    stream = sys.stdin.buffer if sys.stdin is not None else None
    if stream is None:
        raise InputRefused("standard input is closed")
    first = stream.readline(_HEAD)
    rejoined = _Rejoined(first, stream)
    if options.format == EXPORT or (not options.format and _MARK in first):
        return [_export(log, rejoined.lines(), "standard input")]
    return _files(import_stream(log, rejoined, options))


class _Rejoined:
    """A stream whose beginning was read already."""

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        self._first, self._rest = first, rest

    def read(self, size: int, /) -> bytes:
        """The next bytes."""
        if self._first:
            taken, self._first = self._first[:size], self._first[size:]
            return taken
        return self._rest.read(size)

    def lines(self) -> Iterator[bytes]:
        """All of it, line by line."""
        first, self._first = self._first, b""
        if first:
            yield first if first.endswith(b"\n") else first + self._rest.readline()
        yield from self._rest


class Rehearsal:
    """A copy of the log in a temporary folder, for an import that shall not happen."""

    def __init__(self, path: Path) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="ctxlog-")
        self.path = Path(self._folder.name) / "ctxlog.db"
        if path.exists():
            EventLog(path, read_only=True).close()  # refuses what is no log
            name = quote(os.fsencode(path))  # or it ends at the first ? or #
            source = sqlite3.connect(f"file:{name}?{uri_mode(path)}", uri=True)
            try:
                descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                os.close(descriptor)
                target = sqlite3.connect(self.path)
                try:
                    source.backup(target)
                finally:
                    target.close()
            finally:
                source.close()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()
