"""What came back from a model, whatever its provider calls it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eventlog import Json
from eventlog.events import ModelResponded, Origin, Usage
from eventlog.messages import Dialect, calls


@dataclass(frozen=True, slots=True)
class Answer:
    """A message that a model gave, and how it ended."""

    message: dict[str, Any]
    """As a client sends it back."""
    is_said: bool = True
    """Whether anything is in it. A message of nothing no client sends back."""
    id: str = ""
    model: str = ""
    finish_reason: str = ""
    usage: Usage | None = None
    alternatives: tuple[Json, ...] = ()
    edits: tuple[str, ...] = ()
    """What the provider did to the request before the model saw it."""
    rest: Mapping[str, Any] = field(default_factory=dict)
    """What no event holds."""

    def responded(self, call: int, origin: Origin | None = None) -> ModelResponded:
        """The end of the call that it answers."""
        return ModelResponded(
            call=call,
            response_id=self.id,
            finish_reason=self.finish_reason,
            model=self.model,
            usage=self.usage,
            alternatives=self.alternatives,
            origin=origin,
        )


def text_of(value: object) -> str:
    """The value when it is a string, else nothing."""
    return value if isinstance(value, str) else ""


def texts_of(message: Mapping[str, Any]) -> list[str]:
    """The texts in a message whose content is a text or blocks."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    found = [b.get("text") for b in blocks if isinstance(b, dict) and b.get("type") == "text"]
    return [text for text in found if isinstance(text, str)]


def paired(dialect: Dialect, message: Mapping[str, Any], place: str) -> list[tuple[str, str, str]]:
    """(id, name, what it is paired by) of the tool calls in a message; one without an id is paired
    by its place."""
    return [(c.id, c.name, c.id or f"@{place}") for c in calls(dialect, message)]
