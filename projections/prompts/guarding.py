r"""A text of unknown origin, made so that nothing in it is taken for a boundary of a context.

What is remembered may have been written by a web page. So in it are escaped: our own fences
(``&lt;/memory>``), a heading at the beginning of a line (``\# Safety``), what the chat templates of
models put between messages (``&lt;|im_start|>``, ``\[INST]``), and a line that begins as if
somebody spoke (``\Human:``). A letter or a bracket that only looks like ours, and what has no width
between them, changes nothing. Everything else stays as it is.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

TAGS = ("environment", "memories", "memory", "profile", "strategy")
"""The names of our fences."""

TEMPLATE_TAGS = (
    *("s", "bos", "eos", "pad", "unk", "sop", "eop", "start_of_turn", "end_of_turn", "system"),
    *("think", "thinking", "tool_call", "tool_calls", "tool_response", "tool_result"),
    *("function_calls", "function_results", "human", "assistant", "user", "instructions"),
)
"""What stands between ``<`` and ``>`` in the chat templates of models, or is read like it."""

BRACKETED = (
    *("INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "gMASK", "sMASK"),
    *("BOS", "EOS", "SYSTEM", "SYS"),
)
"""What stands between ``[`` and ``]`` there."""

ROLES = (
    *("human", "assistant", "system", "user", "developer", "tool", "function", "model", "ai"),
    *("operator", "人类", "助手", "系统", "用户"),
)
"""Who speaks, where a line begins so."""

BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""What ends a line."""

_THIN = "\u200b"
"""What stands for all that has no width, or none that is seen."""

_LIKE: dict[str, str] = {
    "<": "\u02c2\u1438\u2039\u2329\u276e\u27e8\u3008\ufe64\uff1c\U0001d236",
    ">": "\u02c3\u1433\u203a\u232a\u276f\u27e9\u3009\ufe65\uff1e",
    "/": "\\\u2044\u2215\u29f8\uff0f",
    "|": "\u00a6\u01c0\u2223\u23d0\u2758\uff5c\uffe8",
    "[": "\uff3b\u3010\u27e6",
    "]": "\uff3d\u3011\u27e7",
    ":": "\u02d0\u02f8\u0589\u2236\ua789\ufe55\uff1a",
    "#": "\ufe5f\uff03",
    "_": "\u2581\uff3f-",
    **{"a": "\u0430\u03b1", "c": "\u0441", "e": "\u0435", "h": "\u04bb", "i": "\u0456\u03b9\u0131"},
    **{"k": "\u043a\u03ba", "m": "\u043c", "n": "\u0578", "o": "\u043e\u03bf", "p": "\u0440\u03c1"},
    **{"s": "\u0455\u017f", "t": "\u0442\u03c4", "u": "\u057d\u03c5", "v": "\u03bd"},
    **{"x": "\u0445\u03c7", "y": "\u0443", "j": "\u0458"},
}
"""What looks the same; letters that are compatible with ours are looked up beside it."""

_RANGES = (
    *((0x200B, 0x2010), (0x202A, 0x202F), (0x2060, 0x2070), (0xFE00, 0xFE10), (0x180B, 0x1810)),
    *((0xE0000, 0xE1000), (0x115F, 0x1161), (0x17B4, 0x17B6)),
)
"""Code points without a width; the end of each is not of it."""

_COMPATIBLE = ((0x2071, 0x2150), (0x2460, 0x2500), (0xFF21, 0xFF5B), (0x1D400, 0x1D800))


@cache
def _table() -> dict[int, str]:
    """What each character is read as, where that is another one."""
    found = {code: _THIN for begin, end in _RANGES for code in range(begin, end)}
    found |= dict.fromkeys((0xAD, 0x34F, 0x61C, 0x3164, 0xFEFF, 0xFFA0), _THIN)
    for begin, end in _COMPATIBLE:
        for code in range(begin, end):
            plain = unicodedata.normalize("NFKC", chr(code)).lower()
            if len(plain) == 1 and plain.isascii() and plain.isalpha():
                found[code] = plain
    for read, others in _LIKE.items():
        found |= {ord(each): read for each in (*others, *others.upper()) if len(each) == 1}
    return found


def _names(names: tuple[str, ...]) -> str:
    """Any of these, with what has no width between the letters."""
    each = (f"{_THIN}*".join(map(re.escape, name)) for name in sorted(names, key=len, reverse=True))
    return f"(?:{'|'.join(each)})"


_BEGINS = rf"(?:^|(?<=[{BREAKS}]))"
_BLANK = rf"[\s{_THIN}]*"

_TAG = (
    rf"<(?=[\s/{_THIN}]*{_names(TAGS)}(?!\w)"
    rf"|[\s/{_THIN}]*{_names(TEMPLATE_TAGS)}{_BLANK}>"
    rf"|{_THIN}*\|{_THIN}*[\w/]"
    rf"|{_THIN}*<{_BLANK}/?{_BLANK}{_names(('sys',))}(?!\w))"
)
_BRACKET = rf"\[(?={_BLANK}/?{_BLANK}{_names(BRACKETED)}{_BLANK}\])"
_HEADING = rf"{_BEGINS}[ \t]*(?=#)"
_ROLE = (
    rf"{_BEGINS}[ \t\xa0\u3000{_THIN}]*"
    rf"(?=[*_>`\"' \t]{{0,8}}{_names(ROLES)}[*_`\"' \t{_THIN}]{{0,8}}:)"
)


@cache
def _boundary() -> re.Pattern[str]:
    return re.compile(f"({_TAG})|({_BRACKET})|({_HEADING}|{_ROLE})", re.IGNORECASE)


def guarded(text: str) -> str:
    """A text of unknown origin in which nothing is taken for a fence, a heading, or a speaker."""
    read = text.translate(_table())  # character by character, so that places are the same
    pieces, done = [], 0
    for found in _boundary().finditer(read):
        begin, end = found.span()
        pieces.append(text[done:begin])
        if found[1] is not None:
            pieces.append("&lt;")
        elif found[2] is not None:
            pieces.append(f"\\{text[begin:end]}")
        else:
            pieces.append(f"{text[begin:end]}\\")
        done = end
    return "".join((*pieces, text[done:]))
