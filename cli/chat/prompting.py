"""The system prompt of a chat: what it is, where it came from, and another one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cli.chat.asked import template_of
from cli.chat.chat import Chat
from cli.chat.slash import words_of
from cli.safetext import safe_text
from eventlog.errors import InputRefused
from eventlog.messages import SYSTEM_ROLES
from eventlog.recorded import StreamKey
from projections import Live
from projections.items import Item
from projections.prompts import PromptMissing
from projections.runs import position_of

_VALUE = re.compile(r"[^\W\d]\w*=", re.ASCII)
_SHOWN = 60


def prompt(chat: Chat, text: str) -> None:
    """``/prompt``: the name of a template with its values, or a text.

    One word is always a name: a slip in it would else be the prompt, and nobody would see it. A
    text of one word stands in quotes.
    """
    of = chat.conversation
    if not text:
        _show(chat)
        return
    quoted = _unquoted(text)
    called = _called(text) if quoted is None else None
    if called is None:
        of.prompt(text if quoted is None else quoted)
        chat.note("the system prompt is another one now")
        return
    name, *values = called
    try:
        of.prompt(template_of(name, values))
    except PromptMissing as error:
        text = text.replace('"', "'")
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        kind = "a text that looks like a name" if values else "a text of one word"
        end = "" if error.detail.endswith("?") else ";"
        raise InputRefused(f'{error.detail}{end} {kind}: /prompt "{shown}"') from None
    chat.note(f"the system prompt is the template {name} now")


def templates(chat: Chat) -> Sequence[str]:
    """The templates that there are, each with its roles."""
    from cli.prompts import beside, names_of

    return list(names_of(beside(None)))


def _show(chat: Chat) -> None:
    of = chat.conversation
    told = (item for item in of.items() if item.source != "memory")
    found = next((item for item in told if item.role in SYSTEM_ROLES), None)
    if found is None:
        chat.note("no system prompt; /prompt TEXT sets one")
        return
    if label := template_told(chat.live, of.key, found):
        chat.note(label)
    chat.tell([chat.out.style.block(found.text)], "prompt")


def template_told(live: Live, key: StreamKey, item: Item) -> str:
    """Which template an item came from, as it stands; empty where it came from none.

    A prompt that was revised since, by hand or by another template, is told as what it is now.
    """
    at = item.rendition.rpartition("@")[2]
    began = position_of(at if at != "redacted" else item.id)
    told = ""
    for event in live.log.read(key, began, types=["message_revised", "prompt_rendered"]):
        data = event.data
        if data.get("item") != item.id:
            continue
        if event.type == "message_revised":
            break
        told = f"{data.get('template', '')}{'/' if data.get('role') else ''}{data.get('role', '')}"
        told += f", version {data['version']}" if data.get("version") else ""
    return f"from the template {safe_text(told, newlines=False)}" if told else ""


def _unquoted(text: str) -> str | None:
    """What stands between quotes that hold all of it; None where none do."""
    for quote in ('"', "'"):
        inner = text[1:-1]
        if len(text) > 1 and text[0] == text[-1] == quote and quote not in inner:
            return inner
    return None


def _called(text: str) -> list[str] | None:
    """A name and its ``name=value``s; None for what is a text."""
    name, *rest = text.split(None, 1)
    if not rest:
        return [name]
    try:
        values = words_of(rest[0])
    except InputRefused:  # an apostrophe
        return None
    return [name, *values] if all(map(_VALUE.match, values)) else None
