"""How text is shown: columns, colours, signs. Pure: no stream and no environment.

Colour never carries a meaning alone; a sign or a word says the same.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from cli.safetext import display_width, one_line, safe_text

_CODES = {
    "bold": "1",
    "dim": "2",
    "cyan": "36",
    "yellow": "33",
    "magenta": "35",
    "blue": "34",
}

_ASCII = str.maketrans(
    {
        "●": "*",
        "○": "o",
        "Σ": "S",
        "✎": "*",
        "✂": "x",
        "–": "-",
        "─": "-",
        "═": "=",
        "│": "|",
        "→": ">",
        "≈": "~",
        "·": "-",
        "…": ">",
        "↳": "`",
        "▸": ">",
        "›": ">",
        "✓": "+",
        "✗": "!",
        "█": "#",
        "▓": "%",
        "▒": "+",
        "░": ".",
    }
)
"""Each of our signs, and the one ASCII column that stands for it."""

_PLAIN = re.compile(r"[\w@%+=:,./-][\w@%+=:,./~^-]*", re.ASCII)
RULE = 8
"""Columns of a rule that are no text."""

_PIECES = re.compile(r"^[^.~]*|[.~][^.~]*")
_REF = 24
"""Columns of a place."""

_PIECE = 8
"""Characters of a piece of an id where there is little room."""

_TYPED = 72
"""Columns of a session's name that a person may type: a full key with two ids in it."""

_CUT = 28
"""Columns that are left of a longer one: each column of ``sessions`` then has room at 100."""

_BEYOND = re.compile(r"[^\x00-\x7f]")


def ascii_text(text: str) -> str:
    r"""The text with everything beyond ASCII as ``\u{…}``."""
    return text if text.isascii() else _BEYOND.sub(lambda m: f"\\u{{{ord(m[0]):x}}}", text)


@dataclass(frozen=True, slots=True)
class Style:
    """The means of one output."""

    color: bool = False
    ascii: bool = False
    width: int = 100

    def paint(self, text: str, name: str) -> str:
        """The text in a colour, where there is colour."""
        if not self.color or not text:
            return text
        return f"\x1b[{_CODES[name]}m{text}\x1b[0m"

    def translated(self, text: str) -> str:
        """Our own signs in ASCII, where only that can be shown."""
        return text.translate(_ASCII) if self.ascii else text

    def line(self, text: str, width: int) -> str:
        """Dynamic text on one line, safe, in at most so many columns."""
        if self.ascii:
            # Escapes take columns, so they are made first; one_line never cuts inside one.
            text = ascii_text(self.translated(text[: 40 * width + 400]))
            return self.translated(one_line(text, width))
        return one_line(text, width)

    def block(self, text: str) -> str:
        """Dynamic text of several lines, safe."""
        return ascii_text(self.translated(safe_text(text))) if self.ascii else safe_text(text)

    def rule(self, text: str, name: str = "dim") -> str:
        """A thin line across the terminal with safe text in it."""
        inner = self.line(text, self.width - RULE)
        tail = "─" * max(2, self.width - 4 - display_width(inner))
        return self.paint(self.translated(f"── {inner} {tail}"), name)


def pad(text: str, width: int) -> str:
    """The text, filled up with blanks on the right."""
    return text + " " * (width - display_width(text))


def pad_left(text: str, width: int) -> str:
    """The text, filled up with blanks on the left."""
    return " " * (width - display_width(text)) + text


def tokens(count: int | None, exact: bool = False) -> str:
    """A number of tokens as people read it; ``≈`` says that it was estimated."""
    if count is None:
        return "?"
    return ("" if exact else "≈") + short(count)


class Sized(Protocol):
    """A compaction, with the tokens of the context before it and after it."""

    @property
    def before_tokens(self) -> int | None:
        """The agent's own count, else estimated."""

    @property
    def before_estimated(self) -> bool:
        """The agent told none."""

    @property
    def before_recorded(self) -> int | None:
        """Estimated, of what is recorded here."""

    @property
    def after_tokens(self) -> int | None:
        """Likewise."""

    @property
    def after_estimated(self) -> bool:
        """Likewise."""

    @property
    def after_recorded(self) -> int | None:
        """Likewise."""


def shrunk(data: Sized, unit: str = "", *, brief: bool = False) -> str:
    """``≈14.5k → ≈924 (agent's count: 35.1k)``: what a compaction made of the context.

    First, as everywhere, what is recorded here, as it stood; then the agent's own count, if it told
    one. That holds what the agent did not write down, too: a system prompt, tools.
    """
    here = f"{tokens(data.before_recorded)} → {tokens(data.after_recorded)}{unit}"
    before = "" if data.before_estimated else short(data.before_tokens or 0)
    after = "" if data.after_estimated else f"→ {short(data.after_tokens or 0)}"
    told = " ".join(filter(None, (before, after)))
    whose = "agent" if brief else "agent's count"
    return f"{here} ({whose}: {told})" if told else here


def short(count: int) -> str:
    """12, 999, 1.2k, 155k, 1.4M."""
    if count < 1000:
        return str(count)
    if count < 999_500:
        return f"{count / 1000:.1f}k" if count < 99_950 else f"{count / 1000:.0f}k"
    return f"{count / 1_000_000:.1f}M"


def plural(count: int, one: str, many: str = "") -> str:
    """``1 item``, ``1,204 items``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def named(key: str, style: Style, room: int) -> str:
    """A session in so many columns: its key, else its id alone, else its id with pieces cut.

    A sub-agent's id begins with that of its session, so the end says which one it is.
    """
    name = key.split("/", 2)[2] if key.count("/") >= 2 else key
    pieces = _PIECES.findall(name)
    for shown in (
        key,
        name,
        "".join(piece[: _PIECE + (piece[:1] in (".", "~"))] for piece in pieces),
    ):
        line = style.line(shown, max(display_width(shown), 1) * 8)
        if display_width(line) <= room:
            return line
    return style.line(name, room)


def listed(name: str, style: Style) -> str:
    """The name of a session in a row of a table: whole, since it is typed next, unless it is so
    long that nobody types it. Then it leaves the other columns their room."""
    whole = style.line(name, _TYPED)
    return whole if whole == style.line(name, 2 * _TYPED) else style.line(name, _CUT)


def ranges(names: Iterable[str]) -> str:
    """``c2-c100, c104``: numbered names with three or more that follow on each other as one."""
    runs: list[tuple[str, int, int]] = []
    for name in names:
        front = name.rstrip("0123456789")
        number = int(name[len(front) :] or -1)
        if runs and runs[-1][0] == front and number == runs[-1][2] + 1:
            runs[-1] = (front, runs[-1][1], number)
        else:
            runs.append((front, number, number))
    shown: list[str] = []
    for front, first, last in runs:
        if last - first >= 2:
            shown.append(f"{front}{first}-{front.rpartition('@')[2]}{last}")
        else:
            shown += [f"{front}{n}" if n >= 0 else front for n in range(first, last + 1)]
    return ", ".join(shown)


def heading(front: str, key: str, style: Style, ref: str = "") -> str:
    """A head line: what is said first, then of which session, and of which place in it."""
    behind = style.line(ref, _REF)
    start = style.line(front, style.width - 3 - _PIECE - display_width(behind))
    room = style.width - display_width(start) - 3 - display_width(behind)
    return f"{start} {style.translated('·')} {named(key, style, max(room, _PIECE))}{behind}"


def typed(text: str) -> str:
    """A name as it is typed in a shell: in quotes where it would be taken for something else."""
    return text if _PLAIN.fullmatch(text) else shlex.quote(text)
