"""Random but plausible conversations, as Hypothesis strategies: what property tests feed on."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from eventlog import events

TEXT = st.sampled_from(["", "fix it", "不要动 migrations/", "a\ud83db", "x" * 400, "\x00\u2028"])
CALL_ID = st.sampled_from(["call_1", "call_2", "call_1", "exec_0", ""])


@st.composite
def message(draw: st.DrawFn) -> events.MessageAppended:
    """A message of any role, in any dialect, with calls, thinking and media now and then."""
    role = draw(st.sampled_from(["system", "user", "user", "assistant", "assistant"]))
    dialect = draw(st.sampled_from(["openai_chat", "anthropic", "openai_responses"]))
    text = draw(TEXT)
    body: dict[str, Any] = {"role": role, "content": text}
    calls = draw(st.lists(CALL_ID, max_size=3)) if role == "assistant" else []
    if dialect == "openai_chat" and calls:
        body["tool_calls"] = [
            {"id": c, "type": "function", "function": {"name": "run", "arguments": '{"a": 1}'}}
            for c in calls
        ]
    elif dialect == "anthropic" and role == "assistant":
        blocks: list[dict[str, Any]] = []
        if draw(st.booleans()):
            blocks.append({"type": "thinking", "thinking": "hm", "signature": "s"})
        if text:
            blocks.append({"type": "text", "text": text})
        blocks += [{"type": "tool_use", "id": c, "name": "run", "input": {}} for c in calls]
        body["content"] = blocks
    elif dialect == "openai_responses" and calls:
        body = {
            "items": [
                {"type": "function_call", "call_id": c, "name": "run", "arguments": "{}"}
                for c in calls
            ]
        }
    after = draw(st.none() | st.none() | st.none() | st.integers(0, 30).map(str))
    source = {"user": "human", "assistant": "model"}.get(role, "injected")
    return events.MessageAppended(dialect=dialect, source=source, message=body, after=after)


@st.composite
def result(draw: st.DrawFn) -> events.ToolResultRecorded:
    """A tool result, for a call that may not exist."""
    return events.ToolResultRecorded(
        tool_call_id=draw(CALL_ID),
        name="run",
        dialect=draw(st.sampled_from(["openai_chat", "anthropic", "openai_responses"])),
        content=draw(TEXT),
        is_error=draw(st.booleans()),
    )


ITEM = st.integers(1, 40).map(str) | st.builds(
    "{}.{}".format, st.integers(1, 40), st.integers(0, 1)
)


@st.composite
def compaction(draw: st.DrawFn) -> events.ContextCompacted:
    """A compaction that covers anything, with or without messages and layout."""
    covered: list[str] = draw(st.lists(ITEM, max_size=4))
    low = draw(st.integers(1, 20))
    if draw(st.booleans()):
        covered.append(f"{low}-{low + draw(st.integers(0, 20))}")
    count = draw(st.integers(0, 2))
    layout = None
    if draw(st.integers(0, 3)) == 0:
        layout = tuple(draw(st.lists(st.sampled_from(["m0", "m1", "1-9", "2", "11"]), max_size=4)))
    new = events.NewMessage(
        dialect="openai_chat", message={"role": "user", "content": "summary"}, label="summary"
    )
    return events.ContextCompacted(covered=tuple(covered), messages=(new,) * count, layout=layout)


@st.composite
def repair(draw: st.DrawFn) -> events.RepairApplied:
    """A repair that drops, renames and inserts."""
    block = {"role": "tool", "tool_call_id": "call_1", "content": "none"}
    insert = events.RepairInsert(
        after=draw(st.none() | ITEM),
        message=events.NewMessage(dialect="openai_chat", message=block),
    )
    inserted = (insert,) if draw(st.booleans()) else ()
    return events.RepairApplied(
        rule="unanswered_call",
        dropped=tuple(draw(st.lists(ITEM, max_size=2))),
        renamed=tuple(
            events.Rename(item=i, old="call_1", new="call_1_2")
            for i in draw(st.lists(ITEM, max_size=1))
        ),
        inserted=inserted,
        call_ids=("call_1",) if inserted and draw(st.booleans()) else (),
    )


DECISION = st.one_of(
    compaction(),
    repair(),
    st.builds(
        events.PlaceholderSubstituted,
        item=ITEM,
        content=st.just("[cleared]"),
        pass_id=st.sampled_from(["", "p1", "p2"]),
    ),
    st.builds(events.MessageRevised, item=ITEM, patch=st.just({"content": "revised"})),
    st.builds(events.DecisionUndone, target=st.integers(1, 40)),
    st.builds(events.DecisionUndone, pass_id=st.sampled_from(["p1", "p2", "p9"])),
    st.builds(events.SessionRewound, to=st.integers(0, 40)),
    st.builds(events.ItemPinned, item=ITEM),
    st.builds(events.ItemUnpinned, item=ITEM),
)

OTHER = st.sampled_from(
    [
        events.SessionStarted(title="t"),
        events.ModelCalled(model="m", dialect="openai_chat"),
        events.ModelResponded(call=1),
        events.CompactionDeclined(reason="no_gain"),
        events.TaskClassified(task_type="debugging"),
    ]
)

EVENT = st.one_of(message(), message(), result(), result(), DECISION, OTHER)

LOG = st.lists(st.lists(EVENT, min_size=1, max_size=4), min_size=1, max_size=12)
"""Appends, each a list of events."""
