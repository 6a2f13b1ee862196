"""Rules about what was lost and what it cost: literals, broken rules, the bill, the prefix."""

from __future__ import annotations

from collections import Counter

import pytest
from audits_made import audit_of, compaction, findings, quiet_session
from recorded_sessions import Session

from eventlog import events
from eventlog.messages import Part
from projections.audit import forbidden
from projections.audit.forbidden import done_by, targets
from projections.audit.model import Finding
from projections.metrics.actions import Action, action


def of_kind(found: list[Finding], kind: str) -> Finding:
    (one,) = [f for f in found if f.anchors and f.anchors[0].kind == kind]
    return one


def compacted(summary: str) -> Session:
    """The quiet session with everything but the system prompt behind a summary."""
    made = quiet_session()
    compaction(made, ["2", "4-7"], summary)
    return made


class TestAnchors:
    """Without it what a summary dropped is found out when somebody needs it."""

    def test_a_literal_that_the_summary_does_not_hold_is_told_with_its_item(self) -> None:
        made = compacted("They refund an order, ticket SHOP-482.")
        made.call(text="on")
        found = of_kind(findings(made, "anchors"), "id")
        assert [(a.text, a.item, a.used, a.by) for a in found.anchors] == [
            ("ORD-77120", "2", (), "")
        ]
        assert (found.severity, found.refs, found.count) == ("info", ("k1", "2"), 1)
        assert "1 id of what k1 covered is not in its summary: “ORD-77120” (2)" in found.message
        assert found.next == ("recover", "S", "--lost", "k1")

    def test_a_summary_that_holds_them_all_is_none(self) -> None:
        made = compacted("Order ORD-77120, SHOP-482: http :8123/orders/ORD-77120 and 200 OK.")
        made.call(text="on")
        assert findings(made, "anchors") == []

    def test_one_that_another_item_still_holds_is_not_lost(self) -> None:
        made = quiet_session()
        compaction(made, ["4-7"], "done")
        made.call(text="on")
        assert [f for f in findings(made, "anchors") if f.anchors[0].kind == "id"] == []

    def test_one_that_stands_inside_another_literal_is_not_lost(self) -> None:
        """``diff`` says so too."""
        made = Session()
        made.human("Look around.")
        made.call(("bash", {"command": "ls"}))
        listed = made.result("/srv/shop/tests/\n/srv/shop/docs/", "bash")
        made.call(("bash", {"command": "ls -R"}))
        made.result("/srv/shop/tests/test_money.py", "bash")
        compaction(made, [listed], "They looked.")
        made.call(text="on")
        found = of_kind(findings(made, "anchors"), "path")
        assert [anchor.text for anchor in found.anchors] == ["/srv/shop/docs/"]

    def test_one_that_a_person_has_to_say_again_is_a_warning(self) -> None:
        made = compacted("They refund an order, ticket SHOP-482.")
        made.call(text="Which order?")
        said = made.human("ORD-77120, as I said")
        made.call(text="thanks")
        found = of_kind(findings(made, "anchors"), "id")
        (anchor,) = found.anchors
        assert (found.severity, anchor.used, anchor.by) == ("warning", (str(said),), "person")
        assert f"a person said it in {said}" in found.message

    def test_one_that_the_model_uses_unseen_is_a_warning_and_one_looked_up_again_is_not(
        self,
    ) -> None:
        made = compacted("They refund an order.")
        used = made.call(("bash", {"command": "grep SHOP-482 notes"}))
        made.result("ORD-77120 belongs to SHOP-482", "bash")
        made.call(text="so")
        found = of_kind(findings(made, "anchors"), "id")
        assert [(a.text, a.by, a.used) for a in found.anchors] == [
            ("SHOP-482", "model", (str(used),)),
            ("ORD-77120", "tool", (str(used + 1),)),
        ]
        assert found.severity == "warning"

    def test_what_comes_back_before_any_call_was_never_missed(self) -> None:
        made = compacted("They refund an order, ticket SHOP-482.")
        made.human("The order is ORD-77120, go on")
        made.call(text="on")
        assert [f for f in findings(made, "anchors") if f.anchors[0].kind == "id"] == []

    def test_what_an_undo_brings_back_is_not_lost(self) -> None:
        made = compacted("They refund an order.")
        made.add(events.DecisionUndone(target=8))
        made.call(text="on")
        assert findings(made, "anchors") == []

    def test_a_rule_in_other_words_is_held_and_one_that_is_gone_is_a_warning(self) -> None:
        made = Session()
        asked = made.human("Never push to the release branch. Always run the linter first.")
        answer = made.call(text="ok")
        compaction(made, [asked, answer], "Must not push the release branch at all.")
        made.call(text="on")
        found = of_kind(findings(made, "anchors"), "rule")
        assert [a.text for a in found.anchors] == ["Always run the linter first"]
        assert found.severity == "warning"
        assert found.message.endswith(
            "; 1 more is there in other words: “Never push to the release branch” (1)"
        )

    def test_a_path_of_which_the_summary_has_the_name_is_told_as_less(self) -> None:
        made = Session()
        asked = made.human("Mend it in /home/dev/shop/refunds.py")
        answer = made.call(text="ok")
        compaction(made, [asked, answer], "They want refunds.py mended.")
        made.call(("read_file", {"path": "/home/dev/shop/refunds.py"}))
        found = of_kind(findings(made, "anchors"), "path")
        assert (found.severity, found.anchors[0].is_named) == ("info", True)

    def test_what_had_been_cleared_before_is_counted_beside(self) -> None:
        made = quiet_session()
        made.call(("bash", {"command": "cat notes"}))
        result = made.result("the key is in OPS-1234", "bash")
        made.cleared(result)
        compaction(made, ["2", "4-10"], "They refund an order.")
        made.call(text="on")
        found = findings(made, "anchors")
        assert any("1 literals of it had been cleared or cut before" in f.message for f in found)
        told = {a.text: f.refs[0] for f in found for a in f.anchors}
        assert told["OPS-1234"] == str(result + 1), "by what cleared it, not by k1"

    def test_a_compaction_without_messages_loses_all_that_stays_nowhere(self) -> None:
        made = quiet_session()
        compaction(made, ["2", "4-7"])
        made.human("go on")
        made.call(text="on")
        found = of_kind(findings(made, "anchors"), "id")
        assert {a.text for a in found.anchors} == {"ORD-77120", "SHOP-482"}
        assert "not in what stayed" in found.message

    def test_without_a_compaction_nothing_is_searched(self) -> None:
        made = quiet_session()
        made.cleared(5)
        made.call(text="on")
        assert findings(made, "anchors") == []


class TestUnseen:
    """Without it an agent that guesses looks like one that knows."""

    def test_an_id_that_a_tool_was_called_with_unseen_is_a_warning(self) -> None:
        made = compacted("They refund an order.")
        made.call(("bash", {"command": "refund --order ORD-77120"}))
        found = of_kind(findings(made, "unseen"), "id")
        assert (found.severity, found.heuristic) == ("warning", True)
        assert found.refs[0] == "c3"
        assert "k1" in found.refs
        assert "c3 called a tool with “ORD-77120”" in found.message
        assert "gone with k1, not visible from c3" in found.message
        assert found.next[:2] == ("why", "S")

    def test_one_that_still_stands_is_none(self) -> None:
        made = compacted("They refund ORD-77120.")
        made.call(("bash", {"command": "refund --order ORD-77120"}))
        found = [f for f in findings(made, "unseen") if f.anchors[0].text == "ORD-77120"]
        assert found == []

    def test_what_was_only_spoken_of_is_good_to_know(self) -> None:
        made = compacted("They refund an order.")
        made.call(text="It is ORD-77120 again.")
        assert of_kind(findings(made, "unseen"), "id").severity == "info"

    def test_what_an_encrypted_summary_may_hold_is_good_to_know(self) -> None:
        made = quiet_session()
        compaction(made, ["2", "4-7"], opaque=True)
        made.call(("bash", {"command": "refund --order ORD-77120"}))
        found = of_kind(findings(made, "unseen"), "id")
        assert found.severity == "info"
        assert found.message.endswith(", if its encrypted summary does not hold it")

    def test_what_a_clearing_took_names_its_event(self) -> None:
        made = Session()
        made.human("Read the config")
        made.call(("read_file", {"path": "a.toml"}))
        result = made.result("token OPS-99887 and more")
        cleared = made.cleared(result)
        made.call(("bash", {"command": "use OPS-99887"}))
        found = of_kind(findings(made, "unseen"), "id")
        assert str(cleared) in found.refs
        assert f"gone with {cleared}" in found.message

    def test_many_of_one_decision_are_folded_into_one_more(self) -> None:
        made = Session()
        names = [f"OPS-{1000 + n}" for n in range(25)]
        asked = made.human(" ".join(names))
        made.compacted([asked], "tickets")
        for name in names:
            made.call(("bash", {"command": f"show {name}"}))
        found = findings(made, "unseen")
        assert len(found) == 11
        (rest,) = [f for f in found if f.count > 1]
        assert (rest.count, len(rest.anchors)) == (15, 15)
        assert "15 more literals gone with k1" in rest.message


class TestForbidden:
    """What a rule forbids is read narrowly: a false alarm teaches to look away."""

    @pytest.mark.parametrize(
        ("rule", "expected"),
        [
            ("Use httpie, not curl, against the dev server", [("program", "curl")]),
            ("Never touch migrations/, they are in production", [("path", "migrations")]),
            ("Do not use npm or yarn here", [("program", "npm"), ("program", "yarn")]),
            ("Don't edit src/generated.py by hand", [("path", "src/generated.py")]),
            ("Never commit without --no-edit", [("option", "--no-edit")]),
            ("用 pnpm, 不要用 npm", [("program", "npm")]),
            ("不要修改 migrations/ 里的文件", [("path", "migrations")]),
            ("Use pytest instead of make", [("program", "make")]),
        ],
    )
    def test_what_stands_behind_the_word_that_forbids_is_it(
        self, rule: str, expected: list[tuple[str, str]]
    ) -> None:
        assert [(t.kind, t.text) for t in targets(rule)] == expected

    @pytest.mark.parametrize(
        "rule",
        [
            "Always use pnpm",
            "Never push to main",
            "Do not forget the tests",
            "Never say that curl is bad"[:11],
            "Answer in German",
        ],
    )
    def test_a_rule_of_which_nothing_can_be_checked_forbids_nothing(self, rule: str) -> None:
        assert targets(rule) == ()

    @pytest.mark.parametrize(
        ("rule", "name", "arguments", "expected"),
        [
            ("never touch a/../db/x.sql", "edit_file", {"path": "/w/db/x.sql/y"}, True),
            ("never touch /db/x", "edit_file", {"path": "db/x"}, True),
            ("never touch a/b/c", "edit_file", {"path": "a/b"}, False),
            ("never touch a/b", "bash", {"command": "tee a/b; rm x/a/b"}, True),
            ("do not use curl", "bash", {"command": "cd x && curl -s http://a"}, True),
            ("do not use curl", "bash", {"command": "/usr/bin/curl x"}, True),
            ("do not use curl", "bash", {"command": "grep curl notes.md"}, False),
            ("do not use curl", "edit_file", {"path": "curl"}, False),
            ("never touch migrations/", "edit_file", {"path": "app/migrations/0004.py"}, True),
            ("never touch migrations/", "read_file", {"path": "app/migrations/0004.py"}, False),
            ("never touch migrations/", "bash", {"command": "rm migrations/0001.py"}, True),
            ("never touch migrations/", "edit_file", {"path": "my_migrations/a.py"}, False),
            (
                "never commit without --no-verify",
                "bash",
                {"command": "git commit --no-verify"},
                True,
            ),
            ("never commit without --no-verify", "bash", {"command": "git commit"}, False),
        ],
    )
    def test_a_call_does_it_where_its_arguments_say_so(
        self, rule: str, name: str, arguments: dict[str, str], expected: bool
    ) -> None:
        made = Session()
        made.human("x")
        made.call((name, arguments))
        (item,) = [step.item for step in made.recording().steps if step.item and step.item.call]
        (part,) = [part for part in item.parts if part.kind == "call"]
        (target,) = targets(rule)
        deepest = target.text.count("/") + 1
        assert (target in done_by(part, deepest)) is expected


class TestBrokenRules:
    """Without it a rule that was summarised away is found by its breach, in production."""

    def made(self, summary: str) -> Session:
        made = Session()
        asked = made.human("Use httpie, not curl, against the dev server. What is red?")
        answer = made.call(text="I look.")
        compaction(made, [asked, answer], summary)
        return made

    def test_what_it_forbids_done_when_it_is_gone_is_a_warning(self) -> None:
        made = self.made("They asked what is red.")
        made.call(("bash", {"command": "curl -s http://localhost:8123"}))
        made.result("404", "bash")
        made.call(("bash", {"command": "curl -s http://localhost:8123/x"}))
        (found,) = findings(made, "broken_rules")
        assert (found.severity, found.heuristic, found.count) == ("warning", True, 2)
        assert found.refs[:2] == ("k1", "1")
        assert "is gone with k1, not visible from c2; c2-c3 did “curl -s" in found.message
        assert found.next == ("why", "S", "1@c2")

    def test_a_summary_that_says_it_keeps_it(self) -> None:
        made = self.made("Rule: use httpie and not curl against the dev server.")
        made.call(("bash", {"command": "curl -s http://localhost:8123"}))
        assert findings(made, "broken_rules") == []

    def test_what_an_encrypted_summary_may_keep_is_good_to_know(self) -> None:
        made = Session()
        asked = made.human("Use httpie, not curl, against the dev server.")
        compaction(made, [asked], opaque=True)
        made.call(("bash", {"command": "curl -s http://localhost:8123"}))
        assert [f.severity for f in findings(made, "broken_rules")] == ["info"]

    def test_a_rule_that_stands_and_is_broken_all_the_same_is_not_told(self) -> None:
        made = Session()
        made.human("Use httpie, not curl, against the dev server.")
        made.call(("bash", {"command": "curl -s http://localhost:8123"}))
        assert findings(made, "broken_rules") == []

    def test_one_that_was_said_again_is_seen_again(self) -> None:
        made = self.made("They asked what is red.")
        made.human("Use httpie, not curl, against the dev server.")
        made.call(("bash", {"command": "curl -s http://localhost:8123"}))
        assert findings(made, "broken_rules") == []

    def test_something_else_done_is_none(self) -> None:
        made = self.made("They asked what is red.")
        made.call(("bash", {"command": "http :8123/orders"}))
        assert findings(made, "broken_rules") == []

    def test_a_call_is_read_once_however_many_rules_there_are(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read = Counter[str]()

        def counted(part: Part) -> Action:
            read[part.text] += 1
            return action(part)

        monkeypatch.setattr(forbidden, "action", counted)
        made = Session()
        asked = [
            made.human(f"Step {n}: never touch db/{n}.sql, nor use tool{n}") for n in range(90)
        ]
        compaction(made, asked, "They said how it is done.")
        for number in (7, 70):
            made.call(("edit_file", {"path": f"/w/db/{number}.sql"}))
        found = findings(made, "broken_rules")
        assert [f.anchors[0].text for f in found] == [
            f"Step {n}: never touch db/{n}.sql, nor use tool{n}" for n in (7, 70)
        ]
        assert set(read.values()) == {1}
        assert len(read) == 2

    def test_of_many_rules_the_one_that_a_text_says_again_is_seen_again(self) -> None:
        rules = [f"never touch db/{n}.sql" for n in range(60)]
        made = Session()
        asked = [made.human(rule) for rule in rules]
        compaction(made, asked, "They said how it is done.")
        made.human(f"As I said: {rules[7]}, and  NEVER\ntouch db/33.sql.")
        for number in (7, 33, 8):
            made.call(("edit_file", {"path": f"db/{number}.sql"}))
        assert [f.anchors[0].text for f in findings(made, "broken_rules")] == [rules[8]]

    def test_a_tool_that_says_never_gives_no_rule(self) -> None:
        made = Session()
        asked = made.human("Look at the page")
        made.call(("fetch", {"url": "http://a.example"}))
        page = made.result("You must never use curl here.", "fetch")
        compaction(made, [asked, asked + 2, page], "They looked at a page.")
        made.call(("bash", {"command": "curl -s http://localhost"}))
        assert findings(made, "broken_rules") == []


class TestBill:
    """Without it a request that was cut in secret looks like the one that was recorded."""

    def made(self, *bills: int) -> Session:
        """Calls that each add about 1,000 tokens, with these bills."""
        made = Session()
        made.human("Go on " + "x" * 4000)
        for bill in bills:
            made.call(("run", {}), input=bill)
            made.result("y" * 4000, "run")
        return made

    def test_a_bill_that_follows_what_stands_is_none(self) -> None:
        assert findings(self.made(*(20_000 + 1_050 * n for n in range(12))), "bill") == []

    def test_a_sudden_fall_with_no_decision_is_a_warning(self) -> None:
        bills = [30_000 + 1_050 * n for n in range(12)]
        for n in range(9, 12):
            bills[n] -= 25_000
        (found,) = findings(self.made(*bills), "bill")
        assert (found.severity, found.heuristic, found.refs) == (
            *("warning", True, ("c10", "c11", "c12")),
        )
        assert "something had left the request that the log does not say" in found.message

    def test_of_few_calls_the_fall_alone_is_told(self) -> None:
        (found,) = findings(self.made(30_000, 31_000, 6_000), "bill")
        assert found.refs == ("c3",)
        assert "6,000 tokens after 31,000 for c2, and nothing left" in found.message

    def test_a_fall_with_a_decision_is_none(self) -> None:
        made = self.made(30_000, 31_000)
        made.compacted([1, 3, 5, 7, 9][:1], "so far")
        made.call(text="done", input=6_000)
        assert findings(made, "bill") == []

    def test_what_is_billed_beyond_the_log_is_good_to_know(self) -> None:
        bills = [10_000 + 1_050 * n for n in range(12)]
        bills[10] += 40_000
        (found,) = findings(self.made(*bills), "bill")
        assert (found.severity, found.refs) == ("info", ("c11",))
        assert "more stood in the request than the log holds" in found.message

    def test_without_a_bill_nothing_is_said(self) -> None:
        assert findings(quiet_session(), "bill") == []


class TestPrefix:
    """Without it a habit that costs a cache at every call is never named."""

    def test_one_break_by_a_decision_is_good_to_know(self) -> None:
        made = compacted("so far")
        made.call(text="on")
        (found,) = findings(made, "prefix")
        assert (found.severity, found.refs) == ("info", ("c3", "k1"))
        assert "a compaction broke the prefix at c3" in found.message

    def test_breaks_at_most_calls_are_a_warning(self) -> None:
        made = Session()
        made.human("x" * 400)
        results = []
        for number in range(10):
            made.call(("run", {}))
            results.append(made.result(f"{number} " * 200, "run"))
            if number > 2:
                made.cleared(results[number - 3])
        made.call(text="done")
        (found,) = findings(made, "prefix")
        assert (found.severity, found.count) == ("warning", 7)
        assert "no cache can serve it" in found.message

    def test_a_cache_read_that_nothing_explains_is_told(self) -> None:
        made = Session()
        made.human("x" * 40_000)
        made.call(("run", {}), input=10_000, cached=0)
        made.result("y", "run")
        made.call(text="done", input=10_100, cached=0)
        (found,) = findings(made, "prefix")
        assert (found.heuristic, found.refs) == (True, ("c2",))
        assert "10,000 billed tokens could have been read from the cache" in found.message

    def test_requests_that_only_grow_are_none(self) -> None:
        assert findings(quiet_session(), "prefix") == []


class TestDemonstration:
    """The words of a finding are what a person reads first."""

    def test_every_rule_says_what_it_is_about_and_where_to_go(self) -> None:
        made = compacted("They refund an order.")
        made.call(("bash", {"command": "curl ORD-77120"}))
        for found in audit_of(made).findings:
            assert found.refs
            assert found.message[0] != " "
            assert found.next == () or found.next[0] in (
                *("show", "diff", "why", "recover", "log", "rebuild"),
            )
