"""The messages that legality puts in: always the same texts, named after the item they stand for.

Such an item is not in the log yet, so its id is no origin: ``5+0`` is the result for the first call
of item 5. Once its repair is recorded it is an item like any other.
"""

from __future__ import annotations

from eventlog import messages
from eventlog.messages import Part
from projections.items import Item
from projections.pairing import NO_RESULT_LABEL

NO_RESULT = "no result was recorded"
"""The text of a synthetic result."""

START = "[The conversation continues here.]"
"""The text of the user message in front of a context that would begin with the model's."""


def no_result(caller: Item, call: Part, number: int) -> Item:
    """The result of a call that has none; ``number`` tells the calls of one batch apart."""
    block = messages.result_block(caller.dialect, call.id, call.name, NO_RESULT)
    if caller.dialect == "openai_responses" and call.native.get("type") == "custom_tool_call":
        block["type"] = "custom_tool_call_output"
    name = f"{caller.id}+{number}"
    return Item(
        id=name,
        rendition=name,
        kind="tool_result",
        dialect=caller.dialect,
        role="tool",
        message=block,
        label=NO_RESULT_LABEL,
        tool_name=call.name,
    )


def start_before(item: Item) -> Item:
    """The user message in front of an item that cannot be the first."""
    name = f"{item.id}+start"
    return Item(
        id=name,
        rendition=name,
        kind="repair",
        dialect=item.dialect,
        role="user",
        message={"role": "user", "content": START},
        label="start",
    )
