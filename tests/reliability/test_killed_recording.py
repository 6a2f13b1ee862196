"""The agent, the proxy or the provider is killed at any moment of a recording: every answer that
the agent got is in the log, the log verifies, and it gives a request that can be sent."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eventlog import StreamKey
from eventlog.events import MessageAppended, ModelCalled, ModelFailed, ModelResponded
from eventlog.integrity import verify
from projections import Live, open_log
from projections.audit.auditing import audit
from projections.legality import check

ROOT = Path(__file__).parents[2]

SERVER = """
import sys, threading
sys.path.insert(0, sys.argv[1])
from model_server import ModelServer, chunks, completion, streamed

def answer(asked):
    number = len(asked["messages"])
    if asked.get("stream"):
        return streamed(chunks(f"streamed {number}"))
    if asked["messages"][-1]["role"] == "tool":
        return completion(f"done {number}")
    call = {"id": f"call_{number}", "type": "function",
            "function": {"name": "look", "arguments": "{}"}}
    return completion(None, finish="tool_calls", tool_calls=[call])

server = ModelServer(answer)
print(server.url, flush=True)
server.serve_forever()
"""

AGENT = """
import os, sys
from openai import OpenAI
client = OpenAI(api_key="sk-1", max_retries=0, timeout=10)
messages = [{"role": "user", "content": "hello"}]
tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
with open("pid", "w") as file:
    file.write(str(os.getpid()))
with open("acknowledged", "w", buffering=1) as acknowledged:
    while True:
        said = client.chat.completions.create(model="m", messages=messages, tools=tools)
        message = said.choices[0].message.model_dump(exclude_none=True)
        messages.append(message)
        acknowledged.write(str(len(messages)) + "\\n")
        if message.get("tool_calls"):
            call = message["tool_calls"][0]["id"]
            messages.append({"role": "tool", "tool_call_id": call, "content": "x" * 300})
            continue
        with client.chat.completions.create(
            model="m", messages=messages + [{"role": "user", "content": "go on"}],
            tools=tools, stream=True,
        ) as stream:
            text = "".join(c.choices[0].delta.content or "" for c in stream)
        messages.append({"role": "user", "content": "go on"})
        messages.append({"role": "assistant", "content": text})
        acknowledged.write(str(len(messages)) + "\\n")
        messages.append({"role": "user", "content": "and then?"})
"""


WRAPPED_AGENT = """
import sys, threading
from openai import OpenAI
from harness import session, wrap
client = wrap(OpenAI(api_key="sk-1", max_retries=0, timeout=10), "r.db")

def talk(name):
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    messages = [{"role": "user", "content": "hello " + name}]
    with session(name), open("acknowledged." + name, "w", buffering=1) as acknowledged:
        while True:
            said = client.chat.completions.create(model="m", messages=messages, tools=tools)
            message = said.choices[0].message.model_dump(exclude_none=True)
            messages.append(message)
            acknowledged.write(str(len(messages)) + "\\n")
            for call in message.get("tool_calls", []):
                result = {"role": "tool", "tool_call_id": call["id"], "content": "x" * 300}
                messages.append(result)
            if not message.get("tool_calls"):
                with client.chat.completions.create(
                    model="m", messages=messages, tools=tools, stream=True
                ) as stream:
                    text = "".join(c.choices[0].delta.content or "" for c in stream)
                messages.append({"role": "assistant", "content": text})
                acknowledged.write(str(len(messages)) + "\\n")
                messages.append({"role": "user", "content": "and then?"})

print("ready", flush=True)
for name in sys.argv[1:]:
    threading.Thread(target=talk, args=(name,)).start()
"""


def trial(victim: str, choose: random.Random, folder: Path) -> None:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(folder)}
    (folder / "agent.py").write_text(AGENT)
    tests = str(ROOT / "tests" / "harness")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, tests], env=env, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    env["OPENAI_BASE_URL"] = server.stdout.readline().strip()
    command = [sys.executable, "-m", "cli.main", "record", "--db", "r.db", "--session", "s", "--"]
    recording = subprocess.Popen(
        [*command, sys.executable, "agent.py"],
        env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        acknowledged = folder / "acknowledged"
        until = time.monotonic() + 30
        while not acknowledged.exists() or not acknowledged.read_text():
            assert time.monotonic() < until
            assert recording.poll() is None, recording.communicate()
            time.sleep(0.01)
        time.sleep(choose.random() * 0.6)
        agent = int((folder / "pid").read_text())
        pids = {"agent": agent, "proxy": recording.pid, "server": server.pid}
        os.kill(pids[victim], signal.SIGKILL)
        out, err = recording.communicate(timeout=30)  # and the agent, which holds these streams
    finally:
        server.kill()
        server.communicate()
        recording.kill()
        recording.wait()
    assert out == b""
    if victim == "agent":
        assert recording.returncode == 128 + signal.SIGKILL
        assert b"Traceback" not in err
    answers = len(acknowledged.read_text().splitlines())
    with open_log(folder / "r.db") as live:
        assert verify(live.log).problems == ()
        (stream,) = live.log.streams()
        holds(live, stream.key, answers, int(victim == "proxy"))


def wrapped_trial(choose: random.Random, folder: Path) -> None:
    """An agent that records itself, in three sessions at once, dies at any moment."""
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(folder)}
    tests = str(ROOT / "tests" / "harness")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, tests], env=env, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    env["OPENAI_BASE_URL"] = server.stdout.readline().strip()
    names = ["t0", "t1", "t2"]
    agent = subprocess.Popen(
        [sys.executable, "-c", WRAPPED_AGENT, *names],
        env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert agent.stdout is not None
        assert agent.stdout.readline() == b"ready\n"
        time.sleep(choose.random() * 0.8)
        agent.kill()
        _, err = agent.communicate(timeout=30)
    finally:
        agent.kill()
        server.kill()
        server.communicate()
    assert err == b""
    with open_log(folder / "r.db") as live:
        assert verify(live.log).problems == ()
        keys = {info.key.session: info.key for info in live.log.streams()}
        for name in names:
            file = folder / f"acknowledged.{name}"
            answers = len(file.read_text().splitlines()) if file.exists() else 0
            if name in keys and any(live.log.read(keys[name], types=["model_called"])):
                holds(live, keys[name], answers, 1)
            else:
                assert not answers


def holds(live: Live, key: StreamKey, answers: int, most_unknown: int) -> None:
    """What must hold of a session after any death."""
    events = [each.event for each in live.log.read(key)]
    called = [e for e in events if isinstance(e, ModelCalled)]
    said = [e for e in events if isinstance(e, MessageAppended) and e.source == "model"]
    responded = [e for e in events if isinstance(e, ModelResponded)]
    failed = [e for e in events if isinstance(e, ModelFailed)]
    assert len(said) == len(responded) >= answers
    unknown = len(called) - len(responded) - len(failed)
    assert unknown <= most_unknown
    rows = audit(live, key).calls
    assert [row.verdict for row in rows] == ["exact"] * len(called)
    assert sum(row.outcome == "unknown" for row in rows) == unknown
    sendable = live.sendable(key)
    assert sendable.items
    assert not check(sendable.items)


VICTIMS = ["agent", "proxy", "server"]


@pytest.mark.parametrize("victim", VICTIMS)
def test_nothing_that_was_answered_is_lost(victim: str, tmp_path: Path) -> None:
    trial(victim, random.Random(victim), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(33))
@pytest.mark.parametrize("victim", VICTIMS)
def test_nothing_is_lost_whenever_it_dies(victim: str, number: int, tmp_path: Path) -> None:
    trial(victim, random.Random(f"{victim} {number}"), tmp_path)


def test_an_agent_that_records_itself_loses_nothing(tmp_path: Path) -> None:
    wrapped_trial(random.Random("wrapped"), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(33))
def test_an_agent_that_records_itself_loses_nothing_whenever_it_dies(
    number: int, tmp_path: Path
) -> None:
    wrapped_trial(random.Random(f"wrapped {number}"), tmp_path)
