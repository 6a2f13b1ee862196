"""Where a secret ends of which a detector matches no more than the beginning. Pure.

Many detectors know the length that a key had once, of a signed token the parts without the
signature, and of a private key the line above it. Here is how far each goes on: what is left out
for a reader has to be all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ON = re.compile(r"[A-Za-z0-9_-]*")
_GOES_ON = {
    "aws": re.compile("[A-Z0-9]*"),  # of one length for ever, and by chance in base64
    "azure_storage_key": re.compile(r"[A-Za-z0-9+/=]*"),
    "basic_auth": re.compile(r"(?:[^\s/?#\"'`<>@\\]{1,256}@)*"),  # "@" inside the password
    "ctxlog:header": re.compile(r"[A-Za-z0-9._~+/=-]*"),
    "ctxlog:slack_app": re.compile(r"[A-Za-z0-9%/+_-]*"),
    "gitlab_token": re.compile(r"(?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-]))*"),
    "jwt": re.compile(r"(?:[A-Za-z0-9_=+/-]|\.(?=[A-Za-z0-9_-]))*"),
    "npm": re.compile(r"[^\s\"'\\]*"),
}
_TOKEN = 16_384
"""Characters of the longest token."""

_IN_TOKEN = re.compile(r"[A-Za-z0-9_.+/=@-]")


def extent(rule: str, text: str, start: int, end: int) -> tuple[int, int]:
    """The span of the whole secret, of which a detector found a part."""
    if rule == "private_key":
        return _block(text, start, end)
    if not _IN_TOKEN.fullmatch(text, end - 1, end):
        return start, end  # a quote closes it
    found = _GOES_ON.get(rule, _ON).match(text, end, min(len(text), end + _TOKEN))
    return start, end if found is None else found.end()


# -- private keys ---------------------------------------------------------------------------------

_DASHES = re.compile(r"-{4,5} ?\Z")
_LABEL_ENDS = re.compile(r"(?: BLOCK)?(?: ?-{4,5})?")
_HEADER = re.compile(r"(?:\\+[nrt]|[^A-Za-z]){0,60}[A-Za-z][A-Za-z-]{2,30}: ?[^\r\n\\]{0,200}")
"""``Proc-Type: 4,ENCRYPTED`` and such, between the label and the key."""

_HEADERS = 8

_RUN = re.compile(r"(?:[A-Za-z0-9+/=]|\\+/){32,}")
_END = re.compile(
    r"-{4,5} ?END [A-Z0-9 ]{0,40}KEY(?: BLOCK)?(?: ?-{4,5})?|Private-MAC: ?[0-9a-f]{1,128}"
)
_BEGIN = re.compile(r"BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY|PuTTY-User-Key-File-")
_BETWEEN = re.compile(r"(?:\\+[nrt]|[^A-Za-z])*")
"""What stands between two lines of a key: line ends, as such or written out, quotes, numbers."""

_LAST = re.compile(
    r"(?:\\+[nrt]|[^A-Za-z0-9+/=\\]){1,40}[A-Za-z0-9+/=]{1,63}"
    r"(?=\s*\Z|[ \t]*[\r\n]|\\+[nr]|[\"'`])"
)
"""The last line of a key is shorter, and alone on it."""

_NEAR = 300
"""Characters between two lines of a key that say that some were left out."""

_REACH = 40_000
"""Characters of the longest block."""

LINE = 40
"""Characters of a line of a key that is enough to be told again."""


def _block(text: str, start: int, end: int) -> tuple[int, int]:
    """From the dashes before BEGIN to those behind END, whatever the line ends are written as.

    Without an END: to the last line that looks like one of a key.
    """
    if dashes := _DASHES.search(text[max(0, start - 6) : start]):
        start -= len(dashes[0])
    limit = min(len(text), end + _REACH)
    if again := _BEGIN.search(text, end, limit):
        limit = again.start()
    ends = _END.search(text, end, limit)
    last = end
    for run in _RUN.finditer(text, end, ends.start() if ends else limit):
        if run.start() - last > _NEAR:
            ends = None  # of another key
            break
        last = run.end()
    if ends is not None and ends.start() - last <= _NEAR:
        return start, ends.end()
    if text.startswith("PuTTY", start):
        return start, last
    return start, _without_end(text, end, limit)


def _without_end(text: str, end: int, limit: int) -> int:
    label = _LABEL_ENDS.match(text, end, limit)
    at = label.end() if label else end
    begins = at
    for _ in range(_HEADERS):
        if header := _HEADER.match(text, begins, limit):
            begins = header.end()
    last = at
    while (run := _RUN.search(text, begins, limit)) and _BETWEEN.fullmatch(
        text, begins, run.start()
    ):
        last = begins = run.end()
    if last > at and (short := _LAST.match(text, last, limit)):
        last = short.end()
    return last


_ENCODED = re.compile(
    r"[A-Za-z0-9+/=_-]*(?:(?:\s|\\+[nr]){1,20}[A-Za-z0-9+/_-]{32,}={0,2})*"
    r"(?:(?:\s|\\+[nr]){1,20}[A-Za-z0-9+/_-]{1,63}=)?"
)
_ENCODED_BEFORE = re.compile(r"[A-Za-z0-9+/=_-]*\Z")


def around(text: str, start: int, end: int) -> tuple[int, int]:
    """The base64 text in which the label of a private key stands: the key is inside it too."""
    begins = _ENCODED_BEFORE.search(text, max(0, start - _NEAR), start)
    goes_on = _ENCODED.match(text, end, min(len(text), end + _REACH))
    return begins.start() if begins else start, goes_on.end() if goes_on else end


def lines_of_key(block: str) -> Iterator[str]:
    """The lines of a private key that nobody writes by chance."""
    for run in _RUN.finditer(block):
        # The "n" of a line end that JSON wrote out is none of its own.
        escaped = block[: run.start()].endswith("\\")
        line = run[0][1:] if escaped and run[0][:1] in "nrt" else run[0]
        if len(line) >= LINE:
            yield line


def key_of(block: str) -> str:
    """The same text for one key, however its lines are separated; empty without a line of it."""
    return "".join(line.replace("\\", "") for line in lines_of_key(block))
