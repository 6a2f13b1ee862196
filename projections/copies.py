"""Where else the text of what is to be erased stands.

reference   summaries of compactions that covered it, and what was made of those
blob        events that share a binary part with it
quote       events that hold a line of it, word for word (``quotes``)
match       events that hold a text that was looked for (``findings``)

What stands in many events, or stood there before the item came, is no quote of it: a reminder that
a harness puts into each result, a licence. So a line in more than five other events is counted and
not listed, and so is one that an earlier event of the session held. An event that holds all of the
item's text is a copy however many there are, and an earlier one that holds half of what is the
item's own is one too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from eventlog.recorded import RecordedEvent, StreamKey
from eventlog.redaction import Target
from projections import spans
from projections.carriers import Carriers
from projections.findings import NEVER, carried
from projections.live import Live
from projections.quotes import LEAST, Quotes, content_in
from projections.spans import Span

How = Literal["reference", "blob", "quote", "match"]

MANY = 5
"""Events in which a line may stand besides the item and be a quote of it."""

_SAID = ("message", "native", "content", "patch", "template_text")

_PLACES = frozenset({"file_seen"})
"""Events that say where something is, and nothing of what was said."""


class Copy(NamedTuple):
    """Another event that holds text of an item, or something made of it."""

    stream: StreamKey
    position: int
    item: str
    """The item that it is a copy of; empty when what is erased is no item."""
    how: How
    shown: str = ""
    """Of a quote, its beginning."""

    @property
    def target(self) -> Target:
        """The event, to be erased."""
        return Target(self.stream, self.position)


class Common(NamedTuple):
    """Lines of what is erased that also stand where they are no quotes of it."""

    lines: int = 0
    events: int = 0
    """Events that hold such lines and are no copies."""


Carrying = Mapping[Target, tuple[str, RecordedEvent]]
"""The events that are to be erased, each with the item that it carries."""


def references(
    carriers: Carriers, stream: StreamKey, items: Sequence[str], carrying: Carrying
) -> list[Copy]:
    """Summaries that were made of the items, what was made of those, and their renditions."""
    found: dict[Target, Copy] = {}
    for item in items:
        made = [(stream, item)]
        for holder, name in made:
            for event, brought in carriers.made_of(holder, name):
                _add(found, carrying, event, item, "reference")
                for summary in brought:
                    if (event.stream, summary) not in made:
                        made.append((event.stream, summary))
                        for rendition in carriers.renditions(event.stream, summary):
                            _add(found, carrying, rendition, item, "reference")
    return list(found.values())


def sharing(live: Live, carrying: Carrying) -> list[Copy]:
    """Events that share a binary part with what is to be erased."""
    found: dict[Target, Copy] = {}
    for target, (item, _) in carrying.items():
        rows = live.log.query(
            "select distinct s.user, s.agent, s.session, e.position from blob_references mine "
            "join blob_references r on r.address = mine.address "
            "join events e on e.sequence = r.sequence join streams s on s.row = e.stream "
            "where mine.sequence = (select sequence from events where stream = ? and position = ?)",
            (live.log.stream(target.stream).row, target.position),
        ).fetchall()
        for user, agent, session, position in rows:
            for event in live.log.at(StreamKey(user, agent, session), [position]).values():
                _add(found, carrying, event, item, "blob")
    return list(found.values())


def _add(
    found: dict[Target, Copy], carrying: Carrying, event: RecordedEvent, item: str, how: How
) -> None:
    target = Target(event.stream, event.position)
    if target not in carrying and not event.erased and event.type not in NEVER:
        found.setdefault(target, Copy(*target, item, how))


# -- quotes -------------------------------------------------------------------------------------


class _Hit(NamedTuple):
    target: Target
    spans: list[Span]
    earlier: bool
    whole: bool


@dataclass(slots=True)
class _Passage:
    """The text of one event that is to be erased, and who holds some of it."""

    item: str
    quotes: Quotes
    said: list[str]
    """All of what was said in it, if that is long enough to be a quote."""
    before: dict[StreamKey, int]
    """Up to where the streams that it belongs to had come when it came."""
    hits: list[_Hit]

    def look(self, event: RecordedEvent, texts: Sequence[str]) -> None:
        """Take note of what the texts of another event quote of this one."""
        found = spans.merged(span for text in texts for span in self.quotes.spans_in(text))
        if found:
            target = Target(event.stream, event.position)
            earlier = event.position <= self.before.get(event.stream, 0)
            whole = bool(self.said) and all(any(s in t for t in texts) for s in self.said)
            self.hits.append(_Hit(target, found, earlier, whole))

    def copies(self) -> dict[Target, str]:
        """The events that are copies, each with what it quotes."""
        partial = [hit for hit in self.hits if not hit.whole]
        many = spans.often((hit.spans for hit in partial), MANY)
        copies = {hit.target: self._longest(hit.spans) for hit in self.hits if hit.whole}
        own = spans.size(spans.without(self._lines(), many))
        strange: list[Span] = []
        for hit in partial:
            if not hit.earlier:
                continue
            fresh = spans.without(hit.spans, many)
            if fresh and 2 * spans.size(fresh) >= own and len(self._longest(fresh)) >= LEAST:
                copies[hit.target] = self._longest(fresh)
            else:
                strange += fresh
        common = spans.merged([*many, *strange])
        for hit in partial:
            fresh = spans.without(hit.spans, common)
            if not hit.earlier and fresh and len(self._longest(fresh)) >= LEAST:
                copies[hit.target] = self._longest(fresh)
        return copies

    def _longest(self, found: Iterable[Span]) -> str:
        return max((self.quotes.text[a:b].strip() for a, b in found), key=len)

    def _lines(self) -> list[Span]:
        lines, at = [], 0
        for line in self.quotes.text.split("\n"):
            if len(line) >= LEAST:
                lines.append((at, at + len(line)))
            at += len(line) + 1
        return lines

    def lines_in(self, found: Sequence[Span]) -> set[str]:
        """The lines of the text of which some of these parts are."""
        text = self.quotes.text
        return {
            text[text.rfind("\n", 0, start) + 1 : end].partition("\n")[0] for start, end in found
        }


def quoting(
    live: Live, carrying: Carrying, scope: Iterable[StreamKey]
) -> tuple[list[Copy], Common]:
    """The events of some streams that quote what is to be erased, and what is no quote."""
    passages = [
        _passage(live, item, event)
        for item, event in carrying.values()
        if not event.erased and not _is_placeholder(event)
    ]
    for key in scope if passages else ():
        for event in live.log.read(key, after=live.log.stream(key).base):
            target = Target(event.stream, event.position)
            if event.erased or target in carrying or event.type in NEVER | _PLACES:
                continue
            texts = [text for _, value in carried(event) for text in content_in(value)]
            for passage in passages:
                passage.look(event, texts)
    found: dict[Target, Copy] = {}
    for passage in passages:
        for target, shown in passage.copies().items():
            found.setdefault(target, Copy(*target, passage.item, "quote", shown[:60]))
    return list(found.values()), _common(passages, found)


def _common(passages: Iterable[_Passage], copies: Mapping[Target, Copy]) -> Common:
    lines: set[str] = set()
    events: set[Target] = set()
    for passage in passages:
        for hit in passage.hits:
            if hit.target not in copies:
                events.add(hit.target)
                lines |= passage.lines_in(hit.spans)
    return Common(len(lines), len(events))


def _passage(live: Live, item: str, event: RecordedEvent) -> _Passage:
    values = [value for name, value in carried(event) if name == item or not item]
    said = [
        text.strip()
        for value in values
        for text in content_in({name: value[name] for name in _SAID if name in value} or value)
    ]
    before, info = {event.stream: event.position - 1}, live.log.stream(event.stream)
    while info.parent is not None:
        before[info.parent] = info.base
        info = live.log.stream(info.parent)
    return _Passage(
        item=item,
        quotes=Quotes(text for value in values for text in content_in(value)),
        said=[text for text in said if text] if sum(map(len, said)) >= LEAST else [],
        before=before,
        hits=[],
    )


def _is_placeholder(event: RecordedEvent) -> bool:
    """Whether its text stands for another and says nothing itself, so that it is no quote."""
    kind: Any = event.data.get("kind", "cleared")
    return event.type == "placeholder_substituted" and kind != "cut"
