"""Patterns of permission rules. They are matched without regular expressions, in linear time: a
pattern may come from a log, and what it is matched on from a model."""

from __future__ import annotations

from collections.abc import Iterable


def matches_text(pattern: str, text: str) -> bool:
    """Whether the whole text is as the pattern says: ``*`` is anything, or nothing."""
    return matches_from(pattern, text, (0,))


def matches_from(pattern: str, text: str, starts: Iterable[int]) -> bool:
    """Whether the text from one of these places on, which ascend, is as the pattern says."""
    first, *rest = pattern.split("*")
    if not rest:
        return any(text.startswith(first, at) and len(text) - at == len(first) for at in starts)
    *middle, last = rest
    if not text.endswith(last):
        return False
    for at in starts:
        if text.startswith(first, at):
            # What is not found behind this place is not found behind a later one.
            return _holds(middle, text, at + len(first), len(text) - len(last))
    return False


def _holds(parts: Iterable[str], text: str, begin: int, end: int) -> bool:
    for part in parts:
        found = text.find(part, begin, end)
        if found < 0:
            return False
        begin = found + len(part)
    return begin <= end


def matches_path(pattern: str, path: str) -> bool:
    """Whether a path is as the pattern says: ``*`` within one part, ``**`` any number of parts.

    ``src/**`` is all that is beneath ``src``, and ``src`` itself. A path outside of the root is
    absolute, and only an absolute pattern is as it is.
    """
    if pattern.startswith("/") is not path.startswith("/"):
        return False
    parts = _parts(path)
    places = {0}
    for each in _parts(pattern):
        if each == "**":
            places = set(range(min(places), len(parts) + 1))
        else:
            places = {at + 1 for at in places if at < len(parts) and matches_text(each, parts[at])}
        if not places:
            return False
    return len(parts) in places


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
