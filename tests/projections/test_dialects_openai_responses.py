"""Items as Responses input, and what the Responses refuse."""

from __future__ import annotations

from typing import Any

import pytest
from contexts_made import ANTHROPIC, CHAT, PIXEL, RESPONSES, answer, item, reasoning, result, say
from contexts_made import signed as signed_thinking

from eventlog.errors import InputRefused
from projections.dialects import dialect
from projections.items import Item
from projections.legality import sendable

responses = dialect(RESPONSES)
USER = {"role": "user", "content": "hi"}
CALL = {"type": "function_call", "call_id": "x", "name": "run", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "x", "output": "done"}


def said(*content: Any, role: str = "user") -> dict[str, Any]:
    return {"type": "message", "role": role, "content": list(content)}


def sent(*items: Item) -> list[Any]:
    """The input of a request that is not refused."""
    body = responses.render(sendable(items).items)
    assert responses.validate(body) == []
    return list(body["input"])


class TestRefused:
    """A validator that never says no proves nothing."""

    @pytest.mark.parametrize(
        ("given", "reason"),
        [
            ([], "not empty"),
            (" ", "not empty"),
            (["no object"], "no object"),
            ([{"content": "hi"}], "neither type nor role"),
            ([{"type": ["message"]}], "type must be text"),
            ([{"role": "tool", "content": "hi"}], "role"),
            ([{"role": "user", "content": ""}], "empty content"),
            ([{"role": "user", "content": []}], "no content"),
            ([said({"type": "text", "text": "a"})], "no content here"),
            ([said({"type": "input_text", "text": " "})], "an empty input_text"),
            ([said({"type": "input_image"})], "without url"),
            ([USER, said({"type": "input_text", "text": "a"}, role="assistant")], "no content"),
            ([USER, said({"type": "refusal"}, role="assistant")], "an empty refusal"),
            ([USER, {**CALL, "call_id": ""}], "without call_id"),
            ([USER, {**CALL, "name": "a.b"}, OUTPUT], "no function name"),
            ([USER, {**CALL, "arguments": {}}, OUTPUT], "must be a string"),
            ([USER, CALL], "no output for the call"),
            ([USER, OUTPUT], "no call waits"),
            ([USER, OUTPUT, CALL], "no call waits"),
            ([USER, CALL, OUTPUT, OUTPUT], "no call waits"),
            ([USER, CALL, CALL, OUTPUT], "stands twice"),
            ([USER, CALL, {**OUTPUT, "type": "custom_tool_call_output"}], "answers a"),
            ([USER, CALL, {**OUTPUT, "output": None}], "must be text or a list"),
            ([USER, CALL, {**OUTPUT, "output": [{"type": "text"}]}], "no content here"),
            ([USER, reasoning()], "without the item"),
            ([USER, reasoning(), USER], "without the item"),
            ([USER, CALL, reasoning(), OUTPUT], "without the item"),
            ([USER, {"type": "reasoning", "summary": []}, CALL, OUTPUT], "reasoning without id"),
            ([{**USER, "id": "msg_1"}, {**USER, "id": "msg_1"}], "the item id msg_1"),
            ([{"role": "user", "content": "half \ud83d"}], "lone surrogate"),
            ([{"role": "user", "content": float("inf")}], "not JSON"),
        ],
    )
    def test_a_broken_request(self, given: Any, reason: str) -> None:
        assert any(reason in problem for problem in responses.validate({"input": given}))

    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({"instructions": " "}, "instructions"),
            ({"tools": []}, "not empty"),
            ({"tools": [{"name": "run"}]}, "without type"),
            ({"tools": [{"type": "function", "name": "a.b"}]}, "no function name"),
            ({"tools": [{"type": "function", "name": "run"}] * 2}, "stands twice"),
        ],
    )
    def test_a_broken_field(self, fields: dict[str, Any], reason: str) -> None:
        problems = responses.validate({"input": "hi", **fields})
        assert any(reason in problem for problem in problems)

    def test_a_whole_conversation_is_accepted(self) -> None:
        text = {"type": "output_text", "text": "ok"}
        items = [USER, reasoning("rs_1"), reasoning("rs_2"), CALL, OUTPUT, reasoning("rs_3")]
        given = [*items, said(text, role="assistant"), {"type": "web_search_call", "id": "ws_1"}]
        assert responses.validate({"instructions": "S", "input": given}) == []


class TestNative:
    """What came in this dialect goes out as it came."""

    def test_an_answer_passes_untouched_item_by_item(self) -> None:
        text = {"type": "output_text", "text": "ok", "annotations": []}
        message = {"id": "msg_1", "status": "completed", **said(text, role="assistant")}
        calling = item(2, RESPONSES, {"items": [reasoning(), message, {**CALL, "id": "fc_1"}]})
        found = sent(say(1, "user", "go", RESPONSES), calling, result(3, "x", dialect=RESPONSES))
        assert found[1:4] == calling.message["items"]
        assert all(a is b for a, b in zip(found[1:4], calling.message["items"], strict=True))

    def test_kinds_of_their_own_pass_untouched(self) -> None:
        native = [
            {"type": "compaction", "encrypted_content": "gAAA"},
            {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        ]
        items = [item(n, RESPONSES, each) for n, each in enumerate(native, start=2)]
        assert sent(say(1, "user", "go"), *items)[1:] == native

    def test_instructions_go_where_they_came_from(self) -> None:
        request = {"instructions": "S", "input": [USER]}
        first, second = responses.from_request(request)
        items = [
            item(1, RESPONSES, first.message, label=first.place),
            item(2, RESPONSES, second.message),
        ]
        assert responses.render(items) == request

    def test_a_developer_message_is_an_input_item(self) -> None:
        developer = {"type": "message", "role": "developer", "content": "S"}
        assert responses.render([item(1, RESPONSES, developer)]) == {"input": [developer]}

    def test_a_custom_call_is_answered_in_its_own_type(self) -> None:
        custom = {"type": "custom_tool_call", "call_id": "x", "name": "patch", "input": "*** Begin"}
        items = [
            say(1, "user", "go"),
            item(2, RESPONSES, custom),
            result(3, "x", dialect=RESPONSES),
        ]
        assert sent(*items)[2]["type"] == "custom_tool_call_output"

    def test_a_hosted_call_without_its_output_is_a_function_call(self) -> None:
        hosted = {"type": "computer_call", "call_id": "x", "id": "cu_1", "action": {"type": "wait"}}
        found = sent(say(1, "user", "go"), item(2, RESPONSES, hosted))
        assert found[1]["type"] == "function_call"
        assert found[1]["arguments"] == '{"type": "wait"}'

    def test_a_hosted_call_with_its_output_passes_untouched(self) -> None:
        hosted = {"type": "computer_call", "call_id": "x", "id": "cu_1", "action": {"type": "wait"}}
        shot = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PIXEL}"}
        shown = {"type": "computer_call_output", "call_id": "x", "output": shot}
        items = [say(1, "user", "go"), item(2, RESPONSES, hosted), item(3, RESPONSES, shown)]
        assert sent(*items)[1:] == [hosted, shown]

    def test_no_provider_id_stands_twice(self) -> None:
        message = {"id": "msg_1", **said({"type": "output_text", "text": "ok"}, role="assistant")}
        items = [item(2, RESPONSES, message), say(3, "user", "more"), item(4, RESPONSES, message)]
        found = sent(say(1, "user", "go"), *items)
        assert ["id" in each for each in found] == [False, True, False, False]


class TestTranslated:
    """An item of another dialect says the same here, or says that it cannot."""

    def test_a_conversation_of_chat(self) -> None:
        items = [say(1, "system", "S"), say(2, "user", "go"), answer(3, "x", text="let me")]
        body = responses.render(sendable([*items, result(4, "x")]).items)
        assert body == {
            "instructions": "S",
            "input": [
                {"type": "message", "role": "user", "content": "go"},
                said({"type": "output_text", "text": "let me"}, role="assistant"),
                CALL,
                OUTPUT,
            ],
        }

    def test_an_old_function_call_gets_an_id(self) -> None:
        legacy = {"role": "assistant", "function_call": {"name": "run", "arguments": "{}"}}
        answered = {"role": "function", "name": "run", "content": "done"}
        found = sent(say(1, "user", "go"), item(2, CHAT, legacy), item(3, CHAT, answered))
        assert [each["call_id"] for each in found[1:]] == ["call_2", "call_2"]

    def test_thinking_leaves(self) -> None:
        thinking = answer(2, text="ok", dialect=ANTHROPIC, thinking=[signed_thinking()])
        assert len(sent(say(1, "user", "go"), thinking)) == 2

    def test_images_stay_images_also_in_results(self) -> None:
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        shown = [{"type": "text", "text": "see"}, {"type": "image", "source": source}]
        items = [say(1, "user", shown, ANTHROPIC), answer(2, "x"), result(3, "x", shown, ANTHROPIC)]
        found = sent(*items)
        assert found[0]["content"] == found[2]["output"]
        assert found[0]["content"][1]["image_url"] == f"data:image/png;base64,{PIXEL}"

    def test_tools_are_translated(self) -> None:
        theirs = [{"name": "run", "input_schema": {"type": "object"}}, {"type": "web_search"}]
        body = responses.render([say(1, "user", "go")], theirs)
        assert responses.validate(body) == []
        assert [tool["type"] for tool in body["tools"]] == ["function", "web_search"]


class TestEntries:
    """A real request is taken apart without loss."""

    @pytest.mark.parametrize(
        "request_body",
        [
            {"model": "m", "input": "hi"},
            {"model": "m", "instructions": "S", "input": [USER, reasoning(), CALL, OUTPUT]},
            {"instructions": None, "input": [{"role": "developer", "content": "S"}], "tools": []},
        ],
    )
    def test_a_request_is_put_together_again(self, request_body: dict[str, Any]) -> None:
        entries = responses.from_request(request_body)
        rest = responses.parameters(request_body)
        assert responses.to_request(entries, request_body.get("tools"), rest) == request_body

    def test_each_entry_says_what_it_is(self) -> None:
        entries = responses.from_request({"instructions": "S", "input": [USER, CALL, OUTPUT]})
        assert [(e.kind, e.role) for e in entries] == [
            ("system", "system"),
            ("message", "user"),
            ("message", "assistant"),
            ("tool_result", "tool"),
        ]

    @pytest.mark.parametrize("given", [None, [1], [{"type": 5}]])
    def test_what_is_no_request_is_refused(self, given: Any) -> None:
        with pytest.raises(InputRefused):
            responses.from_request({"input": given})
