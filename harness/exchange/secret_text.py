"""Keys in a text that no field name explains: by the name in front of them, or by their shape.

For texts that are no part of a conversation: values of a configuration, and records that cannot be
read as JSON. A value is taken from behind ``name=``, ``name:`` and ``"name":``, whatever escapes
the quotes have, and behind the name of a header in a list. Shapes are those that ``redact
--secrets`` knows. The time is linear in the text.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from projections.findings import Look, for_secrets

WITHHELD = "[withheld]"

Withheld = Counter[str]
"""How often something was withheld, by the name that it stood under, or by its shape."""

MAX_NAME = 80
"""Characters of a name that are told."""

_KEYS = "access|account|auth|encryption|master|private|service|session|signing|ssh|subscription"
_WORD = (
    r"authori[sz]ation|api[-_. ]?key|cookie|secret|passw(?:or)?d|passphrase|credential|bearer"
    rf"|(?:{_KEYS})[-_]?key(?![a-rt-z])"
    r"|(?<=[a-z0-9][-_])(?:pwd|pat)(?![a-z])"
)
_NAME = re.compile(rf"(?:{_WORD})|token$|^auth$", re.IGNORECASE)
_MARKS = re.compile(r"(?:bos|cls|end|eos|mask|pad|sep|start|stop|unk)[-_]?token$", re.IGNORECASE)
"""Tokens of a model's vocabulary, which are no secrets."""

_NOTHING = re.compile(
    r"\s*|\*+|true|false|none|null|<redacted>|<hidden>|\[withheld\]|\$\w+|\$\{\w+\}", re.IGNORECASE
)
"""Values that hold no key: masked ones, and the name of a variable that would."""


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether the name of a field says that its value is a secret."""
    return bool(_NAME.search(name)) and not _MARKS.search(name)


def holds_nothing(value: str) -> bool:
    """Whether a value is masked, or names where the secret stands."""
    return bool(_NOTHING.fullmatch(value))


def tell(withheld: Withheld, name: str) -> None:
    """Count what was withheld under a name."""
    withheld[" ".join(name.split())[:MAX_NAME]] += 1


# -- looking first --------------------------------------------------------------------------------

_WORDS = (
    *("authori", "cookie", "secret", "passw", "passphrase", "credential", "bearer", '"auth'),
    *("auth=", "auth:", "headers"),
)
_WORDS_THAT_END = (
    re.compile(r"key(?![a-rt-z])"),
    re.compile(r"token(?![a-z_])"),
    re.compile(r"[-_](?:pwd|pat)(?![a-z])"),
    re.compile(r"tokens\\*\""),
)
_PREFIXES = (
    *("sk-", "sk_", "rk_", "sq0", "pplx-", "r8_", "github_pat_", "ya29.", "GOCSPX-", "hf_"),
    *("api_org_", "npm_", "eyJ", "PRIVATE KEY", "SG.", "pypi-", "GR1348941", "Basic "),
)
_BEGINNINGS = (
    re.compile(r"gh[oprsu]_"),
    re.compile(r"gl(?:agent|cbt|dt|ft|imt|pat|ptt|rt|soat)-"),
    re.compile(r"x(?:ai-|app-|ox)"),
    re.compile(r"A(?:3T|BIA|CCA|Iza|KC|KIA|SIA|ccountKey)"),
)
"""How the shapes begin, or what stands in them. Each begins with letters: so it is found fast."""
_ESCAPES = re.compile(r"\\u00[2-7]")
"""Of the letters in a name."""

_USER = re.compile(r"(://)[^/\s?#@\"'\\]{1,256}@")


def may_hold_secrets(text: str) -> bool:
    """Whether a text, or JSON text, is worth looking into: most are not."""
    low = text.lower()
    for word in _WORDS:  # loops, since every record of a file is looked at
        if word in low:
            return True
    for ending in _WORDS_THAT_END:
        if ending.search(low):
            return True
    return (
        _may_have_shape(text)
        or _ESCAPES.search(text) is not None
        or ("://" in text and "@" in text)
    )


def _may_have_shape(text: str) -> bool:
    for prefix in _PREFIXES:
        if prefix in text:
            return True
    return any(beginning.search(text) for beginning in _BEGINNINGS)


# -- by the name in front -------------------------------------------------------------------------

_NAMED = re.compile(
    rf"(?P<name>(?:{_WORD}|(?<![a-z])auth(?![a-z])|token(?![\w.-]))[\w.-]{{0,40}})"
    r"(?:(?P<quote>\\{0,63}[\"'])\s{0,8}(?P<by>[:=]"
    r"|,(?P<pair>\s{0,8}\\{0,63}[\"']value\\{0,63}[\"']\s{0,8}:)?)|\s{0,8}[:=])"
    r"\s{0,8}(?P<open>\\{0,63}[\"'])?",
    re.IGNORECASE,
)
"""A name, and what stands between it and its value: ``API_KEY=``, ``"api_key": "``,
``{"name": "x-api-key", "value": "``, ``["x-api-key", "``."""

_BARE = re.compile(r"(?:(?:bearer|basic|token)[ \t]+)?[^\s\"'\\,;&)\]}]+", re.IGNORECASE)
_HEADER = re.compile(r"(?:[^\r\n\"'\\]|\\[^nr\"'\\])+")
"""What is no single word goes on to the end of its line."""
_LINES = re.compile("authori|cookie", re.IGNORECASE)
_NUMBER = re.compile(r"-?(?:\d{1,3}(?:\.\d*)?|\d+\.\d*)")
"""Too short for a secret, or a measure."""
_PAIR_ENDS = re.compile(r"\\{0,63}[\"']\s{0,8}\]")
_WHOLE = re.compile(r"[\w. -]+")
_BRACKET = re.compile(r"[\[\]{}]")


def _named(text: str, withheld: Withheld) -> str:
    """The text without the values that a name in front of them calls secret."""
    kept: list[str] = []
    at = 0
    for found in _NAMED.finditer(text):
        start = found.end()
        if start < at or _MARKS.search(text, max(0, found.start() - 8), found.end("name")):
            continue
        end = _value_end(text, found)
        if end == start or holds_nothing(text[start:end]):
            continue
        begins = text[max(0, found.start() - MAX_NAME) : found.end("name")]
        tell(withheld, _WHOLE.findall(begins)[-1].lower())
        kept += (text[at:start], WITHHELD)
        at = end
    return "".join((*kept, text[at:])) if kept else text


def _value_end(text: str, found: re.Match[str]) -> int:
    """Where the value ends that a name is followed by; where it begins, if it is none."""
    start, by, opening = found.end(), found["by"] or "", found["open"]
    is_listed = by.startswith(",") and found["pair"] is None
    if opening is not None:
        end = _closing(text, start, opening)
        return start if is_listed and not _PAIR_ENDS.match(text, end) else end
    if is_listed:
        return start
    if text[start : start + 1] in ("{", "["):
        return _balanced(text, start)
    bare = (_HEADER if _LINES.search(found["name"]) else _BARE).match(text, start)
    return start if bare is None or _NUMBER.fullmatch(bare[0]) else bare.end()


_QUOTES = {quote: re.compile(rf"(\\*){quote}") for quote in "\"'"}


def _closing(text: str, start: int, opening: str) -> int:
    """Where the string ends that an opening quote with so many backslashes before it begins: a
    quote with more of them stands inside it."""
    slashes = len(opening) - 1
    for found in _QUOTES[opening[-1]].finditer(text, start):
        if len(found[1]) % (2 * (slashes + 1)) == slashes:
            return found.end() - len(opening)
    return len(text)


def _balanced(text: str, start: int) -> int:
    """Behind the bracket that closes the one here; the end of the text where none does."""
    depth = 0
    for found in _BRACKET.finditer(text, start):
        depth += 1 if found[0] in "[{" else -1
        if depth == 0:
            return found.end()
    return len(text)


# -- by its shape ---------------------------------------------------------------------------------

_BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----[^-]*(?:-----END[^-]*-----)?"
)
_LOOSE = re.compile(
    r"\bsk-(?=[\w-]{0,200}\d)[\w-]{8,}"
    r"|\b(?:Bearer|Basic)\s+(?=[\w.~+/=-]{0,200}\d|[\w.~+/=-]{24})[\w.~+/=-]{8,}",
    re.IGNORECASE,
)
SHAPED = "texts with the shape of a key"
"""What is told of what no name explains."""

_look: Look | None = None


def _shaped(text: str, withheld: Withheld) -> str:
    """The text without what has the shape of a key, and without users in addresses."""

    def loose(found: re.Match[str]) -> str:
        tell(withheld, SHAPED)
        return WITHHELD

    def user(found: re.Match[str]) -> str:
        if found[0] == f"://{WITHHELD}@":
            return found[0]
        tell(withheld, "user in an address")
        return f"://{WITHHELD}@"

    text = _USER.sub(user, _LOOSE.sub(loose, _BLOCK.sub(loose, text)))
    if _may_have_shape(text):
        for secret in dict.fromkeys(secret for _, _, secret in _detector().scan(text) if secret):
            if secret != WITHHELD and secret in text:
                withheld[SHAPED] += text.count(secret)
                text = text.replace(secret, WITHHELD)
    return text


def _detector() -> Look:
    """Loaded where a text may hold one: most imports need none."""
    global _look
    _look = _look or for_secrets()
    return _look


def shaped_without_secrets(text: str, withheld: Withheld) -> str:
    """A name or a label without what has the shape of a key: nothing is called a secret in it."""
    return _shaped(text, withheld) if len(text) > 7 and _may_have_shape(text) else text


def text_without_secrets(text: str, withheld: Withheld) -> str:
    """A text without what is called a secret in it, or looks like a key."""
    if not may_hold_secrets(text):
        return text
    return _shaped(_named(text, withheld), withheld)
