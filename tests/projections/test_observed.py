"""The contexts that the model really had, as a run like a what-if."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from random_logs import LOG
from recorded_sessions import Session

from eventlog import StreamKey, events
from harness.importers import import_path
from projections import open_log
from projections.captured import captured
from projections.live import Live
from projections.observed import observed
from projections.recording import Recording, recording
from projections.runs import Origin
from projections.strategies import parse
from projections.strategies.window import Window
from projections.tokens import count_item, counter
from projections.whatif import Runner, WhatIf

KEY = StreamKey("local", "agent", "s")
COUNTING = counter()


def contexts(made: Recording) -> dict[int, list[str]]:
    """What the run says of each call, by the call's position."""
    found: dict[int, list[str]] = {}

    def look(run: WhatIf, window: Window, touched: Mapping[Origin, None]) -> None:
        entries = window.entries.values()
        found[run.calls[-1].position] = [entry.item.rendition for entry in entries]
        assert window.tokens == sum(entry.tokens for entry in entries)

    observed(made, look)
    return found


def assert_as_folded(live: Live, key: StreamKey) -> None:
    made = recording(live.log.read(key), COUNTING)
    for position, renditions in contexts(made).items():
        assert renditions == [item.rendition for item in live.items(key, position - 1)]


class TestObserved:
    """Without this every comparison is held against contexts that never were."""

    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(LOG)
    def test_of_any_log_each_call_has_the_context_as_folded(
        self, log: list[list[events.Event]]
    ) -> None:
        with TemporaryDirectory() as place, open_log(Path(place) / "log.db") as live:
            for batch in log:
                called = events.ModelCalled(model="m", dialect="openai_chat")
                live.append(KEY, *batch, called)
            assert_as_folded(live, KEY)

    def test_of_a_real_session_too(self, samples: Path, tmp_path: Path) -> None:
        name = "claude-code/cc03_compact_2microcompact_v2.1.17.jsonl"
        with open_log(tmp_path / "log.db") as live:
            import_path(live.log, samples / name)
            for stream in live.log.streams():
                assert_as_folded(live, stream.key)

    def test_its_changes_are_the_decisions_of_the_log(self) -> None:
        made = Session()
        first = made.human("read it")
        made.call(("read_file", {"path": "a.py"}))
        result = made.result("x" * 400)
        clearing = made.cleared(result)
        made.call(text="done")
        compacting = made.compacted([first], "they asked for a.py")
        made.call(text="more")
        run = observed(made.recording())
        assert [(c.kind, c.position, c.items, c.call) for c in run.changes] == [
            ("cleared", clearing, (result,), 1),
            ("summarised", compacting, (first,), 2),
        ]

    def test_what_was_never_compacted_is_the_same_as_without_a_strategy(self) -> None:
        made = Session()
        made.human("one")
        made.call(text="two")
        made.human("three")
        made.call(text="four")
        given = made.recording()
        assert observed(given).calls == Runner(given, parse("none"), COUNTING).run().calls


class TestPrefix:
    """Without this the cost of a rewind, or of a cut, is counted wrong."""

    def prefixes(self, made: Session, spec: str = "none") -> list[int]:
        given = made.recording()
        return [call.prefix for call in Runner(given, parse(spec), COUNTING).run().calls]

    def test_a_cut_behind_what_was_sent_breaks_nothing(self) -> None:
        made = Session()
        made.human("read both")
        made.call(("read_file", {"path": "a"}), ("read_file", {"path": "b"}))
        made.result("short", of="a")
        made.result("y" * 9000, of="b")
        made.call(text="done")
        given = made.recording()
        run = Runner(given, parse("cut:limit=100"), COUNTING).run()
        assert run.changes
        assert run.calls[1].prefix == run.calls[0].tokens

    def test_after_a_rewind_both_begin_alike(self) -> None:
        made = Session()
        first = made.human("a question that stays")
        made.call(text="an answer that stays not")
        made.human("another question")
        made.call(text="another answer")
        made.add(events.SessionRewound(to=first))
        made.human("a better question")
        made.call(text="fine")
        given = made.recording()
        kept = given.steps[0]
        assert kept.item is not None
        expected = [0, kept.tokens, count_item(COUNTING, kept.item)]
        assert self.prefixes(made) == expected
        assert [call.prefix for call in observed(given).calls] == expected


class TestCaptured:
    """Without this a diff at a call shows the context before the call's own decisions."""

    def test_the_context_of_a_call_has_what_was_decided_at_the_call(self) -> None:
        made = Session()
        made.human("read it")
        for _ in range(5):
            made.call(("read_file", {"path": "a.py"}))
            made.result("z" * 800)
        made.call(text="done")
        given = made.recording()
        strategies = parse("clear:keep=1,at=model_call")
        found = captured(
            lambda observer: Runner(given, strategies, COUNTING, observer=observer).run(), 6
        )
        assert found is not None
        forms = [item.form for item in found.items if item.kind == "tool_result"]
        assert forms == ["cleared"] * 4 + ["original"]
        assert len(found.changes) == 4

    def test_there_is_none_of_a_call_that_never_was(self) -> None:
        made = Session()
        made.human("hello")
        assert captured(lambda observer: observed(made.recording(), observer), 1) is None
