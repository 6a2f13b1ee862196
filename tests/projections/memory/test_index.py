"""The tables of recall are what the log says, however they came about, and hold nothing erased."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from recall_made import USER, Hashing, Person, Scattered, said

from eventlog import EventLog
from eventlog.events import Remembered, SessionStarted
from eventlog.redaction import Target, redact
from eventlog.scrub import scrub
from projections import open_log
from projections.memory import index
from projections.memory.embedding import TextKind
from projections.memory.index import RecallIndex
from projections.memory.recall import Recall, Wanted
from projections.strategies import hashing

SECRET = "swordfishes"
WORDS = [
    "deploy",
    "tabs",
    "test",
    "database",
    "部署",
    "迁移脚本",
    "build",
    "script",
    "token",
    "invoice",
    "retry",
    "cache",
]


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    made = Person(tmp_path / "log.db")
    with made.live:
        yield made


def held(log: EventLog) -> dict[str, list[tuple[object, ...]]]:
    """All that the tables say."""
    tables = {
        "words": "select rowid, words from recall_words order by rowid",
        "memories": "select * from recall_memories order by stream, memory",
        "frequencies": "select * from recall_frequencies order by stream, word",
        "vectors": "select e.name, e.dimension, v.stream, v.memory, v.rendition, v.vector "
        "from recall_vectors v join recall_embedders e using (embedder) "
        "join recall_memories m on m.stream = v.stream and m.memory = v.memory "
        "and m.rendition = v.rendition order by 1, 3, 4",
    }
    return {name: log.query(sql).fetchall() for name, sql in tables.items()}


def anything(person: Person, choose: random.Random) -> None:
    """One change of whatever kind."""
    ids = [memory.id for memory in person.memory.all(standing=False)]
    text = " ".join(choose.choices(WORDS, k=choose.randint(1, 6)))
    if len(ids) < 3 or choose.random() < 0.4:
        kind = choose.choice(["fact", "preference"])
        subject = choose.choice(["", "", "ci", "style"])
        values = {"use": text} if kind == "preference" else None
        person.memory.add(
            text, kind=kind, subject=subject, values=values, explicit=choose.random() < 0.7
        )
        return
    id = choose.choice(ids)
    what = choose.choice(["revise", "forget", "restore", "move"])
    if what == "revise":
        person.memory.revise(id, text=text)
    elif what == "forget":
        person.memory.forget(id)
    elif what == "restore":
        person.memory.restore(id)
    else:
        person.memory.revise(id, subject=choose.choice(["ci", "style"]))


class TestRebuilt:
    @pytest.mark.parametrize("seed", range(3))
    def test_tables_and_answers_are_those_of_a_rebuild(self, tmp_path: Path, seed: int) -> None:
        choose = random.Random(seed)
        person = Person(tmp_path / "log.db")
        with person.live:
            for _ in range(60):
                anything(person, choose)
                if choose.random() < 0.5:
                    person.find(choose.choice(WORDS))
            now = person.memory.clock()
            standing = {memory.id for memory in person.memory.all()}
            before = [said(person.find(word, Wanted(top=50), now)) for word in WORDS]
            kept = held(person.live.log)
            assert {row[1] for row in kept["memories"]} == standing
            assert {id for answer in before for id, *_ in answer} <= standing
            assert any(before)
            fresh = person.anew()
            assert [said(fresh.find(word, Wanted(top=50), now)) for word in WORDS] == before
            person.live.log.catch_up(RecallIndex.of(person.live.log), rebuild=True)
            again = person.anew()
            assert [said(again.find(word, Wanted(top=50), now)) for word in WORDS] == before
            assert held(person.live.log) == kept

    def test_how_often_a_word_stands_is_counted(self, person: Person) -> None:
        person.add("tabs and tabs", "tabs", "quokkas")
        person.find("tabs")
        stream = index.row_of(person.live.log, f"{USER}/_/memory")
        counted = index.frequencies(person.live.log.query, stream, ["tab", "quokka", "wombat"])
        assert counted == {"tab": 2, "quokka": 1}
        person.memory.forget(2)
        person.memory.forget(3)
        person.find("tabs")
        counted = index.frequencies(person.live.log.query, stream, ["tab", "quokka"])
        assert counted == {"tab": 1}
        assert index.holding(person.live.log.query, stream, "tab") == [1]

    def test_a_plain_event_costs_no_write(self, person: Person) -> None:
        person.add("tabs")
        person.find("tabs")
        before = person.stamp()
        person.live.append("ada/agent/s", SessionStarted())
        person.find("tabs")
        assert person.stamp() == before

    def test_vectors_of_each_embedder_stand_side_by_side(self, person: Person) -> None:
        person.add("tabs", "spaces")
        person.find("tabs")
        person.anew(Scattered("scattered/1")).find("tabs", Wanted(), person.memory.clock())
        rows = person.live.log.query(
            "select e.name, e.dimension, v.rendition, length(v.vector) from recall_vectors v "
            "join recall_embedders e using (embedder) order by 1, 3"
        )
        assert rows.fetchall() == [
            ("hashing/1", 128, "1", 512),
            ("hashing/1", 128, "2", 512),
            ("scattered/1", 24, "1", 96),
            ("scattered/1", 24, "2", 96),
        ]


class TestErased:
    """What was erased is nowhere in the file: not as text, and not as the vector of it."""

    def stored(self, path: Path) -> bytes:
        files = [path.with_name(path.name + suffix) for suffix in ("", "-wal")]
        return b"".join(file.read_bytes() for file in files if file.exists())

    def test_neither_its_words_nor_its_vector_are_left(self, person: Person) -> None:
        texts = [f"{n} and more" for n in range(300)] + [f"the {SECRET} 订单号 of it"]
        key = person.memory.key
        person.live.append(key, *(Remembered(kind="fact", text=text) for text in texts))
        for n in range(20):
            person.memory.revise(n + 1, text=f"the {SECRET} in {n}")
        person.find("more")
        assert 301 in person.ids(f"{SECRET} of it", Wanted(top=50))
        vector = index._stored(hashing_array(texts[-1]))
        stem = SECRET[:-2].encode()
        before = self.stored(person.path)
        assert vector in before
        assert stem in before
        erased = [Target(key, position) for position in range(301, 322)]
        redact(person.live.log, erased, stream=key)
        assert person.ids(SECRET) == []  # at once, before anything is scrubbed
        done = scrub(person.live.log, [SECRET], derived=[person.live.views])
        assert done.complete
        assert done.unknown == ()
        assert stem not in self.stored(person.path)
        assert vector not in self.stored(person.path)
        assert person.ids(SECRET) == person.ids("订单号") == []
        assert person.find("more")
        fresh = person.anew()
        assert fresh.find("more", Wanted(), person.memory.clock())
        assert fresh.find(SECRET, Wanted(), person.memory.clock()) == []
        assert vector not in self.stored(person.path)

    def test_a_scrub_drops_the_tables_and_the_next_question_makes_them(
        self, person: Person
    ) -> None:
        person.add("tabs", "spaces")
        before = said(person.find("tabs"))
        scrub(person.live.log, derived=[person.live.views])
        tables = "select count(*) from sqlite_schema where name like 'recall%'"
        assert person.live.log.query(tables).fetchone() == (0,)
        assert said(person.find("tabs")) == before
        assert said(person.anew().find("tabs", Wanted(), person.memory.clock())) == before

    def test_what_is_erased_while_it_is_embedded_is_not_kept(self, person: Person) -> None:
        class Slow(Hashing):
            def embed(self, texts: Sequence[str], kind: TextKind) -> list[Sequence[float]]:
                if kind == "passage" and not self.batches:
                    with open_log(person.path) as other:  # another process erases it
                        redact(other.log, [Target(person.memory.key, 2)], stream=person.memory.key)
                return super().embed(texts, kind)

        self.kept_of_the_other(person, Slow())

    def test_nor_what_is_erased_just_before(self, person: Person) -> None:
        class Asked(Hashing):
            @property
            def name(self) -> str:
                if not self.batches and not hasattr(self, "asked"):
                    self.asked = True
                    with open_log(person.path) as other:
                        redact(other.log, [Target(person.memory.key, 2)], stream=person.memory.key)
                return "asked/1"

            @name.setter
            def name(self, name: str) -> None: ...

        self.kept_of_the_other(person, Asked())

    def kept_of_the_other(self, person: Person, embedder: Hashing) -> None:
        person.add("tabs", f"the {SECRET}")
        recall = person.anew(embedder)
        found = recall.find("tabs", Wanted(), person.memory.clock())
        assert [each.memory.id for each in found] == [1]
        assert embedder.batches == [2, 1]  # what was made of both was not kept
        kept = held(person.live.log)
        assert [row[3] for row in kept["vectors"]] == [1]
        assert recall.find(SECRET, Wanted(), person.memory.clock()) == []


def test_a_vector_of_another_size_is_made_anew(person: Person) -> None:
    person.add("tabs", "spaces")
    person.find("tabs")
    with closing(sqlite3.connect(person.path)) as db:
        db.execute("update recall_vectors set vector = x'00' where memory = 1")
        db.commit()
    again = Hashing()
    assert person.anew(again).find("tabs", Wanted(), person.memory.clock())
    assert again.passages == ["tabs"]


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    "damage",
    [
        "update recall_words_data set block = x'0000' where id > 10",
        "drop table recall_frequencies",
        "drop table memories",
    ],
)
def test_damaged_tables_are_made_anew(person: Person, damage: str, read_only: bool) -> None:
    person.add("tabs", "spaces", "tabs and spaces")
    before = said(person.find("tabs"))
    with closing(sqlite3.connect(person.path)) as db:
        db.execute(damage)
        db.commit()
    again = Person(person.path, read_only=read_only)
    with again.live:
        assert said(again.find("tabs")) == before


def test_two_persons_and_two_processes_index_at_once(person: Person) -> None:
    other = Person(person.path, user="bob")
    with other.live:
        for n in range(5):
            person.add(f"tabs {n}")
            other.add(f"tabs {n}")
            assert len(other.ids("tabs")) == len(person.ids("tabs")) == n + 1
        kept = held(person.live.log)
        assert len(kept["memories"]) == len(kept["vectors"]) == 10


def hashing_array(text: str) -> index.array[float]:
    return index.array("f", hashing.embed(text))


def test_a_name_is_needed(person: Person) -> None:
    with pytest.raises(Exception, match="/"):
        Recall(person.live, "a/b", Hashing())
