"""When an event happened: what its source's clock said, read the same way in Python and in SQL.

A label is a number, seconds since 1970 or, from 10^11 on, milliseconds; or a text that begins with
a date, ``YYYY-MM-DD``, with nothing behind it or a time of day (``T`` or a blank, hours and
minutes, seconds, a fraction) and a zone (``Z``, ``+02:00``, ``+0200``, ``+02``), UTC where it names
none. Everything else is no time, nor is what lies before March 1973: a zero, a year, seconds since
a start, Go's zero time. Then the time of recording stands.

The SQL text is part of the format of the log (``schema``): neither changes without the other.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_FROM = 10**11
"""A number from here on is of milliseconds; as milliseconds, also the first time that counts."""
_LAST = 253_402_300_799_999
"""The last millisecond of the year 9999, after which no ISO text can say it."""

_NUMBER = re.compile(r"([0-9]+)\.?([0-9]*)")
_TEXT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:[.,]([0-9]+))?)?"
    r"(?:Z|([+-])([01][0-9]|2[0-3])(?::?([0-5][0-9]))?)?)?"
)


def source_moment(label: str | None) -> int | None:
    """What a source's clock said, in microseconds since 1970; None where that cannot be read."""
    at = _read(label) if label is not None else None
    return at if at is not None and _MILLISECONDS_FROM <= at // 1000 <= _LAST else None


def _read(label: str) -> int | None:
    number = _NUMBER.fullmatch(label)
    if number is not None:
        whole = int(number[1])
        if whole >= _MILLISECONDS_FROM:
            return whole * 1000 + _fraction(number[2], 3)
        return whole * 1_000_000 + _fraction(number[2], 6)
    text = _TEXT.fullmatch(label)
    if text is None:
        return None
    try:
        day = datetime.fromisoformat(text[1]).replace(tzinfo=UTC)
    except ValueError:
        return None
    seconds = (day - _EPOCH) // timedelta(seconds=1)
    seconds += _seconds(text[2], text[3]) + int(text[4] or 0)
    zone = _seconds(text[7], text[8])
    seconds -= -zone if text[6] == "-" else zone
    return seconds * 1_000_000 + _fraction(text[5] or "", 6)


def _seconds(hours: str | None, minutes: str | None) -> int:
    return int(hours or 0) * 3600 + int(minutes or 0) * 60


def _fraction(digits: str, places: int) -> int:
    return int(digits[:places].ljust(places, "0"))


def moment(label: str | None, recorded_at: int) -> int:
    """When an event happened, in microseconds since 1970: by its source's clock, else ours."""
    at = source_moment(label)
    return recorded_at if at is None else at


def iso(microseconds: int) -> str:
    """A moment as ISO 8601 text, UTC; one that no text can say is the nearest that one can."""
    at = _EPOCH + timedelta(milliseconds=min(max(microseconds, 0) // 1000, _LAST))
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


# -- the same in SQL ------------------------------------------------------------------------------


def _iso_sql(ms: str) -> str:
    """Integers only: a division that rounds would show the next second."""
    return (
        f"strftime('%Y-%m-%dT%H:%M:%S', {ms} / 1000, 'unixepoch') || printf('.%03dZ', {ms} % 1000)"
    )


def recorded_sql(column: str) -> str:
    """``iso`` of a column of microseconds."""
    return f"(select {_iso_sql('ms')} from (select min(max({column}, 0) / 1000, {_LAST}) as ms))"


def source_sql(row: str) -> str:
    """``iso`` of the source's clock of a row of ``events``; null where that cannot be read."""
    return f"""(select {_iso_sql("ms")} from (
    select case
      when label glob '[0-9]*' and label not glob '*[^0-9.]*' and label not glob '*.*.*' then
        case when cast(label as integer) >= {_MILLISECONDS_FROM} then cast(label as integer)
          else cast(label as integer) * 1000 + cast(substr(
            substr(label, instr(label || '.', '.') + 1) || '000', 1, 3) as integer) end
      when date(day, '+0 days') = day and (clock = '' and zone = ''
        or substr(clock, 2, 2) < '24' and substr(zone, 2, 2) < '24' and (
          clock glob '[T ][0-9][0-9]:[0-5][0-9]'
          or clock glob '[T ][0-9][0-9]:[0-5][0-9]:[0-5][0-9]'
          or clock glob '[T ][0-9][0-9]:[0-5][0-9]:[0-5][0-9][.,][0-9]*'
            and substr(clock, 11) not glob '*[^0-9]*')) then
        (strftime('%s', day) + substr(clock, 2, 2) * 3600 + substr(clock, 5, 2) * 60
          + substr(clock, 8, 2)
          - (substr(zone, 1, 1) || substr(zone, 2, 2)) * 3600
          - (substr(zone, 1, 1) || substr(replace(zone, ':', ''), 4)) * 60
        ) * 1000 + cast(substr(substr(clock, 11) || '000', 1, 3) as integer)
      end as ms
    from (
      select label, zone, substr(label, 1, 10) as day,
        substr(label, 11, max(length(label) - 10 - length(zone), 0)) as clock
      from (
        select label, case when label glob '*Z' then 'Z'
          when label glob '*[+-][0-9][0-9]:[0-5][0-9]' then substr(label, -6)
          when label glob '*[+-][0-9][0-9][0-5][0-9]' then substr(label, -5)
          when label glob '*:*[+-][0-9][0-9]' then substr(label, -3) else '' end as zone
        from (select {row}.occurred_at as label)
      )
    )
  ) where ms between {_MILLISECONDS_FROM} and {_LAST})"""
