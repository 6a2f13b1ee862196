"""Failing shapes from other agents, by their number in reference/strategies.md section 7.

Here stand those in which a strategy takes part. B07 is in test_bugs_signed, B11 in harness
(test_summarizer_window), B19 in test_todos, B22 in test_usage, B23 in test_bugs_limits, B37 in cli
(test_declared_tools).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import pytest
from contexts_made import ANTHROPIC, PIXEL, RESPONSES, answer, item, reasoning, result, say, signed
from replays_made import human, origins, recording_of, replayed, session, system, texts, work

from projections.dialects import DIALECTS
from projections.items import Item
from projections.legality import sendable
from projections.recording import Step
from projections.strategies.check import check, short
from projections.strategies.decisions import Summary
from projections.strategies.marks import ACKNOWLEDGEMENT, SUMMARY_OPEN, unframed
from projections.whatif import Runner

LONG = "word " * 200


def faults(runner: Runner) -> list[str]:
    """What providers say of the context as it can be sent."""
    items = sendable(runner.items()).items
    return [fault for d in DIALECTS.values() for fault in d.validate(d.render(items))]


def by_kind(runner: Runner, kind: str) -> list[int | str]:
    """The items of all changes of that kind."""
    return [o for change in runner.result.changes if change.kind == kind for o in change.items]


class TestPairs:
    """B01 to B06, B08, B38: a cut that parts what belongs together is refused by every provider."""

    def test_b01_a_tail_never_starts_on_a_result_whose_call_is_gone(self) -> None:
        items = [system(), *session(8)[1:]]
        for keep in range(1, 9):
            runner = replayed(items, f"truncate:turns={keep},at=model_call")
            first = runner.items()[1]
            assert not first.result_ids
            assert not sendable(runner.items()).repairs or first.role == "assistant"

    def test_b02_a_batch_with_a_missing_result_is_one_unit(self) -> None:
        items = [human(1), answer(2, "a", "b"), result(3, "a", LONG), *work(4, LONG), human(6)]
        runner = replayed(items, "window:tokens=80")
        assert {2, 3} <= set(origins(runner)), "the batch is open, so all of it stays"
        assert not faults(runner)

    def test_b02_a_whole_batch_leaves_together(self) -> None:
        batch = [answer(2, "a", "b"), result(3, "b", LONG), result(4, "a", LONG)]
        runner = replayed([human(1), *batch, *work(5, LONG), human(7)], "window:tokens=300")
        assert not {2, 3, 4} & set(origins(runner))

    def test_b03_a_late_result_leaves_with_its_call_however_far(self) -> None:
        talk = [say(n, "user", LONG) for n in range(3, 11)]
        items = [human(1), answer(2, "late"), *talk, result(11, "late"), human(12)]
        runner = replayed(items, "truncate:turns=1,at=model_call")
        assert (2 in origins(runner)) == (11 in origins(runner))
        assert not faults(runner)

    def test_b04_a_result_under_the_role_user_is_no_turn(self) -> None:
        block = {"type": "tool_result", "tool_use_id": "c2", "content": "ok"}
        carried = item(3, ANTHROPIC, {"role": "user", "content": [block]})
        items = [human(1), answer(2, "c2", dialect=ANTHROPIC), carried, human(4), human(5)]
        runner = replayed(items, "truncate:turns=2,unit=turn,at=model_call")
        assert origins(runner) == [4, 5]
        assert replayed(items[:3], "none").window.turns == 1

    def test_b05_an_open_call_and_what_is_behind_it_stays(self) -> None:
        behind = say(6, "user", LONG, source="injected")
        items = [human(1), *work(2, LONG), answer(4, "open"), human(5), behind, human(7)]
        runner = replayed(items, "window:tokens=1")
        assert {4, 5, 6, 7} <= set(origins(runner))
        assert runner.result.changes[-1].kind == "over_budget"

    def test_b06_signed_thinking_is_never_edited_also_when_it_becomes_the_latest(self) -> None:
        think = answer(2, "c2", dialect=ANTHROPIC, thinking=[signed()])
        items = [human(1), think, result(3, "c2", LONG, ANTHROPIC), *work(4, LONG), human(6)]
        runner = replayed(items, "clear:keep=0,clear_tool_inputs=true,at=model_call")
        assert runner.window.entries[2].item is think
        assert by_kind(runner, "cleared") == [3, 5]

    def test_b08_reasoning_leaves_with_the_item_that_it_precedes(self) -> None:
        thought = item(2, RESPONSES, reasoning(), role="assistant", source="model", call=9)
        call = {"type": "function_call", "call_id": "c3", "name": "run", "arguments": "{}"}
        acts = item(3, RESPONSES, call, role="assistant", source="model", call=9)
        items = [human(1), thought, acts, result(4, "c3", LONG, RESPONSES), *work(5, LONG)]
        runner = replayed([*items, human(7)], "window:tokens=250")
        assert origins(runner) == [5, 6, 7] or not {2, 3, 4} & set(origins(runner))
        assert not faults(runner)

    def test_b38_the_fallback_path_is_as_legal_as_the_first(self) -> None:
        items = session(30, turns=3)
        fallen = replayed(items, "compress:max_messages=20", summarize=None)
        assert fallen.result.needs_summary
        assert not faults(fallen)


class TestProgress:
    """B09, B10, B15, B16, B36: compaction that cannot help loops, abstains or empties."""

    def test_b09_an_irreducible_context_is_said_once_and_not_tried_at_each_call(self) -> None:
        items = [system(text=LONG * 3), human(2), *[m for n in range(20) for m in work(3 + 2 * n)]]
        runner = replayed(items, "window:tokens=500")
        stuck = [c for c in runner.result.changes if c.kind == "over_budget"]
        assert 1 <= len(stuck) < len(runner.result.calls) / 2
        assert "system" in stuck[0].reason

    def test_b10_a_compaction_is_not_run_again_for_what_it_did(self) -> None:
        runner = replayed(session(40), "condense:tokens=2000,keep_last=4", summarize=short)
        compactions = [c for c in runner.result.changes if c.kind == "summarised"]
        assert all(b.position > a.position + 10 for a, b in pairwise(compactions))

    def test_b15_a_single_giant_result_is_cut_first(self) -> None:
        runner = replayed([human(1), *work(2, LONG * 50)], "window:tokens=1000")
        assert runner.window.tokens <= 1000
        assert set(origins(runner)) == {1, 2, 3}

    def test_b16_the_only_message_over_the_budget_keeps_head_and_tail(self) -> None:
        runner = replayed([human(1, "first " + LONG * 9 + " last")], "window:tokens=300")
        (text,) = texts(runner)
        assert text.startswith("first")
        assert text.endswith("last")
        assert runner.window.tokens <= 300

    def test_b16_no_strategy_leaves_only_the_system_prompt(self) -> None:
        items = [system(), *[answer(n, text=LONG) for n in range(2, 9)]]
        for spec in ("truncate:turns=0,at=model_call", "window:tokens=1"):
            assert len(origins(replayed(items, spec))) == 2

    def test_b16_a_result_of_no_call_is_no_message_that_is_left(self) -> None:
        orphan = {"type": "function_call_output", "call_id": "c9", "output": "x"}
        both = item(1, RESPONSES, {"items": [reasoning(), orphan]}, role="assistant")
        runner = replayed([both, system(2, LONG)], "window:tokens=1")
        assert sendable(runner.items()).items[0].id == "2"

    def test_b36_the_window_goes_down_to_a_low_water_mark(self) -> None:
        runner = replayed(session(40), "window:tokens=2000,low=50")
        dropped = [c for c in runner.result.changes if c.kind == "dropped"]
        assert len(dropped) < len(runner.result.calls) / 4


class TestSummaries:
    """B12 to B14, B17, B18, B20, B29, B35: what becomes memory, and what does not."""

    def test_b12_a_long_tool_loop_under_one_prompt_never_becomes_a_canned_text(self) -> None:
        items = session(40, turns=100)
        runner = replayed(items, "compress:max_messages=20,at=model_call", summarize=None)
        assert not [text for text in texts(runner) if SUMMARY_OPEN in text]
        assert runner.result.needs_summary

    @pytest.mark.parametrize("text", ["", "  \n", None])
    def test_b13_an_empty_summary_is_no_memory_and_the_originals_stay(
        self, text: str | None
    ) -> None:
        items = session(6)
        runner = replayed(items, "compact:keep_turns=2", summarize=lambda wanted, shown: text)
        assert origins(runner) == [int(each.id) for each in items]
        assert {change.kind for change in runner.result.changes} == {"declined"}

    def test_b13_after_three_failures_nobody_is_asked_any_more(self) -> None:
        asked = []

        def failing(wanted: Summary, shown: Sequence[Item]) -> None:
            asked.append(len(shown))

        replayed(session(60), "compress:max_messages=8", summarize=failing)
        assert len(asked) == 3

    def test_b14_what_the_summarizer_was_not_shown_is_not_called_summarised(self) -> None:
        shown: list[str] = []

        def writing(wanted: Summary, items: Sequence[Item]) -> str:
            shown.extend(each.id for each in items)
            return "what was said"

        runner = replayed(session(30, turns=3), "compress:max_messages=20", summarize=writing)
        for change in runner.result.changes:
            covered = {str(origin) for origin in change.items}
            unseen = {str(origin) for origin in change.unseen}
            assert covered - unseen <= set(shown)
            assert unseen

    def test_b17_the_system_prompt_stands_once_and_verbatim_after_many_compactions(self) -> None:
        items = session(60)
        runner = replayed(items, "compress:max_messages=8", summarize=short)
        assert [t for t in texts(runner) if t == "You are an agent."] == ["You are an agent."]
        assert runner.items()[0] is items[0]

    def test_b18_a_pinned_rule_survives_every_round(self) -> None:
        rule = human(2, "Never touch migrations/.")
        rounds = [m for n in range(40) for m in (human(3 + 3 * n), *work(4 + 3 * n, LONG))]
        items = [system(), rule, *rounds]
        for spec in ("window:tokens=900", "prune:tokens=900", "condense:tokens=900,keep_last=2"):
            pinned = replayed(items, spec, Step("pin", 21, origin=2), summarize=short)
            assert pinned.window.entries[2].item is rule
            assert 2 not in origins(replayed(items, spec, summarize=short)), (
                "else it proves nothing"
            )

    def test_b20_a_summary_stands_between_marks_and_is_no_human_turn(self) -> None:
        runner = replayed(session(30), "compress:max_messages=20", summarize=short)
        (summary,) = [e for e in runner.window.entries.values() if e.is_summary]
        assert not summary.is_human
        assert unframed(summary.item.text) != summary.item.text

    def test_b29_the_message_that_is_coming_stands_behind_the_summary(self) -> None:
        items = session(6)
        runner = replayed([*items, human(99, "stop!")], "compact:keep_turns=1", summarize=short)
        assert texts(runner)[-1] == "stop!"
        assert texts(runner)[-2] == ACKNOWLEDGEMENT

    def test_b35_an_earlier_summary_is_folded_in_without_its_marks(self) -> None:
        marks = []

        def writing(wanted: Summary, items: Sequence[Item]) -> str:
            marks.append(sum(SUMMARY_OPEN in each.text for each in items))
            return short(wanted, items)

        runner = replayed(session(60), "compress:max_messages=10", summarize=writing)
        assert len(marks) > 2
        assert not any(marks)
        assert sum(SUMMARY_OPEN in text for text in texts(runner)) == 1


class TestEdits:
    """B21, B24 to B28, B31 to B34: edits that say nothing, slide, split or eat messages."""

    def test_b21_a_picture_in_a_cut_result_is_noted(self) -> None:
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        blocks = [{"type": "text", "text": LONG}, {"type": "image", "source": source}]
        call = answer(2, "c2", dialect=ANTHROPIC)
        items = [human(1), call, result(3, "c2", blocks, ANTHROPIC)]
        cut = texts(replayed(items, "cut:limit=100"))[-1]
        assert "image/png" in cut
        assert PIXEL not in cut

    def test_b24_between_two_triggers_nothing_that_was_sent_changes(self) -> None:
        runner = replayed(session(60), "mask:n=4,polling=8")
        calls = runner.result.calls
        breaks = [b for a, b in pairwise(calls) if b.prefix < a.tokens]
        assert 0 < len(breaks) <= 60 / 8 + 1

    def test_b25_excluded_tools_are_never_cleared_and_a_mark_says_how_to_get_it_back(self) -> None:
        memory = [answer(2, "m", name="memory"), result(3, "m", LONG)]
        items = [human(1), *memory, *work(4, LONG), *work(6, LONG), human(8)]
        runner = replayed(items, "clear:keep=1,exclude_tools=memory")
        assert by_kind(runner, "cleared") == [5]
        assert "item 5 of the log" in texts(runner)[4]
        assert "call run again" in texts(runner)[4]

    def test_b26_under_the_trigger_nothing_is_edited(self) -> None:
        for spec in ("window", "budget", "prune", "tiered", "adaptive", "protect", "codex"):
            assert replayed(session(20), spec).result.changes == []

    def test_b27_a_cut_splits_no_character_and_no_arguments(self) -> None:
        text = "🙂" * 300
        runner = replayed([human(1), *work(2, text, arguments='{"a": "🙂"}')], "cut:limit=7")
        cut = texts(runner)[-1]
        assert cut.startswith("🙂🙂🙂\n[… 293 ")
        assert cut.endswith("]\n🙂🙂🙂🙂")
        assert runner.items()[1].parts[0].text == '{"a": "🙂"}'

    def test_b28_after_clearing_inputs_the_skeleton_of_the_call_stands(self) -> None:
        arguments = json.dumps({"content": LONG})
        items = [human(1), *work(2, LONG, "write", arguments), *work(4), human(6)]
        runner = replayed(items, "clear:keep=1,clear_tool_inputs=write")
        (call,) = runner.items()[1].parts
        assert call.name == "write"
        assert json.loads(call.text) == {"cleared": "the arguments are in item 2 of the log"}
        assert by_kind(runner, "revised") == [2]

    def test_b31_zero_means_none_and_not_all(self) -> None:
        items = [*session(5), human(99, "last")]
        assert texts(replayed(items, "truncate:turns=0")) == ["You are an agent.", "last"]
        assert len(by_kind(replayed(items, "clear:keep=0"), "cleared")) == 5
        compacted = replayed(items, "compact:keep_turns=0", summarize=short)
        assert len(origins(compacted)) == 4

    def test_b32_no_strategy_loses_a_message_without_a_word(self) -> None:
        numbered = human(2, "1: a\n2: b\n(no file header here)")
        for spec in ("swe-agent", "mask:n=0,polling=1", "cut:limit=1", "dedup"):
            assert origins(replayed([system(), numbered, *work(3)], spec)) == [1, 2, 3, 4]

    def test_b33_blocks_where_a_text_is_expected_are_read(self) -> None:
        blocks = [{"type": "text", "text": LONG}, {"type": "text", "text": "end"}]
        items = [say(1, "user", blocks, source="human"), *work(2), say(4, "user", blocks)]
        for spec in ("compress:max_messages=2,keep_recent=1", "prune:tokens=9", "window:tokens=9"):
            assert replayed(items, f"{spec},at=model_call", summarize=short).result.calls

    def test_b34_clear_at_least_that_cannot_be_reached_clears_nothing(self) -> None:
        items = [*session(5), human(99)]
        for unreachable in (400, 1_000_000):
            spec = f"clear:keep=1,clear_at_least={unreachable}"
            assert replayed(items, spec).result.changes == []
        assert by_kind(replayed(items, "clear:keep=1,clear_at_least=150"), "cleared")


class TestStates:
    """B30: a compaction that was rewound away covers nothing any more."""

    def test_b30_a_rewind_brings_the_covered_items_back(self) -> None:
        items = session(8)
        number = int(items[-1].id) + 1
        compacted = [*items, human(number)]
        back = Step("rewind", number * 10 + 1, to=int(items[-1].id) * 10)
        runner = replayed(compacted, "compact:keep_turns=1", back, summarize=short)
        before = replayed(items, "compact:keep_turns=1", summarize=short)
        assert origins(runner) == origins(before)

    def test_all_shapes_together_break_no_rule(self) -> None:
        items = [
            system(),
            human(2),
            answer(3, "a", "a", "b"),
            result(4, "b", LONG),
            result(5, "a", LONG),
            result(6, "a"),
            result(7, "a"),
            human(8),
            answer(9, "late"),
            human(10),
            *work(11, LONG),
            result(13, "late", LONG),
            answer(14, "never"),
        ]
        spec = "dedup | cut:limit=101 | clear:keep=1 | compact:keep_turns=1 | window:tokens=150"
        assert check(spec, recordings={"all": recording_of(items)}) == []
