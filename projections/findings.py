"""Texts that should not be in a log: what a pattern finds, and secrets of known shapes.

Secrets are found by the detectors of ``detect-secrets`` that know the shape of one provider's key
each, and by ours of the same form (``secret_shapes``); those that go by entropy or by the word
before it flag too much of what an agent reads. The text is scanned line by line in memory: no
detector sees a file or a network, and a finding shows no more of a secret than its first
characters.

What was found once is then looked for as it is (``literals``): every event of the streams whose
bytes hold it is a finding too, in whatever encoding, binary parts included.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from eventlog.errors import EventInvalid, InputRefused
from eventlog.jsonvalue import loads
from eventlog.recorded import RecordedEvent, StreamKey
from projections.literals import Literals
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

NEVER = frozenset({"redacted", "session_forked"})
"""Events without a text of a conversation, which are never erased."""

_PIECE = 2_000
_OVERLAP = 300


@dataclass(frozen=True, slots=True)
class Finding:
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
    texts: tuple[str, ...] = field(repr=False)
    """All that was found of the rule in it, in full."""


class _Detector(Protocol):
    secret_type: str
    denylist: Iterable[re.Pattern[str]]

    def analyze_string(self, string: str) -> Iterable[str]: ...


@functools.cache
def detectors() -> dict[str, _Detector]:
    """The detectors by name, ours as ``ctxlog:name``.

    Raises InputRefused when ``detect-secrets`` is not installed.
    """
    try:
        ours: Mapping[str, type[_Detector]]
        ours = importlib.import_module("projections.secret_shapes").SHAPES
        known = {
            name: getattr(importlib.import_module(f"detect_secrets.plugins.{name}"), cls)()
            for name, cls in DETECTORS.items()
        }
        return known | {f"ctxlog:{name}": shape() for name, shape in ours.items()}
    except ImportError as error:
        raise InputRefused(f"secrets are found with detect-secrets: {error}") from None


def matching(
    live: Live, pattern: re.Pattern[str], streams: Iterable[StreamKey] | None = None
) -> list[Finding]:
    """Where a pattern matches: in the given streams' own events, or in the whole log."""

    def scan(text: str) -> Iterator[_Match]:
        for found in pattern.finditer(text):
            line = text[max(0, found.start() - 20) : found.end() + 20]
            yield pattern.pattern, " ".join(line.split())[:80], found[0]

    return _scan(live, streams, scan)


def secrets(live: Live, streams: Iterable[StreamKey] | None = None) -> list[Finding]:
    """Secrets of known shapes: in the given streams' own events, or in the whole log."""
    known = detectors()

    def scan(text: str) -> Iterator[_Match]:
        for line in text.splitlines():
            for piece in _pieces(line):
                for name, detector in known.items():
                    if any(detector.analyze_string(piece)):
                        for secret in _secrets(detector, piece):
                            yield name, masked(secret), secret

    return _scan(live, streams, scan)


def _pieces(line: str) -> Iterator[str]:
    """A line in pieces: some detectors take quadratic time on a line of a megabyte."""
    for start in range(0, max(1, len(line) - _OVERLAP), _PIECE):
        yield line[start : start + _PIECE + _OVERLAP]


def _secrets(detector: _Detector, piece: str) -> list[str]:
    """All that a detector matched; what it yields itself may be only the key's prefix."""
    found = [match[0].strip() for pattern in detector.denylist for match in pattern.finditer(piece)]
    return list(dict.fromkeys(found)) or [""]


def masked(secret: str) -> str:
    """A secret's first characters and its length."""
    shown = secret[: min(4, len(secret) // 5)]
    return f"{shown}… ({len(secret)} characters)"


_Match = tuple[str, str, str]
"""The rule, the preview, and the text itself."""

Scan = Callable[[str], Iterable[_Match]]


def _scan(live: Live, streams: Iterable[StreamKey] | None, scan: Scan) -> list[Finding]:
    wanted = list(streams) if streams is not None else [i.key for i in live.log.streams()]
    found: dict[tuple[StreamKey, int, str, str], Finding] = {}
    for event in _events(live, wanted):
        for item, value in carried(event):
            by_rule: dict[str, tuple[str, dict[str, None]]] = {}
            for text in texts_in(value):
                for rule, preview, match in scan(text):
                    by_rule.setdefault(rule, (preview, {}))[1][match] = None
            for rule, (preview, texts) in by_rule.items():
                where = event.stream, event.position, item
                found[*where, rule] = Finding(*where, rule, preview, tuple(texts))
    places = {(finding.stream, finding.position) for finding in found.values()}
    more = standing(live, found.values(), wanted)
    order = {key: at for at, key in enumerate(wanted)}
    return sorted(
        [*found.values(), *(f for f in more if (f.stream, f.position) not in places)],
        key=lambda f: (order[f.stream], f.position),
    )


def _events(live: Live, streams: Iterable[StreamKey]) -> Iterator[RecordedEvent]:
    for key in dict.fromkeys(streams):
        for event in live.log.read(key, after=live.log.stream(key).base):
            if not event.erased and event.type not in NEVER:
                yield event


def standing(live: Live, found: Iterable[Finding], streams: Iterable[StreamKey]) -> list[Finding]:
    """Every event of some streams whose bytes hold one of the texts that were found."""
    rules = {text: f.rule for f in found for text in f.texts}
    literals = Literals(rules)
    if not literals:
        return []
    in_blobs = _in_blobs(live, literals)
    again: list[Finding] = []
    for event in _events(live, streams):
        text = in_blobs.get(event.sequence, "")
        if not text and not literals.first_in(event.payload):
            continue
        item = ""
        for name, value in carried(event):
            # Names and ids are no texts: they stay when the event is erased.
            text = next(filter(None, map(literals.first_in, texts_in(value))), text)
            if text:
                item = name
                break
        if text:
            preview = masked(text)
            again.append(Finding(event.stream, event.position, item, rules[text], preview, (text,)))
    return again


def _in_blobs(live: Live, literals: Literals) -> dict[int, str]:
    """The events, by sequence, that refer to a binary part with one of the texts inside."""
    found: dict[int, str] = {}
    for (address,) in live.log.query("select address from blobs").fetchall():
        data = live.log.blob(address)
        text = literals.first_in_bytes(data) if data is not None else ""
        if text:
            rows = live.log.query(
                "select sequence from blob_references where address = ?", (address,)
            ).fetchall()
            found.update((sequence, text) for (sequence,) in rows)
    return found


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
