"""Erasing the text of events, and finding other copies of it.

One transaction appends a ``Redacted`` event that holds the skeletons, and takes payload and salt
out of the rows; the digest that stays keeps the chain whole. What the file still holds in free
pages, in the write-ahead log and in derived tables goes with ``scrub``, which is noted as pending
in the same transaction.

The import key of an imported stream could prove a guess of an erased text, since import ids are
made with it: ``EventLog.forget_source`` drops it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from eventlog import chain, outputs
from eventlog.clock import now_us
from eventlog.connection import translated
from eventlog.errors import DamagedLog, EventInvalid, InputRefused, PositionNotFound, StreamNotFound
from eventlog.events import Redacted, Skeleton
from eventlog.jsonvalue import Json, loads
from eventlog.log import EventLog
from eventlog.needles import forms
from eventlog.reading import PAGE
from eventlog.recorded import StreamKey
from eventlog.skeleton import Holds, skeleton_of


class Target(NamedTuple):
    """An event, by a stream that holds or inherits it."""

    stream: StreamKey
    position: int


@dataclass(frozen=True, slots=True)
class RedactionResult:
    """What a redaction did."""

    position: int | None
    """Of the ``Redacted`` event; None when there was nothing left to erase."""
    erased: tuple[Target, ...]
    """By the streams that own them."""
    already: tuple[Target, ...]
    """Erased before: nothing was done."""
    blobs: int
    """Binary parts that went with their last reference."""


@dataclass(frozen=True, slots=True)
class _Row:
    owner: StreamKey
    position: int
    sequence: int
    id: bytes
    type: str
    salt: bytes
    payload: str | None


def redact(
    log: EventLog,
    targets: Sequence[Target],
    *,
    stream: StreamKey | str,
    item: str = "",
    reason: str = "",
    by: str = "",
    entry_hashes: Mapping[Target, Mapping[str, str]] | None = None,
    holds: Holds | None = None,
    spare: bool = True,
) -> RedactionResult:
    """Erase the text of events, all or none, and append a ``Redacted`` event to ``stream``.

    An inherited event is erased where it stands, so in every fork. ``entry_hashes`` gives, by
    target, the entry hash for each call whose manifest names it. ``holds`` says of a text that it
    holds what is to go: then spared fields of the skeletons go too. Without ``spare`` all of them
    go. Follow it with ``scrub``.

    Raises StreamNotFound, PositionNotFound, InputRefused for events that cannot be erased (a
    redaction, the beginning of a fork), and what ``append`` raises.
    """
    key = StreamKey.parse(stream) if isinstance(stream, str) else stream.checked()
    with log.writing() as db:
        head = log._head(db, key, create=False)
        if head is None:
            raise StreamNotFound(str(key))
        rows: dict[int, _Row] = {}
        hashes: dict[int, Mapping[str, str]] = {}
        already: dict[int, Target] = {}
        for target in targets:
            row = _row(log, db, target)
            if row.payload is None:
                already[row.sequence] = Target(row.owner, row.position)
            else:
                rows[row.sequence] = row
                hashes.setdefault(row.sequence, (entry_hashes or {}).get(target, {}))
        done = tuple(already.values())
        if not rows:
            return RedactionResult(None, (), done, 0)
        going = holds if spare else _everything
        skeletons = tuple(_skeleton(row, key, hashes[row.sequence], going) for row in rows.values())
        event = Redacted(item=item, reason=reason, by=by, targets=skeletons)
        prepared = log._prepare([event])
        # Derived tables are brought up to here first: between the two steps below, an erased event
        # has no skeleton to read.
        log._catch_up_eager(db, log._sequence)
        note_scrub(db)
        blobs = sum(erase(db, row.sequence, log._sequence + 1) for row in rows.values())
        if holds is not None:
            outputs.drop_holding(db, holds)
        appended = log._insert(db, head, prepared)
    for stamp in log._stamps:
        stamp.forget()
    erased = tuple(Target(row.owner, row.position) for row in rows.values())
    return RedactionResult(appended.first, erased, done, blobs)


def _everything(text: str) -> bool:
    return True


def erase(db: sqlite3.Connection, sequence: int, by_sequence: int) -> int:
    """Take the text out of one row, inside the caller's write transaction.

    The ``Redacted`` event at ``by_sequence`` is the caller's to write, and so is ``note_scrub``,
    before this. What models gave when they were shown it goes too. Returns how many binary parts
    went with it.
    """
    db.execute("insert into redactions values (?, ?)", (sequence, by_sequence))
    salt, payload, stream, position = db.execute(
        "select salt, payload, stream, position from events where sequence = ?", (sequence,)
    ).fetchone()
    outputs.drop(db, stream, position)
    db.execute(
        "update events set payload = null, salt = null, erased = ? where sequence = ?",
        (chain.digest(salt, payload.encode()), sequence),
    )
    addresses = db.execute(
        "delete from blob_references where sequence = ? returning address", (sequence,)
    ).fetchall()
    dropped = 0
    for row in addresses:
        dropped += db.execute(
            "delete from blobs where address = ?1 and not exists "
            "(select 1 from blob_references where address = ?1)",
            row,
        ).rowcount
    return dropped


def erase_outputs(log: EventLog, holds: Holds) -> int:
    """Drop what models gave that holds a text, from whichever session it was made.

    The scrub is noted, and the caller's to do. Returns how many went. Raises Busy, ReadOnlyLog.
    """
    with log.writing() as db:
        if not outputs.keys_holding(db, holds):
            return 0
        note_scrub(db)
        return outputs.drop_holding(db, holds)


def note_scrub(db: sqlite3.Connection) -> None:
    """Note that erased text is still in the file, inside the transaction that erased it."""
    db.execute("insert into scrubs (requested_at) values (?)", (now_us(),))


def _row(log: EventLog, db: sqlite3.Connection, target: Target) -> _Row:
    info = log.stream(target.stream)
    version = log._version(db, info)
    if not 1 <= target.position <= version:
        name = f"position {target.position}"
        raise PositionNotFound(str(info.key), name, f"it ends at {version}")
    owner = log._segments(info, target.position - 1, target.position)[0][0]
    found = db.execute(
        "select sequence, id, type, salt, payload from events where stream = ? and position = ?",
        (owner.row, target.position),
    ).fetchone()
    if found is None:
        raise DamagedLog(str(log.path), f"{owner.key} position {target.position} is missing")
    row = _Row(owner.key, target.position, *found)
    if row.payload is not None and not isinstance(row.salt, bytes):
        raise DamagedLog(str(log.path), f"{owner.key} position {target.position} has no salt")
    if row.type in ("redacted", "session_forked"):
        raise InputRefused(
            f"{owner.key} position {row.position} is a {row.type} event: it holds no text, and the "
            "log cannot be read without it"
        )
    return row


def _skeleton(
    row: _Row, stream: StreamKey, hashes: Mapping[str, str], holds: Holds | None
) -> Skeleton:
    assert row.payload is not None
    try:
        payload = skeleton_of(row.type, loads(row.payload), holds)
    except (EventInvalid, AttributeError, LookupError, TypeError) as error:
        where = f"{row.owner} position {row.position}"
        raise InputRefused(f"{where} cannot be erased, it is unreadable: {error}") from None
    return Skeleton(
        position=row.position,
        stream="" if row.owner == stream else str(row.owner),
        event_id=row.id.hex(),
        payload=Json(payload),
        entry_hashes=Json(dict(hashes)) if hashes else None,
    )


class Copy(NamedTuple):
    """An event that holds a text."""

    stream: StreamKey
    position: int
    type: str


def find_bytes(log: EventLog, needle: str) -> list[Copy]:
    """Every event whose stored payload, or whose binary part, holds the text in any of its forms.

    Its type and the time that its source wrote are looked at too, which no redaction erases. The
    forms are those of ``needles``. Raises InputRefused for an empty text.
    """
    wanted = forms(needle)
    texts = [form.decode("utf-8", "replace") for form in wanted]
    keys = {info.row: info.key for info in log.streams()}
    found: dict[int, Copy] = {}
    for rows in _pages(log):
        for sequence, stream, position, kind, payload in rows:
            if any(text in payload for text in texts):
                found[sequence] = Copy(keys[stream], position, kind)
    for sequence, stream, position, kind in _in_blobs(log, list(wanted)):
        found.setdefault(sequence, Copy(keys[stream], position, kind))
    return [found[sequence] for sequence in sorted(found)]


def _pages(log: EventLog) -> Iterator[list[tuple[Any, ...]]]:
    last = 0
    while True:
        with log._mutex, translated(log.path):
            rows = (
                log._ready()
                .execute(
                    "select sequence, stream, position, type, type || char(10) || "
                    "coalesce(occurred_at, '') || char(10) || coalesce(payload, '') from events "
                    f"where sequence > ? order by sequence limit {PAGE}",
                    (last,),
                )
                .fetchall()
            )
        if not rows:
            return
        last = rows[-1][0]
        yield rows


def _in_blobs(log: EventLog, wanted: list[bytes]) -> Iterator[tuple[Any, ...]]:
    last = ""
    while True:
        with log._mutex, translated(log.path):
            db = log._ready()
            row = db.execute(
                "select address, data from blobs where address > ? order by address limit 1",
                (last,),
            ).fetchone()
            if row is None:
                return
            last = row[0]
            holders = []
            if any(form in row[1] for form in wanted):
                holders = db.execute(
                    "select e.sequence, e.stream, e.position, e.type from blob_references r "
                    "join events e on e.sequence = r.sequence where r.address = ?",
                    (last,),
                ).fetchall()
        yield from holders
