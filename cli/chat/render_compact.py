"""A compaction as it would be, or was made, as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from cli.occurrences import number_of
from cli.saying import preview, who
from cli.style import Style, pad, pad_left, plural, short, tokens
from cli.windows import tool_names
from eventlog import StreamKey
from eventlog.events import CompactionDeclined, ContextCompacted
from harness.conversation.compacting import Planned
from projections import Live
from projections.foreseen import foreseen
from projections.runs import position_of
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
    live: Live, key: StreamKey, planned: Planned, is_preview: bool, style: Style
) -> Iterator[str]:
    """What leaves, what stands for it, and the sizes."""
    declined = [each for each in planned.events if isinstance(each, CompactionDeclined)]
    made = [each for each in planned.events if isinstance(each, ContextCompacted)]
    for each in declined:
        detail = each.detail or each.reason.replace("_", " ")
        yield style.paint(style.line(f"! not compacted: {detail}", style.width), "yellow")
    if not made:
        return
    found = foreseen(live, key, planned.version + 1, planned.events) if is_preview else None
    if found is not None:
        gone = [item for item in found.before.items if item not in found.after.items]
        before = found.items([one for one in found.before.standing() if one[0] in set(gone)])
        new = found.items(
            [one for one in found.after.standing() if one[0] not in found.before.items]
        )
    else:
        view = live.view(key, planned.version)
        after = live.view(key)
        before = live.materialize(
            key, [one for one in view.standing() if one[0] not in after.items]
        )
        new = live.materialize(key, [one for one in after.standing() if one[0] not in view.items])
    counting = counter()
    sizes = [count_item(counting, item) for item in before]
    name = "" if is_preview else number_of(live, key, position_of(_origin(new[0].id))) or ""
    verb = "would leave" if is_preview else "left"
    head = f"{plural(len(before), 'item')} {verb}{f' with {name}' if name else ''}"
    yield style.paint(style.translated(f"○ {head}, {tokens(sum(sizes))}"), "bold")
    names = tool_names(before)
    rows = list(zip(before, sizes, strict=True))
    shown = rows if len(rows) <= _MOST else [*rows[: _MOST - 4], *rows[-3:]]
    ref = max(len(item.rendition) for item, _ in shown)
    size = max(len(short(count)) for _, count in shown)
    for item, count in shown:
        said = item.tool_name or next(
            (names[each] for each in item.result_ids if each in names), who(item)
        )
        start = f"   {pad(style.line(item.rendition, ref), ref)} {pad_left(short(count), size)}  "
        start += f"{pad(style.line(said, 12), 12)} "
        yield (start + style.line(preview(item), style.width - len(start))).rstrip()
        if len(shown) < len(rows) and item is shown[_MOST - 5][0]:
            yield style.translated(f"   … {len(rows) - len(shown):,} more")
    written = sum(count_item(counting, item) for item in new)
    stands = "would stand" if is_preview else "stands"
    yield style.paint(style.translated(f"Σ in their place {stands}, {tokens(written)}"), "bold")
    for item in new:
        if item.role != "assistant":  # that it was read is all that the other one says
            for paragraph in style.block(item.text).splitlines():
                yield from textwrap.wrap(
                    paragraph,
                    style.width,
                    initial_indent="   ",
                    subsequent_indent="   ",
                    break_long_words=True,
                ) or [""]
    yield style.translated(f"context: {tokens(planned.before)} → {tokens(planned.after)} tokens")
    yield style.paint(
        "nothing was written; /compact does it" if is_preview else f"/undo {name} takes it back",
        "dim",
    )


def _origin(name: str) -> int | str:
    return name if "." in name else int(name)
