"""What had come of an answer that never came to its end.

It stands in no context: only the next request says whether the agent kept it.
"""

from __future__ import annotations

from collections.abc import Sequence

from eventlog import messages
from eventlog.messages import Part
from eventlog.recorded import RecordedEvent
from projections.items import Item


def partial_of(event: RecordedEvent) -> Item | None:
    """What had come of the answer when the call failed, as if it were an item; None where nothing
    had come, or it was erased."""
    new = event.data.get("partial") if event.type == "model_failed" else None
    if new is None:
        return None
    return Item(
        id=str(event.position),
        rendition=str(event.position),
        kind="message",
        dialect=new["dialect"],
        role=messages.role(new["dialect"], new["message"]),
        message=new["message"],
        source="model",
        call=event.data.get("call"),
    )


def length(item: Item) -> int:
    """How many characters had come: of what was said, thought and written for tools."""
    return sum(len(part.text) for part in item.parts)


def is_echo(partial: Item, message: Sequence[Part]) -> bool:
    """Whether a message is what a client kept of it: it may have read less of it than went over the
    wire, and it may have marked where the answer broke off."""
    came, kept = _said(partial.parts), _said(message)
    return bool(came and kept) and (came.startswith(kept) or kept.startswith(came))


def _said(parts: Sequence[Part]) -> str:
    return "".join(part.text for part in parts if part.kind == "text").strip()
