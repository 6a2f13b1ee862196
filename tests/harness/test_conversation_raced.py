"""Two processes, or two tabs, on the same session: one of them is faster, the other is told, looks,
and says it again. What has happened is recorded all the same, and nothing is said twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conversing import LOOK, LOW, Asked, called, holds, said, scripted, told, types, writer
from model_server import ModelServer, completion, serving

from eventlog.errors import InputRefused, WrongExpectedVersion
from harness.agent_sessions import Sessions
from harness.conversation import Conversation
from harness.conversation.happenings import Answered, Calling, Ended, Piece, ToolCalled, ToolEnded
from projections import Live, open_log
from projections.erasure import apply, plan

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[tuple[Live, Live]]:
    """One file, opened twice."""
    with open_log(tmp_path / "talk.db") as one, open_log(tmp_path / "talk.db") as other:
        yield one, other


def joined(live: Live, server: ModelServer, name: str = "s", **settings: Any) -> Conversation:
    given = {"strategy": LOW, "tools": [LOOK], **settings}
    return Conversation(live, server.client(), "m", session=name, **given)


def humans(live: Live, of: Conversation) -> list[str]:
    found = [each for each in live.log.read(of.key) if each.data.get("source") == "human"]
    return [each.data["message"]["content"] for each in found]


def lost(talk: Conversation, text: str) -> None:
    """It is told, and nothing of its message was written."""
    version = talk.live.log.version(talk.key)
    with pytest.raises(WrongExpectedVersion) as told_of:
        told(talk.say(text))
    assert told_of.value.actual == version
    assert talk.live.log.version(talk.key) == version
    assert text not in humans(talk.live, talk)


def said_again(talk: Conversation, text: str) -> None:
    assert told(talk.say(text))[-1] == Ended("answered")
    holds(talk)


class TestTwoThatSaySomething:
    def test_the_slower_one_is_told_looks_and_says_it_again(self, logs: tuple[Live, Live]) -> None:
        with serving(scripted) as server:
            a, b = joined(logs[0], server), joined(logs[1], server)
            a.refresh()
            said_again(a, "turn 1: look")
            lost(b, "turn 2")
            assert b.refresh() == 0  # it looked already
            assert [item.text for item in b.items()] == [item.text for item in a.items()]
            said_again(b, "turn 2")
            lost(a, "turn 3")
            said_again(a, "turn 3")
            assert humans(logs[1], b) == ["turn 1: look", "turn 2", "turn 3"]
            b.refresh()
            assert [(i.id, i.message) for i in a.items()] == [(i.id, i.message) for i in b.items()]

    def test_at_once_from_two_threads_each_message_stands_once(
        self, logs: tuple[Live, Live]
    ) -> None:
        start = threading.Barrier(2)
        losses: Counter[str] = Counter()

        def talk(of: Conversation, name: str) -> None:
            for n in range(4):
                start.wait(60)
                while True:
                    try:
                        told(of.say(f"turn {name}{n}"))
                        break
                    except WrongExpectedVersion:
                        losses[name] += 1
                        of.refresh()
                        standing = humans(of.live, of)
                        if f"turn {name}{n}" in standing:
                            break  # it was said, and its answer was overtaken

        with serving(scripted) as server:
            both = [joined(log, server) for log in logs]
            threads = [
                threading.Thread(target=talk, args=(of, name))
                for of, name in zip(both, ("1", "2"), strict=True)
            ]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
            assert losses
            wanted = {f"turn {name}{n}" for name in "12" for n in range(4)}
            assert Counter(humans(logs[0], both[0])) == Counter(wanted)
            for of in both:
                of.refresh()
                holds(of)

    def test_two_processes(self, tmp_path: Path) -> None:
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{HERE}", "HOME": str(tmp_path)}
        with serving(scripted) as server, open_log(tmp_path / "talk.db") as live:
            mine = joined(live, server)
            script = [sys.executable, str(HERE / "racing_talker.py")]
            other = subprocess.Popen(
                [*script, str(tmp_path / "talk.db"), server.url],
                env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            )  # fmt: skip
            assert other.stdin is not None
            assert other.stdout is not None

            def heard() -> str:
                assert other.stdout is not None
                return other.stdout.readline().strip()

            try:
                assert heard() == "ready"
                for n in range(1, 9, 2):
                    mine.refresh()
                    other.stdin.write("refresh\n")
                    assert heard() == "refreshed"
                    other.stdin.write(f"turn {n}: look\n")
                    try:
                        told(mine.say(f"turn {n + 1}: look"))
                        have_won = True
                    except WrongExpectedVersion:
                        have_won = False
                    assert heard().startswith("not at" if have_won else "said")
                    standing = humans(live, mine)
                    assert (f"turn {n + 1}: look" in standing) is have_won
                    assert (f"turn {n}: look" in standing) is not have_won
                    if have_won:
                        other.stdin.write("refresh\n")
                        assert heard() == "refreshed"
                        other.stdin.write(f"turn {n}: look\n")
                        assert heard() == "said"
                    else:
                        mine.refresh()
                        said_again(mine, f"turn {n + 1}: look")
            finally:
                other.stdin.close()
                other.wait(60)
                other.stdout.close()
            wanted = {f"turn {n}: look" for n in range(1, 9)}
            assert Counter(humans(live, mine)) == Counter(wanted)
            mine.refresh()
            holds(mine)

    def test_two_that_begin_the_same_session(self, logs: tuple[Live, Live]) -> None:
        with serving(scripted) as server:
            a = joined(logs[0], server, system="Be brief.")
            b = joined(logs[1], server, system="Be brief.")
            lost(a, "turn 1")
            said_again(a, "turn 1")
            b.refresh()
            assert next(item.text for item in b.items()) == "Be brief."
            assert types(logs[0], a.key).count("session_started") == 1


# -- at each step of a reply ----------------------------------------------------------------------


def says(b: Conversation) -> None:
    told(b.say("turn 8"))


def undoes(b: Conversation) -> None:
    compactions = [e for e in b.live.log.read(b.key) if e.type == "context_compacted"]
    b.undo(compactions[-1].position)


def deletes(b: Conversation) -> None:
    Sessions(b.live).delete(b.key)


@pytest.mark.parametrize("act", [says, undoes, deletes])
def test_whatever_another_process_does_at_any_step(
    act: Callable[[Conversation], None], logs: tuple[Live, Live], tmp_path: Path
) -> None:
    """The answer, and the results of what ran, are recorded; then the reply ends."""
    here, there = logs
    with serving(scripted) as server:
        base = joined(here, server, "base")
        for n in range(1, 5):
            told(base.say(f"turn {n}: look"))
        assert "context_compacted" in types(here, base.key)

        def ready(name: str) -> tuple[Conversation, Conversation]:
            here.log.fork(base.key._replace(session=name), base.key, base.version)
            tools = [LOOK, writer(tmp_path / name)]
            a = joined(here, server, name, tools=tools)
            b = joined(there, server, name, tools=tools)
            assert a.refresh() == 1
            return a, b

        whole = told(ready("whole")[0].say("turn 5: look, write"))
        chosen = {}
        for point, each in enumerate(whole):
            chosen.setdefault(type(each), point)
        for point in sorted(chosen.values()):
            a, b = ready(f"at {point}")
            reply = a.say("turn 5: look, write")
            for _ in range(point + 1):
                last = next(reply)
            b.refresh()
            act(b)
            if isinstance(last, Ended):
                assert told(reply) == []
            else:
                with pytest.raises(WrongExpectedVersion):
                    told(reply)
            if isinstance(last, Calling | Piece):
                ends = [e.data for e in here.log.read(a.key, types=["model_responded"])]
                assert len(ends) == types(here, a.key).count("model_called")
            if isinstance(last, ToolCalled):
                ran = [e.data for e in here.log.read(a.key, types=["tool_result_recorded"])]
                started = types(here, a.key).count("tool_call_started")
                assert len(ran) == started
            a.refresh()
            holds(a)
            if act is deletes:
                with pytest.raises(InputRefused, match="deleted"):
                    told(a.say("turn 9"))
                continue
            assert told(a.say("turn 9: look"))[-1] == Ended("answered")
            holds(a)
            assert Counter(humans(here, a))["turn 9: look"] == 1


def test_while_a_tool_runs_its_result_is_recorded_and_it_runs_once(logs: tuple[Live, Live]) -> None:
    ran: list[int] = []

    def act(n: int) -> str:
        """Do something, while another process says something."""
        ran.append(n)
        other.refresh()
        told(other.say("turn 8"))
        return "it was done"

    with serving(scripted) as server:
        mine = joined(logs[0], server, tools=[act])
        other = joined(logs[1], server)
        mine.refresh()
        with pytest.raises(WrongExpectedVersion):
            told(mine.say("turn 1: act"))
        assert humans(logs[0], mine) == ["turn 1: act", "turn 8"]
        (result,) = logs[0].log.read(mine.key, types=["tool_result_recorded"])
        assert result.data["content"] == "it was done"
        holds(mine)
        said_again(mine, "turn 9")
        assert ran == [1]
        other.refresh()
        holds(other)


@pytest.mark.parametrize("is_fork", [False, True])
@pytest.mark.parametrize("kind", [Calling, Answered, ToolEnded])
def test_what_another_process_erases_is_not_sent_again(
    is_fork: bool, kind: type[object], logs: tuple[Live, Live]
) -> None:
    """Of its own session it is told. What a fork has of its parent is gone without an event."""
    here, there = logs
    with serving(scripted) as server:
        a = joined(here, server, strategy="none")
        told(a.say("turn 1"))
        (secret,) = [item for item in a.items() if item.is_human]
        if is_fork:
            parent = a.key
            here.log.fork(a.key._replace(session="f"), parent, a.version)
            a = joined(here, server, "f", strategy="none")
        reply = a.say("turn 2: look")
        while not isinstance(next(reply), kind):
            pass
        apply(there, plan(there, parent if is_fork else a.key, [secret.id]))
        sent = len(server.requests)
        if is_fork:
            assert told(reply)[-1] == Ended("answered")
        else:
            with pytest.raises(WrongExpectedVersion):
                told(reply)
            a.refresh()
        assert told(a.say("turn 3"))[-1] == Ended("answered")
        later = [json.dumps(asked["messages"]) for asked in server.requests[sent:]]
        assert later
        assert not any('"turn 1"' in each for each in later)
        holds(a, verdicts=("exact", "erased"))


# -- two tabs -------------------------------------------------------------------------------------


def test_two_tabs_with_one_log_and_one_client_never_mix(tmp_path: Path) -> None:
    names = ("amber", "green", "violet")
    steps = threading.Barrier(len(names))

    def answer(asked: Asked) -> Any:
        text = json.dumps(asked["messages"])
        (name,) = [each for each in names if each in text]  # of no other tab
        if not asked.get("stream"):
            return completion(f"They spoke of {name}.")
        last = asked["messages"][-1]
        if last["role"] == "user":
            return called(("call_1", "paint", {"colour": name}))
        return said(f"It is {name} now.")

    with serving(answer) as server, open_log(tmp_path / "talk.db") as live:
        client = server.client()
        found: dict[str, Conversation] = {}
        faults: list[BaseException] = []

        def tab(name: str) -> None:
            def paint(colour: str) -> str:
                """Paint it."""
                assert colour == name
                return f"painted {name}, " + "coat after coat, " * 10

            try:
                talk = Conversation(
                    live, client, "m", session=name, strategy=LOW, tools=[paint],
                    system=f"You only know {name}.",
                )  # fmt: skip
                found[name] = talk
                for n in range(5):
                    steps.wait(60)
                    assert talk.ask(f"{name} {n}") == f"It is {name} now."
            except BaseException as error:
                faults.append(error)
                steps.abort()

        threads = [threading.Thread(target=tab, args=(name,)) for name in names]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert faults == []
        for name, talk in found.items():
            holds(talk)
            assert types(live, talk.key).count("model_called") == 10
            assert "context_compacted" in types(live, talk.key)
            everything = "".join(str(event.data) for event in live.log.read(talk.key))
            assert [each for each in names if each in everything] == [name]
