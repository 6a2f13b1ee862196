"""Why an item stands where it stands, as text. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from cli.models_reasons import WhyAnchor, WhyData
from cli.safetext import display_width
from cli.saying import ERASED_SUMMARY, SEALED
from cli.style import Style, heading, pad, plural, ranges, tokens

_MOST = 12
"""Literals that are shown, beside those that are used later."""

_USERS = 3
"""Later messages that are named."""


def render_why(data: WhyData, style: Style, program: str = "ctxlog") -> Iterator[str]:
    """The answer, the chain, what of the item is left, and what to type."""
    front = f"{data.asked} · {data.who} · {tokens(data.tokens)} tokens"
    at = f"@{data.ref}" if data.ref != "now" else ""
    yield style.paint(heading(front, data.key, style, at), "bold")
    yield style.paint(style.line(data.preview, style.width), "dim")
    yield ""
    yield from _wrapped(data.answer, style)
    yield ""
    yield from _steps(data, style)
    yield from _calls(data, style)
    yield from _anchors(data, style)
    if data.back:
        yield ""
        size = max(display_width(style.block(way.command)) for way in data.back)
        for way in data.back:
            command = pad(style.block(way.command), min(size, style.width))
            yield f"  {style.paint(f'{program} {command}', 'cyan')}  # {style.block(way.does)}"


def _wrapped(text: str, style: Style, indent: str = "") -> Iterator[str]:
    width = max(20, style.width - len(indent))
    for line in textwrap.wrap(style.line(text, 8 * style.width), width):
        yield indent + line


def _steps(data: WhyData, style: Style) -> Iterator[str]:
    ref = max((display_width(step.ref) for step in data.steps), default=1)
    for step in data.steps:
        start = f" {pad(style.line(step.ref, ref), ref)}  "
        indent = " " * display_width(start)
        lines = list(_wrapped(step.sentence, style, indent))
        if step.undone_by is not None:
            lines = [style.paint(line, "dim") for line in lines]
        yield style.paint(start, "cyan") + lines[0].removeprefix(indent)
        yield from lines[1:]


def _calls(data: WhyData, style: Style) -> Iterator[str]:
    if data.calls:
        yield ""
        yield from _wrapped(_given(data), style, " ")
    held = data.held
    if held is not None:
        whose = "the recorded request" if held.recorded else "the context, as folded,"
        what = f"held {held.rendition}" if held.rendition is not None else "did not hold it"
        yield from _wrapped(f"{held.call}: {whose} {what}", style, " ")


_FORMS = {
    "original": "in full",
    "cut": "cut",
    "cleared": "as a placeholder (cleared)",
    "deduplicated": "as a placeholder (deduplicated)",
    "revised": "revised",
    "redacted": "erased",
}


def _given(data: WhyData) -> str:
    """How many calls had all of it, and how many only what was left of it."""
    forms = [
        f"{_FORMS.get(one.form, one.form)} to {len(one.calls):,} ({ranges(one.calls)})"
        for one in data.given
    ]
    total = plural(len(data.calls), "call")
    if len(data.given) == 1:
        form = data.given[0].form
        return f"given {_FORMS.get(form, form)} to {total}: {ranges(data.calls)}"
    return f"given to {total}: {'; '.join(forms)}"


_STANDING = ("context", "placeholder")


def _anchors(data: WhyData, style: Style) -> Iterator[str]:
    if not data.anchors:
        return
    kept = [one for one in data.anchors if one.in_place]
    elsewhere = [one for one in data.anchors if not one.in_place and one.elsewhere]
    lost = [one for one in data.anchors if not one.in_place and not one.elsewhere]
    again = sum(one.in_other_words for one in lost)
    place = ", ".join(data.replaced_by[:_USERS]) or "what is left"
    yield ""
    gone = "is not there as it came in" if data.state in _STANDING else "left the context"
    total = plural(len(data.anchors), "literal")
    text = f"the text itself {gone}; of the {total} in it, such as paths and ids:"
    yield from _wrapped(text, style)
    said = f"{len(kept)} in {place}, {len(elsewhere)} elsewhere in the context then, "
    said += f"{len(lost)} lost word for word"
    said += f", {again} of them said again in other words" if again else ""
    yield from _wrapped(said, style)
    if data.sealed and lost:
        yield from _wrapped(f"{SEALED}, so they may not be lost", style)
    if data.summary_erased and lost:
        yield from _wrapped(f"{ERASED_SUMMARY}, so they may not be lost", style)
    ranked = sorted(lost, key=lambda one: -len(one.used_by))
    shown = [one for n, one in enumerate(ranked) if n < _MOST or one.used_by]
    for one in shown:
        yield _anchor(one, style)
    if len(shown) < len(ranked):
        yield style.translated(f"  … {len(ranked) - len(shown)} more")


def _anchor(one: WhyAnchor, style: Style) -> str:
    used = "  (in other words)" if one.in_other_words else ""
    if one.used_by:
        more = f" +{len(one.used_by) - _USERS}" if len(one.used_by) > _USERS else ""
        used += f"  → again in {', '.join(one.used_by[:_USERS])}{more}"
    start = f"  {pad(one.kind, 8)} "
    tail = style.translated(used)
    return start + style.line(one.text, style.width - len(start) - display_width(tail)) + tail
