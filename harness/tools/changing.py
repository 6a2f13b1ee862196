"""Replacing one text in the bytes of a file: all others stay as they are."""

from __future__ import annotations

from harness.errors import ToolFailed

_SHOWN_LINES = 5


def changed(path: str, content: bytes, old: bytes, new: bytes) -> tuple[bytes, int]:
    """The content with ``new`` in the place of ``old``, and the line, from 1, where that stands.

    In a file all of whose lines end with CRLF, those of both texts do too. Raises ToolFailed where
    ``old`` does not stand in it exactly once, is empty, or is the same as ``new``.
    """
    if not old:
        raise ToolFailed("the old text is empty: say what is replaced, or use write_file")
    if _ends_with_crlf(content):
        old, new = _crlf(old), _crlf(new)
    if old == new:
        raise ToolFailed("the old text and the new one are the same")
    at = content.find(old)
    if at < 0:
        raise ToolFailed(
            f"the old text does not stand in {path}: read it again, and give it exactly as it is"
        )
    lines = [_line(content, at)]
    again = content.find(old, at + 1)
    while again >= 0 and len(lines) <= _SHOWN_LINES:
        lines.append(_line(content, again))
        again = content.find(old, again + 1)
    if len(lines) > 1:
        more = " …" if len(lines) > _SHOWN_LINES else ""
        where = ", ".join(map(str, lines[:_SHOWN_LINES]))
        raise ToolFailed(
            f"the old text stands in {path} more than once (at lines {where}{more}): "
            "give more of what stands around it"
        )
    return content[:at] + new + content[at + len(old) :], lines[0]


def _line(content: bytes, at: int) -> int:
    return content.count(b"\n", 0, at) + 1


def _ends_with_crlf(content: bytes) -> bool:
    ends = content.count(b"\n")
    return ends > 0 and ends == content.count(b"\r\n")


def _crlf(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
