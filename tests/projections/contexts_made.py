"""Contexts for the tests of legality and the dialects: built by hand, and drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from projections.items import Item

CHAT, RESPONSES, ANTHROPIC = "openai_chat", "openai_responses", "anthropic"
PIXEL = "iVBORw0KGgo="


def item(number: int | str, dialect: str, message: Any, **fields: Any) -> Item:
    """An item that holds the message as it is."""
    values: dict[str, Any] = {"kind": "message", "role": "user", **fields}
    return Item(id=str(number), rendition=str(number), dialect=dialect, message=message, **values)


def say(number: int, role: str, text: Any, dialect: str = CHAT, **fields: Any) -> Item:
    """A message of plain text."""
    return item(number, dialect, {"role": role, "content": text}, role=role, **fields)


def answer(
    number: int,
    *call_ids: str,
    dialect: str = CHAT,
    text: str = "",
    thinking: Sequence[Any] = (),
    name: str = "run",
    arguments: str = "{}",
) -> Item:
    """What a model says: thinking, text, and one call for each id."""
    if dialect == CHAT:
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if call_ids:
            function = {"name": name, "arguments": arguments}
            message["tool_calls"] = [
                {"id": c, "type": "function", "function": dict(function)} for c in call_ids
            ]
    elif dialect == RESPONSES:
        said = {"type": "output_text", "text": text}
        texts = [{"type": "message", "role": "assistant", "content": [said]}] if text else []
        calls = [
            {"type": "function_call", "call_id": c, "name": name, "arguments": arguments}
            for c in call_ids
        ]
        message = {"items": [*thinking, *texts, *calls]}
    else:
        blocks: list[Any] = [*thinking, *([{"type": "text", "text": text}] if text else [])]
        blocks += [{"type": "tool_use", "id": c, "name": name, "input": {}} for c in call_ids]
        message = {"role": "assistant", "content": blocks}
    return item(number, dialect, message, role="assistant", source="model")


def result(number: int, call_id: str, content: Any = "done", dialect: str = CHAT) -> Item:
    """What a tool answered."""
    if dialect == CHAT:
        message = {"role": "tool", "tool_call_id": call_id, "content": content}
    elif dialect == RESPONSES:
        message = {"type": "function_call_output", "call_id": call_id, "output": content}
    else:
        message = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return item(number, dialect, message, kind="tool_result", role="tool", source="tool")


def signed(text: str = "hm") -> dict[str, Any]:
    """A thinking block that Anthropic signed."""
    return {"type": "thinking", "thinking": text, "signature": "c2ln"}


def reasoning(name: str = "rs_1") -> dict[str, Any]:
    """A reasoning item of OpenAI."""
    return {"type": "reasoning", "id": name, "summary": [], "encrypted_content": "gAAA"}


def ids(items: Sequence[Item]) -> list[str]:
    """The ids of items, in order."""
    return [each.id for each in items]


# -- at random ------------------------------------------------------------------------------------

TEXT = st.sampled_from(
    ["", " \n", "fix it", "done ", "不要动", "a\ud83db", "\x00\u2028", "error: no"]
)
CALL_ID = st.sampled_from(
    [
        "call_1",
        "call_1",
        "call_2",
        "call_3",
        "exec_0",
        "functions.exec:0",
        "",
        "a\ud800",
        "call_1_3",
    ]
)
TOOL_NAME = st.sampled_from(["run", "mcp.read file", "", "ünder", "n" * 70])
ARGUMENTS = st.sampled_from(
    [
        *["{}", '{"a": 12345678901234567890}', "", "not json", "[1]", '{"a": NaN}', "null"],
        *['{"a": 1, "a": 2}', '{"a": "\ud800"}', '{"a": 1e999}'],
        '{"a":' + "[" * 200 + "]" * 200 + "}",
    ]
)
IMAGE = st.sampled_from(
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image_url"},
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
        },
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        {"type": "image"},
        {"type": "input_image", "image_url": f"data:image/tiff;base64,{PIXEL}"},
        {"type": "input_image", "file_id": "file_1"},
        {"type": "input_file", "file_data": f"data:application/pdf;base64,{PIXEL}"},
        {"type": "input_audio", "input_audio": {"data": PIXEL, "format": "wav"}},
        {"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}},
    ]
)
TEXT_BLOCK = st.builds(
    lambda kind, text: {"type": kind, "text": text},
    st.sampled_from(["text", "input_text", "output_text"]),
    TEXT,
)
ODD_BLOCK = st.sampled_from(
    [
        *[5, None, "loose text", {}, {"type": ""}, {"type": "search_result"}, {"type": "refusal"}],
        *[
            {"type": "text"},
            {"type": "refusal", "refusal": "no"},
            {"type": "document", "source": {}},
        ],
    ]
)
BLOCK = st.one_of(TEXT_BLOCK, TEXT_BLOCK, IMAGE, ODD_BLOCK)
BLOCKS = st.lists(BLOCK, max_size=3)
CONTENT = st.one_of(TEXT, TEXT, BLOCKS, st.sampled_from([None, 5, {}]))
DIALECT = st.sampled_from([CHAT, RESPONSES, ANTHROPIC])
THOUGHT = st.sampled_from(
    [
        signed(),
        signed("half \ud83d"),
        {"type": "thinking", "thinking": "hm"},
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
        {"type": "redacted_thinking"},
    ]
)
REASONING = st.sampled_from(
    [reasoning(), reasoning("rs_2"), {"type": "reasoning", "summary": [], "content": None}]
)

VOCABULARY = st.sampled_from(
    [
        *["role", "content", "type", "text", "id", "name", "items", "tool_calls", "function_call"],
        *["call_id", "tool_call_id", "tool_use_id", "output", "input", "arguments", "user"],
        *["assistant", "system", "tool", "function", "tool_use", "tool_result", "thinking"],
        *["reasoning", "function_call_output", "message", "image_url", "source", "refusal", ""],
    ]
)
JUNK = st.dictionaries(
    VOCABULARY,
    st.recursive(
        st.one_of(VOCABULARY, st.none(), st.integers(0, 3), st.booleans()),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(VOCABULARY, inner, max_size=4)
        ),
        max_leaves=8,
    ),
    max_size=5,
)


@st.composite
def _chat_answer(draw: st.DrawFn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": draw(CONTENT)}
    calls = draw(st.lists(st.tuples(CALL_ID, TOOL_NAME, ARGUMENTS), max_size=4))
    if draw(st.integers(0, 5)) == 0:
        message["function_call"] = {"name": draw(TOOL_NAME), "arguments": draw(ARGUMENTS)}
        if draw(st.booleans()):
            return message
    if calls or draw(st.booleans()):
        message["tool_calls"] = [
            {"id": c, "type": "custom", "custom": {"name": n, "input": a}}
            if a == "not json"
            else {"id": c, "type": "function", "function": {"name": n, "arguments": a}}
            for c, n, a in calls
        ]
    if draw(st.integers(0, 5)) == 0:
        message["reasoning_content"] = "hm"
    return message


@st.composite
def _anthropic_answer(draw: st.DrawFn) -> dict[str, Any]:
    blocks = draw(st.lists(THOUGHT, max_size=2)) + draw(BLOCKS)
    for call_id, name in draw(st.lists(st.tuples(CALL_ID, TOOL_NAME), max_size=4)):
        arguments = draw(st.sampled_from([{}, {"a": [1, "\ud800"]}, "text", [1]]))
        blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": arguments})
    if draw(st.integers(0, 4)) == 0:
        blocks = draw(st.permutations(blocks))
    message = {"role": "assistant", "content": blocks}
    return {**message, "id": "msg_1", "model": "m"} if draw(st.booleans()) else message


@st.composite
def _responses_item(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.integers(0, 6))
    call_id, name, arguments = draw(CALL_ID), draw(TOOL_NAME), draw(ARGUMENTS)
    if kind == 0:
        return draw(REASONING)
    if kind == 1:
        item_id = draw(st.sampled_from(["msg_1", "msg_2"]))
        message = {"type": "message", "role": "assistant", "content": draw(CONTENT)}
        return {**message, "id": item_id}
    if kind == 2:
        custom = {"type": "custom_tool_call", "call_id": call_id, "name": name}
        return {**custom, "input": arguments}
    if kind == 3:
        hosted = draw(st.sampled_from(["computer_call", "local_shell_call", "web_search_call"]))
        return {"type": hosted, "call_id": call_id, "id": "ws_1", "action": {"type": "click"}}
    call = {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}
    return {**call, "id": draw(st.sampled_from(["fc_1", "fc_2"]))}


@st.composite
def _tool_answer(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    dialect, call_id, content = draw(DIALECT), draw(CALL_ID), draw(CONTENT)
    if dialect == CHAT:
        if draw(st.integers(0, 4)) == 0:
            name = draw(TOOL_NAME)
            return dialect, {"role": "function", "name": name, "content": content}
        return dialect, {"role": "tool", "tool_call_id": call_id, "content": content}
    if dialect == RESPONSES:
        kind = draw(st.sampled_from(["function_call", "custom_tool_call", "computer_call"]))
        return dialect, {"type": f"{kind}_output", "call_id": call_id, "output": content}
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return dialect, {**block, "is_error": True} if draw(st.booleans()) else block


@st.composite
def _entry(draw: st.DrawFn, number: int) -> Item:
    kind = draw(st.integers(0, 11))
    if kind <= 1:
        role = draw(st.sampled_from(["system", "developer", "user", "critic"]))
        name: str | int = number
        return say(name, role, draw(CONTENT), draw(DIALECT))
    if kind <= 3:
        return say(number, "user", draw(CONTENT), draw(DIALECT), source="human")
    if kind == 4:
        return item(number, CHAT, draw(_chat_answer()), role="assistant")
    if kind == 5:
        return item(number, ANTHROPIC, draw(_anthropic_answer()), role="assistant")
    if kind == 6:
        return item(number, RESPONSES, draw(_responses_item()), role="assistant")
    if kind == 7:
        answered = draw(st.lists(_responses_item(), max_size=4))
        if draw(st.integers(0, 3)) == 0:
            answered.append(
                {"type": "function_call_output", "call_id": draw(CALL_ID), "output": "x"}
            )
        return item(number, RESPONSES, {"items": answered}, role="assistant")
    if kind == 8:
        blocks = draw(BLOCKS)
        for call_id in draw(st.lists(CALL_ID, max_size=3)):
            blocks.append({"type": "tool_result", "tool_use_id": call_id, "content": "x"})
        content = draw(st.permutations(blocks))
        return item(number, ANTHROPIC, {"role": "user", "content": content})
    if kind == 9 and draw(st.booleans()):
        return item(number, draw(DIALECT), draw(JUNK), role="user")
    dialect, native = draw(_tool_answer())
    return item(number, dialect, native, kind="tool_result", role="tool", source="tool")


@st.composite
def contexts(draw: st.DrawFn, max_size: int = 12) -> list[Item]:
    """Any items at all: in any order, with calls and results that do or do not belong together."""
    count = draw(st.integers(0, max_size))
    return [draw(_entry(number)) for number in range(1, count + 1)]


@st.composite
def plausible_contexts(draw: st.DrawFn) -> list[Item]:
    """A conversation as agents have it: batches of calls, results in any order, or late."""
    found: list[Item] = []
    waiting: list[str] = []

    def number() -> int:
        return len(found) + 1

    for _ in range(draw(st.integers(1, 8))):
        dialect = draw(DIALECT)
        turn = draw(
            st.sampled_from(["user", "system", "text", "calls", "calls", "result", "again"])
        )
        if turn == "calls":
            batch = draw(st.lists(CALL_ID, min_size=1, max_size=4))
            thinking = [signed()] if dialect == ANTHROPIC and draw(st.booleans()) else []
            if dialect == RESPONSES and draw(st.booleans()):
                thinking = [reasoning(f"rs_{number()}")]
            text = draw(TEXT) if draw(st.booleans()) else ""
            found.append(answer(number(), *batch, dialect=dialect, text=text, thinking=thinking))
            waiting += batch
        elif turn == "text":
            found.append(answer(number(), dialect=dialect, text=draw(TEXT)))
        elif turn in ("result", "again"):
            for call_id in draw(st.permutations(waiting)):
                found.append(result(number(), call_id, draw(TEXT), draw(DIALECT)))
            if turn == "result":
                waiting = []
        else:
            found.append(say(number(), turn, draw(CONTENT), dialect))
    return found
