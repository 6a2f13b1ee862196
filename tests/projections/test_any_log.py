"""Whatever is in a log, cut after any event, a context can be sent; erasing holds everywhere."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import recorded_calls
from hypothesis import given, settings
from hypothesis import strategies as st
from random_logs import LOG

from eventlog import Draft, StreamKey, events
from eventlog.errors import InputRefused, NoContext
from eventlog.integrity import verify
from eventlog.redaction import Target, redact
from projections import digests, open_log
from projections.context import fold
from projections.dialects import DIALECTS
from projections.live import Live
from projections.manifest import Piece
from projections.sent import Requests
from projections.verdicts import judge

KEY = StreamKey("local", "agent", "s")
CHILD = StreamKey("local", "agent", "child")


def check_sendable(live: Live, key: StreamKey, at: int) -> None:
    try:
        context = live.sendable(key, at)
    except NoContext:
        return
    for name, dialect in DIALECTS.items():
        body = dialect.render(context.items)
        assert dialect.validate(body) == [], name


class TestAnyPrefixOfAnyLog:
    """A session that cannot be sent any more is lost, whatever its file still holds."""

    @settings(max_examples=60)
    @given(log=LOG)
    def test_it_gives_a_valid_request_in_every_dialect_or_no_context(
        self, log: list[list[events.Event]]
    ) -> None:
        with TemporaryDirectory() as folder, open_log(Path(folder) / "l.db") as live:
            for append in log:
                live.append(KEY, *append)
            for at in range(1, live.log.version(KEY) + 1):
                check_sendable(live, KEY, at)

    @settings(max_examples=60)
    @given(
        log=LOG,
        fork_at=st.integers(1, 15),
        steps=st.lists(st.tuples(st.integers(0, 11), st.integers(1, 30)), max_size=5),
    )
    def test_redaction_fork_undo_and_rewind_hold_in_any_order(
        self,
        log: list[list[events.Event]],
        fork_at: int,
        steps: list[tuple[int, int]],
    ) -> None:
        with TemporaryDirectory() as folder, open_log(Path(folder) / "l.db") as live:
            key = KEY
            for number, append in enumerate(log):
                live.append(key, *append)
                for _, position in (step for step in steps if step[0] == number):
                    if position <= live.log.version(key):
                        with suppress(InputRefused):  # a redaction or a fork
                            redact(live.log, [Target(key, position)], stream=key)
                if number == fork_at % len(log):
                    child = StreamKey("local", "agent", f"fork{number}")
                    live.log.fork(child, key, min(fork_at, live.log.version(key)))
                    key = child
                assert live.view(key) == fold(live.log.read(key))
            for stream in live.log.streams():
                version = live.log.version(stream.key)
                view = live.view(stream.key)
                assert view == fold(live.log.read(stream.key))
                for at in {1, version // 2, version} - {0}:
                    check_sendable(live, stream.key, at)
            assert verify(live.log).problems == ()
            before = {s.key: live.view(s.key).labels() for s in live.log.streams()}
            live.rebuild()
            assert before == {s.key: live.view(s.key).labels() for s in live.log.streams()}


class TestRedactionAndTheDesignTable:
    """Row 18: item 7 is erased with both of its renditions."""

    def test_every_context_shows_the_skeleton_and_the_call_is_erased(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "log.db") as live:
            requests = Requests(live)
            body = {
                "model": "m",
                "messages": [
                    {"role": "system", "content": "be brief"},
                    {"role": "user", "content": "run it"},
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {
                                "id": "x",
                                "type": "function",
                                "function": {"name": "X", "arguments": "{}"},
                            }
                        ],
                    },
                    {"role": "tool", "tool_call_id": "x", "content": "the secret"},
                ],
            }
            first = recorded_calls.record(live, KEY, "openai_chat", body).position
            live.append(KEY, events.ModelResponded(call=first))
            cleared = {**body["messages"][3], "content": "[cleared]"}
            later = {**body, "messages": [*body["messages"][:3], cleared]}
            second = recorded_calls.record(live, KEY, "openai_chat", later).position
            live.append(KEY, events.ModelResponded(call=second))
            substitution = second - 1
            live.log.fork(CHILD, KEY, second + 1)
            hashes = requests.affected(KEY, [4, substitution])
            targets = [Target(KEY, 4), Target(KEY, substitution)]
            redact(live.log, targets, stream=KEY, item="4", entry_hashes={targets[0]: hashes})
            for key in (KEY, CHILD):
                for position, name in ((first, "4@redacted"), (second, "4@redacted")):
                    labels = [item.rendition for item in live.items(key, position)]
                    assert labels[-1] == name
                    assert "secret" not in str(live.sendable(key, position).items)
                    call = live.log.at(key, [position])[position]
                    verdict = judge(live, key, call)
                    assert (verdict.name, verdict.exit_code) == ("erased", 0), verdict.detail
            assert verify(live.log).problems == ()

    def test_forms_and_results_of_inferred_compactions_go_with_what_they_belong_to(
        self, tmp_path: Path
    ) -> None:
        """A mark that moves, a result that a compaction brought in: each has a form of its own."""
        mark = {"cache_control": {"type": "ephemeral"}}
        parts = [{"type": "text", "text": "SECRET one"}, {"type": "text", "text": "SECRET two"}]
        call = {"type": "tool_use", "id": "t", "name": "run", "input": {}}
        result = {"type": "tool_result", "tool_use_id": "t", "content": [parts[0], parts[1] | mark]}
        moved = {**result, "content": [parts[0] | mark, parts[1]]}
        bodies = [
            {
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "SECRET", **mark}]}
                ]
            },
            {
                "messages": [
                    {"role": "user", "content": "SECRET"},
                    {"role": "assistant", "content": [call]},
                    {"role": "user", "content": [result]},
                ]
            },
            {
                "messages": [
                    {"role": "user", "content": "SECRET"},
                    {"role": "assistant", "content": [call]},
                    {"role": "user", "content": [moved, {"type": "text", "text": "go", **mark}]},
                ]
            },
            {
                "messages": [
                    {"role": "user", "content": "now: SECRET"},
                    {"role": "assistant", "content": [call | {"id": "u"}]},
                    {"role": "user", "content": [result | {"tool_use_id": "u"}]},
                    {"role": "assistant", "content": "done"},
                    {"role": "user", "content": "next"},
                ]
            },
        ]
        with open_log(tmp_path / "log.db") as live:
            requests = Requests(live)
            at = [
                recorded_calls.record(
                    live, KEY, "anthropic", {"model": "m", "max_tokens": 9, **body}
                ).position
                for body in bodies
            ]
            kinds = ("message_appended", "tool_result_recorded", "context_compacted")
            held = [e.position for e in live.log.read(KEY, types=kinds) if "SECRET" in e.payload]
            for position in held:  # one after the other: each must leave the rest readable
                hashes = requests.affected(KEY, [position])
                target = Target(KEY, position)
                redact(live.log, [target], stream=KEY, entry_hashes={target: hashes})
                for place in at:
                    event = live.log.at(KEY, [place])[place]
                    assert judge(live, KEY, event).name in ("exact", "erased")
                    check_sendable(live, KEY, place)
            assert not any("SECRET" in e.payload for e in live.log.read(KEY))
            assert verify(live.log).problems == ()

    def test_recording_goes_on_after_an_erasure(self, tmp_path: Path) -> None:
        """An agent may send what is left of an erased item, and tools that were erased."""
        tools = [{"type": "function", "function": {"name": "run", "parameters": {}}}]
        said = {"role": "user", "content": "SECRET"}
        with open_log(tmp_path / "log.db") as live:
            requests = Requests(live)
            body = {"model": "m", "messages": [said], "tools": tools}
            recorded_calls.record(live, KEY, "openai_chat", body)
            for event in list(live.log.read(KEY, types=["message_appended", "tools_declared"])):
                redact(live.log, [Target(KEY, event.position)], stream=KEY)
            left = [dict(item.message) for item in live.items(KEY)]
            for again in ([*left, {"role": "user", "content": "go on"}], [said]):
                body = {"model": "m", "messages": again, "tools": tools}
                position = recorded_calls.record(live, KEY, "openai_chat", body).position
                call = live.log.at(KEY, [position])[position]
                assert requests.sent(KEY, call).body["messages"] == again
                assert judge(live, KEY, call).name in ("exact", "erased")

    def test_a_forged_manifest_is_broken_even_beside_erased_parts(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "log.db") as live:
            live.append(
                KEY,
                events.MessageAppended(
                    dialect="openai_chat",
                    source="human",
                    message={"role": "user", "content": "a"},
                ),
                events.ModelCalled(
                    model="m", dialect="openai_chat", manifest=("1",), request_digest="0" * 64
                ),
            )
            call = live.log.at(KEY, [2])[2]
            verdict = judge(live, KEY, call)
            assert (verdict.name, verdict.exit_code) == ("broken", 4)
            assert verdict.outcome_unknown


class TestDrift:
    """Bytes that hold, and a difference that nobody decided: a recorder that was not the last."""

    def test_an_item_that_was_left_out_without_a_decision_is_named(self, tmp_path: Path) -> None:
        said = [{"role": "user", "content": text} for text in ("a", "b")]
        with open_log(tmp_path / "log.db") as live:
            live.append(
                KEY,
                *(
                    Draft(
                        events.MessageAppended(
                            dialect="openai_chat", source="human", message=message
                        ),
                        salt=bytes([number]) * 16,
                    )
                    for number, message in enumerate(said)
                ),
            )
            sent = digests.entry_hash((Piece(2),), said[1], {2: bytes([1]) * 16})
            own = digests.value_hash(bytes([9]) * 16, {"model": "m"})
            called = events.ModelCalled(
                model="m",
                dialect="openai_chat",
                parameters={"model": "m"},
                manifest=("2",),
                request_digest=digests.request_digest([sent], digests.NO_TOOLS, own),
            )
            live.append(KEY, Draft(called, salt=bytes([9]) * 16))
            call = live.log.at(KEY, [3])[3]
            verdict = judge(live, KEY, call)
            assert (verdict.name, verdict.exit_code) == ("drift", 1)
            assert verdict.detail == "entry 1: 2 was sent, 1 stands there"


class TestNoContext:
    """A session of which nothing can be sent says so, whatever is asked."""

    def test_a_session_that_has_only_begun_has_no_context(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "log.db") as live:
            live.append(CHILD, events.SessionStarted())
            with pytest.raises(NoContext):
                live.sendable(CHILD)
