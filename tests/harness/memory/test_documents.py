"""All that is remembered of a person, out of one log and into another."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from memories_made import ADA, SAID, TALK, WORK, Said, prefers, says, shown

from eventlog import events
from eventlog.errors import CtxlogError, InputRefused
from eventlog.recorded import Draft
from eventlog.redaction import Target, redact
from harness.memory import UserMemory, export_markdown, export_memories, import_memories
from projections import Live, open_log
from projections.erasure import plan
from projections.memory import fold
from projections.memory.learned_from import learned_in
from projections.memory.recall import Wanted
from projections.memory.summary import subject_of, summarized_to


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db") as found:
        yield found


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "other.db") as found:
        yield found


def moved(document: dict[str, Any]) -> Any:
    """As it comes out of a file."""
    return json.loads(json.dumps(document))


def state(memory: UserMemory, *, erased: bool = True) -> str:
    """All memories and the profile with their numbers counted from one."""
    found = [each for each in memory.all(standing=False) if erased or not each.is_erased]
    names = {each.id: number for number, each in enumerate(found, 1)}
    lines = []
    for each in found:
        told = each.model_dump(mode="json")
        for source in told["sources"]:
            source["elsewhere"] = False
        told["id"], told["rendition"] = names[each.id], "@" in each.rendition
        told["superseded_by"] = names.get(each.superseded_by, 0)
        told["supersedes"] = [names[id] for id in each.supersedes if id in names]
        told["forgotten_at"] = bool(each.forgotten_at)
        for held in told["held"]:
            held["memory"] = names[held["memory"]]
        lines.append(json.dumps(told))
    for known in memory.profile.known:
        known = known.model_copy(update={"sources": ()})
        lines.append(json.dumps({**known.model_dump(mode="json"), "position": 0}))
    return "\n".join(lines)


def busy(live: Live) -> UserMemory:
    """Memories of all kinds of standing, recalled in two sessions, and a profile."""
    live.append(
        ADA,
        Draft(prefers("tabs, please"), occurred_at="2026-03-01T10:00:00.123456Z"),
        prefers("spaces \ud83d"),
        says({"quotes": "single"}),
        events.Remembered(text="the port is 8080", by="human"),
    )
    live.append(WORK, events.SessionStarted(), shown(2, "4@9"))
    live.append(
        ADA,
        events.MemoryRevised(memory=4, text="the port is 9090"),
        events.MemoryForgotten(memory=3, reason="no more"),
        events.ProfileUpdated(section="basics", values={"name": "Ada"}, is_explicit=True),
    )
    live.append(TALK, shown("4@5", 99, of=str(ADA)), shown(4, is_renewed=True))
    return UserMemory(live, "ada")


class TestThereAndBack:
    """Somebody moves to another machine, and is known there as before."""

    def test_everything_comes_along(self, live: Live, other: Live) -> None:
        memory, copy = busy(live), UserMemory(other, "ada")
        done = import_memories(copy, moved(export_memories(memory)))
        assert (done.added, done.known, done.warnings) == (
            9,
            0,
            ("left out: 1 references to memories that are not in the document",),
        )
        assert state(copy) == state(memory)
        port = next(each for each in copy.all() if "port" in each.text)
        assert (port.accesses, port.text) == (2, "the port is 9090")

    def test_taken_up_twice_or_where_it_was_made_it_adds_nothing(
        self, live: Live, other: Live
    ) -> None:
        memory, copy = busy(live), UserMemory(other, "ada")
        document = moved(export_memories(memory))
        before = copy.memories.text()
        assert import_memories(copy, document, dry_run=True).added == 9
        assert copy.memories.text() == before
        import_memories(copy, document)
        for where in (copy, memory):
            text = where.memories.text()
            done = import_memories(where, document)
            assert (done.added, done.known) == (0, 9)
            assert where.memories.text() == text
        back = import_memories(memory, moved(export_memories(copy)))
        assert (back.added, back.known) == (0, 9)

    def test_another_person_can_take_it_up_in_the_same_log(self, live: Live) -> None:
        memory, bob = busy(live), UserMemory(live, "bob")
        document = moved(export_memories(memory))
        assert import_memories(bob, document).added == 9
        assert state(bob) == state(memory)
        assert import_memories(bob, document).added == 0
        assert import_memories(memory, moved(export_memories(bob))).added == 0
        assert export_memories(bob)["events"][4]["session"] == str(WORK)

    def test_a_later_document_adds_what_is_new(self, live: Live, other: Live) -> None:
        memory, copy = busy(live), UserMemory(other, "ada")
        import_memories(copy, moved(export_memories(memory)))
        memory.revise(4, text="the port is 1")
        memory.forget(2)
        live.append(WORK, shown(4))
        done = import_memories(copy, moved(export_memories(memory)))
        assert (done.added, done.known) == (3, 9)
        assert state(copy) == state(memory)

    def test_an_older_one_that_takes_the_place_of_a_newer_one_is_told(
        self, live: Live, other: Live
    ) -> None:
        live.append(ADA, Draft(prefers("tabs"), occurred_at="2026-03-01"))
        other.append(ADA, Draft(prefers("spaces"), occurred_at="2026-04-01"))
        copy = UserMemory(other, "ada")
        done = import_memories(copy, moved(export_memories(UserMemory(live, "ada"))))
        assert done.warnings == ("m1 gives way to m2 of the document, which is older",)
        assert [each.text for each in copy.all()] == ["tabs"]

    def test_two_that_take_it_up_at_once_add_it_once(
        self, live: Live, other: Live, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        document = moved(export_memories(busy(live)))
        append, raced = other.append, []

        def racing(*given: Any, **more: Any) -> Any:
            if not raced:
                raced.append(import_memories_first())
            return append(*given, **more)

        def import_memories_first() -> int:
            with open_log(other.log.path) as third:
                return import_memories(UserMemory(third, "ada"), document).added

        monkeypatch.setattr(other, "append", racing)
        done = import_memories(UserMemory(other, "ada"), document)
        assert (raced, done.added, done.known) == ([9], 0, 9)

    def test_what_was_taken_up_says_so(self, live: Live, other: Live) -> None:
        copy = UserMemory(other, "ada")
        import_memories(copy, moved(export_memories(busy(live))))
        first = next(other.log.read(ADA))
        assert isinstance(first.event, events.Remembered)
        assert first.event.origin is not None
        record = first.event.origin.records[0]
        assert (record.line, record.type, record.id) == (1, "remembered", str(first.id))

    @settings(max_examples=20)
    @given(
        st.lists(SAID, min_size=4, max_size=20),
        st.lists(SAID, max_size=4),
        st.lists(st.integers(1, 12), max_size=2, unique=True),
    )
    def test_any_memories_are_the_same_elsewhere(
        self, said: list[Said], there: list[Said], erased: list[int]
    ) -> None:
        with TemporaryDirectory() as folder, ExitStack() as stack:
            live, other = (
                stack.enter_context(open_log(Path(folder) / name, durability="normal"))
                for name in ("a.db", "b.db")
            )
            for each in said:
                live.append(each.stream, each.draft)
            memory, copy = UserMemory(live, "ada"), UserMemory(other, "ada")
            document = moved(export_memories(memory))
            import_memories(copy, document)
            assert state(copy) == state(memory)
            assert import_memories(copy, document).added == 0
            assert import_memories(memory, moved(export_memories(copy))).added == 0
            for each in there:
                other.append(each.stream, each.draft)
            assert import_memories(copy, document).added == 0
            for position in erased:
                if position <= live.log.version(ADA):
                    redact(live.log, [Target(ADA, position)], stream=ADA)
                    break
            eve = UserMemory(other, "eve")
            import_memories(eve, moved(export_memories(memory)))
            stands = [each.text for each in memory.all()]
            assert [each.text for each in eve.all()] == stands
            assert [each.values for each in eve.all()] == [each.values for each in memory.all()]


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "forget", "restore", "revise", "redact", "redact", "move"]),
        st.integers(1, 8),
    ),
    min_size=3,
    max_size=12,
)


def changed(live: Live, memory: UserMemory, what: str, number: int) -> None:
    """One change of what a person has in memory."""
    position = min(number, live.log.version(memory.key))
    if what == "add":
        memory.add(f"the port is {number}", subject=f"port {number % 2}")
    elif what == "move":
        import_memories(memory, moved(export_memories(memory)))
    with suppress(CtxlogError):  # there is no such memory, or it cannot be erased, or was
        if what == "redact":
            redact(live.log, [Target(memory.key, position)], stream=memory.key)
        elif what == "forget":
            memory.forget(number)
        elif what == "restore":
            memory.restore(number)
        elif what == "revise":
            memory.revise(number, text=f"the port was {number}")


def ids(document: dict[str, Any]) -> list[str]:
    return [each["id"] for each in document["events"]]


class TestAfterARedaction:
    """Without this a document of what was erased in part could not be taken up any more."""

    @settings(max_examples=30)
    @given(CHANGES)
    @example([("add", 1), ("add", 3), ("redact", 2), ("move", 1)])
    @example([("add", 1), ("add", 3), ("redact", 2), ("move", 1), ("restore", 1), ("add", 5)])
    @example([("add", 1), ("forget", 1), ("redact", 2)])
    def test_a_document_is_taken_up_anywhere_and_adds_nothing_twice(
        self, changes: list[tuple[str, int]]
    ) -> None:
        with TemporaryDirectory() as folder, ExitStack() as stack:
            live, other = (
                stack.enter_context(open_log(Path(folder) / name, durability="normal"))
                for name in ("a.db", "b.db")
            )
            memory, copy = UserMemory(live, "ada"), UserMemory(other, "ada")
            for what, number in changes:
                changed(live, memory, what, number)
            document = moved(export_memories(memory))
            assert len(ids(document)) == len(set(ids(document)))
            assert import_memories(memory, document).added == 0
            import_memories(copy, document)
            assert [each.text for each in copy.all()] == [each.text for each in memory.all()]
            for where in (copy, UserMemory(other, "eve"), UserMemory(live, "bob")):
                import_memories(where, document)
                again = moved(export_memories(where))
                assert len(ids(again)) == len(set(ids(again)))
                assert import_memories(where, document).added == 0
                assert import_memories(where, again).added == 0
                assert import_memories(memory, again).added == 0


class TestSources:
    """Without this a memory says that it came from words that somebody said in another log."""

    @pytest.fixture
    def memory(self, live: Live) -> UserMemory:
        live.append(WORK, events.SessionStarted(), events.SessionTitled(title="here"))
        memory = UserMemory(live, "ada")
        sources = (events.MemorySource(stream=str(WORK), positions=(2,)),)
        memory.append(events.Remembered(text="the port is 1", sources=sources))
        return memory

    def test_one_of_another_log_stands_elsewhere(self, memory: UserMemory, other: Live) -> None:
        other.append(WORK, events.SessionStarted(), events.SessionTitled(title="there"))
        copy = UserMemory(other, "ada")
        import_memories(copy, moved(export_memories(memory)))
        (source,) = copy.get(1).sources
        assert (source.stream, source.positions, source.elsewhere) == (str(WORK), (2,), True)
        assert learned_in(other, WORK) == []
        assert plan(other, WORK, [], positions=[2]).copies == ()
        assert [each.id for each in copy.recall("port", Wanted(session=str(WORK)))] == []
        document = moved(export_memories(copy))
        assert document["sessions"] == {}

    def test_one_that_is_here_too_stays(self, memory: UserMemory, live: Live) -> None:
        document = moved(export_memories(memory))
        assert document["sessions"] == {str(WORK): str(uuid.UUID(bytes=live.log.stream(WORK).id))}
        import_memories(bob := UserMemory(live, "bob"), document)
        assert bob.get(1).sources == memory.get(1).sources
        del document["sessions"]  # as earlier versions wrote it
        import_memories(eve := UserMemory(live, "eve"), document)
        assert eve.get(1).sources == memory.get(1).sources

    def test_without_an_id_it_stands_elsewhere(self, memory: UserMemory, other: Live) -> None:
        other.append(WORK, events.SessionStarted(), events.SessionTitled(title="there"))
        document = moved(export_memories(memory))
        del document["sessions"]
        import_memories(copy := UserMemory(other, "ada"), document)
        assert copy.get(1).sources[0].elsewhere

    def test_a_summary_of_another_log_is_none_of_the_session_here(
        self, live: Live, other: Live
    ) -> None:
        def summary(text: str) -> events.Remembered:
            sources = (events.MemorySource(stream=str(WORK), positions=(9,)),)
            subject = subject_of(str(WORK))
            return events.Remembered(
                kind="session_summary", text=text, subject=subject, sources=sources
            )

        for each, text in ((live, "there"), (other, "here")):
            each.append(WORK, events.SessionStarted())
            each.append(ADA, summary(text))
        import_memories(copy := UserMemory(other, "ada"), moved(export_memories(memory_of(live))))
        assert [each.text for each in copy.all()] == ["here", "there"]
        imported = [each for each in copy.all() if each.text == "there"]
        assert summarized_to(imported, str(WORK)) == 0

    def test_sessions_that_are_none_are_refused(self, live: Live) -> None:
        with pytest.raises(InputRefused, match="no object of ids"):
            import_memories(UserMemory(live, "ada"), document(sessions={"a": 1}))


def memory_of(live: Live) -> UserMemory:
    return UserMemory(live, "ada")


class TestErased:
    """Without this an erased text comes back by a document, or an older one with it."""

    def test_nothing_of_an_erased_memory_is_in_the_document(self, live: Live, other: Live) -> None:
        live.append(
            ADA,
            prefers("old", subject="a"),
            prefers("secret", subject="b", supersedes=(1,)),
            events.MemoryRevised(memory=2, text="secret too"),
            events.ProfileUpdated(section="basics", values={"name": "secret"}),
        )
        live.append(WORK, shown(2), shown(1, 2))
        redact(live.log, [Target(ADA, 2), Target(ADA, 4)], stream=ADA)
        document = moved(export_memories(UserMemory(live, "ada")))
        assert "secret" not in json.dumps(document)
        assert document["erased"] == 2
        copy = UserMemory(other, "ada")
        done = import_memories(copy, document)
        assert done.warnings == ("not in the document: 2 that had been erased",)
        (old,) = copy.all(standing=False)
        assert (old.text, old.standing, old.accesses) == ("old", "forgotten", 1)
        assert import_memories(copy, document).added == 0

    def test_what_was_erased_here_stays_erased(self, live: Live) -> None:
        memory = busy(live)
        document = moved(export_memories(memory))
        redact(live.log, [Target(ADA, 4)], stream=ADA)
        assert import_memories(memory, document).added == 0
        assert memory.get(4).standing == "erased"


def entry(**more: Any) -> dict[str, Any]:
    told = {"id": str(uuid.UUID(int=1)), "at": None, "position": 1, "type": "remembered"}
    return {**told, "data": {"text": "x"}, **more}


def document(*entries: Any, **more: Any) -> dict[str, Any]:
    return {"ctxlog": 1, "kind": "memory", "events": list(entries), **more}


FORGETS = {"type": "memory_forgotten", "data": {"memory": 7}, "id": str(uuid.UUID(int=2))}


class TestHostile:
    """Without this a document from somebody else ends in a trace, or is taken up by half."""

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            (None, "it holds no memories"),
            ([], "it holds no memories"),
            ({"ctxlog": 1, "kind": "sessions", "events": []}, "it holds no memories"),
            ({**document(), "ctxlog": 2}, '"ctxlog": it is 2; .* upgrade ctxlog'),
            ({**document(), "ctxlog": True}, '"ctxlog": it is True'),
            ({**document(), "events": {}}, '"events" is no list'),
            (document(7), "events.0: it is no object"),
            (document(entry(type=7)), "events.0: its type is no text"),
            (document(entry(id="x")), "events.0: its id is no UUID"),
            (document(entry(id=["x"])), "events.0: its id is no UUID"),
            (document(entry(at="soon")), "events.0: at is no time"),
            (document(entry(at=7)), "events.0: at is no time"),
            (document(entry(position=0)), "events.0: its position is no number"),
            (document(entry(position=True)), "events.0: its position is no number"),
            (document(entry(position=2**70)), "events.0: its position is no number"),
            (document(entry(schema_version="1")), "events.0: its schema_version is no number"),
            (document(entry(data=[])), "events.0: its data is no object"),
            (document(entry(data={"text": 7})), "events.0: text: Input should be a valid string"),
            (document(entry(data={"text": "x", "kind": "y"})), "events.0: kind: .*preference"),
            (document(entry(data={"text": "x", "importance": 2})), "events.0: importance: .*1"),
            (document(entry(data={"text": "x" * 20_001})), "events.0: .* at most 20,000"),
            (document(entry(data={"text": "x", "more": 1})), "events.0: more: .*not permitted"),
            (document(entry(), entry()), "events.1: the id .* stands twice"),
            (document(entry(position=9), entry(**FORGETS)), "events.1: position 1 .* behind 9"),
            (document(entry(type="memory_recalled", session=7)), "events.0: its session|item"),
        ],
    )
    def test_what_is_no_document_is_refused_on_one_line(
        self, live: Live, value: Any, told: str
    ) -> None:
        memory = UserMemory(live, "ada")
        with pytest.raises(InputRefused, match=told) as caught:
            import_memories(memory, value)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) <= 200
        assert not live.log.exists(ADA)

    def test_one_that_is_too_deep_is_refused(self, live: Live) -> None:
        deep: Any = 1
        for _ in range(200):
            deep = {"a": deep}
        with pytest.raises(InputRefused, match=r"events\.0: .*100 deep"):
            import_memories(
                UserMemory(live, "ada"), document(entry(data={"text": "x", "values": deep}))
            )

    @pytest.mark.parametrize(
        ("entries", "told"),
        [
            ([entry(type="a\ud83d\n" * 50)], "left out: 1 of 'a"),
            ([entry(schema_version=99)], "left out: 1 of 'remembered'"),
            ([entry(**FORGETS)], "left out: 1 references"),
            ([entry(data={"text": "x", "supersedes": [7, 2**70]})], "left out: 2 references"),
            (
                [entry(type="memory_recalled", data={"item": "1", "memories": ["7", "9" * 5000]})],
                "left out: 2 references",
            ),
        ],
    )
    def test_what_cannot_be_taken_up_is_told(
        self, live: Live, entries: list[Any], told: str
    ) -> None:
        done = import_memories(UserMemory(live, "ada"), document(*entries))
        assert len(done.warnings) == 1
        assert done.warnings[0].startswith(told)

    def test_fields_that_nobody_knows_are_told(self, live: Live) -> None:
        done = import_memories(UserMemory(live, "ada"), document(entry(), more=1, erased=[]))
        assert (done.added, done.warnings) == (1, ("left out: 'more'",))

    def test_a_recall_says_nothing_of_another_stream(self, live: Live) -> None:
        live.append(TALK._replace(agent="_", session="memory"), prefers("of bob"))
        recall = {"of": "bob/_/memory", "item": "1", "memories": ["1"]}
        given = entry(id=str(uuid.UUID(int=3)), type="memory_recalled", data=recall, position=2)
        import_memories(UserMemory(live, "ada"), document(entry(), given))
        assert UserMemory(live, "bob").get(1).accesses == 0
        assert UserMemory(live, "ada").get(1).accesses == 1

    def test_an_id_of_a_session_is_given_another_one(self, live: Live) -> None:
        taken = uuid.UUID(int=1)
        live.append(WORK, Draft(events.SessionStarted(), id=taken))
        memory = UserMemory(live, "ada")
        assert import_memories(memory, document(entry())).added == 1
        assert import_memories(memory, document(entry())).added == 0
        assert next(live.log.read(ADA)).id != taken

    def test_the_id_of_another_event_of_memory_is_refused(self, live: Live) -> None:
        live.append(ADA, Draft(prefers(), id=uuid.UUID(int=1)))
        given = entry(type="memory_forgotten", data={"memory": 1})
        with pytest.raises(InputRefused, match=r"events\.0: its id is that of another event, 1"):
            import_memories(UserMemory(live, "ada"), document(given))

    def test_nothing_is_taken_up_by_half(self, live: Live) -> None:
        with pytest.raises(InputRefused):
            import_memories(
                UserMemory(live, "ada"), document(entry(), entry(id=str(uuid.UUID(int=2)), data=7))
            )
        assert not live.log.exists(ADA)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a document."""
    yield path
    if isinstance(value, dict | list):
        for name, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(child, (*path, name))


def with_other(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy of a document with something else in one place."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = with_other(copy[path[0]], path[1:], new)
    return copy


ODD = st.sampled_from(
    [
        *[None, True, -1, 0, 2, 7, 2**63, 2**70, 10**400, 0.5, 1e300, "", "x", "2", "1-", "2@9"],
        *["\ud83d", "a\x00\u202e\n", "9" * 5000, "memory_forgotten", "remembered", [], {}],
        *[[2], ["2"], {"a": 1}, {"memory": 2}, {"text": "x"}, {"records": [{"line": 1}]}],
        *[[{"stream": "x", "positions": [1]}], str(uuid.UUID(int=5)), "2026-01-01", "9999-12-31"],
    ]
)


class TestChanged:
    """Without this a document that somebody edited by hand ends in a trace."""

    @pytest.fixture(scope="class")
    @classmethod
    def told(cls, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
        with open_log(tmp_path_factory.mktemp("told") / "log.db") as live:
            return moved(export_memories(busy(live)))  # type: ignore[no-any-return]

    @settings(max_examples=60)
    @given(st.data())
    def test_any_change_is_taken_up_or_refused_on_one_line(
        self, told: dict[str, Any], data: st.DataObject
    ) -> None:
        changed = told
        for _ in range(data.draw(st.integers(1, 3))):
            path = data.draw(st.sampled_from(list(places(changed))))
            changed = with_other(changed, path, data.draw(ODD))
        with (
            TemporaryDirectory() as folder,
            open_log(Path(folder) / "l.db", durability="normal") as live,
        ):
            memory = UserMemory(live, "ada")
            refused, done = "", None
            try:
                done = import_memories(memory, changed)
            except CtxlogError as error:
                refused = str(error)
            assert "\n" not in refused
            assert live.log.version(ADA) == (done.added if done is not None else 0)
            if done is not None:
                assert all("\n" not in each for each in done.warnings)
                assert import_memories(memory, changed).added == 0
                assert memory.memories.text() == fold(live.log.read_all(), str(ADA)).text()
                assert moved(export_memories(memory))
                assert export_markdown(memory).encode()


class TestMarkdown:
    """Without this a memory that says ``# System`` stands as a heading among the instructions."""

    def test_what_stands_is_told_by_kind(self, live: Live) -> None:
        memory = busy(live)
        memory.restore(3)
        assert export_markdown(memory) == (
            "# What is remembered of ada\n"
            "\n## Profile\n\n* name: Ada\n"
            "\n## Preferences\n\n* spaces ?\n* see the values\n  (quotes: single)\n"
            "\n## Facts\n\n* the port is 9090\n"
        )

    def test_of_whom_nothing_is_known_nothing_is_told(self, live: Live) -> None:
        assert export_markdown(UserMemory(live, "eve")) == "# What is remembered of eve\n"

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("# System", ["* \\# System"]),
            ("a\n\n# System\n- b\n1. c", ["* a", "  \\# System", "  \\- b", "  1\\. c"]),
            ("```\ncode\n```", ["* \\```", "  code", "  \\```"]),
            ("<!-- all of it", ["* \\<!-- all of it"]),
            ("a < b", ["* a < b"]),
            ("a\u2028# b\r\n> c", ["* a", "  \\# b", "  \\> c"]),
            ("\u200b", ["* \u200b"]),
            ("\u200b# b", ["* \u200b\\# b"]),
            ("___\n__init__", ["* \\___", "  __init__"]),
            ("[a](javascript:b)", ["* \\[a](javascript:b)"]),
            ("\\[a\\](b)", ["* \\\\\\[a\\\\](b)"]),
            ("see ![a](http://b)", ["* see !\\[a](http://b)"]),
            ("[a]: http://b", ["* \\[a]: http://b"]),
            ("\\<img src=x>", ["* \\\\\\<img src=x>"]),
            ("&#60;img&#62; & b", ["* \\&#60;img\\&#62; & b"]),
            (
                "@/etc/passwd (@~/x) 看@y a@b.example",
                ["* \\@/etc/passwd (\\@~/x) 看\\@y a@b.example"],
            ),
            ("!`ls`, C:\\a!", ["* \\!`ls`, C:\\a!"]),
            (" \n", ["*"]),
        ],
    )
    def test_a_text_cannot_leave_its_entry(self, live: Live, text: str, shown: list[str]) -> None:
        live.append(ADA, events.Remembered(text=text))
        found = export_markdown(UserMemory(live, "ada"))
        assert found.split("\n")[4:-1] == shown
