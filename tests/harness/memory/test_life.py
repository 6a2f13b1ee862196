"""The end of a life: what is due, what ``gc`` forgets, and how it comes back."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memories_made import OF_MEMORY, SAID, WORK, Said, folded, prefers, shown

from eventlog import events
from eventlog.errors import InputRefused, WrongExpectedVersion
from eventlog.happened import iso
from eventlog.recorded import Draft
from eventlog.redaction import Target, redact
from harness.memory import UserMemory
from projections import Live, open_log
from projections.erasure import apply, plan
from projections.memory import LifePolicy, fold
from projections.memory.errors import MemoryNotFound
from projections.memory.lifecycle import DAY
from projections.memory.table import Memories

NO_REMEMBERED = events.MemoryRevised | events.MemoryRestored | events.MemoryForgotten


def revised_into_tabs(memory: int) -> events.MemoryRevised:
    return events.MemoryRevised(memory=memory, subject="indentation", is_explicit=True)


START = 1_767_225_600_000_000


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db") as found:
        yield found


class Clock:
    """A clock that stands where it is put."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


class TestAdded:
    """Without this an old address is told again when the new one is erased."""

    def test_what_it_took_the_place_of_does_not_stand_again_when_it_is_erased(
        self, live: Live
    ) -> None:
        memory = UserMemory(live, "ada")
        old = memory.add("tabs", subject="Indentation", kind="preference", values={"tabs": True})
        memory.add("a fact", subject="indentation")
        values = {"width": 4}
        new = memory.add("four", subject="indentation", kind="preference", values=values)
        assert memory.get(new).values == {"tabs": True, "width": 4}
        redact(live.log, [Target(memory.key, new)], stream=memory.key)
        assert [each.text for each in memory.all()] == ["a fact"]
        assert memory.get(old).standing == "superseded"
        memory.restore(old)
        assert memory.get(old).stands

    @settings(max_examples=25)
    @given(st.lists(OF_MEMORY, min_size=3, max_size=12), st.data())
    def test_whatever_is_appended_means_the_same_and_names_what_it_replaces(
        self, said: list[events.Event], data: st.DataObject
    ) -> None:
        with (
            TemporaryDirectory() as folder,
            open_log(Path(folder) / "l.db", durability="normal") as live,
        ):
            memory = UserMemory(live, "ada", clock=Clock())
            split = data.draw(st.integers(0, len(said)))
            for some in (said[:split], said[split:]):
                memory.append(*some) if some else None
            plain = folded(*said)
            assert [m.held for m in memory.all(standing=False)] == [m.held for m in plain]
            stood = {each.id for each in memory.all()}
            assert stood == {each.id for each in plain if each.stands}
            names = {
                id: event.event.supersedes
                for id, event in enumerate(live.log.read(memory.key), 1)
                if isinstance(event.event, events.Remembered)
            }
            for old in memory.all(standing=False):
                new = old.superseded_by
                was = said[new - 1] if new > old.id else None
                if was and not any(isinstance(e, NO_REMEMBERED) for e in said):
                    assert old.id in names[new]

    def test_so_it_is_with_what_was_learned_and_with_several_at_once(self, live: Live) -> None:
        memory = UserMemory(live, "ada")
        drafts = [Draft(prefers(each), id=uuid.uuid4()) for each in ("tabs", "spaces", "tabs")]
        assert memory.append_new(*drafts) == [1, 2, 3]
        assert memory.append_new(*drafts) == []
        for last in (3, 2):
            redact(live.log, [Target(memory.key, last)], stream=memory.key)
            assert not list(memory.all())

    @pytest.mark.parametrize(
        "said",
        [
            (prefers("tabs"), prefers("spaces", is_explicit=False)),
            (prefers("tabs"), prefers("four", subject="x"), revised_into_tabs(2)),
        ],
    )
    def test_nor_does_what_gave_way_without_being_named(
        self, live: Live, said: tuple[events.Event, ...]
    ) -> None:
        memory = UserMemory(live, "ada")
        memory.append(*said)
        (stands,) = memory.all()
        apply(live, plan(live, memory.key, [str(stands.id)]))
        assert not list(memory.all())
        (gone,) = (each for each in memory.all(standing=False) if not each.is_erased)
        assert gone.forgotten == "asked"
        (told,) = live.log.read(memory.key, types=["memory_forgotten"])
        assert told.data["reason"] == f"m{stands.id}, to which it had given way, was erased"


class TestRevised:
    """Without this "I use bash" goes on to say that the shell is zsh."""

    def test_what_was_read_from_the_old_text_is_read_from_the_new_one(self, live: Live) -> None:
        memory = UserMemory(live, "ada")
        shell = memory.add("I use zsh as my shell", kind="preference")
        assert memory.get(shell).values == {"shell": "zsh"}
        memory.revise(shell, text="I use bash as my shell")
        assert memory.get(shell).values == {"shell": "bash"}
        memory.revise(shell, text="I indent with tabs")
        found = memory.get(shell)
        assert (found.subject, found.values) == ("indentation", {"indentation": "tabs"})
        memory.revise(shell, text="Explain what you did")
        found = memory.get(shell)
        assert (found.values, found.area) == ({}, "interaction")

    def test_what_was_given_stays(self, live: Live) -> None:
        memory = UserMemory(live, "ada")
        given = memory.add("zsh", kind="preference", subject="my shell", values={"shell": "zsh"})
        memory.revise(given, text="I use bash as my shell")
        found = memory.get(given)
        assert (found.subject, found.values) == ("my shell", {"shell": "zsh"})
        port = memory.add("The staging port is 8081", subject="staging port")
        memory.revise(port, text="The staging host is db1")
        assert memory.get(port).subject == "staging host"


class TestGc:
    """Without this a dry run tells something else than is done, or a memory is gone for good."""

    @settings(max_examples=20)
    @given(st.lists(SAID, min_size=4, max_size=20), st.integers(-400, 4000))
    def test_it_forgets_what_is_due_and_each_can_be_restored(
        self, said: list[Said], days: int
    ) -> None:
        clock = Clock(START + days * DAY)
        with (
            TemporaryDirectory() as folder,
            open_log(Path(folder) / "l.db", durability="normal") as live,
        ):
            for each in said:
                live.append(each.stream, each.draft)
            memory = UserMemory(live, "ada", clock=clock, policy=LifePolicy(default_days=500))
            before = {each.id for each in memory.all()}
            planned = memory.due()
            assert memory.due() == planned
            assert memory.gc() == planned
            forgotten = {each.memory.id: each.rule for each in planned}
            assert {each.id for each in memory.all()} == before - forgotten.keys()
            assert {id: memory.get(id).forgotten for id in forgotten} == forgotten
            assert memory.gc() == []
            for id in forgotten:
                assert memory.restore(id)
                assert memory.get(id).stands
            assert not forgotten.keys() & {each.memory.id for each in memory.due()}
            assert Memories(live, "ada").text() == fold(live.log.read_all(), str(memory.key)).text()

    def test_how_often_it_was_recalled_weighs(self, live: Live) -> None:
        clock = Clock()
        memory = UserMemory(live, "ada", clock=clock)
        for text in ("recalled", "not"):
            memory.add(text, kind="error_fix", importance=0.3)
        at = "2026-01-01T00:00:01Z"
        for _ in range(2):
            live.append(WORK, _at(shown(1), at))
        clock.now = START + 100 * DAY
        assert [(each.memory.text, each.rule) for each in memory.due()] == [("not", "unimportant")]

    def test_a_moment_in_the_past_finds_nothing_and_one_ahead_what_would_be(
        self, live: Live
    ) -> None:
        memory = UserMemory(live, "ada", clock=Clock(START))
        memory.add("x")
        assert memory.due(START - 1000 * DAY) == []
        assert [each.rule for each in memory.due(START + 61 * DAY)] == ["expired"]
        assert len(memory.gc(START + 61 * DAY)) == 1
        memory.restore(1)
        assert memory.due() == []
        assert len(memory.due(START + 61 * DAY)) == 1

    def test_its_events_say_how_old_each_was_and_when(self, live: Live) -> None:
        memory = UserMemory(live, "ada", clock=Clock(START))
        memory.add("x")
        memory.gc(START + 61 * DAY)
        (*_, event) = live.log.read(memory.key)
        assert isinstance(event.event, events.MemoryForgotten)
        at = iso(START + 61 * DAY)
        assert event.event.reason == f"61 days old, fact lives 30; reckoned at {at}"

    def test_one_that_was_said_meanwhile_is_looked_at_anew(
        self, live: Live, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        clock = Clock()
        memory = UserMemory(live, "ada", clock=clock)
        memory.add("tabs", subject="indentation", kind="preference")
        clock.now = START + 400 * DAY
        other = UserMemory(live, "ada", clock=clock)
        append, raced = live.append, []

        def racing(stream, *drafts, expected_version=None):  # type: ignore[no-untyped-def]
            if expected_version is not None and not raced:
                raced.append(expected_version)
                other.revise(1, text="tabs, still")
            return append(stream, *drafts, expected_version=expected_version)

        monkeypatch.setattr(live, "append", racing)
        assert memory.gc() == []
        assert raced
        assert memory.get(1).stands

    def test_one_that_never_wins_the_race_says_so(
        self, live: Live, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        clock = Clock()
        memory = UserMemory(live, "ada", clock=clock)
        memory.add("x")
        clock.now = START + 400 * DAY
        append = live.append

        def losing(stream, *drafts, expected_version=None):  # type: ignore[no-untyped-def]
            if expected_version is not None:
                append(stream, events.ProfileUpdated(section="basics", values={"n": 1}))
            return append(stream, *drafts, expected_version=expected_version)

        monkeypatch.setattr(live, "append", losing)
        with pytest.raises(WrongExpectedVersion):
            memory.gc()
        assert memory.get(1).stands


class TestSeveral:
    """Without this half of what was named is forgotten when something goes wrong in between."""

    def test_they_are_forgotten_and_restored_in_one_append_each(
        self, live: Live, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        memory = UserMemory(live, "ada")
        for text in ("a", "b", "c"):
            memory.add(text)
        append, made = live.append, list[int]()

        def counting(stream, *drafts, expected_version=None):  # type: ignore[no-untyped-def]
            made.append(len(drafts))
            return append(stream, *drafts, expected_version=expected_version)

        monkeypatch.setattr(live, "append", counting)
        assert memory.forget_all([1, 3, 1], "so") == [1, 3]
        assert memory.forget_all([1, 2]) == [2]
        assert memory.forget_all([1, 2, 3]) == []
        assert memory.restore_all([3, 2, 3]) == [3, 2]
        assert made == [2, 1, 2]
        assert [each.id for each in memory.all()] == [2, 3]

    def test_an_unknown_or_erased_one_is_refused_before_anything_is_written(
        self, live: Live
    ) -> None:
        memory = UserMemory(live, "ada")
        memory.add("a")
        with pytest.raises(MemoryNotFound):
            memory.forget_all([1, 99])
        memory.forget(1)
        memory.add("b")
        redact(live.log, [Target(memory.key, 3)], stream=memory.key)
        with pytest.raises(InputRefused, match="was erased"):
            memory.restore_all([1, 3])
        assert memory.get(1).forgotten

    def test_of_two_about_one_subject_the_later_named_stands(self, live: Live) -> None:
        memory = UserMemory(live, "ada")
        for text in ("tabs", "spaces"):
            memory.add(text, subject="indentation")
        assert memory.restore_all([1, 2]) == [1, 2]
        assert [each.text for each in memory.all()] == ["spaces"]
        assert memory.restore_all([2, 1]) == [1]
        assert [each.text for each in memory.all()] == ["tabs"]


def _at(event: events.Event, label: str):  # type: ignore[no-untyped-def]
    return Said(WORK, event, label).draft
