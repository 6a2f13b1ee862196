"""The first record of a Codex thread: where it comes from, its system prompt, its tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.importers.codex_speakers import text_of

METADATA = (
    "cwd",
    "originator",
    "cli_version",
    "source",
    "thread_source",
    "agent_nickname",
    "agent_role",
    "agent_path",
    "model_provider",
    "forked_from_id",
    "history_mode",
    "history_base",
    "git",
)
"""Fields of a session's first record that its start names."""


def instructions_of(meta: Mapping[str, Any]) -> str:
    """The system prompt that a header holds; nothing where the history begins in another file,
    since what stands before it is not known."""
    found = meta.get("base_instructions")
    if isinstance(meta.get("history_base"), dict):
        return ""
    return text_of(found.get("text") if isinstance(found, dict) else found)


def tools_of(meta: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tools that a header holds, in the form of a request. Codex's own are never recorded."""
    found = meta.get("dynamic_tools")
    if isinstance(found, dict):
        found = [found]
    tools = [_tool(tool) for tool in found] if isinstance(found, list) else []
    return [tool for tool in tools if tool]


def _tool(tool: Any) -> dict[str, Any]:
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return {}
    named = {k: tool[k] for k in ("name", "description") if isinstance(tool.get(k), str)}
    if isinstance(tool.get("tools"), list):
        inner = [found for each in tool["tools"] if (found := _tool(each))]
        return {"type": "namespace", **named, "tools": inner}
    schema = tool.get("inputSchema", tool.get("input_schema"))
    if not isinstance(schema, dict):
        return {}
    function = {"type": "function", **named, "parameters": schema}
    space = tool.get("namespace")
    return {"type": "namespace", "name": space, "tools": [function]} if text_of(space) else function


def parent_of(meta: Mapping[str, Any]) -> str:
    """The thread that started a sub-agent, or that a fork was made of."""
    spawn = _spawn(meta)
    found = meta.get("parent_thread_id") or spawn.get("parent_thread_id")
    return text_of(found) or text_of(meta.get("forked_from_id"))


def is_subagent(meta: Mapping[str, Any]) -> bool:
    """Whether another model prompts this thread."""
    source = meta.get("source")
    sub = isinstance(source, dict) and "subagent" in source
    return sub or meta.get("thread_source") == "subagent" or bool(meta.get("parent_thread_id"))


def _spawn(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = meta.get("source")
    for key in ("subagent", "thread_spawn"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}
