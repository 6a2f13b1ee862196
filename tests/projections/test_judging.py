"""Many calls judged in one walk: the same verdicts as one by one, and soon."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import recorded_calls
from hypothesis import given, settings
from hypothesis import strategies as st
from random_logs import DECISION, LOG

from eventlog import Draft, Json, StreamKey, events
from eventlog.errors import IntegrityFault
from projections import erasure, open_log, tokens
from projections.judging import judge_all
from projections.live import Live
from projections.prefixes import prefix_rows
from projections.sent import Requests
from projections.session_state import weakest
from projections.sessions import session_stats
from projections.verdicts import judge

KEY = StreamKey("local", "agent", "judged")
CHILD = StreamKey("local", "agent", "judged~2")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def said(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": text, **more}


MESSAGES = st.lists(
    st.one_of(
        st.builds(said, st.just("system"), st.sampled_from(["s1", "s2"])),
        st.builds(said, st.just("user"), st.sampled_from(["a", "b", "long " * 30])),
        st.builds(said, st.just("assistant"), st.sampled_from(["x", "y"])),
        st.builds(said, st.just("tool"), st.sampled_from(["out", "-"]), tool_call_id=st.just("k")),
    ),
    min_size=1,
    max_size=7,
)
CHANGED = st.fixed_dictionaries(
    {},
    optional={
        "request_digest": st.sampled_from([None, "0" * 64]),
        "server_edited": st.just(("truncation",)),
        "forms": st.none(),
        "manifest": st.sampled_from([("1",), ("=1",), ("1", "1"), ("99",), None]),
        "tools": st.sampled_from([None, 1]),
    },
)
STEP = st.one_of(
    st.tuples(st.just("call"), MESSAGES),
    st.tuples(st.just("grow"), MESSAGES),
    st.tuples(st.just("decide"), DECISION),
    st.tuples(st.just("again"), CHANGED),
    st.tuples(st.just("erase"), st.integers(0, 99)),
    st.tuples(st.just("fork"), st.integers(0, 99)),
)


class Played:
    """A stream in which anything happens between the calls."""

    def __init__(self, live: Live) -> None:
        self.live, self.key = live, KEY
        self.messages: list[dict[str, Any]] = []
        self.erased = self.forged = False

    def play(self, step: str, given: Any) -> None:
        if step in ("call", "grow"):
            if self.erased:  # what such a request is recorded as is no matter of this test
                return
            self.messages = given if step == "call" else [*self.messages, *given]
            tools = [{"type": "function", "function": {"name": f"t{len(given) % 2}"}}]
            body = {"model": "m", "messages": self.messages, "tools": tools}
            made = recorded_calls.record(self.live, self.key, "openai_chat", body)
            if made.position and len(given) % 3:
                self.live.append(self.key, events.ModelResponded(call=made.position))
        elif not self.live.log.exists(self.key):
            return
        elif step == "decide":
            self.live.append(self.key, given)
        elif step == "again":
            self.forged |= "manifest" in given
            last = list(self.live.log.read(self.key, types=["model_called"]))[-1:]
            for call in last:
                assert isinstance(call.event, events.ModelCalled)
                salt = self.live.log.salts(self.key, [call.position]).get(call.position)
                copy = call.event.model_copy(update=given)
                self.live.append(self.key, Draft(copy, salt=salt))
        elif step == "erase":
            if not self.forged:
                self.erase(given)
        elif self.key == KEY:
            at = 1 + given % self.live.log.version(KEY)
            self.live.log.fork(CHILD, KEY, at=at)
            self.key = CHILD

    def erase(self, number: int) -> None:
        """An item, or, seldom, a call or the tools."""
        at = 1 + number % self.live.log.version(self.key)
        event = self.live.log.at(self.key, [at])[at]
        if event.type in ("redacted", "session_forked"):
            return
        is_item = event.type in ("message_appended", "tool_result_recorded")
        plan = erasure.plan(
            self.live,
            self.key,
            [str(at)] if is_item else [],
            positions=[] if is_item else [at],
            quotes=False,
        )
        erasure.apply(self.live, plan)
        self.erased = True


class TestAgainstOneByOne:
    """Without it a list of sessions and a look at a call tell different verdicts."""

    @settings(max_examples=80)
    @given(st.lists(STEP, min_size=2, max_size=9), st.integers(0, 2**16))
    def test_the_verdicts_are_the_same_for_any_calls_of_any_stream(
        self, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, Any]], seed: int
    ) -> None:
        folder = tmp_path_factory.mktemp("judged")
        with open_log(folder / "log.db", durability="normal") as live:
            played = Played(live)
            for step, drawn in steps:
                played.play(step, drawn)
            for info in live.log.streams():
                calls = list(live.log.read(info.key, types=["model_called"]))
                wanted = [judge(live, info.key, call) for call in calls]
                assert judge_all(live, info.key, calls) == wanted
                dice = random.Random(seed)
                some = [n for n in range(len(calls)) if dice.random() < 0.5]
                dice.shuffle(some)
                picked = judge_all(live, info.key, [calls[n] for n in some])
                assert picked == [wanted[n] for n in some]


SEALED = events.NewMessage(
    dialect="openai_responses",
    message={"items": [{"type": "compaction", "encrypted_content": "gAAA"}]},
)


class TestOfFoldedCalls:
    """Without it an imported session is known worse, or better, than each of its calls."""

    def test_what_an_encrypted_compaction_put_in_unseen_goes_where_the_context_is_laid_out(
        self, live: Live
    ) -> None:
        hidden = events.ContextCompacted(covered=("1",), opaque=True)
        called = events.ModelCalled(model="m", dialect="openai_chat")
        summary = events.NewMessage(dialect="openai_chat", message=said("user", "All of it."))
        laid_out = events.ContextCompacted(covered=(), layout=("m0",), messages=(summary,))
        human = events.MessageAppended(
            dialect="openai_chat", source="human", message=said("user", "hi")
        )
        live.append(KEY, human, hidden, called, laid_out, called)
        live.append(KEY, events.DecisionUndone(target=4), called)
        calls = list(live.log.read(KEY, types=["model_called"]))
        wanted = ["opaque", "partial", "opaque"]
        assert [judge(live, KEY, call).name for call in calls] == wanted
        assert [each.name for each in judge_all(live, KEY, calls)] == wanted
        for call, provenance in zip(calls[1:], wanted[1:], strict=True):
            live.append(KEY, events.ModelResponded(call=call.position))
            assert session_stats(live, KEY).provenance == provenance

    @settings(max_examples=120)
    @given(LOG, st.integers(0, 2**16), st.booleans())
    def test_the_verdicts_are_the_same_for_any_log(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        log: list[list[events.Event]],
        seed: int,
        erases: bool,
    ) -> None:
        dice = random.Random(seed)
        folder = tmp_path_factory.mktemp("folded")
        with open_log(folder / "log.db", durability="normal") as live:
            for batch in log:
                said = [self.sealed(event, dice) for event in batch]
                live.append(KEY, *said, events.ModelCalled(model="m", dialect="openai_chat"))
                at = live.log.version(KEY)
                if dice.random() < 0.2:
                    tools = [{"name": "t"}]
                    live.append(KEY, events.ToolsDeclared(dialect="openai_chat", definitions=tools))
                if dice.random() < 0.8:
                    live.append(KEY, events.ModelResponded(call=at))
            if erases:
                items = [h.position for h in live.log.headers(KEY) if h.type.endswith("appended")]
                for at in items[: dice.randint(0, 2)]:
                    plan = erasure.plan(live, KEY, [str(at)], quotes=False)
                    erasure.apply(live, plan)
            calls = list(live.log.read(KEY, types=["model_called"]))
            found = [judge(live, KEY, call) for call in calls]
            assert judge_all(live, KEY, calls) == found
            answered = [each.name for each in found if not each.outcome_unknown]
            assert session_stats(live, KEY).provenance == weakest(answered)

    @staticmethod
    def sealed(event: events.Event, dice: random.Random) -> events.Event:
        """Some compactions the provider keeps encrypted, with a blob in the context or without."""
        if not isinstance(event, events.ContextCompacted) or dice.random() < 0.4:
            return event
        if dice.random() < 0.5:
            return event.model_copy(update={"opaque": True})
        return event.model_copy(update={"messages": (SEALED,) * len(event.messages)})

    def test_a_call_costs_no_look_at_the_context(self, live: Live) -> None:
        for number in range(60):
            live.append(
                KEY,
                events.MessageAppended(
                    dialect="openai_chat", source="human", message=said("user", f"say {number}")
                ),
                events.ModelCalled(model="m", dialect="openai_chat"),
            )
        calls = list(live.log.read(KEY, types=["model_called"]))
        asked: list[str] = []
        live.log._ready().set_trace_callback(asked.append)
        found = judge_all(live, KEY, calls)
        live.log._ready().set_trace_callback(None)
        assert {(each.name, each.outcome_unknown) for each in found} == {("partial", True)}
        assert len(asked) < len(calls) / 2


class TestSpeed:
    """Without it a session of a thousand calls takes a minute to be listed the first time."""

    def test_a_call_costs_what_is_new_in_it(self, live: Live) -> None:
        messages = [said("user", f"message {n} " * 20) for n in range(150)]
        for number in range(60):
            recorded_calls.record(live, KEY, "openai_chat", {"model": "m", "messages": messages})
            messages.append(said("assistant", f"answer {number}"))
        recorded = list(live.log.read(KEY, types=["model_called"]))
        asked: list[str] = []
        live.log._ready().set_trace_callback(asked.append)
        many = judge_all(live, KEY, recorded)
        at_once = len(asked)
        asked.clear()
        assert many == [judge(live, KEY, call) for call in recorded]
        live.log._ready().set_trace_callback(None)
        # Statements, not seconds: the same on a busy machine.
        assert at_once * 4 < len(asked)


NO_FORMS: list[Any] = [
    *({"x": 5}, {"0": 5}, [1], "x", {"-1": {}}, {"9" * 20: {"a": 1}}, {"0,x": {"role": 3}}),
    *({"0": {name: wrong}} for name in ("changes", "group", "role", "place") for wrong in (5, [1])),
    {"0": {"changes": [[["content"], "zap", "x"]]}},
    {"0": {"group": [[1], "x", 2]}},
]


class TestFormsThatMakeNoSense:
    """Without these one call that somebody wrote by hand takes the audit and the page away."""

    @pytest.mark.parametrize("forms", NO_FORMS, ids=str)
    def test_they_are_a_fault_of_their_call(self, live: Live, forms: Any) -> None:
        live.append(
            KEY,
            events.MessageAppended(
                dialect="openai_chat", source="human", message=said("user", "x")
            ),
            events.ModelCalled(
                model="m", dialect="openai_chat", manifest=("1",), forms=Json(forms)
            ),
        )
        (call,) = live.log.read(KEY, types=["model_called"])
        (verdict,) = judge_all(live, KEY, [call])
        assert verdict == judge(live, KEY, call)
        assert verdict.name == "broken"
        assert verdict.detail == "the recorded form of item 1 does not fit it"
        with pytest.raises(IntegrityFault, match="does not fit"):
            Requests(live).sent(KEY, call)
        assert len(prefix_rows(live.log.read(KEY), tokens.counter())) == 1
