"""A run of an agent that is one JSON document, written again after each step.

What is said of the run as a whole (its exit status, its costs) changes with every step, and stands
for good when the run has ended. Until then it waits for the next import.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from eventlog import Json
from eventlog.events import Origin, RecordUnrecognized, SessionStarted
from eventlog.jsonvalue import dumps
from harness.exchange.secret_text import Withheld
from harness.exchange.withheld import without_secrets
from harness.importers.conversations import conversation_name
from harness.importers.job import Job
from harness.importers.stream_writer import LEFTOVER, StreamWriter
from harness.importers.units import Planned, Slot, Unit

NOWHERE = Origin(records=())
"""Of what is no record of the conversation."""


def names(job: Job, count: int) -> Iterator[str]:
    """The session names of the runs of a file: a hash of its path and their number, or as given."""
    place = os.path.realpath(job.path) if job.path is not None else ""
    given = job.options.session
    for number in range(1, count + 1):
        if given:
            yield given if number == 1 else f"{given}.{number}"
        else:
            yield conversation_name(place, number)


class RunDocument:
    """One run of a file: what all formats of this kind do alike."""

    def __init__(
        self, job: Job, writer: StreamWriter, format: str, add: Callable[[Unit], None]
    ) -> None:
        self._job = job
        self._writer = writer
        self._format = format
        self.add = add
        """Takes a unit."""

    def start(self, name: str, number: int, metadata: Mapping[str, Any], version: int) -> None:
        """The session begins. It is titled by the file, which such agents name after the task."""
        path, file = self._job.path, self._job.file
        title = path.name.removesuffix(".json").removesuffix(".traj") if path is not None else ""
        started = SessionStarted(
            title=title if title.isprintable() else "",
            metadata=Json({**metadata, "file": file, "conversation": number}),
            ownership="observed",
            format=self._format,
            importer_version=version,
            foreign_session_id=name,
            origin=NOWHERE,
        )
        self.add(Unit((), [Planned(Slot(), lambda: started)]))

    def end(self, info: Any) -> None:
        """What is said of the whole run."""
        if not info:
            return
        ended = not isinstance(info, dict) or bool(info.get("exit_status"))
        rest = None if ended else Json({LEFTOVER: True})
        kept = self.kept(info, 1, Origin(records=(), rest=rest), "known")
        # Without its keys, or the same run with another key would be another run.
        told = self.unit([without_secrets(info, Withheld())], [kept])
        if ended or self._job.options.final:
            self.add(told)
        else:
            self._writer.offer(told)

    def unit(self, values: Sequence[Any], events: list[Planned]) -> Unit:
        """A unit made of some values of the document."""
        raws = [dumps(value).encode() for value in values]
        stamps = tuple(self._writer.identity.stamp(raw) for raw in raws)
        return Unit(stamps, events, sum(map(len, raws)))

    def kept(self, value: Any, line: int, origin: Origin, kind: str = "unknown") -> Planned:
        """A value that has no effect on the context, kept whole."""
        event = RecordUnrecognized.model_validate(
            {
                "file": self._job.file,
                "line": line,
                "offset": 0,
                "kind": kind,
                "raw": dumps(value),
                "origin": origin,
            }
        )
        return Planned(Slot(), lambda: event)
