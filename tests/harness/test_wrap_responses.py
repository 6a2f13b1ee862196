"""OpenAI's Responses API, recorded: one answer of many items, which come back one by one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, Sse, serving
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel
from recorded_calls_of import Told

from harness.recording import Recorder, wrap

TOOLS: list[Any] = [{"type": "function", "name": "run", "parameters": {"type": "object"}}]


class City(BaseModel):
    name: str


def message(text: str) -> dict[str, Any]:
    content = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {
        "id": "msg_1",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [content],
    }


def response(number: int, *output: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1.0,
        "status": "completed",
        "model": "m-2026",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "output": list(output),
        "usage": {
            "input_tokens": 9,
            "input_tokens_details": {"cached_tokens": 4},
            "output_tokens": 3,
            "output_tokens_details": {"reasoning_tokens": 1},
            "total_tokens": 12,
        },
        **more,
    }


def answer(request: dict[str, Any]) -> Any:
    """Reasoning, a text and two calls where there are tools; else a text."""
    number = len(request.get("input", ""))
    if "text" in request:
        whole = response(number, message('{"name": "Paris"}'))
    elif "tools" in request:
        calls = [
            {
                "id": f"fc_{number}_{n}",
                "type": "function_call",
                "status": "completed",
                "call_id": f"call_{number}_{n}",
                "name": "run",
                "arguments": f'{{"n": {n}}}',
            }
            for n in range(2)
        ]
        reasoning = {
            "id": f"rs_{number}",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "hm"}],
            "encrypted_content": "gAAA",
        }
        whole = response(number, reasoning, message(f"I run {number}"), *calls)
    else:
        whole = response(number, message("hello"))
    return streamed(whole) if request.get("stream") else whole


def streamed(whole: dict[str, Any]) -> Sse:
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index}
        started = {**item, "content": []} if "content" in item else item
        events.append({"type": "response.output_item.added", **place, "item": started})
        if item["type"] == "message":
            part = item["content"][0]
            where = {"item_id": item["id"], **place, "content_index": 0}
            empty = {**part, "text": ""}
            events.append({"type": "response.content_part.added", **where, "part": empty})
            for text in (part["text"][:2], part["text"][2:]):
                delta = {"delta": text, "logprobs": []}
                events.append({"type": "response.output_text.delta", **where, **delta})
            done = {"text": part["text"], "logprobs": []}
            events.append({"type": "response.output_text.done", **where, **done})
            events.append({"type": "response.content_part.done", **where, "part": part})
        events.append({"type": "response.output_item.done", **place, "item": item})
    events.append({"type": "response.completed", "response": whole})
    numbered = [{**event, "sequence_number": n} for n, event in enumerate(events)]
    return Sse(tuple(numbered), done=False, named=True)


ASK: dict[str, Any] = {"model": "m", "input": "hi é", "instructions": "Be brief."}


class TestEverySurface:
    """What a client returns is the same."""

    def test_it_gives_what_an_unrecorded_client_gives(self, tmp_path: Path) -> None:
        def surfaces(client: OpenAI) -> list[Any]:
            made = client.responses
            found: list[Any] = [
                made.create(**ASK).model_dump(),
                made.create(**ASK, tools=TOOLS).model_dump(),
                made.parse(**ASK, text_format=City).model_dump(warnings=False),
                [e.model_dump() for e in made.create(**ASK, stream=True, tools=TOOLS)],
            ]
            with made.stream(**ASK) as stream:
                found += [event.type for event in stream]
                found.append(stream.get_final_response().model_dump(warnings=False))
            raw = made.with_raw_response.create(**ASK)
            found += [raw.status_code, raw.parse().model_dump()]
            return found

        with serving(answer) as plain:
            expected = surfaces(plain.client())
        with serving(answer) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            assert surfaces(wrap(server.client(), recorder)) == expected
            assert server.bodies == plain.bodies
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        assert told.types()["model_responded"] == 6
        assert told.of("model_responded")[0]["usage"]["cached"] == 4

    def test_awaited(self, tmp_path: Path) -> None:
        async def surfaces(client: AsyncOpenAI) -> list[Any]:
            made = client.responses
            found: list[Any] = [(await made.create(**ASK)).model_dump()]
            found += [e.model_dump() async for e in await made.create(**ASK, stream=True)]
            async with made.stream(**ASK, tools=TOOLS) as stream:
                found += [event.type async for event in stream]
            await client.close()
            return found

        def client(server: ModelServer) -> AsyncOpenAI:
            return AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0)

        with serving(answer) as plain:
            expected = asyncio.run(surfaces(client(plain)))
        with serving(answer) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            assert asyncio.run(surfaces(wrap(client(server), recorder))) == expected
            recorder.close()
        Told(tmp_path / "log.db").check(server.requests)


def run(tmp_path: Path, back: Any, turns: int = 12, *, is_streamed: bool = False) -> Told:
    """A conversation whose answers are sent back as ``back`` does."""
    with serving(answer) as server:
        recorder = Recorder(tmp_path / "log.db", session="s")
        client = wrap(server.client(), recorder)
        given: list[Any] = [{"role": "user", "content": "begin"}]
        for turn in range(turns):
            request: dict[str, Any] = {"model": "m", "input": given, "tools": TOOLS}
            if is_streamed:
                with client.responses.stream(**request) as stream:
                    said = stream.get_final_response()
            else:
                said = client.responses.create(**request)
            given += back(said)
            if turn % 3 == 2:
                given.append({"role": "user", "content": f"go on {turn}"})
        recorder.close()
    told = Told(tmp_path / "log.db")
    told.check(server.requests)
    assert len(told.events) == 1
    return told


def outputs(said: Any) -> list[Any]:
    return [
        {"type": "function_call_output", "call_id": item.call_id, "output": "ok"}
        for item in said.output
        if item.type == "function_call"
    ]


DECISIONS = {"message_revised", "context_compacted", "placeholder_substituted", "session_rewound"}


class TestAnswersSentBack:
    """Each item of an answer is an entry of the next request."""

    @pytest.mark.parametrize("is_streamed", [False, True])
    @pytest.mark.parametrize("how", ["object", "dump", "without nulls"])
    def test_whole(self, tmp_path: Path, how: str, is_streamed: bool) -> None:
        def back(said: Any) -> list[Any]:
            items = said.output
            if how != "object":
                items = [
                    i.model_dump(exclude_none=how == "without nulls", warnings=False) for i in items
                ]
            return [*items, *outputs(said)]

        told = run(tmp_path, back, is_streamed=is_streamed)
        assert not DECISIONS & set(told.types())
        call = told.of("model_called")[1]
        assert call["manifest"][:5] == ["=1", "5/0", "5/1", "5/2", "5/3"]
        assert told.types()["message_appended"] == 1 + 12 + 3

    def test_without_its_reasoning(self, tmp_path: Path) -> None:
        told = run(
            tmp_path,
            lambda said: [*(i for i in said.output if i.type != "reasoning"), *outputs(said)],
        )
        decisions = {k: n for k, n in told.types().items() if k in DECISIONS}
        assert decisions == {"message_revised": 11}
        revised = told.of("message_revised")[0]
        assert revised["inferred"]
        kinds = [item["type"] for item in revised["message"]["items"]]
        assert kinds == ["message", "function_call", "function_call"]

    def test_with_its_text_as_a_message_of_the_client_s(self, tmp_path: Path) -> None:
        def back(said: Any) -> list[Any]:
            calls = [i for i in said.output if i.type == "function_call"]
            return [{"role": "assistant", "content": said.output_text}, *calls, *outputs(said)]

        told = run(tmp_path, back)
        decisions = {k: n for k, n in told.types().items() if k in DECISIONS}
        assert decisions == {"message_revised": 11}

    def test_each_call_with_its_result(self, tmp_path: Path) -> None:
        def back(said: Any) -> list[Any]:
            *items, first, second = said.output
            one, other = outputs(said)
            return [*items, first, one, second, other]

        told = run(tmp_path, back, 4)
        assert "context_compacted" not in told.types()

    def test_not_at_all(self, tmp_path: Path) -> None:
        told = run(tmp_path, lambda said: [{"role": "user", "content": "go on"}], 4)
        assert told.types()["context_compacted"] + told.types()["session_rewound"] > 0

    def test_a_cleared_result_and_an_answer_that_left(self, tmp_path: Path) -> None:
        with serving(answer) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(), recorder)
            given: list[Any] = [{"role": "user", "content": "begin"}]
            for _ in range(4):
                said = client.responses.create(model="m", input=given, tools=TOOLS)
                given = [*given, *said.output, *outputs(said)]
            cleared = [
                {**i, "output": "[cleared]"} if isinstance(i, dict) and "output" in i else i
                for i in given
            ]
            client.responses.create(model="m", input=cleared, tools=TOOLS)
            client.responses.create(model="m", input=[given[0], *cleared[13:]], tools=TOOLS)
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        decisions = {k: n for k, n in told.types().items() if k in DECISIONS}
        # The results of the last turn were cleared before they were ever sent. What left at one
        # moment is one decision, the answer at the end with it.
        assert decisions == {"placeholder_substituted": 6, "context_compacted": 1}


class TestWhatTheProviderCompletes:
    """Such a request is never said to be exactly seen."""

    @pytest.mark.parametrize(
        ("more", "named"),
        [
            ({"previous_response_id": "resp_1"}, "previous_response_id"),
            ({"conversation": "conv_1"}, "conversation"),
            ({"prompt": {"id": "pmpt_1"}}, "prompt"),
            ({"truncation": "auto"}, "truncation"),
            ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "item_reference"),
        ],
    )
    def test_it_is_partial(self, tmp_path: Path, more: dict[str, Any], named: str) -> None:
        with serving(answer) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(), recorder)
            client.responses.create(**{**ASK, **more})
            client.responses.create(**{**ASK, **more})
            recorder.close()
        told = Told(tmp_path / "log.db")
        assert [v.name for v in told.verdicts] == ["partial", "partial"]
        assert [c["server_edited"] for c in told.of("model_called")] == [[named]] * 2
        assert told.bodies == server.requests

    def test_truncation_that_is_off_edits_nothing(self, tmp_path: Path) -> None:
        with serving(answer) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            wrap(server.client(), recorder).responses.create(**ASK, truncation="disabled")
            recorder.close()
        Told(tmp_path / "log.db").check(server.requests)
