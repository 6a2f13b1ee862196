"""Content codings, undone for the record alone: what passes is passed on as it came.

A body may unpack to a thousand times its size, so no more than a bound is ever unpacked.
"""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable
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


class _Bounded:
    """An unpacker without a bound of its own, fed in small steps: a few bytes become megabytes."""

    def __init__(self, unpack: Callable[[bytes], bytes], step: int) -> None:
        self._unpack, self._step = unpack, step

    def take(self, data: bytes, most: int) -> bytes:
        found = bytearray()
        for at in range(0, len(data), self._step):
            if len(found) >= most:
                break
            found += self._unpack(data[at : at + self._step])
        return bytes(found)


class _Brotli:
    """By a library that knows a bound."""

    def __init__(self, unpacker: Any, unpack: Callable[..., bytes]) -> None:
        self._unpacker, self._unpack = unpacker, unpack

    def take(self, data: bytes, most: int) -> bytes:
        found = self._unpack(data, output_buffer_limit=most)
        while len(found) < most and not self._unpacker.can_accept_more_data():
            more = self._unpack(b"", output_buffer_limit=most - len(found))
            if not more:
                break
            found += more
        return found


def _brotli() -> _Unpacker:
    unpacker = _module("brotli", "brotlicffi").Decompressor()
    unpack = getattr(unpacker, "process", None) or unpacker.decompress
    if hasattr(unpacker, "can_accept_more_data"):
        return _Brotli(unpacker, unpack)
    return _Bounded(unpack, 16)


class _Frames:
    """A body of zstd: frames, one behind the other."""

    def __init__(self) -> None:
        self._unpacker = self._begun()

    @staticmethod
    def _begun() -> Any:
        unpacker = _module("compression.zstd", "zstandard").ZstdDecompressor()
        return unpacker.decompressobj() if hasattr(unpacker, "decompressobj") else unpacker

    def take(self, data: bytes) -> bytes:
        found = b""
        while data:
            if self._unpacker.eof:
                self._unpacker = self._begun()
            found += self._unpacker.decompress(data)
            data = self._unpacker.unused_data if self._unpacker.eof else b""
        return found


def _zstd() -> _Unpacker:
    return _Bounded(_Frames().take, 1 << 10)


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
