"""The rules of legality, one method each, over the pieces of a context. Used by ``legality`` alone.

Each rule leaves the pieces in an order and form in which the rules before it hold on, so that a
second run changes nothing. An event names what it is put behind by an id of the log, so insertions
get their place last, when all is in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from eventlog.messages import Part
from projections.items import Item
from projections.pairing import (
    Pairing,
    is_synthetic,
    one_answer,
    original_id,
    pair,
)
from projections.reading import (
    calls_of,
    is_system,
    only_thinks,
    readable,
    results_of,
    role_of,
    says_something,
)
from projections.renaming import unique_ids, with_ids
from projections.repairs import Insertion, Renaming, Repair, Rule, is_recorded
from projections.splitting import split
from projections.standins import no_result, start_before


@dataclass(slots=True, eq=False)
class Piece:
    """An item, or a piece of one, on its way through the rules."""

    item: Item
    source: int = -1
    """Index of the item that it came with; -1 for what a rule put in."""


@dataclass(slots=True, eq=False)
class CallMade:
    """A call in a batch, the piece that makes it and the piece that answers it."""

    part: Part
    given: str
    """The id that the model gave to it."""
    piece: Piece
    result: Piece | None
    pending: bool


@dataclass(slots=True, eq=False)
class Batch:
    """One answer of a model that calls tools, and what stands behind it."""

    calls: list[CallMade] = field(default_factory=list)
    end: Piece | None = None
    """The last piece of the batch, results included."""


@dataclass(slots=True, eq=False)
class _Noted:
    """A repair whose insertions have no place yet."""

    rule: Rule
    dropped: tuple[str, ...] = ()
    renamed: tuple[Renaming, ...] = ()
    inserted: tuple[Piece, ...] = ()
    replaced: tuple[Piece, ...] = ()
    moved: tuple[str, ...] = ()
    call_ids: tuple[str, ...] = ()

    @property
    def is_exchange(self) -> bool:
        """Whether an item leaves for others that stand in its place."""
        return bool(self.replaced) or self.rule == "split_message"


class Repairing:
    """The pieces of one context, in order, and the repairs so far."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._given = items
        self._split: dict[int, tuple[list[Piece], list[Item]]] = {}
        self._notes: list[_Noted] = []
        self.pieces: list[Piece] = []
        for source, item in enumerate(items):
            if not readable(item):
                self._notes.append(_Noted("unreadable_message", dropped=(item.id,)))
                continue
            found = [Piece(piece, source) for piece in split(item)]
            if len(found) != 1 or found[0].item is not item:
                self._split[source] = (found, [piece.item for piece in found])
            self.pieces += found

    def _drop(self, rule: Rule, leaving: Iterable[Piece]) -> None:
        gone = {id(piece) for piece in leaving}
        if gone:
            names = [piece.item.id for piece in self.pieces if id(piece) in gone]
            self._notes += [_Noted(rule, dropped=(name,)) for name in names]
            self.pieces = [piece for piece in self.pieces if id(piece) not in gone]

    def _where(self, holds: Callable[[Item], bool]) -> list[Piece]:
        return [piece for piece in self.pieces if holds(piece.item)]

    def drop_what_says_nothing(self) -> None:
        """Blank messages leave, and thinking that no dialect takes by itself."""
        self._drop(
            "empty_message", self._where(lambda i: not says_something(i) and not only_thinks(i))
        )
        self._drop("thinking_alone", self._where(lambda i: only_thinks(i) and not _precedes(i)))

    def drop_unpaired(self) -> Pairing:
        """Results without a call, and second results, leave; gives the pairs of what remains."""
        while True:
            found = pair([piece.item for piece in self.pieces])
            if not (found.orphans or found.seconds):
                return found
            orphans = [self.pieces[at] for at in found.orphans]
            seconds = [self.pieces[at] for at in found.seconds]
            self._drop("orphan_result", orphans)
            self._drop("second_result", seconds)
            # What left may have parted items of one answer, so all is paired again.

    def order(self, pairing: Pairing) -> list[Batch]:
        """Results right behind their batch; all else in the order of the log."""
        pieces, numbers = self.pieces, pairing.batches
        pending = {id(match) for match in pairing.pending}
        batches: dict[int, Batch] = {}
        batch_of: dict[int, int] = {}
        for match in pairing.pairs:
            result = None if match.result_at is None else pieces[match.result_at]
            caller = pieces[match.call_at]
            given = original_id(caller.item, match.call.id)
            made = CallMade(match.call, given, caller, result, id(match) in pending)
            batches.setdefault(match.batch, Batch()).calls.append(made)
            if match.result_at is not None:
                batch_of[match.result_at] = match.batch
        others = [0]
        for at in range(len(pieces)):
            others.append(others[-1] + (at not in batch_of))
        last = {number: at for at, number in enumerate(numbers) if number >= 0}
        results: dict[int, list[int]] = {}
        for at in sorted(batch_of):
            results.setdefault(batch_of[at], []).append(at)
        called = {match.result_at: turn for turn, match in enumerate(pairing.pairs)}
        for found in results.values():
            # Synthetic results stand last, in the order of the calls, however they were recorded.
            found.sort(key=lambda at: called[at] if is_synthetic(pieces[at].item) else -1)
        ordered: list[Piece] = []
        moved: list[str] = []
        for at, number in enumerate(numbers):
            if at in batch_of:
                continue
            ordered.append(pieces[at])
            if last.get(number) != at:
                continue
            for place in results.get(number, ()):
                ordered.append(pieces[place])
                if others[place] > others[at + 1]:
                    moved.append(pieces[place].item.id)
            if number in batches:
                batches[number].end = ordered[-1]
        if moved:
            self._notes.append(_Noted("misplaced_result", moved=tuple(moved)))
        self.pieces = ordered
        return list(batches.values())

    def rename(self, batches: Sequence[Batch]) -> None:
        """Every call id stands once; a result has the id of its call."""
        used: set[str] = set()
        for batch in batches:
            for piece in dict.fromkeys(made.piece for made in batch.calls):
                calls = [made for made in batch.calls if made.piece is piece]
                ids = unique_ids(piece.item, used)
                changed = self._with_ids(piece, ids)
                for made, new in zip(calls, ids, strict=True):
                    if made.result is not None:
                        changed += self._with_ids(made.result, [new])
                    made.part = made.part._replace(id=new)
                renamed = tuple(change for change in changed if isinstance(change, Renaming))
                replaced = tuple(change for change in changed if isinstance(change, Piece))
                if changed:
                    noted = _Noted("repeated_call_id", renamed=renamed, replaced=replaced)
                    self._notes.append(noted)

    def _with_ids(self, piece: Piece, ids: Sequence[str]) -> list[Renaming | Piece]:
        before = piece.item
        piece.item, described = with_ids(before, ids)
        if piece.item is before:
            return []
        if not described:
            return [piece]
        old = [part.id for part in calls_of(before) or results_of(before)]
        pairs = dict(zip(old, ids, strict=True))
        return [Renaming(before.id, before.rendition, a, b) for a, b in pairs.items() if a != b]

    def close(self, batches: Sequence[Batch], *, live_frontier: bool) -> None:
        """A call without a result gets one that says so."""
        behind: dict[int, list[Piece]] = {}
        for batch in batches:
            made = [
                (call, Piece(no_result(call.piece.item, call.part, number)))
                for number, call in enumerate(batch.calls)
                if call.result is None and not (live_frontier and call.pending)
            ]
            if made:
                behind[id(batch.end)] = [piece for _, piece in made]
                ids = tuple(call.given for call, _ in made)
                inserted = tuple(piece for _, piece in made)
                self._notes.append(_Noted("unanswered_call", inserted=inserted, call_ids=ids))
        if behind:
            self.pieces = [
                each for piece in self.pieces for each in (piece, *behind.get(id(piece), ()))
            ]

    def drop_loose_thinking(self) -> None:
        """A reasoning item goes with the item it precedes, or leaves; that item's id with it.

        OpenAI refuses an item whose reasoning is missing as long as it has its id.
        """
        leaving: set[int] = set()
        following: Item | None = None
        for at in reversed(range(len(self.pieces))):
            item = self.pieces[at].item
            if only_thinks(item) and (following is None or not one_answer(item, following)):
                leaving.add(at)
            else:
                following = item if role_of(item) == "assistant" else None
        for at in sorted(leaving):
            dependent = self._dependent(at, leaving)
            bare = dependent and _without_item_id(dependent.item)
            if dependent and bare:
                dependent.item = bare
                self._notes.append(_Noted("thinking_alone", replaced=(dependent,)))
        self._drop("thinking_alone", [self.pieces[at] for at in sorted(leaving)])

    def _dependent(self, at: int, leaving: set[int]) -> Piece | None:
        """The next thing that the model said, unless it has reasoning of its own in front."""
        for place in range(at + 1, len(self.pieces)):
            piece = self.pieces[place]
            if role_of(piece.item) == "assistant" and place not in leaving:
                return None if only_thinks(piece.item) else piece
        return None

    def drop_repeated_system(self) -> None:
        """In the leading run each system message stands once."""
        seen: list[Any] = []
        repeated: list[Piece] = []
        for piece in self.pieces:
            if not is_system(piece.item):
                break
            said = (role_of(piece.item), piece.item.dialect, piece.item.message)
            if said in seen:
                repeated.append(piece)
            seen.append(said)
        self._drop("repeated_system", repeated)

    def start_with_user(self) -> None:
        """Behind the leading system messages a user speaks first."""
        front = 0
        while front < len(self.pieces) and is_system(self.pieces[front].item):
            front += 1
        if front < len(self.pieces) and role_of(self.pieces[front].item) == "user":
            return
        beside = self.pieces[min(front, len(self.pieces) - 1)].item
        start = Piece(start_before(beside))
        self.pieces.insert(front, start)
        self._notes.append(_Noted("no_user_first", inserted=(start,)))

    def finished(self) -> tuple[tuple[Item, ...], tuple[Repair, ...]]:
        """The items, whole again where nothing parted them, and the repairs."""
        joined: list[Piece] = []
        at = 0
        while at < len(self.pieces):
            piece = self.pieces[at]
            pieces, unchanged = self._split.get(piece.source, ([], []))
            beside = self.pieces[at : at + len(pieces)]
            if (
                pieces
                and beside == pieces
                and all(p.item is item for p, item in zip(pieces, unchanged, strict=True))
            ):
                joined.append(Piece(self._given[piece.source], piece.source))
                del self._split[piece.source]
                at += len(pieces)
                continue
            joined.append(piece)
            at += 1
        self.pieces = joined
        parted: dict[int, list[Piece]] = {source: [] for source in self._split}
        for piece in self.pieces:
            if piece.source in parted:
                parted[piece.source].append(piece)
        for source, standing in parted.items():
            name = self._given[source].id
            noted = _Noted("split_message", dropped=(name,), inserted=tuple(standing))
            self._notes.append(noted)
        return tuple(piece.item for piece in self.pieces), tuple(self._placed())

    def _placed(self) -> Iterable[Repair]:
        """The repairs, each insertion behind an item of the log that is still there by then.

        So what replaces an item comes last, and stands where the item stood.
        """
        notes = self._replaced_once()
        gone = {name for noted in notes if not noted.is_exchange for name in noted.dropped}
        after: dict[int, str | None] = {}
        latest: str | None = None
        for piece in self.pieces:
            after[id(piece)] = latest
            origin = piece.item.id.partition("/")[0]
            if piece.source >= 0 and is_recorded(origin) and origin not in gone:
                latest = origin
        for noted in sorted(notes, key=lambda noted: noted.is_exchange):
            inserted = [(after.get(id(piece)), piece.item) for piece in noted.inserted]
            if noted.rule == "split_message":
                inserted = [(noted.dropped[0], item) for _, item in inserted]
            yield Repair(
                rule=noted.rule,
                dropped=noted.dropped,
                renamed=noted.renamed,
                inserted=tuple(Insertion(place, item) for place, item in inserted),
                replaced=tuple(Insertion(p.item.id, p.item) for p in noted.replaced),
                moved=noted.moved,
                call_ids=noted.call_ids,
            )

    def _replaced_once(self) -> list[_Noted]:
        """The notes, each replaced piece in the first that names it: it stands there as it is."""
        seen: set[int] = set()
        found: list[_Noted] = []
        for noted in self._notes:
            new = tuple(piece for piece in noted.replaced if id(piece) not in seen)
            seen.update(id(piece) for piece in new)
            if new == noted.replaced:
                found.append(noted)
            elif new or noted.renamed:
                found.append(replace(noted, replaced=new))
        return found


def _precedes(item: Item) -> bool:
    """Whether reasoning may stand by itself, in front of what it led to."""
    return item.dialect == "openai_responses" and role_of(item) == "assistant"


def _without_item_id(item: Item) -> Item | None:
    """The item without the provider's id of what it says first; None when there is none to lose."""
    said = item.message.get("items")
    if said is None:
        if item.dialect != "openai_responses" or "id" not in item.message:
            return None
        return replace(item, message=_bare(item.message))
    if not isinstance(said, list) or not said or not isinstance(said[0], dict):
        return None
    if said[0].get("type") == "reasoning" or "id" not in said[0]:
        return None
    return replace(item, message={**item.message, "items": [_bare(said[0]), *said[1:]]})


def _bare(native: Any) -> dict[str, Any]:
    return {key: value for key, value in native.items() if key != "id"}
