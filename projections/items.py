"""What stands in a context: one item, in the rendition that is in force.

Pure data. ``legality`` and the dialects take a sequence of these; nothing here knows where they
came from. An item's id is its origin and never changes; its rendition says which bytes are in
force.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from eventlog import messages
from eventlog.messages import Part

T = TypeVar("T")
Fact = Literal["_parts", "_role", "_calls", "_results", "_error", "_decision", "_diff", "_anchors"]


OBSERVATION = "observation"
"""The label of what a tool gave back where the agent has no tool calls, only text: a message of the
user. It has no call id, so its place tells which it is."""

RECOVERED = "recovered"
"""The label of a message with which originals were put back into a context."""

RenditionKind = Literal["original", "cut", "cleared", "deduplicated", "revised", "redacted"]


@dataclass(frozen=True, slots=True)
class Item:
    """One message-like entry of a context."""

    id: str
    """Its origin: ``12``, or ``57.0`` for a message of compaction 57."""
    rendition: str
    """``12`` for the original, ``12@340``, ``12@redacted``."""
    kind: Literal["message", "tool_result", "summary", "repair"]
    """``summary`` is a message that a compaction brought in, ``repair`` one of a RepairApplied."""
    dialect: str
    role: str
    """system, developer, user, assistant or tool; a tool result has ``tool`` in every dialect."""
    message: Mapping[str, Any]
    """The native message; of a tool result the block, item or ``tool`` message. Read-only."""
    source: str = "injected"
    """human, model, retrieval, memory, injected, tool."""
    label: str = ""
    form: RenditionKind = "original"
    call: int | None = None
    """Of an answer: the position of its ModelCalled."""
    tool_name: str = ""
    is_error: bool = False
    """Of a tool result: whether it was recorded as an error; not every dialect says so in it."""
    pinned: bool = False
    part: int | None = None
    """Which of the parts of an answer it is, where it is one of several."""
    siblings: int = 0
    """How many parts that answer has."""
    # What was worked out of it: another item, made of it with ``replace``, works out its own.
    _parts: Any = field(default=None, init=False, repr=False, compare=False)
    _role: Any = field(default=None, init=False, repr=False, compare=False)
    _calls: Any = field(default=None, init=False, repr=False, compare=False)
    _results: Any = field(default=None, init=False, repr=False, compare=False)
    _error: Any = field(default=None, init=False, repr=False, compare=False)
    _decision: Any = field(default=None, init=False, repr=False, compare=False)
    _diff: Any = field(default=None, init=False, repr=False, compare=False)
    _anchors: Any = field(default=None, init=False, repr=False, compare=False)

    def __deepcopy__(self, memo: object) -> Item:
        """Itself: it never changes."""
        return self

    @property
    def is_summary(self) -> bool:
        """Whether a compaction wrote it; a copy of what was said before, which some agents bring in
        again, keeps its speaker or its label."""
        brought = self.kind == "summary" and self.source == "injected"
        return brought and self.label in ("", "summary")

    def once(self, name: Fact, work: Callable[[Item], T]) -> T:
        """What ``work`` says of this item, asked once: many strategies look at the same items."""
        found: T | None = getattr(self, name)
        if found is None:
            found = work(self)
            object.__setattr__(self, name, found)
        return found

    @property
    def parts(self) -> tuple[Part, ...]:
        """The message as neutral parts."""
        return self.once("_parts", _parts)

    @property
    def text(self) -> str:
        """Everything readable in it: text, thinking, call arguments, results."""
        return "\n".join(part.text for part in self.parts if part.text)

    @property
    def call_ids(self) -> tuple[str, ...]:
        """The ids of the tool calls it makes."""
        return tuple(part.id for part in self.parts if part.kind == "call")

    @property
    def result_ids(self) -> tuple[str, ...]:
        """The ids of the calls it answers."""
        return tuple(part.id for part in self.parts if part.kind == "result")

    @property
    def is_human(self) -> bool:
        """Whether a person typed it: not a tool result, a summary or injected text."""
        return self.source == "human" and self.kind == "message" and not self.result_ids

    @property
    def is_spoken(self) -> bool:
        """Whether a person or the model said it: not what a tool returned, or a program put in."""
        return self.is_human or self.source == "model"

    @property
    def is_recovered(self) -> bool:
        """Whether it quotes what had left: nobody needed that there."""
        return self.source == "injected" and self.label == RECOVERED


def _parts(item: Item) -> tuple[Part, ...]:
    if item.kind == "tool_result":
        return messages.result_parts(item.dialect, item.message)
    return messages.parts(item.dialect, item.message)
