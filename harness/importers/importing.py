"""Importing: files into streams, any number of times with the same result.

A file that fails is one clear line in the report, and the others go in. What the log itself refuses
(locked, full, read-only) ends the import. An import that was killed left a valid beginning of each
stream, which the next one completes.
"""

from __future__ import annotations

import io
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from eventlog import EventLog, StreamKey
from eventlog.errors import (
    CtxlogError,
    DatabaseFault,
    EventIdConflict,
    InputRefused,
    OutcomeUnknown,
    PartialRepeat,
    WrongExpectedVersion,
)
from harness.exchange.secret_text import Withheld
from harness.importers.detection import FoundFolder, UnknownFormat, detect, detect_folder
from harness.importers.formats import FORMATS
from harness.importers.job import Job, Options
from harness.importers.records import Readable
from harness.importers.report import FileImport, ImportReport
from harness.importers.source import Source

ATTEMPTS = 10
"""Of one file, when another process imports it meanwhile."""

PATIENCE = 0.02, 2.0
"""Seconds between two attempts: of the first ones, which double, and at most."""

SUFFIXES = (".jsonl", ".ndjson", ".json", ".traj")
"""Files of a folder that are looked into."""

OTHERS = (".eval",)
"""Logs that cannot be imported, and are told of by what they seem to be."""

PACKED = ".jsonl.zst"
"""Transcripts of a folder that cannot be looked into, and are told of."""

MOST_NAMES = 40
"""Of what was left out, in the note that says so."""

INDEXES = frozenset({"history.jsonl", "session_index.jsonl"})
"""What agents keep beside their transcripts: what was typed, and names of sessions."""


def import_path(
    log: EventLog,
    path: str | os.PathLike[str],
    options: Options | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> ImportReport:
    """Import a file, or every transcript below a folder with its sub-agents linked.

    ``progress`` is told how many transcripts of a folder were looked into.

    Raises InputRefused when there is nothing at the path or the options do not fit, and what the
    log raises when it cannot be written. A file that cannot be imported, or a folder that cannot be
    looked into, is an error in the report.
    """
    options = options if options is not None else Options()
    _check(options)
    where = Path(path)
    run = _Run(log, options)
    if not where.is_dir():
        if not where.exists():
            raise InputRefused(f"{where}: no such file or folder")
        return ImportReport(files=[run.file(where, where.name)])
    report = ImportReport()
    whole = _transcript(where, where.name)
    if whole is not None and (options.session or where == whole.folder.records_in):
        return ImportReport(files=[run.folder(where, whole.folder.root.resolve().name)])
    if options.session:
        raise InputRefused("a session name fits one file, not a folder")
    for number, each in enumerate(_transcripts(where, report)):
        progress(number)
        if each.is_dir():
            shown = each.resolve().name if each == where else str(each.relative_to(where))
            report.files.append(run.folder(each, shown))
            continue
        found = run.file(each, str(each.relative_to(where)))
        # Other JSON beside transcripts (settings, indexes) is nothing to complain about.
        if run.unrecognized and (each.suffix == ".json" or each.name in INDEXES):
            report.passed_over.append(found.path)
        else:
            report.files.append(found)
    return report


def transcript_of(file: Path) -> Path:
    """The folder that is the transcript, where a file is one of its parts; else the file itself."""
    found = _transcript(file.parent, file.name)
    if found is None:
        return file
    is_record = found.format.number_of(file.name) is not None
    is_part = file.parent == found.folder.records_in if is_record else found.owns(file.name)
    return found.folder.root if is_part else file


def import_stream(
    log: EventLog, stream: Readable, options: Options, name: str = "standard input"
) -> ImportReport:
    """Import what a stream holds, under the session name that the options give.

    Raises InputRefused without a session name, and what the log raises when it cannot be written.
    """
    _check(options)
    if not options.session:
        raise InputRefused("standard input has no name: give the session one")
    run = _Run(log, options)
    return ImportReport(files=[run.stream(stream, name)])


def _check(options: Options) -> None:
    if options.format and options.format not in FORMATS:
        raise InputRefused(f"{options.format!r} is no format; importable are {', '.join(FORMATS)}")
    StreamKey(
        options.user, options.agent or next(iter(FORMATS)), options.session or "session"
    ).checked()


def _transcripts(folder: Path, report: ImportReport) -> Iterator[Path]:
    """The files of a folder, and the folders in it that are transcripts themselves; those of
    sub-agents behind the sessions that started them."""
    found: list[tuple[bool, str]] = []
    packed = 0

    def closed(error: OSError) -> None:
        shown = os.fsdecode(error.filename)
        report.files.append(FileImport(path=shown, error=_line(shown, error)))

    for root, folders, names in os.walk(folder, onerror=closed):
        whole = _transcript(Path(root), root)
        if whole is not None:
            found.append((False, root))
            folders[:] = [name for name in folders if not whole.owns(name)]
            names = [name for name in names if not whole.owns(name)]
        folders.sort()
        for name in names:
            if name.endswith((*SUFFIXES, *OTHERS)):
                agent = name.startswith("agent-") or os.path.basename(root) == "subagents"
                found.append((agent, os.path.join(root, name)))
            packed += name.endswith(PACKED)
    if packed:
        files = "1 transcript is" if packed == 1 else f"{packed:,} transcripts are"
        error = f"{folder}: {files} compressed ({PACKED}); unpack what you want to import (zstd -d)"
        report.files.append(FileImport(path=str(folder), error=error))
    for _, path in sorted(found):
        yield Path(path)


def _transcript(folder: Path, shown: str) -> FoundFolder | None:
    """The transcript that a folder is; None too for a folder that cannot be looked into."""
    try:
        return detect_folder(folder, shown)
    except OSError:
        return None  # said by whoever walks into it


class _Run:
    """One import of one or more files."""

    def __init__(self, log: EventLog, options: Options) -> None:
        self.unrecognized = False
        """Whether nothing in the last file looked like a transcript."""
        self._log = log
        self._options = options
        self._shared: dict[str, dict[str, Any]] = {}

    def file(self, path: Path, shown: str) -> FileImport:
        """Import one file of the disk."""

        def once(result: FileImport) -> bool:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise InputRefused(f"{shown}: not a regular file")
            with path.open("rb") as stream:
                source = Source(stream, shown, status.st_size, self._options.progress)
                return self._guarded(result, source, path)

        return self._attempts(shown, once)

    def folder(self, path: Path, shown: str) -> FileImport:
        """Import a folder that is one transcript."""

        def once(result: FileImport) -> bool:
            found = detect_folder(path, shown)
            if found is None:
                raise InputRefused(f"{shown}: its records are not there any more")
            found.folder.progress = self._options.progress
            return self._guarded(result, Source(io.BytesIO(), shown), path, found)

        return self._attempts(shown, once)

    def _attempts(self, shown: str, once: Callable[[FileImport], bool]) -> FileImport:
        """Import until no other process was quicker; ``once`` says whether one was."""
        result, done = FileImport(path=shown), dict[str, int]()
        for attempt in range(1, ATTEMPTS + 1):
            result = FileImport(path=shown)
            try:
                raced = once(result)
            except (OSError, InputRefused) as error:
                raced = False
                result.error = _line(shown, error)
            for session in result.sessions:
                before = done.get(session.key, 0)
                done[session.key] = before + session.new
                session.new, session.known = session.new + before, max(session.known - before, 0)
            if not raced or attempt == ATTEMPTS:
                break
            time.sleep(min(PATIENCE[0] * 2 ** (attempt - 1), PATIENCE[1]))
        return result

    def stream(self, stream: Readable, shown: str) -> FileImport:
        """Import what cannot be read twice."""
        result = FileImport(path=shown)
        try:
            source = Source(stream, shown, None, self._options.progress)
            self._guarded(result, source, None)
        except OSError as error:
            result.error = _line(shown, error)
        return result

    def _guarded(
        self, into: FileImport, source: Source, path: Path | None, found: FoundFolder | None = None
    ) -> bool:
        """Read a source; what is wrong with it becomes its error line. Whether a race was lost."""
        self.unrecognized = False
        folder = found.folder if found is not None else None
        job = Job(self._log, source, path, self._options, into, self._shared, folder)
        try:
            asked = self._options.format
            if found is None:
                into.format = detect(source.head, source.name, asked)
            else:
                into.format = found.format.name
                if asked not in ("", into.format):
                    raise UnknownFormat(source.name, f"it holds {into.format} and not {asked}")
            FORMATS[into.format].read(job)
            into.notes.extend(folder.notes if folder is not None else ())
        except (WrongExpectedVersion, PartialRepeat, EventIdConflict) as error:
            what = f"another process imports the same ({error}); import it again"
            into.error = f"{source.name}: {what}"
            return True
        except (DatabaseFault, OutcomeUnknown):
            raise
        except CtxlogError as error:
            into.unknown = isinstance(error, UnknownFormat)
            self.unrecognized = isinstance(error, UnknownFormat) and not error.what
            into.error = _line(source.name, error)
        finally:
            reports = [writer.report for writer in job.writers]
            into.sessions.extend(report for report in reports if not report.is_empty)
            if reports and not (into.sessions or into.error or into.pending or into.notes):
                into.notes.append("it holds no message, so there is no session")
            _tell_withheld(into, job.withheld)
        return False


def _tell_withheld(into: FileImport, withheld: Withheld) -> None:
    if not any(session.new for session in into.sessions):
        return
    into.withheld = withheld.total()
    if into.withheld:
        names = sorted(withheld)
        more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
        told = ", ".join(names[:MOST_NAMES]) + more
        into.notes.insert(0, f"left out, since it may hold keys: {told}")


def _line(name: str, error: Exception) -> str:
    text = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    text = " ".join(text.split())
    return text if text.startswith(name) else f"{name}: {text}"
