"""Where an erased text still stands, and that nothing else is taken for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from eventlog import Draft, StreamKey, events
from eventlog.redaction import Target
from projections import open_log
from projections.erasure import apply, plans
from projections.findings import find, for_pattern
from projections.kept import kept
from projections.live import Live
from projections.places import Place

KEY = StreamKey("local", "agent", "s")
SECRET = "hunter2 Passw0rd"
LOOK = for_pattern(re.compile(SECRET))


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def said(text: object, **more: object) -> events.MessageAppended:
    message = {"role": "user", "content": text, **more}
    return events.MessageAppended(dialect="openai_chat", source="human", message=message)


def calling(name: str, call_id: str) -> events.MessageAppended:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return events.MessageAppended(dialect="openai_chat", source="model", message=message)


def erase(live: Live) -> list[tuple[int, str]]:
    """Erase the secret wherever that helps; where it stays."""
    found = find(live, LOOK)
    those_with = LOOK.and_literally(found)
    for each in plans(live, found):
        apply(live, each, holds=lambda text: bool(those_with([Place((), text)])))
    streams = [info.key for info in live.log.streams()]
    return [(place.position, place.field) for place in kept(live, streams, those_with)]


def holds(live: Live) -> bool:
    """Whether a byte of the log says it, or of the files that SQLite keeps beside it."""
    path = live.log.path
    return any(SECRET.encode() in f.read_bytes() for f in path.parent.glob(f"{path.name}*"))


def prompt(**fields: object) -> events.PromptRendered:
    given = {"item": "1", "template": "t", "salt": "00", "template_digest": "0a", **fields}
    return events.PromptRendered.model_validate({"rendered_digest": "0b", **given})


SPARED = {
    "label": said("x").model_copy(update={"label": SECRET}),
    "trigger": events.ContextCompacted(covered=("1",), trigger=SECRET),
    "label of a summary": events.ContextCompacted(
        covered=("1",),
        messages=(
            events.NewMessage(
                dialect="openai_chat", message={"role": "user", "content": "x"}, label=SECRET
            ),
        ),
    ),
    "task type": events.TaskClassified(task_type=SECRET),
    "file": events.RecordUnrecognized(file=f"/{SECRET}", line=1, offset=0, raw="x"),
    "foreign session id": events.SessionStarted(foreign_session_id=SECRET),
    "finish reason": events.ModelResponded(call=2, finish_reason=SECRET),
    "response id": events.ModelResponded(call=2, response_id=SECRET),
    "strategy": events.ModelCalled(model="m", dialect="openai_chat", strategy=SECRET),
    "what was reset": events.SessionResumed(cleared=("x", SECRET)),
    "name of a person": said("x", name=SECRET),
    "name of a template": prompt(template=SECRET),
    "role of a template": prompt(role=SECRET),
    "version of a template": prompt(version=SECRET),
}
OWN_STATE = {
    "text of a template": prompt(template_text=f"a {SECRET} b"),
    "value of a variable": prompt(variables={"name": SECRET}),
    "name of a variable": prompt(variables={SECRET: "x"}),
    "title of a task": events.TasksSet(tasks=(events.Task(id="1", title=SECRET),)),
    "note of a task": events.TasksSet(tasks=(events.Task(id="1", title="x", note=SECRET),)),
    "who set the tasks": events.TasksSet(tasks=(), by=SECRET),
    "path of a file": events.FileSeen(path=f"/{SECRET}/a", size=1, modified_ns=1),
    "output": events.OutputProduced(reply_id="r", value={"id": SECRET}),
    "bare output": events.OutputProduced(reply_id="r", value=SECRET),
    "output schema": events.ReplyStarted(
        reply_id="r", output_schema={"properties": {SECRET: {"type": "string"}}}
    ),
    "end of a reply": events.ReplyEnded(reply_id="r", outcome="failed", detail=SECRET),
    "state of a middleware": events.MiddlewareStateSet(name="m", state={"type": {"id": SECRET}}),
    "who decided": events.PermissionDecided(
        tool_call_id="c", name="f", verdict="denied", by=f"deny shell({SECRET})"
    ),
    "rule that allows": events.PermissionsSet(allow=(f"shell({SECRET})",)),
    "rule that denies": events.PermissionsSet(deny=(f"shell({SECRET})",)),
    "rule that asks": events.PermissionsSet(ask=(f"shell({SECRET})",)),
}
"""What an agent's own state holds of what somebody said."""

NAMES = {
    "metadata": events.SessionStarted(metadata={SECRET: 1}),
    "arguments": events.MessageAppended(
        dialect="anthropic",
        source="model",
        message={
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": {SECRET: 1}}}],
        },
    ),
    "properties of a tool": events.ToolsDeclared(
        dialect="openai_chat",
        definitions=[
            {
                "type": "function",
                "function": {"name": "f", "parameters": {"properties": {SECRET: {}}}},
            }
        ],
    ),
    "usage": events.ModelResponded(call=2, usage=events.Usage(provider={SECRET: 1})),
    "a message": said("x", **{SECRET: 1}),
}
KEPT = {
    "call id": calling("f", SECRET),
    "tool name": calling(SECRET, "c"),
    "model": events.ModelCalled(model=SECRET, dialect="openai_chat"),
    "format": events.SessionStarted(format=SECRET),
    "pass id": events.PlaceholderSubstituted(item="1", content="x", pass_id=SECRET),
    "middleware": events.MiddlewareStateSet(name=SECRET),
    "task id": events.TasksSet(tasks=(events.Task(id=SECRET, title="x"),)),
    "reply_id": events.ReplyStarted(reply_id=SECRET),
    "by": events.ContextCompacted(covered=("1",), by=events.DecidedBy(name=SECRET)),
    "origin id": said("x").model_copy(
        update={"origin": events.Origin(records=(events.OriginRecord(line=1, id=SECRET),))}
    ),
}


class TestSpared:
    """Without these a secret in a label outlives its erasure, though nothing computes with it."""

    @pytest.mark.parametrize("event", SPARED.values(), ids=SPARED)
    def test_nothing_of_it_stays(self, live: Live, event: events.Event) -> None:
        live.append(KEY, said("a"), event)
        assert [(f.position, f.texts) for f in find(live, LOOK)] == [(2, (SECRET,))]
        assert erase(live) == []
        assert not holds(live)

    @pytest.mark.parametrize("event", NAMES.values(), ids=NAMES)
    def test_nor_of_the_name_of_a_field(self, live: Live, event: events.Event) -> None:
        live.append(KEY, said("a"), event)
        assert erase(live) == []
        assert not holds(live)

    @pytest.mark.parametrize("event", OWN_STATE.values(), ids=OWN_STATE)
    def test_nor_of_what_an_agent_keeps_beside_the_conversation(
        self, live: Live, event: events.Event
    ) -> None:
        live.append(KEY, said("a"), event)
        assert holds(live)
        assert erase(live) == []
        assert not holds(live)

    def test_the_role_of_a_template_is_a_text_also_where_it_is_one_word(self, live: Live) -> None:
        live.append(KEY, said("a"), prompt(role="swordfish"))
        found = find(live, for_pattern(re.compile("swordfish")))
        assert [(f.position, f.item) for f in found] == [(2, "1")]

    def test_a_field_without_it_stays_as_it_was(self, live: Live) -> None:
        live.append(KEY, said(SECRET).model_copy(update={"label": "reminder"}))
        assert erase(live) == []
        [event] = live.log.read(KEY, types=["message_appended"])
        assert event.erased
        assert event.data["label"] == "reminder"


class TestKept:
    """Without these "erased" is said of a text that can still be read."""

    @pytest.mark.parametrize("field", KEPT)
    def test_its_place_is_told_and_the_event_is_left_alone(self, live: Live, field: str) -> None:
        live.append(KEY, said("a"), KEPT[field])
        assert find(live, LOOK) == []
        assert erase(live) == [(2, field)]

    @pytest.mark.parametrize("field", KEPT)
    def test_of_an_erased_event_too_and_beforehand(self, live: Live, field: str) -> None:
        live.append(KEY, said(SECRET), KEPT[field])
        target = Target(KEY, 2)
        before = kept(live, [KEY], LOOK.those_with, going=[Target(KEY, 1), target])
        assert [(place.position, place.field) for place in before] == [(2, field)]
        assert erase(live) == [(2, field)]

    def test_the_name_of_a_session_and_the_clock_of_a_source(self, live: Live) -> None:
        named = KEY._replace(session=f"x {SECRET}")
        live.append(named, Draft(said("a"), occurred_at=SECRET))
        assert erase(live) == [(0, "name"), (1, "occurred_at")]

    def test_the_reasons_of_a_fork_and_of_a_redaction(self, live: Live) -> None:
        live.append(KEY, said("a"), said("b"))
        live.log.fork(KEY._replace(session="s~2"), KEY, at=1, reason=SECRET)
        [made] = plans(live, find(live, for_pattern(re.compile("b"))))
        apply(live, made, reason=SECRET)
        assert erase(live) == [(3, "reason"), (2, "reason")]

    def test_in_what_an_earlier_erasure_left(self, live: Live) -> None:
        live.append(KEY, said("one").model_copy(update={"label": SECRET}))
        [made] = plans(live, find(live, for_pattern(re.compile("one"))))
        apply(live, made)
        assert find(live, LOOK) == []
        assert erase(live) == [(1, "label")]

    @pytest.mark.parametrize(
        "word",
        ["user", "human", "openai_chat", "text", "tool_calls", "function", "content", r"^\d+$"],
    )
    def test_words_of_the_format_are_no_texts(self, live: Live, word: str) -> None:
        live.append(
            KEY,
            said([{"type": "text", "text": "hello"}]),
            calling("f", "c"),
            events.ContextCompacted(covered=("1",), result=("2",)),
            events.CompactionDeclined(reason="no_gain"),
        )
        look = for_pattern(re.compile(word))
        assert find(live, look) == []
        assert kept(live, [KEY], look.those_with) == []
