"""Why an item stands where it stands: the chain agrees with every fold."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from random_logs import LOG

from eventlog import StreamKey, events
from projections import open_log
from projections.context import UNDOABLE, effective
from projections.force import decisions_in_force, out_of_force
from projections.live import Live
from projections.materialize import original
from projections.runs import position_of
from projections.why import READ, Standing, survived, trace

KEY = StreamKey("local", "agent", "s")


def said(text: str, role: str = "user") -> events.MessageAppended:
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    return events.MessageAppended(
        dialect="openai_chat", source=source, message={"role": role, "content": text}
    )


def summary(text: str) -> events.NewMessage:
    return events.NewMessage(dialect="openai_chat", message={"role": "user", "content": text})


def effects(live: Live, item: int | str, at: int | None = None) -> list[tuple[int, str]]:
    found = trace(live.history(KEY, at, READ), item)
    return [(touch.event.position, touch.effect) for touch in found.touches]


class TestTheChain:
    """A person who asks why must not be told another story than the context itself."""

    @settings(max_examples=60)
    @given(log=LOG)
    def test_every_item_stands_after_each_of_its_events_as_in_the_view_there(
        self, log: list[list[events.Event]]
    ) -> None:
        with TemporaryDirectory() as folder, open_log(Path(folder) / "l.db") as live:
            for append in log:
                live.append(KEY, *append)
            views = [live.view(KEY, at) for at in range(live.log.version(KEY) + 1)]
            ever = {item for view in views for item in view.items}
            history = live.history(KEY, whole=READ)
            for item in ever:
                found = trace(history, item)
                state = Standing()
                told = {touch.event.position: touch for touch in found.touches}
                for at, view in enumerate(views):
                    pinned = item in view.pins and at >= position_of(item)
                    now = Standing(item in view.items, view.items.get(item, 0), pinned)
                    if now != state:
                        assert told[at].after == now
                        assert told[at].before == state
                    state = now
                assert found.now == state

    @settings(max_examples=60)
    @given(log=LOG)
    def test_what_is_in_force_is_what_the_fold_takes(self, log: list[list[events.Event]]) -> None:
        with TemporaryDirectory() as folder, open_log(Path(folder) / "l.db") as live:
            for append in log:
                live.append(KEY, *append)
            history = live.history(KEY)
            gone = out_of_force(history)
            taken = {event.position for event in effective(history)[0]}
            for event in history:
                if event.type not in ("decision_undone", "session_rewound"):
                    assert (event.position in taken) == (event.position not in gone)
            last = next(decisions_in_force(history), None)
            undoable = [e for e in history if e.type in UNDOABLE and e.position not in gone]
            assert last == (undoable[-1] if undoable else None)

    def test_a_cut_a_compaction_and_their_undos_are_told_in_order(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(
                KEY,
                said("one"),
                said("two"),
                events.PlaceholderSubstituted(item="1", content="[cleared]", pass_id="p"),  # 3
                events.ContextCompacted(covered=("1-2",), messages=(summary("both"),)),  # 4
                events.DecisionUndone(pass_id="p"),  # 5
                events.ItemPinned(item="1"),  # 6
                events.DecisionUndone(target=4),  # 7
            )
            assert effects(live, 1) == [
                (1, "came"),
                (3, "changed"),
                (4, "left"),
                (5, "nothing"),
                (6, "pinned"),
                (7, "back"),
            ]
            assert effects(live, "4.0") == [(4, "came"), (7, "left")]
            found = trace(live.history(KEY, whole=READ), 1)
            assert [touch.undone_by for touch in found.touches] == [None, 5, 7, None, None, None]
            assert found.now == Standing(True, 0, True)

    def test_what_keeps_an_item_out_is_told_once_its_first_taker_is_undone(
        self, tmp_path: Path
    ) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(
                KEY,
                said("one"),
                events.ContextCompacted(covered=("1",), messages=(summary("a"),)),
                events.ContextCompacted(covered=("2.0",), layout=("m0",), messages=(summary("b"),)),
                events.DecisionUndone(target=2),
            )
            assert effects(live, 1) == [
                (1, "came"),
                (2, "left"),
                (3, "keeps_out"),
                (4, "nothing"),
            ]
            left = trace(live.history(KEY, whole=READ), 1).left
            assert left is not None
            assert left.number == 2

    def test_an_item_that_a_layout_did_not_take_never_stood(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db") as live:
            compaction = events.ContextCompacted(
                covered=("1",), layout=("m0",), messages=(summary("a"), summary("b"))
            )
            live.append(KEY, said("one"), compaction)
            assert effects(live, "2.1") == [(2, "nothing")]
            assert trace(live.history(KEY, whole=READ), "2.1").left is None

    def test_a_fork_tells_the_chain_of_its_parent(self, tmp_path: Path) -> None:
        child = StreamKey("local", "agent", "child")
        with open_log(tmp_path / "l.db") as live:
            live.append(
                KEY, said("one"), events.PlaceholderSubstituted(item="1", content="[cleared]")
            )
            live.log.fork(child, KEY, 2)
            found = trace(live.history(child, whole=READ), 1)
            told = [(touch.event.position, touch.effect) for touch in found.touches]
            assert told == [(1, "came"), (2, "changed"), (3, "forked")]


class TestWhatSurvived:
    """What a summary dropped is what a person came for."""

    def test_each_literal_is_in_place_elsewhere_or_lost_with_what_needed_it(
        self, tmp_path: Path
    ) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(
                KEY,
                said("order ORD-77120 at http://localhost:8123, see shop/refunds.py"),
                said("shop/refunds.py is open", "assistant"),
                events.ContextCompacted(
                    covered=("1",), messages=(summary("it is at http://localhost:8123"),)
                ),
                said("which one was ORD-77120?", "assistant"),
            )
            recorded = live.log.at(KEY, [1, 4])
            item, later = original(1, recorded), original(4, recorded)
            assert item is not None
            assert later is not None
            place = live.materialize(KEY, [("3.0", 0)])
            found = survived(item, place, live.items(KEY, 3), [later])
            assert [
                (one.anchor.text, one.in_place, one.elsewhere, one.used_by) for one in found
            ] == [
                ("ORD-77120", False, "", ("4",)),
                ("http://localhost:8123", True, "3.0", ()),
                ("shop/refunds.py", False, "2", ()),
            ]
            assert [one.is_lost for one in found] == [True, False, False]

    def test_a_rule_may_be_said_again_in_other_words(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(
                KEY,
                said("Never touch migrations/. Always run the linter first."),
                events.ContextCompacted(
                    covered=("1",), messages=(summary("migrations/ is something to never touch"),)
                ),
            )
            item = original(1, live.log.at(KEY, [1]))
            assert item is not None
            place = live.materialize(KEY, [("2.0", 0)])
            found = survived(item, place, live.items(KEY, 2), [])
            assert [
                (one.anchor.text, one.is_lost, one.is_reworded)
                for one in found
                if one.anchor.kind == "rule"
            ] == [
                ("Never touch migrations/", True, True),
                ("Always run the linter first", True, False),
            ]
