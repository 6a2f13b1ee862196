"""What OpenAI's Responses refuse, as far as the input, instructions and tools of a request go.

Strict, and independent of the code that repairs and renders contexts: it only reads a request.

Source: OpenAI API reference, "Create a model response", and the error messages of the service.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from projections.dialects.json_rules import json_fault

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ROLES = ("system", "developer", "user", "assistant")
_SAID_TO = ("input_text", "input_image", "input_file", "input_audio")
_SAID_BY = ("output_text", "refusal")
_FIELDS = {"function_call": "arguments", "custom_tool_call": "input"}


def validate(request: Mapping[str, Any]) -> list[str]:
    """The reasons for which the request would be refused; empty when there is none."""
    fault = json_fault(request)
    return [fault] if fault else problems(request)


def problems(request: Mapping[str, Any]) -> list[str]:
    """The same of a request that is known to be JSON."""
    problems = _tools(request.get("tools"))
    instructions = request.get("instructions")
    if instructions is not None and not (isinstance(instructions, str) and instructions.strip()):
        problems.append("instructions: must be text that is not empty")
    given = request.get("input")
    if isinstance(given, str) and given.strip():
        return problems
    if not isinstance(given, list) or not given:
        return [*problems, "input: must be text, or a list that is not empty"]
    for index, item in enumerate(given):
        problems += [f"input[{index}]: {problem}" for problem in _item(item)]
    items = [item if isinstance(item, dict) else {} for item in given]
    return problems + _pairs(items) + _reasoning(items) + _ids(items)


def _kind(item: dict[str, Any]) -> str:
    return str(item.get("type") or ("message" if "role" in item else ""))


def _item(item: Any) -> list[str]:
    if not isinstance(item, dict):
        return ["no object"]
    kind = item.get("type")
    if kind is not None and not isinstance(kind, str):
        return ["type must be text"]
    if _kind(item) == "message":
        return _message(item)
    if not _kind(item):
        return ["neither type nor role"]
    if kind in _FIELDS:
        return _call(item, _FIELDS[str(kind)])
    if kind in ("function_call_output", "custom_tool_call_output"):
        return _output(item)
    if kind == "reasoning":
        bound = item.get("id") or item.get("encrypted_content")
        if not isinstance(bound, str) or not isinstance(item.get("summary"), list):
            return ["reasoning without id, encrypted content or summary"]
    return []


def _message(item: dict[str, Any]) -> list[str]:
    role, content = item.get("role"), item.get("content")
    if role not in _ROLES:
        return [f"role {role!r}"]
    if isinstance(content, str):
        return [] if content.strip() else ["empty content"]
    if not isinstance(content, list) or not content:
        return ["no content"]
    allowed = _SAID_BY if role == "assistant" else _SAID_TO
    return [problem for part in content for problem in _part(part, allowed)]


def _part(part: Any, allowed: tuple[str, ...]) -> list[str]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in allowed:
        return [f"{kind!r} is no content here"]
    if kind in ("input_text", "output_text", "refusal"):
        text = part.get("refusal" if kind == "refusal" else "text")
        if not isinstance(text, str) or not text.strip():
            return [f"an empty {kind}"]
    if kind == "input_image" and not (part.get("image_url") or part.get("file_id")):
        return ["an image without url or file"]
    return []


def _call(item: dict[str, Any], field: str) -> list[str]:
    problems = []
    if not isinstance(item.get("call_id"), str) or not item["call_id"]:
        problems.append("a call without call_id")
    if not isinstance(item.get("name"), str) or not _NAME.fullmatch(item["name"]):
        problems.append(f"{item.get('name')!r} is no function name")
    if not isinstance(item.get(field), str):
        problems.append(f"{field} must be a string")
    return problems


def _output(item: dict[str, Any]) -> list[str]:
    output = item.get("output")
    if isinstance(output, str):
        return []
    if not isinstance(output, list) or not output:
        return ["output must be text or a list"]
    return [problem for part in output for problem in _part(part, _SAID_TO)]


def _pairs(items: list[dict[str, Any]]) -> list[str]:
    """Each call has exactly one output after it, of its own type."""
    problems = []
    calls: dict[str, str] = {}
    answered: set[str] = set()
    for index, item in enumerate(items):
        kind, call_id = _kind(item), item.get("call_id")
        if not isinstance(call_id, str):
            continue
        if not kind.endswith("_output"):
            if call_id in calls:
                problems.append(f"input[{index}]: the call id {call_id} stands twice")
            calls[call_id] = kind
            continue
        if call_id not in calls or call_id in answered:
            problems.append(f"input[{index}]: no call waits for the output {call_id}")
            continue
        answered.add(call_id)
        expected = {f"{calls[call_id]}_output"}
        if calls[call_id] == "custom_tool_call":
            expected = {"custom_tool_call_output"}
        if calls[call_id] == "local_shell_call":
            expected.add("function_call_output")
        if kind not in expected:
            problems.append(f"input[{index}]: {kind} answers a {calls[call_id]}")
    missing = [call_id for call_id in calls if call_id not in answered]
    return problems + [f"no output for the call {call_id}" for call_id in missing]


def _reasoning(items: list[dict[str, Any]]) -> list[str]:
    problems = []
    for index, item in enumerate(items):
        if _kind(item) != "reasoning":
            continue
        rest = (other for other in items[index + 1 :] if _kind(other) != "reasoning")
        following = next(rest, {})
        said = following.get("role") == "assistant" or _kind(following).endswith("_call")
        if not said:
            problems.append(f"input[{index}]: reasoning without the item that it precedes")
    return problems


def _ids(items: list[dict[str, Any]]) -> list[str]:
    seen: set[str] = set()
    problems = []
    for index, item in enumerate(items):
        item_id = item.get("id")
        if isinstance(item_id, str):
            if item_id in seen:
                problems.append(f"input[{index}]: the item id {item_id} stands twice")
            seen.add(item_id)
    return problems


def _tools(tools: Any) -> list[str]:
    if tools is None:
        return []
    if not isinstance(tools, list) or not tools:
        return ["tools: must be a list that is not empty"]
    problems, names = [], []
    for tool in tools:
        kind = tool.get("type") if isinstance(tool, dict) else None
        if not isinstance(kind, str):
            problems.append("tools: a tool without type")
        elif kind in ("function", "custom"):
            name = tool.get("name")
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                problems.append(f"tools: {name!r} is no function name")
            else:
                names.append(name)
    if len(set(names)) != len(names):
        problems.append("tools: a name stands twice")
    return problems
