"""Lists and figures of sessions as text. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cli.safetext import display_width
from cli.style import Style, listed, named, pad, pad_left, plural, short
from projections.session_rows import NO_TITLE

if TYPE_CHECKING:
    from projections.session_figures import SessionStats
    from projections.session_rows import SessionRow

_LEAST_TITLE = 12
"""Columns; where not even these are left, other columns go."""

_GIVING_WAY = ("known as", "agent", "when", "cl", "k", "calls")
"""What goes first where it is narrow. The name of a session stays."""


def render_sessions(
    rows: Sequence[SessionRow], style: Style, names: Mapping[str, str]
) -> Iterator[str]:
    """One line a session, the newest first, each with the name that is typed for it."""
    if not rows:
        return
    columns, widths = _table(rows, style, names)
    room = _room(style, widths)
    head = [_cell(title, columns[title][1], width) for title, width in widths.items()]
    yield style.paint("  ".join([*head, "title"] if room > 4 else head).rstrip(), "dim")
    for index, row in enumerate(rows):
        cells = [
            _cell(columns[title][0][index], columns[title][1], width)
            for title, width in widths.items()
        ]
        mark = ("(deleted) " if row.is_deleted else "") + ("↳ " if row.parent else "")
        title = style.line(mark + (row.title or NO_TITLE), room) if room > 4 else ""
        yield "  ".join([style.paint(cells[0], "bold"), *cells[1:], title]).rstrip()


_Columns = dict[str, tuple[list[str], bool]]
"""By title the cells, and whether they stand at the right."""


def _table(
    rows: Sequence[SessionRow], style: Style, names: Mapping[str, str]
) -> tuple[_Columns, dict[str, int]]:
    """The columns, and how wide those are for which there is room."""
    columns: _Columns = {
        "session": ([listed(names.get(row.key, row.key), style) for row in rows], False),
        "when": ([_when(row) for row in rows], False),
        "agent": ([style.line(_agent(row.key), 12) for row in rows], False),
        "calls": ([str(row.calls) for row in rows], True),
        "k": ([str(row.compactions) for row in rows], True),
        "cl": ([str(row.placeholders) for row in rows], True),
        "known as": ([row.provenance or "-" for row in rows], False),
    }
    widths = {
        title: max(display_width(title), *map(display_width, cells))
        for title, (cells, _) in columns.items()
    }
    for title in _GIVING_WAY:
        if _room(style, widths) >= _LEAST_TITLE:
            break
        del widths[title]
    return columns, widths


def no_room(rows: Sequence[SessionRow], style: Style, names: Mapping[str, str]) -> str:
    """Which columns are left out, if any."""
    if not rows:
        return ""
    columns, widths = _table(rows, style, names)
    gone = [title for title in _GIVING_WAY if title in columns and title not in widths]
    return f"no room for: {', '.join(gone)} (--width and --json have it)" if gone else ""


def _room(style: Style, widths: Mapping[str, int]) -> int:
    return style.width - sum(widths.values()) - 2 * len(widths)


def _cell(text: str, right: bool, width: int) -> str:
    return pad_left(text, width) if right else pad(text, width)


def when(moment: str) -> str:
    """The minute of an ISO time, or what stands there instead."""
    return moment[:16].replace("T", " ") if len(moment) >= 16 else moment


def _when(row: SessionRow) -> str:
    """In brackets when it was imported, where the source has no clock."""
    return when(row.happened_at) if row.is_clocked else f"({when(row.happened_at)})"


def _agent(key: str) -> str:
    return key.split("/", 2)[1]


def render_stats(stats: SessionStats, style: Style, inherited: int = 0) -> Iterator[str]:
    """The figures of one session; ``inherited`` events are those of what it was forked from."""
    yield style.paint(named(stats.key, style, style.width), "bold")
    for label, value in _figures(stats, inherited):
        yield f"{style.paint(pad(label, 14), 'dim')} {style.line(value, style.width - 15)}"


def _figures(stats: SessionStats, inherited: int) -> Iterator[tuple[str, str]]:
    if stats.title:
        yield "title", stats.title
    if stats.parent is not None:
        yield "forked from", stats.parent
    if stats.parent_session is not None:
        yield "belongs to", stats.parent_session
    if stats.file:
        yield "file", stats.file
    imported = "" if stats.is_clocked else " (when it was imported: its source has no clock)"
    yield "last went on", stats.happened_at + imported
    yield "known as", stats.provenance or "no calls"
    own = f"{stats.events:,}"
    if inherited:
        own += f" of its own; {inherited:,} inherited ones are counted in the parent"
    yield "events", own
    erased = f", {stats.erased_items:,} of them erased" if stats.erased_items else ""
    yield "items", f"{stats.items:,}{erased}"
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
    yield "billed tokens", _billed(stats)
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


def _billed(stats: SessionStats) -> str:
    usage = stats.usage
    if usage is None:
        return "- (no answer has its count)" if stats.answers else "-"
    # Some agents write the output of an answer before it is complete: then it is a lower bound.
    least = "at least " if stats.output_is_partial else ""
    some = stats.billed_answers < stats.answers
    of = f", of {stats.billed_answers:,} of {stats.answers:,} answers" if some else ""

    def told(name: str, count: int | None) -> str:
        if count is None:
            return "-"
        answers = stats.usage_answers.get(name, 0)
        return short(count) + (f" (told of {answers:,})" if answers < stats.billed_answers else "")

    thought = f" ({told('reasoning', usage.reasoning)} reasoning)"
    return (
        f"input {told('input', usage.input)}, cached {told('cached', usage.cached)}, cache write "
        f"{told('cache_write', usage.cache_write)}, output {least}{told('output', usage.output)}"
        f"{thought if usage.reasoning is not None else ''}{of}"
    )


def _without(count: int, what: str) -> str:
    return f"{count:,} without a {what}"
