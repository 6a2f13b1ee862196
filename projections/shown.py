"""An item as a summarizer reads it.

One place says what of an item is shown, so that what a summary covers is exactly what its
summarizer was given: an item of which nothing is shown is lost, and counted so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from eventlog.messages import Part
from projections.dialects.translate import inner_parts, note
from projections.items import Item
from projections.runs import Named, Origin

_BASE64 = re.compile(
    r"""(;base64,|"(?:data|b64_json|file_data)\\*":\s*\\*")([A-Za-z0-9+/_=-]{200,})"""
)
"""Bytes of a picture or a file where they stand within a text, as in the arguments of a call."""

_SPEAKERS = {"user": "USER", "assistant": "AGENT", "tool": "TOOL"}


def shown(item: Item, *, texts_only: bool = False) -> str:
    """Who speaks, what is said, tools with their arguments; empty where there is nothing to show.

    ``texts_only``: what people and the model said, without tools and their output. Pictures and
    files are named, not sent, also within a result, and so are bytes in base64; thinking is not
    shown, since it is no part of what was agreed.
    """
    if texts_only and item.role not in ("user", "assistant"):
        return ""
    lines = []
    for part in item.parts:
        if part.kind == "text" and part.text.strip():
            lines.append(part.text)
        elif part.kind == "call" and not texts_only:
            lines.append(f"(calls {part.name} with {part.text})")
        elif part.kind == "result" and not texts_only:
            failed = "failed with" if part.is_error else "gave"
            said = "\n".join(map(_within, inner_parts(item.dialect, part)))
            lines.append(f"(tool {item.tool_name or 'result'} {failed}) {said}")
        elif part.kind == "media" or (part.kind == "other" and not texts_only):
            lines.append(_within(part))
    if not lines:
        return ""
    lines = [_BASE64.sub(_size, line) for line in lines]
    speaker = _SPEAKERS.get(item.role, "SYSTEM")
    if item.is_summary:
        speaker = "EARLIER SUMMARY"
    return f"[{speaker}]\n" + "\n".join(lines)


def _within(part: Part) -> str:
    """A part that is no call; of what is no text that it was there."""
    if part.kind == "text":
        return part.text
    if part.kind == "media":
        return f"({part.name or 'a file'} was shown here)"
    return note(part)


def _size(found: re.Match[str]) -> str:
    return f"{found[1]}({len(found[2])} characters of base64)"


def not_shown(shown: Sequence[str], position: int, items: Iterable[Origin]) -> list[Origin]:
    """The items among those that the summarizer of a compaction at a position was not given.

    ``shown`` is what the compaction records of that; where it records nothing, none are known.
    """
    if not shown:
        return []
    named = Named(shown, position)
    return [item for item in items if item not in named]
