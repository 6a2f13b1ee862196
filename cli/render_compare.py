"""A comparison of strategies as text and as CSV. Pure."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence

from cli.models_whatif import CompareData, NeededData, PricesData, StrategyData
from cli.safetext import display_width, safe_text
from cli.style import Style, listed, pad, pad_left, plural, short
from projections.metrics.intervals import Interval
from projections.metrics.prices import Rates, Tier

_MOST = 12
"""Literals that are shown; the JSON has all."""

_LEAST_NAME = 14
_GIVING_WAY = ("k", "valid", "breaks/call", "peak", "hit")
"""What goes first where it is narrow, then all price tables but the first."""

_PERIODS = 3
"""Changes of a price that are shown; the JSON has all."""

_NAME = 60
"""Columns of a table's name; a model's may be of any length."""

_INCOMPLETE = "incomplete"

_COMMON = 4
"""Strategies that are named for a literal."""


def render_compare(data: CompareData, style: Style, names: Mapping[str, str]) -> Iterator[str]:
    """The table, what was lost and needed, who wins or why nobody does, and what to beware of."""
    sessions = ", ".join(names.get(key, key) for key in data.sessions)
    calls = data.strategies[0].calls
    front = f"{plural(len(data.sessions), 'session')}, {plural(calls, 'call')}"
    yield style.paint(style.line(f"{front} · {sessions}", style.width), "bold")
    standing = _standing(data, style)
    yield from _table(data, style, standing)
    yield from _cut_names(data, style, standing)
    if gone := [title for title in _columns(data) if title not in standing]:
        yield from _said(
            f"no room for: {', '.join(gone)} (--width, --csv and --json have it)", style
        )
    for line in price_lines(data, style, standing):
        yield from _said(line, style)
    yield ""
    yield from _needed(data, style, names)
    yield ""
    yield from _said(_winners(data), style)
    for warning in data.warnings:
        yield from _said(f"! {warning}", style)


def _said(text: str, style: Style) -> Iterator[str]:
    yield from textwrap.wrap(style.block(text), style.width, subsequent_indent="  ")


# -- the table ------------------------------------------------------------------------------------


def _table(data: CompareData, style: Style, standing: Mapping[str, int]) -> Iterator[str]:
    columns = _columns(data)
    room = _name_room(data, style, standing)
    heads = (pad_left(title, width) for title, width in standing.items())
    head = [pad("strategy", room), *heads]
    yield style.paint(style.translated("  ".join(head).rstrip()), "dim")
    for number, row in enumerate(data.strategies):
        cells = [pad_left(columns[title][number], width) for title, width in standing.items()]
        name = style.line(row.strategy, room)
        name += " " * max(0, room - display_width(name))
        yield "  ".join([style.paint(name, "bold"), *cells]).rstrip()


def _name_room(data: CompareData, style: Style, standing: Mapping[str, int]) -> int:
    return max(4, min(max(_wanted(data), len("strategy")), _room(style, standing)))


def _cut_names(data: CompareData, style: Style, standing: Mapping[str, int]) -> Iterator[str]:
    """The rows whose name had no room, in full."""
    room = _name_room(data, style, standing)
    for number, row in enumerate(data.strategies, 1):
        if display_width(style.line(row.strategy, 10_000)) > room:
            yield from _said(f"row {number}: {row.strategy}", style)


def _standing(data: CompareData, style: Style) -> dict[str, int]:
    """The columns for which there is room, with their widths."""
    columns = _columns(data).items()
    widths = {title: max(map(display_width, [title, *cells])) for title, cells in columns}
    gone = [*_GIVING_WAY, *reversed([title for title in widths if title.startswith("cost")][1:])]
    for title in gone:
        if _room(style, widths) >= min(_wanted(data), _LEAST_NAME):
            break
        del widths[title]
    return widths


def _wanted(data: CompareData) -> int:
    return max(display_width(row.strategy) for row in data.strategies)


def _room(style: Style, widths: Mapping[str, int]) -> int:
    return style.width - sum(widths.values()) - 2 * len(widths)


def _columns(data: CompareData) -> dict[str, list[str]]:
    rows = data.strategies
    found = {
        "tokens": [percent(row.tokens) for row in rows],
        "peak": [short(row.peak) for row in rows],
        "hit": [percent(row.hit_share) for row in rows],
        "breaks/call": [decimal(row.breaks.value) for row in rows],
    }
    for number, prices in enumerate(data.prices):
        found[_title(data, number)] = [
            _share_of_cost(row.costs[number]) if prices.relative else money(row.totals[number])
            for row in rows
        ]
    found["valid"] = [percent(row.valid) for row in rows]
    found["recall far"] = [_share(row.far_recall) for row in rows]
    found["k"] = [str(row.compactions) for row in rows]
    if data.window is not None:
        found["over"] = [str(row.overflow_calls or 0) for row in rows]
    return found


def _title(data: CompareData, number: int) -> str:
    prices = data.prices[number]
    if prices.relative:
        return f"cost {prices.name}"
    title = "cost" if len(data.prices) == 1 else f"cost {number + 1}"
    return f"{title} {prices.currency}".rstrip()


def _share_of_cost(one: Interval | None) -> str:
    return _INCOMPLETE if one is None else percent(one)


def money(total: float | None) -> str:
    """What something costs; of what is not known it says so."""
    return _INCOMPLETE if total is None else f"{total:.4f}"


def percent(one: Interval) -> str:
    """A share, with its interval where there is one."""
    if one.value is None:
        return "-"
    behind = ""
    if one.low is not None and one.high is not None:
        behind = f" ({100 * one.low:.0f}-{100 * one.high:.0f})"
    return f"{100 * one.value:.0f}%{behind}"


def _share(one: Interval) -> str:
    """A share of few things: with how many."""
    if one.value is None:
        return "-"
    return f"{percent(one)} of {one.of:.0f}"


def decimal(value: float | None) -> str:
    """Two digits."""
    return "-" if value is None else f"{value:.2f}"


# -- prices ---------------------------------------------------------------------------------------


def price_lines(
    data: CompareData, style: Style, standing: Collection[str] | None = None
) -> Iterator[str]:
    """A line for each table with prices of its own: of what, from where, in which currency.

    ``standing`` are the columns for which there was room; without it all are taken to be shown.
    """
    for number, prices in enumerate(data.prices):
        if not prices.relative:
            title = _title(data, number)
            room = "" if standing is None or title in standing else " (no room for it here)"
            yield f"{title}{room}: {'; '.join(_priced(prices, style))}"


def _priced(prices: PricesData, style: Style) -> Iterator[str]:
    name = style.line(prices.name, _NAME)
    if prices.rates is None:
        yield f"{name}, {_INCOMPLETE}"
        return
    known = f" ({style.line(prices.model, _NAME)})" if prices.model else ""
    front = f"{name} from {prices.source}{known}: " if prices.source else ""
    unit = f" {prices.currency}".rstrip()
    yield f"{front}{_rates(prices.rates)}{unit} per million tokens"
    yield from map(_tier, prices.tiers)
    shown = prices.periods[-_PERIODS:]
    if len(prices.periods) > len(shown):
        yield f"{len(prices.periods) - len(shown)} earlier changes"
    for period in shown:
        yield f"for calls since {period.since} {_rates(period)}"
        yield from map(_tier, period.tiers)


def _tier(tier: Tier) -> str:
    return f"over {tier.above:,} tokens in the prompt {_rates(tier)}"


def _rates(rates: Rates) -> str:
    named = (
        *(("in", rates.input), ("cached", rates.cache_read)),
        *(("write", rates.cache_write), ("out", rates.output)),
    )
    return ", ".join(f"{name} {price:.10g}" for name, price in named)


# -- what was lost --------------------------------------------------------------------------------


def _needed(data: CompareData, style: Style, names: Mapping[str, str]) -> Iterator[str]:
    if not data.needed:
        yield "nothing was lost that an answer needed"
        return
    far = sum(one.in_arguments for one in data.needed)
    title = (
        f"lost, and needed by an answer: {len(data.needed):,}, {far:,} of them in what a tool was "
        "given"
    )
    yield style.paint(style.line(title, style.width), "bold")
    many = len(data.sessions) > 1
    shown = data.needed[:_MOST]
    where = [_where(one, names if many else None, style) for one in shown]
    room = max(map(display_width, where))
    total = len(data.strategies)
    for one, place in zip(shown, where, strict=True):
        start = f"  {pad(style.line(place, room), room)}  {pad(one.kind, 7)} "
        space = style.width - display_width(start)
        by = style.line(_by(one.lost_by, total), max(12, space // 2))
        text = style.line(one.text, max(8, space - display_width(by) - 2))
        yield f"{start}{text}{style.translated('  ')}{style.paint(by, 'dim')}"
    if len(data.needed) > _MOST:
        yield style.paint(style.block(f"  … {len(data.needed) - _MOST:,} more"), "dim")


def _where(one: NeededData, names: Mapping[str, str] | None, style: Style) -> str:
    front = f"{listed(names.get(one.session, one.session), style)}@" if names is not None else ""
    return f"{front}{one.item} → c{one.call}"


def _by(names: Sequence[str], total: int) -> str:
    if len(names) == total:
        return "(all)"
    more = len(names) - _COMMON
    return f"({', '.join(names[:_COMMON])}{f' +{more}' if more > 0 else ''})"


def _winners(data: CompareData) -> str:
    said = [
        f"{one.by}: {one.strategy}, {one.why}" for one in data.winners if one.strategy is not None
    ]
    nobody: dict[str, list[str]] = {}
    for one in data.winners:
        if one.strategy is None:
            nobody.setdefault(one.why, []).append(one.by)
    if nobody:
        why = "; ".join(f"{why} (by {', '.join(by)})" for why, by in nobody.items())
        said.append(f"no winner is named where {why}")
    return "; ".join(said)


# -- CSV ------------------------------------------------------------------------------------------

_SHARES = (
    *("tokens", "hit_share", "breaks", "valid", "far_recall", "argument_recall"),
    *("written_files", "pinned"),
)
_COUNTS = (
    *("calls", "cumulative", "peak", "rewritten", "compactions", "summaries", "needs_summary"),
    *("over_budget", "overflow_calls", "headroom", "first_loss", "refetched", "lost"),
)


def csv_text(data: CompareData) -> str:
    """One row a strategy; of shares the value, the interval and the denominator."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    heads = [f"{name}{end}" for name in _SHARES for end in ("", "_low", "_high", "_of")]
    totals = [f"cost {safe_text(table.name, newlines=False)}" for table in data.prices]
    writer.writerow(["strategy", *heads, *_COUNTS, *totals])
    for row in data.strategies:
        writer.writerow(_csv_row(row))
    return text.getvalue().rstrip("\n")


def _csv_row(row: StrategyData) -> list[object]:
    cells: list[object] = [safe_text(row.strategy, newlines=False)]
    for name in _SHARES:
        one: Interval = getattr(row, name)
        cells += [one.value, one.low, one.high, one.of]
    totals = (_INCOMPLETE if total is None else total for total in row.totals)
    return [*cells, *(getattr(row, name) for name in _COUNTS), *totals]
