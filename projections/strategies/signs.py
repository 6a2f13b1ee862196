"""What an item's text shows: an error, a decision, a diff. By fixed words, in two languages.

Only the beginning and the end of a long text are read, once for each text.
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from projections.items import Item
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
    return entry.failed or entry.item.once("_error", lambda item: _says(item, ERRORS))


def shows_decision(entry: Entry) -> bool:
    """Whether something is decided in it."""
    return entry.item.once("_decision", lambda item: _says(item, DECISIONS))


def shows_diff(entry: Entry) -> bool:
    """Whether it has lines of a patch."""
    return entry.item.once("_diff", lambda item: _says(item, DIFFS))


def share_of(entry: Entry, words: Set[str]) -> float:
    """How many of these lower-case words it has, from 0 to 1."""
    if not words:
        return 0.0
    found = entry.memo.get("ends")
    if not isinstance(found, str):
        found = entry.memo["ends"] = _ends(entry.item)
    return sum(map(found.__contains__, words)) / len(words)


def _says(item: Item, words: Iterable[str]) -> bool:
    return any(map(_ends(item).__contains__, words))


def _ends(item: Item) -> str:
    """The beginning and the end of the text, in lower case."""
    text = item.text
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    return text.lower()
