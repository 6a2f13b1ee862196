"""What a redaction erased, or would erase, as text. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cli.naming import place_name
from cli.style import Style, plural, ranges, tokens
from cli.wrapping import flowed

if TYPE_CHECKING:
    from cli.erasing import RedactionData
    from cli.models import RedactedTarget

ROWS = 10
"""Rows of one list before it is only counted."""

_PLACES = 6
"""Positions that one row names."""


def render_redact(data: RedactionData, style: Style, names: Mapping[str, str]) -> Iterator[str]:
    """What was erased, or would be, and where else the text stands; ``names`` are those of the
    sessions, as they are typed."""
    home = data.sessions[0] if len(data.sessions) == 1 else ""
    shown = names.get(home, home)
    if data.outputs:
        done = "would go" if data.dry_run else "went"
        kept = plural(data.outputs, "kept summary or answer", "kept summaries or answers")
        yield from flowed(f"{kept} of a model that held it {done} too", style, style.width)
    if not data.erased:
        if data.outputs:
            return
        keys = {each.key for each in data.kept}
        home = keys.pop() if len(keys) == 1 else home
        yield from flowed(f"nothing to erase {names.get(home, home)}".rstrip(), style, style.width)
        yield from _kept(data, home, style, names)
        return
    done = "would be erased" if data.dry_run else "erased"
    size = tokens(sum(target.tokens for target in data.erased))
    events = plural(len(data.erased), "event")
    title = f"the whole text of {events} {done}, {size} tokens {shown}".rstrip()
    yield from (style.paint(each, "bold") for each in flowed(title, style, style.width))
    yield from _rows(data.erased, home, style, names)
    if data.calls:
        own = (call.removeprefix(f"{home}@") for call in data.calls)
        calls = ranges(place_name(names, call) for call in own)
        told = f"seen by {plural(len(data.calls), 'call')}: {calls}"
        yield from flowed(told, style, style.width, hang="  ")
    if data.copies:
        still = "" if data.dry_run else " still"
        where = plural(len(data.copies), "other event")
        title = f"The same text{still} stands in {where} (--with-copies erases it too):"
        yield from (style.paint(each, "bold") for each in flowed(title, style, style.width))
        yield from _rows(data.copies, home, style, names)
    if data.perhaps:
        may, stay = ("memory may", "stays") if len(data.perhaps) == 1 else ("memories may", "stay")
        places = [place.removeprefix(home) for place in data.perhaps]
        more = f" and {len(places) - _PLACES:,} more" if len(places) > _PLACES else ""
        yield from flowed(
            f"{len(places):,} {may} hold something of it too and {stay}: what came from a whole "
            f"session does not say from which words: {', '.join(places[:_PLACES])}{more}",
            style,
            style.width,
        )
    common = data.common
    if common.lines:
        stand = "stands" if common.lines == 1 else "stand"
        yield from flowed(
            f"{plural(common.lines, 'line')} of it {stand} in {plural(common.events, 'event')} for "
            "other reasons, and stay there; --pattern erases them",
            style,
            style.width,
        )
    yield from _kept(data, home, style, names)
    for left in data.residue:
        yield from flowed(f"still in {left}", style, style.width)


def _kept(data: RedactionData, home: str, style: Style, names: Mapping[str, str]) -> Iterator[str]:
    """Where it stays, one row for all places of a kind."""
    groups: dict[tuple[str, str], list[str]] = {}
    for each in data.kept:
        key = names.get(each.key, each.key)
        place = _place(each.key, each.position, home, names) if each.position else key
        groups.setdefault((each.field, each.why), []).append(place)
    verb = "would be kept" if data.dry_run and data.erased else "kept"
    for (field, why), places in groups.items():
        more = len(places) - _PLACES
        where = ", ".join(places[:_PLACES]) + (f" and {more:,} more" if more > 0 else "")
        yield from flowed(f"{verb}: {field} of {where}, {why}", style, style.width, hang="  ")


def _rows(
    targets: Sequence[RedactedTarget], home: str, style: Style, names: Mapping[str, str]
) -> Iterator[str]:
    """One row for all events of a kind that hold the same; the first ten of them."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for target in targets:
        place = _place(target.key, target.position, home, names)
        kind = target.type.replace("_", " ")
        groups.setdefault((kind, target.why, target.preview), []).append(place)
    shown = list(groups.items())[:ROWS]
    for words, places in shown:
        where = ", ".join(places[:_PLACES])
        more = len(places) - _PLACES
        start = where + (f" and {more:,} more" if more > 0 else "")
        row = " · ".join(w for w in (start, *words) if w)
        yield from (f"  {each}" for each in flowed(row, style, style.width - 2, hang="  "))
    left = len(targets) - sum(len(places) for _, places in shown)
    if left:
        yield f"  {left:,} more, --json lists all"


def _place(key: str, position: int, home: str, names: Mapping[str, str]) -> str:
    return f"{'' if key == home else names.get(key, key)}@{position}"
