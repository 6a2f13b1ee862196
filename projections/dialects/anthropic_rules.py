"""What Anthropic refuses, as far as the messages, system prompt and tools of a request go.

Strict (roles alternate, although the service merges neighbours), and independent of the code that
repairs and renders contexts: it only reads a request.

Source: Anthropic Messages API, its pages on tool use and extended thinking, and its error messages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from projections.dialects.json_rules import json_fault

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_OTHERS_BLOCKS = frozenset(
    {"image_url", "input_text", "output_text", "input_image", "input_file", "input_audio", "file"}
)
_THINKING = ("thinking", "redacted_thinking")
_MARKS = 4


def validate(request: Mapping[str, Any]) -> list[str]:
    """The reasons for which the request would be refused; empty when there is none."""
    fault = json_fault(request)
    return [fault] if fault else problems(request)


def problems(request: Mapping[str, Any]) -> list[str]:
    """The same of a request that is known to be JSON."""
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        return ["messages: must be a list that is not empty"]
    problems = [*_system(request), *_tools(request.get("tools"))]
    if _cache_marks([request.get("system"), request.get("tools"), messages]) > _MARKS:
        problems.append(f"more than {_MARKS} blocks with cache_control")
    seen: set[str] = set()
    waiting: list[str] = []
    before = None
    for index, message in enumerate(messages):
        at = f"messages[{index}]"
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ("user", "assistant"):
            problems.append(f"{at}: role {role!r}")
            continue
        if set(message) != {"role", "content"}:
            problems.append(f"{at}: has role and content and nothing else")
        if before is None and role != "user":
            problems.append(f"{at}: the first message is the user's")
        if role == before:
            problems.append(f"{at}: roles do not alternate")
        before = role
        blocks, found = _blocks(at, message.get("content"))
        problems += found
        if role == "user":
            problems += _user(at, blocks, waiting)
            waiting = []
        else:
            if waiting:
                problems.append(f"{at}: stands before the results of {', '.join(waiting)}")
            problems += _assistant(at, blocks, seen)
            waiting = [str(b.get("id")) for b in blocks if b.get("type") == "tool_use"]
    if waiting:
        problems.append(f"calls at the end have no result: {', '.join(waiting)}")
    return problems + _prefill(messages[-1])


def _blocks(at: str, content: Any) -> tuple[list[dict[str, Any]], list[str]]:
    if isinstance(content, str):
        return [], [] if content.strip() else [f"{at}: empty content"]
    if not isinstance(content, list) or not content:
        return [], [f"{at}: no content"]
    blocks = [block for block in content if isinstance(block, dict)]
    problems = [f"{at}: {problem}" for block in content for problem in _block(block)]
    return blocks, problems


def _block(block: Any) -> list[str]:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or not kind or kind in _OTHERS_BLOCKS:
        return [f"{kind!r} is no block here"]
    if kind == "text" and not (isinstance(block.get("text"), str) and block["text"].strip()):
        return ["text blocks must not be empty"]
    if kind in ("image", "document"):
        source = block.get("source")
        if not isinstance(source, dict) or not isinstance(source.get("type"), str):
            return [f"a block of type {kind} without source"]
    return []


def _user(at: str, blocks: list[dict[str, Any]], waiting: list[str]) -> list[str]:
    problems = []
    open_calls, kinds = list(waiting), [block.get("type") for block in blocks]
    for place, block in enumerate(blocks):
        if kinds[place] == "tool_result":
            call_id = block.get("tool_use_id")
            if call_id in open_calls:
                open_calls.remove(call_id)
            else:
                problems.append(f"{at}: the result {call_id!r} answers no call in front of it")
            if any(kind != "tool_result" for kind in kinds[:place]):
                problems.append(f"{at}: tool results stand first")
            problems += _result(at, block)
        elif kinds[place] == "tool_use" or kinds[place] in _THINKING:
            problems.append(f"{at}: a user neither calls nor thinks")
    if open_calls:
        problems.append(f"{at}: no result for {', '.join(open_calls)}")
    return problems


def _result(at: str, block: dict[str, Any]) -> list[str]:
    content = block.get("content")
    if content is None or isinstance(content, str):
        return []
    if not isinstance(content, list):
        return [f"{at}: the content of a result is text or a list"]
    problems = [f"{at}: in a result: {p}" for inner in content for p in _block(inner)]
    inside = [inner.get("type") for inner in content if isinstance(inner, dict)]
    if any(kind in ("tool_use", "tool_result", *_THINKING) for kind in inside):
        problems.append(f"{at}: a result holds text, images and documents")
    return problems


def _assistant(at: str, blocks: list[dict[str, Any]], seen: set[str]) -> list[str]:
    problems = []
    kinds = [block.get("type") for block in blocks]
    for block in blocks:
        kind = block.get("type")
        if kind in ("tool_result", "image", "document"):
            problems.append(f"{at}: no {kind} in an assistant's turn")
        elif kind == "thinking":
            signature = block.get("signature")
            if not isinstance(block.get("thinking"), str) or not (
                isinstance(signature, str) and signature
            ):
                problems.append(f"{at}: thinking without its signature")
        elif kind == "redacted_thinking" and not block.get("data"):
            problems.append(f"{at}: redacted thinking without data")
        elif kind == "tool_use":
            problems += _call(at, block, seen)
    if kinds and kinds[-1] in _THINKING:
        problems.append(f"{at}: the last block cannot be thinking")
    thinks = any(kind in _THINKING for kind in kinds)
    if thinks and "tool_use" in kinds and kinds[0] not in _THINKING:
        problems.append(f"{at}: a turn with thinking and tool use starts with thinking")
    return problems


def _call(at: str, block: dict[str, Any], seen: set[str]) -> list[str]:
    problems = []
    call_id, name = block.get("id"), block.get("name")
    if not isinstance(call_id, str) or not _ID.fullmatch(call_id):
        problems.append(f"{at}: {call_id!r} is no id of a call")
    elif call_id in seen:
        problems.append(f"{at}: the call id {call_id} stands twice")
    else:
        seen.add(call_id)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        problems.append(f"{at}: {name!r} is no tool name")
    if not isinstance(block.get("input"), dict):
        problems.append(f"{at}: the input of a call is an object")
    return problems


def _prefill(message: Any) -> list[str]:
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return []
    content = message.get("content")
    last: Any = content
    if isinstance(content, list) and content and isinstance(content[-1], dict):
        last = content[-1].get("text") if content[-1].get("type") == "text" else ""
    if isinstance(last, str) and last != last.rstrip():
        return ["the last assistant text ends with white space"]
    return []


def _system(request: Mapping[str, Any]) -> list[str]:
    if "system" not in request:
        return []
    system = request["system"]
    if isinstance(system, str):
        return [] if system.strip() else ["system: empty"]
    if not isinstance(system, list) or not system:
        return ["system: must be text or a list of text blocks"]
    problems = [f"system: {problem}" for block in system for problem in _block(block)]
    if any(isinstance(block, dict) and block.get("type") != "text" for block in system):
        problems.append("system: text blocks only")
    return problems


def _tools(tools: Any) -> list[str]:
    if tools is None:
        return []
    if not isinstance(tools, list) or not tools:
        return ["tools: must be a list that is not empty"]
    problems, names = [], []
    for tool in tools:
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            problems.append(f"tools: {name!r} is no tool name")
            continue
        names.append(name)
        if tool.get("type") in (None, "custom") and not isinstance(tool.get("input_schema"), dict):
            problems.append(f"tools: {name} without input_schema")
    if len(set(names)) != len(names):
        problems.append("tools: a name stands twice")
    return problems


def _cache_marks(value: Any) -> int:
    if isinstance(value, list):
        return sum(_cache_marks(inner) for inner in value)
    if isinstance(value, dict):
        return (value.get("cache_control") is not None) + _cache_marks(value.get("content"))
    return 0
