"""The forms in which a text may stand in stored bytes.

Plain, JSON-escaped (up to three times: the arguments of a tool call are JSON inside a JSON string,
and may hold a JSON file), and inside base64 at each of its three alignments, in both alphabets. Not
found: base64 that was broken into lines, compressed or encrypted copies.
"""

from __future__ import annotations

import base64
import json

from eventlog.errors import InputRefused

_SHORTEST = 6
"""Characters of base64 below which a match says nothing."""


def forms(text: str) -> dict[bytes, str]:
    """Each form of a text, and its name. Raises InputRefused for an empty text."""
    if not text:
        raise InputRefused("an empty text stands everywhere")
    found: dict[bytes, str] = {text.encode("utf-8", "surrogatepass"): "text"}
    escaped = {text}
    for _ in range(3):
        escaped = {json.dumps(t, ensure_ascii=a)[1:-1] for t in escaped for a in (True, False)}
        for each in escaped:
            found.setdefault(each.encode("utf-8", "surrogatepass"), "json")
    for form, name in list(found.items()):
        for shift in range(3):
            inner = _inside_base64(form, shift)
            if len(inner) >= _SHORTEST:
                found.setdefault(inner, f"base64 of {name}")
                found.setdefault(inner.translate(_URL_SAFE), f"base64 of {name}")
    return found


_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def _inside_base64(data: bytes, shift: int) -> bytes:
    """The characters that stand in any base64 text in which ``data`` begins at ``shift`` mod 3."""
    encoded = base64.b64encode(b"\0" * shift + data)
    first = -(-shift * 8 // 6)
    last = (shift + len(data)) * 8 // 6
    return encoded[first:last]
