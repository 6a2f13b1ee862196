"""The conversations of a file of OpenAI chat messages, in whatever way it holds them.

JSON Lines: one conversation a line, an object or an array, read one at a time. One JSON value: an
object with ``messages``, an array of messages, or an array of conversations, read whole and so
limited in size.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from eventlog.errors import InputRefused
from eventlog.jsonvalue import value_fault, why_no_json
from harness.importers.records import Record, read_records, records_of_line
from harness.importers.source import Source

MAX_DOCUMENT = 64 * 1024 * 1024
"""Bytes of a file that is one JSON value."""


class DocumentTooLarge(InputRefused):
    """A file that is one JSON value, too large to be read whole."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"{name}: one JSON value of more than {MAX_DOCUMENT:,} bytes; write it as JSON Lines"
        )


@dataclass(frozen=True, slots=True)
class Found:
    """One conversation, or a record that is none."""

    record: Record
    value: Any
    counted: bool
    """Whether the file counts conversations: in an array of messages it counts those."""


def read_conversations(source: Source) -> Iterator[Found]:
    """The conversations of a file. Raises DocumentTooLarge."""
    if is_lines(source):
        for record in read_records(source):
            yield Found(record, record.value, True)
        return
    record = read_document(source)
    value = record.value
    if isinstance(value, list) and value and all(map(is_conversation, value)):
        for part, each in enumerate(value):
            yield Found(replace(record, part=part), each, True)
    else:
        yield Found(record, value, isinstance(value, dict))


def read_document(source: Source) -> Record:
    """A file that is one JSON value. Raises DocumentTooLarge."""
    data = source.read_all(MAX_DOCUMENT)
    if data is None:
        raise DocumentTooLarge(source.name)
    return whole_document(data)


def is_conversation(value: Any) -> bool:
    """Whether a value may be one conversation: an array, or an object with ``messages``."""
    if isinstance(value, dict):
        return isinstance(value.get("messages"), list)
    return isinstance(value, list)


def conversation_name(path: str, number: int) -> str:
    """The session name of the n-th conversation of a file, where the format has none."""
    return hashlib.sha256(f"{path}\n{number}".encode("utf-8", "surrogateescape")).hexdigest()[:20]


def glimpse(text: str) -> tuple[dict[str, Any], str]:
    """The members of a JSON object that stand whole at the beginning of a text, and the name of the
    first one that does not: what can be told of a document that is longer than what was read."""
    found: dict[str, Any] = {}
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        return found, ""
    at = _skip(text, at + 1)
    while text[at : at + 1] == '"':
        name: Any = ""
        try:
            name, at = _DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if text[at : at + 1] != ":":
                break
            found[name], at = _DECODER.raw_decode(text, _skip(text, at + 1))
        except (ValueError, RecursionError):
            return found, name if isinstance(name, str) and name not in found else ""
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
    return found, ""


_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def is_lines(source: Source) -> bool:
    """JSON Lines by its name, or because a whole value stands on its first line, not alone."""
    if source.name.endswith((".jsonl", ".ndjson")):
        return True
    line, newline, rest = source.head.lstrip().partition(b"\n")
    if not newline or not rest.strip():
        return False
    return all(not record.fault for record in records_of_line(line, 1, 0))


def whole_document(data: bytes) -> Record:
    """One JSON value, over however many lines, as a record; with a fault where it is none."""
    raw = data.removeprefix(b"\xef\xbb\xbf").strip()
    fault, value, torn = "", None, False
    try:
        value = json.loads(raw.decode("utf-8", "surrogateescape"), parse_constant=_refuse)
        fault = value_fault(value, raw)
    except RecursionError:
        fault = "nested too deep"
    except json.JSONDecodeError as error:
        fault = f"not JSON ({error.msg})"
        torn = error.pos >= len(error.doc) - 1 or error.msg.startswith("Unterminated string")
    except ValueError as error:
        fault = f"not JSON ({why_no_json(error)})"
    return Record(1, 0, 0, raw, None if fault else value, fault, torn)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
