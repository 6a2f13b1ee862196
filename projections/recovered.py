"""Messages that quote originals which had left a context: how they are written, and read again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from eventlog.recorded import StreamKey
from projections.items import Item
from projections.live import Live


class Original(NamedTuple):
    """An item that is quoted whole."""

    item: str
    who: str
    text: str


def written(sentences: Iterable[Original], originals: Iterable[Original]) -> str:
    """The text of the message: as they were, with where they are from."""
    lines = ["Recovered from earlier in this conversation, word for word:"]
    lines += [f"- {one.text} (item {one.item}, {one.who})" for one in sentences]
    lines += [f"\n{_heading(one.item)}{one.who}]\n{one.text}" for one in originals]
    return "\n".join(lines)


def _heading(item: str) -> str:
    return f"[item {item}, "


def stands_in(live: Live, stream: StreamKey, item: Item, at: int) -> tuple[str, ...]:
    """The other items of the context at a position that hold the whole text of an item.

    That is one with the same text, or a message that quotes it whole.
    """
    if not item.text.strip():
        return ()
    return tuple(_holding(live.items(stream, at), item))


def _holding(context: Sequence[Item], item: Item) -> Iterable[str]:
    for other in context:
        if other.id != item.id and (other.text == item.text or _quotes(other, item)):
            yield other.rendition


def _quotes(message: Item, item: Item) -> bool:
    if not message.is_recovered:
        return False
    text = message.text
    return _heading(item.id) in text and all(part.text in text for part in item.parts)
