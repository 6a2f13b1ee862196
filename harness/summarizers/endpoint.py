"""Summaries from any OpenAI-compatible endpoint.

The model has a window of its own: what does not fit is summarised in parts, in order, and the parts
are merged by the same model. Nothing of what is to be covered is ever left out in silence, and a
single text that is larger than a part is split at lines, never cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from eventlog.events import Usage
from eventlog.jsonvalue import Json
from harness.summarizers.base import Prompt, Written, checked, prompt, shown
from projections.items import Item
from projections.tokens import Counter, counter

if TYPE_CHECKING:
    from openai import OpenAI

RESERVE = 1_000
"""Tokens of the window that are kept for the instruction and what stands around it."""


class EndpointSummarizer:
    """Asks a model. The client brings the address, the key, the time-out and the retries."""

    def __init__(
        self,
        client: OpenAI,
        model: str,
        *,
        window: int = 32_000,
        instruction: str = "handoff_v1",
        temperature: float | None = 0.0,
        counting: Counter | None = None,
    ) -> None:
        self._client = client
        self._model = model
        self._window = window
        self._instruction = prompt(instruction)
        self._combine = prompt("combine_v1")
        self._temperature = temperature
        self._counting = counting or counter()

    @property
    def name(self) -> str:
        """The model, the digests of both prompts, the window and the temperature."""
        digests = f"{self._instruction.digest[:16]}+{self._combine.digest[:16]}"
        return f"{self._model}/{digests}/{self._window}/{self._temperature}"

    @property
    def instruction(self) -> Prompt:
        """The prompt that is used."""
        return self._instruction

    def summarize(self, items: Sequence[Item], max_tokens: int) -> Written:
        """The summary of exactly these items. A failing endpoint is a fault, never an exception."""
        texts = [text for item in items if (text := shown(item))]
        room = max(500, self._window - RESERVE - max_tokens)
        spent = _Spent()
        parts: list[str] = []
        for part in self._parts(texts, room):
            written = self._ask(self._instruction, part, max_tokens, spent)
            if written.fault is not None:
                return written
            parts.append(written.text)
        while len(parts) > 1:
            groups = list(self._parts(parts, room))
            if len(groups) >= len(parts):
                detail = "its notes on the parts do not fit into its own window"
                return Written("", self._model, "failed", detail, spent.usage())
            merged = []
            for group in groups:
                written = self._ask(self._combine, group, max_tokens, spent)
                if written.fault is not None:
                    return written
                merged.append(written.text)
            parts = merged
        text = parts[0] if parts else ""
        return checked(Written(text, self._model, usage=spent.usage()), texts, self._counting)

    def _parts(self, texts: Sequence[str], room: int) -> Iterator[str]:
        """The texts, joined into parts that each fit the window."""
        held: list[str] = []
        size = 0
        for text in texts:
            for piece in self._pieces(text, room):
                tokens = self._counting.count(piece) + 2
                if held and size + tokens > room:
                    yield "\n\n".join(held)
                    held, size = [], 0
                held.append(piece)
                size += tokens
        if held:
            yield "\n\n".join(held)

    def _pieces(self, text: str, room: int) -> Iterator[str]:
        if self._counting.count(text) + 2 <= room:
            yield text
            return
        half = len(text) // 2
        at = text.rfind("\n", 1, half) + 1 or half
        yield from self._pieces(text[:at], room)
        yield from self._pieces(text[at:], room)

    def _ask(self, instruction: Prompt, text: str, max_tokens: int, spent: _Spent) -> Written:
        from openai import OpenAIError

        more: dict[str, Any] = {}
        if self._temperature is not None:
            more["temperature"] = self._temperature
        clean = text.encode("utf-8", "replace").decode()
        try:
            answer = self._client.chat.completions.create(
                model=self._model,
                messages=[
                    {"role": "system", "content": instruction.text},
                    {"role": "user", "content": clean},
                ],
                max_tokens=max_tokens,
                **more,
            )
        except OpenAIError as error:
            return Written("", self._model, "failed", _line(error), spent.usage())
        spent.add(answer.usage)
        choice = answer.choices[0] if answer.choices else None
        if choice is None:
            return Written("", self._model, "empty", "no choice in the answer", spent.usage())
        if choice.message.tool_calls:
            return Written("", self._model, "failed", "it called a tool", spent.usage())
        if choice.message.refusal or choice.finish_reason == "content_filter":
            detail = choice.message.refusal or "filtered"
            return Written("", self._model, "refused", detail[:120], spent.usage())
        said = choice.message.content or ""
        if not said.strip():
            return Written("", self._model, "empty", "no text in the answer", spent.usage())
        return Written(said, self._model, usage=spent.usage())


class _Spent:
    """What the calls of one summary cost together."""

    def __init__(self) -> None:
        self._input = self._cached = self._output = self._reasoning = 0
        self._objects: list[Any] = []

    def add(self, usage: Any) -> None:
        if usage is None:
            return
        details = getattr(usage, "prompt_tokens_details", None)
        cached = getattr(details, "cached_tokens", None) or 0
        thought = getattr(usage, "completion_tokens_details", None)
        self._input += (usage.prompt_tokens or 0) - cached
        self._cached += cached
        self._output += usage.completion_tokens or 0
        self._reasoning += getattr(thought, "reasoning_tokens", None) or 0
        self._objects.append(usage.model_dump(exclude_none=True))

    def usage(self) -> Usage | None:
        if not self._objects:
            return None
        return Usage(
            input=self._input,
            cached=self._cached,
            output=self._output,
            reasoning=self._reasoning,
            provider=Json(self._objects),
        )


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
