"""What a conversation tells whoever listens, while it happens. Each is in the log already, but for
the pieces of an answer that is still coming."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from eventlog.events import Usage
from projections.applying import Change
from projections.memory.memory import Memory


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an answer as it comes in."""

    text: str
    kind: Literal["text", "reasoning", "refusal"] = "text"


@dataclass(frozen=True, slots=True)
class Changed:
    """The strategy changed the context."""

    changes: tuple[Change, ...]
    tokens: int
    """Of the context after it, as the strategy counts."""


@dataclass(frozen=True, slots=True)
class Calling:
    """A request went out."""

    position: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Answered:
    """A model answered."""

    position: int
    """Of the item; 0 where it said nothing."""
    text: str
    calls: int
    """Tool calls that it makes."""
    finish_reason: str
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class CallFailed:
    """A request brought no answer."""

    error: str
    is_tried_again: bool


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """A tool is about to run."""

    tool_call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool gave its result."""

    position: int
    tool_call_id: str
    name: str
    content: str
    is_error: bool
    duration_ms: int | None


@dataclass(frozen=True, slots=True)
class Ended:
    """The reply came to its end."""

    outcome: Literal["answered", "interrupted", "failed", "exhausted"]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class MemoriesShown:
    """Memories came into the context, or left it since they are forgotten or say something else."""

    position: int
    """Of the message that shows them; 0 where nothing came in, or one was renewed in its place."""
    memories: tuple[Memory, ...] = ()
    """That came in."""
    profile: int = 0
    """The position that the profile was made of; 0: none came in."""
    left_out: tuple[Memory, ...] = ()
    """For which there was no room."""
    gone: tuple[str, ...] = ()
    """As they had been shown: ``12``, or ``12@40`` as revised by event 40."""
    fault: str = ""
    """Why the embedder was not asked, and words alone were compared."""


@dataclass(frozen=True, slots=True)
class MemoriesChanged:
    """Something was learned of the session, and stands among the memories of the person."""

    memories: tuple[Memory, ...] = ()
    """That are new, as they are now: another one may stand in the place of one."""
    profile: tuple[str, ...] = ()
    """What was said of the person, or counted: ``basics.name``."""


@dataclass(frozen=True, slots=True)
class NotRemembered:
    """Something could not be learned; it is tried again when the session is gone on with."""

    error: str


Happening = (
    Piece
    | Changed
    | Calling
    | Answered
    | CallFailed
    | ToolCalled
    | ToolEnded
    | Ended
    | MemoriesShown
    | MemoriesChanged
    | NotRemembered
)
