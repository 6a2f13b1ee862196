"""The events: frozen facts about a conversation, named in the past tense.

An event knows nothing of its place in the log; a ``RecordedEvent`` (see ``eventlog.log``) does.
What is stored is the tag (``type``), the schema version and the payload, never a class path, so a
class may move. A new shape of an event gets the next ``schema_version`` and an upcaster; old rows
are never re-written.

Items are named by text: ``12`` is what the event at position 12 brought in, ``57.0`` the first
message of compaction 57, ``12@340`` the rendition of item 12 that event 340 carries. A *run*
``58-120`` names every item whose whole-number origin lies there, and is written only where each of
them stands there in its original rendition.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from eventlog.agent import FileSeen as FileSeen
from eventlog.agent import MiddlewareStateSet as MiddlewareStateSet
from eventlog.agent import OutputProduced as OutputProduced
from eventlog.agent import PermissionDecided as PermissionDecided
from eventlog.agent import PermissionsSet as PermissionsSet
from eventlog.agent import PromptRendered as PromptRendered
from eventlog.agent import ReplyEnded as ReplyEnded
from eventlog.agent import ReplyStarted as ReplyStarted
from eventlog.agent import Task as Task
from eventlog.agent import TasksSet as TasksSet
from eventlog.agent import ToolCallStarted as ToolCallStarted
from eventlog.agent import ToolGroupsSet as ToolGroupsSet
from eventlog.calls import ModelCalled as ModelCalled
from eventlog.calls import ModelFailed as ModelFailed
from eventlog.calls import ModelResponded as ModelResponded
from eventlog.errors import EventInvalid
from eventlog.jsonvalue import Json
from eventlog.memory import Entity as Entity
from eventlog.memory import Experience as Experience
from eventlog.memory import MemoryForgotten as MemoryForgotten
from eventlog.memory import MemoryKind as MemoryKind
from eventlog.memory import MemoryRecalled as MemoryRecalled
from eventlog.memory import MemoryRestored as MemoryRestored
from eventlog.memory import MemoryRevised as MemoryRevised
from eventlog.memory import MemorySource as MemorySource
from eventlog.memory import ProfileSection as ProfileSection
from eventlog.memory import ProfileUpdated as ProfileUpdated
from eventlog.memory import Relation as Relation
from eventlog.memory import Remembered as Remembered
from eventlog.memory import SessionSummary as SessionSummary
from eventlog.messages import Dialect
from eventlog.values import Behind as Behind
from eventlog.values import DecidedBy as DecidedBy
from eventlog.values import Entry as Entry
from eventlog.values import EventBase as EventBase
from eventlog.values import ItemId as ItemId
from eventlog.values import JsonObject as JsonObject
from eventlog.values import LaidOut as LaidOut
from eventlog.values import Manifest as Manifest
from eventlog.values import ManifestEntry as ManifestEntry
from eventlog.values import NewMessage as NewMessage
from eventlog.values import Origin as Origin
from eventlog.values import OriginRecord as OriginRecord
from eventlog.values import Position as Position
from eventlog.values import Rename as Rename
from eventlog.values import RepairInsert as RepairInsert
from eventlog.values import Skeleton as Skeleton
from eventlog.values import Source as Source
from eventlog.values import Stored as Stored
from eventlog.values import Summarizer as Summarizer
from eventlog.values import Usage as Usage
from eventlog.values import Value as Value


class SessionStarted(EventBase):
    """A session begins."""

    type: Literal["session_started"] = "session_started"
    title: str = ""
    metadata: JsonObject | None = None
    ownership: Literal["owned", "observed"] = "owned"
    """Into an observed stream only its source writes what changes the context."""
    parent_session: str = ""
    """Of a sub-agent: the full key of the stream that started it. Of a session that begins as its
    agent's own copy of another one, with ``forked`` in the metadata: the key of that one."""
    parent_call: str = ""
    """The tool call id there that started it."""
    format: str = ""
    importer_version: int = 0
    foreign_session_id: str = ""


class SessionForked(EventBase):
    """This stream goes on from another one's position, by reference."""

    critical: ClassVar[bool] = True
    type: Literal["session_forked"] = "session_forked"
    parent: str
    """The full key of the parent stream."""
    at: int
    ownership: Literal["owned", "observed"] = "owned"
    reason: str = ""


class SessionResumed(EventBase):
    """The session was taken up again."""

    type: Literal["session_resumed"] = "session_resumed"
    cleared: tuple[str, ...] = ()
    """What of the agent's state was reset on resuming."""
    kept: tuple[str, ...] = ()
    """What of it went on."""


class SessionStored(EventBase):
    """What the framework that a session belongs to keeps of it, for itself, from here on.

    A note: a framework may keep more than it shows the model, and show more than it keeps.
    """

    type: Literal["session_stored"] = "session_stored"
    items: Stored
    """Items and parts of items, in order; ``=3`` in front: the first three of before stand."""


class SessionTitled(EventBase):
    """The session got a title."""

    type: Literal["session_titled"] = "session_titled"
    title: str
    by: str = ""


class SessionDeleted(EventBase):
    """A tombstone: the session is hidden, its events stay."""

    type: Literal["session_deleted"] = "session_deleted"
    reason: str = ""
    purged: bool = False
    """All content of the session is erased with it, by redactions that follow."""


class MessageAppended(EventBase):
    """A message entered the context: at its end, or after an item; after ``0`` at its front."""

    critical: ClassVar[bool] = True
    type: Literal["message_appended"] = "message_appended"
    dialect: Dialect
    source: Source
    label: str = ""
    """What kind of injected text this is, such as ``system-reminder``."""
    call: Position | None = None
    """Of an answer: the position of its ModelCalled."""
    after: Behind | None = None
    message: JsonObject


class ToolResultRecorded(EventBase):
    """A tool answered. The result is stored whole, whatever a strategy does to it in the context.

    The text is in ``content``, or, where the provider's own block was received, in ``native``
    alone.
    """

    critical: ClassVar[bool] = True
    type: Literal["tool_result_recorded"] = "tool_result_recorded"
    tool_call_id: str
    name: str = ""
    dialect: Dialect
    is_error: bool = False
    duration_ms: int | None = None
    after: Behind | None = None
    content: str | None = None
    native: JsonObject | None = None

    def model_post_init(self, context: object) -> None:
        """Refuse a result with no body, or with two."""
        if (self.content is None) == (self.native is None):
            raise EventInvalid("a tool result has either content or a native block")


class ToolsDeclared(EventBase):
    """The tools in force from here on; appended only when no earlier one has the same bytes."""

    type: Literal["tools_declared"] = "tools_declared"
    dialect: Dialect
    definitions: Json


class PlaceholderSubstituted(EventBase):
    """An item's content was replaced in the context; the original stays in the log."""

    critical: ClassVar[bool] = True
    type: Literal["placeholder_substituted"] = "placeholder_substituted"
    item: ItemId
    kind: Literal["cut", "cleared", "deduplicated"] = "cleared"
    reason: str = ""
    pass_id: str = ""
    """Substitutions decided together share it, and can be undone together."""
    by: DecidedBy | None = None
    implied: bool = False
    """The text is known from the agent's behaviour; the file does not hold it."""
    inferred: bool = False
    """Found by comparing two requests, not reported by who decided it."""
    content: str


class MessageRevised(EventBase):
    """An item's message was changed: a merge patch (RFC 7386) or a whole new message."""

    critical: ClassVar[bool] = True
    type: Literal["message_revised"] = "message_revised"
    item: ItemId
    reason: str = ""
    inferred: bool = False
    patch: Json | None = None
    message: JsonObject | None = None

    def model_post_init(self, context: object) -> None:
        """Refuse a revision that says nothing, or two things."""
        if (self.patch is None) == (self.message is None):
            raise EventInvalid("a revision has either a patch or a message")


class ContextCompacted(EventBase):
    """Items left the context and zero, one or more messages took their place (``k1``, ``k2`` …)."""

    critical: ClassVar[bool] = True
    type: Literal["context_compacted"] = "context_compacted"
    covered: tuple[Entry, ...]
    """Items and runs of items, as they stood in the view."""
    layout: tuple[LaidOut, ...] | None = None
    """The whole context after it, as entries and ``m0``, ``m1`` … for the new messages; absent: the
    messages stand where the first covered item stood."""
    by: DecidedBy | None = None
    trigger: str = ""
    pre_tokens: int | None = None
    post_tokens: int | None = None
    summarizer: Summarizer | None = None
    fell_back_from: str = ""
    inferred: bool = False
    opaque: bool = False
    """The provider keeps the summary encrypted."""
    result: tuple[Entry, ...] | None = None
    """The view after it, as runs, so that a fold may start here."""
    messages: tuple[NewMessage, ...] = ()


class CompactionDeclined(EventBase):
    """A strategy was asked and changed nothing; recorded once until the reason changes."""

    type: Literal["compaction_declined"] = "compaction_declined"
    reason: Literal["no_gain", "empty", "failed", "refused", "inflated", "over_budget"]
    detail: str = ""
    usage: Usage | None = None
    by: DecidedBy | None = None


class DecisionUndone(EventBase):
    """The stream folds as if that decision had not been taken. Names a position or a pass."""

    critical: ClassVar[bool] = True
    type: Literal["decision_undone"] = "decision_undone"
    target: Position | None = None
    pass_id: str = ""
    reason: str = ""

    def model_post_init(self, context: object) -> None:
        """Refuse an undo that names nothing, or two things."""
        if (self.target is None) == (not self.pass_id):
            raise EventInvalid("an undo names either a position or a pass")


class ItemPinned(EventBase):
    """Strategies may not touch the item."""

    type: Literal["item_pinned"] = "item_pinned"
    item: ItemId
    reason: str = ""


class ItemUnpinned(EventBase):
    """Strategies may touch the item again."""

    type: Literal["item_unpinned"] = "item_unpinned"
    item: ItemId


class TaskClassified(EventBase):
    """What kind of task the session is about, for strategies that adapt."""

    type: Literal["task_classified"] = "task_classified"
    task_type: str
    by: str = ""


class SessionRewound(EventBase):
    """The context is again as it was at an earlier position; what lies between stays in the log."""

    critical: ClassVar[bool] = True
    type: Literal["session_rewound"] = "session_rewound"
    to: Annotated[int, Field(ge=0)]
    reason: str = ""
    inferred: bool = False


class RepairApplied(EventBase):
    """What legality changed in a request, so that an old call rebuilds the same for ever.

    Inserted messages are the items ``<position>.0``, ``<position>.1`` …
    """

    critical: ClassVar[bool] = True
    type: Literal["repair_applied"] = "repair_applied"
    rule: str
    dropped: tuple[ItemId, ...] = ()
    renamed: tuple[Rename, ...] = ()
    inserted: tuple[RepairInsert, ...] = ()
    call_ids: tuple[str, ...] = ()
    """The calls that the inserted results answer: a real result that comes later replaces them."""


class RecordingInterrupted(EventBase):
    """Calls happened that could not be recorded."""

    type: Literal["recording_interrupted"] = "recording_interrupted"
    calls_missed: int
    reason: str


class Redacted(EventBase):
    """The text of events was erased. Not positional: they read as skeletons at every position."""

    type: Literal["redacted"] = "redacted"
    item: str = ""
    reason: str = ""
    by: str = ""
    targets: tuple[Skeleton, ...]


class RecordUnrecognized(EventBase):
    """A record of a foreign file that has no effect on the context, kept whole."""

    type: Literal["record_unrecognized"] = "record_unrecognized"
    file: str
    line: int
    offset: int
    kind: Literal["unknown", "unreadable", "known"] = "unknown"
    """``known``: a record type that this importer knows to be no part of any context."""
    raw: str


Event = (
    SessionStarted
    | SessionForked
    | SessionResumed
    | SessionStored
    | SessionTitled
    | SessionDeleted
    | MessageAppended
    | ToolResultRecorded
    | ToolsDeclared
    | PlaceholderSubstituted
    | MessageRevised
    | ContextCompacted
    | CompactionDeclined
    | DecisionUndone
    | ItemPinned
    | ItemUnpinned
    | TaskClassified
    | SessionRewound
    | ModelCalled
    | ModelResponded
    | ModelFailed
    | RepairApplied
    | RecordingInterrupted
    | Redacted
    | RecordUnrecognized
    | ReplyStarted
    | OutputProduced
    | ReplyEnded
    | PermissionsSet
    | PermissionDecided
    | ToolCallStarted
    | ToolGroupsSet
    | FileSeen
    | TasksSet
    | MiddlewareStateSet
    | PromptRendered
    | Remembered
    | MemoryRevised
    | MemoryForgotten
    | MemoryRestored
    | ProfileUpdated
    | MemoryRecalled
)
"""Every event type, bare, so that ``get_args`` and ``match`` work."""

TaggedEvent = Annotated[Event, Field(discriminator="type")]
"""The same union for validation: one keyed look-up by ``type``."""
