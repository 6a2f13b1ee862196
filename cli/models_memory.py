"""What ``ctxlog memory`` gives with ``--json``."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from eventlog.events import Entity, Experience, MemoryKind, Relation, SessionSummary
from projections.memory.lifecycle import Status
from projections.memory.memory import Standing


class MemoryRow(BaseModel):
    """A memory in a list. Times are ISO 8601, UTC."""

    name: str
    """``m12``."""
    rendition: str
    """``12``, or ``12@40`` as event 40 revised it."""
    kind: MemoryKind
    text: str
    """Empty where it was erased."""
    standing: Standing
    why: str
    """Of a forgotten one: asked, expired or unimportant."""
    status: Status
    """Where in its life it is, by its age alone."""
    importance: float
    """With what its recalls add to it."""
    is_explicit: bool
    subject: str
    values: dict[str, Any]
    """Of a preference, by name."""
    recalled: int
    """How often it stood before a model newly, or what it took the place of."""
    remembered_at: str
    refreshed_at: str
    """When it was remembered, revised, restored or recalled last: its age counts from there."""
    age_days: float
    superseded_by: str | None
    supersedes: list[str]


class MemoryListData(BaseModel):
    """``memory list``"""

    user: str
    at: str
    """The moment at which the ages are these."""
    memories: list[MemoryRow]
    """The newest first."""
    cut: bool
    """There are more of them."""


class MemoryAddData(BaseModel):
    """``memory add`` and ``memory revise``"""

    user: str
    memory: MemoryRow
    took_the_place_of: list[MemoryRow]
    """Those that stood until now, about the same subject."""
    gave_way_to: MemoryRow | None
    """The one that stands in its place: what a person said is not replaced by what was inferred."""
    profile: dict[str, Any] = {}
    """What its text says of the person, as ``section.name``: it is in the profile now."""


class MemoryChanged(BaseModel):
    """A memory that was forgotten or restored, or was that before."""

    memory: MemoryRow
    changed: bool
    """Not, where it was forgotten, or stood, already."""
    gave_way: list[MemoryRow]
    """Of a restored one: those that stood about its subject until now."""


class MemoryChangesData(BaseModel):
    """``memory forget`` and ``memory restore``"""

    user: str
    memories: list[MemoryChanged]


class ProfileRow(BaseModel):
    """One thing that is known of a person."""

    section: str
    name: str
    value: Any
    is_explicit: bool
    position: int
    """Of the event that said so last."""
    sources: list[str]
    """``S@12``, or ``S`` for a whole session."""


class MemoryProfileData(BaseModel):
    """``memory profile``"""

    user: str
    position: int
    """Of the last event that changed it; 0: none did."""
    known: list[ProfileRow]
    changed: int
    """How many events this command wrote."""


class DueRow(BaseModel):
    """A memory that is to be forgotten, and why."""

    memory: MemoryRow
    rule: Literal["expired", "unimportant"]
    reason: str


class MemoryGcData(BaseModel):
    """``memory gc``"""

    user: str
    at: str
    dry_run: bool
    forgotten: list[DueRow]
    """Each memory as it was until then; a dry run has the same ones."""


class MemorySourceData(BaseModel):
    """An event that a memory came from."""

    session: str
    position: int | None
    """Null: the session as a whole."""
    state: Literal["there", "erased", "missing", "elsewhere"]
    """``missing``: this log has no such session, or no such event. ``elsewhere``: it stands in
    another log; a session of that name in this one is another."""
    who: str
    text: str
    """The beginning of what it says."""


class MemoryChangeData(BaseModel):
    """One event of a memory."""

    position: int
    what: Literal["remembered", "revised", "forgotten", "restored"]
    rendition: str
    at: str
    by: str
    reason: str
    rule: str
    text: str | None
    """That it brought; null where the text stayed."""
    changed: list[str]
    is_erased: bool
    imported_from: str
    """Of what was taken up from a document: ``user/_/memory@6``, or ``another log``."""


class MemoryCallData(BaseModel):
    """A call that a memory stood in."""

    call: str
    """``c5``"""
    position: int


class MemoryShownData(BaseModel):
    """An item in which a memory stood before a model."""

    session: str
    item: str
    rendition: str
    """Of the memory, as it was shown: ``12``, or ``12@40``."""
    position: int
    """Of the event that tells it."""
    calls: list[MemoryCallData]
    is_elsewhere: bool = False
    """It did so in another log, from which the memory was taken up: the calls stand there."""
    gone_before: str = ""
    """The first call of the session that was not given it any more: ``c5``. Of several items of one
    session it stands with the last."""
    gone_because: str = ""
    """What became of it, where that is why: ``m12 was forgotten``."""


class MemoryLeftOutData(BaseModel):
    """A message for which a memory was related, and that had no room for it."""

    session: str
    item: str
    position: int
    """Of the event that tells it."""


class MemoryLife(BaseModel):
    """Until when a memory is what; null where the year 9999 does not reach."""

    days: float
    active_until: str
    stale_until: str
    archived_until: str


class MemoryShowData(BaseModel):
    """``memory show``"""

    user: str
    stream: str
    at: str
    memory: MemoryRow
    by: str
    given_importance: float
    """Without what its recalls add."""
    scored: list[str]
    """The rules that made it up."""
    area: str
    entities: list[Entity]
    relations: list[Relation]
    experience: Experience | None
    summary: SessionSummary | None
    life: MemoryLife
    history: list[MemoryChangeData]
    """The oldest first."""
    superseded_by: MemoryRow | None
    supersedes: list[MemoryRow]
    sources: list[MemorySourceData]
    shown: list[MemoryShownData]
    """Every item in which it stood before a model, with the calls, the oldest first."""
    left_out: list[MemoryLeftOutData]
    """Every message that had no room for it, the oldest first."""


class MemoryNode(BaseModel):
    """Something that memories speak of."""

    name: str
    kind: str
    memories: list[str]


class MemoryEdge(BaseModel):
    """How one is related to another."""

    subject: str
    predicate: str
    object: str
    memories: list[str]
    """Those that say so."""


class MemoryGraphData(BaseModel):
    """``memory graph``"""

    user: str
    entity: str
    """That was asked for; empty: the whole of it."""
    depth: int
    nodes: list[MemoryNode]
    """Of the whole those first that most memories speak of, else by their names."""
    edges: list[MemoryEdge]
    """Between these nodes."""
    cut: bool
    """There are more nodes."""
    memories: list[MemoryRow]
    """Those that are named, the newest first; of an entity only."""


class LearnedRow(BaseModel):
    """What was learned of a session, or would be: a memory, or something of the profile."""

    name: str | None
    """``m12``; null: it is of the profile, or nothing was written."""
    kind: str
    """Of the memory; ``profile``."""
    text: str
    values: dict[str, Any]
    """By name; of the profile as ``section.name``."""
    importance: float | None
    scored: list[str]
    is_explicit: bool
    subject: str
    by: str
    sources: list[str]


class MemoryLearnData(BaseModel):
    """``memory add --from``"""

    user: str
    session: str
    dry_run: bool
    learned: list[LearnedRow]
    known: int
    """Things that were learned of it before."""
    withheld: int
    """Things that were left out, since they hold what looks like a key."""
    expired: int = 0
    """Of what was learned: so old by what it came from that ``gc`` forgets it at once."""


class MemoryHit(BaseModel):
    """A memory that is related to a text."""

    memory: MemoryRow
    score: float
    """Of the fusion of both rankings: 1 / 61 for the first of one, twice that for the first of
    both."""
    similarity: float | None
    """The cosine of the vectors; null: they did not name it."""
    by: list[Literal["vector", "words"]]
    """Which rankings named it."""


class MemorySearchData(BaseModel):
    """``memory search``"""

    user: str
    query: str
    at: str
    embedder: str
    """All that determines its vectors; empty where it could not be asked."""
    dimension: int
    fault: str
    """Why words alone were looked for; empty: vectors were compared, too."""
    hits: list[MemoryHit]
    """The most related first."""


class MemoryExportData(BaseModel):
    """``memory export FILE``"""

    user: str
    form: Literal["json", "markdown"]
    file: str
    bytes: int
    events: int
    """Of the document; of Markdown, which holds none, 0."""
    erased: int
    """Memories, and changes of the profile, that were erased and are not in the document."""


class MemoryImportData(BaseModel):
    """``memory import``"""

    user: str
    file: str
    stream: str
    """Whose the document says that it is."""
    dry_run: bool
    added: int
    """Events that are new, or would be."""
    known: int
    """Events that stood there already."""
    warnings: list[str]
