"""The artifact trail: of the files that the session has written and read, how many are still named.

A model that no longer knows which files it changed changes them again, or forgets to. A rewind
takes back what was said, and not what was written: those files count on.
"""

from __future__ import annotations

from projections.metrics.facts import CallFacts
from projections.metrics.ground import Ground
from projections.metrics.model import Result, ratio
from projections.metrics.recall import RecallMeter


class Trail(Result):
    """How many of some files a context still mentions."""

    files: int
    """At the last call."""
    named: int
    recall: float | None
    """At the last call."""
    mean_recall: float | None
    """Over the calls that had any."""


class Artifacts(Result):
    """Both trails."""

    written: Trail
    read: Trail
    forgotten: tuple[str, ...]
    """Files that were written and that the last call's context does not mention."""


class _Trail:
    def __init__(self) -> None:
        self.files: set[int] = set()
        self.named = 0
        self.sum, self.calls = 0.0, 0

    def call(self, counts: list[int], changed: set[int]) -> None:
        """``changed``: literals that appeared or vanished since the call before."""
        for literal in changed & self.files:
            self.named += 1 if counts[literal] > 0 else -1
        if self.files:
            self.sum += self.named / len(self.files)
            self.calls += 1

    def add(self, files: list[int], counts: list[int]) -> None:
        """Files that the answer of this call touched."""
        self.files.update(files)
        self.named += sum(counts[literal] > 0 for literal in files)

    def result(self) -> Trail:
        return Trail(
            files=len(self.files),
            named=self.named,
            recall=ratio(self.named, len(self.files)),
            mean_recall=ratio(self.sum, self.calls),
        )


class ArtifactMeter:
    """Keeps both trails by what appears and vanishes."""

    def __init__(self, ground: Ground, mentioned: RecallMeter) -> None:
        self.ground, self.mentioned = ground, mentioned
        self._written, self._read = _Trail(), _Trail()
        self._last: Artifacts | None = None

    def call(self, facts: CallFacts, is_last: bool) -> None:
        """A call is made; what its answer touches counts from the next one on."""
        counts, changed = self.mentioned.count, self.mentioned.appeared
        self._written.call(counts, changed)
        self._read.call(counts, changed)
        changed.clear()
        if is_last:
            self._last = self._result(counts)
        self._written.add(facts.written, counts)
        self._read.add(facts.read, counts)

    def _result(self, counts: list[int]) -> Artifacts:
        forgotten = sorted(
            self.ground.anchors[literal].text
            for literal in self._written.files
            if counts[literal] <= 0
        )
        return Artifacts(
            written=self._written.result(), read=self._read.result(), forgotten=tuple(forgotten)
        )

    def result(self) -> Artifacts:
        """At the last call."""
        return self._last or self._result(self.mentioned.count)
