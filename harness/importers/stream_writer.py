"""One imported stream: what of a file is new in it, and how that is appended.

The importer hands over everything that the file holds, each time. The writer walks along the stream
with it: what stands there already is passed over, what follows the stream's end is appended at the
expected version. Where file and stream part, the file was rewritten: the rest becomes a fork at the
last common record, and the same rewritten file finds that fork again. Nothing is ever taken back.

Events without an origin (pins, titles, redactions) belong to the log, not to the file, and are
passed over; so are leftovers, which an earlier import took from a file that ended inside a record.
"""

from __future__ import annotations

import os
import uuid

from eventlog import Draft, EventLog, RecordedEvent, StreamKey
from eventlog.errors import InputRefused, WrongExpectedVersion
from eventlog.events import CompactionDeclined, ContextCompacted, Event, ModelResponded
from harness.exchange.secret_text import Withheld
from harness.exchange.withheld import event_without_secrets
from harness.importers.identity import Identity, branch_id
from harness.importers.report import SessionImport
from harness.importers.units import Unit
from harness.usage import unreadable_counts

BATCH = 500
"""Events of one append, more where a unit goes over it."""

BATCH_BYTES = 8 * 1024 * 1024
LEFTOVER = "torn"
"""In ``origin.rest``: the file ended inside this record when it was taken."""


class StreamWriter:
    """Appends the units of one session of a file.

    No key that the file holds gets into an event, whatever the format: see ``withheld``, which is
    counted into. Raises SourceForgotten when the source was dropped on purpose, InputRefused when
    the name belongs to a session that was not imported, and what ``append`` raises where another
    import of the same source was quicker.
    """

    def __init__(
        self, log: EventLog, key: StreamKey, format: str, foreign_id: str, withheld: Withheld
    ) -> None:
        self.key = key
        self._withheld = withheld
        self.report = SessionImport(key=str(key))
        self._log = log
        self._root = key
        self._fresh = not log.exists(key)
        stored = log.import_key(key)
        if stored is None and not self._fresh:
            raise InputRefused(f"session {key} exists and was not imported; choose another name")
        self._import_key = stored if stored is not None else os.urandom(32)
        self.identity = Identity(self._import_key, format, foreign_id)
        self._branch_key: bytes | None = None
        self._units: list[Unit] = []
        self._events = self._weight = 0
        self._last = 0
        self._rests: list[Unit] = []
        self._passed: dict[int, Unit] = {}
        self._enter(key)

    def _enter(self, key: StreamKey) -> None:
        self.key = key
        self._version = self._log.version(key)
        self._tail = self._last_imported()

    def _last_imported(self) -> int:
        """The position of the last event in the stream that came from the file, or a leftover."""
        high = self._version
        while high > self._last:
            low = max(self._last, high - 64)
            found = [
                event.position
                for event in self._log.read(self.key, low, high)
                if event.data.get("origin") is not None
            ]
            if found:
                return found[-1]
            high = low
        return self._last

    @property
    def weight(self) -> int:
        """About how many bytes wait to be appended."""
        return self._weight

    # -- taking units ---------------------------------------------------------------------------

    def add(self, unit: Unit) -> None:
        """Take a unit; it is appended with others, in order, by ``pause`` or ``flush``."""
        self._units.append(unit)
        self._events += len(unit.events)
        self._weight += unit.weight

    @property
    def next(self) -> int:
        """Where the next event will stand, as far as is known before it is placed."""
        return self._version + self._events + 1 if self._is_at_end else self._last + 1

    def place(self, unit: Unit) -> None:
        """Take a unit, and fill its slots at once: where it is new it may still wait."""
        first = self.next
        self.add(unit)
        if self._is_at_end:
            self._assign(unit, first)
        else:
            self.flush()

    @property
    def _is_at_end(self) -> bool:
        """Whether everything that comes is new, and stands behind what waits."""
        return self._last >= self._tail and not self._rests

    def pause(self) -> None:
        """Between two things that belong together: append what was taken, if it is enough."""
        if self._events >= BATCH or self._weight >= BATCH_BYTES:
            self.flush()

    def offer(self, unit: Unit) -> None:
        """Take a unit only if an earlier import took it, whole or in part; else it is pending."""
        self.flush()
        if self._last < self._tail:
            known, _ = self._settle(unit, self._lookup([unit]), offered=True)
            if known:
                return
        self.report.pending += len(unit.stamps)

    def flush(self) -> None:
        """Append what was taken."""
        while self._units:
            units, self._units = self._units, []
            self._events = self._weight = 0
            known = self._lookup(units) if self._last < self._tail else {}
            drafts: list[Draft] = []
            for index, unit in enumerate(units):
                taken, new = self._settle(unit, known, placed=len(drafts))
                if not taken:
                    self._units = [*self._rests_behind(self._last), *units[index:]]
                    self._branch(self._units[0])
                    break
                drafts.extend(new)
            self._append(drafts)

    def finish(self) -> SessionImport:
        """Append what is left, and say what the file no longer holds."""
        if self._fresh and all(not unit.stamps for unit in self._units):
            self._units = []  # a session with nothing in it yet
        self.flush()
        if self._rests and self._holds_others(self._last, self._tail + 1):
            self.report.pending += sum(len(rest.stamps) for rest in self._rests)
        elif self._rests:
            self._append(self._plan_rests(0))
        for event in self._log.read(self.key, self._last) if self._last < self._tail else ():
            self.report.vanished += self._came(event)
        return self.report

    # -- comparing ------------------------------------------------------------------------------

    def _id(self, unit: Unit, index: int) -> uuid.UUID:
        event_id = self.identity.event_id(unit.stamps, index)
        return event_id if self._branch_key is None else branch_id(self._branch_key, event_id)

    def _lookup(self, units: list[Unit]) -> dict[uuid.UUID, int]:
        ids = [self._id(unit, index) for unit in units for index in range(len(unit.events))]
        found = self._log.known_ids(ids)
        return {event_id: at for event_id, (key, at) in found.items() if key == self.key}

    def _settle(
        self, unit: Unit, known: dict[uuid.UUID, int], placed: int = 0, offered: bool = False
    ) -> tuple[bool, list[Draft]]:
        """Give the unit its places: (False, []) when the file parts from the stream here."""
        if self._last < self._tail and self._pass_over(unit, known):
            return True, []
        if unit.unreadable and self._known_rest(unit):
            return True, []
        if self._last >= self._tail:
            return not offered, [] if offered else self._plan(unit, placed)
        if self._pass_over_part(unit, offered):
            return True, []
        if offered or self._holds_others(self._last, self._tail + 1):
            return False, []
        self._last = self._tail  # only leftovers stand there
        return True, self._plan(unit, placed)

    def _pass_over_part(self, unit: Unit, offered: bool) -> bool:
        """Whether an earlier import took the first records of the unit before the others came.

        The others then stand somewhere behind, or are appended before anything else that is new.
        """
        if unit.split is None:
            return False
        for size in range(len(unit.stamps) - 1, 0, -1):
            first, rest = unit.split(size)
            if self._pass_over(first, self._lookup([first])):
                self._take_rest(rest, offered)
                return True
        return False

    def _take_rest(self, unit: Unit, offered: bool) -> None:
        if self._known_rest(unit):
            return
        if unit.split is not None:
            for size in range(len(unit.stamps) - 1, 0, -1):
                first, rest = unit.split(size)
                if self._known_rest(first):
                    self._take_rest(rest, offered)
                    return
        if offered:
            self.report.pending += len(unit.stamps)
        else:
            self._rests.append(unit)

    def _rests_behind(self, position: int) -> list[Unit]:
        """The rests that do not stand up to a position: a fork made there has to hold them."""
        found = [unit for at, unit in self._passed.items() if at > position]
        self._passed = {at: unit for at, unit in self._passed.items() if at <= position}
        found, self._rests = [*found, *self._rests], []
        return found

    def _known_rest(self, unit: Unit) -> bool:
        known = self._lookup([unit])
        for index, planned in enumerate(unit.events):
            at = known.get(self._id(unit, index))
            if at is None:
                return False
            planned.slot.position = at
            self._passed[at] = unit
        self.report.known += len(unit.events)
        return True

    def _pass_over(self, unit: Unit, known: dict[uuid.UUID, int]) -> bool:
        """Whether the unit is what comes next in the stream."""
        places = [known.get(self._id(unit, index)) for index in range(len(unit.events))]
        at = self._last
        for place in places:
            if place is None or place <= at or self._holds_others(at, place):
                return False
            at = place
        for planned, place in zip(unit.events, places, strict=True):
            planned.slot.position = place or 0
        self._last = at
        self.report.known += len(places)
        return True

    def _holds_others(self, after: int, before: int) -> bool:
        """Whether events of the file stand between two positions."""
        if before == after + 1:
            return False
        return any(map(self._came, self._log.read(self.key, after, before - 1)))

    def _came(self, event: RecordedEvent) -> bool:
        """Whether an event came from the file and was not passed over yet."""
        return event.position not in self._passed and _imported(event)

    # -- appending ------------------------------------------------------------------------------

    def _plan_rests(self, placed: int) -> list[Draft]:
        rests, self._rests = self._rests, []
        drafts: list[Draft] = []
        for rest in rests:
            drafts.extend(self._plan(rest, placed + len(drafts)))
        return drafts

    def _plan(self, unit: Unit, placed: int) -> list[Draft]:
        if self._rests:
            drafts = self._plan_rests(placed)
            return [*drafts, *self._plan(unit, placed + len(drafts))]
        self._assign(unit, self._version + placed + 1)
        drafts = []
        for index, planned in enumerate(unit.events):
            event = event_without_secrets(planned.build(), self._withheld)
            self._tell_usage(event)
            drafts.append(Draft(event, self._id(unit, index), planned.occurred_at, planned.salt))
        return drafts

    def _tell_usage(self, event: Event) -> None:
        """What a bill gives as counts of tokens and cannot be any: it counts as 0."""
        usage = event.usage if isinstance(event, ModelResponded | CompactionDeclined) else None
        if isinstance(event, ContextCompacted) and event.summarizer is not None:
            usage = event.summarizer.usage
        if usage is not None and (odd := unreadable_counts(usage)):
            note = f"no count of tokens, so not known: {', '.join(odd)}"
            if note not in self.report.notes:
                self.report.notes.append(note)

    @staticmethod
    def _assign(unit: Unit, first: int) -> None:
        """Places and salts for what is new; digests may be made of it from now on."""
        for position, planned in enumerate(unit.events, first):
            planned.slot.position = position
            planned.salt = planned.salt or os.urandom(16)

    def _append(self, drafts: list[Draft]) -> None:
        if not drafts:
            return
        if self._fresh:
            appended = self._log.append(
                self.key, *drafts, expected_version=0, import_key=self._import_key
            )
            self._fresh = False
        else:
            appended = self._log.append(self.key, *drafts, expected_version=self._version)
        if appended.repeated:
            # Another import was quicker with the same bytes: their salts are its own.
            raise WrongExpectedVersion(str(self.key), self._version, appended.last)
        self._version = self._last = self._tail = appended.last
        self.report.new += len(drafts)

    def _branch(self, unit: Unit) -> None:
        """Go on in the fork that holds what follows here; made when there is none."""
        if self._last == 0:
            raise InputRefused(f"session {self._root} holds another source; choose another name")
        parent, base = self.key, self._last
        first = self.identity.event_id(unit.stamps, 0)
        number = 2
        while True:
            child = self._root._replace(session=f"{self._root.session}~{number}")
            if not self._log.exists(child):
                self._log.fork(
                    child,
                    parent,
                    base,
                    ownership="observed",
                    reason="the source file was rewritten",
                    import_key=os.urandom(32),
                )
                break
            info = self._log.stream(child)
            if (info.parent, info.base) == (parent, base) and self._holds_branch(child, first):
                break
            number += 1
        self._branch_key = self._log.import_key(child)
        self._last = base
        self._enter(child)
        self.report.forks.append(str(child))

    def _holds_branch(self, child: StreamKey, first: uuid.UUID) -> bool:
        """Whether that fork begins with this event, or with nothing yet."""
        key = self._log.import_key(child)
        if key is None:
            return False
        event_id = branch_id(key, first)
        own = self._log.stream(child).base
        begins = next((e.id for e in self._log.read(child, own) if _imported(e)), event_id)
        return begins == event_id


def _imported(event: RecordedEvent) -> bool:
    """Whether an event came from the source, and is not a leftover of a torn record."""
    origin = event.data.get("origin")
    if not isinstance(origin, dict):
        return False
    rest = origin.get("rest")
    return not (isinstance(rest, dict) and rest.get(LEFTOVER) is True)
