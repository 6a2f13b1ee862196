"""A request that is about to go out, as far as it was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eventlog.jsonvalue import Json
from eventlog.messages import Dialect
from projections.dialects import RequestEntry
from projections.dialects import dialect as dialect_of

MESSAGES = {"openai_chat": "messages", "openai_responses": "input", "anthropic": "messages"}
"""By dialect: the field of a request that holds the conversation."""

TOLD_BY = "told_by"
"""A parameter that no request has on its way: a framework told of the call, as it gave it to the
model. What the provider was sent is made of that."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, as far as it was read."""

    dialect: Dialect
    fields: Mapping[str, Any]
    """Everything but the list of messages."""
    messages: Sequence[Any]
    wire: bytes
    """The whole as it goes out."""
    kept: int = 0
    """How many messages stand at its front that the last request of this stream had there, to the
    byte; 0 where nobody looked."""
    same: int = 0
    """How many bytes at its front are those of the last request."""
    end: int = 0
    """Where its last message ends, in bytes; 0 where nobody looked."""
    front: int = 0
    """How many of its fields stand before the list of messages."""
    is_listed: bool = True
    """Whether there is a list of messages, be it empty."""
    url: str = ""
    """Where it goes, and nothing secret; empty where nobody knows."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Those of its headers that are kept."""
    is_whole: bool = True
    """Whether nothing was left out of it, as keys are."""

    @property
    def is_wire(self) -> bool:
        """Whether these are the bytes that went out."""
        return TOLD_BY not in self.fields

    @property
    def body(self) -> dict[str, Any]:
        """The whole request."""
        name = MESSAGES[self.dialect]
        if name in self.fields:  # not a list, but a text, or what no model is asked with
            return dict(self.fields)
        return {**self.fields, name: list(self.messages)}

    def places(self, parameters: Mapping[str, Any]) -> dict[str, int]:
        """At which places among all fields those stand that are no parameters."""
        names, name = list(self.fields), MESSAGES[self.dialect]
        if name not in self.fields and self.is_listed:
            names.insert(self.front, name)
        return {name: at for at, name in enumerate(names) if name not in parameters}

    @property
    def fresh(self) -> tuple[RequestEntry, ...]:
        """The entries of what is new in it."""
        messages = {MESSAGES[self.dialect]: list(self.messages[self.kept :])}
        found = dialect_of(self.dialect).from_request(messages)
        return tuple(entry.behind(self.kept) for entry in found)

    def sent(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """What is recorded of it because it was seen to go out, beside what it holds."""
        headers = Json(dict(self.headers)) if self.headers else None
        return {"url": self.url, "headers": headers, "places": Json(self.places(parameters))}
