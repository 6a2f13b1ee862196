"""Content codings, undone for the record alone: what passes is passed on as it came.

A body may unpack to a thousand times its size, so no more than a bound is ever unpacked.
"""

from __future__ import annotations

import importlib
import zlib
from functools import cache
from typing import Any, Protocol

from eventlog.errors import InputRefused


class _Unpacker(Protocol):
    def take(self, data: bytes, most: int) -> bytes: ...


class TooMuch(InputRefused):
    """More than may be unpacked."""


class Unpacking:
    """A body in a coding, unpacked piece by piece."""

    def __init__(self, coding: str, most: int) -> None:
        """Raises InputRefused for a coding that cannot be undone here."""
        names = [name.strip().lower() for name in coding.split(",")]
        names = [name for name in names if name not in ("", "identity")]
        unknown = [name for name in names if name not in readable()]
        if unknown:
            raise InputRefused(f"it came in the coding {unknown[0]!r}, which cannot be undone here")
        # The coding that was put on last comes off first.
        self._steps: list[_Unpacker] = [_UNPACKERS[name]() for name in reversed(names)]
        self._left = most

    def take(self, data: bytes) -> bytes:
        """What the next piece adds. Raises InputRefused for what is no such coding, and TooMuch for
        more than the bound."""
        for step in self._steps:
            try:
                data = step.take(data, self._left + 1)
            except Exception as error:  # each library has errors of its own
                raise InputRefused(f"its coding is broken: {error}") from None
        self._left -= len(data)
        if self._left < 0:
            raise TooMuch("it unpacks to more than is kept")
        return data


class _Gzip:
    wbits = 16 + zlib.MAX_WBITS

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(self.wbits)

    def take(self, data: bytes, most: int) -> bytes:
        found = self._zlib.decompress(data, most)
        while self._zlib.eof and self._zlib.unused_data.strip(b"\0") and len(found) < most:
            rest, self._zlib = self._zlib.unused_data, zlib.decompressobj(self.wbits)
            found += self._zlib.decompress(rest, most - len(found))
        return found


class _Deflate:
    """In zlib's wrapper, or without it, as some servers send it."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj()
        self._is_new = True

    def take(self, data: bytes, most: int) -> bytes:
        if not data:
            return data
        is_new, self._is_new = self._is_new, False
        try:
            return self._zlib.decompress(data, most)
        except zlib.error:
            if not is_new:
                raise
            self._zlib = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._zlib.decompress(data, most)


_STEP = 1 << 12
"""Bytes that are unpacked at a time where a library knows no bound of its own."""


class _Bounded:
    """An unpacker without a bound of its own, fed in small steps."""

    def __init__(self, unpack: Any) -> None:
        self._unpack = unpack

    def take(self, data: bytes, most: int) -> bytes:
        found = bytearray()
        for at in range(0, len(data), _STEP):
            if len(found) >= most:
                break
            found += self._unpack(data[at : at + _STEP])
        return bytes(found)


def _brotli() -> _Unpacker:
    decompressor = _module("brotli", "brotlicffi").Decompressor()
    return _Bounded(getattr(decompressor, "process", None) or decompressor.decompress)


def _zstd() -> _Unpacker:
    decompressor = _module("compression.zstd", "zstandard").ZstdDecompressor()
    if hasattr(decompressor, "decompressobj"):
        decompressor = decompressor.decompressobj()
    return _Bounded(decompressor.decompress)


def _module(*names: str) -> Any:
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


_UNPACKERS: dict[str, Any] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
    "br": _brotli,
    "zstd": _zstd,
}


@cache
def readable() -> frozenset[str]:
    """The codings that can be undone here; brotli and zstd where their libraries are installed."""
    found = {"gzip", "x-gzip", "deflate"}
    if _module("brotli", "brotlicffi") is not None:
        found.add("br")
    if _module("compression.zstd", "zstandard") is not None:
        found.add("zstd")
    return frozenset(found)


def accepted(given: str) -> str:
    """An ``Accept-Encoding`` without the codings that could not be read here."""
    kept = []
    for part in given.split(","):
        name = part.partition(";")[0].strip().lower()
        if name == "identity" or name in readable():
            kept.append(part.strip())
    return ", ".join(kept) or "identity"
