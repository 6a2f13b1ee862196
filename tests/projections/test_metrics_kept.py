"""What a strategy kept and lost of one session: recall, repeats, survival, files, accounting."""

from __future__ import annotations

import pytest
from recorded_sessions import Session, late_reference, long_session

from eventlog import events
from projections.metrics.ground import Ground
from projections.metrics.measure import Measured, Options, measure
from projections.observed import observed
from projections.recording import Recording
from projections.strategies import parse
from projections.strategies.decisions import Summary
from projections.tokens import counter
from projections.whatif import Runner

COUNTING = counter()


def measured(made: Session | Recording, spec: str = "none", said: str | None = None) -> Measured:
    given = made.recording() if isinstance(made, Session) else made

    def summarize(wanted: Summary, shown: object) -> str | None:
        return said

    ground = Ground(given, COUNTING)
    if spec == "observed":
        return measure(ground, lambda observer: observed(given, observer), Options())
    strategies = parse(spec)
    return measure(
        ground,
        lambda observer: Runner(given, strategies, COUNTING, summarize, observer).run(),
        Options(),
    )


class TestRecall:
    """Without this nobody sees that what was thrown away was needed."""

    def test_without_a_strategy_nothing_is_lost(self) -> None:
        found = measured(long_session()).recall
        assert found.needed > 50
        assert found.curve[3].needed > 5
        assert all(each.kept == each.needed for each in found.curve)
        assert (found.lost, found.first_loss) == ((), None)

    def test_what_was_needed_and_lost_is_named_with_the_decision(self) -> None:
        made = late_reference(9, 7)
        found = measured(made, "clear:keep=2,at=model_call").recall
        (lost,) = found.lost
        assert (lost.text, lost.kind, lost.item) == ("src/core/engine.py", "path", "5")
        assert (lost.call, lost.distance, lost.in_arguments) == (8, 6, True)
        assert (lost.taken_by, found.first_loss) == ("cleared", 8)
        assert made.events[lost.position - 1].type == "model_called"
        assert lost.taken_at is not None
        assert lost.taken_at < lost.position

    def test_a_reference_counts_at_its_distance_and_all_under_it(self) -> None:
        found = measured(late_reference(9, 7), "clear:keep=2,at=model_call").recall
        assert [(c.distance, c.needed, c.kept) for c in found.curve] == [
            *((0, 1, 0), (1, 1, 0), (3, 1, 0), (5, 1, 0)),
            *((10, 0, 0), (20, 0, 0)),
        ]
        assert found.curve[4].recall is None
        assert [(k.kind, k.needed, k.far_needed) for k in found.by_kind] == [("path", 1, 1)]

    def test_the_latest_result_is_no_call_away(self) -> None:
        found = measured(late_reference(4, 1)).recall
        assert [c.needed for c in found.curve] == [1, 0, 0, 0, 0, 0]

    def test_what_only_was_spoken_of_is_counted_apart(self) -> None:
        made = late_reference(3, 99)
        made.human("and now?")
        made.call(text="I saw src/core/engine.py there")
        found = measured(made).recall
        assert (found.curve[0].needed, found.in_arguments[0].needed) == (1, 0)

    def test_what_the_head_or_the_first_task_says_is_not_needed(self) -> None:
        made = Session()
        made.system("The log is /var/log/app.log")
        made.human("Fix src/core/engine.py")
        made.call(("read_file", {"path": "src/core/engine.py"}))
        made.result("see /var/log/app.log and src/other/thing.py")
        made.call(text="/var/log/app.log, src/core/engine.py and src/other/thing.py")
        found = measured(made).recall
        assert found.needed == 1

    def test_a_task_that_the_agent_took_away_is_lost_where_an_answer_uses_it(self) -> None:
        made = Session()
        task = made.human("Fix src/core/engine.py")
        made.call(text="I look.")
        made.add(events.ContextCompacted(covered=(str(task),)))
        made.human("go on")
        made.call(text="src/core/engine.py is mended")
        found = measured(made, "observed").recall
        assert [(one.text, one.item, one.call) for one in found.lost] == [
            ("src/core/engine.py", str(task), 2)
        ]
        assert (found.needed, found.first_loss) == (0, 2)
        assert measured(made).recall.lost == ()

    def test_what_was_never_said_before_is_not_needed(self) -> None:
        made = Session()
        made.human("go")
        made.call(text="I invent src/new/file.py")
        assert measured(made).recall.needed == 0

    def test_a_hit_in_a_summary_is_kept_and_said_to_be_only_that(self) -> None:
        made = Session()
        first = made.human("Look at the sources")
        answer = made.call(("list_files", {}))
        result = made.result("src/core/engine.py " * 30)
        made.compacted([answer, result], "the file is src/core/engine.py")
        made.human("go on")
        made.call(("read_file", {"path": "src/core/engine.py"}))
        curve = measured(made, "observed").recall.curve
        assert (curve[0].kept, curve[0].in_summary_only) == (1, 1)
        assert first

    def test_a_mention_that_was_taken_back_is_none(self) -> None:
        made = Session()
        first = made.human("Look")
        made.call(("list_files", {}))
        made.result("src/core/engine.py")
        made.add(events.SessionRewound(to=first))
        made.call(text="src/core/engine.py comes out of nowhere")
        for spec in ("none", "observed"):
            assert measured(made, spec).recall.needed == 0

    def test_a_cut_keeps_what_stands_in_head_and_tail(self) -> None:
        made = Session()
        made.human("Look")
        made.call(("list_files", {}))
        made.result("src/head/a.py " + "noise " * 900 + " src/mid/b.py " + "noise " * 900)
        made.call(text="src/head/a.py and src/mid/b.py")
        found = measured(made, "cut:limit=100").recall
        assert [lost.text for lost in found.lost] == ["src/mid/b.py"]
        assert (found.needed, found.lost[0].taken_by) == (2, "cut")


class TestRefetch:
    """Without this a strategy that makes the model read everything again looks cheap."""

    def twice(self, *between: tuple[str, dict[str, object]]) -> Session:
        made = Session()
        made.human("Look")
        for name, arguments in (("read_file", {"path": "a.py"}), *between):
            made.call((name, dict(arguments)))
            made.result("text " * 100)
        made.call(("read_file", {"path": "./a.py"}))
        made.result("text " * 100)
        made.call(text="done")
        return made

    def test_a_repeat_is_avoidable_where_the_first_result_stands(self) -> None:
        found = measured(self.twice()).refetch
        assert (found.repeats, found.visible, found.gone, found.calls) == (1, 1, 0, ())
        assert found.tokens_visible > 100

    def test_it_is_explained_where_the_first_result_is_gone(self) -> None:
        made = self.twice(("list_files", {}), ("list_files", {"n": 1}))
        found = measured(made, "clear:keep=1,at=model_call").refetch
        assert (found.repeats, found.visible, found.gone, found.calls) == (1, 0, 1, (4,))

    def test_it_is_no_repeat_when_the_file_was_written_in_between(self) -> None:
        assert measured(self.twice(("edit_file", {"path": "a.py"}))).refetch.repeats == 0
        assert measured(self.twice(("edit_file", {"path": "b.py"}))).refetch.repeats == 1


class TestSurvival:
    """Without this a rule that a person gave is gone, and the table looks fine."""

    def fates(self, found: Measured) -> dict[str, tuple[int, int, int]]:
        assert found.survival is not None
        return {f.kind: (f.verbatim, f.degraded, f.lost) for f in found.survival.at_end}

    def test_without_a_strategy_all_stands(self) -> None:
        fates = self.fates(measured(long_session()))
        assert fates == {
            "system": (1, 0, 0),
            "first_task": (1, 0, 0),
            "rule": (1, 0, 0),
            "last_user": (1, 0, 0),
        }

    def test_what_left_with_nothing_in_its_place_is_lost(self) -> None:
        made = long_session(4)
        made.human("Always run make check before you stop.")
        for number in range(30):
            made.call(("list_files", {"n": number}))
            made.result("noise " * 50)
        made.human("and?")
        made.call(text="done")
        found = measured(made, "truncate:turns=4,at=model_call")
        fates = self.fates(found)
        assert (fates["first_task"], fates["rule"]) == ((0, 0, 1), (1, 0, 1))
        assert found.survival is not None
        assert "Always run make check before you stop" in {
            kept.text.rstrip(".") for kept in found.survival.not_verbatim
        }
        assert found.survival.rounds
        assert found.survival.rounds[-1].lost == 2

    @pytest.mark.parametrize(
        ("summary", "expected"),
        [
            ("They said: Never touch the billing folder without asking Maria first.", (1, 0, 0)),
            ("The billing folder: never touch it without first asking Maria", (0, 1, 0)),
            ("They like tea", (0, 0, 1)),
        ],
    )
    def test_a_rule_may_live_on_in_a_summary(
        self, summary: str, expected: tuple[int, int, int]
    ) -> None:
        made = Session()
        made.human("Fix the test")
        made.call(text="ok")
        rule = made.human("Never touch the billing folder without asking Maria first.")
        answer = made.call(text="I will not. " * 40)
        made.compacted([rule, answer], summary)
        made.human("go on")
        made.call(text="done")
        assert self.fates(measured(made, "observed"))["rule"] == expected

    def test_pins_and_the_newest_to_do_list_count(self) -> None:
        made = Session()
        made.human("Fix the test")
        made.call(("TodoWrite", {"todos": ["old"]}))
        made.result("ok", "TodoWrite")
        newest = made.call(("TodoWrite", {"todos": ["find the cause"]}))
        result = made.result("ok", "TodoWrite")
        pinned = made.human("The port is 8471")
        made.add(events.ItemPinned(item=str(pinned)))
        made.call(text="fine")
        made.compacted([newest, result], "busy")
        made.human("go on")
        made.call(text="done")
        fates = self.fates(measured(made, "observed"))
        assert (fates["pinned"], fates["todo"]) == ((1, 0, 0), (0, 0, 1))


class TestArtifacts:
    """Without this nobody sees that the model no longer knows which files it changed."""

    def test_files_are_recalled_while_something_names_them(self) -> None:
        made = Session()
        made.human("Write two files")
        first = made.call(("write_file", {"path": "src/one.py", "content": "x = 1"}))
        done = made.result("ok", "write_file")
        made.call(("write_file", {"path": "src/two.py", "content": "y = 2"}))
        made.result("ok", "write_file")
        made.call(("read_file", {"path": "src/three.py"}))
        made.result("z")
        made.compacted([first, done], "one file was written")
        made.human("which?")
        made.call(text="src/two.py")
        whole, seen = (measured(made, spec).artifacts for spec in ("none", "observed"))
        assert (whole.written.files, whole.written.named, whole.forgotten) == (2, 2, ())
        assert (seen.written.recall, seen.forgotten) == (0.5, ("src/one.py",))
        assert (seen.read.files, seen.read.recall) == (1, 1.0)
        assert seen.written.mean_recall == pytest.approx((1 + 1 + 0.5) / 3, abs=1e-6)


class TestAccounting:
    """Without this something is neither kept nor dropped, and nobody knows."""

    @pytest.mark.parametrize(
        "spec",
        [
            *("none", "observed", "cut:limit=200", "clear:keep=2,at=model_call"),
            *("truncate:turns=3,at=model_call", "window:tokens=900", "mask:n=3,polling=2"),
            "compact:keep_turns=2",
        ],
    )
    def test_every_item_has_one_state_and_the_tokens_add_up(self, spec: str) -> None:
        made = long_session().recording()
        found = measured(made, spec, said="they fixed tickets").accounting
        assert found is not None
        last = [step for step in made.steps if step.kind == "call"][-1].position
        before = [s for s in made.steps if s.kind == "item" and s.position < last]
        named = [item for fate in found.fates for item in fate.items]
        assert sorted(named, key=int) == [str(step.origin) for step in before]
        assert found.tokens == sum(step.tokens for step in before)
        left = sum(fate.tokens_left for fate in found.fates)
        assert found.context_tokens == left + found.summary_tokens
        assert all(fate.reason or fate.state == "kept" for fate in found.fates)

    def test_reasons_and_speakers_are_told_apart(self) -> None:
        found = measured(long_session(), "clear:keep=2,at=model_call").accounting
        assert found is not None
        states = {fate.state: fate.reason for fate in found.fates}
        assert states["kept"] == ""
        assert states["edited"].startswith("cleared: ")
        shares = {each.speaker: each.kept_share for each in found.speakers}
        assert shares["user"] == shares["assistant"] == shares["system"] == 1.0
        assert 0 < (shares["tool"] or 0) < 0.5
        assert found.oldest_verbatim == "2"

    def test_what_was_rewound_is_never_visible(self) -> None:
        made = Session()
        first = made.human("one")
        made.call(text="two")
        made.add(events.SessionRewound(to=first))
        made.call(text="three")
        found = measured(made, "observed").accounting
        assert found is not None
        assert {f.state: f.items for f in found.fates} == {"kept": ("1",), "never_visible": ("3",)}
