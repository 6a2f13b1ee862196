"""What an item's text shows: an error, a decision, a diff. By fixed words, in two languages.

Only the beginning and the end of a long text are read, once for each text.
"""

from __future__ import annotations

from projections.strategies.hashing import words
from projections.strategies.window import Entry

HEAD, TAIL = 2_000, 1_000

ERRORS = frozenset(
    {
        *("error", "errors", "exception", "traceback", "failed", "failure", "fails", "fatal"),
        *("panic", "panicked", "denied", "refused", "undefined", "segfault", "enoent"),
        *("assertionerror", "typeerror", "valueerror", "keyerror", "syntaxerror"),
    }
)
ERRORS_ZH = ("错误", "失败", "异常", "报错", "崩溃", "拒绝", "未找到", "无法")
DECISIONS = frozenset(
    {
        *("decide", "decided", "decision", "decisions", "choose", "chose", "chosen", "agreed"),
        *("conclusion", "therefore", "approach", "instead", "must"),
    }
)
DECISIONS_ZH = ("决定", "选择", "采用", "方案", "结论", "改为", "必须", "约定")


def words_of(entry: Entry) -> frozenset[str]:
    """The words of its text."""
    found = entry.memo.get("words")
    if found is None:
        found = entry.memo["words"] = frozenset(words(_ends(entry)))
    return found if isinstance(found, frozenset) else frozenset()


def shows_error(entry: Entry) -> bool:
    """Whether it tells of a fault: by its flag, or by a word."""
    return entry.failed or _says(entry, "error", ERRORS, ERRORS_ZH)


def shows_decision(entry: Entry) -> bool:
    """Whether something is decided in it."""
    return _says(entry, "decision", DECISIONS, DECISIONS_ZH)


def shows_diff(entry: Entry) -> bool:
    """Whether it has lines of a patch."""
    found = entry.memo.get("diff")
    if found is None:
        text = _ends(entry)
        marks = ("diff --git ", "\n@@ -", "\n+++ ", "*** Update File")
        found = entry.memo["diff"] = any(mark in text for mark in marks)
    return bool(found)


def _says(entry: Entry, name: str, english: frozenset[str], chinese: tuple[str, ...]) -> bool:
    found = entry.memo.get(name)
    if found is None:
        found = not english.isdisjoint(words_of(entry))
        if not found:
            text = _ends(entry)
            found = not text.isascii() and any(word in text for word in chinese)
        entry.memo[name] = found
    return bool(found)


def _ends(entry: Entry) -> str:
    text = entry.item.text
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
