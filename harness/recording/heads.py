"""The heads of requests and of answers, read strictly.

A head that two readers could read in two ways is refused: a header could be hidden in another one,
and an answer in another one.
"""

from __future__ import annotations

import http.client
import io
import re
from typing import Any

_LENGTH = re.compile(r"[0-9]{1,15}")


class BrokenHead(ValueError):
    """A head that is none of HTTP."""


class Lines:
    """The lines of a head; each ends with its line feed, and nowhere before."""

    def __init__(self, file: io.BufferedIOBase) -> None:
        self._file = file

    def readline(self, size: int = -1) -> bytes:
        """Raises BrokenHead, and what reading raises."""
        line = self._file.readline(size)
        if b"\r" in line.removesuffix(b"\n").removesuffix(b"\r") or b"\0" in line:
            raise BrokenHead("a header is broken")
        return line


class Response(http.client.HTTPResponse):
    """An answer, with nothing of what was told before it (``103 Early Hints``, for example)."""

    fp: Any

    def begin(self) -> None:
        """Read its head. Raises BrokenHead, HTTPException, OSError."""
        whole, self.fp = self.fp, Lines(self.fp)
        super().begin()
        self.fp = whole
        lengths = {text.strip() for text in self.headers.get_all("content-length", [])}
        if self.headers.defects:
            raise BrokenHead("a header of it is broken")
        if len(lengths) > 1:
            raise BrokenHead("its length is said in two ways")
        if not all(map(_LENGTH.fullmatch, lengths)):
            raise BrokenHead("its length is no number")
        if "transfer-encoding" in self.headers and not self.chunked:
            raise BrokenHead("its transfer coding is not known")

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]
            if not http.client.CONTINUE < status < http.client.OK:
                return version, status, reason
            if status == http.client.SWITCHING_PROTOCOLS:
                raise BrokenHead("it goes on with another protocol, which was not asked for")
            http.client.parse_headers(self.fp)
