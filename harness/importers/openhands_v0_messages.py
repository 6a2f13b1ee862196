"""The messages that OpenHands V0 makes of its events, in the form of OpenAI chat.

An answer is the first choice of the completion that its events repeat; without one (the earliest
agents called tools in their text) the action becomes a call with its arguments. Results are made as
``ConversationMemory`` makes them. Not on disk, and so not here: how many characters of a result the
model's configuration let through, the prompt that wraps what microagents know, screenshots, and the
blank lines between two messages of a user.

Source: ``openhands/memory/conversation_memory.py`` and ``openhands/events/observation``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.importers.openhands_messages import Message, action_call, is_call, parts, text_of

_THOUGHT = ("thought", "final_thought")
_KNOWLEDGE = (
    "repo_name",
    "repo_instructions",
    "additional_agent_instructions",
    "conversation_instructions",
)
_IMAGE = "![image](data:image/png;base64,"
_SHOWN_IMAGE = "![image](data:image/png;base64, ...) already displayed to user"


def fields(value: Any) -> Mapping[str, Any]:
    """The value when it is an object, else nothing."""
    return value if isinstance(value, dict) else {}


def completion(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The completion that an event repeats; nothing where it has none."""
    return fields(fields(event.get("tool_call_metadata")).get("model_response"))


def choice(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice of the completion."""
    choices = completion(event).get("choices")
    return fields(choices[0]) if isinstance(choices, list) and choices else {}


def call_id_of(event: Mapping[str, Any], key: str) -> str:
    """The id of the call that an action is; made of its own id where the model gave none."""
    given = text_of(fields(event.get("tool_call_metadata")).get("tool_call_id"))
    return given or f"call_{key}"


def answer_message(event: Mapping[str, Any], key: str) -> Message:
    """The answer that an action is a part of."""
    given = fields(choice(event).get("message"))
    calls = given.get("tool_calls")
    calls = [call for call in calls if is_call(call)] if isinstance(calls, list) else []
    if not calls:
        return _made(event, key)
    message: Message = {"role": "assistant"}
    content = [p for p in parts(given.get("content")) if p["type"] != "text" or p["text"].strip()]
    if content:
        message["content"] = content
    message["tool_calls"] = [action_call({"tool_call": call}) for call in calls]
    return message


def _made(event: Mapping[str, Any], key: str) -> Message:
    args = dict(fields(event.get("args")))
    thoughts = [args.pop(name, None) for name in _THOUGHT]
    name = text_of(fields(event.get("tool_call_metadata")).get("function_name"))
    arguments = {k: v for k, v in args.items() if v not in (None, "", [], {})}
    function = {
        "name": name or text_of(event.get("action")),
        "arguments": json.dumps(arguments, ensure_ascii=False),
    }
    call = {"id": call_id_of(event, key), "type": "function", "function": function}
    message: Message = {"role": "assistant", "tool_calls": [call]}
    said = [thought_text(thought) for thought in thoughts]
    content = [part for text in said if text.strip() for part in parts(text)]
    return {**message, "content": content} if content else message


def thought_text(given: Any) -> str:
    """A thought: text, or since 2025-10 an object with one."""
    return text_of(given) or text_of(fields(given).get("text"))


def finish_message(event: Mapping[str, Any]) -> Message:
    """What later requests show of the call that ends a task: its thought, and no call."""
    args = fields(event.get("args"))
    said = text_of(fields(choice(event).get("message")).get("content"))
    thought = thought_text(args.get("thought"))
    texts = [thought] if thought else []
    if said and said != thought:
        texts.append(said)
    if not texts and not completion(event):
        outputs = fields(args.get("outputs"))
        texts = [text_of(args.get("final_thought")) or text_of(outputs.get("content"))]
    return {"role": "assistant", "content": parts("\n".join(texts))}


def spoken_message(event: Mapping[str, Any], role: str) -> Message:
    """A message of a person or of the agent, with its pictures."""
    args = fields(event.get("args"))
    content = parts(text_of(args.get("content")))
    urls = args.get("image_urls") or args.get("images_urls")
    urls = [u for u in urls if isinstance(u, str) and u] if isinstance(urls, list) else []
    for number, url in enumerate(urls, 1):
        if role == "user":
            content += parts(f"Image {number}:")
        content.append({"type": "image_url", "image_url": {"url": url}})
    return {"role": role, "content": content}


def result_message(event: Mapping[str, Any], call_id: str, name: str) -> Message:
    """What answers a call."""
    content = parts(observed(event))
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": content}


def observed(event: Mapping[str, Any]) -> str:
    """The text of an observation as the model is shown it."""
    content = event.get("content")
    if not isinstance(content, str):
        content = "" if content is None else json.dumps(content, ensure_ascii=False)
    extras = fields(event.get("extras"))
    match event.get("observation"):
        case "run":
            return _command(content, extras)
        case "error":
            return f"{content}\n[Error occurred in processing last action]"
        case "user_rejected":
            return f"OBSERVATION:\n{content}\n[Last action has been rejected by the user]"
        case "delegate":
            return text_of(fields(extras.get("outputs")).get("content")) or content
        case "run_ipython":
            lines = content.split("\n")
            return "\n".join(_SHOWN_IMAGE if _IMAGE in line else line for line in lines)
    return content


def _command(content: str, extras: Mapping[str, Any]) -> str:
    metadata = fields(extras.get("metadata"))
    text = text_of(metadata.get("prefix")) + content + text_of(metadata.get("suffix"))
    if metadata.get("working_dir"):
        text += f"\n[Current working directory: {metadata['working_dir']}]"
    if metadata.get("py_interpreter_path"):
        text += f"\n[Python interpreter: {metadata['py_interpreter_path']}]"
    code = metadata.get("exit_code", extras.get("exit_code", -1))
    return text if code in (-1, None) else f"{text}\n[Command finished with exit code {code}]"


def is_error(event: Mapping[str, Any]) -> bool:
    """Whether an observation says that it is an error."""
    return event.get("observation") in ("error", "user_rejected") or event.get("success") is False


def recalled(event: Mapping[str, Any]) -> str:
    """What a recall brought, without the prompt that wraps it; nothing where it brought none."""
    extras = fields(event.get("extras"))
    found = [text_of(extras.get(name)) for name in _KNOWLEDGE]
    known = extras.get("microagent_knowledge")
    for each in known if isinstance(known, list) else ():
        found.append(text_of(fields(each).get("content")))
    return "\n\n".join(text for text in found if text.strip())
