"""What a tool gave back, as the text that stands in the context; and what went wrong, as one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator

from pydantic_core import PydanticSerializationError, to_jsonable_python

from harness.errors import ToolFailed

MOST = 1_000_000
"""Characters of a result: a provider takes less, and a log need not hold more."""


def text_of(value: object, returns_nothing: bool = False) -> str:
    """The text of a result, at most ``MOST`` characters of it.

    A string stands as it is, bytes are described, everything else is JSON: models, dataclasses,
    dictionaries, lists, dates. None is ``null``, or ``done`` of a function that gives nothing back.

    Raises ToolFailed for what is no JSON: an object, what holds itself, what is nested too deep.
    """
    if value is None and returns_nothing:
        return "done"
    if isinstance(value, str):
        return bounded("".join(value) if type(value) is not str else value)
    if isinstance(value, bytes | bytearray | memoryview):
        return described(bytes(value))
    if isinstance(value, Iterator | AsyncIterator):
        why = f"it is {_a(value)}, which may have no end"
        raise ToolFailed(f"the tool ran, and its result cannot be told: {why}")
    try:
        return bounded(_json(value))
    except (PydanticSerializationError, ValueError, TypeError, RecursionError) as error:
        why = f"{_a(value)} that is no JSON: {one_line(error)}"
        raise ToolFailed(f"the tool ran, and its result cannot be told: {why}") from None


def _json(value: object) -> str:
    """Python's own writer first: it takes lone surrogates, which pydantic's refuses in keys."""
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except TypeError:  # keys that are no strings
        return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: object) -> object:
    return to_jsonable_python(value, bytes_mode="base64")


def described(content: bytes) -> str:
    """What bytes are that nobody reads: how many, and how they begin."""
    begin = f", which begin {content[:16].hex(' ')}" if content else ""
    return f"{len(content):,} bytes{begin}"


def bounded(text: str) -> str:
    """The text up to ``MOST`` characters, and how many were left out."""
    if len(text) <= MOST:
        return text
    return f"{text[:MOST]}\n[{len(text) - MOST:,} more characters were left out here]"


def text_of_error(error: BaseException) -> str:
    """What is told of an exception: its type and its message, and never where it was raised."""
    if isinstance(error, ToolFailed):
        return bounded(str(error))
    said = _said(error)
    return bounded(f"{type(error).__name__}: {said}" if said else type(error).__name__)


def one_line(error: BaseException) -> str:
    """The message of an exception in one line."""
    return " ".join(_said(error).split())[:300]


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an exception of any tool: its own message may fail
        return ""


def _a(value: object) -> str:
    return f"an object of the type {type(value).__name__}"
