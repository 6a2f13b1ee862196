"""Importing: files into streams, any number of times with the same result.

A file that fails is one clear line in the report, and the others go in. What the log itself refuses
(locked, full, read-only) ends the import. An import that was killed left a valid beginning of each
stream, which the next one completes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from eventlog import EventLog, StreamKey
from eventlog.errors import (
    CtxlogError,
    DatabaseFault,
    InputRefused,
    OutcomeUnknown,
    WrongExpectedVersion,
)
from harness.importers import claude_code, openai_chat
from harness.importers.claude_code import ClaudeCodeFile, Links
from harness.importers.conversations import is_conversation, read_conversations
from harness.importers.detection import FORMATS, UnknownFormat, detect
from harness.importers.records import Readable, Record, read_records
from harness.importers.report import FileImport, ImportReport
from harness.importers.source import Progress, Source
from harness.importers.stream_writer import StreamWriter

ATTEMPTS = 3
"""Of one file, when another process writes to the same stream meanwhile."""

SUFFIXES = (".jsonl", ".ndjson", ".json")
"""Files of a folder that are looked into."""

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


def import_path(
    log: EventLog, path: str | os.PathLike[str], options: Options | None = None
) -> ImportReport:
    """Import a file, or every transcript below a folder with its sub-agents linked.

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
    if options.session:
        raise InputRefused("a session name fits one file, not a folder")
    report = ImportReport()
    for each in _transcripts(where, report):
        found = run.file(each, str(each.relative_to(where)))
        # Other JSON beside transcripts (settings, indexes) is nothing to complain about.
        if each.suffix == ".json" and run.unrecognized:
            report.passed_over.append(found.path)
        else:
            report.files.append(found)
    return report


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
    StreamKey(options.user, options.agent or FORMATS[0], options.session or "session").checked()


def _transcripts(folder: Path, report: ImportReport) -> Iterator[Path]:
    """The files of a folder; those of sub-agents behind the sessions that started them."""
    found: list[tuple[bool, str]] = []

    def closed(error: OSError) -> None:
        shown = os.fsdecode(error.filename)
        report.files.append(FileImport(path=shown, error=_line(shown, error)))

    for root, folders, names in os.walk(folder, onerror=closed):
        folders.sort()
        for name in names:
            if name.endswith(SUFFIXES):
                agent = name.startswith("agent-") or os.path.basename(root) == "subagents"
                found.append((agent, os.path.join(root, name)))
    for _, path in sorted(found):
        yield Path(path)


class _Run:
    """One import of one or more files."""

    def __init__(self, log: EventLog, options: Options) -> None:
        self.unrecognized = False
        """Whether nothing in the last file looked like a transcript."""
        self._log = log
        self._options = options
        self._links: dict[str, Links] = {}

    def file(self, path: Path, shown: str) -> FileImport:
        """Import one file of the disk."""
        result, done = FileImport(path=shown), dict[str, int]()
        for attempt in range(1, ATTEMPTS + 1):
            result = FileImport(path=shown)
            try:
                status = path.stat()
                if not stat.S_ISREG(status.st_mode):
                    raise InputRefused(f"{shown}: not a regular file")
                with path.open("rb") as stream:
                    source = Source(stream, shown, status.st_size, self._options.progress)
                    raced = self._guarded(result, source, path)
            except (OSError, InputRefused) as error:
                raced = False
                result.error = _line(shown, error)
            for session in result.sessions:
                before = done.get(session.key, 0)
                done[session.key] = before + session.new
                session.new, session.known = session.new + before, max(session.known - before, 0)
            if not raced or attempt == ATTEMPTS:
                break
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

    def _guarded(self, into: FileImport, source: Source, path: Path | None) -> bool:
        """Read a source; what is wrong with it becomes its error line. Whether a race was lost."""
        self.unrecognized = False
        writers: list[StreamWriter] = []
        try:
            into.format = detect(source.head, source.name, self._options.format)
            if into.format == claude_code.FORMAT:
                self._claude_code(into, source, path, writers)
            else:
                self._openai_chat(into, source, path, writers)
        except WrongExpectedVersion as error:
            into.error = _line(source.name, error)
            return True
        except (DatabaseFault, OutcomeUnknown):
            raise
        except CtxlogError as error:
            self.unrecognized = isinstance(error, UnknownFormat) and not error.what
            into.error = _line(source.name, error)
        finally:
            into.sessions.extend(writer.report for writer in writers)
        return False

    def _opener(self, writers: list[StreamWriter]) -> claude_code.OpenWriter:
        options = self._options

        def open_writer(session: str, format: str, foreign_id: str) -> StreamWriter:
            key = StreamKey(options.user, options.agent or format, session).checked()
            writers.append(StreamWriter(self._log, key, format, foreign_id))
            return writers[-1]

        return open_writer

    def _claude_code(
        self, into: FileImport, source: Source, path: Path | None, writers: list[StreamWriter]
    ) -> None:
        options = self._options
        file = ClaudeCodeFile(
            self._opener(writers),
            file=path.name if path is not None else source.name,
            stem=path.stem if path is not None else options.session,
            session=options.session,
            links=lambda session_id: self._links.setdefault(session_id, Links()),
        )
        for record in read_records(source):
            if self._waits(into, record):
                continue
            file.feed(record)
            if sum(writer.weight for writer in writers) > MAX_WAITING_BYTES:
                for writer in writers:
                    writer.flush()
        file.finish(options.final)
        into.pending += file.held
        for writer in writers:
            writer.finish()

    def _openai_chat(
        self, into: FileImport, source: Source, path: Path | None, writers: list[StreamWriter]
    ) -> None:
        open_writer = self._opener(writers)
        given = self._options.session
        place = os.path.realpath(path) if path is not None else ""
        for number, found in enumerate(read_conversations(source), 1):
            record = found.record
            if self._waits(into, record):
                continue
            if record.fault or not is_conversation(found.value):
                fault = record.fault or "no conversation"
                into.notes.append(f"line {record.line}, byte {record.offset}: {fault}")
                into.error = into.error or f"{source.name}: line {record.line}: {fault}"
                continue
            name = openai_chat.conversation_name(place, number)
            if given:
                name = given if number == 1 else f"{given}.{number}"
            writer = open_writer(name, openai_chat.FORMAT, name)
            file = path.name if path is not None else source.name
            openai_chat.Conversation(writer, found.value, record, file).write(
                name, number, found.counted
            )
            writer.finish()

    def _waits(self, into: FileImport, record: Record) -> bool:
        """Whether the file ends inside this record, so that it waits for the next import."""
        if not record.torn or self._options.final:
            return False
        into.pending += 1
        into.notes.append(f"line {record.line}, byte {record.offset}: the file ends inside it")
        return True


def _line(name: str, error: Exception) -> str:
    text = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    text = " ".join(text.split())
    return text if text.startswith(name) else f"{name}: {text}"
