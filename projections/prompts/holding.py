"""Whether what was recorded of a rendered prompt fits together, proved from the log alone. Pure.

Three things are computed again: the digest of the template's text, the digest of the text that the
item carries, and that text itself, from the template and its variables. What was erased proves
nothing any more, and is no fault.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Literal, NamedTuple

from projections.prompts.in_force import Prompt
from projections.prompts.variables import filled, said

State = Literal["holds", "erased", "no_template", "broken"]


class Holding(NamedTuple):
    """What a proof gave."""

    state: State
    fault: str = ""
    """Of a broken one: what does not fit."""


def holding(prompt: Prompt) -> Holding:
    """Of one prompt."""
    event = prompt.event
    if event is None:
        return Holding("no_template")
    if event.erased or prompt.is_erased:
        return Holding("erased")
    salt = _bytes(event.data.get("salt"))
    if salt is None:
        return Holding("broken", "its salt is no salt")
    if _digest(salt, prompt.template_text) != event.data.get("template_digest"):
        return Holding("broken", "the template's text is not the one that was digested")
    if _digest(salt, prompt.text) != event.data.get("rendered_digest"):
        item = prompt.item.rendition
        return Holding("broken", f"the text of item {item} is not the one that was rendered")
    values = {name: said(value) for name, value in prompt.variables.items()}
    if filled(prompt.template_text, values) != prompt.text:
        return Holding("broken", "the template and its variables do not give that text")
    return Holding("holds")


def _bytes(salt: object) -> bytes | None:
    try:
        return bytes.fromhex(salt) if isinstance(salt, str) else None
    except ValueError:
        return None


def _digest(salt: bytes, text: str) -> str:
    return sha256(salt + text.encode("utf-8", "surrogatepass")).hexdigest()
