"""Memories as text: lists of them, and what was changed. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from cli.models_memory import (
    MemoryAddData,
    MemoryChangesData,
    MemoryGcData,
    MemoryGraphData,
    MemoryLearnData,
    MemoryProfileData,
    MemoryRow,
    MemorySearchData,
    ProfileRow,
)
from cli.naming import place_name
from cli.safetext import display_width
from cli.style import Style, pad, pad_left
from cli.wrapping import flowed, wrapped

_LEAST_TEXT = 24
"""Columns; where not even these are left, other columns go."""

_MOST = 6
"""Names of memories behind an entity, or places behind a memory."""

_LINES, _MANY_LINES = 4, 40
"""Lines of a text that was learned, and of a list."""

_GIVING_WAY = ("recalled", "imp", "age", "status", "by", "kind", "similar")
"""What goes first where it is narrow. The name stays."""


Columns = dict[str, tuple[list[str], bool]]
"""By title the cells, and whether they stand at the right."""


def render_memories(rows: Sequence[MemoryRow], style: Style) -> Iterator[str]:
    """One line a memory."""
    yield from _lines(rows, _columns(rows), style)


def render_hits(data: MemorySearchData, style: Style) -> Iterator[str]:
    """One line a memory that was found, and how."""
    rows = [hit.memory for hit in data.hits]
    yield from _lines(rows, _hit_columns(data), style)


def no_room(rows: Sequence[MemoryRow], style: Style) -> str:
    """Which columns of a list are left out, if any."""
    return _no_room(_columns(rows), style) if rows else ""


def no_room_for_hits(data: MemorySearchData, style: Style) -> str:
    """Which columns of what was found are left out, if any."""
    return _no_room(_hit_columns(data), style) if data.hits else ""


def _no_room(columns: Columns, style: Style) -> str:
    widths = _widths(columns, style)
    gone = [title for title in _GIVING_WAY if title in columns and title not in widths]
    return f"no room for: {', '.join(gone)} (--width and --json have it)" if gone else ""


def _lines(rows: Sequence[MemoryRow], columns: Columns, style: Style) -> Iterator[str]:
    if not rows:
        return
    widths = _widths(columns, style)
    room = _room(style, widths)
    head = [_cell(title, columns[title][1], width) for title, width in widths.items()]
    yield style.paint("  ".join([*head, "text"]).rstrip(), "dim")
    for index, row in enumerate(rows):
        cells = [
            _cell(columns[title][0][index], columns[title][1], width)
            for title, width in widths.items()
        ]
        said = style.line(told(row), room)
        yield "  ".join([style.paint(cells[0], "bold"), *cells[1:], said]).rstrip()


def _columns(rows: Sequence[MemoryRow]) -> Columns:
    return {
        "memory": ([row.name for row in rows], False),
        "kind": ([row.kind for row in rows], False),
        "status": ([standing(row) for row in rows], False),
        "imp": ([f"{row.importance:.2f}" for row in rows], True),
        "recalled": ([f"{row.recalled:,}" for row in rows], True),
        "age": ([age(row.age_days) for row in rows], True),
    }


def _hit_columns(data: MemorySearchData) -> Columns:
    hits = data.hits
    of = _columns([hit.memory for hit in hits])
    similar = ["-" if hit.similarity is None else f"{hit.similarity:.2f}" for hit in hits]
    return {
        "memory": of["memory"],
        "similar": (similar, True),
        "by": (["+".join(hit.by) for hit in hits], False),
        **{title: of[title] for title in ("kind", "status", "age")},
    }


def _widths(columns: Columns, style: Style) -> dict[str, int]:
    """The columns for which there is room, and how wide they are."""
    widths = {
        title: max(display_width(title), *map(display_width, cells))
        for title, (cells, _) in columns.items()
    }
    for title in _GIVING_WAY:
        if _room(style, widths) >= _LEAST_TEXT:
            break
        widths.pop(title, None)
    return widths


def _room(style: Style, widths: dict[str, int]) -> int:
    return style.width - sum(widths.values()) - 2 * len(widths)


def _cell(text: str, right: bool, width: int) -> str:
    return pad_left(text, width) if right else pad(text, width)


def standing(row: MemoryRow) -> str:
    """Where in its life one is that stands; else why it does not."""
    return row.status if row.standing == "stands" else row.standing


def told(row: MemoryRow) -> str:
    """What a line says of a memory: in brackets why it does not stand."""
    if row.standing == "erased":
        return "(its text was erased)"
    why = {
        "superseded": f"({row.superseded_by} took its place) ",
        "forgotten": f"({row.why}) ",
    }.get(row.standing, "")
    return why + row.text


def age(days: float) -> str:
    """``12m``, ``5h``, ``3d``."""
    minutes = days * 1440
    if minutes < 60:
        return f"{int(minutes)}m"
    return f"{int(minutes // 60)}h" if days < 1 else f"{int(days):,}d"


# -- what was changed -----------------------------------------------------------------------------


def render_added(data: MemoryAddData, style: Style, verb: str) -> Iterator[str]:
    """The memory, and what gave way to it."""
    yield line(data.memory, style, verb)
    for row in data.took_the_place_of:
        yield line(row, style, "  it took the place of", row.text)
    if data.gave_way_to is not None:
        yield line(data.gave_way_to, style, "  what a person said stands:")
    for name, value in data.profile.items():
        yield from _below(f"profile {name} = {value_text(value)}", style)


def _below(text: str, style: Style) -> Iterator[str]:
    """What is told of the line above, whole."""
    yield from (f"  {each}" for each in flowed(text, style, style.width - 2))


def render_learned(data: MemoryLearnData, style: Style, places: Mapping[str, str]) -> Iterator[str]:
    """Each thing that was learned, whole; below it why it counts, and where it came from."""
    for row in data.learned:
        name = f"{row.name} " if row.name else ""
        start = f"{name}{row.kind}"
        start += f" {row.importance:.2f}" if row.importance is not None else ""
        said = row.text or ", ".join(f"{n} = {value_text(v)}" for n, v in row.values.items())
        lines = _LINES if row.text else _MANY_LINES
        first, *rest = flowed(f"{start}: {said}", style, style.width, hang="  ", lines=lines)
        yield style.paint(first[: len(start)], "bold") + first[len(start) :]
        yield from rest
        more = len(row.sources) - _MOST
        named = ", ".join(place_name(places, each) for each in row.sources[:_MOST])
        named += f" and {more:,} more" if more > 0 else ""
        for why in filter(None, (", ".join(row.scored), f"from {named}" if named else "")):
            yield from (style.paint(each, "dim") for each in _below(why, style))


def render_changes(data: MemoryChangesData, style: Style, verb: str, before: str) -> Iterator[str]:
    """One line a memory; ``before`` says what it was where nothing was changed."""
    for each in data.memories:
        yield line(each.memory, style, verb if each.changed else before, each.memory.text)
        for row in each.gave_way:
            yield line(row, style, "  it took the place of", row.text)


def render_gc(data: MemoryGcData, style: Style) -> Iterator[str]:
    """Each memory that is forgotten, and below it why."""
    verb = "would forget" if data.dry_run else "forgot"
    for each in data.forgotten:
        yield line(each.memory, style, verb, each.memory.text)
        yield from (style.paint(each, "dim") for each in _below(each.reason, style))


def line(
    row: MemoryRow, style: Style, front: str = "", text: str | None = None, indent: int = 0
) -> str:
    """``remembered m12 fact: We deploy on Fridays only``; without a text, with what is told.

    Where it is narrow the kind goes, so that something of the text stays.
    """
    width = style.width - indent
    said = told(row) if text is None or row.standing == "erased" else text
    starts = (f"{row.name} {row.kind}:", f"{row.name}:")
    whole = [" ".join((front, start)) if front else start for start in starts]
    start = next((each for each in whole if width - len(each) > _LEAST_TEXT), whole[-1])
    return f"{start} {style.line(said, max(width - len(start) - 1, 1))}".rstrip()


def render_profile(
    data: MemoryProfileData, style: Style, called: Mapping[str, str]
) -> Iterator[str]:
    """What is known, by section, whether the person said so, and where. ``called``: what can be
    typed for the keys of sessions."""
    if not data.known:
        return
    sections: dict[str, list[ProfileRow]] = {}
    for row in data.known:
        sections.setdefault(row.section, []).append(row)
    for section, rows in sections.items():
        yield style.paint(section, "bold")
        names = [style.line(row.name, style.width // 3) for row in rows]
        width = max(map(display_width, names))
        for row, name in zip(rows, names, strict=True):
            how = _known_from(row, called)
            how = f" ({style.line(how, style.width // 3)})" if how else ""
            room = style.width - width - 4 - len(how)
            value = style.line(value_text(row.value), max(room, 8))
            yield f"  {pad(name, width)}  {value}{style.paint(how, 'dim')}"


def _known_from(row: ProfileRow, called: Mapping[str, str]) -> str:
    told = [] if row.is_explicit else ["inferred"]
    if row.sources:
        more = len(row.sources) - 1
        place = place_name(called, row.sources[-1])
        told.append(place + (f" and {more:,} more" if more else ""))
    elif row.is_explicit:
        told.append("set by hand")
    return ", ".join(told)


def render_graph(data: MemoryGraphData, style: Style) -> Iterator[str]:
    """The entities, then how they are related, then the memories that say so."""
    for node in data.nodes:
        kind = f" ({node.kind})" if node.kind else ""
        yield from _named(f"{node.name}{kind}", node.memories, style)
    if data.edges:
        yield style.paint("relations", "bold")
    for edge in data.edges:
        said = f"{edge.subject} {edge.predicate} {edge.object}"
        yield from _named(f"  {said}", edge.memories, style)
    if data.memories:
        yield style.paint("memories", "bold")
        yield from (f"  {line(row, style, indent=2)}" for row in data.memories)


def _named(said: str, memories: Sequence[str], style: Style) -> Iterator[str]:
    indent = said[: len(said) - len(said.lstrip(" "))]
    shown = ", ".join(memories[:_MOST]) + (" …" if len(memories) > _MOST else "")
    front = flowed(said.lstrip(" "), style, style.width - len(indent), hang="  ", lines=_LINES)
    behind = style.translated(shown)
    if len(indent) + display_width(front[-1]) + 2 + len(behind) <= style.width:
        *front, last = front
        yield from (f"{indent}{each}" for each in front)
        yield f"{indent}{last}  {style.paint(behind, 'dim')}"
        return
    yield from (f"{indent}{each}" for each in front)
    yield from (
        f"{indent}  {style.paint(each, 'dim')}" for each in wrapped(behind, style.width - 4)
    )


def value_text(value: object) -> str:
    """A value as it is typed: a text without quotes, else JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
