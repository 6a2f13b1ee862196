from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from codex_lines import KEY, PROMPT, Rollout, message, sealed
from imported import of_type, run

from cli.saying import who
from eventlog import EventLog, RecordedEvent
from harness.importers.codex_history import shortened
from projections import open_log
from projections.context import fold
from projections.live import Live
from projections.sessions import session_stats


def imported(log: EventLog, tmp_path: Path, rollout: Rollout) -> list[RecordedEvent]:
    run(log, rollout.write(tmp_path / "rollout.jsonl"), final=True)
    found = list(log.read(KEY))
    assert fold(found).notes == []
    return found


def context(live: Live, at: int | None = None) -> list[Any]:
    """The messages that stand in the context, behind the system prompt."""
    items = live.items(KEY, at)
    assert items[0].message == {"role": "system", "content": PROMPT}
    return [item.message for item in items[1:]]


def said(items: list[Any]) -> list[str]:
    """What each message of a context says, all items of an answer apart."""
    pieces = [piece for item in items for piece in item.get("items", [item])]
    return ["".join(block["text"] for block in piece["content"]) for piece in pieces]


@pytest.fixture
def live(tmp_path: Path) -> Any:
    with open_log(tmp_path / "live.db") as opened:
        yield opened


class TestReplacementHistories:
    """A replacement history is the context after it: each item, in its order, nothing else."""

    def history(self) -> tuple[Rollout, list[dict[str, Any]]]:
        r = Rollout()
        r.turn()
        r.developer("<permissions instructions>All.</permissions instructions>")
        first = r.user("Warm the kiln.")
        r.call("call_1")
        r.result("call_1")
        r.count()
        done = r.put(message("assistant", "It is warm."))
        r.count()
        second = r.user("And now?")
        new = message("developer", "<permissions instructions>None.</permissions instructions>")
        return r, [second, new, first, done, sealed()]

    def test_it_is_the_context_item_by_item_in_its_order(self, live: Live, tmp_path: Path) -> None:
        r, history = self.history()
        r.compacted(*history)
        found = imported(live.log, tmp_path, r)
        [compacted] = [e for e in found if e.type == "context_compacted"]
        after = context(live, compacted.position)
        assert [m["items"][0] if "items" in m else m for m in after] == history

    def test_what_stood_there_stays_and_only_what_is_new_is_brought_in(
        self, live: Live, tmp_path: Path
    ) -> None:
        r, history = self.history()
        r.compacted(*history, window_number=3)
        found = imported(live.log, tmp_path, r)
        [compacted] = of_type(found, "context_compacted")
        second, first = (
            next(
                str(e.position) for e in found if e.type == "message_appended" and text in e.payload
            )
            for text in ("And now?", "Warm the kiln.")
        )
        done = next(str(e.position) for e in found if "It is warm." in e.payload)
        assert compacted["layout"] == ["2", second, "m0", first, done, "m1"]
        assert [m["label"] for m in compacted["messages"]] == ["developer", "summary"]
        assert compacted["origin"]["rest"]["payload"] == {"window_number": 3}
        assert compacted["pre_tokens"] == 109

    def test_of_equal_messages_the_newest_are_kept(self, live: Live, tmp_path: Path) -> None:
        r = Rollout()
        for _ in range(4):
            again = r.user("Again.")
        r.compacted(again, again, sealed())
        found = imported(live.log, tmp_path, r)
        [compacted] = of_type(found, "context_compacted")
        assert compacted["layout"] == ["2", "7-9", "m0"]
        assert compacted["covered"] == ["3-5"]

    def test_a_copy_that_differs_in_a_field_is_a_new_message(
        self, live: Live, tmp_path: Path
    ) -> None:
        r = Rollout()
        first = r.user("Hi.")
        r.compacted({**first, "id": "msg_1"}, said="Summed up.")
        [compacted] = of_type(imported(live.log, tmp_path, r), "context_compacted")
        assert compacted["layout"] == ["2", "m0"]
        assert compacted["messages"][0]["source"] == "human"

    def test_an_answer_stays_only_with_all_its_items(self, live: Live, tmp_path: Path) -> None:
        r = Rollout()
        r.user("Hi.")
        whole = [r.think(1), r.put(message("assistant", "Whole."))]
        r.count()
        half = [r.think(2), r.put(message("assistant", "Half."))]
        r.count()
        r.compacted(*whole, half[1], said="Summed up.")
        found = imported(live.log, tmp_path, r)
        [compacted] = of_type(found, "context_compacted")
        assert compacted["layout"] == ["2", "6", "m0"]
        assert said(context(live)[1:]) == ["Half."]

    def test_snapshots_of_files_are_no_part_of_it(self, live: Live, tmp_path: Path) -> None:
        r = Rollout()
        first = r.user("Hi.")
        r.item("ghost_snapshot", ghost_commit={"id": "abc"})
        r.compacted(first, {"type": "ghost_snapshot", "ghost_commit": {"id": "abc"}}, sealed())
        imported(live.log, tmp_path, r)
        assert context(live) == [first, sealed()]
        assert session_stats(live, KEY).source is not None

    def test_a_second_one_goes_on_from_the_first(self, live: Live, tmp_path: Path) -> None:
        r = Rollout()
        first = r.user("One.")
        r.say("Yes.")
        r.count()
        r.compacted(first, sealed(1))
        second = r.user("Two.")
        r.compacted(sealed(1), second, first, sealed(2))
        found = imported(live.log, tmp_path, r)
        assert context(live) == [sealed(1), second, first, sealed(2)]
        one, two = of_type(found, "context_compacted")
        assert two["covered"] == []
        assert two["layout"][1].endswith(".0")
        assert len(one["messages"]) == len(two["messages"]) == 1

    def test_an_entry_may_name_an_item_by_its_id(self, live: Live, tmp_path: Path) -> None:
        r = Rollout()
        first = r.put({**message("user", "One."), "id": "msg_1"})
        second = r.put({**message("user", "Two."), "id": "msg_2"})
        entries = [
            {"type": "reference", "item_id": "msg_2"},
            {"type": "inline", "item": sealed(), "metadata": {"client_authored": True}},
            {"type": "reference_v2", "item_id": "msg_1", "source_digest": "sha256:0"},
            {"type": "inline", "item": {"type": "ghost_snapshot"}},
            {"type": "reference", "item_id": "msg_0"},
            None,
        ]
        r.line("compacted", {"message": "", "replacement_history_entries": entries})
        found = imported(live.log, tmp_path, r)
        unresolved = {"type": "item_reference", "id": "msg_0"}
        assert context(live) == [second, sealed(), first, unresolved]
        [compacted] = of_type(found, "context_compacted")
        assert compacted["opaque"] is True
        assert len(compacted["messages"]) == 2

    def test_what_is_kept_for_reviewers_alone_compacts_nothing(
        self, live: Live, tmp_path: Path
    ) -> None:
        r = Rollout()
        first = r.user("Hi.")
        r.line("compacted", {"message": "", "guardian_history": [first]})
        assert of_type(imported(live.log, tmp_path, r), "context_compacted") == []
        assert context(live) == [first]

    def test_the_notice_of_a_compaction_is_none(self, live: Live, tmp_path: Path) -> None:
        r = Rollout()
        r.user("Hi.")
        r.event("context_compacted")
        assert of_type(imported(live.log, tmp_path, r), "context_compacted") == []

    def test_an_answer_that_is_open_is_part_of_what_is_compacted(
        self, live: Live, tmp_path: Path
    ) -> None:
        r = Rollout()
        first = r.user("Hi.")
        r.say("Yes.")
        r.compacted(first, sealed())
        found = imported(live.log, tmp_path, r)
        kinds = [e.type for e in found if e.type in ("model_called", "context_compacted")]
        assert kinds == ["model_called", "context_compacted"]
        assert context(live) == [first, sealed()]


class TestWhatIsSealed:
    """An encrypted summary is never passed off as a context that is known."""

    def test_calls_behind_it_are_opaque_and_those_before_are_not(
        self, live: Live, tmp_path: Path
    ) -> None:
        r = Rollout()
        first = r.user("Hi.")
        r.say("Yes.")
        r.count()
        assert self.provenance(live, tmp_path, r) == "rebuilt"
        r.compacted(first, sealed())
        r.user("Go on.")
        r.say("Going on.")
        r.count()
        assert self.provenance(live, tmp_path, r) == "opaque"

    def provenance(self, live: Live, tmp_path: Path, r: Rollout) -> str | None:
        imported(live.log, tmp_path, r)
        return session_stats(live, KEY).provenance

    @pytest.mark.parametrize(
        ("history", "summary", "opaque"),
        [
            ([], "Summed up.", False),
            ([], "", True),
            ([sealed()], "Summed up.", True),
            ([{**sealed(), "type": "compaction_summary"}], "", True),
        ],
    )
    def test_a_history_without_any_summary_is_opaque_too(
        self, live: Live, tmp_path: Path, history: list[dict[str, Any]], summary: str, opaque: bool
    ) -> None:
        r = Rollout()
        first = r.user("Hi.")
        r.compacted(first, *history, said=summary)
        [compacted] = of_type(imported(live.log, tmp_path, r), "context_compacted")
        assert compacted.get("opaque", False) is opaque

    def test_a_readable_summary_is_one_message_and_its_tokens_are_no_answer(
        self, live: Live, tmp_path: Path
    ) -> None:
        text = (
            "Another language model started to solve this problem and produced a summary of its "
            "thinking process.\nThe kiln is warm."
        )
        r = Rollout()
        r.turn()
        first = r.user("Hi.")
        r.call("call_1")
        r.count(output=9)
        r.result("call_1")
        r.count(output=50)
        r.compacted(first, message("user", text), said=text)
        r.say("Going on.")
        r.count(output=3)
        found = imported(live.log, tmp_path, r)
        [compacted] = of_type(found, "context_compacted")
        assert compacted["summarizer"]["usage"]["output"] == 50
        assert compacted["messages"][0]["label"] == "summary"
        assert list(compacted["origin"]["rest"]) == ["token_count"]
        assert session_stats(live, KEY).usage.output == 12
        assert session_stats(live, KEY).provenance == "partial"  # its tools are never on disk

    def test_what_is_said_between_the_count_and_the_compaction_is_compacted_too(
        self, live: Live, tmp_path: Path
    ) -> None:
        r = Rollout()
        r.turn()
        first = r.user("Hi.")
        r.count(output=50)
        r.developer("Be quick.")
        r.compacted(first, sealed())
        found = imported(live.log, tmp_path, r)
        assert context(live) == [first, sealed()]
        assert "summarizer" not in of_type(found, "context_compacted")[0]

    def test_a_copy_of_a_prompt_is_shown_as_what_a_person_said(
        self, live: Live, tmp_path: Path
    ) -> None:
        r = Rollout()
        first = r.user("Hi.")
        r.compacted({**first, "id": "msg_1"}, message("developer", "Be quick."), sealed())
        imported(live.log, tmp_path, r)
        copied, told, summary = live.items(KEY)[1:]
        assert [copied.is_summary, told.is_summary, summary.is_summary] == [False, False, True]
        assert [who(copied), who(told), who(summary)] == ["user", "developer", "summary"]


class TestCompactionsOfOldVersions:
    """They wrote the summary alone; what else the model saw is built again by their rule."""

    def test_the_beginning_and_the_newest_prompts_stay_before_the_summary(
        self, live: Live, tmp_path: Path
    ) -> None:
        r = Rollout()
        r.put(message("user", "<environment_context>old</environment_context>"))
        r.user("First.")
        r.put(message("user", "<environment_context>new</environment_context>"))
        r.say("Yes.")
        r.count()
        r.user("Second.")
        r.line("compacted", {"message": "Summed up."})
        found = imported(live.log, tmp_path, r)
        assert said(context(live)) == [
            "<environment_context>new</environment_context>",
            "First.",
            "Second.",
            "Summed up.",
        ]
        [compacted] = of_type(found, "context_compacted")
        assert compacted["inferred"] is True
        assert compacted["layout"][-1] == "m0"

    def test_prompts_over_the_limit_are_cut_and_older_ones_leave(
        self, live: Live, tmp_path: Path
    ) -> None:
        r = Rollout()
        r.user("First.")
        r.user("a" * 50_000)
        r.user("b" * 60_000)
        r.line("compacted", {"message": ""})
        imported(live.log, tmp_path, r)
        cut, kept, summary = said(context(live))
        assert cut == "a" * 10_000 + "…7500 tokens truncated…" + "a" * 10_000
        assert (kept, summary) == ("b" * 60_000, "(no summary available)")

    def test_a_cut_falls_between_characters(self) -> None:
        assert shortened("ä" * 10, 3) == "äää…2 tokens truncated…äää"
        assert shortened("日本語日本語", 2) == "日…3 tokens truncated…語"

    def test_a_second_one_keeps_no_summary_as_a_prompt(self, live: Live, tmp_path: Path) -> None:
        r = Rollout()
        text = "Another language model started to solve this problem and produced a summary: one"
        r.user("First.")
        r.line("compacted", {"message": text})
        r.user("Second.")
        r.line("compacted", {"message": text.replace("one", "two")})
        imported(live.log, tmp_path, r)
        assert said(context(live)) == ["First.", "Second.", text.replace("one", "two")]


class TestGoingBack:
    """A rollback takes turns out of the context, and nothing out of the log."""

    def turns(self, count: int) -> Rollout:
        r = Rollout()
        r.developer("<permissions instructions>All.</permissions instructions>")
        for number in range(count):
            r.turn()
            if number:
                r.put(message("user", f"<environment_context>{number}</environment_context>"))
            r.user(f"Turn {number}.")
            r.say(f"Answer {number}.")
            r.count()
            r.ends()
        return r

    @pytest.mark.parametrize(("turns", "left"), [(1, 2), (2, 1), (3, 0), (99, 0)])
    def test_the_context_is_what_it_was_before_those_turns(
        self, live: Live, tmp_path: Path, turns: int, left: int
    ) -> None:
        r = self.turns(3)
        r.event("thread_rolled_back", num_turns=turns)
        r.user("Another way.")
        before = said(context_of(live, tmp_path, self.turns(left), "before.db"))
        imported(live.log, tmp_path, r)
        assert said(context(live)) == [*before, "Another way."]

    def test_what_a_developer_said_before_a_turn_stays_without_it(
        self, live: Live, tmp_path: Path
    ) -> None:
        r = self.turns(1)
        r.developer("Mind the gap.")
        r.developer("<model_switch>Another model.</model_switch>")
        r.user("Turn 1.")
        r.event("thread_rolled_back", num_turns=1)
        imported(live.log, tmp_path, r)
        assert said(context(live))[-2:] == ["Answer 0.", "Mind the gap."]

    def test_a_second_one_counts_from_where_the_first_went(
        self, live: Live, tmp_path: Path
    ) -> None:
        r = self.turns(3)
        r.event("thread_rolled_back", num_turns=1)
        r.event("thread_rolled_back", num_turns=1)
        imported(live.log, tmp_path, r)
        assert said(context(live))[-2:] == ["Turn 0.", "Answer 0."]

    def test_a_compaction_in_a_turn_that_is_taken_back_goes_with_it(
        self, live: Live, tmp_path: Path
    ) -> None:
        r = self.turns(1)
        second = r.user("Turn 1.")
        r.compacted(second, sealed())
        r.say("Answer 1.")
        r.count()
        r.event("thread_rolled_back", num_turns=1)
        r.user("Another way.")
        r.say("So be it.")
        r.count()
        imported(live.log, tmp_path, r)
        assert said(context(live))[1:] == [
            "Turn 0.",
            "Answer 0.",
            "Another way.",
            "So be it.",
        ]
        assert session_stats(live, KEY).provenance == "opaque"

    def test_usage_and_old_answers_stay_counted(self, live: Live, tmp_path: Path) -> None:
        r = self.turns(2)
        r.event("thread_rolled_back", num_turns=2)
        imported(live.log, tmp_path, r)
        assert session_stats(live, KEY).usage.output == 18

    @pytest.mark.parametrize("turns", [0, -1, "1", None, True, 10**30])
    def test_what_is_no_number_of_turns_is_a_note(
        self, live: Live, tmp_path: Path, turns: object
    ) -> None:
        r = self.turns(2)
        before = said(context_of(live, tmp_path, self.turns(2), "before.db"))
        r.event("thread_rolled_back", num_turns=turns)
        assert of_type(imported(live.log, tmp_path, r), "session_rewound") == []
        assert said(context(live)) == before

    def test_an_undo_of_files_leaves_the_conversation(self, live: Live, tmp_path: Path) -> None:
        r = self.turns(2)
        before = said(context_of(live, tmp_path, self.turns(2), "before.db"))
        r.event("undo_completed", success=True, message="Restored.")
        imported(live.log, tmp_path, r)
        assert said(context(live)) == before


def context_of(live: Live, tmp_path: Path, rollout: Rollout, name: str) -> list[Any]:
    with open_log(tmp_path / name) as other:
        imported(other.log, tmp_path, rollout)
        return context(other)
