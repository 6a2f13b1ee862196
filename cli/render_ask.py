"""Two outcomes of one question side by side as text. Pure: data and a style in, lines out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from cli.models_whatif import AnswerData, AskData
from cli.style import Style, pad, pad_left, tokens
from cli.wrapping import wrapped

_CELLS = 29
"""Columns of what stands behind a name."""
_MISSING = 6
"""Literals that are named."""
_LEAST = 30
"""Columns of one answer; where there is less room they stand one below the other."""


def render_ask(data: AskData, left: str, right: str, style: Style) -> Iterator[str]:
    """The question, how far the answers agree with that to everything, and the answers."""
    yield style.paint(style.line(f"asked {data.model}: {data.question}", style.width), "bold")
    rows = [
        ("everything, once more: the noise floor", data.again),
        (f"< {left}{_same(data.left)}", data.left),
        (f"> {right}{_same(data.right)}", data.right),
    ]
    room = min(48, style.width - _CELLS)
    yield style.paint(
        f"  {pad(style.line('held against everything', room), room)}   context  words  literals",
        "dim",
    )
    for name, answer in rows:
        yield from _row(name, answer, room, style)
    yield ""
    yield from _beside(data, left, right, style)
    yield ""
    yield from _answer("everything", data.everything, style)
    for note in data.notes:
        yield style.paint(style.line(note, style.width), "dim")


def _same(answer: AnswerData) -> str:
    return " (the same context)" if answer.same_context else ""


def _row(name: str, answer: AnswerData, room: int, style: Style) -> Iterator[str]:
    cells = [
        pad_left(style.block(tokens(answer.context_tokens)), 8),
        pad_left("-" if answer.words is None else f"{answer.words:.2f}", 5),
        pad_left(_kept(answer), 8),
    ]
    yield f"  {pad(style.line(name, room), room)}  {'  '.join(cells)}"
    if answer.missing:
        more = len(answer.missing) - _MISSING
        named = ", ".join(answer.missing[:_MISSING]) + (f" +{more}" if more > 0 else "")
        yield "    " + style.paint(style.line(f"without {named}", style.width - 4), "dim")


def _kept(answer: AnswerData) -> str:
    if answer.literals is None:
        return "-"
    return f"{answer.literals - len(answer.missing)}/{answer.literals}"


def _beside(data: AskData, left: str, right: str, style: Style) -> Iterator[str]:
    room = (style.width - 3) // 2
    if room < _LEAST:
        yield from _answer(f"< {left}", data.left, style)
        yield ""
        yield from _answer(f"> {right}", data.right, style)
        return
    bar = style.translated("│")
    columns = [
        [style.line(name, room), *_lines(answer, style, room)]
        for name, answer in ((f"< {left}", data.left), (f"> {right}", data.right))
    ]
    for number, (one, other) in enumerate(zip_longest(*columns, fillvalue="")):
        line = f"{pad(one, room)} {bar} {other}".rstrip()
        yield style.paint(line, "bold") if not number else line


def _answer(name: str, answer: AnswerData, style: Style) -> Iterator[str]:
    yield style.paint(style.line(name, style.width), "bold")
    for line in _lines(answer, style, style.width - 2):
        yield f"  {line}".rstrip()


def _lines(answer: AnswerData, style: Style, room: int) -> Iterator[str]:
    for line in style.block(answer.text).splitlines():
        yield from wrapped(line, room)
    if answer.fault:
        yield from wrapped(style.block(f"({answer.fault})"), room)
