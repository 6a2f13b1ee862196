"""Text of unknown origin, made fit for a terminal.

What a log holds was written by models, tools and web pages. Sent as it is, it can set a clipboard,
rewrite what was printed, show one path and mean another, or hide instructions from the reader. So
each dynamic string goes through here, error messages included, and also when the output is piped.
What would act or hide becomes visible as ``\\u{1b}``. Nothing is dropped: a person who sees the
escape knows that something was there.
"""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"

_JOINERS = "\u200c\u200d"
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_STACKERS = "\U00013430-\U0001343f"

_UNSAFE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f"  # C0 without tab and line feed: ESC, CR, backspace, bell
    "\x7f-\x9f"  # DEL, C1: 0x9b is a CSI of one byte
    "\u00ad\u034f\u061c\u180e"  # soft hyphen, grapheme joiner, Arabic letter mark, vowel separator
    "\u115f\u1160\u3164\uffa0"  # Hangul fillers, which look like blanks and are letters
    "\u17b4\u17b5"  # Khmer vowels that are never seen
    "\u200b-\u200f"  # zero-width space, the joiners, direction marks
    "\u2028-\u202e"  # line and paragraph separators, bidi embeddings and overrides
    "\u2060-\u206f"  # word joiner, invisible operators, bidi isolates, deprecated controls
    "\ufeff\ufff0-\ufffb"  # byte order mark, interlinear annotations
    f"{_STACKERS}"  # what puts hieroglyphs above each other
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # controls of shorthand and of musical notes
    "\ud800-\udfff"  # lone surrogates, which no terminal can be sent
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"  # tags: ASCII that is not seen; and kept free
    "]"
    # One variation selector belongs to the character before it; bytes were smuggled in the next.
    f"|(?<=[{_SELECTORS}])[{_SELECTORS}]"
)
_ESCAPED_OR_ONE = re.compile(r"\\u\{[0-9a-f]{1,6}\}|.", re.DOTALL)

_JOINING_SCRIPTS = (
    (0x0600, 0x08FF),  # Arabic, Syriac, Thaana, N'Ko, Mandaic
    (0x0900, 0x0DFF),  # the Indic scripts
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x18AF),  # Khmer, Mongolian
    (0xFB50, 0xFDFF),  # Arabic presentation forms
    (0xFE70, 0xFEFC),
)


def safe_text(text: str, *, newlines: bool = True) -> str:
    r"""The text with everything that a terminal would obey, or hide, as a visible ``\u{…}``.

    Tabs stay; line feeds stay unless ``newlines`` is false. Joiners stay inside emoji and in the
    scripts that are written with them; so do format characters that are seen, such as the Arabic
    and Kaithi number signs. The result can always be encoded as UTF-8.
    """
    if not (text.isascii() and text.isprintable()):
        text = _UNSAFE.sub(_shown, text)
        if not newlines:
            text = text.replace("\n", r"\u{a}")
    return text


def _shown(match: re.Match[str]) -> str:
    char = match[0]
    joining = char in _JOINERS or "\U00013430" <= char <= "\U0001343f"
    if joining and _joins(match.string, match.start()):
        return char
    return f"\\u{{{ord(char):x}}}"


def _joins(text: str, at: int) -> bool:
    """Whether it stands where writing needs it: in a joining script, between emoji, by a sign."""
    before, after = text[max(at - 1, 0) : at], text[at + 1 : at + 2]
    if text[at] not in _JOINERS:
        return any("\U00013000" <= char <= "\U0001342f" for char in (before, after))
    if before and any(low <= ord(before) <= high for low, high in _JOINING_SCRIPTS):
        return True
    return text[at] == "\u200d" and _is_pictorial(before) and _is_pictorial(after)


def _is_pictorial(char: str) -> bool:
    """A symbol, a skin tone, or the selector that makes a symbol an emoji."""
    if not char:
        return False
    return char == "\ufe0f" or (ord(char) > 0x2000 and unicodedata.category(char) in ("So", "Sk"))


def display_width(text: str) -> int:
    """Columns that a text takes: 2 for a wide East Asian character, 0 for a combining mark."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if char < "\u0300":
        return 1
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def one_line(text: str, width: int) -> str:
    """The text safe, on one line, in at most ``width`` columns; ``…`` ends it when it was cut.

    White space of every kind becomes one blank. The cut is between code points and never inside an
    escape. Costs what is shown, not what is given.
    """
    if width <= 0:
        return ""
    # Marks of no width could go on for ever, so code points are limited too.
    head, whole = _folded(text, 4 * width + 16)
    safe = safe_text(head)
    if whole and display_width(safe) <= width:
        return safe
    room, kept = width - 1, []
    for unit in _ESCAPED_OR_ONE.findall(safe):
        room -= display_width(unit)
        if room < 0:
            break
        kept.append(unit)
    return "".join(kept).rstrip() + ELLIPSIS


def _folded(text: str, limit: int) -> tuple[str, bool]:
    """The first code points with white space folded, and whether that is all of it."""
    words: list[str] = []
    room = limit
    for match in re.finditer(r"\S+", text):
        start, end = match.span()
        if room <= 0 or end - start > room:
            words.append(text[start : start + max(room, 0)])
            return " ".join(words), False
        words.append(match[0])
        room -= end - start + 1
    return " ".join(words), True
