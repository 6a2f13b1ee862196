"""The stored message, read through one shape whatever dialect it was written in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import messages
from eventlog.messages import Call, Part, Result

CHAT, RESPONSES, ANTHROPIC = "openai_chat", "openai_responses", "anthropic"
DIALECTS = (CHAT, RESPONSES, ANTHROPIC)
ARGUMENTS = '{"path":  "a.py", "n": 12345678901234567890}'


def kinds(dialect: str, message: dict[str, Any]) -> list[tuple[str, str]]:
    return [(part.kind, part.text) for part in messages.parts(dialect, message)]


class TestRole:
    """Without it a tool result in one dialect would count as a human turn."""

    @pytest.mark.parametrize(
        ("dialect", "message", "role"),
        [
            (CHAT, {"role": "developer", "content": "x"}, "developer"),
            (CHAT, {"role": "function", "name": "f", "content": "x"}, "tool"),
            (CHAT, {"content": "x"}, "user"),
            (CHAT, {"role": None}, "user"),
            (CHAT, {"role": "critic"}, "critic"),
            (RESPONSES, {"role": "system", "content": "x"}, "system"),
            (RESPONSES, {"items": []}, "assistant"),
            (RESPONSES, {"type": "reasoning"}, "assistant"),
            (RESPONSES, {"type": "function_call"}, "assistant"),
            (RESPONSES, {"type": "function_call_output"}, "tool"),
            (RESPONSES, {"type": "message", "role": "user"}, "user"),
            (ANTHROPIC, {"role": "assistant", "content": []}, "assistant"),
            (ANTHROPIC, {"role": "system", "content": "x"}, "system"),
        ],
    )
    def test_it_is_one_word(self, dialect: str, message: dict[str, Any], role: str) -> None:
        assert messages.role(dialect, message) == role


class TestParts:
    """Without it each part of the project would read each dialect in its own way."""

    def test_a_chat_answer_with_everything(self) -> None:
        message = {
            "role": "assistant",
            "reasoning_content": "hm",
            "content": [{"type": "text", "text": "a"}, "b", {"type": "image_url"}, {"type": "new"}],
            "refusal": "no",
            "tool_calls": [
                {"id": "c1", "function": {"name": "f", "arguments": ARGUMENTS}},
                {"id": "c2", "custom": {"name": "g", "input": "free text"}},
            ],
            "function_call": {"name": "old", "arguments": "{}"},
        }
        assert kinds(CHAT, message) == [
            ("thinking", "hm"),
            ("text", "a"),
            ("text", "b"),
            ("media", ""),
            ("other", ""),
            ("text", "no"),
            ("call", ARGUMENTS),
            ("call", "free text"),
            ("call", "{}"),
        ]
        assert messages.calls(CHAT, message) == (
            Call("c1", "f", ARGUMENTS),
            Call("c2", "g", "free text"),
            Call("", "old", "{}"),
        )
        assert messages.text(CHAT, message) == "a\nb\nno"

    def test_an_anthropic_answer_with_everything(self) -> None:
        message = {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "text", "text": "a"},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {"é": [1]}},
                {"type": "server_tool_use", "id": "t2", "name": "web", "input": {}},
                {"type": "image", "source": {"media_type": "image/png"}},
            ],
        }
        found = messages.parts(ANTHROPIC, message)
        assert [(p.kind, p.signed) for p in found] == [
            ("thinking", True),
            ("thinking", True),
            ("text", False),
            ("call", False),
            ("other", False),
            ("media", False),
        ]
        assert messages.calls(ANTHROPIC, message) == (Call("t1", "f", '{"é":[1]}'),)
        assert found[5].name == "image/png"
        assert all(p.native is block for p, block in zip(found, message["content"], strict=True))

    def test_an_answer_of_the_responses_api_is_all_its_items(self) -> None:
        message = {
            "items": [
                {"type": "reasoning", "id": "r", "summary": [{"text": "a"}, {"text": "b"}]},
                {"type": "message", "content": [{"type": "output_text", "text": "hello"}]},
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": ARGUMENTS},
                {"type": "local_shell_call", "call_id": "d", "action": {"command": ["ls"]}},
                {"type": "tool_search_call", "call_id": "e", "arguments": {"query": "k"}},
                {"type": "web_search_call", "id": "w"},
            ]
        }
        assert kinds(RESPONSES, message) == [
            ("thinking", "a\nb"),
            ("text", "hello"),
            ("call", ARGUMENTS),
            ("call", '{"command":["ls"]}'),
            ("call", '{"query":"k"}'),
            ("other", ""),
        ]
        assert messages.parts(RESPONSES, message)[0].signed
        assert messages.calls(RESPONSES, message)[1] == Call(
            "d", "local_shell_call", '{"command":["ls"]}'
        )

    def test_what_another_agent_said_is_text_of_its_own(self) -> None:
        content = [{"type": "input_text", "text": "Read it."}]
        message = {"type": "agent_message", "author": "/root/a", "content": content}
        assert kinds(RESPONSES, message) == [("text", "Read it.")]
        assert messages.role(RESPONSES, message) == "user"

    @pytest.mark.parametrize("dialect", DIALECTS)
    def test_a_plain_text_is_one_part(self, dialect: str) -> None:
        message = {"role": "user", "content": "hello"}
        assert messages.parts(dialect, message) == (Part("text", "hello"),)
        assert messages.parts(dialect, {"role": "user", "content": ""}) == ()
        assert messages.parts(dialect, {"role": "user", "content": None}) == ()


WORDS = st.sampled_from(
    [
        "message",
        "reasoning",
        "tool_use",
        "tool_result",
        "text",
        "function_call",
        "image",
        "custom_tool_call",
        "thinking",
        "function_call_output",
        "redacted_thinking",
        "tool",
        "assistant",
    ]
)
FIELDS = st.sampled_from(
    [
        "role",
        "type",
        "content",
        "text",
        "items",
        "tool_calls",
        "function",
        "function_call",
        "arguments",
        "input",
        "id",
        "call_id",
        "output",
        "summary",
        "source",
        "thinking",
        "name",
        "custom",
        "refusal",
        "action",
    ]
)
STRANGE = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=6),
    max_leaves=15,
)


class TestStrangeMessages:
    """Without it one odd message in somebody's transcript stops every fold of its session."""

    @settings(max_examples=400)
    @given(st.sampled_from(DIALECTS), st.dictionaries(FIELDS, STRANGE, max_size=6))
    def test_any_object_has_parts_and_their_fields_are_texts(
        self, dialect: str, message: dict[str, Any]
    ) -> None:
        for part in (*messages.parts(dialect, message), *messages.result_parts(dialect, message)):
            assert [type(field) for field in part[:4]] == [str] * 4
        assert isinstance(messages.role(dialect, message), str)
        json.dumps(messages.with_content(dialect, message, "short"))
        json.dumps(messages.rename_call(dialect, message, "a", "b"))


class TestResults:
    """Without it a cut or a count would miss the results of one provider."""

    @pytest.mark.parametrize("dialect", DIALECTS)
    def test_a_block_that_is_made_is_read_back(self, dialect: str) -> None:
        native = messages.result_block(dialect, "c1", "f", "out")
        (part,) = messages.result_parts(dialect, native)
        assert (part.kind, part.id, part.text, part.is_error) == ("result", "c1", "out", False)

    def test_an_error_is_marked_where_the_dialect_can(self) -> None:
        native = messages.result_block(ANTHROPIC, "c1", "f", "out", is_error=True)
        message = {"role": "user", "content": [native]}
        assert messages.results(ANTHROPIC, message) == (Result("c1", "", "out", True),)

    def test_a_result_without_an_id_is_a_function_message(self) -> None:
        native = messages.result_block(CHAT, "", "f", "out")
        assert native == {"role": "function", "name": "f", "content": "out"}
        assert messages.results(CHAT, native) == (Result("", "f", "out", False),)

    @pytest.mark.parametrize(
        ("content", "text"),
        [
            ("a", "a"),
            ([{"type": "text", "text": "a"}, {"type": "image"}, "b"], "a\nb"),
            ([], ""),
            (None, ""),
            ({"a": "é"}, '{"a": "é"}'),
            (5, "5"),
        ],
    )
    def test_any_content_has_a_text(self, content: Any, text: str) -> None:
        for dialect, native in (
            (CHAT, {"role": "tool", "tool_call_id": "c", "content": content}),
            (RESPONSES, {"type": "function_call_output", "call_id": "c", "output": content}),
            (ANTHROPIC, {"type": "tool_result", "tool_use_id": "c", "content": content}),
        ):
            assert messages.result_parts(dialect, native)[0].text == text


class TestWithContent:
    """Without it a cleared result would lose the id that pairs it with its call."""

    @pytest.mark.parametrize("dialect", DIALECTS)
    def test_a_result_keeps_its_id(self, dialect: str) -> None:
        native = messages.result_block(dialect, "c1", "f", "long " * 100)
        short = messages.with_content(dialect, native, "short")
        assert messages.result_parts(dialect, short)[0][:3] == ("result", "short", "c1")
        assert messages.result_parts(dialect, native)[0].text == "long " * 100

    def test_an_answer_keeps_its_calls(self) -> None:
        call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
        message = {"role": "assistant", "content": [{"type": "text", "text": "long"}, call]}
        short = messages.with_content(ANTHROPIC, message, "short")
        assert kinds(ANTHROPIC, short) == [("text", "short"), ("call", "{}")]
        items = {"items": [{"type": "function_call", "call_id": "c", "arguments": "{}"}]}
        assert kinds(RESPONSES, messages.with_content(RESPONSES, items, "short")) == [
            ("call", "{}"),
            ("text", "short"),
        ]


class TestRenameCall:
    """Without it a repeated call id could not be made unique in a request."""

    @pytest.mark.parametrize(
        ("dialect", "message"),
        [
            (CHAT, {"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]}),
            (CHAT, {"role": "tool", "tool_call_id": "a", "content": "a"}),
            (RESPONSES, {"items": [{"type": "function_call", "call_id": "a"}, {"id": "a"}]}),
            (RESPONSES, {"type": "function_call_output", "call_id": "a", "output": "a"}),
            (ANTHROPIC, {"content": [{"type": "tool_use", "id": "a"}, {"type": "text"}]}),
            (ANTHROPIC, {"content": [{"type": "tool_result", "tool_use_id": "a"}]}),
        ],
    )
    def test_the_one_id_changes_and_nothing_else(
        self, dialect: str, message: dict[str, Any]
    ) -> None:
        before = json.dumps(message)
        renamed = json.dumps(messages.rename_call(dialect, message, "a", "z"))
        assert json.dumps(message) == before
        assert renamed.count('"z"') == 1
        places = ("call_id", "tool_call_id", "tool_use_id", "id")
        back = renamed
        for place in places:
            back = back.replace(f'"{place}": "z"', f'"{place}": "a"')
        assert back == before
        assert messages.rename_call(dialect, message, "none", "z") == message
