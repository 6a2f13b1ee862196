"""The tokens of items, and what is kept of them.

Counting with ``utf8/4`` is cheaper than reading what is counted (2,000 items of 4 MB: 70 ms to
read, 9 ms to count), so nothing is kept. An exact tokenizer costs four times the reading (270 ms,
and 0.4 s to load it), so its counts are: table ``token_counts``, filled by what is asked for. A
rendition's bytes never change, so a count needs no stamp and is never out of date; the rendition of
something erased, which may change once more, is not kept. The table holds numbers and no text.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence

from eventlog.errors import DatabaseFault
from eventlog.recorded import StreamInfo, StreamKey
from projections import runs, tokens
from projections.items import Item
from projections.live import Live
from projections.tokens import Counter

METHOD = 1
"""Of ``tokens.count_item``: moved on when it counts what stands around a text in another way."""

_CHUNK = 300


def counts(
    live: Live,
    stream: StreamKey | str,
    items: Iterable[Item],
    counter: Counter | str = tokens.DEFAULT,
) -> dict[str, int]:
    """The tokens of each item, by the label of its rendition.

    Raises StreamNotFound, tokens.UnknownCounter and vocabulary.TokenizerMissing. A log that is open
    for reading only, or that cannot be written now, is counted all the same and keeps nothing.
    """
    counting = tokens.counter(counter) if isinstance(counter, str) else counter
    by_label = {item.rendition: item for item in items}
    info = live.log.stream(stream)
    if not counting.exact:
        return {label: tokens.count_item(counting, item) for label, item in by_label.items()}
    rows = {
        label: (_owner(live, info, label).row, label)
        for label in by_label
        if not label.endswith("@redacted")
    }
    name = f"{counting.name} {METHOD}"
    known = _known(live, name, list(rows.values()))
    found: dict[str, int] = {}
    new: list[tuple[int, str, str, int]] = []
    for label, item in by_label.items():
        row = rows.get(label)
        count = known.get(row) if row is not None else None
        if count is None:
            count = tokens.count_item(counting, item)
            if row is not None:
                new.append((*row, name, count))
        found[label] = count
    if new and not live.log.read_only:
        with contextlib.suppress(DatabaseFault):
            _keep(live, new)
    return found


def _owner(live: Live, info: StreamInfo, label: str) -> StreamInfo:
    """The stream that holds the newer of a rendition's two events: forks share its count."""
    item, rendition = runs.standing(label)
    position = max(runs.position_of(item), rendition)
    while info.parent is not None and position <= info.base:
        info = live.log.stream(info.parent)
    return info


def _known(live: Live, name: str, rows: Sequence[tuple[int, str]]) -> dict[tuple[int, str], int]:
    exists = "select 1 from sqlite_schema where type = 'table' and name = 'token_counts'"
    if not rows or live.log.query(exists).fetchone() is None:
        return {}
    found: dict[tuple[int, str], int] = {}
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        marks = ",".join(["(?, ?)"] * len(chunk))
        for stream, label, count in live.log.query(
            "select stream, rendition, tokens from token_counts where counter = ? "
            f"and (stream, rendition) in (values {marks})",
            [name, *(value for row in chunk for value in row)],
        ).fetchall():
            found[stream, label] = count
    return found


def _keep(live: Live, rows: Sequence[tuple[int, str, str, int]]) -> None:
    with live.log.writing() as db:
        db.execute(
            "create table if not exists token_counts (stream integer not null, "
            "rendition text not null, counter text not null, tokens integer not null, "
            "primary key (stream, rendition, counter)) strict, without rowid"
        )
        db.executemany("insert or replace into token_counts values (?, ?, ?, ?)", rows)
