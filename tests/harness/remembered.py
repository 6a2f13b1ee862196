"""Conversations with a memory, and what the server really received of it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

from conversing import holds
from model_server import ModelServer

from harness.conversation import Conversation
from harness.memory import UserMemory
from projections import Live
from projections.audit.auditing import audit
from projections.dialects import dialect
from projections.legality import sendable
from projections.memory.embedding import TextKind


class Letters:
    """Texts to the words that they hold, hashed: needs nothing, and is no good at meaning."""

    name, dimension, floor = "letters/1", 64, 0.05

    def __init__(self) -> None:
        self.fault: BaseException | None = None
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], kind: TextKind) -> Sequence[Sequence[float]]:
        if self.fault is not None:
            raise self.fault
        self.asked += texts
        return [_vector(text) for text in texts]


def _vector(text: str) -> list[float]:
    found = [0.0] * Letters.dimension
    for word in text.casefold().split():
        found[zlib.crc32(word.encode()) % Letters.dimension] += 1.0
    size = sum(number * number for number in found) ** 0.5
    return [number / size for number in found] if size else found


def memory_of(live: Live, user: str = "local", **given: Any) -> UserMemory:
    return UserMemory(live, user, **{"embedder": Letters(), **given})


def talking(live: Live, server: ModelServer, session: str, **given: Any) -> Conversation:
    """A conversation with a memory, and a system prompt."""
    memory = given.pop("memory", None) or memory_of(live)
    settings = {"system": "You help.", "memory": memory, **given}
    return Conversation(live, server.client(), "m", session=session, **settings)


def received(server: ModelServer, call: int = -1) -> list[dict[str, Any]]:
    """The messages of a streamed request, as they came over the wire."""
    asked = [each for each in server.requests if each.get("stream")]
    found: list[dict[str, Any]] = asked[call]["messages"]
    return found


def shown(messages: Sequence[dict[str, Any]]) -> str:
    """What messages of a memory say among those of a request."""
    said = [m["content"] for m in messages if m["role"] == "system"]
    return "\n".join(text for text in said if text.startswith("Kept from earlier"))


def proved(of: Conversation) -> None:
    """Each call is exact, and the audit finds nothing wrong with the memories before it."""
    holds(of)
    found = audit(of.live, of.key).findings
    assert [
        each.message for each in found if each.rule == "memories" and each.severity != "info"
    ] == []
    for name in ("anthropic", "openai_responses"):
        told = dialect(name)
        assert told.validate(told.render(sendable(of.items()).items)) == []
