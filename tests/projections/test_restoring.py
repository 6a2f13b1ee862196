"""Undoing what took items: they stand again as they came in, or it is said why not."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from random_logs import LOG

from eventlog import StreamKey, events
from projections import open_log
from projections.foreseen import foreseen
from projections.live import Live
from projections.restoring import restoring
from projections.why import READ

KEY = StreamKey("local", "agent", "s")


def said(text: str) -> events.MessageAppended:
    return events.MessageAppended(
        dialect="openai_chat", source="human", message={"role": "user", "content": text}
    )


def compaction(*covered: str, **more: object) -> events.ContextCompacted:
    new = events.NewMessage(dialect="openai_chat", message={"role": "user", "content": "so far"})
    return events.ContextCompacted.model_validate({"covered": covered, "messages": (new,), **more})


def undone(live: Live, *items: int | str) -> tuple[list[int | None], dict[int | str, str]]:
    found = restoring(live.history(KEY, whole=READ), items, live.log.version(KEY) + 1)
    if found.undos:
        live.append(KEY, *found.undos)
    return [undo.target for undo in found.undos], found.impossible


class TestWhatHasToBeUndone:
    """One undo too few leaves a placeholder; one too many brings back what nobody asked for."""

    def test_a_cut_beneath_a_clearing_is_undone_as_well(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(
                KEY,
                said("one"),
                events.PlaceholderSubstituted(item="1", kind="cut", content="o…"),
                events.PlaceholderSubstituted(item="1", content="[cleared]"),
            )
            assert undone(live, 1) == ([3, 2], {})
            assert live.view(KEY).labels() == ["1"]

    def test_only_the_compaction_that_took_it_is_undone(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(KEY, said("one"), compaction("1"), said("two"), compaction("2.0", "3"))
            assert undone(live, 1) == ([2], {})
            assert live.view(KEY).labels() == ["1", "4.0"]

    def test_a_later_layout_that_does_not_know_it_is_undone_too(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(KEY, said("one"), compaction("1"), compaction("2.0", layout=("m0",)))
            assert undone(live, 1) == ([2, 3], {})
            assert live.view(KEY).labels() == ["1"]

    def test_an_undone_undo_and_a_rewind_can_be_what_took_it(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(
                KEY,
                said("one"),
                compaction("1"),  # 2
                events.DecisionUndone(target=2),  # 3
                events.DecisionUndone(target=3),  # 4
                said("two"),  # 5
                events.SessionRewound(to=4),  # 6
            )
            assert undone(live, 1, 5) == ([2, 6], {})
            assert live.view(KEY).labels() == ["1", "5"]

    def test_what_a_repair_left_out_cannot_be_brought_back_so(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "l.db") as live:
            live.append(KEY, said("one"), events.RepairApplied(rule="orphan", dropped=("1",)))
            assert undone(live, 1) == ([], {1: "event 2 (repair applied) cannot be undone"})

    @settings(max_examples=80)
    @given(log=LOG)
    def test_of_any_log_every_item_stands_as_it_came_in_or_is_told(
        self, log: list[list[events.Event]]
    ) -> None:
        with TemporaryDirectory() as folder, open_log(Path(folder) / "l.db") as live:
            for append in log:
                live.append(KEY, *append)
            version = live.log.version(KEY)
            ever = {i for at in range(version + 1) for i in live.view(KEY, at).items}
            for item in sorted(ever, key=str):
                found = restoring(live.history(KEY, whole=READ), [item], version + 1)
                then = foreseen(live, KEY, version + 1, found.undos)
                assert (then.after.items.get(item, 1) == 0) != (item in found.impossible)
