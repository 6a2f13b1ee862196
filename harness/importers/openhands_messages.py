"""The messages that OpenHands' SDK (V1) makes of its events, in the form of OpenAI chat.

The disk holds events; what was sent was made of them at each call, and is made of them here in the
same way: content as a list of parts, results with the text around a command's output, several
actions of one answer as one message. What the SDK cuts on sending (over 30,000 characters of a
command, 50,000 of any text) is a placeholder beside the whole result.

Not on disk: cache marks, and which fields a provider wanted besides. Sources: ``to_llm_message`` of
the events, ``to_llm_content`` (2025-09: ``agent_observation``) of the observations,
``Message.to_chat_dict``, all at OpenHands/software-agent-sdk and All-Hands-AI/agent-sdk.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

DIALECT: Final = "openai_chat"

COMMAND_LIMIT = 30_000
"""Characters of a command's output that are shown to the model."""
TEXT_LIMIT = 50_000
"""Characters of any one text in a result that are."""

CLIPPED = (
    "<response clipped><NOTE>Due to the max output limit, only part of the full response has been "
    "shown to you.</NOTE>"
)
ERROR_HEADER = "[An error occurred during execution.]\n"
OLD_ERROR_HEADER = "[There was an error during command execution.]\n"
REJECTED = "Action rejected: "

Message = dict[str, Any]


def text_of(value: object) -> str:
    """The value when it is a string, else nothing."""
    return value if isinstance(value, str) else ""


def system_message(event: Mapping[str, Any]) -> Message:
    """Of a SystemPromptEvent: the prompt, and what varies from one conversation to the next."""
    content = [*parts([event.get("system_prompt")]), *parts([event.get("dynamic_context")])]
    return {"role": "system", "content": content}


def spoken_message(event: Mapping[str, Any]) -> Message:
    """Of a MessageEvent: its message, and what skills added to it."""
    given = event.get("llm_message")
    given = given if isinstance(given, dict) else {}
    role = given.get("role")
    role = role if role in ("user", "system", "assistant") else "user"
    content = [*parts(given.get("content")), *parts(event.get("extended_content"))]
    calls = [made for call in _list(given.get("tool_calls")) if (made := _call(call)) is not None]
    if role == "assistant":
        return _assistant(content, calls, given)
    return {"role": role, "content": content}


def answer_message(events: Sequence[Mapping[str, Any]]) -> Message:
    """Of the ActionEvents of one answer: the thought of the first, and the call of each."""
    content = [part for event in events for part in parts(event.get("thought"))]
    return _assistant(content, [action_call(event) for event in events], events[0])


def action_call(event: Mapping[str, Any]) -> dict[str, Any]:
    """The call of an ActionEvent, in the form of OpenAI whatever the SDK's version."""
    made = _call(event.get("tool_call"))
    if made is not None:
        return made
    action = event.get("action")
    given = {k: v for k, v in action.items() if k != "kind"} if isinstance(action, dict) else {}
    function = {"name": text_of(event.get("tool_name")), "arguments": json.dumps(given)}
    return {"id": text_of(event.get("tool_call_id")), "type": "function", "function": function}


def is_call(given: Any) -> bool:
    """Whether a recorded call names a tool and its arguments."""
    return _call(given) is not None


def _call(given: Any) -> dict[str, Any] | None:
    if not isinstance(given, dict):
        return None
    inner = given.get("function")
    inner = inner if isinstance(inner, dict) else given  # since 2025-10 without the envelope
    name, arguments = inner.get("name"), inner.get("arguments")
    if not (isinstance(name, str) and isinstance(arguments, str)):
        return None
    function = {"name": name, "arguments": arguments}
    return {"id": text_of(given.get("id")), "type": "function", "function": function}


def _assistant(
    content: list[dict[str, Any]], calls: list[dict[str, Any]], given: Mapping[str, Any]
) -> Message:
    message: Message = {"role": "assistant"}
    said = [part for part in content if part.get("type") != "text" or part["text"].strip()]
    if said or not calls:
        message["content"] = said
    if calls:
        message["tool_calls"] = calls
    for key in ("reasoning_content", "thinking_blocks", "reasoning_details"):
        if given.get(key):
            message[key] = given[key]
    return message


def result_message(event: Mapping[str, Any]) -> Message:
    """Of what answers a call: an observation, an error of the agent, a person's rejection."""
    kind = event.get("kind")
    if kind == "AgentErrorEvent":
        content = [_text(text_of(event.get("error")))]
    elif kind == "UserRejectObservation":
        reason = event.get("rejection_reason")
        reason = reason if isinstance(reason, str) else "User rejected the action"
        content = [_text(REJECTED + reason)]
    else:
        content = [*_observed(event.get("observation")), *parts(event.get("extended_content"))]
    return {
        "role": "tool",
        "tool_call_id": text_of(event.get("tool_call_id")),
        "name": text_of(event.get("tool_name")),
        "content": content or [_text("")],
    }


def is_error(event: Mapping[str, Any]) -> bool:
    """Whether a result says that it is an error."""
    found = event.get("observation")
    found = found if isinstance(found, dict) else {}
    failed = found.get("is_error") is True or bool(found.get("error"))
    return event.get("kind") in ("AgentErrorEvent", "UserRejectObservation") or failed


def clipped(event: Mapping[str, Any], message: Message) -> str | None:
    """The text that the model was shown of a result that is too long; None where it saw all."""
    found = event.get("observation")
    is_command = isinstance(found, dict) and isinstance(found.get("metadata"), dict)
    shown = [part["text"] for part in message["content"] if part.get("type") == "text"]
    cut = [_clip(text, COMMAND_LIMIT if is_command else TEXT_LIMIT) for text in shown]
    return "\n".join(cut) if cut != shown else None


def _clip(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    room = limit - len(CLIPPED)
    tail = room // 2
    return text[: room - tail] + CLIPPED + text[len(text) - tail :]


def _observed(given: Any) -> list[dict[str, Any]]:
    if not isinstance(given, dict):
        return parts(given)
    metadata = given.get("metadata")
    if isinstance(metadata, dict):
        return _command(given, metadata)
    header = [_text(ERROR_HEADER)] if given.get("is_error") is True else []
    if isinstance(given.get("error"), str) and given["error"]:  # 2025-09: in the place of output
        return [_text(given["error"])]
    for key in ("content", "output", "message"):
        if isinstance(given.get(key), str | list):
            return [*header, *parts(given[key])]
    rest = {k: v for k, v in given.items() if k != "kind"}
    return [*header, _text(json.dumps(rest, ensure_ascii=False))]


def _command(given: Mapping[str, Any], metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The output of a command, between what the shell said before and after it."""
    output = given.get("output")
    if not isinstance(output, str):
        output = "".join(p["text"] for p in parts(given.get("content")) if p["type"] == "text")
    text = text_of(metadata.get("prefix")) + output + text_of(metadata.get("suffix"))
    if metadata.get("working_dir"):
        text += f"\n[Current working directory: {metadata['working_dir']}]"
    if metadata.get("py_interpreter_path"):
        text += f"\n[Python interpreter: {metadata['py_interpreter_path']}]"
    if metadata.get("exit_code", -1) != -1:
        text += f"\n[Command finished with exit code {metadata['exit_code']}]"
    if given.get("is_error") is True:
        return [_text(ERROR_HEADER), _text(text)]
    return [_text(OLD_ERROR_HEADER + text if given.get("error") is True else text)]


# -- parts ----------------------------------------------------------------------------------------


def parts(content: Any) -> list[dict[str, Any]]:
    """The SDK's text and image contents as OpenAI's parts; anything else as its JSON."""
    if isinstance(content, str):
        return [_text(content)]
    found: list[dict[str, Any]] = []
    for part in _list(content):
        if isinstance(part, str):
            found.append(_text(part))
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            found.append(_text(part["text"]))
        elif isinstance(part, dict) and isinstance(part.get("image_urls"), list):
            urls = [url for url in part["image_urls"] if isinstance(url, str)]
            found += [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        elif part is not None:
            found.append(_text(json.dumps(part, ensure_ascii=False)))
    return found


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
