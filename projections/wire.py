"""The bytes of a request as they went over the wire, written again and proved.

What a log holds of a request is JSON; its bytes are lost where its client wrote that JSON in a way
of its own. There are few ways, so each is tried until the bytes have the digest that was recorded
of them. Where none has it, the request is the same JSON and not the same bytes, and that is said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from eventlog.jsonvalue import utf8_clean


class Style(NamedTuple):
    """How a client writes JSON."""

    blanks: bool = False
    """A blank behind each comma and colon."""
    ascii: bool = False
    """Nothing but ASCII."""
    escaped: tuple[tuple[str, str], ...] = ()
    """What it escapes beyond that."""

    def text(self, value: Any) -> str:
        """A value as it writes it."""
        separators = (", ", ": ") if self.blanks else (",", ":")
        found = json.dumps(value, ensure_ascii=self.ascii, separators=separators)
        for char, escape in self.escaped:
            found = found.replace(char, escape)
        return utf8_clean(found)


_HTML = tuple((char, f"\\u{ord(char):04x}") for char in "<>&\u2028\u2029")

STYLES = (
    Style(),  # JavaScript, Rust, httpx, the clients of OpenAI and Anthropic
    Style(blanks=True, ascii=True),  # Python's json and requests
    Style(ascii=True),
    Style(blanks=True),
    Style(escaped=_HTML),  # Go
    Style(ascii=True, escaped=(("/", "\\/"),)),  # PHP
)
"""The ways that are known, the commonest first."""


def ordered(body: Mapping[str, Any], places: Mapping[str, int] | None) -> dict[str, Any]:
    """A body with its fields where they stood; as it is where nobody wrote that down."""
    if places is None:
        return dict(body)
    names = [name for name in body if name not in places]
    for name, at in sorted(places.items(), key=lambda each: each[1]):
        if name in body:
            names.insert(at, name)
    return {name: body[name] for name in names}


def as_sent(
    whole: Mapping[str, Any], call: Mapping[str, Any], salt: bytes | None
) -> tuple[bytes, bool]:
    """The bytes of a recorded call's body, and whether they are proved to be those that were sent.

    ``whole`` is the body with its fields where they stood, ``call`` what its ModelCalled holds and
    ``salt`` its own.
    """
    recorded = call.get("wire_digest")
    if recorded is not None and salt is not None:
        for style in STYLES:
            written = style.text(whole).encode()
            if sha256(written + salt).hexdigest() == recorded:
                return written, True
    return STYLES[0].text(whole).encode(), False
