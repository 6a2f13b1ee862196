"""A strategy, applied to a plain list of messages: for whoever keeps no log yet.

What comes back is what a session would show that these messages were said in. Nothing is recorded,
so what left is gone for good: the originals are the caller's to keep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eventlog.events import Event, MessageAppended, Source, ToolResultRecorded
from eventlog.jsonvalue import Json
from eventlog.recorded import StreamKey
from projections.dialects import dialect
from projections.legality import sendable
from projections.materialize import original
from projections.observe import draft_at
from projections.running import InCharge
from projections.strategies.base import Strategy
from projections.strategies.spec import parse
from projections.tokens import count_item, counter
from projections.written import Summarize

_NOWHERE = StreamKey("-", "-", "-")

_SOURCES: dict[str, Source] = {"user": "human", "assistant": "model"}


def applied(
    messages: Sequence[Mapping[str, Any]],
    strategy: str | Sequence[Strategy],
    summarize: Summarize | None = None,
) -> list[dict[str, Any]]:
    """The messages of OpenAI's chat, as the strategy would have them sent now.

    The strategy is asked at each message as it came, and once more at the end. The result is made
    legal, as any request is. Raises InputRefused for an unknown strategy, EventInvalid for what is
    no message, NoContext where nothing is left to send.
    """
    strategies = parse(strategy) if isinstance(strategy, str) else tuple(strategy)
    counting = counter()
    runner = InCharge(strategies, counting, summarize=summarize)
    position = 1
    for message in messages:
        item = original(position, {position: draft_at(_event(message), _NOWHERE, position)})
        assert item is not None
        around = runner.came(item, count_item(counting, item), position)
        position = around.position + len(around.after) + 1
    runner.begin(position)
    runner.ask_all(position, {"user_turn"})
    runner.calls(position + len(runner.deciding.events))
    request = dialect("openai_chat").render(sendable(runner.items()).items, None, None)
    return [dict(message) for message in request["messages"]]


def _event(message: Mapping[str, Any]) -> Event:
    role = message.get("role")
    if role == "tool":
        call = message.get("tool_call_id")
        return ToolResultRecorded(
            tool_call_id=call if isinstance(call, str) else "",
            dialect="openai_chat",
            native=Json(dict(message)),
        )
    source = _SOURCES.get(role, "injected") if isinstance(role, str) else "injected"
    return MessageAppended(dialect="openai_chat", source=source, message=Json(dict(message)))
