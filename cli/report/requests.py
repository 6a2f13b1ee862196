"""The exact request of every call of a session, in a form that fits into a page.

All bodies of a session are as long as the square of it. So they share their pieces, and each long
text stands once in the caller's table, whoever else shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from cli.report.choosing import chosen
from cli.report.folded_requests import FoldedRequests
from cli.report.pieces import Chain, Piece, Pieces
from cli.report.sent_requests import SentRequests
from cli.requests import known_as_sendable, known_as_sent, way_of
from eventlog.errors import CriticalUnknown, CtxlogError
from eventlog.recorded import RecordedEvent, StreamKey
from projections import Live
from projections.judging_folded import judge_folded
from projections.verdicts import Verdict, judge

Progress = Callable[[int, int], None]
"""Is told how many calls are done, of how many."""


@dataclass(frozen=True, slots=True)
class Body:
    """The request of one call: what ``show --request`` gives of it."""

    call: int
    position: int
    runs: tuple[tuple[int, int], ...]
    """A first piece, and how many from there on: the body is those pieces, joined."""
    kind: Literal["as_sent", "as_sendable"]
    dialect: str
    same_bytes: bool
    bytes: int
    """Of the body, in UTF-8."""
    sha256: str
    """Of the same, in hex."""
    url: str
    url_recorded: bool
    headers: dict[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bodies:
    """The requests of a session."""

    pieces: list[Piece | int]
    """An ``int`` is the number of an earlier one, which stands here again."""
    bodies: dict[int, Body]
    """By the number of the call."""
    left_out: tuple[int, ...]
    """Calls whose request was not made, since that of each would take too long."""
    faults: dict[int, str]
    """Why a call has no request that could be made."""


def bodies(
    live: Live,
    key: StreamKey,
    add: Callable[[str], int],
    *,
    every: bool = False,
    progress: Progress | None = None,
) -> Bodies:
    """The requests of all calls of a session; of some where all would take too long.

    ``add`` takes a long text and gives its number; ``every`` is for those who wait.
    """
    calls = dict(enumerate(live.log.read(key, types=["model_called"]), 1))
    folded = {n: c for n, c in calls.items() if c.data.get("manifest") is None}
    left_out: set[int] = set()
    if folded and not every:
        left_out = folded.keys() - chosen(live, key, folded)
    making = _Making(live, key, add, [c for n, c in calls.items() if n not in left_out])
    found: dict[int, Body] = {}
    faults: dict[int, str] = {}
    for done, (number, call) in enumerate(calls.items()):
        if progress is not None:
            progress(done, len(calls))
        if number in left_out:
            continue
        try:
            found[number] = making.body(number, call)
        except CtxlogError as error:
            faults[number] = str(error)
    return Bodies(making.pieces, found, tuple(sorted(left_out)), faults)


class _Making:
    """One request after the other."""

    def __init__(
        self,
        live: Live,
        key: StreamKey,
        add: Callable[[str], int],
        calls: Iterable[RecordedEvent],
    ) -> None:
        self._live, self._key = live, key
        pieces = Pieces(add)
        self.pieces = pieces.pieces
        self._chain = Chain(pieces)
        recorded, folded = dict[int, RecordedEvent](), list[int]()
        for call in calls:
            if call.data.get("manifest") is not None:
                recorded[call.position] = call
            else:
                folded.append(call.position)
        if recorded:
            self._sent = SentRequests(live, key, recorded, pieces)
            self._sent_verdicts = self._sent.verdicts()
        if folded:
            self._folded = FoldedRequests(live, key, pieces)
            self._folded_verdicts = _as_long_as_known(judge_folded(live, key, folded))

    def body(self, number: int, call: RecordedEvent) -> Body:
        """The next one. Raises what ``request_of_call`` does where there is none."""
        kind: Literal["as_sent", "as_sendable"] = "as_sendable"
        same = False
        if call.data.get("manifest") is not None:
            _, verdict = next(self._sent_verdicts)
            numbers, same = self._sent.body(call)
            kind, erased = "as_sent", self._sent.request.erased
            notes = known_as_sent(call, verdict, erased, same=same)
        else:
            told = next(self._folded_verdicts, None)
            made = self._folded.body(call)
            verdict = told or judge(self._live, self._key, call)
            numbers = made.numbers
            notes = known_as_sendable(verdict, made.notes, made.repairs, made.problems)
        return self._told(number, call, kind, numbers, notes, same=same)

    def _told(
        self,
        number: int,
        call: RecordedEvent,
        kind: Literal["as_sent", "as_sendable"],
        numbers: Sequence[int],
        notes: Iterable[str],
        *,
        same: bool,
    ) -> Body:
        written, way = self._chain.write(numbers), way_of(call)
        return Body(
            call=number,
            position=call.position,
            runs=written.runs,
            kind=kind,
            dialect=call.data["dialect"],
            same_bytes=same,
            bytes=written.bytes,
            sha256=written.sha256,
            url=way.url,
            url_recorded=way.is_recorded,
            headers=way.headers,
            notes=tuple(notes),
        )


def _as_long_as_known(verdicts: Iterable[tuple[int, Verdict]]) -> Iterator[Verdict]:
    """The verdicts, up to the first event that nobody can fold."""
    try:
        for _, verdict in verdicts:
            yield verdict
    except CriticalUnknown:
        return
