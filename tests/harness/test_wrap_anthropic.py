"""Anthropic's clients, recorded."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, Sse, serving
from recorded_calls_of import Told

from eventlog.errors import LogClosed
from harness.recording import Recorder, wrap

anthropic = pytest.importorskip("anthropic")

MARK = {"cache_control": {"type": "ephemeral"}}
TOOLS: list[Any] = [{"name": "run", "input_schema": {"type": "object"}}]


def message(number: int, *blocks: Any, stop: str = "end_turn") -> dict[str, Any]:
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "claude-x-2026",
        "content": list(blocks),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 3, "cache_read_input_tokens": 5},
    }


def answer(request: dict[str, Any]) -> Any:
    """Thinking and two tool calls, whole or streamed."""
    number = len(request["messages"])
    blocks: list[dict[str, Any]] = []
    if "thinking" in request:
        blocks.append({"type": "thinking", "thinking": f"hm {number}", "signature": "c2ln"})
    blocks.append({"type": "text", "text": f"I run {number}"})
    if "tools" in request:
        for n in range(2):
            call = {"type": "tool_use", "id": f"toolu_{number}_{n}", "name": "run"}
            blocks.append({**call, "input": {"n": n}})
    whole = message(number, *blocks, stop="tool_use" if "tools" in request else "end_turn")
    return streamed(whole) if request.get("stream") else whole


def streamed(whole: dict[str, Any]) -> Sse:
    """The same, in pieces."""
    events: list[Any] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "ping"},
    ]
    for index, block in enumerate(whole["content"]):
        empty = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}}
        start = {**block, **empty.get(block["type"], {"input": {}})}
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        deltas: list[dict[str, Any]] = []
        match block["type"]:
            case "text":
                text = block["text"]
                deltas = [{"type": "text_delta", "text": part} for part in (text[:3], text[3:])]
            case "thinking":
                deltas.append({"type": "thinking_delta", "thinking": block["thinking"]})
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            case _:
                parts = ('{"n":', f" {block['input']['n']}}}")
                deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
        events += [{"type": "content_block_delta", "index": index, "delta": d} for d in deltas]
        events.append({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 3}})
    events.append({"type": "message_stop"})
    return Sse(tuple(events), done=False, named=True)


def client(server: ModelServer, kind: str = "Anthropic", **settings: Any) -> Any:
    address = server.url.removesuffix("/v1")
    settings = {"api_key": "k", "max_retries": 0, **settings}
    return getattr(anthropic, kind)(base_url=address, **settings)


ASK: dict[str, Any] = {
    "model": "claude-x",
    "max_tokens": 99,
    "messages": [{"role": "user", "content": "hi é"}],
}


class TestEverySurface:
    """What a client returns is the same."""

    @pytest.mark.parametrize("more", [{}, {"tools": TOOLS}, {"thinking": {"type": "adaptive"}}])
    def test_it_gives_what_an_unrecorded_client_gives(
        self, tmp_path: Path, more: dict[str, Any]
    ) -> None:
        def surfaces(made: Any) -> list[Any]:
            found = [made.messages.create(**ASK, **more).model_dump()]
            found += [e.model_dump() for e in made.messages.create(**ASK, **more, stream=True)]
            with made.messages.stream(**ASK, **more) as stream:
                found += [event.model_dump() for event in stream]
                found.append(stream.get_final_message().model_dump())
            with made.messages.stream(**ASK, **more) as stream:
                found.append(list(stream.text_stream))
            raw = made.messages.with_raw_response.create(**ASK, **more)
            found += [raw.status_code, raw.parse().model_dump()]
            return found

        with serving(answer) as plain:
            expected = surfaces(client(plain))
        with serving(answer) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            assert surfaces(wrap(client(server), recorder)) == expected
            assert server.bodies == plain.bodies
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        assert told.types()["model_responded"] == 5
        assert told.of("model_responded")[0]["usage"]["cached"] == 5

    def test_awaited(self, tmp_path: Path) -> None:
        async def surfaces(made: Any) -> list[Any]:
            found = [(await made.messages.create(**ASK, tools=TOOLS)).model_dump()]
            async with made.messages.stream(**ASK) as stream:
                found += [event.model_dump() async for event in stream]
            found += [e.model_dump() async for e in await made.messages.create(**ASK, stream=True)]
            await made.close()
            return found

        with serving(answer) as plain:
            expected = asyncio.run(surfaces(client(plain, "AsyncAnthropic")))
        with serving(answer) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            made = wrap(client(server, "AsyncAnthropic"), recorder)
            assert asyncio.run(surfaces(made)) == expected
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        assert told.types()["model_responded"] == 3

    def test_a_failure(self, tmp_path: Path) -> None:
        error = {"type": "error", "error": {"type": "overloaded_error", "message": "later"}}
        with serving(lambda request: (529, error)) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            made = wrap(client(server, max_retries=1), recorder)
            with pytest.raises(anthropic.APIStatusError):
                made.messages.create(**ASK)
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        assert [f["status"] for f in told.of("model_failed")] == [529, 529]

    def test_edits_that_only_the_answer_tells_of(self, tmp_path: Path) -> None:
        edits = {"applied_edits": [{"type": "clear_tool_uses_20250919"}]}
        whole = {**message(1, {"type": "text", "text": "a"}), "context_management": edits}
        with serving(lambda request: whole) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            wrap(client(server), recorder).messages.create(**ASK)
            recorder.close()
        told = Told(tmp_path / "log.db")
        assert [v.name for v in told.verdicts] == ["partial"]
        assert told.of("model_responded")[0]["server_edited"] == ["context_management"]


WAYS = tuple(itertools.product(["object", "dump", "without nulls"], *[[False, True]] * 2))
PAIRS = (0, 3, 5, 6, 8, 11)
"""Among these each two of the values come together."""


class TestAConversation:
    """Answers sent back, marks that move, prompts as a text and as blocks."""

    @pytest.mark.parametrize(
        ("how", "is_streamed", "blocks"),
        [pytest.param(*way, marks=() if number in PAIRS else pytest.mark.slow)
         for number, way in enumerate(WAYS)],
    )  # fmt: skip
    def test_thirty_calls_are_exact(
        self, tmp_path: Path, how: str, is_streamed: bool, blocks: bool
    ) -> None:
        system: Any = [{"type": "text", "text": "Be brief.", **MARK}] if blocks else "Be brief."
        with serving(answer) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            made = wrap(client(server), recorder)
            messages: list[Any] = [{"role": "user", "content": "hi"}]
            for _ in range(30):
                request = {
                    "model": "claude-x",
                    "max_tokens": 99,
                    "system": system,
                    "tools": TOOLS,
                    "thinking": {"type": "adaptive"},
                    "messages": marked(messages) if blocks else messages,
                }
                if is_streamed:
                    with made.messages.stream(**request) as stream:
                        said = stream.get_final_message()
                else:
                    said = made.messages.create(**request)
                content: Any = said.content
                if how != "object":
                    dumped = [b.model_dump(exclude_none=how == "without nulls") for b in content]
                    content = dumped
                messages.append({"role": "assistant", "content": content})
                results: list[Any] = [
                    {"type": "tool_result", "tool_use_id": b.id, "content": "ok"}
                    for b in said.content
                    if b.type == "tool_use"
                ]
                messages.append({"role": "user", "content": results})
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        assert told.types()["model_called"] == 30
        assert set(told.types()) == {
            "session_started",
            "message_appended",
            "tool_result_recorded",
            "tools_declared",
            "model_called",
            "model_responded",
        }


def marked(messages: list[Any]) -> list[Any]:
    """With a cache mark on the last block."""
    *before, last = messages
    content = last["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return [*before, {**last, "content": [*content[:-1], {**content[-1], **MARK}]}]


def test_a_call_that_cannot_be_recorded_is_no_connection_where_that_was_asked_for(
    tmp_path: Path,
) -> None:
    """Anthropic's clients take every fault beneath them for one of the connection."""
    with serving(answer) as server:
        recorder = Recorder(tmp_path / "log.db", session="s", on_error="raise")
        recorder.live.close()
        made = anthropic.Anthropic(
            api_key="k", base_url=server.url.removesuffix("/v1"), max_retries=1
        )
        client = wrap(made, recorder)
        with pytest.raises(anthropic.APIConnectionError) as raised:
            client.messages.create(
                model="m", max_tokens=9, messages=[{"role": "user", "content": "one"}]
            )
        assert isinstance(raised.value.__cause__, LogClosed)
        assert not server.requests
        assert recorder.missed == 2
