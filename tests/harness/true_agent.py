"""An agent with tools that sends its answers back in every way there is, and meets every trouble.

It knows nothing of ctxlog. It makes fifty requests for 47 turns: one is refused, one is told to
come again and comes again, and the stream of one is left after its first piece.

    python true_agent.py chat 47 '{"model": "m"}'
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from openai import LengthFinishReasonError

WAYS = ("object", "dump", "without nulls")
"""In which an answer is sent back: as the client gave it, ``model_dump()``, or that without what is
null."""

REFUSED, AGAIN, LEFT = 5, 11, 17
"""The turns before which a call is refused, comes again, and is left."""


class Chat:
    """OpenAI's chat completions."""

    def __init__(self, client: Any, ask: dict[str, Any], tools: bool) -> None:
        self.client = client
        self.ask: dict[str, Any] = {"model": "m", **ask}
        if tools:
            function = {"name": "run", "parameters": {"type": "object"}}
            self.ask["tools"] = [{"type": "function", "function": function}]
        self.messages: list[Any] = [{"role": "system", "content": "You are an agent. Be brief."}]

    def say(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def whole(self, client: Any, **more: Any) -> Any:
        said = client.chat.completions.create(**self.ask, messages=self.messages, **more)
        return said.choices[0].message

    def streamed(self) -> Any:
        with self.client.chat.completions.stream(**self.ask, messages=self.messages) as stream:
            try:
                for _ in stream:
                    pass
                said = stream.get_final_completion()
            except LengthFinishReasonError as error:
                said = error.completion
            return said.choices[0].message

    def pieces(self, **more: Any) -> contextlib.AbstractContextManager[Iterator[Any]]:
        made: Any = self.client.chat.completions.create(
            **self.ask, messages=self.messages, stream=True, **more
        )
        return made  # type: ignore[no-any-return]

    def put_together(self) -> dict[str, Any]:
        """What many agents do with a stream: add up the pieces themselves."""
        text, calls = "", {}
        with self.pieces() as pieces:
            for piece in pieces:
                for choice in piece.choices:
                    text += choice.delta.content or ""
                    for call in choice.delta.tool_calls or ():
                        empty = {"id": call.id, "type": "function"}
                        function = {"name": call.function.name, "arguments": ""}
                        made = calls.setdefault(call.index, {**empty, "function": function})
                        made["function"]["arguments"] += call.function.arguments or ""
        if not calls:
            return {"role": "assistant", "content": text}
        return {"role": "assistant", "content": text or None, "tool_calls": [*calls.values()]}

    def back(self, said: Any, way: str) -> list[str]:
        """Take an answer into the conversation; gives the ids of the calls in it."""
        given = said if isinstance(said, dict) else said.model_dump()
        self.messages.append(dumped(said, way))
        return [call["id"] for call in given.get("tool_calls") or ()]

    def returned(self, ids: list[str], text: str) -> None:
        self.messages += [{"role": "tool", "tool_call_id": i, "content": text} for i in ids]


class Responses(Chat):
    """OpenAI's responses."""

    def __init__(self, client: Any, ask: dict[str, Any], tools: bool) -> None:
        super().__init__(client, ask, False)
        self.messages = []
        self.ask["instructions"] = "You are an agent. Be brief."
        if tools:
            self.ask["tools"] = [
                {"type": "function", "name": "run", "parameters": {"type": "object"}}
            ]

    def whole(self, client: Any, **more: Any) -> Any:
        return client.responses.create(**self.ask, input=self.messages, **more).output

    def streamed(self) -> Any:
        with self.client.responses.stream(**self.ask, input=self.messages) as stream:
            for _ in stream:
                pass
            return stream.get_final_response().output

    def pieces(self, **more: Any) -> contextlib.AbstractContextManager[Iterator[Any]]:
        made: Any = self.client.responses.create(
            **self.ask, input=self.messages, stream=True, **more
        )
        return made  # type: ignore[no-any-return]

    def put_together(self) -> Any:
        with self.pieces() as pieces:
            return next(e.response for e in pieces if e.type == "response.completed").output

    def back(self, said: Any, way: str) -> list[str]:
        self.messages += [dumped(each, way) for each in said]
        return [each.call_id for each in said if each.type == "function_call"]

    def returned(self, ids: list[str], text: str) -> None:
        self.messages += [
            {"type": "function_call_output", "call_id": i, "output": text} for i in ids
        ]


class Messages(Chat):
    """Anthropic's messages, with a cache mark on the last message of each request."""

    def __init__(self, client: Any, ask: dict[str, Any], tools: bool) -> None:
        super().__init__(client, ask, False)
        self.messages = []
        self.ask |= {"max_tokens": 99, "system": "You are an agent. Be brief."}
        if tools:
            self.ask["tools"] = [{"name": "run", "input_schema": {"type": "object"}}]

    def marked(self) -> list[Any]:
        *before, last = self.messages
        content = last["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        mark = {"cache_control": {"type": "ephemeral"}}
        return [*before, {**last, "content": [*blocks[:-1], {**blocks[-1], **mark}]}]

    def whole(self, client: Any, **more: Any) -> Any:
        return client.messages.create(**self.ask, messages=self.marked(), **more)

    def streamed(self) -> Any:
        with self.client.messages.stream(**self.ask, messages=self.marked()) as stream:
            for _ in stream:
                pass
            return stream.get_final_message()

    def pieces(self, **more: Any) -> contextlib.AbstractContextManager[Iterator[Any]]:
        made: Any = self.client.messages.create(
            **self.ask, messages=self.marked(), stream=True, **more
        )
        return made  # type: ignore[no-any-return]

    def put_together(self) -> Any:
        return self.streamed()

    def back(self, said: Any, way: str) -> list[str]:
        content = [dumped(block, way) for block in said.content]
        self.messages.append({"role": "assistant", "content": content})
        return [block.id for block in said.content if block.type == "tool_use"]

    def returned(self, ids: list[str], text: str) -> None:
        blocks = [{"type": "tool_result", "tool_use_id": i, "content": text} for i in ids]
        self.messages.append({"role": "user", "content": blocks})


KINDS: dict[str, type[Chat]] = {"chat": Chat, "responses": Responses, "messages": Messages}


def dumped(said: Any, way: str) -> Any:
    """An answer, or a part of one, as it is sent back. What the client's stream helper parsed
    stands in it, too."""
    if way == "object" or isinstance(said, dict):
        return said
    return said.model_dump(exclude_none=way == "without nulls", warnings=False)


def run(talk: Chat, turns: int) -> None:
    """The conversation."""
    ids: list[str] = []
    for turn in range(turns):
        if ids:
            talk.returned(ids, f"turn {turn}: 3 passed, 1 failed")
        else:
            talk.say(f"Turn {turn}: how many tests are red?")
        if turn == REFUSED:
            with contextlib.suppress(Exception):
                talk.whole(talk.client, extra_body={"script": "refuse"})
        if turn == LEFT:
            with talk.pieces(extra_body={"script": "leave"}) as pieces:
                next(iter(pieces))
        ask: list[Callable[[], Any]] = [
            lambda: talk.whole(talk.client),
            talk.streamed,
            lambda: talk.whole(talk.client),
            talk.put_together,
        ]
        if turn == AGAIN:
            patient = talk.client.with_options(max_retries=1)
            said = talk.whole(patient, extra_body={"script": "again"})
        else:
            said = ask[turn % 4]()
        ids = talk.back(said, WAYS[turn % 3])


def client_of(kind: str) -> Any:
    """The provider's own client, which finds its address in the environment."""
    if kind == "messages":
        from anthropic import Anthropic

        return Anthropic(max_retries=0)
    from openai import OpenAI

    return OpenAI(max_retries=0)


if __name__ == "__main__":
    chosen, length, settings = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    has_tools = settings.pop("tools", True)
    run(KINDS[chosen](client_of(chosen), settings, has_tools), length)
