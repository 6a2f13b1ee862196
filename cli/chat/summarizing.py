"""Who writes the summaries of a chat: its own model, another one, or no model at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cli.chat.asked import Asked
from cli.endpoints import Model
from cli.summaries import EXTRACTIVE, NONE
from eventlog import StreamKey
from eventlog.outputs import Outputs
from harness.summarizers import (
    EndpointSummarizer,
    ExtractiveSummarizer,
    KeptSummarizer,
    Summarizer,
)
from harness.summarizers.endpoint import WINDOW
from projections import Live, tokens
from projections.items import Item
from projections.strategies.decisions import Summary
from projections.written import Summarize, Written


def summarize(
    asked: Asked, own: Model, live: Live, key: StreamKey, begins: Callable[[int], None]
) -> Summarize:
    """What writes the summaries of a session. ``begins`` is told of how many items one is made.

    Raises InputRefused for a model that cannot be had.
    """
    counting = tokens.counter()
    if asked.summarizer == NONE:
        return _nothing
    if asked.summarizer == EXTRACTIVE:
        return ExtractiveSummarizer(counting).summarize
    model = asked.named_model(asked.summarizer) if asked.summarizer else own
    writer = EndpointSummarizer(model.endpoint, window=model.window or WINDOW, counting=counting)
    return KeptSummarizer(_Told(writer, begins), Outputs(live.log), key).summarize


def _nothing(wanted: Summary, items: Sequence[Item]) -> Written:
    return Written("", fault="failed", detail="there is no summarizer (--summarizer none)")


class _Told:
    """A summarizer that says when it begins: a model takes its time."""

    def __init__(self, summarizer: Summarizer, begins: Callable[[int], None]) -> None:
        self._summarizer = summarizer
        self._begins = begins

    @property
    def name(self) -> str:
        """The other's."""
        return self._summarizer.name

    def summarize(self, wanted: Summary, items: Sequence[Item]) -> Written:
        """The other's, told of."""
        self._begins(len(items))
        return self._summarizer.summarize(wanted, items)
