"""The records of a log of requests, in whatever way they are written down.

One a line; or spread over many lines and separated by a line ``---``, as cc-viewer writes them, of
which a file that is one JSON value is a case; or an array, or an HTTP archive, whose entries are
the records. Memory is bounded by one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from eventlog.jsonvalue import dumps
from harness.importers.conversations import MAX_DOCUMENT, is_conversation
from harness.importers.exchanges import archive_entries, exchange_dialect
from harness.importers.records import (
    HEAD,
    MAX_LINE,
    Record,
    beginning_of,
    read_lines,
    read_records,
    records_of_line,
)
from harness.importers.source import Source

_SEPARATOR = b"---"


def read_exchange_records(source: Source) -> Iterator[Record]:
    """The records of a file, in order; the entries of an array or an archive one by one."""
    records = _blocks(source) if _is_pretty(source) else read_records(source)
    for record in records:
        entries = record.value if isinstance(record.value, list) else archive_entries(record.value)
        if entries is None:
            yield record
            continue
        for part, entry in enumerate(entries):
            yield replace(record, part=part, raw=dumps(entry).encode(), value=entry)


def is_request_log(source: Source) -> bool:
    """Whether a request beside what came back stands in it before any conversation does."""
    head = source.head.lstrip(b"\xef\xbb\xbf \t\r\n")
    pieces = re.split(rb"\n---\r?\n", head) if _is_pretty(source) else head.split(b"\n")
    for piece in pieces:
        value = beginning_of(piece.decode("utf-8", "replace"))
        if exchange_dialect(value):
            return True
        if is_conversation(value):
            return False
    return False


def _is_pretty(source: Source) -> bool:
    """Whether the first line only opens a value, as pretty-printed JSON does."""
    line, newline, _ = source.head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")
    return bool(newline) and line.strip() in (b"{", b"[")


def _blocks(source: Source) -> Iterator[Record]:
    """What stands between lines of ``---``, each piece read whole."""
    held: list[bytes] = []
    size = first = start = 0
    for number, offset, body, length, _ in read_lines(source, MAX_LINE):
        if not held and not size:
            first, start = number, offset
        if body.strip() == _SEPARATOR:
            yield from _block(held, size, first, start, ended=True)
            held, size = [], 0
            continue
        size += length + 1
        if size <= MAX_DOCUMENT:
            held.append(body)
        elif len(held) > 1:
            held = [b"\n".join(held)[:HEAD]]
    yield from _block(held, size, first, start, ended=False)


def _block(
    held: list[bytes], size: int, first: int, start: int, *, ended: bool
) -> Iterator[Record]:
    body = b"\n".join(held)
    if size > MAX_DOCUMENT:
        fault = f"a record of {size:,} bytes is over the limit of {MAX_DOCUMENT:,}"
        yield Record(first, 0, start, body[:HEAD], fault=fault, torn=not ended)
    else:
        yield from records_of_line(body, first, start, ended)
