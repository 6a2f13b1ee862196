"""Many calls at once, from threads, tasks, processes and children: none is lost or mixed up."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import anyio
import pytest
from model_server import ModelServer, completion, serving
from openai import AsyncOpenAI, OpenAI
from recorded_calls_of import Told
from test_recording_trouble import held

from eventlog import EventLog, StreamKey
from eventlog.events import MessageAppended
from harness.exchange.outcomes import outcome_of
from harness.recording import Recorder, session, wrap
from harness.recording import placing as placing_module
from harness.recording import placings as placings_module
from harness.recording.recorder import RecordedCall
from projections import Live, open_log


def talk(client: OpenAI, name: str, turns: int, *, answered: bool = True) -> None:
    """A conversation whose messages all carry its name."""
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": f"{name} begins"},
    ]
    for turn in range(turns):
        said = client.chat.completions.create(model="m", messages=messages).choices[0].message
        assert said.content == f"heard: {messages[-1]['content']}"
        messages += [said, {"role": "user", "content": f"{name} {turn}"}]


def echo(request: dict[str, Any]) -> Any:
    return completion(f"heard: {request['messages'][-1]['content']}")


def check(path: Path, server: ModelServer, names: int) -> Told:
    """All calls are exact, and no session holds two conversations."""
    told = Told(path)
    told.check(server.requests)
    for key, found in told.events.items():
        said = [
            e.data["message"]["content"].split()[0]
            for e in found
            if e.type == "message_appended" and e.data["source"] == "human"
        ]
        assert len(set(said)) <= 1, (key, Counter(said))
    assert told.types()["model_responded"] == len(server.requests)
    assert len(told.events) == names
    return told


def apart(path: Path) -> Told:
    """No session holds two conversations, in what it has of its parent either."""
    with open_log(path) as live:
        for info in live.log.streams():
            said = {
                each.event.message.value["content"].split()[0]
                for each in live.log.read(info.key, types=["message_appended"])
                if isinstance(each.event, MessageAppended) and each.event.source == "human"
            }
            assert len(said) <= 1, (info.key.session, said)
    return Told(path)


class TestThreads:
    def test_eight_threads_on_one_client(self, tmp_path: Path) -> None:
        with serving(echo) as server:
            recorder = Recorder(tmp_path / "log.db")
            client = wrap(server.client(), recorder)
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(lambda n: talk(client, f"t{n}", 6), range(8)))
            recorder.close()
        check(tmp_path / "log.db", server, 8)

    def test_eight_threads_that_begin_with_the_same_words(self, tmp_path: Path) -> None:
        with serving(echo) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(), recorder)
            ready = threading.Barrier(8)

            def run(number: int) -> None:
                ready.wait()
                talk(client, "same", 4)

            with ThreadPoolExecutor(8) as pool:
                list(pool.map(run, range(8)))
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        assert told.types()["model_responded"] == 32

    def test_sessions_of_threads(self, tmp_path: Path) -> None:
        with serving(echo) as server:
            recorder = Recorder(tmp_path / "log.db")
            client = wrap(server.client(), recorder)

            def run(number: int) -> None:
                with session(f"n{number}"):
                    talk(client, f"t{number}", 5)

            with ThreadPoolExecutor(8) as pool:
                list(pool.map(run, range(8)))
            recorder.close()
        told = check(tmp_path / "log.db", server, 8)
        assert set(told.events) == {f"n{n}" for n in range(8)}

    def test_another_conversation_while_one_of_the_session_is_asked(self, tmp_path: Path) -> None:
        """Nothing was compacted: two threads say two things under one name."""
        recorder = Recorder(tmp_path / "log.db", session="s")
        for turn in range(2):
            calls = {name: begin(recorder, name, turn) for name in ("one", "other", "third")}
            for name, call in reversed(calls.items()):
                ended(call, name)
        recorder.close()
        told = apart(tmp_path / "log.db")
        assert sorted(told.events) == ["s", "s.2", "s.3"]
        assert not told.of("context_compacted")
        assert {v.name for v in told.verdicts} == {"exact"}

    def test_the_threads_that_all_share_are_taken(self, tmp_path: Path) -> None:
        """They may wait for this very call, as those of web servers do."""

        async def run(server: ModelServer) -> None:
            limiter = anyio.to_thread.current_default_thread_limiter()
            limiter.total_tokens = 1
            await limiter.acquire_on_behalf_of("somebody")
            given = AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0)
            async with wrap(given, tmp_path / "log.db") as client, asyncio.timeout(60):
                said: Any = [{"role": "user", "content": "hi"}]
                await client.chat.completions.create(model="m", messages=said)

        with serving(echo) as server:
            asyncio.run(run(server))
        Told(tmp_path / "log.db").check(server.requests)


class TestManyConversations:
    """What is not held in memory is read from the log again."""

    @pytest.mark.parametrize(("is_named", "told"), [(False, 9), (False, 2), (True, 9)])
    @pytest.mark.parametrize("by_size", [False, True])
    def test_more_than_are_held(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        is_named: bool,
        told: int,
        by_size: bool,
    ) -> None:
        if by_size:
            monkeypatch.setattr(placings_module, "MOST_HELD", 300)
            monkeypatch.setattr(placing_module, "MOST_HELD", 300)
        else:
            monkeypatch.setattr(placings_module, "MOST_SESSIONS", 2)
            monkeypatch.setattr(placing_module, "RECENT", 2)
        monkeypatch.setattr(placing_module, "MOST_TOLD", told)
        with serving(echo) as server:
            recorder = Recorder(tmp_path / "log.db")
            client = wrap(server.client(), recorder)
            said: dict[int, list[Any]] = {
                n: [{"role": "user", "content": f"t{n} begins"}] for n in range(6)
            }
            for turn in range(4):
                for number, messages in said.items():
                    with session(f"n{number}") if is_named else nullcontext():
                        found = client.chat.completions.create(model="m", messages=messages)
                    messages.append(found.choices[0].message)
                    messages.append({"role": "user", "content": f"t{number} {turn}"})
            held = recorder._placings
            placings = held._by_session.values()
            assert len(placings) <= 2
            streams = [s for placing in placings for s in placing._recent.values()]
            assert len(streams) <= 3
            assert sum(s.held for s in streams) == held._held
            assert not by_size or held._held <= 300 + streams[-1].held
            for placing in placings:
                threads = placing._threads
                assert len(threads._order) <= told
                assert sum(len(group._threads) for group in threads._groups.values()) <= told
            recorder.close()
        found_there = check(tmp_path / "log.db", server, 6)
        assert found_there.types()["context_compacted"] == 0


class TestTasks:
    def test_fifty_calls_at_once(self, tmp_path: Path) -> None:
        async def run(client: AsyncOpenAI) -> None:
            async def one(number: int) -> None:
                messages: list[Any] = [{"role": "user", "content": f"t{number} begins"}]
                for turn in range(2):
                    found = await client.chat.completions.create(model="m", messages=messages)
                    messages.append(found.choices[0].message)
                    messages.append({"role": "user", "content": f"t{number} {turn}"})

            await asyncio.gather(*map(one, range(50)))
            await client.close()

        with serving(echo) as server:
            recorder = Recorder(tmp_path / "log.db")
            made = AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0)
            asyncio.run(run(wrap(made, recorder)))
            recorder.close()
        check(tmp_path / "log.db", server, 50)

    def test_a_task_keeps_its_session_and_its_child_names_it(self, tmp_path: Path) -> None:
        async def run(client: AsyncOpenAI) -> None:
            async def ask(text: str) -> None:
                said: list[Any] = [{"role": "user", "content": text}]
                await client.chat.completions.create(model="m", messages=said)

            async def child(number: int) -> None:
                with session(f"child{number}"):
                    await ask(f"c{number} begins")

            async def agent(number: int) -> None:
                with session(f"agent{number}"):
                    await ask(f"a{number} begins")
                    await asyncio.gather(child(2 * number), child(2 * number + 1))

            await asyncio.gather(agent(0), agent(1))
            await client.close()

        with serving(echo) as server:
            recorder = Recorder(tmp_path / "log.db")
            made = AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0)
            asyncio.run(run(wrap(made, recorder)))
            recorder.close()
        told = check(tmp_path / "log.db", server, 6)
        parents = {k: v[0].data.get("parent_session", "") for k, v in told.events.items()}
        assert parents == {
            "agent0": "",
            "agent1": "",
            "child0": "local/recorded/agent0",
            "child1": "local/recorded/agent0",
            "child2": "local/recorded/agent1",
            "child3": "local/recorded/agent1",
        }


def _process(path: str, url: str, name: str) -> None:
    recorder = Recorder(path, session="shared", patience=5)
    client = wrap(OpenAI(api_key="k", base_url=url, max_retries=0), recorder)
    talk(client, name, 10)
    recorder.close()


def body(name: str, turn: int) -> bytes:
    """The n-th request of a conversation."""
    said: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": f"{name} begins"},
    ]
    for number in range(turn):
        said.append({"role": "assistant", "content": f"to {name}"})
        said.append({"role": "user", "content": f"{name} {number}"})
    return json.dumps({"model": "m", "messages": said}).encode()


def begin(recorder: Recorder, name: str, turn: int) -> RecordedCall:
    return recorder.begin("openai_chat", body(name, turn))


def ask(recorder: Recorder, name: str, turn: int) -> None:
    ended(begin(recorder, name, turn), name)


def ended(call: RecordedCall, name: str) -> None:
    call.ended(outcome_of(call.dialect, json.dumps(completion(f"to {name}")), 200))


class TestNames:
    """Processes write to one session; of each of them there is a recorder here."""

    @pytest.mark.parametrize("turns", [1, 2], ids=["a stream", "a fork"])
    def test_one_that_another_process_takes_just_now(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turns: int
    ) -> None:
        path = tmp_path / "log.db"
        first, second, third, last = recorders = [Recorder(path, session="s") for _ in range(4)]
        ask(first, "first", 0)
        names = ["second", "third"]  # each has a conversation of its own
        if turns == 2:  # or they go on with that one, to which somebody wrote meanwhile
            names = ["first", "first"]
            ask(second, "first", 0)
            ask(third, "first", 0)
            said = json.loads(body("first", 1))
            said["messages"][-1]["content"] = "first of something else"
            ended(last.begin("openai_chat", json.dumps(said).encode()), "first")
        exists, taken = EventLog.exists, list[str]()

        def looked_up(log: EventLog, key: StreamKey) -> bool:
            found = exists(log, key)
            if log is second.live.log and not found and not taken:
                taken.append(key.session)
                ask(third, names[1], turns)
            return found

        monkeypatch.setattr(EventLog, "exists", looked_up)
        ask(second, names[0], turns)
        assert len(taken) == 1
        for recorder in recorders:
            assert not recorder.missed
            recorder.close()
        told = apart(path)
        assert {v.name for v in told.verdicts} == {"exact"}
        assert told.types()["model_responded"] == (3 if turns == 1 else 6)

    @pytest.mark.parametrize("when", [[True], [False, True]], ids=["before it", "after it"])
    def test_a_session_that_another_process_begins_just_now(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: list[bool]
    ) -> None:
        path = tmp_path / "log.db"
        first, second = (Recorder(path, session="s") for _ in range(2))
        append, faster = Live.append, iter(when)

        def appended(live: Live, *given: Any, **named: Any) -> Any:
            if live is second.live and next(faster, False):
                ask(first, "first", 0)
            return append(live, *given, **named)

        monkeypatch.setattr(Live, "append", appended)
        ask(second, "second", 0)
        ask(first, "first", 1)
        ask(second, "second", 1)
        first.close()
        second.close()
        told = apart(path)
        assert sorted(told.events) == ["s", "s~2"]
        assert {v.name for v in told.verdicts} == {"exact"}
        assert told.types()["model_called"] == 4


def _busy(path: Path, url: str) -> None:
    """One call while another process writes."""
    client = wrap(OpenAI(api_key="k", base_url=url, max_retries=0), path, on_error="ignore")
    with held(path):
        talk(client, "p", 1)


class TestProcesses:
    def test_two_processes_on_one_session(self, tmp_path: Path) -> None:
        context = multiprocessing.get_context("spawn")
        with serving(echo) as server:
            made = [
                context.Process(
                    target=_process, args=(str(tmp_path / "log.db"), server.url, f"p{n}")
                )
                for n in range(2)
            ]
            for each in made:
                each.start()
            for each in made:
                each.join(60)
                assert each.exitcode == 0
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        assert told.types()["model_responded"] == 20

    def test_two_that_take_turns_are_one_conversation(self, tmp_path: Path) -> None:
        """As workers do that serve it in turn: each request holds all that the other wrote."""
        with serving(echo) as server:
            made = [Recorder(tmp_path / "log.db", session="s") for _ in range(2)]
            clients = [wrap(server.client(), each) for each in made]
            messages: list[Any] = []
            for turn in range(7):
                messages.append({"role": "user", "content": f"turn {turn}"})
                said = clients[turn % 2].chat.completions.create(model="m", messages=messages)
                messages.append(said.choices[0].message)
            # Who does not hold all of it goes on in a fork.
            clients[1].chat.completions.create(model="m", messages=messages[:3])
            for each in made:
                each.close()
        told = check(tmp_path / "log.db", server, 2)
        assert sorted(told.events) == ["s", "s~2"]
        assert len([e for e in told.events["s"] if e.type == "model_called"]) == 7

    def test_a_child_after_a_fork(self, tmp_path: Path) -> None:
        with serving(echo) as server:
            recorder = Recorder(tmp_path / "log.db", session="s", patience=5)
            client = wrap(server.client(), recorder)
            messages: list[Any] = [{"role": "user", "content": "parent begins"}]
            said = client.chat.completions.create(model="m", messages=messages)
            messages += [said.choices[0].message, {"role": "user", "content": "go on"}]
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    own = server.client()
                    wrap(own, recorder)
                    for turn in range(3):
                        said = own.chat.completions.create(model="m", messages=messages)
                        messages.append(said.choices[0].message)
                        messages.append({"role": "user", "content": f"child {turn}"})
                    recorder.close()
                    status = 0
                finally:
                    os._exit(status)
            for turn in range(3):
                said = client.chat.completions.create(model="m", messages=messages)
                messages.append(said.choices[0].message)
                messages.append({"role": "user", "content": f"parent {turn}"})
            assert os.waitpid(child, 0)[1] == 0
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        assert told.types()["model_responded"] == 7

    @pytest.mark.parametrize("method", ["fork", "spawn"])
    def test_a_worker_writes_what_waits_before_it_ends(self, tmp_path: Path, method: Any) -> None:
        """It ends in another way than a program does."""
        context = multiprocessing.get_context(method)
        path = tmp_path / "log.db"
        Recorder(path).close()
        with serving(echo) as server:
            made = context.Process(target=_busy, args=(path, server.url), daemon=True)
            made.start()
            made.join(60)
            assert made.exitcode == 0
        Told(path).check(server.requests)

    def test_six_processes_that_begin_at_once(self, tmp_path: Path) -> None:
        context = multiprocessing.get_context("fork")
        go = context.Event()

        def run(url: str, name: str) -> None:
            go.wait(60)
            _process(str(tmp_path / "log.db"), url, name)

        with serving(echo) as server:
            made = [
                context.Process(target=run, args=(server.url, f"p{n}"), daemon=True)
                for n in range(6)
            ]
            for each in made:
                each.start()
            go.set()
            for each in made:
                each.join(60)
                assert each.exitcode == 0
        told = apart(tmp_path / "log.db")
        told.check(server.requests)
        assert told.types()["model_responded"] == 60
        assert not told.of("context_compacted")

    @pytest.mark.parametrize("name", [None, "s"])
    def test_workers_that_are_forked_while_calls_are_under_way(
        self, tmp_path: Path, name: str | None
    ) -> None:
        """As servers do that load first and fork then. Each worker goes on in one place."""
        go, asked = threading.Event(), threading.Event()

        def slow(request: dict[str, Any]) -> Any:
            if request["messages"][-1]["content"] == "c slow":
                asked.set()
                go.wait(60)
            return echo(request)

        context = multiprocessing.get_context("fork")
        with serving(slow) as server:
            recorder = Recorder(tmp_path / "log.db", session=name, patience=5)
            client = wrap(server.client(), recorder)
            said: list[Any] = [{"role": "user", "content": "c begins"}]
            found = client.chat.completions.create(model="m", messages=said)
            said.append({"role": "assistant", "content": found.choices[0].message.content})
            mine = [*said, {"role": "user", "content": "c slow"}]
            busy = threading.Thread(
                target=lambda: client.chat.completions.create(model="m", messages=mine)
            )
            busy.start()
            assert asked.wait(60)

            def work(number: int) -> None:
                own = wrap(server.client(), recorder)
                messages = [*said, {"role": "user", "content": f"c {number}"}]
                for turn in range(4):
                    found = own.chat.completions.create(model="m", messages=messages)
                    text = found.choices[0].message.content
                    messages.append({"role": "assistant", "content": text})
                    messages.append({"role": "user", "content": f"c {number} {turn}"})
                    if turn == 1:  # from here on it does not go on to the byte
                        messages[1] = {"role": "assistant", "content": "c edited"}
                recorder.close()

            made = [context.Process(target=work, args=(n,), daemon=True) for n in range(4)]
            for each in made:
                each.start()
            for each in made:
                each.join(60)
                assert each.exitcode == 0
            go.set()
            busy.join(60)
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        assert told.types()["model_responded"] == 18
        assert len(told.events) == 5, "one of the parent, and one of each worker"

    def test_a_process_that_is_killed_while_it_waits(self, tmp_path: Path) -> None:
        asked, go = threading.Event(), threading.Event()

        def hang(request: dict[str, Any]) -> Any:
            asked.set()
            go.wait(30)
            return completion()

        context = multiprocessing.get_context("spawn")
        with serving(hang) as server:
            made = context.Process(
                target=_process, args=(str(tmp_path / "log.db"), server.url, "p")
            )
            made.start()
            assert asked.wait(60)
            assert made.pid is not None
            os.kill(made.pid, signal.SIGKILL)
            made.join(30)
            go.set()
        told = Told(tmp_path / "log.db")
        told.check(server.requests, unknown=1)
