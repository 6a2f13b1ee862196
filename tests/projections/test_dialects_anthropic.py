"""Items as Anthropic messages, and what Anthropic refuses."""

from __future__ import annotations

from typing import Any

import pytest
from contexts_made import ANTHROPIC, CHAT, PIXEL, RESPONSES, answer, item, result, say
from contexts_made import signed as signed_thinking

from eventlog.errors import InputRefused
from projections.dialects import dialect
from projections.items import Item
from projections.legality import sendable

anthropic = dialect(ANTHROPIC)


def text(words: str = "hi") -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(call_id: Any = "x", **changes: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "run", "input": {}, **changes}


def gives(call_id: str = "x", content: Any = "done") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content) or "hi"}


def model(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content) or "ok"}


def body(*items: Item) -> dict[str, Any]:
    """A request that is not refused."""
    made = anthropic.render(sendable(items).items)
    assert anthropic.validate(made) == []
    return made


def sent(*items: Item) -> list[Any]:
    return list(body(*items)["messages"])


class TestRefused:
    """A validator that never says no proves nothing."""

    @pytest.mark.parametrize(
        ("messages", "reason"),
        [
            ([], "not empty"),
            (["no object"], "role"),
            ([{"role": "system", "content": "S"}], "role"),
            ([{**user(), "id": "msg_1"}], "nothing else"),
            ([model()], "first message is the user's"),
            ([user(), user()], "do not alternate"),
            ([user(), model(), model()], "do not alternate"),
            ([{"role": "user", "content": " "}], "empty content"),
            ([{"role": "user", "content": []}], "no content"),
            ([{"role": "user", "content": None}], "no content"),
            ([user(text(" "))], "must not be empty"),
            ([user("loose")], "no block"),
            ([user({"type": "image_url", "image_url": {"url": "u"}})], "no block"),
            ([user({"type": "image"})], "without source"),
            ([user(use())], "neither calls nor thinks"),
            ([user(signed_thinking())], "neither calls nor thinks"),
            ([user(), model(use())], "at the end have no result"),
            ([user(), model(use()), user()], "no result for x"),
            ([user(), model(use(), use("y")), user(gives())], "no result for y"),
            ([user(), model(use()), user(gives("y"))], "answers no call"),
            ([user(), model(use()), user(gives(), gives())], "answers no call"),
            ([user(gives())], "answers no call"),
            ([user(), model(use()), user(text(), gives())], "stand first"),
            ([user(), model(use()), user(gives(content=5))], "text or a list"),
            ([user(), model(use()), user(gives(content=[text("")]))], "in a result"),
            ([user(), model(use()), user(gives(content=[use("y")]))], "a result holds"),
            ([user(), model(use("a.b")), user(gives("a.b"))], "no id of a call"),
            ([user(), model(use()), user(gives()), model(use()), user(gives())], "stands twice"),
            ([user(), model(use(name="a.b")), user(gives())], "no tool name"),
            ([user(), model(use(input="{}")), user(gives())], "is an object"),
            ([user(), model(gives())], "no tool_result"),
            ([user(), model({"type": "image", "source": {"type": "url"}})], "no image"),
            ([user(), model({"type": "thinking", "thinking": "hm"}, text())], "signature"),
            ([user(), model({"type": "redacted_thinking"}, text())], "without data"),
            ([user(), model(text(), signed_thinking())], "last block"),
            ([user(), model(text(), signed_thinking(), use()), user(gives())], "starts with"),
            ([user(), {"role": "assistant", "content": "ok "}], "white space"),
            ([user(), model(text("ok\n"))], "white space"),
            ([user(*[{**text(), "cache_control": {"type": "ephemeral"}}] * 5)], "cache_control"),
            ([user(text("half \ud83d"))], "lone surrogate"),
            ([user(text(), {"type": "x", "n": float("nan")})], "not JSON"),
        ],
    )
    def test_a_broken_request(self, messages: Any, reason: str) -> None:
        assert any(reason in problem for problem in anthropic.validate({"messages": messages}))

    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({"system": " "}, "system: empty"),
            ({"system": []}, "text or a list"),
            ({"system": [text("")]}, "must not be empty"),
            ({"system": [{"type": "image", "source": {"type": "url"}}]}, "text blocks only"),
            ({"tools": []}, "not empty"),
            ({"tools": [{"name": "a.b", "input_schema": {}}]}, "no tool name"),
            ({"tools": [{"name": "run"}]}, "without input_schema"),
            ({"tools": [{"name": "run", "input_schema": {}}] * 2}, "stands twice"),
        ],
    )
    def test_a_broken_field(self, fields: dict[str, Any], reason: str) -> None:
        problems = anthropic.validate({"messages": [user()], **fields})
        assert any(reason in problem for problem in problems)

    def test_a_whole_conversation_is_accepted(self) -> None:
        messages = [user(), model(signed_thinking(), text(), use(), use("y"))]
        messages += [user(gives("y"), gives(content=[text()]), text()), model()]
        assert anthropic.validate({"system": [text("S")], "messages": messages}) == []


class TestNative:
    """What came in this dialect goes out as it came: thinking is refused when one byte changed."""

    def test_messages_pass_untouched(self) -> None:
        calling = model(signed_thinking(), text("let me"), use())
        first = user({**text(), "cache_control": {"type": "ephemeral"}})
        items = [item(1, ANTHROPIC, first), item(2, ANTHROPIC, calling)]
        messages = sent(*items, result(3, "x", dialect=ANTHROPIC))
        assert messages[0] is first
        assert messages[1] is calling

    def test_results_of_one_answer_are_one_message_with_what_the_user_says(self) -> None:
        items = [say(1, "user", "go", ANTHROPIC), answer(2, "x", "y", dialect=ANTHROPIC)]
        results = [result(3, "y", dialect=ANTHROPIC), result(4, "x", dialect=ANTHROPIC)]
        more = [say(5, "user", "and", ANTHROPIC), say(6, "user", "then", ANTHROPIC)]
        assert sent(*items, *results, *more)[2] == user(
            gives("y"), gives("x"), text("and"), text("then")
        )

    def test_results_stand_first_also_where_they_did_not(self) -> None:
        mixed = item(3, ANTHROPIC, user(text("go on"), gives()))
        messages = sent(say(1, "user", "go"), answer(2, "x", dialect=ANTHROPIC), mixed)
        assert messages[2] == user(gives(), text("go on"))

    def test_an_answer_as_the_service_gave_it_loses_only_its_envelope(self) -> None:
        given = {"id": "msg_1", "type": "message", "model": "m", **model(text("ok"))}
        assert sent(say(1, "user", "go"), item(2, ANTHROPIC, given))[1] == model(text("ok"))

    def test_the_system_prompt_is_on_top_as_it_came(self) -> None:
        blocks = [text("S"), {**text("T"), "cache_control": {"type": "ephemeral"}}]
        made = body(say(1, "system", blocks, ANTHROPIC), say(2, "user", "go"))
        assert made["system"] == blocks

    def test_several_system_messages_are_several_blocks(self) -> None:
        made = body(say(1, "system", "S"), say(2, "developer", "D"), say(3, "user", "go"))
        assert made["system"] == [text("S"), text("D")]

    def test_a_later_system_message_is_text_of_the_users_turn(self) -> None:
        items = [say(1, "user", "go"), answer(2, text="ok"), say(3, "system", "be brief")]
        assert sent(*items)[2] == {"role": "user", "content": "be brief"}

    def test_unsigned_thinking_leaves(self) -> None:
        thinking = {"type": "thinking", "thinking": "hm"}
        items = [say(1, "user", "go"), item(2, ANTHROPIC, model(thinking, text("ok")))]
        assert sent(*items)[1] == model(text("ok"))

    def test_thinking_behind_joined_text_leaves_whole(self) -> None:
        later = answer(3, "x", dialect=ANTHROPIC, thinking=[signed_thinking()])
        items = [say(1, "user", "go"), answer(2, text="first", dialect=ANTHROPIC), later]
        assert sent(*items)[1] == model(text("first"), use())

    def test_an_answer_at_the_end_loses_its_trailing_blank(self) -> None:
        assert sent(say(1, "user", "go"), answer(2, text="ok \n"))[1]["content"] == "ok"

    def test_of_more_than_four_cache_marks_the_latest_stay(self) -> None:
        marked = {**text(), "cache_control": {"type": "ephemeral"}}
        turns = [say(n, "user" if n % 2 else "assistant", [marked], ANTHROPIC) for n in range(1, 8)]
        marks = ["cache_control" in m["content"][0] for m in sent(*turns)]
        assert marks == [False, False, False, True, True, True, True]


class TestTranslated:
    """An item of another dialect says the same here, or says that it cannot."""

    @pytest.mark.parametrize(
        ("arguments", "object_"),
        [
            ('{"n": 12345678901234567890}', {"n": 12345678901234567890}),
            ("", {"_raw": ""}),
            ("not json", {"_raw": "not json"}),
            ("[1]", {"_raw": "[1]"}),
            ('{"a": NaN}', {"_raw": '{"a": NaN}'}),
            ('{"a": 1e999}', {"_raw": '{"a": 1e999}'}),
            ('{"a": 1, "a": 2}', {"_raw": '{"a": 1, "a": 2}'}),
            ('{"a":' + "[" * 5000 + "]" * 5000 + "}", None),
        ],
    )
    def test_arguments_lose_nothing(self, arguments: str, object_: Any) -> None:
        items = [say(1, "user", "go"), answer(2, "x", arguments=arguments), result(3, "x")]
        found = sent(*items)[1]["content"][0]["input"]
        assert found == (object_ if object_ is not None else {"_raw": arguments})

    def test_an_id_that_is_refused_is_made_one_on_both_sides(self) -> None:
        items = [say(1, "user", "go"), answer(2, "functions.exec:0", "functions_exec_0")]
        results = [result(3, "functions.exec:0", "1st"), result(4, "functions_exec_0", "2nd")]
        calling, answered = sent(*items, *results)[1:]
        calls = [block["id"] for block in calling["content"]]
        assert calls == [block["tool_use_id"] for block in answered["content"]]
        assert calls[1] == "functions_exec_0"
        assert len(set(calls)) == 2

    def test_a_longer_context_keeps_the_ids_of_a_shorter_one(self) -> None:
        items = [say(1, "user", "go"), answer(2, "a.b"), result(3, "a.b")]
        taken = sent(*items)[1]["content"][0]["id"]
        longer = sent(*items, answer(4, taken), result(5, taken))
        assert longer[1]["content"][0]["id"] == taken

    def test_an_old_function_call_gets_an_id(self) -> None:
        legacy = {"role": "assistant", "function_call": {"name": "run", "arguments": "{}"}}
        answered = {"role": "function", "name": "run", "content": "done"}
        messages = sent(say(1, "user", "go"), item(2, CHAT, legacy), item(3, CHAT, answered))
        assert messages[1:] == [model(use("call_2")), user(gives("call_2"))]

    def test_items_of_one_answer_are_one_turn(self) -> None:
        calls = [answer(2, "a", dialect=RESPONSES), answer(3, "b", dialect=RESPONSES)]
        results = [result(4, "a", dialect=RESPONSES), result(5, "b", dialect=RESPONSES)]
        messages = sent(say(1, "user", "go"), *calls, *results)
        assert messages[1:] == [model(use("a"), use("b")), user(gives("a"), gives("b"))]

    def test_images_are_translated_or_noted(self) -> None:
        pixel = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        tiff = {"type": "image_url", "image_url": {"url": f"data:image/tiff;base64,{PIXEL}"}}
        sound = {"type": "input_audio", "input_audio": {"data": PIXEL, "format": "wav"}}
        found = sent(say(1, "user", [pixel, tiff, sound]))[0]["content"]
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        assert found == [
            {"type": "image", "source": source},
            text("[image_url]"),
            text("[input_audio]"),
        ]

    def test_tools_are_translated(self) -> None:
        function = {"name": "run", "parameters": {"type": "object"}}
        theirs = [{"type": "function", "function": function}, {"type": "web_search"}]
        made = anthropic.render([say(1, "user", "go")], theirs)
        assert anthropic.validate(made) == []
        assert made["tools"] == [{"name": "run", "input_schema": {"type": "object"}}]


class TestEntries:
    """A real request is taken apart without loss: one entry for what can be one item."""

    REQUEST = {  # noqa: RUF012
        "model": "m",
        "system": [text("S"), text("T")],
        "messages": [
            user(),
            model(use(), use("y")),
            user(text("first"), gives(), text("between"), gives("y"), text("last")),
            model(text("ok")),
        ],
        "tools": [{"name": "run", "input_schema": {}}],
        "max_tokens": 10,
    }

    def test_a_request_is_put_together_again(self) -> None:
        entries = anthropic.from_request(self.REQUEST)
        rest = anthropic.parameters(self.REQUEST)
        assert anthropic.to_request(entries, self.REQUEST["tools"], rest) == self.REQUEST

    def test_results_are_entries_of_their_own_in_a_group(self) -> None:
        entries = anthropic.from_request(self.REQUEST)
        assert [(e.kind, e.group, e.blocks) for e in entries] == [
            ("system", None, ()),
            ("message", None, ()),
            ("message", None, ()),
            ("tool_result", 2, (1,)),
            ("tool_result", 2, (3,)),
            ("message", 2, (0, 2, 4)),
            ("message", None, ()),
        ]
        assert entries[3].message == gives()

    def test_two_messages_of_results_in_a_row_stay_two(self) -> None:
        request = {"messages": [user(), model(use(), use("y")), user(gives()), user(gives("y"))]}
        assert anthropic.to_request(anthropic.from_request(request)) == request

    def test_what_is_no_request_is_refused(self) -> None:
        with pytest.raises(InputRefused):
            anthropic.from_request({"messages": ["hi"]})
