"""No key gets into the log, wherever it stands in what is sent and in what comes back."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from model_server import ModelServer, completion, serving, streamed
from openai import OpenAI
from proxied import proxied
from recorded_calls_of import Told

from harness.recording import Recorder, wrap

KEY = "Zq7-not-the-shape-of-a-key-31"
"""It looks like no key, so only who knows it can tell."""

SAID: Any = [{"role": "user", "content": "hi"}]


def files_with(folder: Path, *texts: str) -> list[str]:
    """What of these stands in any file beside a log."""
    forms = [form for text in texts for form in (text.encode(), base64.b64encode(text.encode()))]
    held = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
    assert held
    return [form.decode() for form in forms if any(form in each for each in held)]


DB = {"wrapped": "log.db", "proxied": "proxy.db"}


@contextmanager
def recorded(how: str, server: ModelServer, folder: Path, **settings: Any) -> Iterator[OpenAI]:
    """A client of a server that is recorded in either way."""
    if how == "proxied":
        with proxied(server, folder, session="s") as to:
            yield to.client(**settings)
        return
    recorder = Recorder(folder / "log.db", session="s")
    with wrap(server.client(**settings), recorder) as client:
        yield client
    recorder.close()


either = pytest.mark.parametrize("how", ["wrapped", "proxied"])


def broken_off(text: str) -> Callable[[BaseHTTPRequestHandler], None]:
    error = {"error": {"message": text, "type": "server_error"}}
    return streamed([b"data: " + json.dumps(error).encode() + b"\n\n"])


ECHOES: dict[str, Any] = {
    "an error": (
        401,
        {"error": {"message": f"Incorrect API key provided: {KEY}.", "type": "auth"}},
    ),
    "its fields": (400, {"error": {"message": "no", "given": {KEY: [f"Bearer {KEY}"]}}}),
    "no JSON": (403, f"<html>{KEY} is not known</html>".encode()),
    "a stream": broken_off(f"the key {KEY} was revoked"),
    "an answer": {**completion("ok"), "debug": {"authorization": f"Bearer {KEY}", "by": KEY}},
}


class TestWhatComesBack:
    @either
    @pytest.mark.parametrize("name", ECHOES)
    def test_a_provider_that_repeats_the_key(self, name: str, tmp_path: Path, how: str) -> None:
        with (
            serving(lambda request: ECHOES[name]) as server,
            recorded(how, server, tmp_path, api_key=KEY) as client,
        ):
            told_agent = nullcontext() if name == "an answer" else pytest.raises(openai.APIError)
            with told_agent as error:
                asked = client.chat.completions.create(
                    model="m", messages=SAID, stream=name == "a stream"
                )
                list(asked)
            if error is not None:  # the agent sees it as it came
                assert KEY in f"{error.value} {error.value.body}"
        told = Told(tmp_path / DB[how])
        assert [v.name for v in told.verdicts] == ["exact"]
        assert not files_with(tmp_path, KEY)
        if name != "an answer":
            (failed,) = told.of("model_failed")
            assert "[withheld]" in json.dumps(failed)

    @either
    def test_what_a_model_says_stays_as_it_is(self, tmp_path: Path, how: str) -> None:
        with (
            serving(lambda request: completion(f"you said {KEY}")) as server,
            recorded(how, server, tmp_path, api_key=KEY) as client,
        ):
            said: Any = [{"role": "user", "content": f"my key is {KEY}"}]
            answer = client.chat.completions.create(model="m", messages=said).choices[0].message
            said += [answer, {"role": "user", "content": "go on"}]
            client.chat.completions.create(model="m", messages=said)
        told = Told(tmp_path / DB[how])
        told.check(server.requests)
        assert not told.of("message_revised")


class TestWhatIsSent:
    @either
    @pytest.mark.parametrize(
        "given",
        [
            {"default_query": {"api_key": KEY}},
            {"default_query": {"key": KEY}},
            {"default_headers": {"Cookie": f"session={KEY}; a=b"}},
            {"default_headers": {"X-Gateway-Token": KEY}},
            {
                "default_headers": {
                    "Authorization": f"Basic {base64.b64encode(KEY.encode()).decode()}"
                }
            },
        ],
        ids=["query", "key in the query", "cookie", "gateway", "basic"],
    )
    def test_in_headers_and_addresses(self, given: Any, tmp_path: Path, how: str) -> None:
        refused = (401, {"error": {"message": f"who is {KEY}?"}})
        with (
            serving(lambda request: refused) as server,
            recorded(how, server, tmp_path, **given) as client,
            pytest.raises(openai.AuthenticationError),
        ):
            client.chat.completions.create(model="m", messages=SAID)
        assert [v.name for v in Told(tmp_path / DB[how]).verdicts] == ["exact"]
        assert not files_with(tmp_path, KEY)

    @either
    @pytest.mark.parametrize("name", ["sig", "code", "X-Amz-Signature"])
    def test_in_an_address_that_is_told_as_it_was_written(
        self, name: str, tmp_path: Path, how: str
    ) -> None:
        key = f"{KEY}/+="

        def refused(request: Any) -> Any:
            return (404, {"error": {"message": f"there is no {server.seen[-1][1]} for {key}"}})

        with (
            serving(refused) as server,
            recorded(how, server, tmp_path, default_query={name: key}) as client,
            pytest.raises(openai.NotFoundError, match="%2F"),
        ):
            client.chat.completions.create(model="m", messages=SAID)
        assert not files_with(tmp_path, KEY)

    @either
    @pytest.mark.parametrize(
        "fields",
        [
            {"api_key": KEY},
            {"extra_headers": {"Authorization": f"Bearer {KEY}"}},
            {"metadata": {"gateway_token": KEY}},
            {"web": {"url": f"https://user:{KEY}@example.com/?q={KEY}"}},
            {"tools": [{"type": "mcp", "server_label": "x", "server_url": "https://e.com/mcp",
                        "authorization": KEY, "headers": {"X-Any": KEY}}]},
        ],
        ids=["field", "headers", "metadata", "address", "mcp"],
    )  # fmt: skip
    def test_among_the_parameters(self, fields: Any, tmp_path: Path, how: str) -> None:
        """The call went out as it was, and what is known of it is less than that."""
        with serving() as server, recorded(how, server, tmp_path) as client:
            said: Any = list(SAID)
            for turn in range(3):
                found = client.chat.completions.create(model="m", messages=said, extra_body=fields)
                said += [found.choices[0].message, {"role": "user", "content": str(turn)}]
        assert all(KEY.encode() in body for body in server.bodies)
        told = Told(tmp_path / DB[how])
        assert not files_with(tmp_path, KEY)
        assert {v.name for v in told.verdicts} <= {"rebuilt", "partial"}
        assert [len(body["messages"]) for body in told.bodies] == [1, 3, 5]
        assert not told.of("context_compacted")
        assert told.types()["tools_declared"] == ("tools" in fields)

    def test_of_anthropic(self, tmp_path: Path) -> None:
        servers = [{"type": "url", "url": "https://e.com", "authorization_token": KEY}]
        error = {"type": "error", "error": {"type": "authentication_error", "message": f"no {KEY}"}}
        with serving(lambda request: (401, error)) as server:
            url = server.url.removesuffix("/v1")
            given = anthropic.Anthropic(api_key=KEY, base_url=url, max_retries=0)
            recorder = Recorder(tmp_path / "log.db", session="s")
            with wrap(given, recorder) as client, pytest.raises(anthropic.AuthenticationError):
                client.messages.create(
                    model="m", max_tokens=5, messages=SAID, extra_body={"mcp_servers": servers}
                )
            recorder.close()
        assert not files_with(tmp_path, KEY)
