"""A strategy for real: it decides what the what-if shows, and the log then shows that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from logged import KEY, called, event_of, logged, note_of
from replays_made import COUNTER
from specs_made import EVERY

from eventlog import events
from eventlog.events import Event
from projections import open_log
from projections.decided_now import DecidedNow, decided_now, last_decided
from projections.items import Item
from projections.live import Live
from projections.recording import Recording, Step, recording
from projections.running import InCharge
from projections.runs import Origin
from projections.strategies import parse
from projections.strategies.check import short
from projections.strategies.made import made
from projections.strategies.window import Window
from projections.whatif import Runner, WhatIf

SPECS = [spec for spec in EVERY if spec not in ("openhands", "anthropic-clear")]
LARGE = {"openhands": made(22, steps=110), "anthropic-clear": made(1, size=30)}
SEEDS = (1, 2, 3, 4)


def opened(folder: str) -> Live:
    return open_log(Path(folder) / "l.db", durability="normal")


def decide(live: Live, spec: str, summarize: Any = short) -> DecidedNow:
    version = live.log.version(KEY)
    found = recording(live.log.read(KEY), COUNTER)
    start = last_decided(found)
    return decided_now(
        found,
        live.history(KEY, version, ["compaction_declined"]),
        parse(spec),
        COUNTER,
        first=version + 1,
        held=live.view(KEY).pins,
        pins={start: live.view(KEY, start).pins},
        summarize=summarize,
    )


def run(live: Live, spec: str, summarize: Any = short) -> DecidedNow:
    """Decide and append, as the command does."""
    found = decide(live, spec, summarize)
    if found.events:
        live.append(KEY, *found.events, expected_version=live.log.version(KEY))
    return found


def shown(items: Any) -> list[tuple[str, str, Any]]:
    """What a context shows: messages of compactions have other names in a what-if."""
    return [
        ("summary" if item.kind == "summary" else item.id, item.form, dict(item.message))
        for item in items
    ]


def what_ifs(found: Recording, spec: str) -> list[list[Item]]:
    """The contexts that ``replay --strategy`` shows at each call, and at one that comes now."""
    end = max((step.position for step in found.steps), default=0) + 1
    whole = Recording((*found.steps, Step("call", end)), found.answers, found.counter)
    contexts: list[list[Item]] = []

    def look(what: WhatIf, window: Window, touched: Any) -> None:
        contexts.append([entry.item for entry in window.entries.values()])

    Runner(whole, parse(spec), COUNTER, short, look).run()
    return contexts


def with_pins_from_the_start(found: Recording, pins: set[Origin]) -> Recording:
    """What is pinned now is not touched, whenever a decision about it would have been due."""
    steps = [
        step for step in found.steps if step.kind not in ("pin", "unpin") or step.origin not in pins
    ]
    return replace(found, steps=(*(Step("pin", 0, origin) for origin in pins), *steps))


def rebuilt(live: Live) -> None:
    """Live = rebuilt (design 6.11)."""
    before = live.view(KEY)
    live.rebuild()
    assert live.view(KEY) == before


class TestRun:
    """Whoever liked what a what-if showed gets exactly that, once."""

    @pytest.mark.parametrize("spec", [*SPECS, *LARGE])
    def test_the_context_is_that_of_the_what_if_and_a_second_run_does_nothing(
        self, spec: str
    ) -> None:
        did = 0
        for found in [LARGE[spec]] if spec in LARGE else map(made, SEEDS):
            with TemporaryDirectory() as folder, opened(folder) as live:
                logged(live, found)
                seen = with_pins_from_the_start(
                    recording(live.log.read(KEY), COUNTER), live.view(KEY).pins
                )
                wanted = what_ifs(seen, spec)[-1]
                decided = run(live, spec)
                did += any(c.kind not in ("declined", "over_budget") for c in decided.changes)
                assert shown(live.items(KEY)) == shown(decided.items) == shown(wanted)
                again = run(live, spec)
                assert [event.type for event in again.events] == []
                rebuilt(live)
        assert did or spec == "none"

    def test_every_compaction_covers_what_its_summarizer_was_shown_or_says_so(self) -> None:
        seen = 0
        for seed in SEEDS:
            with TemporaryDirectory() as folder, opened(folder) as live:
                logged(live, made(seed))
                decided = run(live, "compact:keep_turns=1")
                done = {c.messages: c for c in decided.changes if c.kind == "summarised"}
                for event in decided.events:
                    if isinstance(event, events.ContextCompacted):
                        seen += 1
                        assert event.by is not None
                        assert event.by.name == "compact"
                        assert event.trigger == "user_turn"
                        assert event.summarizer is not None
                assert len(done) == sum(e.type == "context_compacted" for e in decided.events)
        assert seen

    def test_a_summary_that_is_not_had_is_recorded_with_the_step_that_was_taken(
        self, tmp_path: Path
    ) -> None:
        with open_log(tmp_path / "l.db") as live:
            logged(live, made(2))
            decided = run(live, "compact:keep_turns=1", lambda wanted, items: None)
            kinds = [event.type for event in decided.events]
            first = kinds.index("compaction_declined")
            declined = decided.events[first]
            assert isinstance(declined, events.CompactionDeclined)
            assert declined.reason in ("empty", "failed")
            assert declined.by == events.DecidedBy(
                name="compact", parameters={"keep_turns": 1}
            ) or declined.by == events.DecidedBy(name="compact")
            assert run(live, "compact:keep_turns=1", lambda wanted, items: None).events == ()

    def test_substitutions_of_one_moment_are_one_pass_and_are_undone_together(
        self, tmp_path: Path
    ) -> None:
        with open_log(tmp_path / "l.db") as live:
            logged(live, made(4))
            before = live.view(KEY)
            decided = run(live, "clear:keep=0,at=model_call")
            passes = {e.pass_id for e in decided.events if hasattr(e, "pass_id")}
            assert passes
            assert all(each.startswith("pass-") for each in passes)
            live.append(KEY, *(events.DecisionUndone(pass_id=each) for each in passes))
            assert live.view(KEY) == before


class TestDecisionsOfOthers:
    """An agent's own compaction is a fact: it is not undone, and not decided over."""

    @pytest.mark.parametrize("spec", SPECS)
    def test_what_left_before_does_not_come_back(self, spec: str, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db") as live:
            logged(live, made(3))
            whole = [item for item in live.view(KEY).items if isinstance(item, int)]
            covered = tuple(str(item) for item in whole[2 : len(whole) // 2])
            summary = events.NewMessage(
                dialect="openai_chat", message={"role": "user", "content": "what came before"}
            )
            compaction = events.ContextCompacted(
                covered=covered, messages=(summary,), by=events.DecidedBy(name="agent")
            )
            last = [item for item in live.view(KEY).items][-1]
            live.append(
                KEY, compaction, events.PlaceholderSubstituted(item=str(last), content="[gone]")
            )
            before = live.view(KEY)
            decided = run(live, spec)
            assert shown(live.items(KEY)) == shown(decided.items)
            after = live.view(KEY)
            assert set(after.items) <= set(before.items) | {
                item for item in after.items if isinstance(item, str)
            }
            assert not [e for e in decided.events if e.type == "decision_undone"]
            rebuilt(live)
            assert run(live, spec).events == ()

    def test_a_strategy_is_asked_at_its_own_moment_although_that_is_over(
        self, tmp_path: Path
    ) -> None:
        with open_log(tmp_path / "l.db") as live:
            logged(live, made(4))
            item = next(iter(live.view(KEY).items))
            live.append(KEY, events.PlaceholderSubstituted(item=str(item), content="[gone]"))
            assert decide(live, "cut:limit=40").events
            assert decide(live, "clear:keep=0").events

    def test_an_undo_by_hand_is_not_undone_by_what_decided_before(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db") as live:
            logged(live, made(4))
            decided = run(live, "truncate:turns=1")
            assert decided.events
            live.append(KEY, events.DecisionUndone(target=live.log.version(KEY)))
            again = run(live, "truncate:turns=1")
            assert shown(live.items(KEY)) == shown(again.items)
            assert run(live, "truncate:turns=1").events == ()


def live_session(live: Live, found: Recording, spec: str) -> None:
    """A session with a strategy in charge: each step and its decisions are one append."""
    charge = InCharge(parse(spec), COUNTER, summarize=short)
    moved: dict[Any, int] = {}

    def append(*given: Event) -> None:
        live.append(KEY, *given, expected_version=live.log.version(KEY))

    for step in found.steps:
        coming = live.log.version(KEY) + 1
        if step.kind == "item":
            assert step.item is not None
            call = moved.get(("call", step.item.call))
            item = Item(**{**_fields(step.item), "call": call})
            around = charge.came(item, step.tokens, coming)
            append(*around.before, event_of(item), *around.after)
            moved[step.origin] = around.position
        elif step.kind == "call":
            decided = charge.calls(coming)
            append(*decided, called())
            moved["call", step.position] = coming + len(decided)
        else:
            own = Step(step.kind, coming, moved[step.origin] if step.origin else 0, step.item,
                       step.tokens, step.text)  # fmt: skip
            charge.notes(own)
            append(note_of(own))
    assert shown(live.items(KEY)) == shown(charge.items())


def _fields(item: Item) -> dict[str, Any]:
    names = [name for name in item.__dataclass_fields__ if not name.startswith("_")]
    return {name: getattr(item, name) for name in names}


def without_rewinds(found: Recording) -> Recording:
    steps = tuple(step for step in found.steps if step.kind != "rewind")
    return Recording(steps, found.answers, found.counter)


class TestInCharge:
    """A live agent must get what its what-if promised, call by call."""

    @pytest.mark.parametrize("seed", [4, pytest.param(2, marks=pytest.mark.slow)])
    @pytest.mark.parametrize("spec", SPECS)
    def test_every_call_is_given_what_the_what_if_shows_there(self, spec: str, seed: int) -> None:
        with TemporaryDirectory() as folder, opened(folder) as live:
            live_session(live, without_rewinds(made(seed)), spec)
            found = recording(live.log.read(KEY), COUNTER)
            calls = [step.position for step in found.steps if step.kind == "call"]
            for position, wanted in zip(calls, what_ifs(found, spec), strict=False):
                assert shown(live.items(KEY, position)) == shown(wanted)
            rebuilt(live)

    @pytest.mark.parametrize("spec", SPECS)
    def test_taking_over_from_the_log_finds_nothing_that_was_left_undone(self, spec: str) -> None:
        with TemporaryDirectory() as folder, opened(folder) as live:
            live_session(live, without_rewinds(made(4)), spec)
            before = live.view(KEY)
            again = run(live, spec)
            assert [e.type for e in again.events if e.type != "compaction_declined"] == []
            assert live.view(KEY) == before
