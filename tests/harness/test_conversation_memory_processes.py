"""Processes that remember, and die, or write at once: nothing is lost, and nothing stands twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conversing import holds, told
from model_server import ModelServer, serving
from remembered import memory_of, received, shown, talking
from scripted import following

from eventlog.integrity import verify
from projections import open_log

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


@contextmanager
def process(path: Path, server: ModelServer, session: str, stop: str = "") -> Iterator[Any]:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{HERE}", "HOME": str(path.parent)}
    script = str(HERE / "remembering_talker.py")
    child = subprocess.Popen(
        [sys.executable, script, str(path), server.url, session, stop],
        env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert child.stdout.readline() == "ready\n", child.stderr.read()
        yield child
    finally:
        child.kill()
        child.communicate()


def say(child: Any, *lines: str) -> None:
    child.stdin.write("".join(f"{line}\n" for line in lines))
    child.stdin.flush()


class TestKilled:
    def test_between_what_is_said_and_the_call_its_memories_stand_and_its_wish_is_learned(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "talk.db"
        with serving(following(lambda text, rounds: "Fine.")) as server:
            with open_log(path) as live:
                memory_of(live).add("We deploy on Fridays")
            with process(path, server, "s", "MemoriesShown") as child:
                say(child, "When do we deploy? Remember: I indent with tabs")
                assert child.stdout.readline() == "stopped\n"
                os.kill(child.pid, signal.SIGKILL)
                assert child.wait() == -signal.SIGKILL
            assert server.requests == []
            with open_log(path) as live:
                memory = memory_of(live)
                assert [each.kind for each in memory.all()] == ["fact"]
                talk = talking(live, server, "s", memory=memory, system=None)
                told(talk.go_on())
                assert "Fridays" in shown(received(server))
                assert [m["role"] for m in received(server)] == ["system", "user"]
                assert [each.kind for each in memory.all()] == ["fact", "preference"]
                holds(talk)


class TestAtOnce:
    def test_two_processes_of_one_person_lose_nothing_and_learn_nothing_twice(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "talk.db"
        things = {name: [f"the port of {name}{n} is {8000 + n}" for n in range(8)] for name in "ab"}
        with (
            serving(following(lambda text, rounds: "Fine.")) as server,
            process(path, server, "a") as one,
            process(path, server, "b") as two,
        ):
            for child, name in ((one, "a"), (two, "b")):
                say(child, *(f"Remember that {thing}" for thing in things[name]))
                child.stdin.close()
            for child in (one, two):
                assert child.wait(120) == 0, child.stderr.read()
                child.stdin = None
        with open_log(path) as live:
            memory = memory_of(live)
            texts = [each.text for each in memory.all() if each.is_explicit]
            assert sorted(texts) == sorted((*things["a"], *things["b"]))
            assert memory.profile.section("behaviour")["sessions"] == 2
            assert verify(live.log).problems == ()
            for name in "ab":
                holds(live, live.log.stream(f"local/chat/{name}").key)

    def test_a_session_that_two_end_is_counted_once_and_the_newer_summary_stands(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "talk.db"
        with (
            serving(following(lambda text, rounds: "Fine.")) as server,
            open_log(path) as live,
            open_log(path) as other,
        ):
            memory = memory_of(live)
            talk = talking(live, server, "s", memory=memory)
            talk.ask("Please port the parser to Rust")
            append = memory.append_new

            def late(*drafts: Any, **given: Any) -> list[int]:
                """Another process goes on with it, and ends it, between reading and appending."""
                memory.append_new = append  # type: ignore[method-assign]
                newer = talking(other, server, "s", memory=memory_of(other), system=None)
                newer.ask("Please port the lexer to Rust as well")
                newer.end()
                return append(*drafts, **given)

            memory.append_new = late  # type: ignore[method-assign]
            talk.end()
            counted = memory.profile.section("behaviour")
            assert (counted["sessions"], counted["human_messages"]) == (1, 2)
            (summary,) = [each for each in memory.all() if each.kind == "session_summary"]
            assert "lexer" in summary.text
