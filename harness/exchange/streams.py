"""A streamed answer as text: server-sent events, whatever stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Streamed:
    """What a stream brought."""

    message: dict[str, Any] | None = None
    """As the API would have returned it at once; None before its start."""
    complete: bool = False
    """Whether the stream said that it ends."""
    error: dict[str, Any] | None = None
    """What it ended with instead."""
    unread: list[str] = field(default_factory=list)
    """Pieces of it that are no event, or one that is not known: they are no part of the message."""


def is_stream(text: str) -> bool:
    """Whether a text is server-sent events, or Bedrock's frames of them."""
    return text.startswith("\0\0") or re.match(r"\s*(?:event|data|id|retry)?:", text) is not None


def stream_data(text: str) -> Iterator[str]:
    """The data of each event; its lines are joined, as the standard says."""
    lines: list[str] = []
    for line in re.split("\r\n|\n|\r", text):
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif not line and lines:
            yield from _said(lines)
            lines = []
    yield from _said(lines)


def _said(lines: list[str]) -> Iterator[str]:
    piece = "\n".join(lines)
    if piece.strip() and piece.strip() != "[DONE]":
        yield piece
