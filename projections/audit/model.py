"""What an audit gives: a row a call, what became of all items, and the findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from projections.anchors import Kind
from projections.audit.passages import MoveKind
from projections.metrics.model import Result
from projections.session_state import Provenance

Severity = Literal["info", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")
"""From the least: what is good to know, what may have harmed, what is wrong."""

RuleName = Literal[
    "verdicts",
    "coverage",
    "summaries",
    "anchors",
    "unseen",
    "broken_rules",
    "placeholders",
    "pairs",
    "opaque",
    "bill",
    "prefix",
    "memories",
]


@dataclass(frozen=True, slots=True)
class Literally:
    """A literal that a finding is about."""

    kind: Kind
    text: str
    item: str
    """Where it stood."""
    used: tuple[str, ...] = ()
    """Where it came up again although it could not be seen: items, or calls."""
    by: Literal["", "model", "person", "tool"] = ""
    """Who brought it up: ``tool`` is a result in which it was found again."""
    is_named: bool = False
    """Of a path: the summary holds at least the name of the file."""


class Finding(Result):
    """One thing that is wrong, lost or unknown."""

    rule: RuleName
    severity: Severity
    refs: tuple[str, ...]
    """What it is about, as people name it: ``c5``, ``k1``, ``12``, ``12@340``; of many the first
    ones."""
    message: str
    heuristic: bool = False
    """It was inferred, and may be wrong."""
    next: tuple[str, ...] = ()
    """A command that goes on from here, with ``S`` for the session."""
    position: int = 0
    """Of the event that it begins at; 0 where it is about the whole session."""
    count: int = 1
    """How many items, calls or literals it tells of."""
    anchors: tuple[Literally, ...] = ()
    """The literals that it is about; of very many the first ones, those used later in front."""


class MoveRow(Result):
    """A decision that changed what stands, between two calls."""

    kind: MoveKind
    by: str
    """``k1``, or the position of the event; of a pass the first one."""
    reason: str
    items: tuple[str, ...]
    """What left or stands otherwise, as runs."""
    count: int
    brought: tuple[str, ...]
    before: int
    """Tokens of those items before."""
    after: int
    """Tokens of what stands for them."""


MemoryStanding = Literal["stands", "revised", "superseded", "forgotten", "erased", "unknown"]
"""How a memory stood when it was shown; ``revised``: it says something else by then. ``unknown``:
its stream is not in this log, or is that of another log under the same name."""


class MemoryRow(Result):
    """A memory that stood before the model at a call, or the profile of a person."""

    memory: str
    """``m12``, or ``profile``."""
    rendition: str
    """As it was shown: ``12``, or ``12@40``; of a profile the last position that it was made of."""
    of: str
    """The full key of the stream in which it stands."""
    item: str
    """The item of the session that showed it, in its rendition."""
    sources: tuple[str, ...]
    """The events that it came from: ``user/agent/session@3``, or a whole session; of many the first
    ones. Of a profile those of the facts that were shown: what was set by hand came from the event
    that did it, ``user/_/memory@3``."""
    source_count: int
    """How many there are."""
    standing: MemoryStanding
    """At that call."""
    since: int
    """The event of its stream that took it from standing as it was shown; 0 where it did, or where
    no one event did."""


class CallRow(Result):
    """One call: what it was given, how well that is known, and what changed before it."""

    call: str
    """``c5``."""
    position: int
    model: str
    verdict: Provenance
    detail: str
    outcome: Literal["answered", "failed", "unknown"]
    status: int | None
    """Of a failed call, as HTTP names it; None where none came back."""
    error: str
    """Of a failed call, as its provider or its client said; empty where the call did not fail."""
    items: int
    tokens: int
    """Estimated, of the request with its tool definitions, as sent where that was recorded."""
    billed: int | None
    """Input tokens as the provider counted them, cached ones too; None where it told none."""
    cached: int | None
    came: tuple[str, ...]
    """What came in since the call before, as runs."""
    came_count: int
    came_tokens: int
    moves: tuple[MoveRow, ...]
    """What else changed since then, in order."""
    prefix_break: str | None
    """What broke the prefix that the request shared with one before; None where nothing did."""
    prefix_against: int | None
    """The number of that request's call, where it is not the call before but an earlier one: the
    last of the same model and tools, since a cache serves no other."""
    break_at: str | None
    """The first rendition of the earlier request that does not stand there any more."""
    reusable: int
    """Estimated tokens that a cache could have had."""
    rewritten: int
    """Estimated tokens that were sent before and had to be sent as new."""
    memories: tuple[MemoryRow, ...] = ()
    """What of a person's memories stood before the model, in the order of the request."""


class State(Result):
    """Items in one state for one reason."""

    state: Literal["kept", "edited", "summarised", "dropped", "never_visible", "unaccounted"]
    reason: str
    by: str
    """The decision, where it is one alone."""
    items: int
    tokens: int
    """As they came."""
    tokens_left: int
    """Of these in the context."""


class Coverage(Result):
    """What became of everything that ever came in."""

    items: int
    tokens: int
    context_items: int
    context_tokens: int
    states: tuple[State, ...]


class Audit(Result):
    """One session."""

    session: str
    parent: str | None
    """Of a fork: where it goes on from. What lies before that is its parent's to audit."""
    calls: tuple[CallRow, ...]
    coverage: Coverage
    findings: tuple[Finding, ...]
    """The worst first, then rule by rule."""

    def worst(self) -> Severity | None:
        """The highest severity; None without a finding."""
        found = {finding.severity for finding in self.findings}
        return max(found, key=SEVERITIES.index, default=None)

    @property
    def is_broken(self) -> bool:
        """Whether stored bytes of a call do not hold."""
        return any(call.verdict == "broken" for call in self.calls)
