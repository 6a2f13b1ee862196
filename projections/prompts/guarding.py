r"""A text of unknown origin, made so that nothing in it is taken for a boundary of a context.

What is remembered may have been written by a web page. So in it are escaped: our own fences
(``&lt;/memory>``), a heading at the beginning of a line (``\# Safety``), what the chat templates of
models put between messages (``&lt;|im_start|>``, ``\[INST]``), and a line that begins as if
somebody spoke (``\Human:``, ``\- 系统：``), in many languages. A letter or a bracket that only
looks like ours, a mark over it, and what has no width between them, changes nothing. Everything
else stays as it is.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

TAGS = ("environment", "memories", "memory", "profile", "strategy")
"""The names of our fences."""

TEMPLATE_TAGS = (
    *("s", "bos", "eos", "pad", "unk", "sop", "eop", "start_of_turn", "end_of_turn", "im_start"),
    *("think", "thinking", "tool_call", "tool_calls", "tool_response", "tool_result", "im_end"),
    *("function_calls", "function_results", "start_of_image", "turn"),
)
"""What stands between ``<`` and ``>`` in the chat templates of models, or is read like it."""

ROLE_TAGS = (
    *("system", "user", "human", "assistant", "developer", "tool", "function", "instructions"),
    *("instruction", "system_reminder", "system_prompt", "system_message", "user_query"),
)
"""Who speaks, between ``<`` and ``>``, with attributes or without."""

BRACKETED = (
    *("INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "gMASK", "sMASK"),
    *("BOS", "EOS", "SYSTEM", "SYS"),
)
"""What stands between ``[`` and ``]`` there."""

ROLES = (
    *("human", "assistant", "system", "user", "developer", "tool", "function", "model", "ai"),
    *(
        "operator",
        "人类",
        "助手",
        "系统",
        "用户",
        "使用者",
        "开发者",
        "助理",
        "工具",
        "操作员",
        "模型",
    ),
    *(
        "人類",
        "系統",
        "用戶",
        "開發者",
        "操作員",
        "ユーザー",
        "ユーザ",
        "システム",
        "アシスタント",
        "人間",
    ),
    *("開発者", "ツール", "사용자", "시스템", "어시스턴트", "도우미", "개발자", "도구", "인간"),
    *("usuario", "usuário", "sistema", "asistente", "humano", "desarrollador", "assistente"),
    *("utilisateur", "système", "assistant", "humain", "développeur", "utente", "umano"),
    *("benutzer", "nutzer", "mensch", "assistent", "entwickler", "gebruiker", "systeem"),
    *("пользователь", "система", "ассистент", "помощник", "человек", "разработчик"),
    *("користувач", "użytkownik", "kullanıcı", "sistem", "asistan", "pengguna", "người dùng"),
    *("hệ thống", "trợ lý", "المستخدم", "النظام", "المساعد", "उपयोगकर्ता", "सिस्टम", "सहायक"),
    *("ผู้ใช้", "ระบบ", "ผู้ช่วย"),
)
"""Who speaks, where a line begins so."""

_QUALIFIED = (
    *("message", "prompt", "instruction", "instructions", "notice", "note", "turn", "input"),
    *(
        "reply",
        "response",
        "says",
        "said",
        "override",
        "update",
        "admin",
        "消息",
        "提示",
        "提示词",
        "指令",
    ),
)
"""What stands between who speaks and the colon."""

BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""What ends a line."""

_THIN = "\u200b"
"""What stands for all that has no width, or none that is seen."""

_LIKE: dict[str, str] = {
    "<": "\u02c2\u1438\u2039\u2329\u276e\u27e8\u3008\ufe64\uff1c\U0001d236\u227a",
    ">": "\u02c3\u1433\u203a\u232a\u276f\u27e9\u3009\ufe65\uff1e",
    "/": "\\\u2044\u2215\u29f8\uff0f\u2571",
    "|": "\u00a6\u01c0\u2223\u23d0\u2758\uff5c\uffe8",
    "[": "\uff3b\u3010\u27e6",
    "]": "\uff3d\u3011\u27e7",
    ":": "\u02d0\u02f8\u0589\u2236\ua789\ufe55\uff1a\u05c3\u0703\u2982\u16ec\ufe13\u205a\ufe30",
    "#": "\ufe5f\uff03",
    "_": "\u2581\uff3f",
    **{"a": "\u0430\u03b1", "c": "\u0441", "e": "\u0435", "h": "\u04bb", "i": "\u0456\u03b9\u0131"},
    **{"k": "\u043a\u03ba", "m": "\u043c", "n": "\u0578", "o": "\u043e\u03bf", "p": "\u0440\u03c1"},
    **{"s": "\u0455\u017f", "t": "\u0442\u03c4", "u": "\u057d\u03c5", "v": "\u03bd"},
    **{"x": "\u0445\u03c7", "y": "\u0443\u03a5", "j": "\u0458"},
}
"""What looks the same; letters that are compatible with ours are looked up beside it."""

_LIKE_AS_CAPITALS = {"\u041d": "h", "\u0397": "h", "\u039d": "n", "\u0412": "b", "\u0392": "b"}

_MARKS = frozenset(("Cc", "Cf", "Mn", "Me"))
"""Categories of what has no width, or stands over another character."""

_EMPTY = "\u115f\u1160\u2800\u3164\uffa0\ufffc"
"""What is of another category, and is not seen."""

_PLANES = ((0, 0x20000), (0xE0000, 0xE1000))
"""Where marks are looked for."""

_COMPATIBLE = (
    *((0x1D2C, 0x1D6B), (0x2071, 0x2150), (0x2460, 0x2500), (0xFF21, 0xFF5B), (0x1D400, 0x1D800)),
)
_ACCENTED = ((0xC0, 0x250), (0x1E00, 0x1F00))


@cache
def _table() -> dict[int, str]:
    """What each character is read as, where that is another one."""
    found = {
        code: _THIN
        for begin, end in _PLANES
        for code in range(begin, end)
        if code >= 0xE0000 or unicodedata.category(chr(code)) in _MARKS
    }
    for each in f"\t{BREAKS}":
        found.pop(ord(each), None)
    found |= dict.fromkeys(map(ord, _EMPTY), _THIN)
    for begin, end in (*_COMPATIBLE, *_ACCENTED):
        for code in range(begin, end):
            plain = unicodedata.normalize("NFKD", chr(code)).lower()
            bare = "".join(each for each in plain if not unicodedata.combining(each))
            if len(bare) == 1 and bare.isascii() and bare.isalpha():
                found[code] = bare
    for read, others in _LIKE.items():
        found |= {ord(each): read for each in (*others, *others.upper()) if len(each) == 1}
    found |= {ord(each): read for each, read in _LIKE_AS_CAPITALS.items()}
    return found


def _names(names: tuple[str, ...]) -> str:
    """Any of these as it is read, with what has no width between the letters."""
    forms = {each for name in names for each in (name, name.upper(), name.capitalize())}
    read = {form.translate(_table()).replace(_THIN, "").lower() for form in forms}
    each = (f"{_THIN}*".join(map(_letter, name)) for name in sorted(read, key=len, reverse=True))
    return f"(?:{'|'.join(each)})"


def _letter(letter: str) -> str:
    return {"_": "[_-]", " ": r"[^\S\n]"}.get(letter, re.escape(letter))


# A line is looked at once: what stands before a word is taken whole, and not given back.
_BEGINS = rf"(?:^|(?<=[{BREAKS}]))"
_WIDE = rf"[\s/{_THIN}]*+"
_INDENT = rf"(?:[^\S{BREAKS}]|{_THIN})*+"
_POINTS = rf"(?:[^\w{BREAKS}]|[\d_])*+"
_GAP = rf"(?:[^\w:({BREAKS}]|_)*+"


@cache
def _boundary() -> re.Pattern[str]:
    tag = (
        rf"<(?={_WIDE}(?:\w{{1,20}}:)?{_names(TAGS)}(?!\w)"
        rf"|{_WIDE}{_names(TEMPLATE_TAGS)}{_WIDE}>"
        rf"|{_WIDE}{_names(ROLE_TAGS)}{_WIDE}>"
        rf"|[/{_THIN}]*+{_names(ROLE_TAGS)}[\s/{_THIN}][^<>]{{0,200}}[=>]"
        rf"|{_WIDE}{_names(('message',))}[\s/{_THIN}][^<>]{{0,100}}{_names(('role',))}"
        rf"|{_THIN}*\|{_THIN}*[\w/]"
        rf"|{_THIN}*<{_WIDE}{_names(('sys',))}(?!\w))"
    )
    bracket = rf"\[(?={_WIDE}{_names(BRACKETED)}{_WIDE}\])"
    heading = rf"{_BEGINS}(?:[^\S{BREAKS}]|[{_THIN}>*+-]|\d{{1,9}}[.)])*+(?=#)"
    qualified = rf"(?:{_names(_QUALIFIED)}(?!\w)|\d{{1,4}}|\([^(){BREAKS}]{{0,60}}\))"
    role = (
        rf"{_BEGINS}{_INDENT}"
        rf"(?={_POINTS}{_names(ROLES)}{_GAP}(?:{qualified}{_GAP}){{0,3}}:)"
    )
    return re.compile(f"({tag})|({bracket})|({heading}|{role})", re.IGNORECASE)


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
