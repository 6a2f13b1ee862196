"""A state out of one session and into another, as one document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from agent_events import KEY, LOG, VALUE, busy, said, started
from hypothesis import given, settings
from hypothesis import strategies as st

from eventlog import events
from eventlog.errors import InputRefused, WrongExpectedVersion
from harness.state_documents import export_state, import_state, read_document, read_state
from harness.tools.permissions import check_rule
from projections import Live, open_log
from projections.agent_state import agent_state

COPY = KEY._replace(session="copy")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db") as found:
        yield found


def without_names(document: dict[str, Any]) -> dict[str, Any]:
    """A document without what names a place in one session."""
    found: dict[str, Any] = json.loads(json.dumps(document))
    del found["key"], found["state"]["session_id"], found["state"]["position"]
    del found["state"]["reply"]["reply_id"]
    for message in found["state"]["context"]:
        del message["item"]
    return found


def with_readable_rules(event: events.Event) -> events.Event:
    """An import refuses a rule that cannot be read."""
    if not isinstance(event, events.PermissionsSet):
        return event
    allow, deny = (
        tuple(filter(_is_rule, map("shell({})".format, each))) for each in (event.allow, event.deny)
    )
    return event.model_copy(update={"allow": allow, "deny": deny})


def _is_rule(text: str) -> bool:
    try:
        check_rule(text)
    except InputRefused:
        return False
    return True


class TestThereAndBack:
    """Somebody moves a session to another log, and goes on there as if nothing had been."""

    @settings(max_examples=60)
    @given(LOG)
    def test_any_session_that_began_with_a_document_exports_an_equal_one(
        self, said: list[events.Event]
    ) -> None:
        with TemporaryDirectory() as folder, open_log(Path(folder) / "log.db") as live:
            live.append(KEY, *map(with_readable_rules, said))
            document = json.loads(json.dumps(export_state(live, KEY)))
            import_state(live, document, COPY, trust=True)
            assert without_names(export_state(live, COPY)) == without_names(document)

    def test_everything_of_a_busy_session_comes_along(self, live: Live) -> None:
        summary = events.NewMessage(
            dialect="openai_chat", message={"role": "user", "content": "so far: \ud83d"}
        )
        live.append(
            KEY,
            *busy(),
            events.ToolResultRecorded(
                tool_call_id="call_2", dialect="openai_chat", content="no", is_error=True
            ),
            started("call_3"),
            said("assistant", None, calls=["call_3"]),
            events.ContextCompacted(covered=("5",), messages=(summary,)),
            said("user", "go on", label="note"),
            events.ItemPinned(item="20"),
            events.SessionTitled(title="mending"),
        )
        import_state(live, export_state(live, KEY), COPY, trust=True)
        old, new = agent_state(live, KEY), agent_state(live, COPY)
        assert new.summary == "so far: \ud83d"
        names = {"item": "1"}
        shown = [message.model_copy(update=names) for message in new.context]
        assert shown == [message.model_copy(update=names) for message in old.context]
        assert [m.is_error for m in new.context if m.source == "tool"] == [False, True]
        for part in ("permissions", "tools", "tasks", "middleware", "started_calls"):
            assert getattr(new, part) == getattr(old, part)
        assert [call.tool_call_id for call in new.started_calls] == ["call_3"]
        assert live.items(COPY)[-1].pinned
        assert old.reply.is_under_way
        assert (new.reply.is_under_way, new.reply.iteration) == (False, 0)
        assert (new.reply.output_schema, new.reply.has_output) == (None, False)
        assert export_state(live, COPY)["title"] == "mending"

    def test_the_state_of_a_place_can_be_taken(self, live: Live) -> None:
        live.append(KEY, *busy())
        import_state(live, export_state(live, KEY, 5), COPY)
        assert [m.source for m in agent_state(live, COPY).context] == ["injected", "human"]
        assert agent_state(live, COPY).tasks == ()

    def test_a_summary_that_stands_in_no_message_is_brought_in_as_one(self, live: Live) -> None:
        live.append(KEY, said("system", "S"), said("user", "U"))
        document = export_state(live, KEY)
        document["state"]["summary"] = "what was"
        import_state(live, document, COPY)
        state = agent_state(live, COPY)
        assert state.summary == "what was"
        assert [(m.source, m.label) for m in state.context] == [
            ("injected", ""),
            ("injected", "summary"),
            ("human", ""),
        ]

    def test_a_result_that_was_revised_into_a_message_comes_along(self, live: Live) -> None:
        changed = events.MessageRevised(item="11", message={"role": "user", "content": "x"})
        live.append(KEY, *busy(), changed)
        import_state(live, export_state(live, KEY), COPY, trust=True)
        assert agent_state(live, COPY).context[-1].source == "injected"
        assert without_names(export_state(live, COPY)) == without_names(export_state(live, KEY))


class TestPermissionsFromElsewhere:
    """A file that somebody sent would run the shell unasked."""

    RULES = ("shell(rm *)",)

    @pytest.mark.parametrize(
        ("mode", "allow", "told"),
        [
            ("ask", ("*",), "1 allow rule was not taken over: --trust-permissions takes it"),
            ("allow", (), "the mode allow was not taken over: --trust-permissions takes it"),
            (
                "allow",
                ("*", "a"),
                "the mode allow and 2 allow rules were not taken over: --trust",
            ),
            ("deny", ("*",), "1 allow rule was not"),
            ("read_only", (), ""),
        ],
    )
    def test_what_they_allow_is_left_out_and_what_they_deny_holds(
        self, live: Live, mode: str, allow: tuple[str, ...], told: str
    ) -> None:
        document = changed(
            permissions={"mode": mode, "allow": allow, "deny": self.RULES, "ask": self.RULES}
        )
        warnings = read_state(document).warnings
        assert (warnings == ()) if not told else warnings[0].startswith(told)
        import_state(live, document, COPY)
        held = agent_state(live, COPY).permissions
        assert held.mode == ("ask" if mode == "allow" else mode)
        assert (held.allow, held.deny, held.ask) == ((), self.RULES, self.RULES)

    def test_trusted_they_hold_as_they_are(self, live: Live) -> None:
        document = changed(permissions={"mode": "allow", "allow": ["*"]})
        assert read_document(document, trust=True).warnings == ()
        import_state(live, document, COPY, trust=True)
        held = agent_state(live, COPY).permissions
        assert (held.mode, held.allow) == ("allow", ("*",))


class TestAllOrNothing:
    """A session of which half came in would be gone on with."""

    def test_it_is_one_append(self, live: Live) -> None:
        live.append(KEY, *busy())
        done = import_state(live, export_state(live, KEY), COPY)
        assert (done.first, done.last) == (1, live.log.version(COPY))

    def test_a_session_that_exists_is_not_touched(self, live: Live) -> None:
        live.append(KEY, *busy())
        with pytest.raises(WrongExpectedVersion):
            import_state(live, export_state(live, KEY), KEY)
        assert live.log.version(KEY) == 15

    def test_of_a_document_with_a_fault_nothing_comes_in(self, live: Live) -> None:
        live.append(KEY, *busy())
        document = export_state(live, KEY)
        document["state"]["tasks"].append({"id": "3"})
        with pytest.raises(InputRefused, match=r"^state\.tasks\.2\.title: Field required$"):
            import_state(live, document, COPY)
        assert not live.log.exists(COPY)


DEEP: Any = "x"
for _ in range(150):
    DEEP = [DEEP]


def whole() -> str:
    with TemporaryDirectory() as folder, open_log(Path(folder) / "log.db") as live:
        live.append(KEY, *busy())
        return json.dumps(export_state(live, KEY))


WHOLE = whole()
MESSAGE = {"item": "1", "dialect": "openai_chat", "source": "human"}


def changed(**state: Any) -> dict[str, Any]:
    return {"ctxlog_state": 1, "state": state}


class TestHostileDocuments:
    """Whoever gets a document from elsewhere is told what is wrong with it, in one line."""

    @pytest.mark.parametrize(
        ("document", "told"),
        [
            (None, "it is no state"),
            ("x", "it is no state"),
            ({"a": 1}, "it is no state"),
            ({"ctxlog_state": 2}, '"ctxlog_state" is 2; this program reads 1'),
            ({"ctxlog_state": True}, '"ctxlog_state" is True'),
            ({"ctxlog_state": "\x1b[2J" * 100}, '"ctxlog_state" is'),
            ({"ctxlog_state": 1}, "state: Field required"),
            ({"ctxlog_state": 1, "state": []}, "state: "),
            ({"ctxlog_state": 1, "state": {}, "more": 1}, "more: Extra inputs"),
            ({"ctxlog_state": 1, "state": {}, "metadata": [1]}, "metadata: "),
            (changed(position="x"), "state.position: "),
            (changed(context={}), "state.context: "),
            (changed(context=[{**MESSAGE, "message": "hi"}]), "state.context.0.message: "),
            (changed(context=[{**MESSAGE, "message": {"a": DEEP}}]), "it: JSON nested more than"),
            (changed(context=[{**MESSAGE, "message": {"a": float("nan")}}]), "it: not storable"),
            (changed(context=[{**MESSAGE, "item": "x" * 999}]), "state.context.0.item: "),
            (changed(context=[{**MESSAGE, "source": "me"}]), "state.context.0.source"),
            (
                changed(context=[{**MESSAGE, "source": "tool", "message": {"role": "user"}}]),
                "state.context.0: it says that a tool gave it, and is no tool result",
            ),
            (changed(permissions={"mode": "everything"}), "state.permissions.mode: "),
            (changed(permissions={"allow": ["shell("]}), "state.permissions.allow.0: 'shell('"),
            (changed(permissions={"deny": ["a", "\x00"]}), "state.permissions.deny.1: "),
            (changed(permissions={"ask": ["\u202e" * 900]}), "state.permissions.ask.0: "),
            (changed(tools={"files": [{"path": "/a"}]}), "state.tools.files.0.size: "),
            (changed(tasks=[{"id": 1, "title": "t"}]), "state.tasks.0.id: "),
            (changed(middleware=[1]), "state.middleware: "),
        ],
        ids=lambda value: str(value)[:40] if isinstance(value, str) else "",
    )
    def test_each_is_refused_with_one_line(self, document: Any, told: str) -> None:
        with pytest.raises(InputRefused) as error:
            read_document(document)
        line = str(error.value)
        assert line.startswith(told)
        assert "\n" not in line
        assert len(line) <= 250

    @settings(max_examples=100)
    @given(st.data())
    def test_any_change_of_one_is_refused_with_one_line_or_begins_a_session(
        self, data: st.DataObject
    ) -> None:
        document = json.loads(WHOLE)
        node: Any = document
        while True:
            places = list(node) if isinstance(node, dict) else list(range(len(node)))
            place = data.draw(st.sampled_from(places))
            inner = node[place]
            if not inner or not isinstance(inner, dict | list) or data.draw(st.booleans()):
                break
            node = inner
        node[place] = data.draw(VALUE)
        told, found = "", None
        try:
            found = read_document(document)
        except InputRefused as error:
            told = str(error)
        assert "\n" not in told
        assert len(told) <= 250
        if found is not None:
            with TemporaryDirectory() as folder, open_log(Path(folder) / "log.db") as live:
                found.append(live, COPY)
                export_state(live, COPY)

    def test_what_is_no_state_is_no_state(self) -> None:
        with pytest.raises(InputRefused, match="no state"):
            read_state([{"role": "system", "content": "S"}])
