"""Which prompts and tools were in force at which call. Pure: a stream's events in, once.

A prompt is an item by which a session was told how to behave: one whose text was rendered from a
template, which ``PromptRendered`` says, or a system prompt that came as text. Where the request of
a call was recorded, what its manifest names was in force; else what stands in the fold.

    12        PromptRendered(item=12)                  the original of 12 is a rendered prompt
    12@340    MessageRevised(12), PromptRendered(12)   it was rendered anew
    12@400    MessageRevised(12)                       somebody wrote over it: text, no template

A ``PromptRendered`` belongs to the bytes of its item that came last before it, since both are one
append; where it stands in front of them, to those right behind it. A later one that belongs to the
same bytes says that another template gave them from there on.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from eventlog.errors import CriticalUnknown
from eventlog.jsonvalue import dumps
from eventlog.messages import SYSTEM_ROLES
from eventlog.recorded import RecordedEvent
from projections.context import DECISIONS, ITEM_TYPES
from projections.expanding import Expanded, expand
from projections.folding import Folding
from projections.forms import canonical
from projections.items import Item
from projections.manifest import kept
from projections.materialize import original, rendered
from projections.runs import Origin, Standing, origin, position_of

_CARRYING = frozenset({"message_appended", "context_compacted", "repair_applied"})
_NEEDED = DECISIONS | _CARRYING | {"prompt_rendered", "tools_declared", "model_called"}


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, as it stood in a context."""

    item: Item
    """In the rendition that stood."""
    event: RecordedEvent | None = None
    """The ``PromptRendered``; None for a text that no template gave."""

    @property
    def is_erased(self) -> bool:
        """Whether its text is gone."""
        return self.item.form == "redacted"

    @property
    def text(self) -> str:
        """What the model was given; empty where that was erased."""
        return "" if self.is_erased else self.item.text

    @property
    def template(self) -> str:
        """The name of the template; empty where there was none."""
        return self._said("template")

    @property
    def role(self) -> str:
        """The role that the template was filled in for."""
        return self._said("role")

    @property
    def version(self) -> str:
        """Of the template, as it named it."""
        return self._said("version")

    @property
    def template_text(self) -> str:
        """The text of the template."""
        return self._said("template_text")

    @property
    def variables(self) -> Mapping[str, Any]:
        """What it was filled in with."""
        found = self.event.data.get("variables") if self.event is not None else None
        return found if isinstance(found, dict) else {}

    @property
    def label(self) -> str:
        """``review/coder v2``; empty for a text that no template gave."""
        name = f"{self.template}/{self.role}" if self.role else self.template
        return f"{name} v{self.version}" if self.version else name

    @property
    def key(self) -> tuple[str, ...]:
        """What two prompts share that are the same."""
        if self.is_erased:
            return ("erased", self.item.rendition)
        if self.event is None:
            return ("text", self.item.role, self.text)
        named = (self.template, self.role, self.version, self.template_text)
        return ("rendered", *named, canonical(self.variables), self.text)

    def _said(self, name: str) -> str:
        value = self.event.data.get(name) if self.event is not None else ""
        return value if isinstance(value, str) else ""


class Tools(NamedTuple):
    """The tools at a place."""

    definitions: Any = None
    """As they were declared; None where there were none, or nobody wrote them down."""
    position: int | None = None
    """Of their declaration."""
    is_known: bool = True
    """Whether it is known that there were these and no others."""
    is_erased: bool = False


class InForce(NamedTuple):
    """What was in force at one place."""

    call: int
    """Its number; 0 where the place is no call."""
    position: int
    """Of the ``ModelCalled``; else the place itself."""
    prompts: tuple[Prompt, ...]
    """In the order of the context."""
    tools: Tools
    is_sent: bool = True
    """Whether it rests on what was sent; else on the context as folded."""


class Told(NamedTuple):
    """What a session was told, from its first call on."""

    calls: list[InForce]
    places: dict[int, InForce]
    """What stood after each position that was asked for."""
    unused: list[Prompt]
    """Rendered, and shown to no model yet."""


def told(events: Iterable[RecordedEvent], places: Collection[int] = ()) -> Told:
    """What each call of a stream was told, and what stood after some positions.

    ``events`` are those of the stream from its first position on, or its first part: ``places``
    lie inside. Raises CriticalUnknown where a context has to be folded that nobody knows.
    """
    light = [_light(event) for event in events]
    prompts = _Prompts(light)
    walk = _Walk(prompts)
    calls: list[InForce] = []
    found: dict[int, InForce] = {}
    if 0 in places:
        found[0] = walk.after(0)
    for event in light:
        if event.type == "model_called":
            calls.append(walk.called(event, len(calls) + 1))
        walk.take(event)
        if event.position in places:
            found[event.position] = walk.after(event.position)
    shown = {_position(prompt) for call in calls for prompt in call.prompts}
    return Told(calls, found, [p for p in prompts.rendered() if _position(p) not in shown])


def _position(prompt: Prompt) -> int:
    return prompt.event.position if prompt.event is not None else 0


def _light(event: RecordedEvent) -> RecordedEvent:
    """The event without a text that nothing here reads: a session may be held in memory whole."""
    if event.type in _NEEDED:  # of a message nobody knows yet whether it was rendered
        return event
    if event.type not in ITEM_TYPES:
        return event.without_text("{}")
    kept = ((name, event.data.get(name)) for name in ("after", "tool_call_id"))
    return event.without_text(dumps({name: value for name, value in kept if value is not None}))


def _may_tell(event: RecordedEvent) -> bool:
    return any(f'"{role}"' in event.payload for role in SYSTEM_ROLES)


class _Prompts:
    """The prompts of a stream, by the item and the event that carries its bytes."""

    def __init__(self, events: Sequence[RecordedEvent]) -> None:
        self._events = {event.position: event for event in events if event.type in _CARRYING}
        self._events |= {e.position: e for e in events if e.type in DECISIONS}
        self._rendered: dict[Standing, list[RecordedEvent]] = {}
        self._made: dict[tuple[Standing, int], Prompt | None] = {}
        self.items: set[Origin] = set(self._telling(events))
        """Those that may be prompts."""
        self._pair(events)

    def _telling(self, events: Iterable[RecordedEvent]) -> Iterable[Origin]:
        for event in events:
            if event.type == "message_appended" and _may_tell(event):
                yield event.position
            elif event.type in ("context_compacted", "repair_applied"):
                field = "messages" if event.type == "context_compacted" else "inserted"
                yield from (f"{event.position}.{n}" for n in range(len(event.data.get(field, ()))))

    def _pair(self, events: Iterable[RecordedEvent]) -> None:
        carried: dict[Origin, list[int]] = {}
        given: list[RecordedEvent] = []
        for event in events:
            if event.type in ("message_revised", "placeholder_substituted"):
                carried.setdefault(origin(event.data["item"]), []).append(event.position)
            elif event.type == "prompt_rendered":
                given.append(event)
        for event in given:
            item = origin(event.data["item"])
            came = position_of(item)
            places = [came, *carried.get(item, ())]
            at = bisect_left(places, event.position)
            rendition = places[at - 1] if at else None
            behind = at < len(places) and places[at] == event.position + 1
            if rendition is None or (behind and self._standing(item, rendition) in self._rendered):
                rendition = places[at] if behind else None
            if rendition is not None:
                self._rendered.setdefault(self._standing(item, rendition), []).append(event)
                self.items.add(item)

    @staticmethod
    def _standing(item: Origin, carrier: int) -> Standing:
        return item, 0 if carrier == position_of(item) else carrier

    def of(self, standing: Standing, position: int) -> Prompt | None:
        """The prompt that an item is in a rendition, as it is told up to a position; None where it
        is none."""
        given = self._rendered.get(standing, ())
        event = next((e for e in reversed(given) if e.position <= position), None)
        if event is None and given:
            event = given[0]
        return self._of(standing, event)

    def _of(self, standing: Standing, event: RecordedEvent | None) -> Prompt | None:
        key = standing, event.position if event is not None else 0
        if key not in self._made:
            self._made[key] = self._make(standing, event)
        return self._made[key]

    def _make(self, standing: Standing, event: RecordedEvent | None) -> Prompt | None:
        item, rendition = standing
        made = original(item, self._events) if item in self.items else None
        if made is None:
            return None
        if rendition and rendition in self._events:
            made = rendered(made, rendition, self._events)
        is_told = made.role in SYSTEM_ROLES and not made.is_summary and made.source != "memory"
        if event is None and not is_told:
            return None
        return Prompt(made, event)

    def rendered(self) -> list[Prompt]:
        """All that a template gave, in the order in which they were rendered."""
        every = [(standing, e) for standing, given in self._rendered.items() for e in given]
        every.sort(key=lambda each: each[1].position)
        return [made for each in every if (made := self._of(*each)) is not None]


class _Walk:
    """A stream, as far as it was read."""

    def __init__(self, prompts: _Prompts) -> None:
        self._prompts = prompts
        self._folding = Folding()
        self._unknown: CriticalUnknown | None = None
        self._places: list[int] = []
        self._before: Expanded | None = None
        self._declared: dict[int, RecordedEvent] = {}
        self._named: int | None = None
        """The declaration that holds."""
        self._sent: list[tuple[int, Standing]] = []
        """Of the last manifest: what may be prompts, each with the number of its entry."""
        self._stood: dict[frozenset[Standing], tuple[Prompt, ...]] = {}
        """The prompts of the fold, by what of them stands, as long as that keeps its order."""

    def take(self, event: RecordedEvent) -> None:
        """The next event."""
        if event.type in ITEM_TYPES:
            self._places.append(event.position)
        elif event.type == "tools_declared":
            self._declared[event.position] = event
            self._named = event.position
        elif event.type == "model_called":
            self._named = self._tools_of(event)
        if event.type in DECISIONS or event.type == "prompt_rendered":
            self._stood.clear()
        if self._unknown is None:
            try:
                self._folding.take(event)
            except CriticalUnknown as error:
                self._unknown = error

    def called(self, event: RecordedEvent, number: int) -> InForce:
        """What the call that comes next is told."""
        expanded = expand(event, self._before, self._between)
        named = self._tools_of(event)
        if expanded is None:
            prompts = self._standing(event.position)
        else:
            there = len(self._before.entries) if self._before is not None else 0
            self._before = expanded
            same = min(kept(event.data["manifest"]), there)
            prompts = self._those(self._named_in(expanded, same), event.position)
        tools = self._tools(named, is_sent=expanded is not None)
        return InForce(number, event.position, prompts, tools, expanded is not None)

    def after(self, position: int) -> InForce:
        """What stands here."""
        return InForce(0, position, self._standing(position), self._tools(self._named), False)

    def _standing(self, position: int) -> tuple[Prompt, ...]:
        if self._unknown is not None:
            raise self._unknown
        items = self._folding.view.items
        there = frozenset((item, items[item]) for item in self._prompts.items if item in items)
        if there not in self._stood:
            wanted = self._prompts.items
            named = (each for each in items.items() if each[0] in wanted)
            self._stood[there] = self._those(named, position)
        return self._stood[there]

    def _named_in(self, expanded: Expanded, same: int) -> Iterable[Standing]:
        """What may be prompts in a manifest that begins with so many entries of the one before."""
        wanted = self._prompts.items
        while self._sent and self._sent[-1][0] >= same:
            self._sent.pop()
        for number, entry in enumerate(expanded.entries[same:], same):
            self._sent += [(number, p.standing) for p in entry if p.item in wanted]
        return (standing for _, standing in self._sent)

    def _those(self, standing: Iterable[Standing], position: int) -> tuple[Prompt, ...]:
        made = (self._prompts.of(each, position) for each in dict.fromkeys(standing))
        return tuple(prompt for prompt in made if prompt is not None)

    def _between(self, low: int, high: int) -> list[int]:
        return self._places[bisect_left(self._places, low) : bisect_right(self._places, high)]

    def _tools_of(self, call: RecordedEvent) -> int | None:
        """The declaration that holds at a call: the one it names; where its request was not
        recorded, else the last."""
        named = call.data.get("tools")
        if isinstance(named, int) or call.data.get("manifest") is not None:
            return named if isinstance(named, int) else None
        return self._named

    def _tools(self, named: int | None, *, is_sent: bool = False) -> Tools:
        event = self._declared.get(named) if named is not None else None
        if event is None:
            return Tools(is_known=is_sent)
        return Tools(event.data.get("definitions"), event.position, True, event.erased)
