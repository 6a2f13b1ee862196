"""Texts that should not be in a log: what a pattern finds, and secrets of known shapes.

Secrets are found by the detectors of ``detect-secrets`` that know the shape of one provider's key
each; those that go by entropy or by the word before it flag too much of what an agent reads. The
text is scanned line by line in memory: no detector sees a file or a network, and a finding shows no
more of a secret than its first characters.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from eventlog.errors import EventInvalid, InputRefused
from eventlog.jsonvalue import loads
from eventlog.recorded import RecordedEvent, StreamKey
from projections.live import Live
from projections.quotes import texts_in

DETECTORS: dict[str, str] = {
    "artifactory": "ArtifactoryDetector",
    "aws": "AWSKeyDetector",
    "azure_storage_key": "AzureStorageKeyDetector",
    "basic_auth": "BasicAuthDetector",
    "cloudant": "CloudantDetector",
    "discord": "DiscordBotTokenDetector",
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "ibm_cloud_iam": "IbmCloudIamDetector",
    "ibm_cos_hmac": "IbmCosHmacDetector",
    "jwt": "JwtTokenDetector",
    "mailchimp": "MailchimpDetector",
    "npm": "NpmDetector",
    "openai": "OpenAIDetector",
    "private_key": "PrivateKeyDetector",
    "pypi_token": "PypiTokenDetector",
    "sendgrid": "SendGridDetector",
    "slack": "SlackDetector",
    "softlayer": "SoftlayerDetector",
    "square_oauth": "SquareOAuthDetector",
    "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector",
    "twilio": "TwilioKeyDetector",
}
"""The modules and classes of ``detect_secrets.plugins`` that are used."""

_PIECE = 2_000
_OVERLAP = 300


class Finding(NamedTuple):
    """A text that was found."""

    stream: StreamKey
    """The stream that owns the event."""
    position: int
    item: str
    """The item that it stands in; empty when the event carries none, such as a title."""
    rule: str
    """The detector, or the pattern."""
    preview: str
    """Of a secret, no more than its first characters."""


class _Detector(Protocol):
    secret_type: str
    denylist: Iterable[re.Pattern[str]]

    def analyze_string(self, string: str) -> Iterable[str]: ...


@functools.cache
def detectors() -> dict[str, _Detector]:
    """The detectors by name. Raises InputRefused when ``detect-secrets`` is not installed."""
    try:
        return {
            name: getattr(importlib.import_module(f"detect_secrets.plugins.{name}"), cls)()
            for name, cls in DETECTORS.items()
        }
    except ImportError as error:
        raise InputRefused(f"secrets are found with detect-secrets: {error}") from None


def matching(
    live: Live, pattern: re.Pattern[str], streams: Iterable[StreamKey] | None = None
) -> list[Finding]:
    """Where a pattern matches: in the given streams' own events, or in the whole log."""

    def scan(text: str) -> Iterator[tuple[str, str]]:
        found = pattern.search(text)
        if found is not None:
            line = text[max(0, found.start() - 20) : found.end() + 20]
            yield pattern.pattern, " ".join(line.split())[:80]

    return _scan(live, streams, scan)


def secrets(live: Live, streams: Iterable[StreamKey] | None = None) -> list[Finding]:
    """Secrets of known shapes: in the given streams' own events, or in the whole log."""
    known = detectors()

    def scan(text: str) -> Iterator[tuple[str, str]]:
        for line in text.splitlines():
            for piece in _pieces(line):
                for name, detector in known.items():
                    if any(detector.analyze_string(piece)):
                        yield name, masked(_secret(detector, piece))

    return _scan(live, streams, scan)


def _pieces(line: str) -> Iterator[str]:
    """A line in pieces: some detectors take quadratic time on a line of a megabyte."""
    for start in range(0, max(1, len(line) - _OVERLAP), _PIECE):
        yield line[start : start + _PIECE + _OVERLAP]


def _secret(detector: _Detector, piece: str) -> str:
    """All that a detector matched; what it yields itself may be only the key's prefix."""
    for pattern in detector.denylist:
        found = pattern.search(piece)
        if found is not None:
            return found[0].strip()
    return ""


def masked(secret: str) -> str:
    """A secret's first characters and its length."""
    shown = secret[: min(4, len(secret) // 5)]
    return f"{shown}… ({len(secret)} characters)"


Scan = Callable[[str], Iterable[tuple[str, str]]]


def _scan(live: Live, streams: Iterable[StreamKey] | None, scan: Scan) -> list[Finding]:
    wanted = list(streams) if streams is not None else [i.key for i in live.log.streams()]
    found: dict[tuple[StreamKey, int, str, str], Finding] = {}
    for key in dict.fromkeys(wanted):
        for event in live.log.read(key, after=live.log.stream(key).base):
            if event.erased or event.type == "redacted":
                continue
            for item, value in carried(event):
                for text in texts_in(value):
                    for rule, preview in scan(text):
                        name = (key, event.position, item, rule)
                        found.setdefault(name, Finding(key, event.position, item, rule, preview))
    return list(found.values())


def carried(event: RecordedEvent) -> Iterator[tuple[str, Any]]:
    """What of an event's payload belongs to which item; the rest belongs to none."""
    try:
        # As stored: binary parts stay where they are, and no detector reads a picture.
        data = loads(event.payload)
    except EventInvalid:
        return
    kind = event.type
    if kind in ("message_appended", "tool_result_recorded"):
        yield str(event.position), data
    elif kind in ("placeholder_substituted", "message_revised"):
        yield str(data.get("item", "")), data
    elif kind in ("context_compacted", "repair_applied"):
        field = "messages" if kind == "context_compacted" else "inserted"
        for number, new in enumerate(data.get(field, ())):
            yield f"{event.position}.{number}", new
        yield "", {name: value for name, value in data.items() if name != field}
    else:
        yield "", data
