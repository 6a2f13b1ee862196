"""What of a request its provider completes or edits before the model sees it.

Told by the request alone; what is known only from an answer stands there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_COMPLETED = ("previous_response_id", "conversation", "prompt")
"""Parameters of OpenAI's Responses API that name something the provider keeps."""


def server_edited(
    dialect: str, parameters: Mapping[str, Any], messages: Iterable[Mapping[str, Any]]
) -> tuple[str, ...]:
    """The names of what is completed or edited; none of a request that goes in as it is."""
    if dialect != "openai_responses":
        return ()
    found = [name for name in _COMPLETED if parameters.get(name) is not None]
    if parameters.get("truncation") == "auto":
        found.append("truncation")
    if any(message.get("type") == "item_reference" for message in messages):
        found.append("item_reference")
    return tuple(found)
