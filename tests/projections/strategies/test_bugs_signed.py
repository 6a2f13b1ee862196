"""B07, signed content: a provider refuses the request in which one byte of it is another."""

from __future__ import annotations

import json
from typing import Any

import pytest
from contexts_made import ANTHROPIC, CHAT, RESPONSES, item, reasoning, result, signed
from replays_made import human, replayed, work
from specs_made import EVERY

from projections.dialects import DIALECTS
from projections.items import Item
from projections.legality import sendable
from projections.strategies.check import short

LONG = "word " * 200
ARGUMENTS = {"path": "a.py", "content": LONG}
GEMINI = {"google": {"thought_signature": "c2ln"}}


def chat(call: dict[str, Any], name: str = "write", **message: Any) -> Item:
    """A chat answer with one call that has long arguments."""
    function = {"name": name, "arguments": json.dumps(ARGUMENTS)}
    made = {"id": "c2", "type": "function", "function": function, **call}
    said = {"role": "assistant", "content": LONG, "tool_calls": [made], **message}
    return item(2, CHAT, said, role="assistant", source="model")


def anthropic(*thinking: dict[str, Any], **call: Any) -> Item:
    """An Anthropic answer with one call that has long arguments."""
    used = {"type": "tool_use", "id": "c2", "name": "write", "input": ARGUMENTS, **call}
    said = {"role": "assistant", "content": [*thinking, used]}
    return item(2, ANTHROPIC, said, role="assistant", source="model")


def responses() -> Item:
    """All of one answer of OpenAI's Responses, reasoning in front."""
    call = {"type": "function_call", "call_id": "c2", "name": "write"}
    items = [reasoning(), {**call, "arguments": json.dumps(ARGUMENTS)}]
    return item(2, RESPONSES, {"items": items}, role="assistant", source="model")


SIGNED = {
    "thinking": anthropic(signed(LONG)),
    "redacted thinking": anthropic({"type": "redacted_thinking", "data": "Z" * 900}),
    "sealed reasoning": responses(),
    "a call that Gemini signed": chat({"extra_content": GEMINI}),
    "the same through a proxy": chat({"provider_specific_fields": {"thought_signature": "c2ln"}}),
    "the same in Anthropic's form": anthropic(thoughtSignature="c2ln"),
    "thoughts of a gateway": chat(
        {}, reasoning_details=[{"type": "reasoning.text", "text": LONG, "signature": "c2ln"}]
    ),
    "sealed thoughts of a gateway": chat(
        {}, reasoning_details=[{"type": "reasoning.encrypted", "data": "ZGF0YQ=="}]
    ),
}


class TestSignedContent:
    """B07: thinking shortened and its signature kept, or a signature lost from a call."""

    @pytest.mark.parametrize("name", SIGNED)
    def test_no_strategy_edits_it_it_stands_as_it_came_or_leaves_whole(self, name: str) -> None:
        given = SIGNED[name]
        answered = result(3, "c2", LONG, given.dialect)
        items = [
            human(1, LONG),
            given,
            answered,
            *work(4, LONG),
            human(6),
            *work(7, LONG),
            human(9),
        ]
        left = set()
        for spec in EVERY:
            entries = replayed(items, spec, summarize=short).window.entries
            if 2 not in entries:
                left.add(spec)
                continue
            assert entries[2].item is given, spec
        assert 0 < len(left) < len(EVERY)

    def test_the_same_call_unsigned_is_shortened(self) -> None:
        items = [human(1), chat({}), result(3, "c2", LONG), *work(4), human(6)]
        runner = replayed(items, "clear:keep=1,clear_tool_inputs=true")
        assert runner.window.entries[2].item.form == "revised"

    @pytest.mark.parametrize("name", ["write", "mcp.write"])
    def test_the_signature_of_a_call_is_sent_with_it_also_under_another_id(self, name: str) -> None:
        given = chat({"extra_content": GEMINI}, name)
        again = item(4, CHAT, given.message, role="assistant", source="model")
        items = [human(1), given, result(3, "c2"), again, result(5, "c2")]
        body = DIALECTS[CHAT].render(sendable(items).items)
        calls = [call for m in body["messages"] for call in m.get("tool_calls", ())]
        assert [call["extra_content"] for call in calls] == [GEMINI, GEMINI]
        assert len({call["id"] for call in calls}) == 2

    def test_the_thoughts_of_a_gateway_are_sent_with_their_message(self) -> None:
        details = [{"type": "reasoning.encrypted", "data": "ZGF0YQ=="}]
        given = chat({}, "mcp.write", reasoning_details=details)
        body = DIALECTS[CHAT].render(sendable([human(1), given, result(3, "c2")]).items)
        assert body["messages"][1]["reasoning_details"] == details
