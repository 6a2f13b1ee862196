"""Any context becomes one that every provider accepts, and what was changed is said."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from contexts_made import (
    ANTHROPIC,
    CHAT,
    DIALECT,
    JUNK,
    RESPONSES,
    answer,
    contexts,
    ids,
    item,
    plausible_contexts,
    reasoning,
    result,
    say,
    signed,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eventlog import StreamKey, events, messages
from eventlog.errors import NoContext
from eventlog.events import RepairApplied
from projections import open_log
from projections.dialects import DIALECTS
from projections.items import Item
from projections.legality import NO_RESULT, START, Sendable, check, sendable

RANDOM = settings(
    max_examples=120,
    suppress_health_check=[HealthCheck.filter_too_much],
)


def rules(items: Sequence[Item], **options: bool) -> list[str]:
    """The rules that ``check`` finds broken."""
    return [violation.rule for violation in check(items, **options)]


def refused(made: Sendable) -> dict[str, list[str]]:
    """What each provider would refuse of it."""
    found = {name: d.validate(d.render(made.items)) for name, d in DIALECTS.items()}
    return {name: problems for name, problems in found.items() if problems}


U1 = say(1, "user", "fix it", source="human")
U2 = say(2, "user", "and then", source="human")


class TestResults:
    """Rule 1: a pair that is broken or out of place is a 400 from every provider."""

    def test_results_stand_right_behind_their_call(self) -> None:
        made = sendable([U1, answer(2, "x"), say(3, "user", "wait"), result(4, "x")])
        assert ids(made.items) == ["1", "2", "4", "3"]
        assert [(r.rule, r.moved) for r in made.repairs] == [("misplaced_result", ("4",))]

    def test_results_of_one_batch_stand_together_in_the_order_of_the_log(self) -> None:
        batch = [answer(2, "a", "b", "c"), result(3, "c"), U2, result(5, "a"), result(6, "b")]
        assert ids(sendable([U1, *batch]).items) == ["1", "2", "3", "5", "6", "2"]

    @pytest.mark.parametrize("dialect", [CHAT, RESPONSES, ANTHROPIC])
    def test_a_result_without_a_call_leaves(self, dialect: str) -> None:
        made = sendable([U1, result(2, "x", dialect=dialect)])
        assert ids(made.items) == ["1"]
        assert [(r.rule, r.dropped) for r in made.repairs] == [("orphan_result", ("2",))]

    def test_a_result_before_its_call_is_no_answer(self) -> None:
        assert rules([U1, result(2, "x"), answer(3, "x")]) == ["orphan_result", "unanswered_call"]

    def test_the_second_result_of_one_call_leaves(self) -> None:
        made = sendable([U1, answer(2, "x"), result(3, "x", "one"), result(4, "x", "two")])
        assert ids(made.items) == ["1", "2", "3"]
        assert [(r.rule, r.dropped) for r in made.repairs] == [("second_result", ("4",))]

    def test_a_result_belongs_to_the_nearest_open_call_of_its_id(self) -> None:
        made = sendable(
            [U1, answer(2, "x"), result(3, "x", "one"), answer(4, "x"), result(5, "x", "two")]
        )
        assert [(m.result_ids or m.call_ids) for m in made.items[1:]] == [
            ("x",),
            ("x",),
            ("x_4",),
            ("x_4",),
        ]
        assert [r.rule for r in made.repairs] == ["repeated_call_id"]
        assert not refused(made)

    def test_one_id_twice_in_one_batch_is_answered_in_order(self) -> None:
        made = sendable([U1, answer(2, "x", "x"), result(3, "x", "1st"), result(4, "x", "2nd")])
        assert made.items[1].call_ids == ("x", "x_2")
        assert [(m.result_ids, m.text) for m in made.items[2:]] == [
            (("x",), "1st"),
            (("x_2",), "2nd"),
        ]

    def test_a_name_that_is_taken_is_not_given_again(self) -> None:
        made = sendable([U1, answer(2, "x_4"), result(3, "x_4"), answer(4, "x_4", "x"), U2])
        calls = [call for each in made.items for call in each.call_ids]
        assert len(calls) == len(set(calls)) == 3

    def test_a_call_without_id_gets_one(self) -> None:
        made = sendable([U1, answer(2, ""), result(3, "")])
        assert made.items[1].call_ids == made.items[2].result_ids == ("call_2",)

    def test_a_result_in_a_user_message_is_taken_apart_only_when_it_must(self) -> None:
        block = {"type": "tool_result", "tool_use_id": "x", "content": "done"}
        text = {"type": "text", "text": "go on"}
        mixed = item(3, ANTHROPIC, {"role": "user", "content": [block, text]})
        whole = sendable([U1, answer(2, "x", dialect=ANTHROPIC), mixed])
        assert whole.items[2] is mixed
        assert whole.repairs == ()
        parted = sendable([U1, mixed])
        assert ids(parted.items) == ["1", "3/1"]
        assert [r.rule for r in parted.repairs] == ["orphan_result", "split_message"]

    def test_a_call_of_a_user_is_no_call(self) -> None:
        calling = {
            "role": "user",
            "content": "hm",
            "tool_calls": answer(1, "x").message["tool_calls"],
        }
        made = sendable([item(1, CHAT, calling), result(2, "x")])
        assert ids(made.items) == ["1"]
        assert not refused(made)


class TestOpenCalls:
    """Rule 2: a call that nobody answered bricks the session, until somebody closes it."""

    def test_an_unanswered_call_is_closed(self) -> None:
        made = sendable([U1, answer(2, "a", "b"), result(3, "b"), U2])
        assert ids(made.items) == ["1", "2", "3", "2+0", "2"]
        assert made.items[3].text == NO_RESULT
        assert made.repairs[0].call_ids == ("a",)
        assert not refused(made)

    @pytest.mark.parametrize("dialect", [CHAT, RESPONSES, ANTHROPIC])
    def test_in_every_dialect(self, dialect: str) -> None:
        made = sendable([U1, answer(2, "a", dialect=dialect)])
        assert made.items[-1].result_ids == ("a",)
        assert not refused(made)

    def test_the_live_frontier_stays_open(self) -> None:
        items = [U1, answer(2, "a", "b"), result(3, "a")]
        assert sendable(items, live_frontier=True).repairs == ()
        assert rules(items) == ["unanswered_call"]

    def test_a_call_behind_the_frontier_is_closed_also_then(self) -> None:
        items = [U1, answer(2, "a"), U2, answer(4, text="sorry"), answer(5, "b")]
        assert ids(sendable(items, live_frontier=True).items) == ["1", "2", "2+0", "2", "4", "5"]

    def test_a_real_result_takes_the_place_of_the_synthetic_one(self) -> None:
        closed = sendable([U1, answer(2, "a")]).items
        made = sendable([*closed, result(4, "a", "late")])
        assert ids(made.items) == ["1", "2", "4"]
        assert [(r.rule, r.dropped) for r in made.repairs] == [("second_result", ("2+0",))]

    def test_a_real_result_finds_its_call_after_the_call_was_renamed(self) -> None:
        items = [U1, answer(2, "x"), result(3, "x"), answer(4, "x")]
        renamed = sendable(items).items[:-1]
        made = sendable([*renamed, result(5, "x", "late")])
        assert made.items[-1].result_ids == ("x_4",)
        assert made.items[-1].text == "late"

    def test_an_old_function_call_is_closed_in_its_own_form(self) -> None:
        legacy = {"role": "assistant", "function_call": {"name": "run", "arguments": "{}"}}
        made = sendable([U1, item(2, CHAT, legacy, role="assistant")])
        assert made.items[-1].message == {"role": "function", "name": "run", "content": NO_RESULT}
        assert not refused(made)


class TestSystem:
    """Rule 3: the system prompt stands first, verbatim, once."""

    def test_a_repeated_leading_message_stands_once(self) -> None:
        rule, other = say(1, "system", "be brief"), say(2, "developer", "be kind")
        made = sendable([rule, other, say(3, "system", "be brief"), U1])
        assert [i.message["content"] for i in made.items] == ["be brief", "be kind", "fix it"]
        assert made.items[0] is rule
        assert [(r.rule, r.dropped) for r in made.repairs] == [("repeated_system", ("3",))]

    def test_a_later_one_keeps_its_place(self) -> None:
        items = [say(1, "system", "be brief"), U1, say(3, "system", "be brief"), U2]
        assert sendable(items).items == tuple(items)

    def test_it_does_not_part_a_call_from_its_result(self) -> None:
        made = sendable([U1, answer(2, "x"), say(3, "system", "note"), result(4, "x")])
        assert ids(made.items) == ["1", "2", "4", "3"]


class TestOrder:
    """Rule 4: the order of the log, a user first, never nothing."""

    def test_a_context_that_begins_with_the_model_gets_a_marker(self) -> None:
        made = sendable([say(1, "system", "S"), answer(2, text="hello"), U2])
        assert [i.text for i in made.items] == ["S", START, "hello", "and then"]
        assert made.repairs[0].rule == "no_user_first"
        assert made.repairs[0].inserted[0].after == "1"

    def test_a_context_of_a_system_prompt_alone_gets_one_too(self) -> None:
        made = sendable([say(1, "system", "S")])
        assert [i.text for i in made.items] == ["S", START]
        assert not refused(made)

    def test_a_context_never_begins_with_a_result(self) -> None:
        assert ids(sendable([result(1, "x"), U2]).items) == ["2"]

    @pytest.mark.parametrize(
        "items",
        [[], [result(1, "x")], [say(1, "user", " \n")], [item(1, RESPONSES, reasoning())]],
        ids=["nothing", "an orphan", "a blank", "reasoning alone"],
    )
    def test_no_message_is_no_context(self, items: list[Item]) -> None:
        with pytest.raises(NoContext):
            sendable(items)
        assert rules(items) == ["no_context"]

    @pytest.mark.parametrize("content", ["", "  ", None, [], [{"type": "text", "text": ""}], 5])
    def test_blank_messages_leave(self, content: Any) -> None:
        made = sendable([U1, say(2, "assistant", content), U2])
        assert [r.rule for r in made.repairs] in (["empty_message"], ["unreadable_message"])
        assert not refused(made)

    def test_a_message_that_cannot_be_read_leaves_and_is_named(self) -> None:
        made = sendable([U1, item(2, ANTHROPIC, ["no", "object"])])
        assert [(r.rule, r.dropped) for r in made.repairs] == [("unreadable_message", ("2",))]

    def test_a_legal_context_is_returned_as_it_is(self) -> None:
        items = [say(1, "system", "S"), U1, answer(3, "x"), result(4, "x"), answer(5, text="ok")]
        made = sendable(items)
        assert all(a is b for a, b in zip(made.items, items, strict=True))
        assert made.repairs == ()
        assert check(items) == ()


class TestThinking:
    """Rule 5: thinking is the provider's; changed by one byte it is refused for ever."""

    def test_signed_thinking_stays_byte_identical_when_ids_are_renamed(self) -> None:
        thinking = signed("let me see")
        first = answer(2, "x", dialect=ANTHROPIC)
        second = answer(4, "x", dialect=ANTHROPIC, thinking=[thinking])
        made = sendable([U1, first, result(3, "x"), second, result(5, "x")])
        assert made.items[3].message["content"][0] == thinking
        assert not refused(made)

    @pytest.mark.parametrize("dialect", [CHAT, ANTHROPIC])
    def test_a_message_of_nothing_but_thinking_leaves(self, dialect: str) -> None:
        message = {"role": "assistant", "content": [signed()]}
        if dialect == CHAT:
            message = {"role": "assistant", "content": "", "reasoning_content": "hm"}
        made = sendable([U1, item(2, dialect, message, role="assistant")])
        assert [r.rule for r in made.repairs] == ["thinking_alone"]

    def test_reasoning_stays_with_the_item_that_it_precedes(self) -> None:
        items = [U1, item(2, RESPONSES, reasoning()), answer(3, "x", dialect=RESPONSES)]
        made = sendable([*items, result(4, "x", dialect=RESPONSES)])
        assert made.repairs == ()
        assert DIALECTS[RESPONSES].render(made.items)["input"][1] == reasoning()

    def test_reasoning_that_lost_its_item_leaves_and_the_next_one_loses_its_id(self) -> None:
        said = {"type": "function_call", "id": "fc_1", "call_id": "x", "name": "run"}
        later = {**said, "id": "fc_2", "call_id": "y", "arguments": "{}"}
        items = [
            U1,
            item(2, RESPONSES, reasoning()),
            U2,
            item(4, RESPONSES, {**said, "arguments": "{}"}),
            result(5, "x", dialect=RESPONSES),
            item(6, RESPONSES, later),
            result(7, "y", dialect=RESPONSES),
        ]
        made = sendable(items)
        assert ids(made.items) == ["1", "2", "4", "5", "6", "7"]
        assert "id" not in made.items[2].message
        assert made.items[4].message["id"] == "fc_2"
        assert {r.rule for r in made.repairs} == {"thinking_alone"}
        assert not refused(made)


class TestCatalogue:
    """Failing shapes from public bug reports (the numbers are the catalogue's)."""

    def test_b01_a_tail_cut_on_a_result(self) -> None:
        items = [U1, answer(2, "x"), result(3, "x"), answer(4, text="ok"), U2]
        made = sendable(items[2:])
        assert ids(made.items) == ["4+start", "4", "2"]
        assert not refused(made)

    def test_b02_a_batch_of_which_only_some_results_exist(self) -> None:
        made = sendable([U1, answer(2, "a", "b", dialect=ANTHROPIC), result(3, "b"), U2])
        assert DIALECTS[ANTHROPIC].render(made.items)["messages"][2]["content"][:2] == [
            {"type": "tool_result", "tool_use_id": "b", "content": "done"},
            {"type": "tool_result", "tool_use_id": "a", "content": NO_RESULT},
        ]

    def test_b03_a_deferred_result_eight_messages_later(self) -> None:
        between = [say(n, "user", f"note {n}") for n in range(3, 11)]
        made = sendable([U1, answer(2, "x"), *between, result(11, "x")])
        assert ids(made.items)[:3] == ["1", "2", "11"]

    def test_b04_a_result_under_the_role_of_a_user_is_no_user_turn(self) -> None:
        block = {"type": "tool_result", "tool_use_id": "x", "content": "done"}
        stored = item(2, ANTHROPIC, {"role": "user", "content": [block]}, source="human")
        made = sendable([answer(1, "x"), stored])
        assert [r.rule for r in made.repairs] == ["no_user_first"]
        assert not stored.is_human

    def test_b05_stale_open_calls_are_closed_once(self) -> None:
        once = sendable([U1, answer(2, "a"), U2, answer(4, text="go on")])
        assert sendable(once.items).repairs == ()
        assert sum(i.text == NO_RESULT for i in once.items) == 1

    def test_b06_an_older_message_that_becomes_the_latest_keeps_its_thinking(self) -> None:
        older = answer(2, "x", dialect=ANTHROPIC, thinking=[signed("older")])
        latest = answer(4, dialect=ANTHROPIC, thinking=[signed("latest")], text="ok")
        items = [U1, older, result(3, "x", dialect=ANTHROPIC), latest]
        made = sendable(items[:3])
        assert made.items[1] is older
        assert DIALECTS[ANTHROPIC].render(made.items)["messages"][1] == older.message

    def test_b07_signed_text_is_sent_whole_or_not_at_all(self) -> None:
        broken = answer(2, "x", dialect=ANTHROPIC, thinking=[signed("half \ud83d")])
        made = sendable([U1, broken, result(3, "x")])
        blocks = DIALECTS[ANTHROPIC].render(made.items)["messages"][1]["content"]
        assert [block["type"] for block in blocks] == ["tool_use"]

    def test_b16_what_does_not_fit_never_leaves_an_empty_context(self) -> None:
        assert ids(sendable([say(1, "system", "S"), U2]).items) == ["1", "2"]

    def test_b17_the_system_prompt_is_neither_trimmed_nor_repeated(self) -> None:
        prompt = say(1, "system", " be brief \n")
        made = sendable([prompt, prompt, U1])
        body = DIALECTS[ANTHROPIC].render(made.items)
        assert body["system"] == " be brief \n"

    def test_b27_a_lone_surrogate_is_sent_as_a_replacement_character(self) -> None:
        stored = say(1, "user", "half \ud83d")
        made = sendable([stored])
        for dialect in DIALECTS.values():
            assert "half \ufffd" in str(dialect.render(made.items))
        assert made.items[0].message["content"] == "half \ud83d"

    def test_b31_a_tail_of_nothing_is_nothing(self) -> None:
        items = [U1, answer(2, text="ok")]
        with pytest.raises(NoContext):
            sendable(items[len(items) - 0 :])


class TestRecording:
    """A repair is an event: an old call rebuilds the same after the rules improve."""

    def test_a_recorded_repair_is_not_repaired_again(self, tmp_path: Path) -> None:
        key = StreamKey("local", "agent", "s")
        with open_log(tmp_path / "log.db") as live:
            live.append(key, *[_event(i) for i in (U1, answer(2, "a"), U2)])
            first = live.sendable(key)
            live.append(key, *_recorded(first))
            second = live.sendable(key)
            assert [i.text for i in second.items] == [i.text for i in first.items]
            assert second.repairs == ()
            live.append(key, events.ToolResultRecorded(tool_call_id="a", dialect=CHAT, content="!"))
            third = live.sendable(key)
        assert [i.text for i in third.items if i.result_ids] == ["!"]

    def test_a_move_needs_no_event(self) -> None:
        made = sendable([U1, answer(2, "x"), U2, result(4, "x")])
        assert [r.event() for r in made.repairs] == [None]

    def test_texts_and_names_follow_from_the_items_alone(self) -> None:
        items = [U1, answer(2, "x"), result(3, "x"), answer(4, "x", "y")]
        short, longer = sendable(items), sendable([*items, U2, answer(6, "x"), U1])
        assert longer.items[: len(short.items)] == short.items

    @RANDOM
    @given(plausible_contexts())
    def test_the_events_of_the_repairs_make_the_same_context(self, items: list[Item]) -> None:
        try:
            made = sendable(items)
        except NoContext:
            return
        folded = items
        for position, event in enumerate(_recorded(made), start=len(items) + 1):
            folded = _applied(folded, event, position)
        again = sendable(folded)
        assert {r.rule for r in again.repairs} <= {"misplaced_result"}
        for dialect in DIALECTS.values():
            assert dialect.render(again.items) == dialect.render(made.items)


def _recorded(made: Sendable) -> list[RepairApplied]:
    return [event for repair in made.repairs if (event := repair.event()) is not None]


def _event(stored: Item) -> events.MessageAppended:
    return events.MessageAppended(dialect=CHAT, source="human", message=stored.message)


def _applied(items: list[Item], event: RepairApplied, position: int) -> list[Item]:
    """What the event says, done to the items."""
    found = list(items)
    for change in event.renamed:
        at = ids(found).index(change.item)
        old = found[at]
        message = messages.rename_call(old.dialect, old.message, change.old, change.new)
        found[at] = replace(old, message=message)
    behind: dict[str | None, int] = {}
    for number, insert in enumerate(event.inserted):
        new = insert.message
        made = item(f"{position}.{number}", new.dialect, new.message.value, label=new.label)
        place = 0 if insert.after is None else ids(found).index(insert.after) + 1
        found.insert(place + behind.get(insert.after, 0), made)
        behind[insert.after] = behind.get(insert.after, 0) + 1
    native = {i.id: replace(i, kind="tool_result") for i in found if _is_block(i)}
    return [native.get(i.id, i) for i in found if i.id not in event.dropped]


def _is_block(stored: Item) -> bool:
    return stored.message.get("type") == "tool_result"


class TestAnything:
    """Total: whatever the log holds, there is a request, or there is nothing to be said."""

    @RANDOM
    @given(st.one_of(contexts(), plausible_contexts()))
    def test_every_provider_accepts_it(self, items: list[Item]) -> None:
        before = copy.deepcopy([i.message for i in items])
        try:
            made = sendable(items)
        except NoContext:
            assert rules(items) == ["no_context"]
            return
        assert not refused(made)
        assert [i.message for i in items] == before
        again = sendable(made.items)
        assert (again.items, again.repairs) == (made.items, ())
        for repair in made.repairs:
            repair.event()

    @RANDOM
    @given(st.lists(st.tuples(DIALECT, JUNK, st.sampled_from(["message", "tool_result"]))))
    def test_also_of_what_is_no_message_at_all(self, natives: list[tuple[str, Any, Any]]) -> None:
        items = [item(n, d, j, kind=k) for n, (d, j, k) in enumerate(natives, start=1)]
        for dialect in DIALECTS.values():
            dialect.render(items)
        try:
            assert not refused(sendable(items))
        except NoContext:
            return

    @RANDOM
    @given(plausible_contexts())
    def test_only_results_change_their_place(self, items: list[Item]) -> None:
        try:
            made = sendable(items)
        except NoContext:
            return
        given_ids = ids(items)
        kept = [i for i in made.items if i.id in given_ids]
        moved = {name for repair in made.repairs for name in repair.moved}
        places = [given_ids.index(i.id) for i in kept if i.id not in moved]
        assert places == sorted(places)
        assert all(i.result_ids for i in kept if i.id in moved)
        gone = {name for repair in made.repairs for name in repair.dropped}
        assert gone | {i.id for i in kept} == set(given_ids)
