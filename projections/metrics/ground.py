"""What is the same for every strategy over one session, found once: what each call needed.

For call k, a literal of its answer is *needed* when it occurred in what the harness had then, after
the leading system messages, and neither those nor the first task hold it. Its *distance* is the
number of calls since its last occurrence. "What the harness had" is the context that no compaction
would ever have touched: after a rewind, without what was taken back.

Literals are the anchors of the answers (see ``projections.anchors``). They are looked for in the
text of every item as whole words, so no text but the answers' is searched for anchors.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections import Counter as Counting
from collections.abc import Iterable, Sequence

from projections.anchors import Anchor, item_anchors
from projections.items import Item
from projections.metrics.actions import Action, action
from projections.metrics.facts import CallFacts, Need, Rendition, Repeat, shape
from projections.metrics.keepers import keepers
from projections.metrics.mentions import Mentions, texts
from projections.reading import calls_of, is_system, results_of
from projections.recording import Answer, Recording, Step
from projections.runs import Origin
from projections.said import Said, is_told
from projections.tokens import Counter, count_item
from projections.usage import usage_totals

_MOST = 4_096
"""Digests whose mentions are kept."""


class Ground:
    """The facts of one recording."""

    def __init__(
        self, recording: Recording, counting: Counter, also: Iterable[Anchor] = ()
    ) -> None:
        """``also``: literals to be looked for beside those of the answers."""
        self.recording = recording
        self.counting = counting
        self.items: dict[Origin, Step] = {
            step.origin: step for step in recording.steps if step.kind == "item"
        }
        self.calls: list[CallFacts] = []
        self.dialect = _dialect(recording)
        """In which most of its answers were given."""
        self.standing: set[Origin] = set()
        """What no strategy at all would have left in the context at the last call."""
        self.head: list[Origin] = []
        """The leading system messages, and what stands before and with the first task."""
        self.pinned: dict[Origin, None] = {}
        self.results: dict[tuple[Origin, str], Origin] = {}
        """By the item that made a call, and its id: the item with the result."""
        self.todos: dict[Origin, tuple[str, ...]] = {}
        """By the item that wrote a to-do list: what of it was open."""
        answers = {at: _answered(answer) for at, answer in recording.answers.items()}
        actions = {origin: _actions(step) for origin, step in self.items.items()}
        self.said = Said[Origin]()
        """The items that came in with each literal, in order."""
        self.anchors, self._places = _universe(answers.values(), actions.values(), also)
        self._mentions = Mentions([anchor.text for anchor in self.anchors])
        self._inside: dict[bytes, frozenset[int]] = {}
        """What other renditions mention, by digest: strategies leave the same placeholders."""
        self._original: dict[Origin, Rendition] = {}
        _Walk(self, answers, actions).run()
        items = {o: step.item for o, step in self.items.items() if step.item is not None}
        self.keepers = keepers(items, self.head, self.pinned, self.standing)

    def literal(self, text: str) -> int:
        """The place of a literal."""
        return self._places[text]

    def original(self, origin: Origin) -> Rendition:
        """An item of the recording as it came in."""
        found = self._original.get(origin)
        if found is None:
            step = self.items[origin]
            assert step.item is not None
            mentions = self._mentions.inside(texts(step.item))
            found = _rendition(step.item, step.tokens, mentions, _digest(step.item))
            self._original[origin] = found
        return found

    def rendition(self, origin: Origin, item: Item, tokens: int) -> Rendition:
        """An item as it stands in some context; the same text is looked through once."""
        step = self.items.get(origin)
        if step is not None and step.item is item:
            return self.original(origin)
        digest = _digest(item)
        mentions = self._inside.get(digest)
        if mentions is None:
            if len(self._inside) >= _MOST:
                self._inside.clear()
            mentions = self._inside[digest] = self._mentions.inside(texts(item))
        return _rendition(item, tokens, mentions, digest)


def _rendition(item: Item, tokens: int, mentions: frozenset[int], digest: bytes) -> Rendition:
    return Rendition(item, tokens, mentions, digest, shape(item))


def _dialect(recording: Recording) -> str:
    said = Counting(item.dialect for each in recording.answers.values() for item in each.items)
    return min(said, key=lambda name: (-said[name], name), default="openai_chat")


def _digest(item: Item) -> bytes:
    message = json.dumps(item.message, sort_keys=True, separators=(",", ":"), default=str)
    text = f"{item.kind} {item.dialect} {item.role}\n{message}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()


# -- literals -------------------------------------------------------------------------------------

_Answered = list[tuple[Anchor, bool]]
"""Anchors of an answer, and whether they stand in the arguments of a call."""


def _answered(answer: Answer) -> _Answered:
    found: dict[str, tuple[Anchor, bool]] = {}
    for item in answer.items:
        for in_arguments in (True, False):
            for anchor in item_anchors(item, calls=in_arguments):
                if anchor.kind != "rule":
                    text = " ".join(anchor.text.split())
                    known = found.get(text)
                    argument = in_arguments or (known is not None and known[1])
                    found[text] = (known[0] if known else Anchor(anchor.kind, text), argument)
    return list(found.values())


def _actions(step: Step) -> list[tuple[str, Action]]:
    assert step.item is not None
    return [(part.id, action(part)) for part in calls_of(step.item) if part.kind == "call"]


def _universe(
    answers: Iterable[_Answered],
    actions: Iterable[list[tuple[str, Action]]],
    also: Iterable[Anchor],
) -> tuple[list[Anchor], dict[str, int]]:
    found: dict[str, Anchor] = {}
    for answer in answers:
        for anchor, _ in answer:
            found.setdefault(anchor.text, anchor)
    for each in actions:
        for _, done in each:
            for path in (*done.writes, *done.reads):
                found.setdefault(path, Anchor("path", path))
    for anchor in also:
        text = " ".join(anchor.text.split())
        found.setdefault(text, Anchor(anchor.kind, text))
    return list(found.values()), {text: place for place, text in enumerate(found)}


# -- the walk -------------------------------------------------------------------------------------


class _Walk:
    """Once through the steps, with what stands if nothing is ever compacted."""

    def __init__(
        self,
        ground: Ground,
        answers: dict[int, _Answered],
        actions: dict[Origin, list[tuple[str, Action]]],
    ) -> None:
        self.ground, self.answers, self.actions = ground, answers, actions
        self.standing: dict[Origin, int] = {}
        """With the number of calls that had been made when it came."""
        self.arrived: dict[Origin, int] = {}
        self.by_position: dict[int, CallFacts] = {}
        self.mentions: dict[Origin, frozenset[int]] = {}
        self.last: dict[int, tuple[int, Origin]] = {}
        self.revisions: dict[Origin, list[tuple[int, frozenset[int]]]] = {}
        """What revised items mention, by the positions from which on they do."""
        self.head: frozenset[int] = frozenset()
        self.heading = True
        self.open: dict[str, list[tuple[str, Origin]]] = {}
        self.done: dict[str, tuple[Origin, int]] = {}
        """By the key of a call: the item of its last result, and how many writes came before."""
        self.writes = 0
        self.written_at: dict[str, int] = {}
        self.tools: dict[int, int] = {}
        self.known: dict[bool, set[str]] = {True: set(), False: set()}
        self.newest: Origin | None = None
        self.came_behind: dict[Origin, Origin | None] = {}
        """What was the newest when an item came: what stands is a way back through it."""
        self.turns: list[tuple[int, Origin | None]] = []
        """(position, the newest item behind it)"""
        self.human: Origin | None = None
        self.todo: Origin | None = None

    def run(self) -> None:
        steps = self.ground.recording.steps
        self._answer_results(steps)
        for step in steps:
            if step.kind == "item":
                self._item(step)
            elif step.kind == "call":
                self._call(step)
            elif step.kind == "revise" and step.item is not None:
                made = self.ground.rendition(step.origin, step.item, step.tokens)
                self._revised(step.origin, made.mentions, step.position)
            elif step.kind == "rewind":
                self._rewind(step)
            elif step.kind == "pin":
                self.ground.pinned[step.origin] = None
            elif step.kind == "unpin":
                self.ground.pinned.pop(step.origin, None)
            elif step.kind == "tools":
                self.tools[step.position] = step.tokens

    def _answer_results(self, steps: Sequence[Step]) -> None:
        """Which item answers which call: the nearest call before it with its id."""
        waiting: dict[str, list[Origin]] = {}
        for step in steps:
            if step.kind != "item" or step.item is None:
                continue
            for part in results_of(step.item):
                if waiting.get(part.id):
                    self.ground.results[(waiting[part.id].pop(), part.id)] = step.origin
            for part in calls_of(step.item):
                waiting.setdefault(part.id, []).append(step.origin)

    def _item(self, step: Step) -> None:
        item, origin = step.item, step.origin
        assert item is not None
        if self.heading:
            if is_system(item):
                self.ground.head.append(origin)
            elif item.is_human:
                self.ground.head.append(origin)
                self.heading = False
            if self.ground.head[-1:] == [origin]:
                self.head |= self.ground.original(origin).mentions
        if item.is_human:
            self.human = origin
        self.came_behind[origin], self.newest = self.newest, origin
        self.turns.append((step.position, origin))
        self.mentions[origin] = self.ground.original(origin).mentions
        self.arrived[origin] = self.standing[origin] = len(self.ground.calls)
        told = is_told(item)
        for literal in self.mentions[origin]:
            self.ground.said.add(literal, origin, told=told)
        self._mention(origin)
        facts = self.by_position.get(item.call or 0)
        for call_id, done in self.actions.get(origin, ()):
            self._done(origin, call_id, done, facts)

    def _revised(self, origin: Origin, mentions: frozenset[int], position: int) -> None:
        before = self.mentions.get(origin, frozenset())
        self.mentions[origin] = mentions
        self.revisions.setdefault(origin, []).append((position, mentions))
        if origin in self.ground.head:
            self.head |= mentions
        if origin not in self.standing:
            return
        for literal in before - mentions:
            if self.last[literal][1] == origin:
                del self.last[literal]
                others = (o for o in reversed(self.standing) if literal in self.mentions[o])
                other = next(others, None)
                if other is not None:
                    self.last[literal] = (self.standing[other], other)
        self._mention(origin)

    def _mention(self, origin: Origin) -> None:
        came = self.standing[origin]
        for literal in self.mentions[origin]:
            if literal not in self.last or self.last[literal][0] <= came:
                self.last[literal] = (came, origin)

    def _done(self, origin: Origin, call_id: str, done: Action, facts: CallFacts | None) -> None:
        result = self.ground.results.get((origin, call_id))
        earlier = self.done.get(done.key)
        if done.is_state:
            if done.open is not None:
                self.ground.todos[origin] = done.open
                self.todo = origin
            return
        if facts is not None and earlier is not None and not done.writes and result is not None:
            at, writes = earlier
            paths = done.reads
            fresh = (
                all(self.written_at.get(path, 0) <= writes for path in paths)
                if paths
                else self.writes == writes
            )
            if fresh and at in self.standing:
                facts.repeats.append(Repeat(done.tool, at, self.ground.original(result).tokens))
        if done.writes:
            self.writes += 1
            self.written_at.update(dict.fromkeys(done.writes, self.writes))
        elif result is not None:
            self.done[done.key] = (result, self.writes)
        if facts is not None:
            for paths, is_write, into in (
                (done.writes, True, facts.written),
                (done.reads, False, facts.read),
            ):
                for path in paths:
                    if path not in self.known[is_write]:
                        self.known[is_write].add(path)
                        into.append(self.ground.literal(path))

    def _call(self, step: Step) -> None:
        ground = self.ground
        answer = ground.recording.answers[step.position]
        usage = usage_totals(answer.usage)
        output = usage.output or sum(count_item(ground.counting, item) for item in answer.items)
        facts = CallFacts(
            position=step.position,
            when=step.when,
            tools=self.tools.get(step.to, 0),
            tools_at=step.to,
            output=output,
            billed=usage.prompt or 0,
            cached=usage.cached,
            answered=answer.usage is not None or bool(answer.items),
            last_human=self.human if self.human in self.standing else None,
            todo=self.todo if self.todo in self.standing else None,
        )
        made = len(ground.calls)
        for anchor, in_arguments in self.answers.get(step.position, ()):
            literal = ground.literal(anchor.text)
            before = self.last.get(literal)
            if before is not None:
                distance, last = made - before[0], before[1]
                first = ground.said.first(literal, self.standing.__contains__)
                need = Need(literal, anchor.kind, distance, last, first or last, in_arguments)
                (facts.of_head if literal in self.head else facts.needs).append(need)
        ground.calls.append(facts)
        self.by_position[step.position] = facts
        if len(ground.calls) == len(ground.recording.answers):
            ground.standing = set(self.standing)

    def _rewind(self, step: Step) -> None:
        for origin, revised in self.revisions.items():
            in_force = (mentions for at, mentions in reversed(revised) if at <= step.to)
            then = next(in_force, self.ground.original(origin).mentions)
            if then != self.mentions[origin]:
                self._revised(origin, then, step.position)
        before = bisect_right(self.turns, step.to, key=lambda turn: turn[0])
        goal = self.turns[before - 1][1] if before else None
        gone, at = dict[Origin, None](), self.newest
        while at is not None and at != goal:
            gone[at] = None
            at = self.came_behind[at]
        self.newest = goal
        self.turns.append((step.position, goal))
        if at == goal:
            self._take_back(gone)
        else:
            self._go_over(goal)
        back = reversed(self.standing)
        self.human = next((o for o in back if self._is_human(o)), None)
        written = (o for o in reversed(self.standing) if o in self.ground.todos)
        self.todo = next(written, None) if self.ground.todos else None

    def _take_back(self, gone: dict[Origin, None]) -> None:
        """The newest items leave: what they said last was last said by others."""
        for origin in gone:
            self.standing.pop(origin, None)
        said = {literal for origin in gone for literal in self.mentions[origin]}
        for literal in said:
            if literal in self.last and self.last[literal][1] in gone:
                del self.last[literal]
                others = reversed(
                    self.standing if self.revisions else self.ground.said.all(literal)
                )
                holding = (o for o in others if o in self.standing and literal in self.mentions[o])
                other = next(holding, None)
                if other is not None:
                    self.last[literal] = (self.standing[other], other)

    def _go_over(self, goal: Origin | None) -> None:
        """To what a rewind had taken back before: another branch."""
        kept, at = set(), goal
        while at is not None:
            kept.add(at)
            at = self.came_behind[at]
        self.standing = {o: at for o, at in self.arrived.items() if o in kept}
        self.last = {}
        for origin in self.standing:
            self._mention(origin)

    def _is_human(self, origin: Origin) -> bool:
        item = self.ground.items[origin].item
        return item is not None and item.is_human
