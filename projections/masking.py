"""Texts of a session without the secrets that stand in them, for a page that people share. Pure.

In two phases: first every text is looked at, then every text is masked. What was found in one is
masked in all, as it stands or inside JSON or base64 (``literals``), so a key that a tool printed
without the word before it is masked too. What is found is what ``findings.for_secrets`` finds; of a
secret of which a detector matches only the beginning, all is masked (``extents``). Where a detector
matches a name and a value behind it, the value is the secret.

A text is best looked at as it was said (``quotes.texts_in``): in JSON the quotes around a value are
written otherwise, and some detectors need these.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from projections.extents import around, extent, key_of, lines_of_key
from projections.findings import detectors, for_secrets, masked
from projections.fragments import Fragments
from projections.literals import LEAST, Literals

_BEHIND_NAMES = frozenset(
    {"aws", "cloudant", "ctxlog:header", "ibm_cloud_iam", "ibm_cos_hmac", "softlayer"}
)
"""Detectors that match a name, and in a group the value behind it."""

_NPM = re.compile(r"//[^\s\"'\\]*/:_authToken=\s*[^\s\"'\\]+")
"""In JSON the rest of a file stands behind it, on the same line."""

_OPENING, _CLOSING = "=:\"'", "\"'"
_TELLING, _LONG = 12, 20
"""Characters of a value that is a secret wherever it stands: with digits among letters, or not."""


class Masker:
    """Masks the secrets of some texts. Raises InputRefused without ``detect-secrets``."""

    def __init__(self) -> None:
        self._scan = for_secrets().scan
        self._known = detectors()
        self._rules: dict[str, str] = {}
        self._secrets: dict[str, set[str]] = defaultdict(set)
        self._literals: Literals | None = None
        self._fragments: Fragments | None = None
        self.masked_count = 0
        """Places that were masked so far."""

    @property
    def counts(self) -> dict[str, int]:
        """How many distinct secrets were found, by rule; one may be found by two rules."""
        return {rule: len(some) for rule, some in sorted(self._secrets.items())}

    @property
    def total(self) -> int:
        """How many distinct secrets were found."""
        return len(set().union(*self._secrets.values()))

    def look(self, text: str) -> None:
        """Find what is in a text. To be called for every text, before any is masked."""
        for rule, secret in dict.fromkeys((rule, secret) for rule, _, secret in self._scan(text)):
            for value in self._values(rule, secret):
                at = text.find(value)
                while value and at >= 0:
                    start, end = extent(rule, text, at, at + len(value))
                    self._add(rule, value, text[start:end])
                    at = text.find(value, end)

    def mask(self, text: str) -> str:
        """The text with every secret that was found in any, replaced by what may be shown of it."""
        parts: list[str] = []
        behind = 0
        for start, end, shown in self._places(text):
            parts += (text[behind:start], shown)
            behind = end
            self.masked_count += 1
        return "".join((*parts, text[behind:])) if parts else text

    def mask_shortened(self, text: str) -> str:
        """The same for a text that was made of others, and may hold a piece of a secret."""
        text = self.mask(text)
        if self._fragments is None:
            whole = set().union(*self._secrets.values())
            inner = {secret for secret, rule in self._rules.items() if not rule}
            self._fragments = Fragments(whole | inner)
        return self._fragments.mask(text)

    def _values(self, rule: str, found: str) -> list[str]:
        """What is secret of a text that was found."""
        if rule in _BEHIND_NAMES:
            groups = self._groups(rule, found)
            if groups:
                return groups
        if rule == "npm":
            lines = _NPM.findall(found)
            return lines if len(lines) == found.count(":_authToken=") else [found]
        return [found.lstrip(_OPENING).rstrip(_CLOSING) if rule == "artifactory" else found]

    def _groups(self, rule: str, found: str) -> list[str]:
        matches = (pattern.search(found) for pattern in self._known[rule].denylist)
        return [group for match in matches if match for group in match.groups() if group]

    def _add(self, rule: str, value: str, whole: str) -> None:
        self._literals = self._fragments = None
        for text in filter(None, (value, whole)):
            self._rules.setdefault(text, rule)
        inner = [text for text in self._groups(rule, value) if _is_telling(text)]
        for text in inner:
            self._rules.setdefault(text, "")
        if rule == "private_key":
            for text in lines_of_key(whole):
                self._rules.setdefault(text, "")
            whole = key_of(whole) or whole
        self._secrets[rule].add(inner[0] if inner else whole)

    def _places(self, text: str) -> Iterator[tuple[int, int, str]]:
        """The spans to be masked, in order and apart, and what is shown for each."""
        last: tuple[int, int, str] | None = None
        for start, end, given in sorted(self._spans(text)):
            if last is None or start >= last[1]:
                if last is not None:
                    yield last
                last = start, end, masked(given)
            elif end > last[1]:
                last = last[0], end, masked(text[last[0] : end])
        if last is not None:
            yield last

    def _spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """The same in no order, and they may overlap."""
        if self._literals is None:
            self._literals = Literals(self._rules)
            self._short = [secret for secret in self._rules if len(secret) < LEAST]
        encoded: list[tuple[int, int, str]] = []
        for start, end, given in self._literals.spans_in(text):
            if text.startswith(given, start) and end - start == len(given):
                yield self._whole(text, start, given)
            else:
                encoded.append((start, end, given))
        yield from encoded
        for start, end, given in filter(self._is_label, encoded):
            # Above a key that was not found itself: all the base64 around it goes.
            if not any(a <= start < end < b for a, b, _ in encoded):
                yield *around(text, start, end), given
        for secret in self._short:
            at = text.find(secret)
            while at >= 0:
                yield (found := self._whole(text, at, secret))
                at = text.find(secret, found[1])

    def _is_label(self, span: tuple[int, int, str]) -> bool:
        return self._rules[span[2]] == "private_key" and not key_of(span[2])

    def _whole(self, text: str, at: int, secret: str) -> tuple[int, int, str]:
        start, end = extent(self._rules[secret], text, at, at + len(secret))
        return start, end, text[start:end]


def _is_telling(value: str) -> bool:
    """Whether a value is no word that stands elsewhere with another meaning."""
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return len(value) >= (_TELLING if mixed else _LONG)
