"""The source's clock: what is read of it, in Python and in SQL alike."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eventlog.happened import iso, recorded_sql, source_moment, source_sql

READ = {
    "2026-11-30": "2026-11-30T00:00:00.000Z",
    "2026-11-30T10:20": "2026-11-30T10:20:00.000Z",
    "2026-11-30 10:20:30": "2026-11-30T10:20:30.000Z",
    "2026-11-30T10:20:30,5": "2026-11-30T10:20:30.500Z",
    "2026-11-30T10:20:30.9999999Z": "2026-11-30T10:20:30.999Z",
    "2026-11-30T01:20:30+02:00": "2026-11-29T23:20:30.000Z",
    "2026-11-30T23:20:30.25-0230": "2026-12-01T01:50:30.250Z",
    "2026-11-30 10:20:30+02": "2026-11-30T08:20:30.000Z",
    "2024-02-29": "2024-02-29T00:00:00.000Z",
    "1700000000": "2023-11-14T22:13:20.000Z",
    "1700000000.1239999": "2023-11-14T22:13:20.123Z",
    "1700000000.": "2023-11-14T22:13:20.000Z",
    "1700000000123.9": "2023-11-14T22:13:20.123Z",
    "100000000": "1973-03-03T09:46:40.000Z",
    "100000000000": "1973-03-03T09:46:40.000Z",
    "99999999999.9996": "5138-11-16T09:46:39.999Z",
    "253402300799999": "9999-12-31T23:59:59.999Z",
    "9999-12-31T23:59:59.999999Z": "9999-12-31T23:59:59.999Z",
}
UNREAD = (
    "", "0", "-1", "-1700000000", "+1700000000", "NaN", "nan", "inf", "1e10", "1.7e9", "2026", ".5",
    "1_700_000_000", "1700000000,5", "1.7.5", "99999999.9", "253402300800000", "9" * 64,
    "99999999999999999999", "20261130", "2026-W48-1", "2026-13-01", "2026-02-29", "2026-11-31",
    "2026-00-10", "0000-01-01", "0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z",
    "1973-03-03T09:46:39.999Z", "2026-11-30T", "2026-11-30T10", "2026-11-30T24:00:00",
    "2026-11-30T10:60", "2026-11-30T10:20:60", "2026-11-30T10:20:30.", "2026-11-30T10:20:30.5.5",
    "2026-11-30T10:20:30+24:00", "2026-11-30T10:20:30+02:60", "2026-11-30T10:20:30 +02:00",
    "2026-11-30T10:20:30z", "2026-11-30Z", "2026-11-30+02", "2026-11-30-05:00", " 2026-11-30",
    "2026-11-30 ", "9999-12-31T23:59:59-00:01", "30.11.2026", "now", "today", "yesterday",
)  # fmt: skip
LABEL = st.text(st.sampled_from("0123456789.,:-+TZ e"), max_size=40)


@st.composite
def nearly(draw: st.DrawFn) -> str:
    """A label of one of the lists, with up to three characters changed, put in or taken out."""
    label = draw(st.sampled_from([*READ, *UNREAD]))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(label)))
        label = label[:at] + draw(LABEL)[:1] + label[at + draw(st.integers(0, 1)) :]
    return label


@pytest.fixture(scope="module")
def db() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    yield connection
    connection.close()


def in_sql(db: sqlite3.Connection, label: str | None) -> str | None:
    (found,) = db.execute(f"select {source_sql('e')} from (select ? as occurred_at) e", [label])
    shown: str | None = found[0]
    return shown


def in_python(label: str | None) -> str | None:
    at = source_moment(label)
    return iso(at) if at is not None else None


class TestTheSourcesClock:
    """Without it `sessions` and the SQL views put the same event into different months."""

    @pytest.mark.parametrize("label", READ)
    def test_it_is_read_as_it_was_written(self, db: sqlite3.Connection, label: str) -> None:
        assert in_python(label) == in_sql(db, label) == READ[label]

    @pytest.mark.parametrize("label", [None, *UNREAD])
    def test_what_is_no_time_is_none(self, db: sqlite3.Connection, label: str | None) -> None:
        assert in_python(label) is in_sql(db, label) is None

    @given(LABEL | nearly())
    @example("2026-11-30T10:20:30+0")
    @settings(max_examples=2000)
    def test_sql_and_python_say_the_same(self, db: sqlite3.Connection, label: str) -> None:
        assert in_sql(db, label) == in_python(label)


class TestTheTimeOfRecording:
    """Without it a moment is rounded into the next month by one, and cut by the other."""

    @given(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 2**51))
    @example(-1)
    @example(1_767_225_599_999_999)
    @example(253_402_300_800_000_000)
    @settings(max_examples=500)
    def test_sql_and_python_say_the_same(self, db: sqlite3.Connection, at: int) -> None:
        (found,) = db.execute(f"select {recorded_sql('at')} from (select ? as at)", [at])
        assert found == (iso(at),)
