"""What of a context OpenAI's chat does not take as it is, revised before it is sent.

A server may answer with a call without a type, with arguments that are an object, with half of a
surrogate pair. The log keeps that; the request says it as the dialect can. What differs is said
first, as a revision of the item: nothing that the session itself did is then read off its request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eventlog.events import MessageRevised
from eventlog.jsonvalue import Json
from projections import forms
from projections.dialects import openai_chat
from projections.dialects.translate import clean
from projections.items import Item

REASON = "made canonical for OpenAI's chat"


def revisions(
    items: Sequence[Item], sent: Sequence[Mapping[str, Any]] | None = None
) -> list[MessageRevised]:
    """One for each item that is sent as another message than its own. ``sent`` are the messages of
    the request of these items, where there is one: then a quick look is enough for most.

    Erased items are left alone: a revision of one is not shown.
    """
    own = {id(item.message) for item in items}
    if sent is not None and all(id(message) in own for message in sent):
        return []  # a message that fits is sent as it is
    return [
        MessageRevised(item=item.id, message=Json(dict(clean(message))), reason=REASON)
        for message, item in openai_chat.attributed(items)
        if item.form != "redacted" and not _is_same(clean(message), item.message)
    ]


def _is_same(sent: Mapping[str, Any], own: Mapping[str, Any]) -> bool:
    return sent is own or forms.key(sent) == forms.key(own)
