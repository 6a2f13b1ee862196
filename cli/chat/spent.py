"""The tokens of a session and what they cost: its own calls, and the summaries it paid for. Pure,
but for the prices, which are looked up by name in what is installed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cli.safetext import display_width
from cli.style import Style, pad, pad_left, plural, short
from eventlog.jsonvalue import dumps
from eventlog.recorded import RecordedEvent
from projections.metrics.prices import Prices, Unknown
from projections.usage import UsageTotals, usage_totals

READ = ("model_called", "model_responded", "context_compacted", "compaction_declined")
"""The events that say what was spent."""

_MILLION = 1_000_000


@dataclass(slots=True)
class Spent:
    """What one model was asked for."""

    model: str
    is_summaries: bool = False
    calls: int = 0
    told: int = 0
    """Of the calls, those whose tokens are known."""
    usage: UsageTotals = field(default_factory=UsageTotals)
    each: list[tuple[str, UsageTotals]] = field(default_factory=list)
    """When, and how much: prices go by the call."""

    def add(self, when: str, usage: Mapping[str, object] | None) -> None:
        """One call."""
        self.calls += 1
        if usage is not None:
            self.told += 1
            totals = usage_totals(usage)
            self.usage += totals
            self.each.append((when, totals))


def spent(events: Iterable[RecordedEvent]) -> list[Spent]:
    """By model, first the calls of the conversation, then the summaries."""
    called: dict[int, str] = {}
    own: dict[str, Spent] = {}
    summaries: dict[str, Spent] = {}
    asked: dict[str, int] = defaultdict(int)
    paid: set[str] = set()
    for event in events:
        data = event.data
        if event.type == "model_called":
            called[event.position] = str(data.get("model") or "")
            asked[called[event.position]] += 1
        elif event.type == "model_responded":
            model = called.get(int(data.get("call") or 0), "")
            own.setdefault(model, Spent(model)).add(_when(event), data.get("usage"))
        elif event.type == "context_compacted":
            by = data.get("summarizer")
            # The same summary of the same items was kept, and paid for once.
            if by is not None and (written := dumps(by)) not in paid:
                paid.add(written)
                model = str(by.get("model") or "")
                found = summaries.setdefault(model, Spent(model, is_summaries=True))
                found.add(_when(event), by.get("usage"))
        elif data.get("usage") is not None:  # a summary that was paid for and not taken
            found = summaries.setdefault("", Spent("", is_summaries=True))
            found.add(_when(event), data.get("usage"))
    for model, count in asked.items():
        own.setdefault(model, Spent(model)).calls = count
    return [*own.values(), *summaries.values()]


def _when(event: RecordedEvent) -> str:
    from eventlog.happened import iso

    return iso(event.recorded_at)


def price(of: Spent, table: Prices | Unknown) -> float | None:
    """What it cost; None where nobody knows."""
    if isinstance(table, Unknown) or table.relative:
        return None
    total = 0.0
    for when, usage in of.each:
        rates = table.of_call(when, usage.prompt or 0)
        total += (
            (usage.input or 0) * rates.input
            + (usage.cached or 0) * rates.cache_read
            + (usage.cache_write or 0) * rates.cache_write
            + (usage.output or 0) * rates.output
        ) / _MILLION
    return total


def render_spent(
    rows: Sequence[Spent], tables: Mapping[str, Prices | Unknown], style: Style
) -> Iterator[str]:
    """A row for each model, and their sum; ``tables`` by the name of the model."""
    if not rows:
        yield "no model was called yet"
        return
    cells = [_cells(row, tables.get(row.model, Unknown(name=row.model)), style) for row in rows]
    head = ("", "calls", "in", "cached", "out", "price")
    sizes = [max(display_width(line[n]) for line in (head, *cells)) for n in range(len(head))]
    yield style.paint(_row(head, sizes), "dim")
    for line in cells:
        yield _row(line, sizes)
    untold = sum(row.calls - row.told for row in rows)
    if untold:
        yield style.paint(f"of {plural(untold, 'call')} no tokens were told: not counted", "dim")
    known = [price(row, tables.get(row.model, Unknown(name=row.model))) for row in rows]
    prices = [each for each in known if each is not None]
    if prices and len(prices) == len(rows) and len(rows) > 1:
        yield f"together {_money(sum(prices), tables)}"
    unknown = [row.model for row, each in zip(rows, known, strict=True) if each is None]
    names = ", ".join(dict.fromkeys(style.line(name, 40) for name in unknown if name))
    if names:
        yield style.paint(f"price unknown: {names}; [prices.NAME] in the config gives one", "dim")


def _row(cells: Sequence[str], sizes: Sequence[int]) -> str:
    first, *rest = (
        pad(cell, size) if n == 0 else pad_left(cell, size)
        for n, (cell, size) in enumerate(zip(cells, sizes, strict=True))
    )
    return "  ".join((first, *rest)).rstrip()


def _cells(row: Spent, table: Prices | Unknown, style: Style) -> tuple[str, ...]:
    name = style.line(row.model or "?", 30) + (" (summaries)" if row.is_summaries else "")
    if row.is_summaries and not row.model:  # the log says what they cost, and not who wrote them
        name = "summaries not taken"
    cost = price(row, table)
    return (
        name,
        f"{row.calls:,}",
        _count(row.usage.prompt),
        _count(row.usage.cached),
        _count(row.usage.output),
        "unknown" if cost is None else _money(cost, {row.model: table}),
    )


def _count(count: int | None) -> str:
    return "-" if count is None else short(count)


def _money(amount: float, tables: Mapping[str, Prices | Unknown]) -> str:
    units = {table.currency for table in tables.values() if isinstance(table, Prices)}
    unit = f" {units.pop()}" if len(units) == 1 else ""
    return f"{amount:.4f}{unit}".rstrip()
