"""What OpenAI's chat completions refuse, as far as the messages and tools of a request go.

Strict, and independent of the code that repairs and renders contexts: it only reads a request.

Source: OpenAI API reference, "Create chat completion", and the error messages of the service.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from projections.dialects.json_rules import json_fault

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_USER_PARTS = {"text": str, "image_url": dict, "input_audio": dict, "file": dict}
_OTHERS_PARTS = frozenset(
    {"image", "document", "input_text", "output_text", "input_image", "input_file"}
    | {"tool_use", "tool_result", "thinking", "redacted_thinking"}
)


def validate(request: Mapping[str, Any]) -> list[str]:
    """The reasons for which the request would be refused; empty when there is none."""
    fault = json_fault(request)
    return [fault] if fault else problems(request)


def problems(request: Mapping[str, Any]) -> list[str]:
    """The same of a request that is known to be JSON."""
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        return ["messages: must be a list that is not empty"]
    problems = _tools(request.get("tools"))
    seen: set[str] = set()
    waiting: list[str] = []
    function: str | None = None
    for index, message in enumerate(messages):
        at = f"messages[{index}]"
        role = message.get("role") if isinstance(message, dict) else None
        if role not in _ROLES:
            problems.append(f"{at}: no message with a known role")
            continue
        if role == "tool":
            call_id = message.get("tool_call_id")
            if call_id in waiting:
                waiting.remove(call_id)
            else:
                problems.append(f"{at}: answers no call of the message in front of it")
        elif waiting:
            problems.append(f"{at}: stands before the answers to {', '.join(waiting)}")
            waiting = []
        if role == "function":
            if function is None or message.get("name") != function:
                problems.append(f"{at}: answers no function call of the message in front of it")
            function = None
        elif function is not None:
            problems.append(f"{at}: stands before the answer of the function {function}")
            function = None
        if role == "assistant":
            found, waiting, function = _assistant(at, message, seen)
            problems += found
        else:
            problems += _other(at, str(role), message)
    if waiting or function is not None:
        problems.append(f"calls at the end have no answer: {', '.join(waiting) or function}")
    return problems


def _other(at: str, role: str, message: dict[str, Any]) -> list[str]:
    problems = []
    if "tool_calls" in message or "function_call" in message:
        problems.append(f"{at}: only an assistant calls")
    content = message.get("content")
    if isinstance(content, str):
        if not content.strip() and role not in ("tool", "function"):
            problems.append(f"{at}: empty content")
    elif isinstance(content, list) and content:
        for part in content:
            problems += _part(at, role, part)
    else:
        problems.append(f"{at}: no content")
    return problems


def _part(at: str, role: str, part: Any) -> list[str]:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or not kind or kind in _OTHERS_PARTS:
        return [f"{at}: {kind!r} is no content part here"]
    if role != "user" and kind != "text":
        return [f"{at}: a {role} message holds text only, not {kind}"]
    expected = _USER_PARTS.get(kind)
    if expected is not None and not isinstance(part.get(kind), expected):
        return [f"{at}: a part of type {kind} without its {kind}"]
    if kind == "text" and not part["text"].strip():
        return [f"{at}: an empty text part"]
    if kind == "image_url" and not part["image_url"].get("url"):
        return [f"{at}: an image without url"]
    return []


def _assistant(
    at: str, message: dict[str, Any], seen: set[str]
) -> tuple[list[str], list[str], str | None]:
    problems: list[str] = []
    content, calls = message.get("content"), message.get("tool_calls")
    function = message.get("function_call")
    if isinstance(content, list):
        for part in content:
            kind = part.get("type") if isinstance(part, dict) else None
            if kind not in ("text", "refusal") or not str(part.get(kind) or "").strip():
                problems.append(f"{at}: an assistant says text that is not empty, no {kind!r}")
    elif content is not None and not isinstance(content, str):
        problems.append(f"{at}: content is neither text nor a list")
    said = bool(content.strip() if isinstance(content, str) else content)
    if not (said or message.get("refusal") or message.get("audio") or calls or function):
        problems.append(f"{at}: an empty assistant message")
    ids: list[str] = []
    if calls is not None and (not isinstance(calls, list) or not calls):
        problems.append(f"{at}: tool_calls must be a list that is not empty")
    for call in calls if isinstance(calls, list) else ():
        problems += _call(at, call, seen)
        if isinstance(call, dict) and isinstance(call.get("id"), str):
            ids.append(call["id"])
    if function is not None:
        problems += _function(at, function, "arguments")
        if calls:
            problems.append(f"{at}: both tool_calls and function_call")
        name = function.get("name") if isinstance(function, dict) else None
        return problems, ids, str(name)
    return problems, ids, None


def _call(at: str, call: Any, seen: set[str]) -> list[str]:
    if not isinstance(call, dict):
        return [f"{at}: a call that is no object"]
    problems = []
    call_id = call.get("id")
    if not isinstance(call_id, str) or not call_id:
        problems.append(f"{at}: a call without id")
    elif call_id in seen:
        problems.append(f"{at}: the call id {call_id} stands twice")
    else:
        seen.add(call_id)
    if call.get("type") == "custom":
        return problems + _function(at, call.get("custom"), "input")
    if call.get("type") != "function":
        return [*problems, f"{at}: a call of type {call.get('type')!r}"]
    return problems + _function(at, call.get("function"), "arguments")


def _function(at: str, function: Any, field: str) -> list[str]:
    if not isinstance(function, dict):
        return [f"{at}: a call of nothing"]
    problems = []
    if not isinstance(function.get("name"), str) or not _NAME.fullmatch(function["name"]):
        problems.append(f"{at}: {function.get('name')!r} is no function name")
    if not isinstance(function.get(field), str):
        problems.append(f"{at}: {field} must be a string")
    return problems


def _tools(tools: Any) -> list[str]:
    if tools is None:
        return []
    if not isinstance(tools, list) or not tools:
        return ["tools: must be a list that is not empty"]
    problems, names = [], []
    for tool in tools:
        kind = tool.get("type") if isinstance(tool, dict) else None
        inner = tool.get(kind) if kind in ("function", "custom") else None
        if not isinstance(inner, dict) or not _NAME.fullmatch(str(inner.get("name") or "")):
            problems.append("tools: a tool without function and name")
            continue
        names.append(inner["name"])
    if len(set(names)) != len(names):
        problems.append("tools: a name stands twice")
    return problems
