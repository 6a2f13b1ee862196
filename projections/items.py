"""What stands in a context: one item, in the rendition that is in force.

Pure data. ``legality`` and the dialects take a sequence of these; nothing here knows where they
came from. An item's id is its origin and never changes; its rendition says which bytes are in
force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from eventlog import messages
from eventlog.messages import Part

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
    pinned: bool = False
    _parts: list[tuple[Part, ...]] = field(default_factory=list, repr=False, compare=False)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The message as neutral parts, made once."""
        if not self._parts:
            if self.kind == "tool_result":
                self._parts.append(messages.result_parts(self.dialect, self.message))
            else:
                self._parts.append(messages.parts(self.dialect, self.message))
        return self._parts[0]

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
