"""The sessions of one agent: what a method returned is durable, and seen by everybody."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import harness
from eventlog import StreamKey, events
from eventlog.errors import (
    EventInvalid,
    ForksAlive,
    InputRefused,
    StreamNotFound,
    WrongExpectedVersion,
)
from eventlog.integrity import verify
from harness import Sessions
from harness.agent_sessions import LETTERS, Listed, short_id
from projections import Live, open_log
from projections.agent_state import agent_state
from projections.references import reads_otherwise
from projections.session_rows import NO_TITLE

EIGHT = 8


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


@pytest.fixture
def sessions(live: Live) -> Sessions:
    return Sessions(live)


def said(text: str, role: str = "user", **more: Any) -> events.MessageAppended:
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    message = {"role": role, "content": text}
    return events.MessageAppended(dialect="openai_chat", source=source, message=message, **more)


def tasks(*states: str) -> events.TasksSet:
    listed = [{"id": str(n), "title": "t", "status": state} for n, state in enumerate(states)]
    return events.TasksSet.model_validate({"tasks": listed})


def texts(live: Live, key: StreamKey) -> list[str]:
    return [item.text for item in live.items(key)]


def at_once(path: Path, work: Callable[[Sessions, int], StreamKey]) -> list[StreamKey | Exception]:
    """The same from eight threads, each with the log opened for itself, as by eight processes."""
    barrier = threading.Barrier(EIGHT)

    def one(number: int) -> StreamKey | Exception:
        with open_log(path, durability="normal") as live:
            barrier.wait()
            try:
                return work(Sessions(live), number)
            except WrongExpectedVersion as error:
                return error

    with ThreadPoolExecutor(EIGHT) as pool:
        return list(pool.map(one, range(EIGHT)))


class TestCreating:
    """Without these two conversations share a session, or one begins half."""

    def test_the_system_prompt_is_the_first_message_of_one_append(
        self, live: Live, sessions: Sessions
    ) -> None:
        key = sessions.create("Be brief.", id="kiln", title="The kiln", model="m", depth=[1, None])
        assert key == StreamKey("local", "chat", "kiln")
        started, prompt = live.log.read(key)
        assert isinstance(started.event, events.SessionStarted)
        assert isinstance(prompt.event, events.MessageAppended)
        assert started.event.ownership == "owned"
        assert started.data["metadata"] == {"model": "m", "depth": [1, None]}
        assert (prompt.event.source, prompt.event.label) == ("injected", "system-prompt")
        assert prompt.data["message"] == {"role": "system", "content": "Be brief."}
        assert started.recorded_at == prompt.recorded_at

    def test_a_made_id_has_no_letters_that_look_alike(self, sessions: Sessions) -> None:
        key = sessions.create()
        assert len(key.session) == 8
        assert set(key.session) <= set(LETTERS)
        assert not set("il1o0") & set(LETTERS)
        assert len({short_id() for _ in range(1000)}) == 1000

    def test_a_made_id_that_is_taken_or_reads_as_a_place_is_followed_by_another(
        self, live: Live
    ) -> None:
        made = iter(["taken234", "c2345678", "taken234", "freee234"])
        sessions = Sessions(live, new_id=lambda: next(made))
        assert reads_otherwise("c2345678")
        assert [sessions.create().session for _ in range(2)] == ["taken234", "freee234"]

    def test_where_no_id_is_free_it_says_so(self, live: Live) -> None:
        sessions = Sessions(live, new_id=lambda: "always23")
        sessions.create()
        with pytest.raises(InputRefused, match="none is free"):
            sessions.create()

    @pytest.mark.parametrize("name", ["last", "last~2", "c5", "k1", "12", "a@12", "now"])
    def test_an_id_that_reads_as_something_else_is_refused(
        self, sessions: Sessions, name: str
    ) -> None:
        for begin in (sessions.get_or_create, lambda id: sessions.create(id=id)):
            with pytest.raises(InputRefused, match="would be read as a place"):
                begin(name)

    @pytest.mark.parametrize("name", ["", " a", "a\n", "\u202ea", "\ud83d", "x" * 600])
    def test_an_id_that_is_no_name_is_refused(self, sessions: Sessions, name: str) -> None:
        with pytest.raises(EventInvalid):
            sessions.create(id=name)

    @pytest.mark.parametrize("value", [float("nan"), {1, 2}, object()])
    def test_metadata_that_is_no_json_leaves_no_session(
        self, live: Live, sessions: Sessions, value: object
    ) -> None:
        with pytest.raises(EventInvalid):
            sessions.create(id="x", odd=value)
        assert live.log.streams() == []

    def test_a_session_that_exists_is_not_begun_twice_nor_after_it_was_deleted(
        self, sessions: Sessions
    ) -> None:
        key = sessions.create(id="x")
        for _ in range(2):
            with pytest.raises(WrongExpectedVersion):
                sessions.create(id="x")
            sessions.delete(key)

    def test_of_eight_at_once_with_one_id_one_begins_it(self, live: Live) -> None:
        found = at_once(live.log.path, lambda own, n: own.create(f"I am {n}", id="shared"))
        assert [type(each) for each in found].count(StreamKey) == 1
        winner = next(n for n, each in enumerate(found) if isinstance(each, StreamKey))
        assert texts(live, StreamKey("local", "chat", "shared")) == [f"I am {winner}"]

    def test_of_eight_at_once_that_want_it_all_get_it_and_it_began_once(self, live: Live) -> None:
        found = at_once(live.log.path, lambda own, n: own.get_or_create("shared", f"I am {n}"))
        key = StreamKey("local", "chat", "shared")
        assert found == [key] * EIGHT
        assert [event.type for event in live.log.read(key)] == [
            "session_started",
            "message_appended",
        ]

    def test_two_tabs_never_mix(self, live: Live) -> None:
        """Two conversations, written from two threads through one open log, turn by turn."""

        def talk(name: str) -> None:
            own = Sessions(live)
            key = own.get_or_create(name, f"{name} system")
            for turn in range(20):
                live.append(key, said(f"{name} asks {turn}"), said(f"{name} hears", "assistant"))
                own.rename(key, f"{name} {turn}")

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(talk, ("left", "right")))
        for name in ("left", "right"):
            heard = texts(live, StreamKey("local", "chat", name))
            assert len(heard) == 41
            assert all(text.startswith(name) for text in heard)
        assert {one.title for one in Sessions(live).list()} == {"left 19", "right 19"}


class TestGoingOn:
    """Without these what an answer that was cut off left behind steers the next one."""

    def test_a_resume_tells_what_it_cleared_and_what_goes_on(
        self, live: Live, sessions: Sessions
    ) -> None:
        key = sessions.create("s")
        live.append(
            key,
            events.ToolGroupsSet(groups=("files",)),
            events.ReplyStarted(reply_id="r", output_schema={"type": "object"}),
            events.ModelCalled(model="m", dialect="openai_chat"),
        )
        assert agent_state(live, key).reply.iteration == 1
        assert sessions.resume(key.session) == key
        (resumed,) = live.log.read(key, types=["session_resumed"])
        assert "reply.iteration: 1" in resumed.data["cleared"]
        assert "tools.groups: files" in resumed.data["kept"]
        state = agent_state(live, key)
        assert (state.reply.iteration, state.reply.output_schema) == (0, None)
        assert state.tools.groups == ("files",)

    def test_a_deleted_session_that_is_resumed_is_there_again(self, sessions: Sessions) -> None:
        key = sessions.create(id="x")
        sessions.delete(key, "done")
        assert sessions.list() == []
        sessions.resume(key)
        assert [one.id for one in sessions.list()] == ["x"]

    def test_whoever_reads_and_is_overtaken_is_told(self, live: Live, sessions: Sessions) -> None:
        """The other one writes between the reading of the state and the append."""
        key = sessions.create("s")
        overtaken = Overtaken(live, key)
        for change in (
            lambda: overtaken.sessions.resume(key),
            lambda: overtaken.sessions.set_system_prompt(key, "t"),
        ):
            overtaken.waits = True
            with pytest.raises(WrongExpectedVersion):
                change()
            change()
        assert texts(live, key)[0] == "t"

    def test_a_session_of_another_program_is_forked_first(
        self, live: Live, sessions: Sessions
    ) -> None:
        key = sessions.key("theirs")
        live.append(key, events.SessionStarted(ownership="observed"), said("hi"))
        for change in (sessions.resume, lambda key: sessions.set_system_prompt(key, "x")):
            with pytest.raises(InputRefused, match="another program"):
                change(key)
        fork = sessions.fork(key)
        assert sessions.resume(fork) == fork
        assert texts(live, fork) == ["hi"]

    def test_another_system_prompt_goes_on_with_the_history(
        self, live: Live, sessions: Sessions
    ) -> None:
        key = sessions.create("first")
        live.append(key, said("hello"))
        position = sessions.set_system_prompt(key, "second")
        assert position == 4
        assert sessions.set_system_prompt(key, "second") is None
        assert texts(live, key) == ["second", "hello"]
        assert texts(live, key)[0] == live.messages(key)[0]["content"]
        assert [item.id for item in live.items(key)] == ["2", "3"]
        assert live.log.version(key) == 4

    def test_a_session_without_one_gets_it_in_front(self, live: Live, sessions: Sessions) -> None:
        key = sessions.create()
        live.append(key, said("hello"))
        sessions.set_system_prompt(key, "late")
        assert texts(live, key) == ["late", "hello"]
        empty = sessions.create()
        sessions.set_system_prompt(empty, "alone")
        assert texts(live, empty) == ["alone"]

    def test_an_empty_system_prompt_is_refused(self, sessions: Sessions) -> None:
        key = sessions.create("s")
        with pytest.raises(InputRefused):
            sessions.set_system_prompt(key, " \n")

    def test_what_is_not_there_is_not_found(self, sessions: Sessions) -> None:
        for change in (sessions.resume, sessions.fork, sessions.delete):
            for name in ("no", "local/chat/no", StreamKey("a", "b", "c")):
                with pytest.raises(StreamNotFound):
                    change(name)

    def test_a_session_goes_by_its_id_and_by_its_whole_key(self, live: Live) -> None:
        other = Sessions(live, "ann", "coder")
        key = other.create(id="a/b/c")
        assert other.find("a/b/c") == other.find("ann/coder/a/b/c") == key
        assert Sessions(live).find("ann/coder/a/b/c") == key
        with pytest.raises(StreamNotFound):
            Sessions(live).find("a/b/c")


class Overtaken:
    """A log in which somebody else writes just before an append of ours, once."""

    def __init__(self, live: Live, key: StreamKey) -> None:
        self.waits = False
        self.live, self.key = live, key
        outer = self

        class Slow(Live):
            def append(self, stream: Any, *given: Any, **more: Any) -> Any:
                if outer.waits:
                    outer.waits = False
                    outer.live.append(outer.key, said("faster"))
                return super().append(stream, *given, **more)

        self.sessions = Sessions(Slow(live.log.path))


class TestForkingAndNaming:
    """Without these a fork takes the place of another one, or a name is lost."""

    def test_a_fork_goes_on_from_a_place_under_a_free_name(
        self, live: Live, sessions: Sessions
    ) -> None:
        key = sessions.create("s", id="x")
        live.append(key, said("one"), said("two"))
        assert sessions.fork(key, 3).session == "x.fork1"
        assert sessions.fork("x").session == "x.fork2"
        named = sessions.fork("x", 3, id="y", reason="another way")
        assert texts(live, named) == ["s", "one"]
        with pytest.raises(WrongExpectedVersion):
            sessions.fork("x", id="y")

    def test_a_title_is_one_line_and_is_written_once(self, live: Live, sessions: Sessions) -> None:
        key = sessions.create(id="x")
        sessions.rename(key, " the\nkiln ")
        before = live.log.version(key)
        sessions.rename(key, "the kiln")
        assert live.log.version(key) == before
        (titled,) = live.log.read(key, types=["session_titled"])
        assert (titled.data["title"], titled.data["by"]) == ("the kiln", "human")

    def test_what_was_said_can_be_given_as_a_title(self, live: Live, sessions: Sessions) -> None:
        key = sessions.create()
        live.append(key, said("hello"))
        sessions.rename(key, "hello")
        assert [e.data["title"] for e in live.log.read(key, types=["session_titled"])] == ["hello"]

    @pytest.mark.parametrize("title", ["", " \n", "a\x1b[2Jb", "\u202eb", "x" * 201, "\ud83d"])
    def test_what_is_no_title_is_refused(self, sessions: Sessions, title: str) -> None:
        key = sessions.create()
        with pytest.raises(InputRefused, match="no title"):
            sessions.rename(key, title)

    def test_a_deleted_session_is_hidden_and_its_forks_live_on(
        self, live: Live, sessions: Sessions
    ) -> None:
        key = sessions.create("s", id="x")
        fork = sessions.fork(key)
        for _ in range(2):
            sessions.delete(key, "tidy")
        assert len(list(live.log.read(key, types=["session_deleted"]))) == 1
        assert [one.id for one in sessions.list()] == ["x.fork1"]
        assert {one.id: one.is_deleted for one in sessions.list(deleted=True)} == {
            "x": True,
            "x.fork1": False,
        }
        assert texts(live, fork) == ["s"]


class TestListing:
    """Without these a person does not find a conversation again."""

    def test_each_figure_is_of_what_its_name_says(self, live: Live, sessions: Sessions) -> None:
        key = sessions.create("s", id="x")
        new = events.NewMessage(
            dialect="openai_chat", message={"role": "user", "content": "so far"}
        )
        live.append(
            key,
            said("one"),
            said("two", "assistant"),
            tasks("done", "pending", "in_progress"),
            events.ContextCompacted(covered=("3",), messages=(new,)),
            said("three"),
        )
        (row,) = sessions.list()
        assert row == Listed(key, "one", row.updated_at, 3, 3, 2, len("so far"), False)
        live.append(key, events.DecisionUndone(target=6))
        assert sessions.list()[0].summary_length == 0
        live.append(key, events.SessionRewound(to=4))
        assert sessions.list()[0][3:6] == (3, 0, 0)

    def test_the_newest_stands_first_and_others_of_the_log_do_not(
        self, live: Live, sessions: Sessions
    ) -> None:
        Sessions(live, "ann").create()
        Sessions(live, agent="coder").create()
        for name in "abc":
            sessions.create(id=name)
        live.append(sessions.key("a"), said("again"))
        sessions.rename("b", "a note moves nothing")
        assert [one.id for one in sessions.list()] == ["a", "c", "b"]
        assert [one.id for one in sessions.list(2)] == ["a", "c"]
        assert sessions.list(0) == []
        with pytest.raises(InputRefused):
            sessions.list(-1)

    @pytest.mark.parametrize(
        ("first", "title"),
        [
            ("fix\r\n\tthe   build", "fix the build"),
            ("x" * 24, "x" * 24),
            ("x" * 25, "x" * 24),
            ("这个修复" * 7, "这个修复" * 6),
            ("a" * 23 + "🧱🧱", "a" * 23 + "🧱"),
            ("a" * 23 + " b", "a" * 23),
            ("a" * 23 + "\ud83d x", "a" * 23 + "?"),
            (" \n ", NO_TITLE),
        ],
    )
    def test_without_a_title_it_is_how_the_first_human_message_begins(
        self, live: Live, sessions: Sessions, first: str, title: str
    ) -> None:
        live.append(sessions.create("a system prompt is none"), said(first))
        assert [one.title for one in sessions.list()] == [title]

    def test_where_nobody_said_anything_a_word_says_so(
        self, live: Live, sessions: Sessions
    ) -> None:
        live.append(sessions.create("s"), said("a reminder", "user").model_copy(
            update={"source": "injected", "label": "system-reminder"}
        ))  # fmt: skip
        assert [one.title for one in sessions.list()] == [NO_TITLE]

    def test_a_title_that_was_given_is_whole(self, live: Live, sessions: Sessions) -> None:
        long = "a title that somebody gave, of many words"
        live.append(sessions.create(title=long, id="x"), said("hello"))
        sessions.fork("x", id="y")
        assert [one.title for one in sessions.list()] == [long, long]
        sessions.rename("y", long + " more")
        assert {one.title for one in sessions.list()} == {long, long + " more"}

    def test_no_event_is_read_but_what_is_new(self, live: Live, sessions: Sessions) -> None:
        for name in "abc":
            live.append(sessions.create("s", id=name), said("hello"))
        sessions.list()
        asked: list[str] = []
        live.log._db.set_trace_callback(asked.append)
        assert len(sessions.list()) == 3
        live.log._db.set_trace_callback(None)
        assert asked
        assert not [sql for sql in asked if "payload" in sql or "state" in sql.split("from")[0]]


class TestPurging:
    """Without these what somebody wanted gone is still there, or more than that is gone."""

    SECRET = "the code of the vault is 84-17-22"

    def filled(self, live: Live, sessions: Sessions) -> StreamKey:
        key = sessions.create(self.SECRET, id="x", title=self.SECRET, note=self.SECRET)
        new = events.NewMessage(
            dialect="openai_chat",
            message={"role": "user", "content": self.SECRET},
            label=self.SECRET,
        )
        live.append(
            key,
            said(self.SECRET, label=self.SECRET),
            events.ModelCalled(model="m", dialect="openai_chat", parameters={"user": self.SECRET}),
            said(self.SECRET, "assistant", call=4),
            events.ModelResponded(call=4, finish_reason="stop", response_id=self.SECRET),
            events.ToolResultRecorded(
                tool_call_id="t", dialect="openai_chat", content=self.SECRET * 2000
            ),
            events.PlaceholderSubstituted(item="7", content=self.SECRET, reason=self.SECRET),
            events.ContextCompacted(covered=("3", "5"), messages=(new,), trigger=self.SECRET),
            events.TaskClassified(task_type=self.SECRET),
            events.FileSeen(path=self.SECRET, size=1, modified_ns=1),
            events.TasksSet(tasks=(events.Task(id="1", title=self.SECRET),)),
            events.MiddlewareStateSet(name="m", state={"kept": self.SECRET}),
            events.SessionDeleted(reason=self.SECRET),
        )
        sessions.list()
        return key

    def bytes_of(self, live: Live) -> bytes:
        path = live.log.path
        return b"".join(
            file.read_bytes()
            for file in (path, path.with_name(path.name + "-wal"))
            if file.exists()
        )

    def test_no_text_of_it_is_left_in_the_file(self, live: Live, sessions: Sessions) -> None:
        other = sessions.create("another prompt", id="other")
        key = self.filled(live, sessions)
        assert self.SECRET.encode() in self.bytes_of(live)
        done = sessions.purge(key, confirm="x", reason="asked to")
        assert done.events == 14
        live.close()
        assert self.SECRET.encode() not in self.bytes_of(live)
        with open_log(live.log.path) as again:
            assert verify(again.log).ok
            assert [one.id for one in Sessions(again).list()] == ["other"]
            assert texts(again, other) == ["another prompt"]
            (row,) = (one for one in Sessions(again).list(deleted=True) if one.id == "x")
            assert (row.is_deleted, row.messages) == (True, 2)
            again_own = Sessions(again)
            for go_on in (again_own.resume, again_own.fork, again_own.get_or_create):
                with pytest.raises(InputRefused, match="was purged"):
                    go_on("x")
            assert Sessions(again).purge("x", confirm="x").events == 0

    @pytest.mark.parametrize("confirm", ["", "y", "local/chat/x", "X"])
    def test_it_is_asked_for_twice(self, live: Live, sessions: Sessions, confirm: str) -> None:
        key = self.filled(live, sessions)
        before = live.log.version(key)
        with pytest.raises(InputRefused, match="confirmed with the id"):
            sessions.purge(key, confirm=confirm)
        assert live.log.version(key) == before

    def test_it_is_refused_with_the_names_of_the_forks_that_live(
        self, live: Live, sessions: Sessions
    ) -> None:
        key = self.filled(live, sessions)
        child = sessions.fork(key, id="child")
        grandchild = sessions.fork(child, id="grandchild")
        live.append(grandchild, said("mine"))
        sessions.delete(child)  # hidden is not gone: it can be resumed
        with pytest.raises(ForksAlive) as error:
            sessions.purge(key, confirm="x")
        assert error.value.forks == ("local/chat/child", "local/chat/grandchild")
        assert "local/chat/grandchild" in str(error.value)
        assert texts(live, grandchild)[-1] == "mine"
        sessions.purge(grandchild, confirm="grandchild")
        sessions.purge(child, confirm="child")
        sessions.purge(key, confirm="x")
        live.close()
        assert self.SECRET.encode() not in self.bytes_of(live)

    def test_what_a_fork_has_of_its_parent_stays(self, live: Live, sessions: Sessions) -> None:
        key = sessions.create("the parent's", id="x")
        fork = sessions.fork(key, id="y")
        live.append(fork, said("the fork's"))
        sessions.purge(fork, confirm="y")
        assert texts(live, key) == ["the parent's"]
        assert texts(live, fork) == ["the parent's", "[redacted]"]
        assert verify(live.log).ok

    def test_sub_agents_are_named_and_stay(self, live: Live, sessions: Sessions) -> None:
        key = sessions.create("s", id="x")
        agent = sessions.key("x.helper")
        live.append(agent, events.SessionStarted(parent_session=str(key)), said("look it up"))
        assert sessions.purge(key, confirm="x").subagents == (str(agent),)
        assert texts(live, agent) == ["look it up"]


def test_it_is_exported_beside_the_recorder() -> None:
    assert harness.Sessions is Sessions
    with pytest.raises(AttributeError):
        harness.Session  # noqa: B018
