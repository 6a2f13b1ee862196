"""Questions to a model about a context, each asked once: its answer is kept in the log.

The question is the last message of the request. No tools are declared, so that an answer is what
the model knows from the context, and not what it could look up.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eventlog.errors import IntegrityFault
from eventlog.events import Usage
from eventlog.outputs import Outputs
from eventlog.recorded import StreamKey
from harness.endpoint import Endpoint, Reply
from harness.errors import RequestRejected
from projections.tokens import counter

KIND = "answer"
NOT_TAKEN = "not taken: "
"""How the fault of a request begins that was rejected."""
MOST = 1_000
"""Tokens of an answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said, or why it said nothing."""

    text: str
    fault: str = ""
    """Empty, or: it was cut off, it refused, it called a tool, the request was rejected …"""
    usage: Usage | None = None


class Questions:
    """Asks one model about contexts of one session."""

    def __init__(
        self,
        endpoint: Endpoint,
        outputs: Outputs,
        stream: StreamKey,
        waiting: Callable[[str], None] = lambda text: None,
        window: int | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._outputs = outputs
        self._stream = stream
        self._waiting = waiting
        self._window = window
        """Tokens that the model takes, counted with the default counter; None: it says itself."""
        self.asked: list[Answer] = []
        """What had to be asked: it was not kept yet."""
        self.unkept = 0
        """Of these, what could not be kept: the next run asks again."""

    def ask(
        self, messages: Sequence[Mapping[str, Any]], question: str, time: int = 1, about: str = ""
    ) -> Answer:
        """The answer to a question about a context; ``time`` 2 is the same question once more.

        Whoever waits is told what is asked ``about``, where it is not kept yet.

        A request that is rejected, since the context does not fit into the model's window, say, is
        an answer with a fault. Raises Unreachable.
        """
        whole = [*messages, {"role": "user", "content": question}]
        determined = {"model": self.endpoint.name, "messages": whole, "most": MOST, "time": time}
        known = self._outputs.find(KIND, determined)
        if known is not None:
            return _answer(known)
        if self._window is not None:
            size = counter().count(json.dumps(whole, ensure_ascii=False)) + MOST
            if size > self._window:
                return Answer(
                    "", f"{NOT_TAKEN}about {size:,} tokens, the window is {self._window:,}"
                )
        self._waiting(f"asking {self.endpoint.model} about {about or 'a context'}")
        try:
            reply = self.endpoint.ask(whole, MOST)
        except RequestRejected as error:
            return Answer("", f"{NOT_TAKEN}{error.detail}")
        answer = Answer(reply.text.strip(), _fault(reply), reply.usage)
        self.asked.append(answer)
        output = _output(answer)
        output, is_kept = self._outputs.keep_if_possible(self._stream, KIND, determined, output)
        self.unkept += not is_kept
        return _answer(output)


def _fault(reply: Reply) -> str:
    if reply.refusal or reply.finish_reason == "content_filter":
        return f"refused: {reply.refusal or 'filtered'}"[:300]
    if reply.calls:
        return f"it called a tool: {', '.join(reply.calls)}"[:300]
    if not reply.text.strip():
        return "it gave no text"
    return "cut off" if reply.finish_reason == "length" else ""


def _output(answer: Answer) -> dict[str, Any]:
    usage = answer.usage.model_dump(mode="json") if answer.usage is not None else None
    return {"text": answer.text, "fault": answer.fault, "usage": usage}


def _answer(output: Mapping[str, Any]) -> Answer:
    try:
        usage = output["usage"]
        return Answer(
            output["text"],
            output["fault"],
            Usage.model_validate(usage) if usage is not None else None,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise IntegrityFault(f"a kept output is not what was kept: {error!r}") from None
