"""The exact rule of each strategy, by small sessions in which every number can be counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from contexts_made import answer, result, say
from replays_made import COUNTER, human, origins, recording_of, replayed, session, system, texts
from replays_made import work as work_of

from projections.items import Item
from projections.recording import Step
from projections.strategies import parse
from projections.strategies.adaptive import Adaptive
from projections.strategies.check import short
from projections.strategies.decisions import Summary
from projections.strategies.hashing import cosine, embed, unit
from projections.strategies.made import made
from projections.strategies.marks import SUMMARY_CLOSE, SUMMARY_OPEN, cut
from projections.strategies.prune import Prune
from projections.whatif import Runner

LONG = "word " * 200


def cleared(runner: Runner) -> list[int | str]:
    """What was cleared, in order."""
    return [o for c in runner.result.changes if c.kind == "cleared" for o in c.items]


def dropped(runner: Runner) -> list[int | str]:
    """What was dropped, in order."""
    return [o for c in runner.result.changes if c.kind == "dropped" for o in c.items]


class TestTruncate:
    """The last turns times two messages; a turn of humans where that is asked for."""

    def test_the_last_messages_stay(self) -> None:
        items = [system(), *[say(n, "user", "x", source="human") for n in range(2, 12)]]
        assert origins(replayed(items, "truncate:turns=2,at=model_call")) == [1, 8, 9, 10, 11]

    def test_the_default_is_twenty_turns(self) -> None:
        items = [say(n, "user", "x", source="human") for n in range(1, 60)]
        assert len(origins(replayed(items, "truncate:turns=20"))) == 41
        assert len(origins(replayed(items, "truncate"))) == 41

    def test_human_turns_count_the_one_that_is_coming(self) -> None:
        items = session(6)
        runner = replayed(items, "truncate:turns=2,unit=turn")
        assert [e.item.text for e in runner.window.humans.values()] == ["task 4", "task 5"]
        assert len(runner.window.entries) == 1 + 6


class TestCut:
    """Head and tail; an odd limit gives the tail one more; zero keeps no text."""

    @pytest.mark.parametrize(
        ("limit", "expected"),
        [
            (4, "ab\n[… 6 characters left out …]\nij"),
            (5, "ab\n[… 5 characters left out …]\nhij"),
            (1, "\n[… 9 characters left out …]\nj"),
            (0, "\n[… 10 characters left out …]\n"),
        ],
    )
    def test_of_ten_characters(self, limit: int, expected: str) -> None:
        assert cut("abcdefghij", limit) == expected

    def test_a_result_of_exactly_the_limit_is_not_touched(self) -> None:
        items = [human(1), *work_of(2, "x" * 100)]
        assert replayed(items, "cut:limit=100").result.changes == []
        assert replayed([human(1), *work_of(2, "x" * 200)], "cut:limit=100").result.changes

    def test_what_the_note_would_make_longer_is_declined_and_said(self) -> None:
        runner = replayed([human(1), *work_of(2, "x" * 101)], "cut:limit=100")
        assert [c.kind for c in runner.result.changes] == ["declined"]
        assert texts(runner)[-1] == "x" * 101


class TestClear:
    """All but the last results, oldest first, by Anthropic's rules."""

    def test_all_but_the_last_keep(self) -> None:
        runner = replayed([*session(5), human(99)], "clear:keep=2")
        assert cleared(runner) == [4, 7, 10]
        assert all(entry.item.call_ids for o, entry in runner.window.entries.items() if o in (3, 6))

    def test_under_the_trigger_nothing(self) -> None:
        assert not cleared(replayed(session(5), "clear:keep=0,trigger=100000,at=model_call"))

    def test_a_result_smaller_than_its_placeholder_is_not_asked_about_again(self) -> None:
        items = [system(), *(m for n in range(9) for m in [human(9 * n + 2), *_small(9 * n + 3)])]
        runner = replayed(items, "clear:keep=1")
        assert not cleared(runner)
        assert runner.window.settled == 7
        assert len([c for c in runner.result.changes if c.kind == "declined"]) == 1

    def test_inputs_of_kept_results_and_of_other_tools_stay(self) -> None:
        items = [human(1), *work_of(2, LONG, "edit", f'{{"a": "{LONG}"}}')]
        items += [*work_of(4, LONG, "read", f'{{"a": "{LONG}"}}')]
        items += [*work_of(6, LONG, "edit", f'{{"a": "{LONG}"}}'), human(8)]
        runner = replayed(items, "clear:keep=1,clear_tool_inputs=edit")
        revised = [o for c in runner.result.changes if c.kind == "revised" for o in c.items]
        assert revised == [2]


def _small(number: int) -> list[Item]:
    return work_of(number, "ok")


class TestMask:
    """SWE-agent's index rule: obs[1 : (N // polling) * polling - n]."""

    @pytest.mark.parametrize(
        ("rounds", "expected"),
        [(9, ()), (10, (1, 2, 3, 4)), (14, (1, 2, 3, 4)), (15, range(1, 10))],
    )
    def test_five_of_five(self, rounds: int, expected: Sequence[int]) -> None:
        items = session(rounds, LONG, turns=99)
        results = [int(each.id) for each in items if each.kind == "tool_result"]
        runner = replayed(items, "mask:n=5,polling=5")
        assert cleared(runner) == [results[n] for n in expected]

    def test_without_the_first_it_is_masked_too(self) -> None:
        runner = replayed(session(4, LONG), "mask:n=2,polling=1,keep_first=false")
        assert len(cleared(runner)) == 2


class TestSummaries:
    """``compress``, ``compact``, ``condense``, ``tiered``, ``users``: who stays, who is shown."""

    def test_compress_shows_texts_only_and_puts_one_user_message_between_marks(self) -> None:
        wanted_by: list[tuple[Summary, list[str]]] = []

        def writing(wanted: Summary, shown: Sequence[Item]) -> str:
            wanted_by.append((wanted, [each.role for each in shown]))
            return "they spoke"

        talk = [say(n, "user" if n % 2 else "assistant", "hello", source="human") for n in (3, 4)]
        items = [system(), *work_of(30), *talk, *session(20)[1:]]
        items = [system(), *[_at(n + 2, each) for n, each in enumerate(items[1:])]]
        runner = replayed(items, "compress:max_messages=10,keep_recent=4", summarize=writing)
        wanted, roles = wanted_by[0]
        assert (wanted.max_tokens, wanted.texts_only) == (500, True)
        assert set(roles) <= {"user", "assistant"}
        (summary,) = [e for e in runner.window.entries.values() if e.is_summary]
        assert summary.item.message == {
            "role": "user",
            "content": f"{SUMMARY_OPEN}\nthey spoke\n{SUMMARY_CLOSE}",
        }

    def test_compress_without_a_summary_truncates_to_half_of_what_it_keeps(self) -> None:
        items = [say(n, "user", "x " * 50, source="human") for n in range(1, 14)]
        runner = replayed(items, "compress:max_messages=10,keep_recent=6,at=model_call")
        assert origins(runner) == list(range(8, 14))

    def test_compact_keeps_whole_turns_and_the_model_acknowledges(self) -> None:
        shown: list[str] = []

        def writing(wanted: Summary, items: Sequence[Item]) -> str:
            shown.extend(each.id for each in items)
            return "earlier work"

        items = session(5, LONG)
        runner = replayed(items, "compact:keep_turns=2,trigger_turns=4", summarize=writing)
        assert shown == [str(n) for n in range(2, 11)]
        assert [each.role for each in runner.items()[:3]] == ["system", "user", "assistant"]
        assert origins(runner)[3:] == [11, 12, 13, 14, 15, 16]

    def test_compact_by_tokens_waits_for_them(self) -> None:
        spec = "compact:keep_turns=1,trigger_tokens={n}"
        few = replayed(session(4, LONG), spec.format(n=100_000), summarize=short)
        many = replayed(session(4, LONG), spec.format(n=500), summarize=short)
        assert not few.result.changes
        assert many.result.changes

    def test_condense_keeps_first_and_last(self) -> None:
        items = session(8, LONG, turns=99)
        spec = "condense:max_items=10,keep_first=1,keep_last=4"
        runner = replayed(items, spec, summarize=short)
        assert origins(runner)[:2] == [1, 2]
        assert runner.items()[2].kind == "summary"

    def test_halve_counts_the_prompt_and_leaves_half_with_the_summary(self) -> None:
        items = session(6, LONG, turns=99)  # a prompt, a task and twelve of work
        assert not replayed(items, "halve:max_size=14,keep_first=2", summarize=short).result.changes
        runner = replayed(items, "halve:max_size=12,keep_first=2", summarize=short)
        # 12 // 2 - 2 - 1 = 3 would stay at the end; the third of them lost its call, and leaves.
        assert [o for o in origins(runner) if isinstance(o, int)] == [1, 2, 13, 14]
        assert [each.kind for each in runner.items()].index("summary") == 2

    def test_halve_counts_each_call_of_an_answer(self) -> None:
        many = answer(3, "a", "b", "c")
        results = [result(4 + n, call, LONG) for n, call in enumerate("abc")]
        items = [system(), human(2), many, *results, *work_of(7, LONG), *work_of(9, LONG)]
        spec = "halve:max_size={n},keep_first=2"
        assert not replayed(items, spec.format(n=12), summarize=short).result.changes
        (change,) = replayed(items, spec.format(n=11), summarize=short).result.changes
        # 12 events stand, 2 would stay at the end: the batch and the work behind it leave.
        assert change.items == (3, 4, 5, 6, 7, 8)

    def test_halve_begins_behind_a_batch_that_its_first_ones_reach_into(self) -> None:
        items = [system(), human(2), *work_of(3, LONG), *work_of(5, LONG), *work_of(7, LONG)]
        runner = replayed(items, "halve:max_size=7,keep_first=1", summarize=short)
        assert runner.result.changes[0].items[0] in (2, 3)
        deeper = replayed(items, "halve:max_size=8,keep_first=2", summarize=short)
        assert not deeper.result.changes
        inside = [*items, *work_of(9, LONG), *work_of(11, LONG)]
        first = replayed(inside, "halve:max_size=10,keep_first=3", summarize=short)
        assert first.result.changes[0].items[0] == 5

    def test_tiered_keeps_the_task_in_front_of_the_archive(self) -> None:
        runner = replayed(session(30, LONG, turns=7), "tiered:tokens=2000", summarize=short)
        assert origins(runner)[:2] == [1, 2]
        assert [each.kind for each in runner.items()].count("summary") == 1
        assert runner.items()[2].kind == "summary"

    def test_users_keeps_what_people_said_and_puts_the_summary_last(self) -> None:
        items = session(12, LONG, turns=3)
        runner = replayed(items, "users:tokens=1500,user_tokens=14", summarize=short)
        humans = [e.item.text for e in runner.window.humans.values()]
        assert humans[-1] == "task 9"
        first = runner.result.changes[0]
        assert first.kind == "summarised"
        seen: list[list[str]] = []
        Runner(
            recording_of(items),
            parse("users:tokens=1500,user_tokens=14"),
            COUNTER,
            short,
            lambda run, window, touched: seen.append(
                [e.item.kind for e in window.entries.values()]
            ),
        ).run()
        assert any(kinds[-1] == "summary" for kinds in seen)


def _at(number: int, each: Item) -> Item:
    return replace(each, id=str(number), rendition=str(number))


class TestBudgets:
    """``window``, ``budget``, ``prune``, ``adaptive``, ``protect``: what goes first."""

    def test_window_drops_whole_units_oldest_first_down_to_the_mark(self) -> None:
        runner = replayed(session(10, LONG, turns=99), "window:tokens=1500,low=60")
        gone = dropped(runner)
        assert gone == sorted(gone, key=int)
        assert gone[:2] == [3, 4]
        assert runner.window.tokens <= 1500

    def test_budget_clears_the_oldest_results_over_the_share_first(self) -> None:
        items = session(6, LONG, turns=99)
        runner = replayed(items, "budget:tokens=1600,drop_history=false")
        gone = cleared(runner)
        assert gone[0] == 4
        assert gone == sorted(gone, key=int)
        assert not dropped(runner)

    def test_budget_hands_the_unused_share_of_the_system_to_the_task(self) -> None:
        items = [human(1, LONG), *session(6, LONG, turns=2)[1:]]
        items = [_at(n + 1, each) for n, each in enumerate(items)]
        generous = replayed(items, "budget:tokens=1600,system=20,task=5")
        strict = replayed(items, "budget:tokens=1600,system=0,task=5")
        assert strict.window.entries[1].tokens < generous.window.entries[1].tokens

    def test_prune_keeps_errors_users_and_what_the_task_speaks_of(self) -> None:
        items = [human(1, "repair the refund rounding")]
        items += work_of(2, "nothing here " * 60)
        items += work_of(4, "Traceback: ValueError failed " * 30)
        items += work_of(6, "nothing there " * 60)
        items += [human(8, "repair the refund rounding now"), *work_of(9, "refund rounding " * 50)]
        runner = replayed(items, "prune:tokens=650,low=90")
        assert dropped(runner)[:2] == [2, 3]
        assert {1, 4, 5, 8} <= set(origins(runner))

    def test_prune_reads_chinese(self) -> None:
        items = [
            human(1, "修复退款"),
            *work_of(2, "普通的内容。" * 50),
            *work_of(4, "发生错误，" * 60),
        ]
        runner = replayed([*items, human(6, "继续")], "prune:tokens=320,low=90")
        assert dropped(runner) == [2, 3]

    @pytest.mark.parametrize(
        ("kind", "stays"), [("debugging", 4), ("code_review", 6), ("creative_writing", None)]
    )
    def test_adaptive_keeps_what_the_kind_of_work_needs(self, kind: str, stays: int | None) -> None:
        items = [human(1), *work_of(3, "Traceback (most recent call last) failed " * 6)]
        items += [*work_of(5, "diff --git a/x b/x\n@@ -1 +1 @@\n-old +new line " * 5)]
        items += [m for n in range(7, 23, 2) for m in work_of(n, "plain output " * 30)]
        runner = replayed(items, "adaptive:tokens=900,keep=1", Step("task", 12, text=kind))
        assert {4, 6} - set(cleared(runner)) - set(dropped(runner)) == ({stays} if stays else set())

    @pytest.mark.parametrize(
        ("tools", "kind"),
        [
            ((), "chat"),
            (("read_file", "grep"), "code_review"),
            (("read_file", "bash"), "debugging"),
        ],
    )
    def test_adaptive_tells_the_kind_by_the_tools(self, tools: Sequence[str], kind: str) -> None:
        items = [human(1)]
        for name in tools:
            items += work_of(len(items) + 1, name=name)
        assert Adaptive().kind(replayed(items, "none").window) == kind

    def test_protect_clears_beyond_the_span_when_it_brings_enough(self) -> None:
        items = [*session(8, LONG), human(99)]
        assert not cleared(replayed(items, "protect:protect=600,minimum=2000,turns=2"))
        gone = cleared(replayed(items, "protect:protect=600,minimum=500,turns=2"))
        assert gone == [4, 7, 10, 13]

    def test_protect_does_not_look_at_the_last_turns(self) -> None:
        items = [*session(8, LONG, turns=8), human(99)]
        assert not cleared(replayed(items, "protect:protect=0,minimum=0,turns=2"))
        assert cleared(replayed(items, "protect:protect=0,minimum=0,turns=1,at=model_call")) == [
            *range(4, 20, 2)
        ]


class TestDedup:
    """The newest of equal or similar results stays; different paths are never similar."""

    def test_the_same_tool_with_the_same_arguments_in_any_order(self) -> None:
        items = [human(1), *work_of(2, LONG, "read", '{"path": "a", "n": 1}')]
        items += work_of(4, "other " * 100, "read", '{"n": 1, "path": "a"}')
        runner = replayed(items, "dedup:semantic=false")
        assert (
            texts(runner)[2]
            == "[1 similar result of read omitted; the latest is item 5 of the log]"
        )
        assert runner.items()[2].form == "deduplicated"

    def test_the_third_says_two(self) -> None:
        items = [human(1), *(m for n in (2, 4, 6) for m in work_of(n, LONG, "read", '{"p": 1}'))]
        runner = replayed(items, "dedup")
        assert texts(runner)[4].startswith("[2 similar results of read omitted")

    def test_similar_texts_of_one_path_but_not_of_two(self) -> None:
        first, second = LONG + " one more line", LONG + " another line"
        for path, expected in (("a.py", 1), ("b.py", 0)):
            items = [human(1), *work_of(2, first, "read", '{"path": "a.py", "from": 1}')]
            items += work_of(4, second, "read", f'{{"path": "{path}", "from": 2}}')
            runner = replayed(items, "dedup")
            assert len(runner.result.changes) == expected

    def test_another_embedder_decides_otherwise(self) -> None:
        items = [human(1), *work_of(2, LONG, "read", '{"n": 1}')]
        items += work_of(4, "другое " * 120, "read", '{"n": 2}')
        recording = recording_of(items)
        plain = Runner(recording, parse("dedup"), COUNTER)
        same = Runner(recording, parse("dedup"), COUNTER, embed=lambda text: [2.0, 0.0])
        assert not plain.run().changes
        assert len(same.run().changes) == 1

    def test_the_hashing_embedder_is_the_same_everywhere(self) -> None:
        vector = embed("Fix the rounding 四舍五入")
        assert embed("Fix the rounding 四舍五入") == vector
        assert cosine(vector, embed("fix THE rounding 四舍五入")) == pytest.approx(1)
        assert round(sum(n * v for n, v in enumerate(vector)), 6) == HASHED
        assert unit([0.0, 0.0]) == (0.0, 0.0)


HASHED = -77.567175
"""Written down on one machine: another hash or another order of words would change it."""


class TestCombinations:
    """``hybrid`` and ``intelligent``: cheap steps first, a summary where they do not suffice."""

    def test_hybrid_masks_first_and_summarises_at_the_limit(self) -> None:
        items = session(30, LONG, turns=99)
        enough = replayed(items, "hybrid:tokens=100000,n=3,polling=3", summarize=short)
        assert {change.kind for change in enough.result.changes} == {"cleared"}
        tight = replayed(items, "hybrid:tokens=1500,n=3,polling=3,keep_last=6", summarize=short)
        assert "summarised" in {change.kind for change in tight.result.changes}

    def test_intelligent_takes_every_step(self) -> None:
        items = [human(1)]
        for n in range(2, 60, 2):
            items += work_of(n, f"{n % 6} {LONG}", "read", f'{{"n": {n % 6}}}')
        items += [
            m for n in range(60, 120, 2) for m in work_of(n, f"result {n} failed {LONG}", "b")
        ]
        runner = replayed(items, "intelligent:tokens=2200,keep_last=4", summarize=short)
        kinds = {change.kind for change in runner.result.changes}
        assert {"deduplicated", "cleared"} <= kinds
        assert runner.window.tokens <= 1760

    def test_late_results_of_one_answer_stand_with_it(self) -> None:
        items = [human(1), answer(2, "a", "b"), result(3, "b"), human(4), result(5, "a")]
        window = replayed(items, "none").window
        assert {o for o in window.entries[2].unit.items} == {2, 3, 5}
        assert window.entries[5].unit.waiting == 0


class TestPruneOrder:
    """Without it the least important unit is not what leaves, and a score means nothing."""

    @pytest.mark.parametrize("seed", range(12))
    def test_units_leave_in_the_order_of_their_whole_scores(self, seed: int) -> None:
        recording = made(seed, steps=40)
        runner = Runner(recording, parse("none"), COUNTER)
        runner.run()
        window, prune = runner.window, Prune(Prune.Parameters(half_life=3))
        task = frozenset({"refunds", "tests", "rounding", "fix"})
        worth: dict[int, float] = {}
        for entry in window.oldest():
            score = prune.score(entry, window, task)
            worth[entry.unit.number] = max(worth.get(entry.unit.number, 0.0), score)
        found = [number for _, number in prune._lowest_first(window, task)]
        assert len(found) > 3
        assert found == sorted(worth, key=lambda number: worth[number])
