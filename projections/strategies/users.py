"""What people said stays, up to a number of tokens; everything else becomes one summary behind it.

Source: Codex CLI's ``build_compacted_history`` (fork mirror at 6ad6d5c, 2026-08): user messages,
the newest first, up to 20,000 tokens; the one that does not fit any more keeps head and tail; then
the summary, last, as a user message. Codex writes "(no summary available)" where there is none;
here such a text never becomes memory: the rest is dropped, and that is noted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar

from pydantic import Field

from projections.runs import Origin
from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy, under
from projections.strategies.decisions import Compact, Decision, Substitute, Summary
from projections.strategies.marks import cut
from projections.strategies.summaries import PROMPT, as_user
from projections.strategies.window import Window


class Users(Strategy):
    """``users``: human messages stay, the rest is summarised."""

    name: ClassVar[str] = "users"
    moment: ClassVar[MomentKind] = "model_call"

    class Parameters(base.Parameters):
        """When, and how much of what people said stays."""

        tokens: Annotated[int, Field(ge=1)] = 100_000
        user_tokens: Annotated[int, Field(ge=0)] = 20_000
        max_summary_tokens: Annotated[int, Field(ge=1)] = 2000

    parameters: Parameters

    @property
    def limit(self) -> int:
        """The tokens over which it happens."""
        return self.parameters.tokens

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether too much stands."""
        return window.tokens > self.parameters.tokens

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        return under(window.tokens, "tokens stand", self.parameters.tokens)

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """A cut of the message that fits in part, and one compaction."""
        p = self.parameters
        left = p.user_tokens
        staying: set[Origin] = set()
        last = window.last_human()
        for entry in reversed(list(window.humans.values())):
            if left <= 0 and entry is not last:
                break
            staying.add(entry.origin)
            if entry.tokens > left and entry is not last:
                text = entry.original.text
                length = len(text) * left // max(1, entry.original_tokens)
                if length < len(text):
                    reason = f"over {p.user_tokens} tokens of users"
                    yield Substitute(entry.origin, cut(text, length), reason, "cut")
            left -= entry.tokens
        covered = tuple(e.origin for e in window.oldest() if e.origin not in staying)
        if covered:
            summary = Summary(PROMPT, p.max_summary_tokens, as_user)
            yield Compact(covered, summary, "over the limit", "drop", "last")
