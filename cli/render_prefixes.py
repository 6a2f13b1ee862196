"""What a cache could have had of each call, as text. Pure: data and a style in, lines out.

Estimates carry ``≈``; what the provider billed stands without.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from cli.models_prefix import BilledData, PrefixCallData, PrefixTableData
from cli.safetext import display_width
from cli.style import Style, heading, pad, pad_left, plural, ranges, short, tokens

SIGNS = {"compaction": "Σ", "substitution": "✂", "revision": "✂", "": "●"}
"""What each cause is shown as, as in the log; every other cause is ``!``, and nothing is ``●``."""

_SHORT_LIFE = 300
"""Seconds after which most caches have forgotten a request."""

_COLUMNS = ("call", "tokens", "reusable", "", "rewritten", "read", "written", "new")


_SPARED = (6, 7, 1, 4, 2)
"""Columns that go first where there is little room."""

_WHY = 28
"""Columns of the terminal for where it broke and by what."""


def render_prefixes(data: PrefixTableData, style: Style, *, stat: bool) -> Iterator[str]:
    """The sums, then one row a call."""
    yield style.paint(heading(f"prefix of {plural(data.calls, 'call')}", data.key, style), "bold")
    yield from _sums(data, style)
    if stat:
        return
    yield ""
    yield from _table(data, style)


def _sums(data: PrefixTableData, style: Style) -> Iterator[str]:
    share = f"{data.reusable / data.tokens:.0%}" if data.tokens else "-"
    yield from _wrapped(
        f"≈ estimated ({data.counter}, what is recorded here): {tokens(data.reusable)} of "
        f"{tokens(data.tokens)} tokens could be reused ({share}); "
        + (
            f"{data.broken:,} of {plural(data.calls, 'call')} broke"
            if data.broken
            else "none broke"
        ),
        style,
    )
    for one in data.by_cause:
        start = f" {_sign(one.cause, style)} {pad(one.cause, 13)} {pad_left(f'{one.calls:,}', 5)}  "
        said = f"{tokens(one.rewritten)} re-written, {tokens(one.lost)} of the calls before lost"
        yield style.block(start) + style.line(said, max(16, style.width - len(start)))
    billed = data.billed
    if billed is None:
        yield "no bill was recorded"
        return
    yield from _wrapped(
        f"billed ({plural(data.billed_calls, 'call')}): {', '.join(_bill(data, billed))}", style
    )
    if data.held:
        yield from _wrapped(
            f"where nothing broke {data.read / data.held:.1%} of what was billed before was read",
            style,
        )
    if data.contradicted:
        names = ranges(f"c{call}" for call in data.contradicted)
        yield from _wrapped(
            f"! the bill says that more broke than the log knows of: {names}", style
        )


def _bill(data: PrefixTableData, billed: BilledData) -> Iterator[str]:
    """What became of the billed tokens, as far as it was told."""
    if billed.cached is None:
        whole = (billed.input or 0) + (billed.cache_write or 0)
        yield f"{short(whole)} tokens, and not how many of them were read from a cache"
    else:
        share = f" ({billed.cached / data.cached_of:.0%})" if data.cached_of else ""
        some = data.cached_calls < data.billed_calls
        of = f" in {plural(data.cached_calls, 'call')} of which that was told" if some else ""
        read = f"{short(billed.cached)} of {short(data.cached_of)}"
        yield f"{read} tokens read from a cache{share}{of}"
    if billed.cache_write is not None:
        yield f"{short(billed.cache_write)} written to it"
    if billed.input is not None and data.cached_calls == data.billed_calls:
        yield f"{short(billed.input)} {_rest(billed)}"


def _rest(billed: BilledData) -> str:
    """What the uncached input is, beside what is known to have been read and written."""
    if billed.cached is None:
        return "tokens of input"
    return "not" if billed.cache_write is None else "neither"


def _wrapped(text: str, style: Style) -> Iterator[str]:
    yield from textwrap.wrap(style.block(text), style.width)


def _sign(cause: str | None, style: Style) -> str:
    return style.translated(SIGNS.get(cause or "", "!"))


def _table(data: PrefixTableData, style: Style) -> Iterator[str]:
    rows = [_cells(row) for row in data.rows]
    billed = bool(data.billed_calls)
    shown = [number for number in range(len(_COLUMNS)) if billed or number < 5]
    sizes = [max(display_width(row[n]) for row in (_COLUMNS, *rows)) for n in range(len(_COLUMNS))]
    start = 2 + sum(sizes[n] + 2 for n in shown)
    for number in _SPARED:
        if number in shown and style.width - start < _WHY:
            shown.remove(number)
            start -= sizes[number] + 2
    front = sum(sizes[n] + 2 for n in shown if n < 5)
    if billed:
        yield style.paint(f"{' ' * (2 + front)}billed", "dim")
    yield style.paint(f"  {_line(_COLUMNS, sizes, shown)}broke at", "dim")
    for row, cells in zip(data.rows, rows, strict=True):
        sign = "!" if row.contradicts else _sign(row.cause, style)
        line = f"{sign} {style.block(_line(cells, sizes, shown))}"
        said = style.line(_said(row), max(16, style.width - start))
        yield (line if row.cause or row.contradicts else style.paint(line.rstrip(), "dim")) + said


def _line(cells: tuple[str, ...], sizes: list[int], shown: list[int]) -> str:
    first = pad(cells[0], sizes[0])
    return "".join((first if n == 0 else pad_left(cells[n], sizes[n])) + "  " for n in shown)


def _cells(row: PrefixCallData) -> tuple[str, ...]:
    billed = row.billed
    counts = (billed.cached, billed.cache_write, billed.input) if billed is not None else ()
    return (
        f"c{row.call}",
        tokens(row.tokens),
        tokens(row.reusable) if row.against is not None else "-",
        f"{row.share or 0:.0%}" if row.against is not None else "",
        tokens(row.rewritten) if row.rewritten else "-",
        *(["-" if count is None else f"{count:,}" for count in counts] or ["", "", ""]),
    )


def _said(row: PrefixCallData) -> str:
    """Where it broke and by what, or what the bill says."""
    if row.contradicts:
        return f"not read: {short(row.missed or 0)} of c{row.against}{_after(row)}"
    if row.cause is None:
        return ""
    return f"{_where(row)}{why(row)}"


def _where(row: PrefixCallData) -> str:
    return f"{row.break_at} → {row.now_at or 'end'}: " if row.break_at is not None else ""


def why(row: PrefixCallData) -> str:
    """The cause, in words."""
    names = ", ".join(one.name for one in row.by)
    if row.cause == "ttl":
        return f"time ran out{_after(row)}"
    if row.cause == "model":
        return f"another model, {row.model}"
    if row.cause == "tools":
        return f"other tools, {names}" if names else "no tools any more"
    if row.cause == "compaction":
        return f"{names} (compaction)"
    if row.cause == "field_order":
        return "fields of a tool's input in another order"
    if row.cause == "unexplained":
        return "no decision explains it"
    return f"{row.cause} {names}".rstrip()


def _after(row: PrefixCallData) -> str:
    if row.seconds is None or row.seconds < _SHORT_LIFE:
        return ""
    return f", {row.seconds / 60:,.0f} min later"


def call_lines(row: PrefixCallData, style: Style) -> Iterator[str]:
    """What became of the cache at one call, behind the comparison of its context."""
    if row.against is None:
        yield f"c{row.call} is the first call: there was nothing to reuse"
        return
    held = f"c{row.call} held against c{row.against}"
    if row.against != row.call - 1:
        held += ", the last one of the same model and tools"
    if row.cause is None:
        text = f"{held}: nothing broke, ≈{row.share or 0:.0%} of it could be reused"
    else:
        text = (
            f"{held}: broken by {why(row)}; {tokens(row.reusable)} tokens could be reused "
            f"(≈{row.share or 0:.0%})"
        )
        if row.rewritten:
            text += f", {tokens(row.rewritten)} were re-written though nothing in them is new"
    yield from _wrapped(text, style)
    if row.billed is None:
        yield "no bill was recorded"
        return
    billed = row.billed
    of = f"; c{row.against} was billed {row.held:,} in all" if row.held else ""
    told = (
        (billed.cached, "tokens read from a cache"),
        (billed.cache_write, "written to it"),
        (billed.input, _rest(billed)),
    )
    said = ", ".join(f"{count:,} {what}" for count, what in told if count is not None)
    yield from _wrapped(f"billed: {said}{of}", style)
    if row.contradicts:
        yield from _wrapped(
            f"! {row.missed or 0:,} that could be read were not{_after(row)}: the log knows of no "
            "reason; time may have run out, or the request was not what was recorded",
            style,
        )
