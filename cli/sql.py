"""The answer of a query as data, as a table and as CSV. Pure, but for reading the answer.

What a cell holds was written by models, tools and web pages: control and bidirectional characters
become visible, and a text that a spreadsheet would run as a formula gets a ``'`` in front. Every
text is in quotes, so that no program takes a part of it for a cell of its own.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import islice

from cli.models_upkeep import BlobData, SqlData, ViewData, ViewsData
from cli.safetext import display_width, safe_text
from cli.style import Style, pad, pad_left
from eventlog import readable_3
from eventlog.asking import Answer, Value
from eventlog.errors import InputRefused
from eventlog.readable import VIEWS
from eventlog.reading import Reading
from eventlog.schema import FORMAT

MOST = 1_000
"""Rows of a table, where nothing else is asked for."""

_ROOM = 256 * 1024 * 1024
"""Characters and bytes of an answer that is held as a whole: as a table or as JSON."""

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
_BROKEN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+|(?=[eE]))(?:[eE][+-]?[0-9]+)?", re.ASCII)
_MOST_WHOLE = 2**63

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
"""What a spreadsheet takes for the beginning of a formula, full-width signs included (OWASP, CSV
Injection)."""

_HEX = 32
"""Bytes of a blob that a table shows."""

_LEAST = 8
"""Columns of the terminal that a column of a table needs at least, else rows become records."""


def values_of(given: Sequence[str]) -> dict[str, Value]:
    """``NAME=VALUE``: what is written as SQL writes a number is one, all else is text, such as
    ``nan``, ``007`` and what no column can hold. Raises InputRefused."""
    found: dict[str, Value] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.isidentifier():
            raise InputRefused(f"--param takes NAME=VALUE, for :NAME in the query, not {each!r}")
        found[name] = value
        if _WHOLE.fullmatch(value) and -_MOST_WHOLE <= int(value) < _MOST_WHOLE:
            found[name] = int(value)
        elif _BROKEN.fullmatch(value) and math.isfinite(float(value)):
            found[name] = float(value)
    return found


def sql_data(answer: Answer, limit: int | None) -> SqlData:
    """The answer, up to so many rows. Raises InputRefused for one that is too large to hold."""
    rows: list[list[int | float | str | BlobData | None]] = []
    room = _ROOM
    for row in islice(answer.rows, limit):
        room -= sum(len(value) for value in row if isinstance(value, str | bytes))
        if room < 0:
            raise InputRefused(
                f"the answer is larger than {_ROOM // 1024**2} MB after {len(rows):,} rows: --csv "
                "writes it while it comes, and --limit takes less of it"
            )
        rows.append([_cell(value) for value in row])
    more = limit is not None and next(answer.rows, None) is not None
    return SqlData(columns=list(answer.columns), rows=rows, more=more)


def _cell(value: Value) -> int | float | str | BlobData | None:
    if isinstance(value, bytes):
        return BlobData(hex=value.hex(), size=len(value))
    if isinstance(value, float) and not math.isfinite(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def views_data() -> ViewsData:
    """What can be asked."""
    return ViewsData(views=[ViewData(name=v.name, about=v.about, columns=v.columns) for v in VIEWS])


def lacking(log: Reading) -> str:
    """What the views of a log of an earlier format do not have; empty where they have all."""
    (version,) = log.query("pragma user_version").fetchone()
    if version >= FORMAT:
        return ""
    said = f"this log is of format {version} and could not be written to"
    if version < 3:
        return f"{said}: its only view is events_readable, without happened_at"
    was = {view.name: view.columns for view in readable_3.VIEWS}
    new = [
        name
        for view in VIEWS
        for name in view.columns
        if view.name in was and name not in was[view.name]
    ]
    return f"{said}: its views have no {' and no '.join(dict.fromkeys(new))}"


# -- as text --------------------------------------------------------------------------------------


def render_views(data: ViewsData, style: Style) -> Iterator[str]:
    """The views, each with its columns."""
    for number, view in enumerate(data.views):
        if number:
            yield ""
        yield style.paint(view.name, "bold")
        yield from textwrap.wrap(
            view.about, style.width, initial_indent="  ", subsequent_indent="  "
        )
        yield from textwrap.wrap(
            ", ".join(view.columns), style.width, initial_indent="  ", subsequent_indent="  "
        )


def render_sql(data: SqlData, style: Style) -> Iterator[str]:
    """A table; where the columns do not fit beside each other, a record a row."""
    if not data.rows:
        yield style.line(f"no rows ({', '.join(data.columns)})", style.width)
        return
    heads = [style.line(name, style.width) for name in data.columns]
    cells = [[style.line(_said(value), style.width) for value in row] for row in data.rows]
    sizes = [
        max(display_width(heads[n]), *(display_width(row[n]) for row in cells))
        for n in range(len(heads))
    ]
    if sum(min(size, _LEAST) + 2 for size in sizes) - 2 > style.width:
        yield from _records(heads, data, style)
        return
    sizes = _fitted(sizes, style.width)
    yield style.paint(_line(heads, sizes, [False] * len(heads), style), "bold")
    for row, shown in zip(data.rows, cells, strict=True):
        numbers = [isinstance(value, int | float) for value in row]
        yield _line(shown, sizes, numbers, style)


def _said(value: int | float | str | BlobData | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, BlobData):
        more = "…" if value.size > _HEX else ""
        return f"x'{value.hex[: 2 * _HEX]}{more}' ({value.size:,} bytes)"
    return str(value)


def _fitted(sizes: list[int], room: int) -> list[int]:
    """The widest columns give way until all fit."""
    sizes = list(sizes)
    over = sum(sizes) + 2 * (len(sizes) - 1) - room
    while over > 0:
        widest = max(sizes)
        places = [n for n, size in enumerate(sizes) if size == widest]
        second = max((size for size in sizes if size < widest), default=1)
        step = max(1, min(widest - second, -(-over // len(places))))
        for place in places:
            cut = min(step, over)
            sizes[place] -= cut
            over -= cut
    return sizes


def _line(cells: Sequence[str], sizes: Sequence[int], right: Sequence[bool], style: Style) -> str:
    shown = []
    for cell, size, number in zip(cells, sizes, right, strict=True):
        text = style.line(cell, size) if display_width(cell) > size else cell
        shown.append(pad_left(text, size) if number else pad(text, size))
    return "  ".join(shown).rstrip()


def _records(heads: Sequence[str], data: SqlData, style: Style) -> Iterator[str]:
    room = max(display_width(head) for head in heads)
    for number, row in enumerate(data.rows):
        if number:
            yield ""
        for head, value in zip(heads, row, strict=True):
            text = style.line(_said(value), max(_LEAST, style.width - room - 2))
            yield f"{style.paint(pad(head, room), 'dim')}  {text}".rstrip()


# -- as CSV ---------------------------------------------------------------------------------------


class CsvLines:
    """The lines of a CSV, while the answer comes; and how many texts got a ``'`` in front."""

    def __init__(self, answer: Answer, limit: int | None) -> None:
        self._answer, self._limit = answer, limit
        self.guarded = 0

    def __iter__(self) -> Iterator[str]:
        yield ",".join(map(self._field, self._answer.columns))
        for row in islice(self._answer.rows, self._limit):
            yield ",".join(map(self._field, row))

    def _field(self, value: Value) -> str:
        if value is None:
            return ""
        if isinstance(value, int | float) and math.isfinite(value):
            return repr(value)
        text = f"x'{value.hex()}'" if isinstance(value, bytes) else str(_cell(value))
        if text.lstrip(" \n").startswith(_FORMULA):
            self.guarded += 1
            text = "'" + text
        return '"' + safe_text(text).replace('"', '""') + '"'
