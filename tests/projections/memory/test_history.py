"""What became of one memory, event by event."""

from __future__ import annotations

from pathlib import Path

from eventlog.events import MemoryForgotten, MemoryRestored, MemoryRevised, Remembered
from projections import open_log
from projections.erasure import apply, plan
from projections.memory import memory_stream
from projections.memory.history import history

KEY = memory_stream("ada")


class TestHistory:
    """Whoever doubts a memory reads what it said, who changed it and why."""

    def test_its_events_come_in_their_order(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "log.db") as live:
            live.append(
                KEY,
                Remembered(text="Fridays", by="human"),
                MemoryRevised(memory=1, text="Thursdays", importance=0.7, reason="so", by="model"),
                MemoryForgotten(memory=1, rule="expired", by="gc"),
                MemoryRestored(memory=1, reason="again", by="human"),
            )
            found = list(history(live, "ada", 1))
        assert [each.what for each in found] == ["remembered", "revised", "forgotten", "restored"]
        assert [each.rendition for each in found] == ["1", "1@2", "", ""]
        assert [each.text for each in found] == ["Fridays", "Thursdays", None, None]
        assert [each.by for each in found] == ["human", "model", "gc", "human"]
        assert found[1].changed == ("text", "importance")
        assert (found[1].reason, found[2].rule, found[3].reason) == ("so", "expired", "again")

    def test_those_of_another_whose_name_begins_alike_are_not_among_them(
        self, tmp_path: Path
    ) -> None:
        with open_log(tmp_path / "log.db") as live:
            live.append(KEY, *(Remembered(text=str(number)) for number in range(1, 13)))
            live.append(KEY, MemoryRevised(memory=12, text="twelve"))
            assert [each.text for each in history(live, "ada", 1)] == ["1"]
            assert [each.text for each in history(live, "ada", 12)] == ["12", "twelve"]

    def test_of_an_erased_one_the_events_are_left_without_their_texts(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "log.db") as live:
            live.append(
                KEY, Remembered(text="a secret"), MemoryRevised(memory=1, text="the secret")
            )
            apply(live, plan(live, KEY, ["1"]))
            found = list(history(live, "ada", 1))
        assert [(each.what, each.text, each.is_erased) for each in found] == [
            ("remembered", None, True),
            ("revised", None, True),
        ]

    def test_what_is_no_memory_has_none(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "log.db") as live:
            assert list(history(live, "ada", 1)) == []
            live.append(KEY, Remembered(text="Fridays"), MemoryRevised(memory=1, text="Thursdays"))
            assert list(history(live, "ada", 2)) == []
            assert list(history(live, "ada", 99)) == []
