"""What is still open in a to-do list or a plan that a tool call wrote.

Each call writes the whole list, so the latest one is the state. Known forms: ``todos`` of Claude
Code, opencode and Gemini CLI, ``plan`` of Codex CLI, and lines with check boxes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_DONE = frozenset(
    {"completed", "complete", "done", "finished", "closed", "cancelled", "canceled", "skipped"}
)
_WORDS = ("content", "step", "description", "title", "text", "task", "subject", "name")
_BOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])?\s*\[([ xX✓✔~-]?)\]\s*(.*)$")


def open_entries(arguments: str) -> tuple[str, ...] | None:
    """The entries that are not finished; None where the arguments hold no list: it was only read.

    A plan in plain text is one open entry.
    """
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        value = arguments
    if isinstance(value, Mapping):
        lists = [each for each in value.values() if isinstance(each, list)]
        texts = [each for each in value.values() if isinstance(each, str)]
        value = next(iter([*lists, *texts]), None)
    if isinstance(value, str):
        value = [value] if value.strip() else None
    if not isinstance(value, list):
        return None
    return tuple(text for each in value for text in _open(each))


def _open(entry: Any) -> list[str]:
    if isinstance(entry, str):
        boxes = [_BOX.match(line) for line in entry.splitlines()]
        if not any(boxes):
            return [entry]
        return [box[2] for box in boxes if box is not None and box[1] in ("", " ", "~", "-")]
    if not isinstance(entry, Mapping):
        return []
    status = str(entry.get("status", entry.get("state", ""))).casefold()
    if status in _DONE or any(entry.get(key) is True for key in ("done", "completed", "checked")):
        return []
    said = next((entry[key] for key in _WORDS if isinstance(entry.get(key), str)), None)
    return [said] if said else [json.dumps(dict(entry), ensure_ascii=False)]
