from __future__ import annotations

from pathlib import Path

import pytest
from claude_lines import Transcript, call, long_session, text
from imported import KEY, events, imported, of_type, run, standing

from eventlog import EventLog
from projections.context import fold


class TestCompaction:
    """What a compaction covers decides what the model no longer saw."""

    def test_a_boundary_and_its_summary_are_one_compaction_of_all_that_stood(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        found = imported(log, tmp_path, long_session())
        [compacted] = [e for e in found if e.type == "context_compacted"]
        assert compacted.data["trigger"] == "auto"
        assert compacted.data["pre_tokens"] == 155_000
        assert compacted.data["messages"][0]["label"] == "summary"
        before = fold(e for e in found if e.position < compacted.position)
        after = fold(e for e in found if e.position <= compacted.position)
        assert len(before.labels()) == 15
        assert after.labels() == [f"{compacted.position}.0"]
        assert len(standing(log)) == 3

    def test_progress_between_a_boundary_and_its_summary_changes_nothing(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("One.")
        t.boundary()
        t.record("progress", data={"type": "hook_progress"})
        t.summary("Summed up.")
        found = imported(log, tmp_path, t)
        assert [e.type for e in found[2:]] == ["context_compacted", "record_unrecognized"]

    def test_a_boundary_without_a_summary_is_a_compaction_without_messages(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("One.")
        t.boundary()
        t.user("Two.")
        imported(log, tmp_path, t)
        assert standing(log) == ["4"]

    def test_an_old_summary_without_a_boundary_is_a_compaction_too(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("One.")
        t.summary("Summed up.")
        t.user("Two.")
        imported(log, tmp_path, t)
        assert standing(log) == ["3.0", "4"]

    @pytest.mark.parametrize("form", ["messages", "segment"])
    def test_preserved_messages_stay_behind_the_summary(
        self, log: EventLog, tmp_path: Path, form: str
    ) -> None:
        t = Transcript()
        t.user("One.")
        head = t.user("Two.")
        tail = t.answer("msg_1", text("Three."))
        t.user("Four.")
        if form == "messages":
            t.boundary(preservedMessages={"anchorUuid": "x", "uuids": [head, tail]})
        else:
            t.boundary(preservedSegment={"headUuid": head, "tailUuid": tail})
        t.summary("Summed up.")
        imported(log, tmp_path, t)
        assert standing(log) == ["8.0", "3", "5"]

    def test_a_second_compaction_covers_the_first_summary(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        for number in (1, 2):
            t.user(f"Prompt {number}.")
            t.boundary()
            t.summary(f"Summary {number}.")
        found = of_type(imported(log, tmp_path, t), "context_compacted")
        assert [c["covered"] for c in found] == [["2"], ["3.0", "4"]]

    def test_microcompaction_clears_each_result_by_one_event_of_one_pass(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.answer("msg_1", call("a"), call("b"), call("c"))
        for name in "abc":
            t.result(name, f"result {name}")
        t.record(
            "system",
            subtype="microcompact_boundary",
            microcompactMetadata={"compactedToolIds": ["a", "c"], "tokensSaved": 9},
        )
        found = imported(log, tmp_path, t)
        cleared = of_type(found, "placeholder_substituted")
        results = [e.position for e in found if e.type == "tool_result_recorded"]
        assert [c["item"] for c in cleared] == [str(results[0]), str(results[2])]
        assert {c["content"] for c in cleared} == {"[Old tool result content cleared]"}
        assert all(c["implied"] for c in cleared)
        assert len({c["pass_id"] for c in cleared}) == 1
        assert cleared[0]["origin"]["rest"]["microcompactMetadata"]["tokensSaved"] == 9

    def test_cleared_results_that_do_not_stand_are_reported_and_the_record_is_kept(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("One.")
        t.record(
            "system",
            subtype="microcompact_boundary",
            microcompactMetadata={"compactedToolIds": ["gone"]},
        )
        report = run(log, t.write(tmp_path / "session.jsonl"))
        assert report.sessions[0].notes == [
            "line 2 clears 1 tool result that this file does not hold; kept as a note"
        ]
        assert events(log, KEY)[-1].type == "record_unrecognized"

    def test_it_is_told_apart_what_the_file_lacks_and_what_had_left_before(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("One.")
        t.answer("msg_1", call("toolu_1"))
        t.result("toolu_1", "an old result")
        t.boundary()
        t.summary()
        t.answer("msg_2", call("toolu_2"))
        t.result("toolu_2", "a new result")
        t.record(
            "system",
            subtype="microcompact_boundary",
            microcompactMetadata={"compactedToolIds": ["toolu_1", "toolu_2", "none", "none"]},
        )
        report = run(log, t.write(tmp_path / "session.jsonl"))
        assert report.sessions[0].notes == [
            "line 8 clears 3 tool results, 1 of which this file does not hold, "
            "1 of which had left the context before"
        ]


class TestRewinds:
    """A rewind missed shows the model what it never saw; one invented hides what it did see."""

    def test_a_second_prompt_under_an_answered_ones_parent_goes_back_to_it(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Hello.")
        common = t.answer("msg_1", text("Hi."))
        t.user("Left.")
        t.answer("msg_2", text("Going left."))
        t.user("Right.", parent=common)
        t.answer("msg_3", text("Going right."))
        found = imported(log, tmp_path, t)
        [rewound] = [e for e in found if e.type == "session_rewound"]
        assert rewound.data["inferred"] is True
        assert found[rewound.data["to"] - 1].data["response_id"] == "msg_1"
        assert standing(log) == ["2", "4", "11", "13"]

    def test_a_compaction_after_a_rewind_covers_only_what_stands(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        common = t.answer("msg_1", text("Hi."))
        t.user("Left.")
        t.answer("msg_2", text("Going left."))
        t.user("Right.", parent=common)
        t.boundary()
        t.summary("Summed up.")
        found = imported(log, tmp_path, t)
        assert of_type(found, "context_compacted")[0]["covered"] == ["3", "10"]
        assert standing(log) == ["11.0"]

    @pytest.mark.parametrize("answered", [False, True])
    def test_a_prompt_that_was_never_answered_is_not_gone_back_from(
        self, log: EventLog, tmp_path: Path, answered: bool
    ) -> None:
        t = Transcript()
        common = t.answer("msg_1", text("Hi."))
        t.user("Left.")
        if answered:
            t.answer("msg_2", text("Going left."))
        t.user("Right.", parent=common)
        rewinds = of_type(imported(log, tmp_path, t), "session_rewound")
        assert len(rewinds) == answered

    def test_parallel_calls_fork_the_tree_and_are_no_rewind(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        t.user("Two things.")
        one = t.answer("msg_1", call("a"))
        two = t.answer("msg_1", call("b"), parent=one)
        t.result("a", "A", parent=one)
        t.result("b", "B", parent=two)
        t.answer("msg_2", text("Done."))
        assert of_type(imported(log, tmp_path, t), "session_rewound") == []

    def test_repeated_uuids_name_no_place_to_go_back_to(
        self, log: EventLog, tmp_path: Path
    ) -> None:
        t = Transcript()
        for number in range(4):
            t.user(f"Prompt {number}.", uuid="same", parent="same")
            t.answer(f"msg_{number}", text("Yes."), uuid="same", parent="same")
        assert of_type(imported(log, tmp_path, t), "session_rewound") == []
