"""Undo, undo of undo, rewind, pin, fork of a fork: in any order, and looked at after it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from running import run
from small_log import KEY, said, small_log

from eventlog import Json
from eventlog.errors import EventInvalid
from eventlog.events import (
    ContextCompacted,
    DecisionUndone,
    Event,
    ItemPinned,
    ItemUnpinned,
    MessageAppended,
    MessageRevised,
    ModelCalled,
    ModelFailed,
    ModelResponded,
    PlaceholderSubstituted,
    Redacted,
    RepairApplied,
    SessionForked,
    SessionRewound,
    SessionStarted,
)
from eventlog.integrity import verify
from projections import Live, open_log
from projections.context import fold

Step = tuple[str, int, int]
"""What is done, to which session, and where."""

DONE = ("undo", "undo last", "rewind", "rewind to the end", "pin", "unpin", "fork", "say", "run")
STEPS = st.lists(
    st.tuples(st.sampled_from(DONE), st.integers(0, 3), st.integers(0, 45)),
    min_size=1,
    max_size=9,
)


def changed(db: Path, sessions: list[str], step: Step) -> int:
    """The exit code of one step; a new fork is one session more."""
    done, which, at = step
    name = sessions[which % len(sessions)]
    match done:
        case "undo":
            command = ["undo", name, str(at)]
        case "undo last":
            command = ["undo", name]
        case "rewind":
            command = ["rewind", f"{name}@{at}"]
        case "rewind to the end":
            command = ["rewind", f"{name}@c{at % 6}"]
        case "fork":
            child = f"child{len(sessions)}"
            code = run("fork", f"{name}@{at}", "--name", child, "--db", db).exit_code
            sessions += [child] if code == 0 else []
            return code
        case "say":
            with open_log(db) as live:
                key = next(s.key for s in live.log.streams() if s.key.session == name)
                live.append(key, said("user", f"More, {at}."))
            return 0
        case "run":
            command = ["run", name, "-s", f"clear:keep={at % 3}"]
        case _:
            command = [done, name, str(at)]
    return run(*command, "--db", db).exit_code


def live_and_rebuilt(live: Live) -> None:
    """What the derived tables say is what the events alone say, now and at every place."""
    for stream in live.log.streams():
        assert live.view(stream.key) == fold(live.log.read(stream.key))
        for at in range(1, live.log.version(stream.key) + 1, 5):
            assert live.view(stream.key, at) == fold(live.log.read(stream.key, to=at))


@settings(max_examples=5)
@given(steps=STEPS)
@example(
    steps=[("fork", 0, 26), ("fork", 1, 27), ("fork", 2, 28), ("undo", 3, 16), ("undo", 3, 30)]
)
@example(steps=[("undo last", 0, 0)] * 4 + [("rewind", 0, 1), ("undo last", 0, 0)])
@example(
    steps=[("rewind", 0, 0), ("rewind", 0, 1), ("rewind", 0, 26), ("pin", 0, 3), ("say", 0, 1)]
)
@example(steps=[("pin", 0, 3), ("rewind", 0, 2), ("unpin", 0, 3), ("undo", 0, 28), ("run", 0, 0)])
@example(
    steps=[("undo", 0, 12), ("undo", 0, 27), ("undo", 0, 28), ("fork", 0, 28), ("undo", 1, 29)]
)
@example(
    steps=[("fork", 0, 12), ("rewind", 1, 3), ("undo", 1, 14), ("undo", 1, 15), ("fork", 1, 14)]
)
def test_whatever_was_changed_can_be_looked_at_and_proved(steps: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        db = small_log(Path(folder))
        sessions = [KEY.session]
        for step in steps:
            assert changed(db, sessions, step) in (0, 2, 3), step
        with open_log(db) as live:
            live_and_rebuilt(live)
            assert verify(live.log).problems == ()
            before = {s.key: live.view(s.key).labels() for s in live.log.streams()}
            versions = {s.key.session: live.log.version(s.key) for s in live.log.streams()}
            live.rebuild()
            assert before == {s.key: live.view(s.key).labels() for s in live.log.streams()}
        for name in sessions:
            for command in (["log", name], ["show", name, "--context"], ["stats", name]):
                result = run(*command, "--db", db)
                assert result.exit_code in (0, 3), (command, result.output)
            for item in range(1, versions[name] + 1, 7):
                result = run("why", name, str(item), "--db", db)
                assert result.exit_code in (0, 2, 3), (item, result.output)
        result = run("audit", "--all", "--db", db)
        assert result.exit_code in (0, 1), result.output


ANSWER = Json({"role": "assistant", "content": "hi"})
NAMES_NOTHING: list[Event] = [
    ContextCompacted(covered=("999", "5", "1-9999", "9-1", "7-", "3@9999")),
    ContextCompacted(covered=(), layout=("999", "m0", "m7", "3-9999"), result=("999",)),
    DecisionUndone(target=999),
    DecisionUndone(target=3),
    DecisionUndone(target=27),
    SessionRewound(to=9999),
    ItemPinned(item="999"),
    ItemUnpinned(item="57.9"),
    PlaceholderSubstituted(item="999", content="x"),
    MessageRevised(item="1", patch=Json({"a": 1})),
    ModelResponded(call=999),
    ModelFailed(call=3, error="x"),
    ModelCalled(model="m", dialect="openai_chat", tools=999, manifest=("=50", "900-999", "12@340")),
    ModelCalled(
        model="m", dialect="openai_chat", request_digest="00", manifest=("12/9", ("3", "4"))
    ),
    MessageAppended(dialect="openai_chat", source="model", call=999, after="998", message=ANSWER),
    RepairApplied(rule="x", dropped=("999",)),
    SessionStarted(),
]


@pytest.mark.parametrize("event", NAMES_NOTHING, ids=lambda event: event.type)
def test_an_event_that_names_what_is_not_there_does_no_harm(event: Event, tmp_path: Path) -> None:
    """Other programs append too: one wrong number must not make a log that cannot be looked at."""
    db = small_log(tmp_path)
    with open_log(db) as live:
        live.append(KEY, event)
        live_and_rebuilt(live)
        assert verify(live.log).problems == ()
    name = KEY.session
    looking = (["log", name], ["show", name, "--context"], ["audit", name], ["why", name, "13"])
    more = (["stats", name], ["replay", name], ["diff", name, "--prefix"], ["undo", name, "-n"])
    for command in (*looking, *more, ["compare", name, "--preset", "all"]):
        result = run(*command, "--db", db)
        assert result.exit_code <= 4, (command, result.output)


@pytest.mark.parametrize(
    "event", [SessionForked(parent="a/b/c", at=1), Redacted(targets=())], ids=lambda e: e.type
)
def test_what_only_a_fork_or_a_redaction_writes_is_not_appended(
    event: Event, tmp_path: Path
) -> None:
    """Appended by itself it would say what is not so, and the log would not verify any more."""
    with open_log(small_log(tmp_path)) as live:
        with pytest.raises(EventInvalid, match="no event to append"):
            live.append(KEY, event)
        assert verify(live.log).problems == ()
