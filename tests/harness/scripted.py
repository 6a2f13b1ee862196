"""A model that follows a script: what it answers is a function of the request alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zlib import crc32

from model_server import Answer, Sse, chunk, completion

Call = tuple[str, Mapping[str, Any]]
"""The name of a tool, and its arguments."""
Reply = str | Sequence[Call]
"""What the model says, or the tools that it calls."""
Script = Callable[[str, int], Reply]
"""From the last thing that a person said, and how many rounds of tools lie behind that."""

USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def following(script: Script, summary: str = "what was said before") -> Callable[[Any], Answer]:
    """The answers of a server: streamed, but for those of a summarizer."""

    def answer(request: dict[str, Any]) -> Answer:
        messages = request["messages"]
        if not request.get("stream"):
            return completion(summary)
        said = max(n for n, each in enumerate(messages) if each["role"] == "user")
        rounds = sum(each["role"] == "assistant" for each in messages[said:])
        text = messages[said]["content"]
        return streamed(script(text, rounds), f"{crc32(text.encode()):08x}_{rounds}")

    return answer


def streamed(reply: Reply, name: str = "1") -> Sse:
    """A reply as it comes over the wire."""
    usage = {**chunk(), "choices": [], "usage": USAGE}
    if isinstance(reply, str):
        pieces = [chunk(content=reply[n : n + 7]) for n in range(0, len(reply), 7)]
        return Sse((chunk(role="assistant"), *pieces, chunk(finish="stop"), usage))
    calls = [
        {
            "index": n,
            "id": f"call_{name}_{n}",
            "type": "function",
            "function": {"name": tool, "arguments": json.dumps(arguments)},
        }
        for n, (tool, arguments) in enumerate(reply)
    ]
    return Sse((chunk(role="assistant", tool_calls=calls), chunk(finish="tool_calls"), usage))
