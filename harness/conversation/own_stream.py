"""The stream of a conversation of our own, and how it is written: strictly at the version known.

Whoever appends here has seen all that stands. Where another process was faster the append raises
``WrongExpectedVersion`` and nothing is written; ``refresh`` reads what came meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eventlog.errors import InputRefused, OutcomeUnknown, WrongExpectedVersion
from eventlog.events import Event
from eventlog.recorded import Draft, RecordedEvent, StreamKey
from harness.recording.bodies import Bodies
from harness.recording.posted import Posted, asked_of
from harness.recording.streams import drafted
from projections import Live
from projections.followed import Followed, Plan
from projections.purging import is_to_be_purged

_TRIES = 3
"""Appends of which nobody could say whether they stand, before that is told."""


class OwnStream:
    """One stream that this process goes on with."""

    def __init__(self, live: Live, key: StreamKey) -> None:
        self.live = live
        self.key = key
        self.was_overtaken = False
        """Whether something had to be appended behind what others had written."""
        self.overtaken_at = 0
        """The version that was known then."""
        self.called: tuple[Draft, int] | None = None
        """The last call, and where it was to stand, as long as its end may not stand there."""
        self.is_purged = False
        """Whether it was purged meanwhile: nothing is appended behind that."""
        self.reopen()

    def reopen(self) -> None:
        """Read all of it anew: whoever was interrupted may know half of what was appended."""
        self.is_sure = False
        """Whether all that was appended was taken in."""
        self._erased = self.redactions()
        self._followed = Followed(self.live, self.key)
        self._followed.catch_up()
        self._look_for_purge()
        self._bodies = Bodies("openai_chat")
        self.is_sure = True

    @property
    def is_stale(self) -> bool:
        """Whether something was erased since it was read: what a fork has of its parent may be,
        and no event of its own says so."""
        return self._erased != self.redactions()

    def redactions(self) -> int:
        """The sequence of the last event that erased something, anywhere in the log."""
        row = self.live.log.query("select coalesce(max(by_sequence), 0) from redactions")
        return int(row.fetchone()[0])

    @property
    def version(self) -> int:
        """The position up to which everything was seen."""
        return self._followed.version

    def refresh(self) -> None:
        """Read what others appended."""
        if self.is_stale or not self.is_sure:
            self.reopen()
            return
        self.is_sure = False
        known = self.version
        self._followed.catch_up()
        if self.version != known:
            self._look_for_purge()
        self.is_sure = True

    def _look_for_purge(self) -> None:
        """Behind all that was read: what a purge appends later, an append of ours collides with."""
        log = self.live.log
        self.is_purged = log.exists(self.key) and is_to_be_purged(log, self.key)

    def overtaken(self) -> WrongExpectedVersion:
        """Another process appended while a model answered; the answer is recorded behind that."""
        self.was_overtaken = False
        return WrongExpectedVersion(str(self.key), self.overtaken_at, self.version)

    def since(self, position: int) -> list[RecordedEvent]:
        """The events behind a position, up to the version."""
        return list(self.live.log.read(self.key, position, self.version))

    def append(self, *events: Event) -> int:
        """Append events, all or none; the position of the first.

        Raises WrongExpectedVersion, InputRefused for a stream that was purged, and what an append
        raises.
        """
        self._check_kept()
        first = self.version + 1
        drafts = drafted(events)
        self.is_sure = False
        self._write(drafts)
        self._followed.followed(*drafts)
        self.is_sure = True
        return first

    def append_late(self, *events: Event) -> int:
        """Append what has happened in any case, whatever others appended meanwhile.

        Raises InputRefused for a stream that was purged: what was said there is gone for good.
        """
        while True:
            try:
                return self.append(*events)
            except WrongExpectedVersion:
                self.was_overtaken, self.overtaken_at = True, self.version
                self.refresh()

    def call(self, posted: Posted, ahead: Sequence[Event], strategy: str) -> int:
        """Append a call before its request goes out, behind what was decided for it; its position.
        ``strategy`` is the spec of the one in charge.

        Raises WrongExpectedVersion, InputRefused, and what an append raises.
        """
        self._check_kept()
        self.is_sure = False
        body = self._bodies.read(posted.body)
        drafts = drafted(ahead)
        try:
            # As if they stood already, so that the request is read against what they make of it.
            self._followed.followed(*drafts)
            plan = _told(self._followed.plan(asked_of(posted, body), belongs=True), strategy)
            self.called = plan.drafts[-1], plan.position
            self._write((*drafts, *plan.drafts), plan.version - len(drafts))
        except BaseException:
            self.reopen()
            raise
        self._followed.appended(plan)
        self._bodies.take(body)
        self.is_sure = True
        return plan.position

    def left(self) -> int:
        """The position of a call of ours that stands in the log without an end; 0 for none."""
        draft, position = self.called or (None, 0)
        if draft is None or not self._stands(draft, position):
            return 0
        ends = self.live.log.read(self.key, position, types=["model_responded", "model_failed"])
        return 0 if any(end.data["call"] == position for end in ends) else position

    def _check_kept(self) -> None:
        if self.is_purged:
            raise InputRefused(f"{self.key} was purged meanwhile: what came is not kept")

    def _write(self, drafts: Sequence[Draft], version: int | None = None) -> None:
        known = self.version if version is None else version
        for tried in range(1, _TRIES + 1):
            try:
                self.live.append(self.key, *drafts, expected_version=known)
                return
            except OutcomeUnknown:
                if self._stands(drafts[0], known + 1):
                    return
                if tried == _TRIES:
                    raise

    def _stands(self, draft: Draft, position: int) -> bool:
        """Whether an append is in the log after all: its salt is nobody else's."""
        log = self.live.log
        return log.exists(self.key) and log.salts(self.key, [position]).get(position) == draft.salt


def _told(plan: Plan, strategy: str) -> Plan:
    """The plan whose call says which strategy was in charge."""
    *before, call = plan.drafts
    event = call.event.model_copy(update={"strategy": strategy})
    return replace(plan, drafts=(*before, replace(call, event=event)))
