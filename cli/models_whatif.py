"""What ``--json`` gives of what-ifs: ``replay --strategy``, ``diff`` and ``compare``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from cli.models import ReplayData
from cli.models_prefix import PrefixCallData
from projections.comparison import Winner
from projections.metrics.intervals import Interval
from projections.metrics.measure import Calibrated
from projections.metrics.prices import Period, Rates, Tier
from projections.strategies.described import Description


class DecidedData(BaseModel):
    """What a strategy decided, of one kind."""

    kind: str
    times: int
    items: int
    not_shown: int = 0
    """Of these, what a summary covers and its summarizer was not shown: it is lost."""
    before: int
    """Tokens."""
    after: int


class WhatIfData(ReplayData):
    """``replay --strategy``: the request that another strategy would have made."""

    strategy: str
    decided: list[DecidedData]
    recorded_tokens: int
    """Of the context as it really was."""
    teacher_forced: Literal[True] = True


class SumData(BaseModel):
    """All items in one state."""

    state: str
    items: int
    left_tokens: int
    right_tokens: int


class SideData(BaseModel):
    """One of two contexts."""

    ref: str
    strategy: str
    """A spec; empty for a context as it really was."""
    kind: Literal["as_sent", "as_folded", "what_if"]
    items: int
    tokens: int
    sums: list[SumData] = []
    """With two strategies: what became of everything that was recorded."""
    decided: list[DecidedData] = []


class DiffRow(BaseModel):
    """One item, on either side or both."""

    item: str
    state: str
    """On the right, held against the left; with two strategies, against all that was recorded."""
    left_state: str = ""
    """With two strategies: on the left, held against all that was recorded."""
    left: str | None
    """Its rendition; null where it does not stand."""
    right: str | None
    who: str
    preview: str
    left_preview: str = ""
    right_preview: str = ""
    tokens: int
    left_tokens: int
    right_tokens: int
    by: str = ""
    """What summarised it."""
    reason: str = ""
    words: str = ""
    """With ``--word``: what changed in its text, as ``[-old-]{+new+}``."""


class PrefixData(BaseModel):
    """What both contexts begin with, and where that ends."""

    items: int
    tokens: int
    left_ends_at: str | None
    right_ends_at: str | None
    left_behind: int
    """Tokens."""
    right_behind: int
    """Tokens that a cache of the left does not hold."""
    character: int | None = None
    """Where both go on with the same item: the first character that differs."""
    common_text: str = ""
    """What stands before it."""
    left_text: str = ""
    """What the left goes on with: from that character on, else the beginning of its item."""
    right_text: str = ""
    call: PrefixCallData | None = None
    """With ``--prefix``, of a call against the one before: what a cache could have had of it."""


class LostAnchorData(BaseModel):
    """A literal that is gone, word for word."""

    kind: str
    text: str
    item: str
    """Where it came from: the first item in which a person said it, else the first of all."""
    newest: str
    """The last item in which it stood."""
    who: str
    state: str
    """What became of that last one."""
    lost_by: Literal["left", "right", "both"]
    used_by: list[str]
    """Messages behind the place that hold it."""
    uses: int
    """Messages of the model or of people that hold it, after the first item, up to the place."""
    in_other_words: bool = False
    """It is a rule, and what is new in the contexts that lost it says it in other words."""


class AnchorCount(BaseModel):
    """The literals of one kind."""

    kind: str
    before: int
    left_lost: int | None
    """With two strategies."""
    right_lost: int


class AnswerData(BaseModel):
    """``diff --ask``: what the model said to one context, held against everything."""

    text: str
    fault: str
    """Why it says nothing, or not all; empty where it answered."""
    context_tokens: int
    """Of the context, as counted here; the question and what was not recorded are not in it."""
    billed_input: int | None
    billed_output: int | None
    same_context: bool
    """The request was the very one of everything."""
    words: float | None
    """How far its words are those of the answer to everything (F1); null without an answer."""
    literals: int | None
    """Paths, ids, numbers, commands … in the answer to everything."""
    missing: list[str]
    """Of these, what this answer does not hold."""


class AskData(BaseModel):
    """``diff --ask``: one question to two contexts, and twice to everything."""

    model: str
    question: str
    left: AnswerData
    right: AnswerData
    everything: AnswerData
    """All that was recorded up to there, with nothing taken out."""
    again: AnswerData
    """The noise floor: everything, asked once more."""
    notes: list[str]


class DiffData(BaseModel):
    """``diff``: two contexts of one session, aligned by item."""

    key: str
    left: SideData
    right: SideData
    same: bool
    sums: list[SumData]
    rows: list[DiffRow]
    prefix: PrefixData
    anchors: list[AnchorCount]
    lost: list[LostAnchorData]
    teacher_forced: bool
    notes: list[str] = []
    asked: AskData | None = None
    """With ``--ask``."""


class StrategyData(BaseModel):
    """One row of ``compare``."""

    strategy: str
    """As it was typed; ``observed`` is what really was."""
    spec: str
    slides: bool
    """It changes the front of the context at nearly every call, by nature."""
    calls: int
    tokens: Interval
    """Sent over all calls, as a part of the baseline's."""
    cumulative: int
    peak: int
    hit_share: Interval
    breaks: Interval
    """A call."""
    rewritten: int
    costs: list[Interval | None]
    """Of each price table, as a part of the baseline's; null where its prices are unknown."""
    totals: list[float | None]
    valid: Interval
    recall: list[Interval]
    """Of later references, by ``distances``."""
    far_recall: Interval
    argument_recall: Interval
    written_files: Interval
    pinned: Interval
    refetched: int
    compactions: int
    summaries: int
    needs_summary: int
    over_budget: int
    overflow_calls: int | None
    headroom: float | None
    first_loss: int | None
    lost: int
    """References that an answer used and its context no longer held."""


class NeededData(BaseModel):
    """A literal that an answer used, and the strategies whose context no longer held it."""

    session: str
    call: int
    kind: str
    text: str
    item: str
    """In which it stood last."""
    distance: int
    """Calls back."""
    in_arguments: bool
    """A tool was called with it."""
    lost_by: list[str]


class PricesData(BaseModel):
    """A price table."""

    name: str
    relative: bool
    """To an input price of 1."""
    incomplete: bool
    """Its prices are unknown, so no cost at it is known either."""
    currency: str = ""
    source: str = ""
    """Where the prices were looked up; empty: they were given."""
    model: str = ""
    """As the source calls it."""
    rates: Rates | None = None
    tiers: list[Tier] = []
    periods: list[Period] = []


class CompareData(BaseModel):
    """``compare``: many strategies over the same sessions. What-ifs are teacher-forced."""

    sessions: list[str]
    counter: str
    baseline: str
    window: int | None
    prices: list[PricesData]
    distances: list[int]
    strategies: list[StrategyData]
    needed: list[NeededData]
    winners: list[Winner]
    calibration: list[Calibrated]
    warnings: list[str]
    teacher_forced: Literal[True] = True


class ConfiguredData(BaseModel):
    """A name that the config gives to a spec."""

    name: str
    spec: str
    file: str
    """The config."""


class StrategiesData(BaseModel):
    """``strategies``: what there is to compare."""

    strategies: list[Description]
    configured: list[ConfiguredData] = []
