"""The table of memories that a log keeps, which is the fold of its events byte for byte."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memories_made import ADA, BOB, SAID, WORK, Said, prefers, says, shown

from eventlog import StreamKey, events, reading
from eventlog.errors import EventInvalid
from eventlog.redaction import Target, redact
from eventlog.scrub import scrub
from eventlog.transfer import export, import_export
from projections import Live, open_log
from projections.memory import fold
from projections.memory.errors import MemoryNotFound
from projections.memory.folding import READ
from projections.memory.table import Memories, MemoryTable, users


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db") as found:
        yield found


def folded(live: Live, key: StreamKey = ADA) -> str:
    """The same from nothing."""
    return fold(live.log.read_all(), str(key)).text()


def assert_as_folded(live: Live) -> None:
    for key in (ADA, BOB):
        assert Memories(live, key.user).text() == folded(live, key)


STEP = st.one_of(
    *[st.tuples(st.just("append"), st.integers(0, 1), SAID)] * 6,
    st.tuples(st.just("look"), st.integers(0, 1), st.none()),
    st.tuples(st.just("erase"), st.integers(0, 1), st.integers(1, 12)),
    st.tuples(st.just("rebuild"), st.integers(0, 1), st.none()),
)


@pytest.fixture
def in_small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a redaction stands in the midst of what is caught up with."""
    monkeypatch.setattr(reading, "PAGE", 3)


@pytest.mark.usefixtures("in_small_pages")
class TestAsFolded:
    """Without this what is recalled depends on who wrote last, and a rebuild changes it."""

    @settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(STEP, min_size=10, max_size=30))
    def test_however_appends_readers_and_erasures_follow_on_each_other(
        self, steps: list[tuple[str, int, Any]]
    ) -> None:
        with TemporaryDirectory() as folder, ExitStack() as stack:
            path = Path(folder) / "log.db"
            logs = [stack.enter_context(open_log(path, durability="normal")) for _ in "ab"]
            for what, which, given in steps:
                live = logs[which]
                if what == "append":
                    live.append(given.stream, given.draft)
                elif what == "look":
                    assert_as_folded(live)
                elif what == "rebuild":
                    live.log.catch_up(MemoryTable(live.log), rebuild=True)
                elif any(live.log.read(ADA, given - 1, given, types=READ) if _has(live) else ()):
                    _erased(live, given)
            with open_log(path, read_only=True) as reader:
                assert_as_folded(reader)
            for live in logs:
                assert_as_folded(live)
            logs[0].log.catch_up(MemoryTable(logs[0].log), rebuild=True)
            assert_as_folded(logs[1])
            with open_log(path, read_only=True) as reader:
                assert_as_folded(reader)

    def test_before_and_after_the_scrub_of_a_redaction(self, live: Live) -> None:
        told = [says({"tabs": "secret"}), says({"quotes": "x"}), prefers("beside", subject="z")]
        live.append(ADA, *told)
        memories = Memories(live, "ada")
        assert memories.get(2).values == {"tabs": "secret", "quotes": "x"}
        _erased(live, 1)
        for _ in "ab":
            assert memories.text() == folded(live)
            assert "secret" not in memories.text()
            assert memories.get(2).values == {"quotes": "x"}
            assert memories.get(1).standing == "erased"
            assert scrub(live.log, ["secret"], derived=[MemoryTable(live.log)]).complete

    def test_a_redaction_in_the_midst_counts_no_recall_twice(self, live: Live) -> None:
        live.append(ADA, prefers("secret"), prefers("x", subject="x"))
        _erased(live, 1)
        live.append(WORK, *[shown(2)] * 7)
        assert Memories(live, "ada").get(2).accesses == 7
        assert_as_folded(live)

    @pytest.mark.parametrize(
        "of", ["", "x", "a/b/c", "nobody/_/memory", str(WORK), str(BOB), "\ud83d/_/memory"]
    )
    def test_a_recall_of_something_else_counts_for_nobody(self, live: Live, of: str) -> None:
        live.append(ADA, prefers())
        live.append(WORK, shown(1, of=of))
        assert_as_folded(live)
        assert Memories(live, "ada").get(1).accesses == 0

    def test_a_log_that_is_only_read_is_folded_apart_and_sees_what_others_write(
        self, live: Live, tmp_path: Path
    ) -> None:
        live.append(ADA, prefers("tabs"))
        with open_log(tmp_path / "log.db", read_only=True) as reader:
            memories = Memories(reader, "ada")
            assert [each.text for each in memories.all()] == ["tabs"]
            live.append(ADA, prefers("spaces"))
            assert [each.text for each in memories.all()] == ["spaces"]
            assert memories.text() == folded(live)
            live.log.catch_up(MemoryTable(live.log))
            assert memories.text() == folded(live)


def _has(live: Live) -> bool:
    return live.log.exists(ADA)


def _erased(live: Live, position: int) -> None:
    redact(live.log, [Target(ADA, position)], stream=ADA)


class TestAsking:
    """Without this a memory of one person is told to another, or a wrong name ends in a trace."""

    def test_those_that_stand_and_all_that_there_ever_were(self, live: Live) -> None:
        live.append(ADA, prefers("tabs"), prefers("spaces"), prefers("other", subject="x"))
        memories = Memories(live, "ada")
        assert [each.id for each in memories.all()] == [2, 3]
        assert [each.id for each in memories.all(standing=False)] == [1, 2, 3]
        assert [memories.some([3, 1, 1, 99, 0, 2**70])[id].text for id in (1, 3)] == [
            "tabs",
            "other",
        ]

    def test_each_person_has_memories_of_their_own(self, live: Live) -> None:
        live.append(ADA, prefers("tabs"))
        live.append(
            BOB, prefers("spaces"), events.ProfileUpdated(section="basics", values={"n": 1})
        )
        assert [each.text for each in Memories(live, "ada").all()] == ["tabs"]
        assert Memories(live, "ada").profile.known == ()
        assert Memories(live, "bob").profile.section("basics") == {"n": 1}
        assert users(live) == ["ada", "bob"]
        assert list(Memories(live, "eve").all(standing=False)) == []

    @pytest.mark.parametrize("id", [2, 0, -1, 2**63, 2**70])
    def test_what_is_no_memory_is_not_found(self, live: Live, id: int) -> None:
        live.append(ADA, prefers())
        with pytest.raises(MemoryNotFound, match=f"no memory m{id} of ada"):
            Memories(live, "ada").get(id)

    @pytest.mark.parametrize("name", ["", "a/b", " ", "\ud83d"])
    def test_what_is_no_name_of_a_person_is_refused(self, live: Live, name: str) -> None:
        with pytest.raises(EventInvalid):
            Memories(live, name)

    def test_more_than_a_page_is_read_in_order(self, live: Live) -> None:
        live.append(ADA, *[prefers(str(n), subject=str(n)) for n in range(1003)])
        assert [each.id for each in Memories(live, "ada").all()] == list(range(1, 1004))


class TestQuick:
    """Without this a log of a hundred thousand memories is made up in an hour."""

    @pytest.mark.parametrize(
        ("asked", "index"),
        [
            (lambda memories: memories.about("fact", "x"), "memories_by_subject"),
            (lambda memories: memories.get(1), "memories_by_id"),
        ],
    )
    def test_no_question_reads_all_memories(
        self, live: Live, asked: Callable[[Memories], Any], index: str
    ) -> None:
        live.append(ADA, prefers())
        memories = Memories(live, "ada")
        query, _ = memories.query()
        said: list[tuple[str, Any]] = []

        def noted(sql: str, values: Any = ()) -> sqlite3.Cursor:
            said.append((f"explain query plan {sql}", values))
            return query(sql, values)

        memories.query = lambda: (noted, 1)  # type: ignore[method-assign]
        asked(memories)
        for sql, values in said:
            plan = " ".join(row[3] for row in query(sql, values))
            assert index in plan
            assert "subject=?" in plan or "id=?" in plan
        assert said


class TestForkedAndMoved:
    """Without this a fork shares what is remembered of a person, or moves their memories."""

    def test_a_forked_session_has_its_own_recalls_and_counts_none_twice(self, live: Live) -> None:
        live.append(ADA, prefers())
        live.append(WORK, events.SessionStarted(), shown(1))
        child = WORK._replace(session="child")
        live.log.fork(child, WORK, 2)
        assert Memories(live, "ada").get(1).accesses == 1
        live.append(child, shown(1))
        assert Memories(live, "ada").get(1).accesses == 2
        assert_as_folded(live)

    def test_a_fork_of_a_memory_stream_begins_with_no_memories(self, live: Live) -> None:
        live.append(ADA, prefers("tabs"), prefers("x", subject="x"))
        live.log.fork(BOB, ADA, 1)
        live.append(BOB, events.MemoryForgotten(memory=1), prefers("spaces"))
        assert [(each.id, each.text) for each in Memories(live, "bob").all()] == [(4, "spaces")]
        assert [each.id for each in Memories(live, "ada").all()] == [1, 2]
        assert_as_folded(live)

    def test_an_export_of_the_log_takes_all_of_it_along(self, live: Live, tmp_path: Path) -> None:
        live.append(ADA, prefers("tabs"), prefers("secret", subject="x"))
        live.append(WORK, shown(1, 2))
        live.append(
            ADA, prefers("spaces"), events.ProfileUpdated(section="basics", values={"n": 1})
        )
        live.log.fork(WORK._replace(session="child"), WORK, 1, shown(3))
        _erased(live, 2)
        text = Memories(live, "ada").text()
        with open_log(tmp_path / "copy.db") as copy:
            _carried(live, copy)
            assert Memories(copy, "ada").text() == text == folded(copy)
            assert Memories(copy, "ada").get(3).accesses == 2

    def test_a_session_may_come_into_a_log_without_the_memories_that_it_recalled(
        self, live: Live, tmp_path: Path
    ) -> None:
        live.append(ADA, prefers("tabs"))
        live.append(WORK, shown(1))
        with open_log(tmp_path / "copy.db") as copy:
            _carried(live, copy, [WORK])
            assert_as_folded(copy)
            assert users(copy) == []
            _carried(live, copy, [ADA])
            assert Memories(copy, "ada").get(1).accesses == 0
            assert_as_folded(copy)
            copy.append(WORK, shown(1))
            assert Memories(copy, "ada").get(1).accesses == 1


def _carried(live: Live, copy: Live, streams: list[StreamKey] | None = None) -> None:
    file = io.StringIO()
    export(live.log, file, streams)
    import_export(copy.log, file.getvalue().splitlines())


def test_said_is_appended_at_the_time_of_its_source(live: Live) -> None:
    said = Said(ADA, prefers(), "2026-01-09T00:00:00.123456Z")
    live.append(said.stream, said.draft)
    assert Memories(live, "ada").get(1).remembered_at == 1_767_916_800_123_456
