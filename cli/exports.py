"""Sessions on their way out: lossless, as OpenAI messages, or to read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from cli.output import json_text
from cli.safetext import safe_text
from cli.saying import full_text
from cli.style import plural, shrunk
from cli.timeline import timeline
from cli.windows import item_data, tool_names
from eventlog import StreamKey
from projections import Live, tokens
from projections.context import effective, fold
from projections.dialects import dialect
from projections.dialects.translate import tool_objects
from projections.items import Item
from projections.legality import sendable
from projections.materialize import original

SHORTENING = frozenset({"context_compacted", "placeholder_substituted", "repair_applied"})
"""Decisions that an export of the whole conversation leaves out: the originals stand."""


class Sink(Protocol):
    """Where text goes."""

    def write(self, text: str, /) -> Any:
        """Take text."""


def conversation(live: Live, key: StreamKey) -> list[Item]:
    """Everything that was said, as if nothing had ever been cut, cleared or compacted."""
    in_force, _ = effective(list(live.log.read(key)))
    view = fold(event for event in in_force if event.type not in SHORTENING)
    return live.materialize(key, view.standing(), view.pins)


def as_openai(live: Live, keys: Sequence[StreamKey], note: Callable[[str], None]) -> Iterator[str]:
    """One line a session: ``{"messages": […], "tools": […]}`` in the form of a chat request.

    What of it could not be written is told by ``note``.
    """
    for key in keys:
        items = conversation(live, key)
        if not items:
            continue
        tools = None
        for event in live.log.read(key, types=["tools_declared"]):
            tools = event.data.get("definitions")
        for told in odd_tools(tools):
            note(f"{key}: {told}")
        body = dialect("openai_chat").render(sendable(items).items, tools)
        yield json_text(body, indent=None)


def odd_tools(tools: object) -> list[str]:
    """That not all that was declared as tools can be one, where that is so."""
    if tools is None or tools == tool_objects(tools):
        return []
    return ["left out of the tools that were declared: what is no object"]


def as_markdown(live: Live, keys: Sequence[StreamKey]) -> Iterator[str]:
    """To read. All text of the log stands in fences, so nothing in it is markup."""
    for key in keys:
        data = timeline(live, key, at=live.log.version(key))
        yield f"# {inline(str(key))}\n"
        counter = tokens.counter()
        names = tool_names(conversation(live, key))
        for row in data.rows:
            if row.type == "context_compacted" and "." not in row.ref:
                yield (
                    f"---\n\n**{row.ref} compacted**: {plural(row.items or 0, 'item')} left the "
                    f"context, {shrunk(row, ' tokens')}\n"
                )
            elif row.tokens is None:
                yield f"*{inline(row.preview)}*\n"
            else:
                event = live.log.at(key, [row.position])
                item = original(_origin(row.ref), event)
                if item is not None:
                    shown = item_data(item, counter, names)
                    yield f"### {row.ref} · {inline(shown.who)}\n"
                    yield fenced(full_text(item))


def _origin(ref: str) -> int | str:
    return ref if "." in ref else int(ref)


def fenced(text: str) -> str:
    """The text between fences longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{safe_text(text)}\n{fence}\n"


def code(text: str) -> str:
    """The text on one line as code: what stands in it is no markup, and is copied as it is."""
    safe = " ".join(safe_text(text).split())
    longest = max((len(run) for run in re.findall(r"`+", safe)), default=0)
    ticks = "`" * (longest + 1)
    blank = " " if safe.startswith("`") or safe.endswith("`") else ""
    return f"{ticks}{blank}{safe}{blank}{ticks}"


def inline(text: str) -> str:
    """The text on one line, with everything that would be markup escaped.

    An underscore inside a word is none.
    """
    safe = safe_text(text, newlines=False)
    return re.sub(r"([\\`*{}\[\]<>#|&!]|(?<![^\W_])_|_(?![^\W_]))", r"\\\1", safe)
