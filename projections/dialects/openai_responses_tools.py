"""Tool definitions of OpenAI's Responses.

Source: OpenAI API reference, "Create a model response".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from projections.dialects.translate import Tool, tool_name


def is_native(tool: Mapping[str, Any]) -> bool:
    """Whether a definition is one of OpenAI's Responses, and passes as it is."""
    kind = tool.get("type")
    if not isinstance(kind, str) or "input_schema" in tool:
        return False
    if kind in ("function", "custom"):
        return isinstance(tool.get("name"), str)
    # Anthropic's own tools carry a date: web_search_20250305.
    return not kind.rpartition("_")[2].isdecimal() or len(kind.rpartition("_")[2]) != 8


def written_tool(tool: Tool) -> dict[str, Any]:
    """A function as it is declared there."""
    found: dict[str, Any] = {"type": "function", "name": tool_name(tool.name)}
    if tool.description:
        found["description"] = tool.description
    return {**found, "parameters": tool.schema, "strict": False}
