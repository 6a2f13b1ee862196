"""What a strategy decides about a session as it is, when a call is about to be made.

It goes through the moments since the last decision that the log holds (all of them, where there is
none: then the context becomes the one that the what-if shows). What it decides is appended at the
end. Where the last decision is not its own it has not seen the context as it is, so each of its
moments is asked at least once.

Pure: a recording in, events out; whoever writes appends them at the version that was read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from eventlog.events import CompactionDeclined, Event
from eventlog.recorded import RecordedEvent
from projections.applying import Asked, Change
from projections.attention import Attention
from projections.deciding import PromptDigest, told_of
from projections.items import Item
from projections.recording import Recording, Step
from projections.running import TRIED, InCharge, is_same, no_digest
from projections.runs import Origin
from projections.seen import Seen
from projections.strategies.base import Strategy
from projections.strategies.window import Embed
from projections.tokens import Counter
from projections.whatif import Summarize


@dataclass(frozen=True, slots=True)
class DecidedNow:
    """What a strategy decides about a session as it is."""

    events: tuple[Event, ...]
    items: tuple[Item, ...]
    """The context after them."""
    changes: tuple[Change, ...]
    asked: tuple[Asked, ...]
    """The summaries that were asked for."""
    needs_summary: int
    """Those that could not be had."""
    since: int
    """The position of the last decision that the log held; 0 where there was none."""
    attention: tuple[Attention, ...]
    """How often each strategy was asked, and what it waits for."""
    now: int
    """Moments at this position and behind it are about the context as it is now."""
    stuck: str
    """What cannot be reduced, when the context is over a promised number at the end."""


def last_decided(found: Recording) -> int:
    """The position of the last decision in the context of a recording; 0 where there is none.

    Revisions are part of the conversation, and so are rewinds as long as nothing was decided.
    """
    rewinds = {step.position for step in found.steps if step.kind == "rewind"}
    seen = [step for step in found.seen if isinstance(step, Seen) and not _is_revision(step)]
    if all(step.position in rewinds for step in seen):
        return 0
    return max(step.position for step in seen)


def _is_revision(step: Seen) -> bool:
    return step.kind == "render" and all(item.form == "revised" for item, _ in step.items)


def decided_now(
    found: Recording,
    history: Sequence[RecordedEvent],
    strategies: Sequence[Strategy],
    counting: Counter,
    *,
    first: int,
    pins: Mapping[int, Collection[Origin]],
    held: Collection[Origin] = (),
    summarize: Summarize | None = None,
    embed: Embed | None = None,
    digest: PromptDigest = no_digest,
) -> DecidedNow:
    """What strategies decide about a session as it is, when a call is about to be made.

    ``history`` are the stream's events, decisions with their payload, and what was declined;
    ``pins`` are the pinned items after ``last_decided(found)``, by that position, and ``held``
    those that are pinned now: they are not touched at any moment, since what is decided about the
    past is appended now. ``first`` is the position at which the first of the events will stand.
    """
    runner = InCharge(
        strategies,
        counting,
        recording=found,
        summarize=summarize,
        embed=embed,
        digest=digest,
        first=first,
        held=held,
    )
    start, end = last_decided(found), len(history)
    if start:
        seen = (step for step in found.seen if step.position <= start)
        tasks = [s.text for s in found.steps if s.kind == "task" and s.position <= start]
        later = min((s.position for s in found.steps if s.position > start), default=end + 1)
        tried = [e for e in history[: later - 1] if e.type in TRIED]
        runner.follow(seen, pins.get(start, ()), tasks[-1] if tasks else "", tried)
    steps = [step for step in found.steps if step.position > start]
    # Directly behind an earlier run, everything that it declined is known.
    quiet = max((s.position for s in found.steps if s.kind in ("item", "call")), default=0)
    known = {
        told
        for event in history[min(start, quiet) :]
        if event.type == "compaction_declined"
        and isinstance(event.event, CompactionDeclined)
        and (told := told_of(event.event)) is not None
    }
    runner.catch_up(steps, known)
    is_own = bool(start) and _is_own(history[start - 1], runner)
    if start and not is_own:
        runner.ask_all(end, _kinds_missing(steps))
    runner._step(Step("call", end + 1))
    events = runner.deciding.events
    if is_own and not steps and not any(map(_tells, events)):
        events.clear()  # nothing came since its own last decision, and it changes nothing
    changes = tuple(runner.deciding.changes)
    last = [c for c in changes if c.position == end + 1 and c.kind == "over_budget"]
    return DecidedNow(
        events=tuple(events),
        items=tuple(runner.items()),
        changes=changes,
        asked=tuple(runner.deciding.asked),
        needs_summary=runner.deciding.needs_summary,
        since=start,
        attention=tuple(runner.attention),
        now=end if start and not is_own else end + 1,
        stuck=last[-1].reason if last else "",
    )


def _tells(event: Event) -> bool:
    """Whether an event changes the context, or says what was paid."""
    return not isinstance(event, CompactionDeclined) or event.usage is not None


def _is_own(event: RecordedEvent, runner: InCharge) -> bool:
    """Whether a decision was taken by one of these strategies, with the same parameters."""
    by = event.data.get("by")
    return by is not None and any(is_same(by, own) for own in runner.deciding.by.values())


def _kinds_missing(steps: Sequence[Step]) -> set[str]:
    """The kinds of moments of which none lies in these steps; a call comes in any case."""
    items = [step.item for step in steps if step.kind == "item" and step.item is not None]
    missing = set[str]()
    if not any(item.kind == "tool_result" for item in items):
        missing.add("tool_result")
    if not any(item.is_human for item in items):
        missing.add("user_turn")
    return missing
