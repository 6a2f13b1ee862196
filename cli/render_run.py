"""A strategy run for real, as text: what it changed, when, and what it waits for. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from cli.models_reasons import AskedData, DecidedAtData, RunData
from cli.render_change import render_change
from cli.style import Style, plural

_MOST = 12
"""Moments that are shown."""

_AT = {
    "tool_result": ("decides when a result came", "result"),
    "user_turn": ("decides when a person speaks", "user turn"),
    "model_call": ("decides before each call", "call"),
}


def render_run(data: RunData, style: Style, program: str = "ctxlog") -> Iterator[str]:
    """The change, then a part of the strategy after the other, and how to take it back."""
    yield from render_change(data, style, program, _parts(data, style))


def _parts(data: RunData, style: Style) -> Iterator[str]:
    for asked in data.attention:
        yield ""
        yield from _wrapped(_asked(asked, data.since), style, "")
        moments = [one for one in data.moments if one.strategy == asked.strategy]
        for one in moments[:_MOST]:
            yield from _wrapped(f"{one.moment}: {_decided(one)}", style, "  ")
        if len(moments) > _MOST:
            yield style.translated(f"  … {len(moments) - _MOST:,} more")
        if asked.waits or not moments:
            yield from _wrapped(_waits(asked), style, "  ")
    if data.undo:
        yield ""


def _wrapped(text: str, style: Style, indent: str) -> Iterator[str]:
    safe = style.line(text, 8 * style.width)
    yield from textwrap.wrap(
        safe, max(20, style.width), initial_indent=indent, subsequent_indent=indent + "  "
    )


def _asked(asked: AskedData, since: int) -> str:
    does, moment = _AT[asked.at]
    said = f"{asked.strategy} {does}: "
    if not asked.times:
        return said + f"there was no {moment}" + (f" since event {since}" if since else "")
    said += f"asked {asked.times:,} time{'' if asked.times == 1 else 's'}, "
    is_one = asked.first == asked.last
    return said + (asked.first if is_one else f"first {asked.first}, last {asked.last}")


def _waits(asked: AskedData) -> str:
    if not asked.times:
        return "nothing was decided"
    return f"{asked.last}: nothing, {asked.waits or 'since nothing was to be changed'}"


def _decided(one: DecidedAtData) -> str:
    words = []
    for made in one.decided:
        said = f"{made.kind.replace('_', ' ')} {plural(made.items, 'item')}"
        if made.not_shown:
            said += f" ({made.not_shown:,} of them not shown to the summarizer)"
        if made.kind == "declined" and one.reasons:
            said += f" ({'; '.join(one.reasons)})"
        words.append(said)
    return ", ".join(words)
