"""What ``--json`` gives of the commands that explain and bring back: ``why`` and its kin."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from cli.models import State
from cli.models_whatif import DecidedData
from projections.reasons import State as Standing


class WhyStep(BaseModel):
    """One event that touched the item."""

    position: int
    ref: str
    """``k1`` of a compaction, else the position."""
    type: str
    effect: str
    """came, back, left, changed, restored, pinned, unpinned, erased, forked, kept or nothing."""
    sentence: str
    """The same for a person."""
    rendition: str | None
    """In which the item stands after it; None where it does not stand."""
    by: str = ""
    """The strategy with its parameters, or the agent, where it is known."""
    trigger: str = ""
    reason: str = ""
    summarizer: str = ""
    pass_id: str = ""
    pass_name: str = ""
    """``pass 77``, by the position of its first substitution; empty where it was decided alone."""
    inferred: bool = False
    """Found by comparing two requests, not told by who decided it."""
    items: int | None = None
    """Of a compaction: how many items left with it."""
    not_shown: bool = False
    """Of a compaction that took the item: its summarizer was not given it, as was recorded."""
    brought: list[str] = []
    """Of a compaction: the items that it put in."""
    before_tokens: int | None = None
    """Of a compaction, of the context before it: the agent's own count, else estimated; of a
    change, of the item."""
    before_estimated: bool = True
    before_recorded: int | None = None
    """Of a compaction: estimated, of what of that context is recorded here."""
    after_tokens: int | None = None
    after_estimated: bool = True
    after_recorded: int | None = None
    undone_by: int | None = None
    """The undo or rewind that put it out of force."""
    stream: str = ""
    """The session whose event it is, where that is one that this session was forked from."""
    occurred_at: str | None = None


class WhyAnchor(BaseModel):
    """A literal of an item that is not shown as it came in."""

    kind: str
    text: str
    in_place: bool
    """What took the item's place holds it."""
    elsewhere: str
    """Else an item that stood in the context just after that and holds it; empty when none did."""
    in_other_words: bool
    """Else it is a rule that what took the item's place says in other words."""
    used_by: list[str]
    """Later messages, of the model or a person, that hold it."""


class GivenData(BaseModel):
    """Calls that were given the item in the same form."""

    form: str
    """original (all of it, as it came in), cut, cleared, deduplicated, revised or redacted."""
    calls: list[str]


class HeldData(BaseModel):
    """The request of one call, as far as the item goes."""

    call: str
    recorded: bool
    """Whether the request was recorded with a manifest; else it is folded from the events."""
    rendition: str | None
    """In which the request held the item; None when it did not."""


class WayBack(BaseModel):
    """A command, and what it does."""

    command: str
    does: str


class WhyData(BaseModel):
    """``why``"""

    key: str
    item: str
    asked: str
    """The item, or the rendition that was asked for."""
    ref: str
    """The place for which it is answered."""
    at: int
    who: str
    preview: str
    tokens: int
    """Estimated, of the original."""
    state: Standing
    rendition: str | None
    """In which it stands there; None where it does not stand."""
    pinned: bool
    erased: bool
    answer: str
    """In one or two sentences."""
    steps: list[WhyStep]
    calls: list[str]
    """Those that were given it in whatever form: as sent where the request was recorded, else those
    before which it stood, as folded."""
    given: list[GivenData]
    """The same calls, by the form in which they were."""
    held: HeldData | None
    """Of the call that was asked for, or of the last one where no place was named."""
    anchors: list[WhyAnchor]
    sealed: bool
    """When it left, something stood in the context that only the provider can read: what seems lost
    may stand there."""
    summary_erased: bool
    """Likewise a summary of which the text was erased from the log since."""
    stands_in: list[str]
    """Where it is not shown as it came in: other items there that hold its whole text."""
    replaced_by: list[str]
    """The items, or the rendition, that stand in its place."""
    back: list[WayBack]


class RecoveredItem(BaseModel):
    """The original of an item."""

    item: str
    who: str
    role: str
    state: State
    """Where it stands now."""
    taken_by: str
    """``k1``, or the position of the decision since which it is not shown as it came in; empty
    where it is."""
    tokens: int
    """Estimated."""
    text: str
    dialect: str
    message: Any
    literals: list[str] = []
    """Of ``--lost``: those that it holds and that are gone."""
    occurred_at: str | None = None
    excerpt: str | None = Field(default=None, exclude=True)
    """Of ``--query``, for a person: the lines around what was found, where that is not all."""


class RecoveredSentence(BaseModel):
    """A sentence with literals in it that are gone."""

    item: str
    who: str
    text: str
    literals: list[RecoveredLiteral]


class RecoveredLiteral(BaseModel):
    """A literal that a decision lost, word for word."""

    kind: str
    text: str
    used_by: list[str]
    """Later messages, of the model or a person, that hold it."""
    found_in: list[str] = []
    """What a tool returned later, or a program put in, that holds it."""
    in_other_words: bool = False
    """It is a rule, and the summary says it in other words."""


class RecoverData(BaseModel):
    """``recover``"""

    key: str
    lost_with: str | None = None
    """The decision whose losses these are: ``k1``, or the position of its first event."""
    lost_how: str = ""
    """What it did: compacted, cleared, cut, deduplicated or revised."""
    sealed: bool = False
    """Just after it something stood in the context that only the provider can read: what seems lost
    may stand there."""
    summary_erased: bool = False
    """Likewise a summary of which the text was erased from the log since."""
    query: str | None = None
    items: list[RecoveredItem] = []
    sentences: list[RecoveredSentence] = []
    found: int
    """Literals that are lost, items that hold the query, or items that were asked for."""
    left_out: int = 0
    """Of these, how many are not shown; ``--all`` shows them."""
    into: ChangeData | None = None
    """With ``--into-context``: what was, or would be, written."""
    notes: list[str] = []


class WrittenData(BaseModel):
    """An event that was, or would be, appended."""

    position: int
    type: str
    says: str


class ShiftData(BaseModel):
    """An item that stands otherwise than before."""

    item: str
    who: str
    preview: str
    before: str | None
    """Its rendition before; None where it did not stand."""
    after: str | None
    before_tokens: int
    """Estimated."""
    after_tokens: int


class SizeData(BaseModel):
    """How much stands in a context."""

    items: int
    tokens: int
    """Estimated."""


class OutgrownData(BaseModel):
    """The largest context of the session that was compacted, not by hand."""

    ref: str
    """``k2``"""
    tokens: int


class ChangeData(BaseModel):
    """``undo``, ``rewind``, ``pin``, ``unpin``, ``recover --into-context`` and ``run``."""

    key: str
    """The session that was, or would be, written to; where there is nothing to write, that was
    asked about."""
    forked_from: str | None = None
    """The session that another program writes, which was forked first."""
    forked_at: int | None = None
    dry_run: bool
    version: int
    """Of the session before anything was written."""
    events: list[WrittenData]
    before: SizeData
    after: SizeData
    back: list[ShiftData]
    """Items that stand again, or anew."""
    gone: list[ShiftData]
    changed: list[ShiftData]
    """Items that stand in another rendition."""
    asked: list[str] = []
    """The items that were asked for."""
    undo: list[str] = []
    """What to type to take it back; nothing where nothing was written."""
    outgrown: OutgrownData | None = None
    """Where the context grew to more than what was compacted before."""
    notes: list[str] = []


class AskedData(BaseModel):
    """A strategy, and when it was asked."""

    strategy: str
    at: str
    """The moments at which it decides: tool_result, user_turn or model_call."""
    times: int
    """How many of them there were."""
    first: str
    last: str
    """In words: the user turn 44, the result 42, before c31, now; empty where there was none."""
    waits: str
    """Why it did not begin at the last of them, and how far it was from that; empty where it did,
    or cannot say."""


class DecidedAtData(BaseModel):
    """What a strategy decided at one moment."""

    strategy: str
    moment: str
    """In words."""
    position: int
    """Of the event at hand: the message that came, the result, the call; the next one for now."""
    decided: list[DecidedData]
    reasons: list[str]
    """Of what was declined."""


class RunData(ChangeData):
    """``run``"""

    strategy: str
    attention: list[AskedData]
    """When each of its parts was asked, and what it waits for."""
    moments: list[DecidedAtData]
    """The moments at which something was decided, or tried and declined."""
    since: int
    """The position of the last decision that the session held: moments behind it were gone
    through; 0 for all of them."""
    decided: list[DecidedData]
    stuck: str = ""
    """What cannot be reduced, where the context is over what the strategy promises."""
