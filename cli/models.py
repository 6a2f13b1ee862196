"""What ``--json`` gives: one model a command, and the text output is rendered from the same.

Fields are only ever added. Times are as the source wrote them, or ISO 8601 in UTC.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from cli.models_shown import ShownData
from projections.session_figures import SessionStats
from projections.usage import UsageTotals

State = Literal["context", "placeholder", "folded", "left", "never"]


class SessionsData(BaseModel):
    """``sessions``"""

    sessions: list[SessionStats]
    total: int
    """How many there are of those that were asked for: ``-n`` leaves older ones out."""
    prompt_tests: int
    """Sessions in which prompts were tested that are not among them: with ``-n`` they are left out,
    unless they are asked for."""


class ItemData(BaseModel):
    """One item of a context, in the rendition in force."""

    item: str
    rendition: str
    form: str
    kind: str
    role: str
    source: str
    label: str = ""
    tool: str = ""
    who: str
    pinned: bool = False
    tokens: int
    """Estimated."""
    text: str
    preview: str
    """The beginning of the text, on one line."""
    calls: list[str] = []
    dialect: str
    message: Any


class ContextData(BaseModel):
    """``show --context``: the window at a place."""

    key: str
    ref: str
    at: int
    kind: Literal["as_sent", "as_folded"]
    model: str | None = None
    tokens: int
    """Estimated, of all items."""
    billed: int | None = None
    """The provider's own count of this call's input, tools and hidden parts included."""
    told: int | None = None
    """The agent's own count of this context, where the compaction beside it tells one."""
    counter: str
    items: list[ItemData]
    prompts: dict[str, str] = {}
    """The items, by rendition, that a prompt template gave: its name and version."""
    memories: dict[str, list[ShownData]] = {}
    """The items, by rendition, that show memories of a person."""
    notes: list[str] = []


class CallData(BaseModel):
    """A call to a model."""

    model: str
    verdict: str
    """How well it is known what it was given."""
    detail: str
    request_digest: str | None
    """What proves it: of the request, salted, as it was recorded before it went out."""
    outcome: str
    """answered, failed or unknown."""
    finish_reason: str = ""
    error: str = ""
    partial: str | None = None
    """Of an answer that did not come to its end: what had come of it."""
    partial_characters: int | None = None
    usage: UsageTotals | None = None
    """As the provider counted; what it did not tell is null."""
    items: int
    tokens: int
    """Estimated, of the items that it was given."""
    memories: list[ShownData] = []
    """What of a person's memories stood before it."""


class CompactionData(BaseModel):
    """A compaction."""

    trigger: str
    by: str
    left: list[str]
    """The items that left, as runs."""
    left_count: int
    not_shown: list[str] = []
    """Of them those that the summarizer was not given, as runs, where that was recorded."""
    not_shown_count: int = 0
    before_tokens: int
    """The agent's own count, else estimated."""
    before_estimated: bool
    before_recorded: int
    """Estimated, of what of that context is recorded here."""
    after_tokens: int
    after_estimated: bool
    after_recorded: int
    texts: list[str]
    """Of the messages that it put in."""


class SubstitutionData(BaseModel):
    """An item that a pass put a placeholder in the place of."""

    item: str
    position: int
    """Of the event that carries the placeholder."""
    who: str
    tokens: int
    """Estimated, of the original."""
    shown_tokens: int
    preview: str


class PassData(BaseModel):
    """A pass over a context that put placeholders in it, or one substitution alone."""

    kind: str
    reason: str
    by: str
    content: str
    """The placeholder, of the event that was asked for."""
    items: list[SubstitutionData]


class EventData(BaseModel):
    """``show``: one event, or one item in a rendition."""

    key: str
    ref: str
    position: int
    sequence: int
    event_id: str
    type: str
    schema_version: int
    happened_at: str
    """By the source's clock where that can be read, else when it was recorded; UTC."""
    occurred_at: str | None
    """The source's clock, as it wrote it."""
    recorded_at: str
    erased: bool
    state: State | None
    """Of an item."""
    left_at: int | None = None
    changed_at: int | None = None
    """The event that carries the rendition in which the item stands, or stood when it left."""
    changed: str = ""
    """What that did to it: cleared, cut, deduplicated, revised."""
    number: str | None = None
    """``c5`` or ``k1``."""
    summary: str = ""
    """Of an event of which nothing below tells more: what it says, on one line."""
    call: CallData | None = None
    compaction: CompactionData | None = None
    substitutions: PassData | None = None
    item: ItemData | None = None
    shows: list[ShownData] = []
    """Of an item: the memories of a person that it shows."""
    event: Any
    """The payload."""


class ReplayData(BaseModel):
    """``replay``: the request at a place."""

    key: str
    ref: str
    at: int
    kind: Literal["as_sent", "as_sendable", "what_if"]
    format: str
    items: list[str]
    """The rendition of each item, in order."""
    tokens: int
    repairs: list[str] = []
    notes: list[str] = []
    request: Any


class FileData(BaseModel):
    """What happened to one file."""

    path: str
    format: str = ""
    sessions: list[ImportedSession] = []
    withheld: int = 0
    """Values of what is new that may be keys, and were left out."""
    pending: int = 0
    notes: list[str] = []
    error: str = ""
    unknown: bool = False
    """It is no transcript of a format that can be imported."""


class ImportedSession(BaseModel):
    """What happened to one session."""

    key: str
    new: int = 0
    known: int = 0
    pending: int = 0
    unreadable: int = 0
    vanished: int = 0
    forks: list[str] = []
    notes: list[str] = []


class ImportData(BaseModel):
    """``import``"""

    database: str
    dry_run: bool = False
    new: int
    known: int
    pending: int
    unreadable: int
    withheld: int
    errors: list[str]
    passed_over: list[str] = []
    """JSON files of a folder in which nothing looks like a transcript."""
    empty: list[str] = []
    """Folders in which there is no file that could be one."""
    files: list[FileData]


class ProblemData(BaseModel):
    """One thing that does not hold."""

    stream: str
    position: int | None
    kind: str
    message: str


class VerifyData(BaseModel):
    """``verify``"""

    head: str
    events: int
    streams: int
    persons: int = 0
    """How many of these hold no session, but what is remembered of a person."""
    redactions: int
    problems: list[ProblemData]
    session: str | None = None
    """Where one was named: its key, its version, and its own head."""
    version: int | None = None
    session_head: str | None = None
    appended: int | None = None
    """Events since the head that was given: 0 where it is the newest. None where none was given, or
    something does not hold."""


class HeadData(BaseModel):
    """``head``"""

    head: str
    """Of the log, or of the session that was named."""
    events: int
    streams: int
    session: str | None = None
    version: int | None = None


class RedactedTarget(BaseModel):
    """An event whose text is, or would be, erased."""

    key: str
    position: int
    type: str
    why: str
    """``item``, the pattern, the kind of secret, or how it is a copy: reference, blob, quote."""
    preview: str = ""
    """A little of what was found; of a secret no more than its first characters."""
    tokens: int = 0
    """Estimated, of all the text of the event: it goes whole."""


class RedactData(BaseModel):
    """``redact``"""

    dry_run: bool
    sessions: list[str]
    positions: list[str]
    """Where the ``Redacted`` events stand."""
    erased: list[RedactedTarget]
    copies: list[RedactedTarget]
    """Where else the text stands; erased too only with ``--with-copies``."""
    calls: list[str]
    """Calls that were given something of it."""
    sources: list[str]
    """Imported sessions whose import key could prove a guess of what was erased."""
    forgotten: list[str]
    """Those whose key was dropped."""
    scrubbed: bool
    """No copy is left in free pages, the write-ahead log and derived tables."""
    residue: list[str]
    outputs: int = 0
    """What models gave that holds what was looked for; what was made from an erased item's session
    goes too, and is not counted."""


class ForkData(BaseModel):
    """``fork``"""

    key: str
    parent: str
    at: int
    position: int


class RebuildData(BaseModel):
    """``rebuild``"""

    events: int
    streams: int
    persons: int = 0
    """How many of these hold no session, but what is remembered of a person."""
    seconds: float
    indexed: int = 0
    """Events of the index for search; 0 where no search has made one."""


class ExportData(BaseModel):
    """``export --out``: what was written."""

    file: str
    format: str
    sessions: list[str]
    bytes: int
    head: str | None = None
    """Of the lossless format: over everything that was exported; of a whole log its head."""
    session_heads: dict[str, str] = {}
    """Of the lossless format: of each session that was named, its own."""
