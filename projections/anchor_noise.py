"""Literals that have the shape of an anchor, and that nobody would miss.

What tools print is full of them: versions of packages, progress, names in a listing. What a person
or a model says counts more than what stands in an output, so some shapes count only there: a bare
file name, a version.
"""

from __future__ import annotations

import re

_BADGE = re.compile(r"(?:!\[[^\]\n]{0,80}\]\(|\bimage::\s?|<img\b[^>\n]{0,80}\bsrc=[\"']?)$")
_RESERVED = re.compile(r"[a-z]{2,8}://(?:[\w-]{1,40}\.)*example\.(?:com|net|org)/?")
_MODULE = re.compile(r"(?:[a-z0-9-]{1,40}\.)+(?:com|org|net|io|in|dev|sh|cloud)/")
_SYSTEM = re.compile(
    r"/(?:(?:usr/(?:local/)?)?s?bin(?:/[\w.+-]{1,60})?|private/\w+|usr(?:/\w+)?|var(?:/folders)?|tmp"
    r"|dev/\w+|etc/(?:passwd|shadow))/?"
)
_FILE = re.compile(r"[^/]\.[A-Za-z][A-Za-z0-9]{0,9}$")
_VERSION = re.compile(r"v?\d{1,5}\.\d{1,5}\.\d{1,5}(?:-?(?:rc|alpha|beta|dev|a|b)\.?\d{1,4})?")
_FILE_MODES = frozenset(("100644", "100755", "120000", "040000", "160000"))
_NAMED = re.compile(
    r"(?:#|\b(?:id|no\.?|number|order|issue|pull|pr|job|run|ticket)\b\W{0,3})$", re.IGNORECASE
)
_TIMING = re.compile(r"\d+\.\d+ ?(?:ms|s|seconds)|\d+(?:\.\d+)? ?(?:ns|µs|μs|us)")
_SAYS_NOTHING = re.compile(r"[^\n]{0,40}(?:code|status|exitCode)[ :=]{1,3}1")


def in_url(text: str, start: int, url: str) -> bool:
    """A badge or another image of a page; an address that is reserved for examples."""
    return bool(_BADGE.search(text, max(0, start - 120), start) or _RESERVED.fullmatch(url))


def in_path(path: str, source: str) -> bool:
    """Of what no person said: a bare file name in an output, the name of a module, a place that
    every machine has."""
    if source == "human":
        return False
    if source == "tool" and "/" not in path and "\\" not in path:
        return True
    is_module = bool(_MODULE.match(path)) and not _FILE.search(path)
    return is_module or bool(_SYSTEM.fullmatch(path))


def in_id(text: str, start: int, found: str, source: str) -> bool:
    """In an output, a version, and digits that are not said to be an id; addresses, modes and blobs
    that are others in every run."""
    if found in _FILE_MODES:
        return True
    if source == "tool" and (
        _VERSION.fullmatch(found)
        or (found.isdecimal() and not _NAMED.search(text, max(0, start - 12), start))
    ):
        return True
    before = text[max(0, start - 6) : start]
    return before == "index " or (found.startswith("0x") and before.endswith(" at "))


def in_number(text: str, span: tuple[int, int], source: str) -> bool:
    """What a test run took, "0.437s", and how far it is, "[ 45%]", are others in every run."""
    start, end = span
    bracketed = text[max(0, start - 4) : start].rstrip(" ")[-1:] + text[end : end + 1]
    if bracketed == "[]" and text[end - 1] == "%":
        return True
    is_timing = bool(_TIMING.fullmatch(text, start, end))
    return is_timing and (source == "tool" or bracketed == "()")


def in_error(found: str) -> bool:
    """That something ended with 1 says only that it failed."""
    return bool(_SAYS_NOTHING.fullmatch(found))
