"""One request to the model, as it comes back piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from eventlog import messages
from eventlog.events import Event
from harness.conversation.canonical import revisions
from harness.conversation.happenings import Piece
from harness.exchange.answers import Answer
from projections.dialects import dialect
from projections.items import Item

if TYPE_CHECKING:
    from harness.conversation.conversation import Conversation

_TOO_LARGE = (
    "context_length",
    "context length",
    "context size",
    "context window",
    "maximum context",
    "too many tokens",
    "prompt is too long",
)
"""How a model says that it was given too much; there is no common code for it."""


class Asking:
    """A request that is sent, and what comes of it. It stands in the log before it goes out, and
    its end as soon as that is there."""

    def __init__(self, of: Conversation, output: type[BaseModel] | None) -> None:
        self._of = of
        self._output = output
        self.answer: Answer | None = None
        self.error = ""
        self.position = 0
        """Of the call; 0 as long as it does not stand in the log."""
        self.ended_at = 0
        """Of the first event of its end."""

    def pieces(self) -> Iterator[Piece | None]:
        """Send it; what comes in, and once nothing, when it is out.

        Raises what keeps it from being recorded: then nothing was sent.
        """
        from openai import OpenAIError

        of, sending = self._of, self._of.sending
        of.translate()  # another process appended what is of another dialect, or an undo brought it
        ahead: Sequence[Event] = of.charge.calling()
        sending.strategy = of.charge.spec
        items = of.charge.items()
        body = self._body(items)
        ahead = [*ahead, *revisions(items, body["messages"])]
        sending.calls.clear()
        while True:
            sending.ahead, sending.fault = ahead, None
            try:
                yield from self._sent(body)
            except OpenAIError as error:
                if sending.fault is not None:
                    raise sending.fault from None
                self.error = _said(error)
                if "stream_options" in body and "stream_options" in self.error:
                    del body["stream_options"]  # some servers do not know it
                    ahead = ()
                    continue
            except Exception as error:  # of a body that is no JSON, no text, or nested too deep
                if sending.fault is not None or not sending.calls:
                    raise sending.fault or error from None
                self.error = f"its answer cannot be read: {_said(error)}"
            break
        if sending.fault is not None:  # the client has kept silent about it
            raise sending.fault
        self._take()
        self._made_canonical()

    def _made_canonical(self) -> None:
        """Say at once how an answer with calls is sent back that cannot be as it came. So calls
        without an id have one before their tools run: what began to run is known again by it."""
        of, answer = self._of, self.answer
        if answer is None or not answer.is_said or of.stream.was_overtaken:
            return
        if not messages.calls("openai_chat", answer.message):
            return
        of.caught_up()
        said = revisions(self._item())
        if said:
            of.append(*said)
            (item,) = self._item()
            self.answer = replace(answer, message=dict(item.message))

    def _item(self) -> list[Item]:
        """What the answer stands as in the context."""
        return [item for item in self._of.charge.items() if item.id == str(self.ended_at)]

    def _sent(self, body: Mapping[str, Any]) -> Iterator[Piece | None]:
        sending = self._of.sending
        # The client looks through every message that it is given (0.3 s for a thousand), for names
        # that OpenAI's chat does not have; what is extra it takes as it is.
        given = {"messages": [], "extra_body": {"messages": body["messages"]}}
        stream: Any = self._of.client.chat.completions.create(**{**body, **given})
        try:
            self.position = sending.calls[-1].position
            yield None
            for chunk in stream:
                yield from _pieces(chunk)
        finally:
            stream.close()

    def _take(self) -> None:
        """How the last of its calls ended."""
        sending = self._of.sending
        if not sending.calls:
            return
        call = sending.calls[-1]
        self.position, self.ended_at = call.position, call.first
        outcome = call.outcome
        if outcome is None:
            self.error = self.error or "nobody knows how the call ended"
            return
        self.answer = outcome.answer
        if outcome.answer is None:
            found = outcome.failure.error if outcome.failure is not None else ""
            self.error = self.error or found or "nothing came back"

    @property
    def is_too_large(self) -> bool:
        """Whether the model refused it since it was given too much."""
        return any(each in self.error.lower() for each in _TOO_LARGE)

    def _body(self, items: Sequence[Item]) -> dict[str, Any]:
        of = self._of
        tools = of.tools.definitions(of.state.tools.groups)
        body = dialect("openai_chat").render(items, tools or None, of.parameters)
        body |= {"model": of.model, "stream": True, "stream_options": {"include_usage": True}}
        if self._output is not None:
            schema = {"name": self._output.__name__, "schema": self._output.model_json_schema()}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body


def _pieces(chunk: Any) -> Iterator[Piece]:
    """What a chunk brings for a person; servers leave out what they like."""
    for choice in getattr(chunk, "choices", None) or ():
        delta = getattr(choice, "delta", None)
        if getattr(choice, "index", 0) or delta is None:
            continue
        for name in ("reasoning_content", "reasoning"):
            text = getattr(delta, name, None)
            if isinstance(text, str) and text:
                yield Piece(text, "reasoning")
        if isinstance(delta.content, str) and delta.content:
            yield Piece(delta.content)
        refusal = getattr(delta, "refusal", None)
        if isinstance(refusal, str) and refusal:
            yield Piece(refusal, "refusal")


def _said(error: Exception) -> str:
    """What the server said, in one line."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, Mapping) else None
    code = body.get("code") if isinstance(body, Mapping) else None
    status = getattr(error, "status_code", None)
    text = message if isinstance(message, str) and message.strip() else str(error)
    cause = error.__cause__
    if status is None and cause is not None:
        text = f"{text} {type(cause).__name__}: {cause}"
    told = [f"status {status}" if status else "", code if isinstance(code, str) else ""]
    found = ", ".join(filter(None, told))
    return " ".join(f"{text} ({found})".split() if found else text.split())
