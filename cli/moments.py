"""Moments as people type them: ``2026-09-20``, ``yesterday``, ``2h``."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from eventlog.errors import InputRefused

_AGO = re.compile(r"(\d{1,6})(m|h|d|w)")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def typed_moment(text: str, now: datetime, *, end: bool = False) -> int:
    """Microseconds since 1970 of a moment; a day begins at 0:00 UTC, or with ``end`` is over.

    ``today``, ``yesterday``, an age (``30m``, ``2h``, ``3d``, ``1w``), a date, or an ISO 8601 time
    (UTC where it names no zone). Raises InputRefused.
    """
    word = text.strip().lower()
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    ago = _AGO.fullmatch(word)
    try:
        if ago is not None:
            at, is_day = now - timedelta(**{_UNITS[ago[2]]: int(ago[1])}), False
        elif word in ("today", "yesterday"):
            at, is_day = midnight - timedelta(days=word == "yesterday"), True
        else:
            at = datetime.fromisoformat(text.strip())
            is_day = len(text.strip()) <= len("2026-09-20")
            at = at.astimezone(UTC) if at.tzinfo is not None else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise InputRefused(
            f"{text!r} is no time: 2026-09-20, 2026-09-20T14:05, yesterday, 2h or 3d are"
        ) from None
    since = at - _EPOCH + timedelta(days=end and is_day)  # the last day of a calendar ends, too
    return since // timedelta(microseconds=1)
