"""An answer that did not come to its end: what had come is kept with the failure, and told.

Without that a person who stops a wrong answer finds nothing of it, though it was read.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import test_wrap_anthropic as anthropic_calls
import test_wrap_responses as responses_calls
from model_server import Sse, chunk, serving, streamed
from openai import AsyncOpenAI
from proxied import proxied, recorded, wait_for
from recorded_calls_of import KEY, Told

from eventlog.messages import parts
from harness.exchange.outcomes import outcome_of
from harness.recording import Recorder, wrap
from projections import open_log
from projections.partial import partial_of

ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "which order?"}]}
WRONG = "The order is FIN-3301, so I drop the table."


def chat(text: str = WRONG) -> Sse:
    """A thought, a text and the call of a tool."""
    call = {"index": 0, "id": "call_1", "type": "function"}
    return Sse(
        (
            chunk(role="assistant", content=""),
            chunk(reasoning_content="They want"),
            chunk(reasoning_content=" an order."),
            *(chunk(content=text[at : at + 7]) for at in range(0, len(text), 7)),
            chunk(tool_calls=[{**call, "function": {"name": "run", "arguments": '{"sql"'}}]),
            chunk(tool_calls=[{"index": 0, "function": {"arguments": ': "drop"}'}}]),
            chunk(finish="tool_calls"),
        )
    )


def responses() -> Sse:
    reasoning = {"id": "rs_1", "type": "reasoning", "summary": []}
    call = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "run"}
    whole = responses_calls.response(
        1,
        {**reasoning, "summary": [{"type": "summary_text", "text": "They want an order."}]},
        responses_calls.message(WRONG),
        {**call, "arguments": '{"sql": "drop"}'},
    )
    begun = responses_calls.streamed(whole).events
    events: list[Any] = [begun[0]]
    events.append({"type": "response.output_item.added", "output_index": 0, "item": reasoning})
    part = {"output_index": 0, "summary_index": 0}
    empty = {"type": "summary_text", "text": ""}
    events.append({"type": "response.reasoning_summary_part.added", **part, "part": empty})
    for text in ("They want", " an order."):
        delta = {"type": "response.reasoning_summary_text.delta", **part, "delta": text}
        events.append(delta)
    events += [event for event in begun if event.get("output_index") == 1]
    started = {**call, "arguments": ""}
    events.append({"type": "response.output_item.added", "output_index": 2, "item": started})
    for text in ('{"sql"', ': "drop"}'):
        kind = "response.function_call_arguments.delta"
        events.append({"type": kind, "output_index": 2, "delta": text})
    return Sse((*events, begun[-1]), done=False, named=True)


def anthropic() -> Sse:
    blocks = (
        {"type": "thinking", "thinking": "They want an order.", "signature": "c2ln"},
        {"type": "text", "text": WRONG},
        {"type": "tool_use", "id": "toolu_1", "name": "run", "input": {"n": 1}},
    )
    return anthropic_calls.streamed(anthropic_calls.message(1, *blocks, stop="tool_use"))


STREAMS: dict[Any, Callable[[], Sse]] = {
    "openai_chat": chat,
    "openai_responses": responses,
    "anthropic": anthropic,
}


def said(dialect: str, message: Any, kind: str) -> str:
    return "".join(part.text for part in parts(dialect, message) if part.kind == kind)


class TestWhatHadCome:
    @pytest.mark.parametrize("dialect", STREAMS)
    def test_a_stream_cut_anywhere_keeps_what_it_brought_so_far(self, dialect: Any) -> None:
        pieces = [p for p in STREAMS[dialect]().pieces() if isinstance(p, bytes)]
        whole = outcome_of(dialect, b"".join(pieces).decode(), 200)
        assert whole.answer is not None
        before = {"text": "", "thinking": "", "call": ""}
        seen = set()
        for count in range(1, len(pieces)):
            found = outcome_of(dialect, b"".join(pieces[:count]).decode(), 200)
            if found.answer is not None:  # all of it came, but not its last word
                break
            assert found.failure is not None
            partial = found.failure.partial
            for kind, known in before.items():
                now = said(dialect, partial or {}, kind) if partial else ""
                assert now.startswith(known.rstrip("{}")), (count, kind)
                if kind != "call":
                    assert said(dialect, whole.answer.message, kind).startswith(now)
                before[kind] = now
                seen.add((kind, now))
        assert before["text"] == WRONG
        assert before["thinking"] == "They want an order."
        assert "run" in json.dumps(partial)
        assert len(seen) >= 6, "piece by piece"

    @pytest.mark.parametrize("dialect", STREAMS)
    def test_a_stream_that_only_began_brought_nothing(self, dialect: Any) -> None:
        first = next(p for p in STREAMS[dialect]().pieces() if isinstance(p, bytes))
        found = outcome_of(dialect, first.decode(), 200)
        assert found.failure is not None
        assert found.failure.partial is None

    def test_further_choices_and_what_else_came_stay_beside_it(self) -> None:
        events = Sse((chunk(content="one"), chunk(content="two", choice=1)), done=False)
        text = b"".join(p for p in events.pieces() if isinstance(p, bytes)).decode()
        failure = outcome_of("openai_chat", text, 200).failure
        assert failure is not None
        assert failure.partial == {"role": "assistant", "content": "one"}
        assert [c["message"]["content"] for c in failure.detail["message"]["choices"]] == ["two"]
        assert failure.detail["message"]["id"] == "chatcmpl-1"


def begun(dialect: str) -> Sse:
    """The stream up to the middle of its text; then nothing for long, also on a busy machine: what
    has come whole cannot be stopped any more."""
    events = STREAMS[dialect]().events
    cut = next(n for n, e in enumerate(events) if '"T' in json.dumps(e).replace("They", ""))
    return Sse((*events[: cut + 1], 5.0, *events[cut + 1 :]), named=dialect != "openai_chat")


class TestWhoStopsReading:
    """A person presses Ctrl-C on an answer that goes wrong."""

    @pytest.mark.parametrize("dialect", STREAMS)
    def test_a_recorded_client(self, tmp_path: Path, dialect: str) -> None:
        with serving(lambda _: begun(dialect)) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            if dialect == "openai_chat":
                client = wrap(server.client(), recorder)
                stream: Any = client.chat.completions.create(**ASK, stream=True)
            elif dialect == "openai_responses":
                client = wrap(server.client(), recorder)
                stream = client.responses.create(**responses_calls.ASK, stream=True)
            else:
                made = wrap(anthropic_calls.client(server), recorder)
                stream = made.messages.create(**anthropic_calls.ASK, stream=True)
            for event in stream:
                if '"T' in event.model_dump_json().replace("They", ""):
                    break
            stream.close()
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        (failed,) = told.of("model_failed")
        partial = failed["partial"]
        assert partial["dialect"] == dialect
        assert partial["source"] == "model"
        text = said(dialect, partial["message"], "text")
        assert text
        assert WRONG.startswith(text)
        assert said(dialect, partial["message"], "thinking") == "They want an order."

    def test_an_awaited_client(self, tmp_path: Path) -> None:
        async def read(client: AsyncOpenAI) -> None:
            stream = await client.chat.completions.create(**ASK, stream=True)
            async for event in stream:
                if event.choices[0].delta.content:
                    break
            await stream.close()
            await client.close()

        with serving(lambda _: begun("openai_chat")) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0)
            asyncio.run(read(wrap(client, recorder)))
            recorder.close()
        (failed,) = Told(tmp_path / "log.db").of("model_failed")
        assert WRONG.startswith(failed["partial"]["message"]["content"])

    @pytest.mark.parametrize("dialect", STREAMS)
    def test_a_client_of_the_proxy(self, tmp_path: Path, dialect: str) -> None:
        waiting = threading.Event()
        pieces = [p for p in begun(dialect).pieces() if isinstance(p, bytes)]

        def events() -> Iterator[bytes]:
            for piece in pieces:
                yield piece
                if b'"T' in piece.replace(b"They", b""):
                    waiting.wait(10)

        with serving(lambda _: streamed(events())) as server, proxied(server, tmp_path) as to:
            client = to.client()
            if dialect == "openai_chat":
                stream: Any = client.chat.completions.create(**ASK, stream=True)
            elif dialect == "openai_responses":
                stream = client.responses.create(**responses_calls.ASK, stream=True)
            else:
                address = f"http://{to.proxy.host}:{to.proxy.port}"
                made = anthropic_calls.anthropic.Anthropic(api_key="k", base_url=address)
                stream = made.messages.create(**anthropic_calls.ASK, stream=True)
            for event in stream:
                if '"T' in event.model_dump_json().replace("They", ""):
                    break
            stream.close()
            wait_for(lambda: to.proxy.tally.failed)
            waiting.set()
        (failure,) = recorded(to.db).failures
        assert "went away" in failure.error
        assert failure.partial is not None
        text = said(dialect, failure.partial.message.value, "text")
        assert text
        assert WRONG.startswith(text)

    def test_an_error_in_the_middle(self, tmp_path: Path) -> None:
        events = (chunk(role="assistant", content="a"), {"error": {"message": "overloaded"}})
        with serving(lambda _: Sse(events)) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            with pytest.raises(Exception, match="overloaded"):
                list(wrap(server.client(), recorder).chat.completions.create(**ASK, stream=True))
            recorder.close()
        (failed,) = Told(tmp_path / "log.db").of("model_failed")
        assert failed["partial"]["message"]["content"] == "a"
        assert failed["detail"]["error"] == {"message": "overloaded"}


class TestTheNextRequest:
    """Whether it stands in the context is the agent's to decide."""

    @pytest.mark.parametrize(
        ("kept", "is_its_own"),
        [
            (lambda text: text, True),
            (lambda text: text[:5], True),
            (lambda text: f"{text}\n[interrupted]", True),
            (lambda text: "I stopped.", False),
        ],
    )
    def test_what_an_agent_keeps_of_it_comes_of_the_call(
        self, tmp_path: Path, kept: Callable[[str], str], is_its_own: bool
    ) -> None:
        answers = [begun("openai_chat"), chat("Then FIN-3302.")]
        with serving(lambda _: answers.pop(0)) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(), recorder)
            stream = client.chat.completions.create(**ASK, stream=True)
            text = ""
            for event in stream:
                text += event.choices[0].delta.content or ""
                if text:
                    break
            stream.close()
            messages = [
                *ASK["messages"],
                {"role": "assistant", "content": kept(text)},
                {"role": "user", "content": "no, the other one"},
            ]
            list(client.chat.completions.create(model="m", messages=messages, stream=True))
            recorder.close()
        told = Told(tmp_path / "log.db")
        told.check(server.requests)
        with open_log(tmp_path / "log.db") as live:
            events = list(live.log.read(KEY))
            failed = next(e for e in events if e.type == "model_failed")
            partial = partial_of(failed)
            assert partial is not None
            assert partial.text.endswith(text)
            echo = next(e for e in events if e.data.get("message", {}).get("role") == "assistant")
            assert echo.data["source"] == "model"
            assert echo.data.get("call") == (failed.data["call"] if is_its_own else None)
            assert echo.position > failed.position

    def test_without_it_nothing_of_it_stands(self, tmp_path: Path) -> None:
        answers = [begun("openai_chat"), chat("Then FIN-3302.")]
        with serving(lambda _: answers.pop(0)) as server:
            recorder = Recorder(tmp_path / "log.db", session="s")
            client = wrap(server.client(), recorder)
            stream = client.chat.completions.create(**ASK, stream=True)
            next(stream)
            stream.close()
            list(client.chat.completions.create(**ASK, stream=True))
            recorder.close()
        Told(tmp_path / "log.db").check(server.requests)
        with open_log(tmp_path / "log.db") as live:
            said_now = [item.text for item in live.items(KEY)]
        assert len(said_now) == 2
        assert "Then FIN-3302." in said_now[1]
