"""Which agent wrote a file: told from its first records, never from its name."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from eventlog.errors import InputRefused
from harness.importers.folder import Folder
from harness.importers.formats import FOLDERS, FORMATS, FolderFormat
from harness.importers.records import BLOCK, read_records

_PACKED = {
    rb"\x1f\x8b": "it is compressed; unpack it first (gunzip)",
    # Codex packs rollouts that were not used for long.
    rb"\x28\xb5\x2f\xfd": "it is compressed; unpack it first (zstd -d)",
    rb"PK\x03\x04": "a zip archive, as Inspect logs are (.eval), which is not imported yet",
    rb"\d{2,9}:\d{1,3}:[a-z]": "flows of mitmproxy; save them as an HTTP archive (.har) first",
}
"""How files begin that hold what can be imported, but not as text."""


class UnknownFormat(InputRefused):
    """The file is no transcript that can be imported."""

    def __init__(self, name: str, what: str) -> None:
        self.name, self.what = name, what
        """``what``: the kind of file that it seems to be, empty where nothing is recognized."""
        super().__init__(f"{name}: {what or 'no record in it is one of a known transcript'}")


def detect(head: bytes, name: str, asked: str = "") -> str:
    """The format of a file from its first bytes (a mebibyte is enough).

    With ``asked`` it is that one, unless the file is visibly another thing: records of another
    format, or only such as that format never has. Raises UnknownFormat, which says in one line what
    the file seems to be.
    """
    try:
        found = _detected(head, name)
    except UnknownFormat as error:
        if not asked or error.what or not _may_be(head, asked, when_torn=True):
            raise
        return asked
    if asked not in ("", found) and not _may_be(head, asked):
        raise UnknownFormat(name, f"it holds {found} and not {asked}")
    return asked or found


EVENTS = "events"
"""Where in the folder of a transcript its records lie, unless they lie in the folder itself."""


LOOKED_AT = 5
"""Records of a folder of which one must be of the format: the others may be damaged."""


class FoundFolder(NamedTuple):
    """A folder that is one transcript."""

    format: FolderFormat
    folder: Folder

    def owns(self, name: str) -> bool:
        """Whether a file or a folder in it is a part of the transcript."""
        if self.folder.records_in == self.folder.root:
            return name in self.format.beside or self.format.number_of(name) is not None
        return name in self.format.beside or name == self.folder.records_in.name


def detect_folder(path: Path, shown: str) -> FoundFolder | None:
    """The transcript that a folder is, by the names of its files and its first records; else None.

    The folder of its records may be given too. Raises OSError when it cannot be listed.
    """
    for records_in in (path / EVENTS, path):
        if records_in != path and (records_in.is_symlink() or not records_in.is_dir()):
            continue
        names = os.listdir(records_in)
        for format in FOLDERS:
            numbered = [(n, name) for name in names if (n := format.number_of(name)) is not None]
            if not numbered:
                continue
            inside = records_in.name == EVENTS and records_in == path
            folder = Folder(path.parent if inside else path, records_in, format.number_of, shown)
            first = sorted(numbered)[:LOOKED_AT]
            if any(format.recognizes(folder.value(name)) for _, name in first):
                return FoundFolder(format, folder)
    return None


def _may_be(head: bytes, asked: str, *, when_torn: bool = False) -> bool:
    """Whether a whole record, or the document, may be of that format.

    ``when_torn``: also where nothing in it is whole yet.
    """
    whole = [record.value for record in read_records(io.BytesIO(head)) if not record.torn]
    if when_torn and not whole:
        return True
    return any(map(FORMATS[asked].may_be, [*whole, _document(head)]))


def _detected(head: bytes, name: str) -> str:
    if not head.strip():
        raise UnknownFormat(name, "the file is empty")
    for begins, what in _PACKED.items():
        if re.match(begins, head):
            raise UnknownFormat(name, what)
    found, general = "", next(reversed(FORMATS))
    for record in read_records(io.BytesIO(head[:BLOCK])):
        said = _of_value(record.value) if not record.fault else ""
        if not found or said in FORMATS:
            found = said or found
        # The first record that says something: later ones may quote other transcripts. Only a
        # conversation that any format may have says too little.
        if found not in ("", general):
            break
    found = found or _of_document(head)
    if found in FORMATS:
        return found
    raise UnknownFormat(name, found)


def _of_value(value: Any) -> str:
    """A format, or what else it seems to be, or nothing."""
    for format in FORMATS.values():
        if format.recognizes(value):
            return format.name
    return _other(value)


_GEMINI = "a Gemini session, which is not imported yet"


def _other(value: Any) -> str:
    """What a value seems to be that is not imported."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        if "projectHash" in value:
            return _GEMINI
        value = value["messages"]
    if isinstance(value, list) and value:
        return _of_value(value[0])
    if not isinstance(value, dict):
        return ""
    if any(map(_is_responses_request, (value.get("request"), value.get("body")))):
        return "requests to OpenAI's Responses API, which are not imported yet"
    kind = value.get("type")
    kind = kind if isinstance(kind, str) else ""
    if kind in ("request", "response", "response_chunk") and ("body" in value or "id" in value):
        return "a log with requests and responses in lines of their own, which is not imported yet"
    if kind == "session" and "cwd" in value:
        return "a pi session, which is not imported yet"
    if kind.startswith("session.") and isinstance(value.get("data"), dict):
        return "a Copilot CLI session, which is not imported yet"
    if any(isinstance(value.get(name), list) for name in ("contents", "parts", "toolCalls")):
        return _GEMINI
    if isinstance(value.get("lc"), int) and isinstance(value.get("kwargs"), dict):
        return "a dump of LangChain, which is not imported yet"
    if "simulations" in value and "tasks" in value:
        return "results of tau2-bench, which are not imported yet"
    for each in FOLDERS:
        if each.is_record(value):
            return f"one record of an {each.name} session; name the folder that it is"
    if "samples" in value and "eval" in value:
        return "an Inspect log, which is not imported yet"
    return ""


def _is_responses_request(value: Any) -> bool:
    body = value.get("body", value) if isinstance(value, dict) else None
    return isinstance(body, dict) and "input" in body and "model" in body


def _of_document(head: bytes) -> str:
    """The format of one JSON value over several lines, which may go on behind the head."""
    document = _document(head)
    if document is not None:
        return _of_value(document)
    text = head.decode("utf-8-sig", "replace").lstrip()
    found, general = _of_value(_first_of(text)), next(reversed(FORMATS))
    if found not in ("", general):
        return found
    cut = len(head) >= BLOCK
    return next((each.name for each in FORMATS.values() if each.begins(text, cut)), found)


def _first_of(text: str) -> Any:
    """An array that begins so, with its first value alone; None where that does not stand whole."""
    inside = text[1:].lstrip() if text.startswith("[") else ""
    try:
        return [json.JSONDecoder().raw_decode(inside)[0]]
    except (ValueError, RecursionError):
        return None


def _document(head: bytes) -> Any:
    try:
        return json.loads(head.decode("utf-8-sig", "replace").lstrip())
    except (ValueError, RecursionError):
        return None
