"""Summaries by a model.

The model has a window of its own: what does not fit is summarised in parts, in order, and the parts
are merged by the same model. Nothing of what is to be covered is ever left out in silence, and a
single text that is larger than a part is split at lines, never cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eventlog.events import Usage
from harness.endpoint import Endpoint, Reply, together
from harness.errors import RequestRejected, Unreachable
from harness.summarizers.base import Prompt, prompt
from projections.items import Item
from projections.shown import shown
from projections.strategies.decisions import Summary
from projections.tokens import Counter, counter
from projections.written import Fault, Written, checked

WINDOW = 32_000
"""Tokens that a model takes, where nobody says otherwise. Limits are given, never guessed."""

RESERVE = 1_000
"""Tokens of the window that are kept for the instruction and what stands around it."""

LEAST = 500
"""Tokens of a part, at least."""


class EndpointSummarizer:
    """Asks a model, which may be any that an OpenAI-compatible endpoint serves."""

    def __init__(
        self, endpoint: Endpoint, *, window: int = WINDOW, counting: Counter | None = None
    ) -> None:
        self._endpoint = endpoint
        self._window = window
        self._combine = prompt("combine_v1")
        self._counting = counting or counter()

    @property
    def name(self) -> str:
        """The endpoint, the window, the counter, and the digest of the prompt that merges parts."""
        combine = self._combine.digest[:16]
        return (
            f"{self._endpoint.name}, window {self._window} {self._counting.name}, merged {combine}"
        )

    @property
    def url(self) -> str:
        """Where the model is."""
        return self._endpoint.url

    def summarize(self, wanted: Summary, items: Sequence[Item]) -> Written:
        """The summary of exactly these items. A failing endpoint is a fault, never an exception.

        Raises InputRefused for a prompt that there is not.
        """
        instruction = prompt(wanted.prompt)
        texts = [text for each in items if (text := shown(each, texts_only=wanted.texts_only))]
        room = self._window - RESERVE - wanted.max_tokens
        model, spent = self._endpoint.model, list[Usage | None]()
        if room < LEAST:
            detail = f"a window of {self._window} tokens has no room for what is to be summarised"
            return Written("", model, "failed", detail)
        parts: list[str] = []
        for part in self._parts(texts, room):
            written = self._ask(instruction, part, wanted.max_tokens, spent)
            if written.fault is not None:
                return written
            parts.append(written.text)
        while len(parts) > 1:
            groups = list(self._parts(parts, room))
            if len(groups) >= len(parts):
                detail = "its notes on the parts do not fit into its own window"
                return Written("", model, "failed", detail, together(spent))
            merged = []
            for group in groups:
                written = self._ask(self._combine, group, wanted.max_tokens, spent)
                if written.fault is not None:
                    return written
                merged.append(written.text)
            parts = merged
        text = parts[0] if parts else ""
        return checked(Written(text, model, usage=together(spent)), texts, self._counting)

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

    def _ask(
        self, instruction: Prompt, text: str, max_tokens: int, spent: list[Usage | None]
    ) -> Written:
        messages = [
            {"role": "system", "content": instruction.text},
            {"role": "user", "content": text},
        ]
        model = self._endpoint.model
        try:
            reply = self._endpoint.ask(messages, max_tokens)
        except Unreachable as error:
            return Written("", model, "unreachable", error.detail, together(spent))
        except RequestRejected as error:
            return Written("", model, "failed", error.detail, together(spent))
        spent.append(reply.usage)
        fault, detail = _fault(reply)
        return Written("" if fault else reply.text, model, fault, detail, together(spent))


def _fault(reply: Reply) -> tuple[Fault | None, str]:
    """Why an answer is no summary."""
    if reply.calls:
        return "failed", f"it called a tool: {', '.join(reply.calls)}"[:120]
    if reply.refusal or reply.finish_reason == "content_filter":
        return "refused", (reply.refusal or "filtered")[:120]
    if not reply.text.strip():
        return "empty", "no text in the answer"
    return None, ""
