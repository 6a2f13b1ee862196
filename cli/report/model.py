"""What the page shows, as data: one ``SessionData`` a session.

Fields that have their default are left out of the JSON, so the page takes what is missing as that
default: null, empty or zero.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from cli.models_audit import FindingData
from cli.models_log import TimelineRow
from cli.models_prefix import PrefixSumsData
from cli.report.bodies import RequestsData
from cli.report.contributors import ContributorsData
from cli.report.model_compactions import TakingData
from cli.report.model_integrity import IntegrityData
from projections.audit.model import Coverage, MemoryRow, MoveRow
from projections.session_state import Provenance
from projections.usage import UsageTotals

Category = Literal["system", "tools", "user", "injected", "summary", "assistant", "result"]
CATEGORIES: tuple[Category, ...] = (
    "system", "tools", "user", "injected", "summary", "assistant", "result",
)  # fmt: skip
"""What tokens go to, from the bottom of the river up. ``tools`` are the definitions, which are no
items; ``injected`` is what a program put in, memories and what was retrieved included."""

Text = str | int
"""A text: itself where it is short, else its number in the table of texts."""

PartRow = tuple[str, str, Text, bool]
"""Of a message: its kind, the name of its tool or type, its text, and whether it is an error."""


class RowData(BaseModel):
    """An item in one rendition. Rows are numbered from 0, in the order of the log."""

    r: str
    """``12``, ``12@340``, ``57.0``."""
    original: int | None = None
    """The row of the item as it came in; null where that is this one."""
    position: int
    """Of the event that brought this rendition."""
    at: str = ""
    """When it happened, UTC."""
    who: str
    category: Category
    form: str = "original"
    tokens: int
    """Estimated."""
    preview: str = ""
    parts: list[PartRow] = []
    call: int | None = None
    """Of an answer: the number of its call."""
    label: str = ""
    prompt: str = ""
    """The template that gave it, with its version: ``review/coder v2``."""
    is_error: bool = False
    pinned: bool = False
    erased: bool = False
    agents: list[str] = []
    """The sub-agents that its tool calls started, as they are typed."""


class ContextData(BaseModel):
    """The context of one call, as the difference from that of the call before in its lane."""

    keep: int = 0
    """So many entries of the one before stand at the front."""
    add: list[tuple[int, int]] = []
    """Then these runs of rows: the first one, and how many."""
    tokens: list[int]
    """Estimated, by category."""


class PrefixData(BaseModel):
    """What a cache could have had of a call."""

    against: int | None = None
    seconds: float | None = None
    reusable: int = 0
    rewritten: int = 0
    lost: int = 0
    cause: str | None = None
    by: list[str] = []
    """``k3`` or the position of the decisions that broke it."""
    break_at: str | None = None
    now_at: str | None = None
    held: int | None = None
    missed: int | None = None
    contradicts: bool = False


class CallData(BaseModel):
    """One call."""

    position: int
    at: str = ""
    model: str = ""
    kind: Literal["as_sent", "as_folded"]
    context: ContextData
    verdict: Provenance
    detail: str = ""
    outcome: Literal["answered", "failed", "unknown"]
    error: str = ""
    billed: UsageTotals | None = None
    cost: float | None = None
    """At the prices of its model, as billed; see ``CostData``."""
    came: int = 0
    """Items that came since the call before."""
    came_tokens: int = 0
    moves: list[MoveRow] = []
    prefix: PrefixData
    memories: list[MemoryRow] = []


class LaneMove(BaseModel):
    """What a strategy decided between two calls, of one kind and for one reason."""

    kind: str
    by: str
    """The strategy; a rung of its ladder behind it."""
    reason: str = ""
    items: list[str]
    """As runs."""
    count: int
    brought: list[str] = []
    """The messages that stand for them."""
    unseen: list[str] = []
    """Of a summary: the items of which its summarizer was shown nothing, as runs."""
    before: int
    """Tokens."""
    after: int


class CurvesData(BaseModel):
    """What ``compare`` measured of each call in one lane."""

    tokens: list[int]
    """Of the request, in the counter, tool definitions included."""
    cached: list[int]
    """Of these and of what nobody recorded, what a cache would have had."""
    unrecorded: int = 0
    """Tokens that stood in front of every request and are not in the log."""
    spent: list[list[float] | None]
    """At each price table what each call costs; null where its prices are unknown."""


class LaneData(BaseModel):
    """The contexts of all calls, as a strategy would have made them. Teacher-forced."""

    name: str
    """A spec as it was typed."""
    rows: list[RowData] = []
    """Renditions that only this lane has; numbered on from the rows of the session."""
    contexts: list[ContextData] = []
    moves: list[list[LaneMove]] = []
    """What was decided before each call, since the one before."""
    curves: CurvesData


class CostData(BaseModel):
    """What the calls of a session cost, as billed, each at the prices of its model."""

    total: float | None
    """Of the calls whose price is known; null where none is."""
    currency: str = ""
    known: int
    """Answered calls of which that is known."""
    unknown: int
    """Answered calls of which it is not."""
    models: list[str] = []
    """Those that nobody has prices of."""
    source: str = ""


class TextsData(BaseModel):
    """The table of texts, without the texts."""

    lengths: list[int] = []
    """In characters, whole."""
    chunks: list[int] = []
    """The number of the first text of each chunk."""
    names: list[str] = []
    """By which a served page asks for each chunk; in a file they are numbered."""
    cut: dict[int, int] = {}
    """Texts of which head and tail stand here, and how many characters between them do not."""


class MaskedData(BaseModel):
    """What was masked, by the rule that found it."""

    is_on: bool
    counts: dict[str, int] = {}


class SessionData(BaseModel):
    """One session."""

    key: str
    name: str
    """What people type for it."""
    title: str = ""
    facts: dict[str, Any] = {}
    """``stats --json`` of it."""
    categories: list[Category]
    counter: str
    base: int = 0
    """Of a fork: the position of the last event that is its parent's."""
    parent: str = ""
    version: int
    head: str = ""
    """The hash of its last event, hex."""
    rows: list[RowData]
    calls: list[CallData]
    events: list[TimelineRow]
    """What happened beside items: compactions, clearings, rewinds, failures."""
    findings: list[FindingData]
    coverage: Coverage | None = None
    compactions: list[TakingData] = []
    """And what was put in the place of single items: all that took content out of sight."""
    integrity: IntegrityData | None = None
    prefix: PrefixSumsData | None = None
    """``diff --prefix`` without its rows, which stand at the calls; null without a call."""
    contributors: ContributorsData = ContributorsData()
    cost: CostData | None = None
    lanes: list[LaneData] = []
    """One a strategy that was asked for, beside the observed contexts of the calls."""
    observed: CurvesData | None = None
    """With lanes: what was measured of the calls as they were."""
    texts: TextsData
    masked: MaskedData
    requests: RequestsData = RequestsData()


class NamedSession(BaseModel):
    """A session, as it can be chosen."""

    key: str
    name: str
    title: str


class HeadData(BaseModel):
    """What the page knows before it looks at a session."""

    sessions: list[NamedSession]


class ReportData(BaseModel):
    """``report --json``: what was written."""

    file: str
    bytes: int
    sessions: list[str]
    cut: int
    """Texts of which only head and tail are in it."""
    masked: int | None
    """Secrets that were masked; null where none were looked for."""
