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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from eventlog.errors import EventInvalid, InputRefused
from eventlog.jsonvalue import loads
from eventlog.recorded import RecordedEvent, StreamKey
from eventlog.skeleton import skeleton_of
from projections.literals import Literals
from projections.live import Live
from projections.places import LEAST, Place, inside, places, runs_in
from projections.quotes import texts_in
from projections.sieve import Sieve

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

CHECKING = frozenset({"jwt"})
"""Those that look in a way of their own, but only to drop some of what their patterns match."""

NEVER = frozenset({"redacted", "session_forked"})
"""Events without a text of a conversation, which are never erased."""

_LINES = 16
"""Lines of a text that are looked at as one before each is looked at."""

_PIECE = 2_000
_OVERLAP = 300


@dataclass(frozen=True, slots=True)
class Finding:
    """A text that was found."""

    stream: StreamKey
    """The stream that owns the event."""
    position: int
    item: str
    """The item, or memory, that it stands in; empty for an event without one, such as a title."""
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


Match = tuple[str, str, str]
"""The rule, the preview, and the text itself."""

Scan = Callable[[str], Iterable[Match]]

ThoseWith = Callable[[Iterable[Place]], list[Place]]
"""Tells the places among some in whose text it stands."""


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


@dataclass(frozen=True, slots=True)
class Look:
    """What is looked for."""

    scan: Scan
    joined: bool
    """Nothing of it reaches over a line end, so that many short texts can be scanned as one."""

    def those_with(self, places: Iterable[Place]) -> list[Place]:
        """The places in whose text it stands."""
        some = list(places)
        if self.joined and not any(self.scan("\n".join(place.text for place in some))):
            return []
        return [place for place in some if any(self.scan(place.text))]

    def and_literally(self, found: Iterable[Finding]) -> ThoseWith:
        """The same, and what was found already in whatever form (see ``literals``)."""
        literally = those_with_texts(found)

        def those_with(some: Iterable[Place]) -> list[Place]:
            listed = list(some)
            hits = {*self.those_with(listed), *literally(listed)}
            return [place for place in listed if place in hits]

        return those_with


def for_pattern(pattern: re.Pattern[str]) -> Look:
    """To look for what a pattern matches."""

    def scan(text: str) -> Iterator[Match]:
        for found in pattern.finditer(text):
            line = text[max(0, found.start() - 20) : found.end() + 20]
            if found[0]:
                yield pattern.pattern, " ".join(line.split())[:80], found[0]

    return Look(scan, joined=False)


def for_secrets() -> Look:
    """To look for secrets of known shapes. Raises InputRefused without ``detect-secrets``."""
    known = detectors()
    sieve = _sieve()

    @functools.lru_cache(maxsize=1 << 16)  # a line is looked at before an erasure and after it
    def in_piece(piece: str, names: tuple[str, ...]) -> tuple[Match, ...]:
        return tuple(
            (name, masked(secret), secret)
            for name in names
            # What it yields may be empty: a group of the pattern that did not take part.
            if next(iter(known[name].analyze_string(piece)), None) is not None
            for secret in _secrets(known[name], piece)
        )

    def scan(text: str) -> Iterator[Match]:
        # Most texts hold nothing, and of one that holds something most lines do not.
        if not (in_text := sieve.may_match(text)):
            return
        lines = text.splitlines()
        for at in range(0, len(lines), _LINES):
            some = lines[at : at + _LINES]
            if not (in_lines := sieve.may_match("\n".join(some), in_text)):
                continue
            for line in some:
                for piece in _pieces(line):
                    if names := sieve.may_match(piece, in_lines):
                        yield from in_piece(piece, names)

    return Look(scan, joined=True)


@functools.cache
def _sieve() -> Sieve:
    """What passes over the texts in which no detector finds anything."""
    plain = importlib.import_module("detect_secrets.plugins.base").RegexBasedDetector
    return Sieve(
        {
            # One that looks in a way of its own may find what none of its patterns matches.
            name: detector.denylist
            if type(detector).analyze_string is plain.analyze_string or name in CHECKING
            else None
            for name, detector in detectors().items()
        }
    )


def matching(
    live: Live, pattern: re.Pattern[str], streams: Iterable[StreamKey] | None = None
) -> list[Finding]:
    """Where a pattern matches: in the given streams' own events, or in the whole log."""
    return find(live, for_pattern(pattern), streams)


def secrets(live: Live, streams: Iterable[StreamKey] | None = None) -> list[Finding]:
    """Secrets of known shapes: in the given streams' own events, or in the whole log."""
    return find(live, for_secrets(), streams)


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


def find(live: Live, look: Look, streams: Iterable[StreamKey] | None = None) -> list[Finding]:
    """Where something stands that an erasure can take away; no more than that is a finding.

    What only stands in a call id or another name that has to stay is none (see ``kept``). Inside
    binary parts no match of less than eight characters counts.
    """
    wanted = list(streams) if streams is not None else [i.key for i in live.log.streams()]
    found: dict[tuple[StreamKey, int, str, str], Finding] = {}
    binary = _blob_matches(live, look.scan)
    for event in _events(live, wanted):
        before = len(found)
        for item, value in carried(event):
            matches: list[Match] = []
            for text in texts_in(value):
                matches += look.scan(text)
                matches += [m for run in inside(text) for m in _long(look.scan(run))]
            if len(found) == before:
                matches += binary.get(event.sequence, ())
            _add(found, event, item, matches)
        if len(found) == before:
            for item, names in _going(event, look.those_with):
                _add(found, event, item, [m for place in names for m in look.scan(place.text)])
    places = {(finding.stream, finding.position) for finding in found.values()}
    more = standing(live, list(found.values()), wanted)
    order = {key: at for at, key in enumerate(wanted)}
    return sorted(
        [*found.values(), *(f for f in more if (f.stream, f.position) not in places)],
        key=lambda f: (order[f.stream], f.position),
    )


def _add(
    found: dict[tuple[StreamKey, int, str, str], Finding],
    event: RecordedEvent,
    item: str,
    matches: Iterable[Match],
) -> None:
    by_rule: dict[str, tuple[str, dict[str, None]]] = {}
    for rule, preview, match in matches:
        by_rule.setdefault(rule, (preview, {}))[1][match] = None
    for rule, (preview, texts) in by_rule.items():
        where = event.stream, event.position, item
        found[*where, rule] = Finding(*where, rule, preview, tuple(texts))


def _long(matches: Iterable[Match]) -> Iterator[Match]:
    for rule, _, match in matches:
        if len(match) >= LEAST:
            yield rule, masked(match), match


def _blob_matches(live: Live, scan: Scan) -> dict[int, list[Match]]:
    """What stands in binary parts, by the sequence of each event that refers to them."""
    found: dict[int, list[Match]] = {}
    for (address,) in live.log.query("select address from blobs").fetchall():
        data = live.log.blob(address) or b""
        matches = [match for run in runs_in(data) for match in _long(scan(run))]
        if matches:
            for sequence in _referring(live, address):
                found.setdefault(sequence, []).extend(matches)
    return found


def _referring(live: Live, address: str) -> list[int]:
    rows = live.log.query("select sequence from blob_references where address = ?", (address,))
    return [sequence for (sequence,) in rows.fetchall()]


def _going(event: RecordedEvent, those_with: ThoseWith) -> Iterator[tuple[str, list[Place]]]:
    """The names in which something stands, by item, where erasing the event takes some away."""
    hits = [(item, those_with(places(value))) for item, value in carried(event)]
    count = sum(len(names) for _, names in hits)
    if not count:
        return
    try:
        left = skeleton_of(
            event.type, loads(event.payload), lambda text: bool(those_with([Place((), text)]))
        )
    except (EventInvalid, AttributeError, LookupError, TypeError):
        return
    if len(those_with(places(left))) < count:
        yield from ((item, names) for item, names in hits if names)


def _events(live: Live, streams: Iterable[StreamKey]) -> Iterator[RecordedEvent]:
    for key in dict.fromkeys(streams):
        for event in live.log.read(key, after=live.log.stream(key).base):
            if not event.erased and event.type not in NEVER:
                yield event


def standing(live: Live, found: Collection[Finding], streams: Iterable[StreamKey]) -> list[Finding]:
    """Every event of some streams whose bytes hold one of the texts that were found."""
    rules = {text: f.rule for f in found for text in f.texts}
    literals = Literals(rules)
    if not literals:
        return []
    those_with = those_with_texts(found)
    in_blobs = _in_blobs(live, literals)
    again: list[Finding] = []
    for event in _events(live, streams):
        text = in_blobs.get(event.sequence, "")
        if not text and not literals.first_in(event.payload):
            continue
        item = ""
        for name, value in carried(event):
            text = next(filter(None, map(literals.first_in, texts_in(value))), text)
            if text:
                item = name
                break
        else:
            # Names and ids are no texts: most stay when the event is erased.
            for name, names in _going(event, those_with):
                item, text = name, literals.first_in(names[0].text)
                break
        if text:
            preview = masked(text)
            again.append(Finding(event.stream, event.position, item, rules[text], preview, (text,)))
    return again


def those_with_texts(found: Iterable[Finding]) -> ThoseWith:
    """Tells the places in which one of the texts that were found stands as it is."""
    literals = Literals(text for finding in found for text in finding.texts)
    return lambda some: [place for place in some if literals.first_in(place.text)]


def _in_blobs(live: Live, literals: Literals) -> dict[int, str]:
    """The events, by sequence, that refer to a binary part with one of the texts inside."""
    found: dict[int, str] = {}
    for (address,) in live.log.query("select address from blobs").fetchall():
        data = live.log.blob(address)
        text = literals.first_in_bytes(data) if data is not None else ""
        if text:
            found.update((sequence, text) for sequence in _referring(live, address))
    return found


def carried(event: RecordedEvent) -> Iterator[tuple[str, Any]]:
    """What of an event's payload belongs to which item, or memory; the rest belongs to none."""
    try:
        # As stored: binary parts stay where they are, and no detector reads a picture.
        data = loads(event.payload)
    except EventInvalid:
        return
    kind = event.type
    if kind in ("message_appended", "tool_result_recorded"):
        yield str(event.position), data
    elif kind in ("placeholder_substituted", "message_revised", "prompt_rendered"):
        yield str(data.get("item", "")), data
    elif kind in ("remembered", "memory_revised"):
        yield str(event.position if kind == "remembered" else data.get("memory", "")), data
    elif kind in ("context_compacted", "repair_applied"):
        field = "messages" if kind == "context_compacted" else "inserted"
        for number, new in enumerate(data.get(field, ())):
            yield f"{event.position}.{number}", new
        yield "", {name: value for name, value in data.items() if name not in (field, "result")}
    else:
        yield "", data
