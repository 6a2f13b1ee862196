"""What an item's text shows: an error, a decision, a diff. By fixed words, in two languages.

Only the beginning and the end of a long text are read, once for each text.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from projections.strategies.window import Entry

HEAD, TAIL = 2_000, 1_000

ERRORS = (
    *("error", "exception", "traceback", "fail", "fatal", "panic", "denied", "refused"),
    *("undefined", "segfault", "enoent"),
    *("错误", "失败", "异常", "报错", "崩溃", "拒绝", "未找到", "无法"),
)
DECISIONS = (
    *("decid", "decision", " choose ", " chose ", "chosen", "agreed", "conclusion", "therefore"),
    *("决定", "选择", "采用", "方案", "结论", "改为", "必须", "约定"),
)
DIFFS = ("diff --git ", "\n@@ -", "\n+++ ", "*** update file")


def shows_error(entry: Entry) -> bool:
    """Whether it tells of a fault: by its flag, or by a word."""
    return entry.failed or _says(entry, "error", ERRORS)


def shows_decision(entry: Entry) -> bool:
    """Whether something is decided in it."""
    return _says(entry, "decision", DECISIONS)


def shows_diff(entry: Entry) -> bool:
    """Whether it has lines of a patch."""
    return _says(entry, "diff", DIFFS)


def share_of(entry: Entry, words: Set[str]) -> float:
    """How many of these lower-case words it has, from 0 to 1."""
    if not words:
        return 0.0
    text = _ends(entry)
    return sum(word in text for word in words) / len(words)


def _says(entry: Entry, name: str, words: Iterable[str]) -> bool:
    found = entry.memo.get(name)
    if found is None:
        text = _ends(entry)
        found = entry.memo[name] = any(word in text for word in words)
    return bool(found)


def _ends(entry: Entry) -> str:
    """The beginning and the end of the text, in lower case."""
    found = entry.memo.get("ends")
    if not isinstance(found, str):
        text = entry.item.text
        if len(text) > HEAD + TAIL:
            text = f"{text[:HEAD]}\n{text[-TAIL:]}"
        found = entry.memo["ends"] = text.lower()
    return found
