"""The audit as a whole: rows, the account, the order of findings, what it costs."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from audits_made import audit_of, compaction, findings, quiet_session
from hypothesis import HealthCheck, given, settings
from random_logs import LOG
from recorded_sessions import Session

from eventlog import StreamKey, events
from eventlog.errors import InputRefused
from harness.importers import import_path
from projections import open_log
from projections.audit.auditing import RULES, audit, rules_of
from projections.audit.passages import Passages
from projections.live import Live
from projections.recording import recording
from projections.runs import Origin, label
from projections.tokens import count_item, counter

KEY = StreamKey("local", "agent", "s")
CHILD = StreamKey("local", "agent", "s~2")


def contexts(live: Live, key: StreamKey) -> dict[int, list[str]]:
    """What stood at each call, as folded."""
    calls = live.log.read(key, types=["model_called"])
    return {c.position: [i.id for i in live.items(key, c.position)] for c in calls}


def assert_adds_up(live: Live, key: StreamKey) -> None:
    found = audit(live, key, ["coverage"])
    assert [f for f in found.findings if "add up" in f.message or "stored view" in f.message] == []
    items = live.items(key)
    account = found.coverage
    assert account.context_items == len(items)
    assert account.context_tokens == sum(count_item(counter(), item) for item in items)
    assert account.items == sum(state.items for state in account.states)
    assert account.tokens == sum(state.tokens for state in account.states)
    assert account.context_tokens == sum(state.tokens_left for state in account.states)
    stood = contexts(live, key)
    walked = Passages(recording(live.log.read(key), counter()))
    assert {p.position: p.items for p in walked.calls} == {at: len(i) for at, i in stood.items()}
    standing: list[Origin] = list(walked.standing)
    assert {label(origin, 0) for origin in standing} == {item.id for item in items}


class TestAccount:
    """Without it an item is gone and nobody says so."""

    @settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(LOG)
    def test_of_any_log_every_item_is_in_one_state_and_the_tokens_add_up(
        self, log: list[list[events.Event]]
    ) -> None:
        with TemporaryDirectory() as place, open_log(Path(place) / "log.db") as live:
            for batch in log:
                live.append(KEY, *batch, events.ModelCalled(model="m", dialect="openai_chat"))
            assert_adds_up(live, KEY)
            audit(live, KEY)

    def test_of_a_real_session_too(self, samples: Path, tmp_path: Path) -> None:
        with open_log(tmp_path / "log.db") as live:
            for path in sorted((samples / "claude-code").glob("cc0[34]*.jsonl")):
                import_path(live.log, path)
            for stream in live.log.streams():
                assert_adds_up(live, stream.key)

    def test_each_state_has_its_reason_and_its_decision(self) -> None:
        made = Session()
        first = made.human("read it")
        made.call(("read_file", {"path": "a.py"}))
        result = made.result("x" * 400)
        made.cleared(result)
        made.call(text="done")
        made.compacted([first], "they asked for a.py")
        seen = made.human("and now?")
        made.call(text="nothing")
        unseen = made.human("a slip")
        made.add(events.SessionRewound(to=unseen - 1))
        states = {(s.state, s.reason, s.by): s.items for s in audit_of(made).coverage.states}
        assert states == {
            ("kept", "", ""): 5,  # three answers, the summary, the question
            ("edited", "cleared", "5"): 1,
            ("summarised", "", "k1"): 1,
            ("never_visible", "rewound", str(unseen + 1)): 1,
        }
        assert seen

    def test_of_one_state_the_decisions_stand_in_their_order(self) -> None:
        made = Session()
        for number in range(11):
            asked = made.human(f"question {number}")
            made.call(text="answer")
            made.compacted([asked], f"summary {number}")
        states = audit_of(made).coverage.states
        told = [state.by for state in states if state.state == "summarised"]
        assert told == [f"k{number}" for number in range(1, 12)]


class TestRows:
    """Without them nobody sees at which call something was gone."""

    def made(self) -> Session:
        made = Session()
        first = made.human("read both")
        made.call(("read_file", {"path": "a"}), ("read_file", {"path": "b"}), input=100, cached=40)
        one = made.result("x" * 4000, of="a")
        two = made.result("y" * 4000, of="b")
        made.cleared(one)
        made.cleared(two)
        made.call(text="done")
        made.compacted([first, one], "so far")
        made.call(text="more")
        return made

    def test_a_call_tells_what_came_and_what_was_billed(self) -> None:
        first, second, _ = audit_of(self.made()).calls
        assert (first.call, first.items, first.came, first.billed, first.cached) == (
            *("c1", 1, ("1",), 140, 40),
        )
        assert (second.call, second.came, second.came_count, second.billed) == (
            *("c2", ("3-6",), 3, None),
        )

    def test_it_tells_what_left_and_by_which_decision(self) -> None:
        _, second, third = audit_of(self.made()).calls
        (cleared,) = second.moves
        assert (cleared.kind, cleared.by, cleared.items, cleared.count) == (
            *("cleared", "7", ("5-6",), 2),
        )
        assert cleared.before > 2000 > cleared.after
        (covered,) = third.moves
        assert (covered.kind, covered.by, covered.items, covered.brought) == (
            *("summarised", "k1", ("1", "5"), ("11.0",)),
        )

    def test_it_tells_what_broke_the_prefix(self) -> None:
        assert [call.prefix_break for call in audit_of(self.made()).calls] == [
            *(None, None, "compaction"),
        ]

    def test_of_a_fork_only_its_own_calls_and_findings_are_told(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "log.db") as live:
            said = events.MessageAppended(
                dialect="openai_chat", source="human", message={"role": "user", "content": "hi"}
            )
            called = events.ModelCalled(model="m", dialect="openai_chat")
            live.append(KEY, said, called)
            live.log.fork(CHILD, KEY, 2)
            live.append(CHILD, said, called)
            whole, fork = audit(live, KEY), audit(live, CHILD)
        assert ([c.call for c in whole.calls], whole.parent) == (["c1"], None)
        assert ([c.call for c in fork.calls], fork.parent) == (["c2"], f"{KEY}@2")
        assert {ref for finding in fork.findings for ref in finding.refs} <= {"c2"}


class TestFindings:
    """Without an order the one that matters stands behind forty that do not."""

    def test_a_session_in_which_nothing_is_wrong_has_none(self) -> None:
        found = audit_of(quiet_session())
        assert (found.findings, found.worst(), found.is_broken) == ((), None, False)

    def test_the_worst_stand_first(self) -> None:
        made = quiet_session()
        made.add(events.RecordingInterrupted(calls_missed=2, reason="the disk was full"))
        made.add(events.ItemPinned(item="2"))
        made.compacted([2], "gone")
        made.call(text="more")
        found = audit_of(made)
        ranks = [("error", "warning", "info").index(f.severity) for f in found.findings]
        assert ranks == sorted(ranks)
        assert found.worst() == "error"

    def test_rules_are_named_with_dashes_too_and_unknown_ones_refused(self) -> None:
        assert rules_of(["broken-rules", "bill", "bill"]) == ["broken_rules", "bill"]
        assert rules_of([]) == list(RULES)
        with pytest.raises(InputRefused, match=r"no rule 'bil'; there are verdicts, coverage"):
            rules_of(["bil"])

    def test_only_rules_that_were_named_are_looked_by(self) -> None:
        made = quiet_session()
        compaction(made, [2], "gone", shown=["3"])
        made.call(text="more")
        assert {f.rule for f in findings(made, "summaries")} == {"summaries"}


class TestCost:
    """Without it a session of ten thousand calls is never audited."""

    def test_a_rewind_costs_what_lies_between(self) -> None:
        made = Session()
        for number in range(300):
            made.human(f"question {number}")
            made.call(text="a slip")
            made.add(events.SessionRewound(to=len(made.events) - 2))
        found = audit_of(made)
        assert len(found.calls) == 300
        assert found.calls[-1].items == 300
