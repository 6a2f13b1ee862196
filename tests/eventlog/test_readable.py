"""The views for people with SQL: what they say is what the events say."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from given import KEY, OTHER, made_older, plain, said

from eventlog import Draft, EventLog, Json, StreamKey, events, messages, schema
from eventlog.integrity import verify
from eventlog.readable import SESSIONS, VIEWS
from eventlog.readable_3 import Readable
from eventlog.redaction import Target, redact

CHAT, RESPONSES, ANTHROPIC = "openai_chat", "openai_responses", "anthropic"
MESSAGES: list[tuple[str, dict[str, Any]]] = [
    (CHAT, {"role": "user", "content": "hello"}),
    (CHAT, {"role": "system", "content": [{"type": "text", "text": "a"},
                                          {"type": "text", "text": "b"}]}),
    (CHAT, {"role": "assistant", "content": None, "tool_calls": [
        {"id": "x1", "type": "function", "function": {"name": "run", "arguments": '{"a": 1}'}},
        {"id": "x2", "type": "custom", "custom": {"name": "sql", "input": "select 1"}},
    ]}),
    (ANTHROPIC, {"role": "user", "content": [{"type": "text", "text": "one"},
                                             {"type": "image", "source": {"type": "url"}}]}),
    (ANTHROPIC, {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "two"},
        {"type": "tool_use", "id": "y1", "name": "read", "input": {"path": "a.py"}}]}),
    (RESPONSES, {"items": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "t"}]},
        {"type": "function_call", "call_id": "z1", "name": "run", "arguments": "{}"}]}),
    (RESPONSES, {"role": "user", "content": [{"type": "input_text", "text": "in"}]}),
]  # fmt: skip


def appended(dialect: str, message: dict[str, Any], **more: Any) -> events.MessageAppended:
    return events.MessageAppended.model_validate(
        {"dialect": dialect, "source": "injected", "message": message, **more}
    )


def rows(path: Path, sql: str, *values: object) -> list[dict[str, Any]]:
    with plain(path) as db:
        db.row_factory = sqlite3.Row
        return [dict(row) for row in db.execute(sql, values)]


class TestDocumented:
    """Without it a column is there that nobody can look up, or one is told that is not there."""

    @pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
    def test_each_column_is_told_in_its_order(self, log: EventLog, view: Readable) -> None:
        log.append(KEY, said())
        with plain(log.path) as db:
            found = [row[1] for row in db.execute(f"pragma table_info({view.name})")]
        assert found == list(view.columns)

    def test_all_views_of_a_file_are_told(self, log: EventLog) -> None:
        log.append(KEY, said())
        found = rows(log.path, "select name from sqlite_schema where type = 'view'")
        assert {row["name"] for row in found} == {view.name for view in VIEWS}


class TestMessages:
    """Without it a query over what was said misses a dialect, and nobody sees that."""

    @pytest.mark.parametrize(("dialect", "message"), MESSAGES)
    def test_role_and_text_are_those_of_the_program(
        self, log: EventLog, dialect: str, message: dict[str, Any]
    ) -> None:
        log.append(KEY, appended(dialect, message))
        (row,) = rows(log.path, "select * from messages_readable")
        parts = messages.parts(dialect, message)
        text = "\n".join(part.text for part in parts if part.kind in ("text", "thinking"))
        assert (row["session"], row["position"]) == (str(KEY), 1)
        assert row["role"] == messages.role(dialect, message)
        assert (row["text"] or "") == text
        calls = rows(log.path, "select tool_call_id, tool, arguments from tool_calls_readable")
        told = [(call["tool_call_id"], call["tool"]) for call in calls]
        assert told == [(call.id, call.name) for call in messages.calls(dialect, message)]

    @pytest.mark.parametrize(
        ("dialect", "native"),
        [
            (CHAT, None),
            (CHAT, {"role": "tool", "tool_call_id": "x1", "content": "done"}),
            (ANTHROPIC, {"type": "tool_result", "tool_use_id": "x1", "content": "done"}),
            (ANTHROPIC, {"type": "tool_result", "content": [{"type": "text", "text": "done"}]}),
            (RESPONSES, {"type": "function_call_output", "call_id": "x1", "output": "done"}),
        ],
    )
    def test_a_result_too(self, log: EventLog, dialect: Any, native: Any) -> None:
        body = {"native": Json(native)} if native is not None else {"content": "done"}
        event = events.ToolResultRecorded(
            tool_call_id="x1", name="run", dialect=dialect, is_error=True, **body
        )
        log.append(KEY, event)
        (row,) = rows(log.path, "select * from messages_readable")
        told = [row[name] for name in ("role", "source", "tool_call_id", "tool", "is_error")]
        assert [*told, row["text"]] == ["tool", "tool", "x1", "run", 1, "done"]

    def test_a_lone_surrogate_is_no_error_of_the_query(self, log: EventLog) -> None:
        log.append(KEY, said("a\ud800b"))
        with plain(log.path) as db:
            db.text_factory = bytes
            ((text,),) = db.execute("select text from messages_readable").fetchall()
        assert (text[:1], text[-1:]) == (b"a", b"b")

    @pytest.mark.parametrize("message", [{}, {"role": 5, "content": 7}, {"content": {"a": []}}])
    def test_a_message_of_any_shape_has_a_row(self, log: EventLog, message: Any) -> None:
        log.append(KEY, *(appended(dialect, message) for dialect in (CHAT, RESPONSES, ANTHROPIC)))
        assert len(rows(log.path, "select * from messages_readable")) == 3
        for view in VIEWS:
            rows(log.path, f"select * from {view.name}")

    def test_an_erased_one_says_that_and_nothing_else(self, log: EventLog) -> None:
        log.append(KEY, said("secret"), said("fine"))
        redact(log, [Target(KEY, 1)], stream=KEY, item="1")
        first, second = rows(log.path, "select * from messages_readable order by position")
        assert (first["erased"], first["text"], first["message"], first["role"]) == (1, *[None] * 3)
        assert (second["erased"], second["text"]) == (0, "fine")
        (session,) = rows(log.path, "select * from sessions_readable")
        assert (session["erased"], session["messages"]) == (1, 2)


class TestCalls:
    """Without it the sums of a bill in SQL would be others than those of `stats`."""

    @pytest.fixture
    def filled(self, log: EventLog) -> EventLog:
        called = events.ModelCalled(model="m", dialect=CHAT)
        usage = events.Usage(input=1, cached=2, cache_write=3, output=4, reasoning=1)
        log.append(
            KEY,
            events.SessionStarted(title="First", format="claude-code"),  # 1
            called,  # 2: c1
            events.ModelResponded(call=2, usage=usage, finish_reason="stop"),  # 3
            called,  # 4: c2
            events.ModelFailed(call=4, error="overloaded", status=529),  # 5
            called,  # 6: c3, never answered
        )
        return log

    def test_a_call_has_its_outcome_and_its_bill(self, filled: EventLog) -> None:
        found = rows(filled.path, "select * from calls_readable order by position")
        assert [(row["call"], row["position"], row["outcome"]) for row in found] == [
            (1, 2, "answered"), (2, 4, "failed"), (3, 6, None)
        ]  # fmt: skip
        usage = [found[0][name] for name in ("input", "cached", "cache_write", "output")]
        assert (usage, found[0]["finish_reason"]) == ([1, 2, 3, 4], "stop")
        assert (found[1]["error"], found[1]["input"]) == ("overloaded", None)

    def test_two_outcomes_of_a_call_are_one_row(self, filled: EventLog) -> None:
        filled.append(KEY, events.ModelResponded(call=2))
        found = rows(filled.path, "select call from calls_readable")
        assert [row["call"] for row in found] == [1, 2, 3]

    def test_numbers_go_on_in_a_fork_of_a_fork(self, filled: EventLog) -> None:
        called = events.ModelCalled(model="m", dialect=CHAT)
        compacted = events.ContextCompacted(covered=("2",))
        child, grandchild = (StreamKey("ann", "coder", name) for name in ("child", "grandchild"))
        filled.append(KEY, compacted)  # 7: k1
        filled.fork(child, KEY, 5)
        filled.append(child, called, compacted, called)  # 7: c3, 8: k1, 9: c4
        filled.fork(grandchild, child, 8)
        filled.append(grandchild, called, compacted)  # c4, k2
        numbers = {
            name: rows(
                filled.path,
                "select c.call, (select group_concat(compaction) from compactions_readable k "
                "where k.session = c.session) as k from calls_readable c where c.session = ? "
                "order by c.position",
                f"ann/coder/{name}",
            )
            for name in ("child", "grandchild")
        }
        assert [row["call"] for row in numbers["child"]] == [3, 4]
        assert [(row["call"], row["k"]) for row in numbers["grandchild"]] == [(4, "2")]
        sessions = rows(filled.path, "select session, parent, forked_at from sessions_readable")
        told = {row["session"]: (row["parent"], row["forked_at"]) for row in sessions}
        assert told[str(grandchild)] == (str(child), 8)
        assert told[str(KEY)] == (None, None)

    def test_a_circle_of_parents_ends(self, filled: EventLog) -> None:
        """No program makes one; somebody who writes the file can."""
        with plain(filled.path) as db:
            db.execute("drop trigger streams_update")
            db.execute("update streams set parent = row, base = 3")
        assert len(rows(filled.path, "select * from calls_readable")) == 3

    def test_an_outcome_is_looked_up_and_not_looked_for(self, filled: EventLog) -> None:
        """Ten thousand calls took twelve seconds without."""
        plan = rows(filled.path, "explain query plan select * from calls_readable")
        assert any("(stream=? AND call=?)" in step["detail"] for step in plan)


class TestDecisions:
    """Without it nobody can ask which decisions took what, over all sessions at once."""

    def test_each_kind_says_what_it_is_about(self, log: EventLog) -> None:
        by = events.DecidedBy(name="clear")
        new = events.NewMessage(dialect=CHAT, message=Json({"role": "user", "content": "sum"}))
        log.append(
            KEY,
            said("a"),
            said("b"),
            events.PlaceholderSubstituted(item="1", content="[x]", reason="r", by=by, kind="cut"),
            events.ContextCompacted(
                covered=("1", "2"), messages=(new, new), trigger="auto", pre_tokens=9
            ),
            events.DecisionUndone(target=3),
            events.SessionRewound(to=2, inferred=True),
            events.ItemPinned(item="2"),
            events.TaskClassified(task_type="debugging", by="me"),
        )
        found = rows(log.path, "select * from decisions_readable order by position")
        assert [(row["about"], row["reason"], row["by"]) for row in found] == [
            ("1", "r", "clear"),
            ('["1","2"]', "auto", None),
            (3, None, None),
            (2, None, None),
            ("2", None, None),
            ("debugging", None, "me"),
        ]
        assert [row["is_inferred"] for row in found] == [0, 0, 0, 1, 0, 0]
        (row,) = rows(log.path, "select * from placeholders_readable")
        assert (row["item"], row["kind"], row["content"], row["by"]) == ("1", "cut", "[x]", "clear")
        (row,) = rows(log.path, "select * from compactions_readable")
        told = (row["messages"], row["summary"], row["pre_tokens"], row["compaction"])
        assert told == (2, "sum\nsum", 9, 1)


class TestForks:
    """Without it what a fork decided is dropped by a query that joins it with its items."""

    def test_an_item_is_found_under_the_session_that_it_stands_under(self, log: EventLog) -> None:
        child, grandchild = (KEY._replace(session=f"fork{n}") for n in (1, 2))
        log.append(KEY, said("one"), said("of the parent alone"))
        log.fork(child, KEY, 1)
        at = log.append(child, said("two")).last
        log.fork(grandchild, child, at)
        cut = [events.PlaceholderSubstituted(item=str(n), content="[x]") for n in (1, at)]
        own = log.append(grandchild, *cut, said("three")).last
        log.append(grandchild, events.PlaceholderSubstituted(item=str(own), content="[x]"))
        found = rows(
            log.path,
            "select p.session, m.text from placeholders_readable p join messages_readable m "
            "on m.session = p.item_session and m.position = cast(p.item as integer) "
            "order by p.position",
        )
        assert {row["session"] for row in found} == {str(grandchild)}
        assert [row["text"] for row in found] == ["one", "two", "three"]


class TestSessions:
    """Without it the first look with another program at a log tells nothing."""

    def test_a_session_has_its_title_and_counts(self, log: EventLog) -> None:
        log.append(
            KEY, events.SessionStarted(title="First"), said("a"), events.SessionTitled(title="Last")
        )
        log.append(OTHER, Draft(said("b"), occurred_at="then"))
        first, second = rows(log.path, "select * from sessions_readable order by session")
        assert (first["title"], first["events"], first["messages"]) == ("Last", 3, 1)
        assert (second["title"], second["version"], second["format"]) == ("b", 1, None)
        assert first["recorded_at"].endswith("Z")

    def test_every_row_of_every_view_has_a_time(self, log: EventLog) -> None:
        by = {"by": events.DecidedBy(name="clear")}
        said_all = (
            appended(*MESSAGES[4]),
            events.ModelCalled(model="m", dialect=CHAT),
            events.PlaceholderSubstituted(item="1", content="[x]", reason="r", **by),
            events.ContextCompacted(covered=("1",), messages=()),
        )
        for label in ("1700000000.5", "2023-11-15T00:13:20.5+02:00", "then", None):
            log.append(KEY, *(Draft(event, occurred_at=label) for event in said_all))
        for view in VIEWS:
            found = rows(log.path, f"select * from {view.name}")
            assert found
            if view is not SESSIONS:
                for row in found:
                    label, at = row["occurred_at"], row["happened_at"]
                    read = label not in ("then", None)
                    assert at == ("2023-11-14T22:13:20.500Z" if read else row["recorded_at"])


class TestFormat:
    """Without it a log of an earlier format would have no view, or be told to be damaged."""

    @pytest.mark.parametrize(
        ("version", "digest"),
        [
            (1, "55d370136e58444328e142c71d67c416b0651887156adaa0e43c3a497f3cff61"),
            (2, "107cd54fa8fac0a8ee94f7a2d9bdd8b396d2168c9aacf6fa9098f8981913d4ce"),
            (3, "b4fe2f27dda956704273386adbee9a83812031b3017abadef5215de6c6dc2e6a"),
            (4, "522e649fcd0461b4cb11aaa30c026fef10fffa732dbd2b2143191fc376f3fad9"),
        ],
    )
    def test_no_text_of_a_format_ever_changes(self, version: int, digest: str) -> None:
        """Else every file of it would be told to be damaged: what is new is a new format."""
        said = repr(schema.STEPS[version - 1])
        assert sha256(said.encode()).hexdigest() == digest

    @pytest.fixture(params=[1, 2, 3])
    def old(self, log: EventLog, request: pytest.FixtureRequest) -> Iterator[Path]:
        log.append(KEY, said("a"))
        log.close()
        made_older(log.path, request.param)
        return log.path

    def test_it_is_brought_to_todays(self, old: Path) -> None:
        with EventLog(old) as log:
            assert verify(log).problems == ()
        assert rows(old, "select text from messages_readable") == [{"text": "a"}]

    def test_open_for_reading_it_is_left_as_it_is(self, old: Path) -> None:
        before = old.read_bytes()
        with EventLog(old, read_only=True) as log:
            assert verify(log).problems == ()
        assert old.read_bytes() == before

    def test_a_view_that_says_something_else_is_found(self, log: EventLog) -> None:
        log.append(KEY, said("a"))
        with plain(log.path) as db:
            db.execute("drop view messages_readable")
            db.execute("create view messages_readable as select 'all fine' as text")
        (problem,) = verify(log).problems
        assert (problem.kind, "messages_readable" in problem.message) == ("schema", True)

    def test_views_of_a_later_format_are_no_damage(self, log: EventLog) -> None:
        log.append(KEY, said("a"))
        log.close()
        with plain(log.path) as db:
            db.execute("create view sooner as select sequence from events")
            db.execute("drop view calls_readable")
            db.execute("create view calls_readable as select sequence, type from events")
            with EventLog(log.path) as same:
                assert [p.kind for p in verify(same).problems] == ["schema", "schema"]
            db.execute(f"pragma user_version = {schema.FORMAT + 1}")
        with EventLog(log.path) as later:
            assert verify(later).problems == ()
