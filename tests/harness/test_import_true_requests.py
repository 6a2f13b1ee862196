"""Files that hold the requests themselves: every call of them is proved, however they come in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from eventlog import Draft, EventLog, StreamKey
from eventlog.events import (
    Event,
    ItemPinned,
    MessageAppended,
    ModelResponded,
    Origin,
    SessionStarted,
    SessionTitled,
)
from harness.exchange.secret_text import Withheld
from harness.importers.report import SessionImport
from harness.importers.stream_writer import StreamWriter
from harness.importers.true_requests import TrueRequests
from harness.importers.units import Planned, Slot, Unit
from projections import open_log
from projections.erasure import apply, plan
from projections.judging import judge_all
from projections.live import Live
from projections.proof import request_of
from projections.sent import Requests
from projections.verdicts import judge

KEY = StreamKey("local", "pairs", "s")
HERE = Origin(records=())
SECRET = "the password of the vault is swordfish"

Message = dict[str, Any]
Exchange = tuple[Message, Message | None]
"""A request body and the answer."""


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with open_log(tmp_path / "log.db", durability="normal") as opened:
        yield opened


def bring(log: EventLog, exchanges: Sequence[Exchange], key: StreamKey = KEY) -> SessionImport:
    """Import a file in which each record is one exchange."""
    writer = StreamWriter(log, key, "pairs", "s", Withheld())
    stream = TrueRequests(log, writer)
    started = SessionStarted(ownership="observed", origin=HERE)
    stream.add(Unit((), [Planned(Slot(), lambda: started)]))
    for body, answer in exchanges:
        raw = json.dumps([body, answer]).encode()
        seen = stream.see(request_of("openai_chat", body), _from_here)
        call = Slot()
        events = [*seen.changes, seen.call(call, HERE), *_answered(answer, call)]
        stream.add(Unit((writer.identity.stamp(raw),), events, len(raw)))
        writer.pause()
    return writer.finish()


def _from_here(event: Event) -> Event:
    return event.model_copy(update={"origin": HERE})


def _answered(answer: Message | None, call: Slot) -> list[Planned]:
    if answer is None:
        return []

    def message() -> Event:
        at = call.position
        return MessageAppended(
            dialect="openai_chat", source="model", call=at, message=answer, origin=HERE
        )

    return [
        Planned(Slot(), message),
        Planned(Slot(), lambda: ModelResponded(call=call.position, origin=HERE)),
    ]


# -- exchanges ------------------------------------------------------------------------------------


def system(text: str = "You are careful.") -> Message:
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def calling(number: int) -> Message:
    function = {"name": "ls", "arguments": json.dumps({"n": number})}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result(number: int, text: str = "") -> Message:
    text = text or f"{number} files\n" * 5
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": text}


def body(*messages: Message, **more: Any) -> Message:
    return {"model": "m", "messages": list(messages), "temperature": 0, **more}


def session(calls: int, keep: int = 3) -> list[Exchange]:
    """An agent that shows all but its last results as placeholders."""
    said, found = [system(), user("Count.")], []
    for number in range(1, calls + 1):
        results = [at for at, message in enumerate(said) if message["role"] == "tool"]
        old = set(results[: max(0, len(results) - keep)])
        shown = [{**m, "content": "(gone)"} if at in old else m for at, m in enumerate(said)]
        found.append((body(*shown, tools=[{"type": "function"}]), calling(number)))
        said += [calling(number), result(number)]
    return found


def names(live: Live, key: StreamKey = KEY) -> list[str]:
    """The verdicts on all calls, asked of both who judge."""
    calls = list(live.log.read(key, types=["model_called"]))
    found = judge_all(live, key, calls)
    assert [judge(live, key, call) for call in calls] == found
    return [verdict.name for verdict in found]


def bodies(live: Live, key: StreamKey = KEY) -> list[Message]:
    requests = Requests(live)
    return [requests.sent(key, call).body for call in live.log.read(key, types=["model_called"])]


def stored(live: Live, key: StreamKey = KEY) -> list[tuple[int, str, bytes]]:
    return [(e.position, e.type, e.event_id) for e in live.log.read(key)]


class TestProof:
    """What the file says that the model saw is what the log gives back, to the last byte."""

    def test_placeholders_are_found_and_the_originals_are_kept(self, live: Live) -> None:
        exchanges = session(6)
        bring(live.log, exchanges)
        assert names(live) == ["exact"] * 6
        assert bodies(live) == [request for request, _ in exchanges]
        found = [e.data for e in live.log.read(KEY, types=["placeholder_substituted"])]
        assert [(f["content"], f["inferred"]) for f in found] == [("(gone)", True)] * 2

    def test_of_more_calls_than_stand_between_two_whole_manifests(self, live: Live) -> None:
        exchanges = session(105)
        bring(live.log, exchanges)
        assert names(live) == ["exact"] * 105
        assert bodies(live) == [request for request, _ in exchanges]
        kept = [len(str(e.data["manifest"])) for e in live.log.read(KEY, types=["model_called"])]
        assert max(kept[1:50]) < 120  # a difference, however much has gone before

    def test_summaries_branches_and_what_comes_back(self, live: Live) -> None:
        first = (body(system(), user("a"), calling(1), result(1)), calling(2))
        then = (body(*first[0]["messages"], calling(2), result(2)), calling(3))
        exchanges = [
            (body(system(), user("a")), calling(1)),
            first,
            then,
            (
                body(system(), user("a"), calling(1), result(1, "(gone)"), calling(2), result(2)),
                None,
            ),
            (body(*then[0]["messages"], user("c")), None),
            (body(system(), user("a"), calling(1), result(1), calling(9)), None),
            (body(system("You are quick."), user("a"), user("A summary."), user("b")), calling(4)),
            (
                body(
                    system("You are quick."), user("a"), user("A summary."), user("b"), calling(4)
                ),
                None,
            ),
        ]
        bring(live.log, exchanges)
        assert names(live) == ["exact"] * len(exchanges)
        assert bodies(live) == [request for request, _ in exchanges]
        kinds = {e.type for e in live.log.read(KEY)}
        assert kinds >= {"session_rewound", "context_compacted", "decision_undone"}

    def test_another_message_behind_a_given_answer_goes_back_to_behind_it(self, live: Live) -> None:
        first = body(system(), user("a"))
        said = {"role": "assistant", "content": "Yes."}
        then = body(*first["messages"], said, user("b"))
        other = body(*first["messages"], said, user("c"))
        bring(live.log, [(first, said), (then, calling(1)), (other, None)])
        assert names(live) == ["exact"] * 3
        answer = next(
            e for e in live.log.read(KEY, types=["message_appended"]) if e.data.get("call")
        )
        (rewound,) = live.log.read(KEY, types=["session_rewound"])
        assert rewound.data["to"] == answer.position
        assert live.view(KEY).labels() == ["2", "3", "5", "12"]


class TestAgain:
    """A transcript is imported while its agent runs, and again by whoever finds it."""

    def test_a_second_import_adds_nothing(self, live: Live) -> None:
        bring(live.log, session(12))
        before = stored(live)
        report = bring(live.log, session(12))
        assert (report.new, report.known, report.forks) == (0, len(before), [])
        assert stored(live) == before

    @pytest.mark.parametrize(
        "size", [1, 5, 50, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 2, 4, 49, 51))]
    )
    def test_a_grown_file_adds_what_is_new(self, live: Live, size: int) -> None:
        other = KEY._replace(session="at-once")
        bring(live.log, session(60), other)
        bring(live.log, session(60)[:size])
        report = bring(live.log, session(60))
        assert report.forks == []
        assert report.known == (len(stored(live)) - report.new)
        assert names(live) == ["exact"] * 60
        assert bodies(live) == bodies(live, other)
        kinds = [(at, kind) for at, kind, _ in stored(live)]
        assert kinds == [(at, kind) for at, kind, _ in stored(live, other)]

    def test_a_rewritten_file_goes_on_in_a_fork(self, live: Live) -> None:
        exchanges = session(8)
        bring(live.log, exchanges)
        before = stored(live)
        changed = [*exchanges[:5], (exchanges[5][0], calling(77)), *exchanges[6:]]
        for _ in range(2):
            report = bring(live.log, changed)
            child = KEY._replace(session="s~2")
            assert report.forks == [str(child)]
            assert stored(live) == before
            assert names(live, child) == ["exact"] * 8
            assert bodies(live, child) == [request for request, _ in changed]

    def test_notes_of_people_between_two_imports_move_what_comes_later(self, live: Live) -> None:
        exchanges = session(9)
        for size in range(1, 10):
            bring(live.log, exchanges[:size])
            live.append(KEY, ItemPinned(item="3"), SessionTitled(title=f"{size}"))
        before = stored(live)
        assert bring(live.log, exchanges).new == 0
        assert stored(live) == before
        assert names(live) == ["exact"] * 9
        assert bodies(live) == [request for request, _ in exchanges]

    def test_a_fork_holds_notes_too(self, live: Live) -> None:
        exchanges = session(7)
        bring(live.log, exchanges[:6])
        live.append(KEY, ItemPinned(item="3"))
        changed = [*exchanges[:3], (exchanges[3][0], calling(50))]
        bring(live.log, changed)
        child = KEY._replace(session="s~2")
        live.append(child, ItemPinned(item="4"))
        last = body(
            *changed[3][0]["messages"], calling(50), result(50), tools=[{"type": "function"}]
        )
        bring(live.log, [*changed, (last, None)])
        assert names(live, child) == ["exact"] * 5


class TestErased:
    """A text that was erased must not come back with the next import, nor in a digest."""

    def exchanges(self) -> list[Exchange]:
        found = session(8, keep=5)
        text = json.dumps(found).replace("2 files", SECRET)
        return [(request, answer) for request, answer in json.loads(text)]

    def test_of_a_call_that_holds_it_no_digest_is_made(self, live: Live) -> None:
        exchanges = self.exchanges()
        bring(live.log, exchanges[:5])
        secret = next(
            e.position
            for e in live.log.read(KEY, types=["tool_result_recorded"])
            if SECRET in e.payload
        )
        apply(live, plan(live, KEY, [str(secret)]), with_copies=False)
        report = bring(live.log, exchanges)
        assert (report.forks, report.vanished) == ([], 0)
        calls = list(live.log.read(KEY, types=["model_called"]))
        assert names(live) == ["exact"] * 2 + ["erased"] * 3 + ["rebuilt"] * 3
        assert f"{secret}@redacted" in calls[5].data["manifest"]
        assert ["request_digest" not in call.data for call in calls] == [False] * 5 + [True] * 3
        assert bring(live.log, exchanges).new == 0
        for event in live.log.read(KEY):
            assert SECRET not in event.payload

    def test_nor_in_a_part_of_it_that_a_later_request_shows(self, live: Live) -> None:
        exchanges = self.exchanges()
        bring(live.log, exchanges[:5])
        secret = next(
            e.position
            for e in live.log.read(KEY, types=["tool_result_recorded"])
            if SECRET in e.payload
        )
        apply(live, plan(live, KEY, [str(secret)]), with_copies=False)
        last = json.loads(json.dumps(exchanges[4][0]))
        last["messages"][5]["content"] = SECRET  # cut
        bring(live.log, [*exchanges[:5], (last, None)])
        assert names(live)[-1] == "rebuilt"
        for event in live.log.read(KEY):
            assert SECRET not in event.payload


class TestDrafts:
    """The salt that a digest was made with is the one that is stored."""

    def test_a_salt_that_is_given_is_kept(self, live: Live) -> None:
        said = MessageAppended(dialect="openai_chat", source="human", message=user("a"))
        live.append(KEY, Draft(said, salt=b"s" * 16))
        assert live.log.salts(KEY, [1]) == {1: b"s" * 16}
