"""A request, and what the log says before it: all that reading it may look at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from eventlog.messages import Dialect
from projections import forms
from projections.context import View
from projections.dialects.entries import RequestEntry
from projections.items import Item
from projections.manifest import Piece, SentAs
from projections.runs import Origin


@dataclass(frozen=True, slots=True)
class Earlier:
    """A call of the past, as far as branches need it."""

    position: int
    sent: Sequence[SentAs]
    """The entries of its manifest, and maybe those of later calls that went on from it."""
    size: int
    """How many of them are its own."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces of its entries."""
        return tuple(piece for entry in islice(self.sent, self.size) for piece in entry)


@dataclass(frozen=True, slots=True)
class Undone:
    """What would stand if some compactions had not been."""

    compactions: Sequence[int]
    """Their positions, the newest first."""
    view: View
    items: Sequence[Item]


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a model, split into entries."""

    dialect: Dialect
    model: str
    entries: tuple[RequestEntry, ...]
    tools: Any = None
    """The tool definitions as sent; None when the request has none."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Everything else in it."""
    belongs: bool = False
    """Whether it is known to be a call of this conversation, whatever it holds."""
    said: Sequence[Sequence[str]] = ()
    """Lines of what was answered beside the conversation: it may be summed up with them."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the log says before the request: all that ``observe`` may look at."""

    version: int
    view: View
    items: Sequence[Item]
    """The items of the view, in order, as folded; an answer of several parts as each of them."""
    calls: Callable[[], Sequence[Earlier]] = tuple
    """Earlier calls with a manifest, the newest last; asked for only where items are gone."""
    tools: Sequence[tuple[int, str]] = ()
    """(position, canonical definitions) of the declared tools, the newest last."""
    asked: Collection[tuple[int | None, str]] = ()
    """With which tools and of which models it was asked so far."""
    answers: Callable[[int], Sequence[Item]] = lambda call: ()
    """What came back to a call, as it was given, whether it stands or not."""
    renditions: Callable[[Origin], Sequence[tuple[int, Item]]] = lambda item: ()
    """Earlier renditions of an item that are in force beneath the present one, the newest first."""
    sent: Callable[[Earlier], Iterable[Item]] = lambda call: ()
    """The items of an earlier call in the renditions that it sent."""
    keys: Callable[[Iterable[Piece]], Iterable[int]] = lambda pieces: ()
    """The hashes of the keys of pieces."""
    stood: Callable[[Iterable[int]], bool] = lambda keys: False
    """Whether an item whose key has one of these hashes came in, and does not stand now."""
    at: Callable[[int], View] = lambda position: View()
    """What stood after a position."""
    undone: Callable[[], Iterable[Undone]] = tuple
    """What would stand if the last compaction had not been, the last two, and so on."""


def tools_position(tools: Sequence[tuple[int, str]], definitions: Any) -> int | None:
    """Where these definitions were declared last; None where there are none, -1 where they were
    never declared."""
    if definitions is None:
        return None
    text = forms.canonical(definitions)
    for position, declared in reversed(tools):
        if declared == text:
            return position
    return -1
