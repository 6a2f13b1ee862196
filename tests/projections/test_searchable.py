"""Everything that was said, called and returned is a text, and what is a seal is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded_sessions import KEY

from eventlog import Json, events
from eventlog.events import Event
from projections.materialize import original
from projections.observe import draft_at
from projections.searchable import AREAS, Text, carried, item_texts, note_texts, safe


def said(message: dict[str, Any], dialect: str = "openai_chat") -> Event:
    return events.MessageAppended.model_validate(
        {"dialect": dialect, "source": "model", "message": message}
    )


def texts(event: Event) -> list[tuple[str, str]]:
    recorded = draft_at(event, KEY, 1)
    found = safe(note_texts(recorded))
    for item, _ in carried(recorded):
        made = original(item, {1: recorded})
        assert made is not None
        found += safe(item_texts(made))
    assert {text.area for text in found} <= set(AREAS)
    return [(text.area, text.text) for text in found]


def called(arguments: str) -> Event:
    call = {"id": "call_1", "function": {"name": "bash", "arguments": arguments}}
    return said({"role": "assistant", "content": None, "tool_calls": [call]})


class TestOwnState:
    """A template's text beside the prompt that came of it would be found twice for once said."""

    @pytest.mark.parametrize(
        "event",
        [
            events.TasksSet(tasks=(events.Task(id="1", title="find me"),)),
            events.FileSeen(path="/find/me", size=1, modified_ns=1),
            events.ReplyEnded(reply_id="r", outcome="failed", detail="find me"),
            events.PromptRendered(
                item="1",
                template="find me",
                template_text="find me",
                salt="",
                template_digest="",
                rendered_digest="",
            ),
        ],
    )
    def test_is_not_searched(self, event: Event) -> None:
        assert texts(event) == []


class TestItems:
    """A word that the model read and that no search finds might as well not be there."""

    @pytest.mark.parametrize(
        ("event", "expected"),
        [
            (said({"role": "user", "content": "hello"}), [("text", "hello")]),
            (said({"role": "developer", "content": "rules"}), [("system", "rules")]),
            (
                said({"role": "assistant", "reasoning_content": "hm", "content": "yes"}),
                [("reasoning", "hm"), ("text", "yes")],
            ),
            (called('{"command":"ls"}'), [("input", 'bash {"command":"ls"}'), ("input", "call_1")]),
            (
                called('{"command":"cd x\\nmake"}'),
                [
                    ("input", "bash command: cd x\nmake"),
                    ("input", 'bash {"command":"cd x\\nmake"}'),
                    ("input", "call_1"),
                ],
            ),
            (called("no json \\n"), [("input", "bash no json \\n"), ("input", "call_1")]),
            (
                said(
                    {
                        "role": "assistant",
                        "content": [
                            {"type": "thinking", "thinking": "hm", "signature": "c2VhbA"},
                            {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}},
                            {"type": "server_tool_use", "name": "web", "input": {"q": "cats"}},
                            {"type": "web_search_tool_result", "content": [{"title": "Cats"}]},
                        ],
                    },
                    "anthropic",
                ),
                [
                    ("reasoning", "hm"),
                    ("input", "Read {}"),
                    ("input", "toolu_1"),
                    ("input", '{"q":"cats"}'),
                    ("output", "content:\ntitle: Cats"),
                ],
            ),
            (
                said(
                    {"items": [{"type": "web_search_call", "id": "ws", "action": {"query": "q"}}]},
                    "openai_responses",
                ),
                [("input", "action:\nquery: q")],
            ),
            (
                events.ToolResultRecorded(
                    tool_call_id="call_1", name="bash", dialect="openai_chat", content="done"
                ),
                [("output", "done"), ("output", "call_1")],
            ),
            (
                events.ContextCompacted(
                    covered=(),
                    messages=(
                        events.NewMessage(
                            dialect="openai_chat", message={"role": "user", "content": "so far"}
                        ),
                    ),
                ),
                [("summary", "so far")],
            ),
        ],
    )
    def test_each_part_is_a_text(self, event: Event, expected: list[tuple[str, str]]) -> None:
        assert texts(event) == expected

    def test_a_result_that_is_json_is_read_as_it_stands_and_as_it_is_meant(self) -> None:
        content = json.dumps({"output": "one\ntwo", "metadata": {"exit_code": 0, "took": 0.10}})
        event = events.ToolResultRecorded(tool_call_id="", dialect="openai_chat", content=content)
        assert texts(event) == [
            ("output", "output: one\ntwo\nmetadata:\nexit_code: 0\ntook: 0.1"),
            ("output", content),
        ]

    @pytest.mark.parametrize("text", ["[" * 5000 + "\\n", '{"a": "\\ud83d"}', '{"\\n": NaN', "{\\"])
    def test_whatever_looks_like_json_is_still_a_text(self, text: str) -> None:
        event = events.ToolResultRecorded(tool_call_id="", dialect="openai_chat", content=text)
        assert ("output", text) in texts(event)

    @pytest.mark.parametrize(
        "message",
        [
            {"role": "user", "content": [None, 7, {"type": []}]},
            {"role": "assistant", "tool_calls": [{"function": 3}, "x"]},
        ],
    )
    def test_a_hostile_shape_has_what_can_be_read_of_it(self, message: dict[str, Any]) -> None:
        assert isinstance(texts(said(message)), list)


class TestNotes:
    """Tools, titles and failures stand in no item."""

    def test_of_tools_each_definition_is_a_text_with_its_name(self) -> None:
        tool = {"type": "function", "function": {"name": "run", "description": "Runs it."}}
        event = draft_at(events.ToolsDeclared(dialect="openai_chat", definitions=[tool]), KEY, 1)
        assert safe(note_texts(event)) == [
            Text("tools", "type: function\nfunction:\nname: run\ndescription: Runs it.", "run")
        ]

    @pytest.mark.parametrize(
        ("event", "expected"),
        [
            (events.SessionStarted(title="Refunds"), [("title", "Refunds")]),
            (events.SessionStarted(), []),
            (events.SessionTitled(title="Refunds"), [("title", "Refunds")]),
            (events.ModelFailed(call=1, error="overloaded"), [("error", "overloaded")]),
            (events.ToolsDeclared(dialect="openai_chat", definitions=Json("x")), [("tools", "x")]),
            (events.RecordUnrecognized(file="f", line=1, offset=0, raw="raw"), []),
        ],
    )
    def test_the_others_have_one_at_most(
        self, event: Event, expected: list[tuple[str, str]]
    ) -> None:
        assert texts(event) == expected


class TestCarried:
    """A rendition that no event is known to carry is not looked at."""

    @pytest.mark.parametrize(
        ("event", "expected"),
        [
            (said({"role": "user", "content": "a"}), [(1, 0)]),
            (events.PlaceholderSubstituted(item="7", content="x"), [(7, 1)]),
            (events.MessageRevised(item="7.0", patch={"content": "x"}), [("7.0", 1)]),
            (events.ItemPinned(item="7"), []),
            (
                events.RepairApplied(
                    rule="r",
                    renamed=(
                        events.Rename(item="7", old="a", new="b"),
                        events.Rename(item="7", old="c", new="d"),
                    ),
                    inserted=(
                        events.RepairInsert(
                            message=events.NewMessage(dialect="openai_chat", message={"role": "x"})
                        ),
                    ),
                ),
                [("1.0", 0), (7, 1)],
            ),
        ],
    )
    def test_by_each_event(self, event: Event, expected: list[tuple[int | str, int]]) -> None:
        assert carried(draft_at(event, KEY, 1)) == expected
