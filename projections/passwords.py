"""Passwords that stand behind the word for one: "the password is hunter2Secret99".

Only where it can hardly be anything else. "The password is rotated monthly", a variable, a path and
a placeholder are none, and a word without a digit may be any word.
"""

from __future__ import annotations

import re

_BEHIND = r"[\"'`「]?\s{0,2}(?:\bis\b|=|:|：|是|为|->)\s{0,3}[\"'`「]?"
_VALUE = (
    r"(?P<value>[^\s\"'`」,;，。；]{7,120})[\"'`」]?"
    r"(?=[.,;!?)，。；！]{0,3}(?:\s{0,3}$|\s*\n|[.,;，。；]\s|[，。；]))"
)
_PASSWORD = re.compile(
    rf"(?:(?:\b|_)pass(?:word|phrase|wd|wort|code)|\b(?:pwd|pw)|密码|口令){_BEHIND}{_VALUE}",
    re.IGNORECASE | re.ASCII,
)
_KEY = re.compile(
    r"(?:\b(?:api|access|secret|auth)[ _-]?(?:key|token)|\b(?:secret|token)|密钥|令牌)"
    rf"{_BEHIND}{_VALUE}",
    re.IGNORECASE | re.ASCII,
)
_SHORTEST_KEY = 20
_DATED = re.compile(r"\d{2,4}[-/.:]\d{1,2}")
_NAMED = re.compile(r"[$%<{\[(]|[A-Z_][A-Z0-9_]*$|[*x•.]{4}|\w{2,20}://")
"""A variable, a placeholder, an address."""


def password_in(text: str) -> str | None:
    """The first password in a text; None where there is none."""
    for pattern, least in ((_PASSWORD, 7), (_KEY, _SHORTEST_KEY)):
        for found in pattern.finditer(text):
            value = found["value"].rstrip(".!?)")
            if len(value) >= least and _is_secret(value):
                return value
    return None


def _is_secret(value: str) -> bool:
    if _NAMED.match(value) or _DATED.match(value) or "/" in value or "\\" in value:
        return False
    letters = sum(each.isalpha() for each in value)
    digits = sum(each.isdigit() for each in value)
    return letters >= 2 and digits >= 1 and "(" not in value
