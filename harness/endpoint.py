"""A model behind any OpenAI-compatible endpoint: a request, and its answer or a typed fault.

The client brings the address, the key, the time-out and the retries. Nothing is logged here: it is
for questions outside of a conversation, whose answers belong to whoever asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eventlog.errors import CtxlogError
from eventlog.events import Usage
from eventlog.jsonvalue import Json, dumps
from eventlog.values import known_sum
from harness.errors import RequestRejected
from harness.json_answer import JsonAnswers
from harness.usage import tokens_in, uncached

if TYPE_CHECKING:
    from openai import OpenAI


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered."""

    text: str
    calls: tuple[str, ...] = ()
    """The tools that it wanted to call."""
    refusal: str = ""
    finish_reason: str = ""
    usage: Usage | None = None


class Endpoint:
    """One model at one address, with its settings."""

    def __init__(self, client: OpenAI, model: str, *, temperature: float | None = 0.0) -> None:
        self._client = client
        self._answers = JsonAnswers(client, model)
        self.model = model
        self.temperature = temperature
        self._limit = "max_tokens"
        self._takes_temperature = temperature is not None

    @property
    def client(self) -> OpenAI:
        """What asks it; it may be recorded (``harness.wrap``)."""
        return self._client

    @property
    def url(self) -> str:
        """Where it is."""
        return self._answers.url

    @property
    def name(self) -> str:
        """All that determines its answers, beside the request."""
        return f"{self.model} at {self.url}, temperature {self.temperature}"

    def ask(self, messages: Sequence[Mapping[str, Any]], max_tokens: int) -> Reply:
        """The answer to a request without tools. Raises Unreachable, RequestRejected.

        Some models take the limit under another name, or no temperature; what is refused by name is
        left out, or named otherwise, and asked once more.
        """
        clean = _clean(list(messages))
        while True:
            settings: dict[str, Any] = {self._limit: max_tokens}
            if self._takes_temperature:
                settings["temperature"] = self.temperature
            try:
                return self._answer(clean, settings)
            except RequestRejected as error:
                if not self._adapts(error.detail):
                    raise

    def _adapts(self, refused: str) -> bool:
        """Whether the next try is another one: what is refused is remembered."""
        if self._limit == "max_tokens" and "max_completion_tokens" in refused:
            self._limit = "max_completion_tokens"
            return True
        if self._takes_temperature and "temperature" in refused:
            self._takes_temperature = False
            return True
        return False

    def _answer(self, messages: Any, settings: Mapping[str, Any]) -> Reply:
        completions = self._client.chat.completions.with_streaming_response
        answer: Any = self._answers.read(
            lambda: completions.create(model=self.model, messages=messages, **settings)
        )
        choices = answer.get("choices") if isinstance(answer, Mapping) else None
        if not isinstance(choices, list):
            raise self._answers.fault("what it answered is no chat completion")
        usage = usage_of(answer.get("usage"))
        choice = choices[0] if choices and isinstance(choices[0], Mapping) else {}
        message = choice.get("message")
        if not isinstance(message, Mapping):
            return Reply("", usage=usage)
        calls = message.get("tool_calls")
        return Reply(
            text=_text(message.get("content")),
            calls=tuple(_name(call) for call in calls) if isinstance(calls, list) else (),
            refusal=_text(message.get("refusal")),
            finish_reason=_text(choice.get("finish_reason")),
            usage=usage,
        )


def usage_of(given: Any) -> Usage | None:
    """The usage of one answer; what was read from a cache is a part of OpenAI's prompt tokens.

    What is no number of tokens was not told.
    """
    if not isinstance(given, Mapping):
        return None
    cached = tokens_in(given.get("prompt_tokens_details"), "cached_tokens")
    try:
        own: Json | None = Json(dict(given))
        dumps(dict(given))
    except CtxlogError:  # NaN, say, which no JSON can hold
        own = None
    return Usage(
        input=uncached(tokens_in(given, "prompt_tokens"), cached),
        cached=cached,
        output=tokens_in(given, "completion_tokens"),
        reasoning=tokens_in(given.get("completion_tokens_details"), "reasoning_tokens"),
        provider=own,
    )


def _text(given: Any) -> str:
    """A text, also where it comes in parts."""
    if isinstance(given, str):
        return given
    parts = given if isinstance(given, list) else ()
    found = (part.get("text") if isinstance(part, Mapping) else part for part in parts)
    return "".join(text for text in found if isinstance(text, str))


def _name(call: Any) -> str:
    function = call.get("function") if isinstance(call, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) else "?"


def together(usages: Sequence[Usage | None]) -> Usage | None:
    """What several answers cost together; None where none says."""
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    return Usage(
        input=known_sum(usage.input for usage in known),
        cached=known_sum(usage.cached for usage in known),
        cache_write=known_sum(usage.cache_write for usage in known),
        output=known_sum(usage.output for usage in known),
        reasoning=known_sum(usage.reasoning for usage in known),
        provider=Json([usage.provider.value for usage in known if usage.provider is not None]),
    )


def _clean(value: Any) -> Any:
    """Without lone surrogates, which no request can carry."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_clean(key): _clean(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(part) for part in value]
    return value
