"""What an agent's own clearing and rewriting lost: substitutions and revisions under audit.

Without it only compactions are asked what they cost, and an agent that clears old results is said
to lose nothing.
"""

from __future__ import annotations

import pytest
from audits_made import audit_of, findings, quiet_session
from recorded_sessions import Session

from eventlog import events
from projections.audit.lost_literals import LostLiterals
from projections.audit.model import Finding

RULES = "You are an agent. Never use curl on this machine."


def anchors(made: Session) -> list[tuple[str, list[str], int]]:
    """Of each finding the severity, what it is about, and which event it begins at."""
    return [
        (f.severity, sorted(a.text for a in f.anchors), f.position)
        for f in findings(made, "anchors")
    ]


def invoices(count: int = 1) -> tuple[Session, list[int]]:
    """Results that each hold an id of their own, and a call behind them."""
    made = Session()
    made.system("You help.")
    made.human("Look at the invoices.")
    results = []
    for number in range(count):
        made.call(("read", {"n": number}))
        results.append(made.result(f"invoice FIN-{3301 + number}: open, nothing was paid so far"))
    made.call(text="I looked.")
    return made, results


class TestSubstitutions:
    def test_what_a_person_had_to_say_again_is_a_warning_that_names_what_to_type(self) -> None:
        made, (result,) = invoices()
        by = made.cleared(result)
        made.call(text="on")
        asked = made.human("Pay FIN-3301.")
        (found,) = findings(made, "anchors")
        assert found.severity == "warning"
        assert found.message == (
            f"1 id of what {by} cleared ({result}) stands nowhere since; came up again: "
            f"“FIN-3301” ({result}, a person said it in {asked})"
        )
        assert found.next == ("recover", "S", "--lost", str(by))
        assert found.refs == (str(by), str(result))
        assert found.heuristic

    def test_what_nobody_needed_is_one_line_whatever_took_it(self) -> None:
        made, results = invoices(4)
        decisions = []
        for result in results:
            decisions.append(made.cleared(result))
            made.call(text="on")
        (found,) = findings(made, "anchors")
        assert (found.severity, found.count) == ("info", 4)
        assert found.message.startswith(f"4 ids of what {', '.join(map(str, decisions))} cleared (")
        assert found.next == ("recover", "S", "--lost", str(decisions[0]), "--all")

    def test_what_was_needed_is_a_line_a_decision_and_the_rest_one(self) -> None:
        made, results = invoices(5)
        decisions = []
        for result in results:
            decisions.append(made.cleared(result))
            made.call(text="on")
        made.human("Pay FIN-3302 and FIN-3304.")
        assert anchors(made) == [
            ("warning", ["FIN-3302"], decisions[1]),
            ("warning", ["FIN-3304"], decisions[3]),
            ("info", ["FIN-3301", "FIN-3303", "FIN-3305"], decisions[0]),
        ]

    def test_what_a_moment_between_two_calls_took_is_one_decision(self) -> None:
        made, results = invoices(4)
        first = made.add(
            events.PlaceholderSubstituted(item=str(results[0]), content="-", pass_id="p1")
        )
        made.add(events.PlaceholderSubstituted(item=str(results[1]), content="-", pass_id="p1"))
        made.add(
            events.PlaceholderSubstituted(
                item=str(results[2]), content="-", kind="cut", pass_id="p2"
            )
        )
        made.call(text="on")
        second = made.cleared(results[3])
        made.call(text="on")
        made.human("Pay FIN-3301, FIN-3303 and FIN-3304.")
        found = findings(made, "anchors")
        assert anchors(made) == [
            ("warning", ["FIN-3301", "FIN-3302", "FIN-3303"], first),
            ("warning", ["FIN-3304"], second),
        ]
        assert f"what {first} cleared or cut" in found[0].message

    def test_what_a_tool_found_again_was_no_more_than_looked_up(self) -> None:
        made, (result,) = invoices()
        made.cleared(result)
        made.call(("read", {"n": 0}))
        again = made.result("invoice FIN-3301: open")
        made.call(text="FIN-3301 is open.")
        (found,) = findings(made, "anchors")
        assert found.severity == "info"
        assert f"found again in {again}" in found.message

    @pytest.mark.parametrize(
        ("left", "is_lost"),
        [
            ("invoice FIN-3301: … so far", False),
            ("invoice FIN-33… so far", True),
            ("see (FIN-3301)", False),
            ("[cleared]", True),
        ],
    )
    def test_what_is_left_of_it_may_still_show_it(self, left: str, is_lost: bool) -> None:
        made, (result,) = invoices()
        made.add(events.PlaceholderSubstituted(item=str(result), content=left, kind="cut"))
        made.call(text="on")
        made.human("Pay FIN-3301.")
        assert bool(anchors(made)) is is_lost

    def test_a_result_that_was_cut_as_it_came_never_showed_it(self) -> None:
        made = Session()
        made.human("Look.")
        made.call(("read", {}))
        result = made.result("head\n" * 20 + "FIN-3301\n" + "tail\n" * 20)
        by = made.add(
            events.PlaceholderSubstituted(item=str(result), content="head … tail", kind="cut")
        )
        made.call(text="on")
        made.human("Pay FIN-3301.")
        assert anchors(made) == [("warning", ["FIN-3301"], by)]

    def test_what_stands_elsewhere_is_not_lost_until_that_goes_too(self) -> None:
        made, (result,) = invoices()
        made.call(("read", {"n": 0}))
        other = made.result("again: FIN-3301")
        made.cleared(result)
        made.call(text="on")
        by = made.cleared(other)
        made.call(text="on")
        made.human("Pay FIN-3301.")
        assert anchors(made) == [("warning", ["FIN-3301"], by)]

    def test_what_stands_inside_another_literal_is_not_lost(self) -> None:
        made = Session()
        made.human("Look.")
        made.call(("list", {}))
        result = made.result("shop/refunds.py")
        made.call(("read", {"path": "/home/dev/work/shop/refunds.py"}))
        made.result("text")
        made.cleared(result)
        made.call(text="on")
        made.human("Mend shop/refunds.py")
        assert anchors(made) == []

    def test_who_could_see_it_again_in_a_longer_literal_did_not_miss_it(self) -> None:
        made = Session()
        made.human("Look.")
        made.call(("list", {}))
        result = made.result("shop/refunds.py")
        made.cleared(result)
        made.call(("list", {}))
        again = made.result("/home/dev/work/shop/refunds.py")
        made.call(text="I mend shop/refunds.py")
        (found,) = findings(made, "anchors")
        assert found.severity == "info"
        assert f"found again in {again}" in found.message

    def test_what_was_taken_back_or_said_again_before_a_call_is_not_lost(self) -> None:
        made, results = invoices(2)
        by = made.cleared(results[0])
        made.call(text="on")
        made.add(events.DecisionUndone(target=by))
        made.cleared(results[1])
        made.human("Pay FIN-3302.")
        made.call(text="on")
        made.human("Pay FIN-3301.")
        assert anchors(made) == []

    def test_a_loss_beside_a_compaction_goes_by_the_decision_that_took_it(self) -> None:
        made, (result,) = invoices()
        by = made.cleared(result)
        made.call(text="on")
        made.compacted([2, 4, result], "They looked at invoices.")
        made.call(text="on")
        made.human("Pay FIN-3301.")
        assert anchors(made) == [("warning", ["FIN-3301"], by)]

    def test_of_a_fork_only_its_own_decisions_are_told(self) -> None:
        made, results = invoices(2)
        before = made.cleared(results[0])
        made.call(text="on")
        own = made.cleared(results[1])
        made.call(text="on")
        found = audit_of(made, "anchors").findings
        assert [f.refs[:2] for f in found] == [(str(before), str(own))]
        found = audit_of(made, "anchors", base=before).findings
        assert [f.refs[0] for f in found] == [str(own)]


class TestRevisions:
    def test_a_system_prompt_without_its_rule_is_a_warning(self) -> None:
        made = Session()
        prompt = made.system(RULES)
        made.human("Install it.")
        made.call(text="ok")
        message = {"role": "system", "content": "You are an agent."}
        by = made.add(events.MessageRevised(item=str(prompt), message=message, inferred=True))
        made.call(("bash", {"command": "curl -O https://shop.example/it"}))
        (found,) = findings(made, "anchors")
        assert (found.severity, found.position) == ("warning", by)
        assert found.message.startswith(f"1 rule of what {by} revised ({prompt}) stands nowhere")
        (broken,) = findings(made, "broken_rules")
        assert f"is gone with {by}" in broken.message

    @pytest.mark.parametrize(
        "text", [f"{RULES} It is Tuesday.", "You are an agent. On this machine curl is never used."]
    )
    def test_one_that_still_says_it_is_none(self, text: str) -> None:
        made = Session()
        prompt = made.system(RULES)
        made.call(text="ok")
        message = {"role": "system", "content": text}
        made.add(events.MessageRevised(item=str(prompt), message=message))
        made.call(text="on")
        assert anchors(made) == []

    def test_revisions_and_substitutions_of_a_moment_are_told_apart(self) -> None:
        made, results = invoices()
        message = {"role": "system", "content": "You help with ./desk.ini"}
        made.add(events.MessageRevised(item="1", message=message))
        made.call(text="on")
        message = {"role": "system", "content": "You help."}
        revised = made.add(events.MessageRevised(item="1", message=message))
        cleared = made.cleared(results[0])
        made.call(text="on")
        made.human("Pay FIN-3301 as ./desk.ini says.")
        assert anchors(made) == [
            ("warning", ["./desk.ini"], revised),
            ("warning", ["FIN-3301"], cleared),
        ]


class TestCost:
    """A session in which each call clears a result costs what it clears."""

    def test_a_literal_that_is_lost_a_hundred_times_is_looked_up_once(self) -> None:
        made = Session()
        made.human("Look.")
        last = 0
        for _ in range(100):
            made.call(("read", {}))
            result = made.result("FIN-3301 is open")
            if last:
                made.cleared(last)
            made.call(text="on")
            last = made.cleared(result) and result
        watched: list[LostLiterals] = []

        class Watched(LostLiterals):
            def __init__(self, subject: object) -> None:
                super().__init__(subject)  # type: ignore[arg-type]
                watched.append(self)

        found = findings_with(made, Watched)
        assert found[0].count == 100
        (literals,) = watched
        assert set(literals._shown) == {"FIN-3301"}
        assert len(literals._shown["FIN-3301"][0]) == 100


def findings_with(made: Session, kind: type[LostLiterals]) -> list[Finding]:
    """The same, watched by another kind of watcher."""
    from projections.audit import lost_anchors

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lost_anchors, "LostLiterals", kind)
        patch.setattr(lost_anchors.Anchors, "needs", (kind,))
        return findings(made, "anchors")


def test_the_quiet_session_has_nothing_to_tell() -> None:
    assert anchors(quiet_session()) == []
