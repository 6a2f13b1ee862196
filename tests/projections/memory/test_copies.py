"""A memory is erased like an item: with all that carries it, and what was made of it is named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memories_made import ADA, OF_MEMORY
from shown_memories import (
    FIRST,
    LATER,
    MEMORY,
    SPACES,
    TABS,
    USER,
    remember,
    remembered,
    said,
    shows,
)

from eventlog import StreamKey, events, integrity
from eventlog.errors import ItemNotFound
from eventlog.jsonvalue import Json
from eventlog.redaction import Target
from harness.embedders import HashingEmbedder
from projections import open_log
from projections.erasure import ErasurePlan, apply, plan, plans
from projections.findings import find, for_pattern, matching
from projections.live import Live
from projections.memory.copies import scope
from projections.memory.learned_from import learned_in
from projections.memory.naming import Named, named
from projections.memory.recall import Recall, Wanted
from projections.memory.state import fold
from projections.memory.table import Memories


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        remember(opened)
        yield opened


def revised(memory: int, text: str, **more: object) -> events.MemoryRevised:
    return events.MemoryRevised.model_validate({"memory": memory, "text": text, **more})


def targets(made: ErasurePlan) -> list[Target]:
    return list(made.targets)


def referenced(made: ErasurePlan) -> list[Target]:
    return [copy.target for copy in made.copies if copy.how == "reference"]


class TestAMemory:
    """Whoever asks that something be forgotten for good is not helped by a tombstone."""

    def test_all_that_carries_its_text_goes(self, live: Live) -> None:
        live.append(MEMORY, revised(1, SPACES), remembered("another"), revised(3, "other"))
        made = plan(live, MEMORY, ["1"])
        assert targets(made) == [Target(MEMORY, 1), Target(MEMORY, 2)]
        assert [(call.stream, call.number) for call in made.calls] == [(LATER, 1)]

    def test_the_messages_that_showed_it_are_copies_and_what_was_made_of_those(
        self, live: Live
    ) -> None:
        new = events.NewMessage(
            dialect="openai_chat", message=Json({"role": "user", "content": "s"})
        )
        live.append(LATER, events.ContextCompacted(covered=("2-6",), messages=(new,)))
        live.append(LATER, events.MessageRevised(item="3", patch=Json({"content": "no more"})))
        assert referenced(plan(live, MEMORY, ["1"])) == [Target(LATER, 3), Target(LATER, 8)]

    @pytest.mark.parametrize(
        "said_then", ["Remember that my PIN  is 47.", "记住密码是甲乙。", "Nothing of the kind"]
    )
    def test_the_message_that_it_came_from_is_one_however_short_where_it_holds_it(
        self, live: Live, said_then: str
    ) -> None:
        at = live.append(FIRST, said(said_then)).first
        source = events.MemorySource(stream=str(FIRST), positions=(at,))
        text = "密码是甲乙" if "密码" in said_then else "my pin is 47"
        kept = live.append(MEMORY, remembered(text, sources=(source,))).first
        name = Json({"name": "my pin is 47"})
        known = events.ProfileUpdated(section="basics", values=name, sources=(source,))
        profile = live.append(MEMORY, known).first
        message = Target(FIRST, at)
        of_memory = referenced(plan(live, MEMORY, [str(kept)]))
        of_profile = referenced(plan(live, MEMORY, [], positions=[profile]))
        assert (message in of_memory) == ("PIN" in said_then or "密码" in said_then)
        assert (message in of_profile) == ("PIN" in said_then)

    def test_what_it_was_looked_for_with_and_why_it_was_forgotten_go_too(self, live: Live) -> None:
        bare = events.MemoryForgotten(memory=1)
        told = live.append(MEMORY, bare, events.MemoryForgotten(memory=1, reason=TABS)).last
        recall = shows("3", "1").model_copy(update={"query": TABS})
        asked = live.append(LATER, recall).first
        made = plan(live, MEMORY, ["1"])
        assert targets(made) == [Target(MEMORY, 1), Target(MEMORY, told)]
        assert Target(LATER, asked) in referenced(made)

    def test_so_is_a_memory_that_took_its_place_and_says_a_value_of_it_again(
        self, live: Live
    ) -> None:
        tabs, four, tea = ({"with": "tabs", "by": 1}, {"with": "tabs"}, {"with": "tea"})
        live.append(MEMORY, remembered("by one", values=Json(tabs)))
        live.append(MEMORY, remembered("still so", supersedes=(2,), values=Json(four)))
        live.append(MEMORY, revised(3, "so it is"), remembered("not", supersedes=(2, 3)))
        live.append(MEMORY, remembered("no", supersedes=(2,), values=Json(tea)), remembered("x"))
        assert referenced(plan(live, MEMORY, ["2"])) == [Target(MEMORY, 3), Target(MEMORY, 4)]
        # Who says another thing of the same is no copy of it.
        live.append(MEMORY, remembered(SPACES, subject="indentation", supersedes=(1,)))
        assert referenced(plan(live, MEMORY, ["1"])) == [Target(LATER, 3)]

    def test_what_a_newer_preference_held_of_it_goes_with_it(self, live: Live) -> None:
        live.append(
            MEMORY,
            remembered("old", subject="style", values=Json({"tabs": "yes", "width": 100})),
            remembered("new", subject="style", values=Json({"width": 80})),
        )
        assert Memories(live, USER).get(3).values == {"tabs": "yes", "width": 80}
        made = plan(live, MEMORY, ["2"])
        assert Target(MEMORY, 3) not in (*made.targets, *referenced(made))
        apply(live, made)
        assert Memories(live, USER).get(3).values == {"width": 80}

    def test_quotes_are_looked_for_where_it_came_from_and_where_it_was_shown(
        self, live: Live
    ) -> None:
        live.append(FIRST, said(f"I note:\n{TABS}"))
        live.append(StreamKey(USER, "coder", "unrelated"), said(f"I note:\n{TABS}"))
        made = plan(live, MEMORY, ["1"])
        assert [c.target for c in made.copies if c.how == "quote"] == [Target(FIRST, 3)]
        everywhere = plan(live, MEMORY, ["1"], everywhere=True)
        assert len([c for c in everywhere.copies if c.how == "quote"]) == 2

    def test_after_it_no_byte_is_left_and_the_log_holds(self, live: Live, tmp_path: Path) -> None:
        live.append(
            MEMORY, revised(1, SPACES, values=Json({"indentation": "spaces-in-every-file"}))
        )
        before = Memories(live, USER).get(1)
        assert (before.text, before.is_erased) == (SPACES, False)
        made = plan(live, MEMORY, ["1"])
        done = apply(live, made, with_copies=True, needles=[TABS, SPACES, "spaces-in-every-file"])
        assert (done.scrub.complete, done.scrub.found, done.scrub.copies) == (True, (), ())
        for path in tmp_path.iterdir():
            assert b"for indentation" not in path.read_bytes()
        after = Memories(live, USER).get(1)
        assert (after.is_erased, after.stands, after.text) == (True, False, "[redacted]")
        assert after.sources == before.sources
        assert not integrity.verify(live.log).problems

    def test_neither_the_words_nor_the_vectors_of_recall_keep_it(
        self, live: Live, tmp_path: Path
    ) -> None:
        live.append(MEMORY, remembered("the vault opens with swordfish"), remembered("tea at five"))
        recall = Recall(live, USER, HashingEmbedder())
        assert [each.memory.id for each in recall.find("swordfish", Wanted(), 0)] == [2]
        (before,) = live.log.query("select count(*) from recall_vectors").fetchone()
        assert any(b"swordfish" in path.read_bytes() for path in tmp_path.iterdir())
        assert apply(live, plan(live, MEMORY, ["2"])).scrub.complete
        assert not any(b"swordfish" in path.read_bytes() for path in tmp_path.iterdir())
        again = Recall(live, USER, HashingEmbedder())
        assert again.find("swordfish", Wanted(), 0) == recall.find("swordfish", Wanted(), 0) == []
        assert [each.memory.id for each in again.find("tea", Wanted(), 0)] == [3]
        assert live.log.query("select count(*) from recall_vectors").fetchone() == (before - 1,)
        assert not any(b"swordfish" in path.read_bytes() for path in tmp_path.iterdir())

    def test_what_is_no_memory_is_not_found(self, live: Live) -> None:
        with pytest.raises(ItemNotFound):
            plan(live, MEMORY, ["2"])
        live.append(MEMORY, events.MemoryForgotten(memory=1))
        with pytest.raises(ItemNotFound):
            plan(live, MEMORY, ["2"])


class TestWhatWasLearned:
    """The other way round: a message is erased, and what was learned from it stays to be found."""

    def test_memories_that_name_the_message_are_copies_with_the_messages_that_showed_them(
        self, live: Live
    ) -> None:
        live.append(MEMORY, revised(1, SPACES), remembered("of another", 1))
        found = referenced(plan(live, FIRST, ["2"]))
        assert found == [Target(MEMORY, 1), Target(MEMORY, 2), Target(LATER, 3)]

    def test_those_that_name_its_session_as_a_whole_may_hold_it_and_are_no_copies(
        self, live: Live
    ) -> None:
        source = [{"stream": str(FIRST)}]
        live.append(FIRST, said("the vault opens with the word swordfish"))
        live.append(MEMORY, remembered("the session", sources=source))
        live.append(
            MEMORY,
            events.ProfileUpdated(section="behaviour", values=Json({"n": 1}), sources=source),
            events.ProfileUpdated(section="basics", values=Json({"name": "Ada"}), sources=source),
            remembered("the vault opens with the word swordfish", sources=source),
        )
        made = plan(live, FIRST, ["3"])
        assert referenced(made) == []
        # A count says nothing that was said, and what quotes it is a copy.
        assert made.perhaps == (Target(MEMORY, 2), Target(MEMORY, 4))
        assert Target(MEMORY, 5) in {c.target for c in made.copies if c.how == "quote"}
        assert [e.position for e in learned_in(live, FIRST)] == [1, 2, 4, 5]

    def test_a_wish_in_a_session_that_was_shown_a_memory_is_no_copy_of_it(self, live: Live) -> None:
        fish = remembered("I use fish as my shell", sources=[{"stream": str(LATER)}])
        live.append(MEMORY, fish)
        version = live.log.version(LATER)
        live.append(LATER, said("fish", "memory"), shows(str(version + 1), "2"))
        made = plan(live, MEMORY, ["1"])
        assert referenced(made) == [Target(LATER, 3)]
        assert made.perhaps == (Target(MEMORY, 2),)
        apply(live, made, with_copies=True)
        assert [each.text for each in Memories(live, USER).all()] == ["I use fish as my shell"]

    def test_a_fork_names_the_events_that_it_holds(self, live: Live) -> None:
        fork = StreamKey(USER, "coder", "fork")
        live.log.fork(fork, FIRST, 2)
        live.append(fork, said("my own"))
        live.append(
            MEMORY, remembered("of the fork", sources=[{"stream": str(fork), "positions": [2]}])
        )
        live.append(
            MEMORY, remembered("its own", sources=[{"stream": str(fork), "positions": [4]}])
        )
        found = [t.position for t in referenced(plan(live, FIRST, ["2"])) if t.stream == MEMORY]
        assert found == [1, 2]
        assert [t.position for t in referenced(plan(live, fork, ["4"]))] == [3]

    def test_however_many_they_are(self, live: Live) -> None:
        live.append(MEMORY, *[remembered(f"number {n}", 2) for n in range(60)])
        live.append(LATER, said("many", "memory"), shows("8", "61"), said("few"), shows("10", "99"))
        found = referenced(plan(live, FIRST, ["2"]))
        assert len([t for t in found if t.stream == MEMORY]) == 61
        assert [t for t in found if t.stream == LATER] == [Target(LATER, 3), Target(LATER, 8)]

    def test_with_copies_they_go(self, live: Live) -> None:
        done = apply(live, plan(live, FIRST, ["2"]), with_copies=True, needles=[TABS])
        assert (done.scrub.complete, done.scrub.found) == (True, ())
        assert Memories(live, USER).get(1).is_erased

    def test_a_memory_that_quotes_it_and_names_no_source_is_found_too(self, live: Live) -> None:
        live.append(FIRST, said("the vault opens with the word swordfish"))
        live.append(MEMORY, remembered("the vault opens with the word swordfish"))
        made = plan(live, FIRST, ["3"])
        assert [(c.target, c.how) for c in made.copies] == [(Target(MEMORY, 2), "quote")]

    def test_a_name_beyond_ascii_is_found_in_a_payload_of_escapes(self, live: Live) -> None:
        key = StreamKey(USER, "coder", "größe")
        live.append(key, said("x"))
        half = "\ud800 cannot be written but as an escape"
        live.append(MEMORY, remembered(half, sources=[{"stream": str(key), "positions": [1]}]))
        assert referenced(plan(live, key, ["1"])) == [Target(MEMORY, 2)]


class TestWhatAPatternFinds:
    """A detector that passes memories over leaves a key in every later session."""

    def test_a_memory_goes_whole_with_its_revisions(self, live: Live) -> None:
        live.append(MEMORY, revised(1, "the key is sk-12345678"))
        found = matching(live, re.compile("sk-[0-9]+"))
        assert [(f.stream, f.position, f.item) for f in found] == [(MEMORY, 2, "1")]
        (made,) = plans(live, found)
        assert targets(made) == [Target(MEMORY, 1), Target(MEMORY, 2)]

    @pytest.mark.parametrize(
        "event",
        [
            events.ProfileUpdated(section="basics", values=Json({"name": "sk-12345678"})),
            events.ProfileUpdated(section="basics", values=Json({"sk-12345678": True})),
            events.Remembered(text="x", entities=(events.Entity(name="sk-12345678"),)),
            events.Remembered(text="x", values=Json({"a": ["sk-12345678"]})),
            events.MemoryForgotten(memory=1, reason="sk-12345678"),
            events.MemoryRecalled(of=str(MEMORY), item="3", query="where is sk-12345678"),
        ],
    )
    def test_every_text_of_an_event_is_looked_through_and_goes(
        self, live: Live, event: events.Event
    ) -> None:
        live.append(MEMORY, event)
        made = plans(live, find(live, for_pattern(re.compile("sk-[0-9]+"))))
        assert [t for each in made for t in each.targets] == [Target(MEMORY, 2)]
        done = apply(live, made[0], needles=["sk-12345678"])
        assert done.scrub.found == ()

    def test_names_of_sessions_and_of_memories_are_no_findings(self, live: Live) -> None:
        assert matching(live, re.compile("first|_/memory|^1$"), [MEMORY, LATER]) == []


class TestNamed:
    """What a person types of a memory stream."""

    def test_memories_their_revisions_ranges_and_other_events(self, live: Live) -> None:
        live.append(MEMORY, revised(1, SPACES), events.MemoryForgotten(memory=1), remembered("x"))
        live.append(MEMORY, revised(9, "of no memory"))
        assert named(live, MEMORY, ["m1", "2", "1@2"]) == Named(["1"], [])
        assert named(live, MEMORY, ["1-4,3", "5"]) == Named(["1", "4"], [3, 5])
        for wrong in ("6", "1@3", "4@2", "2-3"):
            with pytest.raises(ItemNotFound):
                named(live, MEMORY, [wrong])


def test_the_scope_of_quotes(live: Live) -> None:
    event = live.log.at(MEMORY, [1])[1]
    assert set(scope(live, MEMORY, {Target(MEMORY, 1): ("1", event)})) == {MEMORY, FIRST, LATER}
    live.append(StreamKey("bob", "coder", "s"), said("x"))
    assert scope(live, StreamKey("bob", "coder", "s"), {}) == [StreamKey("bob", "coder", "s")]


@settings(max_examples=15)
@given(st.lists(OF_MEMORY, min_size=1, max_size=12), st.data())
def test_whatever_is_erased_the_rest_folds_on(
    tmp_path_factory: pytest.TempPathFactory, some: list[events.Event], data: st.DataObject
) -> None:
    with open_log(tmp_path_factory.mktemp("log") / "log.db", durability="normal") as live:
        live.append(ADA, *some)
        before = Memories(live, "ada").text()
        assert before == fold(live.log.read(ADA), str(ADA)).text()
        at = data.draw(st.integers(1, len(some)))
        names, positions = named(live, ADA, [str(at)])
        made = plan(live, ADA, names, positions=positions)
        stood = {each.id for each in Memories(live, "ada").all()}
        apply(live, made, with_copies=data.draw(st.booleans()))
        # What it had superseded is not brought back, whoever wrote it.
        assert {each.id for each in Memories(live, "ada").all()} <= stood
        live.append(ADA, *some)
        memories = Memories(live, "ada")
        assert memories.text() == fold(live.log.read(ADA), str(ADA)).text()
        for name in names:
            erased = memories.get(int(name))
            assert (erased.is_erased, erased.stands, erased.held) == (True, False, ())
