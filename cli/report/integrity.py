"""What a session is made of: where it came from, what was erased, and whether it holds.

The page tells the head, and how to compare it; whether the bytes hold is asked when it is made.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from cli.models import ProblemData
from cli.naming import short_names
from cli.report.model_integrity import (
    GapData,
    IntegrityData,
    NoteData,
    RedactionData,
    RelatedData,
    UnknownRecordData,
    VerifiedData,
)
from eventlog import RecordedEvent
from eventlog.happened import iso, moment
from eventlog.integrity import verify
from projections.context import fold
from projections.ownership import is_observed

if TYPE_CHECKING:
    from cli.report.session import Reading

MOST_RECORDS = 200
"""Unrecognized records that are told one by one."""


def integrity(read: Reading) -> IntegrityData:
    """Everything of one session. Raises StreamNotFound."""
    live, key = read.live, read.key
    info = live.log.stream(key)
    headers = live.log.headers(key, info.base)
    started = next(live.log.read(key, types=["session_started"]), None)
    told: dict[str, Any] = started.data if started is not None else {}
    metadata = told.get("metadata")
    file = metadata.get("file") if isinstance(metadata, dict) else None
    unknown = [
        event
        for event in live.log.read(key, types=["record_unrecognized"])
        if event.data.get("kind", "unknown") != "known"
    ]
    files = dict.fromkeys(str(event.data.get("file", "")) for event in unknown)
    ends = [*live.log.at(key, {headers[0].position, headers[-1].position}).values()]
    return IntegrityData(
        is_observed=is_observed(live.log, key),
        events=len(headers),
        types=dict(Counter(header.type for header in headers).most_common()),
        first_recorded=iso(min(event.recorded_at for event in ends)),
        last_recorded=iso(max(event.recorded_at for event in ends)),
        format=str(told.get("format") or ""),
        importer_version=int(told.get("importer_version") or 0),
        foreign_id=str(told.get("foreign_session_id") or ""),
        files=[name for name in dict.fromkeys([file, *files]) if isinstance(name, str) and name],
        parent=_parent(read),
        forks=_forks(read),
        erased=len(read.subject.noted.erased),
        redactions=[_redaction(event) for event in live.log.read(key, types=["redacted"])],
        notes=[NoteData(**note._asdict()) for note in fold(live.history(key)).notes],
        unrecognized=[_record(event) for event in unknown[:MOST_RECORDS]],
        unrecognized_count=len(unknown),
        gaps=[
            GapData(position=at, calls_missed=missed, reason=reason)
            for at, missed, reason in read.subject.noted.interruptions
        ],
        verified=_verified(read),
    )


def _verified(read: Reading) -> VerifiedData:
    found = verify(read.live.log, stream=read.key)
    return VerifiedData(
        events=found.events,
        redactions=found.redactions,
        problems=[ProblemData.model_validate(problem._asdict()) for problem in found.problems],
    )


def _parent(read: Reading) -> RelatedData | None:
    info = read.live.log.stream(read.key)
    if info.parent is None:
        return None
    name = str(info.parent)
    return RelatedData(key=name, name=short_names(read.live, [name])[name], at=info.base)


def _forks(read: Reading) -> list[RelatedData]:
    found = [info for info in read.live.log.streams() if info.parent == read.key]
    names = short_names(read.live, [str(info.key) for info in found])
    return [
        RelatedData(key=str(info.key), name=names[str(info.key)], at=info.base) for info in found
    ]


def _redaction(event: RecordedEvent) -> RedactionData:
    targets = [dict(each) for each in event.data.get("targets", ())]
    own = [each["position"] for each in targets if not each.get("stream")]
    return RedactionData(
        position=event.position,
        at=iso(moment(event.occurred_at, event.recorded_at)),
        item=str(event.data.get("item") or ""),
        events=sorted(own),
        elsewhere=len(targets) - len(own),
        reason=str(event.data.get("reason") or ""),
        by=str(event.data.get("by") or ""),
    )


def _record(event: RecordedEvent) -> UnknownRecordData:
    return UnknownRecordData(
        position=event.position,
        kind=event.data.get("kind", "unknown"),
        file=str(event.data.get("file", "")),
        line=int(event.data.get("line") or 0),
    )
