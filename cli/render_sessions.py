"""Lists and figures of sessions as text. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cli.safetext import display_width
from cli.style import Style, pad, pad_left, plural, short

if TYPE_CHECKING:
    from projections.sessions import SessionStats

_SHORT_ID = 8
_LONG_ID = 16


def render_sessions(rows: Sequence[SessionStats], style: Style) -> Iterator[str]:
    """One line a session, the newest first."""
    if not rows:
        yield "no sessions yet"
        return
    names = short_ids([row.key for row in rows])
    wide = style.width >= 78
    columns: list[tuple[str, list[str], bool]] = [
        ("session", [style.line(name, 20) for name in names], False),
        ("when", [when(row.updated_at) for row in rows], False),
        ("agent", [style.line(_agent(row.key), 12) for row in rows], False),
        ("calls", [str(row.calls) for row in rows], True),
        ("k", [str(row.compactions) for row in rows], True),
        ("known as", [row.provenance or "-" for row in rows], False),
    ]
    if not wide:
        columns = [columns[0], columns[1], columns[3], columns[4]]
    widths = [
        max(display_width(title), *(display_width(cell) for cell in cells))
        for title, cells, _ in columns
    ]
    room = style.width - sum(widths) - 2 * len(widths)
    head = [
        pad_left(title, width) if right else pad(title, width)
        for (title, _, right), width in zip(columns, widths, strict=True)
    ]
    yield style.paint("  ".join([*head, "title"]), "dim")
    for index, row in enumerate(rows):
        cells = [
            pad_left(cells[index], width) if right else pad(cells[index], width)
            for (_, cells, right), width in zip(columns, widths, strict=True)
        ]
        mark = "↳ " if row.parent is not None else ""
        title = style.line(mark + (row.title or "(no title)"), room)
        yield "  ".join([style.paint(cells[0], "bold"), *cells[1:], title]).rstrip()


def short_ids(keys: Sequence[str]) -> list[str]:
    """The shortest beginning, of 8 characters or more, that names each session alone.

    An id that a person would type stays whole; the full key where two have the same id.
    """
    ids = [key.split("/", 2)[2] for key in keys]
    found = []
    for index, (key, name) in enumerate(zip(keys, ids, strict=True)):
        others = ids[:index] + ids[index + 1 :]
        if name in others:
            found.append(key)
            continue
        length = _SHORT_ID if len(name) > _LONG_ID else len(name)
        while length < len(name) and any(other.startswith(name[:length]) for other in others):
            length += 1
        found.append(name[:length])
    return found


def when(moment: str) -> str:
    """The minute of an ISO time, or what stands there instead."""
    return moment[:16].replace("T", " ") if len(moment) >= 16 else moment


def _agent(key: str) -> str:
    return key.split("/", 2)[1]


def render_stats(stats: SessionStats, style: Style) -> Iterator[str]:
    """The figures of one session."""
    yield style.paint(style.line(stats.key, style.width), "bold")
    for label, value in _figures(stats):
        yield f"{style.paint(pad(label, 14), 'dim')} {style.line(value, style.width - 15)}"


def _figures(stats: SessionStats) -> Iterator[tuple[str, str]]:
    if stats.title:
        yield "title", stats.title
    if stats.parent is not None:
        yield "parent", stats.parent
    yield "updated", stats.updated_at
    yield "known as", stats.provenance or "no calls"
    yield "events", f"{stats.events:,}"
    yield "items", f"{stats.items:,}"
    yield "messages", f"{stats.human_messages:,} of a person, {stats.answers:,} answers"
    yield "model calls", f"{stats.calls:,}"
    yield "tool calls", f"{stats.tool_calls:,}, {_without(stats.unanswered_tool_calls, 'result')}"
    yield (
        "tool results",
        f"{stats.tool_results:,}, {_without(stats.orphan_tool_results, 'call')}",
    )
    yield (
        "decisions",
        f"{plural(stats.compactions, 'compaction')}, {plural(stats.placeholders, 'placeholder')}",
    )
    if stats.unrecognized:
        yield "not understood", plural(stats.unrecognized, "record")
    usage = stats.usage
    yield (
        "billed tokens",
        f"input {short(usage.input)}, cached {short(usage.cached)}, cache write "
        f"{short(usage.cache_write)}, output {short(usage.output)} "
        f"({short(usage.reasoning)} reasoning)",
    )
    source = stats.source
    if source is not None:
        yield (
            "in the file",
            f"{plural(source.records, 'record')}, "
            f"{plural(source.assistant_messages, 'assistant message')}, "
            f"{plural(source.tool_calls, 'tool call')}, "
            f"{plural(source.tool_results, 'tool result')}, "
            f"{plural(source.compactions, 'compaction')}",
        )


def _without(count: int, what: str) -> str:
    return f"{count:,} without a {what}"
