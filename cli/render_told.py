"""What a session was told, and what changed in it, as text. Pure."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from cli.models_told import (
    PromptData,
    PromptDiffData,
    PromptLogData,
    PromptPairData,
    PromptSpanData,
    ToolData,
    ToolsSpanData,
    VariableData,
)
from cli.safetext import display_width
from cli.style import Style, heading, pad, plural, ranges
from cli.words import word_diff
from eventlog.messages import SYSTEM_ROLES

SIGNS = {"same": " ", "changed": "~", "added": "+", "removed": "-"}
_WORDS = {
    "template": "another template",
    "version": "version",
    "template_text": "template text",
    "variables": "variables",
    "text": "text",
}
_NAME = 28
_CALLS = 16
_AROUND = 2
"""Lines that are shown of what is equal, on each side of a change."""


# -- prompt log -----------------------------------------------------------------------------------


def render_prompt_log(data: PromptLogData, style: Style) -> Iterator[str]:
    """A row a prompt, and what it changed; then the tools."""
    yield style.paint(heading(plural(data.calls, "call"), data.key, style), "bold")
    rows = [*data.prompts]
    size = max([3, *(min(_NAME, display_width(_name(row.prompt))) for row in rows)])
    ref = max([3, *(display_width(row.renditions[0]) for row in rows)])
    calls = max([3, *(min(_CALLS, display_width(_calls(row.calls))) for row in rows)])
    for row in rows:
        start = f" {pad(style.line(_name(row.prompt), size), size)}  "
        start += pad(style.line(row.renditions[0], ref), ref) + "  "
        start += style.paint(pad(style.line(_calls(row.calls), calls), calls), "dim") + "  "
        used = 1 + size + 2 + ref + 2 + calls + 2
        yield (start + style.line(_says(row), max(20, style.width - used))).rstrip()
        if row.prompt.state == "broken":
            yield style.paint(_indented(f"does not hold: {row.prompt.fault}", style, 3), "bold")
        if row.before is not None and "template" in row.changed:
            was = f"before: {_name(row.before)}: {_filled(row.before)}"
            yield style.paint(_indented(was, style, 3), "dim")
    if not rows:
        yield " no prompt is known"
    elif data.without_prompt:
        yield _indented(f"no prompt is known of {_calls(data.without_prompt)}", style, 1)
    yield from _tool_rows(data, style)


def _name(prompt: PromptData) -> str:
    if not prompt.template:
        return f"{prompt.message_role} text, no template"
    name = f"{prompt.template}/{prompt.role}" if prompt.role else prompt.template
    name = f"{name} v{prompt.version}" if prompt.version else name
    return name if prompt.message_role in SYSTEM_ROLES else f"{name} ({prompt.message_role})"


def _calls(numbers: Sequence[int]) -> str:
    return ranges(f"c{number}" for number in numbers) or "no call yet"


def _says(row: PromptSpanData) -> str:
    """What it changed; of the first of its kind what it says, or was filled in with."""
    prompt = row.prompt
    if prompt.state == "erased":
        return "(erased)"
    if row.changed:
        said = [_variable(each) for each in row.variables]
        if "template_text" in row.changed and "template" not in row.changed:
            said.insert(0, "another template text")
        if "template" in row.changed:
            return _filled(prompt)
        return "; ".join(said) or ", ".join(_WORDS[name] for name in row.changed)
    if prompt.variables:
        return _values(prompt)
    return prompt.text


def _filled(prompt: PromptData) -> str:
    """What it says, behind what it was filled in with."""
    if prompt.state == "erased":
        return "(erased)"
    return f"{_values(prompt)}: {prompt.text}" if prompt.variables else prompt.text


def _values(prompt: PromptData) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in prompt.variables.items())


def _variable(each: VariableData) -> str:
    if each.state == "added":
        return f"+ {each.name}={_value(each.right)}"
    if each.state == "removed":
        return f"- {each.name}"
    return f"{each.name}: {_value(each.left)} → {_value(each.right)}"


def _value(value: Any, most: int = 40) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def _tool_rows(data: PromptLogData, style: Style) -> Iterator[str]:
    if not data.tools and not data.without_tools:
        return
    yield ""
    for row in data.tools:
        count = plural(len(row.names), "tool") if row.names else "no tools"
        place = f"@{row.position}" if row.position is not None else ""
        start = f" {pad(count, 10)} {pad(place, 6)} "
        start += style.paint(pad(style.line(_calls(row.calls), _CALLS), _CALLS), "dim") + "  "
        yield (start + style.line(_tools_say(row), max(20, style.width - 38))).rstrip()
    if data.without_tools:
        yield _indented(f"nobody wrote down the tools of {_calls(data.without_tools)}", style, 1)


def _tools_say(row: ToolsSpanData) -> str:
    return ", ".join(map(_tool, row.changes)) if row.changes else ", ".join(row.names)


def _tool(tool: ToolData) -> str:
    fields = f" ({', '.join(tool.fields)})" if tool.fields else ""
    return f"{SIGNS[tool.state]} {tool.name}{fields}"


# -- prompt diff ----------------------------------------------------------------------------------


def render_prompt_diff(data: PromptDiffData, style: Style, *, words: bool = False) -> Iterator[str]:
    """What each prompt changed, in its template, its variables and its text; then the tools."""
    right = f"{data.right} as it is now" if data.file else _place(data.right)
    front = f"{_place(data.left)} → {right}"
    if data.since is not None and f"c{data.since}" != data.right:
        front += f", since c{data.since}"
    yield style.paint(heading(front, data.key, style), "bold")
    if data.file:
        yield style.paint(style.block(data.file), "dim")
    for note in data.notes:
        yield style.paint(style.line(note, style.width), "dim")
    for pair in data.prompts:
        yield from _pair(pair, style, words)
    if not data.prompts:
        yield " no prompt is known"
    yield from _tool_changes(data, style)


def _place(ref: str) -> str:
    return ref if ref == "now" else f"@{ref}"


def _indented(text: str, style: Style, by: int) -> str:
    """A line of dynamic text, which ``Style.line`` would move to the left."""
    return " " * by + style.line(text, style.width - by)


def _pair(pair: PromptPairData, style: Style, words: bool) -> Iterator[str]:
    left, right = pair.left, pair.right
    shown = right or left
    assert shown is not None
    sign = SIGNS[pair.state]
    where = " → ".join(dict.fromkeys(p.rendition for p in (left, right) if p and p.rendition))
    said = f"{_title(pair)}, item {where}" + (": the same" if pair.state == "same" else "")
    line = f" {sign} {style.line(said, style.width - 3)}"
    yield style.paint(line, "bold" if pair.state != "same" else "dim")
    for prompt, side in ((left, "left"), (right, "right")):
        if prompt is not None and prompt.state == "broken":
            yield _indented(f"the {side} one does not hold: {prompt.fault}", style, 3)
        elif prompt is not None and prompt.state == "erased":
            yield _indented(f"the text of the {side} one was erased", style, 3)
    if pair.state == "same":
        return
    if left is None or right is None:
        yield from _block(shown, style)
        return
    if "template" not in pair.changed:
        if "template_text" in pair.changed:
            yield "   template"
            yield from _texts(left.template_text, right.template_text, style, words)
        if pair.variables:
            yield "   variables"
        for each in pair.variables:
            yield _indented(_change(each), style, 3)
    if "text" in pair.changed:
        yield "   text"
        yield from _texts(left.text, right.text, style, words)


def _title(pair: PromptPairData) -> str:
    left, right = pair.left, pair.right
    one = right or left
    assert one is not None
    if left is None or right is None or "template" in pair.changed:
        names = dict.fromkeys(_name(prompt) for prompt in (left, right) if prompt is not None)
        return " → ".join(names)
    if "version" in pair.changed:
        name = f"{one.template}/{one.role}" if one.role else one.template
        return f"{name} version {left.version or 'none'} → {right.version or 'none'}"
    return _name(one)


def _change(each: VariableData) -> str:
    most = 200
    if each.state == "added":
        return f"+ {each.name} = {_value(each.right, most)}"
    if each.state == "removed":
        return f"- {each.name} = {_value(each.left, most)}"
    return f"~ {each.name} = {_value(each.left, most)} → {_value(each.right, most)}"


def _block(prompt: PromptData, style: Style) -> Iterator[str]:
    for line in style.block(prompt.text or prompt.template_text).splitlines():
        yield f"     {line}".rstrip()


def _texts(left: str, right: str, style: Style, words: bool) -> Iterator[str]:
    if words:
        for line in style.block(word_diff(left, right)).splitlines():
            yield f"     {line}".rstrip()
        return
    one, other = left.splitlines(), right.splitlines()
    lines = difflib.unified_diff(one, other, n=_AROUND, lineterm="")
    for number, line in enumerate(lines):
        if number < 2:  # the names of two files
            continue
        if line.startswith("@@"):
            if number > 2:
                yield "     …" if not style.ascii else "     ..."
            continue
        shown = f"   {line[0]} {style.block(line[1:])}".rstrip()
        yield style.paint(shown, {"+": "bold", "-": "yellow"}.get(line[0], "dim"))


def _tool_changes(data: PromptDiffData, style: Style) -> Iterator[str]:
    for tool in data.tools:
        yield _indented(f"{SIGNS[tool.state]} tool {_tool(tool)[2:]}", style, 1)
