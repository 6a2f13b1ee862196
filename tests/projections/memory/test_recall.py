"""What is asked for is found, by its words and its meaning, and nothing that does not stand."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from recall_made import USER, Hashing, Person, Scattered, iso, said

from eventlog import events
from eventlog.events import MemoryRecalled, MemorySource, Remembered
from eventlog.recorded import Draft
from projections import open_log
from projections.memory.lifecycle import DAY
from projections.memory.loaded import BATCH, Embedded
from projections.memory.recall import Recall, Wanted
from projections.memory.stream import memory_stream

TEXTS = (
    "We deploy on Fridays only",
    "I prefer tabs for indentation",
    "用pytest跑测试，不要用unittest",
    "The staging database is at db.internal:5432",
    "部署之前先运行迁移脚本",
    "The build failed with ORD-70500",
)


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    made = Person(tmp_path / "log.db")
    with made.live:
        yield made


@pytest.fixture
def ada(person: Person) -> Person:
    person.add(*TEXTS)
    return person


class TestFinding:
    @pytest.mark.parametrize(
        ("query", "first"),
        [
            ("when is it deployed?", 1),
            ("tabs or spaces", 2),
            ("测试用什么跑", 3),
            ("the databases of staging", 4),
            ("迁移脚本怎么运行", 5),
            ("ord 70500", 6),
        ],
    )
    def test_a_memory_is_found_by_its_words(self, ada: Person, query: str, first: int) -> None:
        assert ada.ids(query)[0] == first

    def test_both_sides_are_told(self, ada: Person) -> None:
        (best,) = ada.find("I prefer tabs for indentation", Wanted(top=1))
        assert best.by == ("vector", "words")
        assert best.similarity == pytest.approx(1.0)
        assert best.score == 2 / 61
        assert best.memory == ada.memory.get(2)

    def test_what_is_not_near_enough_is_not_found_by_its_vector(self, ada: Person) -> None:
        ada.embedder.floor = 1.01
        found = ada.find("tabs and indentation")
        assert [(each.memory.id, each.similarity, each.by) for each in found] == [
            (2, None, ("words",))
        ]
        assert ada.find("quokkas") == []

    def test_a_word_shared_by_chance_names_nothing(self, ada: Person) -> None:
        ada.embedder.floor = 1.01
        assert ada.ids("Which tabs?") == [2]
        others = "quokka wombat numbat bilby dingo emu platypus echidna taipan goanna kiwi moa"
        assert ada.ids(f"{others} tabs") == []

    def test_where_each_side_names_another_one_the_stronger_comes_first(self, ada: Person) -> None:
        class Wrong(Hashing):
            def vector(self, text: str) -> Sequence[float]:
                first = {"Fridays": 1.0, TEXTS[1]: 0.6}.get(text, 0.0)
                return [first, math.sqrt(1 - first * first), *[0.0] * 126]

        wrong = Wrong("wrong/1")
        wrong.floor = 0.5
        found = ada.anew(wrong).find("Fridays", Wanted(), ada.memory.clock())
        assert [(each.memory.id, each.score) for each in found[:2]] == [(1, 1 / 61), (2, 1 / 61)]
        assert [each.by for each in found[:2]] == [("words",), ("vector",)]

    def test_nobody_finds_what_another_one_said(self, ada: Person) -> None:
        other = Person(ada.path, user="bob")
        with other.live:
            other.add("I prefer spaces, and never tabs")
            assert [each.memory.text for each in other.find("tabs")] == [
                "I prefer spaces, and never tabs"
            ]
            assert ada.ids("tabs") == [2]

    @pytest.mark.parametrize(
        "query",
        [
            '"',
            "tabs OR *",
            "NEAR(tabs",
            "words:tabs",
            "^tabs*",
            "'; drop table",
            "\x00 \ud800",
            "-",
        ],
    )
    def test_a_question_is_no_syntax(self, ada: Person, query: str) -> None:
        assert ada.ids(query) in ([], [2])

    def test_an_empty_memory_answers_without_asking_the_embedder(self, person: Person) -> None:
        person.embedder.is_down = True
        found = person.find("anything")
        assert found == []
        assert found.fault is None
        person.embedder.is_down = False
        person.add("anything goes")
        assert [each.by for each in person.find("anything")] == [("vector", "words")]

    def test_equal_ones_come_by_weight_then_by_time_then_by_id(self, person: Person) -> None:
        at = person.memory.clock()
        for importance, moved in ((0.5, 0), (0.5, -5), (0.9, -9), (0.5, 0)):
            when = f"2026-01-01T00:00:{30 + moved:02}Z"
            event = Remembered(kind="fact", text="the same words", importance=importance)
            person.live.append(person.memory.key, Draft(event, occurred_at=when))
        asked = Wanted(statuses=frozenset({"active", "stale", "archived", "expired"}))
        assert person.ids("the same words", asked, at) == [3, 4, 1, 2]
        assert person.ids("words", Wanted(top=2, statuses=asked.statuses), at) == [3, 4]


class TestStanding:
    def test_what_was_forgotten_is_not_found_until_it_is_restored(self, ada: Person) -> None:
        assert ada.ids("tabs") == [2]
        ada.memory.forget(2)
        assert ada.ids("tabs") == []
        ada.memory.restore(2)
        assert ada.ids("tabs") == [2]
        assert ada.embedder.passages == list(TEXTS)  # its vector was kept

    def test_what_was_superseded_is_not_found(self, person: Person) -> None:
        for text in ("I indent with tabs", "I indent with spaces"):
            person.memory.add(text, kind="fact", subject="indentation")
            person.find("indent")
        assert person.ids("indent") == [2]
        person.memory.restore(1)
        assert person.ids("indent") == [1]

    def test_a_revised_one_is_found_by_what_it_says_now(self, ada: Person) -> None:
        assert ada.ids("fridays") == [1]
        ada.memory.revise(1, text="We deploy on Mondays only")
        assert ada.ids("fridays") == []
        assert [each.memory.rendition for each in ada.find("mondays")] == ["1@7"]
        assert ada.embedder.passages[-1] == "We deploy on Mondays only"

    def test_another_process_writes_meanwhile(self, ada: Person) -> None:
        assert ada.ids("quokkas") == []
        with Person(ada.path).live as other:
            other.append(ada.memory.key, Remembered(kind="fact", text="quokkas are kind"))
            assert ada.ids("quokkas") == [7]


class TestFilters:
    def test_kinds_times_and_known_ones(self, person: Person) -> None:
        person.memory.add("tabs in code", kind="code")
        first = person.memory.get(1).remembered_at
        person.memory.add("tabs in facts", kind="fact")
        second = person.memory.get(2).remembered_at
        assert second > first
        assert person.ids("tabs") == [2, 1]
        assert person.ids("tabs", Wanted(kinds=frozenset({"code"}))) == [1]
        assert person.ids("tabs", Wanted(since=second)) == [2]
        assert person.ids("tabs", Wanted(until=second)) == [1]
        assert person.ids("tabs", Wanted(exclude=frozenset({2}))) == [1]

    def test_the_session_that_it_came_from(self, person: Person) -> None:
        for session in ("ada/agent/one", "ada/agent/two"):
            source = MemorySource(stream=session, positions=(1,))
            person.memory.add(f"tabs {session}", sources=[source])
        assert person.ids("tabs", Wanted(session="ada/agent/one")) == [1]
        assert person.ids("tabs", Wanted(session="ada/agent/three")) == []

    def test_its_age_and_a_recall_makes_it_young(self, ada: Person) -> None:
        later = ada.memory.clock() + 35 * DAY  # a fact lives for 30 days
        assert ada.ids("tabs", now=later) == []
        assert ada.ids("tabs", Wanted(statuses=frozenset({"archived"})), later) == [2]
        recalled = MemoryRecalled(of=str(ada.memory.key), item="1", memories=("2",))
        ada.live.append(
            "ada/agent/s", Draft(recalled, occurred_at=iso(ada.memory.clock() + 34 * DAY))
        )
        assert ada.ids("tabs", now=later) == [2]


class TestEmbedders:
    def test_one_that_is_down_breaks_nothing_and_is_told(self, ada: Person) -> None:
        ada.embedder.is_down = True
        found = ada.find("tabs")
        assert [(each.memory.id, each.by) for each in found] == [(2, ("words",))]
        assert "no connection" in str(found.fault)
        ada.embedder.is_down = False
        found = ada.find("tabs")
        assert found[0].by == ("vector", "words")
        assert found.fault is None
        assert (found.embedder, found.dimension) == ("hashing/1", 128)

    def test_one_that_goes_down_between_passages_and_question_too(self, ada: Person) -> None:
        ada.embedder.calls_left = 1
        assert ada.find("tabs").fault is not None
        assert ada.embedder.passages == list(TEXTS)

    @pytest.mark.parametrize(
        ("wrong", "told"),
        [
            ({"embed": lambda texts, kind: [[1.0]] * len(texts)}, "1 numbers instead of 128"),
            ({"embed": lambda texts, kind: None}, "a NoneType is no list of vectors"),
            ({"embed": lambda texts, kind: 1 / 0}, "failed: ZeroDivisionError"),
            ({"name": None}, "no name"),
            ({"dimension": 0}, "its dimension is 0"),
            ({"floor": float("nan")}, "its floor is nan"),
        ],
    )
    def test_one_that_is_wrong_costs_the_vectors_and_is_told(
        self, ada: Person, wrong: dict[str, Any], told: str
    ) -> None:
        embedder: Any = SimpleNamespace(name="given/1", dimension=128, floor=0.1, embed=None)
        vars(embedder).update(wrong)
        found = Recall(ada.live, USER, embedder).find("tabs", Wanted(), ada.memory.clock())
        assert [each.by for each in found] == [("words",)]
        assert told in str(found.fault)

    def test_another_one_and_back_gives_the_same_and_embeds_nothing_twice(
        self, ada: Person
    ) -> None:
        questions = ("deploy", "tabs", "测试", "database staging", "fails")
        now = ada.memory.clock()
        before = [said(ada.find(each, now=now)) for each in questions]
        other = Scattered("scattered/1")
        assert [said(ada.anew(other).find(each, Wanted(), now)) for each in questions] != before
        ada.recall.embedder = other  # in one process too
        ada.find("tabs")
        assert other.passages == list(TEXTS)
        ada.recall.embedder = ada.embedder
        assert [said(ada.find(each, now=now)) for each in questions] == before
        back = Hashing()
        assert [said(ada.anew(back).find(each, Wanted(), now)) for each in questions] == before
        assert back.passages == []

    def test_a_new_process_embeds_only_what_is_new(self, ada: Person) -> None:
        ada.find("tabs")
        ada.add("quokkas are kind")
        again = Hashing()
        assert ada.anew(again).find("quokkas", Wanted(), ada.memory.clock())
        assert again.passages == ["quokkas are kind"]

    def test_many_go_in_batches_that_are_kept_one_by_one(self, person: Person) -> None:
        count = 2 * BATCH + 5
        made = [Remembered(kind="fact", text=f"number {n}") for n in range(count)]
        person.live.append(person.memory.key, *made)
        seen: list[Embedded] = []
        person.embedder.calls_left = 2
        with pytest.raises(Exception, match="no connection"):
            person.recall.catch_up(seen.append)
        assert seen == [Embedded(BATCH, count), Embedded(2 * BATCH, count)]
        again = Hashing()
        person.anew(again).catch_up(seen.append)
        assert again.batches == [5]
        assert seen[-1] == Embedded(5, 5)

    def test_numpy_and_plain_python_answer_alike(
        self, person: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("numpy")
        words = [
            "deploy",
            "tabs",
            "test",
            "database",
            "build",
            "script",
            "token",
            "invoice",
            "retry",
            "cache",
        ]
        made = [
            Remembered(kind="fact", text=f"{words[n % 10]} {words[n * 7 % 9]} {n % 12}")
            for n in range(400)
        ]
        person.live.append(person.memory.key, *made)
        now = person.memory.clock()
        asked = [
            (query, Wanted(top=top))
            for query in (*words, "deploy the cache 7", "retry 3 database 11")
            for top in (5, 40)
        ]
        fast = Recall(person.live, USER, person.embedder, numpy=True)
        found = [said(fast.find(*each, now)) for each in asked]
        monkeypatch.delitem(sys.modules, "numpy")
        plain = Recall(person.live, USER, person.embedder, numpy=False)
        assert [said(plain.find(*each, now)) for each in asked] == found


class TestReadOnly:
    def test_it_is_searched_without_writing(self, ada: Person) -> None:
        ada.find("tabs")
        ada.add("quokkas are kind")
        before = ada.stamp()
        reader = Person(ada.path, read_only=True)
        with reader.live:
            assert reader.ids("quokkas") == [7]
            assert reader.ids("tabs") == [2]
            assert reader.embedder.passages == ["quokkas are kind"]  # the others are in the file
            ada.add("wombats too")
            assert reader.ids("wombats") == [8]
            ada.memory.forget(8)
            assert reader.ids("wombats") == []
        assert ada.stamp() == before

    def test_what_the_file_holds_is_used(self, ada: Person) -> None:
        ada.find("tabs")
        ada.live.append("ada/agent/s", events.SessionStarted())
        reader = Person(ada.path, read_only=True)
        with reader.live:
            assert reader.ids("tabs") == [2]
            assert reader.embedder.passages == []

    def test_a_log_that_was_never_asked(self, ada: Person) -> None:
        reader = Person(ada.path, read_only=True)
        with reader.live:
            assert reader.ids("tabs") == [2]
        tables = "select count(*) from sqlite_schema where name like 'recall%'"
        assert ada.live.log.query(tables).fetchone() == (0,)


def test_while_another_process_writes_for_long_it_answers_from_memory(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with open_log(path) as other, open_log(path, lock_timeout=0.05) as live:
        key = memory_stream(USER)
        other.append(key, Remembered(text="we deploy on Fridays"))
        recall = Recall(live, USER, Hashing())
        with other.log.writing():
            found = recall.find("deploy", Wanted(), 0)
            assert [each.memory.text for each in found] == ["we deploy on Fridays"]
            assert found[0].by == ("vector", "words")
            recall.catch_up()
        other.append(key, Remembered(text="we deploy the shop"))
        assert len(recall.find("deploy", Wanted(), 0)) == 2
        kept = live.log.query("select count(*) from recall_vectors").fetchone()
        assert kept == (2,), "and in the file, as soon as it can be written again"
