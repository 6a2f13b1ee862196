"""What another process appended to the session of a chat, in short."""

from __future__ import annotations

from collections.abc import Iterator

from cli.occurrences import name_of
from cli.saying import preview, said, who
from cli.style import Style, pad_left, plural
from eventlog import StreamKey
from eventlog.errors import WrongExpectedVersion
from eventlog.recorded import RecordedEvent
from projections import Live
from projections.context import ITEM_TYPES
from projections.materialize import original

MOST = 6
"""Events that are shown."""

_FRAME = frozenset(
    {
        "model_called",
        "model_responded",
        "permission_decided",
        "reply_ended",
        "reply_started",
        "session_resumed",
        "tool_call_started",
    }
)
"""What stands around that which was said and done."""


def events_elsewhere(
    live: Live, key: StreamKey, error: WrongExpectedVersion, own: int, style: Style
) -> Iterator[str]:
    """How many events came, and the last of them, a line each; the answer to our ``own`` call may
    stand among them."""
    events = [
        event
        for event in live.log.read(key, error.expected, error.actual)
        if not own or event.data.get("call") != own
    ]
    count = plural(len(events), "event")
    yield style.paint(
        style.line(f"! another process went on with this session: {count} came", style.width),
        "yellow",
    )
    telling = [event for event in events if event.type not in _FRAME]
    shown = telling[-MOST:]
    if len(shown) < len(telling):
        yield style.translated(f"  … {len(telling) - len(shown):,} before these")
    size = max((len(str(event.position)) for event in shown), default=1)
    for event in shown:
        start = f"  {pad_left(str(event.position), size)}  "
        yield start + style.line(_said(live, key, event), style.width - len(start))


def _said(live: Live, key: StreamKey, event: RecordedEvent) -> str:
    item = original(event.position, {event.position: event}) if event.type in ITEM_TYPES else None
    if item is not None:
        return f"{item.tool_name or who(item)}: {preview(item)}"
    return said(event, lambda what: name_of(live, key, what))
