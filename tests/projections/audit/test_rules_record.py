"""Rules about what was recorded: verdicts, coverage, summaries, placeholders, pairs, opacity."""

from __future__ import annotations

from pathlib import Path

import pytest
from audits_made import audit_of, compaction, findings, quiet_session

from eventlog import StreamKey, events
from projections import erasure, open_log
from projections.audit.auditing import audit
from projections.verdicts import Verdict

KEY = StreamKey("local", "agent", "s")


class TestVerdicts:
    """Without them a call that does not hold is one row of many."""

    def test_calls_with_the_same_verdict_for_the_same_reason_are_one_finding(self) -> None:
        made = quiet_session()
        made.call(text="x")
        known = [
            Verdict("drift", False, "entry 1"),
            Verdict("exact"),
            Verdict("drift", False, "entry 1"),
        ]
        (found,) = findings(made, "verdicts", known)
        assert (found.severity, found.refs, found.count) == ("error", ("c1", "c3"), 2)
        assert found.message == "drift: entry 1 (2 calls, c1, c3)"

    @pytest.mark.parametrize(
        ("name", "severity"), [("broken", "error"), ("partial", "info"), ("erased", "info")]
    )
    def test_each_verdict_has_its_severity(self, name: str, severity: str) -> None:
        made = quiet_session()
        known = [Verdict("exact"), Verdict(name, False, "so")]  # type: ignore[arg-type]
        (found,) = findings(made, "verdicts", known)
        assert (found.severity, found.refs) == (severity, ("c2",))

    def test_a_call_that_was_never_answered_is_a_warning(self) -> None:
        made = quiet_session()
        (found,) = findings(made, "verdicts", [Verdict("exact"), Verdict("exact", True)])
        assert (found.severity, found.refs) == ("warning", ("c2",))

    def test_calls_that_failed_for_the_same_reason_are_one_finding(self) -> None:
        made = quiet_session()
        for error, status in (("authentication_error: wrong key", 401), ("HTTP 502", 502)) * 2:
            at = made.add(events.ModelCalled(model="m", dialect="openai_chat"))
            made.add(events.ModelFailed(call=at, error=error, status=status))
        found = findings(made, "verdicts")
        assert [(f.severity, f.message) for f in found] == [
            ("info", "failed: 401 authentication_error: wrong key (2 calls, c3, c5)"),
            ("info", "failed: HTTP 502 (2 calls, c4, c6)"),
        ]
        rows = [call for call in audit_of(made).calls if call.outcome == "failed"]
        assert [row.status for row in rows] == [401, 502, 401, 502]

    def test_a_page_of_html_is_no_message(self) -> None:
        made = quiet_session()
        at = made.add(events.ModelCalled(model="m", dialect="openai_chat"))
        made.add(events.ModelFailed(call=at, error="<p>" * 900, status=502))
        (found,) = findings(made, "verdicts")
        assert len(found.message) < 200
        (*_, row) = audit_of(made).calls
        assert row.error == "<p>" * 900

    def test_what_is_exact_of_a_part_alone_is_told(self) -> None:
        known = [Verdict("exact"), Verdict("exact", False, "its messages")]
        (found,) = findings(quiet_session(), "verdicts", known)
        assert (found.severity, found.refs) == ("info", ("c2",))
        assert found.message == "exact: its messages (c2)"

    def test_exact_and_rebuilt_calls_are_none(self) -> None:
        assert findings(quiet_session(), "verdicts", [Verdict("exact"), Verdict("rebuilt")]) == []

    def test_a_broken_call_makes_the_audit_broken(self) -> None:
        known = [Verdict("exact"), Verdict("broken")]
        assert audit_of(quiet_session(), "bill", verdicts=known).is_broken


class TestCoverage:
    """Without it something is gone that no decision took."""

    def test_an_item_that_leaves_with_a_layout_that_does_not_cover_it_is_a_hole(self) -> None:
        made = quiet_session()
        compaction(made, [2], "so far", layout=("1", "m0", "5", "7"))
        (found,) = findings(made, "coverage")
        assert (found.severity, found.refs) == ("error", ("k1", "4"))
        assert "1 item left with k1" in found.message
        states = audit_of(made, "coverage").coverage.states
        assert [s.items for s in states if s.state == "unaccounted"] == [1]

    def test_one_that_it_covers_is_none(self) -> None:
        made = quiet_session()
        compaction(made, ["2", "4-7"], "so far", layout=("1", "m0"))
        assert findings(made, "coverage") == []

    def test_a_pinned_item_that_a_decision_takes_is_one(self) -> None:
        made = quiet_session()
        made.add(events.ItemPinned(item="2"))
        made.compacted([2], "gone")
        (found,) = findings(made, "coverage")
        assert (found.severity, found.refs) == ("error", ("k1", "2"))

    def test_an_undo_that_takes_it_is_told_and_no_error(self) -> None:
        made = quiet_session()
        made.add(events.ItemPinned(item="2"))
        at = made.add(events.SessionRewound(to=1))
        (found,) = findings(made, "coverage")
        assert (found.severity, found.refs) == ("info", (str(at), "2"))

    def test_an_item_that_was_unpinned_before_is_none(self) -> None:
        made = quiet_session()
        made.add(events.ItemPinned(item="2"))
        made.add(events.ItemUnpinned(item="2"))
        made.compacted([2], "gone")
        assert findings(made, "coverage") == []

    def test_calls_that_the_recorder_missed_are_told(self) -> None:
        made = quiet_session()
        at = made.add(events.RecordingInterrupted(calls_missed=2, reason="the disk was full"))
        (found,) = findings(made, "coverage")
        assert (found.severity, found.refs, found.count) == ("warning", (str(at),), 2)
        assert found.message == f"2 calls before {at} were not recorded: the disk was full"

    def test_records_that_nobody_understands_are_told_and_known_ones_are_not(self) -> None:
        made = quiet_session()
        for kind in ("known", "unknown"):
            made.add(events.RecordUnrecognized(file="f", line=1, offset=0, kind=kind, raw="{}"))
        (found,) = findings(made, "coverage")
        assert (found.severity, found.count) == ("info", 1)

    def test_a_stored_view_that_is_another_one_is_told(self) -> None:
        made = quiet_session()
        stands = [(1, 0), (2, 0), (4, 0), (5, 0)]
        answer = len(made.events)
        found = audit_of(made, "coverage", stands=[*stands, (answer, 0)])
        assert found.findings == ()
        found = audit_of(made, "coverage", stands=stands)
        assert [f.severity for f in found.findings] == ["error"]


class TestSummaries:
    """Without it a summary is trusted about what its writer never saw."""

    def test_what_was_covered_and_not_shown_is_an_error(self) -> None:
        made = quiet_session()
        compaction(made, ["2", "4-7"], "so far", shown=["2", "4"])
        (found,) = findings(made, "summaries")
        assert (found.severity, found.refs) == ("error", ("k1", "5-7"))
        assert "2 items that its summarizer was not shown" in found.message

    def test_all_of_it_shown_is_none(self) -> None:
        made = quiet_session()
        compaction(made, ["2", "4-7"], "so far", shown=["1-7"])
        assert findings(made, "summaries") == []

    def test_where_nobody_recorded_what_was_shown_nothing_is_said(self) -> None:
        made = quiet_session()
        compaction(made, ["2", "4-7"], "so far")
        assert findings(made, "summaries") == []

    def test_a_placeholder_that_was_shown_in_place_of_the_original_is_a_warning(self) -> None:
        made = quiet_session()
        made.cleared(5)
        compaction(made, ["2", "4-7"], "so far", shown=["2", "4", "5@8", "7"])
        (found,) = findings(made, "summaries")
        assert (found.severity, found.refs, found.heuristic) == ("warning", ("k1", "5"), False)

    def test_where_that_is_only_likely_it_is_a_guess(self) -> None:
        made = quiet_session()
        made.cleared(5)
        compaction(made, ["2", "4-7"], "so far")
        (found,) = findings(made, "summaries")
        assert (found.severity, found.heuristic) == ("info", True)
        assert "can have seen only" in found.message

    def test_who_cleared_for_one_request_may_have_the_original(self) -> None:
        """A framework edits what it sends and summarises what it keeps."""
        made = quiet_session()
        made.cleared(5)
        compaction(made, ["2", "4-7"], "so far", inferred=True)
        (found,) = findings(made, "summaries")
        assert "may have seen only" in found.message

    def test_an_empty_summary_and_one_that_grew_are_told(self) -> None:
        made = quiet_session()
        compaction(made, ["2"], "  ")
        compaction(made, ["4-7"], "long " * 500)
        assert [(f.refs, f.severity) for f in findings(made, "summaries")] == [
            (("k1",), "error"),
            (("k2",), "warning"),
        ]


class TestPlaceholders:
    """Without it a person looks for an original that is nowhere."""

    def of_result(self, text: str) -> list[tuple[str, tuple[str, ...]]]:
        made = quiet_session()
        made.call(("bash", {"command": "make"}))
        made.result(text, "bash")
        made.call(text="done")
        return [(f.severity, f.refs) for f in findings(made, "placeholders")]

    @pytest.mark.parametrize(
        "text",
        [
            "[Old tool result content cleared]",
            "Old environment output: (12 lines omitted)",
            "<persisted-output>\nOutput too large (190.5KB). Full output saved to: /x/y.txt\n\nPre",
        ],
    )
    def test_a_result_that_came_in_as_a_placeholder_is_a_warning(self, text: str) -> None:
        assert self.of_result(text) == [("warning", ("10",))]

    @pytest.mark.parametrize(
        "text", ["Total output lines: 4000\n\nabc", "a\n... [120 lines truncated] ...\nb"]
    )
    def test_one_that_the_model_too_saw_cut_is_good_to_know(self, text: str) -> None:
        assert self.of_result(text) == [("info", ("10",))]

    @pytest.mark.parametrize(
        "text",
        [
            "cleared the cache",
            "grep: [Old tool result content cleared] stands in notes.md",
            "we saw <persisted-output> in a doc",
            "lines truncated: 0",
        ],
    )
    def test_a_result_that_speaks_of_one_is_none(self, text: str) -> None:
        assert self.of_result(text) == []

    def test_a_placeholder_with_its_original_beside_it_is_none(self) -> None:
        made = quiet_session()
        made.cleared(5)
        assert findings(made, "placeholders") == []

    def test_one_for_an_item_that_was_never_in_the_log_is_a_warning(self) -> None:
        made = quiet_session()
        at = made.cleared(77)
        (found,) = findings(made, "placeholders")
        assert (found.severity, found.refs) == ("warning", (f"77@{at}",))

    def test_one_whose_original_was_erased_is_good_to_know(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "log.db") as live:
            said = events.MessageAppended(
                dialect="openai_chat", source="human", message={"role": "user", "content": "hi"}
            )
            live.append(KEY, said, said)
            live.append(KEY, events.PlaceholderSubstituted(item="2", content="[cleared]"))
            assert audit(live, KEY, ["placeholders"]).findings == ()
            erasure.apply(live, erasure.plan(live, KEY, ["2"], quotes=False))
            (found,) = audit(live, KEY, ["placeholders"]).findings
        assert (found.severity, found.refs) == ("info", ("2@3",))


class TestPairs:
    """Without it a provider refuses what an audit calls fine."""

    def test_a_result_without_a_call_is_a_warning(self) -> None:
        made = quiet_session()
        lost = made.result("what?", of="z")
        made.call(text="done")
        (found,) = findings(made, "pairs")
        assert (found.severity, found.refs) == ("warning", (str(lost),))

    def test_a_call_that_the_model_never_heard_of_again_is_a_warning(self) -> None:
        made = quiet_session()
        call = made.call(("bash", {"command": "make"}))
        made.call(text="done")
        (found,) = findings(made, "pairs")
        assert (found.severity, found.refs) == ("warning", (str(call),))

    def test_one_that_a_person_interrupted_is_good_to_know(self) -> None:
        made = quiet_session()
        call = made.call(("bash", {"command": "make"}))
        made.human("stop")
        made.call(text="done")
        (found,) = findings(made, "pairs")
        assert (found.severity, found.refs) == ("info", (str(call),))

    def test_one_at_the_live_frontier_is_none(self) -> None:
        made = quiet_session()
        made.call(("bash", {"command": "make"}))
        assert findings(made, "pairs") == []

    def test_one_that_was_rewound_is_none(self) -> None:
        made = quiet_session()
        at = len(made.events)
        made.call(("bash", {"command": "make"}))
        made.add(events.SessionRewound(to=at))
        made.call(text="done")
        assert findings(made, "pairs") == []

    def test_a_decision_that_takes_a_call_and_leaves_its_result_is_an_error(self) -> None:
        made = quiet_session()
        made.compacted([2, 4], "so far")
        made.call(text="more")
        (found,) = findings(made, "pairs")
        assert (found.severity, found.refs) == ("error", ("k1", "5"))
        assert "took the call of 1 result that stayed in the context of c3" in found.message

    def test_one_that_takes_both_or_that_is_mended_before_a_call_is_none(self) -> None:
        made = quiet_session()
        made.compacted([4, 5], "so far")
        made.call(text="more")
        assert findings(made, "pairs") == []
        made = quiet_session()
        made.compacted([2, 4], "so far")
        made.compacted([5], "and that")
        made.call(text="more")
        assert findings(made, "pairs") == []


class TestOpaque:
    """Without it an encrypted summary reads as if nothing were missing."""

    def test_an_encrypted_compaction_is_a_warning(self) -> None:
        made = quiet_session()
        compaction(made, ["2", "4-7"], opaque=True)
        (found,) = findings(made, "opaque")
        assert (found.severity, found.refs, found.count) == ("warning", ("k1",), 4)
        assert found.next == ("recover", "S", "--lost", "k1")

    def test_a_readable_one_is_none(self) -> None:
        made = quiet_session()
        compaction(made, ["2"], "so far")
        assert findings(made, "opaque") == []

    def test_a_sealed_item_of_a_request_is_told_once(self) -> None:
        made = quiet_session()
        block = {"items": [{"type": "compaction", "encrypted_content": "gAAA"}]}
        at = made.add(
            events.MessageAppended(dialect="openai_responses", source="model", message=block)
        )
        made.call(text="more")
        known = [*[Verdict("rebuilt")] * 2, Verdict("opaque", False, "an encrypted summary")]
        (found,) = findings(made, "opaque", known)
        assert found.refs == (str(at),)

    def test_opaque_calls_without_either_are_told(self) -> None:
        (found,) = findings(quiet_session(), "opaque", [Verdict("rebuilt"), Verdict("opaque")])
        assert found.refs == ("c2",)


class TestDecisionInForce:
    """Without it the account names an undo that was undone, and ``why`` names another."""

    def test_after_an_undo_of_an_undo_it_is_the_one_that_counts(self) -> None:
        made = quiet_session()
        at = compaction(made, ["2"], "so far")
        first = made.add(events.DecisionUndone(target=at))
        second = made.add(events.DecisionUndone(target=first))
        by = {s.state: s.by for s in audit_of(made).coverage.states if s.state != "kept"}
        assert by == {"summarised": "k1"}
        made.add(events.DecisionUndone(target=second))
        by = {s.state: s.by for s in audit_of(made).coverage.states if s.state != "kept"}
        assert by == {"never_visible": str(first)}
