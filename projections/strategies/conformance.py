"""The rules that the conformance kit holds every context of a strategy to, one function each.

A rule reads the contexts at each call: of the recording as it is (``plain``), and as the strategy
makes them (``seen``). It yields the number of the call and what is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from eventlog.errors import NoContext
from projections.applying import NO_SUCH
from projections.dialects import DIALECTS
from projections.items import Item
from projections.ladder import RAISED
from projections.legality import sendable
from projections.pairing import one_answer, pair
from projections.reading import (
    binds_thinking,
    calls_of,
    is_system,
    only_thinks,
    role_of,
    says_something,
)
from projections.recording import Recording
from projections.runs import Origin
from projections.strategies import lineage
from projections.strategies.at_call import Broken, Rule, Seen
from projections.strategies.marks import SUMMARY_OPEN
from projections.whatif import Change


def _sendable(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I4: every provider takes it, and a message is left where there was one."""
    for before, each in zip(plain, seen, strict=True):
        ready = _ready(each)
        if ready is None:
            if _ready(before) is not None:
                yield each.number, "no message is left"
            continue
        for name, dialect in DIALECTS.items():
            for fault in dialect.validate(dialect.render(ready)):
                yield each.number, f"{name}: {fault}"


def _ready(seen: Seen) -> tuple[Item, ...] | None:
    try:
        return sendable([item for _, item in seen.items]).items
    except NoContext:
        return None


def _batches(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I5: a call stands with its result, or neither does."""
    for before, each in zip(plain, seen, strict=True):
        items = [item for _, item in before.items]
        origins = [origin for origin, _ in before.items]
        standing = each.standing
        for match in pair(items).pairs:
            if match.result_at is None:
                continue
            call, result = origins[match.call_at], origins[match.result_at]
            if (call in standing) != (result in standing):
                yield each.number, f"{call} and its result {result} are parted"


def _thinking(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I6: signed thinking stays byte-identical with its message."""
    for each in seen:
        for origin, item in each.items:
            if binds_thinking(item) and item.message != each.originals[origin].message:
                yield each.number, f"{origin} has signed thinking and was changed"
        for origin, original in each.originals.items():
            if binds_thinking(original) and each.standing[origin].message != original.message:
                yield each.number, f"{origin} had signed thinking and was changed"


def _reasoning(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I7: a reasoning item and the item of the same answer that it precedes go together."""
    calls, made = 0, dict[Origin, int]()
    for step in recording.steps:
        calls += step.kind == "call"
        made.setdefault(step.origin, calls)
    for before, each in zip(plain, seen, strict=True):
        standing = each.standing
        for (first, item), (second, follows) in pairwise(before.items):
            bound = only_thinks(item) and role_of(follows) == "assistant"
            bound = bound and made[first] == made[second]
            if bound and one_answer(item, follows) and (first in standing) != (second in standing):
                yield each.number, f"reasoning {first} and {second} are parted"


def _system(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I8: the leading system messages stand first, verbatim, once."""
    for before, each in zip(plain, seen, strict=True):
        leading = []
        for origin, item in before.items:
            if not is_system(item):
                break
            leading.append((origin, item))
        if list(each.items[: len(leading)]) != leading:
            yield each.number, "the system messages are not as they were"


def _first(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I9: a user speaks first in every request; what a decision put in front is a user's.

    Where the user's message left, a stand-in opens in front of the model's, but never in front of
    what a strategy itself made first.
    """
    for each in seen:
        ready = _ready(each) or ()
        front = next((at for at, item in enumerate(ready) if not is_system(item)), len(ready))
        for name, dialect in DIALECTS.items():
            speaker = _opens(dialect.render(ready[: front + 1])) if ready[front:] else "user"
            if speaker != "user":
                yield each.number, f"{name}: it begins with {speaker}"
        first = next((p for p in each.items if not is_system(p[1]) and says_something(p[1])), None)
        if first is None or role_of(first[1]) == "user":
            continue
        origin, item = first
        turned = item is not each.originals[origin] and role_of(each.originals[origin]) == "user"
        if origin in each.summaries or turned:
            yield each.number, f"{origin} is put in front and is no user's: {role_of(item)}"


def _opens(request: Mapping[str, Any]) -> str:
    """Who speaks first behind the system; results under the role of a user are none of a user's."""
    for message in request.get("input", request.get("messages", ())):
        role, kind, content = message.get("role"), message.get("type"), message.get("content")
        if role in ("system", "developer"):
            continue
        blocks = [b.get("type") for b in content] if isinstance(content, list) else []
        if "tool_result" in blocks or str(kind).endswith("_output"):
            return "a result"
        model = str(kind).endswith("_call") or kind == "reasoning"
        return str(role or ("assistant" if model else "user"))
    return "nobody"


def _last_human(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I10: the newest human message stands verbatim, or was cut by the last rung."""
    forced: set[Origin] = set()
    for before, each in zip(plain, seen, strict=True):
        for change in each.changes:
            if change.kind == "cut" and change.rung == "cut":
                forced.update(change.items)
        humans = [(origin, item) for origin, item in before.items if item.is_human]
        if not humans:
            continue
        origin, item = humans[-1]
        stands = each.standing.get(origin)
        if stands is None:
            yield each.number, f"the newest human message {origin} is gone"
        elif stands != item and origin not in forced:
            yield each.number, f"the newest human message {origin} was changed"


def _pending(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I11: calls that wait for results stand, and so does everything behind them."""
    for before, each in zip(plain, seen, strict=True):
        found = pair([item for _, item in before.items]).pending
        if not found:
            continue
        first = min(match.call_at for match in found)
        standing = each.standing
        for origin, _ in before.items[first:]:
            if origin not in standing:
                yield each.number, f"{origin} stands behind an open call and is gone"


def _budget(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I12: within the budget, or it is said what cannot be reduced."""
    flagged: dict[str, bool] = {}
    for each in seen:
        for change in each.changes:
            if change.kind == "over_budget":
                flagged[change.strategy] = True
        for spec, limit in each.limits:
            if each.tokens <= limit:
                flagged[spec] = False
            elif not any(flagged.values()):
                yield each.number, f"{each.tokens} tokens, {limit} promised, and nothing said"


def _gain(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I13: every change saves tokens; what saves none is declined."""
    for each in seen:
        for change in each.changes:
            idle = change.kind in ("restored", "declined", "over_budget")
            if not idle and change.after >= change.before:
                yield each.number, f"{change.kind} of {change.items} saves nothing"


def _append(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I14: what was sent changes only by a change that names it; else only more is appended."""
    for before, each in pairwise(seen):
        between = [
            step
            for step in recording.steps
            if before.call.position < step.position < each.call.position
        ]
        if any(step.kind == "rewind" for step in between):
            continue
        named: set[Origin] = {s.origin for s in between if s.kind == "revise"}
        made: set[Origin] = set()
        for change in each.changes:
            if change.kind not in ("declined", "over_budget"):
                named.update(change.items)
                made.update(change.messages)
        old = [pair_ for pair_ in before.items if pair_[0] not in named]
        new = [p for p in each.items if p[0] not in named and p[0] not in made]
        if new[: len(old)] != old:
            yield each.number, "an item changed, left or moved, and no change says so"


def _markers(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I16: no mark within a mark, and a summary is never edited."""
    for each in seen:
        for origin, item in each.items:
            if origin in each.summaries and item != each.originals[origin]:
                yield each.number, f"the summary {origin} was edited"
            inside = 1 if origin in each.summaries else each.originals[origin].text.count(_OPEN)
            if item.text.count(_OPEN) > inside:
                yield each.number, f"{origin} has a summary within a summary"
            if item is not each.originals[origin]:
                notes = item.text.count(_NOTE)
                if notes > each.originals[origin].text.count(_NOTE) + 1:
                    yield each.number, f"{origin} was cut twice"


_OPEN = SUMMARY_OPEN
_NOTE = "characters left out …]"
_SURROGATE = re.compile("[\ud800-\udfff]")


def _text(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I17: no character is split, and arguments stay JSON."""
    for each in seen:
        for origin, item in each.items:
            original = each.originals[origin]
            if item is original:
                continue
            lone = len(_SURROGATE.findall(item.text))
            if lone > len(_SURROGATE.findall(original.text)):
                yield each.number, f"a character of {origin} was split"
            if all(map(_is_json, _arguments(original))) and not all(
                map(_is_json, _arguments(item))
            ):
                yield each.number, f"the arguments of {origin} are no JSON any more"


def _arguments(item: Item) -> Iterable[str]:
    return (part.text for part in calls_of(item))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _progress(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I18: who got stuck does not try again before the context has grown by a tenth."""
    stuck: dict[str, Change] = {}
    rewinds = [step.position for step in recording.steps if step.kind == "rewind"]
    for each in seen:
        for change in each.changes:
            if change.kind != "over_budget":
                continue
            before = stuck.get(change.strategy)
            stuck[change.strategy] = change
            if before is None or any(before.position < r < change.position for r in rewinds):
                continue
            came = sum(
                step.tokens
                for step in recording.steps
                if step.kind == "item" and before.position <= step.position < change.position
            )
            if came < before.before * (RAISED - 1) - 1:
                yield each.number, f"{change.strategy} got stuck twice with {came} tokens between"


def _conserved(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """I20: everything that came in is in one state, and the tokens add up."""
    for each in seen:
        lost = [line.origin for line in each.account.lines if line.state == "unaccounted"]
        if lost:
            yield each.number, f"unaccounted: {lost}"
        if each.account.stands != each.tokens or each.call.tokens != each.tokens:
            stands = each.account.stands
            yield each.number, f"{each.tokens} tokens stand, {stands} are accounted for"


def marks(seen: Seen) -> Iterator[tuple[Origin, str]]:
    """What stands in place of items that were cleared or deduplicated."""
    for origin, item in seen.items:
        if item.form in ("cleared", "deduplicated"):
            yield origin, item.text


def _known(recording: Recording, plain: Sequence[Seen], seen: Sequence[Seen]) -> Broken:
    """A decision is about items that there are: a wrong name decides nothing, and looks like it."""
    for each in seen:
        for change in each.changes:
            if change.kind == "declined" and change.reason.startswith(NO_SUCH):
                yield each.number, change.reason


RULES: tuple[Rule, ...] = (
    Rule("I4", _sendable),
    Rule("I5", _batches),
    Rule("I6", _thinking),
    Rule("I7", _reasoning),
    Rule("I8", _system),
    Rule("I9", _first),
    Rule("I10", _last_human),
    Rule("I11", _pending),
    Rule("I12", _budget),
    Rule("I13", _gain),
    Rule("I14", _append),
    Rule("I16", _markers),
    Rule("I17", _text),
    Rule("I18", _progress),
    Rule("I19", lineage.broken),
    Rule("I20", _conserved),
    Rule("items", _known),
)
