"""A client that is recorded behaves as one that is not, and every call of it is in the log."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import brotli
import openai
import pytest
from model_server import ModelServer, Sse, chunk, completion, nowhere, serving
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel
from recorded_calls_of import Told

from eventlog.errors import InputRefused
from harness.recording import Recorder, session, wrap
from projections import open_log

HI: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi é"}]
ASK: dict[str, Any] = {"model": "m", "messages": HI}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}}
]


class City(BaseModel):
    name: str


def tool_call(number: int = 1, arguments: str = '{"n": 1}') -> dict[str, Any]:
    return {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": "run", "arguments": arguments},
    }


def streamed(*, usage: bool = True, choices: int = 1) -> Sse:
    """A text in pieces."""
    events: list[Any] = [chunk(role="assistant", content="", choice=n) for n in range(choices)]
    for n in range(choices):
        events += [chunk(content="Hel", choice=n), chunk(content=f"lo {n}", choice=n)]
        events.append(chunk(finish="stop", choice=n))
    if usage:
        events.append({**chunk(), "choices": [], "usage": completion()["usage"]})
    return Sse(tuple(events))


def streamed_calls() -> Sse:
    """Two tool calls in pieces, mixed."""

    def piece(index: int, **function: Any) -> Any:
        more = {"id": f"call_{index}", "type": "function"} if "name" in function else {}
        return chunk(tool_calls=[{"index": index, **more, "function": function}])

    return Sse(
        (
            chunk(role="assistant", content=None),
            piece(0, name="run", arguments=""),
            piece(0, arguments='{"n"'),
            piece(1, name="run", arguments=""),
            piece(0, arguments=": 1}"),
            piece(1, arguments='{"n": 2}'),
            chunk(finish="tool_calls"),
        )
    )


def answer(request: dict[str, Any]) -> Any:
    """What the scripted server says to each surface."""
    said = request["messages"][-1].get("content")
    match said:
        case "refuse":
            return 400, {"error": {"message": "no such model", "type": "invalid_request_error"}}
        case "fail":
            return 500, {"error": {"message": "overloaded"}}
        case "broken":
            return b"{not json"
        case "html":
            return b"<html></html>"
    if request.get("stream"):
        return streamed_calls() if request.get("tools") else streamed(choices=request.get("n", 1))
    found = completion('{"name": "Paris"}' if request.get("response_format") else "hello")
    if request.get("tools"):
        found = completion(None, finish="tool_calls", tool_calls=[tool_call(1), tool_call(2)])
    if request.get("n"):
        one = found["choices"][0]
        found["choices"] = [{**one, "index": n} for n in range(request["n"])]
    return found


def saying(text: str) -> dict[str, Any]:
    return {**ASK, "messages": [*HI, {"role": "user", "content": text}]}


def shown(value: Any) -> Any:
    """A value of a client with its type, to be compared with that of another client."""
    if isinstance(value, BaseModel):
        return type(value), value.model_dump(warnings=False), getattr(value, "_request_id", None)
    if isinstance(value, openai.APIError):
        return type(value), str(value), value.body
    if isinstance(value, list | tuple):
        return [shown(each) for each in value]
    return type(value), getattr(value, "__dict__", None) or value


# -- surfaces --------------------------------------------------------------------------------------

Surface = Callable[[OpenAI], Any]


def create(client: OpenAI) -> Any:
    return client.chat.completions.create(**ASK)


def create_many(client: OpenAI) -> Any:
    return client.chat.completions.create(**ASK, n=3)


def create_tools(client: OpenAI) -> Any:
    return client.chat.completions.create(**ASK, tools=TOOLS)


def parse(client: OpenAI) -> Any:
    found = client.chat.completions.parse(**ASK, response_format=City)
    assert found.choices[0].message.parsed == City(name="Paris")
    return found


def iterate(client: OpenAI) -> Any:
    return list(client.chat.completions.create(**ASK, stream=True))


def iterate_usage(client: OpenAI) -> Any:
    return list(
        client.chat.completions.create(**ASK, stream=True, stream_options={"include_usage": True})
    )


def iterate_many(client: OpenAI) -> Any:
    return list(client.chat.completions.create(**ASK, stream=True, n=3))


def iterate_tools(client: OpenAI) -> Any:
    return list(client.chat.completions.create(**ASK, stream=True, tools=TOOLS))


def iterate_in_context(client: OpenAI) -> Any:
    with client.chat.completions.create(**ASK, stream=True) as stream:
        return [next(stream), *stream]


def stream_helper(client: OpenAI) -> Any:
    with client.chat.completions.stream(**ASK) as stream:
        return [event.type for event in stream], stream.get_final_completion()


def raw(client: OpenAI) -> Any:
    found = client.chat.completions.with_raw_response.create(**ASK)
    return found.status_code, found.headers["content-type"], found.text, found.parse()


def streaming_lines(client: OpenAI) -> Any:
    with client.chat.completions.with_streaming_response.create(**ASK, stream=True) as found:
        return found.status_code, list(found.iter_lines())


def streaming_bytes(client: OpenAI) -> Any:
    with client.chat.completions.with_streaming_response.create(**ASK) as found:
        return b"".join(found.iter_bytes())


def with_options(client: OpenAI) -> Any:
    return client.with_options(timeout=7, max_retries=0).chat.completions.create(**ASK)


def refused(client: OpenAI) -> Any:
    with pytest.raises(openai.BadRequestError) as found:
        client.chat.completions.create(**saying("refuse"))
    return found.value


def failed(client: OpenAI) -> Any:
    with pytest.raises(openai.InternalServerError) as found:
        client.chat.completions.create(**saying("fail"))
    return found.value


def not_json(client: OpenAI) -> Any:
    with pytest.raises(ValueError, match="property name"):
        client.chat.completions.create(**saying("broken"))


SURFACES = [
    create,
    create_many,
    create_tools,
    parse,
    iterate,
    iterate_usage,
    iterate_many,
    iterate_tools,
    iterate_in_context,
    stream_helper,
    raw,
    streaming_lines,
    streaming_bytes,
    with_options,
    refused,
    failed,
    not_json,
]


def sent_to(server: ModelServer) -> list[Any]:
    """What a server got, without what is of the connection."""
    kept = ("authorization", "content-type", "x-stainless-retry-count", "x-ctxlog-session")
    headers = [{k: h.get(k) for k in kept} for h in server.received]
    return list(zip(server.bodies, headers, strict=True))


class TestEverySurface:
    """What a client returns, and what it sends, is the same."""

    @pytest.mark.parametrize("surface", SURFACES, ids=lambda s: s.__name__)
    def test_it_gives_what_an_unrecorded_client_gives(
        self, tmp_path: Path, surface: Surface
    ) -> None:
        path = tmp_path / "log.db"
        with serving(answer) as plain, plain.client() as client:
            expected = shown(surface(client))
        with serving(answer) as server, server.client() as client:
            recorder = Recorder(path, session="s")
            assert wrap(client, recorder) is client
            assert shown(surface(client)) == expected
            assert sent_to(server) == sent_to(plain)
            recorder.close()
        told = Told(path)
        told.check(server.requests)
        ended = told.types()["model_responded"] + told.types()["model_failed"]
        assert ended == len(server.requests) == 1

    def test_what_was_answered_is_there_whole(self, tmp_path: Path) -> None:
        for number, surface in enumerate((create_tools, iterate_tools)):
            path = tmp_path / f"{number}.db"
            with serving(answer) as server, server.client() as client:
                recorder = Recorder(path, session="s")
                surface(wrap(client, recorder))
                recorder.close()
            said = Told(path).of("message_appended")[-1]
            calls = said["message"]["tool_calls"]
            assert [c["id"] for c in calls] in (["call_1", "call_2"], ["call_0", "call_1"])
            assert calls[0]["function"]["arguments"] == '{"n": 1}'
            assert said["call"] == 5

    def test_choices_beyond_the_first_are_alternatives(self, tmp_path: Path) -> None:
        for number, surface in enumerate((create_many, iterate_many)):
            path = tmp_path / f"{number}.db"
            with serving(answer) as server, server.client() as client:
                recorder = Recorder(path, session="s")
                surface(wrap(client, recorder))
                recorder.close()
            (ended,) = Told(path).of("model_responded")
            assert [a["index"] for a in ended["alternatives"]] == [1, 2]
            assert ended["finish_reason"] == "stop"
            assert ended["usage"]["cached"] == 40


class TestWhatGoesWrong:
    """A call that failed is one that failed, with what is known of it."""

    def test_each_attempt_of_a_retry_is_a_call(self, tmp_path: Path) -> None:
        statuses = iter([429, 500, 200])

        def flaky(request: dict[str, Any]) -> Any:
            status = next(statuses)
            return completion() if status == 200 else (status, {"error": {"message": "later"}})

        with serving(flaky, {"retry-after-ms": "1"}) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(max_retries=3), recorder)
            client.chat.completions.create(**ASK)
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        assert [f["status"] for f in told.of("model_failed")] == [429, 500]
        assert told.types()["session_rewound"] == 0
        assert len(told.events) == 1

    def test_an_error_that_a_client_asks_again_after_without_a_look_goes_by_its_status(
        self, tmp_path: Path
    ) -> None:
        statuses = iter([429, 500, 200])

        def flaky(request: dict[str, Any]) -> Any:
            status = next(statuses)
            return streamed() if status == 200 else (status, {"error": {"message": "later"}})

        with serving(flaky, {"retry-after-ms": "1"}) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(max_retries=3), recorder)
            assert list(client.chat.completions.create(**ASK, stream=True))
            recorder.close()
        failed = Told(tmp_path / "log.db").of("model_failed")
        assert [(f["error"], f["status"]) for f in failed] == [("HTTP 429", 429), ("HTTP 500", 500)]

    def test_a_timeout(self, tmp_path: Path) -> None:
        def slow(request: dict[str, Any]) -> Any:
            time.sleep(0.6)
            return completion()

        with serving(slow) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(timeout=0.2), recorder)
            with pytest.raises(openai.APITimeoutError):
                client.chat.completions.create(**ASK)
            recorder.close()
        (failed,) = Told(tmp_path / "log.db").of("model_failed")
        assert failed["error"].startswith("ReadTimeout")

    def test_a_server_that_there_is_not(self, tmp_path: Path) -> None:
        recorder = Recorder(tmp_path / "log.db", session="s")
        client = wrap(OpenAI(api_key="k", base_url=nowhere(), max_retries=0), recorder)
        with pytest.raises(openai.APIConnectionError):
            client.chat.completions.create(**ASK)
        recorder.close()
        told = Told(tmp_path / "log.db")
        told.check([ASK])
        assert told.of("model_failed")[0]["error"].startswith("ConnectError")

    def test_what_a_provider_says_of_a_refusal(self, tmp_path: Path) -> None:
        with serving(answer) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            refused(wrap(server.client(), recorder))
            recorder.close()
        (found,) = Told(tmp_path / "log.db").of("model_failed")
        assert found["status"] == 400
        assert found["error"] == "invalid_request_error: no such model"

    @pytest.mark.parametrize("how", ["closed", "dropped", "context", "cut"])
    def test_a_stream_that_nobody_reads_to_its_end(self, tmp_path: Path, how: str) -> None:
        def pieces(request: dict[str, Any]) -> Any:
            if how == "cut":
                return Sse((chunk(role="assistant", content="Hel"),), done=False)
            return Sse((chunk(role="assistant", content="Hel"), 0.3, chunk(content="lo")))

        with serving(pieces) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(), recorder)
            stream = client.chat.completions.create(**ASK, stream=True)
            assert next(stream).choices[0].delta.content == "Hel"
            if how == "closed":
                stream.close()
            elif how == "context":
                with stream:
                    pass
            elif how == "cut":
                assert not list(stream)
            del stream
            gc.collect()
            follow = client.chat.completions.create(**{**ASK, "messages": HI}, stream=True)
            follow.close()
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        assert len(told.events) == 1, "it goes on in the same session"
        failed = told.of("model_failed")[0]
        assert failed["error"] == "the stream ended before the answer did"
        assert failed["partial"]["message"]["content"] == "Hel"

    def test_a_stream_with_an_error_in_it(self, tmp_path: Path) -> None:
        events = (chunk(role="assistant", content="a"), {"error": {"message": "overloaded"}})
        with serving(lambda request: Sse(events)) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(), recorder)
            with pytest.raises(openai.APIError):
                list(client.chat.completions.create(**ASK, stream=True))
            recorder.close()
        assert Told(tmp_path / "log.db").of("model_failed")[0]["error"] == "overloaded"

    def test_what_is_no_client_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputRefused, match="no client of openai"):
            wrap(object(), tmp_path / "log.db")
        client = OpenAI(api_key="k", base_url=nowhere())
        recorder = Recorder(tmp_path / "log.db")
        assert wrap(client, recorder) is client
        for log, settings in (
            (Recorder(tmp_path / "log.db"), {}),
            (tmp_path / "other.db", {}),
            (tmp_path / "log.db", {"session": "s"}),
            (tmp_path / "log.db", {"on_error": "raise"}),
        ):
            with pytest.raises(InputRefused, match=r"recorded already, into \S+log\.db;"):
                wrap(client, log, **settings)
            if isinstance(log, Recorder):
                log.close()
        assert not (tmp_path / "other.db").exists()
        recorder.close()

    def test_what_is_recorded_so_already_stays_as_it_is(self, tmp_path: Path) -> None:
        with serving() as server, open_log(tmp_path / "log.db") as live:
            client = wrap(server.client(), tmp_path / "log.db", session="s")
            copy = client.with_options(max_retries=0)
            assert wrap(client, live, session="local/recorded/s") is client
            assert wrap(copy, str(tmp_path / "log.db"), session="s") is copy
            copy.chat.completions.create(**ASK)
            client.close()
            Told(tmp_path / "log.db").check(server.requests)

    @pytest.mark.parametrize("name", ["-x", "--", "ann/bot/-x", "a@c1", "a@k2^", "ann/bot/x@12"])
    def test_a_name_that_could_not_be_typed_is_refused(self, name: str, tmp_path: Path) -> None:
        client = OpenAI(api_key="k", base_url=nowhere())
        why = "cannot end like a place" if "@" in name else "cannot begin with '-'"
        with pytest.raises(InputRefused, match=why):
            wrap(client, tmp_path / "log.db", session=name)
        with pytest.raises(InputRefused, match=why), session(name):
            pass

    def test_a_name_may_hold_an_address(self) -> None:
        with session("ann@example.org") as key:
            assert key.session == "ann@example.org"

    def test_a_client_whose_calls_are_not_known_is_refused(self, tmp_path: Path) -> None:
        """It would be taken, and nothing of it recorded."""
        client = anthropic.AnthropicVertex(region="r", project_id="p", access_token="t")
        with client, pytest.raises(InputRefused, match="AnthropicVertex"):
            wrap(client, tmp_path / "log.db")


def test_the_package_names_it_and_loads_nothing_before() -> None:
    code = (
        "import sys, harness\n"
        "assert not {'openai', 'sqlite3', 'anthropic'} & set(sys.modules)\n"
        "from harness import RecordingWarning, session, wrap\n"
        "assert 'anthropic' not in sys.modules\n"
        "assert wrap.__module__ == 'harness.recording.wrapping'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class TestAwaited:
    """The same, awaited."""

    def client(self, server: ModelServer, **settings: Any) -> AsyncOpenAI:
        return AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0, **settings)

    def test_every_surface_gives_the_same(self, tmp_path: Path) -> None:
        async def surfaces(client: AsyncOpenAI) -> list[Any]:
            completions = client.chat.completions
            found: list[Any] = [
                await completions.create(**ASK),
                await completions.create(**ASK, n=3),
                await completions.create(**ASK, tools=TOOLS),
                await completions.parse(**ASK, response_format=City),
                [c async for c in await completions.create(**ASK, stream=True)],
                [c async for c in await completions.create(**ASK, stream=True, tools=TOOLS)],
            ]
            async with completions.stream(**ASK) as stream:
                found.append([event.type async for event in stream])
                found.append(await stream.get_final_completion())
            raw = await completions.with_raw_response.create(**ASK)
            found.append([raw.status_code, raw.parse()])
            async with completions.with_streaming_response.create(**ASK, stream=True) as lines:
                found.append([line async for line in lines.iter_lines()])
            found.append(await client.with_options(timeout=9).chat.completions.create(**ASK))
            with pytest.raises(openai.BadRequestError) as refusal:
                await completions.create(**saying("refuse"))
            found.append(refusal.value)
            await client.close()
            return [shown(each) for each in found]

        with serving(answer) as plain:
            expected = asyncio.run(surfaces(self.client(plain)))
        with serving(answer) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            assert asyncio.run(surfaces(wrap(self.client(server), recorder))) == expected
            assert sent_to(server) == sent_to(plain)
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        assert told.types()["model_responded"] == 10
        assert told.types()["model_failed"] == 1

    @pytest.mark.parametrize("after", [0.0, 0.15])
    def test_a_task_that_is_cancelled(self, tmp_path: Path, after: float) -> None:
        def slow(request: dict[str, Any]) -> Any:
            time.sleep(0.4 if len(request["messages"]) == 2 else 0)
            return completion()

        async def run(client: AsyncOpenAI) -> None:
            task = asyncio.create_task(client.chat.completions.create(**ASK))
            await asyncio.sleep(after)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await client.chat.completions.create(**saying("go on"))
            await client.close()

        with serving(slow) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            asyncio.run(run(wrap(self.client(server), recorder)))
            recorder.close()
        told = Told(tmp_path / "log.db")
        assert {v.name for v in told.verdicts} == {"exact"}
        assert not any(v.outcome_unknown for v in told.verdicts)
        assert len(told.events) == 1

    def test_a_stream_that_is_left(self, tmp_path: Path) -> None:
        async def run(client: AsyncOpenAI) -> None:
            async for piece in await client.chat.completions.create(**ASK, stream=True):
                assert piece.choices[0].delta.content == ""
                break
            stream = await client.chat.completions.create(**saying("go on"), stream=True)
            await stream.close()
            await client.close()

        pieces = Sse((chunk(role="assistant", content=""), 0.3, chunk(content="lo")))
        with serving(lambda request: pieces) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            asyncio.run(run(wrap(self.client(server), recorder)))
            gc.collect()
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        assert told.types()["model_failed"] == 2


class TestAConversation:
    """Answers are sent back in three ways; no decision is read into that."""

    @pytest.mark.parametrize(
        ("how", "is_streamed"),
        [("object", True), ("dump", False), ("without nulls", True),
         pytest.param("object", False, marks=pytest.mark.slow),
         pytest.param("dump", True, marks=pytest.mark.slow),
         pytest.param("without nulls", False, marks=pytest.mark.slow)],
    )  # fmt: skip
    def test_fifty_calls_are_exact(self, tmp_path: Path, how: str, is_streamed: bool) -> None:
        def scripted(request: dict[str, Any]) -> Any:
            if request.get("stream"):
                return streamed_calls()
            number = len(request["messages"])
            calls = [tool_call(number), tool_call(number + 1)]
            return completion(None, finish="tool_calls", tool_calls=calls, refusal=None)

        with serving(scripted) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(), recorder)
            messages = [*HI]
            for _ in range(50):
                if is_streamed:
                    with client.chat.completions.stream(
                        model="m", messages=messages, tools=TOOLS
                    ) as stream:
                        for _event in stream:
                            pass
                        said = stream.get_final_completion().choices[0].message
                else:
                    said = (
                        client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
                        .choices[0]
                        .message
                    )
                back: Any = said
                if how != "object":
                    back = said.model_dump(exclude_none=how == "without nulls")
                    for each in back.get("tool_calls") or ():
                        each["function"].pop("parsed_arguments", None)
                    back.pop("parsed", None)
                messages.append(back)
                for call in said.tool_calls or ():
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": "ok"})
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        assert set(told.types()) == {
            "session_started",
            "message_appended",
            "tool_result_recorded",
            "tools_declared",
            "model_called",
            "model_responded",
        }
        assert told.types()["model_called"] == 50
        assert told.types()["message_appended"] == 52

    def test_sessions_are_named_by_a_block_a_header_and_a_client(self, tmp_path: Path) -> None:
        with serving(answer) as server:
            recorder = Recorder(tmp_path / "log.db", session="client")
            client = wrap(server.client(), recorder)
            create(client)
            with session("block"):
                create(client)
                with session("block.inner"):
                    create(client)
            client.chat.completions.create(**ASK, extra_headers={"X-Ctxlog-Session": "u/a/header"})
            recorder.close()
            assert all("x-ctxlog-session" not in h for h in server.received)
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        parents = {
            name: found[0].data.get("parent_session", "") for name, found in told.events.items()
        }
        assert parents == {
            "client": "",
            "block": "local/recorded/client",
            "block.inner": "local/recorded/block",
            "header": "local/recorded/client",
        }


class TestASqueezedAnswer:
    """The recorder unpacks for itself, and no more than it keeps."""

    @pytest.mark.parametrize(("coding", "pack"), [("gzip", gzip.compress), ("br", brotli.compress)])
    def test_it_is_recorded_as_what_it_says(
        self, coding: str, pack: Callable[[bytes], bytes], tmp_path: Path
    ) -> None:
        sent = pack(json.dumps(completion("squeezed")).encode())
        with serving(lambda _: sent, {"content-encoding": coding}) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(), recorder)
            assert client.chat.completions.create(**ASK).choices[0].message.content == "squeezed"
            assert coding in server.received[0]["accept-encoding"]
            recorder.close()
        (said,) = (m for m in Told(tmp_path / "log.db").of("message_appended") if "call" in m)
        assert said["message"]["content"] == "squeezed"

    def test_one_that_cannot_be_unpacked_is_told(
        self, tmp_path: Path, without_libraries: None
    ) -> None:
        sent = brotli.compress(json.dumps(completion("squeezed")).encode())
        with serving(lambda _: sent, {"content-encoding": "br"}) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(), recorder)
            assert client.chat.completions.create(**ASK).choices[0].message.content == "squeezed"
            recorder.close()
        (failed,) = Told(tmp_path / "log.db").of("model_failed")
        assert "the coding 'br', which cannot be undone here" in failed["error"]

    def test_one_that_unpacks_to_too_much_is_told(self, tmp_path: Path) -> None:
        sent = gzip.compress(json.dumps(completion(" " * (70 << 20))).encode())
        with serving(lambda _: sent, {"content-encoding": "gzip"}) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(), recorder)
            assert len(client.chat.completions.create(**ASK).choices[0].message.content) == 70 << 20
            recorder.close()
        (failed,) = Told(tmp_path / "log.db").of("model_failed")
        assert "more than is kept" in failed["error"]
