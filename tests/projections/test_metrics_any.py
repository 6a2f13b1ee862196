"""What holds of the metrics of any session under any strategy, drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_sessions import Session

from eventlog import events
from projections.metrics import ground as grounds
from projections.metrics.ground import Ground
from projections.metrics.measure import Measured, Options, measure
from projections.metrics.mentions import texts
from projections.metrics.meter import Meter
from projections.observed import observed
from projections.runs import Origin
from projections.strategies import parse
from projections.strategies.decisions import Summary
from projections.strategies.window import Window
from projections.tokens import counter
from projections.whatif import Observer, Runner, WhatIf

COUNTING = counter()
PATHS = st.sampled_from(["src/a.py", "src/b.py", "lib/deep/c.go", "docs/guide.md"])
TEXT = st.one_of(
    PATHS,
    st.lists(PATHS, max_size=3).map(" and ".join),
    st.sampled_from(["nothing", "Never touch src/a.py.", "OPS-1234 in 300ms", "word " * 80, ""]),
)
TOOLS = st.sampled_from(["read_file", "edit_file", "TodoWrite"])
STEP = st.one_of(
    st.tuples(st.just("human"), TEXT),
    st.tuples(st.just("call"), TEXT, st.lists(st.tuples(TOOLS, PATHS), max_size=2)),
    st.tuples(st.just("call"), TEXT, st.lists(st.tuples(TOOLS, PATHS), max_size=2)),
    st.tuples(st.just("result"), TEXT, st.sampled_from("ab")),
    st.tuples(st.just("result"), TEXT, st.sampled_from("ab")),
    st.tuples(st.just("rewind"), st.integers(1, 30)),
    st.tuples(st.just("clear"), st.integers(1, 30)),
    st.tuples(st.just("revise"), st.integers(1, 30), TEXT),
    st.tuples(st.just("compact"), st.lists(st.integers(1, 30), max_size=5), TEXT),
    st.tuples(st.just("pin"), st.integers(1, 30)),
)
SPEC = st.sampled_from(
    [
        *("none", "observed", "cut:limit=20", "clear:keep=1,at=model_call", "mask:n=1,polling=1"),
        *("truncate:turns=2,at=model_call", "window:tokens=120", "compact:keep_turns=1"),
        *("dedup", "cut:limit=30 | window:tokens=150,low=100", "tiered", "prune"),
    ]
)


@st.composite
def session(draw: st.DrawFn) -> Session:
    made = Session()
    made.human("Begin")
    for step in draw(st.lists(STEP, min_size=1, max_size=25)):
        match step:
            case ("human", text):
                made.human(text)
            case ("call", text, tools):
                made.call(*((name, {"path": path}) for name, path in tools), text=text)
            case ("result", text, of):
                made.result(text, of=of)
            case ("rewind", to):
                made.add(events.SessionRewound(to=min(to, len(made.events))))
            case ("clear", item):
                made.cleared(item, "[gone]")
            case ("revise", item, text):
                made.add(events.MessageRevised(item=str(item), patch={"content": text}))
            case ("compact", covered, text):
                made.compacted(covered, text)
            case ("pin", item):
                made.add(events.ItemPinned(item=str(item)))
    made.call(text="the end: src/a.py")
    return made


def summarize(wanted: Summary, shown: object) -> str:
    return "about src/b.py"


class Judge:
    """A meter, and beside it what the whole context says at each call."""

    def __init__(self, ground: Ground) -> None:
        self.ground, self.meter = ground, Meter(ground)

    def __call__(self, run: WhatIf, window: Window, touched: Mapping[Origin, None]) -> None:
        facts = self.ground.calls[len(run.calls) - 1]
        before = len(self.meter.recall.missed)
        self.meter(run, window, touched)
        items = [entry.item for entry in window.entries.values()]
        held = set().union(*(self.ground._mentions.inside(texts(item)) for item in items))
        missed = {need.literal for need in facts.needs if need.literal not in held}
        found = {each[1].literal for each in self.meter.recall.missed[before:]}
        assert found == missed
        for literal, count in enumerate(self.meter.recall.count):
            assert (count > 0) == (literal in held)
        assert set(self.meter.survival._summaries) == {
            origin for origin, entry in window.entries.items() if entry.item.kind == "summary"
        }


def run_of(made: Session, spec: str) -> tuple[Ground, Callable[[Observer], WhatIf]]:
    given_session = made.recording()
    ground = Ground(given_session, COUNTING)

    def run(observer: Observer) -> WhatIf:
        if spec == "observed":
            return observed(given_session, observer)
        return Runner(given_session, parse(spec), COUNTING, summarize, observer).run()

    return ground, run


def measured(made: Session, spec: str) -> Measured:
    ground, run = run_of(made, spec)
    return measure(ground, run, Options(window=1000))


class TestAnySession:
    """Without this the metrics are right for the sessions that somebody thought of."""

    @settings(max_examples=150)
    @given(session(), SPEC)
    def test_what_is_kept_by_changes_is_what_the_whole_context_says(
        self, made: Session, spec: str
    ) -> None:
        ground, run = run_of(made, spec)
        run(Judge(ground))

    @pytest.mark.parametrize("to", [1, 2, 3])
    def test_a_rewind_takes_back_what_an_item_said_by_a_revision_only(self, to: int) -> None:
        made = Session()
        made.human("Begin")
        made.human("nothing")
        made.add(events.MessageRevised(item="2", patch={"content": "src/a.py"}))
        made.add(events.SessionRewound(to=to))
        made.call(text="the end: src/a.py")
        ground, _ = run_of(made, "none")
        assert len(ground.calls[0].needs) == (to == 3)
        assert measured(made, "none").recall.lost == ()

    @settings(max_examples=100)
    @given(session())
    def test_without_a_strategy_nothing_is_lost(self, made: Session) -> None:
        found = measured(made, "none")
        assert found.recall.lost == ()
        assert found.refetch.gone == 0
        assert (found.compactions.passes, found.volume.shown) == (0, 0)
        if "session_rewound" not in {event.type for event in made.events}:
            assert found.artifacts.forgotten == ()
        assert found.survival is not None
        assert found.survival.not_verbatim == ()

    @settings(max_examples=100)
    @given(session(), SPEC)
    def test_every_number_fits_to_the_others(self, made: Session, spec: str) -> None:
        found = measured(made, spec)
        assert found == measured(made, spec)
        account = found.accounting
        assert account is not None
        assert account.context_tokens == found.tokens.curve[-1]
        left = sum(fate.tokens_left for fate in account.fates)
        assert account.context_tokens == left + account.summary_tokens
        assert account.summary_tokens >= 0
        named = [item for fate in account.fates for item in fate.items]
        assert len(named) == len(set(named))
        needed = [each.needed for each in found.recall.curve]
        assert needed == sorted(needed, reverse=True)
        assert all(c.kept <= c.needed for c in found.recall.curve)
        assert sum(k.needed for k in found.recall.by_kind) == found.recall.needed
        assert len(found.recall.lost) == needed[0] - found.recall.curve[0].kept
        assert found.refetch.repeats == found.refetch.gone + found.refetch.visible
        assert 0 <= found.artifacts.written.named <= found.artifacts.written.files
        assert all(0 <= v.valid <= v.calls == found.calls for v in found.validity)
        assert found.prefix.cached <= found.tokens.cumulative


class TestRewind:
    """Without this a session that is often rewound needs what it never needed."""

    @settings(max_examples=200)
    @given(session())
    def test_taking_back_the_newest_is_as_going_over_everything_that_stays(
        self, made: Session
    ) -> None:
        recorded = made.recording()
        found = Ground(recorded, COUNTING)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                grounds._Walk, "_take_back", lambda walk, gone: walk._go_over(walk.newest)
            )
            wanted = Ground(recorded, COUNTING)
        assert found.calls == wanted.calls
        assert found.standing == wanted.standing
