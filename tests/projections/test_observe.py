"""Requests read as events, and rebuilt to the last byte."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import recorded_calls
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import StreamKey, events
from projections import alignment, open_log
from projections.alignment import align
from projections.context import fold
from projections.forms import apply, form, key
from projections.live import Live
from projections.sent import Requests
from projections.verdicts import judge

KEY = StreamKey("local", "agent", "watched")


def system(text: str = "Be brief.") -> dict[str, Any]:
    return {"role": "system", "content": text}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str | None, *calls: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": c, "type": "function", "function": {"name": "run", "arguments": '{"n": 1.0}'}}
            for c in calls
        ]
    return message


def tool(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


class Watched:
    """A session that is only watched: each request is recorded, then answered."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self.bodies: dict[int, dict[str, Any]] = {}

    def call(self, messages: list[dict[str, Any]], **more: Any) -> str:
        body = {"model": "m", "messages": messages, **more}
        recorded = recorded_calls.record(self.live, KEY, "openai_chat", copy.deepcopy(body))
        if recorded.position:
            self.bodies[recorded.position] = body
            self.live.append(KEY, events.ModelResponded(call=recorded.position))
        return recorded.kind

    def kinds(self) -> list[str]:
        skipped = {"model_called", "model_responded", "message_appended", "tool_result_recorded"}
        return [e.type for e in self.live.log.read(KEY) if e.type not in skipped]

    def check(self) -> None:
        """Every request so far is rebuilt as it was, and judged exact."""
        requests = Requests(self.live)
        for position, body in self.bodies.items():
            call = self.live.log.at(KEY, [position])[position]
            assert requests.sent(KEY, call).body == body
            verdict = judge(self.live, KEY, call)
            assert verdict.name == "exact", verdict.detail
        assert self.live.view(KEY) == fold(self.live.log.read(KEY))


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    with open_log(tmp_path / "log.db", durability="normal") as live:
        yield Watched(live)
        # whatever a test did, nothing that was sent may be misremembered


FIRST = [system(), user("fix the test"), answer(None, "a"), tool("a", "FAILED " * 40)]
SECOND = [*FIRST, answer("it is the rounding", "b"), tool("b", "1 passed")]


class TestWhatChangedBetweenTwoRequests:
    """An agent that reports nothing is still accountable."""

    def test_a_request_that_grows_brings_only_new_items(self, watched: Watched) -> None:
        watched.call(FIRST)
        watched.call(SECOND)
        watched.check()
        assert watched.kinds() == []
        assert watched.live.view(KEY).labels() == ["1", "2", "3", "4", "7", "8"]
        call = watched.live.log.at(KEY, [9])[9]
        assert call.data["manifest"] == ["=4", "7-8"]

    def test_a_cleared_result_is_a_substitution(self, watched: Watched) -> None:
        watched.call(SECOND)
        changed = [*SECOND[:3], tool("a", "[cleared]"), *SECOND[4:]]
        watched.call([*changed, user("go on")])
        watched.check()
        assert watched.kinds() == ["placeholder_substituted"]

    def test_a_result_cleared_right_behind_an_earlier_call_is_no_branch(
        self, watched: Watched
    ) -> None:
        watched.call(FIRST[:2])
        watched.call(FIRST)
        watched.call([*FIRST[:3], tool("a", "[cleared]"), *SECOND[4:]])
        watched.check()
        assert watched.kinds() == ["placeholder_substituted"]

    def test_another_message_behind_an_answer_that_was_given_is_a_branch(
        self, watched: Watched
    ) -> None:
        told = [*FIRST, answer("it is the rounding")]
        watched.call(FIRST)
        watched.call([*told, user("go on")])
        watched.call([*told, user("go on"), answer("done"), user("?")])
        watched.call([*told, user("and now?")])
        watched.check()
        assert watched.kinds() == ["session_rewound"]

    def test_a_result_seen_again_whole_undoes_the_substitution(self, watched: Watched) -> None:
        watched.call(SECOND)
        watched.call([*SECOND[:3], tool("a", "[cleared]"), *SECOND[4:], user("go on")])
        watched.call([*SECOND, user("go on"), answer("yes")])
        watched.check()
        assert watched.kinds() == ["placeholder_substituted", "decision_undone"]

    def test_a_changed_system_prompt_is_a_revision(self, watched: Watched) -> None:
        watched.call(FIRST)
        watched.call([system("Be long."), *SECOND[1:]])
        watched.check()
        assert watched.kinds() == ["message_revised"]

    def test_a_replaced_run_is_a_compaction(self, watched: Watched) -> None:
        watched.call(SECOND)
        watched.call([system(), user("Summary: rounding"), user("now the docs")])
        watched.check()
        assert watched.kinds() == ["context_compacted"]
        assert watched.live.view(KEY).labels() == ["1", "9.0", "10"]

    def test_a_dropped_run_in_the_middle_is_a_truncation(self, watched: Watched) -> None:
        watched.call([*SECOND, user("and?")])
        watched.call([system(), *SECOND[4:], user("and?"), answer("done")])
        watched.check()
        assert watched.kinds() == ["context_compacted"]

    def test_a_message_put_in_between_stands_there(self, watched: Watched) -> None:
        watched.call(SECOND)
        watched.call([SECOND[0], user("reminder"), *SECOND[1:]])
        watched.check()
        assert watched.live.view(KEY).labels()[:2] == ["1", "9"]

    def test_a_new_order_is_laid_out(self, watched: Watched) -> None:
        watched.call([system(), user("one"), user("two"), user("three")])
        watched.call([system(), user("three"), user("one"), user("two")])
        watched.check()

    def test_going_back_and_answering_otherwise_is_a_branch(self, watched: Watched) -> None:
        watched.call(FIRST[:2])
        watched.call(FIRST)
        watched.call(SECOND)
        assert watched.call([*FIRST[:2], answer("another way"), user("go")]) == "branch"
        watched.check()
        assert watched.kinds() == ["session_rewound"]

    def test_a_title_request_is_a_side_call_and_changes_nothing(self, watched: Watched) -> None:
        watched.call(SECOND)
        before = watched.live.log.version(KEY)
        kind = watched.call([system("You write titles."), user("Give a title.")])
        assert kind == "side"
        assert watched.live.log.version(KEY) == before

    def test_a_retry_repeats_the_manifest(self, watched: Watched) -> None:
        watched.call(FIRST)
        watched.call(FIRST)
        watched.check()
        assert watched.kinds() == []

    def test_tools_are_declared_once_and_found_again(self, watched: Watched) -> None:
        tools = [{"type": "function", "function": {"name": "run", "parameters": {}}}]
        watched.call(FIRST, tools=tools)
        watched.call(SECOND, tools=[*tools, *tools])
        watched.call([*SECOND, user("x")], tools=tools, temperature=0.5)
        watched.check()
        assert watched.kinds() == ["tools_declared", "tools_declared"]

    def test_one_and_one_point_zero_are_two_things(self, watched: Watched) -> None:
        for weight in (1, 1.0, True, 1):
            watched.call([system(), {**user("fix it"), "weight": weight}, answer("x")])
        call = watched.live.log.at(KEY, [max(watched.bodies)])[max(watched.bodies)]
        watched.check()
        body = Requests(watched.live).sent(KEY, call).body
        assert json.dumps(body["messages"][1]["weight"]) == "1"

    def test_tools_that_are_null_are_sent_as_null(self, watched: Watched) -> None:
        watched.call(FIRST, tools=None)
        watched.check()

    def test_forms_are_kept_beside_the_message(self, watched: Watched) -> None:
        watched.call(FIRST)
        marked = {"role": "user", "content": [{"type": "text", "text": "fix the test"}]}
        with_null = {**FIRST[2], "refusal": None}
        watched.call([FIRST[0], marked, with_null, FIRST[3], answer("x")])
        watched.call([*FIRST, answer("x"), user("y")])
        watched.check()
        assert watched.kinds() == []

    def test_fifty_calls_later_everything_is_still_exact(self, watched: Watched) -> None:
        messages = [system()]
        for number in range(60):
            messages = [*messages, user(f"u{number}")]
            watched.call(messages)
            messages = [*messages, answer(f"a{number}")]
        watched.check()
        wholes = [
            e.data["manifest"]
            for e in watched.live.log.read(KEY, types=["model_called"])
            if not str(e.data["manifest"][0]).startswith("=")
        ]
        assert len(wholes) == 2


class TestAnthropicRequests:
    """System outside, results grouped in one user message, cache marks that move."""

    def test_they_are_rebuilt_to_the_last_key(self, tmp_path: Path) -> None:
        key = KEY
        call = {"type": "tool_use", "id": "t1", "name": "run", "input": {"n": None}}
        other = {"type": "tool_use", "id": "t2", "name": "run", "input": {}}
        results = [
            {"type": "tool_result", "tool_use_id": "t1", "content": "one"},
            {"type": "tool_result", "tool_use_id": "t2", "content": "two"},
        ]
        mark = {"cache_control": {"type": "ephemeral"}}
        first = {
            "model": "c",
            "max_tokens": 9,
            "system": [{"type": "text", "text": "Be brief.", **mark}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", **mark}]}],
        }
        second = {
            **first,
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": [call, other]},
                {"role": "user", "content": [*results, {"type": "text", "text": "go", **mark}]},
            ],
        }
        with open_log(tmp_path / "log.db", durability="normal") as live:
            requests = Requests(live)
            for body in (first, second, first | {"messages": [*second["messages"]]}):
                position = recorded_calls.record(
                    live, key, "anthropic", copy.deepcopy(body)
                ).position
                event = live.log.at(key, [position])[position]
                assert requests.sent(key, event).body == body
                assert judge(live, key, event).name == "exact"
                assert judge(live, key, event).outcome_unknown
            kinds = {e.type for e in live.log.read(key)}
            assert kinds == {"message_appended", "tool_result_recorded", "model_called"}


MESSAGES = st.lists(
    st.one_of(
        st.builds(user, st.sampled_from(["a", "b", "c", "long " * 30])),
        st.builds(answer, st.sampled_from(["x", "y"])),
        st.builds(lambda c: answer(None, c), st.sampled_from(["k1", "k2"])),
        st.builds(tool, st.sampled_from(["k1", "k2"]), st.sampled_from(["out", "other", "-"])),
        st.builds(system, st.sampled_from(["s1", "s2"])),
    ),
    min_size=1,
    max_size=8,
)


class TestAnySequenceOfRequests:
    """Whatever an agent does to its context, the log explains it and gives it back."""

    @settings(max_examples=120)
    @given(sequence=st.lists(MESSAGES, min_size=1, max_size=5))
    def test_every_request_is_exact(
        self, tmp_path_factory: pytest.TempPathFactory, sequence: list[list[dict[str, Any]]]
    ) -> None:
        folder = tmp_path_factory.mktemp("observe")
        with open_log(folder / "log.db", durability="normal") as live:
            watched = Watched(live)
            for messages in sequence:
                watched.call(messages)
            watched.check()


class TestAlignment:
    """The walk of request and view together."""

    @given(
        old=st.lists(st.sampled_from("abc"), max_size=9),
        new=st.lists(st.sampled_from("abc"), max_size=9),
    )
    def test_pairs_are_equal_increasing_and_as_many_as_possible(
        self, old: list[str], new: list[str]
    ) -> None:
        pairs = align(old, new)
        assert all(old[i] == new[j] for i, j in pairs)
        assert pairs == sorted(set(pairs))
        assert len({j for _, j in pairs}) == len(pairs)
        table = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
        for i, a in enumerate(old, 1):
            for j, b in enumerate(new, 1):
                table[i][j] = (
                    table[i - 1][j - 1] + 1 if a == b else max(table[i - 1][j], table[i][j - 1])
                )
        assert len(pairs) == table[-1][-1]

    @given(
        old=st.lists(st.sampled_from("abcd"), max_size=9),
        new=st.lists(st.sampled_from("abef"), max_size=9),
    )
    def test_what_is_kept_out_of_the_table_changes_no_pair(
        self, old: list[str], new: list[str]
    ) -> None:
        assert alignment._exact(old, new) == alignment._by_table(old, new)

    def test_long_sequences_are_anchored_and_still_aligned(self) -> None:
        old = [str(n) for n in range(4000)]
        new = ["new", *old[100:2000], "x", *old[2500:], "end"]
        assert len(align(old, new)) == 1900 + 1500


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


class TestForms:
    """A message is stored once, however it is dressed when it is sent."""

    @given(
        stored=st.dictionaries(st.text(max_size=3), JSON),
        sent=st.dictionaries(st.text(max_size=3), JSON),
    )
    def test_applying_the_form_gives_the_sent_message(
        self, stored: dict[str, Any], sent: dict[str, Any]
    ) -> None:
        made = apply(stored, json.loads(json.dumps(form(stored, sent))))
        assert json.dumps(made, sort_keys=True) == json.dumps(sent, sort_keys=True)

    @given(
        text=st.sampled_from(["fix the test", "a longer text of it " * 5, ""]),
        dress=st.lists(st.integers(0, 4), min_size=2, max_size=2),
        dialect=st.sampled_from(["text", "input_text"]),
    )
    def test_between_two_that_are_alike_no_change_holds_their_text(
        self, text: str, dress: list[int], dialect: str
    ) -> None:
        mark = {"cache_control": {"type": "ephemeral"}}
        dresses: list[Any] = [
            text,
            [{"type": dialect, "text": text}],
            [{"type": dialect, "text": text, **mark}],
            [{"type": "text", "text": text, "annotations": None}],
            [{"type": "output_text", "text": text, **mark}],
        ]
        stored, sent = ({"role": "user", "content": dresses[number]} for number in dress)
        assert key(stored) == key(sent)
        changes = form(stored, sent)
        assert apply(stored, json.loads(json.dumps(changes))) == sent
        assert not text or text not in json.dumps(changes)

    def test_a_cache_mark_does_not_store_the_text_again(self) -> None:
        text = "long " * 100
        marked = {"role": "user", "content": [{"type": "text", "text": text, "cache_control": 1}]}
        assert key(marked) == key(user(text))
        assert len(json.dumps(form(user(text), marked))) < 120
