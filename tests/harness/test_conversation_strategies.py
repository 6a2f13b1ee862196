"""Every strategy, in charge of a live conversation: the context in memory is the one in the log
after each step, every call is proved, and what was sent is what the what-if of the same strategy
shows. What a strategy cannot do is done another way, or told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from conversing import LOOK, Asked, holds, scripted, standing, told, types
from model_server import ModelServer, serving
from specs_made import EVERY

from harness.conversation import Conversation
from harness.conversation.happenings import Ended
from harness.tools.tool import tool
from projections import Live, open_log
from projections.recording import Recording, recording
from projections.strategies.base import Moment, MomentKind, Strategy
from projections.strategies.decisions import Decision, Summary
from projections.strategies.registry import STRATEGIES
from projections.strategies.spec import parse
from projections.strategies.window import Window
from projections.tokens import counter
from projections.whatif import Runner, WhatIf
from projections.written import Written


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "talk.db") as opened:
        yield opened


def short(wanted: Summary, items: Any) -> Written:
    """A summary that says nothing but how much it stands for."""
    return Written(f"A summary of {len(items)}.", "m")


def shown(items: Iterable[Any]) -> list[tuple[str, str, Any]]:
    """What a context shows: messages of compactions have other names in a what-if."""
    return [
        ("summary" if item.kind == "summary" else item.id, item.form, dict(item.message))
        for item in items
    ]


def what_ifs(found: Recording, spec: str) -> list[list[tuple[str, str, Any]]]:
    """The contexts that ``replay --strategy`` shows at each call."""
    contexts = []

    def look(what: WhatIf, window: Window, touched: Any) -> None:
        contexts.append(shown(entry.item for entry in window.entries.values()))

    Runner(found, parse(spec), counter(), short, look).run()
    return contexts


def read(n: int) -> str:
    """Read a file."""
    return f"line {n}\n" * 30 + "Traceback: ValueError in src/app.py\n" * (n % 2)


def lives(live: Live, server: ModelServer, spec: str, turns: int) -> int:
    """Talk with that strategy; how many decisions it took."""
    name = f"s{len(live.log.streams())}"
    talk = Conversation(
        live, server.client(), "m", session=name, system="Be brief.", strategy=spec,
        tools=[LOOK, tool(read, has_effects=False)], summarize=short, most_calls=4,
    )  # fmt: skip
    for n in range(1, turns + 1):
        for _ in talk.say(f"turn {n}: look, read" if n % 3 else f"turn {n}"):
            assert standing(talk.items()) == standing(live.items(talk.key))
    holds(talk)
    found = recording(live.log.read(talk.key), counter())
    calls = [step.position for step in found.steps if step.kind == "call"]
    assert len(calls) == types(live, talk.key).count("model_called")
    if "repair_applied" not in types(live, talk.key):  # which a what-if knows nothing of
        wanted = what_ifs(found, spec)
        assert [shown(live.items(talk.key, at)) for at in calls] == wanted
    again = Conversation(live, server.client(), "m", session=name, strategy=spec, summarize=short)
    assert [i.message for i in again.items()] == [i.message for i in talk.items()]
    assert again.tokens == talk.tokens
    decisions = ("placeholder_substituted", "context_compacted", "message_revised")
    return sum(types(live, talk.key).count(kind) for kind in decisions)


def one_each() -> list[str]:
    """The first spec of each strategy."""
    found: dict[str, str] = {}
    for spec in EVERY:
        if "|" not in spec:
            found.setdefault(spec.partition(":")[0], spec)
    return list(found.values())


def test_every_strategy_and_preset_is_here() -> None:
    assert {spec.partition(":")[0] for spec in one_each()} >= set(STRATEGIES)


@pytest.mark.parametrize("spec", one_each())
def test_a_live_context_is_the_one_of_the_log_and_of_the_what_if(spec: str, live: Live) -> None:
    with serving(scripted) as server:
        lives(live, server, spec, 4)


MAY_DO_NOTHING = ("none", "cut:limit=700", "adaptive", "openhands", "anthropic-clear", "dedup")
"""With these numbers, in a session as short as this."""


@pytest.mark.slow
@pytest.mark.parametrize("spec", EVERY)
def test_so_it_is_for_fifteen_turns(spec: str, live: Live) -> None:
    with serving(scripted) as server:
        decided = lives(live, server, spec, 15)
    assert decided or spec.startswith(MAY_DO_NOTHING)


# -- what goes wrong in one -----------------------------------------------------------------------


def test_where_no_summary_can_be_had_a_context_over_the_window_is_truncated(live: Live) -> None:
    def answer(asked: Asked) -> Any:
        return scripted(asked) if asked.get("stream") else (503, {"error": {"message": "busy"}})

    with serving(answer) as server:
        talk = Conversation(
            live, server.client(), "m", session="s", tools=[LOOK],
            strategy="compact:keep_turns=1,trigger_tokens=300", window=500,
        )  # fmt: skip
        for n in range(1, 9):
            assert told(talk.say(f"turn {n}: look"))[-1] == Ended("answered")
            holds(talk)
        kinds = types(live, talk.key)
        assert "compaction_declined" in kinds
        assert "context_compacted" in kinds
        assert talk.tokens < 500
        (reason, *_) = [e.data for e in live.log.read(talk.key, types=["compaction_declined"])]
        assert "busy" in reason["detail"]


class Raises(Strategy):
    """A user's own, with a mistake in it."""

    name: ClassVar[str] = "raises"
    moment: ClassVar[MomentKind] = "tool_result"

    def triggered(self, window: Window, moment: Moment) -> bool:
        return True

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        raise ZeroDivisionError("a mistake of its own")


@pytest.mark.parametrize("moment", ["tool_result", "user_turn", "model_call"])
def test_a_strategy_that_raises_is_told_and_another_one_goes_on(
    moment: MomentKind, live: Live
) -> None:
    with serving(scripted) as server:
        talk = Conversation(
            live, server.client(), "m", session="s", tools=[LOOK],
            strategy=[Raises(at=moment)],
        )  # fmt: skip
        with pytest.raises(ZeroDivisionError, match="a mistake of its own"):
            told(talk.say("turn 1: look"))
        holds(talk)
        asked = len(server.requests)
        assert asked == (1 if moment == "tool_result" else 0)
        talk.use("cut:limit=80")
        assert told(talk.go_on() if talk.is_waiting() else talk.say("turn 1: look"))[-1] == Ended(
            "answered"
        )
        holds(talk)
        assert not talk.open_calls()


def test_an_id_that_was_repaired_survives_a_later_placeholder(live: Live) -> None:
    """The model forgets what it called, and calls it again under the same id: a repair gives the
    first call another one, which a placeholder of its result has to keep."""
    spec = "cut:limit=90 | clear:keep=1,at=model_call | dedup | window:tokens=60"
    with serving(scripted) as server:
        lives(live, server, spec, 2)
    kinds = types(live, live.log.streams()[0].key)
    assert "repair_applied" in kinds
    assert "message_revised" in kinds[kinds.index("repair_applied") :]
