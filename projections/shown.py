"""An item as a summarizer reads it.

One place says what of an item is shown, so that what a summary covers is exactly what its
summarizer was given: an item of which nothing is shown is lost, and counted so.
"""

from __future__ import annotations

from projections.items import Item

_SPEAKERS = {"user": "USER", "assistant": "AGENT", "tool": "TOOL"}


def shown(item: Item, *, texts_only: bool = False) -> str:
    """Who speaks, what is said, tools with their arguments; empty where there is nothing to show.

    ``texts_only``: what people and the model said, without tools and their output. Pictures and
    files are named, not sent; thinking is not shown, since it is no part of what was agreed.
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
            lines.append(f"(tool {item.tool_name or 'result'} {failed}) {part.text}")
        elif part.kind == "media":
            lines.append(f"({part.name or 'a file'} was shown here)")
    if not lines:
        return ""
    speaker = _SPEAKERS.get(item.role, "SYSTEM")
    if item.kind == "summary":
        speaker = "EARLIER SUMMARY"
    return f"[{speaker}]\n" + "\n".join(lines)
