"""What an import did, file by file and stream by stream."""

from __future__ import annotations

from pydantic import BaseModel


class SessionImport(BaseModel):
    """What happened to one stream."""

    key: str
    new: int = 0
    """Events appended."""
    known: int = 0
    """Events that stood there already."""
    pending: int = 0
    """Records that wait for the next import, because the file ends inside them."""
    unreadable: int = 0
    """Records that could not be read; they are kept as they are."""
    vanished: int = 0
    """Events whose records the file no longer holds; they stay."""
    forks: list[str] = []
    """Streams that hold what follows where the file was rewritten."""
    notes: list[str] = []

    @property
    def is_empty(self) -> bool:
        """Whether the file held nothing of it: then there is no such stream, or it has no part."""
        counts = (self.new, self.known, self.pending, self.unreadable, self.vanished)
        return not (any(counts) or self.forks or self.notes)


class FileImport(BaseModel):
    """What happened to one file."""

    path: str
    format: str = ""
    sessions: list[SessionImport] = []
    withheld: int = 0
    """Values of what is new that may be keys, and were left out."""
    pending: int = 0
    """Records at its end that belong to no session yet, a torn last line among them."""
    notes: list[str] = []
    error: str = ""
    """Why it was not imported, or not to its end: one line."""
    unknown: bool = False
    """It is no transcript of a format that can be imported."""


class ImportReport(BaseModel):
    """What an import did."""

    files: list[FileImport] = []
    passed_over: list[str] = []
    """JSON files of a folder in which nothing looks like a transcript."""

    @property
    def sessions(self) -> list[SessionImport]:
        """The streams of all files."""
        return [session for file in self.files for session in file.sessions]

    @property
    def new(self) -> int:
        """Events appended."""
        return sum(session.new for session in self.sessions)

    @property
    def known(self) -> int:
        """Events that stood there already."""
        return sum(session.known for session in self.sessions)

    @property
    def pending(self) -> int:
        """Records that wait for the next import."""
        return sum(s.pending for s in self.sessions) + sum(f.pending for f in self.files)

    @property
    def unreadable(self) -> int:
        """Records that could not be read."""
        return sum(session.unreadable for session in self.sessions)

    @property
    def withheld(self) -> int:
        """Values that may be keys, and were left out."""
        return sum(file.withheld for file in self.files)

    @property
    def errors(self) -> list[str]:
        """One line for each file that failed."""
        return [file.error for file in self.files if file.error]
