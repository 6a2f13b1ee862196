"""Many calls at once, from threads, tasks, processes and children: none is lost or mixed up."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, completion, serving
from openai import AsyncOpenAI, OpenAI
from recorded_calls_of import Told

from harness.recording import Recorder, session, wrap
from harness.recording import placing as placing_module
from harness.recording import recorder as recorder_module


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


class TestManyConversations:
    """What is not held in memory is read from the log again."""

    @pytest.mark.parametrize("is_named", [False, True])
    def test_more_than_are_held(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_named: bool
    ) -> None:
        monkeypatch.setattr(recorder_module, "MOST_SESSIONS", 2)
        monkeypatch.setattr(placing_module, "RECENT", 2)
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
            held = recorder._sessions
            assert len(held) <= 2
            assert sum(len(placing._recent) for placing in held.values()) <= 3
            recorder.close()
        told = check(tmp_path / "log.db", server, 6)
        assert told.types()["context_compacted"] == 0


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
