"""Other agents' transcripts, made into events: one file of code a format."""

from harness.importers.importing import import_path, import_stream
from harness.importers.job import Options
from harness.importers.places import Place, known_places
from harness.importers.report import FileImport, ImportReport, SessionImport
from harness.importers.source import Progress

__all__ = [
    "FileImport",
    "ImportReport",
    "Options",
    "Place",
    "Progress",
    "SessionImport",
    "import_path",
    "import_stream",
    "known_places",
]
