"""All but the newest results are masked, in batches.

Source: SWE-agent's ``last_n_observations`` at 3ea751c: of N observations, those from the second up
to the ``(N // polling) * polling - n``-th are masked, so the set changes at every ``polling``-th
observation only. There the message of the task is the first observation, and what stays; with
``count_task`` it is counted so here. The Complexity Trap (arXiv 2508.21433) uses n = 10.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy
from projections.strategies.clear import placeholder
from projections.strategies.decisions import Decision, Substitute
from projections.strategies.marks import omitted
from projections.strategies.window import Entry, Window


class Mask(Strategy):
    """``mask``: the last ``n`` results stay, counted in batches of ``polling``."""

    name: ClassVar[str] = "mask"
    moment: ClassVar[MomentKind] = "model_call"

    class Parameters(base.Parameters):
        """How many results stay, and how many come between two changes."""

        n: Annotated[int, Field(ge=0)] = 10
        polling: Annotated[int, Field(ge=1)] = 10
        keep_first: bool = True
        """Whether the first result stays, too."""
        count_task: bool = False
        """Whether the message of the task is counted as the first result, which stays."""
        marker: Literal["item", "lines"] = "item"
        """Whether a placeholder names the item, or says how many lines are gone as SWE-agent's."""

    parameters: Parameters

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether a whole batch has come since."""
        return self._due(window) > 0

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        p = self.parameters
        count = len(window.results) + window.settled + p.count_task
        staying = p.n + (p.keep_first or p.count_task) + self._masked(window)
        due = (staying // p.polling + 1) * p.polling
        if count >= due:
            return "no result stands that could be masked"
        return f"{count:,} results have come, and it masks again at {due:,}"

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """The maskings of one batch."""
        p = self.parameters
        due = self._due(window)
        first = self._first(window)
        shown = lines_omitted if p.marker == "lines" else placeholder
        for entry in list(islice(window.results.values(), due + 1)):
            if due > 0 and entry is not first:
                due -= 1
                yield Substitute(entry.origin, shown(entry), f"older than the last {p.n}")

    def _due(self, window: Window) -> int:
        """How many of the oldest results that stand are still to be masked."""
        p = self.parameters
        count = len(window.results) + window.settled + p.count_task
        wanted = count // p.polling * p.polling - p.n
        if wanted <= 0:
            return 0
        if p.keep_first or p.count_task:
            wanted -= 1
        return max(0, min(wanted - self._masked(window), len(window.results)))

    def _masked(self, window: Window) -> int:
        """How many results are masked, without the one that stays."""
        first = self._first(window)
        return window.settled - (first is not None and first.is_settled)

    def _first(self, window: Window) -> Entry | None:
        """The first result of the context, where it is to stay."""
        if self.parameters.count_task or not self.parameters.keep_first:
            return None
        return next((entry for entry in window.entries.values() if entry.is_result), None)


def lines_omitted(entry: Entry) -> str:
    """What SWE-agent puts in place of a result: how much is gone, and not what."""
    message = entry.original.message
    content: Any = message.get("content", message.get("output"))
    blocks = content if isinstance(content, list) else [{"text": content}]
    found = [block for block in blocks if isinstance(block, dict)]
    texts = [block["text"] for block in found if isinstance(block.get("text"), str)]
    images = sum(block.get("type") in _IMAGES for block in found)
    return omitted(sum(len(text.splitlines()) for text in texts), images)


_IMAGES = ("image_url", "image", "input_image")
