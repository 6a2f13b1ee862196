"""A result that a later one repeats leaves a note; the newest stays.

The same: one tool, with the same arguments once they are normalised. Similar: one tool, not about
different paths, at least ``min_tokens`` long, and the cosine of the texts over ``threshold``; the
vectors are the injected embedder's, or hashed words where there is none. A read before an edit is
not the read after it: the newest is right, the older one is in the log.
Source: opencode's dynamic context pruning (same tool and sorted arguments, the newest stays). It
breaks the prefix at the older result each time, a trade-off that is documented there too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Annotated, ClassVar

from pydantic import Field

from projections.strategies import base
from projections.strategies.base import Moment, MomentKind, Strategy
from projections.strategies.decisions import Decision, Substitute
from projections.strategies.hashing import READ, cosine, unit
from projections.strategies.marks import similar
from projections.strategies.window import Entry, Window

PATHS = ("path", "file_path", "filepath", "filename", "file", "notebook_path", "url", "uri")


class Dedup(Strategy):
    """``dedup``: of results that say the same, the newest stays."""

    name: ClassVar[str] = "dedup"
    moment: ClassVar[MomentKind] = "tool_result"

    class Parameters(base.Parameters):
        """What is the same."""

        semantic: bool = True
        """Whether similar texts are the same, too."""
        threshold: Annotated[float, Field(gt=0, le=1)] = 0.85
        min_tokens: Annotated[int, Field(ge=0)] = 200
        """Shorter results are not compared by their text."""
        lookback: Annotated[int, Field(ge=1)] = 16
        """So many results of the tool are compared by their text."""
        exclude_tools: tuple[str, ...] = ()

    parameters: Parameters

    def triggered(self, window: Window, moment: Moment) -> bool:
        """Whether there is a result at hand, or at another moment any."""
        return moment.result is not None or (self.at != "tool_result" and bool(window.results))

    def waits(self, window: Window, moment: Moment) -> str:
        """How far it is from its trigger."""
        return "no tool result stands that it could look at"

    def decide(self, window: Window, moment: Moment) -> Iterable[Decision]:
        """The notes in place of what the newest result repeats."""
        if moment.result is not None:
            newest = [window.entries[moment.result]]
        else:
            newest = list(reversed(window.results.values()))
        gone: set[int | str] = set()
        for entry in newest:
            if entry.origin in gone or entry.tool in self.parameters.exclude_tools:
                continue
            older = [e for e in self._older(window, entry) if e.origin not in gone]
            gone.update(each.origin for each in older)
            count = max(window.repeated(entry) - 1, len(older))
            for each in older:
                note = similar(count, entry.tool, entry.origin)
                yield Substitute(each.origin, note, "a later one repeats it", "deduplicated")

    def _older(self, window: Window, entry: Entry) -> list[Entry]:
        """The results before it that it repeats, the newest first."""
        same = [e for e in window.same(entry) if e.order < entry.order]
        found = {e.origin: e for e in same if e.origin not in window.pins}
        p = self.parameters
        if p.semantic and entry.tokens >= p.min_tokens:
            place = path_of(entry.arguments)
            of_tool = reversed(window.by_tool(entry.tool).values())
            # One more than is looked back on: the result itself is the newest of its tool.
            for other in islice(of_tool, p.lookback + 1):
                if (
                    other.order < entry.order
                    and other.tokens >= p.min_tokens
                    and other.origin not in window.pins
                    and path_of(other.arguments) == place
                    and cosine(_vector(window, other), _vector(window, entry)) > p.threshold
                ):
                    found[other.origin] = other
            for past in islice(of_tool, p.lookback):
                past.memo.pop("vector", None)  # it is larger than most results
        return list(found.values())


def _vector(window: Window, entry: Entry) -> tuple[float, ...]:
    vector = entry.memo.get("vector")
    if not isinstance(vector, tuple):
        vector = entry.memo["vector"] = unit(window.embed(entry.item.text[:READ]))
    return vector


@lru_cache(maxsize=65_536)
def path_of(arguments: str) -> str:
    """What a call is about: its path or address, empty where it names none."""
    try:
        read = json.loads(arguments)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(read, Mapping):
        return ""
    return next((str(read[key]) for key in PATHS if isinstance(read.get(key), str)), "")
