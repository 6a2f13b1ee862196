"""Items as chat completions, and what chat completions refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from contexts_made import ANTHROPIC, CHAT, PIXEL, RESPONSES, answer, item, reasoning, result, say
from contexts_made import signed as signed_thinking

from eventlog.errors import InputRefused
from projections.dialects import DIALECTS, dialect
from projections.items import Item
from projections.legality import sendable

chat = dialect(CHAT)
USER = {"role": "user", "content": "hi"}


def call(call_id: Any = "x", **changes: Any) -> dict[str, Any]:
    function = {"name": "run", "arguments": "{}"}
    return {"id": call_id, "type": "function", "function": function, **changes}


def calling(*calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def tool(call_id: str = "x", content: Any = "done") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def sent(*items: Item) -> list[Any]:
    """The messages of a request that is not refused."""
    body = chat.render(sendable(items).items)
    assert chat.validate(body) == []
    return list(body["messages"])


class TestRefused:
    """A validator that never says no proves nothing."""

    FUNCTION = {"name": "run", "arguments": "{}"}  # noqa: RUF012
    BROKEN = [  # noqa: RUF012
        ([], "must be a list"),
        ([{"role": "critic", "content": "no"}], "known role"),
        ([["no object"]], "known role"),
        ([{"role": ["user"], "content": "hi"}], "known role"),
        ([{"role": "user", "content": " "}], "empty content"),
        ([{"role": "user", "content": None}], "no content"),
        ([{"role": "user", "content": []}], "no content"),
        ([{"role": "user", "content": [{"type": "text", "text": ""}]}], "empty text part"),
        ([{"role": "user", "content": [{"type": "text"}]}], "without its text"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "without its image_url"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}], "without url"),
        ([{"role": "user", "content": [{"type": "tool_result"}]}], "no content part"),
        ([{"role": "user", "content": ["loose"]}], "no content part"),
        ([{"role": "system", "content": [{"type": "file", "file": {}}]}], "text only"),
        ([{**USER, "tool_calls": [call()]}], "only an assistant calls"),
        ([USER, {"role": "assistant", "content": ""}], "empty assistant"),
        ([USER, {"role": "assistant", "content": 5}], "neither text nor a list"),
        ([USER, {"role": "assistant", "content": [{"type": "image_url"}]}], "says text"),
        ([USER, {"role": "assistant", "content": "a", "tool_calls": []}], "must be a list"),
        ([USER, calling("no object")], "no object"),
        ([USER, calling(call("")), tool("")], "without id"),
        ([USER, calling(call(), call()), tool(), tool()], "stands twice"),
        ([USER, calling(call()), tool(), calling(call()), tool()], "stands twice"),
        ([USER, calling(call(type="server")), tool()], "of type"),
        ([USER, calling(call(function=None)), tool()], "call of nothing"),
        ([USER, calling(call(function={**FUNCTION, "name": "a.b"})), tool()], "no function name"),
        ([USER, calling(call(function={**FUNCTION, "arguments": {}})), tool()], "be a string"),
        ([USER, calling(call())], "at the end have no answer"),
        ([USER, calling(call(), call("y")), tool()], "at the end have no answer"),
        ([USER, calling(call()), USER, tool()], "stands before the answers"),
        ([USER, tool()], "answers no call"),
        ([USER, calling(call()), tool(), tool()], "answers no call"),
        ([USER, calling(call()), tool("y")], "answers no call"),
        ([USER, calling(call()), tool(content=None)], "no content"),
        ([USER, {"role": "function", "name": "run", "content": "a"}], "no function call"),
        ([USER, {"role": "assistant", "function_call": FUNCTION}], "at the end"),
        ([USER, {"role": "assistant", "function_call": FUNCTION}, USER], "before the answer"),
        ([USER, {**calling(call()), "function_call": FUNCTION}], "both"),
        ([{"role": "user", "content": "half \ud83d"}], "lone surrogate"),
        ([{"role": "user", "content": float("nan")}], "not JSON"),
    ]

    @pytest.mark.parametrize(("messages", "reason"), BROKEN)
    def test_a_broken_request(self, messages: Any, reason: str) -> None:
        assert any(reason in problem for problem in chat.validate({"messages": messages}))

    @pytest.mark.parametrize(
        ("tools", "reason"),
        [
            ([], "not empty"),
            ([{"name": "run"}], "without function"),
            ([{"type": "function", "function": {"name": "a.b"}}], "without function and name"),
            ([{"type": "function", "function": {"name": "run"}}] * 2, "stands twice"),
        ],
    )
    def test_broken_tools(self, tools: Any, reason: str) -> None:
        problems = chat.validate({"messages": [USER], "tools": tools})
        assert any(reason in problem for problem in problems)

    def test_a_whole_conversation_is_accepted(self) -> None:
        messages = [{"role": "developer", "content": "S"}, USER, calling(call(), call("y"))]
        assert chat.validate({"messages": [*messages, tool("y"), tool(), USER]}) == []


class TestNative:
    """What came in this dialect goes out as it came: one changed byte costs the cache."""

    @pytest.mark.parametrize(
        "message",
        [
            {"role": "user", "name": "ann", "content": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": "ok", "refusal": None, "annotations": []},
            {"role": "assistant", "content": None, "refusal": "I will not"},
            {"role": "assistant", "content": "ok", "reasoning_content": "hm"},
            {"role": "user", "content": [{"type": "video_url", "video_url": {"url": "u"}}]},
        ],
    )
    def test_a_message_passes_untouched(self, message: dict[str, Any]) -> None:
        assert sent(say(1, "user", "go"), item(2, CHAT, message))[1] is message

    def test_calls_and_results_pass_untouched(self) -> None:
        first, second = answer(2, "functions.exec:0"), result(3, "functions.exec:0", "")
        messages = sent(say(1, "user", "go"), first, second)
        assert messages[1] is first.message
        assert messages[2] is second.message

    def test_an_old_function_call_passes_untouched(self) -> None:
        legacy = {"role": "assistant", "content": None}
        legacy["function_call"] = {"name": "run", "arguments": "{}"}  # type: ignore[assignment]
        answered = {"role": "function", "name": "run", "content": "done"}
        items = [say(1, "user", "go"), item(2, CHAT, legacy), item(3, CHAT, answered)]
        assert sent(*items)[1:] == [legacy, answered]

    def test_only_what_would_be_refused_is_written_anew(self) -> None:
        image = {
            "type": "image_url",
            "image_url": {"url": "https://example.org/a", "detail": "low"},
        }
        blank = {"type": "text", "text": " "}
        assert sent(say(1, "user", [blank, image]))[0]["content"] == [image]

    def test_a_name_that_is_refused_is_made_one(self) -> None:
        items = [say(1, "user", "go"), answer(2, "x", name="mcp.read file"), result(3, "x")]
        assert sent(*items)[1]["tool_calls"][0]["function"]["name"] == "mcp_read_file"


class TestTranslated:
    """An item of another dialect says the same here, or says that it cannot."""

    def test_calls_keep_their_arguments_as_text(self) -> None:
        blocks = [{"type": "tool_use", "id": "x", "name": "run", "input": {"n": 2**60}}]
        calling = item(2, ANTHROPIC, {"role": "assistant", "content": blocks})
        messages = sent(say(1, "user", "go"), calling, result(3, "x"))
        arguments = messages[1]["tool_calls"][0]["function"]["arguments"]
        assert json.loads(arguments) == {"n": 2**60}

    def test_items_of_one_answer_are_one_message(self) -> None:
        parts = [item(2, RESPONSES, reasoning()), answer(3, text="first", dialect=RESPONSES)]
        calls = [answer(4, "a", dialect=RESPONSES), answer(5, "b", dialect=RESPONSES)]
        results = [result(6, "a", dialect=RESPONSES), result(7, "b", dialect=RESPONSES)]
        messages = sent(say(1, "user", "go"), *parts, *calls, *results)
        assert [m["role"] for m in messages] == ["user", "assistant", "tool", "tool"]
        assert messages[1]["content"] == "first"
        assert [c["id"] for c in messages[1]["tool_calls"]] == ["a", "b"]

    def test_thinking_leaves(self) -> None:
        thinking = answer(2, text="ok", dialect=ANTHROPIC, thinking=[signed_thinking()])
        assert sent(say(1, "user", "go"), thinking)[1] == {"role": "assistant", "content": "ok"}

    def test_an_image_is_translated(self) -> None:
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        shown = say(1, "user", [{"type": "image", "source": source}], ANTHROPIC)
        url = f"data:image/png;base64,{PIXEL}"
        assert sent(shown)[0]["content"] == [{"type": "image_url", "image_url": {"url": url}}]

    def test_what_cannot_be_said_is_noted(self) -> None:
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        shown = [{"type": "text", "text": "see"}, {"type": "image", "source": source}]
        items = [say(1, "user", "go"), answer(2, "x"), result(3, "x", shown, ANTHROPIC)]
        assert sent(*items)[2]["content"] == "see\n[image/png]"

    def test_an_error_is_called_one(self) -> None:
        failed = {"type": "tool_result", "tool_use_id": "x", "content": "no", "is_error": True}
        items = [
            say(1, "user", "go"),
            answer(2, "x"),
            item(3, ANTHROPIC, failed, kind="tool_result"),
        ]
        assert sent(*items)[2]["content"] == "Error: no"

    def test_tools_of_another_dialect_are_functions(self) -> None:
        schema = {"type": "object", "properties": {"a": {"type": "string"}}}
        theirs = [
            {"name": "run", "description": "d", "input_schema": schema},
            {"type": "function", "name": "ask", "parameters": schema},
            {"type": "web_search_20250305", "name": "web_search"},
        ]
        body = chat.render([say(1, "user", "go")], theirs, {"model": "m"})
        assert chat.validate(body) == []
        assert [t["function"]["name"] for t in body["tools"]] == ["run", "ask"]
        assert body["tools"][0]["function"]["parameters"] == schema
        assert body["model"] == "m"


class TestEntries:
    """A real request is taken apart without loss."""

    def test_a_request_is_put_together_again(self) -> None:
        messages = [{"role": "system", "content": "S"}, USER, calling(call()), tool(), USER]
        request = {"model": "m", "messages": messages, "tools": [], "seed": 1}
        entries = chat.from_request(request)
        assert [e.kind for e in entries] == [
            "system",
            "message",
            "message",
            "tool_result",
            "message",
        ]
        rest = chat.parameters(request)
        assert rest == {"model": "m", "seed": 1}
        assert chat.to_request(entries, request["tools"], rest) == request

    @pytest.mark.parametrize("messages", [None, "hi", [1]])
    def test_what_is_no_request_is_refused(self, messages: Any) -> None:
        with pytest.raises(InputRefused):
            chat.from_request({"messages": messages})

    def test_a_dialect_that_does_not_exist(self) -> None:
        with pytest.raises(InputRefused, match="openai_chat, openai_responses, anthropic"):
            dialect("gemini")


class TestSamples:
    """Conversations that agents had: each can be sent to every provider."""

    def test_every_prefix_of_a_real_conversation(self, samples: Path) -> None:
        lines = (samples / "openai-chat" / "oa01_finetune_tools.jsonl").read_text().splitlines()
        record = json.loads(lines[0])
        request = {"messages": record["messages"], "tools": record.get("tools")}
        assert chat.to_request(chat.from_request(request), request["tools"]) == request
        items = [
            item(n, CHAT, e.message, kind="tool_result" if e.kind == "tool_result" else "message")
            for n, e in enumerate(chat.from_request(request), start=1)
        ]
        for end in range(1, len(items) + 1):
            made = sendable(items[:end])
            for each in DIALECTS.values():
                assert each.validate(each.render(made.items, request["tools"])) == []
