"""Every recorded call of a session, rebuilt from its events and compared with what was recorded.

Compared are the request with its digest, its items with the context as folded, and its bytes with
the digest of those. What was not recorded, or was erased since, cannot be compared: it is told
apart, and never as fine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from eventlog.errors import CriticalUnknown
from eventlog.recorded import RecordedEvent, StreamKey
from projections.judging import Walk
from projections.live import Live
from projections.runs import Standing
from projections.session_state import Provenance
from projections.verdicts import Verdict, missing
from projections.wire import Written

Outcome = Literal["same", "differs", "unchecked"]

NO_REQUEST, NO_DIGEST, ERASED = (
    "no request was recorded",
    "no digest was recorded",
    "text of it was erased",
)
"""Why a call cannot be checked."""


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """One call, compared."""

    number: int
    position: int
    outcome: Outcome
    verdict: Provenance | None
    """None where no request was recorded."""
    detail: str
    """What differs, or why it could not be checked."""
    same_bytes: bool | None = None
    """Whether its bytes are those that were sent; None where that cannot be known."""


def check(
    live: Live,
    stream: StreamKey,
    only: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[CheckedCall]:
    """The calls of a stream, in their order; or the n-th alone.

    ``progress`` is told how many were compared, of how many.
    """
    every = enumerate(live.log.read(stream, types=["model_called"]), 1)
    calls = {number: call for number, call in every if only in (None, number)}
    wanted = {c.position: c for c in calls.values() if c.data.get("manifest") is not None}
    walk = _Comparing(live, stream, wanted) if wanted else None
    verdicts = walk.verdicts() if walk is not None else iter(())
    for done, (number, call) in enumerate(calls.items()):
        if progress is not None:
            progress(done, len(calls))
        if walk is None or call.position not in wanted:
            yield CheckedCall(number, call.position, "unchecked", None, NO_REQUEST)
            continue
        _, verdict = next(verdicts)
        outcome, detail = _compared(call, verdict, is_erased=walk.is_erased)
        same = walk.same_bytes if outcome == "same" else None
        yield CheckedCall(number, call.position, outcome, verdict.name, detail, same)


def _compared(call: RecordedEvent, verdict: Verdict, *, is_erased: bool) -> tuple[Outcome, str]:
    if verdict.name in ("broken", "drift"):
        return "differs", verdict.detail
    if call.data.get("request_digest") is None:
        return "unchecked", NO_DIGEST
    return ("unchecked", ERASED) if is_erased else ("same", "")


class _Comparing(Walk):
    """A walk that compares bytes as well."""

    def __init__(self, live: Live, stream: StreamKey, wanted: Mapping[int, RecordedEvent]) -> None:
        super().__init__(live, stream, wanted)
        self.is_erased = False
        """Whether something of the last call was erased."""
        self.same_bytes: bool | None = None
        """Of the last call."""
        self._written = Written()

    def taken(self, call: RecordedEvent, shared: int) -> None:
        """What is not shared has to be written again."""
        self._written.cut(shared)

    def verdict(self, call: RecordedEvent, folded: list[Standing] | CriticalUnknown) -> Verdict:
        """Of the call whose request was taken last."""
        verdict = super().verdict(call, folded)
        self.is_erased, self.same_bytes = False, None
        if verdict.name == "broken":
            return verdict
        tools, request = self.declared(call.data.get("tools")), self.request
        lost = missing(call, tools.is_erased, request.has_erased_forms)
        self.is_erased = bool(request.erased or lost)
        salt = self.salts.get(call.position)
        if not self.is_erased and salt is not None and call.data.get("wire_digest") is not None:
            style = self._written.style_of(call.data, salt, request.rows, tools.value)
            self.same_bytes = style is not None
        return verdict
