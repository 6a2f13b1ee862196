"""The records of a JSON Lines file, one at a time, whatever stands in it.

A file that an agent writes is rarely clean: two objects on one line (two writers), a torn last
line (a crash, or the agent is writing it now), a block of NUL bytes, bytes that are not UTF-8.
Nothing of that ends an import. What cannot be read is handed on as a record with a ``fault``, its
line and its byte offset. Memory is bounded by one line, never by the file.

Lines end at ``\\n`` only, since strings may hold U+2028 or U+0085 unescaped. Sources of these
shapes: transcripts of Claude Code, Codex and Copilot CLI in public repositories.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic_core import from_json

from eventlog.jsonvalue import MAX_DEPTH, value_fault, why_no_json

MAX_LINE = 32 * 1024 * 1024
"""Bytes; a longer line is not read, only counted."""

HEAD = 64 * 1024
"""Bytes that are kept of a line that is too long."""

BLOCK = 1024 * 1024
_SPACE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"


class Readable(Protocol):
    """What is needed of a binary stream."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object or array of a file, or a piece that is none."""

    line: int
    """1-based."""
    part: int
    """0-based number of the piece on its line."""
    offset: int
    """In bytes, of its first byte."""
    raw: bytes
    """Its bytes, without white space around it."""
    value: Any = None
    fault: str = ""
    """Why it cannot be read; empty for a record that can."""
    torn: bool = False
    """The file ends inside it, so that it may be completed later."""

    @property
    def text(self) -> str:
        """Its bytes as text; bytes that are not UTF-8 become lone surrogates."""
        return self.raw.decode("utf-8", "surrogateescape")


def read_records(stream: Readable, max_line: int = MAX_LINE) -> Iterator[Record]:
    """The records of a stream, in order. Raises only what reading the stream raises."""
    for line, offset, body, size, ended in read_lines(stream, max_line):
        if size > max_line:
            fault = f"a line of {size:,} bytes is over the limit of {max_line:,}"
            yield Record(line, 0, offset, body[:HEAD], fault=fault, torn=not ended)
        else:
            yield from records_of_line(body, line, offset, ended)


def records_of_line(body: bytes, line: int, offset: int, ended: bool = True) -> Iterator[Record]:
    """The records of one line; ``ended`` says whether its end is known."""
    if line == 1 and body.startswith(_BOM):
        body, offset = body[3:], offset + 3
    raw = body.strip(_SPACE)
    if not raw:
        return
    try:
        value = from_json(raw, allow_inf_nan=False, cache_strings="keys")
    except ValueError:
        yield from _pieces(body, line, offset, ended)
        return
    start = offset + len(body) - len(body.lstrip(_SPACE))
    if not isinstance(value, dict | list):
        fault = "neither an object nor an array"
        yield Record(line, 0, start, raw, fault=fault, torn=not ended)
        return
    fault = value_fault(value, raw)
    yield Record(line, 0, start, raw, None if fault else value, fault)


def beginning_of(text: str) -> Any:
    """The value that a text holds or begins, as far as it goes; None where it begins none."""
    try:
        return from_json(text, allow_inf_nan=False, allow_partial=True, cache_strings="keys")
    except ValueError:
        return None


def read_lines(stream: Readable, limit: int) -> Iterator[tuple[int, int, bytes, int, bool]]:
    """(number, offset, bytes, size, whether a newline ended it) of each line; of one that is longer
    than the limit only its head."""
    number, offset, size = 1, 0, 0
    kept: list[bytes] = []
    while block := stream.read(BLOCK):
        start = 0
        while (end := block.find(b"\n", start)) >= 0:
            _keep(kept, block[start:end], size, limit)
            size += end - start
            yield number, offset, b"".join(kept), size, True
            kept.clear()
            number, offset, size, start = number + 1, offset + size + 1, 0, end + 1
        _keep(kept, block[start:], size, limit)
        size += len(block) - start
    if size:
        yield number, offset, b"".join(kept), size, False


def _keep(kept: list[bytes], piece: bytes, size: int, limit: int) -> None:
    if size + len(piece) <= limit:
        kept.append(piece)
    elif size < HEAD:
        kept.append(piece[: HEAD - size])
    elif len(kept) > 1:
        kept[:] = [b"".join(kept)[:HEAD]]


def _constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_constant)
_SKIP = re.compile(r"[ \t\r\n]*")
_NULS = re.compile("\0[ \t\r\n\0]*")


def _pieces(body: bytes, line: int, offset: int, ended: bool) -> Iterator[Record]:
    """Every object or array on a line that is not exactly one."""
    text = body.decode("utf-8", "surrogateescape")
    at, part, fault = 0, 0, ""
    while True:
        at = _end(_SKIP, text, at)
        if at >= len(text):
            return
        stop, value, torn = len(text), None, not ended
        if text[at] == "\0":
            stop = _end(_NULS, text, at)
            fault, torn = f"{stop - at} NUL bytes", torn and stop == len(text)
        else:
            try:
                value, stop = _DECODER.raw_decode(text, at)
                fault = "" if isinstance(value, dict | list) else "neither an object nor an array"
            except RecursionError:
                fault = f"nested more than {MAX_DEPTH} deep"
            except json.JSONDecodeError as error:
                fault = f"not JSON ({error.msg})"
            except ValueError as error:
                fault = f"not JSON ({why_no_json(error)})"
            if fault:
                stop = len(text)
            else:
                torn = False
        raw = text[at:stop].encode("utf-8", "surrogateescape")
        if not fault:
            fault = value_fault(value, raw)
        start = offset + len(text[:at].encode("utf-8", "surrogateescape"))
        if fault:
            raw, value = raw.strip(_SPACE), None
        yield Record(line, part, start, raw, value, fault, torn)
        at, part, fault = stop, part + 1, ""


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
