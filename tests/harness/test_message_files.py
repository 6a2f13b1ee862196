"""Plain messages, and messages with an id and metadata, out of a session and into a new one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_events import KEY, busy, said

from eventlog import events
from eventlog.errors import InputRefused, WrongExpectedVersion
from harness.message_files import (
    export_messages,
    export_session,
    import_messages,
    import_session,
    read_messages,
    read_session,
)
from harness.state_documents import read_document
from projections import Live, open_log

COPY = KEY._replace(session="copy")
CALL = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "S"},
    {"role": "user", "content": "lone \ud83d", "name": None},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "refusal": None},
    {"role": "tool", "tool_call_id": "call_1", "content": "a.py"},
    {"role": "assistant", "content": [{"type": "text", "text": "one file"}]},
]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db") as found:
        yield found


class TestMessages:
    """What other programs write and read."""

    def test_they_come_in_as_they_are_with_who_said_them(self, live: Live) -> None:
        done = import_messages(live, TALK, KEY)
        assert (done.first, done.last) == (1, 6)
        items = live.items(KEY)
        assert [(item.role, item.source, item.tool_name) for item in items] == [
            ("system", "injected", ""),
            ("user", "human", ""),
            ("assistant", "model", ""),
            ("tool", "tool", "ls"),
            ("assistant", "model", ""),
        ]
        assert export_messages(live, KEY) == TALK
        assert read_messages(TALK).warnings == ()

    def test_the_context_goes_out_and_not_what_left_it(self, live: Live) -> None:
        import_messages(live, TALK, KEY)
        live.append(KEY, events.PlaceholderSubstituted(item="5", content="[cleared]"))
        assert export_messages(live, KEY)[3]["content"] == "[cleared]"
        assert export_messages(live, KEY, 6) == TALK

    def test_messages_of_another_form_are_written_in_this_one(self, live: Live) -> None:
        use = {"type": "tool_use", "id": "t1", "name": "ls", "input": {}}
        live.append(
            KEY,
            said("system", "S"),
            events.MessageAppended(
                dialect="anthropic",
                source="model",
                message={"role": "assistant", "content": [use]},
            ),
            events.ToolResultRecorded(tool_call_id="t1", dialect="anthropic", content="a.py"),
        )
        found = export_messages(live, KEY)
        assert [message["role"] for message in found] == ["system", "assistant", "tool"]
        assert found[1]["tool_calls"][0]["id"] == found[2]["tool_call_id"] == "t1"
        import_messages(live, found, COPY)
        assert export_messages(live, COPY) == found

    def test_a_session_that_exists_is_not_touched(self, live: Live) -> None:
        import_messages(live, TALK, KEY)
        with pytest.raises(WrongExpectedVersion):
            import_messages(live, TALK, KEY)
        assert live.log.version(KEY) == 6

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            ({}, '"messages" is no list'),
            ([], "there is no message in it"),
            (["hi"], "message 1: it is no object"),
            ([{"role": "user", "content": "hi"}], "message 1: the first is a system message"),
            ([TALK[0], {"content": "x"}], "message 2: its role is none that is text"),
            ([TALK[0], {"role": "bot\n"}], "message 2: its role is 'bot"),
            ([TALK[0], {"role": "user", "content": 7}], "message 2: its content is no text"),
            ([TALK[0], {"role": "assistant", "tool_calls": {}}], "message 2: its tool_calls"),
            ([TALK[0], {"role": "assistant", "tool_calls": [1]}], "message 2: its tool_calls"),
            ([TALK[0], {"role": "tool", "tool_call_id": 1}], "message 2: its tool_call_id"),
            ([TALK[0], {"role": "user", "x": float("inf")}], "message 2: not storable as JSON"),
        ],
    )
    def test_what_is_none_is_refused_with_its_place(self, value: Any, told: str) -> None:
        with pytest.raises(InputRefused) as error:
            read_messages(value)
        assert str(error.value).startswith(told)
        assert "\n" not in str(error.value)

    def test_calls_and_results_without_the_other_are_warnings(self) -> None:
        result = {"role": "tool", "tool_call_id": "call_9", "content": "?"}
        assert read_messages([*TALK[:3], result]).warnings == (
            "message 3: a call without a result",
            "message 4: a result without a call",
        )

    def test_a_great_many_of_them_are_counted(self) -> None:
        result = {"role": "tool", "tool_call_id": "call_9", "content": "?"}
        warnings = read_messages([TALK[0], *[result] * 100]).warnings
        assert len(warnings) == 6
        assert warnings[-1] == "and 95 more calls or results without the other"

    def test_a_call_that_is_made_twice_needs_two_results(self) -> None:
        assert read_messages([*TALK[:4], *TALK[2:4]]).warnings == ()
        assert read_messages([*TALK[:4], TALK[3]]).warnings == (
            "message 5: a result without a call",
        )


class TestSessions:
    """What other frameworks keep a session in."""

    def test_it_comes_in_with_its_metadata_and_goes_out_again(self, live: Live) -> None:
        value = {"session_id": "s-1", "messages": TALK, "metadata": {"team": "blue", "n": 1.5}}
        import_session(live, value, KEY)
        assert export_session(live, KEY) == {**value, "session_id": "work"}
        started = next(iter(live.log.read(KEY)))
        assert started.data["foreign_session_id"] == "s-1"

    def test_one_without_metadata_has_none(self, live: Live) -> None:
        import_session(live, {"session_id": "s", "messages": TALK, "metadata": None}, KEY)
        assert export_session(live, KEY)["metadata"] == {}

    def test_what_is_not_taken_is_told(self) -> None:
        value = {"session_id": "s", "messages": TALK[:3], "usage": {}, "created_at": 1}
        assert read_session(value).warnings == (
            "left out: created_at, usage",
            "message 3: a call without a result",
        )

    @pytest.mark.parametrize(
        ("value", "told"),
        [
            ([], "a session is an object"),
            ({"messages": TALK}, '"session_id" is no text'),
            ({"session_id": 7, "messages": TALK}, '"session_id" is no text'),
            ({"session_id": "s"}, '"messages" is no list'),
            ({"session_id": "s", "messages": []}, "there is no message in it"),
            ({"session_id": "s", "messages": TALK, "metadata": [1]}, '"metadata" is no object'),
        ],
    )
    def test_what_is_none_is_refused(self, value: Any, told: str) -> None:
        with pytest.raises(InputRefused) as error:
            read_session(value)
        assert str(error.value).startswith(told)


class TestWhichItIs:
    """A file is known by its shape."""

    def test_each_shape_is_recognised(self, live: Live) -> None:
        from harness.state_documents import export_state

        live.append(KEY, *busy())
        assert read_document(export_state(live, KEY)).kind == "state"
        assert read_document(export_messages(live, KEY)).kind == "messages"
        assert read_document(export_session(live, KEY)).kind == "session"
        assert read_document(export_session(live, KEY)).session_id == "work"
