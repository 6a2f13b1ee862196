"""A compaction as it would be, or was made, as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from cli.occurrences import number_of
from cli.saying import preview, who
from cli.style import Style, pad, pad_left, plural, short, tokens
from cli.windows import tool_names
from eventlog import StreamKey
from eventlog.events import CompactionDeclined, ContextCompacted
from harness.conversation.compacting import Planned
from projections import Live
from projections.foreseen import foreseen
from projections.items import Item
from projections.runs import origin, position_of
from projections.tokens import count_item, counter

_MOST = 12
"""Items that are listed; of more, the first and the last."""


def nothing_to_compact(planned: Planned, keep: int) -> str:
    """Why there is nothing."""
    turns = plural(planned.turns, "turn")
    stay = "stays" if keep == 1 else "stay"
    if planned.turns <= keep:
        hint = f"; /compact keep_turns={max(planned.turns - 1, 0)} keeps fewer"
        return f"nothing to compact: {turns} stand{'s' if planned.turns == 1 else ''}, and the " + (
            f"last {keep} {stay}{hint if planned.turns else ''}"
        )
    return f"nothing to compact: what is older than the last {keep} may not leave, or did already"


def render_plan(
    live: Live, key: StreamKey, planned: Planned, style: Style, to_do_it: str = ""
) -> Iterator[str]:
    """What leaves, what stands for it, and the sizes; ``to_do_it`` is what is typed where nothing
    was done yet."""
    declined = [each for each in planned.events if isinstance(each, CompactionDeclined)]
    for each in declined:
        detail = each.detail or each.reason.replace("_", " ")
        yield style.paint(style.line(f"! not compacted: {detail}", style.width), "yellow")
    if not any(isinstance(each, ContextCompacted) for each in planned.events):
        return
    gone, new = _shifted(live, key, planned, is_made=not to_do_it)
    name = "" if to_do_it else number_of(live, key, position_of(origin(new[0].id))) or ""
    verb = "would leave" if to_do_it else f"left with {name}"
    size = sum(count_item(counter(), item) for item in gone)
    head = f"○ {plural(len(gone), 'item')} {verb}, {tokens(size)}"
    yield style.paint(style.translated(head), "bold")
    yield from _rows(gone, style)
    written = sum(count_item(counter(), item) for item in new)
    verb = "would stand" if to_do_it else "stands"
    yield style.paint(style.translated(f"Σ {verb} in their place, {tokens(written)}"), "bold")
    for item in new:
        if item.role != "assistant":  # that it was read is all that the other one says
            yield from _indented(item.text, style)
    yield style.translated(f"context: {tokens(planned.before)} → {tokens(planned.after)} tokens")
    told = f"nothing was written; {to_do_it} does it" if to_do_it else f"/undo {name} takes it back"
    yield style.paint(told, "dim")


def _shifted(
    live: Live, key: StreamKey, planned: Planned, *, is_made: bool
) -> tuple[list[Item], list[Item]]:
    """The items that leave and those that come, before or after the compaction was appended."""
    if is_made:
        before, after = live.view(key, planned.version), live.view(key)
        gone = [one for one in before.standing() if one[0] not in after.items]
        new = [one for one in after.standing() if one[0] not in before.items]
        return live.materialize(key, gone), live.materialize(key, new)
    found = foreseen(live, key, planned.version + 1, planned.events)
    gone = [one for one in found.before.standing() if one[0] not in found.after.items]
    new = [one for one in found.after.standing() if one[0] not in found.before.items]
    return found.items(gone), found.items(new)


def _rows(items: Sequence[Item], style: Style) -> Iterator[str]:
    names = tool_names(items)
    sizes = [short(count_item(counter(), item)) for item in items]
    rows = list(zip(items, sizes, strict=True))
    first = rows if len(rows) <= _MOST else rows[: _MOST - 3]
    last = [] if len(rows) <= _MOST else rows[-2:]
    ref = max(len(item.rendition) for item, _ in (*first, *last))
    width = max(map(len, sizes))
    for item, size in (*first, *last):
        if last and item is last[0][0]:
            yield style.translated(f"   … {len(rows) - len(first) - len(last):,} more")
        called = (names.get(each, "") for each in item.result_ids)
        said = item.tool_name or next(filter(None, called), "") or who(item)
        start = f"   {pad(style.line(item.rendition, ref), ref)} {pad_left(size, width)}  "
        start += f"{pad(style.line(said, 12), 12)} "
        yield (start + style.line(preview(item), style.width - len(start))).rstrip()


def _indented(text: str, style: Style) -> Iterator[str]:
    for line in style.block(text).splitlines():
        yield from textwrap.wrap(
            line, style.width, initial_indent="   ", subsequent_indent="   "
        ) or [""]
